//! Totals of conversions: those of a day, for the daily limits, and those of all time, for
//! `convertedVes`. Part of the book, so a past balance is computed like the current one.

use crate::codec::stored;
use crate::entities::conversion::{Conversion, Source, Status, UNLISTED};
use crate::entities::resource::IndexedState;
use crate::values::time::{Date, Timestamp};

stored! {
    /// The sum of conversions on the latest day with any, less those of that day that were canceled.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Day {
        0 pub(crate) date: Date,
        1 pub(crate) minor: i64,
    }

    /// The sums of a book's conversions.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Totals {
        /// The sum of the latest day of each source, by [`Source`].
        0 pub(crate) days: [Day; 2],
        /// Bolívares converted since the beginning, less those of canceled conversions, in cents.
        1 pub ves: i64,
        /// The number of conversions accepted since the beginning, of every source.
        2 pub count: u64,
    }
}

impl Totals {
    /// The sum of the day of `now` with `minor` units more; `None` when a sum overflows.
    pub fn with(&self, source: Source, minor: i64, now: Timestamp) -> Option<i64> {
        self.ves.checked_add(minor)?;
        self.on_the_day_of(source, now).checked_add(minor)
    }

    /// The sum that was converted on the local day of `now`, in minor units.
    pub fn on_the_day_of(&self, source: Source, now: Timestamp) -> i64 {
        let day = self.days[source as usize];
        if day.date == now.date_in(source.zone()) { day.minor } else { 0 }
    }

    /// Adds a new state of a conversion to the totals.
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
