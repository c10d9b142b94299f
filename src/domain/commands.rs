//! What is asked of a tenant's book and its entities.

use crate::bank::RailReply;
use crate::kept::KeepRef;
use crate::platform::PlatformAsk;
use crate::platform::settings::TenantSettings;
use crate::resources::adjustments::Adjustment;
use crate::resources::banks::BankCode;
use crate::resources::chargebacks;
use crate::resources::checkout::NewSession;
use crate::resources::conversions;
use crate::resources::cop_payments;
use crate::resources::cop_payouts;
use crate::resources::crypto;
use crate::resources::merchants::Registration;
use crate::resources::operations::Resolution;
use crate::resources::own_account;
use crate::resources::payments::{c2p, charge, otp};
use crate::resources::payouts::NewPayout;
use crate::resources::payouts::batch::NewBatch;
use crate::resources::products::{LinkChange, NewLink, NewProduct, ProductChange};
use crate::resources::webhooks::{EventRef, NewWebhook, Progress, WebhookChange};
use crate::values::ids::Id;
use crate::values::money::{Rate, Ves};
use crate::values::phone::MobilePhone;
use crate::values::token::Token;
use std::any::Any;
use std::sync::Arc;

/// What is asked.
pub enum Ask {
    /// A C2P intent; the entity is the newest attempt on its reference, if there is one.
    RequestC2p(Box<c2p::NewIntent>),
    /// The payer's code has come.
    ExecuteC2p(Box<c2p::Execute>),
    /// Give a payment back.
    Reverse,
    /// A new payout; the entity is the one on its reference, if there is one.
    Pay(Box<NewPayout>),
    /// A merchant, new or on a known reference.
    Register(Box<Registration>),
    /// One more payout method.
    AddMethod(BankCode, MobilePhone),
    /// The method that is used when none is named.
    SetDefaultMethod(Id),
    /// A method is taken away.
    DeleteMethod(Id),
    /// Send the micro-deposits.
    StartVerification {
        /// To which method.
        method: Id,
        /// Their amounts.
        amounts: (Ves, Ves),
    },
    /// The amounts that the seller saw.
    Verify {
        /// Of which method.
        method: Id,
        /// The amounts.
        seen: (Ves, Ves),
    },
    /// Takes part or does not.
    SetActive(bool),
    /// A merchant goes.
    DeleteMerchant,
    /// Test money or a correction.
    Adjust(Box<Adjustment>),
    /// The bank said something.
    RailReply(RailReply),
    /// The bank found a transfer, whose name nobody else may take until this is decided.
    Found(RailReply, Box<dyn Any + Send>),
    /// What an operator says in a bank's place.
    Resolve(Box<Resolution>),
    /// A deadline has come.
    Deadline,
    /// The test clock has moved, to the instant of the turn.
    MoveClock,
    /// A new version of the tenant's tenant_settings.
    TenantSettings(TenantSettings),
    /// Of the platform's book.
    Platform(Box<PlatformAsk>),
    /// A payment without an intent: by card, debit or transfer; the entity is the one on its
    /// reference, if there is one.
    Charge(Box<charge::NewCharge>),
    /// A batch of payouts, new or on a known reference.
    PayBatch(Box<NewBatch>),
    /// What a batch was answered in the end, for the key under which it was asked.
    Answered {
        /// Which use of which key.
        kept: Arc<KeepRef>,
        /// The status.
        status: u16,
        /// The body, byte by byte.
        body: Vec<u8>,
    },
    /// A bank takes a card payment back.
    OpenChargeback(Box<chargebacks::NewChargeback>),
    /// The dispute about this chargeback of the payment is decided.
    CloseChargeback(Id, chargebacks::Verdict),
    /// The payer's bank is to send a code.
    RequestOtp(Box<otp::NewOtp>),
    /// Where the tenant itself is paid.
    SetOwnAccount(own_account::Held),
    /// Send micro-deposits of these amounts to the tenant's own account.
    StartOwnVerification((Ves, Ves)),
    /// The amounts that the tenant saw.
    VerifyOwn((Ves, Ves)),
    /// A new product.
    CreateProduct(Box<NewProduct>),
    /// A product changes.
    ChangeProduct(Box<ProductChange>),
    /// A product goes, with its links.
    DeleteProduct,
    /// One more payment link of a product.
    AddLink(Box<NewLink>),
    /// A payment link of the product changes.
    ChangeLink(Id, Box<LinkChange>),
    /// A payment link of the product goes.
    DeleteLink(Id),
    /// A hosted checkout.
    OpenSession(Box<NewSession>),
    /// An intent for a hosted checkout is given up for another way to pay.
    CancelIntent,
    /// A price for a conversion.
    Quote(Box<conversions::NewQuote>),
    /// Accept the quote, under this reference.
    Accept(Option<String>),
    /// The end of a conversion that waits.
    EndConversion(conversions::Decision),
    /// What the market asks for a USDT, if anybody knows.
    Market(Option<Rate>),
    /// A new USDT payout; the entity is the one on its reference, if there is one.
    PayCrypto(Box<crypto::payouts::NewCryptoPayout>),
    /// An operator has looked at a USDT payout.
    ReviewCrypto(crypto::payouts::Verdict),
    /// A deposit address; the entity is that of the same customer, network and asset, if there is
    /// one.
    OpenDepositAddress(Box<crypto::deposits::NewDepositAddress>),
    /// Something came to the deposit address.
    Deposit(Box<crypto::deposits::Incoming>),
    /// A payment in pesos.
    CollectCop(Box<cop_payments::collect::NewCopPayment>),
    /// The buyer's SMS code; `None` is text that cannot be one.
    SubmitCopCode(Option<Token>),
    /// A payment in pesos is called off.
    CancelCop,
    /// Give a payment in pesos back.
    RefundCop,
    /// The buyer of test mode pays, or declines.
    PlayCopBuyer {
        /// Which of both.
        pays: bool,
    },
    /// The operator pays pesos out; the entity is the payout on its reference, if there is one.
    PayCop(Box<cop_payouts::NewCopPayout>),
    /// The operator says what became of a payout in pesos.
    SettleCopPayout(cop_payouts::Verdict),
    /// A new webhook endpoint.
    RegisterWebhook(Box<NewWebhook>),
    /// A change of one.
    ChangeWebhook(Box<WebhookChange>),
    /// Its next secret.
    RotateSecret,
    /// It goes.
    DeleteWebhook,
    /// How far its deliveries are.
    WebhookProgress(Box<Progress>),
    /// Deliver this event again.
    Resend(EventRef),
    /// What a request to deliver again was answered: status and body.
    KeepResent(u16, Vec<u8>),
}

impl Ask {
    /// Whether it may be refused: an answer from outside and a deadline are of something that has
    /// happened.
    pub const fn is_refusable(&self) -> bool {
        !matches!(self, Ask::RailReply(_) | Ask::Found(..) | Ask::Resolve(_) | Ask::Market(_) | Ask::Deadline)
    }
}

/// What is asked, and for which Idempotency-Key the answer is to be kept.
pub struct Command {
    /// What.
    pub ask: Ask,
    /// The key; its `first_seen` is filled in by the decision.
    pub keep: Option<KeepRef>,
}

impl From<Ask> for Command {
    fn from(ask: Ask) -> Command {
        Command { ask, keep: None }
    }
}
