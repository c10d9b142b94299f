//! The tools of agents (`docs/contract.md, 24`): those rows of the table that are marked for agents, each with the
//! schema, words and example of its description, and the way from a tool's arguments to the call of its row. How agents
//! are spoken to is in `src/server/mcp/`.

use super::document::Document;
use super::schema::{self, Schema, list, on_one_line};
use super::values;
use crate::problem::Problem;
use crate::routes::{Agents, Route, routes};
use crate::wire::{canonical, json};
use hyper::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use std::sync::LazyLock;

pub type Arguments = Map<String, Value>;

pub const DRY_RUN: &str = "dryRun";
pub const KEY: &str = "key";
const UNRESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

pub struct Tool {
    pub route: Route,
    pub description: String,
    pub schema: Arguments,
    in_query: Vec<&'static str>,
    has_body: bool,
}

/// A call as the arguments of a tool ask for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    pub path: String,
    /// The same bytes in whatever order the arguments came, as a key stands for bytes.
    pub body: Vec<u8>,
    pub is_rehearsed: bool,
    /// As it was given.
    pub key: Option<String>,
}

pub fn all() -> &'static [Tool] {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        let document = crate::interface::public(Vec::new());
        routes().into_iter().filter(|route| route.agents != Agents::No).map(|r| tool(&document, r)).collect()
    });
    &TOOLS
}

pub fn named(name: &str) -> Option<&'static Tool> {
    all().iter().find(|tool| tool.name() == name)
}

fn tool(document: &Document, route: Route) -> Tool {
    let operation = (route.endpoint.description)();
    let mut out = schema::object();
    for name in in_path(route.path) {
        out = out.member(name, values::in_path(name));
    }
    let mut in_query = Vec::new();
    for parameter in operation.parameters.iter().filter(|parameter| parameter.place == "query") {
        let schema = parameter.schema.clone();
        let schema = if parameter.repeatable { list(schema) } else { schema };
        in_query.push(parameter.name);
        out = with(out, parameter.name, schema, parameter.required);
    }
    if operation.pages {
        in_query.extend(["limit", "cursor"]);
        out = out
            .optional("limit", schema::integer().range("1", "100").default("25"))
            .optional("cursor", schema::text().about("The `nextCursor` of the page before."));
    }
    for (name, schema, required) in document.in_body(&operation) {
        out = with(out, name, schema, required);
    }
    if route.method != Method::GET {
        let about = "True: nothing is done, and the answer shows what would be.";
        out = out.optional(DRY_RUN, schema::boolean().about(about));
    }
    if route.method == Method::POST {
        let about = match route.agents {
            Agents::MovesMoney => {
                "The Idempotency-Key. Without one the same arguments are the same call for 24 hours; to do the same \
                 once more on purpose, give a new one."
            }
            _ => "The Idempotency-Key: with the same one again it is the same call.",
        };
        out = out.optional(KEY, schema::text().about(about));
    }
    let mut description = [operation.summary, ". ", operation.about].concat().trim_end().to_owned();
    let mut codes: Vec<&str> = operation.refusals.iter().flat_map(|(_, codes)| *codes).copied().collect();
    codes.sort_unstable();
    codes.dedup();
    if !codes.is_empty() {
        description.push_str(&format!(" Errors: {}.", codes.join(", ")));
    }
    let mut schema = match inlined(parsed(&out.closed().to_json()), document) {
        Value::Object(schema) => schema,
        _ => unreachable!("the schema of an object is an object"),
    };
    if let Some((_, example)) = operation.examples.first() {
        let samples =
            in_path(route.path).filter_map(|name| Some((name, values::in_path(name).sample(&|_| None)?)));
        let mut whole: Arguments = samples.map(|(name, sample)| (name.to_owned(), parsed(&sample))).collect();
        whole.extend(parsed(on_one_line(example).as_bytes()).as_object().cloned().unwrap_or_default());
        schema.insert("examples".into(), Value::Array(vec![Value::Object(whole)]));
    }
    let has_body = operation.body.is_some();
    Tool { route, description, schema, in_query, has_body }
}

fn parsed(json: &[u8]) -> Value {
    serde_json::from_slice(json).expect("what we write of ourselves is JSON")
}

fn in_path(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/').filter_map(|segment| segment.strip_prefix(':'))
}

