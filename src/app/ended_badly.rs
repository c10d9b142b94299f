//! The file in the data directory that a process leaves when it ends because it may not go on: the
//! reason, for an operator; and for the next run, which shows the file's age in its metrics. A
//! metric that changes right before the end would never be read.

use crate::recovery::directory::ENDED_BADLY_FILE;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Writes the reason. A disk that is full or gone may not take it: then only the log line tells.
pub fn note(data: &Path, why: &str) {
    // The file is emptied before it is written: on a full disk, which takes no text, at least its
    // time is new.
    if let Err(error) = fs::write(data.join(ENDED_BADLY_FILE), format!("{why}\n")) {
        tracing::error!(%error, "the reason could not be left in {ENDED_BADLY_FILE}");
    }
}

/// The instant at which a run on this directory last ended so, if one did.
pub fn last(data: &Path) -> Option<SystemTime> {
    fs::metadata(data.join(ENDED_BADLY_FILE)).and_then(|file| file.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_reason_stays_with_its_time() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(last(directory.path()), None);
        note(directory.path(), "the books of tenant key 2 do not sum to zero");
        note(directory.path(), "the disk is full");
        assert_eq!(
            fs::read_to_string(directory.path().join(ENDED_BADLY_FILE)).expect("readable"),
            "the disk is full\n"
        );
        assert!(
            last(directory.path()).is_some_and(|time| time.elapsed().is_ok_and(|ago| ago.as_secs() < 60))
        );
        note(&directory.path().join("gone"), "nobody can be told");
    }
}
