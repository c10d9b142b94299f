//! The proof of a payout method.

use crate::resources::verification;
use crate::resources::verification::booked;
use crate::resources::verification::limits;
use crate::stored::kept::KeepRef;
use crate::stored::layout::layout;
use crate::stored::trace::BankWord;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;
use crate::stored::values::Ves;
use std::sync::Arc;

layout! {
    enum MethodStatus of verification::MethodStatus {
        0 Unverified,
        1 Verifying {
            operation: Id,
            amounts: (Ves, Ves),
            tries_left: u8,
            started_at: Timestamp,
            kept: Option<Arc<KeepRef>>,
            looks: u32,
            next_look: Option<Timestamp>,
        },
        2 Verified { at: Timestamp },
        3 Contradicted { word: Word, then: Box<MethodStatus> },
    }
}

layout! {
    struct Attempts of limits::Attempts {
        starts: Vec<Timestamp>,
        locked_at: Option<Timestamp>,
    }
}

layout! {
    struct Word of verification::Word {
        operation: Id,
        amounts: (Ves, Ves),
        sent_at: Timestamp,
        asked_at: Option<Timestamp>,
        asks: u32,
        reference: Option<String>,
        code: Option<String>,
        contradicted_at: Option<Timestamp>,
        bank: Option<Box<BankWord>>,
        booked: Booked,
    }
}

layout! {
    struct Booked of booked::Booked {
        first: Option<String>,
        second: Option<String>,
    }
}
