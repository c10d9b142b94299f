//! The storage seam: the few verbs that the log needs of a store.
//!
//! `rocks.rs` is the store of production, `memory.rs` one that fails on purpose. Whatever the log
//! promises it must get from these verbs alone, so that a test that breaks them tests the promise.

use crate::batch::{Batch, Family};
use std::path::Path;

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no room left.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The stored data cannot be right.
    #[error("corruption: {0}")]
    Corrupt(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

/// Which keys a cursor sees, and how it reads them.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The family to walk.
    pub family: Family,
    /// The first key that is seen.
    pub from: Option<Vec<u8>>,
    /// The first key that is no longer seen.
    pub to: Option<Vec<u8>>,
    /// How far it will go.
    pub way: Way,
}

/// How a cursor goes through its keys, and so what is worth keeping and reading ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To a few keys, which others may look at soon: they are kept in a cache.
    Look,
    /// A long way from key to key: what follows is read ahead, and nothing is pushed out of a
    /// cache.
    Walk,
    /// A long way with leaps over most of the keys: nothing is read ahead, and nothing is pushed
    /// out of a cache.
    Leap,
}

impl Scan {
    /// Every key of a family.
    pub fn all(family: Family) -> Scan {
        Scan { family, from: None, to: None, way: Way::Look }
    }

    /// The same keys, gone through in this way.
    pub fn by(self, way: Way) -> Scan {
        Scan { way, ..self }
    }
}

/// A store of families of ordered keys.
pub trait Store: Send + Sync {
    /// Makes all of `batch` durable and then visible, or fails. After a failure the outcome is
    /// unknown, and the caller must not write again.
    fn write(&self, batch: &Batch) -> Result<(), StoreError>;

    /// The value under `key`.
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// A cursor over what is visible now; it stands nowhere until it is placed. Later
    /// writes do not change what it sees.
    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_>;

    /// Keeps `note` beside the store, apart from what `write` wrote, after the write it speaks of
    /// is durable and before it is acknowledged. It is how a store that lost its tail is found out.
    fn witness(&self, note: &[u8]) -> Result<(), StoreError>;

    /// The last note; asked for before the first `witness`.
    fn witnessed(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Copies what is durable, and a note that vouches for it, to a new directory, while writes go
    /// on.
    fn checkpoint(&self, dir: &Path, note: &[u8]) -> Result<(), StoreError>;

    /// Puts things in order after the last write, so that the next opening is quick.
    fn close(&self) -> Result<(), StoreError>;
}

/// Key and value.
pub type Item<'a> = (&'a [u8], &'a [u8]);

/// A position among the keys of a scan.
pub trait StoreCursor: Send {
    /// To the first key.
    fn first(&mut self);
    /// To the last key.
    fn last(&mut self);
    /// To the first key that is not below `key`.
    fn seek(&mut self, key: &[u8]);
    /// To the last key that is not above `key`.
    fn seek_back(&mut self, key: &[u8]);
    /// To the following key. The cursor must stand on a key.
    fn next(&mut self);
    /// To the preceding key. The cursor must stand on a key.
    fn prev(&mut self);
    /// Key and value where it stands; `None` past the end, and after a failure.
    fn item(&self) -> Option<Item<'_>>;
    /// Whether a `None` was the end (`Ok`) or a failure.
    fn status(&self) -> Result<(), StoreError>;
}

/// The item under a cursor; a failure is an error and not the end.
pub(crate) fn checked_item<'c>(cursor: &'c (dyn StoreCursor + '_)) -> Result<Option<Item<'c>>, StoreError> {
    match cursor.item() {
        Some(item) => Ok(Some(item)),
        None => cursor.status().map(|()| None),
    }
}
