//! Merchants: the tenant's sellers, their payout methods, and the verification of a method by two
//! micro-deposits (`docs/contract.md, 7.1, 7.5`).
//!
//! The money of a seller is not here: it is in the ledger, and payments and payouts move it.

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Rules, Ruling, Turn, repeated};
use crate::entities::Entity;
use crate::entities::merchant::{Merchant, PayoutMethod};
use crate::entities::verification::{Attempts, Deposits, MethodStatus};
use crate::events::{EventKind, Extra};
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::rail::{Effect, How, Operation, RailReply, Subject};
use crate::refusal::{MerchantRefusal, Refusal};
use crate::resources::verification::{Proof, Start};
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
fn register(existing: Option<&Merchant>, ask: Registration, turn: &Turn) -> Ruled {
    let Some(merchant) = existing else { return Ok(created(ask, turn)) };
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
        return Ok(if same { Ruling::unchanged() } else { change(merchant, changed) });
    }
    let mut methods = merchant.methods.iter();
    let bank_known = ask.method.is_none_or(|(bank, _)| methods.clone().any(|method| method.bank == bank));
    let method_known = ask.method.is_none_or(|to| methods.any(|method| (method.bank, method.phone) == to));
    let fields = [
        ("name", ask.name.is_some_and(|name| name != merchant.name)),
        ("identification", ask.identification.is_some() && ask.identification != merchant.identification),
        ("contactEmail", ask.contact_email.is_some() && ask.contact_email != merchant.contact_email),
        ("contactPhone", ask.contact_phone.is_some() && ask.contact_phone != merchant.contact_phone),
        ("bankCode", !bank_known),
        ("phone", bank_known && !method_known),
    ];
    repeated(merchant.id, fields)
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
    Ruling::write(Draft::created(Cause::MerchantCreated, merchant))
}

fn attach(merchant: &mut Merchant, method: Option<(BankCode, MobilePhone)>, turn: &Turn) {
    let Some((bank, phone)) = method else { return };
    let id = Id::derived(turn.now.unix_ms(), turn.seed, 1);
    merchant.methods.push(PayoutMethod {
        id,
        bank,
        phone,
        status: MethodStatus::default(),
        created_at: turn.now,
        attempts: Attempts::default(),
    });
    merchant.default_method.get_or_insert(id);
    merchant.rejected = false;
}

fn change(before: &Merchant, changed: Merchant) -> Ruling {
    Ruling::write(Draft::changed(Cause::MerchantChanged, before, changed))
}

/// Deletes the merchant with its methods and its reference, if it never received a payout and is
/// owed nothing.
fn delete(book: &Book, merchant: &Merchant) -> Ruled {
    let seller = book.sellers.get(&merchant.id).ok_or(Refusal::NotFound)?;
    if seller.payouts > 0 {
        return Err(MerchantRefusal::HasPayouts { count: seller.payouts }.into());
    }
    if seller.accounts.values().any(|account| account.net != 0 || account.held != 0) {
        return Err(MerchantRefusal::HasBalance.into());
    }
    let mut draft = Draft::new(Cause::MerchantDeleted);
    draft.remove(EntityId::merchant(merchant.id), merchant);
    draft.record.freed.push(String::from(&*merchant.external_ref));
    Ok(Ruling::write(draft))
}

fn order(merchant: &Merchant, method: &PayoutMethod, deposits: Deposits, how: How, turn: &Turn) -> Effect {
    let to = (method.bank, method.phone, merchant.identification);
    deposits.call(EntityId::merchant(merchant.id), to, how, turn.now)
}

