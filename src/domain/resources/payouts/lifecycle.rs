//! The life of a payout over a rail: debited, sent, asked about, sent again, settled once, credited again if it
//! failed, contradicted (`docs/contract.md, 5.11, 5.13, 7.8`). It must not know any currency.

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::resource::Resource;
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::{Ledger, MovementKind, Posting, Row};
use crate::rail::{Effect, How, RailAnswer, RailReply};
use crate::trace::{OrderState, Said, Trace};
use crate::values::ids::EntityId;
use crate::values::money::Currency;
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;
use std::sync::Arc;

pub enum PayoutEnd {
    Completed(String),
    /// The payout failed, for this reason, and the money is back.
    Failed(String),
}

/// An amount of a payout. The payer's posting has a movement, the other side's none.
pub struct Amount<'a> {
    pub minor: i64,
    pub against: Ledger,
    pub kind: MovementKind,
    pub description: &'a str,
}

/// A payout over a rail, as far as its life depends on its currency.
pub trait Payout: Resource + Clone + Into<Entity> {
    /// Whether it was sent, or waits for its turn, and its outcome is open.
    fn is_sent(&self) -> bool;

    fn order(&self) -> &OrderState;

    fn order_mut(&mut self) -> &mut OrderState;

    /// The rail's reference, and the code with which it refused. One that has both is contradicted.
    fn words_mut(&mut self) -> (&mut Option<String>, &mut Option<String>);

    /// Gives it its end; returns what happened, and the kept answer that this replaces.
    fn end(&mut self, is_completed: bool, now: Timestamp) -> (Cause, EventKind, Option<Arc<KeepRef>>);

    fn give_back(&self, draft: &mut Draft);

