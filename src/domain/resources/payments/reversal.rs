//! Reversal of a C2P payment: the money is set aside, the bank is asked, and only then it goes back
//! (`docs/contract.md, 5.10`).

use super::commands::agreed;
use super::{CHARGE, Debtor, Means, Payment, Phase, REVERSE, Status, sale};
use crate::decision::{Draft, Ruling, Turn};
use crate::events::{BalanceReason, EventKind};
use crate::kept::KeepRef;
use crate::ledger::Ledger;
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::rail::{Effect, How, Order, POLL_MS, RailAnswer, RailReply, next_poll};
use crate::record::{Cause, Entity};
use crate::refusal::Refusal;
use crate::resources::collections::asked_on;
use crate::resources::collections::set_aside::{Giver, SetAside};
use crate::resources::payments::PaymentRefusal;
use crate::values::ids::EntityId;
use crate::values::money::{Currency, Ves};
use crate::values::time::Timestamp;
use std::sync::Arc;

/// Where the money for a reversal was taken from, in minor units, so that it can go back to the
/// very same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aside {
    /// From what was left of the sale's own hold.
    pub from_hold: i64,
    /// From the tenant's available balance.
    pub from_available: i64,
    /// From what was left of the seller's hold on the sale.
    pub seller_from_hold: i64,
    /// From the seller's available balance.
    pub seller_from_available: i64,
}

/// The tenant asks for it.
pub fn reverse(book: &Book, payment: &Payment, kept: Option<Arc<KeepRef>>, turn: &Turn) -> Ruling {
    let Means::C2p { debtor, .. } = &payment.means else {
        return Ruling::refuse(PaymentRefusal::NotReversible);
    };
    if matches!(payment.phase, Phase::Reversing { .. }) {
        return Ruling::refuse(PaymentRefusal::ReversalInProgress);
    }
    let (Status::Completed, Some(completed_at)) = (payment.status, payment.completed_at) else {
        return Ruling::refuse(PaymentRefusal::NotCompleted);
    };
    if turn.now >= completed_at.plus_ms(sale::HOLD_MS) {
        return Ruling::refuse(PaymentRefusal::ReversalWindowExpired);
    }
    if !turn.has_rail {
        return Ruling::refuse(Refusal::RailNotConfigured);
    }
    let aside = match set_aside(book, payment) {
        Ok(aside) => aside,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let phase = Phase::Reversing { looks: 0, next_look: turn.now.plus_ms(POLL_MS), resent: false, aside };
    let reversing = Payment { phase, kept, ..payment.clone() };
    let effect = order(&reversing, debtor, How::Send, turn);
    let mut draft = Draft::new(Cause::ReversalBegun);
    aside_of(payment, aside).begin(&mut draft);
    draft.change(payment, Entity::Payment(reversing));
    Ruling::write_then(draft, vec![effect])
}

/// Who gives what: first what is left of the sale's own holds, then what is available; all or
/// nothing.
fn set_aside(book: &Book, payment: &Payment) -> Result<Aside, Refusal> {
    // The operator's share of a sale through a link comes back with the fee: what is asked of the
    // tenant is what the sale left it.
    let net = payment.net().and_then(|net| net.minus(payment.platform_fee())).unwrap_or_default().minor();
    let share = payment.marketplace.as_ref().and_then(|sale| sale.seller_net).unwrap_or_default().minor();
    let account = book.account(Currency::Ves);
    let from_hold = payment.available_at.map_or(0, |at| account.held_for(at, payment.id)).min(net - share);
    let from_available = net - share - from_hold;
    if from_available > 0 && from_available > book.available_ves() {
        return Err(Refusal::InsufficientBalance { available: Ves::from_minor(book.available_ves()) });
    }
    let mut aside = Aside { from_hold, from_available, seller_from_hold: 0, seller_from_available: 0 };
    if let Some(sale) = &payment.marketplace
        && let Some(seller) = book.sellers.get(&sale.merchant)
    {
        aside.seller_from_hold = sale
            .seller_available_at
            .map_or(0, |at| seller.account(Currency::Ves).held_for(at, payment.id))
            .min(share);
        aside.seller_from_available = share - aside.seller_from_hold;
        if aside.seller_from_available > 0
            && aside.seller_from_available > seller.account(Currency::Ves).free()
        {
            return Err(Refusal::InsufficientBalance { available: Ves::from_minor(book.available_ves()) });
        }
    }
    Ok(aside)
}

/// The same, by the accounts that give.
fn aside_of(payment: &Payment, aside: Aside) -> SetAside {
    let giver = |ledger, available_at: Option<Timestamp>, from_hold, from_available| Giver {
        ledger,
        from_holds: available_at.map(|at| (at, payment.id, from_hold)).into_iter().collect(),
        total: from_hold + from_available,
    };
    let own = giver(Ledger::Tenant, payment.available_at, aside.from_hold, aside.from_available);
    let seller = payment.marketplace.as_ref().map(|sale| {
        let (from_hold, from_available) = (aside.seller_from_hold, aside.seller_from_available);
        giver(Ledger::Seller(sale.merchant), sale.seller_available_at, from_hold, from_available)
    });
    let givers = std::iter::once(own).chain(seller).collect();
    SetAside { currency: Currency::Ves, payment: payment.id, givers }
}

fn order(payment: &Payment, debtor: &Debtor, how: How, turn: &Turn) -> Effect {
    Effect {
        entity: EntityId::payment(payment.id),
        operation: payment.id.operation(REVERSE),
        at: turn.now,
        how,
        order: Order::ReverseC2p {
            original: payment.id.operation(CHARGE),
            bank: debtor.bank,
            debtor: debtor.id,
            reference: payment.bank_reference.clone().unwrap_or_default(),
            amount: payment.ves,
        },
    }
}

/// The bank is to be asked about it.
pub fn deadline(payment: &Payment, turn: &Turn) -> Ruling {
    let Some(debtor) = payment.debtor() else { return Ruling::unchanged() };
    Ruling::effects(vec![order(payment, debtor, How::Ask, turn)])
}

/// The bank's words about it.
pub fn on_rail_reply(book: &Book, payment: &Payment, reply: RailReply, turn: &Turn) -> Ruling {
    let (Phase::Reversing { looks, next_look: _, resent, aside }, Some(debtor)) =
        (&payment.phase, payment.debtor())
    else {
        return contradicted(payment, reply, turn);
    };
    let (looks, resent, aside) = (*looks, *resent, *aside);
    match (reply.answer, reply.how) {
        (RailAnswer::Done { reference }, _) => reversed(book, payment, aside, reference, turn),
        (RailAnswer::Refused { code: _ }, _) => {
            let restored = Payment { phase: Phase::Idle, kept: None, ..payment.clone() };
            let mut draft = Draft::new(Cause::ReversalRefused);
            aside_of(payment, aside).put_back(&mut draft, book, turn.now);
            draft.change(payment, Entity::Payment(restored));
            draft.replace_kept(payment.kept.clone());
            Ruling::write_and_refuse(draft, PaymentRefusal::ReversalRefused)
        }
        (RailAnswer::Waiting | RailAnswer::Silent, How::Send) => Ruling::unchanged(),
        (RailAnswer::NeverReceived, _) if !resent => {
            let phase = Phase::Reversing { looks, next_look: turn.now.plus_ms(POLL_MS), resent: true, aside };
            let again = Payment { phase, ..payment.clone() };
            let effect = order(&again, debtor, How::Send, turn);
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payment, Entity::Payment(again));
            Ruling::write_then(draft, vec![effect])
        }
        (RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::NeverReceived, _) => {
            let phase = Phase::Reversing {
                looks: looks + 1,
                next_look: next_poll(turn.now, looks + 1),
                resent,
                aside,
            };
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payment, Entity::Payment(Payment { phase, ..payment.clone() }));
            Ruling::write(draft)
        }
    }
}

