//! The storage seam: the few verbs that the log needs of a store.
//!
//! The store of production is in `rocks.rs`; the one in `memory.rs` fails on purpose. All promises
//! of the log must come from these verbs alone, so that a test that breaks them tests the promise.

use crate::batch::{Batch, Family};
use std::path::Path;

/// The reason why a store failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The disk is full.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The stored data contradicts itself.
    #[error("corruption: {0}")]
    Corrupt(String),
    /// Any other failure.
    #[error("{0}")]
    Failed(String),
    /// A cursor came to more removed keys than it may pass. Nothing is wrong: whoever bounded it
    /// looks elsewhere first, or without the bound.
    #[error("more removed keys than the cursor may pass")]
    PassedTooMany,
}

/// The range of keys that a cursor sees, and its way of reading them.
#[derive(Clone, Debug)]
pub struct Scan {
    /// The family to walk.
    pub family: Family,
    /// The first key that is seen; `None` for the first of the family.
    pub from: Option<Vec<u8>>,
    /// The first key that is no longer seen; `None` to see all that follow.
    pub to: Option<Vec<u8>>,
    /// The way in which the keys are read.
    pub way: Way,
    /// The removed keys that one move of the cursor may pass; `None` for any number.
    pub passes_max: Option<u64>,
}

/// The way in which a cursor goes through its keys, which decides what is cached and read ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A look at a few keys, which others may read soon: their blocks are kept in the cache.
    Look,
    /// A long walk from key to key: what follows is read ahead, and nothing is pushed out of the
    /// cache.
    Walk,
    /// A long walk that leaps over most of the keys: nothing is read ahead, and nothing is pushed
    /// out of the cache.
    Leap,
}

impl Scan {
    /// All keys of a family.
    pub fn all(family: Family) -> Scan {
        Scan { family, from: None, to: None, way: Way::Look, passes_max: None }
    }

    /// The same keys, read in this way.
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

    /// The view of what is visible now, for several cursors that must see the same.
    fn moment(&self) -> Box<dyn StoreMoment + '_>;

    /// Keeps `note` beside the store, apart from what `write` wrote: after the write that it names
    /// is durable, and before that is acknowledged. By it a store is found out that has lost its
    /// tail.
    fn witness(&self, note: &[u8]) -> Result<(), StoreError>;

    /// The last note; asked for before the first `witness`.
    fn witnessed(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Copies what is durable, and a note that names it, to a new directory, while writes go on.
    fn checkpoint(&self, dir: &Path, note: &[u8]) -> Result<(), StoreError>;

    /// Flushes after the last write, so that the next opening is quick.
    fn close(&self) -> Result<(), StoreError>;
}

/// The keys of a store as they were at one moment.
pub trait StoreMoment: Send {
    /// A cursor over what was visible at that moment; it stands nowhere until it is placed.
    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_>;
}

/// A key and its value.
pub type Item<'a> = (&'a [u8], &'a [u8]);

/// A position among the keys of a scan.
pub trait StoreCursor: Send {
    /// Moves to the first key.
    fn first(&mut self);
    /// Moves to the last key.
    fn last(&mut self);
    /// Moves to the first key that is not below `key`.
    fn seek(&mut self, key: &[u8]);
    /// Moves to the last key that is not above `key`.
    fn seek_back(&mut self, key: &[u8]);
    /// Moves to the following key. The cursor must stand on a key.
    fn next(&mut self);
    /// Moves to the preceding key. The cursor must stand on a key.
    fn prev(&mut self);
    /// The key and value where the cursor stands; `None` past the end, and after a failure.
    fn item(&self) -> Option<Item<'_>>;
    /// The kind of a `None`: the end (`Ok`) or a failure.
    fn status(&self) -> Result<(), StoreError>;
}

/// The entries of one owner that are passed one by one before the cursor seeks. Most owners have a few,
/// and a seek reads and unpacks a block anew, which a step does not.
const STEPS_MAX: usize = 8;

/// Moves a cursor back to the last key before all that begin with `owner`.
pub(crate) fn leave_back(cursor: &mut (dyn StoreCursor + '_), owner: &[u8]) {
    if !steps_out(cursor, owner, |cursor| cursor.prev()) {
        // The longer keys that begin with it are above it.
        cursor.seek_back(owner);
    }
}

/// Moves a cursor on to the first key at `next` or behind it, past all that begin with `owner`.
pub(crate) fn leave(cursor: &mut (dyn StoreCursor + '_), owner: &[u8], next: &[u8]) {
    if !steps_out(cursor, owner, |cursor| cursor.next()) {
        cursor.seek(next);
    }
}

/// Steps while the keys begin with `owner`, for a while; whether they do no more.
fn steps_out<'c>(
    cursor: &mut (dyn StoreCursor + 'c),
    owner: &[u8],
    step: fn(&mut (dyn StoreCursor + 'c)),
) -> bool {
    let is_inside =
        |cursor: &mut (dyn StoreCursor + 'c)| cursor.item().is_some_and(|(key, _)| key.starts_with(owner));
    for _ in 0..STEPS_MAX {
        if !is_inside(cursor) {
            return true;
        }
        step(cursor);
    }
    !is_inside(cursor)
}

/// The item under a cursor; a failure is an error and not the end.
pub(crate) fn checked_item<'c>(cursor: &'c (dyn StoreCursor + '_)) -> Result<Option<Item<'c>>, StoreError> {
    match cursor.item() {
        Some(item) => Ok(Some(item)),
        None => cursor.status().map(|()| None),
    }
}
