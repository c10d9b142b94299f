//! Reads the parameters of a query string and names every bad one at once, in the same manner as
//! [`super::fields`] reads a body.
//!
//! A parameter that stands alone may come once; [`Query::list`] takes repeated keys and commas.
//! What was not asked for is unknown and named. The function that asks for the parameters is also what
//! describes them ([`describe`]). This file must not know any particular list.

use super::fields::{Described, Description, Expected, Findings, Got, Invalid, Kind, Need, Sound, read};
use super::page::{BAD_CURSOR, LIMIT_DEFAULT, LIMIT_MAX, ListKey, ListOf, Page};
use super::value::{Bad, Value};
use std::borrow::Cow;
use std::cell::Cell;

const PARAMETERS_MAX: usize = 200;

#[derive(Debug)]
struct Parameter<'a> {
    name: Cow<'a, str>,
    text: Cow<'a, str>,
    asked: Cell<bool>,
}

pub fn read<T, E>(query: Option<&str>, reader: impl FnOnce(Query<'_>) -> Result<T, E>) -> Result<T, E> {
    let (parameters, findings) = parse(query);
    reader(Query { parameters: &parameters, findings, described: None })
}

/// The parameters that `read` reads, and whether it reads those of a list in pages: it is made to
/// describe them, and reads nothing.
pub fn describe<T, E>(read: impl FnOnce(Query<'_>) -> Result<T, E>) -> (Vec<Expected>, bool) {
    let description = Description::default();
    assert!(read(Query::describing(&description)).is_err(), "a reader of a query ends with what finish says");
    let Described { asked, has_pages, .. } = description.take();
    (asked, has_pages)
}

/// Reads `limit` and `cursor` of a list that has no filters.
pub fn page(mut query: Query<'_>, list: ListOf<'_>) -> Result<Page, Invalid> {
    Ok(read!(query { got page = query.page(list); } => page))
}

/// Reads a list's one filter, and its `limit` and `cursor`.
pub fn filtered<'q, T>(
    mut query: Query<'q>,
    list: ListOf<'_>,
    name: &'static str,
    kind: impl Kind<'q, T>,
) -> Result<(Option<T>, Page), Invalid> {
    let (filter, page) = (query.optional(name, kind), query.page(list));
    let sound = query.finish()?;
    Ok((filter.get(&sound), page.get(&sound)))
}

fn parse(query: Option<&str>) -> (Vec<Parameter<'_>>, Findings) {
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
            (Some(name), Some(text)) => parameters.push(Parameter { name, text, asked: Cell::new(false) }),
            (Some(name), None) => findings.add_unknown(&name, "must be percent-encoded UTF-8"),
            (None, _) => findings.add_unknown(name, "must be percent-encoded UTF-8"),
        }
    }
    (parameters, findings)
}

/// The parameters of one request while they are being read.
#[derive(Debug)]
#[must_use = "finish it, or unknown parameters pass unseen"]
pub struct Query<'a> {
    parameters: &'a [Parameter<'a>],
    findings: Findings,
    described: Option<Description>,
}

impl<'a> Query<'a> {
    /// The parameters of no query: they are described as they are asked for, none is found, and `finish`
    /// fails, so that a reader acts on nothing.
    fn describing(description: &Description) -> Self {
        Query { parameters: &[], findings: Findings::default(), described: Some(description.clone()) }
    }

    pub fn required<T>(&mut self, name: &'static str, mut kind: impl Kind<'a, T>) -> Got<T> {
        if let Some(description) = &self.described {
            return description.ask(name, kind.schema(), Need::Required);
        }
        let found = match self.single(name) {
            Ok(Some(value)) => kind.read(value),
            Ok(None) => Err(Bad::from("is required")),
            Err(bad) => Err(bad),
        };
        self.findings.take(name, found)
    }

    pub fn optional<T>(&mut self, name: &'static str, kind: impl Kind<'a, T>) -> Got<Option<T>> {
        self.maybe(name, kind, Need::Optional)
    }

    /// A parameter that must be there, whose absence the caller of the reader refuses in words of its own.
    pub fn wanted<T>(&mut self, name: &'static str, kind: impl Kind<'a, T>) -> Got<Option<T>> {
        self.maybe(name, kind, Need::Required)
    }

    fn maybe<T>(&mut self, name: &'static str, mut kind: impl Kind<'a, T>, need: Need) -> Got<Option<T>> {
        if let Some(description) = &self.described {
            return description.ask(name, kind.schema(), need);
        }
        let found = match self.single(name) {
            Ok(value) => value.map(|value| kind.read(value)).transpose(),
            Err(bad) => Err(bad),
        };
        self.findings.take(name, found)
    }

