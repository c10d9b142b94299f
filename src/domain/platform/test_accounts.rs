//! Accounts of test mode that anybody may open, without an operator. Such an account is deleted when no key of it was
//! used for a day; whoever gives it a live key, live mode or another deployment keeps it.

use crate::codec::stored;
use crate::values::time::{DAY_MS, Timestamp};

/// The time without a call after which an account is deleted.
pub const IDLE_MS: i64 = DAY_MS;

stored! {
    /// Who opened an account, as keyed hashes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Opener {
        0 pub address: [u8; 16],
        /// The site that an address of IPv6 is in, which has very many.
        1 pub site: Option<[u8; 16]>,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TestAccount {
        0 pub opener: Opener,
        1 pub opened_at: Timestamp,
        /// An instant at which it was used: the last one that is written down.
        2 pub used_at: Timestamp,
    }
}
