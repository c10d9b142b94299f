//! Requests for a debit's code.

use crate::resources::payments::otp;
use crate::stored::kept::KeepRef;
use crate::stored::layout::layout;
use crate::stored::payments::Debtor;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;
use crate::stored::values::Ves;
use std::sync::Arc;

layout! {
    enum Status of otp::Status {
        0 Pending,
        1 Completed,
        2 Failed,
    }
}

layout! {
    struct Otp of otp::Otp {
        id: Id,
        status: Status,
        debtor: Debtor,
        amount: Ves,
        reference: Option<String>,
        failure_code: Option<String>,
        kept: Option<Arc<KeepRef>>,
        livemode: bool,
        created_at: Timestamp,
        expires_at: Timestamp,
        settled_at: Option<Timestamp>,
    }
}
