//! `[storage]` and `[engine]`: the data directory, the log in it, and how much may be under way.

use super::keys::Keys;
use super::values::path;
use std::path::PathBuf;

/// `[storage]`: the data directory and the log in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The directory.
    pub path: PathBuf,
    /// The key of cards' hashes; none: `card.key` in the directory.
    pub card_key_file: Option<PathBuf>,
    /// The free bytes on the disk below which writes are refused; 0 = never.
    pub reserve_bytes: u64,
    /// Records between two rounds of snapshots.
    pub snapshot_records: u64,
    /// Seconds between two rounds of snapshots, if anything was written.
    pub snapshot_seconds: u64,
    /// Hours for which every snapshot of a book is kept, counted back from its newest.
    pub snapshot_all_hours: u32,
    /// The days for which one snapshot of each hour is kept.
    pub snapshot_hourly_days: u32,
    /// The days for which one snapshot of each day is kept; older ones monthly, for ever.
    pub snapshot_daily_days: u32,
    /// Bytes that wait for the disk.
    pub pending_bytes_max: usize,
    /// Records that wait for the disk.
    pub pending_records_max: usize,
    /// Records that are written and synced at once.
    pub batch_records_max: usize,
}

/// `[engine]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Requests under way at once.
    pub permits_max: usize,
}

impl Storage {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let storage = Storage {
            path: keys.parsed("path", PathBuf::from("data"), path),
            card_key_file: keys.optional("card_key_file", path),
            reserve_bytes: keys.integer("reserve_bytes", 256 << 20, 0..=1 << 50),
            snapshot_records: keys.integer("snapshot_records", 100_000, 1..=1_000_000_000),
            snapshot_seconds: keys.integer("snapshot_seconds", 60, 1..=86_400),
            snapshot_all_hours: keys.integer("snapshot_all_hours", 1, 1..=87_600),
            snapshot_hourly_days: keys.integer("snapshot_hourly_days", 1, 1..=3_650),
            snapshot_daily_days: keys.integer("snapshot_daily_days", 365, 1..=36_500),
            pending_bytes_max: keys.integer("pending_bytes_max", 64 << 20, 16 << 20..=4 << 30),
            pending_records_max: keys.integer("pending_records_max", 65_536, 64..=16_777_216),
            batch_records_max: keys.integer("batch_records_max", 8_192, 1..=1_048_576),
        };
        if storage.batch_records_max > storage.pending_records_max {
            keys.bad("batch_records_max", "must not exceed storage.pending_records_max");
        }
        if storage.snapshot_all_hours > 24 * storage.snapshot_hourly_days {
            keys.bad("snapshot_all_hours", "must not exceed storage.snapshot_hourly_days");
        }
        if storage.snapshot_hourly_days > storage.snapshot_daily_days {
            keys.bad("snapshot_hourly_days", "must not exceed storage.snapshot_daily_days");
        }
        keys.done();
        storage
    }
}

impl Engine {
    pub(super) fn read(mut keys: Keys<'_>) -> Self {
        let engine = Engine { permits_max: keys.integer("permits_max", 16_384, 1..=1_048_576) };
        keys.done();
        engine
    }
}
