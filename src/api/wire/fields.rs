//! Reads the members of a JSON body and names every bad one at once.
//!
//! ```
//! use api::fields::Fields;
//! use api::openapi::kinds;
//!
//! let mut f = Fields::parse(br#"{"externalRef": " r-1 ", "quantity": 10}"#)?;
//! let external_ref = f.required("externalRef", kinds::external_ref());
//! let quantity = f.required("quantity", kinds::integer(1..=999));
//! let note = f.optional("note", kinds::text());
//! let ok = f.finish()?;
//! assert_eq!(&*external_ref.get(&ok), "r-1");
//! assert_eq!(quantity.get(&ok), 10);
//! assert_eq!(note.get(&ok), None);
//! # Ok::<(), api::problem::Problem>(())
//! ```
//!
//! The function that asks for the members of a body is also what describes it ([`body`]): then nothing is
//! read, and `finish` fails. A [`Kind`] says how a value is read, and the schema of what can be read; schemas are
//! functions, and reading calls none of them. The kinds that many readers share are in `../openapi/kinds.rs`.
//!
//! A reading gives a [`Got`]; what it holds can be taken out only with the [`Sound`] that
//! [`Fields::finish`] returns when nothing was bad, so no handler can act on half a body or forget
//! to refuse unknown members. A message never quotes a value: it may be a card number. This file
//! must not know any particular field.

use super::json::{self, Malformed, Shape};
use super::problem::{BadField, Problem};
use super::value::{Bad, Notation, Value};
use crate::openapi::schema::{Schema, object};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

pub const LISTED_MAX: usize = 1_000;

/// Names of unknown members are cut to this many characters.
const NAME_CHARS_MAX: usize = 100;
const MISSING: &str = "is required";
const UNKNOWN: &str = "is unknown";
/// The shortest name that is sought within another.
const PART_MIN: usize = 4;
/// Of more members, or more findings, nobody looks for the one that was meant.
const LIKE_MAX: usize = 64;

impl From<Invalid> for Bad {
    fn from(invalid: Invalid) -> Self {
        Bad::Inside(invalid.0)
    }
}

/// The bad fields of one object or query: becomes a [`Problem`] at the top and a [`Bad`] inside
/// another object, so `?` fits both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(Vec<BadField>);

impl Invalid {
    pub fn fields(&self) -> &[BadField] {
        &self.0
    }
}

impl From<Invalid> for Problem {
    fn from(invalid: Invalid) -> Self {
        Problem::invalid_data(invalid.0)
    }
}

/// The proof that nothing was bad. Only `finish` makes one.
#[derive(Debug)]
pub struct Sound(());

/// A value that a reader found, sealed until all fields are known to be sound.
#[derive(Debug)]
#[must_use = "a value that is not taken out need not be read"]
pub struct Got<T>(pub(crate) Option<T>);

impl<T> Got<T> {
    pub fn of(value: T) -> Got<T> {
        Got(Some(value))
    }

    /// The value. `_proof` must come from the `finish` of the very reader that gave this.
    pub fn get(self, _proof: &Sound) -> T {
        self.0.expect("a bad field makes finish fail, so every reading is there")
    }

