//! The reader of JSON bodies beside serde_json, which knows nothing of ours.
//!
//! What ours takes the other takes too, with the same names and values; what the other takes ours
//! refuses only for what it says it does: a member that is there twice, or depth.

use api::json::{self, DEPTH_MAX, Shape};
use serde_json::Value;

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let theirs = serde_json::from_str::<Value>(text);
    match (json::read(text), theirs) {
        (Ok(shape), Ok(value)) => compare(&shape, text, &value),
        (Ok(_), Err(error)) => panic!("ours takes what is no JSON: {error}"),
        (Err(malformed), Ok(value)) => {
            let depth = depth(&value);
            let why = malformed.reason;
            assert!(depth >= DEPTH_MAX || why.contains("twice"), "ours refuses JSON of depth {depth}: {why}");
        }
        (Err(_), Err(_)) => {}
    }
}

fn compare(shape: &Shape<'_>, text: &str, value: &Value) {
    match (shape, value) {
        (Shape::Object(members), Value::Object(theirs)) => {
            assert_eq!(members.len(), theirs.len());
            for (member, (name, value)) in members.iter().zip(theirs) {
                assert_eq!(member.name, name.as_str());
                nested(member.value, value);
            }
        }
        (Shape::List(elements), Value::Array(theirs)) => {
            assert_eq!(elements.len(), theirs.len());
            elements.iter().zip(theirs).for_each(|(element, value)| nested(element, value));
        }
        (Shape::Scalar, Value::String(theirs)) => {
            assert_eq!(json::decode_string(text.trim_matches([' ', '\n', '\r', '\t'])), theirs.as_str());
        }
        (Shape::Scalar, Value::Null | Value::Bool(_) | Value::Number(_)) => {}
        _ => panic!("{shape:?} is not {value}"),
    }
}

/// A part of a text that was read is a text that can be read.
fn nested(text: &str, value: &Value) {
    match json::read(text) {
        Ok(shape) => compare(&shape, text, value),
        Err(malformed) => panic!("a part of JSON is no JSON: {}", malformed.reason),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
