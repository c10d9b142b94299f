//! Refusals: a rule said no to a command. Those of each resource are in an enum of their own, whose cases
//! the API maps to a status and words.

use crate::values::ids::Id;
use crate::values::money::{Cop, Currency, Usdt, Ves};

/// A refusal: a rule said no to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The thing does not exist, or belongs to another tenant.
    NotFound,
    /// A field of the request is invalid, which only the state shows.
    Invalid {
        field: &'static str,
        message: &'static str,
    },
    /// The tenant moved to another deployment: nothing is decided for it here.
    TenantMoved,
    /// What was decided on was changed after it was read: it is to be read again.
    ChangedMeanwhile,
    AmountOverflow,
    RailNotConfigured,
    /// The rail must not be called now, or could not be reached; nothing was sent.
    RailUnavailable {
        /// For `Retry-After`.
        retry_after_seconds: u32,
    },
    RateUnavailable,
    /// The balance does not suffice.
    InsufficientBalance {
        available: Ves,
    },
    /// The reference was used with another payload.
    ExternalRefConflict {
        existing: Id,
        differs: Vec<&'static str>,
    },
    Payments(PaymentRefusal),
    Payouts(PayoutRefusal),
    Merchants(MerchantRefusal),
    Verification(VerificationRefusal),
    Chargebacks(ChargebackRefusal),
    /// A refusal of a product or a payment link.
    Products(ProductRefusal),
    Checkout(CheckoutRefusal),
    Conversions(ConversionRefusal),
    /// A refusal of a deposit or a payout in USDT.
    Crypto(CryptoRefusal),
    /// A refusal of an operator's word on an operation.
    Operations(OperationRefusal),
    CopPayments(CopPaymentRefusal),
    CopPayouts(CopPayoutRefusal),
    Webhooks(WebhookRefusal),
    /// A refusal of a command to the platform's book.
    Platform(PlatformRefusal),
    Approvals(ApprovalRefusal),
    /// A notice that has paid, or is of no transfer, is given to nobody.
    NoticeClaimed,
}

impl Refusal {
    /// Whether an Idempotency-Key forgets this refusal although a record was written: nothing was
    /// decided, and the same request may succeed later.
    pub const fn is_void(&self) -> bool {
        use CopPaymentRefusal::{InvalidOtp, ProcessorUnavailable};
        matches!(
            self,
            Refusal::RailUnavailable { .. } | Refusal::CopPayments(InvalidOtp | ProcessorUnavailable)
        )
    }

    /// Whether an Idempotency-Key keeps this refusal: those that are answered with 409, 410 or 422
    /// (`docs/contract.md, 1.13`).
    pub const fn is_kept(&self) -> bool {
        match self {
            Refusal::NotFound
            | Refusal::Invalid { .. }
            | Refusal::TenantMoved
            | Refusal::ChangedMeanwhile
            | Refusal::AmountOverflow
            | Refusal::RailNotConfigured
            | Refusal::RailUnavailable { .. }
            | Refusal::RateUnavailable => false,
            Refusal::ExternalRefConflict { .. }
            | Refusal::InsufficientBalance { .. }
            | Refusal::NoticeClaimed
            | Refusal::Merchants(_)
            | Refusal::Chargebacks(_)
            | Refusal::Products(_)
            | Refusal::Checkout(_)
            | Refusal::Operations(_)
            | Refusal::CopPayouts(_)
            | Refusal::Approvals(_) => true,
            // The caller is told to ask again, under the same key too.
            Refusal::Payments(refusal) => !matches!(refusal, PaymentRefusal::PaymentInProgress { .. }),
            Refusal::Payouts(refusal) => !matches!(refusal, PayoutRefusal::MethodNotVerified),
            Refusal::Verification(refusal) => !matches!(
                refusal,
                VerificationRefusal::AmountsMismatch { .. }
                    | VerificationRefusal::TooManyStarts { .. }
                    | VerificationRefusal::PhoneChanged
            ),
            Refusal::Conversions(refusal) => !matches!(
                refusal,
                ConversionRefusal::NotEnabled
                    | ConversionRefusal::MarketRateUnavailable
                    | ConversionRefusal::InvalidAmount
            ),
            Refusal::Crypto(refusal) => {
                !matches!(refusal, CryptoRefusal::NotEnabled | CryptoRefusal::NetworkNotConfigured)
            }
            Refusal::CopPayments(refusal) => !matches!(
                refusal,
                CopPaymentRefusal::NotEnabled
                    | CopPaymentRefusal::InvalidOtp
                    | CopPaymentRefusal::ProcessorUnavailable
            ),
            Refusal::Webhooks(refusal) => !matches!(refusal, WebhookRefusal::ResendsWaiting),
            Refusal::Platform(refusal) => !matches!(refusal, PlatformRefusal::TooManyRotations { .. }),
        }
    }
}

/// Implements the conversion of each resource's refusals into the envelope.
macro_rules! envelope {
    ($($Room:ident: $refusal:ty),+ $(,)?) => {
        $(impl From<$refusal> for Refusal {
            fn from(refusal: $refusal) -> Refusal {
                Refusal::$Room(refusal)
            }
        })+
    };
}

