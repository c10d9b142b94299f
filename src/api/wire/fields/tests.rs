//! Bodies that are read member by member: what is bad is named, all of it, once.

use super::*;
use crate::openapi::{kinds, schema};

fn names(problem: Problem) -> Vec<String> {
    assert_eq!(problem.code, "invalid_data");
    problem.fields.into_iter().map(|bad| bad.field).collect()
}

#[test]
fn every_bad_field_is_named_at_once() {
    let mut f = Fields::parse(br#"{"usdAmount":"1","externalRef":"   ","extra":1,"nmae":2,"note":null}"#)
        .expect("JSON");
    let usd = f.required("usdAmount", kinds::integer(0..=9));
    let external_ref = f.required("externalRef", kinds::trimmed(1..=64));
    let bank = f.required("bank", kinds::text());
    let note = f.optional("note", kinds::text());
    assert!(usd.peek().is_none() && external_ref.peek().is_none() && bank.peek().is_none());
    assert_eq!(note.peek(), Some(&None));
    let invalid = f.finish().expect_err("bad fields");
    assert_eq!(names(invalid.into()), ["usdAmount", "externalRef", "bank", "extra", "nmae"]);
}

#[test]
fn an_unknown_member_names_the_missing_one_that_was_meant() {
    let said = |sent: &str, wanted: &'static str| {
        let body = format!("{{\"{sent}\":1}}");
        let mut f = Fields::parse(body.as_bytes()).expect("JSON");
        let _ = f.required(wanted, kinds::text());
        f.finish().expect_err("unknown").fields()[1].message.to_string()
    };
    for (sent, wanted) in [("amount", "usdAmount"), ("externalref", "externalRef"), ("refernce", "reference")]
    {
        assert_eq!(said(sent, wanted), format!("is unknown; did you mean {wanted}?"));
    }
    for (sent, wanted) in [("x", "externalRef"), ("tel", "telefono"), ("concepto", "monto")] {
        assert_eq!(said(sent, wanted), "is unknown", "{sent} is not {wanted}");
    }
    // One that is there was not meant.
    let mut f = Fields::parse(br#"{"amount":1,"usdAmount":true}"#).expect("JSON");
    let _ = f.required("usdAmount", kinds::text());
    assert_eq!(f.finish().expect_err("unknown").fields()[1].message, "is unknown");
}

#[test]
fn neither_another_unknown_member_nor_what_is_inside_of_one_was_meant() {
    let [one, other] = ["a", "b"].map(|last| format!("{}{last}", "n".repeat(100)));
    let said = |invalid: Invalid| -> Vec<String> {
        invalid.fields().iter().map(|bad| format!("{} {}", bad.field, bad.message)).collect()
    };
    let body = format!("{{\"{one}\":1,\"{other}\":1}}");
    let unknown = Fields::parse(body.as_bytes()).expect("JSON").finish().expect_err("unknown");
    assert!(said(unknown).iter().all(|said| said.ends_with("n is unknown")));
    let mut f = Fields::parse(br#"{"card":{"number":true},"number":1}"#).expect("JSON");
    let card = kinds::object(|mut card: Fields<'_>| -> Result<String, Invalid> {
        let number = card.required("number", kinds::text());
        card.finish().map(|sound| number.get(&sound).into_owned())
    });
    let _ = f.required("card", card);
    assert_eq!(said(f.finish().expect_err("bad"))[1], "number is unknown");
}

#[test]
fn null_is_missing_unless_it_means_something() {
    let body = br#"{"a":null,"b":null,"c":null}"#;
    let mut f = Fields::parse(body).expect("JSON");
    let a = f.optional("a", kinds::text());
    let b = f.nullable("b", kinds::text());
    let d = f.nullable("d", kinds::text());
    assert!(!f.has("a") && !f.has("d"));
    let _ = f.required("c", kinds::text());
    assert_eq!(a.peek_some(), None);
    assert_eq!(b.peek(), Some(&Some(None)));
    assert_eq!(d.peek(), Some(&None));
    let invalid = f.finish().expect_err("c is required");
    assert_eq!(invalid.fields(), [BadField::new("c", "is required")]);
}

#[test]
fn a_body_is_json_and_an_object() {
    for body in [&b""[..], b" ", b"{", b"{} {}", b"{\"a\":\"\xff\xfe\"}", b"{\"a\":1,\"a\":2}"] {
        assert_eq!(Fields::parse(body).expect_err("no JSON").code, "invalid_json");
    }
    for body in [&b"[]"[..], b"1", b"\"x\"", b"null"] {
        assert_eq!(names(Fields::parse(body).expect_err("no object")), ["body"]);
    }
    assert!(Fields::parse_optional(b"").expect("left out").finish().is_ok());
    assert!(Fields::parse_optional(b"{").is_err());
}

#[test]
fn members_may_come_in_any_order() {
    for body in [r#"{"a":1,"b":2,"c":3}"#, r#"{"c":3,"a":1,"b":2}"#, r#"{"c":3,"b":2,"a":1}"#] {
        let mut f = Fields::parse(body.as_bytes()).expect("JSON");
        let read = ["a", "b", "c"].map(|name| f.required(name, kinds::integer(0..=9)));
        let ok = f.finish().expect("sound");
        assert_eq!(read.map(|got| got.get(&ok)), [1, 2, 3]);
    }
}

#[test]
fn nested_names_are_dotted_and_counted() {
    let body = br#"{"card":{"number":4111,"cvv":"123","x":1},"items":[{"monto":"1.00"},{"monto":1},7,{}],"list":[1,"a"]}"#;
    let mut f = Fields::parse(body).expect("JSON");
    let card = |mut card: Fields<'_>| {
        let number = card.required("number", kinds::text());
        let cvv = card.required("cvv", kinds::text());
        let holder = card.required("holder", kinds::object(|holder| holder.finish().map(drop)));
        let ok = card.finish()?;
        holder.get(&ok);
        Ok(number.get(&ok).len() + cvv.get(&ok).len())
    };
    let _: Got<usize> = f.required("card", kinds::object(card));
    let item = |mut item: Fields<'_>| {
        let monto = item.required("monto", kinds::amount());
        let ok = item.finish()?;
        Ok(monto.get(&ok))
    };
    let _: Got<Vec<i64>> = f.required("items", kinds::list(0..=10, || kinds::object(item)));
    let _ = f.required("list", kinds::list(0..=10, kinds::text));
    assert_eq!(
        names(f.finish().expect_err("bad").into()),
        ["card.number", "card.holder", "card.x", "items[1].monto", "items[2]", "items[3].monto", "list[0]"]
    );
}

