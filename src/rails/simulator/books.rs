//! The simulated bank's books: what it decided, by operation id, in a small RocksDB of its own.
//!
//! Puts are not synced: the bank's books must survive a killed gateway, not a power cut of the
//! machine that plays both.

use super::fate::Fate;
use rocksdb::{BlockBasedOptions, Cache, DB, Options};
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use uuid::Uuid;

/// Bytes gathered in memory before they go to a file: 8 MiB hold about a hundred thousand
/// operations.
const WRITE_BUFFER_BYTES: usize = 8 << 20;
/// Bytes of files kept in memory, for looking up what was sent a while ago.
const CACHE_BYTES: usize = 8 << 20;
/// Where the number of duplicates is; no operation id is so short.
const DUPLICATES: &[u8] = b"duplicates";

/// Why the books could not be opened, read or written.
#[derive(Debug)]
pub struct BooksError(String);

impl fmt::Display for BooksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the books of the simulated bank: {}", self.0)
    }
}

impl std::error::Error for BooksError {}

impl From<rocksdb::Error> for BooksError {
    fn from(error: rocksdb::Error) -> BooksError {
        BooksError(error.into_string())
    }
}

/// What the bank decided, and how often it was called without need.
pub(super) struct Books {
    shelf: Shelf,
    duplicates: AtomicU64,
}

enum Shelf {
    Disk(Box<DB>),
    Memory(Mutex<HashMap<Uuid, Fate>>),
}

impl Books {
    /// Books in `directory`, with what they held before.
    pub fn open(directory: &Path) -> Result<Books, BooksError> {
        let mut blocks = BlockBasedOptions::default();
        blocks.set_block_cache(&Cache::new_lru_cache(CACHE_BYTES));
        // Nearly every lookup is of an operation that is new: a filter answers it without a read.
        blocks.set_bloom_filter(10.0, false);
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_write_buffer_size(WRITE_BUFFER_BYTES);
        options.set_max_write_buffer_number(3);
        options.set_max_background_jobs(2);
        options.set_keep_log_file_num(2);
        options.set_block_based_table_factory(&blocks);
        options.set_memtable_whole_key_filtering(true);
        options.set_memtable_prefix_bloom_ratio(0.05);
        let db = DB::open(&options, directory)?;
        let duplicates = match db.get_pinned(DUPLICATES)? {
            Some(bytes) => u64::from_le_bytes(
                bytes[..]
                    .try_into()
                    .map_err(|_| BooksError("the number of duplicates is damaged".to_owned()))?,
            ),
            None => 0,
        };
        Ok(Books { shelf: Shelf::Disk(Box::new(db)), duplicates: AtomicU64::new(duplicates) })
    }

    /// Books that are gone when they are dropped.
    pub fn in_memory() -> Books {
        Books { shelf: Shelf::Memory(Mutex::new(HashMap::new())), duplicates: AtomicU64::new(0) }
    }

    /// What was decided about `operation`, if it was ever here.
    pub fn get(&self, operation: Uuid) -> Result<Option<Fate>, BooksError> {
        match &self.shelf {
            Shelf::Disk(db) => match db.get_pinned(operation.as_bytes())? {
                Some(bytes) => Fate::from_bytes(&bytes)
                    .map(Some)
                    .ok_or_else(|| BooksError(format!("operation {operation} is damaged"))),
                None => Ok(None),
            },
            Shelf::Memory(map) => {
                Ok(map.lock().unwrap_or_else(PoisonError::into_inner).get(&operation).copied())
            }
        }
    }

    /// Keeps what was decided about `operation`.
    pub fn put(&self, operation: Uuid, fate: Fate) -> Result<(), BooksError> {
        match &self.shelf {
            Shelf::Disk(db) => db.put(operation.as_bytes(), fate.bytes())?,
            Shelf::Memory(map) => {
                map.lock().unwrap_or_else(PoisonError::into_inner).insert(operation, fate);
            }
        }
        Ok(())
    }

    /// One more call that should not have been; how many there are now.
    pub fn count_duplicate(&self) -> Result<u64, BooksError> {
        let total = self.duplicates.fetch_add(1, Ordering::Relaxed) + 1;
        if let Shelf::Disk(db) = &self.shelf {
            db.put(DUPLICATES, total.to_le_bytes())?;
        }
        Ok(total)
    }

    /// How many calls there were that should not have been.
    pub fn duplicates(&self) -> u64 {
        self.duplicates.load(Ordering::Relaxed)
    }
}