fn with(object: Schema, name: &'static str, schema: Schema, required: bool) -> Schema {
    if required { object.member(name, schema) } else { object.optional(name, schema) }
}

/// With the schemas that have names in the places of their names, and without the examples of parts: the whole has one.
fn inlined(value: Value, document: &Document) -> Value {
    match value {
        Value::Object(mut members) => {
            let name = members.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
            if let Some(schema) = name.and_then(|name| document.schema(name)) {
                return inlined(parsed(&schema.to_json()), document);
            }
            if members.get("examples").is_some_and(Value::is_array) {
                members.remove("examples");
            }
            Value::Object(members.into_iter().map(|(name, value)| (name, inlined(value, document))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(|item| inlined(item, document)).collect()),
        value => value,
    }
}

impl Tool {
    pub fn name(&self) -> &'static str {
        self.route.operation
    }

    pub fn reads(&self) -> bool {
        self.route.method == Method::GET
    }

    pub fn moves_money(&self) -> bool {
        self.route.agents == Agents::MovesMoney
    }

    /// What is left over when the path and the query have theirs is the body, unknown arguments too: the call itself
    /// refuses them, as it does those of any caller.
    pub fn call(&self, mut arguments: Arguments) -> Result<Call, Problem> {
        let is_rehearsed = match self.takes(DRY_RUN).then(|| arguments.remove(DRY_RUN)).flatten() {
            None => false,
            Some(Value::Bool(is_asked)) => is_asked,
            Some(_) => return Err(Problem::invalid_field(DRY_RUN, "must be true or false")),
        };
        let key = match self.takes(KEY).then(|| arguments.remove(KEY)).flatten() {
            None => None,
            Some(Value::String(key)) if is_fit(&key) => Some(key),
            Some(_) => {
                return Err(Problem::invalid_field(KEY, "must have 1 to 255 characters of ASCII"));
            }
        };
        let mut path = String::new();
        for segment in self.route.path.split('/').skip(1) {
            path.push('/');
            match segment.strip_prefix(':') {
                None => path.push_str(segment),
                Some(name) => match arguments.remove(name) {
                    Some(Value::String(value)) if !value.is_empty() => path.push_str(&encoded(&value)),
                    Some(Value::String(_)) => return Err(Problem::invalid_field(name, "must not be blank")),
                    Some(_) => return Err(Problem::invalid_field(name, "must be a string")),
                    None => return Err(Problem::invalid_field(name, "is required")),
                },
            }
        }
        let reads = self.reads();
        let (asked, body): (Arguments, Arguments) =
            arguments.into_iter().partition(|(name, _)| reads || self.in_query.contains(&name.as_str()));
        let pairs = asked.iter().filter(|(_, value)| !value.is_null());
        let pairs: Vec<String> =
            pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(&in_query(value)))).collect();
        if !pairs.is_empty() {
            path = format!("{path}?{}", pairs.join("&"));
        }
        let mut canonical = Vec::new();
        if self.has_body || !body.is_empty() {
            let body = Value::Object(body).to_string();
            json::read(&body).map_err(|malformed| Problem::invalid_json(malformed.to_string()))?;
            canonical::write(&body, &mut canonical);
        }
        let body = canonical;
        Ok(Call { path, body, is_rehearsed, key })
    }

    fn takes(&self, name: &str) -> bool {
        self.schema.get("properties").is_some_and(|known| known.get(name).is_some())
    }

    /// The key of a call that has none: whoever makes the same call again has the same. A refusal is kept under its
    /// key too, so each of them leads to a further `try_number`. `mark` is a keyed hash: nobody makes such a key for
    /// another.
    pub fn made_key(
        &self,
        mark: impl Fn(&[&[u8]]) -> [u8; 16],
        caller: &[u8],
        call: &Call,
        try_number: u8,
    ) -> String {
        let (name, path) = (self.name().as_bytes(), call.path.as_bytes());
        format!(
            "mcp-{}",
            hex::encode(mark(&[b"agent's call", caller, name, path, &call.body, &[try_number]]))
        )
    }
}

fn is_fit(key: &str) -> bool {
    (1..=255).contains(&key.len())
        && key.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && key.trim() == key
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, &UNRESERVED).to_string()
}

