//! `pasarela wal import`: a data directory from a portable file.

use super::super::{Failure, Settings};
use crate::cli::progress::Shown;
use crate::recovery::archive;
use clap::Args;
use std::path::PathBuf;

/// Make a data directory from a portable file; refuse a file that was cut or changed, and say where
///
/// The directory is marked as a restored copy: `pasarela serve` keeps live banks and webhooks shut in
/// it until `--take-over`.
///
/// Example: pasarela wal import /srv/backup/pasarela-2026-11-21.export --into /srv/pasarela/data
#[derive(Args, Debug)]
pub struct Import {
    #[command(flatten)]
    settings: Settings,
    /// The file that `pasarela wal export` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The directory to make; it must not exist, or be empty
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
}

impl Import {
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let mut progress = Shown::new();
        let archived = archive::import(
            &self.file,
            &self.into,
            config.storage.snapshot_records,
            &mut |part, done, of| progress.tell(part, done, of),
        )?;
        drop(progress);
        println!("ok: {} is made {}", self.into.display(), super::ends_with(archived.tip));
        Ok(())
    }
}
