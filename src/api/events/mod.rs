//! Events: GET /v1/events and /v1/events/:id, and the data of each event
//! (`docs/contract.md, 13.5, 13.7`). The data is rendered from the record in which the event
//! happened, so it shows how things stood then, whenever it is read.
//!
//! The forms of events belong here. When one happens is decided by the rules, and how it is
//! delivered is in `src/webhooks/`.

pub mod pages;

use crate::chargebacks::outcome;
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::Got;
use crate::fields::Kind as _;

use crate::openapi::{kinds, schema, values};
use crate::payments::show::{chargeback_reason, chargeback_status, reversal_type, show_chargeback};
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::writer::{Object, text};
use crate::{cop_payments, crypto, entity, merchants, payments, payouts};
use domain::entities::Entity;
use domain::entities::chargeback::Chargeback;
use domain::entities::payment::{Payment, Status};
use domain::entities::webhook::EVENT_NAMES;
use domain::events::{BalanceReason, Event, EventKind, Extra};
use domain::ledger::Ledger;
use domain::platform::settings::LiveStatus;
use domain::record::Record;
use domain::trace::shown;
use domain::values::ids::Id;
use domain::values::money::{Cop, Usdt, Ves};
use domain::values::time::Timestamp;
use std::fmt::Display;

/// The tenant and the mode in which an event happened.
#[derive(Clone, Copy, Debug)]
pub struct TenantMode {
    pub tenant: Id,
    pub livemode: bool,
}

/// The name of what POST /v1/notifications/test sends.
const TEST_NOTIFICATION: &str = "notification.test";

chapter! { "Events", "What happened, numbered per account and mode without gaps, so that a receiver that \
    was down can catch up with certainty: `GET /v1/events?after=SEQUENCE`.", {
        let payment = || any_of([named("Payment"), named("CopPaymentEvent")]);
        "Event" = schema();
        "EventPage" = page("Event");
        "CopPaymentEvent" = cop_payments::event_schema();
        "ChargebackEvent" = of_chargeback_schema();
        "MerchantEvent" = merchants::merchant()
            .optional("payoutMethodId", uuid().about("The method that it is about."));
        event "payment.completed" = "A payment completed", payment();
        event "payment.failed" = "A payment failed; failureCode says why", payment();
        event "payment.canceled" = "An intent was superseded or expired, or a payment in pesos was canceled",
            payment();
        event "payment.reversed" = "A payment went back",
            any_of([named("Payment"), named("CopPaymentEvent"), reversed_schema()]);
        event "payment.chargeback" = "The bank of a cardholder took money back", named("ChargebackEvent");
        event "payment.chargeback_closed" = "A dispute is decided", named("ChargebackEvent");
        event "payout.completed" = "A payout is paid", payout();
        event "payout.failed" = "A payout failed; the money is back", payout();
        event "merchant.verified" = "A payout method is verified", named("MerchantEvent");
        event "merchant.rejected" = "The bank says that a payout method is somebody else's; it is deleted",
            rejected();
        event "merchant.deactivated" = "A merchant was deactivated", named("MerchantEvent");
        event "merchant.reactivated" = "A merchant was activated again", named("MerchantEvent");
        event "merchant.balance.updated" = "A seller's sale was credited, released or reversed",
            balance_schema();
        event "tenant.live_status_changed" = "The operator changed what the live key may do",
            live_status_schema();
        event "test.reset" = "The data of test mode began anew; no event of before is listed",
            object().member("livemode", livemode());
    }
    LIST = run!(list), "List events from a number on" => {
        filters after;
        answers 200, "EventPage", "Oldest first";
    };
    READ = run!(read), "Read an event" => { answers 200, "Event", "The event"; };
}

fn after(query: &mut Query<'_>) -> Got<Option<i64>> {
    let sequence = kinds::integer(0..=i64::MAX).described(|_| {
        schema::integer().at_least("0").about("The last sequence that you know; 0 is the beginning.")
    });
    query.optional("after", sequence)
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (after, page) = cx.listed("events", after)?;
    let position = page.position()?.map(u64::from_be_bytes);
    let after = after.and_then(|after| u64::try_from(after).ok());
    let (after, tenant_mode) = (position.or(after).unwrap_or(0), tenant_mode(cx));
    cx.read_long(move |records| pages::after(records, after, &page, tenant_mode)).await
}

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let tenant_mode = tenant_mode(cx);
    cx.read(move |records| pages::one(records, id, tenant_mode))
}

