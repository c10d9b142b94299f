//! Puts a document together: the rows of a route table, the descriptions of their operations,
//! schemas by name. It knows how OpenAPI 3.1 is written.

mod refusals;
mod shared;

use super::operation::{Operation, Parameter, Response};
use super::schema::{Kind, Schema, named, on_one_line};
use super::{columns, values};
use crate::codes::words;
use crate::csv::{MEDIA_TYPE, Separator, Table};
use crate::writer::{Object, text};
use hyper::{Method, StatusCode};
use refusals::{show_refusal, usual_refusals};
use shared::{headers, shown_headers, shown_parameters};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Open,
    Key {
        scope: &'static str,
        test_only: bool,
    },
    /// A key, with whatever scopes.
    AnyKey,
    Operator {
        role: &'static str,
    },
    /// The buyer, by the secret of the checkout session.
    Buyer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorShape {
    /// `error`, `message`, `requestId`.
    Gateway,
    /// `statusCode`, `error`, `message`.
    Public,
}

/// A row of a route table, as far as the document describes it.
pub struct Row {
    pub method: Method,
    pub path: &'static str,
    pub operation: &'static str,
    pub access: Access,
    pub errors: ErrorShape,
    pub chapter: &'static str,
    pub description: Operation,
}

impl Row {
    fn takes_key(&self) -> bool {
        self.method == Method::POST && self.is_of_known()
    }

    fn may_be_rehearsed(&self) -> bool {
        self.method != Method::GET && self.is_of_known()
    }

    /// Whether it is a tenant's or an operator's.
    fn is_of_known(&self) -> bool {
        matches!(self.access, Access::Key { .. } | Access::Operator { .. })
    }
}

/// What is said of the operations of one resource together. A chapter without a route on this server is left out;
/// chapters with the same heading become one.
#[derive(Default)]
pub struct Chapter {
    pub tag: &'static str,
    pub about: &'static str,
    pub schemas: Vec<(&'static str, Schema)>,
    pub webhooks: Vec<Webhook>,
}

/// A message that is sent, not asked for.
pub struct Webhook {
    pub name: &'static str,
    pub about: &'static str,
    pub data: Schema,
}

pub struct Document {
    pub title: &'static str,
    pub about: &'static str,
    pub rows: Vec<Row>,
    pub chapters: Vec<Chapter>,
    /// Ways to prove who calls: name and JSON.
    pub security: Vec<(&'static str, Vec<u8>)>,
}

/// The program's, as its SDKs have it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What stands before the names of a table's columns.
pub(super) const COLUMNS: &str = " Columns: ";

pub struct Takes {
    pub members: Vec<(&'static str, Schema, bool)>,
    pub pages: bool,
}

impl Document {
    /// The rows under a heading that there is not, and those whose name another one has.
    pub fn gaps(&self) -> Vec<&'static str> {
        let mut names = BTreeSet::new();
        let is_gap = |row: &&Row| {
            let is_headed = self.chapters.iter().any(|chapter| chapter.tag == row.chapter);
            !names.insert(row.operation) || !is_headed
        };
        self.rows.iter().filter(is_gap).map(|row| row.operation).collect()
    }

    fn routed(&self) -> impl Iterator<Item = &Chapter> {
        self.chapters.iter().filter(|chapter| self.rows.iter().any(|row| row.chapter == chapter.tag))
    }

    fn webhooks(&self) -> impl Iterator<Item = &Webhook> {
        self.routed().flat_map(|chapter| &chapter.webhooks)
    }

    pub fn to_json(&self) -> Vec<u8> {
        let info =
            Object::new().text("title", self.title).plain("version", VERSION).text("description", self.about);
        let license = Object::new().plain("name", "Apache-2.0").plain("identifier", "Apache-2.0").end();
        let tags = self
            .routed()
            .filter(|chapter| !chapter.about.is_empty())
            .map(|chapter| Object::new().text("name", chapter.tag).text("description", chapter.about).end());
        let mut document = Object::with_capacity(512 << 10)
            .plain("openapi", "3.1.0")
            .json("info", info.json("license", &license).end())
            .list("servers", [Object::new().plain("url", "/").plain("description", "this server").end()])
            .list("tags", tags)
            .json("paths", self.paths());
        if self.webhooks().next().is_some() {
            document = document.json("webhooks", self.shown_webhooks());
        }
        document.json("components", self.components()).end()
    }

    /// The lists that can be read as CSV, by the names of their operations.
    pub fn tables(&self) -> BTreeMap<&'static str, Table> {
        let find = |name: &str| self.schema(name);
        self.rows.iter().filter_map(|row| Some((row.operation, table(row, &find)?))).collect()
    }

    /// The names of the operations that take parameters in their query.
    pub fn with_query(&self) -> BTreeSet<&'static str> {
        self.rows.iter().filter(|row| row.description.has_query()).map(|row| row.operation).collect()
    }

