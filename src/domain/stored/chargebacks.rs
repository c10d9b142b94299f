//! Chargebacks.

use crate::resources::chargebacks;
use crate::stored::layout::layout;
use crate::stored::values::ExternalRef;
use crate::stored::values::Id;
use crate::stored::values::Timestamp;
use crate::stored::values::Ves;

layout! {
    enum Status of chargebacks::Status {
        0 Open,
        1 Won,
        2 Lost,
    }
}

layout! {
    enum Reason of chargebacks::Reason {
        0 Fraud,
        1 NotRecognized,
        2 NotReceived,
        3 Duplicate,
        4 Other,
    }
}

layout! {
    struct Chargeback of chargebacks::Chargeback {
        id: Id,
        payment: Id,
        external_ref: ExternalRef,
        status: Status,
        amount: Ves,
        fee: Ves,
        reason: Reason,
        bank_debited_at: Timestamp,
        livemode: bool,
        created_at: Timestamp,
        closed_at: Option<Timestamp>,
    }
}
