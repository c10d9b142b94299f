//! Searching and the log of requests, as the description tells of them.

use super::CHAPTER;
use crate::openapi::document::Chapter;
use crate::openapi::schema::{Schema, integer, object, text};
use crate::openapi::values::{instant, items, request_id, uuid};

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "One text leads to everything that it names, and a request's id to what became of the \
            request.",
        schemas: [found(), vec![("LoggedRequest", logged())]].concat(),
        ..Chapter::default()
    }
}

pub fn found() -> Vec<(&'static str, Schema)> {
    vec![("Found", super::items::schema()), ("FoundList", items("Found"))]
}

fn logged() -> Schema {
    object()
        .member("requestId", request_id())
        .member("at", instant())
        .member("method", text())
        .member("route", text().about("The template of the path, such as `/v1/payments/{id}`."))
        .member("status", integer())
        .member("error", text().or_null().about("The code of the error."))
        .member("keyId", uuid().about("The key that called."))
        .member("ms", integer().at_least("0"))
        .member("entityId", uuid().or_null().about("What was made or changed."))
        .example(
            r#"{"requestId":"848xfrzmchatd","at":"2026-11-21T02:13:00.000Z","method":"POST",
            "route":"/v1/payouts","status":201,"error":null,
            "keyId":"01975a2e-7c00-7000-8000-000000000000","ms":3,
            "entityId":"01975a2e-7c00-7000-8000-0000000000aa"}"#,
        )
}
