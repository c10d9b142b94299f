//! The verification of a phone at a bank: two micro-deposits, whose amounts its owner reports
//! (`docs/contract.md, 7.5`). The same for the payout methods of merchants and for the tenant's own
//! account.

pub mod booked;
pub mod limits;

use crate::codec::stored;
use crate::decision::Turn;
use crate::index::Entries;
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::rail::{
    How, Operation, OperationKind, RailAnswer, RailReply, Service, Subject, UNSENT_RETRY_SECONDS,
};
use crate::refusal::{Refusal, VerificationRefusal};
use crate::trace::{self, BankWord, NEVER, Said, shown};
use crate::values::ids::Id;
use crate::values::money::{Currency, Ves};
use crate::values::time::Timestamp;
use booked::Booked;
use limits::{Attempts, KnownPhone};
use std::sync::Arc;

/// The number of wrong tries after which a verification is void.
pub const TRIES: u8 = 3;

/// The time after which a verification that was not confirmed may be started again, in
/// milliseconds.
const START_MS: i64 = 24 * 60 * 60 * 1000;
/// The number in the id of an operation that sends them.
pub const DEPOSITS: u16 = 2;

/// The bank's code for data that are not this client's.
pub const NOT_THE_CLIENT: &str = "BE01";

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum MethodStatus {
        /// The verification was not started, or is void.
        0 Unverified,
        1 Verifying {
            0 operation: Id,
            1 amounts: (Ves, Ves),
            /// The number of tries left; at 0 the verification is locked.
            2 tries_left: u8,
            3 started_at: Timestamp,
            /// The kept answer that the bank's reply replaces.
            4 kept: Option<Arc<KeepRef>>,
            /// The number of times that the bank was asked about the deposits.
            5 looks: u32,
            /// The instant at which the bank is asked next; `None` when it has answered, or the answer
            /// does not matter any more.
            6 next_look: Option<Timestamp>,
        },
        2 Verified { 0 at: Timestamp },
        /// A status with the bank's reply about the newest deposits beside it.
        3 Contradicted { 0 word: Word, 1 then: Box<MethodStatus> },
    }

    /// A bank's reply about deposits. With both a reference and a code the bank contradicts itself: the
    /// first reply counts.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Word {
        0 pub operation: Id,
        1 pub amounts: (Ves, Ves),
        2 pub sent_at: Timestamp,
        /// The instant at which the bank was asked about them last.
        3 pub asked_at: Option<Timestamp>,
        /// The number of times that the bank was asked about them.
        4 pub asks: u32,
        /// The bank's reference, if it made them.
        5 pub reference: Option<String>,
        /// The bank's code, if it refused them.
        6 pub code: Option<String>,
        /// The instant at which the bank contradicted its first reply.
        7 pub contradicted_at: Option<Timestamp>,
        /// The bank's own code and text, the newest ones.
        8 pub bank: Option<Box<BankWord>>,
        /// The deposits that its statement showed before it had answered.
        9 pub booked: Booked,
    }
}

/// The mark between the references of two deposits that have one each.
const BETWEEN_REFERENCES: char = '/';

/// The references of two deposits, as they are kept: one if they are the same.
pub fn references_of_two(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) if first != second => {
            Some(format!("{first}{BETWEEN_REFERENCES}{second}"))
        }
        (first, second) => first.or(second),
    }
}

impl Word {
    /// The bank's reference of each deposit, of what it made and gave one; both are the same where one
    /// reference stands for them.
    pub fn references(&self) -> (Option<&str>, Option<&str>) {
        let all = shown(&self.reference);
        match all.and_then(|all| all.split_once(BETWEEN_REFERENCES)) {
            Some((first, second)) => {
                let given = |reference| Some(reference).filter(|reference: &&str| !reference.is_empty());
                (given(first), given(second))
            }
            None => (all, all),
        }
    }
}

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

/// Two micro-deposits that a bank is told or asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deposits {
    pub operation: Id,
    pub amounts: (Ves, Ves),
}

impl MethodStatus {
    /// The status, without the bank's reply about the deposits.
    fn standing(&self) -> &MethodStatus {
        if let MethodStatus::Contradicted { then, .. } = self { then.standing() } else { self }
    }

    /// The status with another standing, and the same reply of the bank.
    fn now_standing(&self, then: MethodStatus) -> MethodStatus {
        match self {
            MethodStatus::Contradicted { word, .. } => {
                MethodStatus::Contradicted { word: word.clone(), then: Box::new(then) }
            }
            _ => then,
        }
    }

