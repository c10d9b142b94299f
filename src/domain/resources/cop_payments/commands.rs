//! Commands to payments in pesos, and the rule that answers each command, deadline and reply of the
//! processor.

use super::collect::{self, NewCopPayment};
use super::{COLLECT, CopPayment, Phase, TELL, instructions, refund};
use crate::decision::{Ruling, Turn};
use crate::kept::KeepRef;
use crate::ledger::book::Book;
use crate::platform::audit::AuditEntry;
use crate::rail::RailReply;
use crate::refusal::Refusal;
use crate::resources::chargebacks::ChargebackRefusal;
use crate::resources::payments::PaymentRefusal;
use crate::resources::{chargebacks, payments};
use crate::values::token::Token;
use std::sync::Arc;

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

pub fn decide(
    book: &Book,
    payment: Option<&CopPayment>,
    command: Command,
    keep: Option<Arc<KeepRef>>,
    turn: &Turn<'_>,
) -> Ruling {
    match (command, payment) {
        (Command::Collect(new), None) => collect::create(book, *new, keep, turn),
        (Command::SubmitCode(code), Some(payment)) => instructions::submit_code(payment, code, keep, turn),
        (Command::Cancel(by), Some(payment)) => instructions::cancel(payment, by, keep, turn),
        (Command::Refund, Some(payment)) => refund::refund(book, payment, keep, turn),
        (Command::PlayBuyer { pays }, Some(payment)) => instructions::play_buyer(payment, pays, keep, turn),
        (Command::Collect(_), Some(_))
        | (Command::SubmitCode(_) | Command::Cancel(_) | Command::Refund | Command::PlayBuyer { .. }, None) => {
            Ruling::refuse(Refusal::NotFound)
        }
    }
}

/// The refusal of a command to a payment in bolívares, which this is not: only commands that may
/// name a payment in any currency have a reason of their own.
pub fn refuse_payments_command(command: &payments::Command) -> Ruling {
    Ruling::refuse(match command {
        payments::Command::Reverse => PaymentRefusal::NotReversible.into(),
        payments::Command::RequestC2p(_)
        | payments::Command::ExecuteC2p(_)
        | payments::Command::CancelIntent
        | payments::Command::MakeWay(_)
        | payments::Command::Charge(_) => Refusal::NotFound,
    })
}

/// The refusal of a chargeback, which only card payments have.
pub fn refuse_chargeback(command: &chargebacks::Command) -> Ruling {
    Ruling::refuse(match command {
        chargebacks::Command::Open(_) => ChargebackRefusal::NotAllowed.into(),
        chargebacks::Command::Close(..) => Refusal::NotFound,
    })
}

/// The ruling on a deadline of a payment: the processor is asked.
pub fn deadline(payment: &CopPayment, turn: &Turn<'_>) -> Ruling {
    match payment.phase {
        Phase::Collecting { .. } | Phase::Tried { .. } => collect::deadline(payment, turn),
        Phase::Refunding { .. } => refund::deadline(payment, turn),
        Phase::AskedOn { operation: COLLECT, .. } => collect::deadline(payment, turn),
        Phase::AskedOn { .. } => refund::deadline(payment, turn),
        Phase::Idle => Ruling::unchanged(),
    }
}

/// The processor may have more to say of the collection than was heard: it is asked, also when that is
/// settled.
pub fn look(payment: &CopPayment, turn: &Turn<'_>) -> Ruling {
    collect::look(payment, turn)
}

/// The words of the processor about one of a payment's operations.
pub fn on_rail_reply(book: &Book, payment: &CopPayment, reply: RailReply, turn: &Turn<'_>) -> Ruling {
    match reply.operation.entity_and_operation().1 {
        COLLECT | TELL => collect::on_rail_reply(book, payment, reply, turn),
        _ => refund::on_rail_reply(book, payment, reply, turn),
    }
}
