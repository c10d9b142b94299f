//! Instants, days of the calendar, and business days.
//!
//! Instants are in milliseconds, as the API writes them (`docs/contract.md, 1.4`): RFC 3339, UTC, three decimals,
//! `Z`. One always fits the years 0000 to 9999, so its text always has 24 bytes. This module never asks what time
//! it is.

use crate::codec::{stored, stored_as};
use crate::values::text::{number, write_digits};
use chrono::{Datelike, NaiveDate};
use std::fmt;
use std::num::NonZeroU64;

pub const SECOND_MS: i64 = 1_000;
pub const MINUTE_MS: i64 = 60 * SECOND_MS;
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
pub const DAY_MS: i64 = 24 * HOUR_MS;

/// The length of an instant's text, in bytes.
pub const TEXT_BYTES: usize = 24;

/// A time zone whose calendar counts. None has daylight saving, so a fixed offset describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    /// UTC, in which rates are bucketed.
    Utc,
    /// Caracas, UTC−4: bolívares, business days, the BCV's value dates.
    Caracas,
    /// Bogotá, UTC−5: Colombian pesos.
    Bogota,
}

impl Zone {
    /// Local time minus UTC, in milliseconds.
    pub const fn offset_ms(self) -> i64 {
        match self {
            Zone::Utc => 0,
            Zone::Caracas => -4 * HOUR_MS,
            Zone::Bogota => -5 * HOUR_MS,
        }
    }
}

/// An instant.
///
/// Kept as the milliseconds since the one before the year 0000, which are never none: an `Option`
/// of it takes no more room, and most instants that a state knows are such.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(NonZeroU64);

/// The first instant that can be written, in milliseconds since 1970.
const FIRST_MS: i64 = -62_167_219_200_000;
/// The last instant that can be written, in milliseconds since 1970.
const LAST_MS: i64 = 253_402_300_799_999;

stored_as! { Timestamp as i64: |at| at.unix_ms(), |ms| Ok(Timestamp::from_unix_ms(ms)) }

impl Date {
    /// The instant at which this day begins in `zone`.
    pub const fn start_in(self, zone: Zone) -> Timestamp {
        Timestamp::from_unix_ms(self.days() as i64 * DAY_MS - zone.offset_ms())
    }
}

/// The seconds until fewer than `most` of these instants are of the last day; `None` if it is so now.
pub fn wait_for_fewer(instants: impl Iterator<Item = Timestamp>, most: usize, now: Timestamp) -> Option<u32> {
    let since = now.plus_ms(-DAY_MS);
    let mut recent: Vec<Timestamp> = instants.filter(|at| *at > since).collect();
    recent.sort_unstable();
    let first = recent.iter().rev().nth(most - 1)?;
    Some(u32::try_from(first.since_ms(since).div_euclid(SECOND_MS) + 1).unwrap_or(1))
}

#[cfg(test)]
impl crate::codec::tests::Sampled for Timestamp {
    fn sample(full: bool, number: &mut u64) -> Timestamp {
        let since = i64::from(u8::sample(false, number));
        Timestamp::from_unix_ms(if full { 1_795_226_000_000 + since } else { since })
    }
}

impl Timestamp {
    /// The first instant: 0000-01-01T00:00:00.000Z.
    pub const MIN: Timestamp = Timestamp::from_unix_ms(FIRST_MS);
    /// The last instant: 9999-12-31T23:59:59.999Z.
    pub const MAX: Timestamp = Timestamp::from_unix_ms(LAST_MS);
    /// The bound of test clocks: 9000-01-01T00:00:00.000Z. Clocks stay before it, so that instants
    /// computed from theirs, even centuries later, still fit the calendar.
    pub const CLOCKS_END: Timestamp = Timestamp::from_unix_ms(221_845_392_000_000);
    /// The Unix epoch: 1970-01-01T00:00:00.000Z.
    pub const EPOCH: Timestamp = Timestamp::from_unix_ms(0);

    /// The instant `ms` milliseconds after the epoch, or the nearest one that can be written.
    pub const fn from_unix_ms(ms: i64) -> Timestamp {
        let ms = if ms < FIRST_MS {
            FIRST_MS
        } else if ms > LAST_MS {
            LAST_MS
        } else {
            ms
        };
        Timestamp(NonZeroU64::MIN.saturating_add((ms - FIRST_MS) as u64))
    }

    /// The milliseconds since the epoch.
    pub const fn unix_ms(self) -> i64 {
        (self.0.get() - 1) as i64 + FIRST_MS
    }

