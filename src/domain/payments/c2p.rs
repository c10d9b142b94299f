//! C2P: the intent, the charge, what the bank says, and the two ways an intent ends by itself (superseded, expired).

use super::{CHARGE, CancelReason, Marketplace, Method, Payment, Phase, REQUEST_OTP, Status, sale};
use crate::domain::bank::{Answer, Effect, Heard, How, Order, POLL_MS, next_poll};
use crate::domain::banks::BankCode;
use crate::domain::book::Book;
use crate::domain::decision::{Draft, Outcome, Turn};
use crate::domain::events::EventKind;
use crate::domain::external_ref::ExternalRef;
use crate::domain::identity::IdentityDocument;
use crate::domain::ids::{EntityId, Id};
use crate::domain::kept::KeepRef;
use crate::domain::money::{Rate, Usd, Ves};
use crate::domain::phone::MobilePhone;
use crate::domain::record::{Cause, Entity};
use crate::domain::refusal::Refusal;
use crate::domain::token::Token;
use std::sync::Arc;

/// An intent lives so long (`service.md`, "Limits").
pub const INTENT_MS: i64 = 15 * 60 * 1000;

/// What is asked of an intent.
pub struct NewIntent {
    /// Its name.
    pub id: Id,
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// The price.
    pub usd: Usd,
    /// The BCV rate in force.
    pub rate: Rate,
    /// What the payer pays.
    pub ves: Ves,
    /// The payer's bank.
    pub bank: BankCode,
    /// Who pays.
    pub debtor: IdentityDocument,
    /// The payer's phone.
    pub phone: MobilePhone,
    /// Whether the bank sends the payer a code when told to.
    pub bank_sends_otp: bool,
}

/// What is asked of a charge: the details once more, and the code.
pub struct Execute {
    /// The tenant's reference.
    pub external_ref: ExternalRef,
    /// The price.
    pub usd: Usd,
    /// The payer's bank.
    pub bank: BankCode,
    /// Who pays.
    pub debtor: IdentityDocument,
    /// The payer's phone.
    pub phone: MobilePhone,
    /// The code.
    pub token: Token,
    /// Its keyed hash.
    pub token_mark: [u8; 16],
    /// The seller and what the tenant keeps, in percent.
    pub marketplace: Option<(Id, Rate)>,
}

/// A first intent on a reference, or one after attempts that failed or were canceled.
pub fn request(new: NewIntent, previous: Option<Id>, turn: &Turn) -> Outcome {
    if !turn.has_rail {
        return Outcome::refuse(Refusal::RailNotConfigured);
    }
    let (payment, effect) = intent(new, previous, turn);
    let mut draft = Draft::new(Cause::PaymentRequested);
    draft.create(Entity::Payment(payment));
    Outcome::write_then(draft, effect.into_iter().collect())
}

/// A newer request on the reference of `old`, its newest attempt.
pub fn supersede(old: &Payment, new: NewIntent, turn: &Turn) -> Outcome {
    match (old.status, &old.phase) {
        (Status::Failed | Status::Canceled, _) => request(new, Some(old.id), turn),
        (Status::Pending, Phase::Idle) => {
            let (payment, effect) = intent(new, Some(old.id), turn);
            let mut draft = Draft::new(Cause::PaymentRequested);
            draft.create(Entity::Payment(payment));
            cancel(&mut draft, old, CancelReason::Superseded);
            Outcome::write_then(draft, effect.into_iter().collect())
        }
        (Status::Pending, _) => Outcome::refuse(Refusal::ChargeInProgress),
        (Status::Completed | Status::Reversed, _) => {
            let mut differs = Vec::new();
            let mut compare = |name, same: bool| {
                if !same {
                    differs.push(name);
                }
            };
            compare("method", old.method == Method::C2p);
            compare("usdAmount", old.usd == new.usd);
            compare("debtorId", old.debtor_id == new.debtor);
            compare("debtorCellPhone", old.debtor_phone == new.phone);
            compare("debtorBankCode", old.debtor_bank == new.bank);
            Outcome::refuse(Refusal::ExternalRefConflict { existing: old.id, differs })
        }
    }
}

