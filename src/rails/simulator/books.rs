//! The simulated bank's books: what it decided, by operation id, in files of their own.
//!
//! Layout: `disk` the books of a running server · `journal`, `sorted` the two formats, byte by byte ·
//! `opening` what is found at a start · `copying` for backups and exports · `files` their names.
//!
//! # What is durable when
//!
//! A decision is in the file before it is answered: given to the operating system, not synced. So a
//! killed gateway finds everything that the bank ever said, and sends nothing twice. A sync of the
//! file follows within about a second, by a thread of its own.
//!
//! A power cut takes at most that second from the bank, and so it may know less than the log, which
//! is synced. This is as it was with a RocksDB, without the bound of a second, and it is no error in
//! any money, because a bank that forgot an operation did not do it either: its books are all that
//! it has.
//!
//! - An order without an answer in the log: asked, the bank says that it never received it. A charge
//!   fails with `AB01`; a payout is sent once more, and that is the one time that the bank did it.
//! - An order whose answer is in the log: nobody asks again, and the answer counts. Giving it back is
//!   refused, as of a charge that the bank never saw; the payment stays as it is. An operator's word
//!   that is asked after is not contradicted by "never received".
//! - An open collection of pesos is unknown, and fails.
//!
//! To wait for a sync before every answer would exclude that, for a second sync per payout beside
//! the log's, and the bank would not answer at once.
//!
//! # What is kept
//!
//! Every operation, for good: a book that was halted, or a server that was stopped, may ask about an
//! operation months after it was decided, and "never received" would then be untrue and send a
//! payout again. Old operations are in a sorted file and cost memory next to nothing.

mod copying;
mod disk;
mod files;
pub mod journal;
mod opening;
mod sorted;

use super::fate::Fate;
pub use copying::{BooksCopy, each_entry, is_books};
use disk::Disk;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use uuid::Uuid;

/// The key of the number of duplicates among entries; no operation id is so short.
const DUPLICATES: &[u8] = b"duplicates";

/// Why the books could not be opened, read or written.
#[derive(Clone, Debug)]
pub struct BooksError(String);

impl fmt::Display for BooksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the books of the simulated bank: {}", self.0)
    }
}

impl std::error::Error for BooksError {}

/// What the bank decided, and how often it was called without need.
pub(super) struct Books {
    shelf: Shelf,
}

enum Shelf {
    Disk(Disk),
    Memory { decisions: Mutex<HashMap<Uuid, Fate>>, duplicates: AtomicU64 },
}

impl Books {
    /// Books in `directory`, with what they held before.
    pub fn open(directory: &Path) -> Result<Books, BooksError> {
        let opened = opening::open(directory)?;
        Ok(Books { shelf: Shelf::Disk(Disk::new(directory, opened)?) })
    }

    /// Books that are gone when they are dropped.
    pub fn in_memory() -> Books {
        Books { shelf: Shelf::Memory { decisions: Mutex::default(), duplicates: AtomicU64::new(0) } }
    }

    /// What was decided about `operation`, if it was ever here.
    pub fn get(&self, operation: Uuid) -> Result<Option<Fate>, BooksError> {
        match &self.shelf {
            Shelf::Disk(disk) => disk.get(operation),
            Shelf::Memory { decisions, .. } => {
                Ok(decisions.lock().unwrap_or_else(PoisonError::into_inner).get(&operation).copied())
            }
        }
    }

    /// Keeps what was decided about `operation`.
    pub fn put(&self, operation: Uuid, fate: Fate) -> Result<(), BooksError> {
        match &self.shelf {
            Shelf::Disk(disk) => disk.decide(operation, fate)?,
            Shelf::Memory { decisions, .. } => {
                decisions.lock().unwrap_or_else(PoisonError::into_inner).insert(operation, fate);
            }
        }
        Ok(())
    }

    /// One more call that should not have been; how many there are now.
    pub fn count_duplicate(&self) -> Result<u64, BooksError> {
        match &self.shelf {
            Shelf::Disk(disk) => disk.count_duplicate(),
            Shelf::Memory { duplicates, .. } => Ok(duplicates.fetch_add(1, Ordering::Relaxed) + 1),
        }
    }

    /// How many calls there were that should not have been.
    pub fn duplicates(&self) -> u64 {
        match &self.shelf {
            Shelf::Disk(disk) => disk.duplicates(),
            Shelf::Memory { duplicates, .. } => duplicates.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests;
