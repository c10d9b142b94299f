//! Calls of operators that wait for a second person.

use crate::codec::{named, stored};
use crate::entities::resource::{Change, Resource};
use crate::index::Entries;
use crate::platform::audit::Who;
use crate::values::ids::Id;
use crate::values::time::Timestamp;

stored! {
    /// A kind of calls that may need an approval, by its name in the configuration.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Approvable {
        0 Adjustments "adjustments",
        1 Rates "rates",
        2 LiveStatus "live-status",
        3 Operations "operations",
        4 CryptoPayouts "crypto-payouts",
        5 TakeOver "take-over",
        /// Operators that are made, raised, enabled or given another token.
        6 Operators "operators",
        7 CopPayouts "cop_payouts",
    }

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

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Status {
        /// A second person may decide.
        Pending "pending",
        Approved "approved",
        /// The call will not be done.
        Rejected "rejected",
        /// Nobody decided in time, or before its asker could no longer ask for it.
        Expired "expired",
    }
}

impl Status {
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
    fn facet(&self) -> u8 {
        self.status(self.created_at).facet()
    }

    fn entries(&self, _: Change, _: &mut Entries<'_>) {}
}