fn intent(new: NewIntent, previous: Option<Id>, turn: &Turn) -> (Payment, Option<Effect>) {
    let NewIntent { id, external_ref, usd, rate, ves, bank, debtor, phone, bank_sends_otp } = new;
    let effect = bank_sends_otp.then_some(Effect {
        entity: EntityId::payment(id),
        operation: id.operation(REQUEST_OTP),
        at: turn.now,
        how: How::Send,
        order: Order::RequestOtp { bank, debtor, phone, amount: ves },
    });
    let payment = Payment {
        id,
        external_ref,
        method: Method::C2p,
        status: Status::Pending,
        phase: Phase::Idle,
        usd,
        ves,
        bcv_rate: rate,
        fee: None,
        marketplace: None,
        debtor_bank: bank,
        debtor_id: debtor,
        debtor_phone: phone,
        otp_requested: bank_sends_otp,
        token_mark: None,
        bank_reference: None,
        failure_code: None,
        cancel_reason: None,
        description: None,
        reversed_at: None,
        reversal_ref: None,
        previous,
        kept: None,
        livemode: turn.livemode,
        created_at: turn.now,
        expires_at: Some(turn.now.plus_ms(INTENT_MS)),
        completed_at: None,
        available_at: None,
    };
    (payment, effect)
}

fn cancel(draft: &mut Draft, payment: &Payment, reason: CancelReason) {
    let canceled = Payment { status: Status::Canceled, phase: Phase::Idle, cancel_reason: Some(reason), ..payment.clone() };
    draft.change(payment, Entity::Payment(canceled));
    draft.event(EventKind::PaymentCanceled, EntityId::payment(payment.id));
}

/// The payer's code has come: charge (`contract.md`, sections 5 and 17, "Payments").
pub fn execute(book: &Book, payment: &Payment, ask: Execute, kept: Option<Arc<KeepRef>>, turn: &Turn) -> Outcome {
    if payment.method != Method::C2p {
        return Outcome::refuse(Refusal::NotFound);
    }
    let seller = match &ask.marketplace {
        Some((merchant, _)) => match book.sellers.get(merchant) {
            Some(seller) => Some(seller),
            None => return Outcome::refuse(Refusal::NotFound),
        },
        None => None,
    };
    let same_details = payment.usd == ask.usd
        && payment.external_ref == ask.external_ref
        && payment.debtor_bank == ask.bank
        && payment.debtor_id == ask.debtor
        && payment.debtor_phone == ask.phone
        && (payment.token_mark.is_none() || payment.marketplace.as_ref().map(|sale| (sale.merchant, sale.commission_percent)) == ask.marketplace);
    if !same_details {
        return Outcome::refuse(Refusal::IntentMismatch);
    }
    match (payment.status, &payment.phase) {
        (Status::Canceled, _) => return Outcome::refuse(Refusal::IntentCanceled),
        (Status::Failed, _) => return Outcome::refuse(Refusal::IntentFailed),
        (Status::Completed | Status::Reversed, _) if payment.token_mark == Some(ask.token_mark) => return Outcome::unchanged(),
        (Status::Completed | Status::Reversed, _) => return Outcome::refuse(Refusal::IntentCompleted),
        (Status::Pending, Phase::Idle) => {}
        (Status::Pending, _) => return Outcome::refuse(Refusal::ChargeInProgress),
    }
    if payment.expires_at.is_some_and(|at| at <= turn.now) {
        // Its deadline has come and is on its way; the caller need not wait for it.
        let mut draft = Draft::new(Cause::PaymentCanceled);
        cancel(&mut draft, payment, CancelReason::Expired);
        return Outcome::write_and_refuse(draft, Refusal::IntentCanceled);
    }
    if seller.is_some_and(|seller| !seller.active) {
        return Outcome::refuse(Refusal::MerchantInactive);
    }
    if !turn.has_rail {
        return Outcome::refuse(Refusal::RailNotConfigured);
    }
    let marketplace = ask.marketplace.map(|(merchant, commission_percent)| {
        Box::new(Marketplace { merchant, commission_percent, commission: None, seller_net: None, seller_available_at: None })
    });
    let next_look = turn.now.plus_ms(POLL_MS);
    let charging = Payment { phase: Phase::Charging { looks: 0, next_look }, token_mark: Some(ask.token_mark), marketplace, kept, ..payment.clone() };
    match sale::figures(book, &charging) {
        None => return Outcome::refuse(Refusal::AmountOverflow),
        Some(figures) if figures.seller_net.is_some_and(Ves::is_negative) => {
            return Outcome::refuse(Refusal::Invalid { field: "applicationFeePercent", message: "the commission and the fee together exceed the amount" });
        }
        Some(_) => {}
    }
    let effect = charge(&charging, How::Send, Some(ask.token), turn);
    let mut draft = Draft::new(Cause::PaymentCharging);
    draft.change(payment, Entity::Payment(charging));
    Outcome::write_then(draft, vec![effect])
}