fn tenant_mode(cx: &Context<'_>) -> TenantMode {
    TenantMode { tenant: cx.caller.tenant.id, livemode: cx.caller.livemode() }
}

/// The `n`-th event of a record, as JSON.
pub fn show(record: &Record, time: Timestamp, n: usize, tenant_mode: TenantMode) -> Option<Vec<u8>> {
    let (event, data) = (record.events.get(n)?, event_data(record, time, n, tenant_mode)?);
    Some(show_event(
        record.event_id(time, n),
        record.event_number(n),
        event,
        &data,
        time,
        tenant_mode.livemode,
    ))
}

shown! {
    fn show_event(id: Id, number: u64, event: &Event, data: &[u8], time: Timestamp, livemode: bool), schema, 2048 {
        plain "id" = id, values::uuid().about("`Svc-Event-Id` of its deliveries.");
        number "sequence" = number, schema::integer().at_least("1");
        plain "event" = event.kind.name(), schema::one_of(EVENT_NAMES);
        json "data" = data, schema::object().about("What the event says; its members are under `webhooks`.");
        plain "timestamp" = time, values::instant();
        boolean "livemode" = livemode, values::livemode();
        plain "createdAt" = time, values::instant();
    }
}

/// The body that webhooks send for the `n`-th event of a record: `{event, data, timestamp}`.
pub fn envelope(record: &Record, time: Timestamp, n: usize, tenant_mode: TenantMode) -> Option<Vec<u8>> {
    let event = record.events.get(n)?;
    let data = event_data(record, time, n, tenant_mode)?;
    Some(
        Object::with_capacity(data.len() + 128)
            .plain("event", event.kind.name())
            .json("data", &data)
            .plain("timestamp", time)
            .end(),
    )
}

/// The body of a test notification. It is no event: it has no number and is nowhere kept.
pub fn test_envelope(time: Timestamp, tenant_mode: TenantMode) -> Vec<u8> {
    let data = Object::new()
        .plain("tenantId", tenant_mode.tenant)
        .plain("message", "this is a test")
        .boolean("livemode", tenant_mode.livemode)
        .end();
    Object::new().plain("event", TEST_NOTIFICATION).json("data", &data).plain("timestamp", time).end()
}

/// The data of the `n`-th event of a record. It always carries `livemode` and the id of whom it
/// happened to.
pub fn event_data(record: &Record, time: Timestamp, n: usize, tenant_mode: TenantMode) -> Option<Vec<u8>> {
    let event = record.events.get(n)?;
    let subject = event.subject.and_then(|subject| record.entity(subject));
    let data = match (subject.map(|subject| &**subject), &event.extra) {
        (_, balance @ Extra::SellerBalance { .. }) => {
            show_seller_balance(event.subject.map(|subject| subject.id), balance, tenant_mode.livemode)?
        }
        (Some(Entity::Payment(payment)), Extra::Chargeback(id)) => {
            of_chargeback(record, time, event.kind, payment, payment.chargeback(*id)?)
        }
        (Some(Entity::Payment(payment)), _) => of_payment(payment),
        (Some(Entity::Payout(payout)), _) => {
            Object::reopened(payouts::show(payout)).plain("currency", "VES").end()
        }
        (Some(Entity::CryptoPayout(payout)), _) => match event.kind {
            EventKind::PayoutCompleted | EventKind::PayoutFailed => Object::reopened(crypto::show(payout))
                .plain("payoutId", payout.id)
                .plain("currency", "USDT")
                .end(),
            _ => crypto::show(payout),
        },
        (_, Extra::Deposit(deposit)) => crypto::show_deposit(deposit, time),
        (Some(Entity::CopPayment(payment)), _) => cop_payments::event_data(payment, event.kind),
        (Some(Entity::Merchant(merchant)), extra) => of_merchant(merchants::show(merchant), event, extra),
        (_, Extra::LiveStatus { status, previous, reason }) => {
            show_live_status(tenant_mode, status, previous, reason.as_deref())
        }
        (subject, Extra::None | Extra::Method { .. } | Extra::Chargeback(_)) => {
            let livemode = || Object::new().boolean("livemode", tenant_mode.livemode).end();
            subject.and_then(entity::show).unwrap_or_else(livemode)
        }
    };
    Some(data)
}

