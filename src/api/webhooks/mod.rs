//! Webhook endpoints and their deliveries (`docs/contract.md, 13.1, 13.3`).
//!
//! The forms of calls and answers belong here. Delivering is in `src/webhooks/`. A secret is never
//! rendered here: it is added on the way out, so that what is kept for an Idempotency-Key does not
//! hold it.

pub mod description;
pub mod targets;

use crate::answer::{Facts, Rendered};
use crate::chapters;
use crate::endpoint::{Context, Endpoint, endpoint, run};
use crate::entities::OfKind;
use crate::fields::{Bad, Fields, Got, Invalid};
use crate::kind::{self, kind};
use crate::openapi::operation::summary;
use crate::openapi::{kinds, schema, values};
use crate::page::list_json;
use crate::problem::Problem;
use crate::query;
use crate::records::{Records, Stopped, Unread};
use crate::respond::Reply;
use crate::shown::{Members, Writing};
use crate::value::Value;
use crate::webhooks::targets::Allowed;
use crate::writer::{Object, text};
use domain::entities::webhook::{
    Delivered, EVENT_NAMES, EventName, EventRef, Resend, Retry, Signature, Webhook,
};
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

fn url<'a>(allowed: Allowed) -> impl kind::Kind<'a, Target> {
    let read = move |value: Value<'a>| {
        let given = value.string()?;
        let given = given.trim();
        targets::check(given, allowed).map(|url| (given.to_owned(), url)).map_err(Bad::from)
    };
    kind(read, || schema::text().chars(1..=targets::URL_MAX).format("uri"))
}

fn events<'a>() -> impl kind::Kind<'a, Vec<EventName>> {
    let names = || schema::list(schema::one_of(EVENT_NAMES)).count(1..=EVENT_NAMES.len()).distinct();
    kind(read_events, names)
}

fn read_events(value: Value<'_>) -> Result<Vec<EventName>, Bad> {
    let mut seen: Vec<EventName> = Vec::new();
    value.list(1..=EVENT_NAMES.len(), |event| {
        let event = event.text_known("the name of an event, such as payment.completed", EventName::parse)?;
        if seen.contains(&event) {
            return Err(Bad::from("must be listed once"));
        }
        seen.push(event);
        Ok(event)
    })
}

/// POST /v1/webhooks
pub const REGISTER: Endpoint = endpoint(chapters::WEBHOOKS, run!(register), || {
    summary("Register an endpoint")
        .about("https in live mode; no private address. The signing secret is in this answer alone.")
        .body("NewWebhook")
        .example(
            "payments",
            r#"{"url":"https://shop.example/hooks","events":["payment.completed","payment.failed"]}"#,
        )
        .answers(201, "NewlySignedWebhook", "The endpoint with its secret")
        .refuses(409, &["too_many_webhooks"])
})
.shows(created);

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

/// Reads the body of a new endpoint, which gets this id, and where it leads.
fn read_new(mut fields: Fields<'_>, allowed: Allowed, id: Id) -> Result<(NewWebhook, Url), Invalid> {
    let url = fields.required("url", url(allowed));
    let events = fields.required("events", events());
    let retry = fields.optional("retry", kinds::named_one(Retry::ALL, Retry::name));
    let signature = fields.optional("signature", kinds::named_one(Signature::ALL, Signature::name));
    let sound = fields.finish()?;
    let (url, target) = url.get(&sound);
    let new = NewWebhook {
        id,
        url,
        events: events.get(&sound),
        retry: retry.get(&sound).unwrap_or(Retry::None),
        signature: signature.get(&sound).unwrap_or(Signature::Hex),
    };
    Ok((new, target))
}

/// GET /v1/webhooks
pub const LIST: Endpoint = endpoint(chapters::WEBHOOKS, run!(list), || {
    summary("List endpoints").answers(200, "WebhookList", "Those of the key's mode")
});

