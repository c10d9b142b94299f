//! The refusals that a route may answer with, each with an example that is true there.

use super::*;
use crate::codes::Tongue;

/// The refusals that the pipeline may answer with at any call of a row, before those of its
/// handler.
pub(super) fn usual_refusals(row: &Row) -> impl Iterator<Item = (u16, &'static [&'static str])> {
    // What may be said of each call is said in its line.
    let is_stream = row.access == Access::AnyKey;
    let (writes, keyed) = (row.method != Method::GET && !is_stream, row.takes_key());
    let is_key = matches!(row.access, Access::Key { .. });
    let is_test = matches!(row.access, Access::Key { test_only: true, .. });
    let is_operator = matches!(row.access, Access::Operator { .. });
    let rows: [(bool, u16, &[&str]); 19] = [
        (true, 401, &["unauthorized"]),
        (is_key, 403, &["live_mode_not_activated", "scope_missing"]),
        (is_test, 403, &["test_mode_only"]),
        (is_key && !is_test && writes, 503, &["clock_stepped"]),
        (is_operator, 403, &["cross_site", "role_missing"]),
        (is_operator, 421, &["misdirected"]),
        (!is_operator || writes, 429, &["rate_limited"]),
        (writes, 400, &["invalid_json"]),
        (true, 400, &["invalid_data"]),
        (row.path.contains(':'), 404, &["not_found"]),
        (writes, 408, &["request_timeout"]),
        (writes, 413, &["payload_too_large", "record_too_large"]),
        (writes, 415, &["unsupported_media_type"]),
        (keyed, 409, &["idempotency_in_progress"]),
        (keyed, 422, &["idempotency_key_reused"]),
        (true, 500, &["internal_error"]),
        (!is_operator && !is_stream || writes, 503, &["account_halted", "tenant_moved", "tenant_moving"]),
        (true, 503, &["no_leader", "overloaded", "shutting_down"]),
        (writes, 503, &["storage_unavailable"]),
    ];
    let is_open = row.errors == ErrorShape::Public || row.access == Access::Open;
    rows.into_iter().filter(move |(holds, ..)| *holds && !is_open).map(|(_, status, codes)| (status, codes))
}

pub(super) fn show_refusal(row: &Row, status: u16, codes: &[&'static str]) -> Vec<u8> {
    let mut names = vec![("X-Request-Id", "RequestId")];
    if matches!(status, 429 | 503) {
        names.push(("Retry-After", "RetryAfter"));
    }
    if row.takes_key() && matches!(status, 409 | 410 | 422) {
        names.push(("Idempotent-Replayed", "IdempotentReplayed"));
    }
    let lines: Vec<String> = codes.iter().map(|code| words(status, code).line(code)).collect();
    let mut examples = Object::with_capacity(1 << 10);
    for code in codes {
        let body = match row.errors {
            ErrorShape::Public => public_example(status, code),
            ErrorShape::Gateway => example(status, code),
        };
        examples = examples.json(&key(code), Object::new().json("value", &body).end());
    }
    let schema = match row.errors {
        ErrorShape::Public => named("PublicError").to_json(),
        // Validators read what stands beside the reference; generators of clients read the
        // reference.
        ErrorShape::Gateway => {
            let error = Object::new().list("enum", codes.iter().map(|code| text(code))).end();
            let narrowed = Object::new().json("error", &error).end();
            Object::reopened(named("Error").to_json()).json("properties", &narrowed).end()
        }
    };
    let content = Object::new().json("schema", &schema).json("examples", examples.end()).end();
    let content = Object::new().json("application/json", &content).end();
    Object::with_capacity(1 << 10)
        .text("description", lines.join("\n"))
        .json("headers", headers(&names))
        .json("content", &content)
        .end()
}

/// A refusal with this code, as a caller sees it.
fn example(status: u16, code: &str) -> Vec<u8> {
    let said = words(status, code).meaning.replace('`', "");
    let body = Object::with_capacity(256)
        .text("error", code)
        .text("message", said)
        .plain("requestId", "2t6cw1h7xk3vd")
        .plain("docs", crate::codes::path(Tongue::English, code));
    let id = "01975a2e-7c00-7000-8000-000000000000";
    match code {
        "invalid_data" => {
            let field = Object::new()
                .plain("field", "externalRef")
                .plain("message", "must be a text of 1 to 64 characters")
                .end();
            body.list("fields", [field])
        }
        "external_ref_conflict" => body.plain("existingId", id).list("differs", [text("monto")]),
        "insufficient_balance" => body.plain("availableVes", "12.40"),
        "role_missing" => body.plain("role", "treasury"),
        "mandate_exceeded" => body
            .plain("limit", "perDay")
            .json("remaining", br#"{"VES":"40.00"}"#)
            .plain("resetsAt", "2026-11-22T04:00:00.000Z"),
        "scope_missing" => body.plain("scope", "payments:write"),
        "amounts_mismatch" => body.number("attemptsLeft", 2),
        "merchant_has_payouts" => body.number("payoutCount", 3),
        _ => body,
    }
    .end()
}

/// A refusal in the form of the public interface, which names the status instead of a code.
fn public_example(status: u16, code: &str) -> Vec<u8> {
    let reason =
        StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default();
    Object::with_capacity(128)
        .number("statusCode", status)
        .text("error", reason)
        .text("message", words(status, code).meaning)
        .end()
}