    /// A parameter with any number of values, as repeated keys, divided by commas, or both. Empty
    /// if missing.
    pub fn list<T>(&mut self, name: &'static str, mut kind: impl Kind<'a, T>) -> Got<Vec<T>> {
        if let Some(description) = &self.described {
            return description.ask(name, kind.schema(), Need::Repeatable);
        }
        let mut values = Vec::new();
        let mut failure = None;
        for parameter in self.parameters.iter().filter(|parameter| parameter.name == name) {
            parameter.asked.set(true);
            for text in parameter.text.split(',') {
                match kind.read(Value::plain(text)) {
                    Ok(value) => values.push(value),
                    Err(bad) => failure = failure.or(Some(bad)),
                }
            }
        }
        self.findings.take(name, failure.map_or(Ok(values), Err))
    }

    /// `limit` and `cursor` of a list that pages. All other parameters of the query are its
    /// filters.
    pub fn page(&mut self, list: ListOf<'_>) -> Got<Page> {
        if let Some(description) = &self.described {
            return description.pages();
        }
        let list = self.list_key(list);
        let limit = self.bound("limit", |value| value.integer(1..=LIMIT_MAX as i64));
        let after = self.bound("cursor", |value| list.open(&value.string()?).ok_or(Bad::from(BAD_CURSOR)));
        match (limit.peek(), after.peek()) {
            (Some(limit), Some(after)) => Got(Some(Page {
                limit: limit.map_or(LIMIT_DEFAULT, |limit| limit as usize),
                after: after.clone(),
                list,
            })),
            _ => Got(None),
        }
    }

    /// A parameter of a page, which every list that pages has.
    fn bound<T>(&mut self, name: &str, read: impl FnOnce(Value<'a>) -> Result<T, Bad>) -> Got<Option<T>> {
        let found = self.single(name).and_then(|value| value.map(read).transpose());
        self.findings.take(name, found)
    }

    /// True if the parameter was sent. Asking does not count as reading it.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    pub fn bad(&mut self, name: &str, message: impl Into<Cow<'static, str>>) {
        self.findings.add(name, message);
    }

    /// Ends the reading: names what was not asked for as unknown and fails if anything was bad.
    pub fn finish(mut self) -> Result<Sound, Invalid> {
        if let Some(description) = self.described {
            description.close();
            return Err(Invalid::described());
        }
        for parameter in self.parameters {
            if !parameter.asked.get() {
                self.findings.add_unknown(&parameter.name, "is unknown");
            }
        }
        self.findings.close()
    }

