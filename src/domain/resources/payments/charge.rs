//! Charges: the rules shared by the methods that take money at the bank's word. One record says
//! that the bank is about to be called, one has its reply, and only the order to the bank differs
//! between a code, a card, a debit and a transfer.

use super::reasons::Reason;
use super::sale;
use crate::bank_names::without_zeros;
use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, Turn};
use crate::entities::means::Means;
use crate::entities::notice::Traits;
use crate::entities::payment::{Before, CHARGE, Marketplace, Payment, Phase, Status};
use crate::entities::sale::Sale;
use crate::events::EventKind;
use crate::ledger::Ledger;
use crate::ledger::book::Book;
use crate::ledger::sellers;
use crate::ledger::spending::Drawn;
use crate::rail::{Effect, How, Order, RailAnswer, RailReply, UNSENT_RETRY_SECONDS};
use crate::refusal::{MerchantRefusal, PaymentRefusal, Refusal};
use crate::trace::OrderState;
use crate::values::card::Card;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Currency, Rate, Usd, Ves};
use crate::values::text::ExternalRef;
use crate::values::time::{DAY_MS, Timestamp, Zone};
use crate::values::token::Token;
use std::sync::Arc;

/// The largest price of one payment: 100,000 USD.
pub const USD_MAX: Usd = Usd::from_minor(10_000_000);

/// The age in days of the oldest transfer that can still pay for something.
pub const TRANSFER_DAYS_MAX: i32 = 30;

/// A secret for the bank, which is written nowhere. Gone after a crash, and not needed for a
/// question.
pub enum Secret {
    None,
    Token(Token),
    /// The payer's card, which its token may still have.
    Card(Arc<Card>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// Dollars, paid in bolívares at the rate in force.
    Usd(Usd),
    Ves {
        amount: Ves,
        field: &'static str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figured {
    pub usd: Usd,
    pub ves: Ves,
    pub rate: Rate,
}

impl Price {
    pub(super) const fn field(self) -> &'static str {
        match self {
            Price::Usd(_) => "usdAmount",
            Price::Ves { field, .. } => field,
        }
    }

    pub(super) fn is_of(self, payment: &Payment) -> bool {
        match self {
            Price::Usd(usd) => payment.usd == usd,
            Price::Ves { amount, .. } => payment.ves == amount,
        }
    }

    /// The price in both currencies. A price in bolívares is converted to dollars, rounded half up,
    /// and must be within the bounds of every payment.
    pub fn at(self, rate: Rate) -> Result<Figured, Refusal> {
        let invalid = |message| Refusal::Invalid { field: self.field(), message };
        match self {
            Price::Usd(usd) => {
                let ves = usd.decimal().checked_mul(rate.0).and_then(Ves::rounded);
                let ves = ves.ok_or(invalid("is too large at the rate in force"))?;
                Ok(Figured { usd, ves, rate })
            }
            Price::Ves { amount: ves, .. } => {
                let usd = ves.decimal().checked_div(rate.0).and_then(Usd::rounded);
                let usd = usd.filter(|usd| *usd > Usd::ZERO && *usd <= USD_MAX);
                let usd = usd.ok_or(invalid("must be worth from 0.01 to 100000 USD at the rate in force"))?;
                Ok(Figured { usd, ves, rate })
            }
        }
    }
}

impl Payment {
    pub fn new(id: Id, external_ref: ExternalRef, means: Means, price: Figured, turn: &Turn) -> Payment {
        Payment {
            id,
            external_ref,
            means,
            status: Status::Pending,
            phase: Phase::Idle,
            usd: price.usd,
            ves: price.ves,
            bcv_rate: price.rate,
            fee: None,
            marketplace: None,
            bank_reference: None,
            failure_code: None,
            cancel_reason: None,
            chargebacks: Vec::new(),
            description: None,
            reversed_at: None,
            reversal_ref: None,
            attempt: 1,
            previous: None,
            kept: None,
            livemode: turn.livemode,
            created_at: turn.now,
            expires_at: None,
            completed_at: None,
            failed_at: None,
            available_at: None,
            checkout: None,
            reversals: 0,
            earlier_reversal: None,
            order: OrderState::default(),
            is_disputed: false,
            drawn: Drawn::NONE,
        }
    }
}

/// The state of a transfer that a payer names, as far as the tenant's payments tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    Free,
    /// A payment of another payer or amount waits for a notice of a transfer by this name; it leaves the
    /// name free when none comes.
    Awaited,
    Used,
}

