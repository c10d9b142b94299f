//! Merchants: the tenant's sellers, their payout methods, and the verification of a method by two
//! micro-deposits (`docs/contract.md, 7.1, 7.5`).
//!
//! The money of a seller is not here: it is in the ledger, and payments and payouts move it.

use crate::cause::Cause;
use crate::decision::{Draft, Rules, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::merchant::{Merchant, PayoutMethod};
use crate::entities::verification::{Attempts, Deposits, KnownPhone, MethodStatus};
use crate::events::{EventKind, Extra};
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::rail::{Effect, How, Operation, Order, RailAnswer, RailReply, Service, Subject};
use crate::refusal::{MerchantRefusal, Refusal};
use crate::resources::verification::limits;
use crate::resources::verification::{NOT_THE_CLIENT, Start, not_sent};
use crate::values::ids::{EntityId, Id};
use crate::values::money::Ves;
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};

/// The largest number of payout methods of a merchant: each record of the merchant has all of them,
/// and so has the book.
const METHODS_MAX: usize = 100;

pub struct Registration {
    pub id: Id,
    pub external_ref: ExternalRef,
    pub name: Option<String>,
    pub identification: Option<IdentityDocument>,
    pub contact_email: Option<String>,
    pub contact_phone: Option<MobilePhone>,
    pub method: Option<(BankCode, MobilePhone)>,
}

/// A new merchant, or the four rules for one whose reference is known (`docs/contract.md, 7.3`). What is
/// left out of a call is as it was: who gives a seller a new method need not know the rest.
pub fn register(existing: Option<&Merchant>, ask: Registration, turn: &Turn) -> Ruling {
    let Some(merchant) = existing else { return created(ask, turn) };
    if merchant.methods.is_empty() {
        let changed = merchant.changed(turn.now, |merchant| {
            if let Some(name) = &ask.name {
                merchant.name.clone_from(name);
            }
            merchant.identification = ask.identification.or(merchant.identification);
            merchant.contact_email = ask.contact_email.clone().or(merchant.contact_email.take());
            merchant.contact_phone = ask.contact_phone.or(merchant.contact_phone);
            attach(merchant, ask.method, turn);
        });
        let same = Merchant { updated_at: merchant.updated_at, ..changed.clone() } == *merchant;
        return if same { Ruling::unchanged() } else { change(merchant, changed) };
    }
    let known = |bank: BankCode, phone: MobilePhone| {
        merchant.methods.iter().any(|method| (method.bank, method.phone) == (bank, phone))
    };
    let bank_known =
        ask.method.is_none_or(|(bank, _)| merchant.methods.iter().any(|method| method.bank == bank));
    let method_known = ask.method.is_none_or(|(bank, phone)| known(bank, phone));
    let differs: Vec<&'static str> = [
        ("name", ask.name.is_some_and(|name| name != merchant.name)),
        ("identification", ask.identification.is_some() && ask.identification != merchant.identification),
        ("contactEmail", ask.contact_email.is_some() && ask.contact_email != merchant.contact_email),
        ("contactPhone", ask.contact_phone.is_some() && ask.contact_phone != merchant.contact_phone),
        ("bankCode", !bank_known),
        ("phone", bank_known && !method_known),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect();
    if differs.is_empty() {
        Ruling::unchanged()
    } else {
        Ruling::refuse(Refusal::ExternalRefConflict { existing: merchant.id, differs })
    }
}

fn created(ask: Registration, turn: &Turn) -> Ruling {
    let mut merchant = Merchant {
        id: ask.id,
        external_ref: ask.external_ref,
        name: ask.name.unwrap_or_default(),
        identification: ask.identification,
        contact_email: ask.contact_email,
        contact_phone: ask.contact_phone,
        active: true,
        rejected: false,
        methods: Vec::new(),
        default_method: None,
        livemode: turn.livemode,
        created_at: turn.now,
        updated_at: turn.now,
    };
    attach(&mut merchant, ask.method, turn);
    let mut draft = Draft::new(Cause::MerchantCreated);
    draft.create(Entity::Merchant(merchant));
    Ruling::write(draft)
}

