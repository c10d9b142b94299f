//! Payouts in bolívares of every kind: to merchants, to phones, to accounts. All are debited before
//! the bank hears of them, and paid back when the bank says no (`docs/contract.md, 7.8`).

use crate::bank::{ASKED_ON_MS, Answer, Effect, How, Order, POLL_MS, RailReply, asked_on, next_poll};
use crate::decision::{Draft, Outcome, Turn};
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::book::{Book, Seller, SellerMethod};
use crate::ledger::{Ledger, MovementKind, Posting, Row};
use crate::record::{Cause, Entity};
use crate::refusal::Refusal;
use crate::resources::banks::BankCode;
use crate::resources::merchants::MerchantRefusal;
use crate::values::account::AccountNumber;
use crate::values::external_ref::ExternalRef;
use crate::values::identity::IdentityDocument;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Ves};
use crate::values::phone::MobilePhone;
use crate::values::time::Timestamp;
use bincode::{Decode, Encode};
pub use commands::{Command, decide};
pub use refusals::PayoutRefusal;
use std::sync::Arc;

pub mod batch;
mod commands;
mod refusals;

/// The operation that sends a payout's money.
pub const CREDIT: u16 = 1;

/// Where a payout stands. The number is its list facet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
#[repr(u8)]
pub enum Status {
    /// Debited; the bank has not said yes or no.
    Pending = 0,
    /// It arrived.
    Completed = 1,
    /// It did not, and the money is back.
    Failed = 2,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 3] = [Status::Pending, Status::Completed, Status::Failed];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Completed => "completed",
            Status::Failed => "failed",
        }
    }
}

/// What a payout was asked for as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum PayoutKind {
    /// To a merchant.
    Merchant,
    /// To the tenant's own account.
    Instant,
    /// To a phone.
    Credit,
    /// To an account.
    Account,
    /// Change of a payment, to a phone.
    Change,
}

impl PayoutKind {
    /// As the API writes it.
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

/// Where the money goes.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Destination {
    /// To a phone at a bank.
    Phone {
        /// The bank.
        bank: BankCode,
        /// The phone.
        phone: MobilePhone,
        /// Who receives; some banks check it.
        identity: Option<IdentityDocument>,
    },
    /// To an account.
    Account {
        /// The account, which says its bank.
        account: AccountNumber,
        /// Whose it is.
        identity: IdentityDocument,
        /// Its holder's name.
        name: String,
    },
}

impl Destination {
    /// The bank of who is paid.
    pub const fn bank(&self) -> BankCode {
        match self {
            Destination::Phone { bank, .. } => *bank,
            Destination::Account { account, .. } => account.bank(),
        }
    }
}

/// A payout.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Payout {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// What it was asked for as.
    pub kind: PayoutKind,
    /// Where it stands.
    pub status: Status,
    /// How much arrives.
    pub amount: Ves,
    /// What it costs besides.
    pub fee: Ves,
    /// What for.
    pub concept: String,
    /// The merchant.
    pub merchant: Option<Id>,
    /// Its name then.
    pub merchant_name: Option<String>,
    /// The payout method.
    pub method: Option<Id>,
    /// Whether the tenant named the method.
    pub method_named: bool,
    /// The payment that it is the change of.
    pub payment: Option<Id>,
    /// The batch that it came in.
    pub batch: Option<Id>,
    /// Where it goes.
    pub destination: Destination,
    /// Whether the seller's balance paid it.
    pub from_merchant_balance: bool,
    /// The bank's reference. On a failed payout it contradicts the failure.
    pub reference: Option<String>,
    /// The bank's code when it failed. On a completed payout it contradicts the completion.
    pub failure_code: Option<String>,
    /// How often it was sent: twice at most; the second time when the bank says that it never
    /// received it.
    pub sends: u32,
    /// How often the bank was asked about it.
    pub looks: u32,
    /// When it is asked next: also whether it agrees with an operator who settled the payout.
    pub next_look: Option<Timestamp>,
    /// Which kept answer the outcome replaces.
    pub kept: Option<Arc<KeepRef>>,
    /// Test payouts move no real money.
    pub livemode: bool,
    /// When it was debited.
    pub created_at: Timestamp,
    /// When the bank said yes or no.
    pub settled_at: Option<Timestamp>,
}

