//! The words for what is not there: a path that no table has, and an object that a request names.
//!
//! A path that leads nowhere is a mistake in a program: its problem quotes the path, as far as that looks
//! like one, and names the one in the table that is most like it. An object is named by its kind, and by
//! its id if that is a UUID: ids are ours and no secret. Nothing else of a request is quoted.

use super::problem::Problem;
use domain::values::ids::Id;
use std::borrow::Cow;

/// Characters of the longest segment that is quoted; words of our paths are shorter, keys are longer.
const SEGMENT_MAX: usize = 24;
/// Digits of the longest number that is quoted: a document, a phone or a card has more.
const DIGITS_MAX: usize = 6;
/// Characters of the longest method that is quoted whole; methods are ASCII.
const METHOD_MAX: usize = 12;
/// Segments of the longest path that is quoted or compared.
const SEGMENTS_MAX: usize = 10;
/// Letters that a path may have wrong to be taken for another.
const WRONG_MAX: usize = 3;

/// 404: no row of the table has the path; `known` are the paths that it has.
pub fn path<'t>(method: &str, asked: &str, known: impl Iterator<Item = &'t str>) -> Problem {
    let (method, shown) = (method.get(..METHOD_MAX).unwrap_or(method), quoted(asked));
    let message = match nearest(asked, known) {
        Some(near) => format!("there is no path {method} {shown}; did you mean {near}?"),
        None => format!("there is no path {method} {shown}; GET /openapi.json has them all"),
    };
    Problem::refused(404, "not_found", message)
}

/// A path as it may be shown: what does not look like a word of ours is left out.
fn quoted(asked: &str) -> String {
    let mut shown = String::with_capacity(asked.len().min(128));
    for (index, segment) in asked.split('/').skip(1).enumerate() {
        if index == SEGMENTS_MAX {
            shown.push_str("/…");
            break;
        }
        shown.push('/');
        shown.push_str(if is_plain(segment) { segment } else { "…" });
    }
    shown
}

fn is_plain(segment: &str) -> bool {
    let is_word = segment.len() <= SEGMENT_MAX
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && segment.bytes().filter(u8::is_ascii_digit).count() <= DIGITS_MAX
        && !["pk_", "op_"].iter().any(|stem| segment.starts_with(stem));
    is_word || Id::parse(segment).is_some()
}

/// The path of a table that is most like the one that was asked for, if one is like it.
fn nearest<'t>(asked: &str, known: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let segments: Vec<String> = asked
        .split('/')
        .filter(|segment| !segment.is_empty())
        .map(|segment| segment.chars().take(2 * SEGMENT_MAX).collect::<String>().to_ascii_lowercase())
        .take(SEGMENTS_MAX + 1)
        .collect();
    known
        .filter_map(|path| {
            let whole = unlikeness(&segments, path.split('/').skip(1));
            // The version is what is most often left out.
            let short = path.strip_prefix("/v1/").and_then(|rest| unlikeness(&segments, rest.split('/')));
            Some((whole.into_iter().chain(short.map(|unlike| unlike + 1)).min()?, path))
        })
        .min_by_key(|(unlike, _)| *unlike)
        .map(|(_, path)| path)
}

/// The distance of a path from one of a table; `None` if too far. A word that fits counts more than
/// a parameter.
fn unlikeness<'t>(asked: &[String], row: impl Iterator<Item = &'t str> + Clone) -> Option<usize> {
    if asked.is_empty() || row.clone().count() != asked.len() {
        return None;
    }
    let (mut wrong, mut parameters) = (0, 0);
    for (word, known) in asked.iter().zip(row) {
        if known.starts_with(':') {
            parameters += 1;
        } else {
            wrong += letters_wrong(word, known)?;
        }
    }
    // Parameters alone fit anything.
    (wrong <= WRONG_MAX && parameters < asked.len()).then_some(4 * wrong + parameters)
}

