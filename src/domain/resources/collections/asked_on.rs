//! Follow-up questions: after an operator's word on an order, the bank is asked for some days
//! whether it agrees, so that a contradiction is noticed (`docs/contract.md, 5.13`).

use crate::decision::Turn;
use crate::rail::RailReply;
use crate::trace::{self, ASKED_ON_MS};
use crate::values::time::Timestamp;

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

/// The phase after an operator's word on this operation.
pub fn begin<P: Phase>(operation: u16, turn: &Turn<'_>) -> P {
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
pub fn after<P: Phase>(phase: &P, operation: u16, reply: &RailReply, turn: &Turn<'_>) -> Option<P> {
    let asked = phase.asked_on().filter(|asked| asked.operation == operation)?;
    let (looks, next_look) = trace::asked_on(reply, asked.looks, asked.until, turn)?;
    Some(next_look.map_or(P::IDLE, |next_look| AskedOn { looks, next_look, ..asked }.into()))
}
