//! Reads the parameters of a query string and names every bad one at once, in the same manner as
//! [`super::fields`] reads a body.
//!
//! A parameter that stands alone may come once; [`Query::list`] takes repeated keys and commas.
//! What was not asked for is unknown and named. This file must not know any particular list.

use super::fields::{Bad, Findings, Got, Invalid, Sound};
use super::page::{BAD_CURSOR, LIMIT_DEFAULT, LIMIT_MAX, ListKey, Mark, Page};
use super::value::{self, choice};
use chrono::{DateTime, Utc};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use uuid::Uuid;

/// The most parameters that are read: the rest counts as unknown.
const PARAMETERS_MAX: usize = 200;

#[derive(Debug)]
struct Parameter<'a> {
    name: Cow<'a, str>,
    text: Cow<'a, str>,
    asked: bool,
}

/// The parameters of one request while they are being read.
#[derive(Debug)]
#[must_use = "finish it, or unknown parameters pass unseen"]
pub struct Query<'a> {
    parameters: Vec<Parameter<'a>>,
    findings: Findings,
}

impl<'a> Query<'a> {
    /// Splits and decodes what stands after the question mark, if anything does.
    pub fn parse(query: Option<&'a str>) -> Self {
        let mut parameters = Vec::new();
        let mut findings = Findings::default();
        let pairs = query.unwrap_or("").split('&').filter(|pair| !pair.is_empty());
        for pair in pairs {
            let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
            if parameters.len() == PARAMETERS_MAX {
                findings.add_unknown(name, "is one parameter too many");
                break;
            }
            match (decode(name), decode(text)) {
                (Some(name), Some(text)) => parameters.push(Parameter { name, text, asked: false }),
                (Some(name), None) => findings.add_unknown(&name, "must be percent-encoded UTF-8"),
                (None, _) => findings.add_unknown(name, "must be percent-encoded UTF-8"),
            }
        }
        Query { parameters, findings }
    }

    /// A parameter that must be there.
    pub fn required<T>(&mut self, name: &str, read: impl FnOnce(Text<'_>) -> Result<T, Bad>) -> Got<T> {
        let found = match self.single(name) {
            Ok(Some(text)) => read(text),
            Ok(None) => Err(Bad::from("is required")),
            Err(bad) => Err(bad),
        };
        self.findings.take(name, found)
    }

    /// A parameter that may be missing.
    pub fn optional<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(Text<'_>) -> Result<T, Bad>,
    ) -> Got<Option<T>> {
        let found = match self.single(name) {
            Ok(Some(text)) => read(text).map(Some),
            Ok(None) => Ok(None),
            Err(bad) => Err(bad),
        };
        self.findings.take(name, found)
    }

    /// A parameter with any number of values, as repeated keys, divided by commas, or both. Empty
    /// if missing.
    pub fn list<T>(&mut self, name: &str, mut read: impl FnMut(Text<'_>) -> Result<T, Bad>) -> Got<Vec<T>> {
        let mut values = Vec::new();
        let mut failure = None;
        for parameter in &mut self.parameters {
            if parameter.name != name {
                continue;
            }
            parameter.asked = true;
            for text in parameter.text.split(',') {
                match read(Text(text)) {
                    Ok(value) => values.push(value),
                    Err(bad) => failure = failure.or(Some(bad)),
                }
            }
        }
        self.findings.take(name, failure.map_or(Ok(values), Err))
    }

    /// `limit` and `cursor` of a list that pages. All other parameters of the query are its
    /// filters.
    pub fn page(&mut self, mark: Mark<'_>, tenant_key: u64, kind: &str) -> Got<Page> {
        let list = self.list_key(mark, tenant_key, kind);
        let limit = self.optional("limit", |text| text.integer(1..=LIMIT_MAX as i64));
        let after = self.optional("cursor", |text| list.open(text.0).ok_or(Bad::from(BAD_CURSOR)));
        match (limit.peek(), after.peek()) {
            (Some(limit), Some(after)) => Got::some(Page {
                limit: limit.map_or(LIMIT_DEFAULT, |limit| limit as usize),
                after: after.clone(),
                list,
            }),
            _ => Got::none(),
        }
    }

    /// True if the parameter was sent. Asking does not count as reading it.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// Adds a finding about several parameters together.
    pub fn bad(&mut self, name: &str, message: impl Into<Cow<'static, str>>) {
        self.findings.add(name, message);
    }

    /// Ends the reading: names what was not asked for as unknown and fails if anything was bad.
    pub fn finish(mut self) -> Result<Sound, Invalid> {
        for parameter in &self.parameters {
            if !parameter.asked {
                self.findings.add_unknown(&parameter.name, "is unknown");
            }
        }
        self.findings.close()
    }

    fn single(&mut self, name: &str) -> Result<Option<Text<'_>>, Bad> {
        let mut found: Option<usize> = None;
        for (index, parameter) in self.parameters.iter_mut().enumerate() {
            if parameter.name == name {
                parameter.asked = true;
                if found.replace(index).is_some() {
                    return Err(Bad::from("must be given once"));
                }
            }
        }
        Ok(found.map(|index| Text(&self.parameters[index].text)))
    }

    fn list_key(&self, mark: Mark<'_>, tenant_key: u64, kind: &str) -> ListKey {
        // `type=a,b`, `type=b&type=a`: the same filters.
        let named = |parameter: &'_ Parameter<'a>| parameter.name.clone();
        let mut filters: Vec<(Cow<'_, str>, &str)> = self
            .parameters
            .iter()
            .flat_map(|parameter| parameter.text.split(',').map(move |text| (named(parameter), text)))
            .collect();
        filters.retain(|(name, _)| !matches!(&**name, "limit" | "cursor"));
        filters.sort_unstable();
        filters.dedup();
        let filters: Vec<(&str, &str)> = filters.iter().map(|(name, text)| (&**name, *text)).collect();
        ListKey::of(mark, tenant_key, kind, &filters)
    }
}

/// The decoded text of one parameter and the ways to read it.
#[derive(Clone, Copy, Debug)]
pub struct Text<'q>(&'q str);

impl<'q> Text<'q> {
    /// The text as it is.
    pub fn as_str(self) -> &'q str {
        self.0
    }

