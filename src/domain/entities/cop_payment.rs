//! Payments in pesos.

use crate::codec::stored;
use crate::entities::payment::Status;
use crate::entities::resource::{Change, Resource};
use crate::entities::sale::{Aside, Sale};
use crate::index::{Entries, Space, Trait};
use crate::kept::KeepRef;
use crate::ledger::spending::Drawn;
use crate::platform::audit::AuditEntry;
use crate::trace::{OrderState, Said, shown};
use crate::values::colombia::{Buyer, Channel, DocumentNumber};
use crate::values::ids::Id;
use crate::values::money::{Cop, Rate, Usd};
use crate::values::time::Timestamp;
use crate::values::token::StepToken;
use sha2::{Digest, Sha256};
use std::sync::Arc;

stored! {
    /// An instruction about a collection that is under way, and not known to be carried out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Telling {
        0 Cancel,
        /// The buyer's SMS code; it is in no record.
        1 Code,
        /// The buyer pays: test mode plays the buyer.
        2 Pays,
        /// The buyer declines: test mode plays the buyer.
        3 Declines,
        /// The payment is canceled because too many codes were wrong.
        4 Void,
        /// The buyer is to be sent a code: a live processor waits to be told.
        5 SendCode,
    }
}

impl Telling {
    /// Whether the instruction is sent again until the processor has carried it out. A code is
    /// gone, and a buyer who was played can be played again.
    pub const fn goes_on(self) -> bool {
        matches!(self, Telling::Cancel | Telling::Void)
    }
}

stored! {
    /// A collection that waits for the buyer.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Waiting {
        0 pub telling: Option<Telling>,
        /// The number of codes that were sent to a simulated processor, one under way included.
        1 pub codes: u8,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Phase {
        0 Idle,
        1 Collecting(Waiting),
        /// The processor is asked to refund; the money is set aside.
        2 Refunding { 0 aside: Aside },
    }
}

impl Phase {
    pub const fn waiting(&self) -> Option<Waiting> {
        if let Phase::Collecting(waiting) = self { Some(*waiting) } else { None }
    }

    pub const fn is_deciding(&self) -> bool {
        !matches!(self, Phase::Idle)
    }
}

pub type Marketplace = crate::entities::sale::Marketplace<Cop>;

stored! {
    /// The part of a checkout session that a payment in pesos stores: how its price in dollars became
    /// pesos.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ForSession {
        0 pub sale: Sale,
        1 pub usd: Usd,
        2 pub rate: Rate,
        3 pub market_rate: Rate,
        /// The operator's share of a sale through a payment link; set on completion.
        4 pub platform_fee: Option<Cop>,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CopPayment {
        0 pub id: Id,
        /// The status; a refunded payment is [`Status::Reversed`].
        1 pub status: Status,
        2 pub phase: Phase,
        3 pub channel: Channel,
        4 pub amount: Cop,
        5 pub fee: Option<Cop>,
        /// The tenant's reference, which need not be unique.
        6 pub reference: Option<String>,
        7 pub metadata: Option<String>,
        8 pub buyer: Option<Box<Buyer>>,
        9 pub marketplace: Option<Box<Marketplace>>,
        /// The processor's reference of the payment. On one that failed it contradicts the failure.
        10 pub processor_reference: Option<String>,
        /// The reason of a failure. On a completed payment it contradicts the completion, or the
        /// refund.
        11 pub failure: Option<Failure>,
        /// The number of refunds that were tried: each is an operation of its own.
        12 pub refunds: u16,
        /// The processor's reference of the newest refund. On a payment that is not refunded it
        /// contradicts the refusal.
        13 pub refund_reference: Option<String>,
        /// The kept answer that the outcome replaces.
        14 pub kept: Option<Arc<KeepRef>>,
        /// Whether real money moves; a test payment moves none.
        15 pub livemode: bool,
        16 pub created_at: Timestamp,
        17 pub expires_at: Timestamp,
        18 pub completed_at: Option<Timestamp>,
        19 pub available_at: Option<Timestamp>,
        20 pub refunded_at: Option<Timestamp>,
        21 pub checkout: Option<Box<ForSession>>,
        /// Refunds before the newest that the processor made after it had refused them, in the order in
        /// which it said so.
        22 pub earlier_refunds: Vec<EarlierRefund>,
        23 pub order: OrderState,
        /// The address or the picture of the QR code that the processor shows the buyer.
        24 pub qr_image: Option<Box<str>>,
        /// The state of a collection at a live processor.
        25 pub live: Option<Live>,
        /// The code that an operator gave for the failure, where it is none of ours.
        26 pub own_code: Option<Box<str>>,
        /// The entry of the audit for the operator who cancels it, while the processor has not agreed.
        27 pub canceler: Option<Box<AuditEntry>>,
        /// The token that the next step about a buyer's code takes; none where the processor's own is good.
        28 pub code_token: Option<StepToken>,
        /// What its newest refund was drawn from.
        29 pub drawn: Drawn = since 8 else Drawn::NONE,
    }
}

