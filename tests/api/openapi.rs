//! The description itself: nothing in it leads nowhere, every example fits its schema, and it is
//! served as it is made.

use crate::harness::conformance::documents;
use crate::harness::schema::Schemas;
use crate::harness::server::Server;
use serde_json::Value;
use std::collections::BTreeSet;

fn each(node: &Value, at: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(at, node);
    match node {
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| each(member, &format!("{at}/{name}"), visit))
        }
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(n, element)| each(element, &format!("{at}/{n}"), visit))
        }
        _ => {}
    }
}

#[test]
fn references_lead_somewhere_and_names_are_used() {
    for document in documents() {
        let mut referred = BTreeSet::new();
        each(document, "", &mut |at, node| {
            if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
                assert!(
                    document.pointer(reference.trim_start_matches('#')).is_some(),
                    "{at}: {reference} leads nowhere"
                );
                referred.insert(reference.to_owned());
            }
        });
        for kind in ["schemas", "parameters", "headers"] {
            for name in document["components"][kind].as_object().expect("components").keys() {
                assert!(
                    referred.contains(&format!("#/components/{kind}/{name}")),
                    "nothing refers to {kind}/{name}"
                );
            }
        }
    }
}

/// Objects in which anybody may have written any member: what a tenant keeps with a payment. What an event
/// says is described under `webhooks`.
const FREE: [&str; 2] = ["metadata", "data"];

#[test]
fn every_object_in_an_answer_names_its_members() {
    for document in documents() {
        let mut found = BTreeSet::new();
        each(document, "", &mut |at, node| {
            let is_object = match &node["type"] {
                Value::Array(types) => types.contains(&Value::from("object")),
                kind => kind == "object",
            };
            let name = at.rsplit('/').next().unwrap_or_default();
            if is_object && node.get("properties").is_none() && node["additionalProperties"] != false {
                let is_free = at.contains("/properties/") && FREE.contains(&name);
                found.extend((!is_free).then(|| at.to_owned()));
            }
        });
        assert!(found.is_empty(), "the members of these have no names: {found:?}");
    }
}

#[test]
fn every_member_of_an_answer_has_one_type() {
    for document in documents() {
        each(document, "", &mut |at, node| {
            if let Value::Array(types) = &node["type"] {
                let types: Vec<&Value> = types.iter().filter(|kind| **kind != "null").collect();
                assert!(types.len() == 1, "{at} is of several types: {types:?}");
            }
        });
    }
}

#[test]
fn examples_fit_their_schemas() {
    for document in documents() {
        let schemas = Schemas(document);
        let mut checked = 0;
        each(document, "", &mut |at, node| {
            let mut check = |example: &Value, schema: &Value| {
                let misfits = schemas.misfits(example, schema);
                assert!(misfits.is_empty(), "{at}: {}", misfits.join("\n"));
                checked += 1;
            };
            if let Some(examples) = node.get("examples").and_then(Value::as_array) {
                examples.iter().for_each(|example| check(example, node));
            }
            if let (Some(schema), Some(examples)) =
                (node.get("schema"), node.get("examples").and_then(Value::as_object))
            {
                examples.values().for_each(|example| check(&example["value"], schema));
            }
        });
        assert!(checked > 15, "only {checked} examples");
    }
}

/// An id that names nothing.
const UNKNOWN: &str = "01975a2e-7c00-7000-8000-000000000000";

#[test]
fn every_body_that_is_shown_is_one_that_is_taken() {
    let server = Server::shared();
    let api = server.tenant().test;
    let [public, _] = documents();
    let mut sent = 0;
    for (path, methods) in public["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let examples = &operation["requestBody"]["content"]["application/json"]["examples"];
            for (name, example) in
                examples.as_object().into_iter().flatten().filter(|_| path.starts_with("/v1/"))
            {
                let segments = path.split('/').map(|part| if part.starts_with('{') { UNKNOWN } else { part });
                let path = segments.collect::<Vec<_>>().join("/");
                let body = &example["value"];
                let answer = match method.as_str() {
                    "post" => api.post(&path, body),
                    "put" => api.put(&path, body),
                    _ => api.patch(&path, body),
                };
                assert_ne!(answer.status, 400, "{method} {path}, {name}: {}", answer.text());
                sent += 1;
            }
        }
    }
    assert!(sent > 40, "only {sent} examples");
}

