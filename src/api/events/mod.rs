//! Events: GET /v1/events and /v1/events/:id, and the data of each event
//! (`docs/contract.md, 13.5, 13.7`). The data is rendered from the record in which the event
//! happened, so it shows how things stood then, whenever it is read.
//!
//! The forms of events belong here. When one happens is decided by the rules, and how it is
//! delivered is in `src/webhooks/`.

pub mod description;
pub mod pages;

use crate::chapters;
use crate::chargebacks::outcome;
use crate::cop_payments::payouts as cop_payouts;
use crate::endpoint::{Context, Endpoint, endpoint, run};
use crate::fields::{Invalid, Kind as _};
use crate::lists;
use crate::openapi::operation::summary;
use crate::openapi::values;
use crate::openapi::{kinds, schema};
use crate::page::{ListOf, Page, bad_cursor};
use crate::payments::show::{reversal_type, show_chargeback};
use crate::problem::Problem;
use crate::query::Query;
use crate::respond::Reply;
use crate::shown::shown;
use crate::writer::{Object, text};
use crate::{conversions, cop_payments, crypto, merchants, payments, payouts};
use domain::entities::Entity;
use domain::entities::chargeback::Chargeback;
use domain::entities::payment::Payment;
use domain::entities::webhook::EVENT_NAMES;
use domain::events::{Event, EventKind, Extra};
use domain::ledger::Ledger;
use domain::record::Record;
use domain::trace::shown;
use domain::values::ids::Id;
use domain::values::time::Timestamp;

/// The tenant and the mode in which an event happened.
#[derive(Clone, Copy, Debug)]
pub struct TenantMode {
    pub tenant: Id,
    pub livemode: bool,
}

/// The name of what POST /v1/notifications/test sends.
const TEST_NOTIFICATION: &str = "notification.test";

pub const LIST: Endpoint = endpoint(chapters::EVENTS, run!(list), || {
    summary("List events from a number on").list(asked).answers(200, "EventPage", "Oldest first")
});

fn asked(query: Query<'_>, list: ListOf<'_>) -> Result<(Option<i64>, Page), Invalid> {
    lists::asked(query, list, |query| {
        let sequence = kinds::integer(0..=i64::MAX).described(|_| {
            schema::integer().at_least("0").about("The last sequence that you know; 0 is the beginning.")
        });
        query.optional("after", sequence)
    })
}

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let (after, page) = cx.listed("events", asked)?;
    let number =
        |position: &[u8]| <[u8; 8]>::try_from(position).map(u64::from_be_bytes).map_err(|_| bad_cursor());
    let position = page.after.as_deref().map(number).transpose()?;
    let after = after.and_then(|after| u64::try_from(after).ok());
    let (after, tenant_mode) = (position.or(after).unwrap_or(0), tenant_mode(cx));
    cx.read_long(move |records| pages::after(records, after, &page, tenant_mode)).await
}

pub const READ: Endpoint =
    endpoint(chapters::EVENTS, run!(read), || summary("Read an event").answers(200, "Event", "The event"));

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
        (_, Extra::SellerBalance { external_ref, pending, available, pesos, usdt, reason }) => {
            let body = Object::new()
                .maybe_plain("merchantId", event.subject.map(|subject| subject.id))
                .text("externalRef", external_ref)
                .plain("pendingVes", pending)
                .plain("availableVes", available);
            let body = match pesos {
                Some((pending, available)) => {
                    body.plain("pendingCop", pending).plain("availableCop", available)
                }
                None => body,
            };
            let body = match usdt {
                Some((pending, available)) => {
                    body.plain("pendingUsdt", pending).plain("availableUsdt", available)
                }
                None => body,
            };
            body.plain("reason", reason.name()).boolean("livemode", tenant_mode.livemode).end()
        }
        (Some(Entity::Payment(payment)), Extra::Chargeback(id)) => {
            of_chargeback(record, time, event.kind, payment, payment.chargeback(*id)?)
        }
        (Some(Entity::Payment(payment)), _) => of_payment(payment),
        (Some(Entity::Payout(payout)), _) => {
            Object::reopened(payouts::show(payout)).plain("currency", "VES").end()
        }
        (Some(Entity::Conversion(conversion)), _) => conversions::show(conversion)?,
        (Some(Entity::CryptoPayout(payout)), _) => match event.kind {
            EventKind::PayoutCompleted | EventKind::PayoutFailed => Object::reopened(crypto::show(payout))
                .plain("payoutId", payout.id)
                .plain("currency", "USDT")
                .end(),
            _ => crypto::show(payout),
        },
        (_, Extra::Deposit(deposit)) => crypto::show_deposit(deposit, time),
        (Some(Entity::CopPayment(payment)), _) => cop_payments::event_data(payment, event.kind),
        (Some(Entity::CopPayout(payout)), _) => cop_payouts::show(payout),
        (Some(Entity::Merchant(merchant)), extra) => of_merchant(merchants::show(merchant), event, extra),
        (_, Extra::LiveStatus { status, previous, reason }) => Object::new()
            .plain("tenantId", tenant_mode.tenant)
            .plain("status", status)
            .plain("previousStatus", previous)
            .maybe_text("reason", reason.as_deref())
            .boolean("livemode", tenant_mode.livemode)
            .end(),
        (_, Extra::None | Extra::Method { .. } | Extra::Chargeback(_)) => {
            Object::new().boolean("livemode", tenant_mode.livemode).end()
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
    let body = Object::with_capacity(1024)
        .plain("chargebackId", chargeback.id)
        .plain("paymentId", payment.id)
        .text("externalRef", &*payment.external_ref)
        .number("attempt", payment.attempt)
        .plain("method", payment.method().name())
        .plain("status", chargeback.status.name())
        .plain("amountVes", chargeback.amount)
        .plain("feeVes", chargeback.fee)
        .plain("reason", chargeback.reason.name())
        .plain("bankDebitedAt", chargeback.bank_debited_at)
        .plain("paymentStatus", payment.status.name())
        .plain("vesAmount", payment.ves)
        .plain("usdAmount", payment.usd)
        .list("ledgerEntryIds", moved.map(|(n, _)| text(&record.movement_id(time, n).to_string())))
        .plain("createdAt", chargeback.created_at);
    match (outcome(chargeback), chargeback.closed_at) {
        (Some(outcome), Some(closed_at)) => body.plain("outcome", outcome).plain("closedAt", closed_at),
        (None, _) | (_, None) => body,
    }
    .boolean("livemode", payment.livemode)
    .end()
}

fn reversed_by(payment: &Payment, chargeback: &Chargeback) -> Vec<u8> {
    Object::with_capacity(1024)
        .plain("paymentId", payment.id)
        .text("externalRef", &*payment.external_ref)
        .number("attempt", payment.attempt)
        .plain("status", payment.status.name())
        .plain("method", payment.method().name())
        .number("usdAmount", payment.usd)
        .number("vesAmount", payment.ves)
        .number("bcvRate", payment.bcv_rate.0.normalize())
        .maybe_number("feeVes", payment.fee)
        .maybe_number("netVes", payment.net())
        .maybe_plain("cardLast4", payment.card().map(|(_, last_four)| format!("{last_four:04}")))
        .maybe_plain("reversedAt", payment.reversed_at)
        .maybe_text("reversalRef", shown(&payment.reversal_ref))
        .maybe_plain("reversalType", reversal_type(payment))
        .plain("chargebackId", chargeback.id)
        .list("chargebacks", payment.chargebacks.iter().map(show_chargeback))
        .plain("createdAt", payment.created_at)
        .boolean("livemode", payment.livemode)
        .end()
}
