//! From an answer's text to a price and its time. Nothing here waits or asks what time it is.

use crate::json_pointer::Pointer;
use domain::resources::rates::buckets::{price as price_of, ticks};
use domain::resources::rates::samples::{AHEAD_MS_MAX, PRICE_DECIMALS, price};
use domain::values::money::Rate;
use domain::values::time::{DAY_MS, Date, Timestamp, Zone};
use rust_decimal::{Decimal, RoundingStrategy};
use std::str::FromStr;

const VALUE_DATE_AHEAD_MS_MAX: i64 = 30 * DAY_MS;

/// The median of the prices at `pointer`; of an even number the average of the two in the middle,
/// half up to 8 decimals.
pub fn median_price(json: &str, pointer: &Pointer) -> Result<Rate, String> {
    let mut found = Vec::new();
    for text in pointer.find(json)? {
        let exact = decimal(text).ok_or("has something there that is no number")?;
        let price = price(exact).map_err(|_| "has a price there that is below 0.00005, or too large")?;
        found.push(ticks(price));
    }
    found.sort_unstable();
    let (low, high) = (found.get(found.len().saturating_sub(1) / 2), found.get(found.len() / 2));
    let (Some(low), Some(high)) = (low, high) else { return Err("has nothing there".to_owned()) };
    Ok(price_of((low + high + 1) / 2))
}

/// RFC 3339, seconds or milliseconds since 1970, or a day, which begins in Caracas.
pub fn as_of(
    json: &str,
    pointer: &Pointer,
    has_value_dates: bool,
    now: Timestamp,
) -> Result<Timestamp, String> {
    let found = pointer.find(json)?;
    let text = unquoted(found.first().ok_or("has no time there")?);
    let text = text.ok_or("has a time there that is neither a text nor a number")?;
    let at = instant(&text).ok_or("has a time there that cannot be read")?;
    let ahead_max = if has_value_dates { VALUE_DATE_AHEAD_MS_MAX } else { AHEAD_MS_MAX };
    // A price from the future would stay the newest until then.
    match at.since_ms(now) > ahead_max {
        true => Err("has a time there that lies ahead".to_owned()),
        false => Ok(at),
    }
}

/// Rounded half up to the decimals of a price.
fn decimal(text: &str) -> Option<Decimal> {
    let text = unquoted(text)?;
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let exact =
        Decimal::from_str(&text).or_else(|_| Decimal::from_scientific(&text)).ok().filter(|_| plain)?;
    Some(exact.round_dp_with_strategy(PRICE_DECIMALS, RoundingStrategy::MidpointAwayFromZero))
}

/// The text in a JSON string, or a number as it was written.
fn unquoted(text: &str) -> Option<String> {
    match text.as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(text).ok().map(|text| text.trim().to_owned()),
        b'-' | b'0'..=b'9' => Some(text.to_owned()),
        _ => None,
    }
}

fn instant(text: &str) -> Option<Timestamp> {
    /// Larger numbers count milliseconds: as seconds this one is the year 5138.
    const SECONDS_MAX: u64 = 100_000_000_000;
    if let Ok(number) = text.parse::<i64>() {
        let ms = if number.unsigned_abs() < SECONDS_MAX { number.checked_mul(1_000)? } else { number };
        let is_instant = (Timestamp::MIN.unix_ms()..=Timestamp::MAX.unix_ms()).contains(&ms);
        return is_instant.then(|| Timestamp::from_unix_ms(ms));
    }
    if let Ok(at) = Timestamp::parse(text) {
        return Some(at);
    }
    // 2026-11-21, or 21/11/2026 as banks of the country write it.
    let day = match text.split('/').collect::<Vec<_>>()[..] {
        [day, month, year] => Date::parse(&format!("{year}-{month:0>2}-{day:0>2}")),
        _ => Date::parse(text),
    };
    day.ok().map(|day| day.start_in(Zone::Caracas))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn median(json: &str) -> Result<String, String> {
        median_price(json, &Pointer::parse("/data/*/price").expect("a pointer"))
            .map(|price| price.0.to_string())
    }

    fn offers(prices: &[&str]) -> String {
        let offers: Vec<String> = prices.iter().map(|price| format!("{{\"price\":{price}}}")).collect();
        format!("{{\"data\":[{}]}}", offers.join(","))
    }

    #[test]
    fn several_offers_become_their_median() {
        for (prices, expected) in [
            (&["\"245.10\""][..], "245.1"),
            (&["3", "1", "2"], "2"),
            (&["4", "1", "3", "2"], "2.5"),
            (&["0.00005001", "0.00005002"], "0.00005002"),
            (&["245.123456789"], "245.12345679"),
            (&["2.45e2"], "245"),
            (&["36.70000000000000284217094304040074348449707031"], "36.7"),
        ] {
            assert_eq!(median(&offers(prices)).expect("a price"), expected, "{prices:?}");
        }
        for prices in [
            &[][..],
            &["null"],
            &["\"abc\""],
            &["1", "true"],
            &["0"],
            &["0.00000001"],
            &["245", "0.00004999"],
            &["-1"],
            &["\"1_000\""],
            &["\"1,5\""],
            &["1e40"],
            &["[1]"],
            &["\"NaN\""],
        ] {
            assert!(median(&offers(prices)).is_err(), "{prices:?}");
        }
        assert!(median("<html>").is_err());
    }

    #[test]
    fn times_as_sources_write_them() {
        let now = Timestamp::parse("2026-11-21T12:00:00Z").expect("an instant");
        let read = |text: &str, dated| {
            let json = format!("{{\"t\":{text}}}");
            as_of(&json, &Pointer::parse("/t").expect("a pointer"), dated, now).map(|at| at.to_string())
        };
        for (text, expected) in [
            ("\"2026-11-20T16:00:00-04:00\"", "2026-11-20T20:00:00.000Z"),
            ("1795176000", "2026-11-20T12:00:00.000Z"),
            ("1795176000123", "2026-11-20T12:00:00.123Z"),
            ("\"2026-11-20\"", "2026-11-20T04:00:00.000Z"),
            ("\"20/11/2026\"", "2026-11-20T04:00:00.000Z"),
        ] {
            assert_eq!(read(text, false).expect("a time"), expected, "{text}");
        }
        assert_eq!(
            read("\"2026-11-23\"", true).expect("a time"),
            "2026-11-23T04:00:00.000Z",
            "a value date may lie ahead"
        );
        for text in [
            "-9223372036854775808",
            "9223372036854775807",
            "-9223372036854775807",
            "\"-9223372036854775808\"",
            "9223372036854775808",
        ] {
            assert!(read(text, true).is_err(), "{text}");
        }
        for (text, dated) in [
            ("\"2026-11-23\"", false),
            ("\"2027-11-23\"", true),
            ("\"soon\"", false),
            ("null", false),
            ("{}", true),
        ] {
            assert!(read(text, dated).is_err(), "{text}");
        }
    }
}
