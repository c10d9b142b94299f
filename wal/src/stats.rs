//! Counters of a log, for metrics: written by the writer thread, read by anybody.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const BATCH_RECORDS: [u64; 14] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192];
/// From a fast local disk to one that is about to fail.
const SYNC_US: [u64; 14] =
    [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 5_000_000];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub records: u64,
    pub snapshots: u64,
    pub batches: u64,
    pub bytes: u64,
    pub syncs_time: Duration,
    pub last_sync_time: Duration,
    pub last_batch_records: u64,
    pub last_batch_bytes: u64,
    pub pending_records: u64,
    pub pending_bytes: u64,
    /// How long the first entry of the write under way has waited; zero when nothing is being written.
    pub waiting: Duration,
    pub batch_records: Counted,
    pub sync_us: Counted,
    pub agree_us: Counted,
}

pub(crate) struct Counters {
    /// Since when the first entry of the write under way has waited.
    pub(crate) waits_since: Mutex<Option<Instant>>,
    written: Mutex<Stats>,
    batch_records: Histogram,
    sync_us: Histogram,
    pub(crate) agree_us: Histogram,
}

impl Counters {
    pub(crate) fn new() -> Counters {
        Counters {
            waits_since: Mutex::default(),
            written: Mutex::default(),
            batch_records: Histogram::new(&BATCH_RECORDS),
            sync_us: Histogram::new(&SYNC_US),
            agree_us: Histogram::new(&SYNC_US),
        }
    }

    pub(crate) fn batch(&self, records: u64, snapshots: u64, bytes: u64, sync: Duration) {
        let mut written = self.written.lock().expect("nobody panics with it");
        written.records += records;
        written.snapshots += snapshots;
        written.batches += 1;
        written.bytes += bytes;
        written.syncs_time += sync;
        written.last_sync_time = sync;
        written.last_batch_records = records;
        written.last_batch_bytes = bytes;
        drop(written);
        self.batch_records.note(records);
        self.sync_us.note(sync.as_micros() as u64);
    }

    pub(crate) fn stats(&self, pending_records: u64, pending_bytes: u64) -> Stats {
        let waits_since = *self.waits_since.lock().expect("nobody panics with it");
        Stats {
            pending_records,
            pending_bytes,
            waiting: waits_since.map_or(Duration::ZERO, |since| since.elapsed()),
            batch_records: self.batch_records.counted(),
            sync_us: self.sync_us.counted(),
            agree_us: self.agree_us.counted(),
            ..self.written.lock().expect("nobody panics with it").clone()
        }
    }
}

/// Counts of values by size, with fixed bounds and plain atomics: no lock and no allocation.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    pub bounds: &'static [u64],
    /// Values up to each bound and above the one before it; the last counts those above all bounds.
    pub counts: Vec<u64>,
    pub sum: u64,
}

impl Histogram {
    pub fn new(bounds: &'static [u64]) -> Histogram {
        Histogram {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    pub fn note(&self, value: u64) {
        let mut place = 0;
        while place < self.bounds.len() && self.bounds[place] < value {
            place += 1;
        }
        self.counts[place].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// A value that is counted meanwhile may be in `counts` and not in `sum`, or the reverse.
    pub fn counted(&self) -> Counted {
        Counted {
            bounds: self.bounds,
            counts: self.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect(),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }
}

impl Counted {
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_belongs_to_what_is_below_it() {
        let histogram = Histogram::new(&[1, 10, 100]);
        [0, 1, 2, 10, 11, 100, 101, 5_000].into_iter().for_each(|value| histogram.note(value));
        let counted = histogram.counted();
        assert_eq!(
            (counted.counts.as_slice(), counted.sum, counted.total()),
            ([2, 2, 2, 2].as_slice(), 5_225, 8)
        );
    }
}
