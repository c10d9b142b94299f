//! Operations with banks that operators may have to settle: those that no bank has answered, and
//! those about which a bank contradicted itself; and an operator's word on one in the bank's place
//! (`docs/contract.md, 5.13`).

use crate::at_rail::{AtRail, AtRailMut};
use crate::codec::stored;
use crate::decision::{Ruling, Turn};
use crate::rail::{RailAnswer, Service};
use crate::record::Entity;
use crate::refusal::Refusal;
use crate::resources::collections::asked_on;
use crate::resources::cop_payments::collect::WRONG_CODE;
use crate::resources::cop_payments::{self, CopPayment};
use crate::resources::crypto;
use crate::resources::crypto::payouts::{CryptoPayout, Status as CryptoStatus};
use crate::resources::payments::{self, Means, Payment, Phase};
use crate::resources::payouts::{self, Payout, Status as PayoutStatus};
use crate::resources::verification::MethodStatus;
use crate::trace::{self, BankWord, Trace};
use crate::values::ids::Id;
use crate::values::money::{Currency, write_minor};
use crate::values::time::Timestamp;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    C2p,
    C2pReversal,
    Debit,
    Card,
    Payout,
    MicroDeposit,
    CopPayment,
    CopRefund,
    CryptoPayout,
}

impl Kind {
    pub const ALL: [Kind; 9] = [
        Kind::C2p,
        Kind::C2pReversal,
        Kind::Debit,
        Kind::Card,
        Kind::Payout,
        Kind::MicroDeposit,
        Kind::CopPayment,
        Kind::CopRefund,
        Kind::CryptoPayout,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Kind::C2p => "c2p",
            Kind::C2pReversal => "c2p_reversal",
            Kind::Debit => "debit",
            Kind::Card => "card",
            Kind::Payout => "payout",
            Kind::MicroDeposit => "micro_deposit",
            Kind::CopPayment => "cop_payment",
            Kind::CopRefund => "cop_refund",
            Kind::CryptoPayout => "crypto_payout",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Payment(Id),
    Payout(Id),
    PayoutMethod(Id),
    /// The tenant's own payout account, of which there is one.
    PayoutAccount,
    CryptoPayout(Id),
}

impl Subject {
    /// The names of all types in the API.
    pub const TYPES: [&str; 4] = ["payment", "payout", "payout_method", "crypto_payout"];

    /// The name of its type in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Payment(_) => "payment",
            Subject::Payout(_) => "payout",
            Subject::PayoutMethod(_) | Subject::PayoutAccount => "payout_method",
            Subject::CryptoPayout(_) => "crypto_payout",
        }
    }

    /// The id of the subject; `None` of the own account, which is known by its tenant's.
    pub const fn id(self) -> Option<Id> {
        match self {
            Subject::Payment(id)
            | Subject::Payout(id)
            | Subject::PayoutMethod(id)
            | Subject::CryptoPayout(id) => Some(id),
            Subject::PayoutAccount => None,
        }
    }
}

/// An operation with a bank, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub id: Id,
    pub kind: Kind,
    pub service: Service,
    pub subject: Subject,
    /// The amount, in minor units.
    pub minor: i64,
    pub currency: Currency,
    /// The instant at which it was sent, or at which it began to wait for its turn.
    pub sent_at: Timestamp,
    /// The instant at which the bank was asked about it last.
    pub asked_at: Option<Timestamp>,
    /// The number of times that the bank was asked.
    pub asks: u32,
    /// Whether it waits for its turn: nothing of it has left this machine.
    pub is_queued: bool,
    /// Whether nobody but an operator can decide about it, however new it is.
    pub is_operators: bool,
    /// With which code of ours the bank refused it.
    pub code: Option<String>,
    pub word: Option<BankWord>,
    pub reference: Option<String>,
}

impl Operation {
    /// The amount, with the decimals of its currency.
    pub fn amount(&self) -> String {
        let mut amount = String::new();
        // Writing into text does not fail.
        let _ = write_minor(&mut amount, self.minor, self.currency.decimals());
        amount
    }
}

/// The number of looks at an order that is looked at.
type Looks = Option<u32>;

/// The times that a bank was asked about an order; those of an earlier version have only looks.
fn asks(trace: Option<&Trace>, looks: Looks) -> u32 {
    trace.and_then(|trace| trace.asks).or(looks).unwrap_or(0)
}

