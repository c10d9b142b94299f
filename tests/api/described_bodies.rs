//! Bodies: what the description says of each is what its call reads.

use crate::harness::buyers::{Page, session};
use crate::harness::check::text;
use crate::harness::client::Api;
use crate::harness::conformance::documents;
use crate::harness::schema::Schemas;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Calls that look for something else before they read their body: one machine alone has no leader to name.
const ELSEWHERE: [&str; 1] = ["handOver"];

/// The clients and the names in paths that every call needs to get as far as its body or its query.
pub(crate) struct Callers {
    tenant: Api,
    admin: Api,
    page: Page,
    link: Value,
}

impl Callers {
    pub(crate) fn of(server: &Server) -> Callers {
        let tenant = server.tenant();
        let product = tenant.test.post("/v1/products", &json!({ "name": "Camisa", "priceUsd": "25.50" }));
        let links = format!("/v1/products/{}/links", text(&product.expect(201), "id"));
        let link = tenant.test.post(&links, &json!({})).expect(201);
        let page = Page::of(server, &session(&tenant, json!({})));
        Callers { tenant: tenant.test, admin: server.admin(), page, link }
    }

    /// The client of a path of the description, and the path with names in it.
    pub(crate) fn call(&self, template: &str) -> (&Api, String) {
        let (api, path) = match template.strip_prefix("/checkout/{id}") {
            Some(rest) => (&self.page.api, format!("{}{rest}", self.page.base)),
            None if template.starts_with("/admin/") => (&self.admin, template.to_owned()),
            None => (&self.tenant, template.replace("{slug}", text(&self.link, "slug"))),
        };
        let is_of_link = template.starts_with("/v1/payment-links/");
        let named = path.split('/').map(|segment| match segment {
            "{code}" => "0134",
            // The id of a link is one that its product gave.
            "{id}" if is_of_link => text(&self.link, "id"),
            segment if segment.starts_with('{') => "01975a2e-7c00-7000-8000-000000000000",
            segment => segment,
        });
        (api, named.collect::<Vec<_>>().join("/"))
    }
}

/// The fields that a call refuses with this message.
fn refused(answer: &Value, message: &str) -> BTreeSet<String> {
    let fields = answer["fields"].as_array().unwrap_or_else(|| panic!("no fields in {answer}"));
    let named = fields.iter().filter(|field| field["message"] == message);
    named.map(|field| text(field, "field").to_owned()).collect()
}

#[test]
fn calls_read_the_bodies_that_are_described() {
    let server = Server::shared();
    let callers = Callers::of(&server);
    let mut calls = 0;
    for document in documents() {
        let schemas = Schemas(document);
        for (template, item) in document["paths"].as_object().expect("paths") {
            for method in ["post", "put", "patch"] {
                let operation = &item[method];
                let Some(content) = operation["requestBody"]["content"].get("application/json") else {
                    continue;
                };
                if ELSEWHERE.contains(&text(operation, "operationId")) {
                    continue;
                }
                let schema = schemas.resolve(&content["schema"]);
                let (api, path) = callers.call(template);
                let send = |body: &Value| match method {
                    "post" => api.post(&path, body),
                    "put" => api.put(&path, body),
                    _ => api.patch(&path, body),
                };
                // No member is a list of nothing, or a list of nothing changes nothing beside an unknown one.
                let members = schema["properties"].as_object().expect("members").keys();
                let mut sent: Value = members.map(|name| (name.clone(), json!([]))).collect();
                sent["unknown"] = json!([]);
                let answer = send(&sent).refused(400, "invalid_data");
                let unknown = refused(&answer, "is unknown");
                assert_eq!(unknown, BTreeSet::from(["unknown".to_owned()]), "{method} {template}");
                let required = schema["required"].as_array().into_iter().flatten();
                let required: BTreeSet<String> =
                    required.map(|name| name.as_str().expect("a name").to_owned()).collect();
                // A change that is empty is told so, whatever is missing in it.
                let is_change = schema["minProperties"] == 1;
                if !required.is_empty() && !is_change {
                    let answer = send(&json!({})).refused(400, "invalid_data");
                    assert_eq!(refused(&answer, "is required"), required, "{method} {template}");
                }
                calls += 1;
            }
        }
    }
    assert!(calls > 50, "only {calls} calls with a body: is this the description?");
}
