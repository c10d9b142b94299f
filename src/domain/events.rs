//! Events, for webhooks and for GET /v1/events: numbered per tenant and mode without gaps, in the
//! record that caused them. An event's data is rendered from that record when it is read or sent.

use crate::codec::stored;
use crate::entities::deposit_address::Deposit;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Usdt, Ves};

stored! {
    /// The kinds of events of `docs/contract.md, 13.7`. New ones are added at the end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EventKind {
        0 PaymentCompleted,
        1 PaymentFailed,
        2 PaymentCanceled,
        3 PaymentReversed,
        4 PayoutCompleted,
        5 PayoutFailed,
        6 MerchantVerified,
        /// The bank says that a payout method is not the merchant's.
        7 MerchantRejected,
        8 MerchantDeactivated,
        9 MerchantReactivated,
        /// A seller's sale was credited, was released or was reversed.
        10 MerchantBalanceUpdated,
        /// The operator changed the live status of the tenant.
        11 TenantLiveStatusChanged,
        12 PaymentChargeback,
        13 PaymentChargebackClosed,
        /// A quote was accepted, or a conversion began by itself.
        14 ConversionCreated,
        15 ConversionCompleted,
        /// A conversion was canceled, or could not be fulfilled.
        16 ConversionCanceled,
        17 CryptoPayoutCompleted,
        /// A USDT payout was refused by the network or by an operator.
        18 CryptoPayoutFailed,
        19 CryptoDepositCompleted,
        20 TestReset,
    }
}

impl EventKind {
    /// Every kind, in the order of the enum.
    pub const ALL: [EventKind; 21] = [
        EventKind::PaymentCompleted,
        EventKind::PaymentFailed,
        EventKind::PaymentCanceled,
        EventKind::PaymentReversed,
        EventKind::PayoutCompleted,
        EventKind::PayoutFailed,
        EventKind::MerchantVerified,
        EventKind::MerchantRejected,
        EventKind::MerchantDeactivated,
        EventKind::MerchantReactivated,
        EventKind::MerchantBalanceUpdated,
        EventKind::TenantLiveStatusChanged,
        EventKind::PaymentChargeback,
        EventKind::PaymentChargebackClosed,
        EventKind::ConversionCreated,
        EventKind::ConversionCompleted,
        EventKind::ConversionCanceled,
        EventKind::CryptoPayoutCompleted,
        EventKind::CryptoPayoutFailed,
        EventKind::CryptoDepositCompleted,
        EventKind::TestReset,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            EventKind::PaymentCompleted => "payment.completed",
            EventKind::PaymentFailed => "payment.failed",
            EventKind::PaymentCanceled => "payment.canceled",
            EventKind::PaymentReversed => "payment.reversed",
            EventKind::PayoutCompleted => "payout.completed",
            EventKind::PayoutFailed => "payout.failed",
            EventKind::MerchantVerified => "merchant.verified",
            EventKind::MerchantRejected => "merchant.rejected",
            EventKind::MerchantDeactivated => "merchant.deactivated",
            EventKind::MerchantReactivated => "merchant.reactivated",
            EventKind::MerchantBalanceUpdated => "merchant.balance.updated",
            EventKind::TenantLiveStatusChanged => "tenant.live_status_changed",
            EventKind::PaymentChargeback => "payment.chargeback",
            EventKind::PaymentChargebackClosed => "payment.chargeback_closed",
            EventKind::ConversionCreated => "conversion.created",
            EventKind::ConversionCompleted => "conversion.completed",
            EventKind::ConversionCanceled => "conversion.canceled",
            EventKind::CryptoPayoutCompleted => "crypto_payout.completed",
            EventKind::CryptoPayoutFailed => "crypto_payout.failed",
            EventKind::CryptoDepositCompleted => "crypto_deposit.completed",
            EventKind::TestReset => "test.reset",
        }
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Extra {
        0 None,
        /// The payout method that the event is about, and the reason why it was rejected.
        1 Method { 0 id: Id, 1 failure_code: Option<String> },
        2 LiveStatus { 0 status: String, 1 previous: String, 2 reason: Option<String> },
        /// The chargeback of the payment that the event is about.
        3 Chargeback(Id),
        4 SellerBalance {
            0 external_ref: String,
            1 pending: Ves,
            /// The bolívares that may be paid out.
            2 available: Ves,
            /// Pesos, held and available, of a seller who has had any.
            3 pesos: Option<(Cop, Cop)>,
            /// USDT, held and available, of a seller who has had any.
            4 usdt: Option<(Usdt, Usdt)>,
            5 reason: BalanceReason,
        },
        5 Deposit(Deposit),
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BalanceReason {
        0 Sale,
        1 Release,
        2 Reversal,
    }
}

impl BalanceReason {
    pub const fn name(self) -> &'static str {
        match self {
            BalanceReason::Sale => "sale",
            BalanceReason::Release => "release",
            BalanceReason::Reversal => "reversal",
        }
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Event {
        0 pub kind: EventKind,
        1 pub subject: Option<EntityId>,
        2 pub extra: Extra,
    }
}
