//! What a bank says of an order about which an operator has said what became of it: the bank is
//! asked on, so that its opposite word is heard (`docs/contract.md, 5.13`).

use super::{Payment, Phase, charge, is_reversal, reversal};
use crate::bank::{ASKED_ON_MS, POLL_MS, RailReply, asked_on};
use crate::decision::{Draft, Outcome, Turn};
use crate::record::{Cause, Entity};
use crate::values::time::Timestamp;

/// From now on the bank is asked whether it agrees.
pub fn begin(payment: &mut Payment, operation: u16, now: Timestamp) {
    let (next_look, until) = (now.plus_ms(POLL_MS), now.plus_ms(ASKED_ON_MS));
    payment.phase = Phase::AskedOn { operation, looks: 0, next_look, until };
}

/// The bank is to be asked.
pub fn deadline(payment: &Payment, operation: u16, turn: &Turn) -> Outcome {
    if is_reversal(operation) { reversal::deadline(payment, turn) } else { charge::deadline(payment, turn) }
}

/// What the bank says, if it is not the opposite.
pub(super) fn on_rail_reply(payment: &Payment, operation: u16, reply: &RailReply, turn: &Turn) -> Outcome {
    let Phase::AskedOn { operation: asked, looks, until, .. } = payment.phase else {
        return Outcome::unchanged();
    };
    let Some((looks, next)) = asked_on(reply, looks, until, turn.now).filter(|_| asked == operation) else {
        return Outcome::unchanged();
    };
    let phase = next.map_or(Phase::Idle, |next_look| Phase::AskedOn { operation, looks, next_look, until });
    let mut draft = Draft::new(Cause::BankAsked);
    draft.change(payment, Entity::Payment(Payment { phase, ..payment.clone() }));
    Outcome::write(draft)
}