    /// The instant `ms` milliseconds later, or the last one that can be written.
    pub const fn plus_ms(self, ms: i64) -> Timestamp {
        Self::from_unix_ms(self.unix_ms().saturating_add(ms))
    }

    /// The instant `ms` milliseconds earlier, or the first one that can be written.
    pub const fn minus_ms(self, ms: i64) -> Timestamp {
        Self::from_unix_ms(self.unix_ms().saturating_sub(ms))
    }

    /// Milliseconds from `earlier` to this instant; negative when it is later.
    pub const fn since_ms(self, earlier: Timestamp) -> i64 {
        self.unix_ms() - earlier.unix_ms()
    }

    /// The calendar's date at this instant in `zone`.
    pub const fn date_in(self, zone: Zone) -> Date {
        Date((self.unix_ms() + zone.offset_ms()).div_euclid(DAY_MS) as i32)
    }

    /// Reads RFC 3339 with any offset, truncated to milliseconds; the error is a message for the
    /// caller.
    pub fn parse(text: &str) -> Result<Timestamp, &'static str> {
        const EXPECTED: &str = "must be a date and time as in RFC 3339, for example 2026-11-21T02:13:00.000Z";
        let parsed = chrono::DateTime::parse_from_rfc3339(text).map_err(|_| EXPECTED)?;
        let ms = parsed.timestamp_millis();
        if !(FIRST_MS..=LAST_MS).contains(&ms) {
            return Err(EXPECTED);
        }
        Ok(Timestamp::from_unix_ms(ms))
    }

    pub fn ascii(self) -> [u8; TEXT_BYTES] {
        let ms = self.unix_ms();
        let in_day = ms.rem_euclid(DAY_MS) as u64;
        let mut out = *b"0000-00-00T00:00:00.000Z";
        out[..10].copy_from_slice(&Date(ms.div_euclid(DAY_MS) as i32).ascii());
        write_digits(&mut out[11..13], in_day / HOUR_MS as u64);
        write_digits(&mut out[14..16], in_day / MINUTE_MS as u64 % 60);
        write_digits(&mut out[17..19], in_day / SECOND_MS as u64 % 60);
        write_digits(&mut out[20..23], in_day % SECOND_MS as u64);
        out
    }
}

impl Default for Timestamp {
    fn default() -> Self {
        Timestamp::EPOCH
    }
}

/// The text that the API writes.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.ascii();
        f.write_str(std::str::from_utf8(&bytes).map_err(|_| fmt::Error)?)
    }
}

stored! {
    /// A day of the Gregorian calendar, as days since 1970-01-01.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Date(pub(crate) i32);
}

impl Date {
    /// The day that is `days` after 1970-01-01.
    pub const fn from_days(days: i32) -> Date {
        Date(days)
    }

    /// The number of days since 1970-01-01.
    pub const fn days(self) -> i32 {
        self.0
    }

    /// The day that is `days` later; saturates at the ends of the type.
    pub const fn plus_days(self, days: i32) -> Date {
        Date(self.0.saturating_add(days))
    }

    /// Whether the day is a Saturday or a Sunday.
    pub const fn is_weekend(self) -> bool {
        // 1970-01-01 was a Thursday: 2 days later the first weekend began.
        matches!((self.0 - 2).rem_euclid(7), 0 | 1)
    }

    /// Reads `YYYY-MM-DD`; the error is a message for the caller.
    pub fn parse(text: &str) -> Result<Date, &'static str> {
        const EXPECTED: &str = "must be a date of the calendar as YYYY-MM-DD";
        let bytes: &[u8; 10] = text.as_bytes().try_into().map_err(|_| EXPECTED)?;
        if bytes[4] != b'-' || bytes[7] != b'-' {
            return Err(EXPECTED);
        }
        let parts = (number(&bytes[..4]), number(&bytes[5..7]), number(&bytes[8..]));
        let (Some(year), Some(month), Some(day)) = parts else { return Err(EXPECTED) };
        let date = NaiveDate::from_ymd_opt(year as i32, month as u32, day as u32).ok_or(EXPECTED)?;
        Ok(Date(date.to_epoch_days()))
    }

    /// The year, the month (1 to 12) and the day (1 to 31).
    pub fn civil(self) -> (i32, u32, u32) {
        let date = NaiveDate::from_epoch_days(self.0).unwrap_or_default();
        (date.year(), date.month(), date.day())
    }

    /// The date as `YYYY-MM-DD` in ASCII; meant for the years 0 to 9999.
    pub fn ascii(self) -> [u8; 10] {
        let (year, month, day) = self.civil();
        let mut out = *b"0000-00-00";
        write_digits(&mut out[..4], year.unsigned_abs().into());
        write_digits(&mut out[5..7], month.into());
        write_digits(&mut out[8..], day.into());
        out
    }
}

