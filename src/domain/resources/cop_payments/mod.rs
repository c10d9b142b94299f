//! Payments in Colombian pesos: by QR code or transfer key, by a push to the buyer's app, or by an
//! SMS code (`docs/contract.md, 11`).
//!
//! The processor is told to collect once the record that says so is durable. Whatever it is told
//! about a collection afterwards (a code, a cancellation), it answers how the collection stands, and
//! the same when it is asked; so pay, decline, cancel and expire are decided in one place, by the
//! processor, and none of them can be lost. What is other in live mode is in `live.rs`. The meaning
//! of a certain processor's words does not belong here: that is in `src/rails/`.

pub mod codes;
pub mod collect;
mod instructions;
pub mod live;
pub mod refund;
pub mod sale;

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Rules, Ruling, Turn};
use crate::entities::cop_payment::{COLLECT, CopPayment, Failure, TELL, Telling};
use crate::ledger::book::Book;
use crate::platform::audit::AuditEntry;
use crate::rail::{How, Instruction, Operation, OperationKind, RailReply, Service, Subject};
use crate::refusal::Refusal;
use crate::trace::Trace;
use crate::values::money::{Cop, Currency};
use crate::values::time::Timestamp;
use crate::values::token::Token;
use collect::NewCopPayment;

/// The smallest amount that can be collected (`docs/contract.md, 11.2`).
pub const AMOUNT_MIN: Cop = Cop::from_minor(20_000);
/// The largest amount (`docs/contract.md, 1.3`).
pub const AMOUNT_MAX: Cop = Cop::from_minor(Currency::Cop.amount_minor_max());

impl CopPayment {
    /// The processor's words about an operation that an operator has settled, if they are not the
    /// opposite.
    fn agreed(&self, operation: u16, reply: &RailReply, turn: &Turn) -> Ruling {
        let Some(order) = self.order.agreed(operation, reply, turn) else { return Ruling::unchanged() };
        Ruling::write(Draft::changed(Cause::BankAsked, self, CopPayment { order, ..self.clone() }))
    }
}

pub enum Command {
    Collect(Box<NewCopPayment>),
    /// The buyer's SMS code; `None` is text that cannot be one.
    SubmitCode(Option<Token>),
    /// A request to cancel the payment: the tenant's, or an operator's with the entry of the audit for it.
    Cancel(Option<Box<AuditEntry>>),
    Refund,
    PlayBuyer {
        pays: bool,
    },
}

pub fn decide(book: &Book, payment: Option<&CopPayment>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, payment) {
        (Command::Collect(new), None) => collect::create(book, *new, turn),
        (Command::SubmitCode(code), Some(payment)) => instructions::submit_code(payment, code, turn),
        (Command::Cancel(by), Some(payment)) => instructions::cancel(payment, by, turn),
        (Command::Refund, Some(payment)) => refund::refund(book, payment, turn),
        (Command::PlayBuyer { pays: true }, Some(payment)) => {
            instructions::tell(payment, Telling::Pays, Instruction::Paid, turn)
        }
        (Command::PlayBuyer { pays: false }, Some(payment)) => {
            instructions::tell(payment, Telling::Declines, Instruction::Declined, turn)
        }
        (Command::Collect(_), Some(_))
        | (Command::SubmitCode(_) | Command::Cancel(_) | Command::Refund | Command::PlayBuyer { .. }, None) => {
            Err(Refusal::NotFound)
        }
    }
}

impl Rules for CopPayment {
    fn on_rail_reply(&self, book: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
        match reply.operation.entity_and_operation().1 {
            COLLECT | TELL => collect::on_rail_reply(book, self, reply, turn),
            _ => refund::on_rail_reply(book, self, reply, turn),
        }
    }

    fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        match (self.order.next_look, self.order.operation) {
            (None, _) => Ruling::unchanged(),
            (_, COLLECT) => collect::deadline(self, turn),
            _ => refund::deadline(self, turn),
        }
    }

    /// The processor may have more to say of the collection than was heard: it is asked, also when that is
    /// settled.
    fn on_look(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
        Ruling::effects(vec![instructions::order(self, How::Ask, turn.now)])
    }

    fn unanswered(&self) -> Vec<Operation> {
        let n = self.phase.is_deciding().then_some(self.order.operation);
        n.map(|n| of_cop_payment(self, n)).into_iter().collect()
    }

    fn contradiction(&self, _: Timestamp) -> Option<Operation> {
        Some(of_cop_payment(self, self.contradicted()?))
    }

    /// But for a refund that the processor cannot be asked about: that phase would stand in the way of another.
    fn ask_on(&mut self, operation: u16, turn: &Turn<'_>) {
        if operation == COLLECT || !self.order.of(operation).is_some_and(Trace::is_unaskable) {
            self.order.looks = 0;
            self.order.ask_on(turn);
        }
    }
}

fn of_cop_payment(payment: &CopPayment, n: u16) -> Operation {
    let is_refund = n != COLLECT;
    let since = payment.completed_at.filter(|_| is_refund).unwrap_or(payment.created_at);
    // A contradiction of a refund is about the newest.
    let is_of_it = |failure: &Failure| match *failure == Failure::RefundRefused {
        true => payment.is_refund(n),
        false => !is_refund,
    };
    let code = payment.failure_code().filter(|_| payment.failure.as_ref().is_some_and(is_of_it));
    let kind = if is_refund { OperationKind::CopRefund } else { OperationKind::CopPayment };
    let what = (kind, Service::Cop, Subject::Payment(payment.id));
    let sum = payment.net().filter(|_| is_refund).unwrap_or(payment.amount);
    let sum = (sum.minor(), Currency::Cop);
    let operation = Operation::of(payment.id.operation(n), what, sum, payment.order.of(n), since);
    Operation {
        asks: match payment.live {
            Some(live) if !is_refund => live.asks,
            _ => operation.asks,
        },
        is_operators: payment.live.is_some_and(|live| is_refund || live.misfit),
        code: code.map(str::to_owned),
        reference: if is_refund {
            payment.reference_of_refund(n).map(str::to_owned)
        } else {
            payment.processor_reference.clone()
        },
        ..operation
    }
}

#[cfg(test)]
mod tests;
