//! Buckets of a price series, one per hour or day: the figures that are kept of each, and the one
//! price that a history shows for it (`docs/contract.md, 15.3`).
//!
//! Prices are integers of hundred-millionths here, so that sums are exact and an average is rounded
//! once, half up. Buckets join in any order to the same result: a late sample changes its bucket
//! just like one that comes in time.

use crate::codec::{named, stored};
use crate::resources::rates::samples::{PRICE_DECIMALS, Series};
use crate::values::money::Rate;
use crate::values::time::{DAY_MS, HOUR_MS, Timestamp};
use rust_decimal::Decimal;
use std::sync::Arc;

named! {
    /// The length of a bucket. Buckets begin at whole hours and days in UTC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Step {
        Hour "hour",
        Day "day",
    }
}

impl Step {
    /// The length of a bucket, in milliseconds.
    pub const fn width_ms(self) -> i64 {
        match self {
            Step::Hour => HOUR_MS,
            Step::Day => DAY_MS,
        }
    }

    /// The instant at which the bucket of an instant begins.
    pub const fn start_of(self, at: Timestamp) -> Timestamp {
        Timestamp::from_unix_ms(at.unix_ms().div_euclid(self.width_ms()) * self.width_ms())
    }
}

named! {
    /// The rule that picks the one price shown for a bucket.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Aggregation {
        /// The average, half up to 8 decimals.
        Avg "avg",
        Min "min",
        Max "max",
        First "first",
        Last "last",
    }
}

/// A price in hundred-millionths.
pub fn ticks(price: Rate) -> i128 {
    let mut exact = price.0;
    exact.rescale(PRICE_DECIMALS);
    exact.mantissa()
}

/// The price of this many hundred-millionths, without trailing zeros.
pub fn price(ticks: i128) -> Rate {
    Rate(Decimal::try_from_i128_with_scale(ticks, PRICE_DECIMALS).unwrap_or_default().normalize())
}

stored! {
    /// A price with its position in its series: by the source's time, and within the same time by the
    /// order in which the samples came.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Placed {
        0 pub at: Timestamp,
        1 pub number: u64,
        /// The price in hundred-millionths.
        2 pub ticks: i128,
    }

    /// The figures that are kept of the samples of an hour or a day.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Bucket {
        0 pub count: u64,
        /// The sum of the prices, in hundred-millionths.
        1 pub sum: i128,
        /// The lowest price, in hundred-millionths.
        2 pub min: i128,
        /// The highest price, in hundred-millionths.
        3 pub max: i128,
        4 pub first: Placed,
        5 pub last: Placed,
    }
}

impl Bucket {
    pub const fn of(one: Placed) -> Bucket {
        Bucket { count: 1, sum: one.ticks, min: one.ticks, max: one.ticks, first: one, last: one }
    }

    /// The bucket of the samples of both buckets.
    pub fn joined(self, other: Bucket) -> Bucket {
        Bucket {
            count: self.count.saturating_add(other.count),
            // A price has at most 21 digits here and an i128 takes 38, so only 10^17 samples fill
            // it.
            sum: self.sum.saturating_add(other.sum),
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }

    /// The price that is shown for the bucket.
    pub fn price(&self, aggregation: Aggregation) -> Rate {
        price(match aggregation {
            Aggregation::Avg => self.average(),
            Aggregation::Min => self.min,
            Aggregation::Max => self.max,
            Aggregation::First => self.first.ticks,
            Aggregation::Last => self.last.ticks,
        })
    }

    /// The average, rounded half up; prices are above zero.
    fn average(&self) -> i128 {
        let count = i128::from(self.count.max(1));
        let (whole, rest) = (self.sum / count, self.sum % count);
        whole + i128::from(rest * 2 >= count)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first instant in the window.
    pub from: Timestamp,
    /// The first instant after the window.
    pub to: Timestamp,
}

/// The content of a point in a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    One { price: Rate, suspect: bool },
    Many(Bucket),
}

/// A point of a price history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub series: Arc<Series>,
    /// The source's time, or the start of the bucket.
    pub at: Timestamp,
    pub kept: Kept,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::str::FromStr;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    fn rate(text: &str) -> Rate {
        Rate(Decimal::from_str(text).expect("a decimal"))
    }

