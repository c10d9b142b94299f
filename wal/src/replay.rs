//! Records in order, each checked, and each checked to follow the one before it.

use crate::record::{self, Hash};
use crate::store::{StoreCursor, checked_item};
use crate::{Damage, ReadError, Record, Seq};
use std::iter;

/// Ends after the first error.
pub(crate) fn until_error<T>(
    mut step: impl FnMut() -> Result<Option<T>, ReadError>,
) -> impl Iterator<Item = Result<T, ReadError>> {
    let mut done = false;
    iter::from_fn(move || {
        if done {
            return None;
        }
        let step = step();
        done = !matches!(step, Ok(Some(_)));
        step.transpose()
    })
}

/// All records of the range, in order and each following the one before it, or the last item is an
/// error that names the first that is not.
pub(crate) fn records<'a>(
    cursor: Box<dyn StoreCursor + 'a>,
    from: Seq,
    to: Seq,
) -> impl Iterator<Item = Result<Record, ReadError>> + 'a {
    let mut records = Records { cursor, from, to, at: None };
    until_error(move || records.step())
}

struct Records<'a> {
    cursor: Box<dyn StoreCursor + 'a>,
    from: Seq,
    to: Seq,
    at: Option<Position>,
}

struct Position {
    seq: Seq,
    offset: usize,
    /// `None` if that is in a chunk that was not read.
    prev: Option<Hash>,
}

impl<'a> Records<'a> {
    /// Reading begins with the chunk that holds `from`, so that the chain is checked from there.
    fn step(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            let mut at = match self.at.take() {
                Some(at) => at,
                None => self.enter()?,
            };
            if at.seq > self.to {
                return Ok(None);
            }
            let Some((key, mut chunk)) = checked_item(&*self.cursor)? else {
                return Err(Damage::missing(at.seq, self.to).into());
            };
            let mut key = record::decode_key(key)?;
            if at.offset == chunk.len() {
                self.cursor.next();
                (key, chunk) = match checked_item(&*self.cursor)? {
                    Some((key, chunk)) => (record::decode_key(key)?, chunk),
                    None => return Err(Damage::missing(at.seq, self.to).into()),
                };
                at.offset = 0;
            }
            if at.offset == 0 && key != at.seq {
                return Err(Damage::missing(at.seq, key.saturating_sub(1).max(at.seq)).into());
            }
            let (record, rest) = Record::split_off(&chunk[at.offset..], at.seq, at.prev)?;
            let offset = chunk.len() - rest.len();
            self.at = Some(Position { seq: at.seq + 1, offset, prev: Some(record.hash) });
            if record.seq >= self.from {
                return Ok(Some(record));
            }
        }
    }

    fn enter(&mut self) -> Result<Position, ReadError> {
        let nowhere = Position { seq: self.from, offset: 0, prev: None };
        if self.from > self.to {
            return Ok(nowhere);
        }
        self.cursor.seek_back(&self.from.to_be_bytes());
        match checked_item(&*self.cursor)? {
            Some((key, _)) => {
                let seq = record::decode_key(key)?;
                let prev = (seq == 1).then_some([0; 16]);
                Ok(Position { seq, offset: 0, prev })
            }
            None => Err(Damage::missing(self.from, self.to).into()),
        }
    }
}
