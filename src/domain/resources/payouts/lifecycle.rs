//! The life of a payout over a rail: debited, sent, asked about, sent again, settled once, credited again if it
//! failed, contradicted (`docs/contract.md, 5.11, 5.13, 7.8`). It must not know any currency.

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::resource::Resource;
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::spending::Drawn;
use crate::ledger::{Ledger, MovementKind, Row};
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

/// A payout over a rail, as far as its life depends on its currency.
pub trait Payout: Resource + Clone + Into<Entity> {
    /// Its order, the rail's reference, and the code with which that refused. One that has both is contradicted.
    fn at_rail_mut(&mut self) -> (&mut OrderState, &mut Option<String>, &mut Option<String>);

    /// Gives it its end; returns what happened, and the kept answer that this replaces.
    fn end(&mut self, is_completed: bool, now: Timestamp) -> (Cause, EventKind, Option<Arc<KeepRef>>);

    /// Posts the amount and the fee; `sign` −1 takes them from the payer, 1 gives them back.
    fn post(&self, draft: &mut Draft, sign: i64, kinds: [MovementKind; 2]);

    /// What it was drawn from, and the amount with the fee.
    fn drawn(&self) -> (&Drawn, Currency, i64);

    fn call(&self, how: How, turn: &Turn<'_>) -> Effect;
}

/// The rules that payouts of every currency over a rail have in common. `$open` is the status while it was sent, or
/// waits for its turn, and its outcome is open.
macro_rules! payout_rules {
    ($open:expr) => {
        fn on_rail_reply(&self, _: &Book, reply: RailReply, turn: &Turn<'_>) -> Ruling {
            lifecycle::on_rail_reply(self, self.status == $open, &self.order, reply, turn)
        }

        fn on_deadline(&self, _: &Book, turn: &Turn<'_>) -> Ruling {
            lifecycle::deadline(self, self.status == $open, &self.order, turn)
        }

        fn on_begin(&self, turn: &Turn<'_>) -> Ruling {
            lifecycle::begin(self, self.status == $open, &self.order, turn)
        }

        fn unanswered(&self) -> Vec<Operation> {
            (self.status == $open).then(|| self.as_operation()).into_iter().collect()
        }

        fn ask_on(&mut self, _: u16, turn: &Turn<'_>) {
            self.order.ask_on(turn);
        }
    };
}

pub(crate) use payout_rules;

/// Posts both sides of the amounts of a payout, each with what it goes to and in what words. `sign` −1 takes them
/// from the payer, 1 gives them back.
pub fn post(
    draft: &mut Draft,
    (subject, external_ref, (payer, currency)): (EntityId, &ExternalRef, (Ledger, Currency)),
    sign: i64,
    amounts: &[(i64, Ledger, MovementKind, &str)],
) {
    for (minor, against, kind, words) in amounts {
        let row = Row { external_ref: Some(external_ref.clone()), ..Row::new(*kind, subject, words) };
        draft.post((currency, sign * minor), (payer, Some(row)), (*against, None));
    }
}

/// Ends a payout, with what its rail said besides; if it failed, the same record credits the money again.
pub fn settle<P: Payout>(payout: &P, end: PayoutEnd, said: &Said, turn: &Turn<'_>) -> Ruling {
    let mut settled = payout.clone();
    let (order, reference, code) = settled.at_rail_mut();
    order.trace.note(said);
    order.stop();
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
    let settled: Entity = settled.into();
    let id = settled.id();
    let mut draft = Draft::changed(cause, payout, settled);
    if of_all == EventKind::PayoutFailed {
        payout.post(&mut draft, 1, [MovementKind::PayoutReversal; 2]);
        let (drawn, currency, total) = payout.drawn();
        draft.spend(drawn, currency, -total);
    }
    draft.event(event, id);
    // Payouts in USDT have events of their own besides those of all payouts.
    if event != of_all {
        draft.event(of_all, id);
    }
    draft.replaces_kept = kept;
    Ruling::write(draft)
}

/// The rail is to be asked, or its queue to be given what should be in it.
pub fn deadline<P: Payout>(payout: &P, is_open: bool, order: &OrderState, turn: &Turn<'_>) -> Ruling {
    let how = if is_open && order.trace.is_queued() { How::Offer } else { How::Ask };
    match order.next_look {
        Some(_) => Ruling::effects(vec![payout.call(how, turn)]),
        None => Ruling::unchanged(),
    }
}

/// The turn of the payout has come: one record says that it is being sent, so that it is not sent
/// again after a crash.
pub fn begin<P: Payout>(payout: &P, is_open: bool, order: &OrderState, turn: &Turn<'_>) -> Ruling {
    if !is_open || !order.trace.is_queued() {
        return Ruling::unchanged();
    }
    let (next_look, trace) = (Some(turn.first_look()), Trace::sent(turn.now));
    let order = OrderState { next_look, trace, ..order.clone() };
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
    *after.at_rail_mut().0 = order;
    let effects = how.map(|how| after.call(how, turn)).into_iter().collect();
    Ruling::write_then(Draft::changed(cause, payout, after), effects)
}

/// The rail's words. A second answer finds the payout settled and moves no money; the opposite of the first is
/// written down.
pub fn on_rail_reply<P: Payout>(
    payout: &P,
    is_open: bool,
    order: &OrderState,
    reply: RailReply,
    turn: &Turn<'_>,
) -> Ruling {
    if !is_open {
        return contradict(payout, order, reply, turn);
    }
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
fn contradict<P: Payout>(payout: &P, before: &OrderState, reply: RailReply, turn: &Turn<'_>) -> Ruling {
    let mut said = payout.clone();
    let was_sent = before.sends > 0;
    let (order, reference, code) = said.at_rail_mut();
    match &reply.answer {
        RailAnswer::Done { reference: word } if was_sent && reference.is_none() => {
            *reference = Some(word.clone().unwrap_or_default());
        }
        RailAnswer::Refused { code: word } if was_sent && code.is_none() => *code = Some(word.clone()),
        _ => {
            return match before.agreed(before.operation, &reply, turn) {
                Some(order) => changed(Cause::BankAsked, payout, order, None, turn),
                None => Ruling::unchanged(),
            };
        }
    }
    order.stop();
    order.trace.note(&reply.said);
    Ruling::write(Draft::changed(Cause::OperationContradicted, payout, said))
}
