//! Version 1 of payments in pesos.

use crate::resources::cop_payments;
use crate::resources::cop_payments::refund;
use crate::resources::payments;
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
        earlier_refunds: made_before(status, &phase, refunds, refund_reference.as_deref()),
        // Orders were looked at by pauses that tell when it was.
        trace: trace(&phase, completed_at.unwrap_or(created_at), created_at),
        qr_image: None,
        live: None,
        own_code: None,
        canceler: None,
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

/// The trace of the newest order before traces were kept, as the looks tell it.
pub fn trace(phase: &cop_payments::Phase, since: time::Timestamp, created_at: time::Timestamp) -> Trace {
    match phase {
        cop_payments::Phase::Refunding { looks, next_look, .. } => of_looks(*looks, *next_look, since),
        phase => phase
            .waiting()
            .map_or_else(Trace::default, |waiting| of_looks(waiting.looks, waiting.next_look, created_at)),
    }
}

/// While a refund was on its way, the reference was that of the one before it, which the processor had
/// refused.
fn made_before(
    status: payments::Status,
    phase: &cop_payments::Phase,
    refunds: u16,
    reference: Option<&str>,
) -> Vec<refund::EarlierRefund> {
    let is_refunding =
        status == payments::Status::Completed && matches!(phase, cop_payments::Phase::Refunding { .. });
    let reference = reference.filter(|_| is_refunding).map(str::to_owned);
    let operation = (cop_payments::REFUND + refunds).saturating_sub(1);
    reference.map(|reference| refund::EarlierRefund { operation, reference }).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::goldens::{read_in, written};
    use crate::stored::samples::Sampled;
    use crate::stored::versions;

    /// As version 1 wrote it, of which versions 2 to 4 have six fields more.
    fn as_of_version_1(payment: &cop_payments::CopPayment) -> Vec<u8> {
        let mut bytes = written::<versions::CopPayment>(payment);
        assert_eq!(bytes.split_off(bytes.len() - 13), [0; 13]);
        bytes
    }

    #[test]
    fn the_reference_of_a_refund_before_the_one_on_its_way_stays_with_it() {
        let sample = cop_payments::CopPayment {
            status: payments::Status::Completed,
            refunds: 2,
            refund_reference: Some("R-1".to_owned()),
            ..versions::CopPayment::sample(false, &mut 0)
        };
        let aside = refund::Aside::default();
        let next_look = sample.created_at;
        let phase = cop_payments::Phase::Refunding { looks: 1, next_look, aside };
        let refunding = cop_payments::CopPayment { phase, ..sample.clone() };
        let read = read_in::<versions::CopPayment>(1, &as_of_version_1(&refunding));
        let (first, second) = (cop_payments::REFUND + 1, cop_payments::REFUND + 2);
        assert_eq!((read.contradicted(), read.reference_of_refund(first)), (Some(first), Some("R-1")));
        assert_eq!(read.reference_of_refund(second), None);
        let idle = read_in::<versions::CopPayment>(1, &as_of_version_1(&sample));
        assert_eq!((idle.contradicted(), &idle), (Some(second), &sample));
    }
}