    /// The value before everything is known to be sound, to compare fields with each other; `None`
    /// if it was bad.
    pub fn peek(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T> Got<Option<T>> {
    /// The value of an optional field before everything is known to be sound; `None` if it was bad
    /// or missing.
    pub fn peek_some(&self) -> Option<&T> {
        self.0.as_ref().and_then(Option::as_ref)
    }
}

#[derive(Debug, Default)]
pub(super) struct Findings(Vec<BadField>);

impl Findings {
    pub(super) fn take<T>(&mut self, name: &str, read: Result<T, Bad>) -> Got<T> {
        match read {
            Ok(value) => Got(Some(value)),
            Err(bad) => {
                bad.report(name, &mut self.0);
                Got(None)
            }
        }
    }

    pub(super) fn add(&mut self, name: &str, message: impl Into<Cow<'static, str>>) {
        if self.0.len() < LISTED_MAX {
            self.0.push(BadField::new(name, message));
        }
    }

    pub(super) fn add_unknown(&mut self, name: &str, message: impl Into<Cow<'static, str>>) {
        let cut = name.char_indices().nth(NAME_CHARS_MAX).map_or(name, |(end, _)| &name[..end]);
        self.add(cut, message);
    }
}

/// What is said of an unknown member, with the missing one that was meant, if one is like it: it was misspelt, or is
/// a part of the name, as `phone` is of `debtorCellPhone`.
fn unknown(name: &str, sent: &[json::Member<'_>], findings: &[BadField]) -> Cow<'static, str> {
    if sent.len().max(findings.len()) > LIKE_MAX {
        return UNKNOWN.into();
    }
    let name = name.chars().take(NAME_CHARS_MAX).collect::<String>().to_lowercase();
    let unlike = |known: &str| {
        let known = known.to_lowercase();
        let is_part = name.len() >= PART_MIN && known.contains(&name);
        // A look at the lengths: a distance takes long.
        if !is_part && name.len().abs_diff(known.len()) > known.len() / 3 {
            return None;
        }
        let wrong = if is_part { 0 } else { strsim::osa_distance(&name, &known) };
        (wrong <= known.len() / 3).then_some(wrong)
    };
    // What is wrong inside of a member that was sent is not missing.
    let is_inside = |bad: &BadField| bad.field.contains(['.', '[']) && bad.message != MISSING;
    let is_missing = |bad: &&BadField| sent.iter().all(|member| member.name != bad.field) && !is_inside(bad);
    let missing = findings.iter().filter(is_missing);
    let meant = missing.filter_map(|bad| Some((unlike(&bad.field)?, &bad.field)));
    match meant.min_by_key(|(wrong, _)| *wrong) {
        Some((_, meant)) => format!("{UNKNOWN}; did you mean {meant}?").into(),
        None => UNKNOWN.into(),
    }
}

/// The members of one object, or the parameters of a query, while they are being read.
#[derive(Debug)]
#[must_use = "finish it, or unknown members pass unseen"]
pub struct Fields<'a> {
    pub(super) members: Vec<json::Member<'a>>,
    notation: Notation,
    /// A flag for each member, by position: whether it was asked for.
    pub(super) asked: Vec<bool>,
    /// The position where the next look-up starts: callers mostly send members in the order in
    /// which they are read.
    next: usize,
    is_change: bool,
    is_idle: bool,
    pub(super) findings: Findings,
    pub(super) described: Option<Description>,
}

impl<'a> Fields<'a> {
    pub fn parse(body: &'a [u8]) -> Result<Self, Problem> {
        if body.is_empty() {
            return Err(Problem::invalid_json("the body is empty; send a JSON object"));
        }
        let read = match std::str::from_utf8(body) {
            Ok(text) => json::read(text),
            Err(bad) => {
                let before = std::str::from_utf8(&body[..bad.valid_up_to()]).unwrap_or_default();
                Err(Malformed::after(before, "a byte that is not UTF-8"))
            }
        };
        match read {
            Ok(Shape::Object(members)) => Ok(Self::over(members, Notation::Json)),
            Ok(_) => Err(Problem::invalid_field("body", "must be an object")),
            Err(malformed) => Err(Problem::invalid_json(malformed.to_string())),
        }
    }

    /// A body that may be left out: nothing at all reads as `{}`.
    pub fn parse_optional(body: &'a [u8]) -> Result<Self, Problem> {
        if body.is_empty() {
            return Ok(Self::over(Vec::new(), Notation::Json));
        }
        Self::parse(body)
    }

    /// The members of an object in a body. Finish them where they are read: what is bad gets the outer name and a
    /// dot in front.
    pub fn of(value: Value<'a>) -> Result<Self, Bad> {
        Ok(Self::over(value.members()?, Notation::Json))
    }

    pub(super) fn over(members: Vec<json::Member<'a>>, notation: Notation) -> Self {
        Fields {
            asked: vec![false; members.len()],
            members,
            notation,
            next: 0,
            is_change: false,
            is_idle: true,
            findings: Findings::default(),
            described: None,
        }
    }

    /// The fields of nothing: they are described as they are asked for, none is found, and `finish`
    /// fails, so that a reader acts on nothing.
    pub(super) fn describing() -> (Self, Description) {
        let description = Description::default();
        let described = Some(Description::clone(&description));
        (Fields { described, ..Self::over(Vec::new(), Notation::Json) }, description)
    }

    #[cold]
    pub(super) fn describe<T>(
        description: &Description,
        name: &'static str,
        schema: Schema,
        need: Need,
    ) -> Got<T> {
        description.borrow_mut().asked.push(Expected { name, schema, need });
        Got(None)
    }

    /// A member that must be there and not null.
    pub fn required<T>(&mut self, name: &'static str, mut kind: impl Kind<'a, T>) -> Got<T> {
        if let Some(description) = &self.described {
            return Self::describe(description, name, kind.schema(), Need::Required);
        }
        let found = match self.look(name) {
            Ok(Some(value)) => {
                self.is_idle = false;
                kind.read(value)
            }
            Ok(None) => Err(Bad::from(MISSING)),
            Err(bad) => Err(bad),
        };
        self.findings.take(name, found)
    }

    /// A member that may be missing; null reads as missing.
    pub fn optional<T>(&mut self, name: &'static str, kind: impl Kind<'a, T>) -> Got<Option<T>> {
        self.maybe(name, kind, Need::Optional)
    }

    /// A member that must be there, whose absence the caller of the reader refuses in words of its own.
    pub fn wanted<T>(&mut self, name: &'static str, kind: impl Kind<'a, T>) -> Got<Option<T>> {
        self.maybe(name, kind, Need::Required)
    }

    fn maybe<T>(&mut self, name: &'static str, mut kind: impl Kind<'a, T>, need: Need) -> Got<Option<T>> {
        if let Some(description) = &self.described {
            return Self::describe(description, name, kind.schema(), need);
        }
        let found = match self.look(name) {
            Ok(Some(value)) => {
                self.is_idle = false;
                kind.read(value).map(Some)
            }
            Ok(None) => Ok(None),
            Err(bad) => Err(bad),
        };
        self.findings.take(name, found)
    }

    /// A member for which null means something of its own: `None` if missing, `Some(None)` if null.
    pub fn nullable<T>(&mut self, name: &'static str, mut kind: impl Kind<'a, T>) -> Got<Option<Option<T>>> {
        if let Some(description) = &self.described {
            return Self::describe(description, name, kind.schema(), Need::Optional);
        }
        let is_sent = self.is_sent(name);
        self.is_idle &= !is_sent;
        let found = match self.look(name) {
            Ok(Some(value)) => kind.read(value).map(|value| Some(Some(value))),
            Ok(None) => Ok(is_sent.then_some(None)),
            Err(bad) => Err(bad),
        };
        self.findings.take(name, found)
    }

    /// True if the member is there and not null. Asking does not count as reading it.
    pub fn has(&self, name: &str) -> bool {
        let is_null = |value: &str| self.notation == Notation::Json && value == "null";
        self.members.iter().any(|member| member.name == name && !is_null(member.value))
    }

    /// Whether a member was sent, be it as null.
    pub fn is_sent(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.name == name)
    }

    /// The text of a member in its quotes, if it is a string. Asking does not count as reading it.
    pub fn string_as_sent(&self, name: &str) -> Option<&'a str> {
        let member = self.members.iter().find(|member| member.name == name)?;
        member.value.starts_with('"').then_some(member.value)
    }

    /// Adds a finding about several fields together, or about the header or body as a whole.
    pub fn bad(&mut self, name: &str, message: impl Into<Cow<'static, str>>) {
        self.findings.add(name, message);
    }

    /// Reads the body of a PATCH: something must be in it beside nulls, which read as missing but
    /// where they clear something ([`Fields::nullable`]). An unknown member was meant to change
    /// something, so it is named without what is missing.
    pub fn changes(&mut self) {
        match &self.described {
            Some(description) => description.borrow_mut().is_change = true,
            None => self.is_change = true,
        }
    }

    /// Ends the reading: names what was not asked for as unknown and fails if anything was bad.
    pub fn finish(mut self) -> Result<Sound, Invalid> {
        if let Some(description) = self.described {
            description.borrow_mut().is_finished = true;
            return Err(Invalid(Vec::new()));
        }
        // Without those that are found here.
        let known = self.findings.0.len();
        for (member, asked) in self.members.iter().zip(&self.asked) {
            if !asked {
                let message = unknown(&member.name, &self.members, &self.findings.0[..known]);
                self.findings.add_unknown(&member.name, message);
            }
        }
        let mut bad = self.findings.0;
        if self.is_change {
            let has_unknown = bad.iter().any(|bad| bad.message.starts_with(UNKNOWN));
            if has_unknown || self.is_idle {
                bad.retain(|bad| bad.message != MISSING);
            }
            if self.is_idle && !has_unknown {
                let message = if self.members.is_empty() {
                    "must have at least one member"
                } else {
                    "must change something: null reads as missing"
                };
                bad.push(BadField::new("body", message));
            }
        }
        bad.truncate(LISTED_MAX);
        if bad.is_empty() { Ok(Sound(())) } else { Err(Invalid(bad)) }
    }

    /// The value with this name, if one is there and not null. A parameter may be there once; a member is.
    pub(super) fn look(&mut self, name: &str) -> Result<Option<Value<'a>>, Bad> {
        let (mut found, count) = (None, self.members.len());
        for step in 0..count {
            let mut at = self.next + step;
            if at >= count {
                at -= count;
            }
            let member = &self.members[at];
            if member.name != name {
                continue;
            }
            self.asked[at] = true;
            let value = Value { text: member.value, notation: self.notation };
            if self.notation == Notation::Json {
                self.next = if at + 1 == count { 0 } else { at + 1 };
                return Ok(if value.text == "null" { None } else { Some(value) });
            }
            if found.replace(value).is_some() {
                return Err(Bad::from("must be given once"));
            }
        }
        Ok(found)
    }
}