    /// The text without the white space around it, of so many characters.
    pub fn trimmed(self, chars: RangeInclusive<usize>) -> Result<String, Bad> {
        let text = self.0.trim();
        if chars.contains(&text.chars().count()) {
            Ok(text.to_owned())
        } else {
            Err(format!("must have {} to {} characters", chars.start(), chars.end()).into())
        }
    }

    /// A whole number in plain digits, in this range.
    pub fn integer(self, range: RangeInclusive<i64>) -> Result<i64, Bad> {
        let digits = self.0.strip_prefix('-').unwrap_or(self.0);
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain
            .then(|| self.0.parse().ok())
            .flatten()
            .filter(|value| range.contains(value))
            .ok_or_else(|| format!("must be a whole number from {} to {}", range.start(), range.end()).into())
    }

    /// A decimal number, written as JSON writes numbers.
    pub fn number(self) -> Result<rust_decimal::Decimal, Bad> {
        match super::json::read(self.0) {
            Ok(super::json::Shape::Scalar)
                if self.0.starts_with(|first: char| first == '-' || first.is_ascii_digit()) =>
            {
                super::number::decimal(self.0.trim_end())
            }
            _ => Err(Bad::from("must be a number")),
        }
    }

    /// `true` or `false`.
    pub fn boolean(self) -> Result<bool, Bad> {
        choice(self.0, &[("true", true), ("false", false)])
    }

    /// Reads one of these texts as the value that stands beside it.
    pub fn one_of<T: Clone>(self, choices: &[(&str, T)]) -> Result<T, Bad> {
        choice(self.0, choices)
    }

    /// A UUID.
    pub fn uuid(self) -> Result<Uuid, Bad> {
        value::uuid(self.0).ok_or(Bad::from("must be a UUID"))
    }

    /// An instant in RFC 3339; a plus sign that was not percent-encoded is understood.
    pub fn timestamp(self) -> Result<DateTime<Utc>, Bad> {
        value::timestamp(self.0)
            .or_else(|| value::timestamp(&self.0.replace(' ', "+")))
            .ok_or_else(|| format!("must be {}", value::TIMESTAMP).into())
    }

    /// A day, `2026-11-21`.
    pub fn date(self) -> Result<chrono::NaiveDate, Bad> {
        value::date(self.0).ok_or(Bad::from("must be a date such as 2026-11-21"))
    }

    /// Reads the text with `parse`, whose error becomes the message.
    pub fn parse_as<T, E: Into<Bad>>(self, parse: impl FnOnce(&str) -> Result<T, E>) -> Result<T, Bad> {
        parse(self.0).map_err(Into::into)
    }
}

/// The parameters of a query string: each as it was sent, and its name and text decoded. What cannot
/// be decoded has the name that was sent, and is named as bad by whoever reads it.
pub fn sent_parameters(query: Option<&str>) -> impl Iterator<Item = (&str, Cow<'_, str>, Cow<'_, str>)> {
    query.unwrap_or("").split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, text) = pair.split_once('=').unwrap_or((pair, ""));
        (pair, decode(name).unwrap_or(Cow::Borrowed(name)), decode(text).unwrap_or(Cow::Borrowed(text)))
    })
}

/// Undoes percent-encoding, and reads plus as a space; `None` if what comes out is not UTF-8 or an
/// escape is broken.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(['%', '+']) {
        return Some(Cow::Borrowed(text));
    }
    percent_decode(&text.replace('+', " ")).map(|decoded| Cow::Owned(decoded.into_owned()))
}

