//! The state of a verification by two micro-deposits.

use crate::codec::stored;
use crate::index::{Entries, Space};
use crate::kept::KeepRef;
use crate::rail::{Effect, How, Operation, OperationKind, Order, Service, Subject};
use crate::trace::{BankWord, Said, shown};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Ves};
use crate::values::time::Timestamp;
use crate::values::venezuela::{BankCode, IdentityDocument, MobilePhone};
use std::sync::Arc;

stored! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub enum Standing {
        /// The verification was not started, or is void.
        #[default]
        0 Unverified,
        1 Verifying {
            0 operation: Id,
            1 amounts: (Ves, Ves),
            2 tries_left: u8,
            3 started_at: Timestamp,
            /// The kept answer that the bank's reply replaces.
            4 kept: Option<Arc<KeepRef>>,
            5 looks: u32,
            /// The instant at which the bank is asked next; `None` when it has answered, or the answer
            /// does not matter any more.
            6 next_look: Option<Timestamp>,
        },
        2 Verified { 0 at: Timestamp },
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct MethodStatus {
        0 pub standing: Standing,
        /// The bank's reply about the newest deposits.
        1 pub word: Option<Word>,
    }

    /// A bank's reply about deposits. With both a reference and a code the bank contradicts itself: the
    /// first reply counts.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Word {
        0 pub operation: Id,
        1 pub amounts: (Ves, Ves),
        2 pub sent_at: Timestamp,
        3 pub asked_at: Option<Timestamp>,
        4 pub asks: u32,
        5 pub reference: Option<String>,
        6 pub code: Option<String>,
        7 pub contradicted_at: Option<Timestamp>,
        8 pub bank: Option<Box<BankWord>>,
        /// The deposits that its statement showed before it had answered.
        9 pub booked: Booked,
    }
}

/// The mark between the references of two deposits that have one each.
pub(crate) const BETWEEN_REFERENCES: char = '/';

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

/// Two micro-deposits that a bank is told or asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deposits {
    pub operation: Id,
    pub amounts: (Ves, Ves),
}

impl Deposits {
    /// The order about them, to a phone and whose that is said to be.
    pub(crate) fn call(
        self,
        entity: EntityId,
        (bank, phone, identity): (BankCode, MobilePhone, Option<IdentityDocument>),
        how: How,
        at: Timestamp,
    ) -> Effect {
        let order = Order::MicroDeposit { bank, phone, identity, amounts: self.amounts };
        Effect { entity, operation: self.operation, rail_id: None, at, how, order }
    }

    fn operation(self, subject: Subject, sent_at: Timestamp) -> Operation {
        let what = (OperationKind::MicroDeposit, Service::MicroDeposits, subject);
        let sum = (self.amounts.0.minor() + self.amounts.1.minor(), Currency::Ves);
        Operation::of(self.operation, what, sum, None, sent_at)
    }
}

impl MethodStatus {
    /// The status with another standing, and the same reply of the bank.
    pub(crate) fn now_standing(&self, standing: Standing) -> MethodStatus {
        MethodStatus { standing, word: self.word.clone() }
    }

    /// Whether the amounts of its deposits can still be named.
    pub fn is_verifying(&self) -> bool {
        matches!(self.standing, Standing::Verifying { tries_left: 1.., .. })
    }

