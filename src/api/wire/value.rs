//! A value of a body or a query, and the ways to read it; numbers and amounts are read exactly. In JSON types are
//! strict: a number in quotes is no number, a bare number is no text. A parameter of a query has no quotes: it is what
//! it is read as.
//!
//! Numbers are read as the exact decimal that was written; no float is involved. Messages never
//! quote the value. Rules of money and of particular fields are plugged in by the handler, as
//! functions that give `Result<T, String>` (see [`Value::text_as`]).

use super::canonical;
use super::json::{self, Member, Shape};
use super::problem::BadField;
use chrono::{DateTime, NaiveDate, Utc};
use domain::values::ids::Id;
use domain::values::money::{Currency, write_minor};
use domain::values::text::{has_line_break, is_blank, is_misleading};
use rust_decimal::Decimal;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::RangeInclusive;
use zeroize::Zeroize;

/// The reason why a value can't be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bad {
    /// The value itself, in words: lower case, no final stop, without the value.
    Said(Cow<'static, str>),
    Inside(Vec<BadField>),
}

impl From<&'static str> for Bad {
    fn from(message: &'static str) -> Self {
        Bad::Said(Cow::Borrowed(message))
    }
}

impl From<String> for Bad {
    fn from(message: String) -> Self {
        Bad::Said(Cow::Owned(message))
    }
}

impl Bad {
    /// Adds what is bad about `name` to `list`, by its full name.
    pub(super) fn report(self, name: &str, list: &mut Vec<BadField>) {
        match self {
            Bad::Said(message) => list.push(BadField::new(name, message)),
            Bad::Inside(inner) => list.extend(inner.into_iter().map(|bad| {
                let dot = if bad.field.starts_with('[') { "" } else { "." };
                BadField::new(format!("{name}{dot}{}", bad.field), bad.message)
            })),
        }
    }
}

/// The exact text of one value: of JSON, checked to be one, or of a parameter.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    pub(super) text: &'a str,
    pub(super) notation: Notation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    Json,
    /// A value of a parameter, decoded.
    Plain,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    One,
    Any,
}

/// Shows the kind alone: the value may be a secret.
impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Value")
    }
}