impl Payout {
    /// The byte by which lists are filtered.
    pub fn facet(&self) -> u8 {
        self.status as u8
    }

    /// When the bank is to be asked.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.next_look
    }

    /// The operation that the bank is working on.
    pub fn operation(&self) -> Option<Id> {
        (self.status == Status::Pending).then(|| self.id.operation(CREDIT))
    }

    /// Whether the bank said it was paid and that it was not.
    pub fn is_contradicted(&self) -> bool {
        self.reference.is_some() && self.failure_code.is_some()
    }

    /// Whether its money is still to be sent for the first time.
    pub fn is_unsent(&self) -> bool {
        self.status == Status::Pending && self.sends == 1 && self.looks == 0
    }

    /// The instants at which it moved money: where its movements are found.
    pub fn moved_at(&self) -> Vec<Timestamp> {
        std::iter::once(self.created_at).chain(self.settled_at).collect()
    }
}

/// Somebody with a phone at a bank.
#[derive(Clone, Copy, Encode)]
pub struct PhoneHolder {
    /// The bank.
    pub bank: BankCode,
    /// The phone.
    pub phone: MobilePhone,
    /// Who it is.
    pub identity: IdentityDocument,
}

/// Who is to be paid.
#[derive(Encode)]
pub enum Receiver {
    /// A merchant.
    Merchant {
        /// Which.
        merchant: Id,
        /// Where; `None` is the merchant's default.
        method: Option<Id>,
        /// Whether the seller's available balance pays.
        from_balance: bool,
    },
    /// A phone.
    Credit(PhoneHolder),
    /// A phone, as change of a payment.
    Change {
        /// Who.
        to: PhoneHolder,
        /// The payment, if it is named.
        payment: Option<Id>,
    },
    /// An account.
    Account {
        /// Which.
        account: AccountNumber,
        /// Whose.
        identity: IdentityDocument,
        /// The holder's name.
        name: String,
    },
    /// The tenant itself.
    Own,
}

impl Receiver {
    /// What a payout to it is called.
    pub const fn kind(&self) -> PayoutKind {
        match self {
            Receiver::Merchant { .. } => PayoutKind::Merchant,
            Receiver::Credit(_) => PayoutKind::Credit,
            Receiver::Change { .. } => PayoutKind::Change,
            Receiver::Account { .. } => PayoutKind::Account,
            Receiver::Own => PayoutKind::Instant,
        }
    }
}

/// What is asked.
pub struct NewPayout {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// Who is to be paid.
    pub receiver: Receiver,
    /// How much.
    pub amount: Ves,
    /// What for.
    pub concept: String,
}

/// The names of the fields in which a repeat differs from the payout on its reference
/// (`docs/contract.md, 1.7`).
fn differs(book: &Book, payout: &Payout, again: &NewPayout) -> Vec<&'static str> {
    let to_phone = |to: &PhoneHolder| {
        let (bank, phone, identity) = match payout.destination {
            Destination::Phone { bank, phone, identity } => (Some(bank), Some(phone), identity),
            Destination::Account { .. } => (None, None, None),
        };
        [
            ("banco", bank != Some(to.bank)),
            ("telefono", phone != Some(to.phone)),
            ("cedula", identity != Some(to.identity)),
        ]
    };
    let mut fields = vec![("kind", payout.kind != again.receiver.kind())];
    match &again.receiver {
        Receiver::Merchant { merchant, method, from_balance } => {
            let method_differs = match method {
                Some(method) => payout.method != Some(*method),
                // Not to name it means the default: the one that it was then, or that was named
                // because it is.
                None => {
                    payout.method_named
                        && payout.method
                            != book.sellers.get(merchant).and_then(|seller| seller.default_method)
                }
            };
            fields.extend([
                ("merchantId", payout.merchant != Some(*merchant)),
                ("payoutMethodId", method_differs),
                ("fromMerchantBalance", payout.from_merchant_balance != *from_balance),
            ]);
        }
        Receiver::Credit(to) => fields.extend(to_phone(to)),
        Receiver::Change { to, payment } => {
            fields.extend(to_phone(to));
            fields.push(("paymentId", payout.payment != *payment));
        }
        Receiver::Own => {}
        Receiver::Account { account, identity, name } => {
            let (paid, whose, called) = match &payout.destination {
                Destination::Account { account, identity, name } => {
                    (Some(account), Some(identity), Some(name))
                }
                Destination::Phone { .. } => (None, None, None),
            };
            fields.extend([
                ("cuenta", paid != Some(account)),
                ("cedula", whose != Some(identity)),
                ("nombre", called != Some(name)),
            ]);
        }
    }
    // Where the tenant's own money went then is no part of what is asked.
    fields.extend([("monto", payout.amount != again.amount), ("concepto", payout.concept != again.concept)]);
    fields.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
}

