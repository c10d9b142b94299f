//! Version 1 of payments in pesos.

use crate::resources::cop_payments;
use crate::resources::cop_payments::refund;
use crate::stored::layout::layout;
use crate::stored::v1::checkout::Sale;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::payments::Status;
use crate::stored::v1::values::{Buyer, Cop, Id, Rate, Timestamp, Usd};
use crate::stored::v3::trace::of_looks;
use crate::trace::Trace;
use crate::values::time;
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
    }
}

layout! {
    enum Telling of cop_payments::Telling {
        0 Cancel,
        1 Code,
        2 Pays,
        3 Declines,
        4 Void,
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
    } then {
        // Orders were looked at by pauses that tell when it was.
        trace: trace(&phase, completed_at.unwrap_or(created_at), created_at),
        qr_image: None,
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

/// What was known of the newest order before it was kept: what the looks tell.
fn trace(phase: &cop_payments::Phase, since: time::Timestamp, created_at: time::Timestamp) -> Trace {
    match phase {
        cop_payments::Phase::Refunding { looks, next_look, .. } => of_looks(*looks, *next_look, since),
        phase => phase
            .waiting()
            .map_or_else(Trace::default, |waiting| of_looks(waiting.looks, waiting.next_look, created_at)),
    }
}
