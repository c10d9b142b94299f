//! `[storage]` and `[engine]`: the data directory, the log in it, and how much may be under way.

use super::keys::Keys;
use super::values::path;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    pub path: PathBuf,
    /// None: `card.key` in the directory.
    pub card_key_file: Option<PathBuf>,
    /// Writes are refused with less; 0 = never.
    pub reserve_bytes: u64,
    /// Between two rounds of snapshots.
    pub snapshot_records: u64,
    /// Between two rounds of snapshots, if anything was written.
    pub snapshot_seconds: u64,
    /// Every snapshot of a book is kept so long, counted back from its newest.
    pub snapshot_all_hours: u32,
    /// One of each hour is kept.
    pub snapshot_hourly_days: u32,
    /// One of each day is kept; older ones monthly, for ever.
    pub snapshot_daily_days: u32,
    /// That wait for the disk.
    pub pending_bytes_max: usize,
    /// That wait for the disk.
    pub pending_records_max: usize,
    /// Written and synced at once.
    pub batch_records_max: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
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
