//! Webhook endpoints and their deliveries (`docs/contract.md, 13.1, 13.3`).
//!
//! The forms of calls and answers belong here. Delivering is in `src/webhooks/`. A secret is never
//! rendered here: it is added on the way out, so that what is kept for an Idempotency-Key does not
//! hold it.

pub mod targets;

use crate::answer::Facts;
use crate::endpoint::{Context, Handler, chapter, run, shown};
use crate::fields::{self, Fields, Invalid, kind, read};
use crate::fields::{Got, body};
use crate::openapi::{kinds, schema, values};
use crate::page::list_json;
use crate::problem::Problem;
use crate::products::links::{deleted, deleted_schema};

use crate::records::{Records, Stopped, Unread};
use crate::respond::Reply;
use crate::value::{Bad, Value};
use crate::webhooks::targets::Allowed;
use crate::writer::{Object, text};
use domain::entities::OfKind;
use domain::entities::webhook::{Delivered, EVENT_NAMES, Resend, Retry, Signature, Webhook};
use domain::events::EventKind;
use domain::index;
use domain::resources::webhooks;
use domain::resources::webhooks::{NewWebhook, OVERLAP_SECONDS, OVERLAP_SECONDS_MAX, WebhookChange};
use domain::values::ids::{EntityId, Id, Kind};
use domain::values::time::Timestamp;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use url::Url;

/// The address of an endpoint, as it was written and as it is called.
type Target = (String, Url);

fn url<'a>(allowed: Allowed) -> impl fields::Kind<'a, Target> {
    let read = move |value: Value<'a>| {
        let given = value.string()?;
        let given = given.trim();
        targets::check(given, allowed).map(|url| (given.to_owned(), url)).map_err(Bad::from)
    };
    kind(read, || schema::text().chars(1..=targets::URL_MAX).format("uri"))
}

fn events<'a>() -> impl fields::Kind<'a, Vec<EventKind>> {
    let names = || schema::list(schema::one_of(EVENT_NAMES)).count(1..=EVENT_NAMES.len()).distinct();
    kind(read_events, names)
}

fn read_events(value: Value<'_>) -> Result<Vec<EventKind>, Bad> {
    let mut seen: Vec<EventKind> = Vec::new();
    value.list(1..=EVENT_NAMES.len(), |event| {
        let event = EventKind::from_name(&event.string()?)
            .ok_or_else(|| Bad::from(format!("must be one of {}", EVENT_NAMES.join(", "))))?;
        if seen.contains(&event) {
            return Err(Bad::from("must be listed once"));
        }
        seen.push(event);
        Ok(event)
    })
}