    fn single(&self, name: &str) -> Result<Option<Value<'a>>, Bad> {
        let mut found: Option<&'a Parameter<'a>> = None;
        for parameter in self.parameters {
            if parameter.name == name {
                parameter.asked.set(true);
                if found.replace(parameter).is_some() {
                    return Err(Bad::from("must be given once"));
                }
            }
        }
        Ok(found.map(|parameter| Value::plain(&parameter.text)))
    }

    fn list_key(&self, list: ListOf<'_>) -> ListKey {
        // `type=a,b`, `type=b&type=a`: the same filters.
        let mut filters: Vec<(&str, &str)> = self
            .parameters
            .iter()
            .flat_map(|parameter| parameter.text.split(',').map(|text| (&*parameter.name, text)))
            .collect();
        filters.retain(|(name, _)| !matches!(*name, "limit" | "cursor"));
        filters.sort_unstable();
        filters.dedup();
        list.key(&filters)
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
    use crate::openapi::kinds;
    use crate::problem::Problem;
    use sha2::{Digest, Sha256};

    /// No secret is needed to see that filters count.
    fn mark(parts: &[&[u8]]) -> [u8; 16] {
        let hash = Sha256::digest(parts.join(&0xFF));
        std::array::from_fn(|at| hash[at])
    }

    fn payments() -> ListOf<'static> {
        ListOf { mark: &mark, tenant_key: 1, kind: "payments" }
    }

    fn names<T: std::fmt::Debug>(read: Result<T, Invalid>) -> Vec<String> {
        let problem = Problem::from(read.expect_err("something is bad"));
        problem.fields.into_iter().map(|bad| bad.field).collect()
    }

    #[test]
    fn every_bad_parameter_is_named_at_once() {
        let sent = "limit=0&cursor=%40%40%40&from=yesterday&to=now&typ=payment";
        let named = names(read(Some(sent), |mut q| {
            let _ = q.optional("from", kinds::instant());
            let _ = q.optional("to", kinds::instant());
            let _ = q.required("pair", kinds::sought(1..=9));
            let _ = q.page(payments());
            q.finish()
        }));
        assert_eq!(named, ["from", "to", "pair", "limit", "cursor", "typ"]);
    }

    #[test]
    fn limits_are_1_to_100_and_25_by_default() {
        let sent = |query: Option<&str>| read(query, |query| page(query, payments()));
        for bad in ["0", "-1", "101", "ten", "1.5", "", "+5", "1e1", "99999999999999999999"] {
            assert_eq!(names(sent(Some(&format!("limit={bad}")))), ["limit"], "{bad}");
        }
        for (query, limit) in [(None, 25), (Some("limit=1"), 1), (Some("limit=100"), 100)] {
            assert_eq!(sent(query).expect("sound").limit, limit);
        }
    }

    #[test]
    fn a_cursor_holds_for_the_same_filters_in_any_order() {
        let page = |query: &str| {
            let sent = read(Some(query), |mut q| {
                let _ = q.list("status", kinds::sought(1..=9));
                let _ = q.optional("method", kinds::sought(1..=9));
                page(q, payments())
            });
            sent.ok()
        };
        let cursor = page("status=A&method=B").expect("sound").next(b"7");
        let second = page(&format!("method=B&limit=3&cursor={cursor}&status=A")).expect("sound");
        assert_eq!((second.limit, second.after.as_deref()), (3, Some(&b"7"[..])));
        assert!(page(&format!("status=A&cursor={cursor}")).is_none());
        assert!(page(&format!("status=C&method=B&cursor={cursor}")).is_none());
    }

    #[test]
    fn values_are_decoded_and_keys_may_repeat_in_lists() {
        let sent = read(Some("type=a%2Cb,c&type=d+e&name=%C3%B1&&flag=true"), |mut q| {
            let types = q.list("type", kinds::sought(1..=9));
            let name = q.required("name", kinds::sought(1..=1));
            let flag = q.optional("flag", kinds::boolean());
            let ok = q.finish()?;
            Ok::<_, Invalid>((types.get(&ok), name.get(&ok), flag.get(&ok)))
        });
        let (types, name, flag) = sent.expect("sound");
        assert_eq!(types, ["a", "b", "c", "d e"]);
        assert_eq!((name.as_str(), flag), ("ñ", Some(true)));
    }

    #[test]
    fn twice_is_refused_and_so_is_broken_encoding() {
        let named = names(read(Some("a=1&a=2&b=%ff&c=%2&d=%zz&%ff=1"), |mut q| {
            let _ = q.optional("a", kinds::integer(0..=9));
            q.finish()
        }));
        assert_eq!(named, ["b", "c", "d", "%ff", "a"]);
    }

    #[test]
    fn an_unknown_value_in_a_list_is_refused() {
        let named = names(read(Some("type=payment,bogus"), |mut q| {
            let _ = q.list("type", kinds::one_of([("payment", 1)]));
            q.finish()
        }));
        assert_eq!(named, ["type"]);
    }

    #[test]
    fn instants_with_a_plus_sign() {
        for text in ["2026-11-21T02:13:00%2B01:00", "2026-11-21T02:13:00+01:00", "2026-11-21T01:13:00Z"] {
            let from = read(Some(&format!("from={text}")), |mut q| {
                let from = q.required("from", kinds::instant());
                q.finish().map(|ok| from.get(&ok))
            });
            assert_eq!(from.expect("sound").unix_ms(), 1_795_223_580_000, "{text}");
        }
    }

    #[test]
    fn parameters_are_described_as_they_are_asked_for() {
        let (asked, has_pages) = describe(|mut q| {
            let _ = q.required("pair", kinds::sought(1..=9));
            let _ = q.optional("from", kinds::instant());
            let _ = q.list("type", kinds::one_of([("payment", 1)]));
            let _ = q.wanted("amount", kinds::integer(1..=9));
            let _ = q.page(payments());
            if q.has("pair") {
                q.bad("pair", "is not taken");
            }
            q.finish()
        });
        let named: Vec<_> = asked.iter().map(|asked| (asked.name, asked.need)).collect();
        let (required, optional) = (Need::Required, Need::Optional);
        assert_eq!(
            named,
            [("pair", required), ("from", optional), ("type", Need::Repeatable), ("amount", required)]
        );
        assert!(has_pages);
    }
}
