//! Version 3 of payments in bolívares: what is known of the newest order at its rail.

use crate::resources::payments;
use crate::stored::layout::layout;
use crate::stored::v1::chargebacks::Chargeback;
use crate::stored::v1::checkout::Sale;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::payments::{CancelReason, Marketplace, Means, Phase, Status};
use crate::stored::v1::values::{ExternalRef, Id, Rate, Timestamp, Usd, Ves};
use crate::stored::v2::payments::EarlierReversal;
use crate::stored::versions::Trace;
use std::sync::Arc;

layout! {
    struct Payment of payments::Payment {
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
        trace: Trace,
    }
}
