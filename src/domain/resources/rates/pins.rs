//! Pins: prices that an operator holds in force for a while, whatever the feeds say
//! (`docs/contract.md, 20.8`).

use crate::codec::stored;
use crate::resources::rates::samples::{Pair, Sample, Series};
use crate::values::time::{DAY_MS, Timestamp};
use std::sync::Arc;

/// The longest time, in ms, for which a price is pinned.
pub const PINNED_MS_MAX: i64 = 30 * DAY_MS;

stored! {
    /// The prices that a pin stands for: those of a source on a side of a pair, by whatever method.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PinPlace {
        0 pub pair: Pair,
        1 pub source: Arc<str>,
        2 pub side: Option<Arc<str>>,
    }
}

impl PinPlace {
    pub fn of(series: &Series) -> PinPlace {
        PinPlace { pair: series.pair, source: Arc::clone(&series.source), side: series.side.clone() }
    }

    pub fn has(&self, series: &Series) -> bool {
        series.pair == self.pair && series.source == self.source && series.side == self.side
    }
}

stored! {
    /// A price under an operator's hand.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Pin {
        0 pub sample: Arc<Sample>,
        /// The instant, on the server's clock, at which the feeds count again.
        1 pub until: Timestamp,
        2 pub reason: String,
        3 pub operator_id: String,
        4 pub operator_name: String,
    }
}

impl Pin {
    /// The prices that it stands for.
    pub fn place(&self) -> PinPlace {
        PinPlace::of(&self.sample.series)
    }

    /// Whether it is to be kept at `now`.
    pub fn lasts(&self, now: Timestamp) -> bool {
        now < self.until
    }

    /// Whether its price is the one that counts at `now`. An official rate that is entered for a day to
    /// come counts from that day on.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.lasts(now) && self.sample.has_begun(now)
    }

    /// Whether it stands for the prices of a series: of its place, and by its method if it names one.
    pub fn stands_for(&self, series: &Series) -> bool {
        let method = &self.sample.series.method;
        self.place().has(series) && (method.is_none() || series.method == *method)
    }
}