fn in_query(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(in_query).collect::<Vec<_>>().join(","),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use sha2::{Digest as _, Sha256};

    fn called(name: &str, arguments: Value) -> Result<(String, String), String> {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        let call = named(name).expect("a tool").call(arguments);
        let text = |body: Vec<u8>| String::from_utf8(body).expect("UTF-8");
        call.map(|call| (call.path, text(call.body))).map_err(|problem| problem.fields[0].field.to_string())
    }

    #[test]
    fn no_tool_takes_a_card_nor_answers_a_secret() {
        let document = crate::interface::public(Vec::new());
        for tool in all() {
            let name = tool.name();
            assert!(!tool.route.has_card && !tool.route.is_try && !tool.route.needs.is_for_pages, "{name}");
            let answers = (tool.route.endpoint.description)().answers;
            for schema in answers.into_iter().filter_map(|answer| answer.schema) {
                let schema = inlined(parsed(&schema.to_json()), &document).to_string();
                assert!(!schema.contains("ecret"), "{name}: {schema}");
            }
        }
    }

    #[test]
    fn arguments_are_one_flat_object_without_names_that_mean_two_things() {
        let document = crate::interface::public(Vec::new());
        for tool in all() {
            let operation = (tool.route.endpoint.description)();
            let mut count = in_path(tool.route.path).count() + tool.in_query.len();
            count += document.in_body(&operation).len();
            count += [DRY_RUN, KEY].into_iter().filter(|name| tool.takes(name)).count();
            let taken = tool.schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
            assert_eq!(taken, count, "{}", tool.name());
        }
    }

    #[test]
    fn a_made_key_is_of_one_call_of_one_caller_on_one_server() {
        let made = |server: u8, caller: &[u8], arguments: Value, try_number: u8| {
            let mark = |parts: &[&[u8]]| -> [u8; 16] {
                let hash = Sha256::digest([&[server], parts.concat().as_slice()].concat());
                hash[..16].try_into().expect("16 bytes")
            };
            let Value::Object(arguments) = arguments else { panic!("no object") };
            let tool = named("createCopPayment").expect("a tool");
            tool.made_key(mark, caller, &tool.call(arguments).expect("a call"), try_number)
        };
        let pays = || json!({ "amountCop": 20000, "channel": "qr" });
        let first = made(1, b"a", pays(), 0);
        assert_eq!(made(1, b"a", json!({ "channel": "qr", "amountCop": 20000 }), 0), first);
        for (what, other) in [
            ("another server's secret", made(2, b"a", pays(), 0)),
            ("another key", made(1, b"b", pays(), 0)),
            ("other arguments", made(1, b"a", json!({ "amountCop": 20001, "channel": "qr" }), 0)),
            ("a further try", made(1, b"a", pays(), 1)),
        ] {
            assert_ne!(other, first, "{what}");
        }
    }

    #[test]
    fn arguments_become_a_call() {
        for (name, arguments, call) in [
            ("getBalance", json!({}), Ok(("/v1/balance", ""))),
            ("getPayout", json!({ "id": "a/b?c" }), Ok(("/v1/payouts/a%2Fb%3Fc", ""))),
            ("getPayout", json!({ "id": "x", "more": [1, "ñ"] }), Ok(("/v1/payouts/x?more=1%2C%C3%B1", ""))),
            ("getPayout", json!({}), Err("id")),
            ("getPayout", json!({ "id": 7 }), Err("id")),
            ("createPayout", json!({}), Ok(("/v1/payouts", "{}"))),
            (
                "createPayout",
                json!({ "monto": "1", "dryRun": true, "key": "k", "a": { "c": 1, "b": 2.50 } }),
                Ok(("/v1/payouts", r#"{"a":{"b":2.5,"c":1},"monto":"1"}"#)),
            ),
            ("createPayout", json!({ "dryRun": null }), Err("dryRun")),
            ("createPayout", json!({ "key": " k" }), Err("key")),
            ("reversePayment", json!({ "id": "x" }), Ok(("/v1/payments/x/reverse", ""))),
        ] {
            let call = call.map(|(path, body)| (path.to_owned(), body.to_owned())).map_err(str::to_owned);
            assert_eq!(called(name, arguments), call, "{name}");
        }
    }
}
