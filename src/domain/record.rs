//! Records: everything that one command writes.

use crate::codec::stored;
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

stored! {
    /// The cause of a record, for people who read the log. New causes are added at the end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Cause {
        /// A C2P intent.
        0 PaymentRequested,
        1 PaymentCharging,
        2 PaymentCompleted,
        3 PaymentFailed,
        4 PaymentCanceled,
        5 ReversalBegun,
        6 ReversalRefused,
        7 PaymentReversed,
        /// A bank was asked about an operation and does not know its outcome yet.
        8 BankAsked,
        9 PayoutCreated,
        10 PayoutCompleted,
        11 PayoutFailed,
        12 MerchantCreated,
        13 MerchantChanged,
        /// A merchant is gone.
        14 MerchantDeleted,
        15 Funded,
        16 Adjusted,
        17 ClockMoved,
        /// The settings or the live status of the tenant changed.
        18 TenantSettingsChanged,
        19 PlatformChanged,
        20 RefusalKept,
        21 BatchCreated,
        22 BatchAnswered,
        23 ChargebackOpened,
        24 ChargebackClosed,
        /// A bank is about to be told to send a code.
        25 OtpRequested,
        26 OtpSettled,
        27 SellerReleased,
        /// The tenant's own payout account was set, proved or taken away.
        28 OwnAccountChanged,
        29 ProductCreated,
        30 ProductChanged,
        /// A product is gone, with its links.
        31 ProductDeleted,
        32 LinkCreated,
        /// A payment link is gone.
        33 LinkDeleted,
        34 SessionOpened,
        35 ConversionQuoted,
        /// A conversion was debited, and its USDT credited unless it waits.
        36 ConversionAccepted,
        37 ConversionCompleted,
        /// A conversion was canceled, and the money is back.
        38 ConversionCanceled,
        /// A conversion that the gateway makes by itself asks for a rate.
        39 ConversionTried,
        /// An automatic conversion came to nothing: the pesos stay pesos.
        40 ConversionDropped,
        41 CryptoPayoutCreated,
        42 CryptoPayoutApproved,
        43 CryptoPayoutCompleted,
        /// The network or an operator refused a USDT payout, and the money is back.
        44 CryptoPayoutFailed,
        45 DepositAddressMade,
        46 CryptoDeposited,
        /// A payment in pesos is about to be collected.
        47 CopPaymentRequested,
        /// The processor is about to be instructed about a payment in pesos, or the code was wrong.
        48 CopPaymentInstructed,
        49 CopPaymentCompleted,
        50 CopPaymentFailed,
        51 CopPaymentCanceled,
        52 CopRefundBegun,
        /// The processor did not make a refund.
        53 CopRefundRefused,
        54 CopPaymentRefunded,
        55 CopPayoutCreated,
        56 CopPayoutCompleted,
        /// A payout in pesos failed, and the pesos are back.
        57 CopPayoutFailed,
        58 WebhookCreated,
        /// A webhook endpoint changed, or got its next secret.
        59 WebhookChanged,
        /// A webhook endpoint is gone.
        60 WebhookDeleted,
        61 WebhookProgress,
        62 EventResent,
        /// An operator did something that no record of another cause says.
        63 OperatorActed,
        /// A bank contradicted what it had said of an operation; no money moves by this record.
        64 OperationContradicted,
        65 NoticeReceived,
        66 NoticeClaimed,
        /// An order that waited for its turn is being sent.
        67 OrderBegun,
        /// A charge found no connection: it was not sent.
        68 PaymentUnsent,
        /// A collection of pesos found no connection: nothing is left of it.
        69 CopPaymentUnsent,
        /// A bank reported unasked that money came.
        /// A transaction of a USDT payout was signed, and is about to be broadcast.
        70 CryptoPayoutSigned,
        71 ApprovalAsked,
        72 ApprovalDecided,
        /// An answer that changed nothing is kept for its Idempotency-Key.
        73 AnswerKept,
        /// A line of a bank's statement showed one of two micro-deposits.
        74 DepositBooked,
        /// Two micro-deposits are about to be sent, at the platform's cost.
        75 VerificationStarted,
        /// Micro-deposits found no connection: nothing of them was sent.
        76 VerificationUnsent,
        /// An operator said to whom a transfer belongs whose reference was guessed at.
        77 NoticeGiven,
        /// Tries of deliveries are due, or an older secret of an endpoint ended.
        78 WebhookDue,
        79 TestReset,
    }
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

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Entity {
        0 Payment(Payment),
        1 Payout(Payout),
        2 Merchant(Merchant),
        3 Batch(Batch),
        4 Chargeback(Chargeback),
        5 Otp(Otp),
        /// The tenant's own payout account.
        6 OwnAccount(OwnAccount),
        7 Product(Product),
        8 Session(Session),
        9 Conversion(Conversion),
        10 CryptoPayout(CryptoPayout),
        /// The addresses at which a customer pays in stablecoins.
        11 DepositAddress(DepositAddress),
        12 CopPayment(CopPayment),
        13 CopPayout(CopPayout),
        14 Webhook(Webhook),
        /// A notice of a bank about money that came.
        15 Notice(Notice),
        /// A call of an operator that waits for a second person.
        16 Approval(Approval),
    }

    /// The state of an entity that the index and the agenda know: its facet and its deadline.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct IndexedState {
        0 pub facet: u8,
        1 pub deadline: Option<Timestamp>,
    }

    /// A new state of an entity.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Written {
        0 pub state: Arc<Entity>,
        /// The indexed state before; `None` for a new entity.
        1 pub indexed: Option<IndexedState>,
    }

    /// A record: the changes of one command, applied together or not at all.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Record {
        0 pub cause: Cause,
        /// The random bits from which the ids of its rows and events are derived.
        1 pub seed: u64,
        /// The double entry; postings sum to zero per currency.
        2 pub postings: Vec<Posting>,
        3 pub holds: Vec<HoldChange>,
        /// New states; the first is of the entity that the command was for.
        4 pub entities: Vec<Written>,
        /// Entities that are gone.
        5 pub removed: Vec<(EntityId, IndexedState)>,
        /// Names that are free again, of the space that the cause names ([`Cause::freed_space`]).
        6 pub freed: Vec<String>,
        7 pub first_event: u64,
        8 pub events: Vec<Event>,
        /// A new version of what the book knows of its tenant.
        9 pub tenant_settings: Option<TenantSettings>,
        /// The milliseconds by which the test clock moved.
        10 pub clock_advance_ms: i64,
        11 pub platform: Option<Box<PlatformChange>>,
        12 pub kept: Option<Kept>,
        /// The days that are over on the accounts that it moves money on; `None` in a record of a version
        /// before 4, whose movements are in no day.
        13 pub closed: Option<Vec<ClosedDay>>,
        /// The entry of the audit, of what an operator asked for.
        14 pub audit: Option<Box<AuditEntry>>,
        /// What the freed names lead to again: the attempt before one that is gone.
        15 pub freed_to: Option<Id>,
    }
}

impl Record {
    /// A record without content.
    pub fn new(cause: Cause) -> Record {
        Record {
            cause,
            seed: 0,
            postings: Vec::new(),
            holds: Vec::new(),
            entities: Vec::new(),
            removed: Vec::new(),
            freed: Vec::new(),
            freed_to: None,
            first_event: 0,
            events: Vec::new(),
            tenant_settings: None,
            clock_advance_ms: 0,
            platform: None,
            kept: None,
            closed: Some(Vec::new()),
            audit: None,
        }
    }

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
