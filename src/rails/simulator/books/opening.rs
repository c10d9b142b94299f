//! The sorted file and the journals behind it are read and made fit to go on with. The end of a
//! journal that was never whole, or never reached the disk, is cut off with a log line; anything
//! else that is wrong is refused, and the file and the byte are named.

use super::copying::{self, BooksCopy};
use super::disk::{Decisions, Opened};
use super::files::{self, Found};
use super::journal::{self, Record};
use super::sorted::Sorted;
use super::{BooksError, DUPLICATES};
use rocksdb::{DB, IteratorMode, Options};
use std::fs::{self, File};
use std::path::Path;

pub(super) fn open(directory: &Path) -> Result<Opened, BooksError> {
    files::made_directory(directory)?;
    let lock = files::locked(directory)?;
    let mut found = Found::inside(directory)?;
    if found.rocksdb {
        read_rocksdb(directory, &found)?;
        found = Found::inside(directory)?;
    }
    remove_rocksdb(directory)?;
    for part in &found.parts {
        files::removed(part)?;
    }
    if !found.is_books() {
        files::made_journal(directory, 1, &[])?;
        found.journals.push(1);
    }
    let sorted = found.sorted.then(|| Sorted::open(&directory.join(files::SORTED_FILE))).transpose()?;
    let summary = sorted.as_ref().map(Sorted::summary).unwrap_or_default();
    remove_journals(directory, summary.through)?;
    let journals = following(directory, &found.journals, summary.through)?;
    let mut recent = Decisions::default();
    let (mut duplicates, mut bytes) = (summary.duplicates, 0);
    for &number in journals {
        bytes = read_journal(directory, number, |record| match record {
            Record::Decided(operation, fate) => _ = recent.insert(operation, fate),
            Record::Duplicates(total) => duplicates = duplicates.max(total),
            Record::Synced(_) => {}
        })?;
    }
    let number = journals.last().copied().unwrap_or_default();
    let journal = files::opened_journal(&files::journal(directory, number))?;
    Ok(Opened { lock, number, journal, bytes, recent, sorted, duplicates, is_behind: journals.len() > 1 })
}

/// The journals that a sorted file does not have; none is missing.
pub(super) fn following<'a>(
    directory: &Path,
    journals: &'a [u64],
    through: u64,
) -> Result<&'a [u64], BooksError> {
    let journals = &journals[journals.partition_point(|number| *number <= through)..];
    let expected = (through + 1..).zip(journals.iter().copied().chain([0]));
    for (expected, number) in expected.take(journals.len().max(1)) {
        if number != expected {
            let path = files::journal(directory, expected);
            return Err(BooksError::damaged(format!("{}: is missing", path.display())));
        }
    }
    Ok(journals)
}

/// Cuts off what is not whole; returns how long the journal is then.
fn read_journal(directory: &Path, number: u64, each: impl FnMut(Record)) -> Result<u64, BooksError> {
    let path = files::journal(directory, number);
    let bytes = fs::read(&path).map_err(files::at(&path))?;
    let end = journal::read(&bytes, number, each).map_err(|damaged| refused(&path, &damaged))?;
    if end.at < bytes.len() {
        tracing::warn!(
            file = %path.display(),
            at = end.at,
            bytes = bytes.len() - end.at,
            "the end of a journal of the simulated bank is not whole and is cut off: nobody was answered for \
             it, or it was not on the disk when power failed"
        );
        let file = File::options().write(true).open(&path).map_err(files::at(&path))?;
        file.set_len(end.at as u64).and_then(|()| file.sync_all()).map_err(files::at(&path))?;
    }
    Ok(end.at as u64)
}

pub(super) fn refused(path: &Path, damaged: &journal::Damaged) -> BooksError {
    let journal::Damaged { at, what } = damaged;
    BooksError::damaged(format!("{}: byte {at}: {what}", path.display()))
}

pub(super) fn remove_journals(directory: &Path, through: u64) -> Result<(), BooksError> {
    let found = Found::inside(directory)?;
    let mut ended = found.journals.iter().filter(|number| **number <= through).peekable();
    if ended.peek().is_none() {
        return Ok(());
    }
    for number in ended {
        files::removed(&files::journal(directory, *number))?;
    }
    files::sync_directory(directory)
}

/// Takes over the RocksDB of earlier versions. Until its `CURRENT` is gone this begins anew after a
/// crash. Beside books of this version, which an earlier one that was started in between left
/// alone, what is in the RocksDB is newer.
fn read_rocksdb(directory: &Path, found: &Found) -> Result<(), BooksError> {
    let mut operations = 0_u64;
    if found.is_books() {
        let sorted = found.sorted.then(|| Sorted::open(&directory.join(files::SORTED_FILE))).transpose()?;
        let through = sorted.map_or(0, |sorted| sorted.summary().through);
        let number = found.journals.last().map_or(through, |last| through.max(*last)) + 1;
        let mut records = Vec::new();
        each_in_rocksdb(directory, &opened_rocksdb(directory)?, |key, value| {
            let at = (journal::HEADER_BYTES + records.len()) as u64;
            let record = copying::record(key, value)?;
            operations += u64::from(matches!(record, Record::Decided(..)));
            record.write_into(&mut records, number, at);
            Ok(())
        })?;
        files::made_journal(directory, number, &records)?;
    } else {
        let mut copy = BooksCopy::new(directory)?;
        each_in_rocksdb(directory, &opened_rocksdb(directory)?, |key, value| {
            operations += u64::from(key != DUPLICATES);
            copy.put(key, value)
        })?;
        copy.finish()?;
    }
    files::removed(&directory.join("CURRENT"))?;
    files::sync_directory(directory)?;
    tracing::info!(directory = %directory.display(), operations, "the books of the simulated bank were moved \
        from their RocksDB to files of their own");
    Ok(())
}

pub(super) fn opened_rocksdb(directory: &Path) -> Result<DB, BooksError> {
    let mut options = Options::default();
    options.set_max_open_files(-1); // what is opened cannot vanish
    DB::open_for_read_only(&options, directory, false).map_err(in_rocksdb(directory))
}

fn in_rocksdb(directory: &Path) -> impl Fn(rocksdb::Error) -> BooksError {
    move |error| BooksError::because(format!("{}: {error}", directory.display()))
}

pub(super) fn each_in_rocksdb<E: From<BooksError>>(
    directory: &Path,
    rocksdb: &DB,
    mut each: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    for entry in rocksdb.iterator(IteratorMode::Start) {
        let (key, value) = entry.map_err(in_rocksdb(directory))?;
        each(&key, &value)?;
    }
    Ok(())
}

fn remove_rocksdb(directory: &Path) -> Result<(), BooksError> {
    for entry in fs::read_dir(directory).map_err(files::at(directory))? {
        let entry = entry.map_err(files::at(directory))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_named = ["IDENTITY", "LOCK", "LOG"].contains(&name.as_str());
        let begins = ["LOG.old.", "MANIFEST-", "OPTIONS-"].iter().any(|prefix| name.starts_with(prefix));
        let ends = [".log", ".sst", ".dbtmp"].iter().any(|suffix| name.ends_with(suffix));
        if is_named || begins || ends {
            files::removed(&entry.path())?;
        }
    }
    Ok(())
}
