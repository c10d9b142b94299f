//! Events, for webhooks and for GET /v1/events: numbered per tenant and mode without gaps, in the
//! record that caused them. An event's data is rendered from that record when it is read or sent.

use crate::codec::stored;
use crate::entities::deposit_address::Deposit;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Usdt, Ves};

stored! {
    /// The kinds of events of `docs/contract.md, 13.7`. New ones are added at the end: endpoints store
    /// their numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EventKind {
        0 PaymentCompleted "payment.completed",
        1 PaymentFailed "payment.failed",
        2 PaymentCanceled "payment.canceled",
        3 PaymentReversed "payment.reversed",
        4 PaymentChargeback "payment.chargeback",
        5 PaymentChargebackClosed "payment.chargeback_closed",
        6 PayoutCompleted "payout.completed",
        7 PayoutFailed "payout.failed",
        8 MerchantVerified "merchant.verified",
        9 MerchantRejected "merchant.rejected",
        /// A PATCH set a merchant's `isActive` to false.
        10 MerchantDeactivated "merchant.deactivated",
        /// A PATCH set a merchant's `isActive` to true.
        11 MerchantReactivated "merchant.reactivated",
        /// A seller's sale was credited, was released or was reversed.
        12 MerchantBalanceUpdated "merchant.balance.updated",
        /// A quote was accepted, or a conversion began by itself.
        13 ConversionCreated "conversion.created",
        14 ConversionCompleted "conversion.completed",
        /// A conversion was canceled, or could not be fulfilled.
        15 ConversionCanceled "conversion.canceled",
        16 TenantLiveStatusChanged "tenant.live_status_changed",
        17 CryptoPayoutCompleted "crypto_payout.completed",
        /// A USDT payout was refused by the network or by an operator.
        18 CryptoPayoutFailed "crypto_payout.failed",
        19 CryptoDepositCompleted "crypto_deposit.completed",
        20 TestReset "test.reset",
    }

    /// Data of an event that its subject's state does not have.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Extra {
        0 None,
        /// The payout method that the event is about, and the reason why it was rejected.
        1 Method { 0 id: Id, 1 failure_code: Option<String> },
        2 LiveStatus { 0 status: String, 1 previous: String, 2 reason: Option<String> },
        3 Chargeback(Id),
        4 SellerBalance {
            0 external_ref: String,
            1 pending: Ves,
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
        0 Sale "sale",
        1 Release "release",
        2 Reversal "reversal",
    }

    /// An event: something that happened to a tenant's money or settings.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Event {
        0 pub kind: EventKind,
        1 pub subject: Option<EntityId>,
        2 pub extra: Extra,
    }
}