/// The reference is known: the same payout is answered again, another is a conflict.
pub fn repeat(book: &Book, payout: &Payout, again: &NewPayout) -> Outcome {
    match conflict(book, payout, again) {
        None => Outcome::unchanged(),
        Some(refusal) => Outcome::refuse(refusal),
    }
}

fn conflict(book: &Book, payout: &Payout, again: &NewPayout) -> Option<Refusal> {
    let differs = differs(book, payout, again);
    if !differs.is_empty() && !is_known(book, &again.receiver) {
        return Some(Refusal::NotFound);
    }
    (!differs.is_empty()).then_some(Refusal::ExternalRefConflict { existing: payout.id, differs })
}

/// Whether there are the merchant and the method that are named.
fn is_known(book: &Book, receiver: &Receiver) -> bool {
    let Receiver::Merchant { merchant, method, .. } = receiver else { return true };
    let has =
        |seller: &Seller| method.is_none_or(|named| seller.methods.iter().any(|method| method.id == named));
    book.sellers.get(merchant).is_some_and(|seller| has(seller))
}

/// Debits it and has the bank pay it.
pub fn create(book: &Book, new: NewPayout, kept: Option<Arc<KeepRef>>, turn: &Turn) -> Outcome {
    let payout = match prepare(book, new, turn) {
        Ok(payout) => Payout { kept, ..payout },
        Err(refusal) => return Outcome::refuse(refusal),
    };
    let spendable = match (payout.from_merchant_balance, payout.merchant.and_then(|id| book.sellers.get(&id)))
    {
        (true, Some(seller)) => seller.account(Currency::Ves).free(),
        _ => book.available_ves(),
    };
    if let Err(refusal) = afford(&payout, spendable) {
        return Outcome::refuse(refusal);
    }
    let mut draft = Draft::new(Cause::PayoutCreated);
    let effect = debit(&mut draft, payout, turn);
    Outcome::write_then(draft, vec![effect])
}

/// What is left of `spendable` after the payout and its fee.
fn afford(payout: &Payout, spendable: i64) -> Result<i64, Refusal> {
    let total = payout.amount.plus(payout.fee).ok_or(Refusal::AmountOverflow)?;
    match spendable.checked_sub(total.minor()) {
        Some(left) if left >= 0 => Ok(left),
        _ => Err(Refusal::InsufficientBalance { available: Ves::from_minor(spendable) }),
    }
}

/// Writes the debit of a new payout, and says what the bank is told.
fn debit(draft: &mut Draft, payout: Payout, turn: &Turn) -> Effect {
    post(draft, &payout, -1, MovementKind::Payout, MovementKind::PayoutFee);
    let effect = order(&payout, How::Send, turn);
    draft.create(Entity::Payout(payout));
    effect
}