    #[test]
    fn buckets_begin_at_whole_hours_and_days_in_utc() {
        for (instant, step, start) in [
            ("2026-11-21T00:00:00.000Z", Step::Hour, "2026-11-21T00:00:00.000Z"),
            ("2026-11-21T00:59:59.999Z", Step::Hour, "2026-11-21T00:00:00.000Z"),
            ("2026-11-21T01:00:00.000Z", Step::Hour, "2026-11-21T01:00:00.000Z"),
            ("2026-11-20T23:59:59.999Z", Step::Day, "2026-11-20T00:00:00.000Z"),
            ("2026-11-21T00:00:00.000Z", Step::Day, "2026-11-21T00:00:00.000Z"),
            ("2026-11-20T22:00:00-04:00", Step::Day, "2026-11-21T00:00:00.000Z"),
            ("1969-12-31T23:30:00.000Z", Step::Hour, "1969-12-31T23:00:00.000Z"),
            ("1969-12-31T23:30:00.000Z", Step::Day, "1969-12-31T00:00:00.000Z"),
        ] {
            assert_eq!(step.start_of(at(instant)), at(start), "{instant} {step:?}");
        }
    }

    #[test]
    fn an_average_is_rounded_half_up_at_the_eighth_decimal() {
        for (prices, average) in [
            (&["100", "101", "103"][..], "101.33333333"),
            (&["100", "100", "101"], "100.33333333"),
            (&["0.00000001", "0.00000002"], "0.00000002"),
            (&["0.00000001", "0.00000001", "0.00000002"], "0.00000001"),
            (&["1", "1", "0.00000001"], "0.66666667"),
            (&["245.5"], "245.5"),
        ] {
            let placed = |(n, text): (usize, &&str)| {
                Bucket::of(Placed { at: Timestamp::EPOCH, number: n as u64, ticks: ticks(rate(text)) })
            };
            let bucket =
                prices.iter().enumerate().map(placed).reduce(Bucket::joined).expect("there are prices");
            assert_eq!(bucket.price(Aggregation::Avg).0.to_string(), average, "{prices:?}");
        }
    }

    #[test]
    fn the_largest_price_fits() {
        let largest = rate("999999999999.99999999");
        assert_eq!(price(ticks(largest)), largest);
        assert_eq!(price(ticks(rate("210"))).0.to_string(), "210");
    }

    proptest! {
        /// A bucket is the same in whatever order samples come and buckets are joined.
        #[test]
        fn buckets_say_what_a_naive_look_at_all_samples_says(samples in proptest::collection::vec((0_i64..5_000, 1_i64..1_000_000), 1..60), split in 0_usize..60) {
            let placed: Vec<Placed> = samples
                .iter()
                .enumerate()
                .map(|(n, (ms, price))| Placed { at: Timestamp::from_unix_ms(*ms), number: n as u64, ticks: i128::from(*price) })
                .collect();
            let (one, other) = placed.split_at(split.min(placed.len()));
            let join = |part: &[Placed]| part.iter().map(|placed| Bucket::of(*placed)).reduce(Bucket::joined);
            let bucket = [join(other), join(one)].into_iter().flatten().reduce(Bucket::joined).expect("at least one");
            let mut sorted = placed.clone();
            sorted.sort_by_key(|placed| (placed.at, placed.number));
            prop_assert_eq!(bucket.count, placed.len() as u64);
            prop_assert_eq!(bucket.price(Aggregation::First), price(sorted[0].ticks));
            prop_assert_eq!(bucket.price(Aggregation::Last), price(sorted[sorted.len() - 1].ticks));
            prop_assert_eq!(bucket.price(Aggregation::Min), price(placed.iter().map(|placed| placed.ticks).min().unwrap_or_default()));
            prop_assert_eq!(bucket.price(Aggregation::Max), price(placed.iter().map(|placed| placed.ticks).max().unwrap_or_default()));
            let sum: Decimal = placed.iter().map(|placed| price(placed.ticks).0).sum();
            let average = (sum / Decimal::from(placed.len())).round_dp_with_strategy(8, rust_decimal::RoundingStrategy::MidpointAwayFromZero);
            prop_assert_eq!(bucket.price(Aggregation::Avg).0, average.normalize());
        }
    }
}
