//! What was converted: today, for the daily limits, and in all, for `convertedVes`. A part of the
//! book, so it is as right in a past moment as it is now.

use super::{Conversion, Source, Status, UNLISTED};
use crate::record::IndexedState;
use crate::values::date::Date;
use crate::values::time::Timestamp;

/// What was converted on the newest day on which something was, canceled conversions of that day
/// taken off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Day {
    pub(crate) date: Date,
    pub(crate) minor: i64,
}

/// The sums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// By [`Source`].
    pub(crate) days: [Day; 2],
    /// Bolívares since the beginning, canceled ones taken off, in cents.
    pub(crate) ves: i64,
    /// Conversions since the beginning, of everything.
    pub(crate) count: u64,
}

impl Totals {
    /// Bolívares that became USDT, in cents.
    pub const fn ves(&self) -> i64 {
        self.ves
    }

    /// How many conversions were accepted.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// What the day of `now` comes to with `minor` more; `None` when a sum does not fit.
    pub fn with(&self, source: Source, minor: i64, now: Timestamp) -> Option<i64> {
        self.ves.checked_add(minor)?;
        self.on_the_day_of(source, now).checked_add(minor)
    }

    /// What was converted on the day of `now`, in minor units.
    pub fn on_the_day_of(&self, source: Source, now: Timestamp) -> i64 {
        let day = self.days[source as usize];
        if day.date == now.date_in(source.zone()) { day.minor } else { 0 }
    }

    /// Takes a new state of a conversion into account.
    pub fn evolve(&mut self, conversion: &Conversion, indexed: Option<IndexedState>) {
        let Some(accepted) = conversion.accepted() else { return };
        let (source, minor, date) = (
            conversion.source,
            accepted.price.source_minor,
            conversion.created_at.date_in(conversion.source.zone()),
        );
        let is_new = indexed.is_none_or(|indexed| indexed.facet == UNLISTED);
        self.count += u64::from(is_new);
        let day = &mut self.days[source as usize];
        let change = match (is_new, accepted.status()) {
            (true, _) => {
                if day.date != date {
                    *day = Day { date, minor: 0 };
                }
                minor
            }
            (false, Status::Canceled) => -minor,
            (false, Status::Pending | Status::Completed) => 0,
        };
        if day.date == date {
            day.minor += change;
        }
        if source == Source::Ves {
            self.ves += change;
        }
    }
}