fn attach(merchant: &mut Merchant, method: Option<(BankCode, MobilePhone)>, turn: &Turn) {
    let Some((bank, phone)) = method else { return };
    let id = Id::derived(turn.now.unix_ms(), turn.seed, 1);
    merchant.methods.push(PayoutMethod {
        id,
        bank,
        phone,
        status: MethodStatus::Unverified,
        created_at: turn.now,
        attempts: Attempts::default(),
    });
    merchant.default_method.get_or_insert(id);
    merchant.rejected = false;
}

fn change(before: &Merchant, changed: Merchant) -> Ruling {
    Ruling::write(change_draft(before, changed))
}

fn change_draft(before: &Merchant, changed: Merchant) -> Draft {
    let mut draft = Draft::new(Cause::MerchantChanged);
    draft.change(before, Entity::Merchant(changed));
    draft
}

/// Adds a payout method, unless the merchant has it.
pub fn add_method(merchant: &Merchant, bank: BankCode, phone: MobilePhone, turn: &Turn) -> Ruling {
    if merchant.methods.iter().any(|method| (method.bank, method.phone) == (bank, phone)) {
        return Ruling::unchanged();
    }
    if merchant.methods.len() >= METHODS_MAX {
        return Ruling::refuse(MerchantRefusal::TooManyPayoutMethods);
    }
    change(merchant, merchant.changed(turn.now, |merchant| attach(merchant, Some((bank, phone)), turn)))
}

/// Sets the method that is used when none is named.
pub fn set_default(merchant: &Merchant, method: Id, turn: &Turn) -> Ruling {
    if merchant.method(method).is_none() {
        return Ruling::refuse(Refusal::NotFound);
    }
    if merchant.default_method == Some(method) {
        return Ruling::unchanged();
    }
    change(merchant, merchant.changed(turn.now, |merchant| merchant.default_method = Some(method)))
}

pub fn delete_method(merchant: &Merchant, method: Id, turn: &Turn) -> Ruling {
    if merchant.method(method).is_none() {
        return Ruling::refuse(Refusal::NotFound);
    }
    change(merchant, merchant.changed(turn.now, |merchant| merchant.drop_method(method)))
}

pub fn set_active(merchant: &Merchant, active: bool, turn: &Turn) -> Ruling {
    if merchant.active == active {
        return Ruling::unchanged();
    }
    let kind = if active { EventKind::MerchantReactivated } else { EventKind::MerchantDeactivated };
    let mut draft = change_draft(merchant, merchant.changed(turn.now, |merchant| merchant.active = active));
    draft.event(kind, EntityId::merchant(merchant.id));
    Ruling::write(draft)
}

/// Deletes the merchant with its methods and its reference, if it never received a payout and is
/// owed nothing.
pub fn delete(book: &Book, merchant: &Merchant) -> Ruling {
    let Some(seller) = book.sellers.get(&merchant.id) else { return Ruling::refuse(Refusal::NotFound) };
    if seller.payouts > 0 {
        return Ruling::refuse(MerchantRefusal::HasPayouts { count: seller.payouts });
    }
    if seller.accounts.values().any(|account| account.net != 0 || account.held != 0) {
        return Ruling::refuse(MerchantRefusal::HasBalance);
    }
    let mut draft = Draft::new(Cause::MerchantDeleted);
    draft.remove(EntityId::merchant(merchant.id), merchant);
    draft.record.freed.push(String::from(&*merchant.external_ref));
    Ruling::write(draft)
}

