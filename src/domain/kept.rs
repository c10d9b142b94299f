//! Kept answers: what an Idempotency-Key was answered, written in the record of the money it speaks
//! of (`docs/contract.md, 1.13`).

use crate::values::ids::Id;
use crate::values::time::Timestamp;

/// An answer is kept so long, on the tenant's clock.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// What an answer shows. The API renders it; the log remembers which it was, so that the record of
/// a bank's late answer can replace what was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A C2P intent.
    Intent,
    /// A payment after its charge.
    Executed,
    /// A payment after a reversal.
    Reversed,
    /// A new payout.
    PayoutCreated,
    /// A new merchant.
    MerchantCreated,
    /// A merchant after a change.
    MerchantUpdated,
    /// A merchant that is gone.
    MerchantDeleted,
    /// The verification of this method, begun.
    VerificationStarted(Id),
    /// This payout method.
    PayoutMethod(Id),
    /// The payout method that was just added.
    NewPayoutMethod,
    /// A movement of test money or of the operator's.
    Movement,
    /// The test clock.
    Clock,
    /// A batch of payouts.
    Batch,
    /// What an operator's call answered that no record alone could show.
    Platform,
    /// A payment without an intent, new or repeated.
    Charged,
    /// This chargeback, which was just opened.
    ChargebackOpened(Id),
    /// This chargeback.
    Chargeback(Id),
    /// A request for the code of a debit.
    OtpRequested,
    /// The tenant's own payout account.
    OwnAccount,
    /// The verification of it, begun.
    OwnVerificationStarted,
    /// A new product.
    ProductCreated,
    /// A product.
    Product,
    /// A product that is gone.
    ProductDeleted,
    /// The payment link that was just made.
    LinkCreated,
    /// This payment link.
    Link(Id),
    /// This payment link, which is gone.
    LinkDeleted(Id),
    /// A new checkout session. Its client secret is not in what is kept.
    SessionOpened,
    /// A price for a conversion.
    Quote,
    /// A conversion that was just accepted.
    ConversionAccepted,
    /// A conversion after a change.
    Conversion,
    /// A new USDT payout.
    CryptoPayoutCreated,
    /// A USDT payout after a change.
    CryptoPayout,
    /// A deposit address, new or known.
    DepositAddress,
    /// A deposit that was just credited.
    Deposit,
    /// A new payment in pesos, with what the buyer does next.
    CopPaymentCreated,
    /// A payment in pesos.
    CopPayment,
    /// A new payout in pesos.
    CopPayoutCreated,
    /// A payout in pesos.
    CopPayout,
    /// A new webhook endpoint. Its secret is not in what is kept.
    WebhookCreated,
    /// A webhook endpoint.
    Webhook,
    /// A webhook endpoint that is gone.
    WebhookDeleted,
    /// A webhook endpoint with its next secret, which is not in what is kept.
    SecretRotated,
    /// An event that is delivered again.
    Resent,
    /// A new tenant. Its keys are not in what is kept.
    TenantOpened,
    /// A tenant after a change of its live status.
    Tenant,
    /// This API key, which was just made; it is not in what is kept.
    KeyMade(Id),
}

/// The use of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepRef {
    /// The key, as sent.
    pub key: String,
    /// The path that it was used on.
    pub path: String,
    /// A keyed hash of the body, which may hold a card.
    pub body_hash: [u8; 16],
    /// The tenant's clock when it was first seen.
    pub first_seen: Timestamp,
    /// What the answer shows.
    pub shape: Shape,
    /// The request's id, which error bodies carry.
    pub request_id: String,
}

/// A kept answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The use of a key.
    pub of: std::sync::Arc<KeepRef>,
    /// The status.
    pub status: u16,
    /// The body, byte by byte.
    pub body: Vec<u8>,
    /// Not answered again: it only takes the place of what was kept while the outcome was open.
    pub void: bool,
}

impl Kept {
    /// Whether it is still answered at this instant.
    pub fn stands_at(&self, now: Timestamp) -> bool {
        !self.void && now < self.expires_at()
    }

    /// The instant at which it is gone.
    pub fn expires_at(&self) -> Timestamp {
        self.of.first_seen.plus_ms(KEPT_MS)
    }
}
