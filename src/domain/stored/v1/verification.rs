//! Version 1 of the proof of a payout method.

use crate::resources::verification::{self, booked::Booked};
use crate::stored::layout::layout;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::values::{Id, Timestamp, Ves};
use crate::stored::versions;
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
        3 Contradicted { word: versions::Word, then: Box<MethodStatus> },
    }
}

layout! {
    past struct Word of verification::Word {
        operation: Id,
        amounts: (Ves, Ves),
        sent_at: Timestamp,
        reference: Option<String>,
        code: Option<String>,
        contradicted_at: Option<Timestamp>,
    } then {
        asked_at: None,
        asks: 0,
        booked: Booked::default(),
        bank: None,
    }
}
