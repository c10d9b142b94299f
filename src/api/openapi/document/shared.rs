//! Parameters and headers that many operations name.

use super::*;
use crate::openapi::schema;

const IN_QUERY: &str = "query";
const IN_HEAD: &str = "header";

/// A parameter by the name under which operations refer to it: its own name, its place, whether it has to be there,
/// its schema, and what it is.
type Shared = (&'static str, &'static str, &'static str, bool, Schema, &'static str);

#[rustfmt::skip] // A row is read across.
pub(super) fn shown_parameters(with_webhooks: bool) -> Vec<u8> {
    let (text, integer) = (schema::text, schema::integer);
    let mut rows: Vec<Shared> = vec![
        ("RequestId", "X-Request-Id", IN_HEAD, false, text(),
            "Your own name for the request, 1 to 64 visible ASCII characters; it comes back on the response and is \
             in the server's log. Another one gets a name of ours."),
        ("IdempotencyKey", "Idempotency-Key", IN_HEAD, false, values::idempotency_key(),
            "The same key with the same body within 24 hours answers the first response again, with \
             `Idempotent-Replayed: true`, also after a crash of the server. Always send one."),
        ("DryRun", crate::dry_run::NAME, IN_HEAD, false, schema::one_of(["true", "false"]),
            "With `true` nothing is done: the answer is 200 and a `DryRun`, which shows what the call would answer, \
             post, hold, tell its webhooks and ask of banks now."),
        ("Limit", "limit", IN_QUERY, false, integer().range("1", "100").default("25"), "Items on a page."),
        ("Separator", "separator", IN_QUERY, false, schema::one_of(["comma", "semicolon"]),
            "Between the cells of `text/csv`, and with it only; a comma if it is missing."),
        ("Cursor", "cursor", IN_QUERY, false, text().chars(1..=512),
            "The `nextCursor` of the page before, with the same filters."),
    ];
    if with_webhooks {
        let count = || integer().at_least("1");
        rows.extend([
            ("EventId", "Svc-Event-Id", IN_HEAD, true, values::uuid(),
                "The event's id, as in `webhook-id`; here it is not signed."),
            ("EventSequence", "Svc-Event-Sequence", IN_HEAD, true, count(),
                "The event's number: without gaps per account and mode."),
            ("Attempt", "Svc-Attempt", IN_HEAD, true, count(), "The number of the try, from 1."),
            ("Signature", "Svc-Signature", IN_HEAD, true,
                text().pattern("^([0-9a-f]{64}|t=[0-9]+(,v1=[0-9a-f]{64})+)$"),
                "Of an endpoint with `signature` `hex`: lower-case hex HMAC-SHA256 of the raw body under the \
                 endpoint's whole secret. It covers neither id nor time, so a replay passes it: verify \
                 `webhook-signature`. With `timestamped`: `t=` and the second of sending, and for each secret that \
                 signs `,v1=` and the same over the second, a dot and the body. On `merchant.*` and `payout.*` the \
                 plain form stands in `X-Webhook-Signature` too. The operator may have given this header and \
                 `Svc-Event-Id` other names."),
            ("WebhookId", "webhook-id", IN_HEAD, true, values::uuid(),
                "As Standard Webhooks names the event's id, the same on every delivery of it: deduplicate on it."),
            ("WebhookTimestamp", "webhook-timestamp", IN_HEAD, true, text().pattern("^[0-9]+$"),
                "Seconds since 1970 at which it was sent; refuse what is five minutes off."),
            ("WebhookSignature", "webhook-signature", IN_HEAD, true, text(),
                "`v1,` and the signature of Standard Webhooks over id, time and body in base64; its key is the \
                 base64 after `whsec_`. While a secret is rotated there are several, with a space between."),
        ]);
    }
    rows.into_iter().fold(Object::new(), |out, (component, name, place, required, schema, about)| {
        let shown = Object::new().plain("name", name).plain("in", place).boolean("required", required);
        let shown = match component {
            "DryRun" => shown.json("x-answer", reference("schemas", "DryRun")),
            _ => shown,
        };
        out.json(component, shown.text("description", about).json("schema", schema.to_json()).end())
    }).end()
}

pub(super) fn headers(names: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Object::with_capacity(256);
    for (header, component) in names {
        out = out.json(header, reference("headers", component));
    }
    out.end()
}

#[rustfmt::skip] // A row is read across.
pub(super) fn shown_headers() -> Vec<u8> {
    let count = || schema::integer().at_least("1");
    let rows = [
        ("RequestId", values::request_id(), "The name of the request: your own, if you sent a fit one."),
        ("WalSeq", count(),
            "The sequence of the durable record that holds what the response speaks of; there if something was written."),
        ("ServerTiming", schema::text(),
            "Where the time went, in ms: `queue`, `apply`, `wal`, and of that `agree` where there is more than one \
             machine; there if something was written."),
        ("IdempotentReplayed", schema::text().constant("true"),
            "`true` if this is the kept response of an earlier request with the same key."),
        ("RetryAfter", count(), "Seconds after which to ask again."),
    ];
    rows.into_iter().fold(Object::new(), |out, (component, schema, about)| {
        out.json(component, Object::new().text("description", about).json("schema", schema.to_json()).end())
    }).end()
}