/// The largest number of codes that may be tried for a payment: so few of a million six-digit ones
/// cannot be guessed.
pub const CODES_MAX: u8 = 5;

pub const COLLECT: u16 = 1;
/// The number of the operation of instructions; the same for all, as the processor takes them
/// however often they come.
pub const TELL: u16 = 2;
/// The operation that refunds for the first time is the one after it; a further try is the next one.
pub(crate) const REFUND: u16 = 16;
/// The number of refunds that have an operation of their own.
pub(crate) const REFUNDS_MAX: u16 = u16::MAX - REFUND;

impl CopPayment {
    /// The part of the tenant and the seller together; set on completion.
    pub fn net(&self) -> Option<Cop> {
        self.fee.and_then(|fee| self.amount.minus(fee))
    }

    pub fn platform_fee(&self) -> Cop {
        self.checkout.as_ref().and_then(|checkout| checkout.platform_fee).unwrap_or_default()
    }

    pub fn operation(&self) -> Option<Id> {
        self.phase.is_deciding().then(|| self.id.operation(self.order.operation))
    }

    pub fn refund_operation(&self) -> Id {
        self.id.operation(REFUND.saturating_add(self.refunds))
    }

    /// The number of the operation about which the processor contradicted itself, if any.
    pub fn contradicted(&self) -> Option<u16> {
        let newest_refund = REFUND.saturating_add(self.refunds);
        match (self.status, &self.phase) {
            (Status::Pending, _) => None,
            (Status::Failed | Status::Canceled, _) => self.processor_reference.is_some().then_some(COLLECT),
            (Status::Completed, Phase::Idle) if self.refund_reference.is_some() => Some(newest_refund),
            (Status::Reversed, _) if self.failure == Some(Failure::RefundRefused) => Some(newest_refund),
            (Status::Completed | Status::Reversed, _) => match self.earlier_refunds.last() {
                Some(earlier) => Some(earlier.operation),
                None => self.failure.map(|_| COLLECT),
            },
        }
    }

    /// The processor's reference of its `n`-th operation, a refund.
    pub fn reference_of_refund(&self, n: u16) -> Option<&str> {
        match self.earlier_refunds.iter().find(|earlier| earlier.operation == n) {
            Some(earlier) => Some(&earlier.reference),
            // A refund on its way has none yet.
            None if matches!(self.phase, Phase::Refunding { .. }) => None,
            None => self.refund_reference.as_deref().filter(|_| self.is_refund(n)),
        }
    }

    /// Whether the processor knows its collection by this id.
    pub fn is_transaction(&self, id: &str) -> bool {
        let named = self.order.of(COLLECT).and_then(|trace| trace.id.as_ref());
        named.is_some_and(|known| known.as_str() == id) || self.processor_reference.as_deref() == Some(id)
    }

    pub fn failure_code(&self) -> Option<&str> {
        self.failure.map(|failure| self.own_code.as_deref().unwrap_or(failure.name()))
    }

    /// With what the processor said besides its answer, about its `n`-th operation.
    pub(crate) fn noting(&self, n: u16, said: &Said) -> CopPayment {
        let qr_image = said.qr_image.clone().or_else(|| self.qr_image.clone());
        let code_token = said.token.clone().or_else(|| self.code_token.clone());
        let order = self.order.noting(n, said);
        CopPayment { order, qr_image, code_token, ..self.clone() }
    }

