//! Calls of keys with a mandate that wait for somebody of the account to approve them (`docs/contract.md, 3.12`).
//! Nothing is spent or debited while one waits.

use crate::codec::{known, named, stored};
use crate::entities::payout::Destination;
use crate::entities::resource::{Change, Resource};
use crate::index::Entries;
use crate::values::ids::Id;
use crate::values::money::Currency;
use crate::values::time::Timestamp;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MandateApproval {
        0 pub id: Id,
        /// The key that asked.
        1 pub key: Id,
        /// The mandate of that key, and of the keys that come in its place.
        2 pub mandate: Id,
        3 pub agent: Option<Box<str>>,
        4 pub call: WaitingCall,
        /// What would go out, with fees, in minor units.
        5 pub currency: Currency,
        6 pub minor: i64,
        /// What a repeat of the call is recognised by.
        7 pub subject: Subject,
        /// The instant at which it was asked for.
        8 pub created_at: Timestamp,
        /// The instant from which it can no longer be given.
        9 pub expires_at: Timestamp,
        10 pub decision: Option<MandateDecision>,
        /// Where the account's own data led each payout of the call when it was asked for.
        11 pub leads_to: Vec<Option<Destination>>,
    }

    /// A call as it came: when it is approved it is made again.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct WaitingCall {
        /// The operation by its id in the description.
        0 pub operation: Box<str>,
        1 pub path: Box<str>,
        2 pub body: Vec<u8>,
        3 pub request_id: Box<str>,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Subject {
        /// What the call is about: a reference within its kind, or the id of what is there already.
        0 pub name: Box<str>,
        /// Its members as they were understood, however they were written.
        1 pub members: Vec<Member>,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Member {
        0 pub name: &'static str => known,
        1 pub value: Vec<u8>,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct MandateDecision {
        0 pub is_approved: bool,
        /// The key with which it was decided.
        1 pub by: Id,
        2 pub at: Timestamp,
    }

    /// A call that waits, as its book knows it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Waiting {
        0 pub expires_at: Timestamp,
        1 pub subject: Subject,
    }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Status {
        Awaiting "awaiting_approval",
        Approved "approved",
        Rejected "rejected",
        /// Nobody decided in time, or before its key was revoked.
        Expired "expired",
    }
}

impl Status {
    /// The facet under which it is listed. That one has expired follows from the clock, or from its key.
    pub const fn facet(self) -> u8 {
        match self {
            Status::Awaiting | Status::Expired => 0,
            Status::Approved => 1,
            Status::Rejected => 2,
        }
    }
}

impl MandateApproval {
    /// The status at this instant of the account's clock, while its key works.
    pub fn status(&self, now: Timestamp) -> Status {
        match self.decision {
            Some(decision) if decision.is_approved => Status::Approved,
            Some(_) => Status::Rejected,
            None if now >= self.expires_at => Status::Expired,
            None => Status::Awaiting,
        }
    }
}

impl Resource for MandateApproval {
    fn facet(&self) -> u8 {
        self.status(self.created_at).facet()
    }

    fn entries(&self, _: Change, _: &mut Entries<'_>) {}
}
