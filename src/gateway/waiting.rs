//! Counts of what waits, as they were taken last: payments and payouts by their age, payouts for an
//! operator's review, notices that nobody has claimed, events for webhook endpoints. A task counts
//! now and then (`admin/due.rs`), so that a scrape of the metrics walks no books.

use std::sync::{Mutex, PoisonError};

/// The ages that are told apart: each is below so many seconds, the last one older than all.
pub const AGES: [(&str, i64); 4] = [("5m", 300), ("1h", 3_600), ("1d", 86_400), ("older", i64::MAX)];
pub const KINDS: [&str; 4] = ["payment", "cop_payment", "payout", "usdt_payout"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub count: u64,
    pub oldest_seconds: u64,
}

impl Line {
    /// Adds one that has waited so long.
    pub fn add(&mut self, seconds: i64) {
        self.count += 1;
        self.oldest_seconds = self.oldest_seconds.max(u64::try_from(seconds).unwrap_or(0));
    }
}

/// The figures of one count; of each pair the first is live mode's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The number of things that wait, by mode, kind and age.
    pub pending: [[[u64; AGES.len()]; KINDS.len()]; 2],
    pub reviews: [Line; 2],
    /// Notices of banks that no payment has claimed.
    pub notices: Line,
    /// Seconds since the oldest event of live mode that an endpoint was not sent yet.
    pub webhook_lag_seconds: u64,
}

impl Seen {
    /// Adds something of the `kind`-th kind that has waited so long.
    pub fn add(&mut self, is_live: bool, kind: usize, seconds: i64) {
        let age = AGES.iter().position(|(_, below)| seconds < *below).unwrap_or(AGES.len() - 1);
        self.pending[usize::from(!is_live)][kind][age] += 1;
    }
}

#[derive(Default)]
pub struct Waiting(Mutex<Seen>);

impl Waiting {
    pub fn counted(&self, seen: Seen) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }

    /// The newest count; zeros before the first.
    pub fn seen(&self) -> Seen {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_by_its_age() {
        let mut seen = Seen::default();
        for seconds in [-1, 0, 299, 300, 86_399, 86_400, i64::MAX] {
            seen.add(false, 2, seconds);
        }
        assert_eq!(seen.pending[1][2], [3, 1, 1, 2]);
        assert_eq!(seen.pending[0], Seen::default().pending[0]);
        let mut line = Line::default();
        line.add(7);
        line.add(-3);
        assert_eq!(line, Line { count: 2, oldest_seconds: 7 });
    }
}
