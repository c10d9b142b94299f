//! A merge of several parts of the index, newest first: lists by facet, movements by type. One
//! cursor seeks from part to part, so that a page shows one moment, and costs the same whatever the
//! length of the history.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use wal::{IndexCursor, ReadError, Reader};

/// A suffix larger than any other, from which a walk begins at the very end.
const END: [u8; 24] = [0xFF; 24];

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

/// A cursor over the suffixes of keys in several parts of the index, largest first; a suffix that
/// several parts have is returned once.
pub struct MergeCursor<'a> {
    cursor: IndexCursor<'a>,
    parts: Vec<Vec<u8>>,
    heads: BinaryHeap<Head>,
    from: Option<Vec<u8>>,
}

impl<'a> MergeCursor<'a> {
    /// Makes a cursor over the entries that start with one of `parts`, which share their first
    /// bytes; only suffixes below `before` and not below `from`.
    pub fn new(
        reader: &'a Reader,
        mut parts: Vec<Vec<u8>>,
        before: Option<&[u8]>,
        from: Option<Vec<u8>>,
    ) -> Result<Self, ReadError> {
        parts.sort();
        let first = parts.first().cloned().unwrap_or_default();
        let mut last = parts.last().cloned().unwrap_or_default();
        last.extend_from_slice(&END);
        let mut newest = MergeCursor {
            cursor: reader.index_cursor(&first, &last, true),
            parts,
            heads: BinaryHeap::new(),
            from,
        };
        for part in 0..newest.parts.len() {
            newest.find(part, before.unwrap_or(&END))?;
        }
        Ok(newest)
    }

    /// Finds the largest suffix of a part that is below `before`.
    fn find(&mut self, part: usize, before: &[u8]) -> Result<(), ReadError> {
        let prefix = &self.parts[part];
        let mut key = prefix.clone();
        key.extend_from_slice(before);
        self.cursor.seek(&key);
        if self.cursor.peek_key().is_some_and(|found| found == key) {
            self.cursor.advance();
        }
        self.cursor.status()?;
        if let Some(suffix) = self.cursor.peek_key().and_then(|found| found.strip_prefix(prefix.as_slice()))
            && self.from.as_deref().is_none_or(|from| suffix >= from)
        {
            self.heads.push(Head { suffix: suffix.to_vec(), part });
        }
        Ok(())
    }

    /// The next suffix.
    pub fn take(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(self.take_with_part()?.map(|(suffix, _)| suffix))
    }

    /// The next suffix, with the position, in key order, of the first part that has it.
    pub fn take_with_part(&mut self) -> Result<Option<(Vec<u8>, usize)>, ReadError> {
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
