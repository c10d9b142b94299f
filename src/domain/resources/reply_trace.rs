//! The mark that a bank's reply leaves on the trace of its order: the question, if it was one, and the
//! instant of an outcome (`docs/contract.md, 5.12, 5.13`).
//!
//! Every reply passes here, whatever the rules of its resource come to: a question that brought the
//! outcome was a question too, and so was one that contradicted it. What changes nothing leaves no
//! mark, as there is no record of it.

use crate::at_rail::AtRailMut;
use crate::decision::{Ruling, Turn};
use crate::rail::{How, RailAnswer, RailReply};
use crate::record::{Cause, Entity};
use crate::resources::cop_payments;
use crate::resources::crypto;
use crate::resources::operations;
use crate::resources::payouts;
use crate::trace::Trace;
use crate::values::ids::Id;
use std::sync::Arc;

/// A reply, as far as its order's trace is concerned.
#[derive(Clone, Copy)]
pub struct ReplyTrace {
    operation: Id,
    /// Whether the bank was asked: an operator's word and an order's own answer are no questions.
    is_asked: bool,
}

impl ReplyTrace {
    pub fn bank(reply: &RailReply) -> ReplyTrace {
        let nobody = matches!(reply.answer, RailAnswer::NotAsked | RailAnswer::Unaskable);
        ReplyTrace { operation: reply.operation, is_asked: reply.how == How::Ask && !nobody }
    }

    /// The words of an operator in the bank's place.
    pub const fn operator(operation: Id) -> ReplyTrace {
        ReplyTrace { operation, is_asked: false }
    }

    /// The ruling on the reply, with its mark on what it writes of the entity that was `before`.
    pub fn mark(self, mut ruling: Ruling, before: &Entity, turn: &Turn<'_>) -> Ruling {
        let Some(draft) = &mut ruling.draft else { return ruling };
        let is_decided = decides(draft.cause);
        if !self.is_asked && !is_decided {
            return ruling;
        }
        for written in &mut draft.entities {
            if let Some(entity) = Arc::get_mut(&mut written.state)
                && entity.id() == before.id()
            {
                self.mark_entity(entity, before, is_decided, turn);
            }
        }
        ruling
    }

    /// Marks a question about micro-deposits, whose trace is with the method that they prove.
    fn mark_deposits(self, entity: &mut Entity, turn: &Turn<'_>) {
        let Some(entity) = entity.at_rail_mut() else { return };
        match entity {
            AtRailMut::Merchant(merchant) => {
                for method in merchant.methods.iter_mut().filter(|method| method.status.is_of(self.operation))
                {
                    method.status = method.status.clone().asked(self.operation, turn.now);
                }
            }
            AtRailMut::OwnAccount(account) => {
                if account.status.is_of(self.operation) {
                    account.status = account.status.clone().asked(self.operation, turn.now);
                }
            }
            // Orders of these kinds have a trace of their own, or none.
            AtRailMut::Payment(_)
            | AtRailMut::Otp(_)
            | AtRailMut::Payout(_)
            | AtRailMut::Conversion(_)
            | AtRailMut::CryptoPayout(_)
            | AtRailMut::CopPayment(_) => {}
        }
    }

    fn mark_entity(self, entity: &mut Entity, before: &Entity, is_decided: bool, turn: &Turn<'_>) {
        if self.is_asked {
            self.mark_deposits(entity, turn);
        }
        let Some(trace) = trace_mut(entity, self.operation) else { return };
        if self.is_asked {
            let looks = || {
                operations::unanswered(before)
                    .iter()
                    .find(|open| open.id == self.operation)
                    .map(|open| open.asks)
            };
            trace.asks = Some(trace.asks.or_else(looks).unwrap_or(0).saturating_add(1));
            trace.asked_at = Some(turn.now);
        }
        if is_decided {
            trace.decided_at = Some(turn.now);
        }
    }
}

/// Whether a record with this cause says what became of an order, or that the bank contradicts it.
const fn decides(cause: Cause) -> bool {
    !matches!(
        cause,
        Cause::BankAsked | Cause::CopPaymentInstructed | Cause::PaymentUnsent | Cause::CopPaymentUnsent
    )
}

fn trace_mut(entity: &mut Entity, operation: Id) -> Option<&mut Trace> {
    let (of, n) = operation.entity_and_operation();
    if entity.id().id != of {
        return None;
    }
    match entity.at_rail_mut()? {
        AtRailMut::Payment(payment) => {
            let newest = payment.newest_order();
            payment.trace.of_mut(n, newest)
        }
        AtRailMut::CopPayment(payment) => {
            let newest = payment.newest_order();
            // An instruction is about the collection.
            payment.trace.of_mut(if n == cop_payments::TELL { cop_payments::COLLECT } else { n }, newest)
        }
        AtRailMut::Payout(payout) => Some(&mut payout.trace).filter(|_| n == payouts::CREDIT),
        AtRailMut::CryptoPayout(payout) => Some(&mut payout.trace).filter(|_| n == crypto::payouts::SEND),
        // Micro-deposits are marked with their methods; what asks for a code or a rate keeps no
        // trace.
        AtRailMut::Merchant(_) | AtRailMut::OwnAccount(_) | AtRailMut::Otp(_) | AtRailMut::Conversion(_) => {
            None
        }
    }
}
