//! Puts a document together: the rows of a route table, the descriptions of their operations,
//! schemas by name. It knows how OpenAPI 3.1 is written.

use super::codes::meaning;
use super::operation::{Answer, Operation, Parameter};
use super::schema::{Schema, named};
use super::values;
use crate::writer::{Object, text};
use hyper::{Method, StatusCode};
use std::collections::BTreeMap;

/// Who may call an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Anyone.
    Open,
    /// Whoever has a key with this scope.
    Key {
        /// The scope.
        scope: &'static str,
        /// Whether a live key is refused.
        test_only: bool,
    },
    /// An operator.
    Operator,
    /// The buyer, by the secret of the checkout session.
    Buyer,
}

/// In which shape refusals are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorShape {
    /// `error`, `message`, `requestId`.
    Gateway,
    /// `statusCode`, `error`, `message`.
    Public,
}

/// A row of a route table, as far as it is told.
pub struct Row {
    /// Its method.
    pub method: Method,
    /// Its path, with `:names`.
    pub path: &'static str,
    /// Its name.
    pub operation: &'static str,
    /// Who may call it.
    pub access: Access,
    /// The shape of its refusals.
    pub errors: ErrorShape,
    /// Whether an Idempotency-Key counts.
    pub takes_key: bool,
}

/// The descriptions of one resource. A chapter of which the server has no route is not told of;
/// several with one heading are one to the reader.
#[derive(Default)]
pub struct Chapter {
    /// Its heading.
    pub tag: &'static str,
    /// What it is about, in Markdown.
    pub about: &'static str,
    /// Its operations.
    pub operations: Vec<Operation>,
    /// Its schemas, by name.
    pub schemas: Vec<(&'static str, Schema)>,
    /// What is sent to webhooks about it.
    pub webhooks: Vec<Webhook>,
}

/// A message that is sent, not asked for.
pub struct Webhook {
    /// The event's name.
    pub name: &'static str,
    /// When it is sent.
    pub about: &'static str,
    /// What it says.
    pub data: Schema,
}

/// A message, when it is sent, and what it says.
pub fn event(name: &'static str, about: &'static str, data: Schema) -> Webhook {
    Webhook { name, about, data }
}

/// Everything that a document is made of.
pub struct Document {
    /// Its title.
    pub title: &'static str,
    /// What it describes, in Markdown.
    pub about: &'static str,
    /// The rows of the route table.
    pub rows: Vec<Row>,
    /// The chapters, in reading order.
    pub chapters: Vec<Chapter>,
    /// Ways to prove who calls: name and JSON.
    pub security: Vec<(&'static str, Vec<u8>)>,
}

/// The version of the interface.
const VERSION: &str = "1.0.0";

impl Document {
    /// Rows without a description, and descriptions without a row.
    pub fn gaps(&self) -> Vec<String> {
        let described: Vec<&str> =
            self.told().flat_map(|chapter| &chapter.operations).map(|operation| operation.id).collect();
        let rows: Vec<&str> = self.rows.iter().map(|row| row.operation).collect();
        let undescribed =
            rows.iter().filter(|id| !described.contains(id)).map(|id| format!("{id} has no description"));
        let orphaned =
            described.iter().filter(|id| !rows.contains(id)).map(|id| format!("{id} describes no route"));
        let twice = described
            .iter()
            .enumerate()
            .filter(|(n, id)| described[..*n].contains(id))
            .map(|(_, id)| format!("{id} is described twice"));
        undescribed.chain(orphaned).chain(twice).collect()
    }

    /// The chapters of which there is a route.
    fn told(&self) -> impl Iterator<Item = &Chapter> {
        let is_routed = |operation: &Operation| self.rows.iter().any(|row| row.operation == operation.id);
        self.chapters.iter().filter(move |chapter| chapter.operations.iter().any(is_routed))
    }

    fn webhooks(&self) -> impl Iterator<Item = &Webhook> {
        self.told().flat_map(|chapter| &chapter.webhooks)
    }

