//! Queries and parameters of the path: the first line of an input names the operation, the second
//! what stands in the path, the rest is the query.
//!
//! Whatever is sent, an endpoint reads it or says why not, and the same parameters in the
//! other order mean the same as long as no name comes twice.

use super::call;
use crate::bytes::first_line;
use api::routes::{Route, routes};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(routes);

pub fn run(input: &[u8]) {
    let (operation, rest) = first_line(input);
    let (path, query) = first_line(rest);
    let Some(route) = ROUTES.iter().find(|route| route.operation.as_bytes() == operation) else { return };
    let (Ok(path), Ok(query)) = (std::str::from_utf8(path), std::str::from_utf8(query)) else { return };
    let read = |query: &str| match call::read(route, false, path, Some(query), b"") {
        Ok(()) => "read".to_owned(),
        Err(problem) => {
            // No rates are here.
            let is_expected = (400..500).contains(&problem.status) || problem.code == "rate_unavailable";
            assert!(is_expected, "{}: {}", problem.status, problem.code);
            let shown = problem.to_json("req_1");
            serde_json::from_slice::<serde_json::Value>(&shown).expect("a refusal is JSON");
            let fields: BTreeSet<_> = problem.fields.into_iter().map(|bad| bad.field).collect();
            format!("{} {} {fields:?}", problem.status, problem.code)
        }
    };
    let read_once = read(query);
    let names: Vec<&str> = query.split('&').map(|pair| pair.split('=').next().unwrap_or(pair)).collect();
    let is_plain = names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if is_plain && names.iter().collect::<BTreeSet<_>>().len() == names.len() {
        let turned: Vec<&str> = query.split('&').rev().collect();
        assert_eq!(read_once, read(&turned.join("&")), "{}", route.operation);
    }
}
