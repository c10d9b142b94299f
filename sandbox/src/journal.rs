//! The file of the books: a header and one JSON entry per line, only ever appended to.
//!
//! Promises: an entry is synced before `append` returns, and an entry that was never acknowledged
//! (a last line without its end) is dropped at the next opening. What is damaged in any other way
//! is not opened. A file has one process. It must not know what the entries mean.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// The version of what is written.
const FORMAT: u64 = 1;

/// The status of a process that can no longer write its books.
const CANNOT_WRITE: i32 = 70;

/// An open file of books.
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens or begins the books of a bank, and reads their entries.
    ///
    /// # Errors
    /// What is wrong with the folder or the file, and on which line.
    pub fn open<E: DeserializeOwned>(folder: &Path, bank: &str) -> Result<(Journal, Vec<E>), String> {
        let path = folder.join(format!("{bank}.jsonl"));
        let named = |error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(folder).map_err(named)?;
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(named)?;
        file.try_lock().map_err(|_| format!("{}: another process has these books", path.display()))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(named)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            file.set_len(whole as u64).and_then(|()| file.sync_data()).map_err(named)?;
        }
        let text =
            std::str::from_utf8(&text[..whole]).map_err(|error| format!("{}: {error}", path.display()))?;
        let header = json!({"pasarela-sandbox": bank, "format": FORMAT});
        let mut entries = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let on_line = |error| format!("{}, line {}: {error}", path.display(), at + 1);
            match at {
                0 if serde_json::from_str::<Value>(line).ok() == Some(header.clone()) => {}
                0 => return Err(on_line(format!("expected {header}"))),
                _ => entries.push(serde_json::from_str(line).map_err(|error| on_line(error.to_string()))?),
            }
        }
        let mut journal = Journal { file, path: path.clone() };
        if text.is_empty() {
            journal.append(&header);
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(named)?;
        }
        Ok((journal, entries))
    }

    /// Appends an entry and syncs it.
    ///
    /// A file that does not take it ends the process: whether the entry is there is unknown, and a
    /// bank that answers out of unknown books is no judge. The next start reads what there is.
    pub fn append<E: Serialize>(&mut self, entry: &E) {
        let written = serde_json::to_vec(entry).map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.file.write_all(&line)?;
            self.file.sync_data()
        });
        if let Err(error) = written {
            crate::site::complain(&format!("{}: {error}", self.path.display()));
            std::process::exit(CANNOT_WRITE);
        }
    }

    /// The file that the books are in.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &Path) -> Result<(Journal, Vec<u64>), String> {
        Journal::open(folder, "r4")
    }

    #[test]
    fn a_line_without_its_end_is_dropped_and_what_follows_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut journal, none) = open(folder.path()).expect("new books");
        assert!(none.is_empty());
        journal.append(&1);
        journal.append(&2);
        journal.file.write_all(b"3").expect("a torn line");
        drop(journal);
        let (mut journal, entries) = open(folder.path()).expect("the books");
        assert_eq!(entries, [1, 2]);
        journal.append(&4);
        drop(journal);
        assert_eq!(open(folder.path()).expect("the books").1, [1, 2, 4]);
    }

    #[test]
    fn damage_in_the_middle_and_books_of_another_bank_are_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut journal, _) = open(folder.path()).expect("new books");
        journal.append(&"no number");
        journal.append(&5);
        drop(journal);
        let problem = open(folder.path()).map(|_| ()).expect_err("damage");
        assert!(problem.contains("line 2"), "{problem}");
        fs::rename(folder.path().join("r4.jsonl"), folder.path().join("wompi.jsonl")).expect("renamed");
        let other = Journal::open::<u64>(folder.path(), "wompi").map(|_| ()).expect_err("another bank");
        assert!(other.contains("line 1"), "{other}");
    }

    #[test]
    fn two_processes_do_not_share_books() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = open(folder.path()).expect("new books");
        let problem = open(folder.path()).map(|_| ()).expect_err("taken");
        assert!(problem.contains("another process"), "{problem}");
        drop(first);
        open(folder.path()).expect("free again");
    }
}
