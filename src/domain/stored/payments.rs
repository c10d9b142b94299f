//! Payments in bolívares.

use crate::resources::payments;
use crate::resources::payments::reversal;
use crate::stored::banks::BankCode;
use crate::stored::chargebacks::Chargeback;
use crate::stored::checkout::Sale;
use crate::stored::kept::KeepRef;
use crate::stored::layout::layout;
use crate::stored::trace::Trace;
use crate::stored::values::Brand;
use crate::stored::values::Date;
use crate::stored::values::ExternalRef;
use crate::stored::values::Id;
use crate::stored::values::IdentityDocument;
use crate::stored::values::MobilePhone;
use crate::stored::values::Rate;
use crate::stored::values::Timestamp;
use crate::stored::values::Usd;
use crate::stored::values::Usdt;
use crate::stored::values::Ves;
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
        2 Debit { debtor: Debtor, name: String, code_mark: [u8; 16] },
        3 Transfer { debtor: Debtor, date: Date, reference: String },
        4 Usdt { amount: Usdt, seller_net: Option<Usdt>, tx_hash: String },
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

layout! {
    struct EarlierReversal of payments::EarlierReversal {
        operation: u16,
        reference: String,
    }
}

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
        attempt: u32,
        failed_at: Option<Timestamp>,
        is_disputed: bool,
    }
}
