//! Why a rule says no. A closed list, in the words of the contract; the API maps each to a status
//! in one exhaustive match.

use crate::values::ids::Id;
use crate::values::money::{Cop, Currency, Usdt, Ves};

/// A rule said no, and nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such thing, or not for this tenant.
    NotFound,
    /// A field that only the state can judge.
    Invalid {
        /// Its name in the body.
        field: &'static str,
        /// What is wrong with it.
        message: &'static str,
    },
    /// A figure would not fit.
    AmountOverflow,
    /// There is no bank to call.
    RailNotConfigured,
    /// The tenant's settings was changed by somebody else in between.
    StaleTenantSettings,
    /// The reference was used with another payload.
    ExternalRefConflict {
        /// For what.
        existing: Id,
        /// Names of the fields that differ.
        differs: Vec<&'static str>,
    },
    /// The charge of this reference is on its way to the bank.
    ChargeInProgress,
    /// The details are not those of the request.
    IntentMismatch,
    /// The intent was superseded or has expired.
    IntentCanceled,
    /// The charge failed before.
    IntentFailed,
    /// The intent was paid with another code.
    IntentCompleted,
    /// Payments by this method cannot be reversed.
    NotReversible,
    /// The payment is not completed.
    PaymentNotCompleted,
    /// 24 hours have passed.
    ReversalWindowExpired,
    /// The bank is deciding about it.
    ReversalInProgress,
    /// The bank said no.
    ReversalRefused,
    /// The money is not there.
    InsufficientBalance {
        /// What could be spent.
        available: Ves,
    },
    /// The seller takes no part now.
    MerchantInactive,
    /// No verified payout method.
    PayoutMethodNotVerified,
    /// The merchant received payouts.
    MerchantHasPayouts {
        /// How many.
        count: u64,
    },
    /// The merchant is owed money.
    MerchantHasBalance,
    /// The micro-deposits were sent, and tries are left.
    VerificationInProgress,
    /// Nobody started it.
    VerificationNotStarted,
    /// Three wrong tries.
    VerificationLocked,
    /// It is verified.
    AlreadyVerified,
    /// These are not the amounts.
    AmountsMismatch {
        /// Tries left.
        attempts_left: u8,
    },
    /// There is no BCV rate in force.
    RateUnavailable,
    /// The transfer pays for something already.
    ReferenceAlreadyUsed,
    /// The payment is no completed card payment.
    ChargebackNotAllowed,
    /// More than is left of the payment.
    ChargebackExceedsPayment,
    /// The dispute is decided.
    ChargebackClosed,
    /// The tenant has no account of its own, or it is not proved.
    PayoutAccountNotVerified,
    /// The slug belongs to another link.
    SlugTaken,
    /// A product has so many links already.
    TooManyLinks,
    /// Something of the product or through the link was sold.
    ProductHasSales,
    /// The session was paid.
    SessionPaid,
    /// The session's time is over.
    SessionExpired,
    /// Conversions of this currency are switched off.
    ConversionsNotEnabled,
    /// There is no market rate of the needed age.
    MarketRateUnavailable,
    /// What is to be converted is no amount that can be converted.
    InvalidConversionAmount,
    /// The conversion yields too little.
    BelowMinimumUsdt {
        /// The least.
        minimum: Usdt,
    },
    /// More than may be converted on one day.
    DailyLimitExceeded {
        /// Of what.
        currency: Currency,
        /// What may be converted, in minor units.
        limit: i64,
    },
    /// The money for a conversion is not there.
    InsufficientForConversion {
        /// Of what.
        currency: Currency,
        /// What could be paid out, in minor units.
        available: i64,
        /// What could be converted, in minor units.
        spendable: i64,
    },
    /// The quote was accepted before.
    QuoteUsed,
    /// 60 seconds have passed.
    QuoteExpired,
    /// The conversion does not wait for anything.
    ConversionNotCancelable,
    /// The same, when it was to be fulfilled or refused.
    ConversionNotPending,
    /// USDT is switched off.
    UsdtNotEnabled,
    /// The USDT is not there.
    InsufficientUsdt {
        /// What could be spent.
        available: Usdt,
    },
    /// The USDT payout is not under review.
    NotPendingReview,
    /// The bank, or an operator, has decided about the order.
    OperationResolved,
    /// There is no connector to a network that USDT travels on.
    NetworkNotConfigured,
    /// The operator has not switched pesos on.
    CopNotEnabled,
    /// The payment in pesos is over.
    PaymentNotPending,
    /// The payment is not paid with an SMS code.
    ChannelMismatch,
    /// This is not the SMS code.
    InvalidOtp,
    /// Too many SMS codes were wrong.
    OtpAttemptsExhausted,
    /// 96 hours have passed.
    RefundWindowExpired,
    /// The processor is deciding about it.
    RefundInProgress,
    /// The pesos for a refund are not there.
    RefundNotCovered {
        /// What could be paid out.
        available: Cop,
        /// The same with what is held.
        spendable: Cop,
    },
    /// The processor did not do it, and nothing was debited.
    ProcessorUnavailable,
    /// The pesos are not there.
    InsufficientCop {
        /// What could be paid out.
        available: Cop,
    },
    /// It is known already what became of the payout.
    PayoutNotPending,
    /// The merchant has as many payout methods as it may have.
    TooManyPayoutMethods,
    /// The payment was charged back as often as it may be.
    TooManyChargebacks,
    /// The tenant has as many webhook endpoints as it may have.
    TooManyWebhooks,
    /// An endpoint was changed too often while its deliveries wait.
    WebhookBusy,
    /// Too many deliveries that were asked for again wait.
    ResendsWaiting,
}

impl Refusal {
    /// Whether an Idempotency-Key forgets it although a record says that it was asked: nothing was
    /// decided, and the same request may succeed later.
    pub const fn is_void(&self) -> bool {
        matches!(self, Refusal::InvalidOtp | Refusal::ProcessorUnavailable)
    }

    /// Whether an Idempotency-Key keeps it: what answers 409, 410 or 422
    /// (`docs/contract.md, 1.13`).
    pub const fn is_kept(&self) -> bool {
        !matches!(
            self,
            Refusal::NotFound
                | Refusal::RailNotConfigured
                | Refusal::Invalid { .. }
                | Refusal::AmountOverflow
                | Refusal::PayoutMethodNotVerified
                | Refusal::AmountsMismatch { .. }
                | Refusal::RateUnavailable
                | Refusal::ConversionsNotEnabled
                | Refusal::MarketRateUnavailable
                | Refusal::InvalidConversionAmount
                | Refusal::UsdtNotEnabled
                | Refusal::NetworkNotConfigured
                | Refusal::CopNotEnabled
                | Refusal::InvalidOtp
                | Refusal::ProcessorUnavailable
                | Refusal::ResendsWaiting
        )
    }
}
