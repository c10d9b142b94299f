//! The header `Accept`: which of the forms that can be had a caller wants, weighed by q (RFC 9110,
//! section 12.5.1).

use hyper::header::{ACCEPT, HeaderMap};
use std::cmp::Reverse;

/// The form wanted most, such as `text/csv`. Without a wish, or where none is wanted, it is the first.
pub fn wanted<'f>(headers: &HeaderMap, forms: &[&'f str]) -> Option<&'f str> {
    let ranges = ranges(headers);
    // Of those wanted alike it is the last in this order.
    forms.iter().rev().max_by_key(|form| fit(&ranges, form)).copied()
}

/// As [`wanted`], and of two that are wanted alike the one that the caller names first.
pub fn wanted_first<'f>(headers: &HeaderMap, forms: &[&'f str]) -> Option<&'f str> {
    let ranges = ranges(headers);
    let place = |form: &str| ranges.iter().position(|(range, q)| range == form && *q > 0);
    let rank = |form: &&&str| (fit(&ranges, form), Reverse(place(form).unwrap_or(usize::MAX)));
    forms.iter().rev().max_by_key(rank).copied()
}

fn ranges(headers: &HeaderMap) -> Vec<(String, u16)> {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(range).collect()
}

/// In lower case. What has no sound q counts as not sent.
fn range(text: &str) -> Option<(String, u16)> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?.to_ascii_lowercase();
    let q = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| thousandths(value.trim()))
    });
    Some((name, q.unwrap_or(Some(1_000))?))
}

fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let part: u16 = format!("{decimals:0<3}").parse().ok()?;
    match (whole, part) {
        ("0", part) => Some(part),
        ("1", 0) => Some(1_000),
        _ => None,
    }
}

/// How much a form is wanted, in thousandths, by the range that is closest to it; and how close that is.
fn fit(ranges: &[(String, u16)], form: &str) -> (u16, u8) {
    let family = form.split_once('/').map_or("", |(family, _)| family);
    let closeness = |range: &str| match range {
        range if range == form => Some(3),
        "*/*" | "*" => Some(1),
        range if range.strip_suffix("/*") == Some(family) => Some(2),
        _ => None,
    };
    let named = ranges.iter().filter_map(|(range, q)| Some((*q, closeness(range)?)));
    named.max_by_key(|(_, closeness)| *closeness).filter(|(q, _)| *q > 0).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn wants_csv(accept: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(ACCEPT, HeaderValue::from_str(value).expect("a header value"));
        }
        wanted(&headers, &["application/json", "text/csv"]) == Some("text/csv")
    }

    #[test]
    fn the_heavier_form_wins_and_then_the_one_that_is_named() {
        for csv in [
            &["text/csv"][..],
            &["Text/CSV; charset=utf-8"],
            &["text/*"],
            &["text/csv, */*"],
            &["text/csv;q=0.5, application/json;q=0.4"],
            &["application/json;q=0.9", "text/csv"],
            &["*/*;q=0.1, text/csv;q=0.2"],
            &["application/json;q=0, */*;q=0.1"],
        ] {
            assert!(wants_csv(csv), "{csv:?}");
        }
        for json in [
            &[][..],
            &[""],
            &["*/*"],
            &["application/json"],
            &["application/json, text/csv"],
            &["text/csv, application/json"],
            &["text/csv;q=0.4, application/json;q=0.5"],
            &["text/csv;q=0, */*"],
            &["text/csv;q=0"],
            &["text/csv;q=2"],
            &["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
            &["image/png"],
        ] {
            assert!(!wants_csv(json), "{json:?}");
        }
    }
}
