//! Refunds of payments in pesos: the money is set aside, the processor is asked, and only then the
//! money goes back, whole and with its fee (`docs/contract.md, 11.6`).

use super::sale;
use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::cop_payment::{COLLECT, CopPayment, EarlierRefund, Failure, Phase, REFUND, REFUNDS_MAX};
use crate::entities::payment::Status;
use crate::entities::sale::{Aside, Part, Taken};
use crate::ledger::book::Book;
use crate::ledger::{Account, HOLDS_MAX};
use crate::rail::{Effect, How, Order, RailAnswer, RailReply, Service};
use crate::refusal::{CopPaymentRefusal, PaymentRefusal, Refusal};
use crate::resources::collections::set_aside::SetAside;
use crate::trace::{BankWord, NEVER, OrderState, Reach};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Cop, Currency};
use crate::values::time::{HOUR_MS, Timestamp};

/// The time after its completion in which a payment can be refunded, in milliseconds
/// (`docs/contract.md, 11.6`).
pub const WINDOW_MS: i64 = 96 * HOUR_MS;

/// The most that an account can give: what is available, the hold of `own`, and of the others with
/// an end the first [`HOLDS_MAX`]. In pesos; may be negative.
pub fn spendable(account: &Account, own: Option<(Timestamp, Id)>) -> i64 {
    if account.holds.len() <= HOLDS_MAX {
        return account.net - account.undecided();
    }
    account.free()
        + own.map_or(0, |key| account.held_for(key.0, key.1))
        + others(account, own).map(|(_, held)| held).sum::<i64>()
}

/// The holds beside that of `own` that may be taken from, in the order of their ends.
fn others(account: &Account, own: Option<(Timestamp, Id)>) -> impl Iterator<Item = ((Timestamp, Id), i64)> {
    account.holds_with_an_end().filter(move |(key, _)| Some(*key) != own).take(HOLDS_MAX)
}

/// Takes `minor` pesos from an account: first from the hold of `own`, then from the available
/// balance, then from the other holds in the order of their ends. `None` when all of that does not
/// suffice; money that is set aside already is not touched.
pub fn take(account: &Account, own: Option<(Timestamp, Id)>, minor: i64) -> Option<Taken> {
    if minor > spendable(account, own) {
        return None;
    }
    let mut taken = Taken::default();
    let mut left = minor;
    let mut take_part = |(release_at, hold): (Timestamp, Id), held: i64, left: &mut i64| {
        let part = held.min(*left);
        if part > 0 {
            taken.from_holds.push(Part { release_at, hold, minor: part });
            *left -= part;
        }
    };
    if let Some(key) = own {
        take_part(key, account.held_for(key.0, key.1), &mut left);
    }
    let from_available = account.free().clamp(0, left);
    left -= from_available;
    for (key, held) in others(account, own) {
        take_part(key, held, &mut left);
    }
    taken.from_available = from_available;
    (left == 0).then_some(taken)
}

/// The refusal of a refund of this payment, whatever rails and balances allow; `None` where one may be
/// asked for.
pub fn barred(payment: &CopPayment, now: Timestamp) -> Option<Refusal> {
    // A processor that is asked on may have given it back under that operation: a second one would take
    // the place of the question, and the money may go back under both.
    let is_asked_on = payment.refunds > 0 && payment.order.is_asked_on(payment.order.operation);
    if matches!(payment.phase, Phase::Refunding { .. }) || is_asked_on && payment.status == Status::Completed
    {
        return Some(CopPaymentRefusal::RefundInProgress.into());
    }
    let (Status::Completed, Some(completed_at)) = (payment.status, payment.completed_at) else {
        return Some(PaymentRefusal::NotCompleted.into());
    };
    if now >= completed_at.plus_ms(WINDOW_MS) {
        return Some(CopPaymentRefusal::RefundWindowExpired.into());
    }
    (payment.refunds >= REFUNDS_MAX).then(|| PaymentRefusal::NotReversible.into())
}

