//! Events.

use crate::events;
use crate::stored::crypto::Deposit;
use crate::stored::layout::layout;
use crate::stored::values::Cop;
use crate::stored::values::EntityId;
use crate::stored::values::Id;
use crate::stored::values::Usdt;
use crate::stored::values::Ves;

layout! {
    enum EventKind of events::EventKind {
        0 PaymentCompleted,
        1 PaymentFailed,
        2 PaymentCanceled,
        3 PaymentReversed,
        4 PayoutCompleted,
        5 PayoutFailed,
        6 MerchantVerified,
        7 MerchantRejected,
        8 MerchantDeactivated,
        9 MerchantReactivated,
        10 MerchantBalanceUpdated,
        11 TenantLiveStatusChanged,
        12 PaymentChargeback,
        13 PaymentChargebackClosed,
        14 ConversionCreated,
        15 ConversionCompleted,
        16 ConversionCanceled,
        17 CryptoPayoutCompleted,
        18 CryptoPayoutFailed,
        19 CryptoDepositCompleted,
        20 TestReset,
    }
}

layout! {
    enum Extra of events::Extra {
        0 None,
        1 Method { id: Id, failure_code: Option<String> },
        2 LiveStatus { status: String, previous: String, reason: Option<String> },
        3 Chargeback(it: Id),
        4 SellerBalance {
            external_ref: String,
            pending: Ves,
            available: Ves,
            pesos: Option<(Cop, Cop)>,
            usdt: Option<(Usdt, Usdt)>,
            reason: BalanceReason,
        },
        5 Deposit(it: Deposit),
    }
}

layout! {
    enum BalanceReason of events::BalanceReason {
        0 Sale,
        1 Release,
        2 Reversal,
    }
}

layout! {
    struct Event of events::Event {
        kind: EventKind,
        subject: Option<EntityId>,
        extra: Extra,
    }
}