/// Sends the two micro-deposits that verify a method.
pub fn start_verification(
    book: &Book,
    merchant: &Merchant,
    method: Id,
    start: &Start,
    turn: &Turn,
) -> Ruling {
    let Some(found) = merchant.method(method) else { return Ruling::refuse(Refusal::NotFound) };
    let (status, deposits) = match found.status.started(&found.attempts, start, book, turn) {
        Ok(started) => started,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let effect = order(merchant, found, deposits, How::Send, turn);
    if let Err(refusal) = turn.terms(Service::MicroDeposits, effect.order.bank_call()).may_send() {
        return Ruling::refuse(refusal);
    }
    let attempts = found.attempts.started(turn.now);
    let started = PayoutMethod { status, attempts, ..found.clone() };
    let mut draft = Draft::new(Cause::VerificationStarted);
    draft.change(
        merchant,
        Entity::Merchant(merchant.changed(turn.now, |merchant| set_method(merchant, started))),
    );
    limits::post_sent(&mut draft, deposits);
    Ruling::write_then(draft, vec![effect])
}

fn order(merchant: &Merchant, method: &PayoutMethod, deposits: Deposits, how: How, turn: &Turn) -> Effect {
    let order = Order::MicroDeposit {
        bank: method.bank,
        phone: method.phone,
        identity: merchant.identification,
        amounts: deposits.amounts,
    };
    Effect {
        entity: EntityId::merchant(merchant.id),
        operation: deposits.operation,
        rail_id: None,
        at: turn.now,
        how,
        order,
    }
}

impl Rules for Merchant {
    fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        on_rail_reply(self, reply, turn)
    }

    /// Holds of its money have ended, or the bank has not answered about deposits, or both.
    fn on_deadline(&self, book: &Book, turn: &Turn<'_>) -> Ruling {
        let due = self
            .methods
            .iter()
            .filter_map(|method| Some(order(self, method, method.status.due(turn.now)?, How::Ask, turn)));
        Ruling { effects: due.collect(), ..sellers::release(book, self.id, turn) }
    }

    fn unanswered(&self) -> Vec<Operation> {
        let methods = self.methods.iter();
        methods.filter_map(|method| method.status.operation(Subject::PayoutMethod(method.id))).collect()
    }

    fn contradiction(&self, at: Timestamp) -> Option<Operation> {
        let mut methods = self.methods.iter();
        methods.find_map(|method| method.status.contradiction(Subject::PayoutMethod(method.id), at))
    }

    fn count_question(&mut self, operation: Id, now: Timestamp) {
        for method in self.methods.iter_mut().filter(|method| method.status.is_of(operation)) {
            method.status = method.status.clone().asked(operation, now);
        }
    }
}

fn set_method(merchant: &mut Merchant, changed: PayoutMethod) {
    if let Some(method) = merchant.methods.iter_mut().find(|method| method.id == changed.id) {
        *method = changed;
    }
}

/// The ruling on the bank's reply about the deposits.
fn on_rail_reply(merchant: &Merchant, reply: RailReply, turn: &Turn) -> Ruling {
    let Some(found) = merchant.methods.iter().find(|method| method.status.waits_for(reply.operation)) else {
        return contradicted(merchant, &reply, turn);
    };
    let (method, kept) = (found.id, found.status.kept());
    let RailAnswer::Refused { code } = &reply.answer else {
        let Some((status, unsent)) = found.status.after_answer(&reply.answer, reply.how, turn) else {
            return Ruling::unchanged();
        };
        let send = unsent.map(|deposits| order(merchant, found, deposits, How::Send, turn));
        let back = limits::came_back(&found.status, &status);
        let unsent = not_sent(&reply);
        let attempts = if unsent.is_some() { found.attempts.unsent() } else { found.attempts.clone() };
        // The state that the tenant sees does not change.
        let mut changed = merchant.clone();
        set_method(
            &mut changed,
            PayoutMethod { status: status.noting(&reply.said), attempts, ..found.clone() },
        );
        let mut draft = change_draft(merchant, changed);
        if unsent.is_some() {
            draft.record.cause = Cause::VerificationUnsent;
            draft.record.freed = vec![KnownPhone::name(found.bank, found.phone, reply.operation)];
        }
        if let Some(deposits) = back {
            limits::post_back(&mut draft, deposits, false);
        }
        draft.replaces_kept = kept;
        let outcome = Ruling::write_then(draft, send.into_iter().collect());
        return Ruling { refusal: unsent, ..outcome };
    };
    let mut draft;
    let after = found.status.refused(code);
    let back = limits::came_back(&found.status, &after);
    if code == NOT_THE_CLIENT {
        let rejected = merchant.changed(turn.now, |merchant| {
            merchant.drop_method(method);
            merchant.rejected = merchant.methods.is_empty();
        });
        draft = change_draft(merchant, rejected);
        draft.event_with(
            EventKind::MerchantRejected,
            Some(EntityId::merchant(merchant.id)),
            Extra::Method { id: method, failure_code: Some(code.clone()) },
        );
    } else {
        let refused = PayoutMethod { status: after.noting(&reply.said), ..found.clone() };
        draft = change_draft(merchant, merchant.changed(turn.now, |merchant| set_method(merchant, refused)));
    }
    if let Some(deposits) = back {
        limits::post_back(&mut draft, deposits, reply.said.half_done);
    }
    draft.replaces_kept = kept;
    Ruling::write(draft)
}

