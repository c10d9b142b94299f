//! Refusals: an envelope around those of each resource, and the few that several share. The API
//! maps each to a status in one exhaustive match per resource.

use crate::codec::stored;
use crate::platform::PlatformRefusal;
use crate::resources::approvals::ApprovalRefusal;
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

stored! {
    /// A refusal: a rule said no to a command.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Refusal {
        /// The thing does not exist, or belongs to another tenant.
        0 NotFound,
        /// A field of the request is invalid, which only the state shows.
        1 Invalid { 0 field: &'static str, 1 message: &'static str },
        /// The tenant moved to another deployment: nothing is decided for it here.
        2 TenantMoved,
        3 AmountOverflow,
        4 RailNotConfigured,
        /// The rail must not be called now, or could not be reached; nothing was sent.
        5 RailUnavailable {
            /// For `Retry-After`.
            0 retry_after_seconds: u32,
        },
        6 RateUnavailable,
        /// The balance does not suffice.
        7 InsufficientBalance { 0 available: Ves },
        /// The reference was used with another payload.
        8 ExternalRefConflict { 0 existing: Id, 1 differs: Vec<&'static str> },
        9 Payments(PaymentRefusal),
        10 Payouts(PayoutRefusal),
        11 Merchants(MerchantRefusal),
        12 Verification(VerificationRefusal),
        13 Chargebacks(ChargebackRefusal),
        /// A refusal of a product or a payment link.
        14 Products(ProductRefusal),
        15 Checkout(CheckoutRefusal),
        16 Conversions(ConversionRefusal),
        /// A refusal of a deposit or a payout in USDT.
        17 Crypto(CryptoRefusal),
        /// A refusal of an operator's word on an operation.
        18 Operations(OperationRefusal),
        19 CopPayments(CopPaymentRefusal),
        20 CopPayouts(CopPayoutRefusal),
        21 Webhooks(WebhookRefusal),
        /// A refusal of a command to the platform's book.
        22 Platform(PlatformRefusal),
        23 Approvals(ApprovalRefusal),
        /// A notice that has paid, or is of no transfer, is given to nobody.
        24 NoticeClaimed,
        /// What was decided on was changed after it was read: it is to be read again.
        25 ChangedMeanwhile,
    }
}

impl Refusal {
    /// Whether an Idempotency-Key forgets this refusal although a record was written: nothing was
    /// decided, and the same request may succeed later.
    pub const fn is_void(&self) -> bool {
        match self {
            Refusal::CopPayments(refusal) => refusal.is_void(),
            Refusal::RailUnavailable { .. } => true,
            Refusal::NotFound
            | Refusal::Invalid { .. }
            | Refusal::TenantMoved
            | Refusal::ChangedMeanwhile
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
            | Refusal::Platform(_)
            | Refusal::Approvals(_)
            | Refusal::NoticeClaimed => false,
        }
    }

    /// Whether an Idempotency-Key keeps this refusal: those that are answered with 409, 410 or 422
    /// (`docs/contract.md, 1.13`).
    pub const fn is_kept(&self) -> bool {
        match self {
            Refusal::ExternalRefConflict { .. }
            | Refusal::InsufficientBalance { .. }
            | Refusal::NoticeClaimed => true,
            Refusal::NotFound
            | Refusal::Invalid { .. }
            | Refusal::TenantMoved
            | Refusal::ChangedMeanwhile
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
            Refusal::Approvals(refusal) => refusal.is_kept(),
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
