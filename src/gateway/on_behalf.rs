//! Calls that a page makes for somebody who is logged in. They go the way of every other call, with
//! the hash of the caller's key or token in the place of the key itself: so scopes, roles, limits,
//! records and answers are those of the API, and a key that is revoked opens nothing more.
//!
//! The mark travels beside the head of a request, among what no network writes.

use crate::http::listen::Arrival;

/// The hash of the key or token of whoever is logged in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OnBehalf([u8; 32]);

impl OnBehalf {
    /// The caller with this hash of a key or token.
    pub const fn of(hash: [u8; 32]) -> OnBehalf {
        OnBehalf(hash)
    }

    /// The mark of a request that a page makes; `None` for one that came from outside.
    pub fn in_arrival(arrival: &Arrival) -> Option<OnBehalf> {
        arrival.head.extensions.get::<OnBehalf>().copied()
    }

    pub const fn hash(&self) -> &[u8; 32] {
        &self.0
    }
}
