//! Refusals: a rule said no to a command. Those of each resource are in an enum of their own, whose cases
//! the API maps to a status and words.

use crate::codec::{known, stored};
use crate::platform::mandate::Limit;
use crate::values::ids::Id;
use crate::values::money::{Cop, Currency, Usdt, Ves};
use crate::values::time::Timestamp;

stored! {
    /// A refusal: a rule said no to a command.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Refusal {
        /// The thing does not exist, or belongs to another tenant.
        0 NotFound,
        /// A field of the request is invalid, which only the state shows.
        1 Invalid { 0 field: &'static str => known, 1 message: &'static str => known },
        /// The tenant moved to another deployment: nothing is decided for it here.
        2 TenantMoved,
        3 AmountOverflow,
        4 RailNotConfigured,
        /// The rail must not be called now, or could not be reached; nothing was sent.
        5 RailUnavailable {
            0 retry_after_seconds: u32,
        },
        6 RateUnavailable,
        7 InsufficientBalance { 0 available: Ves },
        /// The reference was used with another payload.
        8 ExternalRefConflict {
            0 existing: Id,
            1 differs: Vec<&'static str> => |names: Vec<String>| names.into_iter().map(known).collect(),
        },
        9 Payments(PaymentRefusal),
        10 Payouts(PayoutRefusal),
        11 Merchants(MerchantRefusal),
        12 Verification(VerificationRefusal),
        13 Chargebacks(ChargebackRefusal),
        14 Products(ProductRefusal),
        15 Checkout(CheckoutRefusal),
        16 Conversions(ConversionRefusal),
        17 Crypto(CryptoRefusal),
        18 Operations(OperationRefusal),
        19 CopPayments(CopPaymentRefusal),
        20 CopPayouts(CopPayoutRefusal),
        21 Webhooks(WebhookRefusal),
        22 Platform(PlatformRefusal),
        23 Approvals(ApprovalRefusal),
        /// A notice that has paid, or is of no transfer, is given to nobody.
        24 NoticeClaimed,
        /// What was decided on was changed after it was read: it is to be read again.
        25 ChangedMeanwhile,
        26 Mandate(MandateRefusal) since 8,
        /// A node of the cluster runs an earlier version, which could not read what would be written.
        27 UpgradeUnderWay since 8,
        /// The tenant moves to another partition: nothing is decided for it until it is there.
        28 TenantMoving since 8,
    }
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
            | Refusal::TenantMoving
            | Refusal::UpgradeUnderWay
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
            Refusal::Mandate(refusal) => matches!(refusal, MandateRefusal::Awaits { .. }),
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
            Refusal::Platform(refusal) => !matches!(
                refusal,
                PlatformRefusal::TooManyRotations { .. } | PlatformRefusal::KeyLacks { .. }
            ),
        }
    }
}

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
    Mandate: MandateRefusal,
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum PaymentRefusal {
        /// The charge of this reference is on its way to the bank.
        0 ChargeInProgress,
        /// The newest payment on the reference is at its bank, and this is another.
        1 PaymentInProgress { 0 existing: Id },
        2 IntentMismatch,
        3 IntentCanceled,
        4 IntentFailed,
        /// The intent was paid with another code.
        5 IntentCompleted,
        6 NotReversible,
        7 NotCompleted,
        /// The 24 hours for a reversal have passed.
        8 ReversalWindowExpired,
        9 ReversalInProgress,
        10 ReversalRefused,
        11 ReferenceAlreadyUsed,
        /// The bank refused to send the code of a debit.
        12 OtpRefused { 0 failure_code: String },
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum PayoutRefusal {
        0 MethodNotVerified,
        1 AccountNotVerified,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum MerchantRefusal {
        0 Inactive,
        1 HasPayouts { 0 count: u64 },
        2 HasBalance,
        3 TooManyPayoutMethods,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum VerificationRefusal {
        0 InProgress,
        1 NotStarted,
        /// Three tries were wrong: there are no others, and for 24 hours no other start.
        2 Locked,
        3 TooManyStarts {
            0 retry_after_seconds: u32,
        },
        /// The account was changed while its verification was being started.
        4 PhoneChanged,
        5 AlreadyVerified,
        /// Another line of a statement has booked the deposit.
        6 DepositBooked,
        7 AmountsMismatch { 0 attempts_left: u8 },
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ChargebackRefusal {
        /// The payment is not a completed card payment.
        0 NotAllowed,
        /// The amount is more than is left of the payment.
        1 ExceedsPayment,
        2 Closed,
        3 TooMany,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ProductRefusal {
        0 SlugTaken,
        1 TooManyLinks,
        /// Something of the product or through the link was sold.
        2 HasSales,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CheckoutRefusal {
        0 SessionPaid,
        1 SessionExpired,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ConversionRefusal {
        0 NotEnabled,
        1 MarketRateUnavailable,
        2 InvalidAmount,
        3 BelowMinimum { 0 minimum: Usdt },
        4 DailyLimitExceeded {
            0 currency: Currency,
            /// The limit per local day, in minor units.
            1 limit: i64,
        },
        5 InsufficientBalance {
            0 currency: Currency,
            /// The amount that could be paid out, in minor units.
            1 available: i64,
            /// The amount that could be converted, in minor units.
            2 spendable: i64,
        },
        6 QuoteUsed,
        /// The quote expired: 60 seconds have passed.
        7 QuoteExpired,
        8 NotCancelable,
        9 NotPending,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CryptoRefusal {
        0 NotEnabled,
        1 InsufficientBalance { 0 available: Usdt },
        2 NotPendingReview,
        3 NetworkNotConfigured,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum OperationRefusal {
        /// The outcome of the operation is known already, from the bank or an operator.
        0 Resolved,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CopPaymentRefusal {
        0 NotEnabled,
        1 NotPending,
        /// The payment is not paid with an SMS code.
        2 ChannelMismatch,
        3 InvalidOtp,
        4 OtpAttemptsExhausted,
        /// The 96 hours for a refund have passed.
        5 RefundWindowExpired,
        6 RefundInProgress,
        7 RefundNotCovered {
            0 available: Cop,
            /// The amount that could be paid out, together with the holds.
            1 spendable: Cop,
        },
        /// The processor did not carry it out, and nothing was debited.
        8 ProcessorUnavailable,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CopPayoutRefusal {
        0 InsufficientBalance { 0 available: Cop },
        1 NotPending,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum WebhookRefusal {
        0 TooMany,
        /// An endpoint was changed too often while its deliveries wait.
        1 Busy,
        /// Too many deliveries that were asked for again wait.
        2 ResendsWaiting,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum PlatformRefusal {
        /// The settings were changed since the version that the request was made from.
        0 StaleSettings,
        1 OperatorExists,
        2 TooManyKeys,
        3 KeyRetiring,
        /// The account replaced as many keys of the mode within a day as it may.
        4 TooManyRotations {
            0 retry_after_seconds: u32,
        },
        /// The key that asks does not work any more, or lacks one of the scopes that it gives or needs.
        5 KeyLacks { 0 scope: &'static str => known } since 8,
        /// The tenant moves to another partition already.
        6 MoveUnderWay since 8,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum MandateRefusal {
        /// The key may not take out so much.
        0 Exceeded {
            0 limit: Limit,
            1 currency: Currency,
            /// What is left, in minor units.
            2 remaining: i64,
            /// When the limit begins anew; never that of a call.
            3 resets_at: Option<Timestamp>,
        },
        /// The key may not pay whom it wants to pay.
        1 Payee,
        /// The key may not take out so much unless somebody approves. Said by the rules alone: the call waits then.
        2 NeedsApproval { 0 currency: Currency, 1 minor: i64 },
        /// The call waits for this approval.
        3 Awaits { 0 approval: Id },
        /// As many calls wait as may.
        4 TooManyWaiting {
            0 retry_after_seconds: u32,
        },
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ApprovalRefusal {
        0 Decided,
        /// Nobody decided in time, or before its asker could no longer ask for it.
        1 Expired,
    }
}

impl MandateRefusal {
    /// Nothing may go out in this currency, in whatever call.
    pub const fn nothing(currency: Currency) -> MandateRefusal {
        MandateRefusal::Exceeded { limit: Limit::PerCall, currency, remaining: 0, resets_at: None }
    }
}