/// Undoes percent-encoding; `None` if what comes out is not UTF-8 or an escape is broken.
pub fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    // The crate passes a broken escape through as it stands.
    let is_escape =
        |rest: &str| rest.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let sound = text.split('%').skip(1).all(is_escape);
    sound.then(|| percent_encoding::percent_decode_str(text).decode_utf8().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Problem;
    use sha2::{Digest, Sha256};

    /// No secret is needed to see that filters count.
    fn mark(parts: &[&[u8]]) -> [u8; 16] {
        let hash = Sha256::digest(parts.join(&0xFF));
        std::array::from_fn(|at| hash[at])
    }

    fn names(query: Query<'_>) -> Vec<String> {
        let problem = Problem::from(query.finish().expect_err("something is bad"));
        problem.fields.into_iter().map(|bad| bad.field).collect()
    }

    #[test]
    fn every_bad_parameter_is_named_at_once() {
        let mut q = Query::parse(Some("limit=0&cursor=%40%40%40&from=yesterday&to=now&typ=payment"));
        let _ = q.optional("from", |t| t.timestamp());
        let _ = q.optional("to", |t| t.timestamp());
        let _ = q.required("pair", |t| t.trimmed(1..=9));
        let _ = q.page(&mark, 1, "movements");
        assert_eq!(names(q), ["from", "to", "pair", "limit", "cursor", "typ"]);
    }

    #[test]
    fn limits_are_1_to_100_and_25_by_default() {
        for bad in ["0", "-1", "101", "ten", "1.5", "", "+5", "1e1", "99999999999999999999"] {
            let query = format!("limit={bad}");
            let mut q = Query::parse(Some(&query));
            let _ = q.page(&mark, 1, "payments");
            assert_eq!(names(q), ["limit"], "{bad}");
        }
        for (query, limit) in [(None, 25), (Some("limit=1"), 1), (Some("limit=100"), 100)] {
            let mut q = Query::parse(query);
            let page = q.page(&mark, 1, "payments");
            let ok = q.finish().expect("sound");
            assert_eq!(page.get(&ok).limit, limit);
        }
    }

    #[test]
    fn a_cursor_holds_for_the_same_filters_in_any_order() {
        let page = |query: &str| {
            let mut q = Query::parse(Some(query));
            let _ = q.list("status", |t| t.trimmed(1..=9));
            let _ = q.optional("method", |t| t.trimmed(1..=9));
            let page = q.page(&mark, 1, "payments");
            q.finish().ok().map(|ok| page.get(&ok))
        };
        let cursor = page("status=A&method=B").expect("sound").next(b"7");
        let second = page(&format!("method=B&limit=3&cursor={cursor}&status=A")).expect("sound");
        assert_eq!((second.limit, second.after.as_deref()), (3, Some(&b"7"[..])));
        assert!(page(&format!("status=A&cursor={cursor}")).is_none());
        assert!(page(&format!("status=C&method=B&cursor={cursor}")).is_none());
    }

    #[test]
    fn values_are_decoded_and_keys_may_repeat_in_lists() {
        let mut q = Query::parse(Some("type=a%2Cb,c&type=d+e&name=%C3%B1&&flag=true"));
        let types = q.list("type", |t| t.trimmed(1..=9));
        let name = q.required("name", |t| t.trimmed(1..=1));
        let flag = q.optional("flag", |t| t.boolean());
        let ok = q.finish().expect("sound");
        assert_eq!(types.get(&ok), ["a", "b", "c", "d e"]);
        assert_eq!(name.get(&ok), "ñ");
        assert_eq!(flag.get(&ok), Some(true));
    }

    #[test]
    fn twice_is_refused_and_so_is_broken_encoding() {
        let mut q = Query::parse(Some("a=1&a=2&b=%ff&c=%2&d=%zz&%ff=1"));
        let _ = q.optional("a", |t| t.integer(0..=9));
        assert_eq!(names(q), ["b", "c", "d", "%ff", "a"]);
    }

    #[test]
    fn an_unknown_value_in_a_list_is_refused() {
        let mut q = Query::parse(Some("type=payment,bogus"));
        let _ = q.list("type", |t| t.one_of(&[("payment", 1)]));
        assert_eq!(names(q), ["type"]);
    }

    #[test]
    fn instants_with_a_plus_sign() {
        for text in ["2026-11-21T02:13:00%2B01:00", "2026-11-21T02:13:00+01:00", "2026-11-21T01:13:00Z"] {
            let query = format!("from={text}");
            let mut q = Query::parse(Some(&query));
            let from = q.required("from", |t| t.timestamp());
            let ok = q.finish().expect("sound");
            assert_eq!(from.get(&ok).timestamp(), 1_795_223_580, "{text}");
        }
    }
}