pub fn refund(book: &Book, payment: &CopPayment, turn: &Turn) -> Ruled {
    if let Some(refusal) = barred(payment, turn.now) {
        return Err(refusal);
    }
    let completed_at = payment.completed_at.ok_or(PaymentRefusal::NotCompleted)?;
    turn.terms(Service::Cop, None).may_queue()?;
    let drawn = turn.may_take(book, (Currency::Cop, payment.amount.minor()))?;
    let Some(aside) = set_aside(book, payment) else {
        let account = book.account(Currency::Cop);
        let spendable = spendable(account, payment.available_at.map(|at| (at, payment.id)));
        let (available, spendable) = (Cop::from_minor(account.free()), Cop::from_minor(spendable));
        return Err(CopPaymentRefusal::RefundNotCovered { available, spendable }.into());
    };
    // An operation of its own: under the name of one that it refused the processor might hand out that
    // word again.
    let refunds = payment.refunds.checked_add(1).ok_or(PaymentRefusal::NotReversible)?;
    // A word about the newest refund after the processor had refused it is from now on of an
    // earlier one.
    let mut earlier_refunds = payment.earlier_refunds.clone();
    let operation = REFUND + payment.refunds;
    let reference = payment.refund_reference.clone();
    earlier_refunds.extend(reference.map(|reference| EarlierRefund { operation, reference }));
    // A live processor has no call for it, so nobody is told or asked: it is an operator's from the
    // beginning.
    let by_hand = payment.live.is_some();
    let mut order_state = OrderState::first(REFUND + refunds, false, turn);
    if by_hand {
        let word = BankWord::new("", "to be refunded by hand, in the processor's panel");
        order_state.trace.reach = Reach::Unaskable;
        order_state.trace.word = Some(Box::new(word));
        order_state.next_look = Some(NEVER);
    }
    let refunding = CopPayment {
        phase: Phase::Refunding { aside: aside.clone() },
        refunds,
        refund_reference: None,
        earlier_refunds,
        drawn,
        kept: turn.keep.clone(),
        order: payment.order.followed_by(order_state),
        ..payment.clone()
    };
    let effect = (!by_hand).then(|| order(&refunding, completed_at, How::Send, turn));
    let drawn = refunding.drawn.clone();
    let mut draft = Draft::changed(Cause::CopRefundBegun, payment, refunding);
    draft.spend(&drawn, Currency::Cop, payment.amount.minor());
    aside_of(payment, &aside).begin(&mut draft);
    Ok(Ruling::write_then(draft, effect.into_iter().collect()))
}

/// The parts that tenant and seller give; all or nothing. `None` if they do not suffice.
fn set_aside(book: &Book, payment: &CopPayment) -> Option<Aside> {
    // The operator's share of a sale through a link comes back with the fee, so the tenant gives
    // what the sale left it.
    let net = payment.net().and_then(|net| net.minus(payment.platform_fee())).unwrap_or_default().minor();
    let sale = payment.marketplace.as_ref();
    let share = sale.and_then(|sale| sale.seller_net).unwrap_or_default().minor();
    let own_hold = |at: Option<Timestamp>| at.map(|at| (at, payment.id));
    let own = take(book.account(Currency::Cop), own_hold(payment.available_at), net - share)?;
    let sellers = match sale.and_then(|sale| book.sellers.get(&sale.merchant)) {
        Some(seller) => take(
            seller.account(Currency::Cop),
            own_hold(sale.and_then(|sale| sale.seller_available_at)),
            share,
        )?,
        None => Taken::default(),
    };
    Some(Aside { own, sellers })
}

fn aside_of<'a>(payment: &CopPayment, money: &'a Aside) -> SetAside<'a> {
    let seller = payment.marketplace.as_ref().map(|sale| sale.merchant);
    SetAside { currency: Currency::Cop, payment: payment.id, seller, money }
}

fn order(payment: &CopPayment, completed_at: Timestamp, how: How, turn: &Turn) -> Effect {
    let order = Order::RefundCop {
        original: payment.id.operation(COLLECT),
        reference: payment.processor_reference.clone().unwrap_or_default(),
        amount: payment.amount,
        completed_at,
    };
    let operation = payment.order.operation;
    payment.order.call(EntityId::cop_payment(payment.id), operation, how, turn.now, order)
}

pub fn deadline(payment: &CopPayment, turn: &Turn) -> Ruling {
    // A live processor knows of no refunds.
    let completed_at = payment.completed_at.filter(|_| payment.live.is_none());
    let Some(completed_at) = completed_at else { return Ruling::unchanged() };
    Ruling::effects(vec![order(payment, completed_at, How::Ask, turn)])
}

