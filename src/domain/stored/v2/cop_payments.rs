//! Version 2 of payments in pesos: what the processor said of refunds before the newest.

use crate::resources::cop_payments;
use crate::resources::cop_payments::refund;
use crate::stored::layout::layout;
use crate::stored::v1::cop_payments::{Channel, Failure, ForSession, Marketplace, Phase, trace};
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::payments::Status;
use crate::stored::v1::values::{Buyer, Cop, Id, Timestamp};
use std::sync::Arc;

layout! {
    past struct CopPayment of cop_payments::CopPayment {
        id: Id,
        status: Status,
        phase: Phase,
        channel: Channel,
        amount: Cop,
        fee: Option<Cop>,
        reference: Option<String>,
        metadata: Option<String>,
        buyer: Option<Box<Buyer>>,
        marketplace: Option<Box<Marketplace>>,
        processor_reference: Option<String>,
        failure: Option<Failure>,
        refunds: u16,
        refund_reference: Option<String>,
        kept: Option<Arc<KeepRef>>,
        livemode: bool,
        created_at: Timestamp,
        expires_at: Timestamp,
        completed_at: Option<Timestamp>,
        available_at: Option<Timestamp>,
        refunded_at: Option<Timestamp>,
        checkout: Option<Box<ForSession>>,
        earlier_refunds: Vec<EarlierRefund>,
    } then {
        // Orders were looked at by pauses that tell when it was.
        trace: trace(&phase, completed_at.unwrap_or(created_at), created_at),
        qr_image: None,
        live: None,
        own_code: None,
        canceler: None,
    }
}

layout! {
    struct EarlierRefund of refund::EarlierRefund {
        operation: u16,
        reference: String,
    }
}
