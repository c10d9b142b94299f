//! C2P: the intent, its charge, and the two ways in which an intent ends without one (superseded,
//! expired).

use super::charge::{self, Figured, Price, Secret};
use super::repeat;
use crate::cause::Cause;
use crate::decision::{Draft, Ruling, Turn};
use crate::entities::Entity;
use crate::entities::means::{Debtor, Means, Method};
use crate::entities::payment::{CancelReason, Payment, Phase, REQUEST_OTP, Status};
use crate::entities::resource::Resource;
use crate::entities::sale::Sale;
use crate::events::EventKind;
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::rail::{Effect, How, Order, Service};
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
    /// The price in both currencies, at the rate in force.
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
    /// A keyed hash of the code.
    pub token_mark: [u8; 16],
    /// The seller, and the percentage that the tenant keeps.
    pub marketplace: Option<(Id, Rate)>,
}

/// Makes the first intent on a reference, or one after attempts that failed or were canceled.
pub fn request(new: NewIntent, previous: Option<&Payment>, turn: &Turn) -> Ruling {
    if new.is_known && previous.is_none() {
        return charge::gone();
    }
    if let Err(refusal) = can_be_charged(&new, turn) {
        return Ruling::refuse(refusal);
    }
    let (payment, effect) = intent(new, previous, turn);
    let mut draft = Draft::new(Cause::PaymentRequested);
    draft.create(Entity::Payment(payment));
    Ruling::write_then(draft, effect.into_iter().collect())
}

/// The refusal of an intent whose charge no rail could carry. One that cannot be called for a while
/// may be by the time of the charge.
fn can_be_charged(new: &NewIntent, turn: &Turn) -> Result<(), Refusal> {
    let terms = turn.terms(Service::C2p, None);
    terms.may_queue()?;
    terms.carries(new.figured.ves, new.price.field())
}

/// A newer request on the reference of `old`, its newest attempt.
pub fn supersede(old: &Payment, new: NewIntent, turn: &Turn) -> Ruling {
    match (old.status, &old.phase) {
        (Status::Failed | Status::Canceled, _) => request(new, Some(old), turn),
        (Status::Pending, Phase::Idle) => {
            if let Err(refusal) = can_be_charged(&new, turn) {
                return Ruling::refuse(refusal);
            }
            let (payment, effect) = intent(new, Some(old), turn);
            let mut draft = Draft::new(Cause::PaymentRequested);
            draft.create(Entity::Payment(payment));
            cancel(&mut draft, old, CancelReason::Superseded);
            Ruling::write_then(draft, effect.into_iter().collect())
        }
        (Status::Pending, _) if new.checkout.is_some() => Ruling::refuse(PaymentRefusal::ChargeInProgress),
        (Status::Completed | Status::Reversed, _) if new.checkout.is_some() => {
            Ruling::refuse(CheckoutRefusal::SessionPaid)
        }
        (Status::Pending | Status::Completed | Status::Reversed, _) => {
            let mut differs = Vec::new();
            let mut compare = |name, same: bool| {
                if !same {
                    differs.push(name);
                }
            };
            let debtor = old.debtor();
            compare("method", old.method() == Method::C2p);
            compare(new.price.field(), new.price.is_of(old));
            compare("debtorId", debtor.is_some_and(|debtor| debtor.id == new.debtor.id));
            compare("debtorCellPhone", debtor.is_some_and(|debtor| debtor.phone == new.debtor.phone));
            compare("debtorBankCode", debtor.is_some_and(|debtor| debtor.bank == new.debtor.bank));
            repeat::ruling(old, differs)
        }
    }
}

fn intent(new: NewIntent, previous: Option<&Payment>, turn: &Turn) -> (Payment, Option<Effect>) {
    let NewIntent { id, external_ref, price: _, figured, debtor, bank_sends_otp, is_known: _, checkout } =
        new;
    // In live mode the bank has been told before: without a code there is no intent.
    let effect = (bank_sends_otp && !turn.livemode).then_some(Effect {
        entity: EntityId::payment(id),
        operation: id.operation(REQUEST_OTP),
        rail_id: None,
        at: turn.now,
        how: How::Send,
        order: Order::RequestOtp {
            bank: debtor.bank,
            debtor: debtor.id,
            phone: debtor.phone,
            amount: figured.ves,
        },
    });
    let means = Means::C2p { debtor, otp_requested: bank_sends_otp, token_mark: None };
    let payment = Payment {
        expires_at: Some(turn.now.plus_ms(INTENT_MS)),
        checkout,
        ..Payment::new(id, external_ref, means, figured, turn).after(previous.map(Payment::before))
    };
    (payment, effect)
}

