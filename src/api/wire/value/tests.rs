//! Tests of the reading of one value.

use super::*;
use proptest::prelude::*;
use std::str::FromStr;

fn json(text: &str) -> Value<'_> {
    Value { text, notation: Notation::Json }
}

fn said<T>(read: Result<T, Bad>) -> String {
    match read {
        Err(Bad::Said(message)) => message.into_owned(),
        Err(Bad::Inside(fields)) => panic!("{fields:?}"),
        Ok(_) => panic!("it was accepted"),
    }
}

#[test]
fn types_are_strict() {
    for text in ["\"10\"", "true", "null", "[]", "{}"] {
        assert!(json(text).number().is_err(), "{text}");
        assert!(json(text).integer(0..=100).is_err(), "{text}");
    }
    for text in ["12345678", "true", "[]", "{}"] {
        assert!(json(text).string().is_err(), "{text}");
        assert!(json(text).digits(1..=9).is_err(), "{text}");
        assert!(json(text).amount().is_err(), "{text}");
    }
    for text in ["\"true\"", "1", "\"\""] {
        assert!(json(text).boolean().is_err(), "{text}");
    }
    assert_eq!(json("false").boolean(), Ok(false));
}

#[test]
fn integers_count_by_value_and_have_a_range() {
    assert_eq!(json("10").integer(1..=10), Ok(10));
    assert_eq!(json("1e1").integer(1..=10), Ok(10));
    assert_eq!(json("10.0").integer(1..=10), Ok(10));
    for text in ["0", "11", "1.5", "-1", "1e30", "99999999999999999999"] {
        assert_eq!(said(json(text).integer(1..=10)), "must be a whole number from 1 to 10", "{text}");
    }
}

#[test]
fn amounts_have_two_decimals() {
    for (text, minor) in [("\"0.00\"", 0), ("\"10.05\"", 1005), ("\"999999999999.99\"", AMOUNT_MINOR_MAX)] {
        assert_eq!(json(text).amount(), Ok(minor), "{text}");
    }
    for text in [
        "10.00",
        "\"10\"",
        "\"10.0\"",
        "\"10.000\"",
        "\"010.00\"",
        "\"00.00\"",
        "\".50\"",
        "\"-1.00\"",
        "\"+1.00\"",
        "\" 1.00\"",
        "\"1,00\"",
        "\"1.0a\"",
        "\"1e2.00\"",
        "\"1.00.00\"",
        "\"\"",
        "\"١.00\"",
    ] {
        assert!(
            said(json(text).amount()).starts_with("must be a string with exactly two decimals"),
            "{text}"
        );
    }
    for text in ["\"1000000000000.00\"", "\"99999999999999999999999999.00\""] {
        assert_eq!(said(json(text).amount()), "must be at most 999999999999.99", "{text}");
    }
    assert_eq!(said(json("\"0.00\"").positive_amount()), "must be more than 0.00");
}

#[test]
fn strings_are_trimmed_and_count_characters() {
    let name = format!("\"  {}\\t\"", "ñ".repeat(64));
    assert_eq!(json(&name).prose(1..=64, Lines::One), Ok(Cow::Owned("ñ".repeat(64))));
    assert!(matches!(json("\" a \"").prose(1..=64, Lines::One), Ok(Cow::Borrowed("a"))));
    assert_eq!(said(json("\"   \"").prose(1..=64, Lines::One)), "must have 1 to 64 characters");
    assert_eq!(
        said(json("\"\u{200b}\u{3164} \u{e0041}\"").prose(1..=64, Lines::One)),
        "must have 1 to 64 characters"
    );
    assert_eq!(json("\"\u{2060}\"").prose(0..=2, Lines::Any), Ok(Cow::Borrowed("")));
    assert_eq!(said(json("\"abc\"").prose(0..=2, Lines::One)), "must have at most 2 characters");
    assert_eq!(said(json("\"1234a\"").digits(4..=8)), "must be a string of 4 to 8 digits");
}

#[test]
fn closures_bring_the_rules_of_the_domain() {
    let rule = |text: &str| {
        if text == "V1" { Ok(7) } else { Err("must be an identity document".to_owned()) }
    };
    assert_eq!(json("\"V1\"").text_as(rule), Ok(7));
    assert_eq!(said(json("\"X1\"").text_as(rule)), "must be an identity document");
    assert_eq!(said(json("1").text_as(rule)), "must be a string");
    let choices = [("won", 1), ("lost", 2)];
    assert_eq!(json("\"lost\"").one_of(&choices), Ok(2));
    assert_eq!(said(json("\"WON\"").one_of(&choices)), "must be one of won, lost");
}