/// The ruling on a bank's reply that contradicts settled deposits. A method that is gone has left
/// no trace of them.
fn contradicted(merchant: &Merchant, reply: &RailReply, turn: &Turn) -> Ruling {
    let said = merchant.methods.iter().find_map(|method| {
        let status = method.status.contradicted(reply.operation, &reply.answer, turn.now)?;
        Some(PayoutMethod { status: status.noting(&reply.said), ..method.clone() })
    });
    let Some(contradicted) = said else { return Ruling::unchanged() };
    let mut changed = merchant.clone();
    set_method(&mut changed, contradicted);
    let mut draft = Draft::new(Cause::OperationContradicted);
    draft.change(merchant, Entity::Merchant(changed));
    Ruling::write(draft)
}

/// Compares the amounts that the seller saw, in either order, with those that were sent.
pub fn verify(merchant: &Merchant, id: Id, seen: (Ves, Ves), turn: &Turn) -> Ruling {
    let Some(method) = merchant.method(id) else { return Ruling::refuse(Refusal::NotFound) };
    let (status, refusal) = match method.status.tried(seen, turn.now) {
        Ok(tried) => tried,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let attempts = method.attempts.tried(refusal.as_ref(), turn.now);
    let tried = PayoutMethod { status, attempts, ..method.clone() };
    let mut draft =
        change_draft(merchant, merchant.changed(turn.now, |merchant| set_method(merchant, tried)));
    match refusal {
        Some(refusal) => Ruling::write_and_refuse(draft, refusal),
        None => {
            draft.event_with(
                EventKind::MerchantVerified,
                Some(EntityId::merchant(merchant.id)),
                Extra::Method { id, failure_code: None },
            );
            Ruling::write(draft)
        }
    }
}

pub enum Command {
    /// A request for a new merchant, or one for a known reference.
    Register(Box<Registration>),
    AddMethod(BankCode, MobilePhone),
    /// A request to pay to this method when none is named.
    SetDefaultMethod(Id),
    DeleteMethod(Id),
    /// A request to verify a payout method by micro-deposits.
    StartVerification {
        method: Id,
        start: Box<Start>,
    },
    /// A request to verify a payout method with the amounts that the seller saw.
    Verify {
        method: Id,
        seen: (Ves, Ves),
    },
    SetActive(bool),
    Delete,
}

pub fn decide(book: &Book, merchant: Option<&Merchant>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, merchant) {
        (Command::Register(ask), merchant) => register(merchant, *ask, turn),
        (Command::AddMethod(bank, phone), Some(merchant)) => add_method(merchant, bank, phone, turn),
        (Command::SetDefaultMethod(method), Some(merchant)) => set_default(merchant, method, turn),
        (Command::DeleteMethod(method), Some(merchant)) => delete_method(merchant, method, turn),
        (Command::StartVerification { method, start }, Some(merchant)) => {
            start_verification(book, merchant, method, &start, turn)
        }
        (Command::Verify { method, seen }, Some(merchant)) => verify(merchant, method, seen, turn),
        (Command::SetActive(active), Some(merchant)) => set_active(merchant, active, turn),
        (Command::Delete, Some(merchant)) => delete(book, merchant),
        (_, None) => Ruling::refuse(Refusal::NotFound),
    }
}
