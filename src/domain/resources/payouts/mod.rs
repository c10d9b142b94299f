//! Payouts in bolívares of every kind: to merchants, to phones, to accounts. All are debited before
//! the order goes to the bank, and credited again when the bank refuses (`docs/contract.md, 7.8`).
//!
//! Requests, batches and the life of a payout belong here; the life serves payouts in USDT too. The
//! rules of those do not (`crypto`), nor payouts in pesos (`cop_payouts`), nor banks' calls.

use crate::bank_names;
use crate::codec::stored;
use crate::decision::{Draft, Rules, Ruling, Turn};
use crate::entity::{Change, Listing, Resource};
use crate::events::EventKind;
use crate::index::{Entries, Space, Trait};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind};
use crate::rail::{Effect, How, Operation, OperationKind, Order, RailReply, Service, Subject};
use crate::record::{Cause, Entity};
use crate::trace::{Trace, shown};
use crate::values::account::AccountNumber;
use crate::values::bank::BankCode;
use crate::values::external_ref::ExternalRef;
use crate::values::identity::IdentityDocument;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Ves};
use crate::values::phone::MobilePhone;
use crate::values::time::Timestamp;
use lifecycle::{Amount, PayoutEnd, RailPayout, Stage, Tries};
pub use request::{Command, NewPayout, PhoneHolder, Receiver, decide};
use std::sync::Arc;

pub mod batch;
pub mod lifecycle;
mod request;

/// The number of the operation that sends a payout's money.
pub const CREDIT: u16 = 1;

stored! {
    /// The status of a payout. The number is its list facet.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Status {
        /// The payout is debited; its outcome at the bank is open.
        0 Pending,
        1 Completed,
        2 Failed,
    }
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Pending, Status::Completed, Status::Failed];

    pub const fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Completed => "completed",
            Status::Failed => "failed",
        }
    }
}

stored! {
    /// The kind of a payout, by the request for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PayoutKind {
        0 Merchant,
        /// A payout to the tenant's own account.
        1 Instant,
        2 Credit,
        3 Account,
        4 Change,
    }
}

impl PayoutKind {
    pub const ALL: [PayoutKind; 5] = [
        PayoutKind::Merchant,
        PayoutKind::Instant,
        PayoutKind::Credit,
        PayoutKind::Account,
        PayoutKind::Change,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            PayoutKind::Merchant => "merchant",
            PayoutKind::Instant => "instant",
            PayoutKind::Credit => "credit",
            PayoutKind::Account => "account",
            PayoutKind::Change => "change",
        }
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Destination {
        0 Phone {
            0 bank: BankCode,
            1 phone: MobilePhone,
            /// The receiver; some banks check it.
            2 identity: Option<IdentityDocument>,
        },
        1 Account { 0 account: AccountNumber, 1 identity: IdentityDocument, 2 name: String },
    }
}

impl Destination {
    pub const fn bank(&self) -> BankCode {
        match self {
            Destination::Phone { bank, .. } => *bank,
            Destination::Account { account, .. } => account.bank(),
        }
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Payout {
        0 pub id: Id,
        1 pub external_ref: ExternalRef,
        2 pub kind: PayoutKind,
        3 pub status: Status,
        4 pub amount: Ves,
        5 pub fee: Ves,
        6 pub concept: String,
        7 pub merchant: Option<Id>,
        8 pub merchant_name: Option<String>,
        9 pub method: Option<Id>,
        10 pub method_named: bool,
        11 pub payment: Option<Id>,
        12 pub batch: Option<Id>,
        13 pub destination: Destination,
        14 pub from_merchant_balance: bool,
        /// The bank's reference. On a failed payout it contradicts the failure.
        15 pub reference: Option<String>,
        /// The bank's code when it failed. On a completed payout it contradicts the completion.
        16 pub failure_code: Option<String>,
        /// The number of times that it was sent: two at most, the second after the bank said that it
        /// never received it.
        17 pub sends: u32,
        /// The number of times that the bank was asked about it.
        18 pub looks: u32,
        /// The instant of the next question to the bank: about the outcome, or whether it agrees with
        /// an operator who settled the payout.
        19 pub next_look: Option<Timestamp>,
        /// The kept answer that the outcome replaces.
        20 pub kept: Option<Arc<KeepRef>>,
        /// Whether real money moves; a test payout moves none.
        21 pub livemode: bool,
        22 pub created_at: Timestamp,
        /// The instant at which the payout completed or failed.
        23 pub settled_at: Option<Timestamp>,
        /// The trace of its order at the bank.
        24 pub trace: Trace,
    }
}

impl Payout {
    /// The operation that the bank is working on, if any.
    pub fn operation(&self) -> Option<Id> {
        (self.status == Status::Pending).then(|| self.id.operation(CREDIT))
    }

