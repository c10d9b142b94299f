//! A sort of more entries than fit into memory: sorted files in a scratch directory, merged when
//! they are read. Memory is bounded whatever the number of entries; of entries with one key the
//! last that was put is read.

use crate::ReadError;
use crate::store::StoreError;
use rocksdb::{DB, DBRawIterator, Options, ReadOptions, WriteBatch, WriteOptions};
use std::fs;
use std::path::{Path, PathBuf};

/// A sorted file is written after so many bytes; one buffer fills while others are written.
const RUN_BYTES: usize = 64 << 20;
const GROUP_BYTES: usize = 1 << 20;

pub type Entry<'a> = (&'a [u8], &'a [u8]);

pub struct ExternalSort {
    // The database is closed before its directory is removed.
    db: Option<DB>,
    group: WriteBatch,
    write_options: WriteOptions,
    directory: PathBuf,
}

impl ExternalSort {
    /// `directory` must not exist yet, and is removed at the end.
    pub fn new(directory: &Path) -> Result<ExternalSort, StoreError> {
        if directory.exists() {
            return Err(StoreError::Failed(format!("{}: exists already", directory.display())));
        }
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_write_buffer_size(RUN_BYTES);
        options.set_max_write_buffer_number(3);
        // Files are merged once, when they are read.
        options.set_disable_auto_compactions(true);
        options.set_level_zero_slowdown_writes_trigger(i32::MAX);
        options.set_level_zero_stop_writes_trigger(i32::MAX);
        options.set_allow_concurrent_memtable_write(false);
        options.set_max_open_files(-1);
        let db = DB::open(&options, directory).map_err(|error| {
            StoreError::Failed(format!("the scratch directory {}: {error}", directory.display()))
        })?;
        let mut write_options = WriteOptions::default();
        write_options.disable_wal(true); // it need not survive anything
        Ok(ExternalSort {
            db: Some(db),
            group: WriteBatch::default(),
            write_options,
            directory: directory.to_owned(),
        })
    }

    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        self.group.put(key, value);
        if self.group.size_in_bytes() < GROUP_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let group = std::mem::take(&mut self.group);
        self.db().write_opt(group, &self.write_options).map_err(|error| self.failed(&error))
    }

    pub fn sorted(&mut self) -> Result<Sorted<'_>, StoreError> {
        self.flush()?;
        let mut options = ReadOptions::default();
        options.fill_cache(false);
        options.set_readahead_size(2 << 20);
        let mut inner = self.db().raw_iterator_opt(options);
        inner.seek_to_first();
        Ok(Sorted { inner })
    }

    fn db(&self) -> &DB {
        self.db.as_ref().expect("it is open until it is dropped")
    }

    fn failed(&self, error: &rocksdb::Error) -> StoreError {
        StoreError::Failed(format!("the scratch directory {}: {error}", self.directory.display()))
    }
}

impl Drop for ExternalSort {
    fn drop(&mut self) {
        drop(self.db.take());
        if let Err(error) = fs::remove_dir_all(&self.directory) {
            tracing::warn!(%error, directory = %self.directory.display(), "a scratch directory was not \
                removed");
        }
    }
}

pub struct Sorted<'a> {
    inner: DBRawIterator<'a>,
}

impl Sorted<'_> {
    pub fn peek(&self) -> Result<Option<Entry<'_>>, ReadError> {
        match self.inner.item() {
            Some(item) => Ok(Some(item)),
            None => self
                .inner
                .status()
                .map(|()| None)
                .map_err(|error| StoreError::Failed(format!("the scratch directory: {error}")).into()),
        }
    }

    pub fn advance(&mut self) {
        if self.inner.valid() {
            self.inner.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_in_order_and_the_last_of_a_key_wins() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("scratch");
        let mut sort = ExternalSort::new(&directory).unwrap();
        assert!(ExternalSort::new(&directory).is_err(), "a directory that exists is refused");
        for n in (0..5_000_u32).rev() {
            sort.put(&n.to_be_bytes(), &[0; 300]).unwrap();
        }
        sort.put(&7_u32.to_be_bytes(), b"last").unwrap();
        let mut sorted = sort.sorted().unwrap();
        for n in 0..5_000_u32 {
            let (key, value) = sorted.peek().unwrap().unwrap();
            assert_eq!(key, n.to_be_bytes());
            assert_eq!(value == b"last", n == 7);
            sorted.advance();
        }
        assert!(sorted.peek().unwrap().is_none());
        drop(sorted);
        drop(sort);
        assert!(!directory.exists());
    }
}
