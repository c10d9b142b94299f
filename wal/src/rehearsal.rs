//! A log that is never written: what is appended goes into a store in memory that lies over a real one, and
//! reads see both. So whatever works on a log can be tried, and nothing of it is left.
//!
//! Its sequences are far above all that a log ever reaches: what is appended to the real one meanwhile is
//! not mistaken for its own.

use crate::batch::Batch;
use crate::config::Config;
use crate::log::{Completion, Log, Runs};
use crate::opening::End;
use crate::reader::Reader;
use crate::record::Tip;
use crate::stepper::Stepper;
use crate::store::{Family, Item, Scan, Store, StoreCursor, StoreError, StoreMoment};
use crate::{Hash, Seq};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The last sequence before all that are rehearsed.
pub const BEFORE_REHEARSED: Seq = 1 << 62;

/// More than the largest batch of payouts takes; what would take more cannot be rehearsed.
const BYTES_MAX: usize = 256 << 20;

type Key = (Family, Vec<u8>);

#[derive(Clone, Default)]
struct Written {
    /// `None` where a key was removed.
    entries: BTreeMap<Key, Option<Vec<u8>>>,
    /// Ranges that were removed below: from, and up to, which stays.
    removed: Vec<(Key, Key)>,
    bytes: usize,
}

impl Written {
    /// Whether what is below has no say about a key.
    fn hides(&self, key: &Key) -> bool {
        self.entries.contains_key(key) || self.removed.iter().any(|(from, to)| from <= key && key < to)
    }
}

struct Overlay {
    under: Arc<dyn Store>,
    /// Shared with cursors, which go on seeing what they saw.
    written: Mutex<Arc<Written>>,
}

impl Overlay {
    fn written(&self) -> MutexGuard<'_, Arc<Written>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Completion> Log<C> {
    /// Over what a reader sees. Whoever appends writes it too, on its own thread.
    pub fn rehearsal(over: &Reader, config: Config) -> Log<C> {
        let store = Arc::new(Overlay { under: Arc::clone(&over.store), written: Mutex::default() });
        let tip = Tip { seq: BEFORE_REHEARSED, hash: Hash::default() };
        let end = End { tip, floor: BEFORE_REHEARSED };
        let reader = Reader { store: store.clone(), end: Arc::new(Mutex::new(end)) };
        let (parts, writer) = Log::over(reader, Config { closes_store: false, ..config }, None, None);
        let stepper = Stepper::new(|| {});
        stepper.give(writer);
        parts.run_by(Runs::Caller(stepper))
    }
}

impl Store for Overlay {
    fn write(&self, batch: &Batch) -> Result<(), StoreError> {
        let mut written = self.written();
        let written = Arc::make_mut(&mut written);
        written.bytes = written.bytes.saturating_add(batch.len_bytes());
        if written.bytes > BYTES_MAX {
            return Err(StoreError::Full("it is too large to be rehearsed".to_owned()));
        }
        for op in batch.ops() {
            let key = (op.family, op.key.to_vec());
            match op.until {
                Some(until) => {
                    let until = (op.family, until.to_vec());
                    written.entries.retain(|known, _| *known < key || until <= *known);
                    written.removed.push((key, until));
                }
                None => drop(written.entries.insert(key, op.value.map(<[u8]>::to_vec))),
            }
        }
        Ok(())
    }

    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let (written, at) = (Arc::clone(&self.written()), (family, key.to_vec()));
        match written.entries.get(&at) {
            Some(value) => Ok(value.clone()),
            None if written.hides(&at) => Ok(None),
            None => self.under.get(family, key),
        }
    }

    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_> {
        let (written, under) = (Arc::clone(&self.written()), self.under.cursor(scan.clone()));
        Box::new(Merged { under, written, scan, at: None })
    }

    fn moment(&self) -> Box<dyn StoreMoment + '_> {
        Box::new(Moment { written: Arc::clone(&self.written()), under: self.under.moment() })
    }

    fn witness(&self, _note: &[u8]) -> Result<(), StoreError> {
        Ok(())
    }

    fn witnessed(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    fn checkpoint(&self, _dir: &Path, _note: &[u8]) -> Result<(), StoreError> {
        Err(StoreError::Failed("what is rehearsed is not copied".to_owned()))
    }

    fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

struct Moment<'a> {
    under: Box<dyn StoreMoment + 'a>,
    written: Arc<Written>,
}

impl StoreMoment for Moment<'_> {
    fn cursor(&self, scan: Scan) -> Box<dyn StoreCursor + '_> {
        let (written, under) = (Arc::clone(&self.written), self.under.cursor(scan.clone()));
        Box::new(Merged { under, written, scan, at: None })
    }
}