    /// The document.
    pub fn to_json(&self) -> Vec<u8> {
        let info =
            Object::new().text("title", self.title).plain("version", VERSION).text("description", self.about);
        let license = Object::new().plain("name", "Apache-2.0").plain("identifier", "Apache-2.0").end();
        let tags = self
            .told()
            .filter(|chapter| !chapter.about.is_empty())
            .map(|chapter| Object::new().text("name", chapter.tag).text("description", chapter.about).end());
        let mut document = Object::with_capacity(512 << 10)
            .plain("openapi", "3.1.0")
            .json("info", &info.json("license", &license).end())
            .list("servers", [Object::new().plain("url", "/").plain("description", "this server").end()])
            .list("tags", tags)
            .json("paths", &self.paths());
        if self.webhooks().next().is_some() {
            document = document.json("webhooks", &self.shown_webhooks());
        }
        document.json("components", &self.components()).end()
    }

    fn paths(&self) -> Vec<u8> {
        let mut paths: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            match paths.iter_mut().find(|(path, _)| *path == row.path) {
                Some((_, rows)) => rows.push(row),
                None => paths.push((row.path, vec![row])),
            }
        }
        let find = |name: &str| {
            self.told()
                .flat_map(|chapter| &chapter.schemas)
                .find(|(known, _)| *known == name)
                .map(|(_, schema)| schema.clone())
        };
        let mut out = Object::with_capacity(256 << 10);
        for (path, rows) in paths {
            let mut item =
                Object::with_capacity(8 << 10).list("parameters", [reference("parameters", "RequestId")]);
            for row in rows {
                if let Some((chapter, operation)) = self.described(row.operation) {
                    item = item.json(
                        &row.method.as_str().to_ascii_lowercase(),
                        &show(row, chapter.tag, operation, &find),
                    );
                }
            }
            out = out.json(&template(path), &item.end());
        }
        out.end()
    }

    fn described(&self, id: &str) -> Option<(&Chapter, &Operation)> {
        self.chapters.iter().find_map(|chapter| {
            chapter
                .operations
                .iter()
                .find(|operation| operation.id == id)
                .map(|operation| (chapter, operation))
        })
    }

    fn shown_webhooks(&self) -> Vec<u8> {
        let mut out = Object::with_capacity(16 << 10);
        for webhook in self.webhooks() {
            let envelope = super::schema::object()
                .member("event", super::schema::text().constant(webhook.name))
                .member("data", webhook.data.clone())
                .member("timestamp", values::instant());
            let content = Object::new().json("schema", &envelope.to_json()).end();
            let body = Object::new()
                .boolean("required", true)
                .json("content", &Object::new().json("application/json", &content).end())
                .end();
            let headers = [
                "EventId",
                "EventSequence",
                "Signature",
                "WebhookId",
                "WebhookTimestamp",
                "WebhookSignature",
            ];
            let answers = Object::new()
                .json("2XX", &Object::new().plain("description", "received; the body is not read").end())
                .end();
            let post = Object::new()
                .plain("operationId", format_args!("on_{}", webhook.name.replace('.', "_")))
                .text("summary", webhook.about)
                .list("parameters", headers.map(|header| reference("parameters", header)))
                .json("requestBody", &body)
                .json("responses", &answers)
                .end();
            out = out.json(webhook.name, &Object::new().json("post", &post).end());
        }
        out.end()
    }

