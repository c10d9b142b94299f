//! The tenant's own payout account, one per mode: the destination of instant payouts once it is
//! verified (`docs/contract.md, 7.11`).

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Rules, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::own_account::{OwnAccount, OwnPhone};
use crate::entities::verification::{Attempts, Deposits, MethodStatus};
use crate::ledger::book::Book;
use crate::rail::{Effect, How, Operation, RailReply, Subject};
use crate::refusal::{Refusal, VerificationRefusal};
use crate::resources::verification::{Proof, Start};
use crate::values::ids::{EntityId, Id};
use crate::values::money::Ves;
use crate::values::time::Timestamp;

pub enum Command {
    Set(OwnPhone),
    StartVerification(Box<Start>),
    Verify((Ves, Ves)),
}

pub fn decide(book: &Book, account: Option<&OwnAccount>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, account) {
        (Command::Set(held), account) => Ok(set(account, held, turn)),
        (Command::StartVerification(start), Some(account)) => {
            if (start.phone.bank, start.phone.phone) != (account.held.bank, account.held.phone) {
                return Err(VerificationRefusal::PhoneChanged.into());
            }
            account.prove(turn, |proof| proof.start(book, &start, turn))
        }
        (Command::Verify(seen), Some(account)) => {
            let (draft, refusal) = account.prove(turn, |proof| proof.verify(seen, turn.now))?;
            Ok(Ruling { refusal, ..Ruling::write(draft) })
        }
        (Command::StartVerification(_) | Command::Verify(_), None) => Err(Refusal::NotFound),
    }
}

/// Sets the account. A new one has to be verified again.
fn set(existing: Option<&OwnAccount>, held: OwnPhone, turn: &Turn) -> Ruling {
    let mut account = OwnAccount {
        held,
        status: MethodStatus::default(),
        livemode: turn.livemode,
        created_at: turn.now,
        updated_at: turn.now,
        attempts: Attempts::default(),
    };
    let Some(existing) = existing else {
        return Ruling::write(Draft::created(Cause::OwnAccountChanged, account));
    };
    if existing.held == held {
        return Ruling::unchanged();
    }
    account.created_at = existing.created_at;
    if (existing.held.bank, existing.held.phone) == (held.bank, held.phone) {
        account.attempts = existing.attempts.clone();
    }
    Ruling::write(Draft::changed(Cause::OwnAccountChanged, existing, account))
}

fn order(account: &OwnAccount, deposits: Deposits, how: How, turn: &Turn) -> Effect {
    let OwnPhone { bank, phone, identification } = account.held;
    deposits.call(EntityId::OWN_ACCOUNT, (bank, phone, Some(identification)), how, turn.now)
}

impl OwnAccount {
    fn prove<T>(&self, turn: &Turn, then: impl FnOnce(Proof<'_, OwnAccount>) -> T) -> T {
        let with = |status, attempts, is_seen| {
            let updated_at = if is_seen { turn.now } else { self.updated_at };
            Entity::OwnAccount(OwnAccount { status, attempts, updated_at, ..self.clone() })
        };
        then(Proof {
            entity: self,
            cause: Cause::OwnAccountChanged,
            bank: self.held.bank,
            phone: self.held.phone,
            status: &self.status,
            attempts: &self.attempts,
            order: &|deposits, how| order(self, deposits, how, turn),
            with: &with,
        })
    }
}

impl Rules for OwnAccount {
    /// An account that is not the tenant's is removed.
    fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        let gone = |_: &str| {
            let mut draft = Draft::new(Cause::OwnAccountChanged);
            draft.remove(EntityId::OWN_ACCOUNT, self);
            draft
        };
        self.prove(turn, |proof| match proof.status.waits_for(reply.operation) {
            true => proof.on_rail_reply(&reply, turn, gone),
            false => proof.contradicted(&reply, turn).map_or_else(Ruling::unchanged, Ruling::write),
        })
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
