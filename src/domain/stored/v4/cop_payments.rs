//! Version 4 of payments in pesos: the entry of the audit that waits for the processor's word.

use crate::resources::cop_payments;
use crate::stored::layout::layout;
use crate::stored::v1::cop_payments::{Channel, Failure, ForSession, Marketplace, Phase};
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::payments::Status;
use crate::stored::v1::values::{Buyer, Cop, Id, Timestamp};
use crate::stored::v2::cop_payments::EarlierRefund;
use crate::stored::v3::cop_payments::Live;
use crate::stored::v4::operators::AuditEntry;
use crate::stored::versions::Trace;
use std::sync::Arc;

layout! {
    struct CopPayment of cop_payments::CopPayment {
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
        canceler: Option<Box<AuditEntry>>,
    }
}
