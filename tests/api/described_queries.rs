//! Queries: every GET takes the parameters that are described of it, and refuses every other.

use crate::described_bodies::Callers;
use crate::harness::check::text;
use crate::harness::client::Answer;
use crate::harness::conformance::documents;
use crate::harness::server::Server;
use serde_json::Value;
use std::collections::BTreeSet;

/// What is asked while nothing else can be, so that whatever asks is answered.
const OF_HEALTH: [&str; 2] = ["/healthz", "/readyz"];
/// What a list is asked as CSV alone (`csv.rs`).
const OF_CSV: &str = "separator";

/// The parameters in the query of an operation of the description.
fn described(document: &Value, operation: &Value) -> BTreeSet<String> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let resolved = parameters.map(|parameter| match parameter["$ref"].as_str() {
        Some(reference) => document.pointer(&reference[1..]).expect("a parameter that is there"),
        None => parameter,
    });
    let of_query = resolved.filter(|parameter| parameter["in"] == "query");
    of_query.map(|parameter| text(parameter, "name").to_owned()).filter(|name| name != OF_CSV).collect()
}

/// The parameters that an answer refuses as unknown, in either shape of errors.
fn unknown(answer: &Answer) -> BTreeSet<String> {
    let body = answer.expect(400);
    let public = body["message"].as_array().map(|texts| texts.iter().filter_map(Value::as_str).collect());
    let named: Vec<&str> = public.unwrap_or_default();
    let fields = body["fields"].as_array().into_iter().flatten();
    let fields = fields.filter(|field| field["message"] == "is unknown").map(|field| text(field, "field"));
    fields
        .chain(named.iter().filter_map(|text| text.strip_suffix(" is unknown")))
        .map(str::to_owned)
        .collect()
}

#[test]
fn gets_take_the_parameters_that_are_described_and_no_others() {
    let server = Server::shared();
    let callers = Callers::of(&server);
    let gets = documents().into_iter().flat_map(|document| {
        let paths = document["paths"].as_object().expect("paths").iter();
        paths.filter_map(move |(path, item)| Some((path, described(document, item.get("get")?))))
    });
    let gets: Vec<_> = gets.filter(|(path, _)| !OF_HEALTH.contains(&path.as_str())).collect();
    let mut names: BTreeSet<String> = gets.iter().flat_map(|(_, described)| described.clone()).collect();
    names.extend([OF_CSV.to_owned(), "misspelt".to_owned()]);
    assert!(names.len() > 40, "only {} parameters: is this the description?", names.len());
    // Each parameter of the interface comes twice, which only lists take: so it is bad wherever it is taken.
    let query: Vec<String> = names.iter().map(|name| format!("{name}=%20&{name}=%20")).collect();
    for (template, described) in &gets {
        let (api, path) = callers.call(template);
        let refused = unknown(&api.get(&format!("{path}?{}", query.join("&"))));
        let expected: BTreeSet<String> = names.difference(described).cloned().collect();
        assert_eq!(refused, expected, "GET {template}");
        let refused = unknown(&api.get(&format!("{path}?misspelt=1")));
        assert_eq!(refused, BTreeSet::from(["misspelt".to_owned()]), "GET {template}");
    }
    assert!(gets.len() > 80, "only {} operations: is this the description?", gets.len());
}