/// What the bank says of a reversal that is settled: that one which it refused was made after all,
/// or that it refused one which it made. No money moves by it.
fn contradicted(payment: &Payment, reply: RailReply, turn: &Turn) -> Ruling {
    let phase = asked_on::no_more(&payment.phase, REVERSE);
    let said = match (payment.status, &reply.answer, &phase) {
        (Status::Completed, RailAnswer::Done { reference }, Phase::Idle | Phase::AskedOn { .. })
            if payment.reversal_ref.is_none() =>
        {
            Payment { reversal_ref: Some(reference.clone()), phase, ..payment.clone() }
        }
        (Status::Reversed, RailAnswer::Refused { code }, Phase::Idle | Phase::AskedOn { .. }) => {
            Payment { phase: Phase::ReversalDenied { code: code.clone() }, ..payment.clone() }
        }
        _ => return agreed(payment, REVERSE, &reply, turn),
    };
    let mut draft = Draft::new(Cause::OperationContradicted);
    draft.change(payment, Entity::Payment(said));
    Ruling::write(draft)
}

fn reversed(book: &Book, payment: &Payment, aside: Aside, reference: String, turn: &Turn) -> Ruling {
    let reversed = Payment {
        status: Status::Reversed,
        phase: Phase::Idle,
        reversed_at: Some(turn.now),
        reversal_ref: Some(reference),
        kept: None,
        ..payment.clone()
    };
    let mut draft = Draft::new(Cause::PaymentReversed);
    sale::of_payment(payment).give_back(&mut draft, "payment reversed");
    aside_of(payment, aside).end(&mut draft, book);
    draft.change(payment, Entity::Payment(reversed));
    draft.event(EventKind::PaymentReversed, EntityId::payment(payment.id));
    if let Some(sale) =
        payment.marketplace.as_ref().filter(|sale| sale.seller_net.is_some_and(|share| !share.is_zero()))
    {
        sellers::tell(
            &mut draft,
            book,
            sale.merchant,
            Currency::Ves,
            -(aside.seller_from_hold + aside.seller_from_available),
            BalanceReason::Reversal,
        );
    }
    draft.replace_kept(payment.kept.clone());
    Ruling::write(draft)
}
