//! `pasarela backup`: a consistent copy of a running server, through its admin API, or of a stopped
//! one.

use super::admin::Operators;
use super::progress::Shown;
use super::wal::ends_with;
use super::{Failure, Settings};
use crate::recovery::backup;
use crate::recovery::restored_copy::RestoredCopy;
use crate::recovery::{Failed, Fault};
use clap::Args;
use std::path::PathBuf;

/// Copy everything to a new directory, consistently, without stopping a running server
///
/// Example: pasarela backup /mnt/backup/pasarela-2026-11-21
#[derive(Args, Debug)]
pub struct Backup {
    #[command(flatten)]
    settings: Settings,
    /// The directory to make; a running server makes it, on its own disk
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Backup {
    /// Copies. Whether a server runs, the lock of the data directory says.
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let directory = std::path::absolute(&self.directory)
            .map_err(|error| Failure::Other(format!("{}: {error}", self.directory.display())))?;
        let mut progress = Shown::new();
        let copied = backup::copy_of_stopped(&config.storage.path, &directory, &mut |part, done, of| {
            progress.tell(part, done, of)
        })?;
        drop(progress);
        let tip = match copied {
            Some(tip) => tip,
            None => {
                Operators::new(&config)?.backup(&directory)?;
                let past = RestoredCopy::read(&directory)?.and_then(|past| past.tip);
                past.ok_or_else(|| Failed::refused(&directory, Fault::NotHere))?
            }
        };
        println!("ok: {} is a copy {}", directory.display(), ends_with(tip));
        Ok(())
    }
}
