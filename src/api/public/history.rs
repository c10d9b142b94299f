//! The history of a pair: single samples, or hours and days of them.
//!
//! The window begins with its first instant and ends before its last. What is shown is cut to the
//! limit after it was sorted. A bucket at an end of the window holds what lies in the window alone.

use super::CHAPTER;
use super::latest::{SIDES, name, pair};
use super::{Handler, PublicCall, fresh};
use crate::endpoint::{endpoints, shown};
use crate::fields::{Invalid, Kind, read};
use crate::openapi::{kinds, schema, values};
use crate::problem::Problem;
use crate::query::Query;
use domain::resources::rates::buckets::{Aggregation, Kept, Point, Step, Window};
use domain::resources::rates::samples::{Filter, Pair};
use domain::values::time::{DAY_MS, Timestamp};

/// Days of the longest window that is given in days: ten years.
const DAYS_MAX: i64 = 3_650;
/// Points that are shown when nothing else is asked for.
const LIMIT_DEFAULT: i64 = 100;
const LIMIT_MAX: i64 = 1_000;
/// The most days for which `auto` shows single samples.
const AUTO_RAW_DAYS_MAX: i64 = 1;
/// The most days for which `auto` shows hours.
const AUTO_HOUR_DAYS_MAX: i64 = 14;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interval {
    Raw,
    Of(Step),
    Auto,
}

#[derive(Debug)]
pub struct Ask {
    pub pair: Pair,
    source: Option<String>,
    side: Option<String>,
    from: Option<Timestamp>,
    until: Timestamp,
    /// Whether the window was given an end: then it ends before it. Else it ends with now.
    has_end: bool,
    interval: Interval,
    aggregation: Aggregation,
    pub newest_first: bool,
    pub limit: usize,
}

impl Ask {
    pub fn filter(&self) -> Filter<'_> {
        Filter { source: self.source.as_deref(), side: self.side.as_deref(), method: None }
    }

    /// The source and the side that are asked for by name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [&self.source, &self.side].into_iter().flatten().map(String::as_str)
    }

    /// The time that the history covers, given when the lines begin.
    pub fn window(&self, begins: Option<Timestamp>) -> Window {
        let from = self.from.or(begins).unwrap_or(self.until);
        Window { from, to: if self.has_end { self.until } else { self.until.plus_ms(1) } }
    }

    /// The length of the buckets; `None` for single samples.
    pub fn step(&self, window: Window) -> Option<Step> {
        let span = self.until.since_ms(window.from);
        match self.interval {
            Interval::Raw => None,
            Interval::Of(step) => Some(step),
            Interval::Auto if span <= AUTO_RAW_DAYS_MAX * DAY_MS => None,
            Interval::Auto if span <= AUTO_HOUR_DAYS_MAX * DAY_MS => Some(Step::Hour),
            Interval::Auto => Some(Step::Day),
        }
    }
}

endpoints! { CHAPTER;
    READ = read, "The history of a pair" => {
        query |query| asked(query, Timestamp::from_unix_ms(0));
        about "The window begins with `startDate`, inclusive, or so many `days` before its end, and ends \
            before `endDate`. Buckets are UTC.";
        answers 200, "RateHistory", "The points";
        refuses 400, &["invalid_data"];
        refuses 404, &["not_found"];
        with fresh;
    };
}

fn read(call: &PublicCall<'_>) -> Result<Vec<u8>, Problem> {
    let ask = call.asked(|query| asked(query, call.now))?;
    (call.history)(&ask)
}

