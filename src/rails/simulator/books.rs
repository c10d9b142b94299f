//! The simulated bank's books: what it decided, by operation id, in files of their own.
//!
//! Layout: `disk` the books of a running server · `journal`, `sorted` the two formats, byte by byte ·
//! `opening` what is found at a start · `copying` for backups and exports · `files` their names.
//!
//! # What is durable when
//!
//! A decision is in the file before it is answered: given to the operating system, not synced, as it
//! was in the RocksDB of earlier versions. So a gateway that is killed finds everything that the
//! bank ever said, and sends nothing twice. A sync follows within about a second, by a thread of its
//! own; a RocksDB had none until its memory was full.
//!
//! A power cut takes that second from the bank at most. The log is synced, so the bank may then know
//! less than the log. No money is wrong by it, because a bank that forgot an operation did not do
//! it: what it did is what is in its books. What the gateway makes of it (`docs/contract.md, 5.11`):
//!
//! - An order whose answer is not in the log is asked about, and was never received: a charge fails
//!   with `AB01`, a payout or a collection is sent once more, and that is the one time it is done.
//! - An order whose answer is in the log is not asked about again, and the answer counts. To give it
//!   back is refused, as of any charge that the bank does not know, and the payment stays completed.
//! - After an operator's word the bank is asked on, and "never received" contradicts no word.
//!
//! A sync before each answer would exclude even that. It would make the bank's answers wait for the
//! disk, and cost a sync beside each of the log's.
//!
//! In a cluster the books are in the log (`AgreedBooks`), so that whoever leads has them: a decision
//! is written and agreed on before it is answered. What is in these files came before.
//!
//! # What is kept
//!
//! Every operation, for good. A book that is halted, or a server that is stopped, may ask about an
//! operation months after it was decided, and to have forgotten it would have a payout sent again; the
//! bank can't know what the gateway has heard. What was decided before the last two journals is on
//! the disk alone, in order.

mod copying;
mod disk;
mod files;
pub mod journal;
mod opening;
mod sorted;

use super::fate::Fate;
use crate::disk::Disk as Room;
use crate::rails::BoxFuture;
pub use copying::{BooksCopy, each_entry, is_books};
use disk::Disk;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// No operation id is so short.
const DUPLICATES: &[u8] = b"duplicates";

#[derive(Clone, Debug)]
pub struct BooksError {
    why: String,
    /// Whether what is stored is not what was written.
    pub is_damage: bool,
}

impl BooksError {
    pub fn because(why: impl Into<String>) -> BooksError {
        BooksError { why: why.into(), is_damage: false }
    }

    fn damaged(why: impl Into<String>) -> BooksError {
        BooksError { why: why.into(), is_damage: true }
    }
}

impl fmt::Display for BooksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the books of the simulated bank: {}", self.why)
    }
}

impl std::error::Error for BooksError {}

/// The kind, and the refusal if it is one.
pub type Decided = [u8; 2];

/// The books in the log of a cluster. A decision may be answered once it is written.
pub trait AgreedBooks: Send + Sync {
    fn read(&self, operation: Uuid) -> Result<Option<Decided>, BooksError>;

    /// Returns when all machines have agreed on the decision.
    fn write(&self, operation: Uuid, decided: Decided) -> BoxFuture<'_, Result<(), BooksError>>;
}

pub(super) struct Books {
    shelf: Shelf,
    /// Where there is more than one machine: decisions from then on are there.
    agreed: Option<Arc<dyn AgreedBooks>>,
    /// On their way to the log of a cluster.
    pending: Mutex<HashMap<Uuid, Fate>>,
}

enum Shelf {
    Disk(Disk),
    Memory { decisions: Mutex<HashMap<Uuid, Fate>>, duplicates: AtomicU64 },
}

impl Books {
    pub fn open(directory: &Path, room: &Arc<Room>) -> Result<Books, BooksError> {
        let opened = opening::open(directory)?;
        Ok(Books::on(Shelf::Disk(Disk::new(directory, opened, room)?)))
    }

    pub fn in_memory() -> Books {
        Books::on(Shelf::Memory { decisions: Mutex::default(), duplicates: AtomicU64::new(0) })
    }

    fn on(shelf: Shelf) -> Books {
        Books { shelf, agreed: None, pending: Mutex::default() }
    }

    /// What is decided from now on goes to the log of a cluster, where the books look first.
    pub fn agreed_in(self, agreed: Arc<dyn AgreedBooks>) -> Books {
        Books { agreed: Some(agreed), ..self }
    }

    fn pending(&self) -> MutexGuard<'_, HashMap<Uuid, Fate>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when what was decided may be answered.
    pub async fn settled(&self, operation: Uuid) -> Result<(), BooksError> {
        let Some(agreed) = &self.agreed else { return Ok(()) };
        let Some(fate) = self.pending().get(&operation).copied() else { return Ok(()) };
        agreed.write(operation, fate.bytes()).await?;
        let mut pending = self.pending();
        // The operation may have been decided anew meanwhile.
        if pending.get(&operation) == Some(&fate) {
            pending.remove(&operation);
        }
        Ok(())
    }

    fn in_the_log(&self, operation: Uuid) -> Result<Option<Fate>, BooksError> {
        let Some(agreed) = &self.agreed else { return Ok(None) };
        if let Some(fate) = self.pending().get(&operation) {
            return Ok(Some(*fate));
        }
        let unknown = || BooksError::damaged("a decision in the log that is none");
        let decided = agreed.read(operation)?;
        decided.map(|decided| Fate::from_bytes(&decided).ok_or_else(unknown)).transpose()
    }

    pub fn get(&self, operation: Uuid) -> Result<Option<Fate>, BooksError> {
        if let Some(fate) = self.in_the_log(operation)? {
            return Ok(Some(fate));
        }
        match &self.shelf {
            Shelf::Disk(disk) => disk.get(operation),
            Shelf::Memory { decisions, .. } => {
                Ok(decisions.lock().unwrap_or_else(PoisonError::into_inner).get(&operation).copied())
            }
        }
    }

    pub fn put(&self, operation: Uuid, fate: Fate) -> Result<(), BooksError> {
        if self.agreed.is_some() {
            self.pending().insert(operation, fate);
            return Ok(());
        }
        match &self.shelf {
            Shelf::Disk(disk) => disk.decide(operation, fate)?,
            Shelf::Memory { decisions, .. } => {
                decisions.lock().unwrap_or_else(PoisonError::into_inner).insert(operation, fate);
            }
        }
        Ok(())
    }

    /// Returns how many such calls there are now.
    pub fn count_duplicate(&self) -> Result<u64, BooksError> {
        match &self.shelf {
            Shelf::Disk(disk) => disk.count_duplicate(),
            Shelf::Memory { duplicates, .. } => Ok(duplicates.fetch_add(1, Ordering::Relaxed) + 1),
        }
    }

    pub fn duplicates(&self) -> u64 {
        match &self.shelf {
            Shelf::Disk(disk) => disk.duplicates(),
            Shelf::Memory { duplicates, .. } => duplicates.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests;
