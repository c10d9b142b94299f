//! Questions to banks about orders: when the next one is after each answer; for how long a bank is still asked
//! after an operator's word, so that a contradiction is noticed; and the mark that an answer leaves on the
//! trace of its order (`docs/contract.md, 5.12, 5.13, 18.1`).

use crate::cause::Cause;
use crate::decision::{Ruling, Turn};
use crate::entities::{Entity, cop_payment, payment};
use crate::rail::{How, RailAnswer, RailReply};
use crate::trace::{ASKED_ON_MS, NEVER, Reach, Trace};
use crate::values::ids::Id;
use crate::values::time::Timestamp;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looks {
    pub trace: Trace,
    /// The number of times that the rail was asked.
    pub looks: u32,
    /// The instant at which it is asked next.
    pub next_look: Timestamp,
}

impl Looks {
    /// The looks after an answer that decides nothing; `None` when that changes nothing.
    pub fn after(self, reply: &RailReply, turn: &Turn<'_>) -> Option<Looks> {
        let trace = self.trace.noting(&reply.said);
        let is_news = trace != self.trace;
        match (&reply.answer, reply.how) {
            (RailAnswer::Unaskable, _) => {
                let is_ambiguous = reply.said.is_ambiguous || trace.is_ambiguous();
                let reach = if is_ambiguous { Reach::Ambiguous } else { Reach::Unaskable };
                let trace = Trace { reach, ..trace };
                let changed = Looks { trace, next_look: NEVER, ..self.clone() };
                (changed != self).then_some(changed)
            }
            // Nobody was asked: that is no look.
            (RailAnswer::NotAsked, _) => {
                Some(Looks { trace, next_look: turn.next_look(self.looks, self.since(turn)), ..self })
            }
            (_, How::Ask) => {
                let (looks, since) = (self.looks.saturating_add(1), self.since(turn));
                Some(Looks { trace, looks, next_look: turn.next_look(looks, since) })
            }
            (_, How::Send | How::Offer) => is_news.then_some(Looks { trace, ..self }),
        }
    }

    fn since(&self, turn: &Turn<'_>) -> Timestamp {
        self.trace.sent_at.unwrap_or(turn.now)
    }
}

/// The looks at an order that an operator has settled, after the bank's word about it, which is not
/// the opposite; and when the next one is, if the bank has not agreed and there is time until
/// `until`. `None` when the word changes nothing.
pub fn asked_on(
    reply: &RailReply,
    looks: u32,
    until: Timestamp,
    turn: &Turn<'_>,
) -> Option<(u32, Option<Timestamp>)> {
    let before_end = |at: Timestamp| Some(at).filter(|at| *at < until);
    // The order's age counts from the operator's word.
    let next = |looks| before_end(turn.next_look(looks, until.minus_ms(ASKED_ON_MS)));
    match (&reply.answer, reply.how) {
        (RailAnswer::Done { .. } | RailAnswer::Refused { .. } | RailAnswer::Unaskable, _) => {
            Some((looks, None))
        }
        (RailAnswer::NotAsked, How::Ask) => Some((looks, next(looks))),
        (
            RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::NeverReceived | RailAnswer::NotSent,
            How::Ask,
        ) => {
            let looks = looks.saturating_add(1);
            Some((looks, next(looks)))
        }
        (
            RailAnswer::NotAsked
            | RailAnswer::Waiting
            | RailAnswer::Silent
            | RailAnswer::NeverReceived
            | RailAnswer::NotSent,
            How::Send | How::Offer,
        ) => None,
    }
}

/// An operation about which a bank is still asked after an operator's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedOn {
    pub operation: u16,
    pub looks: u32,
    pub next_look: Timestamp,
    /// The instant from which there are no more questions.
    pub until: Timestamp,
}

/// The phase of a payment, in one of which a bank is asked on.
pub trait Phase: Clone + From<AskedOn> {
    /// The phase in which nothing is waited for.
    const IDLE: Self;

    /// The operation about which the bank is asked on, if any.
    fn asked_on(&self) -> Option<AskedOn>;
}

impl From<AskedOn> for payment::Phase {
    fn from(AskedOn { operation, looks, next_look, until }: AskedOn) -> Self {
        Self::AskedOn { operation, looks, next_look, until }
    }
}

impl Phase for payment::Phase {
    const IDLE: Self = Self::Idle;