/// The date as `YYYY-MM-DD`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.ascii();
        f.write_str(std::str::from_utf8(&bytes).map_err(|_| fmt::Error)?)
    }
}

/// The `n`-th business day after the Caracas date of `sale`, at the local time of the sale; the
/// sale itself for `n` = 0.
///
/// Saturday + 1 is Monday. Whoever holds money takes the later of this and 24 hours.
pub fn nth_business_day_after(sale: Timestamp, n: u32, holidays: &[Date]) -> Timestamp {
    let mut date = sale.date_in(Zone::Caracas);
    let mut days_later: i64 = 0;
    for _ in 0..n {
        loop {
            date = date.plus_days(1);
            days_later += 1;
            if is_business_day(date, holidays) || date > LAST_DATE {
                break;
            }
        }
    }
    sale.plus_ms(days_later * DAY_MS)
}

/// Whether a date is a business day: Monday to Friday, unless it is a holiday.
pub fn is_business_day(date: Date, holidays: &[Date]) -> bool {
    !date.is_weekend() && !holidays.contains(&date)
}

/// The end of the calendar: beyond it every day counts, so that the search ends whatever the
/// holidays are.
const LAST_DATE: Date = Timestamp::MAX.date_in(Zone::Utc);

debug_as! { Timestamp Date: it => it }

#[cfg(test)]
mod time_tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    #[test]
    fn read_with_any_offset_and_written_in_utc() {
        for (given, written) in [
            ("2026-11-21T02:13:00.000Z", "2026-11-21T02:13:00.000Z"),
            ("2026-11-20T22:13:00-04:00", "2026-11-21T02:13:00.000Z"),
            ("2026-11-21T02:13:00.1+00:00", "2026-11-21T02:13:00.100Z"),
            ("2026-11-21T02:13:00.123999Z", "2026-11-21T02:13:00.123Z"),
            ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
            ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"),
            ("2000-03-01T00:00:00.005Z", "2000-03-01T00:00:00.005Z"),
        ] {
            let instant = at(given);
            assert_eq!(instant.to_string(), written, "{given}");
        }
    }

    #[test]
    fn what_is_no_instant_is_refused() {
        for given in [
            "",
            "yesterday",
            "2026-11-21",
            "2026-11-21T02:13:00",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-21T25:00:00Z",
            "1763690000",
        ] {
            assert!(Timestamp::parse(given).is_err(), "{given}");
        }
    }

    #[test]
    fn the_bounds_are_what_their_comments_say() {
        assert_eq!(Timestamp::MIN.to_string(), "0000-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::MAX.to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::CLOCKS_END.to_string(), "9000-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::MAX.plus_ms(i64::MAX), Timestamp::MAX);
        assert_eq!(Timestamp::from_unix_ms(i64::MIN), Timestamp::MIN);
        assert_eq!((Timestamp::EPOCH.unix_ms(), Timestamp::default()), (0, Timestamp::EPOCH));
    }

    #[test]
    fn none_takes_no_more_room() {
        assert_eq!(size_of::<Option<Timestamp>>(), size_of::<i64>());
    }

    #[test]
    fn a_local_day_begins_at_local_midnight() {
        for (instant, zone, date, start) in [
            ("2026-11-21T03:59:59.999Z", Zone::Caracas, "2026-11-20", "2026-11-20T04:00:00.000Z"),
            ("2026-11-21T04:00:00.000Z", Zone::Caracas, "2026-11-21", "2026-11-21T04:00:00.000Z"),
            ("2026-11-21T04:59:59.999Z", Zone::Bogota, "2026-11-20", "2026-11-20T05:00:00.000Z"),
            ("2026-11-21T05:00:00.000Z", Zone::Bogota, "2026-11-21", "2026-11-21T05:00:00.000Z"),
            ("1970-01-01T00:00:00.000Z", Zone::Caracas, "1969-12-31", "1969-12-31T04:00:00.000Z"),
            ("2026-11-21T23:00:00.000Z", Zone::Utc, "2026-11-21", "2026-11-21T00:00:00.000Z"),
        ] {
            assert_eq!(at(instant).date_in(zone).to_string(), date, "{instant} {zone:?}");
            assert_eq!(at(instant).date_in(zone).start_in(zone).to_string(), start, "{instant} {zone:?}");
        }
    }

    proptest! {
        #[test]
        fn our_text_is_chronos_text_and_comes_back(ms in Timestamp::MIN.unix_ms()..=Timestamp::MAX.unix_ms()) {
            let instant = Timestamp::from_unix_ms(ms);
            let theirs = chrono::DateTime::from_timestamp_millis(ms).expect("in range").to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
            prop_assert_eq!(instant.to_string(), theirs);
            prop_assert_eq!(at(&instant.to_string()), instant);
        }
    }
}

