//! What happened, for webhooks and for GET /v1/events: numbered per tenant and mode without gaps,
//! in the record that made it so. The data is rendered from that record when it is read or sent.

use crate::resources::crypto::deposits::Deposit;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Usdt, Ves};

/// The names of `docs/contract.md, 13.7`. New ones are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A payment completed.
    PaymentCompleted,
    /// A payment failed.
    PaymentFailed,
    /// An intent was superseded or expired.
    PaymentCanceled,
    /// A payment went back.
    PaymentReversed,
    /// A payout is paid.
    PayoutCompleted,
    /// A payout failed.
    PayoutFailed,
    /// A payout method is verified.
    MerchantVerified,
    /// The bank says that a payout method is not the merchant's.
    MerchantRejected,
    /// PATCH isActive false.
    MerchantDeactivated,
    /// PATCH isActive true.
    MerchantReactivated,
    /// A seller's sale landed, was released or went back.
    MerchantBalanceUpdated,
    /// The operator changed what the live key may do.
    TenantLiveStatusChanged,
    /// A bank took a card sale back.
    PaymentChargeback,
    /// The dispute about it is decided.
    PaymentChargebackClosed,
    /// A quote was accepted, or a conversion began by itself.
    ConversionCreated,
    /// Its USDT is there.
    ConversionCompleted,
    /// It was canceled, or could not be fulfilled.
    ConversionCanceled,
    /// A USDT payout arrived.
    CryptoPayoutCompleted,
    /// A USDT payout was refused by the network or by an operator.
    CryptoPayoutFailed,
    /// A stablecoin deposit was credited.
    CryptoDepositCompleted,
}

impl EventKind {
    /// As webhooks say it.
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
        }
    }
}

/// What the subject's state does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Nothing.
    None,
    /// Which payout method, and why it was rejected.
    Method {
        /// The method.
        id: Id,
        /// The bank's code.
        failure_code: Option<String>,
    },
    /// The account's live status.
    LiveStatus {
        /// Now.
        status: String,
        /// Before.
        previous: String,
        /// The reason.
        reason: Option<String>,
    },
    /// Which of the payment's chargebacks.
    Chargeback(Id),
    /// A seller's balance after the record.
    SellerBalance {
        /// The seller's name at the tenant's.
        external_ref: String,
        /// Held.
        pending: Ves,
        /// The amount that may be paid out.
        available: Ves,
        /// Pesos, held and available, of a seller who has had any.
        pesos: Option<(Cop, Cop)>,
        /// USDT, held and available, of a seller who has had any.
        usdt: Option<(Usdt, Usdt)>,
        /// Why it changed.
        reason: BalanceReason,
    },
    /// A deposit to an address.
    Deposit(Deposit),
}

/// Why a seller's balance changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceReason {
    /// A sale landed.
    Sale,
    /// A hold ended.
    Release,
    /// A sale went back.
    Reversal,
}

impl BalanceReason {
    /// As webhooks say it.
    pub const fn name(self) -> &'static str {
        match self {
            BalanceReason::Sale => "sale",
            BalanceReason::Release => "release",
            BalanceReason::Reversal => "reversal",
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// To whom; its state is in the same record.
    pub subject: Option<EntityId>,
    /// What else there is to say.
    pub extra: Extra,
}
