//! C2P: the intent, its charge, and the two ways in which an intent ends without one (superseded,
//! expired).

use super::charge::{self, Figured, Price, Secret};
use super::otp;
use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn, differing};
use crate::entities::means::{Debtor, Means, Method};
use crate::entities::payment::{CancelReason, Payment, Phase, Status};
use crate::entities::resource::Resource;
use crate::entities::sale::Sale;
use crate::events::EventKind;
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::rail::{How, Service};
use crate::refusal::{CheckoutRefusal, PaymentRefusal, Refusal};
use crate::values::ids::{EntityId, Id};
use crate::values::money::Rate;
use crate::values::text::ExternalRef;
use crate::values::token::Token;

/// The time for which an intent can be charged, in milliseconds (`docs/contract.md, 5.4`).
pub const INTENT_MS: i64 = 15 * 60 * 1000;

pub struct NewIntent {
    pub id: Id,
    pub external_ref: ExternalRef,
    pub price: Price,
    pub figured: Figured,
    pub debtor: Debtor,
    /// Whether the bank sends the payer a code on our request.
    pub bank_sends_otp: bool,
    /// Whether there was a payment on the reference when it was looked up.
    pub is_known: bool,
    pub checkout: Option<Box<Sale>>,
}

/// A request to charge an intent: the details once more, and the code.
pub struct Execute {
    pub external_ref: ExternalRef,
    pub price: Price,
    pub debtor: Debtor,
    pub token: Token,
    pub token_mark: [u8; 16],
    pub marketplace: Option<(Id, Rate)>,
}

/// Makes an intent on a reference, whose newest attempt is `old`: one that nobody has executed makes way.
pub fn request(new: NewIntent, old: Option<&Payment>, turn: &Turn) -> Ruled {
    match old {
        None if new.is_known => return Err(charge::GONE),
        Some(old) if !matches!(old.status, Status::Failed | Status::Canceled) && !old.is_idle_intent() => {
            return repeat(new, old);
        }
        _ => {}
    }
    // One that cannot be called for a while may be by the time of the charge.
    let terms = turn.terms(Service::C2p, None);
    terms.may_queue()?;
    terms.carries(new.figured.ves, new.price.field())?;
    let NewIntent { id, external_ref, figured, debtor, bank_sends_otp, checkout, .. } = new;
    // In live mode the bank has been told before: without a code there is no intent.
    let effect = (bank_sends_otp && !turn.livemode)
        .then(|| otp::order(EntityId::payment(id), &debtor, figured.ves, turn));
    let means = Means::C2p { debtor, otp_requested: bank_sends_otp, token_mark: None };
    let payment = Payment {
        expires_at: Some(turn.now.plus_ms(INTENT_MS)),
        checkout,
        ..Payment::new(id, external_ref, means, figured, turn).after(old.map(Payment::before))
    };
    let mut draft = Draft::created(Cause::PaymentRequested, payment);
    if let Some(old) = old.filter(|old| old.is_idle_intent()) {
        cancel(&mut draft, old, CancelReason::Superseded);
    }
    Ok(Ruling::write_then(draft, effect.into_iter().collect()))
}

/// A request on the reference of an attempt that is at its bank, or has paid.
fn repeat(new: NewIntent, old: &Payment) -> Ruled {
    match old.status {
        Status::Pending if new.checkout.is_some() => Err(PaymentRefusal::ChargeInProgress.into()),
        _ if new.checkout.is_some() => Err(CheckoutRefusal::SessionPaid.into()),
        _ => {
            let debtor = old.debtor();
            let differs = differing([
                ("method", old.method() != Method::C2p),
                (new.price.field(), !new.price.is_of(old)),
                ("debtorId", debtor.is_none_or(|debtor| debtor.id != new.debtor.id)),
                ("debtorCellPhone", debtor.is_none_or(|debtor| debtor.phone != new.debtor.phone)),
                ("debtorBankCode", debtor.is_none_or(|debtor| debtor.bank != new.debtor.bank)),
            ]);
            super::repeat::ruling(old, differs)
        }
    }
}

