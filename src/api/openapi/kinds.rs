//! Kinds of single values in bodies and queries, which occur in many resources: how each is read, and
//! its schema. One that a single resource has is made where it is read, of [`kind`].

use super::{schema, values};
use crate::fields::{Fields, Invalid, Kind, body, kind};
use crate::value::{BREAKS, Bad, Lines, Value};
use domain::values::ids::{Id, Mode};
use domain::values::money::Currency;
use domain::values::text::{ExternalRef, REFERENCE_CHARACTERS_MAX, has_line_break};
use domain::values::time::{Date, Timestamp};
use domain::values::venezuela::{IdentityDocument, MobilePhone};
use schema::Schema;
use std::borrow::Cow;
use std::ops::RangeInclusive;

pub fn integer<'a>(range: RangeInclusive<i64>) -> impl Kind<'a, i64> {
    let (least, most) = (*range.start(), *range.end());
    kind(
        move |value: Value<'a>| value.integer(least..=most),
        move || schema::integer().range(&least.to_string(), &most.to_string()),
    )
}

/// `NAME: TYPE = HOW IT IS READ, ITS SCHEMA;`
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $read:expr, $schema:expr;)*) => {
        $($(#[$doc])* pub fn $name<'a>() -> impl Kind<'a, $type> { kind($read, $schema) })*
    };
}

kinds! {
    boolean: bool = Value::boolean, schema::boolean;
    id: Id = Value::id, values::uuid;
    instant: Timestamp = |value: Value<'_>| Ok(Timestamp::from_unix_ms(value.timestamp()?.timestamp_millis())),
        values::instant;
    day: Date = |value: Value<'_>| value.text_as(Date::parse), values::day;
    /// An amount with two decimals, in minor units.
    amount: i64 = Value::amount, values::amount;
    /// An amount with two decimals or fewer, in minor units.
    cents: i64 = Value::cents, values::cents;
    /// An amount of more than nothing with two decimals, in minor units.
    positive_amount: i64 = Value::positive_amount, values::positive_amount;
    external_ref: ExternalRef = new_ref, values::external_ref;
    mode: Mode = |value: Value<'_>| value.text_known("live or test", Mode::from_name),
        || schema::one_of(Mode::ALL.map(Mode::name));
    currency: Currency = |value: Value<'_>| value.text_known("VES, COP or USDT", Currency::from_code), values::currency;
    identity: IdentityDocument = |value: Value<'_>| value.text_as(IdentityDocument::parse), values::identity;
    phone: MobilePhone = |value: Value<'_>| value.text_as(MobilePhone::parse), values::phone;
    email: String = read_email, || schema::text().chars(3..=EMAIL_MAX).format("email");
}

pub fn text<'a>() -> impl Kind<'a, Cow<'a, str>> {
    kind(Value::string, schema::text)
}

/// A text of one line without the white space around it, of so many characters; one that may be empty
/// has no pattern.
pub fn trimmed<'a>(chars: RangeInclusive<usize>) -> impl Kind<'a, Cow<'a, str>> {
    let (least, most) = (*chars.start(), *chars.end());
    kind(move |value: Value<'a>| value.prose(least..=most, Lines::One), move || free_text(least..=most))
}

/// A text like [`trimmed`], which may have several lines: what people explain to each other.
pub fn prose<'a>(chars: RangeInclusive<usize>) -> impl Kind<'a, Cow<'a, str>> {
    let (least, most) = (*chars.start(), *chars.end());
    kind(move |value: Value<'a>| value.prose(least..=most, Lines::Any), move || free_text(least..=most))
}

fn free_text(chars: RangeInclusive<usize>) -> Schema {
    let may_be_empty = *chars.start() == 0;
    let text = schema::text().chars(chars);
    if may_be_empty { text } else { text.pattern(r"\S") }
}

/// A text that something is looked up by, without the white space around it, of so many characters:
/// nobody sees it, so it may have any.
pub fn sought<'a>(chars: RangeInclusive<usize>) -> impl Kind<'a, String> {
    let (least, most) = (*chars.start(), *chars.end());
    kind(
        move |value: Value<'a>| {
            let text = value.string()?;
            let text = text.trim();
            if (least..=most).contains(&text.chars().count()) {
                Ok(text.to_owned())
            } else {
                Err(format!("must have {least} to {most} characters").into())
            }
        },
        move || schema::text().chars(least..=most),
    )
}

pub fn one_of<'a, T: Clone>(choices: impl AsRef<[(&'static str, T)]> + Clone) -> impl Kind<'a, T> {
    let named = choices.clone();
    let names = move || schema::one_of(named.as_ref().iter().map(|(name, _)| *name));
    kind(move |value: Value<'a>| value.one_of(choices.as_ref()), names)
}

pub fn named_one<'a, T: Copy, const N: usize>(
    all: [T; N],
    name: impl Fn(T) -> &'static str,
) -> impl Kind<'a, T> {
    one_of(all.map(|each| (name(each), each)))
}

pub fn list<'a, T, K: Kind<'a, T>>(
    count: RangeInclusive<usize>,
    element: impl Fn() -> K + Copy,
) -> impl Kind<'a, Vec<T>> {
    let (least, most) = (*count.start(), *count.end());
    let read = move |value: Value<'a>| {
        let mut element = element();
        value.list(least..=most, |value| element.read(value))
    };
    kind(read, move || schema::list(element().schema()).count(least..=most))
}

/// An object in the body, by the function that reads its members.
pub fn object<'a, T>(read: impl Fn(Fields<'a>) -> Result<T, Invalid> + Copy) -> impl Kind<'a, T> {
    kind(move |value: Value<'a>| Ok(read(Fields::of(value)?)?), move || body(read))
}

/// An object whose schema has this name in the document, by the function that reads its members.
pub fn named<'a, T>(name: &'static str, read: impl Fn(Fields<'a>) -> Result<T, Invalid>) -> impl Kind<'a, T> {
    kind(move |value: Value<'a>| Ok(read(Fields::of(value)?)?), move || schema::named(name))
}

/// An object of the caller's own, of so many bytes; it comes back as it was written.
pub fn metadata<'a>(bytes_max: usize) -> impl Kind<'a, String> {
    kind(move |value: Value<'a>| value.metadata(bytes_max), schema::object)
}

/// Reads a reference that a caller gives: one line (1.6). What was stored before that was so is read by
/// [`ExternalRef::parse`].
fn new_ref(value: Value<'_>) -> Result<ExternalRef, Bad> {
    let reference = value.text_as(ExternalRef::parse)?;
    if has_line_break(&reference) { Err(Bad::from(BREAKS)) } else { Ok(reference) }
}

/// A name like [`external_ref`], described without its words.
pub fn plain_ref<'a>() -> impl Kind<'a, ExternalRef> {
    external_ref().described(|_| schema::text().chars(1..=REFERENCE_CHARACTERS_MAX).pattern(r"\S"))
}

const EMAIL_MAX: usize = 254;

fn read_email(value: Value<'_>) -> Result<String, Bad> {
    let text = value.prose(3..=EMAIL_MAX, Lines::One)?;
    if is_email(&text) { Ok(text.into_owned()) } else { Err(Bad::from("must be an e-mail address")) }
}

/// Whether a text without white space around it can be an e-mail address.
pub fn is_email(text: &str) -> bool {
    let well_formed = text.split_once('@').is_some_and(|(user, host)| {
        !user.is_empty() && host.len() >= 3 && !host.contains('@') && host.contains('.')
    });
    well_formed && text.chars().count() <= EMAIL_MAX && !text.chars().any(char::is_whitespace)
}
