//! Kept answers: the record of what a request with an Idempotency-Key did says what it was answered
//! (`docs/contract.md, 1.13`). A repeat is shown that record again; the bytes of an answer are kept only
//! where no record says what was done.

use crate::codec::stored;
use crate::record::Entity;
use crate::refusal::Refusal;
use crate::values::time::Timestamp;
use std::sync::Arc;

/// The time for which an answer is kept, in milliseconds of the tenant's clock: 24 hours.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct KeepRef {
        0 pub key: String,
        1 pub path: String,
        /// A keyed hash of the body, which may hold a card.
        2 pub body_hash: [u8; 16],
        /// The tenant's clock when the key was first seen.
        3 pub first_seen: Timestamp,
        4 pub request_id: String,
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Kept {
        0 pub of: Arc<KeepRef>,
        1 pub answer: Answer,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Answer {
        /// What the record says, as the operation of the key's path shows it.
        0 Record {
            /// Entities that the answer shows and the record does not write; the one that was asked is first,
            /// if the record writes none.
            0 shown: Vec<Arc<Entity>>,
        },
        1 Refused(Refusal),
        /// The status and the body of what no record says.
        2 Bytes(u16, Vec<u8>),
        /// It is not given again, and only replaces the answer that was kept while the outcome was open.
        3 Void,
    }
}

impl Kept {
    pub fn refusal(&self) -> Option<&Refusal> {
        if let Answer::Refused(refusal) = &self.answer { Some(refusal) } else { None }
    }

    /// Whether the answer is still given to a repeat at this instant.
    pub fn stands_at(&self, now: Timestamp) -> bool {
        self.answer != Answer::Void && now < self.expires_at()
    }

    pub fn expires_at(&self) -> Timestamp {
        self.of.first_seen.plus_ms(KEPT_MS)
    }
}
