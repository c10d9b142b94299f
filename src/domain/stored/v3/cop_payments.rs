//! Version 3 of payments in pesos: what is known of the newest order at the processor, what it shows the
//! buyer, and what became of a buyer's codes in live mode.

use crate::resources::cop_payments;
use crate::stored::layout::layout;
use crate::stored::v1::cop_payments::{Channel, Failure, ForSession, Marketplace, Phase};
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::payments::Status;
use crate::stored::v1::values::{Buyer, Cop, Id, Timestamp};
use crate::stored::v2::cop_payments::EarlierRefund;
use crate::stored::versions::Trace;
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
        trace: Trace,
        qr_image: Option<Box<str>>,
        live: Option<Live>,
        own_code: Option<Box<str>>,
    } then {
        canceler: None,
    }
}

layout! {
    struct Live of cop_payments::Live {
        code_sent: bool,
        codes: u8,
        misfit: bool,
        asks: u32,
    }
}
