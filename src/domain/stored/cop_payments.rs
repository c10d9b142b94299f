//! Payments in pesos.

use crate::resources::cop_payments;
use crate::resources::cop_payments::refund;
use crate::stored::checkout::Sale;
use crate::stored::kept::KeepRef;
use crate::stored::layout::layout;
use crate::stored::operators::AuditEntry;
use crate::stored::payments::Status;
use crate::stored::trace::Trace;
use crate::stored::values::Buyer;
use crate::stored::values::Cop;
use crate::stored::values::Id;
use crate::stored::values::Rate;
use crate::stored::values::Timestamp;
use crate::stored::values::Usd;
use crate::values::token;
use std::sync::Arc;

layout! {
    enum Channel of cop_payments::Channel {
        0 Qr,
        1 Push,
        2 Sms,
    }
}

layout! {
    enum Failure of cop_payments::Failure {
        0 Expired,
        1 Rejected,
        2 OtpAttemptsExhausted,
        3 RefundRefused,
        4 ProcessorError,
    }
}

layout! {
    enum Telling of cop_payments::Telling {
        0 Cancel,
        1 Code,
        2 Pays,
        3 Declines,
        4 Void,
        5 SendCode,
    }
}

layout! {
    enum Phase of cop_payments::Phase {
        0 Idle,
        1 Collecting { looks: u32, next_look: Timestamp, telling: Option<Telling> },
        2 Refunding { looks: u32, next_look: Timestamp, aside: Aside },
        3 Tried { looks: u32, next_look: Timestamp, telling: Option<Telling>, codes: u8 },
        4 AskedOn { operation: u16, looks: u32, next_look: Timestamp, until: Timestamp },
    }
}

layout! {
    struct Marketplace of cop_payments::Marketplace {
        merchant: Id,
        commission_percent: Rate,
        commission: Option<Cop>,
        seller_net: Option<Cop>,
        seller_available_at: Option<Timestamp>,
    }
}

layout! {
    struct ForSession of cop_payments::ForSession {
        sale: Sale,
        usd: Usd,
        rate: Rate,
        market_rate: Rate,
        platform_fee: Option<Cop>,
    }
}

layout! {
    struct Part of refund::Part {
        release_at: Timestamp,
        hold: Id,
        minor: i64,
    }
}

layout! {
    struct Taken of refund::Taken {
        from_holds: Vec<Part>,
        from_available: i64,
    }
}

layout! {
    struct Aside of refund::Aside {
        own: Taken,
        sellers: Taken,
    }
}

layout! {
    struct EarlierRefund of refund::EarlierRefund {
        operation: u16,
        reference: String,
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
        code_token: Option<StepToken>,
    }
}

layout! {
    value StepToken(Box<str>) of token::StepToken;
}
