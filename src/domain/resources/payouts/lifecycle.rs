//! The life of a payout in any currency: debited, settled once, and credited again if it failed;
//! and of a payout over a rail: sent, asked about, sent again, still asked about, contradicted
//! (`docs/contract.md, 5.11, 5.13, 7.8`).
//!
//! A payout's own facts come from its type ([`Payout`], [`RailPayout`]); the rules are here, once.
//! It must not know any currency.

use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::resource::Resource;
use crate::events::EventKind;
use crate::kept::KeepRef;
use crate::ledger::{Ledger, MovementKind, Posting, Row};
use crate::rail::{Effect, How, RailAnswer, RailReply};
use crate::resources::polling::{Looks, asked_on};
use crate::trace::{ASKED_ON_MS, Said, Trace};
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
    /// The amount, in minor units.
    pub minor: i64,
    /// The ledger of the other side.
    pub against: Ledger,
    pub kind: MovementKind,
    pub description: &'a str,
}

pub trait Payout: Resource + Clone {
    /// The state as an entity for a record.
    fn into_entity(self) -> Entity;

    fn end(&self, end: &PayoutEnd) -> (Cause, EventKind);

    /// Posts the amount and the fee back to the payer.
    fn give_back(&self, draft: &mut Draft);

    /// The kept answer that the end replaces.
    fn kept(&self) -> Option<Arc<KeepRef>>;

    /// The state after its end, with no question and no kept answer left.
    fn settled(&self, end: PayoutEnd, now: Timestamp) -> Self;
}

/// The stage of a payout at its rail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The payout was never sent, or not yet.
    Unsent,
    /// The payout was sent, and its outcome is open.
    Sent,
    Completed,
    Failed,
}

/// The tries of a payout: how often it was sent and asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tries {
    /// The number of orders that were sent: two at most, the second after the rail said that it
    /// never received the first.
    pub sends: u32,
    pub looks: u32,
    pub next_look: Option<Timestamp>,
    /// The trace of its order at the rail.
    pub trace: Trace,
}

impl Tries {
    /// The tries of a payout that may be sent: in live mode it waits for its turn, and in test mode it is sent.
    pub fn begun(turn: &Turn<'_>) -> Tries {
        let trace = if turn.livemode { Trace::queued() } else { Trace::sent(turn.now) };
        Tries { sends: 1, looks: 0, next_look: Some(turn.first_look()), trace }
    }

    /// The way in which its order begins.
    pub fn how(&self) -> How {
        if self.trace.is_queued() { How::Offer } else { How::Send }
    }
}

pub trait RailPayout: Payout {
    fn stage(&self) -> Stage;

    fn tries(&self) -> Tries;

    /// The state after another try.
    fn tried(&self, tries: Tries) -> Self;

    /// The instant of its end, or of its debit.
    fn since(&self) -> Timestamp;

