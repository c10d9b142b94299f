//! A price at a moment, and the series that it belongs to.

use crate::codec::stored;
use crate::values::ids::Mode;
use crate::values::money::Rate;
use crate::values::time::{Date, MINUTE_MS, Timestamp, Zone};
use rust_decimal::Decimal;
use std::fmt;
use std::sync::Arc;

/// The source whose prices have a value date: Venezuela's central bank.
pub const BCV: &str = "bcv";
pub const OFFICIAL: &str = "OFFICIAL";
/// The largest number of decimals of a price.
pub const PRICE_DECIMALS: u32 = 8;
/// The largest lead that a source's clock may have over ours, in milliseconds: a market price from
/// the future would count as the newest, and as fresh, until then.
pub const AHEAD_MS_MAX: i64 = 5 * MINUTE_MS;
/// The number of letters of a currency in a pair.
const LETTERS: std::ops::RangeInclusive<usize> = 3..=5;
/// The length of the longest name of a source, side or method, in characters.
pub const NAME_CHARACTERS_MAX: usize = 32;

stored! {
    /// A pair of currencies, such as USDT/VES: its price is the amount of the second that one of the
    /// first costs.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Pair {
        0 pub(crate) length: u8,
        1 pub(crate) text: [u8; 11],
    }
}

impl Pair {
    /// Dollars of the United States in bolívares.
    pub const USD_VES: Pair = Pair::known("USD/VES");
    pub const USDT_VES: Pair = Pair::known("USDT/VES");
    pub const USDT_COP: Pair = Pair::known("USDT/COP");

    /// Reads a pair in either case; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<Pair, &'static str> {
        const EXPECTED: &str = "must be two currencies of 3 to 5 letters, for example USDT/VES";
        let (base, quote) = text.split_once('/').ok_or(EXPECTED)?;
        if ![base, quote]
            .iter()
            .all(|side| LETTERS.contains(&side.len()) && side.bytes().all(|byte| byte.is_ascii_alphabetic()))
        {
            return Err(EXPECTED);
        }
        let mut pair = Pair { length: text.len() as u8, text: [0; 11] };
        pair.text[..text.len()].copy_from_slice(text.to_ascii_uppercase().as_bytes());
        Ok(pair)
    }

    /// The pair in upper case, such as `USDT/VES`.
    pub fn as_str(&self) -> &str {
        // Only ASCII letters and a slash ever get in; a damaged record shows as an empty pair.
        std::str::from_utf8(&self.text[..usize::from(self.length).min(self.text.len())]).unwrap_or_default()
    }

    const fn known(text: &str) -> Pair {
        let mut pair = Pair { length: text.len() as u8, text: [0; 11] };
        let mut at = 0;
        while at < text.len() {
            pair.text[at] = text.as_bytes()[at];
            at += 1;
        }
        pair
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

stored! {
    /// A price series: the prices of one source, on a side, by a method. Series are never mixed.
    #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Series {
        0 pub pair: Pair,
        /// The source of the prices, such as `bcv` or `p2p`.
        1 pub source: Arc<str>,
        /// The side of the market, such as `BUY`, `SELL`, `FLOOR` or `OFFICIAL`.
        2 pub side: Option<Arc<str>>,
        /// The method by which the price was found, such as `p2p_floor`.
        3 pub method: Option<Arc<str>>,
        /// The payment method at that price, when that matters.
        4 pub payment_method: Option<Arc<str>>,
    }
}

impl Series {
    /// A series of a pair and source, without side and method.
    pub fn of(pair: Pair, source: &str) -> Series {
        Series { pair, source: Arc::from(source), side: None, method: None, payment_method: None }
    }

    pub fn side(self, side: &str) -> Series {
        Series { side: Some(Arc::from(side)), ..self }
    }

    pub fn method(self, method: &str) -> Series {
        Series { method: Some(Arc::from(method)), ..self }
    }

    /// Whether this is the official rate of the dollar from the central bank, by which payments are
    /// priced.
    pub fn is_bcv(&self) -> bool {
        self.pair == Pair::USD_VES && &*self.source == BCV
    }

    /// Whether this is an official rate of the dollar, from any source: each of its prices is in
    /// force from a day on.
    pub fn has_value_dates(&self) -> bool {
        self.is_bcv() || self.pair == Pair::USD_VES && self.side.as_deref() == Some(OFFICIAL)
    }

    /// The series without the payment method, under which a history is kept
    /// (`docs/contract.md, 14.1`: one series per source, method and side).
    pub fn line(&self) -> Series {
        Series { payment_method: None, ..self.clone() }
    }
}

/// A filter of series; a field that is `None` admits every value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    pub source: Option<&'a str>,
    pub side: Option<&'a str>,
    pub method: Option<&'a str>,
}

impl Filter<'_> {
    pub fn admits(self, series: &Series) -> bool {
        self.source.is_none_or(|source| *series.source == *source)
            && self.side.is_none_or(|side| series.side.as_deref() == Some(side))
            && self.method.is_none_or(|method| series.method.as_deref() == Some(method))
    }
}

/// Checks the name of a source, side or method: 1 to 32 letters, digits, dashes, dots or
/// underscores.
pub fn name(text: &str) -> Result<Arc<str>, &'static str> {
    let fits = (1..=NAME_CHARACTERS_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if fits {
        Ok(Arc::from(text))
    } else {
        Err("must be 1 to 32 letters, digits, dashes, dots or underscores")
    }
}

