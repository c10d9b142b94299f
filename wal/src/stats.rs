//! Counters of a log, for metrics: written by the writer thread, read by anybody.

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
    /// Keys and values.
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
    opened: Instant,
    records: AtomicU64,
    snapshots: AtomicU64,
    batches: AtomicU64,
    bytes: AtomicU64,
    syncs_ns: AtomicU64,
    last_sync_ns: AtomicU64,
    last_batch_records: AtomicU64,
    last_batch_bytes: AtomicU64,
    /// When the first entry of the write under way was appended, since `opened` and plus one; 0
    /// when nothing is being written.
    waits_since_ns: AtomicU64,
    batch_records: Histogram,
    sync_us: Histogram,
    agree_us: Histogram,
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Counters {
    pub(crate) fn new() -> Counters {
        let zero = || AtomicU64::new(0);
        Counters {
            opened: Instant::now(),
            records: zero(),
            snapshots: zero(),
            batches: zero(),
            bytes: zero(),
            syncs_ns: zero(),
            last_sync_ns: zero(),
            last_batch_records: zero(),
            last_batch_bytes: zero(),
            waits_since_ns: zero(),
            batch_records: Histogram::new(&BATCH_RECORDS),
            sync_us: Histogram::new(&SYNC_US),
            agree_us: Histogram::new(&SYNC_US),
        }
    }

    pub(crate) fn begin(&self, first: Instant) {
        self.waits_since_ns
            .store(nanos(first.saturating_duration_since(self.opened)).saturating_add(1), Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.waits_since_ns.store(0, Ordering::Relaxed);
    }

    pub(crate) fn batch(&self, records: u64, snapshots: u64, bytes: u64, sync: Duration) {
        let sync_ns = nanos(sync);
        self.records.fetch_add(records, Ordering::Relaxed);
        self.snapshots.fetch_add(snapshots, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.syncs_ns.fetch_add(sync_ns, Ordering::Relaxed);
        self.last_sync_ns.store(sync_ns, Ordering::Relaxed);
        self.last_batch_records.store(records, Ordering::Relaxed);
        self.last_batch_bytes.store(bytes, Ordering::Relaxed);
        self.batch_records.note(records);
        self.sync_us.note(sync_ns / 1_000);
    }

    pub(crate) fn agreed(&self, took: Duration) {
        self.agree_us.note(nanos(took) / 1_000);
    }

    pub(crate) fn stats(&self, pending_records: u64, pending_bytes: u64) -> Stats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let waiting = match get(&self.waits_since_ns) {
            0 => Duration::ZERO,
            since => self.opened.elapsed().saturating_sub(Duration::from_nanos(since - 1)),
        };
        Stats {
            records: get(&self.records),
            snapshots: get(&self.snapshots),
            batches: get(&self.batches),
            bytes: get(&self.bytes),
            syncs_time: Duration::from_nanos(get(&self.syncs_ns)),
            last_sync_time: Duration::from_nanos(get(&self.last_sync_ns)),
            last_batch_records: get(&self.last_batch_records),
            last_batch_bytes: get(&self.last_batch_bytes),
            pending_records,
            pending_bytes,
            waiting,
            batch_records: self.batch_records.counted(),
            sync_us: self.sync_us.counted(),
            agree_us: self.agree_us.counted(),
        }
    }
}

/// Counts of values by size, with fixed bounds and plain atomics: no lock and no allocation.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// One more than bounds: the values above the last.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Upper bounds, each included, in order.
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
        let place = self.bounds.partition_point(|bound| *bound < value);
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