/// Every answer of every operation: its place, its status, and what stands under
/// `application/json`.
fn answers(document: &Value) -> Vec<(String, u16, &Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("methods") {
            let Some(responses) = operation.get("responses").and_then(Value::as_object) else { continue };
            for (status, response) in responses {
                let content = response.pointer("/content/application~1json");
                let place = format!("{method} {path} {status}");
                found.extend(content.map(|content| (place, status.parse().expect("a status"), content)));
            }
        }
    }
    found
}

/// The examples that a reader sees for an answer: those at its place, or those of its schema.
fn seen<'a>(schemas: &'a Schemas<'_>, content: &'a Value) -> Vec<&'a Value> {
    let here = content.get("example").into_iter().chain(
        content
            .get("examples")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(_, named)| &named["value"]),
    );
    let here: Vec<&Value> = here.collect();
    if !here.is_empty() {
        return here;
    }
    let schema = &content["schema"];
    let of_schema = [schema, schemas.resolve(schema)];
    of_schema
        .into_iter()
        .filter_map(|schema| schema.get("examples"))
        .filter_map(Value::as_array)
        .flatten()
        .collect()
}

#[test]
fn every_answer_has_an_example_that_is_true_in_its_place() {
    for document in documents() {
        let schemas = Schemas(document);
        let mut wrong = Vec::new();
        for (place, status, content) in answers(document) {
            let examples = seen(&schemas, content);
            if examples.is_empty() {
                wrong.push(format!("{place}: no example"));
            }
            let codes = content.pointer("/schema/properties/error/enum").and_then(Value::as_array);
            for example in examples {
                wrong.extend(
                    schemas
                        .misfits(example, &content["schema"])
                        .into_iter()
                        .map(|misfit| format!("{place}: {misfit}")),
                );
                if let Some(codes) = codes.filter(|codes| !codes.contains(&example["error"])) {
                    wrong.push(format!("{place}: {} is none of {codes:?}", example["error"]));
                }
                if example.get("statusCode").is_some_and(|code| *code != status) {
                    wrong.push(format!("{place}: {example}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    }
}

#[test]
fn every_refusal_says_what_it_means() {
    for document in documents() {
        each(document, "", &mut |at, node| {
            if let Some(about) = node.get("description").and_then(Value::as_str) {
                assert!(
                    !about.lines().any(|line| line.starts_with("- `") && line.ends_with("`: ")),
                    "{at}: a code without a meaning: {about}"
                );
            }
        });
    }
}

#[test]
fn bodies_take_no_unknown_members() {
    for document in documents() {
        each(document, "", &mut |at, node| {
            if let Some(body) = node.get("requestBody").filter(|_| !at.starts_with("/webhooks")) {
                // A file of another form has no members.
                let Some(content) = body["content"].get("application/json") else { return };
                let schema = Schemas(document);
                let schema = schema.resolve(&content["schema"]);
                assert_eq!(schema["additionalProperties"], Value::Bool(false), "{at}");
            }
        });
    }
}

#[test]
fn whoever_opens_the_address_learns_what_it_is() {
    let server = Server::start();
    let page = server.nobody().get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let text = page.text();
    for part in ["/docs", "/openapi.json", "/v1/balance", "lang=\"es\"", "lang=\"en\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(server.admin().get("/").status, 404);
}

#[test]
fn both_listeners_serve_their_description_and_a_page_of_it() {
    let server = Server::start();
    for (api, document) in [server.nobody(), server.admin()].iter().zip(documents()) {
        let served = api.get("/openapi.json");
        assert_eq!(&served.expect(200), document);
        let etag = served.header("etag").expect("an ETag").to_owned();
        assert_eq!(api.with("if-none-match", &etag).get("/openapi.json").status, 304);
        assert_eq!(api.request("DELETE", "/openapi.json").header("allow"), Some("GET, HEAD"));
        let page = api.get("/docs");
        assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert!(
            page.header("content-security-policy")
                .is_some_and(|policy| policy.contains("script-src 'self'") && !policy.contains("unsafe")),
            "{:?}",
            page.header("content-security-policy")
        );
        for part in ["/docs/page.css", "/docs/page.js"] {
            assert!(page.text().contains(part) && api.get(part).status == 200, "{part}");
        }
        // Inline scripts and styles would be refused by that policy, and another host by our own
        // rule.
        assert!(
            !page.text().contains("<style")
                && !page.text().contains("style=")
                && !page.text().contains("http"),
            "{}",
            page.text()
        );
    }
}
