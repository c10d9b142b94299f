//! The witness file beside the database: the last tip that may have been acknowledged.
//!
//! Overwritten in place after every synced write, and synced itself once a second and at the end.
//! It always survives a killed process, and a power cut up to the last second. It is never ahead of
//! the log, which was synced before; so a log that ends before it has lost records. Its bytes are
//! drawn in the header of the crate.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The name of the file in the data directory.
pub(crate) const WITNESS_FILE: &str = "WITNESS";

const SYNC_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Witness {
    file: File,
    synced_at: Mutex<Instant>,
}

/// The contents of the file in `dir`; `None` if it is absent or was only just created.
pub(crate) fn read(dir: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(dir.join(WITNESS_FILE)) {
        Ok(note) if note.is_empty() => Ok(None),
        Ok(note) => Ok(Some(note)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes the witness of a directory that no other process knows yet.
pub(crate) fn create(dir: &Path, note: &[u8]) -> io::Result<()> {
    let file = File::create(dir.join(WITNESS_FILE))?;
    file.write_all_at(note, 0)?;
    file.sync_all()?;
    File::open(dir)?.sync_all()
}

impl Witness {
    /// Opens the file of `dir` to go on writing it.
    pub(crate) fn open(dir: &Path) -> io::Result<Witness> {
        let file = File::options().write(true).create(true).truncate(false).open(dir.join(WITNESS_FILE))?;
        file.sync_all()?;
        File::open(dir)?.sync_all()?;
        Ok(Witness { file, synced_at: Mutex::new(Instant::now()) })
    }

    /// Overwrites the contents of the file.
    pub(crate) fn note(&self, note: &[u8]) -> io::Result<()> {
        self.file.write_all_at(note, 0)?;
        let mut synced_at = self.synced_at.lock().expect("nobody panics with it");
        if synced_at.elapsed() >= SYNC_EVERY {
            self.file.sync_data()?;
            *synced_at = Instant::now();
        }
        Ok(())
    }

    /// Syncs the file, so that its contents survive a power cut.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
