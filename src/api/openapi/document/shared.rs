//! Parameters and headers that many operations name.

use super::*;
use crate::openapi::schema;

pub(super) fn shown_parameters(with_webhooks: bool) -> Vec<u8> {
    let show = |name: &str, place: &str, about: &str, required: bool, schema: Schema| {
        let out = Object::new()
            .plain("name", name)
            .plain("in", place)
            .boolean("required", required)
            .text("description", about);
        out.json("schema", &schema.to_json()).end()
    };
    let plain = schema::text;
    let mut out = Object::new()
        .json(
            "RequestId",
            &show(
                "X-Request-Id",
                "header",
                "Your own name for the request, 1 to 64 visible \
                 ASCII characters; it comes back on the response and is in the server's log. Another one \
                 gets a \
                 name of ours.",
                false,
                plain(),
            ),
        )
        .json(
            "IdempotencyKey",
            &show(
                "Idempotency-Key",
                "header",
                "The same key with the same body within \
                 24 hours answers the first response again, with `Idempotent-Replayed: true`, also after a \
                 crash \
                 of the server. Always send one.",
                false,
                values::idempotency_key(),
            ),
        )
        .json(
            "Limit",
            &show(
                "limit",
                "query",
                "Items on a \
                 page.",
                false,
                schema::integer().range("1", "100").default("25"),
            ),
        )
        .json(
            "Separator",
            &show(
                "separator",
                "query",
                "Between the cells of `text/csv`, and with it only; a \
                 comma if it is missing.",
                false,
                schema::one_of(["comma", "semicolon"]),
            ),
        )
        .json(
            "Cursor",
            &show(
                "cursor",
                "query",
                "The `nextCursor` of the page before, with the same \
                 filters.",
                false,
                plain().chars(1..=512),
            ),
        );
    if with_webhooks {
        out = out
            .json(
                "EventId",
                &show(
                    "Svc-Event-Id",
                    "header",
                    "The event's id, as in `webhook-id`; here it is \
                     not signed.",
                    true,
                    values::uuid(),
                ),
            )
            .json(
                "EventSequence",
                &show(
                    "Svc-Event-Sequence",
                    "header",
                    "The event's number: without gaps \
                     per account and mode.",
                    true,
                    schema::integer().at_least("1"),
                ),
            )
            .json(
                "Attempt",
                &show(
                    "Svc-Attempt",
                    "header",
                    "The number of the try, from 1.",
                    true,
                    schema::integer().at_least("1"),
                ),
            )
            .json(
                "Signature",
                &show(
                    "Svc-Signature",
                    "header",
                    "Of an endpoint with `signature` `hex`: lower-case hex HMAC-SHA256 of the raw body under \
                     the endpoint's whole secret. It covers neither id nor time, so a replay passes it: \
                     verify `webhook-signature`. With `timestamped`: `t=` and the second of sending, and for \
                     each secret that signs `,v1=` and the same over the second, a dot and the body. On \
                     `merchant.*` and `payout.*` the plain form stands in `X-Webhook-Signature` too. The \
                     operator may have given this header and `Svc-Event-Id` other names.",
                    true,
                    plain().pattern("^([0-9a-f]{64}|t=[0-9]+(,v1=[0-9a-f]{64})+)$"),
                ),
            )
            .json(
                "WebhookId",
                &show(
                    "webhook-id",
                    "header",
                    "As Standard Webhooks names the event's id, the \
                     same on every delivery of it: deduplicate on it.",
                    true,
                    values::uuid(),
                ),
            )
            .json(
                "WebhookTimestamp",
                &show(
                    "webhook-timestamp",
                    "header",
                    "Seconds since 1970 at which it \
                     was sent; refuse what is five minutes off.",
                    true,
                    plain().pattern("^[0-9]+$"),
                ),
            )
            .json(
                "WebhookSignature",
                &show(
                    "webhook-signature",
                    "header",
                    "`v1,` and the signature of \
                     Standard Webhooks over id, time and body in base64; its key is the base64 after \
                     `whsec_`. While a secret is rotated there are several, with a space between.",
                    true,
                    plain(),
                ),
            );
    }
    out.end()
}

pub(super) fn headers(names: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Object::with_capacity(256);
    for (header, component) in names {
        out = out.json(header, &reference("headers", component));
    }
    out.end()
}

pub(super) fn shown_headers() -> Vec<u8> {
    let show = |about: &str, schema: Schema| {
        Object::new().text("description", about).json("schema", &schema.to_json()).end()
    };
    let count = || schema::integer().at_least("1");
    Object::new()
        .json(
            "RequestId",
            &show(
                "The name of the request: your own, if you sent a fit \
                 one.",
                values::request_id(),
            ),
        )
        .json(
            "WalSeq",
            &show(
                "The sequence of the durable record that holds what the response speaks of; \
                 there if something was written.",
                count(),
            ),
        )
        .json(
            "ServerTiming",
            &show(
                "Where the time went, in ms: `queue`, `apply`, `wal`, and of that \
                 `agree` where there is more than one machine; there if something was written.",
                schema::text(),
            ),
        )
        .json(
            "IdempotentReplayed",
            &show(
                "`true` if this is the kept response of an earlier request with the same \
                 key.",
                schema::text().constant("true"),
            ),
        )
        .json("RetryAfter", &show("Seconds after which to ask again.", count()))
        .end()
}