/// The ruling on the processor's reply. A reply about an earlier try moves no pesos.
pub fn on_rail_reply(book: &Book, payment: &CopPayment, reply: RailReply, turn: &Turn) -> Ruling {
    let (Phase::Refunding { aside }, Some(completed_at)) = (&payment.phase, payment.completed_at) else {
        return contradicted(payment, &reply, turn);
    };
    if reply.operation != payment.refund_operation() {
        return contradicted(payment, &reply, turn);
    }
    let noted = payment.noting(payment.order.operation, &reply.said);
    match (&reply.answer, reply.how) {
        (RailAnswer::Done { reference }, _) => {
            refunded(book, &noted, aside, reference.clone().unwrap_or_default(), turn)
        }
        (RailAnswer::Refused { code: _ }, _) => {
            let mut restored = CopPayment { phase: Phase::Idle, refund_reference: None, kept: None, ..noted };
            restored.order.stop();
            let mut draft = Draft::changed(Cause::CopRefundRefused, payment, restored);
            aside_of(payment, aside).put_back(&mut draft, book, turn.now);
            draft.spend(&payment.drawn, Currency::Cop, -payment.amount.minor());
            draft.replaces_kept = payment.kept.clone();
            Ruling::write_and_refuse(draft, CopPaymentRefusal::ProcessorUnavailable)
        }
        (
            RailAnswer::Waiting
            | RailAnswer::Silent
            | RailAnswer::Unaskable
            | RailAnswer::NeverReceived
            | RailAnswer::NotSent
            | RailAnswer::NotAsked,
            how,
        ) => {
            let Some(after) = payment.order.after(&reply, turn) else { return Ruling::unchanged() };
            let later = CopPayment { order: after, ..payment.clone() };
            let again = (how == How::Ask && reply.answer == RailAnswer::NeverReceived)
                .then(|| order(&later, completed_at, How::Send, turn));
            Ruling::write_then(Draft::changed(Cause::BankAsked, payment, later), again.into_iter().collect())
        }
    }
}

/// The ruling on a reply about a refund that is settled: a refused one was made after all, or one
/// that was made is said to be refused.
fn contradicted(payment: &CopPayment, reply: &RailReply, turn: &Turn) -> Ruling {
    let operation = reply.operation.entity_and_operation().1;
    let payment = &payment.noting(operation, &reply.said);
    let order = payment.order.contradicted(operation);
    let is_newest = payment.is_refund(operation);
    let said = match (payment.status, &reply.answer) {
        (Status::Completed, RailAnswer::Done { reference })
            if is_newest && payment.refund_reference.is_none() =>
        {
            let refund_reference = Some(reference.clone().unwrap_or_default());
            CopPayment { refund_reference, order, ..payment.clone() }
        }
        (Status::Completed | Status::Reversed, RailAnswer::Done { reference })
            if payment.is_earlier_refund(operation) && payment.reference_of_refund(operation).is_none() =>
        {
            let mut earlier_refunds = payment.earlier_refunds.clone();
            earlier_refunds
                .push(EarlierRefund { operation, reference: reference.clone().unwrap_or_default() });
            CopPayment { earlier_refunds, order, ..payment.clone() }
        }
        (Status::Reversed, RailAnswer::Refused { .. }) if is_newest && payment.failure.is_none() => {
            CopPayment { failure: Some(Failure::RefundRefused), order, ..payment.clone() }
        }
        _ => return payment.agreed(operation, reply, turn),
    };
    Ruling::write(Draft::changed(Cause::OperationContradicted, payment, said))
}

fn refunded(book: &Book, payment: &CopPayment, aside: &Aside, reference: String, turn: &Turn) -> Ruling {
    let mut refunded = CopPayment {
        status: Status::Reversed,
        phase: Phase::Idle,
        refunded_at: Some(turn.now),
        refund_reference: Some(reference),
        kept: None,
        ..payment.clone()
    };
    refunded.order.stop();
    let mut draft = Draft::changed(Cause::CopPaymentRefunded, payment, refunded);
    let (aside, kept) = (aside_of(payment, aside), payment.kept.clone());
    sale::of_payment(payment).give_back(&mut draft, book, "payment refunded", &aside, kept);
    Ruling::write(draft)
}
