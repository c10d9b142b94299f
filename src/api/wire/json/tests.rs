//! Tests of what is JSON and what is not, and that serde_json agrees.

use super::*;
use proptest::prelude::*;

fn members(text: &str) -> Vec<(String, String)> {
    match read(text) {
        Ok(Shape::Object(members)) => {
            members.into_iter().map(|member| (member.name.into_owned(), member.value.to_owned())).collect()
        }
        other => panic!("{text}: {other:?}"),
    }
}

fn refused(text: &str) -> Result<Shape<'_>, &'static str> {
    read(text).map_err(|malformed| malformed.reason)
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (text, place) in [
        ("", (1, 1)),
        ("{\"a\":1,}", (1, 8)),
        ("{\n  \"a\": 1\n  \"b\": 2\n}", (3, 3)),
        ("{\"ñandú\": nope}", (1, 11)),
        ("{\n\"a\": 1,\n\"b\": {\"c\": 1,\n  \"c\": 2}}", (4, 3)),
        ("{\"a\": 1,\r\n \"a\": 2}", (2, 2)),
        ("{}\n\n\nx", (4, 1)),
    ] {
        let malformed = read(text).expect_err(text);
        assert_eq!((malformed.line, malformed.column), place, "{text:?}: {malformed}");
    }
}

#[test]
fn members_keep_their_exact_text() {
    assert_eq!(
        members(" {\"a\" : 1.10 , \"b\":[1, 2] ,\"\\u0063\":\"x\\n\"}\n"),
        [("a", "1.10"), ("b", "[1, 2]"), ("c", "\"x\\n\"")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    assert_eq!(members("{}"), []);
}

#[test]
fn malformed_texts_are_refused() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1 \"b\":2}",
        "{} {}",
        "{}x",
        "[1,]",
        "[1 2]",
        "[",
        "NaN",
        "{\"a\": NaN}",
        "Infinity",
        "-",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "1e+",
        "--1",
        "0x1",
        "tru",
        "nulll",
        "'a'",
        "{'a': 1}",
        "a=1",
        "\"\u{1}\"",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\u{feff}{}",
    ] {
        assert!(read(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_member_twice_is_refused_at_every_depth() {
    for text in [
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"x":{"a":1,"b":2,"a":3}}"#,
        r#"[{"x":[{"a":1,"a":1}]}]"#,
    ] {
        assert_eq!(refused(text), Err(TWICE), "{text}");
    }
    assert!(read(r#"{"a":{"a":1},"b":{"a":1},"c":[{"a":1},{"a":1}]}"#).is_ok());
    let many: Vec<String> = (0..1000).map(|n| format!("\"m{n}\":{n}")).collect();
    let many = many.join(",");
    assert!(read(&format!("{{{many}}}")).is_ok());
    assert_eq!(refused(&format!("{{{many},\"m500\":0}}")), Err(TWICE));
    assert_eq!(refused(&format!("{{\"x\":{{{many},\"m500\":0}}}}")), Err(TWICE));
}

#[test]
fn no_member_is_what_serde_json_would_parse_again() {
    for text in [
        r#"{"$serde_json::private::RawValue":"1"}"#,
        r#"{"\u0024serde_json::private::RawValue":"1"}"#,
        r#"{"a":[{"b":1,"$serde_json::private::Number":"1"}]}"#,
    ] {
        assert_eq!(refused(text), Err("a member has a name that nothing may have"), "{text}");
    }
    assert!(read(r#"{"serde_json::private::RawValue":"1","$":1}"#).is_ok());
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(DEPTH_MAX)).is_ok());
    assert_eq!(refused(&nested(DEPTH_MAX + 1)), Err(TOO_DEEP));
    assert_eq!(refused(&format!("{{\"a\":{}", "[".repeat(100_000))), Err(TOO_DEEP));
    let objects = "{\"a\":".repeat(DEPTH_MAX + 1);
    assert_eq!(refused(&objects), Err(TOO_DEEP));
}

#[test]
fn escapes_are_undone() {
    assert_eq!(decode_string(r#""a\"\\\/\b\f\n\r\t\u00f1ñ\ud83d\ude00z""#), "a\"\\/\u{8}\u{c}\n\r\tññ😀z");
    assert!(matches!(decode_string("\"plain\""), Cow::Borrowed("plain")));
}

fn json_like() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\\n\"",
        "\"\\ud83d\\ude00\"",
        "1",
        "-0.5",
        "1e5",
        "01",
        "true",
        "null",
        " ",
        "\"",
    ]);
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        "\\PC*".prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<serde_json::Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_what_is_json(text in json_like()) {
        let theirs = serde_json::from_str::<serde_json::Value>(&text).is_ok();
        let ours = read(&text);
        // A member that is there twice is the one thing that serde_json lets pass.
        let is_twin = ours.as_ref().is_err_and(|malformed| malformed.reason == TWICE);
        prop_assert!(ours.is_ok() == theirs || (theirs && is_twin), "{text:?}: {ours:?}");
    }

    #[test]
    fn reads_what_serde_json_writes(value in json()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).expect("text")] {
            match read(&text).expect("valid JSON") {
                Shape::Object(members) => {
                    for member in &members {
                        let part: serde_json::Value = serde_json::from_str(member.value).expect("a value");
                        prop_assert_eq!(&value[member.name.as_ref()], &part);
                    }
                    prop_assert_eq!(members.len(), value.as_object().map_or(0, serde_json::Map::len));
                }
                Shape::List(elements) => prop_assert_eq!(elements.len(), value.as_array().map_or(0, Vec::len)),
                Shape::Scalar => if let Some(said) = value.as_str() {
                    prop_assert_eq!(decode_string(text.trim()), said);
                },
            }
        }
    }
}