    /// What an operation takes in its query and its body: names, schemas, and whether it has to be there; and
    /// whether it is a list in pages.
    pub fn takes(&self, operation: &Operation) -> Takes {
        let in_query = operation.parameters.iter().filter(|parameter| parameter.place == "query");
        let mut members: Vec<_> = in_query
            .map(|parameter| (parameter.name, parameter.schema.clone(), parameter.required))
            .collect();
        members.extend(self.in_body(operation));
        Takes { members, pages: operation.pages }
    }

    /// What the list at a path takes in its query, and its columns.
    pub fn list(&self, path: &str) -> Option<(Takes, Table)> {
        let row = self.rows.iter().find(|row| row.method == Method::GET && row.path == path)?;
        Some((self.takes(&row.description), table(row, &|name| self.schema(name))?))
    }

    pub(super) fn in_body(&self, operation: &Operation) -> Vec<(&'static str, Schema, bool)> {
        let body = operation.body.as_ref().and_then(|(body, _)| match body.kind {
            Kind::Named(name) => self.schema(name),
            _ => Some(body.clone()),
        });
        let members = body.into_iter().flat_map(|body| body.members);
        members.map(|member| (member.name, member.schema, member.required)).collect()
    }

    pub(super) fn schema(&self, name: &str) -> Option<Schema> {
        let mut schemas = self.routed().flat_map(|chapter| &chapter.schemas);
        schemas.find(|(known, _)| *known == name).map(|(_, schema)| schema.clone())
    }

    fn paths(&self) -> Vec<u8> {
        let mut paths: Vec<(&str, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            match paths.iter_mut().find(|(path, _)| *path == row.path) {
                Some((_, rows)) => rows.push(row),
                None => paths.push((row.path, vec![row])),
            }
        }
        let find = |name: &str| self.schema(name);
        let mut out = Object::with_capacity(256 << 10);
        for (path, rows) in paths {
            let mut item =
                Object::with_capacity(8 << 10).list("parameters", [reference("parameters", "RequestId")]);
            for row in rows {
                item = item.json(&row.method.as_str().to_ascii_lowercase(), show(row, &find));
            }
            out = out.json(&template(path), item.end());
        }
        out.end()
    }

    fn shown_webhooks(&self) -> Vec<u8> {
        let mut out = Object::with_capacity(16 << 10);
        for webhook in self.webhooks() {
            let envelope = super::schema::object()
                .member("event", super::schema::text().constant(webhook.name))
                .member("data", webhook.data.clone())
                .member("timestamp", values::instant());
            let content = Object::new().json("schema", envelope.to_json()).end();
            let body = Object::new()
                .boolean("required", true)
                .json("content", Object::new().json("application/json", &content).end())
                .end();
            let headers = [
                "EventId",
                "EventSequence",
                "Attempt",
                "Signature",
                "WebhookId",
                "WebhookTimestamp",
                "WebhookSignature",
            ];
            let answers = Object::new()
                .json("2XX", Object::new().plain("description", "received; the body is not read").end())
                .end();
            let post = Object::new()
                .plain("operationId", format_args!("on_{}", webhook.name.replace('.', "_")))
                .text("summary", webhook.about)
                .list("parameters", headers.map(|header| reference("parameters", header)))
                .json("requestBody", &body)
                .json("responses", &answers)
                .end();
            out = out.json(webhook.name, Object::new().json("post", &post).end());
        }
        out.end()
    }

