//! Holds every answer that a test gets against the description: its status must be described there,
//! its type be the one described, and its body fit the schema. So each test of the API is a test of
//! `/openapi.json` too. The goldens are what is promised; `tests/golden.rs` keeps them equal to
//! what is served.

use super::schema::Schemas;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

static PUBLIC: LazyLock<Value> = LazyLock::new(|| read("openapi.json"));
static ADMIN: LazyLock<Value> = LazyLock::new(|| read("openapi-admin.json"));

fn read(name: &str) -> Value {
    let path = Path::new("tests/golden").join(name);
    let json = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&json).expect("a description is JSON")
}

/// The tenants' and the operators' description.
pub fn documents() -> [&'static Value; 2] {
    [&PUBLIC, &ADMIN]
}

/// The operation that a request was for; none if there is no such path or method.
fn operation<'a>(document: &'a Value, method: &str, path: &str) -> Option<&'a Value> {
    let path = path.split('?').next().unwrap_or_default();
    let segments: Vec<&str> = path.split('/').collect();
    let fits = |template: &str| {
        let wanted: Vec<&str> = template.split('/').collect();
        let parameters = wanted.iter().filter(|segment| segment.starts_with('{')).count();
        let fits = wanted.len() == segments.len()
            && wanted
                .iter()
                .zip(&segments)
                .all(|(wanted, segment)| wanted == segment || wanted.starts_with('{') && !segment.is_empty());
        fits.then_some(parameters)
    };
    let method = if method == "HEAD" { "get".to_owned() } else { method.to_ascii_lowercase() };
    let paths = document["paths"].as_object()?;
    let candidates =
        paths.iter().filter_map(|(template, item)| Some((fits(template)?, template, item.get(&method)?)));
    candidates
        .min_by_key(|(parameters, template, _)| (*parameters, (*template).clone()))
        .map(|(_, _, operation)| operation)
}

/// Panics if an answer is not as described.
#[track_caller]
pub fn assert_described(method: &str, path: &str, status: u16, content_type: Option<&str>, body: &[u8]) {
    let document: &Value = if path.starts_with("/admin") { &ADMIN } else { &PUBLIC };
    let Some(operation) = operation(document, method, path) else { return };
    // A method that the path does not take, a head that is too long, a path of the other listener:
    // of no operation.
    if matches!(status, 405 | 431) || path.starts_with("/admin") && status == 404 {
        return;
    }
    let id = &operation["operationId"];
    if let Some(rehearsed) = rehearsed(document, body) {
        // What the call itself would answer is described too.
        let (status, inner) = (&rehearsed["status"], serde_json::to_vec(&rehearsed["body"]).expect("JSON"));
        let status = status.as_u64().and_then(|status| u16::try_from(status).ok()).expect("a status");
        let inner = if rehearsed["body"].is_null() { Vec::new() } else { inner };
        return assert_described(method, path, status, Some("application/json"), &inner);
    }
    let response = &operation["responses"][status.to_string()];
    assert!(
        response.is_object(),
        "{method} {path}: {id} does not describe {status}: {}",
        String::from_utf8_lossy(body)
    );
    let Some(content) = response["content"].as_object() else {
        assert!(body.is_empty(), "{method} {path}: {id} describes no body of {status}");
        return;
    };
    if method == "HEAD" {
        return;
    }
    let sent = content_type.map(|sent| sent.split(';').next().unwrap_or_default());
    let described = content.iter().find(|(media, _)| media.split(';').next() == sent);
    let (media, described) =
        described.unwrap_or_else(|| panic!("{method} {path}: {status} is of the type {sent:?}"));
    let headings = content.get("text/csv").map(headings);
    if media == "text/csv" {
        let first = body.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let sent = String::from_utf8_lossy(first).replace(';', ",");
        assert_eq!(Some(sent.split(',').map(str::to_owned).collect()), headings, "{method} {path}");
        return;
    }
    if media == "application/json" {
        let value: Value = serde_json::from_slice(body)
            .unwrap_or_else(|error| panic!("{method} {path}: {status} is not JSON: {error}"));
        let misfits = Schemas(document).misfits(&value, &described["schema"]);
        assert!(
            misfits.is_empty(),
            "{method} {path}: {status} is not as {id} is described:\n{}\n{value}",
            misfits.join("\n")
        );
        assert_events_are_described(document, &value);
        for item in value["items"].as_array().into_iter().flatten().filter(|_| headings.is_some()) {
            let headings = headings.as_deref().unwrap_or_default();
            assert_has_columns(item, "", headings, &format!("{method} {path}"));
        }
    }
}

/// The answer to a call that was only rehearsed, which is the same for every call.
#[track_caller]
fn rehearsed(document: &Value, body: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(body).ok()?;
    if value["dryRun"] != true {
        return None;
    }
    let misfits = Schemas(document).misfits(&value, &document["components"]["schemas"]["DryRun"]);
    assert!(misfits.is_empty(), "a rehearsal is not as described:\n{}\n{value}", misfits.join("\n"));
    if !document["webhooks"].is_null() {
        value["events"].as_array().into_iter().flatten().for_each(|event| {
            assert_events_are_described(document, event);
        });
    }
    Some(value)
}

/// The columns of a list as CSV.
fn headings(described: &Value) -> Vec<String> {
    let line = described["example"].as_str().expect("the line of headings");
    line.trim_end().split(',').map(str::to_owned).collect()
}

/// Panics if a member of a row has no column of its own or of its members.
#[track_caller]
fn assert_has_columns(row: &Value, prefix: &str, headings: &[String], told: &str) {
    for (name, value) in row.as_object().expect("an object") {
        let name = format!("{prefix}{name}");
        if headings.contains(&name) {
            continue;
        }
        let nested = format!("{name}.");
        assert!(
            headings.iter().any(|heading| heading.starts_with(&nested)),
            "{told}: {name} is in no column of {headings:?}"
        );
        if value.is_object() {
            assert_has_columns(value, &nested, headings, told);
        }
    }
}

/// Holds the data of every event in an answer against what its webhook is described to say.
#[track_caller]
fn assert_events_are_described(document: &Value, answer: &Value) {
    let listed = answer["items"].as_array().into_iter().flatten();
    for event in
        listed.chain([answer]).filter(|shown| shown["sequence"].is_number() && shown["data"].is_object())
    {
        let name = event["event"].as_str().unwrap_or_default();
        let body =
            &document["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"];
        assert!(body.is_object(), "the event {name} is not described");
        let misfits = Schemas(document).misfits(&event["data"], &body["properties"]["data"]);
        assert!(misfits.is_empty(), "{name} is not as described:\n{}\n{event}", misfits.join("\n"));
    }
}
