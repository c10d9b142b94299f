//! The health of the feeds, as plain numbers: for metrics, and for operators.

use super::error::SourceError;
use domain::resources::rates::samples::Series;
use domain::values::time::Timestamp;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub struct FeedHealth {
    pub series: Series,
    pub every: Duration,
    /// Made-up prices never price live mode.
    pub is_made_up: bool,
    state: Mutex<FeedState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedState {
    /// On the server's clock, as the last failure.
    pub last_success: Option<Timestamp>,
    pub last_failure: Option<Timestamp>,
    pub failures: u64,
    pub failures_in_a_row: u32,
    /// Without secrets.
    pub last_error: Option<String>,
}

impl FeedState {
    pub const fn is_new(&self) -> bool {
        self.last_success.is_none() && self.failures == 0
    }

    /// Since the last price; `None` if there never was one.
    pub fn age_seconds(&self, now: Timestamp) -> Option<i64> {
        self.last_success.map(|at| now.since_ms(at).max(0) / 1_000)
    }
}

impl FeedHealth {
    pub(super) fn new(series: Series, every: Duration, is_made_up: bool) -> FeedHealth {
        FeedHealth { series, every, is_made_up, state: Mutex::default() }
    }

    pub fn state(&self) -> FeedState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn succeeded(&self, at: Timestamp) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failures_in_a_row > 0 {
            let (series, failures) = (&self.series, state.failures_in_a_row);
            tracing::info!(pair = %series.pair, source = &*series.source, side = series.side.as_deref(), failures, "a rate feed is back");
        }
        state.last_success = Some(at);
        state.failures_in_a_row = 0;
    }

    pub(super) fn failed(&self, at: Timestamp, error: &SourceError) -> u32 {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last_failure = Some(at);
        state.failures += 1;
        state.failures_in_a_row = state.failures_in_a_row.saturating_add(1);
        let (series, failures) = (&self.series, state.failures_in_a_row);
        tracing::warn!(pair = %series.pair, source = &*series.source, side = series.side.as_deref(), failures, %error, "a rate feed got no price; the last one stays");
        state.last_error = Some(error.to_string());
        failures
    }
}
