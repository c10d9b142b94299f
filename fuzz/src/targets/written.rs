//! The texts that are written into answers: a name and a text of somebody's become a member of an
//! object.
//!
//! Any JSON reader finds the same text there, and the answer stays one line without controls.

use crate::bytes::Bytes;
use api::json::{self, Shape};
use api::writer::{self, Object};

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let first = bytes.text().to_owned();
    let second = String::from_utf8_lossy(bytes.rest()).into_owned();
    let written = Object::new()
        .text("first", &first)
        .maybe_text("second", Some(&second))
        .list("list", [writer::text(&second), writer::text(&first)])
        .end();
    let value: serde_json::Value = serde_json::from_slice(&written).expect("an answer is JSON");
    assert_eq!((value["first"].as_str(), value["second"].as_str()), (Some(&*first), Some(&*second)));
    assert_eq!((value["list"][0].as_str(), value["list"][1].as_str()), (Some(&*second), Some(&*first)));
    assert!(written.iter().all(|byte| *byte >= b' '), "a control character stands in an answer");
    let text = std::str::from_utf8(&written).expect("an answer is UTF-8");
    assert!(matches!(json::read(text), Ok(Shape::Object(members)) if members.len() == 3));
}
