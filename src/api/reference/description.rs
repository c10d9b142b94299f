//! Reference data, kept answers, and how the server is, as the description tells of them.

use super::CHAPTER;
use crate::openapi::document::schemas;
use crate::openapi::document::{Access, Chapter, ErrorShape, Row};
use crate::openapi::operation::{Operation, summary};
use crate::openapi::schema::{Schema, any_of, anything, integer, list, named, object, one_of, text};
use crate::openapi::values::instant;
use hyper::Method;

const HEALTH: &str = "Health";

pub fn chapter() -> Chapter {
    Chapter {
        tag: CHAPTER,
        about: "Banks, and what became of a request whose answer was lost.",
        schemas: schemas! {
            "Bank" = super::bank_schema(),
                example r#"{"code":"0134","name":"Banesco","services":["C2P","PAGO_MOVIL","DEBIT","CREDIT"],
                "logoUrl":null}"#;
            "IdempotencyKey" = object()
                .member("key", text())
                .member("state", one_of(["in_progress", "done"]))
                .member("method", text().constant("POST"))
                .member("path", text())
                .member("firstSeenAt", instant())
                .member("expiresAt", instant())
                .member("status", integer().or_null().about("The kept status; null while in progress."))
                .member("response", anything().about("The kept body; null while in progress."))
                .member("walSeq", integer().or_null()),
                example r#"{"key":"k-1","state":"done","method":"POST","path":"/v1/test/fund",
                "firstSeenAt":"2026-11-21T02:13:00.000Z",
                "expiresAt":"2026-11-22T02:13:00.000Z","status":422,
                "response":{"error":"insufficient_balance",
                "message":"the available balance does not cover the amount, so nothing was debited; pay at most availableVes or wait for what is held: GET /v1/balance says when",
                "requestId":"2t6cw1h7xk3vd","availableVes":"1.00"},"walSeq":17}"#;
            "Quote" = quote();
        },
        ..Chapter::default()
    }
}

fn quote() -> Schema {
    super::quote_schema().example(
        r#"{"usdAmount":10,"bcvRate":210,"vesAmount":2100.00,"medianRate":210,
        "medianVesAmount":2100.00,"source":"bcv","fetchedAt":"2026-11-21T02:13:00.000Z",
        "sources":{"vexFx":{"bcvRate":210,"fetchedAt":"2026-11-21T02:13:00.000Z"},
        "bank":{"error":"BANK_NOT_CONFIGURED"}}}"#,
    )
}

/// Calls without a key that say how the server is.
pub fn health() -> Chapter {
    Chapter {
        tag: HEALTH,
        about: "For load balancers and supervisors.",
        schemas: vec![("Error", error())],
        ..Chapter::default()
    }
}

/// Those calls, which the server answers before everything else.
pub fn health_rows() -> [Row; 2] {
    let row = |path, operation, description: Operation| Row {
        method: Method::GET,
        path,
        operation,
        access: Access::Open,
        errors: ErrorShape::Gateway,
        chapter: HEALTH,
        description,
    };
    let status = |status| object().member("status", text().constant(status));
    let unready = any_of([status("unavailable").member("reason", text()).closed(), named("Error")]);
    [
        row(
            "/healthz",
            "getHealth",
            summary("Whether the process lives").answers_with(200, status("ok"), "It lives"),
        ),
        row(
            "/readyz",
            "getReadiness",
            summary("Whether requests are served")
                .answers_with(200, status("ready"), "Recovery has finished and the log accepts writes")
                .answers_with(503, unready, "Not yet; `shutting_down` while it stops"),
        ),
    ]
}

pub fn error() -> Schema {
    let field = object()
        .member("field", text().about("Dotted, with index: `card.number`, `items[3].monto`."))
        .member("message", text());
    let amount = |words: &str| text().about(words);
    object()
        .member("error", text().about("A stable code to branch on."))
        .member("message", text().about("For people."))
        .member("requestId", text())
        .optional("fields", list(field).about("Of `invalid_data`: every bad field at once."))
        .optional(
            "existingId",
            text().format("uuid").about("Of `external_ref_conflict`: what the reference was used for."),
        )
        .optional(
            "differs",
            list(text()).about(
                "Of `external_ref_conflict`: the fields that differ; not \
                 there when a C2P request repeats what is paid.",
            ),
        )
        .optional("availableVes", amount("Of `insufficient_balance`."))
        .optional(
            "spendableVes",
            amount("Of `insufficient_balance` on conversions: what they may spend, holds too."),
        )
        .optional("availableCop", amount("Of `insufficient_balance` in pesos."))
        .optional("spendableCop", amount("Of `insufficient_balance` in pesos: holds too."))
        .optional("availableUsdt", amount("Of `insufficient_balance` in USDT."))
        .optional("minimumUsdt", amount("Of `amount_below_minimum` on conversions."))
        .optional("currency", amount("Of `daily_limit_exceeded`."))
        .optional("dailyLimit", amount("Of `daily_limit_exceeded`."))
        .optional("minimumCop", integer().about("Of `amount_below_minimum` on COP payments."))
        .optional("attemptsLeft", integer().about("Of `amounts_mismatch`."))
        .optional("failureCode", text().about("Of `otp_refused`."))
        .optional("payoutCount", integer().about("Of `merchant_has_payouts`."))
        .optional("role", text().about("Of `role_missing`: the least role that may do this."))
        .optional("scope", text().about("Of `scope_missing`: the scope that the key lacks."))
}