fn word(trace: &Trace) -> Option<BankWord> {
    trace.word.as_deref().cloned()
}

/// An operation of a payment in bolívares; `None` for one that no bank was ordered to carry out.
fn of_payment(payment: &Payment, n: u16, looks: Looks) -> Option<Operation> {
    let kind = match (&payment.means, n) {
        (Means::C2p { .. }, n) if payments::is_reversal(n) => Kind::C2pReversal,
        (Means::C2p { .. }, _) => Kind::C2p,
        (Means::Debit { .. }, _) => Kind::Debit,
        (Means::Card { .. }, _) => Kind::Card,
        (Means::Transfer { .. } | Means::Usdt { .. }, _) => return None,
    };
    let is_reversal = kind == Kind::C2pReversal;
    let earlier = payment.earlier_reversal.as_ref().filter(|earlier| earlier.operation == n);
    let is_newest = is_reversal && n == payment.reversal();
    let order = payment.order(n);
    let since = payment.completed_at.filter(|_| is_reversal).unwrap_or(payment.created_at);
    let denied = if let Phase::ReversalDenied { code } = &payment.phase { Some(code) } else { None };
    Some(Operation {
        id: payment.id.operation(n),
        kind,
        service: payment.means.service(),
        subject: Subject::Payment(payment.id),
        minor: payment.ves.minor(),
        currency: Currency::Ves,
        // An intent is older than its charge, and a payment than its reversal.
        sent_at: order.and_then(|trace| trace.sent_at).unwrap_or(since),
        asked_at: order.and_then(|trace| trace.asked_at),
        asks: asks(order, looks),
        is_queued: false,
        is_operators: order.is_some_and(Trace::is_ambiguous),
        word: order.and_then(word),
        code: if is_reversal { denied.filter(|_| is_newest).cloned() } else { payment.failure_code.clone() },
        reference: match (is_reversal, earlier) {
            (false, _) => payment.bank_reference.clone(),
            (true, Some(earlier)) => Some(earlier.reference.clone()),
            (true, None) => payment.reversal_ref.clone().filter(|_| is_newest),
        },
    })
}

fn of_payout(payout: &Payout) -> Operation {
    Operation {
        id: payout.id.operation(payouts::CREDIT),
        kind: Kind::Payout,
        service: Service::Payouts,
        subject: Subject::Payout(payout.id),
        minor: payout.amount.minor(),
        currency: Currency::Ves,
        sent_at: payout.trace.sent_at.unwrap_or(payout.created_at),
        asked_at: payout.trace.asked_at,
        asks: asks(Some(&payout.trace), Some(payout.looks)),
        is_queued: payout.status == PayoutStatus::Pending && payout.trace.is_queued(),
        is_operators: payout.trace.is_ambiguous(),
        code: payout.failure_code.clone(),
        word: word(&payout.trace),
        reference: payout.reference.clone(),
    }
}

fn of_crypto_payout(payout: &CryptoPayout) -> Operation {
    Operation {
        id: payout.id.operation(crypto::payouts::SEND),
        kind: Kind::CryptoPayout,
        service: Service::Usdt(payout.network),
        subject: Subject::CryptoPayout(payout.id),
        minor: payout.amount.minor(),
        currency: Currency::Usdt,
        // The payout may have waited for an operator first.
        sent_at: payout.trace.sent_at.unwrap_or(payout.created_at),
        asked_at: payout.trace.asked_at,
        asks: asks(Some(&payout.trace), Some(payout.looks)),
        is_queued: payout.status == CryptoStatus::Processing && payout.trace.is_queued(),
        is_operators: false,
        word: word(&payout.trace),
        code: payout.failure_code.clone(),
        reference: payout.tx_hash.clone(),
    }
}

