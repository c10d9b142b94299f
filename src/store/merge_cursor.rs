//! A merge of several parts of the index, newest first: lists by facet, movements by type. All that
//! is read is of one moment, and a page costs the same whatever the length of the history.
//!
//! An entity that moves from facet to facet leaves a removed entry behind, which the store keeps
//! for a while: a busy hour of pending payouts leaves a million of them. So the cursor passes a few
//! removed entries and then puts the part aside; what the other parts show bounds the range in
//! which it is looked at again.

use crate::store::read_budget::{ReadBudget, Stopped, Unreadable};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use wal::{IndexCursor, IndexMoment, ReadError, StoreError};

/// Larger than any suffix: a walk begins at the very end.
const END: [u8; 24] = [0xFF; 24];

/// Before a part is put aside: some 20 µs.
const PASSES_MAX: u64 = 256;

#[derive(PartialEq, Eq)]
struct Head {
    suffix: Vec<u8>,
    part: usize,
}

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        self.suffix.cmp(&other.suffix).then(other.part.cmp(&self.part))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Aside {
    part: usize,
    below: Vec<u8>,
}

/// Suffixes of keys in several parts of the index, largest first; one that several parts have is
/// returned once.
pub struct MergeCursor<'a> {
    moment: &'a IndexMoment<'a>,
    cursor: IndexCursor<'a>,
    parts: Vec<Vec<u8>>,
    heads: BinaryHeap<Head>,
    aside: Vec<Aside>,
    from: Option<Vec<u8>>,
    budget: Option<&'a ReadBudget>,
}

impl<'a> MergeCursor<'a> {
    /// `parts` share their first bytes; only suffixes below `before` and not below `from` are seen.
    /// Within a bounded `budget` it gives up where nothing bounds what a part has removed.
    pub fn new(
        moment: &'a IndexMoment<'a>,
        mut parts: Vec<Vec<u8>>,
        before: Option<&[u8]>,
        from: Option<Vec<u8>>,
        budget: Option<&'a ReadBudget>,
    ) -> Result<Self, Stopped> {
        parts.sort();
        let first = parts.first().cloned().unwrap_or_default();
        let mut last = parts.last().cloned().unwrap_or_default();
        last.extend_from_slice(&END);
        let mut newest = MergeCursor {
            cursor: moment.cursor_back(&first, &last, Some(PASSES_MAX)),
            moment,
            parts,
            heads: BinaryHeap::new(),
            aside: Vec::new(),
            from,
            budget,
        };
        for part in 0..newest.parts.len() {
            newest.find(part, before.unwrap_or(&END))?;
        }
        Ok(newest)
    }

    fn find(&mut self, part: usize, before: &[u8]) -> Result<(), Unreadable> {
        let prefix = &self.parts[part];
        match largest(&mut self.cursor, prefix, before) {
            Ok(Some(suffix)) if self.from.as_deref().is_none_or(|from| &*suffix >= from) => {
                self.heads.push(Head { suffix, part });
            }
            Ok(_) => {}
            Err(ReadError::Store(StoreError::PassedTooMany)) => {
                self.aside.push(Aside { part, below: before.to_vec() });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Down to the largest suffix that is known of the others.
    fn look_aside(&mut self) -> Result<(), Stopped> {
        let known = self.heads.peek().map(|head| head.suffix.clone());
        if known.is_none() && self.budget.is_some_and(ReadBudget::is_bounded) {
            return Err(Stopped::OverBudget);
        }
        let floor = known.as_ref().or(self.from.as_ref()).cloned().unwrap_or_default();
        let mut left = Vec::new();
        for Aside { part, below } in std::mem::take(&mut self.aside) {
            if below > floor {
                let prefix = &self.parts[part];
                let (from, to) = ([prefix, &*floor].concat(), [prefix, &*below].concat());
                let mut cursor = self.moment.cursor_back(&from, &to, None);
                match largest(&mut cursor, prefix, &below).map_err(Unreadable::from)? {
                    Some(suffix) => self.heads.push(Head { suffix, part }),
                    None if known.is_some() => left.push(Aside { part, below: floor.clone() }),
                    None => {}
                }
            } else {
                left.push(Aside { part, below });
            }
        }
        self.aside = left;
        Ok(())
    }

    pub fn take(&mut self) -> Result<Option<Vec<u8>>, Stopped> {
        Ok(self.take_with_part()?.map(|(suffix, _)| suffix))
    }

    /// With the position, in key order, of the first part that has the suffix.
    pub fn take_with_part(&mut self) -> Result<Option<(Vec<u8>, usize)>, Stopped> {
        if !self.aside.is_empty() {
            self.look_aside()?;
        }
        let Some(head) = self.heads.pop() else { return Ok(None) };
        self.find(head.part, &head.suffix)?;
        while self.heads.peek().is_some_and(|twin| twin.suffix == head.suffix) {
            if let Some(twin) = self.heads.pop() {
                self.find(twin.part, &twin.suffix)?;
            }
        }
        Ok(Some((head.suffix, head.part)))
    }
}

fn largest(cursor: &mut IndexCursor<'_>, prefix: &[u8], before: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
    let key = [prefix, before].concat();
    cursor.seek(&key);
    if cursor.peek_key().is_some_and(|found| found == key) {
        cursor.advance();
    }
    cursor.status()?;
    Ok(cursor.peek_key().and_then(|found| found.strip_prefix(prefix)).map(<[u8]>::to_vec))
}
