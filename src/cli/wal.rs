//! `pasarela wal …`: looking into the log and proving it right (`contract.md`, section 16). Read-only, also beside a running server: up to the last durable sequence seen at the
//! start.

mod info;
mod inspect;
mod replay;
mod verify;

use super::{Failure, Settings};
use crate::app::LOG_DIRECTORY;
use crate::config::Config;
use clap::{Args, Subcommand};
use wal::Reader;

/// Look into the write-ahead log, and prove it right
#[derive(Args, Debug)]
pub struct Wal {
    #[command(subcommand)]
    command: WalCommand,
}

#[derive(Debug, Subcommand)]
enum WalCommand {
    Info(info::Info),
    Inspect(inspect::Inspect),
    Verify(verify::Verify),
}

impl Wal {
    /// Runs one of the commands.
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            WalCommand::Info(info) => info.run(),
            WalCommand::Inspect(inspect) => inspect.run(),
            WalCommand::Verify(verify) => verify.run(),
        }
    }
}

/// The log of the configured data directory, for reading.
fn open(settings: &Settings) -> Result<(Config, Reader), Failure> {
    let config = settings.load()?;
    let reader = Reader::open_read_only(config.storage.path.join(LOG_DIRECTORY)).map_err(|error| Failure::Other(error.to_string()))?;
    Ok((config, reader))
}