    /// Whether the bank said both that the payout was paid and that it was not.
    pub fn is_contradicted(&self) -> bool {
        self.reference.is_some() && self.failure_code.is_some()
    }

    /// Whether the first order to the bank is still to be sent.
    pub fn is_unsent(&self) -> bool {
        self.status == Status::Pending && self.sends == 1 && self.looks == 0
    }

    /// The instants at which it moved money, by which its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }

    pub fn payer(&self) -> Ledger {
        match self.merchant.filter(|_| self.from_merchant_balance) {
            Some(merchant) => Ledger::Seller(merchant),
            None => Ledger::Tenant,
        }
    }

    /// Posts the amount and the fee; `sign` −1 takes them from the payer, 1 gives them back.
    fn post(&self, draft: &mut Draft, sign: i64, amount_kind: MovementKind, fee_kind: MovementKind) {
        let description = self.concept.as_str();
        let amounts = [
            Amount { minor: self.amount.minor(), against: Ledger::Rail, kind: amount_kind, description },
            Amount { minor: self.fee.minor(), against: Ledger::Fees, kind: fee_kind, description },
        ];
        let about = (EntityId::payout(self.id), &self.external_ref);
        lifecycle::post(draft, about, (self.payer(), Currency::Ves), sign, &amounts);
    }

    /// Its operation with the bank, as operators see it.
    fn as_operation(&self) -> Operation {
        Operation {
            id: self.id.operation(CREDIT),
            kind: OperationKind::Payout,
            service: Service::Payouts,
            subject: Subject::Payout(self.id),
            minor: self.amount.minor(),
            currency: Currency::Ves,
            sent_at: self.trace.sent_at.unwrap_or(self.created_at),
            asked_at: self.trace.asked_at,
            asks: self.trace.asks.unwrap_or(self.looks),
            is_queued: self.status == Status::Pending && self.trace.is_queued(),
            is_operators: self.trace.is_ambiguous(),
            code: self.failure_code.clone(),
            word: self.trace.said(),
            reference: self.reference.clone(),
        }
    }

    pub fn instruction(&self) -> Order {
        let (amount, concept) = (self.amount, self.concept.clone());
        match &self.destination {
            Destination::Phone { bank, phone, identity } => {
                Order::Credit { bank: *bank, phone: *phone, identity: *identity, amount, concept }
            }
            Destination::Account { account, identity, name } => Order::CreditAccount {
                account: *account,
                identity: *identity,
                name: name.clone(),
                amount,
                concept,
            },
        }
    }
}

impl Resource for Payout {
    fn entity_id(&self) -> EntityId {
        EntityId::payout(self.id)
    }

    fn facet(&self) -> u8 {
        self.status as u8
    }

    fn deadline(&self) -> Option<Timestamp> {
        self.next_look
    }

    fn external_ref(&self) -> Option<&str> {
        Some(&self.external_ref)
    }

