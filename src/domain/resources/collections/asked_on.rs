//! Asking on: an operator has said what became of an order, and the bank is asked for some days whether
//! it agrees, so that its opposite word is noticed (`docs/contract.md, 5.13`).

use crate::decision::Turn;
use crate::rail::RailReply;
use crate::trace::{self, ASKED_ON_MS};
use crate::values::time::Timestamp;

/// An operation about which a bank is asked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedOn {
    /// The operation.
    pub operation: u16,
    /// Questions since the operator's word.
    pub looks: u32,
    /// The instant of the next one.
    pub next_look: Timestamp,
    /// The instant from which there are no more.
    pub until: Timestamp,
}

/// The phase of a payment, one of which is asking on.
pub trait Phase: Clone + From<AskedOn> {
    /// Nothing is waited for.
    const IDLE: Self;

    /// The operation, if the bank is asked on about one.
    fn asked_on(&self) -> Option<AskedOn>;
}

/// The phase after an operator's word about this operation.
pub fn begin<P: Phase>(operation: u16, turn: &Turn<'_>) -> P {
    let (next_look, until) = (turn.first_look(), turn.now.plus_ms(ASKED_ON_MS));
    AskedOn { operation, looks: 0, next_look, until }.into()
}

/// The phase when nobody needs to ask about this operation any more.
pub fn no_more<P: Phase>(phase: &P, operation: u16) -> P {
    match phase.asked_on() {
        Some(asked) if asked.operation == operation => P::IDLE,
        Some(_) | None => phase.clone(),
    }
}

/// The phase after the bank's words about this operation, which are not the opposite; `None` when
/// they change nothing.
pub fn after<P: Phase>(phase: &P, operation: u16, reply: &RailReply, turn: &Turn<'_>) -> Option<P> {
    let asked = phase.asked_on().filter(|asked| asked.operation == operation)?;
    let (looks, next_look) = trace::asked_on(reply, asked.looks, asked.until, turn)?;
    Some(next_look.map_or(P::IDLE, |next_look| AskedOn { looks, next_look, ..asked }.into()))
}
