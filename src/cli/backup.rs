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
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(500);

fn bytes_in(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

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
    /// Whether a server runs, the lock of the data directory says.
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
                // The server makes it; what has come to be there is seen where this is its machine.
                let (done, ended) = std::sync::mpsc::channel::<()>();
                let into = directory.clone();
                let watching = std::thread::spawn(move || {
                    let mut progress = Shown::new();
                    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                        progress.tell("MiB copied", bytes_in(&into) >> 20, 0);
                    }
                });
                let made = Operators::new(&config)?.backup(&directory);
                drop(done);
                let _ = watching.join();
                made?;
                let past = RestoredCopy::read(&directory)?.and_then(|past| past.tip);
                past.ok_or_else(|| Failed::refused(&directory, Fault::NotHere))?
            }
        };
        println!("ok: {} is a copy {}", directory.display(), ends_with(tip));
        Ok(())
    }
}