fn charge(payment: &Payment, how: How, token: Option<Token>, turn: &Turn) -> Effect {
    Effect {
        entity: EntityId::payment(payment.id),
        operation: payment.id.operation(CHARGE),
        at: turn.now,
        how,
        order: Order::ChargeC2p { bank: payment.debtor_bank, debtor: payment.debtor_id, phone: payment.debtor_phone, amount: payment.ves, token },
    }
}

/// The intent's time is up, or the bank is to be asked about the charge.
pub fn deadline(payment: &Payment, turn: &Turn) -> Outcome {
    match (&payment.phase, payment.status) {
        (Phase::Charging { .. }, _) => Outcome::effects(vec![charge(payment, How::Ask, None, turn)]),
        (Phase::Idle, Status::Pending) if payment.deadline().is_some_and(|at| at <= turn.now) => {
            let mut draft = Draft::new(Cause::PaymentCanceled);
            cancel(&mut draft, payment, CancelReason::Expired);
            Outcome::write(draft)
        }
        _ => Outcome::unchanged(),
    }
}

/// What the bank says about the charge. A second answer finds the payment settled and changes nothing.
pub fn heard(book: &Book, payment: &Payment, heard: Heard, turn: &Turn) -> Outcome {
    let Phase::Charging { looks, .. } = payment.phase else { return Outcome::unchanged() };
    match (heard.answer, heard.how) {
        (Answer::Done { reference }, _) => sale::complete(book, payment, reference, turn),
        (Answer::Refused { code }, _) => failed(payment, code),
        (Answer::Waiting | Answer::Silent, How::Send) => Outcome::unchanged(),
        (Answer::Waiting | Answer::Silent, How::Ask) => {
            let next_look = next_poll(turn.now, looks + 1);
            let later = Payment { phase: Phase::Charging { looks: looks + 1, next_look }, ..payment.clone() };
            let mut draft = Draft::new(Cause::BankAsked);
            draft.change(payment, Entity::Payment(later));
            Outcome::write(draft)
        }
        // The payer's code was never written down, so the charge cannot be sent again: it timed out.
        (Answer::NeverReceived, _) => failed(payment, "AB01".to_owned()),
    }
}

fn failed(payment: &Payment, code: String) -> Outcome {
    let failed = Payment { status: Status::Failed, phase: Phase::Idle, failure_code: Some(code), kept: None, ..payment.clone() };
    let mut draft = Draft::new(Cause::PaymentFailed);
    draft.change(payment, Entity::Payment(failed));
    draft.event(EventKind::PaymentFailed, EntityId::payment(payment.id));
    draft.replace_kept(payment.kept.clone());
    Outcome::write(draft)
}
