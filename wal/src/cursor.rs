//! A cursor over index entries that shows the next key before it is taken, so that several can be
//! merged.

use crate::ReadError;
use crate::batch::Family;
use crate::store::{Item, Scan, StoreCursor, StoreMoment, checked_item};

/// The index entries of a range, in order or backwards, as they were when the cursor was made.
pub struct IndexCursor<'a> {
    cursor: Box<dyn StoreCursor + 'a>,
    reverse: bool,
    failed: bool,
}

impl<'a> IndexCursor<'a> {
    pub(crate) fn new(cursor: Box<dyn StoreCursor + 'a>, reverse: bool) -> IndexCursor<'a> {
        IndexCursor { cursor, reverse, failed: false }
    }

    /// Moves to where the walk begins: the first entry, or the last of a walk backwards.
    pub fn start(&mut self) {
        if self.reverse {
            self.cursor.last();
        } else {
            self.cursor.first();
        }
    }

    /// The key that `next` will return; `None` at the end. After a failure it is `None` too, and
    /// `next` returns the error.
    pub fn peek_key(&self) -> Option<&[u8]> {
        self.cursor.item().map(|(key, _)| key)
    }

    /// The key and value that `next` will return; `None` at the end.
    pub fn peek(&self) -> Result<Option<Item<'_>>, ReadError> {
        Ok(checked_item(&*self.cursor)?)
    }

    /// Moves to `key`, or to the nearest entry after it in the direction of the walk.
    pub fn seek(&mut self, key: &[u8]) {
        if self.reverse {
            self.cursor.seek_back(key);
        } else {
            self.cursor.seek(key);
        }
    }

    /// Moves past the entry that was peeked at, without copying it.
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

/// The index as it was at one moment.
pub struct IndexMoment<'a> {
    moment: Box<dyn StoreMoment + 'a>,
}

impl<'a> IndexMoment<'a> {
    pub(crate) fn new(moment: Box<dyn StoreMoment + 'a>) -> IndexMoment<'a> {
        IndexMoment { moment }
    }

    /// A cursor from the last to the first of the entries with keys from `from` up to and without
    /// `to`, which stands nowhere until it is placed. Where one move comes to more than
    /// `passes_max` removed entries it fails with [`StoreError::PassedTooMany`], and can be placed
    /// elsewhere.
    pub fn cursor_back(&self, from: &[u8], to: &[u8], passes_max: Option<u64>) -> IndexCursor<'_> {
        let scan = Scan { passes_max, ..index_range(from, to) };
        IndexCursor::new(self.moment.cursor(scan), true)
    }
}

/// The index entries with keys from `from` up to and without `to`.
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
