//! Searching and the log of requests, as the description tells of them.

use super::items::{KINDS, Why};
use crate::chapters;
use crate::openapi::document::Chapter;
use crate::openapi::schema::{Schema, integer, object, one_of, text};
use crate::openapi::values::{instant, items, request_id, uuid};

pub fn chapter() -> Chapter {
    Chapter {
        tag: chapters::SEARCH,
        about: "One text leads to everything that it names, and a request's id to what became of the \
            request.",
        schemas: [found(), vec![("LoggedRequest", logged())]].concat(),
        ..Chapter::default()
    }
}

pub fn found() -> Vec<(&'static str, Schema)> {
    vec![
        (
            "Found",
            object()
                .member("kind", one_of(KINDS))
                .member("id", uuid())
                .member("tenantId", uuid().or_null())
                .member("mode", one_of(["live", "test"]).or_null().about("Null of a tenant."))
                .member("status", text().or_null().about("As the thing's own endpoint shows it."))
                .member(
                    "amount",
                    text().pattern(r"^(0|[1-9][0-9]*)(\.[0-9]+)?$").example("\"100.00\"").or_null(),
                )
                .member("currency", one_of(["VES", "COP", "USDT", "USD"]).or_null())
                .member("createdAt", instant())
                .member("why", one_of(Why::ALL.map(Why::name)).about("What of it the text is.")),
        ),
        ("FoundList", items("Found")),
    ]
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
        .example(concat!(
            r#"{"requestId":"848xfrzmchatd","at":"2026-11-21T02:13:00.000Z","method":"POST","#,
            r#""route":"/v1/payouts","status":201,"error":null,"#,
            r#""keyId":"01975a2e-7c00-7000-8000-000000000000","ms":3,"#,
            r#""entityId":"01975a2e-7c00-7000-8000-0000000000aa"}"#,
        ))
}