chapter! { "Webhook endpoints", "Where events are sent. An event is sent once to each endpoint that lists \
    it, signed, with 10 seconds to answer 2xx; duplicates are possible after a crash, so deduplicate on \
    `webhook-id`. With `retry` `backoff` what was not answered 2xx is tried again, 8 times over a day, and \
    `Svc-Attempt` counts the tries. Verify `webhook-signature` (Standard Webhooks), and refuse what was \
    sent more than five minutes ago: `Svc-Signature` covers the body alone, so a replay passes it, unless \
    the endpoint's `signature` is `timestamped`. What was missed is in `GET /v1/events`.", {
        let allowed = Allowed { livemode: false, private: false };
        let tried = object()
            .member("webhookId", uuid())
            .member("status", status_schema())
            .member("httpStatus", integer().or_null())
            .member("error", text().or_null());
        "NewWebhook" = body(|fields| read_new(fields, allowed, Id::from_bytes([0; 16])));
        "WebhookChange" = body(|fields| read_change(fields, allowed));
        "SecretRotation" = body(read_rotation);
        "Webhook" = schema().example(r#"{"id":"01975a2e-7c00-7000-8000-000000000110","object":"webhook",
                "url":"https://shop.example/hooks","events":["payment.completed","payment.failed"],
                "status":"enabled","livemode":false,"createdAt":"2026-11-21T02:13:00.000Z",
                "retry":"none","signature":"hex"}"#);
        "NewlySignedWebhook" = schema().member("secret", text().pattern("^whsec_")
            .example("\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"")
            .about("Shown here and never again. Its whole text is the key of `Svc-Signature`."));
        "WebhookList" = items("Webhook");
        "Delivery" = delivery_schema();
        "DeliveryPage" = page("Delivery");
        "Deliveries" = object().member("eventId", uuid()).member("deliveries", list(named("Delivery")));
        "TestDeliveries" = object().member("eventId", uuid()).member("deliveries", list(tried));
    }
    REGISTER = run!(register), "Register an endpoint" => {
        about "https in live mode; no private address. The signing secret is in this answer alone.";
        body "NewWebhook";
        example "payments",
            r#"{"url":"https://shop.example/hooks","events":["payment.completed","payment.failed"]}"#;
        answers 201, "NewlySignedWebhook", "The endpoint with its secret";
        refuses 409, &["too_many_webhooks"];
    } shows |facts| Some((201, with_secret(facts)?));
    LIST = run!(|cx| cx.read(|records| Ok(list_json(endpoints(records)?.iter().rev().map(show))))),
        "List endpoints" => {
        answers 200, "WebhookList", "Those of the key's mode";
    };
    READ = run!(|cx| cx.one(EntityId::webhook(cx.id("id")?), show)), "Read an endpoint" => {
        answers 200, "Webhook", "The endpoint";
    };
    UPDATE = run!(update), "Change an endpoint" => {
        body "WebhookChange";
        example "pause", r#"{"status":"disabled"}"#;
        answers 200, "Webhook", "The endpoint";
        refuses 409, &["webhook_busy"];
    } shows |facts| Some((200, show(facts.the()?)));
    DELETE = run!(|cx| cx.ask(EntityId::webhook(cx.id("id")?), webhooks::Command::Delete).await),
        "Delete an endpoint" => {
        answers_with 200, deleted_schema(), "It is gone";
    } shows deleted;
    ROTATE_SECRET = run!(rotate_secret), "Replace an endpoint's secret" => {
        about "Deliveries from now on are signed with the new one. In the forms that bear several \
            signatures the one before signs beside it, for a day or as long as `overlapSeconds` says; 0 \
            ends every older one.";
        body_optional "SecretRotation";
        example "at once", r#"{"overlapSeconds":0}"#;
        answers 200, "NewlySignedWebhook", "The endpoint with its new secret";
    } shows |facts| Some((200, with_secret(facts)?));
    DELIVERIES = run!(deliveries), "List the deliveries of an endpoint" => {
        filters |_| Got::of(());
        answers 200, "DeliveryPage", "Newest first";
    };
    RESEND = run!(resend), "Send an event again" => {
        about "To every enabled endpoint that lists it now, with the same `Svc-Event-Id`. An endpoint with \
            100 such deliveries waiting is left out; 503 `overloaded` when that is all of them.";
        answers 202, "Deliveries", "What is being sent";
    };
    TEST = run!(test), "Send a test delivery" => {
        about "`notification.test` to every enabled endpoint of the key's mode. It is no event: it has no \
            number and is not listed. While too many tests are under way one may fail unsent; its `error` \
            says so.";
        answers 202, "TestDeliveries", "What each endpoint answered";
    };
}

async fn register(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.env.new_id();
    let (new, target) = read_new(Fields::parse(&cx.body)?, allowed(cx), id)?;
    cx.server()?.may_reach(&target).await?;
    cx.make(EntityId::webhook(id), webhooks::Command::Register(Box::new(new))).await
}

/// The addresses that an endpoint of this caller may have.
fn allowed(cx: &Context<'_>) -> Allowed {
    Allowed { livemode: cx.caller.livemode(), private: cx.env.private_targets() }
}

fn read_new(mut fields: Fields<'_>, allowed: Allowed, id: Id) -> Result<(NewWebhook, Url), Invalid> {
    Ok(read!(fields {
        required url = "url", url(allowed);
        required events = "events", events();
        optional retry = "retry", kinds::named_one(Retry::ALL, Retry::name) => retry.unwrap_or(Retry::None);
        optional signature = "signature", kinds::named_one(Signature::ALL, Signature::name) => signature.unwrap_or(Signature::Hex);
    } => (NewWebhook { id, url: url.0, events, retry, signature }, url.1)))
}

/// The endpoints of a tenant in a mode, oldest first.
pub fn endpoints(records: &dyn Records) -> Result<Vec<Webhook>, Unread> {
    let mut found: BTreeMap<Id, Webhook> = BTreeMap::new();
    for facet in [0, 1] {
        let list = |facet| index::list(records.tenant_key(), Kind::Webhook, facet);
        let from = list(facet);
        records.scan(&from, &list(facet + 1), &mut |key, _| {
            let id: [u8; 16] = key[from.len()..]
                .try_into()
                .map_err(|_| Stopped::Unreadable("a list entry that is no id".to_owned()))?;
            let entity = records.entity(EntityId::webhook(Id::from_bytes(id)))?;
            if let Some(webhook) = entity.as_deref().and_then(Webhook::of) {
                found.insert(webhook.id, webhook.clone());
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found.into_values().collect())
}

async fn update(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = EntityId::webhook(cx.id("id")?);
    let (change, target) = read_change(Fields::parse(&cx.body)?, allowed(cx))?;
    if let Some(target) = target {
        cx.server()?.may_reach(&target).await?;
    }
    cx.ask(id, webhooks::Command::Change(Box::new(change))).await
}

fn read_change(mut fields: Fields<'_>, allowed: Allowed) -> Result<(WebhookChange, Option<Url>), Invalid> {
    fields.changes();
    Ok(read!(fields {
        optional url = "url", url(allowed) => url.unzip();
        optional events = "events", events();
        optional enabled = "status", kinds::one_of([("enabled", true), ("disabled", false)]);
        optional retry = "retry", kinds::named_one(Retry::ALL, Retry::name);
        optional signature = "signature", kinds::named_one(Signature::ALL, Signature::name);
    } => (WebhookChange { url: url.0, events, enabled, retry, signature }, url.1)))
}

async fn rotate_secret(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = EntityId::webhook(cx.id("id")?);
    let overlap_seconds = read_rotation(Fields::parse_optional(&cx.body)?)?;
    cx.ask(id, webhooks::Command::RotateSecret(overlap_seconds)).await
}

fn read_rotation(mut fields: Fields<'_>) -> Result<u32, Invalid> {
    let overlap = kinds::integer(0..=i64::from(OVERLAP_SECONDS_MAX));
    let overlap = read!(fields { optional overlap = "overlapSeconds", overlap; } => overlap);
    Ok(overlap.and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(OVERLAP_SECONDS))
}

async fn deliveries(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let (_, page) = cx.listed(&format!("deliveries {id}"), |_| Got::of(()))?;
    cx.server()?.deliveries(id, page).await
}

async fn resend(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.no_body()?;
    cx.server()?.resend(id).await
}

async fn test(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    cx.no_body()?;
    cx.server()?.test_notification().await
}

fn listed(webhook: &Webhook) -> &[EventKind] {
    webhook.term().map(|term| term.events.as_slice()).unwrap_or_default()
}

shown! {
    pub fn show(webhook: &Webhook), schema, 512 {
        plain "id" = webhook.id, values::uuid();
        constant "object" = "webhook";
        text "url" = &webhook.url, schema::text();
        list "events" = listed(webhook).iter().map(|event| text(event.name())), schema::list(schema::text());
        plain "status" = if webhook.is_enabled() { "enabled" } else { "disabled" }, schema::one_of(["enabled", "disabled"]);
        boolean "livemode" = webhook.livemode, values::livemode();
        plain "createdAt" = webhook.created_at, values::instant();
        plain "retry" = webhook.retry.name(), schema::one_of(Retry::ALL.map(Retry::name));
        plain "signature" = webhook.signature.name(), schema::one_of(Signature::ALL.map(Signature::name));
    }
}

/// An endpoint with its secret, which no record has.
fn with_secret(facts: &Facts<'_>) -> Option<Vec<u8>> {
    let webhook: &Webhook = facts.the()?;
    let shown = show(webhook);
    Some(match facts.secrets.webhook(webhook) {
        Some(secret) => Object::reopened(shown).plain("secret", secret).end(),
        None => shown,
    })
}

/// A delivery that has no outcome yet, as JSON.
pub fn show_pending(webhook: Id, due: &Resend) -> Vec<u8> {
    let Resend { delivery, event, created_at, attempt } = *due;
    let unanswered =
        Delivered { id: delivery, event, created_at, attempt, http_status: None, latency_ms: 0, error: None };
    show_delivery(webhook, &unanswered, None)
}

pub fn show_delivered(webhook: Id, delivered: &Delivered, completed_at: Timestamp) -> Vec<u8> {
    show_delivery(webhook, delivered, Some(completed_at))
}

shown! {
    fn show_delivery(webhook: Id, delivery: &Delivered, completed_at: Option<Timestamp>), delivery_schema, 512 {
        plain "id" = delivery.id, values::uuid();
        plain "webhookId" = webhook, values::uuid();
        plain "eventId" = delivery.event.id, values::uuid();
        plain "event" = delivery.event.kind.name(), schema::text();
        number "sequence" = delivery.event.number, schema::integer().at_least("1");
        number "attempt" = delivery.attempt, schema::integer().at_least("1").about("The number of the try.");
        plain "status" = if completed_at.is_some() { status(delivery.error.as_deref()) } else { "pending" }, status_schema();
        maybe number "httpStatus" = delivery.http_status, schema::integer();
        maybe number "latencyMs" = completed_at.map(|_| delivery.latency_ms), schema::integer();
        maybe text "error" = delivery.error.as_deref(), schema::text();
        plain "createdAt" = delivery.created_at, values::instant();
        maybe plain "completedAt" = completed_at, values::instant();
    }
}

pub(super) fn status_schema() -> schema::Schema {
    schema::one_of(["pending", "delivered", "failed"])
}

/// The status of a delivery with this error, or with none.
pub fn status(error: Option<&str>) -> &'static str {
    if error.is_none() { "delivered" } else { "failed" }
}

/// The answer to a request to send again or to test.
pub fn show_deliveries(event: Id, deliveries: &[Vec<u8>]) -> Vec<u8> {
    Object::new().plain("eventId", event).list("deliveries", deliveries).end()
}