    pub fn name(&self) -> &'static str {
        match self.standing {
            _ if self.is_verifying() => "verifying",
            Standing::Verified { .. } => "verified",
            _ => "unverified",
        }
    }

    pub fn is_verified(&self) -> bool {
        self.verified_at().is_some()
    }

    pub fn verified_at(&self) -> Option<Timestamp> {
        if let Standing::Verified { at } = self.standing { Some(at) } else { None }
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

    pub fn index_start(&self, bank: BankCode, phone: MobilePhone, entries: &mut Entries<'_>) {
        if let Some((deposits, ..)) = self.open() {
            entries.name_in(Space::DepositStart, &KnownPhone::name(bank, phone, deposits.operation));
        }
    }

    /// The operation of the newest deposits, if the bank ever said that it made them, or its statement
    /// shows one.
    pub fn made(&self) -> Option<Id> {
        let is_known = |word: &&Word| word.reference.is_some() || !word.booked.is_empty();
        self.word.as_ref().filter(is_known).map(|word| word.operation)
    }

    /// The deposits that the bank has not answered about: the operation and the amounts, the start,
    /// the number of questions, and the instant of the next.
    pub fn open(&self) -> Option<(Deposits, Timestamp, u32, Timestamp)> {
        match self.standing {
            Standing::Verifying { operation, amounts, started_at, looks, next_look: Some(next), .. } => {
                Some((Deposits { operation, amounts }, started_at, looks, next))
            }
            _ => None,
        }
    }

    /// The status with the bank's first reply about the open deposits.
    pub(crate) fn with_word(
        &self,
        standing: Standing,
        reference: Option<String>,
        code: Option<String>,
    ) -> MethodStatus {
        let Some((Deposits { operation, amounts }, sent_at, looks, _)) = self.open() else {
            return MethodStatus { standing, word: None };
        };
        let (asked_at, asks, bank) = match &self.word {
            Some(word) if word.operation == operation => (word.asked_at, word.asks, word.bank.clone()),
            _ => (None, looks, None),
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
        MethodStatus { standing, word: Some(word) }
    }

    /// The status with a word about the deposits that are under way, though the bank has not answered.
    pub(crate) fn with_trace(self) -> MethodStatus {
        match self {
            MethodStatus { standing: standing @ Standing::Verifying { .. }, word: None } => {
                let begun = MethodStatus { standing: standing.clone(), word: None };
                begun.with_word(standing, None, None)
            }
            status => status,
        }
    }

    /// The status once the bank was asked about the deposits of this operation, and answered.
    pub fn asked(self, operation: Id, now: Timestamp) -> MethodStatus {
        let is_first = self.word.is_none();
        let mut asked = self.with_trace();
        if let Some(word) = &mut asked.word {
            if is_first {
                // The question is counted among the looks already.
                word.asks = word.asks.saturating_sub(1);
            }
            if word.operation == operation {
                word.asks = word.asks.saturating_add(1);
                word.asked_at = Some(now);
            }
        }
        asked
    }

    pub fn noting(self, said: &Said) -> MethodStatus {
        let Some(bank) = &said.word else { return self };
        let mut noted = self.with_trace();
        if let Some(word) = &mut noted.word {
            word.bank = Some(bank.clone());
        }
        noted
    }

    pub fn refused(&self, code: &str) -> MethodStatus {
        self.with_word(Standing::Unverified, None, Some(code.to_owned()))
    }

    /// The deposits of a method that the bank has not answered about, as an operation.
    pub fn operation(&self, subject: Subject) -> Option<Operation> {
        let (deposits, sent_at, looks, _) = self.open()?;
        let operation = deposits.operation(subject, sent_at);
        let Some(word) = &self.word else { return Some(Operation { asks: looks, ..operation }) };
        let (asked_at, asks) = match word.operation == deposits.operation {
            true => (word.asked_at, word.asks),
            false => (None, looks),
        };
        Some(Operation { asked_at, asks, word: word.bank.as_deref().cloned(), ..operation })
    }

    /// The deposits of a method about which the bank contradicted itself at this instant, as an
    /// operation.
    pub fn contradiction(&self, subject: Subject, at: Timestamp) -> Option<Operation> {
        let word = self.word.as_ref().filter(|word| word.contradicted_at == Some(at))?;
        Some(Operation {
            asked_at: word.asked_at,
            asks: word.asks,
            word: word.bank.as_deref().cloned(),
            code: word.code.clone(),
            reference: word.reference.clone(),
            ..Deposits { operation: word.operation, amounts: word.amounts }.operation(subject, word.sent_at)
        })
    }

    /// Whether operation `sent_by` sent deposits that the bank has not answered about.
    pub fn waits_for(&self, sent_by: Id) -> bool {
        self.open().is_some_and(|(deposits, ..)| deposits.operation == sent_by)
    }

    /// Whether `operation` sent the newest deposits, decided or not.
    pub fn is_of(&self, sent_by: Id) -> bool {
        let is_begun = matches!(self.standing, Standing::Verifying { operation, .. } if operation == sent_by);
        is_begun || self.word.as_ref().is_some_and(|word| word.operation == sent_by)
    }

    pub fn deadline(&self) -> Option<Timestamp> {
        self.open().map(|(.., next_look)| next_look)
    }

    pub fn due(&self, now: Timestamp) -> Option<Deposits> {
        self.open().filter(|(.., next_look)| *next_look <= now).map(|(deposits, ..)| deposits)
    }

    /// The kept answer that the bank's reply replaces.
    pub fn kept(&self) -> Option<Arc<KeepRef>> {
        if let Standing::Verifying { kept, .. } = &self.standing { kept.clone() } else { None }
    }
}

stored! {
    /// The references of the lines by which each of two deposits is booked.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Booked {
        0 pub first: Option<String>,
        1 pub second: Option<String>,
    }
}

