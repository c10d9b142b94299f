//! The cursor of the store in memory.

use crate::store::Keys;
use std::ops::Bound;
use std::sync::Arc;
use wal::{Item, Scan, StoreCursor, StoreError, StoreMoment};

pub(crate) struct MemoryMoment {
    pub(crate) families: [Arc<Keys>; 5],
}

impl StoreMoment for MemoryMoment {
    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_> {
        Box::new(MemoryCursor::new(Arc::clone(&self.families[scan.family as usize]), scan))
    }
}

/// The map no longer changes, as a later write makes its own copy; nothing removed is left to pass.
pub(crate) struct MemoryCursor {
    keys: Arc<Keys>,
    from: Bound<Vec<u8>>,
    to: Bound<Vec<u8>>,
    at: Option<Vec<u8>>,
}

impl MemoryCursor {
    pub(crate) fn new(keys: Arc<Keys>, scan: Scan) -> MemoryCursor {
        let from = scan.from.map_or(Bound::Unbounded, Bound::Included);
        let to = scan.to.map_or(Bound::Unbounded, Bound::Excluded);
        MemoryCursor { keys, from, to, at: None }
    }

    fn lowest(&mut self, from: Bound<Vec<u8>>) {
        self.at = if empty(&from, &self.to) {
            None
        } else {
            self.keys.range((from, self.to.clone())).next().map(|(key, _)| key.clone())
        };
    }

    fn highest(&mut self, to: Bound<Vec<u8>>) {
        self.at = if empty(&self.from, &to) {
            None
        } else {
            self.keys.range((self.from.clone(), to)).next_back().map(|(key, _)| key.clone())
        };
    }

    fn above(&self, key: &[u8]) -> bool {
        matches!(&self.to, Bound::Excluded(to) if key >= to.as_slice())
    }

    fn below(&self, key: &[u8]) -> bool {
        matches!(&self.from, Bound::Included(from) if key < from.as_slice())
    }
}

/// The map panics on some bounds between which no key can lie.
fn empty(from: &Bound<Vec<u8>>, to: &Bound<Vec<u8>>) -> bool {
    match (from, to) {
        (Bound::Included(from), Bound::Included(to)) => from > to,
        (Bound::Included(from) | Bound::Excluded(from), Bound::Excluded(to) | Bound::Included(to)) => {
            from >= to
        }
        _ => false,
    }
}

impl StoreCursor for MemoryCursor {
    fn first(&mut self) {
        self.lowest(self.from.clone());
    }
    fn last(&mut self) {
        self.highest(self.to.clone());
    }
    fn seek(&mut self, key: &[u8]) {
        if self.below(key) { self.first() } else { self.lowest(Bound::Included(key.to_vec())) }
    }
    fn seek_back(&mut self, key: &[u8]) {
        if self.above(key) { self.last() } else { self.highest(Bound::Included(key.to_vec())) }
    }
    fn next(&mut self) {
        let at = self.at.take().expect("the cursor stands on a key");
        self.lowest(Bound::Excluded(at));
    }
    fn prev(&mut self) {
        let at = self.at.take().expect("the cursor stands on a key");
        self.highest(Bound::Excluded(at));
    }
    fn item(&self) -> Option<Item<'_>> {
        let (key, value) = self.keys.get_key_value(self.at.as_ref()?)?;
        Some((key, value))
    }
    fn status(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