    pub fn name(&self) -> &'static str {
        match self.standing() {
            MethodStatus::Verifying { tries_left: 1.., .. } => "verifying",
            MethodStatus::Verified { .. } => "verified",
            _ => "unverified",
        }
    }

    pub fn is_verified(&self) -> bool {
        self.verified_at().is_some()
    }

    pub fn verified_at(&self) -> Option<Timestamp> {
        if let MethodStatus::Verified { at } = self.standing() { Some(*at) } else { None }
    }

    /// The bank's reply about the newest deposits.
    pub const fn word(&self) -> Option<&Word> {
        if let MethodStatus::Contradicted { word, .. } = self { Some(word) } else { None }
    }

    /// The entries of the newest deposits: while they are open, and once they are known to be made.
    pub fn index(&self, entries: &mut Entries<'_>) {
        if let Some((deposits, ..)) = self.open() {
            entries.deposit_order(deposits.operation);
        }
        if let Some(operation) = self.made() {
            entries.micro_deposits(operation);
        }
    }

    /// The operation of the newest deposits, if the bank ever said that it made them, or its statement
    /// shows one.
    pub fn made(&self) -> Option<Id> {
        let is_known = |word: &&Word| word.reference.is_some() || !word.booked.is_empty();
        self.word().filter(is_known).map(|word| word.operation)
    }

    /// The deposits that the bank has not answered about: the operation and the amounts, the start,
    /// the number of questions, and the instant of the next.
    pub fn open(&self) -> Option<(Deposits, Timestamp, u32, Timestamp)> {
        match self.standing() {
            MethodStatus::Verifying {
                operation, amounts, started_at, looks, next_look: Some(next), ..
            } => Some((Deposits { operation: *operation, amounts: *amounts }, *started_at, *looks, *next)),
            _ => None,
        }
    }

    /// The status with the bank's first reply about the open deposits.
    fn with_word(&self, then: MethodStatus, reference: Option<String>, code: Option<String>) -> MethodStatus {
        let Some((Deposits { operation, amounts }, sent_at, looks, next_look)) = self.open() else {
            return then;
        };
        let (asked_at, asks, bank) = match self.word().filter(|word| word.operation == operation) {
            Some(word) => (word.asked_at, word.asks, word.bank.clone()),
            None => (trace::asked_at(next_look, looks), looks, None),
        };
        let booked = self.booked(operation).cloned().unwrap_or_default();
        let reference = reference.map(|said| booked.completed_by(said));
        let contradicted_at = None;
        let word = Word {
            operation,
            amounts,
            sent_at,
            asked_at,
            asks,
            reference,
            code,
            contradicted_at,
            bank,
            booked,
        };
        MethodStatus::Contradicted { word, then: Box::new(then) }
    }

    /// The status once the bank was asked about the deposits of this operation, and answered.
    pub fn asked(self, operation: Id, now: Timestamp) -> MethodStatus {
        let mut asked = match (&self, self.open()) {
            // The question is counted among the looks already.
            (MethodStatus::Verifying { .. }, Some((_, _, looks, _))) => {
                let mut begun = self.with_word(self.clone(), None, None);
                if let MethodStatus::Contradicted { word, .. } = &mut begun {
                    word.asks = looks.saturating_sub(1);
                }
                begun
            }
            _ => self,
        };
        if let MethodStatus::Contradicted { word, .. } = &mut asked
            && word.operation == operation
        {
            word.asks = word.asks.saturating_add(1);
            word.asked_at = Some(now);
        }
        asked
    }

    /// The status with the bank's own code and text about the newest deposits.
    pub fn noting(self, said: &Said) -> MethodStatus {
        let Some(bank) = &said.word else { return self };
        let mut noted = match &self {
            MethodStatus::Verifying { .. } => self.with_word(self.clone(), None, None),
            _ => self,
        };
        if let MethodStatus::Contradicted { word, .. } = &mut noted {
            word.bank = Some(bank.clone());
        }
        noted
    }

    /// The status after the bank refused the open deposits.
    pub fn refused(&self, code: &str) -> MethodStatus {
        self.with_word(MethodStatus::Unverified, None, Some(code.to_owned()))
    }

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

    /// The deposits of a method that the bank has not answered about, as an operation.
    pub fn operation(&self, subject: Subject) -> Option<Operation> {
        let (deposits, sent_at, looks, next_look) = self.open()?;
        let (one, other) = deposits.amounts;
        let known = self.word().filter(|word| word.operation == deposits.operation);
        Some(Operation {
            id: deposits.operation,
            kind: OperationKind::MicroDeposit,
            service: Service::MicroDeposits,
            subject,
            minor: one.minor() + other.minor(),
            currency: Currency::Ves,
            sent_at,
            asked_at: match known {
                Some(word) => word.asked_at,
                None => trace::asked_at(next_look, looks),
            },
            asks: known.map_or(looks, |word| word.asks),
            is_queued: false,
            is_operators: false,
            word: self.word().and_then(|word| word.bank.as_deref().cloned()),
            code: None,
            reference: None,
        })
    }

    /// The deposits of a method about which the bank contradicted itself at this instant, as an
    /// operation.
    pub fn contradiction(&self, subject: Subject, at: Timestamp) -> Option<Operation> {
        let word = self.word().filter(|word| word.contradicted_at == Some(at))?;
        let (one, other) = word.amounts;
        Some(Operation {
            id: word.operation,
            kind: OperationKind::MicroDeposit,
            service: Service::MicroDeposits,
            subject,
            minor: one.minor() + other.minor(),
            currency: Currency::Ves,
            sent_at: word.sent_at,
            asked_at: word.asked_at,
            asks: word.asks,
            is_queued: false,
            is_operators: false,
            word: word.bank.as_deref().cloned(),
            code: word.code.clone(),
            reference: word.reference.clone(),
        })
    }

    /// Whether operation `sent_by` sent deposits that the bank has not answered about.
    pub fn waits_for(&self, sent_by: Id) -> bool {
        self.open().is_some_and(|(deposits, ..)| deposits.operation == sent_by)
    }

    /// Whether `operation` sent the newest deposits, decided or not.
    pub fn is_of(&self, sent_by: Id) -> bool {
        let is_begun =
            matches!(self.standing(), MethodStatus::Verifying { operation, .. } if *operation == sent_by);
        is_begun || self.word().is_some_and(|word| word.operation == sent_by)
    }

    /// The instant at which the bank is to be asked about the deposits.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.open().map(|(.., next_look)| next_look)
    }

    /// The deposits that the bank is to be asked about by now, if there are any.
    pub fn due(&self, now: Timestamp) -> Option<Deposits> {
        self.open().filter(|(.., next_look)| *next_look <= now).map(|(deposits, ..)| deposits)
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

    /// The kept answer that the bank's reply replaces.
    pub fn kept(&self) -> Option<Arc<KeepRef>> {
        if let MethodStatus::Verifying { kept, .. } = self.standing() { kept.clone() } else { None }
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
