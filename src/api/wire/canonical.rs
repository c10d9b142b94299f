//! Canonical bytes of a JSON value: the same for two texts that mean the same, different for two
//! that do not.
//!
//! Members are in the order of their names, white space is gone, strings are decoded and written
//! anew, and a number is its exact decimal value, however large: `1e1`, `10.0` and `10` are one,
//! `1e400` and `1e401` are two. Two payloads are told apart by these bytes
//! (`docs/contract.md, 1.7`), so no library's idea of a number may decide them.

use super::json::{self, Member, Shape};

/// Writes the canonical form of `text`, a JSON value that [`json::read`] accepted, to `out`.
pub fn write(text: &str, out: &mut Vec<u8>) {
    match json::read(text) {
        Ok(Shape::Object(mut members)) => {
            members.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            list(b"{}", members, out, |Member { name, value }, out| {
                string(&name, out);
                out.push(b':');
                write(value, out);
            });
        }
        Ok(Shape::List(elements)) => list(b"[]", elements, out, write),
        Ok(Shape::Scalar) => match text.bytes().next() {
            Some(b'"') => string(&json::decode_string(text), out),
            Some(b'-' | b'0'..=b'9') => number(text, out),
            _ => out.extend_from_slice(text.as_bytes()),
        },
        Err(_) => unreachable!("a part of a JSON value is a JSON value"),
    }
}

fn list<T>(brackets: &[u8; 2], items: Vec<T>, out: &mut Vec<u8>, each: impl Fn(T, &mut Vec<u8>)) {
    out.push(brackets[0]);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        each(item, out);
    }
    out.push(brackets[1]);
}

fn string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a Vec takes every byte and a text is always JSON");
}

/// Plain digits (`-12.5`) as long as there are few; else `digits`, `e`, exponent of the last digit.
fn number(text: &str, out: &mut Vec<u8>) {
    const PLAIN_ZEROS_MAX: i64 = 32;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return out.push(b'0');
    }
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    let last = exponent.parse::<i64>().ok().and_then(|exponent| {
        // The exponent of the last significant digit: every digit of the fraction is a step down,
        // every zero dropped a step up.
        exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(i64::try_from(zeros).ok()?)
    });
    out.extend_from_slice(sign.as_bytes());
    match last {
        // An exponent beyond 64 bits is nobody's amount: what was written tells such numbers apart.
        None => out.extend_from_slice(text.trim_start_matches('-').as_bytes()),
        Some(last) if (0..=PLAIN_ZEROS_MAX).contains(&last) => {
            out.extend_from_slice(significant.as_bytes());
            out.extend((0..last).map(|_| b'0'));
        }
        Some(last) if (-PLAIN_ZEROS_MAX..0).contains(&last) => {
            let decimals = usize::try_from(-last).expect("a small count");
            let padded = format!("{significant:0>width$}", width = decimals + 1);
            let (whole, fraction) = padded.split_at(padded.len() - decimals);
            out.extend_from_slice(format!("{whole}.{fraction}").as_bytes());
        }
        Some(last) => out.extend_from_slice(format!("{significant}e{last}").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(text: &str) -> String {
        let mut out = Vec::new();
        write(text, &mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        for (one, other) in [
            (r#"{"b": 1, "a": [true, null]}"#, r#"{"a":[true,null],"b":1.0}"#),
            ("1e1", "10.00"),
            ("-0.0", "0"),
            ("0.00120", "12e-4"),
            ("1E+2", "100"),
            ("12300e398", "1.23e402"),
            (r#""\u0041\/""#, r#""A/""#),
        ] {
            assert_eq!(canonical(one), canonical(other), "{one} and {other}");
        }
        assert_eq!(canonical(r#" { "z": -12.50 , "a" : "ñ\n" } "#.trim()), r#"{"a":"ñ\n","z":-12.5}"#);
    }

    #[test]
    fn what_differs_stays_different() {
        for (one, other) in [
            ("1e400", "1e401"),
            ("1e99999999999999999999", "2e99999999999999999999"),
            ("1", "-1"),
            ("1", r#""1""#),
            ("0.1", "0.10000000000000000001"),
        ] {
            assert_ne!(canonical(one), canonical(other), "{one} and {other}");
        }
    }

    proptest! {
        #[test]
        fn a_number_keeps_its_value(digits in 0_i64..1_000_000_000_000, scale in 0_u32..12, shift in 0_u32..6) {
            let plain = rust_decimal::Decimal::new(digits, scale);
            let shifted = format!("{}e-{}", rust_decimal::Decimal::new(digits, scale) * rust_decimal::Decimal::from(10_u64.pow(shift)), shift);
            prop_assert_eq!(canonical(&plain.to_string()), plain.normalize().to_string());
            prop_assert_eq!(canonical(&shifted), plain.normalize().to_string());
        }
    }
}
