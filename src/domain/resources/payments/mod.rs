//! Payments: money collected from a payer. C2P in three steps (an intent, the payer's code, the
//! charge) and its reversal; cards, debits and transfers in one.
//!
//! The states and transitions are in `docs/contract.md, 5.2`, the fields and limits in
//! `docs/contract.md, 5.1`.
//!
//! Payments in bolívares of every method belong here, and the flow that they share. Those in pesos do
//! not (`cop_payments`), nor what all collections share (`collections`), nor what a bank is sent.

pub mod c2p;
pub mod charge;
pub mod otp;
pub mod reasons;
mod repeat;
pub mod reversal;
pub mod sale;

use crate::decision::{Ruled, Rules, Ruling, Turn};
use crate::entities::payment::{CHARGE, Payment, Phase, Status, is_reversal};
use crate::entities::resource::Resource;
use crate::ledger::book::Book;
use crate::rail::{How, Operation, Order, RailReply, Subject};
use crate::refusal::Refusal;
use crate::resources::chargebacks;
use crate::trace::Trace;
use crate::values::money::Currency;
use crate::values::time::Timestamp;

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

pub fn decide(book: &Book, payment: Option<&Payment>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, payment) {
        (Command::RequestC2p(new), payment) => c2p::request(*new, payment, turn),
        (Command::ExecuteC2p(ask), Some(payment)) => c2p::execute(book, payment, *ask, turn),
        (Command::CancelIntent, Some(payment)) => c2p::give_up(payment),
        (Command::MakeWay(new), Some(payment)) => match charge::new_payment(book, &new, turn) {
            Err(refusal) if payment.is_idle_intent() => Err(refusal),
            _ => c2p::give_up(payment),
        },
        (Command::Charge(new), None) => charge::create(book, *new, turn),
        (Command::Charge(new), Some(payment)) => repeat::repeat(book, payment, &new),
        (Command::Reverse, Some(payment)) => reversal::reverse(book, payment, turn),
        (Command::ExecuteC2p(_) | Command::CancelIntent | Command::MakeWay(_) | Command::Reverse, None) => {
            Err(Refusal::NotFound)
        }
    }
}

impl Rules for Payment {
    fn on_rail_reply(&self, book: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        match reply.operation.entity_and_operation().1 {
            CHARGE => charge::on_rail_reply(book, self, reply, turn),
            n if is_reversal(n) => reversal::on_rail_reply(book, self, reply, turn),
            // The bank's reply about sending the payer a code changes nothing here.
            _ => Ruling::unchanged(),
        }
    }

    fn on_deadline(&self, book: &Book, turn: &Turn<'_>) -> Ruling {
        if self.disputed_at().is_some_and(|at| at <= turn.now) {
            return chargebacks::dispute(book, self, turn);
        }
        if self.order.next_look.is_none() {
            return c2p::deadline(self, turn);
        }
        if is_reversal(self.order.operation) {
            return reversal::deadline(self, turn);
        }
        Ruling::effects(vec![charge::order(self, How::Ask, charge::Secret::None, turn)])
    }

    /// Nobody is asked about what is not at a bank.
    fn on_look(&self, book: &Book, turn: &Turn<'_>) -> Ruling {
        if self.phase.is_deciding() { self.on_deadline(book, turn) } else { Ruling::unchanged() }
    }

    fn is_open(&self) -> bool {
        // A dispute is due in a day.
        self.deadline().is_some() && self.disputed_at().is_none()
    }

    /// The request for a code, while this payment waits for one.
    fn wants(&self, order: &Order) -> bool {
        self.awaits_otp() && matches!(order, Order::RequestOtp { .. })
    }

    fn unanswered(&self) -> Vec<Operation> {
        let is_open = self.phase.is_deciding();
        of_payment(self, self.order.operation).filter(|_| is_open).into_iter().collect()
    }

    fn contradiction(&self, _: Timestamp) -> Option<Operation> {
        let operation = of_payment(self, self.contradicted()?)?;
        // Operators refuse charges too, and their code is not the bank's word.
        Some(Operation { code: operation.code.filter(|_| self.status != Status::Failed), ..operation })
    }

    /// But for what no bank can be asked about: that phase would stand in the way of another reversal, and
    /// protect from nothing.
    fn ask_on(&mut self, operation: u16, turn: &Turn<'_>) {
        if !self.order.of(operation).is_some_and(Trace::is_unaskable) {
            self.order.looks = 0;
            self.order.ask_on(turn);
        }
    }
}

/// An operation of a payment in bolívares; `None` for one that no bank was ordered to carry out.
fn of_payment(payment: &Payment, n: u16) -> Option<Operation> {
    let (charge, reversal) = payment.means.operation_kinds();
    let is_reversal = is_reversal(n) && reversal.is_some();
    let kind = if is_reversal { reversal? } else { charge? };
    let earlier = payment.earlier_reversal.as_ref().filter(|earlier| earlier.operation == n);
    let is_newest = is_reversal && n == payment.reversal();
    let since = payment.completed_at.filter(|_| is_reversal).unwrap_or(payment.created_at);
    let denied = if let Phase::ReversalDenied { code } = &payment.phase { Some(code) } else { None };
    let what = (kind, payment.method().service(), Subject::Payment(payment.id));
    let sum = (payment.ves.minor(), Currency::Ves);
    Some(Operation {
        code: if is_reversal { denied.filter(|_| is_newest).cloned() } else { payment.failure_code.clone() },
        reference: match (is_reversal, earlier) {
            (false, _) => payment.bank_reference.clone(),
            (true, Some(earlier)) => Some(earlier.reference.clone()),
            (true, None) => payment.reversal_ref.clone().filter(|_| is_newest),
        },
        // An intent is older than its charge, and a payment than its reversal.
        ..Operation::of(payment.id.operation(n), what, sum, payment.order.of(n), since)
    })
}

#[cfg(test)]
mod tests;