impl<'a> Value<'a> {
    pub fn raw(self) -> Result<&'a RawValue, Bad> {
        serde_json::from_str(self.text).map_err(|_| Bad::from("must be JSON"))
    }

    /// The text of the value as it was sent.
    pub fn exact(self) -> &'a str {
        self.text
    }

    /// Bytes that are the same for every text that means the same ([`canonical`]).
    pub fn canonical(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.text.len());
        canonical::write(self.text, &mut bytes);
        bytes
    }

    /// A string, borrowed unless it was written with escapes; any parameter is one.
    pub fn string(self) -> Result<Cow<'a, str>, Bad> {
        match self.notation {
            Notation::Plain => Ok(Cow::Borrowed(self.text)),
            Notation::Json if self.text.starts_with('"') => Ok(json::decode_string(self.text)),
            Notation::Json => Err(Bad::from("must be a string")),
        }
    }

    /// A free text: a string without the white space around it, of so many characters, none of which misleads, of
    /// one line or of several, which may have tabs. One of which nothing is visible is empty.
    pub fn prose(self, chars: RangeInclusive<usize>, lines: Lines) -> Result<Cow<'a, str>, Bad> {
        let text = match self.string()? {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
        if is_misleading(&text) {
            return Err(Bad::from(MISLEADS));
        }
        let text = if is_blank(&text) { Cow::Borrowed("") } else { text };
        if chars.contains(&text.chars().count()) {
            let is_broken = lines == Lines::One && has_line_break(&text);
            return if is_broken { Err(Bad::from(BREAKS)) } else { Ok(text) };
        }
        Err(match (*chars.start(), *chars.end()) {
            (least, most) if least == most => format!("must have {most} characters"),
            (0, most) => format!("must have at most {most} characters"),
            (least, most) => format!("must have {least} to {most} characters"),
        }
        .into())
    }

    /// A JSON object of the tenant's, kept as it was written, of so many bytes at most. It comes
    /// back to people's eyes, so no text in it misleads, member names included.
    pub fn metadata(self, bytes_max: usize) -> Result<String, Bad> {
        self.members()?;
        let text = self.raw()?.get();
        if text.len() > bytes_max {
            return Err(format!("must have at most {bytes_max} bytes").into());
        }
        let parsed = serde_json::from_str(text).map_err(|_| "must be an object")?;
        if has_misleading(&parsed) { Err(MISLEADS.into()) } else { Ok(text.to_owned()) }
    }

    pub fn digits(self, count: RangeInclusive<usize>) -> Result<Cow<'a, str>, Bad> {
        let wanted = || match (*count.start(), *count.end()) {
            (least, most) if least == most => format!("must be a string of {most} digits"),
            (least, most) => format!("must be a string of {least} to {most} digits"),
        };
        let text = self.string().map_err(|_| wanted())?;
        if count.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(text)
        } else {
            Err(wanted().into())
        }
    }

    /// A string that `parse` makes something of; its error becomes the message.
    pub fn text_as<T, E: Into<Bad>>(self, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, Bad> {
        let mut text = self.string()?;
        let read = parse(&text).map_err(Into::into);
        // A decoded text may be a card number or a code, so it is zeroed; a borrowed one belongs to
        // the body, which zeroes itself.
        if let Cow::Owned(text) = &mut text {
            text.zeroize();
        }
        read
    }

    /// A string that `parse` knows; `wanted` completes "must be …".
    pub fn text_known<T>(
        self,
        wanted: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Bad> {
        parse(&self.string()?).ok_or_else(|| format!("must be {wanted}").into())
    }

    /// Reads one of these strings as the value that stands beside it; the message lists them.
    pub fn one_of<T: Clone>(self, choices: &[(&str, T)]) -> Result<T, Bad> {
        let text = self.string()?;
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, value)) => Ok(value.clone()),
            None => {
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                Err(format!("must be one of {}", names.join(", ")).into())
            }
        }
    }

    pub fn boolean(self) -> Result<bool, Bad> {
        match self.text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Bad::from("must be true or false")),
        }
    }

    /// A number, exactly as written: `10.000` and `1e1` are 10.
    pub fn number(self) -> Result<Decimal, Bad> {
        if !self.is_number() {
            return Err(Bad::from("must be a number"));
        }
        decimal(self.text.trim_end())
    }

    /// A whole number in this range; `1e1` and `10.0` are 10, but a parameter has plain digits.
    pub fn integer(self, range: RangeInclusive<i64>) -> Result<i64, Bad> {
        let wanted = || format!("must be a whole number from {} to {}", range.start(), range.end());
        let value = match (self.notation, self.text.parse::<i64>()) {
            (Notation::Plain, read) => read.ok().filter(|_| !self.text.starts_with('+')),
            (Notation::Json, _) if !self.is_number() => None,
            (Notation::Json, Ok(value)) => Some(value),
            (Notation::Json, Err(_)) => {
                let value = decimal(self.text).ok().filter(Decimal::is_integer);
                value.and_then(|value| i64::try_from(value).ok())
            }
        };
        value.filter(|value| range.contains(value)).ok_or_else(|| wanted().into())
    }

    /// An amount as a string with exactly two decimals, in minor units.
    pub fn amount(self) -> Result<i64, Bad> {
        self.minor(amount, 0, TWO_DECIMALS)
    }

    /// An amount like [`Value::amount`] that is more than nothing.
    pub fn positive_amount(self) -> Result<i64, Bad> {
        match self.minor(amount, 0, TWO_DECIMALS)? {
            0 => Err(Bad::from("must be more than 0.00")),
            minor => Ok(minor),
        }
    }

    /// An amount as a string with at most two decimals, in minor units: where no form is fixed, `"5"` is as
    /// good as `"5.00"`.
    pub fn cents(self) -> Result<i64, Bad> {
        self.minor(cents, 0, "must be a string with at most two decimals, such as \"10.00\"")
    }

    /// An amount like [`Value::cents`] that is more than nothing.
    pub fn positive_cents(self) -> Result<i64, Bad> {
        const WANTED: &str =
            "must be a string of more than nothing with at most two decimals, such as \"10.00\"";
        self.minor(cents, 1, WANTED)
    }

    fn minor(self, read: fn(&str) -> Option<i64>, least: i64, wanted: &'static str) -> Result<i64, Bad> {
        match read(&self.string().map_err(|_| wanted)?) {
            Some(minor) if minor > AMOUNT_MINOR_MAX => Err(Bad::from("must be at most 999999999999.99")),
            Some(minor) if minor >= least => Ok(minor),
            _ => Err(Bad::from(wanted)),
        }
    }

    /// A UUID in its usual form of 36 characters.
    pub fn id(self) -> Result<Id, Bad> {
        Id::parse(&self.string()?).ok_or(Bad::from("must be a UUID"))
    }

    /// An instant in RFC 3339; in a parameter a plus sign that was not percent-encoded is understood.
    pub fn timestamp(self) -> Result<DateTime<Utc>, Bad> {
        match self.notation {
            Notation::Plain if self.text.contains(' ') => {
                Value { text: &self.text.replace(' ', "+"), ..self }.timestamp()
            }
            Notation::Plain | Notation::Json => self.text_known(TIMESTAMP, timestamp),
        }
    }

    pub fn date(self) -> Result<NaiveDate, Bad> {
        self.text_known("a date such as 2026-11-21", date)
    }

    pub(super) fn members(self) -> Result<Vec<Member<'a>>, Bad> {
        match self.shape() {
            Some(Shape::Object(members)) => Ok(members),
            _ => Err(Bad::from("must be an object")),
        }
    }

    /// A list of so many elements, each read by `read`; all bad ones are named, by index.
    pub fn list<T>(
        self,
        count: RangeInclusive<usize>,
        mut read: impl FnMut(Value<'a>) -> Result<T, Bad>,
    ) -> Result<Vec<T>, Bad> {
        let Some(Shape::List(elements)) = self.shape() else {
            return Err(Bad::from("must be a list"));
        };
        if !count.contains(&elements.len()) {
            return Err(format!("must have {} to {} elements", count.start(), count.end()).into());
        }
        let mut values = Vec::with_capacity(elements.len());
        let mut bad = Vec::new();
        for (index, element) in elements.into_iter().enumerate() {
            match read(Value { text: element, notation: Notation::Json }) {
                Ok(value) => values.push(value),
                Err(found) => found.report(&format!("[{index}]"), &mut bad),
            }
        }
        if bad.is_empty() { Ok(values) } else { Err(Bad::Inside(bad)) }
    }

    /// The members or elements in it; a parameter has none.
    fn shape(self) -> Option<Shape<'a>> {
        (self.notation == Notation::Json).then(|| json::read(self.text).ok()).flatten()
    }

    fn is_number(self) -> bool {
        let begins = matches!(self.text.as_bytes().first(), Some(b'-' | b'0'..=b'9'));
        begins && (self.notation == Notation::Json || json::read(self.text).is_ok())
    }
}

