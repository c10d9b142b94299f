//! The life of an order at a rail, whatever it is about: sent, asked about until the rail has decided, asked on
//! after an operator's word so that a contradiction is noticed; and the mark that an answer leaves on its trace
//! (`docs/contract.md, 5.12, 5.13, 18.1`).

use crate::cause::Cause;
use crate::decision::{Ruling, Turn};
use crate::entities::Entity;
use crate::entities::cop_payment::{COLLECT, TELL};
use crate::rail::{Effect, How, Order, RailAnswer, RailReply};
use crate::trace::{ASKED_ON_MS, NEVER, OrderState, Reach, Trace};
use crate::values::ids::{EntityId, Id, Kind};
use crate::values::time::Timestamp;
use std::sync::Arc;

impl OrderState {
    /// An order that is sent, or waits for its turn.
    pub fn first(operation: u16, is_queued: bool, turn: &Turn<'_>) -> OrderState {
        let (reach, sent_at) = if is_queued { (Reach::Queued, None) } else { (Reach::Sent, Some(turn.now)) };
        let trace = Trace { reach, sent_at, ..Trace::default() };
        OrderState { operation, sends: 1, next_look: Some(turn.first_look()), trace, ..OrderState::default() }
    }

    pub fn resent(&self, turn: &Turn<'_>) -> OrderState {
        OrderState { sends: self.sends + 1, next_look: Some(turn.first_look()), ..self.clone() }
    }

    pub fn call(&self, entity: EntityId, operation: u16, how: How, now: Timestamp, order: Order) -> Effect {
        let rail_id = if let Some(trace) = self.of(operation) { trace.id.clone() } else { None };
        Effect { entity, operation: entity.id.operation(operation), rail_id, at: now, how, order }
    }

    /// The order after an answer that decides nothing; `None` when that changes nothing.
    pub fn after(&self, reply: &RailReply, turn: &Turn<'_>) -> Option<OrderState> {
        let mut after = self.noting(self.operation, &reply.said);
        let since = self.trace.sent_at.unwrap_or(turn.now);
        match (&reply.answer, reply.how) {
            (RailAnswer::Unaskable, _) => {
                let is_ambiguous = reply.said.is_ambiguous || self.trace.is_ambiguous();
                after.trace.reach = if is_ambiguous { Reach::Ambiguous } else { Reach::Unaskable };
                after.next_look = Some(NEVER);
            }
            // Nobody was asked: that is no look.
            (RailAnswer::NotAsked, _) => after.next_look = Some(turn.next_look(self.looks, since)),
            (_, How::Ask) => {
                after.looks = self.looks.saturating_add(1);
                after.next_look = Some(turn.next_look(after.looks, since));
                return Some(after);
            }
            (_, How::Send | How::Offer) => {}
        }
        (reply.answer == RailAnswer::NotAsked || after != *self).then_some(after)
    }

    /// An operator has settled it: the rail is asked on whether it agrees.
    pub fn ask_on(&mut self, turn: &Turn<'_>) {
        self.next_look = Some(turn.first_look());
        self.asked_on_until = Some(turn.now.plus_ms(ASKED_ON_MS));
    }

    /// Whether the rail is still asked about an operation that an operator has settled.
    pub fn is_asked_on(&self, operation: u16) -> bool {
        self.operation == operation && self.asked_on_until.is_some()
    }

    /// The rail was asked on about an operation and has contradicted the operator: that is enough.
    pub fn contradicted(&self, operation: u16) -> OrderState {
        let mut after = self.clone();
        if self.is_asked_on(operation) {
            after.stop();
        }
        after
    }

    /// The order after the rail's word about an operation that an operator has settled, which is not the
    /// opposite: the next question is later, if the rail has not agreed and there is time. `None` when the word
    /// changes nothing.
    pub fn agreed(&self, operation: u16, reply: &RailReply, turn: &Turn<'_>) -> Option<OrderState> {
        let until = self.asked_on_until.filter(|_| self.operation == operation)?;
        let mut after = self.clone();
        match (&reply.answer, reply.how) {
            (RailAnswer::Done { .. } | RailAnswer::Refused { .. } | RailAnswer::Unaskable, _) => {
                after.stop();
                return Some(after);
            }
            (_, How::Send | How::Offer) => return None,
            (RailAnswer::NotAsked, How::Ask) => {}
            (_, How::Ask) => after.looks = self.looks.saturating_add(1),
        }
        // The order's age counts from the operator's word.
        let next_look = turn.next_look(after.looks, until.minus_ms(ASKED_ON_MS));
        after.next_look = Some(next_look);
        if next_look >= until {
            after.stop();
        }
        Some(after)
    }
}

/// The ruling on a reply about an operation, with its mark on the order's trace where its kind has one
/// (`Entity::order`). Every reply passes here, whatever the rules of its resource come to: a question that brought the
/// outcome was a question too, and so was one that contradicted it. An operator's word and an order's own answer are no
/// questions. What changes nothing leaves no mark, as there is no record of it.
pub fn marked(mut ruling: Ruling, operation: Id, is_asked: bool, before: &Entity, turn: &Turn<'_>) -> Ruling {
    let Some(draft) = &mut ruling.record else { return ruling };
    // Whether the record says what became of an order, or that the bank contradicts it.
    let is_decided = !matches!(
        draft.record.cause,
        Cause::BankAsked | Cause::CopPaymentInstructed | Cause::PaymentUnsent | Cause::CopPaymentUnsent
    );
    let (of, n) = operation.entity_and_operation();
    for written in &mut draft.record.entities {
        let Some(entity) = Arc::get_mut(&mut written.state) else { continue };
        if entity.id() != before.id() {
            continue;
        }
        if is_asked {
            entity.rules_mut().count_question(operation, turn.now);
        }
        if before.id().id != of {
            continue;
        }
        // An instruction is about the collection.
        let n = if before.id().kind == Kind::CopPayment && n == TELL { COLLECT } else { n };
        let Some(trace) = entity.order_mut().and_then(|order| order.of_mut(n)) else { continue };
        if is_asked {
            trace.asks = trace.asks.saturating_add(1);
            trace.asked_at = Some(turn.now);
        }
        if is_decided {
            trace.decided_at = Some(turn.now);
        }
    }
    ruling
}
