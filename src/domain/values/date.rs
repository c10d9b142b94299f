//! Days of the calendar, without a time and without a place: value dates, holidays, the date of a
//! transfer.
//!
//! The arithmetic is Howard Hinnant's "chrono-compatible low-level date algorithms"; a property
//! test holds it against chrono.

use crate::codec::stored;
use std::fmt;

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
        let number = |digits: &[u8]| {
            digits
                .iter()
                .try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i32::from(digit - b'0')))
        };
        let (Some(year), Some(month), Some(day)) =
            (number(&bytes[..4]), number(&bytes[5..7]), number(&bytes[8..]))
        else {
            return Err(EXPECTED);
        };
        // A day that is not in the calendar (31 February) comes back from its number as another
        // one.
        if !(1..=12).contains(&month) || day == 0 {
            return Err(EXPECTED);
        }
        let date = Date(days_from_civil(year, month, day));
        if date.civil() != (year, month, day) { Err(EXPECTED) } else { Ok(date) }
    }

    /// The year, the month (1 to 12) and the day (1 to 31).
    pub const fn civil(self) -> (i32, i32, i32) {
        let shifted = self.0 as i64 + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
        (year as i32, month as i32, day as i32)
    }

    /// The date as `YYYY-MM-DD` in ASCII; meant for the years 0 to 9999.
    pub fn ascii(self) -> [u8; 10] {
        let (year, month, day) = self.civil();
        let digit = |value: i32| b'0' + value.rem_euclid(10) as u8;
        [
            digit(year / 1000),
            digit(year / 100),
            digit(year / 10),
            digit(year),
            b'-',
            digit(month / 10),
            digit(month),
            b'-',
            digit(day / 10),
            digit(day),
        ]
    }
}

const fn days_from_civil(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = (month + 9) % 12;
    let day_of_year = (153 * from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The date as `YYYY-MM-DD`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.ascii();
        f.write_str(std::str::from_utf8(&bytes).map_err(|_| fmt::Error)?)
    }
}

/// The date as `YYYY-MM-DD`.
impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
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
            let theirs = chrono::NaiveDate::from_epoch_days(days).expect("in range");
            prop_assert_eq!(ours.to_string(), theirs.to_string());
            prop_assert_eq!(ours.is_weekend(), theirs.weekday().num_days_from_monday() >= 5);
            prop_assert_eq!(Date::parse(&ours.to_string()), Ok(ours));
        }
    }
}