    fn call(&self, how: How, turn: &Turn<'_>) -> Effect;
}

/// Posts both sides of the amounts of a payout. `sign` −1 takes them from the payer, 1 gives them
/// back.
pub fn post(
    draft: &mut Draft,
    (subject, external_ref): (EntityId, &ExternalRef),
    (payer, currency): (Ledger, Currency),
    sign: i64,
    amounts: &[Amount<'_>],
) {
    for amount in amounts {
        let row = Row {
            kind: amount.kind,
            subject: Some(subject),
            chargeback: None,
            external_ref: Some(external_ref.clone()),
            description: amount.description.to_owned(),
            available_at: None,
        };
        let (minor, row) = (sign * amount.minor, Some(Box::new(row)));
        draft.post(Posting { ledger: payer, currency, minor, row });
        draft.post(Posting { ledger: amount.against, currency, minor: -minor, row: None });
    }
}

/// Ends a payout, with what its rail said besides; if it failed, the same record credits the money again.
pub fn settle<P: Payout>(payout: &P, end: PayoutEnd, said: &Said, turn: &Turn<'_>) -> Ruling {
    let mut settled = payout.clone();
    settled.order_mut().trace.note(said);
    settled.order_mut().stop();
    let (reference, code) = settled.words_mut();
    let of_all = match end {
        PayoutEnd::Completed(word) => {
            *reference = Some(word);
            EventKind::PayoutCompleted
        }
        PayoutEnd::Failed(word) => {
            *code = Some(word);
            EventKind::PayoutFailed
        }
    };
    let (cause, event, kept) = settled.end(of_all == EventKind::PayoutCompleted, turn.now);
    let mut draft = Draft::changed(cause, payout, settled);
    if of_all == EventKind::PayoutFailed {
        payout.give_back(&mut draft);
    }
    draft.event(event, payout.entity_id());
    // Payouts in USDT have events of their own besides those of all payouts.
    if event != of_all {
        draft.event(of_all, payout.entity_id());
    }
    draft.replaces_kept = kept;
    Ruling::write(draft)
}

/// The rail is to be asked, or its queue to be given what should be in it.
pub fn deadline<P: Payout>(payout: &P, turn: &Turn<'_>) -> Ruling {
    let how = if payout.is_sent() && payout.order().trace.is_queued() { How::Offer } else { How::Ask };
    match payout.order().next_look {
        Some(_) => Ruling::effects(vec![payout.call(how, turn)]),
        None => Ruling::unchanged(),
    }
}

/// The turn of the payout has come: one record says that it is being sent, so that it is not sent
/// again after a crash.
pub fn begin<P: Payout>(payout: &P, turn: &Turn<'_>) -> Ruling {
    if !payout.is_sent() || !payout.order().trace.is_queued() {
        return Ruling::unchanged();
    }
    let order = OrderState {
        next_look: Some(turn.first_look()),
        trace: Trace::sent(turn.now),
        ..payout.order().clone()
    };
    changed(Cause::OrderBegun, payout, order, Some(How::Send), turn)
}

/// The record of another state of its order, after which the rail is called.
fn changed<P: Payout>(
    cause: Cause,
    payout: &P,
    order: OrderState,
    how: Option<How>,
    turn: &Turn<'_>,
) -> Ruling {
    let mut after = payout.clone();
    *after.order_mut() = order;
    let effects = how.map(|how| after.call(how, turn)).into_iter().collect();
    Ruling::write_then(Draft::changed(cause, payout, after), effects)
}

/// The rail's words. A second answer finds the payout settled and moves no money; the opposite of
/// the first is written down.
pub fn on_rail_reply<P: Payout>(payout: &P, reply: RailReply, turn: &Turn<'_>) -> Ruling {
    if !payout.is_sent() {
        return contradict(payout, reply, turn);
    }
    let order = payout.order();
    let (order, how) = match (&reply.answer, reply.how) {
        (RailAnswer::Done { reference }, _) => {
            let end = PayoutEnd::Completed(reference.clone().unwrap_or_default());
            return settle(payout, end, &reply.said, turn);
        }
        (RailAnswer::Refused { code }, _) => {
            return settle(payout, PayoutEnd::Failed(code.clone()), &reply.said, turn);
        }
        // Nothing of it left this machine: back into the queue, in its place.
        (RailAnswer::NotSent, How::Send) => {
            let next_look = Some(turn.first_look());
            (OrderState { next_look, trace: Trace::queued(), ..order.clone() }, Some(How::Offer))
        }
        (RailAnswer::NotSent, How::Offer) => return Ruling::unchanged(),
        (RailAnswer::NeverReceived, _) if order.sends < 2 => (order.resent(turn), Some(How::Send)),
        // Sent twice: the second order had no answer either and may still be on its way, so the
        // money stays set aside until the rail says what became of it.
        (
            RailAnswer::Waiting
            | RailAnswer::Silent
            | RailAnswer::Unaskable
            | RailAnswer::NeverReceived
            | RailAnswer::NotAsked
            | RailAnswer::NotSent,
            _,
        ) => match order.after(&reply, turn) {
            Some(order) => (order, None),
            None => return Ruling::unchanged(),
        },
    };
    changed(Cause::BankAsked, payout, order, how, turn)
}

/// The ruling on a reply about a payout that is settled: what contradicts its end is written down, and another
/// word tells whether the rail agrees with an operator.
fn contradict<P: Payout>(payout: &P, reply: RailReply, turn: &Turn<'_>) -> Ruling {
    let mut said = payout.clone();
    let was_sent = payout.order().sends > 0;
    let (reference, code) = said.words_mut();
    match &reply.answer {
        RailAnswer::Done { reference: word } if was_sent && reference.is_none() => {
            *reference = Some(word.clone().unwrap_or_default());
        }
        RailAnswer::Refused { code: word } if was_sent && code.is_none() => *code = Some(word.clone()),
        _ => {
            return match payout.order().agreed(payout.order().operation, &reply, turn) {
                Some(order) => changed(Cause::BankAsked, payout, order, None, turn),
                None => Ruling::unchanged(),
            };
        }
    }
    said.order_mut().stop();
    said.order_mut().trace.note(&reply.said);
    Ruling::write(Draft::changed(Cause::OperationContradicted, payout, said))
}