pub struct NewCharge {
    pub id: Id,
    pub external_ref: ExternalRef,
    pub price: Price,
    pub rate: Option<Rate>,
    pub means: Means,
    pub description: Option<String>,
    pub marketplace: Option<(Id, Rate)>,
    pub secret: Secret,
    pub transfer: Transfer,
    /// The attempt before it on the reference, which is over.
    pub before: Option<Before>,
    /// The refusal that it met before an intent made way for it, which stays.
    pub refused: Option<Refusal>,
    /// Whether it is about the newest payment on the reference, which is known: one that is gone by now
    /// left nothing behind, and the caller tries again.
    pub is_known: bool,
    /// The time for which the notice of a transfer is waited for, in milliseconds.
    pub notice_wait_ms: i64,
    pub checkout: Option<Box<Sale>>,
}

impl NewCharge {
    /// A charge as it is asked for: the first on its reference, for nothing but itself.
    pub fn new(id: Id, external_ref: ExternalRef, price: Price, means: Means, secret: Secret) -> NewCharge {
        NewCharge {
            id,
            external_ref,
            price,
            rate: None,
            means,
            description: None,
            marketplace: None,
            secret,
            transfer: Transfer::Free,
            before: None,
            refused: None,
            is_known: false,
            notice_wait_ms: 0,
            checkout: None,
        }
    }

    /// Itself without the payer's code, to ask whether it may begin.
    pub fn without_code(&self) -> NewCharge {
        let card = match &self.secret {
            Secret::Card(card) => Secret::Card(Arc::clone(card)),
            Secret::None | Secret::Token(_) => Secret::None,
        };
        NewCharge {
            rate: self.rate,
            description: self.description.clone(),
            marketplace: self.marketplace,
            transfer: self.transfer,
            before: self.before,
            checkout: self.checkout.clone(),
            ..NewCharge::new(self.id, self.external_ref.clone(), self.price, self.means.clone(), card)
        }
    }

    /// The data that a notice of the transfer must share with the charge; `None` while it has no amount
    /// in bolívares.
    pub fn notice_traits(&self) -> Option<Traits> {
        self.means.notice_traits(self.price.at(self.rate?).ok()?.ves)
    }
}

/// The refusal of what is about a payment that is gone by now. It left nothing behind, so the caller tries
/// again.
pub(super) const GONE: Refusal = Refusal::RailUnavailable { retry_after_seconds: 1 };

/// Makes a charge, an attempt on its reference. Refusals are in the order of `docs/contract.md, 1.12`.
pub fn create(book: &Book, new: NewCharge, turn: &Turn) -> Ruled {
    if new.is_known {
        return Err(GONE);
    }
    if let Some(refusal) = new.refused {
        return Err(refusal);
    }
    let charging = new_payment(book, &new, turn)?;
    let effect = order(&charging, How::Send, new.secret, turn);
    Ok(Ruling::write_then(Draft::created(Cause::PaymentCharging, charging), vec![effect]))
}

pub(super) fn new_payment(book: &Book, new: &NewCharge, turn: &Turn) -> Result<Payment, Refusal> {
    if sellers::is_unknown(book, new.marketplace) {
        return Err(Refusal::NotFound);
    }
    in_time(new, turn.now)?;
    // What no rail serves needs no price.
    let unpriced = || {
        turn.terms(new.means.method().service(), None).may_send().err().unwrap_or(Refusal::RateUnavailable)
    };
    let figured = new.price.at(new.rate.ok_or_else(unpriced)?)?;
    match new.transfer {
        Transfer::Free => {}
        Transfer::Awaited => return Err(PaymentRefusal::ChargeInProgress.into()),
        Transfer::Used => return Err(PaymentRefusal::ReferenceAlreadyUsed.into()),
    }
    let payment = Payment::new(new.id, new.external_ref.clone(), new.means.clone(), figured, turn);
    let is_disputed = match &new.secret {
        Secret::Card(card) => !turn.livemode && card.number.is_disputed(),
        Secret::None | Secret::Token(_) => false,
    };
    let payment = Payment {
        is_disputed,
        description: new.description.clone(),
        kept: turn.keep.clone(),
        checkout: new.checkout.clone(),
        ..payment.after(new.before)
    };
    let mut charging = begin(book, payment, new.price, new.marketplace, turn)?;
    // A notice that comes before is looked at when it comes.
    if new.notice_wait_ms > 0 {
        charging.order.next_look = Some(turn.now.plus_ms(new.notice_wait_ms));
    }
    Ok(charging)
}