#[test]
fn a_change_names_what_is_unknown_without_what_is_missing() {
    let read = |body: &str| {
        let mut f = Fields::parse(body.as_bytes()).expect("JSON");
        f.changes();
        let inner = |mut inner: Fields<'_>| {
            let b = inner.required("b", kinds::integer(0..=9));
            Ok(b.get(&inner.finish()?))
        };
        let _: Got<i64> = f.required("a", kinds::object(inner));
        let _ = f.nullable("c", kinds::integer(0..=9));
        names(f.finish().expect_err("bad").into())
    };
    for (body, named) in [
        (r"{}", vec!["body"]),
        (r#"{"a":null}"#, vec!["body"]),
        (r#"{"x":1}"#, vec!["x"]),
        (r#"{"x":null}"#, vec!["x"]),
        (r#"{"a":null,"x":1}"#, vec!["x"]),
        (r#"{"a":{"x":1}}"#, vec!["a.x"]),
        (r#"{"a":{},"x":1}"#, vec!["x"]),
        (r#"{"a":{"b":"1"},"c":10,"x":1}"#, vec!["a.b", "c", "x"]),
        (r#"{"a":{}}"#, vec!["a.b"]),
        (r#"{"c":1}"#, vec!["a"]),
        (r#"{"c":null}"#, vec!["a"]),
    ] {
        assert_eq!(read(body), named, "{body}");
    }
}

#[test]
fn findings_of_the_handler_join_the_others() {
    let mut f = Fields::parse(b"{}").expect("JSON");
    f.changes();
    f.bad("merchantId", "is required with applicationFeePercent");
    assert_eq!(names(f.finish().expect_err("bad").into()), ["merchantId", "body"]);
}

#[test]
fn a_hostile_body_gets_a_bounded_answer() {
    let members: Vec<String> = (0..5_000).map(|n| format!("\"{n}{}\":0", "ñ".repeat(200))).collect();
    let body = format!("{{{}}}", members.join(","));
    let invalid = Fields::parse(body.as_bytes()).expect("JSON").finish().expect_err("unknown");
    assert_eq!(invalid.fields().len(), LISTED_MAX);
    assert!(invalid.fields().iter().all(|bad| bad.field.chars().count() <= NAME_CHARS_MAX));
}

/// A reader with a member of every sort.
fn read(mut fields: Fields<'_>) -> Result<i64, Invalid> {
    let inner = |mut fields: Fields<'_>| {
        let month = fields.required("month", kinds::integer(1..=12));
        let sound = fields.finish()?;
        Ok(month.get(&sound))
    };
    let name = fields.required("name", kinds::trimmed(1..=9));
    let note = fields.optional("note", kinds::trimmed(0..=9).about("Yours."));
    let limit = fields.nullable("limit", kinds::amount().described(|_| schema::text()));
    let month: Got<i64> = fields.required("expiry", kinds::object(inner));
    if fields.has("note") {
        fields.bad("note", "is not taken");
    }
    let sound = fields.finish()?;
    drop((name.get(&sound), note.get(&sound), limit.get(&sound)));
    Ok(month.get(&sound))
}

fn described(schema: &Schema) -> serde_json::Value {
    serde_json::from_slice(&schema.to_json()).expect("JSON")
}

#[test]
fn a_described_body_requires_what_its_reader_refuses_to_miss() {
    let document = described(&body(read));
    let missed = |sent: &str| {
        let invalid = read(Fields::parse(sent.as_bytes()).expect("JSON")).expect_err("missing");
        assert!(invalid.fields().iter().all(|bad| bad.message == "is required"), "{invalid:?}");
        invalid.fields().iter().map(|bad| bad.field.clone()).collect::<Vec<_>>()
    };
    assert_eq!(document["required"], serde_json::json!(missed("{}")));
    assert_eq!(missed(r#"{"name":"a","expiry":{}}"#), ["expiry.month"]);
    assert_eq!(document["properties"]["expiry"]["required"], serde_json::json!(["month"]));
    let read = read(Fields::parse(br#"{"name":"a","expiry":{"month":7}}"#).expect("JSON"));
    assert_eq!(read.expect("sound"), 7);
}

#[test]
fn members_are_described_as_they_are_asked_for() {
    let properties = described(&body(read))["properties"].clone();
    let names: Vec<&String> = properties.as_object().expect("members").keys().collect();
    assert_eq!(names, ["name", "note", "limit", "expiry"]);
    let types = |name: &str| properties[name]["type"].clone();
    assert_eq!(types("name"), "string", "null is no name");
    assert_eq!(types("note"), serde_json::json!(["string", "null"]), "null reads as missing");
    assert_eq!(types("limit"), serde_json::json!(["string", "null"]), "null clears");
    assert_eq!(
        (&properties["note"]["maxLength"], &properties["note"]["description"]),
        (&9.into(), &"Yours.".into())
    );
    assert!(properties["limit"].get("pattern").is_none(), "it is described otherwise");
}

#[test]
fn a_change_has_a_member_and_every_body_refuses_unknown_ones() {
    let change = body(|mut fields| {
        fields.changes();
        let name = fields.optional("name", kinds::text());
        fields.finish().map(|sound| name.get(&sound).map(|name| name.len()))
    });
    let change = described(&change);
    assert_eq!((&change["minProperties"], &change["additionalProperties"]), (&1.into(), &false.into()));
    let document = described(&body(read));
    assert!(document.get("minProperties").is_none());
    assert_eq!(document["properties"]["expiry"]["additionalProperties"], false);
}

#[test]
#[should_panic(expected = "a reader of a body ends with what finish says")]
fn a_reader_that_does_not_finish_is_a_defect() {
    let _ = body(|mut fields| {
        let _ = fields.optional("name", kinds::text());
        Ok::<(), Invalid>(())
    });
}
