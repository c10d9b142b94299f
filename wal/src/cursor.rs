//! A walk over index entries that shows the next key before it is taken, so that several can be
//! merged.

use crate::ReadError;
use crate::store::{Item, StoreCursor, checked_item};

/// Index entries of a range, in order or backwards. It sees the index as it was when the cursor was
/// made.
pub struct IndexCursor<'a> {
    cursor: Box<dyn StoreCursor + 'a>,
    reverse: bool,
    failed: bool,
}

impl<'a> IndexCursor<'a> {
    pub(crate) fn new(mut cursor: Box<dyn StoreCursor + 'a>, reverse: bool) -> IndexCursor<'a> {
        if reverse {
            cursor.last();
        } else {
            cursor.first();
        }
        IndexCursor { cursor, reverse, failed: false }
    }

    /// The key that `next` will return, or nothing at the end. After a failure `next` says what it
    /// was.
    pub fn peek_key(&self) -> Option<&[u8]> {
        self.cursor.item().map(|(key, _)| key)
    }

    /// Key and value that `next` will return, or nothing at the end.
    pub fn peek(&self) -> Result<Option<Item<'_>>, ReadError> {
        Ok(checked_item(&*self.cursor)?)
    }

    /// Leaps to `key`, or to the nearest entry after it in the direction of the walk.
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

    /// Whether the end that was met is one, and not a failure to read.
    pub fn status(&self) -> Result<(), ReadError> {
        Ok(self.cursor.status()?)
    }
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
