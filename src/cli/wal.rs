//! `pasarela wal …`: reading the log, proving it right, and making restored copies from it
//! (`docs/contract.md, 16.1`). The log is only read, also beside a running server: up to the last
//! durable sequence seen at the start. What the commands do is in `src/recovery/`.

mod diff;
mod explain;
mod export;
mod import;
mod info;
mod inspect;
mod replay;
mod salvage;
mod shown;
mod verify;

pub use export::Export;
pub use import::Import;
pub use verify::{proved, scratch};

use super::{Failure, Settings};
use crate::config::Config;
use crate::recovery::directory::LOG_DIRECTORY;
use clap::{Args, Subcommand};
use std::io::{self, Write};
use wal::{Reader, Tip};

/// Inspect and verify the write-ahead log, and build data directories from it
#[derive(Args, Debug)]
pub struct Wal {
    #[command(subcommand)]
    command: WalCommand,
}

#[derive(Debug, Subcommand)]
enum WalCommand {
    Info(info::Info),
    Inspect(inspect::Inspect),
    Explain(explain::Explain),
    Diff(diff::Diff),
    Verify(verify::Verify),
    Replay(replay::Replay),
    Salvage(salvage::Salvage),
    Export(Export),
    Import(Import),
}

impl Wal {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            WalCommand::Info(info) => info.run(),
            WalCommand::Inspect(inspect) => inspect.run(),
            WalCommand::Explain(explain) => explain.run(),
            WalCommand::Diff(diff) => diff.run(),
            WalCommand::Verify(verify) => verify.run(),
            WalCommand::Replay(replay) => replay.run(),
            WalCommand::Salvage(salvage) => salvage.run(),
            WalCommand::Export(export) => export.run(),
            WalCommand::Import(import) => import.run(),
        }
    }
}

pub fn open(settings: &Settings) -> Result<(Config, Reader), Failure> {
    let config = settings.load()?;
    let reader = Reader::open_read_only(config.storage.path.join(LOG_DIRECTORY))
        .map_err(crate::recovery::Failed::from)?;
    Ok((config, reader))
}

/// False when whoever reads, such as `head`, has seen enough.
fn print(out: &mut impl Write, line: &[u8]) -> Result<bool, Failure> {
    match out.write_all(line).and_then(|()| out.write_all(b"\n")) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::Other(error.to_string())),
    }
}

pub fn ends_with(tip: Tip) -> String {
    format!("up to sequence {}, head {}", tip.seq, hex::encode(tip.hash))
}

fn end(mut out: impl Write) -> Result<(), Failure> {
    match out.flush() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::Other(error.to_string())),
        _ => Ok(()),
    }
}