fn cancel(draft: &mut Draft, payment: &Payment, reason: CancelReason) {
    let canceled = Payment {
        status: Status::Canceled,
        phase: Phase::Idle,
        cancel_reason: Some(reason),
        ..payment.clone()
    };
    draft.change(payment, canceled);
    draft.event(EventKind::PaymentCanceled, EntityId::payment(payment.id));
}

fn canceled(payment: &Payment, reason: CancelReason) -> Draft {
    let mut draft = Draft::new(Cause::PaymentCanceled);
    cancel(&mut draft, payment, reason);
    draft
}

/// Ends an intent for another way to pay, unless its charge is under way.
pub fn give_up(payment: &Payment) -> Ruled {
    match (payment.status, &payment.phase) {
        (Status::Pending, Phase::Idle) => Ok(Ruling::write(canceled(payment, CancelReason::Superseded))),
        (Status::Pending, _) => Err(PaymentRefusal::ChargeInProgress.into()),
        (Status::Completed | Status::Reversed, _) => Err(CheckoutRefusal::SessionPaid.into()),
        (Status::Failed | Status::Canceled, _) => Ok(Ruling::unchanged()),
    }
}

/// Charges an intent with the payer's code (`docs/contract.md, 5.5`).
pub fn execute(book: &Book, payment: &Payment, ask: Execute, turn: &Turn) -> Ruled {
    let Means::C2p { debtor, otp_requested, token_mark } = &payment.means else {
        return Err(Refusal::NotFound);
    };
    if sellers::is_unknown(book, ask.marketplace) {
        return Err(Refusal::NotFound);
    }
    let same_details = ask.price.is_of(payment)
        && payment.external_ref == ask.external_ref
        && *debtor == ask.debtor
        && (token_mark.is_none()
            || payment.marketplace.as_ref().map(|sale| (sale.merchant, sale.commission_percent))
                == ask.marketplace);
    if !same_details {
        return Err(PaymentRefusal::IntentMismatch.into());
    }
    match (payment.status, &payment.phase) {
        (Status::Canceled, _) => return Err(PaymentRefusal::IntentCanceled.into()),
        (Status::Failed, _) => return Err(PaymentRefusal::IntentFailed.into()),
        (Status::Completed | Status::Reversed, _) if *token_mark == Some(ask.token_mark) => {
            return Ok(Ruling::unchanged());
        }
        (Status::Completed | Status::Reversed, _) => return Err(PaymentRefusal::IntentCompleted.into()),
        (Status::Pending, Phase::Idle) => {}
        (Status::Pending, _) => return Err(PaymentRefusal::ChargeInProgress.into()),
    }
    if payment.expires_at.is_some_and(|at| at <= turn.now) {
        // The intent's deadline has passed and will be dealt with; the caller need not wait for it.
        let draft = canceled(payment, CancelReason::Expired);
        return Ok(Ruling::write_and_refuse(draft, PaymentRefusal::IntentCanceled));
    }
    let means =
        Means::C2p { debtor: *debtor, otp_requested: *otp_requested, token_mark: Some(ask.token_mark) };
    let charging = Payment { means, kept: turn.keep.clone(), ..payment.clone() };
    let charging = charge::begin(book, charging, ask.price, ask.marketplace, turn)?;
    let effect = charge::order(&charging, How::Send, Secret::Token(ask.token), turn);
    Ok(Ruling::write_then(Draft::changed(Cause::PaymentCharging, payment, charging), vec![effect]))
}

/// Ends an intent that has expired; others are over, or their instant has not come.
pub fn deadline(payment: &Payment, turn: &Turn) -> Ruling {
    if !payment.is_idle_intent() || payment.deadline().is_none_or(|at| at > turn.now) {
        return Ruling::unchanged();
    }
    Ruling::write(canceled(payment, CancelReason::Expired))
}