    /// Whether the payment's `n`-th operation is the newest refund that was tried.
    pub fn is_refund(&self, n: u16) -> bool {
        self.refunds > 0 && n == REFUND.saturating_add(self.refunds)
    }

    /// Whether its `n`-th operation is a refund before the newest.
    pub fn is_earlier_refund(&self, n: u16) -> bool {
        n > REFUND && n < REFUND.saturating_add(self.refunds)
    }

    /// The instants at which it moved money: where its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        self.completed_at.into_iter().chain(self.refunded_at).collect()
    }

    /// The key to which the buyer transfers: `@` and 19 letters and digits, like dynamic Bre-B
    /// keys. It follows from the payment's id alone.
    pub fn transfer_key(&self) -> String {
        const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        let hash = Sha256::digest([b"transfer key".as_slice(), self.id.as_bytes()].concat());
        let random = hash.iter().take(16).map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
        "@PSR".chars().chain(random).collect()
    }
}

impl Resource for CopPayment {
    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.order.next_look
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            if let Some(checkout) = &self.checkout {
                entries.name(Space::CheckoutCop, &checkout.sale.session.to_string());
            }
            if self.livemode {
                entries.id_among_all(Space::CopPayment);
            }
            let of_session = self.checkout.as_ref().and_then(|checkout| checkout.sale.reference.as_deref());
            entries.found_by(Trait::Reference, self.reference.as_deref().or(of_session));
            let buyer = self.buyer.as_deref();
            let phone = buyer.and_then(|buyer| buyer.phone).map(|phone| phone.clear().to_string());
            entries.found_by(Trait::Phone, phone.as_deref());
            let document = buyer.and_then(|buyer| buyer.document_number.as_ref());
            entries.found_by(Trait::Document, document.map(DocumentNumber::clear));
        }
        if change.is_moved {
            entries.found_by(Trait::BankReference, shown(&self.processor_reference));
            entries.found_by(Trait::BankReference, shown(&self.refund_reference));
        }
    }
}

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Failure {
        /// The buyer did not pay in time.
        0 Expired "expired",
        1 Rejected "rejected",
        /// The buyer, or somebody in the buyer's place, tried too many SMS codes.
        2 OtpAttemptsExhausted "otp_attempts_exhausted",
        /// The processor says that it refused to refund, after it had said that it did.
        3 RefundRefused "refund_refused",
        /// The processor failed, or could not carry the order.
        4 ProcessorError "processor_error",
    }
}

impl Failure {
    /// The reason that a processor's code stands for.
    pub fn of_code(code: &str) -> Failure {
        match code {
            EXPIRED => Failure::Expired,
            PROCESSOR_ERROR | UNFIT => Failure::ProcessorError,
            _ => Failure::Rejected,
        }
    }

    /// The code itself where it has no name here: only operators give such.
    pub fn own_code(code: &str) -> Option<Box<str>> {
        let is_own = Failure::of_code(code) == Failure::Rejected && code != Failure::Rejected.name();
        is_own.then(|| Box::from(code))
    }
}

/// The processor's code for a collection that was not paid in time.
pub const EXPIRED: &str = "expired";

/// The code of a collection at which the processor failed.
pub const PROCESSOR_ERROR: &str = "processor_error";
/// The code of an order that no rail can carry.
pub const UNFIT: &str = "order_unfit";

stored! {
    /// The state of a collection at a live processor, beside the trace that every order has.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Live {
        /// Whether the buyer was sent a code, or may have been.
        0 pub code_sent: bool,
        /// The number of codes that the processor was told.
        1 pub codes: u8,
        /// Whether it says that something else was paid than what was asked for.
        2 pub misfit: bool,
        /// The number of times that the processor was asked how it stands, by the agenda, for an event
        /// or for a cancel.
        3 pub asks: u32,
    }

    /// A refund that the processor refused, and after which another was begun; and then the processor said
    /// that it was made.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct EarlierRefund {
        0 pub operation: u16,
        1 pub reference: String,
    }
}