fn prove<T>(
    merchant: &Merchant,
    method: &PayoutMethod,
    turn: &Turn,
    then: impl FnOnce(Proof<'_, Merchant>) -> T,
) -> T {
    let with = |status, attempts, is_seen| {
        let updated_at = if is_seen { turn.now } else { merchant.updated_at };
        let mut changed = Merchant { updated_at, ..merchant.clone() };
        if let Some(held) = changed.methods.iter_mut().find(|held| held.id == method.id) {
            (held.status, held.attempts) = (status, attempts);
        }
        Entity::Merchant(changed)
    };
    then(Proof {
        entity: merchant,
        cause: Cause::MerchantChanged,
        bank: method.bank,
        phone: method.phone,
        status: &method.status,
        attempts: &method.attempts,
        order: &|deposits, how| order(merchant, method, deposits, how, turn),
        with: &with,
    })
}

impl Rules for Merchant {
    fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        let said =
            |method: &PayoutMethod| prove(self, method, turn, |proof| proof.contradicted(&reply, turn));
        let Some(found) = self.methods.iter().find(|method| method.status.waits_for(reply.operation)) else {
            // A method that is gone has left no trace of its deposits.
            return self.methods.iter().find_map(said).map_or_else(Ruling::unchanged, Ruling::write);
        };
        let gone = |code: &str| {
            let rejected = self.changed(turn.now, |merchant| {
                merchant.drop_method(found.id);
                merchant.rejected = merchant.methods.is_empty();
            });
            let mut draft = Draft::changed(Cause::MerchantChanged, self, rejected);
            let extra = Extra::Method { id: found.id, failure_code: Some(code.to_owned()) };
            draft.event_with(EventKind::MerchantRejected, Some(EntityId::merchant(self.id)), extra);
            draft
        };
        prove(self, found, turn, |proof| proof.on_rail_reply(&reply, turn, gone))
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

pub fn decide(book: &Book, merchant: Option<&Merchant>, command: Command, turn: &Turn<'_>) -> Ruled {
    if let Command::Register(ask) = command {
        return register(merchant, *ask, turn);
    }
    let merchant = merchant.ok_or(Refusal::NotFound)?;
    let method = |id| merchant.method(id).ok_or(Refusal::NotFound);
    match command {
        Command::Register(ask) => register(Some(merchant), *ask, turn),
        Command::AddMethod(bank, phone) => {
            if merchant.methods.iter().any(|method| (method.bank, method.phone) == (bank, phone)) {
                return Ok(Ruling::unchanged());
            }
            if merchant.methods.len() >= METHODS_MAX {
                return Err(MerchantRefusal::TooManyPayoutMethods.into());
            }
            let added = merchant.changed(turn.now, |merchant| attach(merchant, Some((bank, phone)), turn));
            Ok(change(merchant, added))
        }
        Command::SetDefaultMethod(id) => {
            method(id)?;
            if merchant.default_method == Some(id) {
                return Ok(Ruling::unchanged());
            }
            Ok(change(merchant, merchant.changed(turn.now, |merchant| merchant.default_method = Some(id))))
        }
        Command::DeleteMethod(id) => {
            method(id)?;
            Ok(change(merchant, merchant.changed(turn.now, |merchant| merchant.drop_method(id))))
        }
        Command::StartVerification { method: id, start } => {
            prove(merchant, method(id)?, turn, |proof| proof.start(book, &start, turn))
        }
        Command::Verify { method: id, seen } => {
            let (mut draft, refusal) =
                prove(merchant, method(id)?, turn, |proof| proof.verify(seen, turn.now))?;
            if refusal.is_none() {
                let extra = Extra::Method { id, failure_code: None };
                draft.event_with(EventKind::MerchantVerified, Some(EntityId::merchant(merchant.id)), extra);
            }
            Ok(Ruling { refusal, ..Ruling::write(draft) })
        }
        Command::SetActive(active) => {
            if merchant.active == active {
                return Ok(Ruling::unchanged());
            }
            let kind = if active { EventKind::MerchantReactivated } else { EventKind::MerchantDeactivated };
            let changed = merchant.changed(turn.now, |merchant| merchant.active = active);
            let mut draft = Draft::changed(Cause::MerchantChanged, merchant, changed);
            draft.event(kind, EntityId::merchant(merchant.id));
            Ok(Ruling::write(draft))
        }
        Command::Delete => delete(book, merchant),
    }
}