fn of_cop_payment(payment: &CopPayment, n: u16, looks: Looks) -> Operation {
    let is_refund = n != cop_payments::COLLECT;
    let since = payment.completed_at.filter(|_| is_refund).unwrap_or(payment.created_at);
    let order = payment.order(n);
    // A contradiction of a refund is about the newest.
    let is_of_it = |failure: &cop_payments::Failure| match failure.is_of_refund() {
        true => payment.is_refund(n),
        false => !is_refund,
    };
    let code = payment.failure_code().filter(|_| payment.failure.as_ref().is_some_and(is_of_it));
    Operation {
        id: payment.id.operation(n),
        kind: if is_refund { Kind::CopRefund } else { Kind::CopPayment },
        service: Service::Cop,
        subject: Subject::Payment(payment.id),
        minor: payment.net().filter(|_| is_refund).unwrap_or(payment.amount).minor(),
        currency: Currency::Cop,
        sent_at: order.and_then(|trace| trace.sent_at).unwrap_or(since),
        asked_at: order.and_then(|trace| trace.asked_at),
        asks: match payment.live {
            Some(live) if !is_refund => live.asks,
            _ => asks(order, looks),
        },
        is_queued: false,
        is_operators: match (is_refund, payment.live) {
            (_, None) => false,
            (true, Some(_)) => true,
            (false, Some(live)) => live.misfit,
        },
        word: order.and_then(word),
        code: code.map(str::to_owned),
        reference: if is_refund {
            payment.reference_of_refund(n).map(str::to_owned)
        } else {
            payment.processor_reference.clone()
        },
    }
}

/// The deposits of a method that the bank has not answered about, as an operation.
fn of_deposits(status: &MethodStatus, subject: Subject) -> Option<Operation> {
    let (deposits, sent_at, looks, next_look) = status.open()?;
    let (one, other) = deposits.amounts;
    let known = status.word().filter(|word| word.operation == deposits.operation);
    Some(Operation {
        id: deposits.operation,
        kind: Kind::MicroDeposit,
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
        word: status.word().and_then(|word| word.bank.as_deref().cloned()),
        code: None,
        reference: None,
    })
}

/// The deposits of a method about which the bank contradicted itself at this instant, as an
/// operation.
fn of_word(status: &MethodStatus, subject: Subject, at: Timestamp) -> Option<Operation> {
    let word = status.word().filter(|word| word.contradicted_at == Some(at))?;
    let (one, other) = word.amounts;
    Some(Operation {
        id: word.operation,
        kind: Kind::MicroDeposit,
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

/// The operations of an entity that no bank has answered.
pub fn unanswered(entity: &Entity) -> Vec<Operation> {
    let one = |operation: Option<Operation>| operation.into_iter().collect();
    let Some(entity) = entity.at_rail() else { return Vec::new() };
    match entity {
        AtRail::Payment(payment) => one(match payment.phase {
            Phase::Charging { looks, .. } => of_payment(payment, payments::CHARGE, Some(looks)),
            Phase::Reversing { looks, .. } => of_payment(payment, payment.reversal(), Some(looks)),
            Phase::Idle | Phase::AskedOn { .. } | Phase::ReversalDenied { .. } => None,
        }),
        AtRail::Payout(payout) => one((payout.status == PayoutStatus::Pending).then(|| of_payout(payout))),
        AtRail::CryptoPayout(payout) => {
            one((payout.status == CryptoStatus::Processing).then(|| of_crypto_payout(payout)))
        }
        AtRail::CopPayment(payment) => {
            let looks = match &payment.phase {
                cop_payments::Phase::Refunding { looks, .. } => Some(*looks),
                phase => phase.waiting().map(|waiting| waiting.looks),
            };
            let n = payment.operation().map(|id| id.entity_and_operation().1);
            one(n.map(|n| of_cop_payment(payment, n, looks)))
        }
        AtRail::Merchant(merchant) => merchant
            .methods
            .iter()
            .filter_map(|method| of_deposits(&method.status, Subject::PayoutMethod(method.id)))
            .collect(),
        AtRail::OwnAccount(account) => one(of_deposits(&account.status, Subject::PayoutAccount)),
        // A code is of no use by the time that an operator looks, and a rate moves no money.
        AtRail::Otp(_) | AtRail::Conversion(_) => Vec::new(),
    }
}

/// The operation about which the bank contradicted itself, in the record of this instant. Charges and payouts of
/// USDT are refused by operators too, whose code is not the bank's word; of the others it is the bank's own.
pub fn contradicted(entity: &Entity, at: Timestamp) -> Option<Operation> {
    let is_refusal = match entity {
        Entity::Payment(payment) => payment.status == payments::Status::Failed,
        Entity::CryptoPayout(payout) => payout.status == CryptoStatus::Failed,
        _ => false,
    };
    let operation = contradiction(entity, at)?;
    Some(Operation { code: operation.code.filter(|_| !is_refusal), ..operation })
}

fn contradiction(entity: &Entity, at: Timestamp) -> Option<Operation> {
    match entity.at_rail()? {
        AtRail::Payment(payment) => of_payment(payment, payment.contradicted()?, None),
        AtRail::Payout(payout) => payout.is_contradicted().then(|| of_payout(payout)),
        AtRail::CryptoPayout(payout) => Some(of_crypto_payout(payout)),
        AtRail::CopPayment(payment) => Some(of_cop_payment(payment, payment.contradicted()?, None)),
        AtRail::Merchant(merchant) => merchant
            .methods
            .iter()
            .find_map(|method| of_word(&method.status, Subject::PayoutMethod(method.id), at)),
        AtRail::OwnAccount(account) => of_word(&account.status, Subject::PayoutAccount, at),
        // A code is of no use by the time that an operator looks, and a rate moves no money.
        AtRail::Otp(_) | AtRail::Conversion(_) => None,
    }
}

stored! {
    /// A refusal of a rule about an operator's word on an operation.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum OperationRefusal {
        /// The outcome of the operation is known already, from the bank or an operator.
        0 Resolved,
    }
}

impl OperationRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            OperationRefusal::Resolved => true,
        }
    }
}

