//! Reads the parameters of a query string by the reader of bodies ([`super::fields`]), which names every bad one
//! at once.
//!
//! A parameter that stands alone may come once; [`Query::list`] takes repeated keys and commas. This file must not
//! know any particular list.

use super::fields::{Described, Expected, Fields, Findings, Got, Invalid, Kind, Need, read};
use super::json::Member;
use super::page::{BAD_CURSOR, LIMIT_DEFAULT, LIMIT_MAX, ListOf, Page};
use super::value::{Bad, Notation, Value};
use std::borrow::Cow;

const PARAMETERS_MAX: usize = 200;

/// The parameters of one request while they are being read.
pub type Query<'a> = Fields<'a>;

pub fn read<T, E>(query: Option<&str>, reader: impl FnOnce(Query<'_>) -> Result<T, E>) -> Result<T, E> {
    let (parameters, findings) = parse(query);
    let members =
        parameters.iter().map(|(name, text)| Member { name: Cow::Borrowed(name), value: text }).collect();
    let mut query = Fields::over(members, Notation::Plain);
    query.findings = findings;
    reader(query)
}

/// The parameters that `read` reads, and whether it reads those of a list in pages: it is made to
/// describe them, and reads nothing.
pub fn describe<T, E>(read: impl FnOnce(Query<'_>) -> Result<T, E>) -> (Vec<Expected>, bool) {
    let (query, description) = Fields::describing();
    assert!(read(query).is_err(), "a reader of a query ends with what finish says");
    let Described { asked, has_pages, .. } = description.take();
    (asked, has_pages)
}

/// Reads the query of a list: its filters, which `filters` reads, and its `limit` and `cursor`.
pub fn listed<'q, F>(
    mut query: Query<'q>,
    list: ListOf<'_>,
    filters: impl FnOnce(&mut Query<'q>) -> Got<F>,
) -> Result<(F, Page), Invalid> {
    Ok(read!(query {
        got filters = filters(&mut query);
        got page = query.page(list);
    } => (filters, page)))
}

/// Reads `limit` and `cursor` of a list that has no filters.
pub fn page(query: Query<'_>, list: ListOf<'_>) -> Result<Page, Invalid> {
    listed(query, list, |_| Got::of(())).map(|((), page)| page)
}

/// Reads a list's one filter, and its `limit` and `cursor`.
pub fn filtered<'q, T>(
    query: Query<'q>,
    list: ListOf<'_>,
    name: &'static str,
    kind: impl Kind<'q, T>,
) -> Result<(Option<T>, Page), Invalid> {
    listed(query, list, |query| query.optional(name, kind))
}

type Parameters<'q> = Vec<(Cow<'q, str>, Cow<'q, str>)>;

fn parse(query: Option<&str>) -> (Parameters<'_>, Findings) {
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
            (Some(name), Some(text)) => parameters.push((name, text)),
            (Some(name), None) => findings.add_unknown(&name, "must be percent-encoded UTF-8"),
            (None, _) => findings.add_unknown(name, "must be percent-encoded UTF-8"),
        }
    }
    (parameters, findings)
}

impl<'a> Fields<'a> {
    /// A parameter with any number of values, as repeated keys, divided by commas, or both. Empty
    /// if missing.
    pub fn list<T>(&mut self, name: &'static str, mut kind: impl Kind<'a, T>) -> Got<Vec<T>> {
        if let Some(description) = &self.described {
            return Self::describe(description, name, kind.schema(), Need::Repeatable);
        }
        let mut values = Vec::new();
        let mut failure = None;
        for (parameter, asked) in self.members.iter().zip(&mut self.asked) {
            if parameter.name != name {
                continue;
            }
            *asked = true;
            for text in parameter.value.split(',') {
                match kind.read(Value { text, notation: Notation::Plain }) {
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
            description.borrow_mut().has_pages = true;
            return Got(None);
        }
        // `type=a,b`, `type=b&type=a`: the same filters.
        let filters = self.members.iter().filter(|member| !matches!(&*member.name, "limit" | "cursor"));
        let mut filters: Vec<(&str, &str)> =
            filters.flat_map(|member| member.value.split(',').map(|text| (&*member.name, text))).collect();
        filters.sort_unstable();
        filters.dedup();
        let list = list.key(&filters);
        let limit = self.bound("limit", |value| value.integer(1..=LIMIT_MAX as i64));
        let after = self.bound("cursor", |value| list.open(&value.string()?).ok_or(Bad::from(BAD_CURSOR)));
        match (limit.0, after.0) {
            (Some(limit), Some(after)) => {
                let limit = limit.map_or(LIMIT_DEFAULT, |limit| limit as usize);
                Got(Some(Page { limit, after, list }))
            }
            _ => Got(None),
        }
    }

    /// A parameter of a page, which every list that pages has.
    fn bound<T>(&mut self, name: &str, read: impl FnOnce(Value<'a>) -> Result<T, Bad>) -> Got<Option<T>> {
        let found = self.look(name).and_then(|value| value.map(read).transpose());
        self.findings.take(name, found)
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