/// The payout that is asked for, if it may be paid but for the balance. The order of the refusals
/// is `docs/contract.md, 1.12`.
fn prepare(book: &Book, new: NewPayout, turn: &Turn) -> Result<Payout, Refusal> {
    let to_phone =
        |to: PhoneHolder| Destination::Phone { bank: to.bank, phone: to.phone, identity: Some(to.identity) };
    let kind = new.receiver.kind();
    let (mut merchant, mut merchant_name, mut named, mut used, mut from_merchant_balance, mut of) =
        (None, None, None, None, false, None);
    let destination = match new.receiver {
        Receiver::Merchant { merchant: id, method: wanted, from_balance } => {
            let seller = book.sellers.get(&id).ok_or(Refusal::NotFound)?;
            let method = method(seller, wanted)?;
            if !seller.active {
                return Err(MerchantRefusal::Inactive.into());
            }
            (merchant, merchant_name, named, used) =
                (Some(id), Some(seller.name.clone()), wanted, Some(method.id));
            from_merchant_balance = from_balance;
            Destination::Phone { bank: method.bank, phone: method.phone, identity: seller.identification }
        }
        Receiver::Credit(to) => to_phone(to),
        Receiver::Change { to, payment } => {
            of = payment;
            to_phone(to)
        }
        Receiver::Own => match book.own {
            Some((own, true)) => {
                Destination::Phone { bank: own.bank, phone: own.phone, identity: Some(own.identification) }
            }
            Some((_, false)) | None => return Err(PayoutRefusal::AccountNotVerified.into()),
        },
        Receiver::Account { account, identity, name } => Destination::Account { account, identity, name },
    };
    if !turn.has_rail {
        return Err(Refusal::RailNotConfigured);
    }
    Ok(Payout {
        id: new.id,
        external_ref: new.external_ref,
        kind,
        status: Status::Pending,
        amount: new.amount,
        fee: book.tenant_settings.settings.fees.payout,
        concept: new.concept,
        merchant,
        merchant_name,
        method: used,
        method_named: named.is_some(),
        payment: of,
        batch: None,
        destination,
        from_merchant_balance,
        reference: None,
        failure_code: None,
        sends: 1,
        looks: 0,
        next_look: Some(turn.now.plus_ms(POLL_MS)),
        kept: None,
        livemode: turn.livemode,
        created_at: turn.now,
        settled_at: None,
    })
}

fn method(seller: &Seller, named: Option<Id>) -> Result<&SellerMethod, Refusal> {
    let method = match named {
        Some(id) => seller.methods.iter().find(|method| method.id == id).ok_or(Refusal::NotFound)?,
        None => seller
            .methods
            .iter()
            .find(|method| Some(method.id) == seller.default_method)
            .ok_or(PayoutRefusal::MethodNotVerified)?,
    };
    if method.verified { Ok(method) } else { Err(PayoutRefusal::MethodNotVerified.into()) }
}

/// Both sides of the amount and of the fee; `sign` −1 takes them from the balance that pays, 1
/// gives them back.
fn post(draft: &mut Draft, payout: &Payout, sign: i64, amount_kind: MovementKind, fee_kind: MovementKind) {
    let payer = match (payout.from_merchant_balance, payout.merchant) {
        (true, Some(merchant)) => Ledger::Seller(merchant),
        _ => Ledger::Tenant,
    };
    for (amount, against, kind) in
        [(payout.amount, Ledger::Rail, amount_kind), (payout.fee, Ledger::Fees, fee_kind)]
    {
        let row = Row {
            kind,
            subject: Some(EntityId::payout(payout.id)),
            chargeback: None,
            external_ref: Some(payout.external_ref.clone()),
            description: payout.concept.clone(),
            available_at: None,
        };
        draft.post(Posting {
            ledger: payer,
            currency: Currency::Ves,
            minor: sign * amount.minor(),
            row: Some(Box::new(row)),
        });
        draft.post(Posting {
            ledger: against,
            currency: Currency::Ves,
            minor: -sign * amount.minor(),
            row: None,
        });
    }
}

fn order(payout: &Payout, how: How, turn: &Turn) -> Effect {
    Effect {
        entity: EntityId::payout(payout.id),
        operation: payout.id.operation(CREDIT),
        at: turn.now,
        how,
        order: instruction(payout),
    }
}