async fn list(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    cx.read(|records| Ok(list_json(endpoints(records)?.iter().rev().map(show))))
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

/// GET /v1/webhooks/:id
pub const READ: Endpoint = endpoint(chapters::WEBHOOKS, run!(read), || {
    summary("Read an endpoint").answers(200, "Webhook", "The endpoint")
});

async fn read(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    cx.one(EntityId::webhook(id), show)
}

/// PATCH /v1/webhooks/:id
pub const UPDATE: Endpoint = endpoint(chapters::WEBHOOKS, run!(update), || {
    summary("Change an endpoint")
        .body("WebhookChange")
        .example("pause", r#"{"status":"disabled"}"#)
        .answers(200, "Webhook", "The endpoint")
        .refuses(409, &["webhook_busy"])
})
.shows(changed);

async fn update(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = EntityId::webhook(cx.id("id")?);
    let (change, target) = read_change(Fields::parse(&cx.body)?, allowed(cx))?;
    if let Some(target) = target {
        cx.server()?.may_reach(&target).await?;
    }
    cx.ask(id, webhooks::Command::Change(Box::new(change))).await
}

/// Reads a change of an endpoint, and where it leads from now on if that changes.
fn read_change(mut fields: Fields<'_>, allowed: Allowed) -> Result<(WebhookChange, Option<Url>), Invalid> {
    fields.changes();
    let url: Got<Option<Target>> = fields.optional("url", url(allowed));
    let events = fields.optional("events", events());
    let enabled = kinds::one_of([("enabled", true), ("disabled", false)]);
    let enabled = fields.optional("status", enabled);
    let retry = fields.optional("retry", kinds::named_one(Retry::ALL, Retry::name));
    let signature = fields.optional("signature", kinds::named_one(Signature::ALL, Signature::name));
    let sound = fields.finish()?;
    let (url, target) = url.get(&sound).unzip();
    let change = WebhookChange {
        url,
        events: events.get(&sound),
        enabled: enabled.get(&sound),
        retry: retry.get(&sound),
        signature: signature.get(&sound),
    };
    Ok((change, target))
}

/// DELETE /v1/webhooks/:id
pub const DELETE: Endpoint = endpoint(chapters::WEBHOOKS, run!(delete), || {
    summary("Delete an endpoint").answers_with(
        200,
        schema::object().member("deleted", schema::boolean()).member("id", values::uuid()),
        "It is gone",
    )
})
.shows(deleted);

async fn delete(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = EntityId::webhook(cx.id("id")?);
    cx.ask(id, webhooks::Command::Delete).await
}

/// POST /v1/webhooks/:id/rotate-secret
pub const ROTATE_SECRET: Endpoint = endpoint(chapters::WEBHOOKS, run!(rotate_secret), || {
    summary("Replace an endpoint's secret")
        .about("Deliveries from now on are signed with the new one. In the forms that bear several signatures the \
            one before signs beside it, for a day or as long as `overlapSeconds` says; 0 ends every older one.")
        .body_optional("SecretRotation")
        .example("at once", r#"{"overlapSeconds":0}"#)
        .answers(200, "NewlySignedWebhook", "The endpoint with its new secret")
}).shows(rotated);

async fn rotate_secret(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = EntityId::webhook(cx.id("id")?);
    let overlap_seconds = read_rotation(Fields::parse_optional(&cx.body)?)?;
    cx.ask(id, webhooks::Command::RotateSecret(overlap_seconds)).await
}

/// Reads for how long the last secret goes on signing.
fn read_rotation(mut fields: Fields<'_>) -> Result<u32, Invalid> {
    let overlap = fields.optional("overlapSeconds", kinds::integer(0..=i64::from(OVERLAP_SECONDS_MAX)));
    let sound = fields.finish()?;
    Ok(overlap.get(&sound).and_then(|seconds| u32::try_from(seconds).ok()).unwrap_or(OVERLAP_SECONDS))
}

/// GET /v1/webhooks/:id/deliveries
pub const DELIVERIES: Endpoint = endpoint(chapters::WEBHOOKS, run!(deliveries), || {
    summary("List the deliveries of an endpoint").list(query::page).answers(
        200,
        "DeliveryPage",
        "Newest first",
    )
});

async fn deliveries(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    let page = cx.listed(&format!("deliveries {id}"), query::page)?;
    cx.server()?.deliveries(id, page).await
}

/// POST /v1/events/:id/resend
pub const RESEND: Endpoint = endpoint(chapters::WEBHOOKS, run!(resend), || {
    summary(
        "Send an event \
         again",
    )
    .about(
        "To every enabled endpoint that lists it now, with the same `Svc-Event-Id`. An \
         endpoint with 100 such deliveries waiting is left out; 503 `overloaded` when that is all of \
         them.",
    )
    .answers(202, "Deliveries", "What is being sent")
});

async fn resend(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    let id = cx.id("id")?;
    Fields::parse_optional(&cx.body)?.finish()?;
    cx.server()?.resend(id).await
}

/// POST /v1/notifications/test
pub const TEST: Endpoint = endpoint(chapters::WEBHOOKS, run!(test), || {
    summary("Send a test delivery")
        .about(
            "`notification.test` to every enabled endpoint of the key's mode. It is no event: it has no \
             number and is not listed. While too many tests are under way one may fail unsent; its `error` \
             says so.",
        )
        .answers(202, "TestDeliveries", "What each endpoint answered")
});

async fn test(cx: &mut Context<'_>) -> Result<Reply, Problem> {
    Fields::parse_optional(&cx.body)?.finish()?;
    cx.server()?.test_notification().await
}

/// The events that an endpoint lists.
fn listed(webhook: &Webhook) -> &[EventName] {
    webhook.term().map(|term| term.events.as_slice()).unwrap_or_default()
}

/// An endpoint, as JSON.
pub fn show(webhook: &Webhook) -> Vec<u8> {
    members(Writing::of(webhook, 512)).end()
}

/// The members of an endpoint.
pub(crate) fn members<'a, M: Members<'a, Webhook>>(members: M) -> M {
    members
        .plain("id", values::uuid, |webhook| webhook.id)
        .constant("object", "webhook")
        .text("url", schema::text, |webhook| &webhook.url)
        .list(
            "events",
            || schema::list(schema::text()),
            |webhook| listed(webhook).iter().map(|event| text(event.name())),
        )
        .plain(
            "status",
            || schema::one_of(["enabled", "disabled"]),
            |webhook| if webhook.is_enabled() { "enabled" } else { "disabled" },
        )
        .boolean("livemode", values::livemode, |webhook| webhook.livemode)
        .plain("createdAt", values::instant, |webhook| webhook.created_at)
        .plain("retry", || schema::one_of(Retry::ALL.map(Retry::name)), |webhook| webhook.retry.name())
        .plain(
            "signature",
            || schema::one_of(Signature::ALL.map(Signature::name)),
            |webhook| webhook.signature.name(),
        )
}

fn created(facts: &Facts<'_>) -> Option<Rendered> {
    Some((201, with_secret(facts)?))
}

fn rotated(facts: &Facts<'_>) -> Option<Rendered> {
    Some((200, with_secret(facts)?))
}

fn changed(facts: &Facts<'_>) -> Option<Rendered> {
    Some((200, show(facts.the()?)))
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

/// The answer to a deletion.
fn deleted(facts: &Facts<'_>) -> Option<Rendered> {
    let webhook: &Webhook = facts.the()?;
    Some((200, Object::new().boolean("deleted", true).plain("id", webhook.id).end()))
}

/// A delivery that has no outcome yet, as JSON.
pub fn show_pending(webhook: Id, due: &Resend) -> Vec<u8> {
    begin(due.delivery, webhook, &due.event, due.attempt)
        .plain("status", "pending")
        .null("httpStatus")
        .null("latencyMs")
        .null("error")
        .plain("createdAt", due.created_at)
        .null("completedAt")
        .end()
}

/// A delivery with its outcome, as JSON.
pub fn show_delivered(webhook: Id, delivered: &Delivered, completed_at: Timestamp) -> Vec<u8> {
    begin(delivered.id, webhook, &delivered.event, delivered.attempt)
        .plain("status", status(delivered.error.as_deref()))
        .maybe_number("httpStatus", delivered.http_status)
        .number("latencyMs", delivered.latency_ms)
        .maybe_text("error", delivered.error.as_deref())
        .plain("createdAt", delivered.created_at)
        .plain("completedAt", completed_at)
        .end()
}

/// The status of a delivery with this error, or with none.
pub fn status(error: Option<&str>) -> &'static str {
    if error.is_none() { "delivered" } else { "failed" }
}

fn begin(id: Id, webhook: Id, event: &EventRef, attempt: u32) -> Object {
    Object::new()
        .plain("id", id)
        .plain("webhookId", webhook)
        .plain("eventId", event.id)
        .plain("event", event.kind.name())
        .number("sequence", event.number)
        .number("attempt", attempt)
}

/// The answer to a request to send again or to test.
pub fn show_deliveries(event: Id, deliveries: &[Vec<u8>]) -> Vec<u8> {
    Object::new().plain("eventId", event).list("deliveries", deliveries).end()
}