/// The data of a payment. One for a hosted checkout also has its price; only pesos have a rate.
fn of_payment(payment: &Payment) -> Vec<u8> {
    let body = payments::show(payment);
    if payment.checkout.is_none() {
        return body;
    }
    Object::reopened(body).plain("amountUsd", payment.usd).null("copRate").end()
}

fn of_merchant(merchant: Vec<u8>, event: &Event, extra: &Extra) -> Vec<u8> {
    let body = Object::reopened(merchant);
    let Extra::Method { id, failure_code } = extra else { return body.end() };
    let body = body.plain("payoutMethodId", id);
    if event.kind != EventKind::MerchantRejected {
        return body.end();
    }
    body.maybe_text("failureCode", failure_code.as_deref())
        .plain("reason", "the bank says that the payout method is not the merchant's")
        .plain("action", "payout_method_deleted")
        .end()
}

/// The data of a chargeback, of its end, and of the reversal that it may be; their fields are given
/// one by one in `docs/contract.md, 13.8`.
fn of_chargeback(
    record: &Record,
    time: Timestamp,
    kind: EventKind,
    payment: &Payment,
    chargeback: &Chargeback,
) -> Vec<u8> {
    if kind == EventKind::PaymentReversed {
        return reversed_by(payment, chargeback);
    }
    let moved = record.postings.iter().enumerate().filter(|(_, posting)| {
        posting.ledger == Ledger::Tenant
            && posting.row.as_ref().is_some_and(|row| row.chargeback == Some(chargeback.id))
    });
    let moved = moved.map(|(n, _)| text(&record.movement_id(time, n).to_string())).collect();
    show_of_chargeback(payment, chargeback, moved)
}

/// A status of live mode in an event.
fn live_schema() -> schema::Schema {
    schema::one_of([LiveStatus::Inactive, LiveStatus::Active, LiveStatus::Suspended].map(LiveStatus::name))
}

shown! {
    fn show_live_status(of: TenantMode, status: &str, previous: &str, reason: Option<&str>), live_status_schema, 256 {
        plain "tenantId" = of.tenant, values::uuid();
        plain "status" = status, live_schema();
        plain "previousStatus" = previous, live_schema();
        maybe text "reason" = reason, schema::text();
        boolean "livemode" = of.livemode, values::livemode();
    }
}

fn show_seller_balance(merchant: Option<Id>, balance: &Extra, livemode: bool) -> Option<Vec<u8>> {
    let Extra::SellerBalance { external_ref, pending, available, pesos, usdt, reason } = balance else {
        return None;
    };
    Some(show_balance(merchant, external_ref, (*pending, *available), *pesos, *usdt, (*reason, livemode)))
}

shown! {
    fn show_balance(merchant: Option<Id>, external_ref: &str, ves: (Ves, Ves), pesos: Option<(Cop, Cop)>, usdt: Option<(Usdt, Usdt)>, why: (BalanceReason, bool)), balance_schema, 512 {
        json "merchantId" = quoted_or_null(merchant), values::uuid();
        text "externalRef" = external_ref, values::shown_ref();
        plain "pendingVes" = ves.0, values::ves();
        plain "availableVes" = ves.1, values::ves();
        optional plain "pendingCop" = pesos.map(|(pending, _)| pending), values::pesos();
        optional plain "availableCop" = pesos.map(|(_, available)| available), values::pesos();
        optional plain "pendingUsdt" = usdt.map(|(pending, _)| pending), values::ves();
        optional plain "availableUsdt" = usdt.map(|(_, available)| available), values::ves();
        plain "reason" = why.0.name(),
            schema::one_of([BalanceReason::Sale, BalanceReason::Release, BalanceReason::Reversal].map(BalanceReason::name));
        boolean "livemode" = why.1, values::livemode();
    }
}