impl Booked {
    pub const fn is_empty(&self) -> bool {
        self.first.is_none() && self.second.is_none()
    }

    pub fn has(&self, reference: &str) -> bool {
        [&self.first, &self.second].into_iter().flatten().any(|known| known == reference)
    }

    pub(crate) const fn overlaps(&self, other: &Booked) -> bool {
        self.first.is_some() && other.first.is_some() || self.second.is_some() && other.second.is_some()
    }

    pub fn with(&self, other: &Booked) -> Booked {
        Booked {
            first: self.first.clone().or_else(|| other.first.clone()),
            second: self.second.clone().or_else(|| other.second.clone()),
        }
    }

    pub fn both(&self) -> Option<String> {
        let (first, second) = (self.first.clone()?, self.second.clone()?);
        references_of_two(Some(first), Some(second))
    }

    /// The references of both, where `said` is the bank's word, or an operator's, for what is not booked.
    pub(crate) fn completed_by(&self, said: String) -> String {
        if self.is_empty() {
            return said;
        }
        let halves = said.split_once(BETWEEN_REFERENCES);
        let (first, second) = halves.unwrap_or((said.as_str(), said.as_str()));
        let rest = Booked { first: Some(first.to_owned()), second: Some(second.to_owned()) };
        self.with(&rest).both().unwrap_or_default()
    }
}

pub const STARTS_MAX: usize = 3;

stored! {
    /// The starts and the wrong tries of a method that count.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Attempts {
        /// The instants of the newest starts, oldest first; at most [`STARTS_MAX`].
        0 pub starts: Vec<Timestamp>,
        /// The instant of the last of the wrong tries that locked the method.
        1 pub locked_at: Option<Timestamp>,
    }
}

/// A phone at a bank, and when its verification was started lately, by whomever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPhone {
    pub bank: BankCode,
    pub phone: MobilePhone,
    pub starts: Vec<Timestamp>,
}

impl KnownPhone {
    /// The beginning of the names of starts of a phone; that of the operation follows.
    pub fn prefix(bank: BankCode, phone: MobilePhone) -> String {
        format!("{bank} {} ", phone.clear())
    }

    pub fn name(bank: BankCode, phone: MobilePhone, operation: Id) -> String {
        format!("{}{operation}", KnownPhone::prefix(bank, phone))
    }
}

impl Attempts {
    #[must_use]
    pub fn started(&self, now: Timestamp) -> Attempts {
        let skipped = (self.starts.len() + 1).saturating_sub(STARTS_MAX);
        let starts = self.starts.iter().skip(skipped).copied().chain([now]).collect();
        Attempts { starts, locked_at: None }
    }

    /// Without the newest start, of which nothing left this machine.
    #[must_use]
    pub fn unsent(&self) -> Attempts {
        let mut starts = self.starts.clone();
        starts.pop();
        Attempts { starts, ..self.clone() }
    }
}
