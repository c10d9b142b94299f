//! Copies of the books, entry by entry, beside the server that writes them; a copy has everything
//! that was answered before it began. An entry is what it was in the RocksDB of earlier versions,
//! so that exports of any version can be read by any: an operation id with two bytes of fate, and
//! [`DUPLICATES`] with a count.

use super::super::fate::Fate;
use super::files::{self, Found};
use super::journal::{self, HEADER_BYTES, Record};
use super::sorted::{Sorted, Summary, Writer};
use super::{BooksError, DUPLICATES, opening};
use rocksdb::DB;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// A compaction may end while files are opened: then they are opened again.
const OPEN_ATTEMPTS: u32 = 16;

/// A directory that is not there has no books; one that cannot be looked into may have some.
pub fn is_books(directory: &Path) -> Result<bool, BooksError> {
    match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => Found::inside(directory).map(|found| found.is_books()),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(files::at(directory)(error)),
    }
}

/// At one moment: journals by their number, and what was before them.
struct OpenFiles {
    journals: Vec<(u64, File)>,
    sorted: Option<Sorted>,
    /// Kept beside them by an earlier version; its entries are newer.
    rocksdb: Option<DB>,
}

/// Of entries with one key the last counts.
pub fn each_entry<E: From<BooksError>>(
    directory: &Path,
    mut each: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let OpenFiles { journals, sorted, rocksdb } = open_beside(directory)?;
    let mut duplicates = 0;
    if let Some(sorted) = sorted {
        duplicates = sorted.summary().duplicates;
        let mut refused = None;
        let walked = sorted.walk(|id, fate| {
            each(id.as_bytes(), &fate.bytes()).map_err(|error| {
                refused = Some(error);
                BooksError::because("refused")
            })
        });
        if let Some(error) = refused {
            return Err(error);
        }
        walked?;
    }
    for (number, mut file) in journals {
        let path = files::journal(directory, number);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(files::at(&path))?;
        let mut outcome = Ok(());
        journal::read(&bytes, number, |record| match record {
            Record::Decided(id, fate) if outcome.is_ok() => outcome = each(id.as_bytes(), &fate.bytes()),
            Record::Duplicates(total) => duplicates = duplicates.max(total),
            Record::Decided(..) | Record::Synced(_) => {}
        })
        .map_err(|damaged| opening::refused(&path, &damaged))?;
        outcome?;
    }
    if let Some(rocksdb) = rocksdb {
        opening::each_in_rocksdb(directory, &rocksdb, |key, value| match record(key, value)? {
            Record::Duplicates(total) => {
                duplicates = duplicates.max(total);
                Ok(())
            }
            Record::Decided(..) | Record::Synced(_) => each(key, value),
        })?;
    }
    if duplicates > 0 { each(DUPLICATES, &u64::to_le_bytes(duplicates)) } else { Ok(()) }
}

/// Journals first, because what leaves them is in the sorted file by then.
fn open_beside(directory: &Path) -> Result<OpenFiles, BooksError> {
    let mut attempt = 1;
    loop {
        match open_once(directory) {
            Err(_) if attempt < OPEN_ATTEMPTS => attempt += 1,
            opened => return opened,
        }
    }
}

fn open_once(directory: &Path) -> Result<OpenFiles, BooksError> {
    let found = Found::inside(directory)?;
    let mut journals = Vec::new();
    for number in &found.journals {
        let path = files::journal(directory, *number);
        journals.push((*number, File::open(&path).map_err(files::at(&path))?));
    }
    let path = directory.join(files::SORTED_FILE);
    let sorted = path.exists().then(|| Sorted::open(&path)).transpose()?;
    let through = sorted.as_ref().map_or(0, |sorted| sorted.summary().through);
    opening::following(directory, &found.journals, through)?;
    journals.retain(|(number, _)| *number > through);
    let rocksdb = found.rocksdb.then(|| opening::opened_rocksdb(directory)).transpose()?;
    Ok(OpenFiles { journals, sorted, rocksdb })
}

pub(super) fn record(key: &[u8], value: &[u8]) -> Result<Record, BooksError> {
    if key == DUPLICATES {
        let total = value.try_into().map(u64::from_le_bytes);
        return total
            .map(Record::Duplicates)
            .map_err(|_| BooksError::damaged("the number of duplicates is damaged"));
    }
    let id = Uuid::from_slice(key)
        .map_err(|_| BooksError::damaged(format!("{} is no id of an operation", hex::encode(key))))?;
    let fate =
        Fate::from_bytes(value).ok_or_else(|| BooksError::damaged(format!("operation {id} is damaged")))?;
    Ok(Record::Decided(id, fate))
}

pub struct BooksCopy {
    directory: PathBuf,
    sorted: Writer,
    duplicates: u64,
    /// Entries that came out of order, as records of the first journal.
    journal: Vec<u8>,
}

impl BooksCopy {
    pub fn new(directory: &Path) -> Result<BooksCopy, BooksError> {
        files::made_directory(directory)?;
        if Found::inside(directory)?.is_books() {
            return Err(BooksError::because(format!("{}: has books already", directory.display())));
        }
        let sorted = Writer::new(&directory.join(files::SORTED_FILE))?;
        Ok(BooksCopy { directory: directory.to_owned(), sorted, duplicates: 0, journal: Vec::new() })
    }

    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), BooksError> {
        match record(key, value)? {
            Record::Duplicates(total) => self.duplicates = total,
            Record::Decided(id, fate)
                if self.journal.is_empty() && self.sorted.last().is_none_or(|last| last < id) =>
            {
                self.sorted.put(id, fate)?;
            }
            record => {
                let at = (HEADER_BYTES + self.journal.len()) as u64;
                record.write_into(&mut self.journal, 1, at);
            }
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<(), BooksError> {
        let length = (HEADER_BYTES + self.journal.len()) as u64;
        if !self.journal.is_empty() {
            Record::Synced(length).write_into(&mut self.journal, 1, length);
        }
        self.sorted.finish(Summary { through: 0, duplicates: self.duplicates })?;
        files::made_journal(&self.directory, 1, &self.journal).map(|_| ())
    }
}
