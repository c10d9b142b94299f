//! Requests for the code of an immediate debit.

use crate::codec::stored;
use crate::entities::means::Debtor;
use crate::entities::payment::REQUEST_OTP;
use crate::entities::resource::{Change, Listing, Resource};
use crate::index::Entries;
use crate::kept::KeepRef;
use crate::values::ids::Id;
use crate::values::money::Ves;
use crate::values::time::Timestamp;
use std::sync::Arc;

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The bank has not answered.
        0 Pending "pending",
        1 Completed "completed",
        /// The bank does not send a code.
        2 Failed "failed",
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Otp {
        0 pub id: Id,
        1 pub status: Status,
        2 pub debtor: Debtor,
        3 pub amount: Ves,
        4 pub reference: Option<String>,
        /// The bank's code, if it refused.
        5 pub failure_code: Option<String>,
        /// The kept answer that the outcome replaces.
        6 pub kept: Option<Arc<KeepRef>>,
        /// Whether a real bank is called; for a test request none is.
        7 pub livemode: bool,
        8 pub created_at: Timestamp,
        /// The instant at which the code is of no use any more.
        9 pub expires_at: Timestamp,
        10 pub settled_at: Option<Timestamp>,
    }
}

impl Otp {
    pub fn operation(&self) -> Id {
        self.id.operation(REQUEST_OTP)
    }
}

impl Resource for Otp {
    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn deadline(&self) -> Option<Timestamp> {
        (self.status == Status::Pending).then_some(self.expires_at)
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::Nowhere
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new && self.livemode {
            entries.payer(self.debtor.id);
        }
    }
}