fn asked(mut query: Query<'_>, now: Timestamp) -> Result<Ask, Invalid> {
    let order = kinds::one_of([("asc", false), ("desc", true)]).default("\"asc\"");
    let figure = kinds::named_one(Aggregation::ALL, Aggregation::name).default("\"avg\"");
    Ok(read!(query {
        optional pair = "pair", pair() => pair.unwrap_or(Pair::USDT_VES);
        optional source = "source", name();
        optional side = "side", name().about(SIDES);
        optional days = "days", kinds::integer(1..=DAYS_MAX).about("Not beside `startDate`.");
        optional start = "startDate", kinds::instant();
        optional end = "endDate", kinds::instant();
        optional interval = "interval", interval() => interval.unwrap_or(Interval::Raw);
        optional aggregation = "aggregation", figure => aggregation.unwrap_or(Aggregation::Avg);
        optional newest_first = "sort", order => newest_first.unwrap_or(false);
        optional limit = "limit", kinds::integer(1..=LIMIT_MAX).default("100") => limit.unwrap_or(LIMIT_DEFAULT) as usize;
    } check {
        if query.has("days") && query.has("startDate") {
            query.bad("days", "must not stand beside startDate");
        }
        if let (Some(start), Some(end)) = (start.peek_some(), end.peek_some())
            && start >= end
        {
            query.bad("startDate", "must be before endDate");
        }
    } => {
        let until = end.unwrap_or(now);
        let from = start.or_else(|| days.map(|days| until.minus_ms(days * DAY_MS)));
        Ask { pair, source, side, from, until, has_end: end.is_some(), interval, aggregation, newest_first, limit }
    }))
}

fn interval<'a>() -> impl Kind<'a, Interval> {
    let steps =
        [("hour", Interval::Of(Step::Hour)), ("day", Interval::Of(Step::Day)), ("auto", Interval::Auto)];
    kinds::one_of(steps)
        .about("Single samples if missing. `auto`: samples up to 1 day, hours up to 14 days, days beyond.")
}

shown! {
    pub fn show(ask: &Ask, step: Option<Step>, points: &[Point]), schema, 4096 {
        plain "pair" = ask.pair, schema::text();
        maybe text "source" = ask.source.as_deref(), schema::text();
        maybe text "side" = ask.side.as_deref(), schema::text();
        maybe plain "interval" = step.map(Step::name), schema::one_of(["hour", "day"]);
        maybe plain "aggregation" = step.map(|_| ask.aggregation.name()), schema::text();
        list "data" = points.iter().map(|point| show_point(point, ask.aggregation)),
            schema::list(schema::named("RatePoint"));
        number "count" = points.len(), schema::integer();
    }
}

