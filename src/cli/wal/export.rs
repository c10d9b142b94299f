//! `pasarela wal export`: everything in one portable file.

use super::super::{Failure, Settings};
use crate::cli::progress::Shown;
use crate::recovery::archive;
use clap::Args;
use std::path::PathBuf;

/// Write everything into one portable, compressed file
///
/// The file holds the secret of keyed hashes and personal data; it is readable for its owner alone.
/// Keep it so. It is proved by this deployment's card.key, which is not in it and which an import asks for.
///
/// Example: pasarela wal export /srv/backup/pasarela-2026-11-21.export
#[derive(Args, Debug)]
pub struct Export {
    #[command(flatten)]
    settings: Settings,
    /// The file to write; it must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Export {
    pub fn run(self) -> Result<(), Failure> {
        let config = self.settings.load()?;
        let (data, card) = (&config.storage.path, config.storage.card_key_file.as_deref());
        let mut progress = Shown::new();
        let archived =
            archive::export(data, card, &self.file, &mut |part, done, of| progress.tell(part, done, of));
        drop(progress);
        match archived {
            Ok(archived) => {
                println!(
                    "ok: {} bytes in {}, {}",
                    archived.bytes,
                    self.file.display(),
                    super::ends_with(archived.tip)
                );
                Ok(())
            }
            Err(failed) => Err(failed.into()),
        }
    }
}
