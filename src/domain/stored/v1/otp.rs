//! Version 1 of requests for a debit's code.

use crate::resources::payments::otp;
use crate::stored::layout::layout;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::payments::Debtor;
use crate::stored::v1::values::{Id, Timestamp, Ves};
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
