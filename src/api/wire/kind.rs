//! A kind of value in a body or a query: how it is read, and the schema that describes it. A reader says
//! it once ([`Fields::required`], [`Query::optional`]), and both what is accepted and what is described
//! come from there.
//!
//! ```
//! use api::fields::{Fields, Invalid};
//! use api::kind::{Kind, body, kind};
//! use api::openapi::schema::integer;
//!
//! fn read(mut fields: Fields<'_>) -> Result<i64, Invalid> {
//!     let month = || kind(|value| value.integer(1..=12), || integer().range("1", "12"));
//!     let month = fields.required("month", month().about("From January."));
//!     let sound = fields.finish()?;
//!     Ok(month.get(&sound))
//! }
//! assert_eq!(read(Fields::parse(br#"{"month":7}"#)?)?, 7);
//! assert_eq!(
//!     String::from_utf8(body(read).to_json()).expect("text"),
//!     concat!(
//!         r#"{"type":"object","properties":{"month":{"type":"integer","minimum":1,"maximum":12,"#,
//!         r#""description":"From January."}},"required":["month"],"additionalProperties":false}"#,
//!     )
//! );
//! # Ok::<(), api::problem::Problem>(())
//! ```
//!
//! Schemas are functions, and reading calls none of them: a kind costs what its reading costs. The
//! kinds that many readers share are in `../openapi/kinds.rs`.

use super::fields::{Bad, Fields, Got};
use super::query::Query;
use super::value::Value;
use crate::openapi::schema::{Schema, object};
use std::cell::RefCell;
use std::rc::Rc;

/// A kind of value: how a `T` is read, and the schema of what can be read.
pub trait Kind<'a, T>: Sized {
    /// Reads a value of this kind.
    fn read(&mut self, value: Value<'a>) -> Result<T, Bad>;

    /// The schema of the values that can be read.
    fn schema(&self) -> Schema;

    /// The kind, described in other words.
    fn about(self, words: &'static str) -> impl Kind<'a, T> {
        self.described(move |schema| schema.about(words))
    }

    /// The kind with the value, as JSON, that counts when the member is missing.
    fn default(self, json: &'static str) -> impl Kind<'a, T> {
        self.described(move |schema| schema.default(json))
    }

    /// The kind with another schema, made of its own.
    fn described(self, change: impl Fn(Schema) -> Schema) -> impl Kind<'a, T> {
        Reworded { kind: self, change }
    }
}

/// The kind of what `read` reads, with this schema.
pub fn kind<'a, T>(
    read: impl FnMut(Value<'a>) -> Result<T, Bad>,
    schema: impl Fn() -> Schema,
) -> impl Kind<'a, T> {
    Plain { read, schema }
}

/// The schema of the bodies that `read` reads: it is made to describe them, and reads nothing.
pub fn body<'a, T, E>(read: impl FnOnce(Fields<'a>) -> Result<T, E>) -> Schema {
    let (fields, description) = Fields::describing();
    assert!(read(fields).is_err(), "a reader of a body ends with what finish says");
    let Described { asked, is_change, is_finished, .. } = description.take();
    let body = if is_change { object().members_min(1) } else { object() };
    let body = asked.into_iter().fold(body, |body, Expected { name, schema, need }| match need {
        Need::Required => body.member(name, schema),
        Need::Optional | Need::Repeatable => body.optional(name, schema.or_null()),
    });
    if is_finished { body.closed() } else { body }
}

/// The parameters that `read` reads, and whether it reads those of a list in pages: it is made to
/// describe them, and reads nothing.
pub fn query<T, E>(read: impl FnOnce(Query<'_>) -> Result<T, E>) -> (Vec<Expected>, bool) {
    let description = Description::default();
    assert!(read(Query::describing(&description)).is_err(), "a reader of a query ends with what finish says");
    let Described { asked, has_pages, .. } = description.take();
    (asked, has_pages)
}

/// The need of what a reader asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// One must be there.
    Required,
    /// One may be there.
    Optional,
    /// Any number may be there.
    Repeatable,
}

/// A member or a parameter that a reader asks for.
#[derive(Debug)]
pub struct Expected {
    /// The name, as callers send it.
    pub name: &'static str,
    /// The schema of its value.
    pub schema: Schema,
    /// The need of it.
    pub need: Need,
}

/// Everything that a reader has asked for so far.
#[derive(Debug, Default)]
struct Described {
    asked: Vec<Expected>,
    is_change: bool,
    has_pages: bool,
    is_finished: bool,
}

/// The notes of a reader that reads nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Description(Rc<RefCell<Described>>);

impl Description {
    /// Notes what is asked for; nothing is found.
    #[cold]
    pub(super) fn ask<T>(&self, name: &'static str, schema: Schema, need: Need) -> Got<T> {
        self.0.borrow_mut().asked.push(Expected { name, schema, need });
        Got::none()
    }

    /// Notes that something must be in a body, whatever it is.
    pub(super) fn changes_something(&self) {
        self.0.borrow_mut().is_change = true;
    }

    /// Notes that a list is read in pages; there is none.
    #[cold]
    pub(super) fn pages<T>(&self) -> Got<T> {
        self.0.borrow_mut().has_pages = true;
        Got::none()
    }

    /// Ends the members: others are refused.
    pub(super) fn close(&self) {
        self.0.borrow_mut().is_finished = true;
    }

    fn take(&self) -> Described {
        self.0.take()
    }
}

struct Plain<R, S> {
    read: R,
    schema: S,
}

impl<'a, T, R: FnMut(Value<'a>) -> Result<T, Bad>, S: Fn() -> Schema> Kind<'a, T> for Plain<R, S> {
    #[inline]
    fn read(&mut self, value: Value<'a>) -> Result<T, Bad> {
        (self.read)(value)
    }

    fn schema(&self) -> Schema {
        (self.schema)()
    }
}

struct Reworded<K, C> {
    kind: K,
    change: C,
}

impl<'a, T, K: Kind<'a, T>, C: Fn(Schema) -> Schema> Kind<'a, T> for Reworded<K, C> {
    #[inline]
    fn read(&mut self, value: Value<'a>) -> Result<T, Bad> {
        self.kind.read(value)
    }

    fn schema(&self) -> Schema {
        (self.change)(self.kind.schema())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Invalid;
    use crate::openapi::{kinds, schema};

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
}