envelope! {
    Payments: PaymentRefusal,
    Payouts: PayoutRefusal,
    Merchants: MerchantRefusal,
    Verification: VerificationRefusal,
    Chargebacks: ChargebackRefusal,
    Products: ProductRefusal,
    Checkout: CheckoutRefusal,
    Conversions: ConversionRefusal,
    Crypto: CryptoRefusal,
    Operations: OperationRefusal,
    CopPayments: CopPaymentRefusal,
    CopPayouts: CopPayoutRefusal,
    Webhooks: WebhookRefusal,
    Platform: PlatformRefusal,
    Approvals: ApprovalRefusal,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentRefusal {
    /// The charge of this reference is on its way to the bank.
    ChargeInProgress,
    /// The newest payment on the reference is at its bank, and this is another.
    PaymentInProgress {
        existing: Id,
    },
    /// The details are not those of the request.
    IntentMismatch,
    IntentCanceled,
    IntentFailed,
    /// The intent was paid with another code.
    IntentCompleted,
    NotReversible,
    /// The payment is not completed.
    NotCompleted,
    /// The 24 hours for a reversal have passed.
    ReversalWindowExpired,
    ReversalInProgress,
    ReversalRefused,
    ReferenceAlreadyUsed,
    /// The bank refused to send the code of a debit.
    OtpRefused {
        failure_code: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PayoutRefusal {
    /// The merchant has no verified payout method.
    MethodNotVerified,
    /// The tenant has no account of its own, or it is not verified.
    AccountNotVerified,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MerchantRefusal {
    /// The merchant is not active.
    Inactive,
    HasPayouts {
        count: u64,
    },
    HasBalance,
    TooManyPayoutMethods,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerificationRefusal {
    InProgress,
    NotStarted,
    /// Three tries were wrong: there are no others, and for 24 hours no other start.
    Locked,
    /// Too many verifications were started in 24 hours.
    TooManyStarts {
        /// For `Retry-After`.
        retry_after_seconds: u32,
    },
    /// The account was changed while its verification was being started.
    PhoneChanged,
    AlreadyVerified,
    /// Another line of a statement has booked the deposit.
    DepositBooked,
    AmountsMismatch {
        attempts_left: u8,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChargebackRefusal {
    /// The payment is not a completed card payment.
    NotAllowed,
    /// The amount is more than is left of the payment.
    ExceedsPayment,
    Closed,
    /// The payment has as many chargebacks as it may have.
    TooMany,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProductRefusal {
    /// The slug belongs to another link.
    SlugTaken,
    TooManyLinks,
    /// Something of the product or through the link was sold.
    HasSales,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutRefusal {
    SessionPaid,
    SessionExpired,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversionRefusal {
    NotEnabled,
    MarketRateUnavailable,
    InvalidAmount,
    BelowMinimum {
        minimum: Usdt,
    },
    DailyLimitExceeded {
        currency: Currency,
        /// The limit per local day, in minor units.
        limit: i64,
    },
    /// The balance does not suffice for the conversion.
    InsufficientBalance {
        currency: Currency,
        /// The amount that could be paid out, in minor units.
        available: i64,
        /// The amount that could be converted, in minor units.
        spendable: i64,
    },
    QuoteUsed,
    /// The quote expired: 60 seconds have passed.
    QuoteExpired,
    /// The conversion is not pending, so it cannot be canceled.
    NotCancelable,
    /// The conversion is not pending, so it can be neither fulfilled nor refused.
    NotPending,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CryptoRefusal {
    NotEnabled,
    /// The balance in USDT does not suffice.
    InsufficientBalance {
        available: Usdt,
    },
    /// The USDT payout is not under review.
    NotPendingReview,
    NetworkNotConfigured,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationRefusal {
    /// The outcome of the operation is known already, from the bank or an operator.
    Resolved,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopPaymentRefusal {
    NotEnabled,
    NotPending,
    /// The payment is not paid with an SMS code.
    ChannelMismatch,
    InvalidOtp,
    OtpAttemptsExhausted,
    /// The 96 hours for a refund have passed.
    RefundWindowExpired,
    RefundInProgress,
    /// The balance does not suffice for a refund.
    RefundNotCovered {
        available: Cop,
        /// The amount that could be paid out, together with the holds.
        spendable: Cop,
    },
    /// The processor did not carry it out, and nothing was debited.
    ProcessorUnavailable,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopPayoutRefusal {
    /// The balance in pesos does not suffice.
    InsufficientBalance {
        available: Cop,
    },
    NotPending,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebhookRefusal {
    /// The tenant has as many webhook endpoints as it may have.
    TooMany,
    /// An endpoint was changed too often while its deliveries wait.
    Busy,
    /// Too many deliveries that were asked for again wait.
    ResendsWaiting,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformRefusal {
    /// The settings were changed since the version that the request was made from.
    StaleSettings,
    /// Another operator has the e-mail address.
    OperatorExists,
    /// The account has as many keys of the mode as it may.
    TooManyKeys,
    KeyRetiring,
    /// The account replaced as many keys of the mode within a day as it may.
    TooManyRotations {
        /// The seconds until it may replace another.
        retry_after_seconds: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalRefusal {
    Decided,
    /// Nobody decided in time, or before its asker could no longer ask for it.
    Expired,
}