shown! {
    fn show_point(point: &Point, aggregation: Aggregation), point_schema, 192 {
        plain "pair" = point.series.pair, schema::text();
        text "source" = &point.series.source, schema::text();
        maybe text "method" = point.series.method.as_deref(), schema::text();
        maybe text "side" = point.series.side.as_deref(), schema::text();
        number "price" = match &point.kept {
                Kept::One { price, .. } => price.0.normalize(),
                Kept::Many(bucket) => bucket.price(aggregation).0,
            }, schema::number();
        plain "asOf" = point.at, values::instant();
        optional number "count" = if let Kept::Many(bucket) = &point.kept { Some(bucket.count) } else { None },
            schema::integer().at_least("1").about("Samples in the bucket.");
        optional number "suspect" = matches!(&point.kept, Kept::One { suspect: true, .. }).then_some(true),
            schema::boolean().about("True of a sample that was too far from the one before it, and decided nothing.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::resources::rates::withdrawals::{Policy, Withdrawals};
    use domain::values::money::Rate;
    use rust_decimal::Decimal;

    const NOW: &str = "2026-11-21T12:30:00.000Z";

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    fn asked(query: &str) -> Result<Ask, Vec<String>> {
        let policy = Policy { name: "legacy_flat".to_owned(), tiers: Vec::new() };
        let zero = Rate(Decimal::ZERO);
        let withdrawals = Withdrawals {
            minimum: 0,
            policies: Vec::new(),
            network_fees: Vec::new(),
            pago_movil_margin_percent: zero,
            pago_movil_fee_waiver_percent: zero,
        };
        let call = PublicCall {
            query: Some(query),
            now: at(NOW),
            latest: &|_, _| None,
            floor: &|| None,
            history: &|_| panic!("nothing is read"),
            withdrawals: &withdrawals,
            policy: &policy,
        };
        call.asked(|query| super::asked(query, call.now))
            .map_err(|problem| problem.fields.into_iter().map(|bad| bad.field).collect())
    }

    #[test]
    fn the_window_begins_with_its_first_instant_and_ends_before_its_last() {
        let begins = Some(at("2026-01-01T00:00:00Z"));
        for (query, from, to) in [
            ("", "2026-01-01T00:00:00.000Z", "2026-11-21T12:30:00.001Z"),
            ("days=1", "2026-11-20T12:30:00.000Z", "2026-11-21T12:30:00.001Z"),
            (
                "startDate=2026-11-01T00:00:00Z&endDate=2026-11-02T00:00:00Z",
                "2026-11-01T00:00:00.000Z",
                "2026-11-02T00:00:00.000Z",
            ),
            ("days=2&endDate=2026-11-03T00:00:00Z", "2026-11-01T00:00:00.000Z", "2026-11-03T00:00:00.000Z"),
            ("startDate=2026-11-01T00:00:00-04:00", "2026-11-01T04:00:00.000Z", "2026-11-21T12:30:00.001Z"),
        ] {
            let window = asked(query).expect(query).window(begins);
            assert_eq!((window.from, window.to), (at(from), at(to)), "{query}");
        }
    }

    #[test]
    fn auto_follows_the_length_of_the_window() {
        for (query, step) in [
            ("interval=auto&days=1", None),
            ("interval=auto&startDate=2026-11-20T12:29:59.999Z", Some(Step::Hour)),
            ("interval=auto&days=14", Some(Step::Hour)),
            ("interval=auto&days=15", Some(Step::Day)),
            ("interval=auto&startDate=2026-11-01T00:00:00Z&endDate=2026-11-15T00:00:00Z", Some(Step::Hour)),
            (
                "interval=auto&startDate=2026-11-01T00:00:00Z&endDate=2026-11-15T00:00:00.001Z",
                Some(Step::Day),
            ),
            ("interval=hour&days=3650", Some(Step::Hour)),
            ("interval=day&days=1", Some(Step::Day)),
            ("days=3650", None),
        ] {
            let ask = asked(query).expect(query);
            assert_eq!(ask.step(ask.window(None)), step, "{query}");
        }
        let ask = asked("interval=auto").expect("sound");
        assert_eq!(ask.step(ask.window(Some(at("2026-11-21T00:00:00Z")))), None, "as long as the history is");
        assert_eq!(ask.step(ask.window(Some(at("2026-01-01T00:00:00Z")))), Some(Step::Day));
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (query, field) in [
            ("days=0", "days"),
            ("days=3651", "days"),
            ("days=1.5", "days"),
            ("days=", "days"),
            ("limit=0", "limit"),
            ("limit=1001", "limit"),
            ("limit=-1", "limit"),
            ("interval=week", "interval"),
            ("interval=raw", "interval"),
            ("aggregation=median", "aggregation"),
            ("sort=up", "sort"),
            ("pair=USDTVES", "pair"),
            ("pair=US/VES", "pair"),
            ("startDate=yesterday", "startDate"),
            ("endDate=2026-11-01", "endDate"),
            ("days=1&startDate=2026-11-01T00:00:00Z", "days"),
            ("startDate=2026-11-02T00:00:00Z&endDate=2026-11-02T00:00:00Z", "startDate"),
            ("method=p2p_floor", "method"),
            ("limit=1&limit=2", "limit"),
        ] {
            assert_eq!(asked(query).expect_err(query), [field], "{query}");
        }
        let ask = asked("pair=usdt%2Fves&limit=1000&sort=desc&aggregation=last&source=p2p&side=BUY")
            .expect("sound");
        assert_eq!(
            (ask.pair, ask.limit, ask.newest_first, ask.aggregation),
            (Pair::USDT_VES, 1000, true, Aggregation::Last)
        );
        assert_eq!((ask.filter().source, ask.filter().side), (Some("p2p"), Some("BUY")));
    }
}