/// The smallest price. What is less rounds to 0.0000, which is no price: amounts divided by it are
/// without bound.
pub const PRICE_MIN: Decimal = Decimal::from_parts(5, 0, 0, false, 5);

/// Checks a price: at least [`PRICE_MIN`], less than 10^12, at most 8 decimals.
pub fn price(value: Decimal) -> Result<Rate, &'static str> {
    let normal = value.normalize();
    if normal < PRICE_MIN || normal.scale() > PRICE_DECIMALS || normal >= Decimal::from(1_000_000_000_000_i64)
    {
        return Err("must be a price of at least 0.00005 with at most 8 decimals");
    }
    Ok(Rate(normal))
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Sample {
        0 pub series: Series,
        1 pub price: Rate,
        /// The time of the price according to its source; for an official rate, an instant of its value
        /// date.
        2 pub as_of: Timestamp,
        3 pub fetched_at: Timestamp,
        /// The day in Caracas from which the price is in force; only official rates of the dollar have
        /// one.
        4 pub value_date: Option<Date>,
        /// Whether it is too far from the last accepted price of its series: it is kept, and decides
        /// nothing.
        5 pub suspect: bool,
        /// Whether a `simulated` or `fixed` feed made it up: it prices test mode alone.
        6 pub test_only: bool,
    }

    /// The part of a sample that the store of rates keeps as a value, under its series and time.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Quotation {
        0 pub price: Rate,
        1 pub fetched_at: Timestamp,
        /// The payment method at that price, when that matters.
        2 pub payment_method: Option<Arc<str>>,
        /// As in [`Sample::suspect`].
        3 pub suspect: bool,
    }
}

impl Sample {
    /// A sample; for an official rate, the value date is the day of `as_of` in Caracas.
    pub fn new(series: Series, price: Rate, as_of: Timestamp, fetched_at: Timestamp) -> Sample {
        let value_date = series.has_value_dates().then(|| as_of.date_in(Zone::Caracas));
        Sample { series, price, as_of, fetched_at, value_date, suspect: false, test_only: false }
    }

    pub fn prices(&self, mode: Mode) -> bool {
        !(self.suspect || self.test_only && mode == Mode::Live)
    }

    /// Whether the price is in force: its value date, if it has one, has begun in Caracas.
    pub fn has_begun(&self, now: Timestamp) -> bool {
        self.value_date.is_none_or(|date| date <= now.date_in(Zone::Caracas))
    }

    /// Milliseconds since the source's time; never negative.
    pub fn age_ms(&self, now: Timestamp) -> i64 {
        now.since_ms(self.as_of).max(0)
    }

    /// The key by which samples are compared for the newest: value date, source's time, our time.
    pub fn freshness(&self) -> (Option<Date>, Timestamp, Timestamp) {
        match self.value_date {
            // Within a value date the latest fetch counts, whatever instant of the day its price is
            // for.
            Some(date) => (Some(date), self.fetched_at, self.as_of),
            None => (None, self.as_of, self.fetched_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    #[test]
    fn pairs() {
        for (given, read) in
            [("USDT/VES", "USDT/VES"), ("usd/ves", "USD/VES"), ("ABCDE/FGHIJ", "ABCDE/FGHIJ")]
        {
            assert_eq!(Pair::parse(given).map(|pair| pair.to_string()), Ok(read.to_owned()));
        }
        for given in [
            "",
            "/",
            "USDVES",
            "US/VES",
            "USDT/VE",
            "ABCDEF/VES",
            "USDT/VES/COP",
            "USD1/VES",
            "USD/VES ",
            "ÑÑ/VES",
        ] {
            assert!(Pair::parse(given).is_err(), "{given}");
        }
        assert_eq!(Pair::parse("usdt/cop"), Ok(Pair::USDT_COP));
    }

    #[test]
    fn prices() {
        for (given, fits) in [
            ("200.00000000", true),
            ("0.00005", true),
            ("0.00004999", false),
            ("0.00000001", false),
            ("0", false),
            ("-1", false),
            ("1.000000001", false),
            ("1.0000000000", true),
            ("1000000000000", false),
        ] {
            assert_eq!(price(Decimal::from_str(given).expect(given)).is_ok(), fits, "{given}");
        }
        assert!(
            name("p2p_floor").is_ok()
                && name("").is_err()
                && name("a b").is_err()
                && name(&"x".repeat(33)).is_err()
        );
    }

    #[test]
    fn only_the_official_dollar_has_a_value_date() {
        let at = Timestamp::parse("2026-11-21T03:00:00Z").expect("an instant");
        let price = Rate(Decimal::from(200));
        let bcv = Sample::new(Series::of(Pair::USD_VES, BCV).side("OFFICIAL"), price, at, at);
        assert_eq!(bcv.value_date.map(|date| date.to_string()), Some("2026-11-20".to_owned()));
        let mirror = Sample::new(Series::of(Pair::USD_VES, "bank").side(OFFICIAL), price, at, at);
        assert_eq!(mirror.value_date, bcv.value_date, "whoever passes it on");
        assert_eq!(Sample::new(Series::of(Pair::USDT_VES, "p2p"), price, at, at).value_date, None);
    }
}
