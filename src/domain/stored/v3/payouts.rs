//! Version 3 of payouts in bolívares: what is known of the order at the bank.

use crate::resources::payouts;
use crate::stored::layout::layout;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::payouts::{Destination, PayoutKind, Status};
use crate::stored::v1::values::{ExternalRef, Id, Timestamp, Ves};
use crate::stored::versions::Trace;
use std::sync::Arc;

layout! {
    struct Payout of payouts::Payout {
        id: Id,
        external_ref: ExternalRef,
        kind: PayoutKind,
        status: Status,
        amount: Ves,
        fee: Ves,
        concept: String,
        merchant: Option<Id>,
        merchant_name: Option<String>,
        method: Option<Id>,
        method_named: bool,
        payment: Option<Id>,
        batch: Option<Id>,
        destination: Destination,
        from_merchant_balance: bool,
        reference: Option<String>,
        failure_code: Option<String>,
        sends: u32,
        looks: u32,
        next_look: Option<Timestamp>,
        kept: Option<Arc<KeepRef>>,
        livemode: bool,
        created_at: Timestamp,
        settled_at: Option<Timestamp>,
        trace: Trace,
    }
}
