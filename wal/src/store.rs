//! The storage seam. The store of production is in `rocks.rs`; the one of tests fails on
//! purpose. All promises of the log must come from these verbs alone, so that a test that breaks
//! them tests the promise.

use crate::batch::Batch;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the disk is full: {0}")]
    Full(String),
    #[error("corruption: {0}")]
    Corrupt(String),
    #[error("{0}")]
    Failed(String),
    /// Nothing is wrong: whoever set the bound looks elsewhere first, or without it.
    #[error("more removed keys than the cursor may pass")]
    PassedTooMany,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Family {
    Log = 0,
    Index = 1,
    Snapshots = 2,
    Meta = 3,
    Pieces = 4,
}

impl Family {
    pub const ALL: [Family; 5] =
        [Family::Log, Family::Index, Family::Snapshots, Family::Meta, Family::Pieces];
    pub const NAMES: [&str; 5] = ["log", "index", "snapshots", "meta", "pieces"];
}

#[derive(Clone, Debug)]
pub struct Scan {
    pub family: Family,
    pub from: Option<Vec<u8>>,
    /// Not seen itself; `None` to see all that follow.
    pub to: Option<Vec<u8>>,
    pub way: Way,
    /// Removed keys that one move of the cursor may pass; `None` for any number.
    pub passes_max: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A few keys, which others may read soon: their blocks are cached.
    Look,
    /// What follows is read ahead, and nothing is pushed out of the cache.
    Walk,
    /// A walk that leaps over most keys: neither read ahead nor cached.
    Leap,
}

impl Scan {
    pub fn all(family: Family) -> Scan {
        Scan { family, from: None, to: None, way: Way::Look, passes_max: None }
    }

    pub fn by(self, way: Way) -> Scan {
        Scan { way, ..self }
    }
}

pub trait Store: Send + Sync {
    /// Makes all of `batch` durable and then visible. After a failure the outcome is unknown, and
    /// the caller must not write again.
    fn write(&self, batch: &Batch) -> Result<(), StoreError>;

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stands nowhere until it is placed. Later writes do not change what it sees.
    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_>;

    fn moment(&self) -> Box<dyn StoreMoment + '_>;

    /// Keeps `note` apart from what `write` wrote, after the write that it names is durable and
    /// before that is acknowledged: it finds out a store that has lost its tail.
    fn witness(&self, note: &[u8]) -> Result<(), StoreError>;

    /// Asked for before the first `witness`.
    fn witnessed(&self) -> Result<Option<Vec<u8>>, StoreError>;

    /// Writes go on meanwhile; `note` names what was copied.
    fn checkpoint(&self, dir: &Path, note: &[u8]) -> Result<(), StoreError>;

    fn close(&self) -> Result<(), StoreError>;
}

pub trait StoreMoment: Send {
    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_>;
}

pub type Item<'a> = (&'a [u8], &'a [u8]);

pub trait StoreCursor: Send {
    fn first(&mut self);
    fn last(&mut self);
    /// To the first key that is not below `key`; `seek_back` to the last that is not above.
    fn seek(&mut self, key: &[u8]);
    fn seek_back(&mut self, key: &[u8]);
    /// The cursor must stand on a key, here and in `prev`.
    fn next(&mut self);
    fn prev(&mut self);
    /// `None` past the end, and after a failure.
    fn item(&self) -> Option<Item<'_>>;
    fn status(&self) -> Result<(), StoreError>;
}

/// Steps before the cursor seeks. Most owners have a few entries, and a seek reads and unpacks a
/// block anew, which a step does not.
const STEPS_MAX: usize = 8;

/// To the last key before all that begin with `owner`.
pub(crate) fn leave_back(cursor: &mut (dyn StoreCursor + '_), owner: &[u8]) {
    if !steps_out(cursor, owner, |cursor| cursor.prev()) {
        // The longer keys that begin with it are above it.
        cursor.seek_back(owner);
    }
}

/// To the first key at `next` or behind it, past all that begin with `owner`.
pub(crate) fn leave(cursor: &mut (dyn StoreCursor + '_), owner: &[u8], next: &[u8]) {
    if !steps_out(cursor, owner, |cursor| cursor.next()) {
        cursor.seek(next);
    }
}

/// Steps for a while; returns whether the keys begin with `owner` no more.
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

/// A failure is an error and not the end.
pub(crate) fn checked_item<'c>(cursor: &'c (dyn StoreCursor + '_)) -> Result<Option<Item<'c>>, StoreError> {
    match cursor.item() {
        Some(item) => Ok(Some(item)),
        None => cursor.status().map(|()| None),
    }
}