const TWO_DECIMALS: &str = "must be a string with exactly two decimals, such as \"10.00\"";

const TIMESTAMP: &str = "a timestamp such as 2026-11-21T02:13:00.000Z";

const MISLEADS: &str = "must not have control characters, nor marks of the direction of writing";

pub(crate) const BREAKS: &str = "must be one line, without tabs";

/// Whether any text in a value misleads, names of members included.
fn has_misleading(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::String(text) => is_misleading(text),
        serde_json::Value::Array(items) => items.iter().any(has_misleading),
        serde_json::Value::Object(members) => {
            members.iter().any(|(name, value)| is_misleading(name) || has_misleading(value))
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => false,
    }
}

/// An instant in RFC 3339 with a year of four digits.
pub fn timestamp(text: &str) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(text).ok().map(|instant| instant.with_timezone(&Utc))
}

pub fn date(text: &str) -> Option<NaiveDate> {
    let shaped = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    (text.len() == 10 && text.bytes().enumerate().all(shaped))
        .then(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok())
        .flatten()
}

/// Amounts have at most this many minor units: 999999999999.99.
pub const AMOUNT_MINOR_MAX: i64 = 99_999_999_999_999;

/// The minor units of `(0|[1-9]\d*)\.\d\d`.
pub fn amount(text: &str) -> Option<i64> {
    let (whole, cents) = text.split_once('.')?;
    let led_by_zero = whole.len() > 1 && whole.starts_with('0');
    let are_digits = whole.as_bytes().iter().chain(cents.as_bytes()).all(u8::is_ascii_digit);
    if whole.is_empty() || led_by_zero || cents.len() != 2 || !are_digits {
        return None;
    }
    // An amount that does not fit is more than any limit, and is refused as such.
    let Ok(whole) = whole.parse::<i64>() else { return Some(i64::MAX) };
    Some(whole.saturating_mul(100).saturating_add(cents.parse().ok()?))
}

