//! Version 2 of payments in bolívares: each reversal is an operation of its own.

use crate::resources::payments;
use crate::stored::layout::layout;
use crate::stored::v1;
use crate::stored::v1::chargebacks::Chargeback;
use crate::stored::v1::checkout::Sale;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::payments::{CancelReason, Marketplace, Means, Phase, Status};
use crate::stored::v1::values::{ExternalRef, Id, Rate, Timestamp, Usd, Ves};
use std::sync::Arc;

layout! {
    past struct Payment of payments::Payment {
        id: Id,
        external_ref: ExternalRef,
        means: Means,
        status: Status,
        phase: Phase,
        usd: Usd,
        ves: Ves,
        bcv_rate: Rate,
        fee: Option<Ves>,
        marketplace: Option<Box<Marketplace>>,
        bank_reference: Option<String>,
        failure_code: Option<String>,
        cancel_reason: Option<CancelReason>,
        chargebacks: Vec<Chargeback>,
        description: Option<String>,
        reversed_at: Option<Timestamp>,
        reversal_ref: Option<String>,
        previous: Option<Id>,
        charge: Option<Id>,
        kept: Option<Arc<KeepRef>>,
        livemode: bool,
        created_at: Timestamp,
        expires_at: Option<Timestamp>,
        completed_at: Option<Timestamp>,
        available_at: Option<Timestamp>,
        checkout: Option<Box<Sale>>,
        reversals: u16,
        earlier_reversal: Option<Box<EarlierReversal>>,
    } then {
        // Orders were looked at by pauses that tell when it was.
        trace: v1::payments::trace(&phase, completed_at.unwrap_or(created_at), created_at),
    }
}

layout! {
    struct EarlierReversal of payments::EarlierReversal {
        operation: u16,
        reference: String,
    }
}