/// What is always there, and described so.
fn quoted_or_null(value: Option<impl Display>) -> String {
    value.map_or("null".to_owned(), |value| format!("\"{value}\""))
}

shown! {
    fn show_of_chargeback(payment: &Payment, chargeback: &Chargeback, moved: Vec<Vec<u8>>), of_chargeback_schema, 1024 {
        plain "chargebackId" = chargeback.id, values::uuid().about("The same in both events.");
        plain "paymentId" = payment.id, values::uuid();
        text "externalRef" = &*payment.external_ref, values::shown_ref();
        number "attempt" = payment.attempt, values::attempt();
        plain "method" = payment.method().name(), schema::text().constant("VPOS");
        plain "status" = chargeback.status.name(), chargeback_status();
        plain "amountVes" = chargeback.amount, values::ves();
        plain "feeVes" = chargeback.fee, values::ves();
        plain "reason" = chargeback.reason.name(), chargeback_reason();
        plain "bankDebitedAt" = chargeback.bank_debited_at, values::instant();
        plain "paymentStatus" = payment.status.name(), schema::one_of([Status::Completed.name(), Status::Reversed.name()]);
        plain "vesAmount" = payment.ves, values::ves();
        plain "usdAmount" = payment.usd, values::ves();
        list "ledgerEntryIds" = moved,
            schema::list(values::uuid()).about("The movements that it made; none when the dispute is lost.");
        plain "createdAt" = chargeback.created_at, values::instant();
        optional plain "outcome" = outcome(chargeback).filter(|_| chargeback.closed_at.is_some()), schema::one_of(["won", "lost"]);
        optional plain "closedAt" = chargeback.closed_at.filter(|_| outcome(chargeback).is_some()), values::instant();
        boolean "livemode" = payment.livemode, values::livemode();
    }
}

shown! {
    /// A reversal says the whole payment; one by chargebacks the members that `docs/contract.md, 13.8` names.
    fn reversed_by(payment: &Payment, chargeback: &Chargeback), reversed_schema, 1024 {
        plain "paymentId" = payment.id, values::uuid();
        text "externalRef" = &*payment.external_ref, values::shown_ref();
        number "attempt" = payment.attempt, values::attempt();
        plain "status" = payment.status.name(), schema::text().constant("REVERSED");
        plain "method" = payment.method().name(), schema::text();
        number "usdAmount" = payment.usd, values::figure();
        number "vesAmount" = payment.ves, values::figure();
        number "bcvRate" = payment.bcv_rate.0.normalize(), values::figure();
        maybe number "feeVes" = payment.fee, values::figure();
        maybe number "netVes" = payment.net(), values::figure();
        maybe plain "cardLast4" = payment.card().map(|(_, last_four)| format!("{last_four:04}")), schema::text();
        json "reversedAt" = quoted_or_null(payment.reversed_at), values::instant();
        maybe text "reversalRef" = shown(&payment.reversal_ref), schema::text();
        json "reversalType" = quoted_or_null(reversal_type(payment)), schema::one_of(["reversal", "chargeback"]);
        optional plain "chargebackId" = Some(chargeback.id), values::uuid();
        list "chargebacks" = payment.chargebacks.iter().map(show_chargeback), schema::list(schema::named("PaymentChargeback"));
        plain "createdAt" = payment.created_at, values::instant();
        boolean "livemode" = payment.livemode, values::livemode();
    }
}

fn payout() -> schema::Schema {
    schema::any_of([
        payouts::payout().member("currency", schema::one_of(["VES"])),
        cop_payments::payouts::schema(),
        crypto::payout_schema()
            .member("payoutId", values::uuid())
            .member("currency", schema::one_of(["USDT"])),
    ])
}

fn rejected() -> schema::Schema {
    merchants::merchant()
        .member("payoutMethodId", values::uuid())
        .member("failureCode", schema::text().or_null())
        .member("reason", schema::text())
        .member("action", schema::text().constant("payout_method_deleted"))
}
