//! A cursor over index entries that shows the next key before it is taken, so that several can be merged.

use crate::ReadError;
use crate::batch::Family;
use crate::store::{Item, Scan, StoreCursor, StoreMoment, checked_item};

/// Sees the entries as they were when it was made.
pub struct IndexCursor<'a> {
    cursor: Box<dyn StoreCursor + 'a>,
    reverse: bool,
    failed: bool,
}

impl<'a> IndexCursor<'a> {
    pub(crate) fn new(cursor: Box<dyn StoreCursor + 'a>, reverse: bool) -> IndexCursor<'a> {
        IndexCursor { cursor, reverse, failed: false }
    }

    /// To the first entry, or the last of a walk backwards.
    pub fn start(&mut self) {
        if self.reverse {
            self.cursor.last();
        } else {
            self.cursor.first();
        }
    }

    /// `None` at the end, and after a failure, which `next` then returns.
    pub fn peek_key(&self) -> Option<&[u8]> {
        self.cursor.item().map(|(key, _)| key)
    }

    pub fn peek(&self) -> Result<Option<Item<'_>>, ReadError> {
        Ok(checked_item(&*self.cursor)?)
    }

    /// To `key`, or the nearest entry after it in the direction of the walk.
    pub fn seek(&mut self, key: &[u8]) {
        if self.reverse {
            self.cursor.seek_back(key);
        } else {
            self.cursor.seek(key);
        }
    }

    pub fn advance(&mut self) {
        if self.cursor.item().is_some() {
            if self.reverse {
                self.cursor.prev();
            } else {
                self.cursor.next();
            }
        }
    }

    /// The kind of a `None`: the end (`Ok`) or a failure to read.
    pub fn status(&self) -> Result<(), ReadError> {
        Ok(self.cursor.status()?)
    }
}

pub struct IndexMoment<'a> {
    moment: Box<dyn StoreMoment + 'a>,
}

impl<'a> IndexMoment<'a> {
    pub(crate) fn new(moment: Box<dyn StoreMoment + 'a>) -> IndexMoment<'a> {
        IndexMoment { moment }
    }

    /// From the last key below `to` down to `from`; stands nowhere until it is placed. Where one
    /// move would pass more than `passes_max` removed entries it fails with
    /// [`StoreError::PassedTooMany`], and can be placed elsewhere.
    pub fn cursor_back(&self, from: &[u8], to: &[u8], passes_max: Option<u64>) -> IndexCursor<'_> {
        let scan = Scan { passes_max, ..index_range(from, to) };
        IndexCursor::new(self.moment.cursor(scan), true)
    }
}

pub(crate) fn index_range(from: &[u8], to: &[u8]) -> Scan {
    Scan { from: Some(from.to_vec()), to: Some(to.to_vec()), ..Scan::all(Family::Index) }
}

impl Iterator for IndexCursor<'_> {
    type Item = Result<(Vec<u8>, Vec<u8>), ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match self.peek() {
            Ok(None) => None,
            Ok(Some((key, value))) => {
                let entry = (key.to_vec(), value.to_vec());
                self.advance();
                Some(Ok(entry))
            }
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}
