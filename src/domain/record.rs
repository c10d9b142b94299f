//! Records: everything that one command writes.

use crate::events::Event;
use crate::index::Space;
use crate::kept::Kept;
use crate::ledger::days::ClosedDay;
use crate::ledger::{HoldChange, Posting};
use crate::platform::PlatformChange;
use crate::platform::audit::AuditEntry;
use crate::platform::settings::TenantSettings;
use crate::resources::approvals::Approval;
use crate::resources::chargebacks::Chargeback;
use crate::resources::checkout::Session;
use crate::resources::conversions::Conversion;
use crate::resources::cop_payments::CopPayment;
use crate::resources::cop_payouts::CopPayout;
use crate::resources::crypto::deposits::DepositAddress;
use crate::resources::crypto::payouts::CryptoPayout;
use crate::resources::merchants::Merchant;
use crate::resources::notices::Notice;
use crate::resources::own_account::OwnAccount;
use crate::resources::payments::Payment;
use crate::resources::payments::otp::Otp;
use crate::resources::payouts::Payout;
use crate::resources::payouts::batch::Batch;
use crate::resources::products::Product;
use crate::resources::webhooks::Webhook;
use crate::values::ids::{EntityId, Id};
use crate::values::time::Timestamp;
use std::sync::Arc;

/// The cause of a record, for people who read the log. New causes are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A C2P intent.
    PaymentRequested,
    PaymentCharging,
    PaymentCompleted,
    PaymentFailed,
    PaymentCanceled,
    ReversalBegun,
    ReversalRefused,
    PaymentReversed,
    /// A bank was asked about an operation and does not know its outcome yet.
    BankAsked,
    PayoutCreated,
    PayoutCompleted,
    PayoutFailed,
    MerchantCreated,
    MerchantChanged,
    /// A merchant is gone.
    MerchantDeleted,
    Funded,
    Adjusted,
    ClockMoved,
    /// The settings or the live status of the tenant changed.
    TenantSettingsChanged,
    PlatformChanged,
    RefusalKept,
    /// An answer that changed nothing is kept for its Idempotency-Key.
    AnswerKept,
    BatchCreated,
    BatchAnswered,
    ChargebackOpened,
    ChargebackClosed,
    /// A bank is about to be told to send a code.
    OtpRequested,
    OtpSettled,
    SellerReleased,
    /// The tenant's own payout account was set, proved or taken away.
    OwnAccountChanged,
    ProductCreated,
    ProductChanged,
    /// A product is gone, with its links.
    ProductDeleted,
    LinkCreated,
    /// A payment link is gone.
    LinkDeleted,
    SessionOpened,
    ConversionQuoted,
    /// A conversion was debited, and its USDT credited unless it waits.
    ConversionAccepted,
    ConversionCompleted,
    /// A conversion was canceled, and the money is back.
    ConversionCanceled,
    /// A conversion that the gateway makes by itself asks for a rate.
    ConversionTried,
    /// An automatic conversion came to nothing: the pesos stay pesos.
    ConversionDropped,
    CryptoPayoutCreated,
    CryptoPayoutApproved,
    CryptoPayoutCompleted,
    /// The network or an operator refused a USDT payout, and the money is back.
    CryptoPayoutFailed,
    DepositAddressMade,
    CryptoDeposited,
    /// A payment in pesos is about to be collected.
    CopPaymentRequested,
    /// The processor is about to be instructed about a payment in pesos, or the code was wrong.
    CopPaymentInstructed,
    CopPaymentCompleted,
    CopPaymentFailed,
    CopPaymentCanceled,
    CopRefundBegun,
    /// The processor did not make a refund.
    CopRefundRefused,
    CopPaymentRefunded,
    CopPayoutCreated,
    CopPayoutCompleted,
    /// A payout in pesos failed, and the pesos are back.
    CopPayoutFailed,
    WebhookCreated,
    /// A webhook endpoint changed, or got its next secret.
    WebhookChanged,
    /// A webhook endpoint is gone.
    WebhookDeleted,
    WebhookProgress,
    EventResent,
    /// An operator did something that no record of another cause says.
    OperatorActed,
    /// A bank contradicted what it had said of an operation; no money moves by this record.
    OperationContradicted,
    /// A bank reported unasked that money came.
    /// A transaction of a USDT payout was signed, and is about to be broadcast.
    CryptoPayoutSigned,
    NoticeReceived,
    NoticeClaimed,
    /// An order that waited for its turn is being sent.
    OrderBegun,
    /// A charge found no connection: it was not sent.
    PaymentUnsent,
    /// A collection of pesos found no connection: nothing is left of it.
    CopPaymentUnsent,
    ApprovalAsked,
    ApprovalDecided,
    /// A line of a bank's statement showed one of two micro-deposits.
    DepositBooked,
    /// Two micro-deposits are about to be sent, at the platform's cost.
    VerificationStarted,
    /// Micro-deposits found no connection: nothing of them was sent.
    VerificationUnsent,
    /// An operator said to whom a transfer belongs whose reference was guessed at.
    NoticeGiven,
    /// Tries of deliveries are due, or an older secret of an endpoint ended.
    WebhookDue,
    TestReset,
}

