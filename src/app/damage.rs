//! Damage that a running server meets: RocksDB says that a file of the log is not what it wrote. Whose records are
//! in it cannot be told for certain, so the process ends with 74, which the units do not start again, and leaves
//! `DAMAGED`. The next start reads everything that is stored before it opens, and refuses as long as that fails:
//! a file that no start needs would otherwise be found by a compaction, after payments were taken.
//!
//! And the file that a process leaves when it ends because it may not go on: the reason, for an operator; and for the next
//! run, which shows the file's age in its metrics. A metric that changes right before the end would never be read.

use super::StartupError;
use crate::recovery::directory::{DAMAGED_FILE, ENDED_BADLY_FILE};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use wal::RocksStore;

pub const EXIT_DAMAGED: u8 = 74;
pub const ADVICE: &str = "start nothing on this directory; `pasarela wal salvage --to DIR` copies what is whole before \
    the damage, `pasarela restore BACKUP --into DIR` the newest backup (docs/operating.md, The log is damaged)";
const LAST_WORDS: Duration = Duration::from_millis(200);

static IS_MET: AtomicBool = AtomicBool::new(false);

/// Leaves the end of a start that failed to the damage that it met, if it did: that has its own exit code.
pub async fn ends_first() {
    if IS_MET.load(Ordering::SeqCst) {
        tokio::time::sleep(2 * LAST_WORDS).await;
    }
}

pub fn watch(store: &RocksStore, data: &Path) {
    let data = data.to_path_buf();
    store.on_damage(move |why| {
        IS_MET.store(true, Ordering::SeqCst);
        let why = format!("the log is damaged: {why}");
        tracing::error!(why, "ending the process: {ADVICE}");
        let data = data.clone();
        end(EXIT_DAMAGED, move || {
            note(&data, &why);
            if let Err(error) = fs::write(data.join(DAMAGED_FILE), format!("{why}\n{ADVICE}\n")) {
                tracing::error!(%error, "{DAMAGED_FILE} could not be written");
            }
        });
    });
}

/// Ends the process a moment later: the answers of a failed write leave, and the last words are written. A disk that
/// does not answer must not keep it from ending.
pub fn end(code: u8, last_words: impl FnOnce() + Send + 'static) {
    std::thread::spawn(move || {
        std::thread::spawn(last_words);
        std::thread::sleep(LAST_WORDS);
        std::process::exit(i32::from(code));
    });
}

/// Reads everything again where the last run met damage; the file goes when nothing is wrong any more.
pub fn settle(store: &RocksStore, data: &Path) -> Result<(), StartupError> {
    let path: PathBuf = data.join(DAMAGED_FILE);
    if !path.exists() {
        return Ok(());
    }
    tracing::warn!("the last run met damage: everything that is stored is read before this one opens");
    let read = store.read_through(|entries| tracing::info!(entries, "reading what is stored"));
    read.map_err(|source| StartupError::StillDamaged { path: path.clone(), source })?;
    fs::remove_file(&path).map_err(StartupError::of(format!("storage.path: {}", path.display())))?;
    tracing::warn!("nothing is damaged any more");
    Ok(())
}

/// Writes the reason. A disk that is full or gone may not take it: then only the log line tells.
pub fn note(data: &Path, why: &str) {
    // The file is emptied before it is written: on a full disk, which takes no text, at least its
    // time is new.
    if let Err(error) = fs::write(data.join(ENDED_BADLY_FILE), format!("{why}\n")) {
        tracing::error!(%error, "the reason could not be left in {ENDED_BADLY_FILE}");
    }
}

pub fn last_end(data: &Path) -> Option<SystemTime> {
    fs::metadata(data.join(ENDED_BADLY_FILE)).and_then(|file| file.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reason_stays_with_its_time() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(last_end(directory.path()), None);
        note(directory.path(), "the books of tenant key 2 do not sum to zero");
        note(directory.path(), "the disk is full");
        assert_eq!(
            fs::read_to_string(directory.path().join(ENDED_BADLY_FILE)).expect("readable"),
            "the disk is full\n"
        );
        assert!(
            last_end(directory.path()).is_some_and(|time| time.elapsed().is_ok_and(|ago| ago.as_secs() < 60))
        );
        note(&directory.path().join("gone"), "nobody can be told");
    }
}