    /// The order to the rail, or the question about it.
    fn order(&self, how: How, turn: &Turn<'_>) -> Effect;

    /// The state with a reply of the rail that contradicts the end: the reference of a failed
    /// payout, the code of a completed one. `None` if the contradiction is known.
    fn contradicted(&self, word: PayoutEnd) -> Option<Self>;
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

/// Ends a payout; if it failed, the same record credits the money again.
pub fn settle<P: Payout>(payout: &P, end: PayoutEnd, turn: &Turn<'_>) -> Ruling {
    let (cause, event) = payout.end(&end);
    let mut draft = Draft::new(cause);
    let of_all = match end {
        PayoutEnd::Completed(_) => EventKind::PayoutCompleted,
        PayoutEnd::Failed(_) => EventKind::PayoutFailed,
    };
    if of_all == EventKind::PayoutFailed {
        payout.give_back(&mut draft);
    }
    draft.change(payout, payout.settled(end, turn.now).into_entity());
    draft.event(event, payout.entity_id());
    // Payouts in USDT have events of their own besides those of all payouts.
    if event != of_all {
        draft.event(of_all, payout.entity_id());
    }
    draft.replace_kept(payout.kept());
    Ruling::write(draft)
}

/// The rail is to be asked, or its queue to be given what should be in it.
pub fn deadline<P: RailPayout>(payout: &P, turn: &Turn<'_>) -> Ruling {
    let tries = payout.tries();
    match tries.next_look {
        Some(_) if is_queued(payout, &tries) => Ruling::effects(vec![payout.order(How::Offer, turn)]),
        Some(_) => Ruling::effects(vec![payout.order(How::Ask, turn)]),
        None => Ruling::unchanged(),
    }
}

/// Whether it waits for its turn at its rail.
fn is_queued<P: RailPayout>(payout: &P, tries: &Tries) -> bool {
    payout.stage() == Stage::Sent && tries.trace.is_queued()
}

/// The turn of the payout has come: one record says that it is being sent, so that it is not sent
/// again after a crash.
pub fn begin<P: RailPayout>(payout: &P, turn: &Turn<'_>) -> Ruling {
    let tries = payout.tries();
    if !is_queued(payout, &tries) {
        return Ruling::unchanged();
    }
    let next_look = Some(turn.first_look());
    let begun = payout.tried(Tries { next_look, trace: Trace::sent(turn.now), ..tries });
    let effect = begun.order(How::Send, turn);
    let mut draft = Draft::new(Cause::OrderBegun);
    draft.change(payout, begun.into_entity());
    Ruling::write_then(draft, vec![effect])
}

/// The rail's words. A second answer finds the payout settled and moves no money; the opposite of
/// the first is written down.
pub fn on_rail_reply<P: RailPayout>(payout: &P, reply: RailReply, turn: &Turn<'_>) -> Ruling {
    if payout.stage() != Stage::Sent {
        return contradict(payout, reply, turn);
    }
    let tries = payout.tries();
    match (&reply.answer, reply.how) {
        (RailAnswer::Done { reference }, _) => {
            let reference = reference.clone().unwrap_or_default();
            settle_noting(payout, PayoutEnd::Completed(reference), &reply.said, turn)
        }
        (RailAnswer::Refused { code }, _) => {
            settle_noting(payout, PayoutEnd::Failed(code.clone()), &reply.said, turn)
        }
        // Nothing of it left this machine: back into the queue, in its place.
        (RailAnswer::NotSent, How::Send) => {
            let next_look = Some(turn.first_look());
            let again = payout.tried(Tries { next_look, trace: Trace::queued(), ..tries });
            let effect = again.order(How::Offer, turn);
            Ruling::write_then(asked(payout, again), vec![effect])
        }
        (RailAnswer::NotSent, How::Offer) => Ruling::unchanged(),
        (RailAnswer::NeverReceived, _) if tries.sends < 2 => {
            let next_look = Some(turn.first_look());
            let again = payout.tried(Tries { sends: tries.sends + 1, next_look, ..tries });
            let effect = again.order(How::Send, turn);
            Ruling::write_then(asked(payout, again), vec![effect])
        }
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
        ) => {
            let Tries { sends, looks, next_look, trace } = tries;
            let looks = Looks { trace, looks, next_look: next_look.unwrap_or(turn.now) };
            let Some(Looks { trace, looks, next_look }) = looks.after(&reply, turn) else {
                return Ruling::unchanged();
            };
            let tries = Tries { sends, looks, next_look: Some(next_look), trace };
            Ruling::write(asked(payout, payout.tried(tries)))
        }
    }
}

/// The payout ends, with what its rail said besides.
fn settle_noting<P: RailPayout>(payout: &P, end: PayoutEnd, said: &Said, turn: &Turn<'_>) -> Ruling {
    if said.is_empty() {
        return settle(payout, end, turn);
    }
    let tries = payout.tries();
    settle(&payout.tried(Tries { trace: tries.trace.noting(said), ..tries }), end, turn)
}

/// The record that the rail was asked, or the order sent again.
fn asked<P: RailPayout>(payout: &P, then: P) -> Draft {
    let mut draft = Draft::new(Cause::BankAsked);
    draft.change(payout, then.into_entity());
    draft
}

/// The ruling on a reply about a payout that is settled.
fn contradict<P: RailPayout>(payout: &P, reply: RailReply, turn: &Turn<'_>) -> Ruling {
    let said = match (payout.stage(), &reply.answer) {
        (Stage::Failed, RailAnswer::Done { reference }) => {
            payout.contradicted(PayoutEnd::Completed(reference.clone().unwrap_or_default()))
        }
        (Stage::Completed, RailAnswer::Refused { code }) => {
            payout.contradicted(PayoutEnd::Failed(code.clone()))
        }
        (Stage::Unsent | Stage::Sent | Stage::Completed | Stage::Failed, _) => None,
    };
    let Some(said) = said else { return ask_on(payout, &reply, turn) };
    let tries = said.tries();
    let said = said.tried(Tries { trace: tries.trace.noting(&reply.said), ..tries });
    let mut draft = Draft::new(Cause::OperationContradicted);
    draft.change(payout, said.into_entity());
    Ruling::write(draft)
}

/// The ruling on a reply about a payout that an operator has settled, if it is not a contradiction.
fn ask_on<P: RailPayout>(payout: &P, reply: &RailReply, turn: &Turn<'_>) -> Ruling {
    let tries = payout.tries();
    let until = payout.since().plus_ms(ASKED_ON_MS);
    let still_asked = tries.next_look.and_then(|_| asked_on(reply, tries.looks, until, turn));
    match still_asked {
        Some((looks, next_look)) => {
            Ruling::write(asked(payout, payout.tried(Tries { looks, next_look, ..tries })))
        }
        None => Ruling::unchanged(),
    }
}
