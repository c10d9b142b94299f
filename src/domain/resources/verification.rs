//! The verification of a phone at a bank: two micro-deposits, whose amounts its owner reports
//! (`docs/contract.md, 7.5`). The same for the payout methods of merchants and for the tenant's own
//! account.

pub mod booked;
pub mod limits;

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::resource::Resource;
use crate::entities::verification::{Attempts, Deposits, KnownPhone, MethodStatus, Standing};
use crate::ledger::book::Book;
use crate::rail::{Effect, How, RailAnswer, RailReply, Service, UNSENT_RETRY_SECONDS};
use crate::refusal::{Refusal, VerificationRefusal};
use crate::trace::NEVER;
use crate::values::ids::Id;
use crate::values::money::Ves;
use crate::values::time::Timestamp;
use crate::values::venezuela::{BankCode, MobilePhone};

pub const TRIES: u8 = 3;

/// The time after which a verification that was not confirmed may be started again, in
/// milliseconds.
const START_MS: i64 = 24 * 60 * 60 * 1000;
pub const DEPOSITS: u16 = 2;

pub const NOT_THE_CLIENT: &str = "BE01";

/// A phone at a bank that deposits prove, and whose it is: the tenant's own account, or a method of a merchant.
pub struct Proof<'a, E> {
    pub entity: &'a E,
    /// The cause of records that change it.
    pub cause: Cause,
    pub bank: BankCode,
    pub phone: MobilePhone,
    pub status: &'a MethodStatus,
    pub attempts: &'a Attempts,
    pub order: &'a dyn Fn(Deposits, How) -> Effect,
    /// The entity with another status; whether the tenant sees that it changed.
    pub with: &'a dyn Fn(MethodStatus, Attempts, bool) -> Entity,
}

impl<E: Resource> Proof<'_, E> {
    /// Sends the two micro-deposits that prove it.
    pub fn start(&self, book: &Book, start: &Start, turn: &Turn) -> Ruled {
        let (status, deposits) = self.status.started(self.attempts, start, book, turn)?;
        let effect = (self.order)(deposits, How::Send);
        turn.terms(Service::MicroDeposits, effect.order.bank_call()).may_send()?;
        let started = (self.with)(status, self.attempts.started(turn.now), true);
        let mut draft = Draft::changed(Cause::VerificationStarted, self.entity, started);
        limits::post(&mut draft, [deposits.amounts.0, deposits.amounts.1], -1);
        Ok(Ruling::write_then(draft, vec![effect]))
    }

    /// Compares the amounts that its owner saw with those that were sent; the refusal is written with its try.
    pub fn verify(&self, seen: (Ves, Ves), now: Timestamp) -> Result<(Draft, Option<Refusal>), Refusal> {
        let (status, refusal) = self.status.tried(seen, now)?;
        let mut attempts = self.attempts.clone();
        if let Some(Refusal::Verification(VerificationRefusal::Locked)) = refusal {
            attempts.locked_at = Some(now);
        }
        Ok((Draft::changed(self.cause, self.entity, (self.with)(status, attempts, true)), refusal))
    }

    /// The ruling on the bank's reply about the deposits that it waits for; `gone` is what becomes of a phone that the
    /// bank says is not the client's.
    pub fn on_rail_reply(&self, reply: &RailReply, turn: &Turn, gone: impl FnOnce(&str) -> Draft) -> Ruling {
        let refused =
            if let RailAnswer::Refused { code } = &reply.answer { Some(code.as_str()) } else { None };
        let (after, again) = match refused {
            Some(code) => (self.status.refused(code), None),
            None => match self.status.after_answer(&reply.answer, reply.how, turn) {
                Some(after) => after,
                None => return Ruling::unchanged(),
            },
        };
        let effects = again.map(|deposits| (self.order)(deposits, How::Send)).into_iter().collect();
        let back = limits::came_back(self.status, &after);
        // Nothing of them left this machine: the caller that began is told, and the start does not count.
        let is_unsent = reply.answer == RailAnswer::NotSent && reply.how != How::Ask;
        let mut draft = match refused {
            Some(NOT_THE_CLIENT) => gone(NOT_THE_CLIENT),
            _ => {
                let attempts = if is_unsent { self.attempts.unsent() } else { self.attempts.clone() };
                let after = (self.with)(after.noting(&reply.said), attempts, refused.is_some());
                Draft::changed(self.cause, self.entity, after)
            }
        };
        if is_unsent {
            draft.record.cause = Cause::VerificationUnsent;
            draft.record.freed = vec![KnownPhone::name(self.bank, self.phone, reply.operation)];
        }
        if let Some(deposits) = back {
            // Of those that the bank refused after it had made the first, that one is gone.
            let is_half = refused.is_some() && reply.said.half_done;
            let first = if is_half { Ves::ZERO } else { deposits.amounts.0 };
            limits::post(&mut draft, [first, deposits.amounts.1], 1);
        }
        draft.replaces_kept = self.status.kept();
        let refusal =
            is_unsent.then_some(Refusal::RailUnavailable { retry_after_seconds: UNSENT_RETRY_SECONDS });
        Ruling { refusal, ..Ruling::write_then(draft, effects) }
    }

    /// The record of a reply that contradicts the bank's first one about settled deposits, if it does.
    pub fn contradicted(&self, reply: &RailReply, turn: &Turn) -> Option<Draft> {
        let status = self.status.contradicted(reply.operation, &reply.answer, turn.now)?;
        let after = (self.with)(status.noting(&reply.said), self.attempts.clone(), false);
        Some(Draft::changed(Cause::OperationContradicted, self.entity, after))
    }
}

pub struct Start {
    pub amounts: (Ves, Ves),
    /// The phone to which they go, as it was when they were asked for.
    pub phone: KnownPhone,
}

