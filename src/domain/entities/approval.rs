//! Calls of operators that wait for a second person.

use crate::codec::stored;
use crate::entities::resource::{Change, Resource};
use crate::index::Entries;
use crate::platform::audit::Who;
use crate::values::ids::{EntityId, Id};
use crate::values::time::Timestamp;

stored! {
    /// A kind of calls that may need an approval, by its name in the configuration.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Approvable {
        0 Adjustments,
        1 Rates,
        2 LiveStatus,
        3 Operations,
        4 CryptoPayouts,
        5 TakeOver,
        /// Operators that are made, raised, enabled or given another token.
        6 Operators,
        7 CopPayouts,
    }
}

impl Approvable {
    pub const ALL: [Approvable; 8] = [
        Approvable::Adjustments,
        Approvable::Rates,
        Approvable::LiveStatus,
        Approvable::Operations,
        Approvable::CryptoPayouts,
        Approvable::TakeOver,
        Approvable::Operators,
        Approvable::CopPayouts,
    ];

    /// The name in the configuration and the API.
    pub const fn name(self) -> &'static str {
        match self {
            Approvable::Adjustments => "adjustments",
            Approvable::Rates => "rates",
            Approvable::LiveStatus => "live-status",
            Approvable::Operations => "operations",
            Approvable::CryptoPayouts => "crypto-payouts",
            Approvable::TakeOver => "take-over",
            Approvable::Operators => "operators",
            Approvable::CopPayouts => "cop_payouts",
        }
    }

    pub fn from_name(name: &str) -> Option<Approvable> {
        Approvable::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Approval {
        0 pub id: Id,
        1 pub action: Approvable,
        2 pub call: AskedCall,
        /// The instant at which it was asked for.
        3 pub created_at: Timestamp,
        /// The instant from which it can no longer be given.
        4 pub expires_at: Timestamp,
        5 pub decision: Option<Decision>,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AskedCall {
        0 pub by: Who,
        1 pub peer: Option<String>,
        2 pub request_id: Option<String>,
        3 pub operation: String,
        4 pub path: String,
        5 pub query: Option<String>,
        6 pub body: Vec<u8>,
        7 pub tenant: Option<Id>,
        8 pub target: Option<String>,
    }

    /// The second person's decision.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Decision {
        0 pub approved: bool,
        1 pub by: Who,
        2 pub note: Option<String>,
        3 pub at: Timestamp,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// A second person may decide.
    Pending,
    Approved,
    /// The call will not be done.
    Rejected,
    /// Nobody decided in time, or before its asker could no longer ask for it.
    Expired,
}

impl Status {
    pub const ALL: [Status; 4] = [Status::Pending, Status::Approved, Status::Rejected, Status::Expired];

    pub const fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Approved => "approved",
            Status::Rejected => "rejected",
            Status::Expired => "expired",
        }
    }

    /// The facet under which it is listed. That an approval has expired follows from the clock alone.
    pub const fn facet(self) -> u8 {
        match self {
            Status::Pending | Status::Expired => 0,
            Status::Approved => 1,
            Status::Rejected => 2,
        }
    }
}

impl Approval {
    /// The status at this instant of the server's clock.
    pub fn status(&self, now: Timestamp) -> Status {
        match &self.decision {
            Some(decision) if decision.approved => Status::Approved,
            Some(_) => Status::Rejected,
            None if now >= self.expires_at => Status::Expired,
            None => Status::Pending,
        }
    }
}

impl Resource for Approval {
    fn entity_id(&self) -> EntityId {
        EntityId::approval(self.id)
    }

    fn facet(&self) -> u8 {
        match &self.decision {
            None => Status::Pending.facet(),
            Some(decision) if decision.approved => Status::Approved.facet(),
            Some(_) => Status::Rejected.facet(),
        }
    }

    fn entries(&self, _: Change, _: &mut Entries<'_>) {}
}