    fn asked_on(&self) -> Option<AskedOn> {
        match *self {
            Self::AskedOn { operation, looks, next_look, until } => {
                Some(AskedOn { operation, looks, next_look, until })
            }
            Self::Idle | Self::Charging { .. } | Self::Reversing { .. } | Self::ReversalDenied { .. } => None,
        }
    }
}

impl From<AskedOn> for cop_payment::Phase {
    fn from(AskedOn { operation, looks, next_look, until }: AskedOn) -> Self {
        Self::AskedOn { operation, looks, next_look, until }
    }
}

impl Phase for cop_payment::Phase {
    const IDLE: Self = Self::Idle;

    fn asked_on(&self) -> Option<AskedOn> {
        match *self {
            Self::AskedOn { operation, looks, next_look, until } => {
                Some(AskedOn { operation, looks, next_look, until })
            }
            Self::Idle | Self::Collecting { .. } | Self::Tried { .. } | Self::Refunding { .. } => None,
        }
    }
}

/// The phase after an operator's word on this operation.
pub fn ask_on<P: Phase>(operation: u16, turn: &Turn<'_>) -> P {
    let (next_look, until) = (turn.first_look(), turn.now.plus_ms(ASKED_ON_MS));
    AskedOn { operation, looks: 0, next_look, until }.into()
}

/// The phase once there is no more need to ask about this operation.
pub fn no_more<P: Phase>(phase: &P, operation: u16) -> P {
    match phase.asked_on() {
        Some(asked) if asked.operation == operation => P::IDLE,
        Some(_) | None => phase.clone(),
    }
}

/// The phase after a reply of the bank about this operation that is not a contradiction; `None`
/// when the reply changes nothing.
pub fn agreed<P: Phase>(phase: &P, operation: u16, reply: &RailReply, turn: &Turn<'_>) -> Option<P> {
    let asked = phase.asked_on().filter(|asked| asked.operation == operation)?;
    let (looks, next_look) = asked_on(reply, asked.looks, asked.until, turn)?;
    Some(next_look.map_or(P::IDLE, |next_look| AskedOn { looks, next_look, ..asked }.into()))
}

/// A reply, as far as its order's trace is concerned. Every reply passes here, whatever the rules of its
/// resource come to: a question that brought the outcome was a question too, and so was one that contradicted
/// it. What changes nothing leaves no mark, as there is no record of it.
#[derive(Clone, Copy)]
pub struct Mark {
    operation: Id,
    /// Whether the bank was asked: an operator's word and an order's own answer are no questions.
    is_asked: bool,
}

impl Mark {
    pub fn bank(reply: &RailReply) -> Mark {
        let nobody = matches!(reply.answer, RailAnswer::NotAsked | RailAnswer::Unaskable);
        Mark { operation: reply.operation, is_asked: reply.how == How::Ask && !nobody }
    }

    /// An operator's word in the bank's place.
    pub const fn operator(operation: Id) -> Mark {
        Mark { operation, is_asked: false }
    }

    /// The ruling on the reply, with its mark on what it writes of the entity that was `before`.
    pub fn on(self, mut ruling: Ruling, before: &Entity, turn: &Turn<'_>) -> Ruling {
        let Some(draft) = &mut ruling.record else { return ruling };
        // Whether the record says what became of an order, or that the bank contradicts it.
        let is_decided = !matches!(
            draft.cause,
            Cause::BankAsked | Cause::CopPaymentInstructed | Cause::PaymentUnsent | Cause::CopPaymentUnsent
        );
        for written in &mut draft.entities {
            if let Some(entity) = Arc::get_mut(&mut written.state)
                && entity.id() == before.id()
            {
                self.mark(entity, before, is_decided, turn);
            }
        }
        ruling
    }

    fn mark(self, entity: &mut Entity, before: &Entity, is_decided: bool, turn: &Turn<'_>) {
        let id = entity.id().id;
        let rules = entity.rules_mut();
        if self.is_asked {
            rules.count_question(self.operation, turn.now);
        }
        let (of, n) = self.operation.entity_and_operation();
        let Some(trace) = rules.trace_mut(n).filter(|_| id == of) else { return };
        if self.is_asked {
            let looks = || {
                let open = before.rules().unanswered();
                open.iter().find(|open| open.id == self.operation).map(|open| open.asks)
            };
            trace.asks = Some(trace.asks.or_else(looks).unwrap_or(0).saturating_add(1));
            trace.asked_at = Some(turn.now);
        }
        if is_decided {
            trace.decided_at = Some(turn.now);
        }
    }
}
