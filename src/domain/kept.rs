//! Kept answers: the answer to a request with an Idempotency-Key, written in the record of the
//! money that it is about (`docs/contract.md, 1.13`).

use crate::decision::{Draft, Ruling};
use crate::record::Cause;
use crate::values::ids::Id;
use crate::values::time::Timestamp;

/// The time for which an answer is kept, in milliseconds of the tenant's clock: 24 hours.
pub const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// The shape of an answer: the view that the API renders. The log keeps it, so that the record of a
/// bank's late reply can replace the kept answer with one of the same shape.
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
    /// A deleted merchant.
    MerchantDeleted,
    /// The begun verification of the payout method with this id.
    VerificationStarted(Id),
    /// The payout method with this id.
    PayoutMethod(Id),
    /// The payout method that was just added.
    NewPayoutMethod,
    /// A movement of test money, or of an operator's correction.
    Movement,
    /// The test clock.
    Clock,
    /// A batch of payouts.
    Batch,
    /// The answer to an operator's call that cannot be rendered from a record alone.
    Platform,
    /// A payment without an intent, new or repeated.
    Charged,
    /// The chargeback with this id, just opened.
    ChargebackOpened(Id),
    /// The chargeback with this id.
    Chargeback(Id),
    /// A request for the code of a debit.
    OtpRequested,
    /// The tenant's own payout account.
    OwnAccount,
    /// The begun verification of the tenant's own payout account.
    OwnVerificationStarted,
    /// A new product.
    ProductCreated,
    /// A product.
    Product,
    /// A deleted product.
    ProductDeleted,
    /// The payment link that was just made.
    LinkCreated,
    /// The payment link with this id.
    Link(Id),
    /// The payment link with this id, deleted.
    LinkDeleted(Id),
    /// A new checkout session. The client secret is not in what is kept.
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
    /// A deposit address, new or already known.
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
    /// A new webhook endpoint. The secret is not in what is kept.
    WebhookCreated,
    /// A webhook endpoint.
    Webhook,
    /// A deleted webhook endpoint.
    WebhookDeleted,
    /// A webhook endpoint with its next secret, which is not in what is kept.
    SecretRotated,
    /// An event that is delivered again.
    Resent,
    /// A new tenant. The secrets of its API keys are not in what is kept.
    TenantOpened,
    /// A tenant after a change of its live status.
    Tenant,
    /// The API key with this id, just made. The secret is not in what is kept.
    KeyMade(Id),
    /// A new operator. The token is not in what is kept.
    OperatorMade,
    /// An operator after a change.
    Operator,
    /// A call that waits for a second person.
    ApprovalAsked,
    /// The beginning of test mode anew.
    TestReset,
}

/// The use of an Idempotency-Key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepRef {
    /// The Idempotency-Key, as sent.
    pub key: String,
    /// The path of the request.
    pub path: String,
    /// A keyed hash of the body, which may hold a card.
    pub body_hash: [u8; 16],
    /// The tenant's clock when the key was first seen.
    pub first_seen: Timestamp,
    /// The shape of the answer.
    pub shape: Shape,
    /// The request's id, which error bodies carry.
    pub request_id: String,
}

/// The ruling on an answer that is to be kept, and changes nothing else.
pub fn keep(status: u16, body: Vec<u8>) -> Ruling {
    let mut draft = Draft::new(Cause::AnswerKept);
    draft.answer = Some((status, body));
    Ruling::write(draft)
}

/// A kept answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The use of the Idempotency-Key that was answered.
    pub of: std::sync::Arc<KeepRef>,
    /// The HTTP status.
    pub status: u16,
    /// The body, byte by byte.
    pub body: Vec<u8>,
    /// Whether the answer is void: it is not given again, and only replaces the answer that was
    /// kept while the outcome was open.
    pub void: bool,
}

impl Kept {
    /// Whether the answer is still given to a repeat at this instant.
    pub fn stands_at(&self, now: Timestamp) -> bool {
        !self.void && now < self.expires_at()
    }

    /// The instant at which the answer expires.
    pub fn expires_at(&self) -> Timestamp {
        self.of.first_seen.plus_ms(KEPT_MS)
    }
}