    fn components(&self) -> Vec<u8> {
        let mut schemas = Object::with_capacity(64 << 10);
        for (name, schema) in self.told().flat_map(|chapter| &chapter.schemas) {
            schemas = schemas.json(name, &schema.to_json());
        }
        let mut security = Object::new();
        for (name, scheme) in &self.security {
            security = security.json(name, scheme);
        }
        Object::with_capacity(80 << 10)
            .json("schemas", &schemas.end())
            .json("parameters", &shown_parameters(self.webhooks().next().is_some()))
            .json("headers", &shown_headers())
            .json("securitySchemes", &security.end())
            .end()
    }
}

/// `/v1/payments/:id` as OpenAPI writes it: `/v1/payments/{id}`.
fn template(path: &str) -> String {
    let segments = path.split('/').map(|segment| {
        segment.strip_prefix(':').map_or_else(|| segment.to_owned(), |name| format!("{{{name}}}"))
    });
    segments.collect::<Vec<_>>().join("/")
}

fn reference(kind: &str, name: &str) -> Vec<u8> {
    Object::with_capacity(64).plain("$ref", format_args!("#/components/{kind}/{name}")).end()
}

fn show(row: &Row, tag: &str, operation: &Operation, find: &dyn Fn(&str) -> Option<Schema>) -> Vec<u8> {
    let names = row.path.split('/').filter_map(|segment| segment.strip_prefix(':'));
    let in_path = names.map(|name| {
        let schema = values::in_path(name).to_json();
        Object::new()
            .plain("name", name)
            .plain("in", "path")
            .boolean("required", true)
            .json("schema", &schema)
            .end()
    });
    let paging = operation.pages.then(|| ["Limit", "Cursor"].map(|name| reference("parameters", name)));
    let keyed = row.takes_key.then(|| reference("parameters", "IdempotencyKey"));
    let parameters: Vec<Vec<u8>> = in_path
        .chain(operation.parameters.iter().map(show_parameter))
        .chain(paging.into_iter().flatten())
        .chain(keyed)
        .collect();
    let mut out = Object::with_capacity(6 << 10)
        .plain("operationId", operation.id)
        .list("tags", [text(tag)])
        .text("summary", operation.summary);
    let about = about(row, operation);
    if !about.is_empty() {
        out = out.text("description", &about);
    }
    if !parameters.is_empty() {
        out = out.list("parameters", parameters);
    }
    if let Some((schema, required)) = &operation.body {
        let mut content = Object::new().json("schema", &schema.to_json());
        if !operation.examples.is_empty() {
            let mut examples = Object::new();
            for (name, json) in &operation.examples {
                examples = examples.json(
                    &key(name),
                    &Object::new().text("summary", name).json("value", json.as_bytes()).end(),
                );
            }
            content = content.json("examples", &examples.end());
        }
        let content = Object::new().json("application/json", &content.end()).end();
        out = out.json(
            "requestBody",
            &Object::new().boolean("required", *required).json("content", &content).end(),
        );
    }
    out.json("responses", &responses(row, operation, find)).list("security", security(row.access)).end()
}

/// What an example is called in its map.
fn key(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' })
        .collect()
}

fn about(row: &Row, operation: &Operation) -> String {
    let policy = match row.access {
        Access::Key { scope, test_only: true } => format!("Test keys only, with the scope `{scope}`."),
        Access::Key { scope, test_only: false } => format!("Needs the scope `{scope}`."),
        _ => String::new(),
    };
    [operation.about, &policy].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn security(access: Access) -> Vec<Vec<u8>> {
    match access {
        Access::Open => Vec::new(),
        Access::Key { scope, .. } => vec![Object::new().list("apiKey", [text(scope)]).end()],
        Access::Operator => vec![Object::new().json("operator", b"[]").end()],
        Access::Buyer => vec![Object::new().json("clientSecret", b"[]").end()],
    }
}

fn show_parameter(parameter: &Parameter) -> Vec<u8> {
    let schema = if parameter.repeatable {
        super::schema::list(parameter.schema.clone())
    } else {
        parameter.schema.clone()
    };
    let out = Object::new()
        .plain("name", parameter.name)
        .plain("in", parameter.place)
        .boolean("required", parameter.required);
    let out = if parameter.repeatable { out.plain("style", "form").boolean("explode", false) } else { out };
    out.json("schema", &schema.to_json()).end()
}

/// What every call of a row may be refused for, before what is its own.
fn usual_refusals(row: &Row) -> Vec<(u16, Vec<&'static str>)> {
    let reads = row.method == Method::GET;
    let mut refusals: Vec<(u16, Vec<&'static str>)> = Vec::new();
    let mut add = |status, codes: &[&'static str]| refusals.push((status, codes.to_vec()));
    if row.errors == ErrorShape::Public {
        return refusals;
    }
    match row.access {
        Access::Open => return refusals,
        Access::Key { test_only, .. } => {
            add(401, &["unauthorized"]);
            add(403, &["live_mode_not_activated", "scope_missing"]);
            if test_only {
                add(403, &["test_mode_only"]);
            } else if !reads {
                add(503, &["clock_stepped"]);
            }
            add(429, &["rate_limited"]);
        }
        Access::Operator => {
            add(401, &["unauthorized"]);
            add(403, &["cross_site"]);
            add(421, &["misdirected"]);
        }
        Access::Buyer => add(401, &["unauthorized"]),
    }
    add(400, if reads { &["invalid_data"] } else { &["invalid_json", "invalid_data"] });
    if row.path.contains(':') {
        add(404, &["not_found"]);
    }
    if !reads {
        add(408, &["request_timeout"]);
        add(413, &["payload_too_large", "record_too_large"]);
        add(415, &["unsupported_media_type"]);
    }
    if row.takes_key {
        add(409, &["idempotency_in_progress"]);
        add(422, &["idempotency_key_reused"]);
    }
    add(500, &["internal_error"]);
    if matches!(row.access, Access::Key { .. } | Access::Buyer)
        || (matches!(row.access, Access::Operator) && !reads)
    {
        add(503, &["account_halted"]);
    }
    add(
        503,
        if reads {
            &["overloaded", "shutting_down"]
        } else {
            &["overloaded", "shutting_down", "storage_unavailable"]
        },
    );
    refusals
}

fn responses(row: &Row, operation: &Operation, find: &dyn Fn(&str) -> Option<Schema>) -> Vec<u8> {
    let mut refusals: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    for (status, codes) in operation.refusals.iter().cloned().chain(usual_refusals(row)) {
        let known = refusals.entry(status).or_default();
        for code in codes {
            if !known.contains(&code) {
                known.push(code);
            }
        }
    }
    let mut out = Object::with_capacity(4 << 10);
    for answer in &operation.answers {
        out = out.json(&answer.status.to_string(), &show_answer(row, answer, find));
    }
    for (status, codes) in refusals {
        out = out.json(&status.to_string(), &show_refusal(row, status, &codes));
    }
    out.end()
}

fn headers(names: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Object::with_capacity(256);
    for (header, component) in names {
        out = out.json(header, &reference("headers", component));
    }
    out.end()
}

fn show_answer(row: &Row, answer: &Answer, find: &dyn Fn(&str) -> Option<Schema>) -> Vec<u8> {
    let mut names = vec![("X-Request-Id", "RequestId")];
    if row.method != Method::GET && row.access != Access::Open {
        names.extend([("Wal-Seq", "WalSeq"), ("Server-Timing", "ServerTiming")]);
    }
    if row.takes_key {
        names.push(("Idempotent-Replayed", "IdempotentReplayed"));
    }
    let out = Object::with_capacity(512).text("description", answer.about).json("headers", &headers(&names));
    match &answer.schema {
        None => out.end(),
        Some(schema) => {
            let mut content = Object::new().json("schema", &schema.to_json());
            if let Some(sample) = schema.sample(find) {
                content = content.json("example", &sample);
            }
            let content = content.end();
            out.json("content", &Object::new().json(answer.media, &content).end()).end()
        }
    }
}

fn show_refusal(row: &Row, status: u16, codes: &[&'static str]) -> Vec<u8> {
    let mut names = vec![("X-Request-Id", "RequestId")];
    if matches!(status, 429 | 503) {
        names.push(("Retry-After", "RetryAfter"));
    }
    if row.takes_key && matches!(status, 409 | 410 | 422) {
        names.push(("Idempotent-Replayed", "IdempotentReplayed"));
    }
    let lines: Vec<String> = codes
        .iter()
        .map(|code| format!("- `{code}`: {}", meaning(status, code).unwrap_or_default()))
        .collect();
    let mut examples = Object::with_capacity(1 << 10);
    for code in codes {
        let body = match row.errors {
            ErrorShape::Public => public_example(status, code),
            ErrorShape::Gateway => example(status, code),
        };
        examples = examples.json(&key(code), &Object::new().json("value", &body).end());
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
    let content = Object::new().json("schema", &schema).json("examples", &examples.end()).end();
    let content = Object::new().json("application/json", &content).end();
    Object::with_capacity(1 << 10)
        .text("description", lines.join("\n"))
        .json("headers", &headers(&names))
        .json("content", &content)
        .end()
}

/// A refusal with this code, as a caller sees it.
fn example(status: u16, code: &str) -> Vec<u8> {
    let words = meaning(status, code).unwrap_or_default().replace('`', "");
    let body = Object::with_capacity(256)
        .text("error", code)
        .text("message", words)
        .plain("requestId", "2t6cw1h7xk3vd");
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
        "scope_missing" => body.plain("scope", "payments:write"),
        "amounts_mismatch" => body.number("attemptsLeft", 2),
        "merchant_has_payouts" => body.number("payoutCount", 3),
        _ => body,
    }
    .end()
}

/// The same of the public interface, which names the status instead of a code.
fn public_example(status: u16, code: &str) -> Vec<u8> {
    let reason =
        StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default();
    Object::with_capacity(128)
        .number("statusCode", status)
        .text("error", reason)
        .text("message", meaning(status, code).unwrap_or(code))
        .end()
}

fn shown_parameters(with_webhooks: bool) -> Vec<u8> {
    let show = |name: &str, place: &str, about: &str, required: bool, schema: Schema| {
        let out = Object::new()
            .plain("name", name)
            .plain("in", place)
            .boolean("required", required)
            .text("description", about);
        out.json("schema", &schema.to_json()).end()
    };
    let plain = super::schema::text;
    let mut out = Object::new()
        .json("RequestId", &show("X-Request-Id", "header", "Your own name for the request, 1 to 64 visible ASCII characters; it comes back on the response and is in the server's log. Another one gets a name of ours.", false, plain()))
        .json("IdempotencyKey", &show("Idempotency-Key", "header", "The same key with the same body within 24 hours answers the first response again, with `Idempotent-Replayed: true`, also after a crash of the server. Always send one.", false, values::idempotency_key()))
        .json("Limit", &show("limit", "query", "Items on a page.", false, super::schema::integer().range("1", "100").default("25")))
        .json("Cursor", &show("cursor", "query", "The `nextCursor` of the page before, with the same filters.", false, plain().chars(1..=512)));
    if with_webhooks {
        out = out
            .json("EventId", &show("Svc-Event-Id", "header", "The event's id, as in `webhook-id`; here it is not signed.", true, values::uuid()))
            .json("EventSequence", &show("Svc-Event-Sequence", "header", "The event's number: without gaps per account and mode.", true, super::schema::integer().at_least("1")))
            .json("Signature", &show("Svc-Signature", "header", "Lower-case hex HMAC-SHA256 of the raw body under the endpoint's whole secret. It covers neither id nor time, so a replay passes it: verify `webhook-signature`. On `merchant.*` and `payout.*` it stands in `X-Webhook-Signature` too.", true, plain().pattern("^[0-9a-f]{64}$")))
            .json("WebhookId", &show("webhook-id", "header", "As Standard Webhooks names the event's id, the same on every delivery of it: deduplicate on it.", true, values::uuid()))
            .json("WebhookTimestamp", &show("webhook-timestamp", "header", "Seconds since 1970 at which it was sent; refuse what is five minutes off.", true, plain().pattern("^[0-9]+$")))
            .json("WebhookSignature", &show("webhook-signature", "header", "`v1,` and the signature of Standard Webhooks over id, time and body in base64; its key is the base64 after `whsec_`.", true, plain()));
    }
    out.end()
}

fn shown_headers() -> Vec<u8> {
    let show = |about: &str, schema: Schema| {
        Object::new().text("description", about).json("schema", &schema.to_json()).end()
    };
    let count = || super::schema::integer().at_least("1");
    Object::new()
        .json("RequestId", &show("The name of the request: your own, if you sent a fit one.", values::request_id()))
        .json("WalSeq", &show("The sequence of the durable record that holds what the response speaks of; there if something was written.", count()))
        .json("ServerTiming", &show("Where the time went, in ms: `queue`, `apply`, `wal`; there if something was written.", super::schema::text()))
        .json(
            "IdempotentReplayed",
            &show("`true` if this is the kept response of an earlier request with the same key.", super::schema::text().constant("true")),
        )
        .json("RetryAfter", &show("Seconds after which to ask again.", count()))
        .end()
}