/// A kind of value: how a `T` is read, and the schema of what can be read.
pub trait Kind<'a, T>: Sized {
    fn read(&mut self, value: Value<'a>) -> Result<T, Bad>;

    fn schema(&self) -> Schema;

    fn described(self, change: impl Fn(Schema) -> Schema) -> impl Kind<'a, T>;

    /// The kind, described in other words.
    fn about(self, words: &'static str) -> impl Kind<'a, T> {
        self.described(move |schema| schema.about(words))
    }

    /// The kind with the value, as JSON, that counts when the member is missing.
    fn default(self, json: &'static str) -> impl Kind<'a, T> {
        self.described(move |schema| schema.default(json))
    }
}

pub fn kind<'a, T>(
    read: impl FnMut(Value<'a>) -> Result<T, Bad>,
    schema: impl Fn() -> Schema,
) -> impl Kind<'a, T> {
    Plain { read, schema }
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

    fn described(self, change: impl Fn(Schema) -> Schema) -> impl Kind<'a, T> {
        let Plain { read, schema } = self;
        Plain { read, schema: move || change(schema()) }
    }
}

/// Reads a body of one member.
pub fn only<'a, T>(mut fields: Fields<'a>, name: &'static str, kind: impl Kind<'a, T>) -> Result<T, Invalid> {
    let member = fields.required(name, kind);
    let sound = fields.finish()?;
    Ok(member.get(&sound))
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    Optional,
    Repeatable,
}

