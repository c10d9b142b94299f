//! What the leaders of two partitions say to each other while a tenant moves: its records go over page by page, as
//! they are in the log.
//!
//! The copy in the target is at any moment a beginning of what the source has of each of the two books. It is known by
//! its length and by a chain of hashes, so one that was given up goes on where it stopped, and of a tenant that comes
//! back only what is new is sent.

use crate::codec::stored;
use crate::platform::beside::Beside;
use sha2::{Digest, Sha256};

pub type RecordHash = [u8; 16];

/// The hash of a record of a book: its time and what it says.
pub fn record_hash(time_ms: i64, payload: &[u8]) -> RecordHash {
    short(Sha256::new().chain_update(time_ms.to_be_bytes()).chain_update(payload))
}

fn short(hash: Sha256) -> RecordHash {
    let mut short = RecordHash::default();
    short.copy_from_slice(&hash.finalize()[..16]);
    short
}

stored! {
    /// What is asked of a partition's leader while a tenant moves, and of one that has moved.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum MoveAsk {
        /// Of the target: to take over what the source has by now. [`Copied`] is the answer.
        0 Copy {
            /// The tenant's number.
            0 number: u32,
            /// The partition that it is in.
            1 from: u8,
            /// How often it has moved.
            2 moves: u32,
        },
        /// Of the source: the records after one of its log. [`Page`] is the answer.
        1 Records {
            0 number: u32,
            /// A sequence of its log; 0 at the beginning.
            1 after: u64,
            /// Those of each book up to there, live mode first.
            2 seen: (u64, u64),
            /// Those of each book that the target has: of them their hashes are enough.
            3 have: (u64, u64),
        },
        /// Of the partition that a tenant is in: when it was used last. A time is the answer.
        2 LastUse {
            0 number: u32,
        },
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Copied {
        /// Whether it had all that the source had a moment ago.
        0 pub is_level: bool,
        /// The version of the settings that closed both books, if they end with it.
        1 pub closed: Option<u64>,
        /// Whether the tenant is served here.
        2 pub serves: bool,
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Page {
        /// The sequence of the source's log up to which it goes.
        0 pub until: u64,
        /// The last one that was there.
        1 pub newest: u64,
        /// The hashes of records that the target has, each with its book: 0 of live mode, 1 of test mode.
        2 pub known: Vec<(u8, RecordHash)>,
        /// The others, one after the other, in the log's own bytes.
        3 pub records: Vec<u8>,
        /// The decisions of the simulated bank, of all tenants: it knows no tenants.
        4 pub fates: Vec<Beside>,
    }
}

/// A number of records of a book, and the hash of all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    pub count: u64,
    hash: RecordHash,
}

impl Chain {
    pub fn add(&mut self, record: RecordHash) {
        self.count += 1;
        self.hash = short(Sha256::new().chain_update(self.hash).chain_update(record));
    }
}

/// How far a book has been compared with the source's, and copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BookCopy {
    /// What is here.
    pub have: Chain,
    /// The source's, as far as it was looked at. Never shorter than what is here once all was looked at.
    pub seen: Chain,
}

impl BookCopy {
    /// The next record of the source, of which `is_new` says that it came whole. Whether it is to be appended.
    pub fn next(&mut self, record: RecordHash, is_new: bool) -> Result<bool, &'static str> {
        let is_beyond = self.seen.count >= self.have.count;
        self.seen.add(record);
        if is_beyond {
            if !is_new {
                return Err("a record came without its bytes");
            }
            self.have.add(record);
            return Ok(true);
        }
        if self.seen.count == self.have.count && self.seen != self.have {
            return Err("what is here is no beginning of what the source has");
        }
        Ok(false)
    }

    /// Looks at the source's from its first record again.
    pub fn begin_again(&mut self) {
        self.seen = Chain::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a source sends of records from a place on, to who has so many.
    fn sent(source: &[u8], seen: u64, have: u64, many: usize) -> Vec<(RecordHash, bool)> {
        let from = usize::try_from(seen).expect("a few");
        let numbered = (seen..).zip(&source[from..]);
        numbered.take(many).map(|(n, record)| (record_hash(0, &[*record]), n >= have)).collect()
    }

    proptest! {
        /// Whatever breaks off when, and however often it begins again: the copy is a beginning of the source at any
        /// moment, and all of it in the end.
        #[test]
        fn a_copy_is_a_beginning_of_its_source(
            source in prop::collection::vec(any::<u8>(), 1..40),
            pages in prop::collection::vec((1..7_usize, any::<bool>(), 0..7_usize), 1..30),
        ) {
            let (mut copy, mut here): (BookCopy, Vec<u8>) = (BookCopy::default(), Vec::new());
            let whole = [(source.len(), true, source.len()), (source.len(), false, source.len())];
            for (many, begins_again, breaks_after) in pages.into_iter().chain(whole) {
                if begins_again {
                    copy.begin_again();
                }
                for (record, is_new) in
                    sent(&source, copy.seen.count, copy.have.count, many).into_iter().take(breaks_after)
                {
                    if copy.next(record, is_new).expect("it is the same source") {
                        here.push(source[here.len()]);
                    }
                }
                prop_assert_eq!(here.len() as u64, copy.have.count);
                prop_assert!(source.starts_with(&here));
            }
            prop_assert_eq!(here, source);
        }

        #[test]
        fn another_beginning_is_found_before_anything_is_appended(
            source in prop::collection::vec(any::<u8>(), 2..20),
            at in any::<prop::sample::Index>(),
        ) {
            let mut copy = BookCopy::default();
            for record in &source {
                copy.next(record_hash(0, &[*record]), true).expect("nothing is here yet");
            }
            copy.begin_again();
            let mut other = source.clone();
            other[at.index(source.len())] ^= 1;
            other.push(7);
            let taken = sent(&other, 0, copy.have.count, other.len()).into_iter().map(|(record, is_new)| copy.next(record, is_new));
            let taken: Vec<_> = taken.take_while(Result::is_ok).collect();
            prop_assert_eq!(taken.len(), source.len() - 1);
            prop_assert!(taken.into_iter().all(|appended| appended == Ok(false)));
        }
    }
}