/// The letters to insert, leave out, replace or swap between two words; `None` if they are too many for the
/// words to be meant alike.
fn letters_wrong(one: &str, other: &str) -> Option<usize> {
    let most = WRONG_MAX.min(1 + other.len() / 4);
    if one.len().abs_diff(other.len()) > most {
        return None;
    }
    Some(strsim::osa_distance(one, other)).filter(|wrong| *wrong <= most)
}

/// 404: what a request to the row `row` names is not there. `value` has the parameters of its path, `place`
/// says where was looked, such as "under this test key".
pub fn object<'p>(row: &str, value: impl Fn(&str) -> &'p str, place: &str) -> Problem {
    let message = match in_body(row) {
        Some(kind) => format!("no {kind} {place}"),
        None => in_path(row, value, place),
    };
    Problem::refused(404, "not_found", message)
}

/// The missing object of a request that does not name it by its path alone.
fn in_body(row: &str) -> Option<&'static str> {
    Some(match row {
        "/v1/payments/c2p" => "intent with the intentId of the body",
        "/v1/conversions" => "quote with the quoteId of the body",
        "/v1/payouts" | "/v1/payouts/batch" => "merchant, or payout method of it, with the ids of the body",
        "/v1/merchants" => "merchant with this externalRef",
        "/v1/test/chargebacks" => "payment with the paymentId of the body",
        "/admin/tenants/:id/chargebacks" => {
            "tenant with this id, or payment of it with the paymentId of the body,"
        }
        "/v1/test/crypto/deposits" => "deposit address of the body",
        "/v1/payouts/account" | "/v1/payouts/account/verify/start" | "/v1/payouts/account/verify" => {
            "payout account of its own (PUT /v1/payouts/account sets one)"
        }
        "/admin/rates/pin" => "pin of this pair, source and side",
        _ if !row.contains(':') => "object that the request names",
        _ => return None,
    })
}

/// The missing object that the path names. Of two parameters either may name nothing.
fn in_path<'p>(row: &str, value: impl Fn(&str) -> &'p str, place: &str) -> String {
    let segments: Vec<&str> = row.split('/').skip(1).collect();
    let mut named: Vec<String> = Vec::new();
    for (index, segment) in segments.iter().enumerate() {
        let Some(name) = segment.strip_prefix(':') else { continue };
        let kind = kind(&segments[..index]);
        named.push(match (name, Id::parse(value(name))) {
            (_, Some(id)) => format!("{kind} {id}"),
            ("externalRef", None) => format!("{kind} with this externalRef"),
            ("key", None) => format!("{kind} with this Idempotency-Key in the last 24 hours"),
            ("code" | "slug" | "requestId", None) => format!("{kind} with this {name}"),
            (_, None) => format!("{kind} with this id, which is no UUID,"),
        });
    }
    format!("no {} {place}", named.join(", or no "))
}

/// The kind of object that is named after these segments of a path.
fn kind(before: &[&str]) -> Cow<'static, str> {
    let word =
        |back: usize| before.len().checked_sub(back).and_then(|at| before.get(at)).copied().unwrap_or("");
    let (last, previous) = (word(1), word(2));
    Cow::Borrowed(match (previous, last) {
        ("crypto", "payouts") => "USDT payout",
        ("cop", "payments") => "payment in pesos",
        ("cop", "payouts") | (_, "cop-payouts") => "payout in pesos",
        (_, "sessions") => "checkout session",
        (_, "batch") => "batch of payouts",
        (_, "webhooks") => "webhook endpoint",
        (_, "operations") => "operation",
        (_, "idempotency") => "request",
        (_, "requests") => "request of the last 30 days",
        (_, "by-ref") => return kind(&before[..before.len() - 1]),
        (_, plural) => return Cow::Owned(plural.strip_suffix('s').unwrap_or(plural).replace('-', " ")),
    })
}

#[cfg(test)]
mod tests;
