//! Files are made, named and removed so that a crash at any instant leaves an old state or a new one.

use super::BooksError;
use super::journal;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub(super) const SORTED_FILE: &str = "operations.sorted";
const JOURNAL_PREFIX: &str = "journal-";
/// Held by the server that has the books open; nothing is in it.
pub(super) const LOCK_FILE: &str = "books.lock";
/// A file that is not whole yet.
const PART_SUFFIX: &str = ".new";

pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> BooksError + use<> {
    let path = path.display().to_string();
    move |error| BooksError::because(format!("{path}: {error}"))
}

pub(super) fn part_of(path: &Path) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    part.push(PART_SUFFIX);
    PathBuf::from(part)
}

/// For its owner alone; a file with this name is replaced.
pub(super) fn made(path: &Path) -> Result<File, BooksError> {
    removed(path)?;
    File::options().read(true).write(true).create_new(true).mode(0o600).open(path).map_err(at(path))
}

/// For its owner alone, if there is none.
pub(super) fn made_directory(path: &Path) -> Result<(), BooksError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => sync_directory(path.parent().unwrap_or(Path::new("."))),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(at(path)(error)),
    }
}

/// The right to write to the books, which one server has at a time and loses however it ends. The
/// log has a lock of its own, which may be free before the last sync here.
pub(super) fn locked(directory: &Path) -> Result<File, BooksError> {
    let path = directory.join(LOCK_FILE);
    let opened = File::options().create(true).write(true).truncate(false).mode(0o600).open(&path);
    let file = opened.map_err(at(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(BooksError::because(format!("{}: another server has them open", directory.display())))
        }
        Err(TryLockError::Error(error)) => Err(at(&path)(error)),
    }
}

/// The file is whole and synced; the name is durable.
pub(super) fn rename(part: &Path, path: &Path) -> Result<(), BooksError> {
    fs::rename(part, path).map_err(at(path))?;
    sync_directory(path.parent().unwrap_or(Path::new(".")))
}

pub(super) fn removed(path: &Path) -> Result<(), BooksError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

pub(super) fn sync_directory(path: &Path) -> Result<(), BooksError> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path).and_then(|opened| opened.sync_all()).map_err(at(path))
}

pub(super) fn journal(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{JOURNAL_PREFIX}{number:08}"))
}

/// With its header and `records`, durable.
pub(super) fn made_journal(directory: &Path, number: u64, records: &[u8]) -> Result<File, BooksError> {
    let path = journal(directory, number);
    let part = part_of(&path);
    let mut file = made(&part)?;
    file.write_all(&journal::header(number))
        .and_then(|()| file.write_all(records))
        .and_then(|()| file.sync_all())
        .map_err(at(&part))?;
    rename(&part, &path)?;
    opened_journal(&path)
}

/// Whoever writes says where: what two servers append would be mixed.
pub(super) fn opened_journal(path: &Path) -> Result<File, BooksError> {
    File::options().write(true).open(path).map_err(at(path))
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub sorted: bool,
    pub journals: Vec<u64>,
    pub parts: Vec<PathBuf>,
    /// Where the books were once.
    pub rocksdb: bool,
}

impl Found {
    pub fn inside(directory: &Path) -> Result<Found, BooksError> {
        let mut found = Found::default();
        for entry in fs::read_dir(directory).map_err(at(directory))? {
            let entry = entry.map_err(at(directory))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(PART_SUFFIX) {
                found.parts.push(entry.path());
            } else if name == SORTED_FILE {
                found.sorted = true;
            } else if name == "CURRENT" {
                found.rocksdb = true;
            } else if let Some(number) = name.strip_prefix(JOURNAL_PREFIX) {
                let number = number.parse().map_err(|_| {
                    BooksError::because(format!("{}: is no name of a journal", entry.path().display()))
                })?;
                found.journals.push(number);
            }
        }
        found.journals.sort_unstable();
        Ok(found)
    }

    /// Of the kind that this program writes.
    pub fn is_books(&self) -> bool {
        self.sorted || !self.journals.is_empty()
    }
}