    fn components(&self) -> Vec<u8> {
        let mut schemas = Object::with_capacity(64 << 10);
        for (name, schema) in self.routed().flat_map(|chapter| &chapter.schemas) {
            schemas = schemas.json(name, schema.to_json());
        }
        let mut security = Object::new();
        for (name, scheme) in &self.security {
            security = security.json(name, scheme);
        }
        Object::with_capacity(80 << 10)
            .json("schemas", schemas.end())
            .json("parameters", shown_parameters(self.webhooks().next().is_some()))
            .json("headers", shown_headers())
            .json("securitySchemes", security.end())
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

/// The table of a row that answers with a list: those of tenants and operators are CSV too.
fn table(row: &Row, find: &dyn Fn(&str) -> Option<Schema>) -> Option<Table> {
    let is_read = row.method == Method::GET && row.is_of_known();
    is_read.then(|| columns::table(&row.description, find)).flatten()
}

fn reference(kind: &str, name: &str) -> Vec<u8> {
    Object::with_capacity(64).plain("$ref", format_args!("#/components/{kind}/{name}")).end()
}

fn show(row: &Row, find: &dyn Fn(&str) -> Option<Schema>) -> Vec<u8> {
    let operation = &row.description;
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
    let keyed = row.takes_key().then(|| reference("parameters", "IdempotencyKey"));
    let rehearsed = row.may_be_rehearsed().then(|| reference("parameters", "DryRun"));
    let separated = table(row, find).map(|_| reference("parameters", "Separator"));
    let parameters: Vec<Vec<u8>> = in_path
        .chain(operation.parameters.iter().map(show_parameter))
        .chain(paging.into_iter().flatten())
        .chain(separated)
        .chain(keyed)
        .chain(rehearsed)
        .collect();
    let mut out = Object::with_capacity(6 << 10)
        .plain("operationId", row.operation)
        .list("tags", [text(row.chapter)])
        .text("summary", operation.summary);
    let about = about(row);
    if !about.is_empty() {
        out = out.text("description", &about);
    }
    if !parameters.is_empty() {
        out = out.list("parameters", parameters);
    }
    if let Some((schema, required)) = &operation.body {
        let mut content = Object::new().json("schema", schema.to_json());
        if !operation.examples.is_empty() {
            let mut examples = Object::new();
            for (name, json) in &operation.examples {
                examples = examples.json(
                    &key(name),
                    Object::new().text("summary", name).json("value", on_one_line(json)).end(),
                );
            }
            content = content.json("examples", examples.end());
        }
        let content = Object::new().json(operation.takes, content.end()).end();
        out = out.json(
            "requestBody",
            Object::new().boolean("required", *required).json("content", &content).end(),
        );
    }
    out.json("responses", responses(row, find)).list("security", security(row.access)).end()
}

/// The key of an example in its map, from its name.
fn key(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' })
        .collect()
}

fn about(row: &Row) -> String {
    let policy = match row.access {
        Access::Key { scope, test_only: true } => format!("Test keys only, with the scope `{scope}`."),
        Access::Key { scope, test_only: false } => format!("Needs the scope `{scope}`."),
        Access::Operator { role } => format!("Needs the role `{role}`."),
        Access::AnyKey => "Takes any key; each line needs the scope of its call.".to_owned(),
        Access::Open | Access::Buyer => String::new(),
    };
    [row.description.about, &policy]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn security(access: Access) -> Vec<Vec<u8>> {
    match access {
        Access::Open => Vec::new(),
        Access::Key { scope, .. } => vec![Object::new().list("apiKey", [text(scope)]).end()],
        Access::AnyKey => vec![Object::new().json("apiKey", b"[]").end()],
        Access::Operator { .. } => vec![Object::new().json("operator", b"[]").end()],
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
    out.json("schema", schema.to_json()).end()
}

fn responses(row: &Row, find: &dyn Fn(&str) -> Option<Schema>) -> Vec<u8> {
    let operation = &row.description;
    let mut refusals: BTreeMap<u16, Vec<&'static str>> = BTreeMap::new();
    for (status, codes) in operation.refusals.iter().copied().chain(usual_refusals(row)) {
        let known = refusals.entry(status).or_default();
        for code in codes {
            if !known.contains(code) {
                known.push(*code);
            }
        }
    }
    let mut out = Object::with_capacity(4 << 10);
    for answer in &operation.answers {
        let table = (answer.status == 200).then(|| table(row, find)).flatten();
        out = out.json(&answer.status.to_string(), show_answer(row, answer, table.as_ref(), find));
    }
    for (status, codes) in refusals {
        out = out.json(&status.to_string(), show_refusal(row, status, &codes));
    }
    out.end()
}

fn show_answer(
    row: &Row,
    answer: &Response,
    table: Option<&Table>,
    find: &dyn Fn(&str) -> Option<Schema>,
) -> Vec<u8> {
    let mut names = vec![("X-Request-Id", "RequestId")];
    if row.method != Method::GET && !matches!(row.access, Access::Open | Access::AnyKey) {
        names.extend([("Wal-Seq", "WalSeq"), ("Server-Timing", "ServerTiming")]);
    }
    if row.takes_key() {
        names.push(("Idempotent-Replayed", "IdempotentReplayed"));
    }
    let out = Object::with_capacity(512).text("description", answer.about).json("headers", headers(&names));
    match &answer.schema {
        None => out.end(),
        Some(schema) => {
            let mut content = Object::new().json("schema", schema.to_json());
            if let Some(sample) = schema.sample(find) {
                content = content.json("example", &sample);
            }
            let mut contents = Object::new().json(answer.media, content.end());
            for media in answer.also {
                contents = contents.json(media, Object::new().json("schema", schema.to_json()).end());
            }
            if let Some(table) = table {
                contents = contents.json(MEDIA_TYPE, show_table(table));
            }
            out.json("content", contents.end()).end()
        }
    }
}

/// The whole list as CSV: its columns, and its first line as an example.
fn show_table(table: &Table) -> Vec<u8> {
    let columns: Vec<&str> = table.headings().collect();
    let about = format!(
        "The whole list, without `limit` and `cursor`, as RFC 4180.{COLUMNS}{}.",
        columns.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    );
    Object::new()
        .json("schema", super::schema::text().about(&about).to_json())
        .text("example", table.header(Separator::Comma))
        .end()
}