/// The word of an operator on an operation, in the bank's place.
pub struct Resolution {
    pub operation: Id,
    /// The outcome: carried out, or refused.
    pub answer: RailAnswer,
}

/// The bank's reply that corresponds to the operator's word; a refusal if the operation is not
/// open.
pub fn in_banks_words(entity: &Entity, resolution: &Resolution) -> Result<RailAnswer, Refusal> {
    if !unanswered(entity).iter().any(|open| open.id == resolution.operation) {
        return Err(OperationRefusal::Resolved.into());
    }
    Ok(match (entity, &resolution.answer) {
        // The code is about an SMS code, and not about the collection.
        (Entity::CopPayment(_), RailAnswer::Refused { code }) if code == WRONG_CODE => {
            RailAnswer::Refused { code: cop_payments::Failure::Rejected.name().to_owned() }
        }
        (_, answer) => answer.clone(),
    })
}

/// The ruling on the corresponding reply, made an operator's: it refuses no
/// caller, and the bank is still asked whether it agrees.
pub fn resolved(ruling: Ruling, operation: Id, turn: &Turn<'_>) -> Ruling {
    let Ruling { draft: Some(mut draft), refusal, effects } = ruling else {
        return Ruling::refuse(OperationRefusal::Resolved);
    };
    draft.refuses_kept = refusal;
    for written in &mut draft.entities {
        if let Some(entity) = Arc::get_mut(&mut written.state) {
            ask_on(entity, operation, turn);
        }
    }
    Ruling::write_then(draft, effects)
}

/// Micro-deposits are not asked about any more: they are the platform's own money, and a start can be
/// repeated. Nor is what no bank can be asked about: that phase would stand in the way of another
/// reversal, and protect from nothing.
fn ask_on(entity: &mut Entity, operation: Id, turn: &Turn<'_>) {
    let (of, n) = operation.entity_and_operation();
    let next_look = Some(turn.first_look());
    if entity.id().id != of {
        return;
    }
    let Some(entity) = entity.at_rail_mut() else { return };
    match entity {
        AtRailMut::Payment(payment) if payment.order(n).is_some_and(Trace::is_unaskable) => {}
        AtRailMut::Payment(payment) => payment.phase = asked_on::begin(n, turn),
        AtRailMut::Payout(payout) => payout.next_look = next_look,
        AtRailMut::CryptoPayout(payout) => payout.next_look = next_look,
        AtRailMut::CopPayment(payment)
            if n != cop_payments::COLLECT && payment.order(n).is_some_and(Trace::is_unaskable) => {}
        AtRailMut::CopPayment(payment) => payment.phase = asked_on::begin(n, turn),
        AtRailMut::Merchant(_) | AtRailMut::OwnAccount(_) | AtRailMut::Otp(_) | AtRailMut::Conversion(_) => {}
    }
}