fn cancel(draft: &mut Draft, payment: &Payment, reason: CancelReason) {
    let canceled = Payment {
        status: Status::Canceled,
        phase: Phase::Idle,
        cancel_reason: Some(reason),
        ..payment.clone()
    };
    draft.change(payment, Entity::Payment(canceled));
    draft.event(EventKind::PaymentCanceled, EntityId::payment(payment.id));
}

/// Ends an intent for another way to pay, unless its charge is under way.
pub fn give_up(payment: &Payment) -> Ruling {
    match (payment.status, &payment.phase) {
        (Status::Pending, Phase::Idle) => {
            let mut draft = Draft::new(Cause::PaymentCanceled);
            cancel(&mut draft, payment, CancelReason::Superseded);
            Ruling::write(draft)
        }
        (Status::Pending, _) => Ruling::refuse(PaymentRefusal::ChargeInProgress),
        (Status::Completed | Status::Reversed, _) => Ruling::refuse(CheckoutRefusal::SessionPaid),
        (Status::Failed | Status::Canceled, _) => Ruling::unchanged(),
    }
}

/// Charges an intent with the payer's code (`docs/contract.md, 5.5`).
pub fn execute(book: &Book, payment: &Payment, ask: Execute, turn: &Turn) -> Ruling {
    let Means::C2p { debtor, otp_requested, token_mark } = &payment.means else {
        return Ruling::refuse(Refusal::NotFound);
    };
    if sellers::is_unknown(book, ask.marketplace) {
        return Ruling::refuse(Refusal::NotFound);
    }
    let same_details = ask.price.is_of(payment)
        && payment.external_ref == ask.external_ref
        && *debtor == ask.debtor
        && (token_mark.is_none()
            || payment.marketplace.as_ref().map(|sale| (sale.merchant, sale.commission_percent))
                == ask.marketplace);
    if !same_details {
        return Ruling::refuse(PaymentRefusal::IntentMismatch);
    }
    match (payment.status, &payment.phase) {
        (Status::Canceled, _) => return Ruling::refuse(PaymentRefusal::IntentCanceled),
        (Status::Failed, _) => return Ruling::refuse(PaymentRefusal::IntentFailed),
        (Status::Completed | Status::Reversed, _) if *token_mark == Some(ask.token_mark) => {
            return Ruling::unchanged();
        }
        (Status::Completed | Status::Reversed, _) => return Ruling::refuse(PaymentRefusal::IntentCompleted),
        (Status::Pending, Phase::Idle) => {}
        (Status::Pending, _) => return Ruling::refuse(PaymentRefusal::ChargeInProgress),
    }
    if payment.expires_at.is_some_and(|at| at <= turn.now) {
        // The intent's deadline has passed and will be dealt with; the caller need not wait for it.
        let mut draft = Draft::new(Cause::PaymentCanceled);
        cancel(&mut draft, payment, CancelReason::Expired);
        return Ruling::write_and_refuse(draft, PaymentRefusal::IntentCanceled);
    }
    let means =
        Means::C2p { debtor: *debtor, otp_requested: *otp_requested, token_mark: Some(ask.token_mark) };
    let charging = Payment { means, kept: turn.keep.clone(), ..payment.clone() };
    let charging = match charge::begin(book, charging, ask.price, ask.marketplace, turn) {
        Ok(charging) => charging,
        Err(refusal) => return Ruling::refuse(refusal),
    };
    let effect = charge::order(&charging, How::Send, Secret::Token(ask.token), turn);
    let mut draft = Draft::new(Cause::PaymentCharging);
    draft.change(payment, Entity::Payment(charging));
    Ruling::write_then(draft, vec![effect])
}

/// Ends an intent that has expired.
pub fn deadline(payment: &Payment, turn: &Turn) -> Ruling {
    match (&payment.phase, payment.status) {
        (Phase::Idle, Status::Pending) if payment.deadline().is_some_and(|at| at <= turn.now) => {
            let mut draft = Draft::new(Cause::PaymentCanceled);
            cancel(&mut draft, payment, CancelReason::Expired);
            Ruling::write(draft)
        }
        // An intent whose instant has not come, a payment that is over, and one at a bank, about
        // which the bank is asked instead.
        (Phase::Idle, Status::Pending)
        | (Phase::Idle, Status::Completed | Status::Failed | Status::Canceled | Status::Reversed)
        | (
            Phase::Charging { .. }
            | Phase::Reversing { .. }
            | Phase::AskedOn { .. }
            | Phase::ReversalDenied { .. },
            _,
        ) => Ruling::unchanged(),
    }
}