/// The minor units of an amount with at most two decimals.
pub fn cents(text: &str) -> Option<i64> {
    match text.split_once('.').map(|(_, decimals)| decimals.len()) {
        None => amount(&format!("{text}.00")),
        Some(1) => amount(&format!("{text}0")),
        Some(_) => amount(text),
    }
}

/// The whole units of an amount without decimals.
pub fn whole(text: &str) -> Option<i64> {
    if text.contains('.') { None } else { amount(&format!("{text}.00")).map(|cents| cents / 100) }
}

/// The exact value of a JSON number: at most 96 bits of digits and 28 decimals, after trailing
/// zeros are dropped.
pub fn decimal(text: &str) -> Result<Decimal, Bad> {
    const TOO_LARGE: &str = "must be a smaller number";
    const TOO_FINE: &str = "must be a number with fewer decimals";
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], exponent(&rest[at + 1..])),
        None => (rest, 0),
    };
    let mut mantissa: i128 = 0;
    let mut zeros: u32 = 0; // trailing so far, not yet multiplied in
    let mut decimals: i64 = 0;
    let mut past_point = false;
    for byte in digits.bytes() {
        if byte == b'.' {
            past_point = true;
            continue;
        }
        decimals += i64::from(past_point);
        if byte == b'0' {
            zeros += 1;
            continue;
        }
        if mantissa == 0 {
            zeros = 0;
        }
        mantissa = 10_i128
            .checked_pow(zeros + 1)
            .and_then(|shift| mantissa.checked_mul(shift))
            .and_then(|shifted| shifted.checked_add(i128::from(byte - b'0')))
            .ok_or(if past_point { TOO_FINE } else { TOO_LARGE })?;
        zeros = 0;
    }
    if mantissa == 0 {
        return Ok(Decimal::ZERO);
    }
    let power = exponent.saturating_add(i64::from(zeros)).saturating_sub(decimals);
    let signed = if negative { -mantissa } else { mantissa };
    if power >= 0 {
        let value = u32::try_from(power)
            .ok()
            .and_then(|power| 10_i128.checked_pow(power))
            .and_then(|shift| signed.checked_mul(shift))
            .and_then(|value| Decimal::try_from_i128_with_scale(value, 0).ok());
        return value.ok_or(Bad::from(TOO_LARGE));
    }
    u32::try_from(power.unsigned_abs())
        .ok()
        .and_then(|scale| Decimal::try_from_i128_with_scale(signed, scale).ok())
        .ok_or(Bad::from(TOO_FINE))
}

/// The exponent after the `e`, held within bounds that no number reaches.
fn exponent(text: &str) -> i64 {
    const FAR: i64 = 1_000_000_000;
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let size = digits.bytes().fold(0_i64, |size, digit| (size * 10 + i64::from(digit - b'0')).min(FAR));
    if negative { -size } else { size }
}

pub fn shown_amount(currency: Currency, minor: i64) -> String {
    let mut text = String::with_capacity(16);
    // Writing to memory does not fail.
    let _ = write_minor(&mut text, minor, currency.decimals());
    text
}

#[cfg(test)]
mod tests;