    fn listing(&self, _facet: u8) -> Listing {
        Listing::ById
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new() {
            entries.name(Space::Payout, &self.external_ref);
        }
        if self.livemode && change.is_of_bank(self.facet()) {
            entries.bank_names(bank_names::of_payout(self));
        }
        if self.status == Status::Completed && change.is_to(self.facet()) {
            entries.maybe_found_by(Trait::BankReference, shown(&self.reference));
        }
    }
}

impl Rules for Payout {
    fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        lifecycle::on_rail_reply(self, reply, turn)
    }

    fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        lifecycle::deadline(self, turn)
    }

    fn on_begin(&self, turn: &Turn<'_>) -> Ruling {
        lifecycle::begin(self, turn)
    }

    /// Payouts of a batch are sent by the batch's record.
    fn wants(&self, _: &Order) -> bool {
        self.is_unsent()
    }

    fn unanswered(&self) -> Vec<Operation> {
        (self.status == Status::Pending).then(|| self.as_operation()).into_iter().collect()
    }

    fn contradiction(&self, _: Timestamp) -> Option<Operation> {
        self.is_contradicted().then(|| self.as_operation())
    }

    fn trace_mut(&mut self, operation: u16) -> Option<&mut Trace> {
        (operation == CREDIT).then_some(&mut self.trace)
    }

    fn ask_on(&mut self, _: u16, turn: &Turn<'_>) {
        self.next_look = Some(turn.first_look());
    }
}

impl lifecycle::Payout for Payout {
    fn into_entity(self) -> Entity {
        Entity::Payout(self)
    }

    fn end(&self, end: &PayoutEnd) -> (Cause, EventKind) {
        match end {
            PayoutEnd::Completed(_) => (Cause::PayoutCompleted, EventKind::PayoutCompleted),
            PayoutEnd::Failed(_) => (Cause::PayoutFailed, EventKind::PayoutFailed),
        }
    }

    fn give_back(&self, draft: &mut Draft) {
        self.post(draft, 1, MovementKind::PayoutReversal, MovementKind::PayoutReversal);
    }

    fn kept(&self) -> Option<Arc<KeepRef>> {
        self.kept.clone()
    }

    fn settled(&self, end: PayoutEnd, now: Timestamp) -> Payout {
        let (status, reference, failure_code) = match end {
            PayoutEnd::Completed(reference) => {
                (Status::Completed, Some(reference), self.failure_code.clone())
            }
            PayoutEnd::Failed(code) => (Status::Failed, self.reference.clone(), Some(code)),
        };
        let (next_look, kept, settled_at) = (None, None, Some(now));
        Payout { status, reference, failure_code, next_look, kept, settled_at, ..self.clone() }
    }
}

impl RailPayout for Payout {
    fn stage(&self) -> Stage {
        match self.status {
            Status::Pending => Stage::Sent,
            Status::Completed => Stage::Completed,
            Status::Failed => Stage::Failed,
        }
    }

    fn tries(&self) -> Tries {
        Tries { sends: self.sends, looks: self.looks, next_look: self.next_look, trace: self.trace.clone() }
    }

    fn tried(&self, Tries { sends, looks, next_look, trace }: Tries) -> Payout {
        Payout { sends, looks, next_look, trace, ..self.clone() }
    }

    fn since(&self) -> Timestamp {
        self.settled_at.unwrap_or(self.created_at)
    }

    fn order(&self, how: How, turn: &Turn<'_>) -> Effect {
        Effect {
            entity: EntityId::payout(self.id),
            operation: self.id.operation(CREDIT),
            rail_id: self.trace.id.clone(),
            at: turn.now,
            how,
            order: self.instruction(),
        }
    }

    fn contradicted(&self, word: PayoutEnd) -> Option<Payout> {
        match word {
            PayoutEnd::Completed(reference) if self.reference.is_none() => {
                Some(Payout { reference: Some(reference), next_look: None, ..self.clone() })
            }
            PayoutEnd::Failed(code) if self.failure_code.is_none() => {
                Some(Payout { failure_code: Some(code), next_look: None, ..self.clone() })
            }
            PayoutEnd::Completed(_) | PayoutEnd::Failed(_) => None,
        }
    }
}
