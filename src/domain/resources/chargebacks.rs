//! Chargebacks: a bank takes a card sale back, whole or in part, and the dispute about it is won or
//! lost (`docs/contract.md, 8`).
//!
//! A chargeback belongs to its payment. Its limit depends on the payment's other chargebacks, so
//! the payment decides, and its state holds them all. Each is also an entity of its own, written in
//! the same record, so that it can be read and listed by itself.

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::chargeback::{Chargeback, Reason, Status};
use crate::entities::means::Means;
use crate::entities::payment::{Payment, Status as PaymentStatus};
use crate::events::{EventKind, Extra};
use crate::ledger::book::Book;
use crate::ledger::{Ledger, MovementKind, Row};
use crate::refusal::{ChargebackRefusal, Refusal};
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Ves};
use crate::values::time::Timestamp;

/// The largest number of chargebacks of a payment, won ones included: each record of the payment
/// holds all of them.
const CHARGEBACKS_MAX: usize = 100;

/// A request to open a chargeback.
pub struct NewChargeback {
    pub id: Id,
    /// The amount; `None` is all that is left of the payment.
    pub amount: Option<Ves>,
    /// The fee; `None` is what the tenant's settings say.
    pub fee: Option<Ves>,
    pub reason: Reason,
    /// The instant at which the bank took the money; `None` is now.
    pub bank_debited_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Won,
    Lost,
}

/// A command about the chargebacks of a payment.
pub enum Command {
    /// A bank takes a payment back, whole or in part.
    Open(Box<NewChargeback>),
    /// The dispute about the chargeback with this id is decided.
    Close(Id, Verdict),
}

pub fn decide(book: &Book, payment: Option<&Payment>, command: Command, turn: &Turn<'_>) -> Ruled {
    match (command, payment) {
        (Command::Open(new), Some(payment)) => open(book, payment, *new, turn),
        (Command::Close(id, verdict), Some(payment)) => close(payment, id, verdict, turn),
        (Command::Open(_) | Command::Close(..), None) => Err(Refusal::NotFound),
    }
}

/// The sum that open and lost chargebacks took of the payment, in cents: never more than its
/// amount.
fn taken(chargebacks: &[Chargeback]) -> i64 {
    let taken = chargebacks.iter().filter(|chargeback| chargeback.status != Status::Won);
    taken.map(|chargeback| chargeback.amount.minor()).sum()
}

/// Opens a chargeback. The amount comes out of the tenant's available balance, which may go below
/// zero; the seller of a marketplace sale pays nothing.
fn open(book: &Book, payment: &Payment, new: NewChargeback, turn: &Turn) -> Ruled {
    let by_card = matches!(payment.means, Means::Card { .. });
    if !by_card || !matches!(payment.status, PaymentStatus::Completed | PaymentStatus::Reversed) {
        return Err(ChargebackRefusal::NotAllowed.into());
    }
    if payment.chargebacks.len() >= CHARGEBACKS_MAX {
        return Err(ChargebackRefusal::TooMany.into());
    }
    let left = payment.ves.minor() - taken(&payment.chargebacks);
    let amount = new.amount.unwrap_or(Ves::from_minor(left));
    if amount.minor() <= 0 || amount.minor() > left {
        return Err(ChargebackRefusal::ExceedsPayment.into());
    }
    let fee = new.fee.unwrap_or(book.tenant_settings.settings.fees.chargeback);
    if amount.plus(fee).is_none() {
        return Err(Refusal::AmountOverflow);
    }
    let chargeback = Chargeback {
        id: new.id,
        payment: payment.id,
        external_ref: payment.external_ref.clone(),
        status: Status::Open,
        amount,
        fee,
        reason: new.reason,
        bank_debited_at: new.bank_debited_at.unwrap_or(turn.now),
        livemode: turn.livemode,
        created_at: turn.now,
        closed_at: None,
    };
    let mut after = payment.clone();
    after.chargebacks.push(chargeback.clone());
    let whole = amount.minor() == left;
    if whole {
        after.status = PaymentStatus::Reversed;
        after.reversed_at = Some(turn.now);
    }
    let mut draft = Draft::changed(Cause::ChargebackOpened, payment, after);
    let kinds = [MovementKind::Chargeback, MovementKind::ChargebackFee];
    post(&mut draft, &chargeback, -1, kinds, ["card payment charged back", "chargeback fee"]);
    let extra = || Extra::Chargeback(chargeback.id);
    draft.event_with(EventKind::PaymentChargeback, Some(EntityId::payment(payment.id)), extra());
    if whole {
        draft.event_with(EventKind::PaymentReversed, Some(EntityId::payment(payment.id)), extra());
    }
    draft.create(chargeback);
    Ok(Ruling::write(draft))
}

/// Opens the chargeback of a card of test mode whose holder disputes what it paid.
pub fn dispute(book: &Book, payment: &Payment, turn: &Turn) -> Ruling {
    let new = NewChargeback {
        // The rows of the record have ids of the seed itself.
        id: Id::derived(turn.now.unix_ms(), !turn.seed, 0),
        amount: None,
        fee: None,
        reason: Reason::Fraud,
        bank_debited_at: None,
    };
    open(book, payment, new, turn).unwrap_or_else(Ruling::refuse)
}

/// Closes one of the payment's chargebacks with the end of its dispute.
fn close(payment: &Payment, id: Id, verdict: Verdict, turn: &Turn) -> Ruled {
    let at = payment.chargebacks.iter().position(|chargeback| chargeback.id == id);
    let at = at.ok_or(Refusal::NotFound)?;
    let chargeback = &payment.chargebacks[at];
    if chargeback.status != Status::Open {
        return Err(ChargebackRefusal::Closed.into());
    }
    let status = match verdict {
        Verdict::Won => Status::Won,
        Verdict::Lost => Status::Lost,
    };
    let closed = Chargeback { status, closed_at: Some(turn.now), ..chargeback.clone() };
    let mut after = payment.clone();
    after.chargebacks[at] = closed.clone();
    let mut draft = Draft::new(Cause::ChargebackClosed);
    if verdict == Verdict::Won {
        after.status = PaymentStatus::Completed;
        after.reversed_at = None;
        let kinds = [MovementKind::ChargebackReversal; 2];
        post(&mut draft, &closed, 1, kinds, ["chargeback returned", "chargeback fee returned"]);
    }
    draft.change(payment, after);
    let subject = Some(EntityId::payment(payment.id));
    draft.event_with(EventKind::PaymentChargebackClosed, subject, Extra::Chargeback(id));
    draft.change(chargeback, closed);
    Ok(Ruling::write(draft))
}

/// Posts both sides of the amount and of the fee: away from the tenant where `sign` is −1, and back where it is 1.
fn post(draft: &mut Draft, chargeback: &Chargeback, sign: i64, kinds: [MovementKind; 2], words: [&str; 2]) {
    let amounts = [(chargeback.amount, Ledger::Rail), (chargeback.fee, Ledger::Fees)];
    for ((amount, against), (kind, words)) in amounts.into_iter().zip(kinds.into_iter().zip(words)) {
        let row = Row {
            chargeback: Some(chargeback.id),
            external_ref: Some(chargeback.external_ref.clone()),
            ..Row::new(kind, EntityId::payment(chargeback.payment), words)
        };
        draft.post((Currency::Ves, sign * amount.minor()), (Ledger::Tenant, Some(row)), (against, None));
    }
}
