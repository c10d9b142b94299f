//! Business days in Caracas: Monday to Friday less the configured holidays
//! (`docs/contract.md, 6.5`).

use crate::values::date::Date;
use crate::values::time::{DAY_MS, Timestamp, Zone};

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

#[cfg(test)]
mod tests {
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
