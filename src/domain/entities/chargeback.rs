//! Chargebacks.

use crate::codec::stored;
use crate::entities::resource::{Change, Resource};
use crate::index::{Entries, Space};
use crate::values::ids::Id;
use crate::values::money::Ves;
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;

stored! {
    /// The status of a dispute. The number is its list facet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The amount is debited; the dispute is not decided.
        0 Open "open",
        /// The dispute was decided for the tenant: the amount is credited again.
        1 Won "won",
        2 Lost "lost",
    }

    /// The reason for which the cardholder's bank took the money back.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Reason {
        0 Fraud "fraud",
        /// The cardholder does not recognize the sale.
        1 NotRecognized "not_recognized",
        /// The goods or services did not come.
        2 NotReceived "not_received",
        3 Duplicate "duplicate",
        4 Other "other",
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Chargeback {
        0 pub id: Id,
        1 pub payment: Id,
        2 pub external_ref: ExternalRef,
        3 pub status: Status,
        /// The part of the payment that is taken back.
        4 pub amount: Ves,
        5 pub fee: Ves,
        6 pub reason: Reason,
        /// The instant at which the bank took the money.
        7 pub bank_debited_at: Timestamp,
        /// Whether real money moves; a test payment moves none.
        8 pub livemode: bool,
        9 pub created_at: Timestamp,
        10 pub closed_at: Option<Timestamp>,
    }
}

impl Chargeback {
    /// The instants at which it moved money: its opening and, if it was won, its end.
    pub fn moved_at(&self) -> impl Iterator<Item = Timestamp> {
        std::iter::once(self.created_at).chain(self.closed_at.filter(|_| self.status == Status::Won))
    }
}

impl Resource for Chargeback {
    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.id_among_all(Space::Chargeback);
        }
    }
}
