//! Chargebacks: reading and listing them, and the calls by which test mode plays the bank
//! (`docs/contract.md, 8`).
//!
//! The forms of calls and answers belong here; the rules are in
//! `src/domain/resources/chargebacks.rs`.

use crate::answer::{Facts, Rendered};
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::{Fields, Got, Invalid, Kind as _, body, kind, read};
use crate::lists::{self, List};
use crate::openapi::{kinds, schema, values};
use crate::payments::of_name;
use crate::payments::show::{chargeback_reason, chargeback_status};
use crate::problem::Problem;
use crate::query::Query;
use crate::records::{Records, Unread};
use crate::respond::Reply;
use crate::value::Value;
use domain::entities::chargeback::{Chargeback, Reason, Status};
use domain::entities::payment::Payment;
use domain::entities::{Entity, OfKind};
use domain::resources::chargebacks::{self, NewChargeback, Verdict};
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::money::Ves;

/// Reads the body of a new chargeback: the payment, and the chargeback of it that gets this id.
pub fn read_new(mut fields: Fields<'_>, id: Id) -> Result<(Id, NewChargeback), Invalid> {
    let part = kind(Value::positive_cents, values::positive_amount);
    Ok(read!(fields {
        required payment = "paymentId", kinds::id();
        optional amount = "amountVes", part.about("All that is left of the payment if missing.") => amount.map(Ves::from_minor);
        optional fee = "feeVes", kinds::cents().about("The account's setting if missing.") => fee.map(Ves::from_minor);
        required reason = "reason", kinds::named_one(Reason::ALL, Reason::name);
        optional bank_debited_at = "bankDebitedAt", kinds::instant().about("Now if missing.");
    } => (payment, NewChargeback { id, amount, fee, reason, bank_debited_at })))
}

pub fn read_verdict(mut fields: Fields<'_>) -> Result<Verdict, Invalid> {
    let outcomes = [("won", Verdict::Won), ("lost", Verdict::Lost)];
    Ok(read!(fields { required outcome = "outcome", kinds::one_of(outcomes); } => outcome))
}

chapter! { "Chargebacks", "What a cardholder's bank took back of a card payment. The amount and the fee \
    come out of the available balance, which may go below zero; a dispute that is won returns both.", {
        with schemas();
        "ChargebackPage" = page("Chargeback");
    }
    OPEN = run!(open), "Charge a card payment back, as the bank would" => {
        body "NewChargeback";
        example "the whole payment",
            r#"{"paymentId":"01975a2e-7c00-7000-8000-000000000010","reason":"fraud"}"#;
        answers 201, "Chargeback", "The chargeback";
        refuses 404, &["not_found"];
        refuses 409, &["chargeback_not_allowed", "chargeback_exceeds_payment", "too_many_chargebacks"];
    } shows opened;
    CLOSE = run!(close), "Decide a dispute, as the bank would" => {
        body "ChargebackOutcome";
        example "won", r#"{"outcome":"won"}"#;
        answers 200, "Chargeback", "The chargeback, closed";
        refuses 409, &["chargeback_closed"];
    } shows closed;
    READ = run!(|cx| cx.one(EntityId::chargeback(cx.id("id")?), show)), "Read a chargeback" => {
        answers 200, "Chargeback", "The chargeback";
    };
    LIST = run!(list), "List chargebacks" => {
        filters by_status;
        answers 200, "ChargebackPage", "Newest first";
    };
}

async fn open(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.env.new_id();
    let (payment, new) = read_new(Fields::parse(&cx.body)?, id)?;
    let payment = cx.find(|records| of_name(records, payment))?;
    cx.ask(payment, chargebacks::Command::Open(Box::new(new))).await
}

async fn close(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let verdict = read_verdict(Fields::parse(&cx.body)?)?;
    let payment = cx.find(|records| payment_of(records, id))?;
    cx.ask(payment, chargebacks::Command::Close(id, verdict)).await
}

pub fn payment_of(records: &dyn Records, chargeback: Id) -> Result<EntityId, Unread> {
    let found = records.entity(EntityId::chargeback(chargeback))?;
    let chargeback = found.as_deref().and_then(Chargeback::of).ok_or_else(Problem::not_found)?;
    Ok(EntityId::payment(chargeback.payment))
}

pub fn by_status(query: &mut Query<'_>) -> Got<List> {
    lists::by_status(query, Kind::Chargeback, Status::ALL.map(|status| (status.name(), status as u8)))
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (list, page) = cx.listed("chargebacks", by_status)?;
    cx.list(list, page, show_entity).await
}

pub fn show_entity(entity: &Entity) -> Option<Vec<u8>> {
    Chargeback::of(entity).map(show)
}

/// The chargeback that was just opened: the newest of its payment.
pub fn opened(facts: &Facts<'_>) -> Option<Rendered> {
    Some((201, show(facts.the::<Payment>()?.chargebacks.last()?)))
}

/// The chargeback that the path names, after a change.
pub fn closed(facts: &Facts<'_>) -> Option<Rendered> {
    Some((200, show(facts.the::<Payment>()?.chargeback(facts.about?)?)))
}

/// The outcome of a dispute, once it has one.
pub fn outcome(chargeback: &Chargeback) -> Option<&'static str> {
    match chargeback.status {
        Status::Open => None,
        Status::Won | Status::Lost => Some(chargeback.status.name()),
    }
}

shown! {
    pub fn show(chargeback: &Chargeback), schema, 512 {
        plain "chargebackId" = chargeback.id, values::uuid();
        constant "object" = "chargeback";
        plain "paymentId" = chargeback.payment, values::uuid();
        text "externalRef" = &*chargeback.external_ref, values::shown_ref();
        plain "status" = chargeback.status.name(), chargeback_status();
        maybe plain "outcome" = outcome(chargeback),
            schema::one_of([Status::Won.name(), Status::Lost.name()]).about("Null until it is closed.");
        plain "amountVes" = chargeback.amount, values::ves();
        plain "feeVes" = chargeback.fee, values::ves();
        plain "reason" = chargeback.reason.name(), chargeback_reason();
        plain "bankDebitedAt" = chargeback.bank_debited_at, values::instant();
        boolean "livemode" = chargeback.livemode, values::livemode();
        plain "createdAt" = chargeback.created_at, values::instant();
        maybe plain "closedAt" = chargeback.closed_at, values::instant();
    }
}

pub fn schemas() -> Vec<(&'static str, schema::Schema)> {
    vec![
        (
            "Chargeback",
            schema().example(
                r#"{"chargebackId":"01975a2e-7c00-7000-8000-0000000000d0","object":"chargeback",
            "paymentId":"01975a2e-7c00-7000-8000-000000000010","externalRef":"order-2",
            "status":"open","outcome":null,"amountVes":"1000.00","feeVes":"0.00",
            "reason":"fraud","bankDebitedAt":"2026-11-23T14:00:00.000Z","livemode":false,
            "createdAt":"2026-11-23T15:10:00.000Z","closedAt":null}"#,
            ),
        ),
        ("NewChargeback", body(|fields| read_new(fields, Id::from_bytes([0; 16])))),
        ("ChargebackOutcome", body(read_verdict)),
    ]
}
