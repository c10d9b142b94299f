//! Refusals: an envelope around those of each resource, and the few that are of many. The API maps
//! each to a status in one exhaustive match per resource.

use crate::platform::PlatformRefusal;
use crate::resources::chargebacks::ChargebackRefusal;
use crate::resources::checkout::CheckoutRefusal;
use crate::resources::conversions::ConversionRefusal;
use crate::resources::cop_payments::CopPaymentRefusal;
use crate::resources::cop_payouts::CopPayoutRefusal;
use crate::resources::crypto::CryptoRefusal;
use crate::resources::merchants::MerchantRefusal;
use crate::resources::operations::OperationRefusal;
use crate::resources::payments::PaymentRefusal;
use crate::resources::payouts::PayoutRefusal;
use crate::resources::products::ProductRefusal;
use crate::resources::verification::VerificationRefusal;
use crate::resources::webhooks::WebhookRefusal;
use crate::values::ids::Id;
use crate::values::money::Ves;

/// A rule said no, and nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such thing, or not for this tenant.
    NotFound,
    /// A field that only the state can judge.
    Invalid {
        /// Its name in the body.
        field: &'static str,
        /// The fault.
        message: &'static str,
    },
    /// A figure would not fit.
    AmountOverflow,
    /// There is no bank to call.
    RailNotConfigured,
    /// The rail must not be called now, or could not be reached; nothing was sent.
    RailUnavailable {
        /// For `Retry-After`.
        retry_after_seconds: u32,
    },
    /// There is no BCV rate in force.
    RateUnavailable,
    /// The money is not there.
    InsufficientBalance {
        /// The amount that could be spent.
        available: Ves,
    },
    /// The reference was used with another payload.
    ExternalRefConflict {
        /// For what.
        existing: Id,
        /// Names of the fields that differ.
        differs: Vec<&'static str>,
    },
    /// Of payments in bolívares.
    Payments(PaymentRefusal),
    /// Of payouts in bolívares.
    Payouts(PayoutRefusal),
    /// Of merchants.
    Merchants(MerchantRefusal),
    /// Of the proof of a phone.
    Verification(VerificationRefusal),
    /// Of chargebacks.
    Chargebacks(ChargebackRefusal),
    /// Of products and their links.
    Products(ProductRefusal),
    /// Of sessions.
    Checkout(CheckoutRefusal),
    /// Of conversions.
    Conversions(ConversionRefusal),
    /// Of USDT.
    Crypto(CryptoRefusal),
    /// Of orders that an operator speaks about.
    Operations(OperationRefusal),
    /// Of payments in pesos.
    CopPayments(CopPaymentRefusal),
    /// Of payouts in pesos.
    CopPayouts(CopPayoutRefusal),
    /// Of webhook endpoints.
    Webhooks(WebhookRefusal),
    /// Of what the platform's book is asked.
    Platform(PlatformRefusal),
}

impl Refusal {
    /// Whether an Idempotency-Key forgets it although a record says that it was asked: nothing was
    /// decided, and the same request may succeed later.
    pub const fn is_void(&self) -> bool {
        match self {
            Refusal::CopPayments(refusal) => refusal.is_void(),
            Refusal::RailUnavailable { .. } => true,
            Refusal::NotFound
            | Refusal::Invalid { .. }
            | Refusal::AmountOverflow
            | Refusal::RailNotConfigured
            | Refusal::RateUnavailable
            | Refusal::InsufficientBalance { .. }
            | Refusal::ExternalRefConflict { .. }
            | Refusal::Payments(_)
            | Refusal::Payouts(_)
            | Refusal::Merchants(_)
            | Refusal::Verification(_)
            | Refusal::Chargebacks(_)
            | Refusal::Products(_)
            | Refusal::Checkout(_)
            | Refusal::Conversions(_)
            | Refusal::Crypto(_)
            | Refusal::Operations(_)
            | Refusal::CopPayouts(_)
            | Refusal::Webhooks(_)
            | Refusal::Platform(_) => false,
        }
    }

    /// Whether an Idempotency-Key keeps it: what answers 409, 410 or 422
    /// (`docs/contract.md, 1.13`).
    pub const fn is_kept(&self) -> bool {
        match self {
            Refusal::ExternalRefConflict { .. } | Refusal::InsufficientBalance { .. } => true,
            Refusal::NotFound
            | Refusal::Invalid { .. }
            | Refusal::AmountOverflow
            | Refusal::RailNotConfigured
            | Refusal::RailUnavailable { .. }
            | Refusal::RateUnavailable => false,
            Refusal::Payments(refusal) => refusal.is_kept(),
            Refusal::Payouts(refusal) => refusal.is_kept(),
            Refusal::Merchants(refusal) => refusal.is_kept(),
            Refusal::Verification(refusal) => refusal.is_kept(),
            Refusal::Chargebacks(refusal) => refusal.is_kept(),
            Refusal::Products(refusal) => refusal.is_kept(),
            Refusal::Checkout(refusal) => refusal.is_kept(),
            Refusal::Conversions(refusal) => refusal.is_kept(),
            Refusal::Crypto(refusal) => refusal.is_kept(),
            Refusal::Operations(refusal) => refusal.is_kept(),
            Refusal::CopPayments(refusal) => refusal.is_kept(),
            Refusal::CopPayouts(refusal) => refusal.is_kept(),
            Refusal::Webhooks(refusal) => refusal.is_kept(),
            Refusal::Platform(refusal) => refusal.is_kept(),
        }
    }
}

/// The envelope of each resource's refusals.
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
}
