//! A request as its endpoint gets it. The steps before, in their order, are in `src/server/mod.rs`.

use crate::gateway::limits::WorkSlot;
use crate::http::body::Inbound;
use crate::http::listen::Arrival;
use crate::http::router::Parameters;
use api::problem::BadField;
use bytes::Bytes;

pub struct Request<'a> {
    pub parameters: Parameters<'a>,
    pub arrival: &'a Arrival,
    pub body: Bytes,
    /// The body as it arrives, for endpoints that read another form than JSON.
    pub inbound: &'a mut Inbound,
    /// The Idempotency-Key, if one was sent and counts; or what is bad about it.
    pub key: Result<Option<&'a str>, BadField>,
    /// The parameters after the question mark of a call that takes none.
    pub unexpected: Vec<BadField>,
    pub slot: Option<WorkSlot>,
}

// Calls that a page makes for somebody who is logged in go the way of every other call, with the hash of the
// caller's key or token in the place of the key itself: so scopes, roles, limits, records and answers are those of
// the API, and a key that is revoked opens nothing more. The mark travels beside the head of a request, among what
// no network writes.

/// The hash of the key or token of whoever is logged in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OnBehalf([u8; 32]);

impl OnBehalf {
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