/// Checks that the card is not expired, or the transfer not too old, by the tenant's clock in
/// Caracas.
fn in_time(new: &NewCharge, now: Timestamp) -> Result<(), Refusal> {
    if let Secret::Card(card) = &new.secret
        && let Some(field) = card.expiry.expired_at(now)
    {
        return Err(Refusal::Invalid { field, message: "is over: the card has expired" });
    }
    if let Means::Transfer { date, .. } = new.means {
        if date > now.date_in(Zone::Caracas) {
            return Err(Refusal::Invalid { field: "date", message: "must not be in the future in Caracas" });
        }
        if date < now.minus_ms(i64::from(TRANSFER_DAYS_MAX) * DAY_MS).date_in(Zone::Caracas) {
            return Err(Refusal::Invalid { field: "date", message: "must not be more than 30 days ago" });
        }
    }
    Ok(())
}

/// The payment as it goes to the bank, if its seller is active, a rail is configured and its
/// figures do not overflow.
pub fn begin(
    book: &Book,
    payment: Payment,
    price: Price,
    marketplace: Option<(Id, Rate)>,
    turn: &Turn,
) -> Result<Payment, Refusal> {
    if sellers::is_inactive(book, marketplace) {
        return Err(MerchantRefusal::Inactive.into());
    }
    let call = order(&payment, How::Ask, Secret::None, turn).order.bank_call();
    let terms = turn.terms(payment.method().service(), call);
    terms.may_send()?;
    terms.carries(payment.ves, price.field())?;
    let (phase, order) = (Phase::Charging, OrderState::first(CHARGE, false, turn));
    let charging = Payment { phase, order, marketplace: marketplace.map(Marketplace::begun), ..payment };
    let figures = sale::figures(book, &charging)
        .filter(|_| book.has_room_for(Currency::Ves, charging.ves.minor(), Ledger::Rail));
    figures.ok_or(Refusal::AmountOverflow)?.leaves_something()?;
    Ok(charging)
}

pub fn order(payment: &Payment, how: How, secret: Secret, turn: &Turn) -> Effect {
    let amount = payment.ves;
    let (token, card) = match secret {
        Secret::None => (None, None),
        Secret::Token(token) => (Some(token), None),
        Secret::Card(card) => (None, Some(card)),
    };
    let order = match &payment.means {
        Means::C2p { debtor, .. } => {
            Order::ChargeC2p { bank: debtor.bank, debtor: debtor.id, phone: debtor.phone, amount, token }
        }
        Means::Card { .. } => Order::ChargeCard { amount, card },
        Means::Debit { debtor, name, .. } => Order::Debit {
            bank: debtor.bank,
            debtor: debtor.id,
            phone: debtor.phone,
            name: name.clone(),
            amount,
            concept: payment.description.clone().unwrap_or_default(),
            otp: token,
        },
        Means::Transfer { debtor, date, reference } => Order::FindTransfer {
            bank: debtor.bank,
            debtor: debtor.id,
            phone: debtor.phone,
            date: *date,
            reference: without_zeros(reference).to_owned(),
            amount,
        },
        Means::Usdt { .. } => unreachable!("USDT is a payment when it has come; no bank is asked for it"),
    };
    payment.order.call(EntityId::payment(payment.id), CHARGE, how, turn.now, order)
}

/// The ruling on the bank's reply about the charge. A second reply finds the payment settled and
/// moves no money; one that contradicts the first is written down.
pub fn on_rail_reply(book: &Book, payment: &Payment, reply: RailReply, turn: &Turn) -> Ruling {
    if payment.phase != Phase::Charging {
        return contradicted(payment, reply, turn);
    }
    // A transfer that a look before its time did not find is looked for when it is due.
    let is_early = payment.order.next_look.is_some_and(|at| turn.now < at);
    match (&reply.answer, reply.how) {
        (RailAnswer::Done { reference }, _) => {
            let reference = reference.clone().unwrap_or_default();
            sale::complete(book, &payment.noting(CHARGE, &reply.said), reference, turn)
        }
        (RailAnswer::Refused { code }, _) => failed(&payment.noting(CHARGE, &reply.said), code.clone(), turn),
        (RailAnswer::NeverReceived, _) => never_received(payment, &reply, turn),
        (RailAnswer::NotSent, How::Send | How::Offer) => unsent(payment, &reply, turn),
        (RailAnswer::Waiting | RailAnswer::Silent | RailAnswer::NotAsked, How::Ask) if is_early => {
            Ruling::unchanged()
        }
        (
            RailAnswer::Waiting
            | RailAnswer::Silent
            | RailAnswer::Unaskable
            | RailAnswer::NotAsked
            | RailAnswer::NotSent,
            _,
        ) => look_on(payment, &reply, None, turn),
    }
}

