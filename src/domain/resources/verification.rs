//! The verification of a phone at a bank: two micro-deposits, whose amounts its owner reports
//! (`docs/contract.md, 7.5`). The same for the payout methods of merchants and for the tenant's own
//! account.

pub mod booked;
pub mod limits;

use crate::decision::Turn;
use crate::entities::verification::{Attempts, KnownPhone};
use crate::entities::verification::{Deposits, MethodStatus};
use crate::ledger::book::Book;
use crate::rail::{How, RailAnswer, RailReply, Service, UNSENT_RETRY_SECONDS};
use crate::refusal::{Refusal, VerificationRefusal};
use crate::trace::NEVER;
use crate::values::ids::Id;
use crate::values::money::Ves;
use crate::values::time::Timestamp;

pub const TRIES: u8 = 3;

/// The time after which a verification that was not confirmed may be started again, in
/// milliseconds.
const START_MS: i64 = 24 * 60 * 60 * 1000;
pub const DEPOSITS: u16 = 2;

pub const NOT_THE_CLIENT: &str = "BE01";

/// The refusal for the caller that began, when nothing of the deposits left this machine.
pub fn not_sent(reply: &RailReply) -> Option<Refusal> {
    let is_unsent = reply.answer == RailAnswer::NotSent && reply.how != How::Ask;
    is_unsent.then_some(Refusal::RailUnavailable { retry_after_seconds: UNSENT_RETRY_SECONDS })
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
        let MethodStatus::Contradicted { word, then } = self else { return None };
        let mut word = word.clone();
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
        (word.operation == operation).then(|| MethodStatus::Contradicted { word, then: then.clone() })
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
        let mut changed = self.standing().clone();
        let MethodStatus::Verifying { operation, amounts, looks, next_look, started_at, .. } = &mut changed
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
            (RailAnswer::NotSent, How::Send | How::Offer) => return Some((MethodStatus::Unverified, None)),
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
        match self.standing() {
            MethodStatus::Verified { .. } => return Err(VerificationRefusal::AlreadyVerified.into()),
            MethodStatus::Verifying { tries_left: 1.., started_at, .. }
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
        Ok((
            MethodStatus::Verifying {
                operation,
                amounts,
                tries_left: TRIES,
                started_at: turn.now,
                kept: turn.keep.clone(),
                looks: 0,
                next_look,
            },
            Deposits { operation, amounts },
        ))
    }

    /// The status after the owner named these amounts, in either order, with a refusal if they are
    /// wrong. An error if there was nothing to try.
    pub fn tried(
        &self,
        seen: (Ves, Ves),
        now: Timestamp,
    ) -> Result<(MethodStatus, Option<Refusal>), Refusal> {
        let standing = self.standing();
        let (amounts, tries_left) = match standing {
            MethodStatus::Verified { .. } => return Err(VerificationRefusal::AlreadyVerified.into()),
            MethodStatus::Verifying { tries_left: 0, .. } => return Err(VerificationRefusal::Locked.into()),
            MethodStatus::Verifying { amounts, tries_left, .. } => (*amounts, tries_left - 1),
            MethodStatus::Unverified | MethodStatus::Contradicted { .. } => {
                return Err(VerificationRefusal::NotStarted.into());
            }
        };
        if seen == amounts || (seen.1, seen.0) == amounts {
            return Ok((self.now_standing(MethodStatus::Verified { at: now }), None));
        }
        let mut failed = standing.clone();
        if let MethodStatus::Verifying { tries_left: left, next_look, .. } = &mut failed {
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