/// Both as one: what is above counts where both have a key.
struct Merged<'a> {
    under: Box<dyn StoreCursor + 'a>,
    written: Arc<Written>,
    scan: Scan,
    at: Option<(Vec<u8>, Vec<u8>)>,
}

impl Merged<'_> {
    fn hides(&self, key: &[u8]) -> bool {
        self.written.hides(&(self.scan.family, key.to_vec()))
    }

    /// The first key of what is above from this one on, or after it.
    fn own_from(&self, key: &[u8], is_after: bool) -> Option<Item<'_>> {
        let Scan { family, from, to, .. } = &self.scan;
        let start = match from {
            Some(first) if key < first.as_slice() => Bound::Included((*family, first.clone())),
            _ if is_after => Bound::Excluded((*family, key.to_vec())),
            _ => Bound::Included((*family, key.to_vec())),
        };
        let is_seen =
            |(of, key): &Key| of == family && to.as_ref().is_none_or(|to| key.as_slice() < to.as_slice());
        let rest = self.written.entries.range((start, Bound::Unbounded));
        rest.take_while(|(key, _)| is_seen(key)).find_map(own)
    }

    /// The last key of what is above up to this one, or before it.
    fn own_up_to(&self, key: Option<&[u8]>, is_before: bool) -> Option<Item<'_>> {
        let Scan { family, from, to, .. } = &self.scan;
        let end = match (key, to) {
            (Some(key), to) if to.as_ref().is_none_or(|to| key < to.as_slice()) => {
                let key = (*family, key.to_vec());
                if is_before { Bound::Excluded(key) } else { Bound::Included(key) }
            }
            (_, Some(to)) => Bound::Excluded((*family, to.clone())),
            (_, None) => Bound::Unbounded,
        };
        let is_seen = |(of, key): &Key| {
            of == family && from.as_ref().is_none_or(|from| from.as_slice() <= key.as_slice())
        };
        let rest = self.written.entries.range((Bound::Unbounded, end)).rev();
        rest.skip_while(|((of, _), _)| of > family).take_while(|(key, _)| is_seen(key)).find_map(own)
    }

    /// At the first key from here on: `under` stands at its first candidate.
    fn forward(&mut self, key: &[u8], is_after: bool) {
        while let Some((key, _)) = self.under.item()
            && self.hides(key)
        {
            self.under.next();
        }
        self.at = nearer(self.under.item(), self.own_from(key, is_after), |under, own| under < own);
    }

    fn backward(&mut self, key: Option<&[u8]>, is_before: bool) {
        while let Some((key, _)) = self.under.item()
            && self.hides(key)
        {
            self.under.prev();
        }
        self.at = nearer(self.under.item(), self.own_up_to(key, is_before), |under, own| under > own);
    }
}

fn own<'w>((key, value): (&'w Key, &'w Option<Vec<u8>>)) -> Option<Item<'w>> {
    Some((key.1.as_slice(), value.as_deref()?))
}

fn nearer(
    under: Option<Item<'_>>,
    own: Option<Item<'_>>,
    is_nearer: fn(&[u8], &[u8]) -> bool,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let (key, value) = match (under, own) {
        (Some(under), Some(own)) => {
            if is_nearer(under.0, own.0) {
                under
            } else {
                own
            }
        }
        (under, own) => under.or(own)?,
    };
    Some((key.to_vec(), value.to_vec()))
}

impl StoreCursor for Merged<'_> {
    fn first(&mut self) {
        self.under.first();
        self.forward(&[], false);
    }

    fn last(&mut self) {
        self.under.last();
        self.backward(None, false);
    }

    fn seek(&mut self, key: &[u8]) {
        self.under.seek(key);
        self.forward(key, false);
    }

    fn seek_back(&mut self, key: &[u8]) {
        self.under.seek_back(key);
        self.backward(Some(key), false);
    }

    fn next(&mut self) {
        let Some((at, _)) = self.at.take() else { return };
        // After a step back it stands before the place.
        if self.under.item().is_none_or(|(key, _)| key < at.as_slice()) {
            self.under.seek(&at);
        }
        if self.under.item().is_some_and(|(key, _)| key == at.as_slice()) {
            self.under.next();
        }
        self.forward(&at, true);
    }

    fn prev(&mut self) {
        let Some((at, _)) = self.at.take() else { return };
        if self.under.item().is_none_or(|(key, _)| key > at.as_slice()) {
            self.under.seek_back(&at);
        }
        if self.under.item().is_some_and(|(key, _)| key == at.as_slice()) {
            self.under.prev();
        }
        self.backward(Some(&at), true);
    }

    fn item(&self) -> Option<Item<'_>> {
        if self.under.status().is_err() {
            return None;
        }
        self.at.as_ref().map(|(key, value)| (key.as_slice(), value.as_slice()))
    }

    fn status(&self) -> Result<(), StoreError> {
        self.under.status()
    }
}
