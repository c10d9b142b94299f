//! Version 1 of payments in bolívares.

use crate::resources::payments;
use crate::resources::payments::reversal;
use crate::stored::layout::layout;
use crate::stored::v1::banks::BankCode;
use crate::stored::v1::chargebacks::Chargeback;
use crate::stored::v1::checkout::Sale;
use crate::stored::v1::kept::KeepRef;
use crate::stored::v1::values::{
    Brand, Date, ExternalRef, Id, IdentityDocument, MobilePhone, Rate, Timestamp, Usd, Usdt, Ves,
};
use crate::stored::v3::trace::of_looks;
use crate::trace::Trace;
use crate::values::time;
use std::sync::Arc;

layout! {
    enum Status of payments::Status {
        0 Pending,
        1 Completed,
        2 Failed,
        3 Canceled,
        4 Reversed,
    }
}

layout! {
    enum CancelReason of payments::CancelReason {
        0 Superseded,
        1 Expired,
    }
}

layout! {
    enum Phase of payments::Phase {
        0 Idle,
        1 Charging { looks: u32, next_look: Timestamp },
        2 Reversing { looks: u32, next_look: Timestamp, resent: bool, aside: Aside },
        3 AskedOn { operation: u16, looks: u32, next_look: Timestamp, until: Timestamp },
        4 ReversalDenied { code: String },
    }
}

layout! {
    struct Marketplace of payments::Marketplace {
        merchant: Id,
        commission_percent: Rate,
        commission: Option<Ves>,
        seller_net: Option<Ves>,
        seller_available_at: Option<Timestamp>,
    }
}

layout! {
    struct Debtor of payments::Debtor {
        bank: BankCode,
        id: IdentityDocument,
        phone: MobilePhone,
    }
}

layout! {
    enum Means of payments::Means {
        0 C2p { debtor: Debtor, otp_requested: bool, token_mark: Option<[u8; 16]> },
        1 Card { brand: Brand, last_four: u16, mark: [u8; 16] },
        2 Debit { debtor: Debtor, name: String },
        3 Transfer { debtor: Debtor, date: Date, reference: String },
        4 Usdt { amount: Usdt, seller_net: Option<Usdt>, tx_hash: String },
    }
}

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
    } then {
        // A reversal was always sent under the first one's name, and a refused one left no trace.
        reversals: u16::from(is_reversible(&means, status)),
        earlier_reversal: None,
        trace: trace(&phase, completed_at.unwrap_or(created_at), created_at),
    }
}

layout! {
    struct Aside of reversal::Aside {
        from_hold: i64,
        from_available: i64,
        seller_from_hold: i64,
        seller_from_available: i64,
    }
}

/// The trace of the newest order before traces were kept, as the looks tell it.
pub fn trace(phase: &payments::Phase, since: time::Timestamp, created_at: time::Timestamp) -> Trace {
    match *phase {
        payments::Phase::Charging { looks, next_look } => of_looks(looks, next_look, created_at),
        payments::Phase::Reversing { looks, next_look, .. } => of_looks(looks, next_look, since),
        _ => Trace::default(),
    }
}

/// Whether a reversal may have been sent to the bank.
fn is_reversible(means: &payments::Means, status: payments::Status) -> bool {
    let was_completed = matches!(status, payments::Status::Completed | payments::Status::Reversed);
    was_completed && matches!(means, payments::Means::C2p { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::goldens::{read_in, written};
    use crate::stored::samples::Sampled;
    use crate::stored::versions;
    use payments::{REVERSE, Status::*};

    /// The bytes of a payment as version 1 wrote it, of which versions 2 and 3 have three fields more.
    fn as_of_version_1(payment: &payments::Payment) -> Vec<u8> {
        let mut bytes = written::<versions::Payment>(payment);
        assert_eq!(bytes.split_off(bytes.len() - 10), [0; 10]);
        bytes
    }

    #[test]
    fn a_payment_that_may_have_been_reversed_keeps_the_name_of_that_reversal_for_it_alone() {
        let c2p = Means::samples(&mut 0).remove(0);
        let card =
            Means::samples(&mut 0).into_iter().find(|means| matches!(means, payments::Means::Card { .. }));
        let sample = payments::Payment { means: c2p, ..versions::Payment::sample(false, &mut 0) };
        for (status, reversals) in [(Pending, 0), (Completed, 1), (Failed, 0), (Canceled, 0), (Reversed, 1)] {
            let then = payments::Payment { status, reversals: 0, earlier_reversal: None, ..sample.clone() };
            let bytes = as_of_version_1(&then);
            let now = read_in::<versions::Payment>(1, &bytes);
            assert_eq!(now, payments::Payment { reversals, ..then.clone() });
            assert_eq!(now.reversal(), REVERSE, "what a bank says of it finds it");
            assert_eq!(now, read_in::<Payment>(1, &bytes));
            let means = card.clone().expect("a card");
            let by_card = payments::Payment { means, ..then };
            assert_eq!(read_in::<versions::Payment>(1, &as_of_version_1(&by_card)), by_card);
        }
    }
}