/// The properties of every record that has a cause.
struct Properties {
    name: &'static str,
    debits: bool,
    frees: Option<Space>,
}

/// Properties of records that neither debit a balance at a caller's request nor free names.
const fn plain(name: &'static str) -> Properties {
    Properties { name, debits: false, frees: None }
}

/// Properties of records that take money at a caller's request.
const fn debit(name: &'static str) -> Properties {
    Properties { name, debits: true, frees: None }
}

/// Properties of records that free names of this space.
const fn freeing(name: &'static str, space: Space) -> Properties {
    Properties { name, debits: false, frees: Some(space) }
}

impl Cause {
    /// The name of the cause as `pasarela wal inspect` prints it.
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// Whether records of this cause take money at a caller's request, for which the balance must
    /// suffice. Banks' and operators' debits may leave a balance below zero.
    pub const fn debits(self) -> bool {
        self.properties().debits
    }

    /// The space of the names that records of this cause free; `None` if they free none.
    pub const fn freed_space(self) -> Option<Space> {
        self.properties().frees
    }

    const fn properties(self) -> Properties {
        match self {
            Cause::PaymentRequested => plain("payment.requested"),
            Cause::PaymentCharging => plain("payment.charging"),
            Cause::PaymentCompleted => plain("payment.completed"),
            Cause::PaymentFailed => plain("payment.failed"),
            Cause::PaymentCanceled => plain("payment.canceled"),
            Cause::ReversalBegun => plain("payment.reversal_begun"),
            Cause::ReversalRefused => plain("payment.reversal_refused"),
            Cause::PaymentReversed => plain("payment.reversed"),
            Cause::BankAsked => plain("bank.asked"),
            Cause::PayoutCreated => debit("payout.created"),
            Cause::PayoutCompleted => plain("payout.completed"),
            Cause::PayoutFailed => plain("payout.failed"),
            Cause::MerchantCreated => plain("merchant.created"),
            Cause::MerchantChanged => plain("merchant.changed"),
            Cause::MerchantDeleted => freeing("merchant.deleted", Space::Merchant),
            Cause::Funded => plain("balance.funded"),
            Cause::Adjusted => plain("balance.adjusted"),
            Cause::ClockMoved => plain("clock.moved"),
            Cause::TenantSettingsChanged => plain("tenant.settings_changed"),
            Cause::PlatformChanged => plain("platform.changed"),
            Cause::RefusalKept => plain("refusal.kept"),
            Cause::AnswerKept => plain("answer.kept"),
            Cause::BatchCreated => debit("batch.created"),
            Cause::BatchAnswered => plain("batch.answered"),
            Cause::ChargebackOpened => plain("chargeback.opened"),
            Cause::ChargebackClosed => plain("chargeback.closed"),
            Cause::OtpRequested => plain("otp.requested"),
            Cause::OtpSettled => plain("otp.settled"),
            Cause::SellerReleased => plain("merchant.released"),
            Cause::OwnAccountChanged => plain("own_account.changed"),
            Cause::ProductCreated => plain("product.created"),
            Cause::ProductChanged => plain("product.changed"),
            Cause::ProductDeleted => freeing("product.deleted", Space::Slug),
            Cause::LinkCreated => plain("payment_link.created"),
            Cause::LinkDeleted => freeing("payment_link.deleted", Space::Slug),
            Cause::SessionOpened => plain("checkout.opened"),
            Cause::ConversionQuoted => plain("conversion.quoted"),
            Cause::ConversionAccepted => debit("conversion.accepted"),
            Cause::ConversionCompleted => plain("conversion.completed"),
            Cause::ConversionCanceled => plain("conversion.canceled"),
            Cause::ConversionTried => plain("conversion.tried"),
            Cause::ConversionDropped => plain("conversion.dropped"),
            Cause::CryptoPayoutCreated => debit("crypto_payout.created"),
            Cause::CryptoPayoutApproved => plain("crypto_payout.approved"),
            Cause::CryptoPayoutCompleted => plain("crypto_payout.completed"),
            Cause::CryptoPayoutFailed => plain("crypto_payout.failed"),
            Cause::DepositAddressMade => plain("deposit_address.made"),
            Cause::CryptoDeposited => plain("crypto_deposit.completed"),
            Cause::CopPaymentRequested => plain("cop_payment.requested"),
            Cause::CopPaymentInstructed => plain("cop_payment.instructed"),
            Cause::CopPaymentCompleted => plain("cop_payment.completed"),
            Cause::CopPaymentFailed => plain("cop_payment.failed"),
            Cause::CopPaymentCanceled => plain("cop_payment.canceled"),
            Cause::CopRefundBegun => plain("cop_payment.refund_begun"),
            Cause::CopRefundRefused => plain("cop_payment.refund_refused"),
            Cause::CopPaymentRefunded => plain("cop_payment.refunded"),
            Cause::CopPayoutCreated => debit("cop_payout.created"),
            Cause::CopPayoutCompleted => plain("cop_payout.completed"),
            Cause::CopPayoutFailed => plain("cop_payout.failed"),
            Cause::WebhookCreated => plain("webhook.created"),
            Cause::WebhookChanged => plain("webhook.changed"),
            Cause::WebhookDeleted => plain("webhook.deleted"),
            Cause::WebhookProgress => plain("webhook.progress"),
            Cause::WebhookDue => plain("webhook.due"),
            Cause::EventResent => plain("event.resent"),
            Cause::TestReset => plain("test.reset"),
            Cause::OperatorActed => plain("operator.acted"),
            Cause::OperationContradicted => plain("operation.contradicted"),
            Cause::CryptoPayoutSigned => plain("crypto_payout.signed"),
            Cause::NoticeReceived => plain("notice.received"),
            Cause::NoticeClaimed => plain("notice.claimed"),
            Cause::OrderBegun => plain("order.begun"),
            Cause::PaymentUnsent => freeing("payment.unsent", Space::Payment),
            Cause::CopPaymentUnsent => freeing("cop_payment.unsent", Space::CheckoutCop),
            Cause::ApprovalAsked => plain("approval.asked"),
            Cause::ApprovalDecided => plain("approval.decided"),
            Cause::DepositBooked => plain("deposit.booked"),
            Cause::VerificationStarted => plain("verification.started"),
            Cause::NoticeGiven => plain("notice.given"),
            Cause::VerificationUnsent => freeing("verification.unsent", Space::DepositStart),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entity {
    Payment(Payment),
    Payout(Payout),
    Merchant(Merchant),
    Batch(Batch),
    Chargeback(Chargeback),
    Otp(Otp),
    /// The tenant's own payout account.
    OwnAccount(OwnAccount),
    Product(Product),
    Session(Session),
    Conversion(Conversion),
    CryptoPayout(CryptoPayout),
    /// The addresses at which a customer pays in stablecoins.
    DepositAddress(DepositAddress),
    CopPayment(CopPayment),
    CopPayout(CopPayout),
    Webhook(Webhook),
    /// A notice of a bank about money that came.
    Notice(Notice),
    /// A call of an operator that waits for a second person.
    Approval(Approval),
}

/// The state of an entity that the index and the agenda know: its facet and its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedState {
    pub facet: u8,
    pub deadline: Option<Timestamp>,
}

/// A new state of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub state: Arc<Entity>,
    /// The indexed state before; `None` for a new entity.
    pub indexed: Option<IndexedState>,
}

/// A record: the changes of one command, applied together or not at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub cause: Cause,
    /// The random bits from which the ids of its rows and events are derived.
    pub seed: u64,
    /// The double entry; postings sum to zero per currency.
    pub postings: Vec<Posting>,
    pub holds: Vec<HoldChange>,
    /// New states; the first is of the entity that the command was for.
    pub entities: Vec<Written>,
    /// Entities that are gone.
    pub removed: Vec<(EntityId, IndexedState)>,
    /// Names that are free again, of the space that the cause names ([`Cause::freed_space`]).
    pub freed: Vec<String>,
    /// What the freed names lead to again: the attempt before one that is gone.
    pub freed_to: Option<Id>,
    pub first_event: u64,
    pub events: Vec<Event>,
    /// A new version of what the book knows of its tenant.
    pub tenant_settings: Option<TenantSettings>,
    /// The milliseconds by which the test clock moved.
    pub clock_advance_ms: i64,
    pub platform: Option<Box<PlatformChange>>,
    pub kept: Option<Kept>,
    /// The days that are over on the accounts that it moves money on; `None` in a record of a version
    /// before 4, whose movements are in no day.
    pub closed: Option<Vec<ClosedDay>>,
    /// The entry of the audit, of what an operator asked for.
    pub audit: Option<Box<AuditEntry>>,
}

