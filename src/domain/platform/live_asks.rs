//! What the leaders of partitions ask each other about live money: banks speak to the first one, of payments of all.

use crate::codec::stored;
use crate::entities::notice::{Notice, Traits};
use crate::platform::audit::AuditEntry;
use crate::values::ids::Id;
use crate::values::time::Date;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum LiveAsk {
        /// Of the first: the notices that may be of a payment's transfer. [`Candidates`] is the answer.
        0 Notices {
            /// Here and below, in its mode.
            0 tenant: u64,
            1 traits: Traits,
            /// The end of the reference, as the payer typed it.
            2 typed: String,
        },
        /// Of the first: to claim a notice for a payment that has none. The claim that the notice has then is the
        /// answer.
        1 Claim {
            0 search: TransferSearch,
            1 notice: Id,
        },
        /// Of the first, before a payment is refused: it claims no notice from now on. The one that it has claimed by
        /// then is the answer.
        2 EndSearch(TransferSearch),
        /// Of the others: a notice with these traits has come, which payments may wait for. The answer is true.
        3 Noticed(Traits),
        /// How many other references were looked for in vain, and how many are waited for.
        4 Guesses {
            0 traits: Traits,
            1 typed: String,
        },
        /// A processor tells of a transaction under an operation. The answer is whether the payment is known by that
        /// transaction; `None` where there is no such payment.
        5 Event {
            0 operation: Id,
            1 transaction: String,
        },
        /// What of a tenant may be on a statement of these days, from a place on. A portion is the answer.
        6 Moved {
            0 tenant: u64,
            1 from: Date,
            2 to: Date,
            /// The number of the list, and the last entry of it that was read; empty at its beginning.
            3 place: (u32, Vec<u8>),
        },
        /// Orders whose outcome nobody can tell.
        7 Unresolved,
        /// What live mode lacks there: a text for each method that no rail serves.
        8 Unserved,
        /// Whether the tenant with this number has anything in live mode.
        9 HasLiveMoney(u32),
        /// To resolve an order of an account there by what a statement says of it. The lines that were not
        /// accepted, with the codes, are the answer.
        10 Accept {
            0 reconciliation: Id,
            1 operation: Id,
            2 lines: Vec<AcceptedLine>,
            /// The entry of the audit for the call.
            3 audit: Option<Box<AuditEntry>>,
        },
    }

    /// Of a payment for the notice of its transfer.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TransferSearch {
        0 pub tenant: u64,
        1 pub payment: Id,
        2 pub traits: Traits,
        3 pub typed: String,
    }

    /// A line of a statement that answers an order.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AcceptedLine {
        0 pub item: Id,
        1 pub reference: String,
        2 pub amount: String,
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Candidates {
        /// Oldest first.
        0 pub notices: Vec<Notice>,
        1 pub guesses: Guesses,
    }

    /// References that others looked for with the same phone, bank and day.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Guesses {
        0 pub wrong: u64,
        /// Those that payments wait for: of many at once one would be right when the notice comes.
        1 pub waiting: u64,
    }
}

impl Guesses {
    #[must_use]
    pub fn and(self, others: Guesses) -> Guesses {
        Guesses {
            wrong: self.wrong.saturating_add(others.wrong),
            waiting: self.waiting.saturating_add(others.waiting),
        }
    }
}
