//! Kept answers: the record of what a request with an Idempotency-Key did says what it was answered
//! (`docs/contract.md, 1.13`). A repeat is shown that record again; the bytes of an answer are kept only
//! where no record says what was done.

use crate::codec::stored;
use crate::values::time::Timestamp;

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
