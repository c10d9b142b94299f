//! `pasarela wal import`: a data directory from a portable file.

use super::super::{Failure, Settings};
use crate::cli::progress::Shown;
use crate::recovery::archive;
use crate::recovery::blocks::FileKey;
use clap::Args;
use std::path::PathBuf;

/// Make a data directory from a portable file; refuse a file that was cut or changed, and say where
///
/// The file is proved by the card.key of the deployment that wrote it: a copy of it that came by another way
/// than the file, as --card-key, or where this deployment has its own.
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
    /// The card.key of the deployment that wrote the file; without it, this deployment's
    #[arg(long, value_name = "FILE")]
    card_key: Option<PathBuf>,
}

impl Import {
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let card_key = self.card_key.as_deref().or(config.storage.card_key_file.as_deref());
        let key = FileKey::read(&config.storage.path, card_key)?;
        let mut progress = Shown::new();
        let archived = archive::import(
            &self.file,
            &self.into,
            key,
            config.storage.snapshot_records,
            &mut |part, done, of| progress.tell(part, done, of),
        )?;
        drop(progress);
        println!("ok: {} is made {}", self.into.display(), super::ends_with(archived.tip));
        Ok(())
    }
}