#[derive(Debug)]
pub struct Expected {
    pub name: &'static str,
    pub schema: Schema,
    pub need: Need,
}

/// Everything that a reader has asked for so far.
#[derive(Debug, Default)]
pub(super) struct Described {
    pub(super) asked: Vec<Expected>,
    is_change: bool,
    pub(super) has_pages: bool,
    is_finished: bool,
}

/// The notes of a reader that reads nothing.
pub(super) type Description = Rc<RefCell<Described>>;

/// Reads members, all of them though some be bad: a row is how, the name that it gets, its own name, its kind, and
/// what is made of what was read; `got` takes what another reader got. From them all the value is made, or none.
///
/// ```text
/// gather!(fields {
///     required name = "name", kinds::trimmed(1..=9) => name.into_owned();
///     got price = price(&mut fields);
/// } check { … } => Item { name, price })
/// ```
macro_rules! gather {
    ($fields:ident { $($how:ident $name:ident = $first:expr $(, $kind:expr)? $(=> $as:expr)?;)* } $(check $check:block)? => $value:expr) => {{
        $(let $name = $crate::member!($fields, $how $first $(, $kind)?);)*
        $($check)?
        crate::fields::Got('got: {
            $(
                let Some($name) = $name.0 else { break 'got None };
                $(let $name = $as;)?
            )*
            Some($value)
        })
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! member {
    ($fields:ident, got $got:expr) => {
        $got
    };
    ($fields:ident, $how:ident $name:expr, $kind:expr) => {
        $fields.$how($name, $kind)
    };
}

/// The value that is made of all members like in [`gather`], once nothing is bad.
#[macro_export]
macro_rules! read {
    ($fields:ident { $($how:ident $name:ident = $first:expr $(, $kind:expr)? $(=> $as:expr)?;)* } $(check $check:block)? => $value:expr) => {{
        $(let $name = $crate::member!($fields, $how $first $(, $kind)?);)*
        $($check)?
        let sound = $fields.finish()?;
        $(let $name = $name.get(&sound); $(let $name = $as;)?)*
        $value
    }};
}

pub(crate) use gather;
pub use {member, read};

#[cfg(test)]
mod tests;