impl MethodStatus {
    /// The status after a reply about settled deposits that contradicts the bank's first one;
    /// `None` if it does not. The standing does not change by it.
    pub fn contradicted(&self, operation: Id, answer: &RailAnswer, now: Timestamp) -> Option<MethodStatus> {
        let mut word = self.word.clone()?;
        match answer {
            // Only what follows an answer contradicts one: the owner may have been faster than the bank.
            RailAnswer::Done { reference } if word.reference.is_none() && word.code.is_some() => {
                word.reference = Some(reference.clone().unwrap_or_default())
            }
            RailAnswer::Refused { code } if word.code.is_none() && word.reference.is_some() => {
                word.code = Some(code.clone())
            }
            _ => return None,
        }
        word.contradicted_at = Some(now);
        let standing = self.standing.clone();
        (word.operation == operation).then_some(MethodStatus { standing, word: Some(word) })
    }

    /// The status after the bank's reply about the deposits, unless that is a refusal; and the
    /// deposits to send again, if it never received them. `None` when the reply changes nothing.
    pub fn after_answer(
        &self,
        answer: &RailAnswer,
        how: How,
        turn: &Turn<'_>,
    ) -> Option<(MethodStatus, Option<Deposits>)> {
        let now = turn.now;
        let mut changed = self.standing.clone();
        let Standing::Verifying { operation, amounts, looks, next_look, started_at, .. } = &mut changed
        else {
            return None;
        };
        let deposits = Deposits { operation: *operation, amounts: *amounts };
        match (answer, how) {
            // Only a bank that is asked can say that it never received them.
            (RailAnswer::Refused { .. }, _)
            | (
                RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::NeverReceived | RailAnswer::NotAsked,
                How::Send | How::Offer,
            ) => {
                return None;
            }
            // Nothing of them left this machine: they may be sent at once.
            (RailAnswer::NotSent, How::Send | How::Offer) => return Some((MethodStatus::default(), None)),
            (RailAnswer::Unaskable, _) if *next_look == Some(NEVER) => return None,
            (RailAnswer::Unaskable, _) => *next_look = Some(NEVER),
            (RailAnswer::NotAsked, How::Ask) => *next_look = Some(turn.next_look(*looks, *started_at)),
            (RailAnswer::Done { reference }, _) => {
                *next_look = None;
                let reference = reference.clone().unwrap_or_default();
                return Some((self.with_word(changed, Some(reference), None), None));
            }
            // No deposits are under way, and an owner who still waits starts again.
            (RailAnswer::NeverReceived, How::Ask) if now >= started_at.plus_ms(START_MS) => {
                *next_look = None;
                return Some((self.now_standing(changed), None));
            }
            // Deposits that were sent, or are sent again now, are asked about until the bank has
            // decided.
            (
                RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::NeverReceived | RailAnswer::NotSent,
                How::Ask,
            ) => {
                *looks += 1;
                *next_look = Some(turn.next_look(*looks, *started_at));
            }
        }
        Some((self.now_standing(changed), (*answer == RailAnswer::NeverReceived).then_some(deposits)))
    }

    /// The status after a start with deposits of these amounts; the caller must send the deposits
    /// that are returned.
    pub fn started(
        &self,
        attempts: &Attempts,
        start: &Start,
        book: &Book,
        turn: &Turn,
    ) -> Result<(MethodStatus, Deposits), Refusal> {
        match &self.standing {
            Standing::Verified { .. } => return Err(VerificationRefusal::AlreadyVerified.into()),
            Standing::Verifying { tries_left: 1.., started_at, .. }
                if turn.now < started_at.plus_ms(START_MS) =>
            {
                return Err(VerificationRefusal::InProgress.into());
            }
            _ => {}
        }
        attempts.may_start(&start.phone, book, turn)?;
        turn.terms(Service::MicroDeposits, None).may_send()?;
        let amounts = start.amounts;
        let operation = Id::derived(turn.now.unix_ms(), turn.seed, DEPOSITS);
        let next_look = Some(turn.first_look());
        let standing = Standing::Verifying {
            operation,
            amounts,
            tries_left: TRIES,
            started_at: turn.now,
            kept: turn.keep.clone(),
            looks: 0,
            next_look,
        };
        Ok((MethodStatus { standing, word: None }, Deposits { operation, amounts }))
    }

    /// The status after the owner named these amounts, in either order, with a refusal if they are
    /// wrong. An error if there was nothing to try.
    pub fn tried(
        &self,
        seen: (Ves, Ves),
        now: Timestamp,
    ) -> Result<(MethodStatus, Option<Refusal>), Refusal> {
        let (amounts, tries_left) = match self.standing {
            Standing::Verified { .. } => return Err(VerificationRefusal::AlreadyVerified.into()),
            Standing::Verifying { tries_left: 0, .. } => return Err(VerificationRefusal::Locked.into()),
            Standing::Verifying { amounts, tries_left, .. } => (amounts, tries_left - 1),
            Standing::Unverified => return Err(VerificationRefusal::NotStarted.into()),
        };
        if seen == amounts || (seen.1, seen.0) == amounts {
            return Ok((self.now_standing(Standing::Verified { at: now }), None));
        }
        let mut failed = self.standing.clone();
        if let Standing::Verifying { tries_left: left, next_look, .. } = &mut failed {
            *left = tries_left;
            *next_look = next_look.filter(|_| tries_left > 0);
        }
        let refusal = if tries_left == 0 {
            VerificationRefusal::Locked.into()
        } else {
            VerificationRefusal::AmountsMismatch { attempts_left: tries_left }.into()
        };
        Ok((self.now_standing(failed), Some(refusal)))
    }
}

#[cfg(test)]
mod tests;