#[cfg(test)]
mod date_tests {
    use super::*;
    use chrono::Datelike;
    use proptest::prelude::*;

    #[test]
    fn read_and_written() {
        for given in ["1970-01-01", "2026-11-21", "2024-02-29", "2000-02-29", "0000-01-01", "9999-12-31"] {
            assert_eq!(Date::parse(given).expect(given).to_string(), given);
        }
        assert_eq!(Date::parse("1970-01-02"), Ok(Date::from_days(1)));
    }

    #[test]
    fn what_is_no_day_is_refused() {
        for given in [
            "",
            "2026-02-29",
            "2026-02-31",
            "2026-13-01",
            "2026-00-10",
            "2026-01-00",
            "2026-1-1",
            "21-11-2026",
            "2026/11/21",
            "2026-11-21Z",
            "+026-11-21",
            "２026-11-2",
        ] {
            assert!(Date::parse(given).is_err(), "{given}");
        }
    }

    #[test]
    fn weekends() {
        for (given, weekend) in [
            ("2026-11-20", false),
            ("2026-11-21", true),
            ("2026-11-22", true),
            ("2026-11-23", false),
            ("1969-12-28", true),
        ] {
            assert_eq!(Date::parse(given).expect(given).is_weekend(), weekend, "{given}");
        }
    }

    proptest! {
        #[test]
        fn chrono_agrees(days in -719_528..=2_932_896_i32) {
            let ours = Date::from_days(days);
            let theirs = NaiveDate::from_epoch_days(days).expect("in range");
            prop_assert_eq!(ours.to_string(), theirs.to_string());
            prop_assert_eq!(ours.is_weekend(), theirs.weekday().num_days_from_monday() >= 5);
            prop_assert_eq!(Date::parse(&ours.to_string()), Ok(ours));
        }
    }
}

#[cfg(test)]
mod calendar_tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).expect("an instant")
    }

    fn check(sale: &str, n: u32, holidays: &[&str], expected: &str) {
        let holidays: Vec<Date> = holidays.iter().map(|day| Date::parse(day).expect("a date")).collect();
        assert_eq!(nth_business_day_after(at(sale), n, &holidays), at(expected), "{sale} + {n}");
    }

    #[test]
    fn weekends_do_not_count() {
        check("2026-11-18T15:30:00-04:00", 0, &[], "2026-11-18T15:30:00-04:00");
        check("2026-11-18T15:30:00-04:00", 1, &[], "2026-11-19T15:30:00-04:00");
        check("2026-11-20T15:30:00-04:00", 1, &[], "2026-11-23T15:30:00-04:00");
        check("2026-11-21T15:30:00-04:00", 1, &[], "2026-11-23T15:30:00-04:00");
        check("2026-11-22T15:30:00-04:00", 1, &[], "2026-11-23T15:30:00-04:00");
        check("2026-11-21T15:30:00-04:00", 2, &[], "2026-11-24T15:30:00-04:00");
        check("2026-11-18T15:30:00-04:00", 5, &[], "2026-11-25T15:30:00-04:00");
        check("2026-11-18T15:30:00-04:00", 10, &[], "2026-12-02T15:30:00-04:00");
    }

    #[test]
    fn the_day_is_the_one_of_caracas() {
        // Saturday in UTC, Friday in Caracas: the next business day is Monday, at 23:30 there.
        check("2026-11-21T03:30:00Z", 1, &[], "2026-11-24T03:30:00Z");
        // Monday in UTC, Sunday in Caracas.
        check("2026-11-23T03:30:00Z", 1, &[], "2026-11-24T03:30:00Z");
    }

    #[test]
    fn holidays_do_not_count() {
        check("2026-12-24T10:00:00-04:00", 1, &["2026-12-25"], "2026-12-28T10:00:00-04:00");
        check(
            "2026-12-24T10:00:00-04:00",
            2,
            &["2026-12-25", "2026-12-28", "2027-01-01"],
            "2026-12-30T10:00:00-04:00",
        );
        check("2026-12-25T10:00:00-04:00", 1, &["2026-12-25", "2026-12-26"], "2026-12-28T10:00:00-04:00");
    }

    #[test]
    fn the_end_of_time_is_the_end() {
        assert_eq!(nth_business_day_after(Timestamp::MAX, 3, &[]), Timestamp::MAX);
    }
}
