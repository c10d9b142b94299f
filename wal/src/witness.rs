//! The witness file beside the database: the last tip that may have been acknowledged, overwritten
//! in place after every synced write, and synced itself once a second and at the end. It is never
//! ahead of the log; so a log that ends before it has lost records. It survives a killed process,
//! and a power cut up to the last second: its name comes when its first note is durable, and all of
//! it lies in one sector of the disk. Its bytes are drawn in the header of the crate.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

pub(crate) const WITNESS_FILE: &str = "WITNESS";

const UNNAMED_FILE: &str = "WITNESS.new";

const SYNC_EVERY: Duration = Duration::from_secs(1);

pub(crate) struct Witness {
    file: File,
    state: Mutex<State>,
}

struct State {
    synced_at: Instant,
    unnamed_in: Option<PathBuf>,
}

/// `None` if the file is absent or was only just created.
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
    /// A file that is absent or empty is made anew by the first note.
    pub(crate) fn open(dir: &Path) -> io::Result<Witness> {
        let is_new = read(dir)?.is_none();
        let file = if is_new {
            File::create(dir.join(UNNAMED_FILE))?
        } else {
            File::options().write(true).open(dir.join(WITNESS_FILE))?
        };
        file.sync_all()?;
        File::open(dir)?.sync_all()?;
        let unnamed_in = is_new.then(|| dir.to_owned());
        Ok(Witness { file, state: Mutex::new(State { synced_at: Instant::now(), unnamed_in }) })
    }

    pub(crate) fn note(&self, note: &[u8]) -> io::Result<()> {
        self.file.write_all_at(note, 0)?;
        let mut state = self.state.lock().expect("nobody panics with it");
        if let Some(dir) = &state.unnamed_in {
            self.file.sync_all()?;
            fs::rename(dir.join(UNNAMED_FILE), dir.join(WITNESS_FILE))?;
            File::open(dir)?.sync_all()?;
        } else if state.synced_at.elapsed() >= SYNC_EVERY {
            self.file.sync_data()?;
        } else {
            return Ok(());
        }
        *state = State { synced_at: Instant::now(), unnamed_in: None };
        Ok(())
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_has_its_name_when_its_first_note_is_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        // An empty file is what an earlier program left when its first start lost power.
        fs::write(dir.path().join(WITNESS_FILE), b"").expect("written");
        let witness = Witness::open(dir.path()).expect("opened");
        assert_eq!(read(dir.path()).expect("read"), None, "nothing that is less than a note");
        witness.note(b"first").expect("noted");
        assert_eq!(read(dir.path()).expect("read").as_deref(), Some(&b"first"[..]));
        assert!(!dir.path().join(UNNAMED_FILE).exists());
        witness.note(b"other").expect("noted");
        assert_eq!(read(dir.path()).expect("read").as_deref(), Some(&b"other"[..]));
        let again = Witness::open(dir.path()).expect("opened");
        again.note(b"third").expect("noted");
        assert_eq!(read(dir.path()).expect("read").as_deref(), Some(&b"third"[..]));
    }
}
