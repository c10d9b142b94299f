//! Numbers and amounts out of their text, exactly: no float, and no number that is too long to be
//! exact.

use super::fields::Bad;
use domain::values::money::{Currency, write_minor};
use rust_decimal::Decimal;

/// Amounts have at most this many minor units: 999999999999.99.
pub const AMOUNT_MINOR_MAX: i64 = 99_999_999_999_999;

/// The minor units of `(0|[1-9]\d*)\.\d\d`.
pub fn amount(text: &str) -> Option<i64> {
    let (whole, cents) = text.split_once('.')?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let led_by_zero = whole.len() > 1 && whole.starts_with('0');
    if whole.is_empty() || led_by_zero || cents.len() != 2 || !digits(whole) || !digits(cents) {
        return None;
    }
    // An amount that does not fit is more than any limit, and is refused as such.
    let whole: i64 = whole.parse().unwrap_or(i64::MAX);
    let cents: i64 = cents.parse().ok()?;
    Some(whole.checked_mul(100).and_then(|minor| minor.checked_add(cents)).unwrap_or(i64::MAX))
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

/// An amount with the decimals of its currency.
pub fn shown_amount(currency: Currency, minor: i64) -> String {
    let mut text = String::with_capacity(16);
    // Writing to memory does not fail.
    let _ = write_minor(&mut text, minor, currency.decimals());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::str::FromStr;

    #[test]
    fn numbers_are_exact() {
        for (text, value) in [
            ("10", "10"),
            ("10.000", "10"),
            ("1e1", "10"),
            ("1E+1", "10"),
            ("100e-1", "10"),
            ("4.35", "4.35"),
            ("-0.5", "-0.5"),
            ("0", "0"),
            ("-0", "0"),
            ("0.0e5", "0"),
            ("0e999999999999999999999", "0"),
            ("0.010", "0.01"),
            ("1000.50", "1000.5"),
            ("79228162514264337593543950335", "79228162514264337593543950335"),
            ("1e28", "10000000000000000000000000000"),
            ("0.0000000000000000000000000001", "0.0000000000000000000000000001"),
            ("100000000000000000000000000000000e-30", "100"),
            ("1.000000000000000000000000000000000000000000", "1"),
        ] {
            assert_eq!(decimal(text), Ok(Decimal::from_str(value).expect("a decimal")), "{text}");
        }
        for text in [
            "1e29",
            "79228162514264337593543950336",
            "1e999999999999999999",
            "123456789012345678901234567890123456789012",
        ] {
            assert_eq!(decimal(text), Err(Bad::from("must be a smaller number")), "{text}");
        }
        for text in [
            "1e-29",
            "1e-99999999999999999999",
            "0.00000000000000000000000000001",
            "1.00000000000000000000000000000000000000001",
        ] {
            assert_eq!(decimal(text), Err(Bad::from("must be a number with fewer decimals")), "{text}");
        }
        let long = format!("0.{}1", "0".repeat(1_000_000));
        assert!(decimal(&long).is_err());
    }

    proptest! {
        #[test]
        fn every_decimal_reads_back(mantissa in -(1_i128 << 95)..(1_i128 << 95), scale in 0_u32..=28) {
            let value = Decimal::from_i128_with_scale(mantissa, scale);
            prop_assert_eq!(decimal(&value.to_string()), Ok(value));
            let scientific = format!("{mantissa}e-{scale}");
            prop_assert_eq!(decimal(&scientific), Ok(value));
        }
    }
}
