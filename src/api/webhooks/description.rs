//! Webhook endpoints and their deliveries, as the description tells of them.

use super::CHAPTER;
use super::targets::Allowed;
use super::{read_change, read_new, read_rotation};
use crate::fields::body;
use crate::openapi::document::{Chapter, schemas};
use crate::openapi::schema::{integer, list, named, object, text};
use crate::openapi::values::{items, page, uuid};
use domain::values::ids::Id;

pub fn chapter() -> Chapter {
    let allowed = Allowed { livemode: false, private: false };
    let tried = object()
        .member("webhookId", uuid())
        .member("status", super::status_schema())
        .member("httpStatus", integer().or_null())
        .member("error", text().or_null());
    Chapter {
        tag: CHAPTER,
        about: "Where events are sent. An event is sent once to each endpoint that lists it, signed, with 10 \
            seconds to answer 2xx; duplicates are possible after a crash, so deduplicate on `webhook-id`. \
            With `retry` `backoff` what was not answered 2xx is tried again, 8 times over a day, and \
            `Svc-Attempt` counts the tries. Verify `webhook-signature` (Standard Webhooks), and refuse what \
            was sent more than five minutes ago: `Svc-Signature` covers the body alone, so a replay passes \
            it, unless the endpoint's `signature` is `timestamped`. What was missed is in `GET /v1/events`.",
        schemas: schemas! {
            "NewWebhook" = body(|fields| read_new(fields, allowed, Id::from_bytes([0; 16])));
            "WebhookChange" = body(|fields| read_change(fields, allowed));
            "SecretRotation" = body(read_rotation);
            "Webhook" = super::schema(),
                example r#"{"id":"01975a2e-7c00-7000-8000-000000000110","object":"webhook",
                "url":"https://shop.example/hooks","events":["payment.completed","payment.failed"],
                "status":"enabled","livemode":false,"createdAt":"2026-11-21T02:13:00.000Z",
                "retry":"none","signature":"hex"}"#;
            "NewlySignedWebhook" = super::schema().member("secret", text().pattern("^whsec_")
                .example("\"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\"")
                .about("Shown here and never again. Its whole text is the key of `Svc-Signature`."));
            "WebhookList" = items("Webhook");
            "Delivery" = super::delivery_schema();
            "DeliveryPage" = page("Delivery");
            "Deliveries" = object().member("eventId", uuid()).member("deliveries", list(named("Delivery")));
            "TestDeliveries" = object().member("eventId", uuid()).member("deliveries", list(tried));
        },
        ..Chapter::default()
    }
}
