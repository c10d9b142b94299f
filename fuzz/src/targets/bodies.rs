//! Bodies of the API: the first line of an input names the operation, the rest is the body.
//!
//! Whatever is sent, an endpoint reads it or says why not; the same members in another order
//! mean the same; a refusal is JSON of a bounded size, and no message in it quotes a card.

use super::call;
use crate::bytes::first_line;
use api::json::{self, Shape};
use api::problem::Problem;
use api::routes::{Route, routes};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(routes);

/// Bytes of the largest refusal: a thousand fields with names of a hundred characters.
const REFUSAL_BYTES_MAX: usize = 2 << 20;

pub fn run(input: &[u8]) {
    let (operation, body) = first_line(input);
    let Some(route) = ROUTES.iter().find(|route| route.operation.as_bytes() == operation) else { return };
    for livemode in [false, true] {
        let read =
            |body: &[u8]| call::read(route, livemode, "01a0a0a0-0000-7000-8000-000000000000", None, body);
        let outcome = read(body);
        if let Err(problem) = &outcome {
            check(problem, body);
        }
        if let Some(turned) = turned(body) {
            assert_eq!(
                summary(&outcome),
                summary(&read(turned.as_bytes())),
                "{}: the order of members means something",
                route.operation
            );
        }
    }
}

/// The same object with its members in the other order, and white space between them.
fn turned(body: &[u8]) -> Option<String> {
    let Ok(Shape::Object(members)) = json::read(std::str::from_utf8(body).ok()?) else { return None };
    let member = |member: &json::Member<'_>| {
        format!("{} : {}", serde_json::to_string(&member.name).expect("a text is JSON"), member.value)
    };
    let members: Vec<String> = members.iter().rev().map(member).collect();
    Some(format!(" {{ {} }}\n", members.join(" , ")))
}

/// A summary that is the same for two bodies that mean the same.
fn summary(outcome: &Result<(), Problem>) -> String {
    match outcome {
        Ok(()) => "read".to_owned(),
        Err(problem) => {
            let fields: BTreeSet<_> =
                problem.fields.iter().map(|bad| (bad.field.as_str(), bad.message.as_ref())).collect();
            format!("{} {} {fields:?}", problem.status, problem.code)
        }
    }
}

fn check(problem: &Problem, body: &[u8]) {
    assert!((400..500).contains(&problem.status), "{}: {}", problem.status, problem.code);
    let shown = problem.to_json("req_1");
    assert!(shown.len() < REFUSAL_BYTES_MAX, "{} bytes of refusal", shown.len());
    serde_json::from_slice::<serde_json::Value>(&shown).expect("a refusal is JSON");
    for digits in body.split(|byte| !byte.is_ascii_digit()).filter(|digits| digits.len() >= 12) {
        let digits = std::str::from_utf8(digits).expect("digits");
        // The name of a member is said, so that it can be mended.
        if problem.fields.iter().any(|bad| bad.field.contains(digits)) {
            continue;
        }
        let said = problem.fields.iter().map(|bad| bad.message.as_ref()).chain([problem.message.as_ref()]);
        said.for_each(|message| assert!(!message.contains(digits), "a message quotes a long number"));
    }
}
