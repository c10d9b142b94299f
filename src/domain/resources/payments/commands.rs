//! Commands to payments in bolívares, and the rule that answers each command, deadline and reply of
//! a bank.

use super::{CHARGE, Payment, Phase, c2p, charge, is_reversal, repeat, reversal};
use crate::decision::{Draft, Ruling, Turn};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::rail::RailReply;
use crate::record::{Cause, Entity};
use crate::refusal::Refusal;
use crate::resources::chargebacks;
use crate::resources::collections::asked_on;
use crate::trace::Said;
use std::borrow::Cow;
use std::sync::Arc;

pub enum Command {
    /// A request for a C2P intent; the entity is the newest attempt on its reference, if there is
    /// one.
    RequestC2p(Box<c2p::NewIntent>),
    ExecuteC2p(Box<c2p::Execute>),
    /// A request to give an intent up for another way to pay.
    CancelIntent,
    /// A request to give an intent up for this charge, which comes next, unless that would be refused.
    MakeWay(Box<charge::NewCharge>),
    /// A request for a payment without an intent, by card, debit or transfer: the entity is the new
    /// attempt, or the newest payment on its reference where it is about that one.
    Charge(Box<charge::NewCharge>),
    Reverse,
}

pub fn decide(
    book: &Book,
    payment: Option<&Payment>,
    command: Command,
    keep: Option<Arc<KeepRef>>,
    turn: &Turn<'_>,
) -> Ruling {
    match (command, payment) {
        (Command::RequestC2p(new), None) => c2p::request(*new, None, turn),
        (Command::RequestC2p(new), Some(payment)) => c2p::supersede(payment, *new, turn),
        (Command::ExecuteC2p(ask), Some(payment)) => c2p::execute(book, payment, *ask, keep, turn),
        (Command::CancelIntent, Some(payment)) => c2p::give_up(payment),
        (Command::MakeWay(new), Some(payment)) => match charge::check(book, &new, turn) {
            Err(refusal) if payment.is_idle_intent() => Ruling::refuse(refusal),
            _ => c2p::give_up(payment),
        },
        (Command::Charge(new), None) => charge::create(book, *new, keep, turn),
        (Command::Charge(new), Some(payment)) => repeat::repeat(book, payment, &new),
        (Command::Reverse, Some(payment)) => reversal::reverse(book, payment, keep, turn),
        (Command::ExecuteC2p(_) | Command::CancelIntent | Command::MakeWay(_) | Command::Reverse, None) => {
            Ruling::refuse(Refusal::NotFound)
        }
    }
}

/// The ruling on a deadline of a payment: it is disputed, the bank is asked, or the intent ends.
pub fn deadline(book: &Book, payment: &Payment, turn: &Turn<'_>) -> Ruling {
    if payment.disputed_at().is_some_and(|at| at <= turn.now) {
        return chargebacks::dispute(book, payment, turn);
    }
    match payment.phase {
        Phase::Reversing { .. } => reversal::deadline(payment, turn),
        Phase::Charging { .. } => charge::deadline(payment, turn),
        Phase::AskedOn { operation, .. } if is_reversal(operation) => reversal::deadline(payment, turn),
        Phase::AskedOn { .. } => charge::deadline(payment, turn),
        Phase::Idle | Phase::ReversalDenied { .. } => c2p::deadline(payment, turn),
    }
}

/// The ruling on a bank's reply about one of a payment's operations.
pub fn on_rail_reply(book: &Book, payment: &Payment, reply: RailReply, turn: &Turn<'_>) -> Ruling {
    match reply.operation.entity_and_operation().1 {
        CHARGE => charge::on_rail_reply(book, payment, reply, turn),
        n if is_reversal(n) => reversal::on_rail_reply(book, payment, reply, turn),
        // The bank's reply about sending the payer a code changes nothing here.
        _ => Ruling::unchanged(),
    }
}

/// The ruling on a bank's reply about an operation that an operator has settled, if it is not a
/// contradiction.
pub(super) fn agreed(payment: &Payment, operation: u16, reply: &RailReply, turn: &Turn<'_>) -> Ruling {
    let Some(phase) = asked_on::after(&payment.phase, operation, reply, turn) else {
        return Ruling::unchanged();
    };
    let mut draft = Draft::new(Cause::BankAsked);
    draft.change(payment, Entity::Payment(Payment { phase, ..payment.clone() }));
    Ruling::write(draft)
}

impl Payment {
    /// With what the rail said besides its answer, about its `n`-th operation.
    pub(super) fn noting(&self, n: u16, said: &Said) -> Cow<'_, Payment> {
        if said.is_empty() {
            return Cow::Borrowed(self);
        }
        let trace = self.trace.noting_of(n, self.newest_order(), said);
        Cow::Owned(Payment { trace, ..self.clone() })
    }
}