/// No connection was opened, so the bank knows nothing of the charge: an intent can be executed again,
/// and of another charge nothing is left (`docs/contract.md, 18.3`).
fn unsent(payment: &Payment, reply: &RailReply, turn: &Turn) -> Ruling {
    let mut draft = Draft::new(Cause::PaymentUnsent);
    match payment.means {
        Means::C2p { debtor, otp_requested, .. } => {
            let intent = Payment {
                phase: Phase::Idle,
                means: Means::C2p { debtor, otp_requested, token_mark: None },
                marketplace: None,
                kept: None,
                order: OrderState::default(),
                ..payment.clone()
            };
            draft.change(payment, intent);
        }
        // A session's chain of attempts loses no link.
        Means::Card { .. } if payment.checkout.is_some() => {
            return failed(payment, "processing_error".to_owned(), turn);
        }
        Means::Card { .. } | Means::Debit { .. } => {
            draft.remove(EntityId::payment(payment.id), payment);
            draft.record.freed.push(String::from(&*payment.external_ref));
            draft.record.freed_to = payment.previous;
        }
        // Transfers and deposits that are only looked for are looked for again.
        Means::Transfer { .. } | Means::Usdt { .. } => return look_on(payment, reply, None, turn),
    }
    draft.replaces_kept = payment.kept.clone();
    Ruling::write_and_refuse(draft, Refusal::RailUnavailable { retry_after_seconds: UNSENT_RETRY_SECONDS })
}

/// The bank never received the charge. The payer's code or card was never written down, so it cannot
/// be sent again.
fn never_received(payment: &Payment, reply: &RailReply, turn: &Turn) -> Ruling {
    match &payment.means {
        // The search for a transfer takes no secret and moves nothing: it is simply sent again.
        Means::Transfer { .. } => {
            let again = order(payment, How::Send, Secret::None, turn);
            // The answer counts as a look, whether the order was sent just now or asked about.
            let reply = RailReply { how: How::Ask, ..reply.clone() };
            look_on(payment, &reply, Some(again), turn)
        }
        Means::Card { .. } => failed(payment, "processing_error".to_owned(), turn),
        Means::C2p { .. } | Means::Debit { .. } | Means::Usdt { .. } => {
            failed(payment, Reason::NoAnswer.code().to_owned(), turn)
        }
    }
}

/// The bank knows nothing yet; it is asked again later, if it can be.
pub(super) fn look_on(payment: &Payment, reply: &RailReply, again: Option<Effect>, turn: &Turn) -> Ruling {
    asked(payment, payment.order.after(reply, turn), again)
}

/// The record of a question that has decided nothing, if it has changed anything.
fn asked(payment: &Payment, order: Option<OrderState>, again: Option<Effect>) -> Ruling {
    let Some(order) = order else { return Ruling::unchanged() };
    let later = Payment { order, ..payment.clone() };
    Ruling::write_then(Draft::changed(Cause::BankAsked, payment, later), again.into_iter().collect())
}

/// The ruling on a reply about a charge that is settled. A transfer was only searched for, so a
/// reply contradicts nothing.
fn contradicted(payment: &Payment, reply: RailReply, turn: &Turn) -> Ruling {
    let is_ordered = payment.means.operation_kinds().0.is_some();
    let order = payment.order.contradicted(CHARGE).noting(CHARGE, &reply.said);
    let said = match (payment.status, &reply.answer) {
        (Status::Failed, RailAnswer::Done { reference })
            if is_ordered && payment.bank_reference.is_none() =>
        {
            let reference = reference.clone().unwrap_or_default();
            Payment { bank_reference: Some(reference), order, ..payment.clone() }
        }
        (Status::Completed | Status::Reversed, RailAnswer::Refused { code })
            if is_ordered && payment.failure_code.is_none() =>
        {
            Payment { failure_code: Some(code.clone()), order, ..payment.clone() }
        }
        _ => return agreed(payment, CHARGE, &reply, turn),
    };
    Ruling::write(Draft::changed(Cause::OperationContradicted, payment, said))
}

fn failed(payment: &Payment, code: String, turn: &Turn) -> Ruling {
    let mut failed = Payment {
        status: Status::Failed,
        phase: Phase::Idle,
        failure_code: Some(code),
        failed_at: Some(turn.now),
        kept: None,
        ..payment.clone()
    };
    failed.order.stop();
    let mut draft = Draft::changed(Cause::PaymentFailed, payment, failed);
    draft.event(EventKind::PaymentFailed, EntityId::payment(payment.id));
    draft.replaces_kept = payment.kept.clone();
    Ruling::write(draft)
}

/// The ruling on a bank's reply about an operation that an operator has settled, if it is not a
/// contradiction.
pub(super) fn agreed(payment: &Payment, operation: u16, reply: &RailReply, turn: &Turn<'_>) -> Ruling {
    asked(payment, payment.order.agreed(operation, reply, turn), None)
}
