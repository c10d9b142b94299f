//! Checks of the form of values, and arithmetic on the figures of an answer: always decimal, never
//! a float.

use chrono::{DateTime, SecondsFormat, Utc};
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Barrier;

/// The exact decimal that a number or a string says.
#[track_caller]
pub fn decimal(value: &Value) -> Decimal {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        other => panic!("{other} is no amount"),
    };
    Decimal::from_str(&text)
        .or_else(|_| Decimal::from_scientific(&text))
        .unwrap_or_else(|_| panic!("{text} is no amount"))
}

/// Asserts that a member is a JSON number with this value, however it is written.
#[track_caller]
pub fn assert_number(object: &Value, member: &str, expected: &str) {
    assert!(object[member].is_number(), "{member} is {}", object[member]);
    assert_eq!(decimal(&object[member]), Decimal::from_str(expected).expect("a decimal"), "{member}");
}

/// Asserts that the members are exactly these strings.
#[track_caller]
pub fn assert_texts(object: &Value, expected: &[(&str, &str)]) {
    for (member, text) in expected {
        assert_eq!(object[member].as_str(), Some(*text), "{member} of {object}");
    }
}

/// Asserts that the members are there and null.
#[track_caller]
pub fn assert_nulls(object: &Value, members: &[&str]) {
    for member in members {
        assert_eq!(object.get(member), Some(&Value::Null), "{member} of {object}");
    }
}

/// A member that is text.
#[track_caller]
pub fn text<'a>(object: &'a Value, member: &str) -> &'a str {
    object[member].as_str().unwrap_or_else(|| panic!("{member} is no text in {object}"))
}

/// A member that is a list.
#[track_caller]
pub fn list<'a>(object: &'a Value, member: &str) -> &'a [Value] {
    object[member].as_array().unwrap_or_else(|| panic!("{member} is no list in {object}"))
}

/// An instant, after its form was seen to be the contract's: UTC, three decimals, `Z`.
#[track_caller]
pub fn instant(value: &Value) -> DateTime<Utc> {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no instant"));
    let instant: DateTime<Utc> =
        DateTime::parse_from_rfc3339(text).unwrap_or_else(|_| panic!("{text} is no instant")).into();
    assert_eq!(stamp(instant), text, "not in the contract's form");
    instant
}

/// An instant as the contract writes it.
pub fn stamp(instant: DateTime<Utc>) -> String {
    instant.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Asserts that this is a version 7 UUID in lower case.
#[track_caller]
pub fn assert_id(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no id"));
    let id = uuid::Uuid::parse_str(text).unwrap_or_else(|_| panic!("{text} is no UUID"));
    assert_eq!(
        (id.get_version_num(), id.to_string().as_str()),
        (7, text),
        "not a version 7 UUID in lower case"
    );
}

/// Asserts that this is a string with exactly two decimals.
#[track_caller]
pub fn assert_money(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no string"));
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, cents) = digits.split_once('.').unwrap_or_else(|| panic!("{text} has no point"));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !whole.is_empty()
        && digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && cents.len() == 2
        && digits(cents);
    assert!(fits, "{text} has not exactly two decimals");
}

/// The sum of a member over rows.
#[track_caller]
pub fn sum(rows: &[Value], member: &str) -> Decimal {
    rows.iter().map(|row| decimal(&row[member])).sum()
}

/// The amounts of movements by type, each list ascending.
#[track_caller]
pub fn by_type(rows: &[Value]) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<Decimal>> = BTreeMap::new();
    for row in rows {
        assert_money(&row["amountVes"]);
        out.entry(text(row, "type").to_owned()).or_default().push(decimal(&row["amountVes"]));
    }
    out.into_iter()
        .map(|(kind, mut amounts)| {
            amounts.sort();
            (kind, amounts.into_iter().map(|amount| amount.to_string()).collect())
        })
        .collect()
}

/// Asserts the types and amounts of movements; amounts of a type in ascending order.
#[track_caller]
pub fn assert_movements(rows: &[Value], expected: &[(&str, &[&str])]) {
    let own = |amounts: &[&str]| amounts.iter().map(|amount| (*amount).to_owned()).collect();
    let expected: BTreeMap<String, Vec<String>> =
        expected.iter().map(|(kind, amounts)| ((*kind).to_owned(), own(amounts))).collect();
    assert_eq!(by_type(rows), expected);
}

/// Runs `call` on that many threads at once, behind one barrier; the results in the order of the
/// threads.
pub fn race<T: Send>(threads: usize, call: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (gate, call) = (Barrier::new(threads), &call);
    std::thread::scope(|scope| {
        let gate = &gate;
        let running: Vec<_> = (0..threads)
            .map(|index| {
                scope.spawn(move || {
                    gate.wait();
                    call(index)
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().expect("the thread ends well")).collect()
    })
}