fn instruction(payout: &Payout) -> Order {
    let (amount, concept) = (payout.amount, payout.concept.clone());
    match &payout.destination {
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

/// The bank is to be asked.
pub fn deadline(payout: &Payout, turn: &Turn) -> Outcome {
    match payout.next_look {
        Some(_) => Outcome::effects(vec![order(payout, How::Ask, turn)]),
        None => Outcome::unchanged(),
    }
}

/// What the bank says. A second answer finds the payout settled and moves no money; the opposite of
/// the first is written down.
pub fn on_rail_reply(payout: &Payout, reply: RailReply, turn: &Turn) -> Outcome {
    if payout.status != Status::Pending {
        return contradicted(payout, reply, turn);
    }
    match (reply.answer, reply.how) {
        (Answer::Done { reference }, _) => completed(payout, reference, turn),
        (Answer::Refused { code }, _) => failed(payout, code, turn),
        (Answer::NeverReceived, _) if payout.sends < 2 => {
            let again = Payout {
                sends: payout.sends + 1,
                next_look: Some(turn.now.plus_ms(POLL_MS)),
                ..payout.clone()
            };
            let effect = order(&again, How::Send, turn);
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payout, Entity::Payout(again));
            Outcome::write_then(draft, vec![effect])
        }
        (Answer::Waiting | Answer::Silent | Answer::NeverReceived, How::Send) => Outcome::unchanged(),
        // Sent twice: the second order had no answer either and may still be on its way, so the
        // money stays set aside until the bank says what became of it.
        (Answer::Waiting | Answer::Silent | Answer::NeverReceived, How::Ask) => {
            let looks = payout.looks + 1;
            let later = Payout { looks, next_look: Some(next_poll(turn.now, looks)), ..payout.clone() };
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payout, Entity::Payout(later));
            Outcome::write(draft)
        }
    }
}

/// What the bank says of a payout that is settled.
fn contradicted(payout: &Payout, reply: RailReply, turn: &Turn) -> Outcome {
    let said = match (payout.status, &reply.answer) {
        (Status::Failed, Answer::Done { reference }) if payout.reference.is_none() => {
            Payout { reference: Some(reference.clone()), next_look: None, ..payout.clone() }
        }
        (Status::Completed, Answer::Refused { code }) if payout.failure_code.is_none() => {
            Payout { failure_code: Some(code.clone()), next_look: None, ..payout.clone() }
        }
        _ => return agreed(payout, &reply, turn),
    };
    let mut draft = Draft::new(Cause::OperationContradicted);
    draft.change(payout, Entity::Payout(said));
    Outcome::write(draft)
}

/// What is said of a payout that an operator has settled, if it is not the opposite.
fn agreed(payout: &Payout, reply: &RailReply, turn: &Turn) -> Outcome {
    let until = payout.settled_at.unwrap_or(payout.created_at).plus_ms(ASKED_ON_MS);
    let asked_on = payout.next_look.and_then(|_| asked_on(reply, payout.looks, until, turn.now));
    let Some((looks, next_look)) = asked_on else { return Outcome::unchanged() };
    let mut draft = Draft::new(Cause::BankAsked);
    draft.change(payout, Entity::Payout(Payout { looks, next_look, ..payout.clone() }));
    Outcome::write(draft)
}

fn completed(payout: &Payout, reference: String, turn: &Turn) -> Outcome {
    let completed = Payout {
        status: Status::Completed,
        reference: Some(reference),
        next_look: None,
        kept: None,
        settled_at: Some(turn.now),
        ..payout.clone()
    };
    let mut draft = Draft::new(Cause::PayoutCompleted);
    draft.change(payout, Entity::Payout(completed));
    draft.event(EventKind::PayoutCompleted, EntityId::payout(payout.id));
    draft.replace_kept(payout.kept.clone());
    Outcome::write(draft)
}

fn failed(payout: &Payout, code: String, turn: &Turn) -> Outcome {
    let failed = Payout {
        status: Status::Failed,
        failure_code: Some(code),
        next_look: None,
        kept: None,
        settled_at: Some(turn.now),
        ..payout.clone()
    };
    let mut draft = Draft::new(Cause::PayoutFailed);
    post(&mut draft, payout, 1, MovementKind::PayoutReversal, MovementKind::PayoutReversal);
    draft.change(payout, Entity::Payout(failed));
    draft.event(EventKind::PayoutFailed, EntityId::payout(payout.id));
    draft.replace_kept(payout.kept.clone());
    Outcome::write(draft)
}