#[test]
fn ids_and_times() {
    assert!(json("\"01930000-0000-7000-8000-000000000000\"").id().is_ok());
    for text in
        ["\"01930000000070008000000000000000\"", "\"{01930000-0000-7000-8000-000000000000}\"", "\"x\"", "1"]
    {
        assert!(json(text).id().is_err(), "{text}");
    }
    let instant = json("\"2026-11-21T02:13:00.000Z\"").timestamp().expect("an instant");
    assert_eq!(json("\"2026-11-20T22:13:00-04:00\"").timestamp(), Ok(instant));
    for text in [
        "\"yesterday\"",
        "\"2026-11-21\"",
        "\"2026-13-01T00:00:00Z\"",
        "\"2026-11-21T02:13:00\"",
        "\"+12026-11-21T02:13:00Z\"",
    ] {
        assert!(json(text).timestamp().is_err(), "{text}");
    }
    assert!(json("\"2026-02-28\"").date().is_ok());
    for text in ["\"2026-02-30\"", "\"2026-2-3\"", "\"26-02-2003\"", "\"+026-02-03\""] {
        assert!(json(text).date().is_err(), "{text}");
    }
}

#[test]
fn a_parameter_has_no_quotes_and_is_no_json() {
    let plain = |text| Value { text, notation: Notation::Plain };
    assert_eq!(plain("\"a\"").string(), Ok(Cow::Borrowed("\"a\"")));
    assert!(plain("null").members().is_err());
    assert!(plain("[1]").list(1..=2, |v| v.integer(0..=9)).is_err());
    assert_eq!((plain("05").integer(0..=9), plain("true").boolean()), (Ok(5), Ok(true)));
    for text in ["", "-", "+5", "1e1", "5.0", " 5", "99999999999999999999"] {
        assert_eq!(said(plain(text).integer(0..=9)), "must be a whole number from 0 to 9", "{text}");
    }
    assert_eq!(plain("10.50 ").number(), Ok(Decimal::new(105, 1)));
    for text in ["", "05", "+5", "\"5\"", "five"] {
        assert_eq!(said(plain(text).number()), "must be a number", "{text}");
    }
    let instant = json("\"2026-11-21T01:13:00Z\"").timestamp();
    assert_eq!(plain("2026-11-21T02:13:00 01:00").timestamp(), instant);
    assert_eq!(plain("2026-11-21T02:13:00+01:00").timestamp(), instant);
}

#[test]
fn raw_is_what_was_sent() {
    assert_eq!(json("{\"a\" : [1.10]}").raw().expect("raw").get(), "{\"a\" : [1.10]}");
}

#[test]
fn lists_are_counted() {
    assert_eq!(json("[1, 2]").list(1..=2, |v| v.integer(0..=9)), Ok(vec![1, 2]));
    assert_eq!(said(json("[]").list(1..=2, |v| v.integer(0..=9))), "must have 1 to 2 elements");
    assert_eq!(said(json("{}").list(1..=2, |v| v.integer(0..=9))), "must be a list");
}

#[test]
fn numbers_are_exact() {
    for (text, value) in [
        ("10", "10"),
        ("10.000", "10"),
        ("1e1", "10"),
        ("1E+1", "10"),
        ("100e-1", "10"),
        ("4.35", "4.35"),
        ("-0.5", "-0.5"),
        ("0", "0"),
        ("-0", "0"),
        ("0.0e5", "0"),
        ("0e999999999999999999999", "0"),
        ("0.010", "0.01"),
        ("1000.50", "1000.5"),
        ("79228162514264337593543950335", "79228162514264337593543950335"),
        ("1e28", "10000000000000000000000000000"),
        ("0.0000000000000000000000000001", "0.0000000000000000000000000001"),
        ("100000000000000000000000000000000e-30", "100"),
        ("1.000000000000000000000000000000000000000000", "1"),
    ] {
        assert_eq!(decimal(text), Ok(Decimal::from_str(value).expect("a decimal")), "{text}");
    }
    for text in [
        "1e29",
        "79228162514264337593543950336",
        "1e999999999999999999",
        "123456789012345678901234567890123456789012",
    ] {
        assert_eq!(decimal(text), Err(Bad::from("must be a smaller number")), "{text}");
    }
    for text in [
        "1e-29",
        "1e-99999999999999999999",
        "0.00000000000000000000000000001",
        "1.00000000000000000000000000000000000000001",
    ] {
        assert_eq!(decimal(text), Err(Bad::from("must be a number with fewer decimals")), "{text}");
    }
    let long = format!("0.{}1", "0".repeat(1_000_000));
    assert!(decimal(&long).is_err());
}

proptest! {
    #[test]
    fn every_decimal_reads_back(mantissa in -(1_i128 << 95)..(1_i128 << 95), scale in 0_u32..=28) {
        let value = Decimal::from_i128_with_scale(mantissa, scale);
        prop_assert_eq!(decimal(&value.to_string()), Ok(value));
        let scientific = format!("{mantissa}e-{scale}");
        prop_assert_eq!(decimal(&scientific), Ok(value));
    }
}
