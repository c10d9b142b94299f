//! Refusals, as they are kept for an Idempotency-Key.

use crate::refusal;
use crate::stored::layout::{CurrentLayout, Layout, layout};
use crate::stored::values::{Cop, Currency, Id, Usdt, Ves};
use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

layout! {
    enum Refusal of refusal::Refusal {
        0 NotFound,
        1 Invalid { field: StaticText, message: StaticText },
        2 TenantMoved,
        3 AmountOverflow,
        4 RailNotConfigured,
        5 RailUnavailable { retry_after_seconds: u32 },
        6 RateUnavailable,
        7 InsufficientBalance { available: Ves },
        8 ExternalRefConflict { existing: Id, differs: Vec<StaticText> },
        9 Payments(it: PaymentRefusal),
        10 Payouts(it: PayoutRefusal),
        11 Merchants(it: MerchantRefusal),
        12 Verification(it: VerificationRefusal),
        13 Chargebacks(it: ChargebackRefusal),
        14 Products(it: ProductRefusal),
        15 Checkout(it: CheckoutRefusal),
        16 Conversions(it: ConversionRefusal),
        17 Crypto(it: CryptoRefusal),
        18 Operations(it: OperationRefusal),
        19 CopPayments(it: CopPaymentRefusal),
        20 CopPayouts(it: CopPayoutRefusal),
        21 Webhooks(it: WebhookRefusal),
        22 Platform(it: PlatformRefusal),
        23 Approvals(it: ApprovalRefusal),
        24 NoticeClaimed,
        25 ChangedMeanwhile,
    }
}

layout! {
    enum PaymentRefusal of refusal::PaymentRefusal {
        0 ChargeInProgress,
        1 PaymentInProgress { existing: Id },
        2 IntentMismatch,
        3 IntentCanceled,
        4 IntentFailed,
        5 IntentCompleted,
        6 NotReversible,
        7 NotCompleted,
        8 ReversalWindowExpired,
        9 ReversalInProgress,
        10 ReversalRefused,
        11 ReferenceAlreadyUsed,
        12 OtpRefused { failure_code: String },
    }
}

layout! {
    enum PayoutRefusal of refusal::PayoutRefusal {
        0 MethodNotVerified,
        1 AccountNotVerified,
    }
}

layout! {
    enum MerchantRefusal of refusal::MerchantRefusal {
        0 Inactive,
        1 HasPayouts { count: u64 },
        2 HasBalance,
        3 TooManyPayoutMethods,
    }
}

layout! {
    enum VerificationRefusal of refusal::VerificationRefusal {
        0 InProgress,
        1 NotStarted,
        2 Locked,
        3 TooManyStarts { retry_after_seconds: u32 },
        4 PhoneChanged,
        5 AlreadyVerified,
        6 DepositBooked,
        7 AmountsMismatch { attempts_left: u8 },
    }
}

layout! {
    enum ChargebackRefusal of refusal::ChargebackRefusal {
        0 NotAllowed,
        1 ExceedsPayment,
        2 Closed,
        3 TooMany,
    }
}

layout! {
    enum ProductRefusal of refusal::ProductRefusal {
        0 SlugTaken,
        1 TooManyLinks,
        2 HasSales,
    }
}

layout! {
    enum CheckoutRefusal of refusal::CheckoutRefusal {
        0 SessionPaid,
        1 SessionExpired,
    }
}

layout! {
    enum ConversionRefusal of refusal::ConversionRefusal {
        0 NotEnabled,
        1 MarketRateUnavailable,
        2 InvalidAmount,
        3 BelowMinimum { minimum: Usdt },
        4 DailyLimitExceeded { currency: Currency, limit: i64 },
        5 InsufficientBalance { currency: Currency, available: i64, spendable: i64 },
        6 QuoteUsed,
        7 QuoteExpired,
        8 NotCancelable,
        9 NotPending,
    }
}

layout! {
    enum CryptoRefusal of refusal::CryptoRefusal {
        0 NotEnabled,
        1 InsufficientBalance { available: Usdt },
        2 NotPendingReview,
        3 NetworkNotConfigured,
    }
}

layout! {
    enum OperationRefusal of refusal::OperationRefusal {
        0 Resolved,
    }
}

layout! {
    enum CopPaymentRefusal of refusal::CopPaymentRefusal {
        0 NotEnabled,
        1 NotPending,
        2 ChannelMismatch,
        3 InvalidOtp,
        4 OtpAttemptsExhausted,
        5 RefundWindowExpired,
        6 RefundInProgress,
        7 RefundNotCovered { available: Cop, spendable: Cop },
        8 ProcessorUnavailable,
    }
}

layout! {
    enum CopPayoutRefusal of refusal::CopPayoutRefusal {
        0 InsufficientBalance { available: Cop },
        1 NotPending,
    }
}

layout! {
    enum WebhookRefusal of refusal::WebhookRefusal {
        0 TooMany,
        1 Busy,
        2 ResendsWaiting,
    }
}

layout! {
    enum PlatformRefusal of refusal::PlatformRefusal {
        0 StaleSettings,
        1 OperatorExists,
        2 TooManyKeys,
        3 KeyRetiring,
        4 TooManyRotations { retry_after_seconds: u32 },
    }
}

layout! {
    enum ApprovalRefusal of refusal::ApprovalRefusal {
        0 Decided,
        1 Expired,
    }
}

/// A text of the code: the name of a member, or a message.
pub enum StaticText {}

impl Layout for StaticText {
    type Working = &'static str;

    fn read<D: Decoder<Context = u8>>(from: &mut D) -> Result<&'static str, DecodeError> {
        // As few as the code has, or had when it wrote them; each stays in memory once.
        static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let text = String::decode(from)?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(known.get(text.as_str()).copied().unwrap_or_else(|| {
            let text: &'static str = Box::leak(text.into_boxed_str());
            known.insert(text);
            text
        }))
    }
}

impl CurrentLayout for StaticText {
    fn write<E: Encoder>(working: &&'static str, to: &mut E) -> Result<(), EncodeError> {
        working.encode(to)
    }
}

#[cfg(test)]
impl crate::stored::samples::Sampled for StaticText {
    fn sample(full: bool, _: &mut u64) -> &'static str {
        if full { "monto" } else { "" }
    }
}
