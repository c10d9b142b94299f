//! Counters of events, for an operator.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub(crate) struct Counters {
    started: Instant,
    /// In milliseconds since `started`.
    snapshot_ms: AtomicU64,
    pub overloaded: AtomicU64,
    pub checked: AtomicU64,
    pub breached: AtomicU64,
}

impl Counters {
    pub fn new() -> Counters {
        let zero = || AtomicU64::new(0);
        Counters {
            started: Instant::now(),
            snapshot_ms: zero(),
            overloaded: zero(),
            checked: zero(),
            breached: zero(),
        }
    }

    pub fn saved(&self) {
        self.snapshot_ms
            .store(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Since the last round of snapshots ended, or since the start.
    pub fn snapshot_age(&self) -> Duration {
        self.started.elapsed().saturating_sub(Duration::from_millis(self.snapshot_ms.load(Ordering::Relaxed)))
    }
}