impl Record {
    /// The id of the record's `n`-th posting as a movement.
    pub fn movement_id(&self, time: Timestamp, n: usize) -> Id {
        Id::derived(time.unix_ms(), self.seed, u16::try_from(n).unwrap_or(u16::MAX))
    }

    /// The number of the record's `n`-th event.
    pub fn event_number(&self, n: usize) -> u64 {
        self.first_event + n as u64
    }

    /// The id of the record's `n`-th event, which carries the event's number and so leads back to
    /// it.
    pub fn event_id(&self, time: Timestamp, n: usize) -> Id {
        Id::numbered(time.unix_ms(), self.seed, self.event_number(n))
    }

    /// Whether it may be one record with others like it: outcomes of payouts that came together. They
    /// move no money and are kept for nobody, so each is its entity's new state and an event.
    pub fn may_join(&self) -> bool {
        let Record {
            cause,
            seed: _,
            postings,
            holds,
            entities,
            removed,
            freed,
            freed_to,
            first_event: _,
            events,
            tenant_settings,
            clock_advance_ms,
            platform,
            kept,
            closed,
            audit,
        } = self;
        *cause == Cause::PayoutCompleted
            && entities.len() == 1
            && events.len() == 1
            && postings.is_empty()
            && holds.is_empty()
            && removed.is_empty()
            && freed.is_empty()
            && freed_to.is_none()
            && closed.as_ref().is_some_and(Vec::is_empty)
            && *clock_advance_ms == 0
            && (tenant_settings, platform, kept, audit) == (&None, &None, &None, &None)
    }

    /// Whether the record does no more than keep the answer to a call that changed nothing.
    pub fn only_keeps(&self) -> bool {
        self.cause == Cause::AnswerKept
    }

    /// Adds the next record, which joins this one: its events have the numbers after those of this
    /// one already.
    pub fn join(&mut self, next: Record) {
        self.entities.extend(next.entities);
        self.events.extend(next.events);
    }

    /// The state that the record gives to an entity.
    pub fn entity(&self, id: EntityId) -> Option<&Arc<Entity>> {
        self.entities.iter().map(|written| &written.state).find(|state| state.id() == id)
    }
}
