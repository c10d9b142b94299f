//! Counters of a log, for metrics. Written by the writer thread, read by anybody.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a log has done since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Records that became durable.
    pub records: u64,
    /// Snapshots that became durable.
    pub snapshots: u64,
    /// Synced writes.
    pub batches: u64,
    /// Bytes in those writes: keys and values.
    pub bytes: u64,
    /// Time spent in those writes, sync included.
    pub syncs_time: Duration,
    /// Time of the last one.
    pub last_sync_time: Duration,
    /// Records in the last one.
    pub last_batch_records: u64,
    /// Bytes in the last one.
    pub last_batch_bytes: u64,
    /// Entries that were appended and are not answered yet.
    pub pending_records: u64,
    /// Their bytes.
    pub pending_bytes: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    records: AtomicU64,
    snapshots: AtomicU64,
    batches: AtomicU64,
    bytes: AtomicU64,
    syncs_ns: AtomicU64,
    last_sync_ns: AtomicU64,
    last_batch_records: AtomicU64,
    last_batch_bytes: AtomicU64,
}

impl Counters {
    pub(crate) fn batch(&self, records: u64, snapshots: u64, bytes: u64, sync: Duration) {
        let sync_ns = u64::try_from(sync.as_nanos()).unwrap_or(u64::MAX);
        self.records.fetch_add(records, Ordering::Relaxed);
        self.snapshots.fetch_add(snapshots, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.syncs_ns.fetch_add(sync_ns, Ordering::Relaxed);
        self.last_sync_ns.store(sync_ns, Ordering::Relaxed);
        self.last_batch_records.store(records, Ordering::Relaxed);
        self.last_batch_bytes.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self, pending_records: u64, pending_bytes: u64) -> Stats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
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
        }
    }
}
