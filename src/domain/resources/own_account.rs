//! The tenant's own payout account, one per mode: the destination of instant payouts once it is
//! verified (`docs/contract.md, 7.11`).

use crate::cause::Cause;
use crate::decision::{Draft, Rules, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::own_account::{OwnAccount, OwnPhone};
use crate::entities::verification::{Attempts, Deposits, KnownPhone, MethodStatus};
use crate::ledger::book::Book;
use crate::rail::{Effect, How, Operation, Order, RailAnswer, RailReply, Service, Subject};
use crate::refusal::{Refusal, VerificationRefusal};
use crate::resources::verification::limits;
use crate::resources::verification::{NOT_THE_CLIENT, Start, not_sent};
use crate::values::ids::{EntityId, Id};
use crate::values::money::Ves;
use crate::values::time::Timestamp;

pub enum Command {
    Set(OwnPhone),
    StartVerification(Box<Start>),
    Verify((Ves, Ves)),
}

pub fn decide(book: &Book, account: Option<&OwnAccount>, command: Command, turn: &Turn<'_>) -> Ruling {
    match (command, account) {
        (Command::Set(held), account) => set(account, held, turn),
        (Command::StartVerification(start), Some(account)) => start_verification(book, account, &start, turn),
        (Command::Verify(seen), Some(account)) => verify(account, seen, turn),
        (Command::StartVerification(_) | Command::Verify(_), None) => Ruling::refuse(Refusal::NotFound),
    }
}

fn change(account: &OwnAccount, status: MethodStatus, attempts: Attempts, turn: &Turn) -> Draft {
    let mut draft = Draft::new(Cause::OwnAccountChanged);
    let changed = OwnAccount { status, attempts, updated_at: turn.now, ..account.clone() };
    draft.change(account, Entity::OwnAccount(changed));
    draft
}

/// Sets the account. A new one has to be verified again.
pub fn set(existing: Option<&OwnAccount>, held: OwnPhone, turn: &Turn) -> Ruling {
    let created_at = existing.map_or(turn.now, |account| account.created_at);
    let account = OwnAccount {
        held,
        status: MethodStatus::Unverified,
        livemode: turn.livemode,
        created_at,
        updated_at: turn.now,
        attempts: existing
            .filter(|account| is_same_phone(&account.held, &held))
            .map_or_else(Attempts::default, |account| account.attempts.clone()),
    };
    let mut draft = Draft::new(Cause::OwnAccountChanged);
    match existing {
        Some(existing) if existing.held == held => return Ruling::unchanged(),
        Some(existing) => draft.change(existing, Entity::OwnAccount(account)),
        None => draft.create(Entity::OwnAccount(account)),
    }
    Ruling::write(draft)
}

fn is_same_phone(one: &OwnPhone, other: &OwnPhone) -> bool {
    (one.bank, one.phone) == (other.bank, other.phone)
}

/// Sends the two micro-deposits that verify the account.
pub fn start_verification(book: &Book, account: &OwnAccount, start: &Start, turn: &Turn) -> Ruling {
    if (start.phone.bank, start.phone.phone) != (account.held.bank, account.held.phone) {
        return Ruling::refuse(VerificationRefusal::PhoneChanged);
    }
    let (status, deposits) = match account.status.started(&account.attempts, start, book, turn) {
        Ok(started) => started,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let effect = order(account, deposits, How::Send, turn);
    if let Err(refusal) = turn.terms(Service::MicroDeposits, effect.order.bank_call()).may_send() {
        return Ruling::refuse(refusal);
    }
    let mut draft = change(account, status, account.attempts.started(turn.now), turn);
    draft.record.cause = Cause::VerificationStarted;
    limits::post_sent(&mut draft, deposits);
    Ruling::write_then(draft, vec![effect])
}

fn order(account: &OwnAccount, deposits: Deposits, how: How, turn: &Turn) -> Effect {
    let OwnPhone { bank, phone, identification } = account.held;
    let order =
        Order::MicroDeposit { bank, phone, identity: Some(identification), amounts: deposits.amounts };
    Effect {
        entity: EntityId::OWN_ACCOUNT,
        operation: deposits.operation,
        rail_id: None,
        at: turn.now,
        how,
        order,
    }
}

/// Compares the amounts that the tenant saw with those that were sent.
pub fn verify(account: &OwnAccount, seen: (Ves, Ves), turn: &Turn) -> Ruling {
    let (status, refusal) = match account.status.tried(seen, turn.now) {
        Ok(tried) => tried,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let attempts = account.attempts.tried(refusal.as_ref(), turn.now);
    let draft = change(account, status, attempts, turn);
    match refusal {
        None => Ruling::write(draft),
        Some(refusal) => Ruling::write_and_refuse(draft, refusal),
    }
}

impl Rules for OwnAccount {
    fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        on_rail_reply(self, &reply, turn)
    }

    /// Asks the bank about deposits that it has not answered for.
    fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        let due = self.status.due(turn.now);
        Ruling::effects(due.map(|deposits| order(self, deposits, How::Ask, turn)).into_iter().collect())
    }

    fn unanswered(&self) -> Vec<Operation> {
        self.status.operation(Subject::PayoutAccount).into_iter().collect()
    }

    fn contradiction(&self, at: Timestamp) -> Option<Operation> {
        self.status.contradiction(Subject::PayoutAccount, at)
    }

    fn count_question(&mut self, operation: Id, now: Timestamp) {
        if self.status.is_of(operation) {
            self.status = self.status.clone().asked(operation, now);
        }
    }
}

/// The ruling on the bank's reply about the deposits. An account that is not the tenant's is
/// removed.
fn on_rail_reply(account: &OwnAccount, reply: &RailReply, turn: &Turn) -> Ruling {
    if !account.status.waits_for(reply.operation) {
        let Some(status) = account.status.contradicted(reply.operation, &reply.answer, turn.now) else {
            return Ruling::unchanged();
        };
        let mut draft = Draft::new(Cause::OperationContradicted);
        draft.change(
            account,
            Entity::OwnAccount(OwnAccount { status: status.noting(&reply.said), ..account.clone() }),
        );
        return Ruling::write(draft);
    }
    let RailAnswer::Refused { code } = &reply.answer else {
        let Some((status, unsent)) = account.status.after_answer(&reply.answer, reply.how, turn) else {
            return Ruling::unchanged();
        };
        let send = unsent.map(|deposits| order(account, deposits, How::Send, turn));
        let back = limits::came_back(&account.status, &status);
        let unsent = not_sent(reply);
        let attempts = if unsent.is_some() { account.attempts.unsent() } else { account.attempts.clone() };
        let mut draft = Draft::new(Cause::OwnAccountChanged);
        // The state that the tenant sees does not change.
        draft.change(
            account,
            Entity::OwnAccount(OwnAccount {
                status: status.noting(&reply.said),
                attempts,
                ..account.clone()
            }),
        );
        if unsent.is_some() {
            draft.record.cause = Cause::VerificationUnsent;
            draft.record.freed =
                vec![KnownPhone::name(account.held.bank, account.held.phone, reply.operation)];
        }
        if let Some(deposits) = back {
            limits::post_back(&mut draft, deposits, false);
        }
        draft.replaces_kept = account.status.kept();
        let outcome = Ruling::write_then(draft, send.into_iter().collect());
        return Ruling { refusal: unsent, ..outcome };
    };
    let after = account.status.refused(code);
    let back = limits::came_back(&account.status, &after);
    let mut draft = Draft::new(Cause::OwnAccountChanged);
    if code == NOT_THE_CLIENT {
        draft.remove(EntityId::OWN_ACCOUNT, account);
    } else {
        draft = change(account, after.noting(&reply.said), account.attempts.clone(), turn);
    }
    if let Some(deposits) = back {
        limits::post_back(&mut draft, deposits, reply.said.half_done);
    }
    draft.replaces_kept = account.status.kept();
    Ruling::write(draft)
}
