//! The options with which RocksDB is opened. An opening replays RocksDB's own log and writes all of
//! it to files, which on a full disk fails however often it is tried. So on a disk that has little
//! room what is replayed stays in memory and in the log, and an opening writes no more than a few
//! names of files.

use crate::store::Family;
use rocksdb::{
    BlockBasedIndexType, BlockBasedOptions, Cache, DBCompressionType, DBRecoveryMode, Error, LogLevel,
    Options,
};
use rustix::fs::statvfs;
use std::fs;
use std::path::Path;

pub(crate) const MIB: usize = 1 << 20;
const BLOCK_CACHE_BYTES: usize = 64 * MIB;
/// Three at worst, while two are being flushed: 192 MiB. With all else the store stays under 400 MiB.
const LOG_WRITE_BUFFER_BYTES: usize = 64 * MIB;
/// Four at worst. A small memtable is searched faster: with 32 MiB up to a sixth fewer records a second.
const INDEX_WRITE_BUFFER_BYTES: usize = 16 * MIB;
const SMALL_WRITE_BUFFER_BYTES: usize = 8 * MIB;
/// A file is compacted after `REMOVALS_MANY` removals in such a window of entries.
const REMOVALS_WINDOW: usize = 64;
const REMOVALS_MANY: usize = 32;
/// RocksDB's own log is replayed at a restart: about half a second's work at most.
pub(crate) const WAL_BYTES_MAX: u64 = 128 << 20;
/// Takes all of a log, whoever wrote it; it is allocated as it fills.
const WRITE_BUFFER_BYTES: usize = 512 << 20;
/// What an opening writes besides what is in the log.
const BESIDES_BYTES: u64 = 16 << 20;

/// Written down by RocksDB's names, as the crate has none for the first. Room is not set aside for files
/// that grow: some file systems keep a part of it when there is not enough. And the log is not cut for its
/// length, which would write everything to files after all.
const KEEPING: &str = "avoid_flush_during_recovery=true;allow_fallocate=false;manifest_preallocation_size=0;\
                       max_total_wal_size=1073741824";

/// Where that can't be seen, opening says why.
pub(crate) fn is_scarce(dir: &Path) -> bool {
    let Ok(found) = statvfs(dir) else { return false };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    found.f_blocks > 0 && free < log_bytes(dir).saturating_mul(2).saturating_add(BESIDES_BYTES)
}

pub(crate) fn log_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let logs = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|name| name == "log"));
    logs.filter_map(|entry| entry.metadata().ok()).map(|found| found.len()).sum()
}

fn keeping(mut options: Options) -> Result<Options, Error> {
    options.set_write_buffer_size(WRITE_BUFFER_BYTES);
    options.get_options_from_string(KEEPING)
}

pub fn fitting(dir: &Path, options: Options) -> Result<Options, Error> {
    if is_scarce(dir) { keeping(options) } else { Ok(options) }
}

/// Of a small database of its own beside the log.
pub fn beside(dir: &Path, write_buffer_bytes: usize, cache_bytes: usize) -> Result<Options, Error> {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(&Cache::new_lru_cache(cache_bytes));
    blocks.set_bloom_filter(10.0, false);
    let mut options = Options::default();
    options.create_if_missing(true);
    // Most look-ups are of what is not there.
    options.set_memtable_prefix_bloom_ratio(0.05);
    options.set_memtable_whole_key_filtering(true);
    options.set_allow_concurrent_memtable_write(false);
    options.set_enable_write_thread_adaptive_yield(false);
    options.set_write_buffer_size(write_buffer_bytes);
    options.set_max_write_buffer_number(3);
    options.set_max_background_jobs(2);
    options.set_keep_log_file_num(2);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_block_based_table_factory(&blocks);
    fitting(dir, options)
}

pub(crate) fn db_options() -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);

    // Forgives an incomplete last record, which was never acknowledged, and refuses damage before
    // it. The default, point in time, silently drops everything after the first bad record,
    // acknowledged ones too; absolute consistency would refuse after every power cut.
    options.set_wal_recovery_mode(DBRecoveryMode::TolerateCorruptedTailRecords);
    // A closed RocksDB log that is missing or short is noticed at once. It does not cover the one
    // that is being written; the witness does.
    options.set_track_and_verify_wals_in_manifest(true);
    // RocksDB's logs are not recycled: that works with point-in-time recovery alone, and has lost
    // data (facebook/rocksdb#12918).
    options.set_recycle_log_file_num(0);
    // RocksDB flushes its log in each write; by hand, families could disagree after a failure
    // (facebook/rocksdb#12995).
    options.set_manual_wal_flush(false);
    options.set_max_total_wal_size(WAL_BYTES_MAX);

    // Data that contradicts itself is an error, not a warning.
    options.set_paranoid_checks(true);

    // A single writer gains nothing from the locks of concurrent inserts or the spinning of a write
    // queue, and a plain insert remembers where the last one went.
    options.set_allow_concurrent_memtable_write(false);
    options.set_enable_write_thread_adaptive_yield(false);
    // Sync, then insert, then publish, in this order; pipelined and unordered writes give that up.
    options.set_enable_pipelined_write(false);
    options.set_unordered_write(false);

    // Two cores: one flush and one compaction at a time, so that the writer keeps a core.
    options.set_max_background_jobs(2);
    // Written in small steps, so that the kernel does not hold back a megabyte for the writer's
    // sync to wait behind.
    options.set_bytes_per_sync(MIB as u64);
    // Files are kept open: a read does not pay for opening, and a reader beside a writer keeps what
    // it has opened.
    options.set_max_open_files(-1);

    // The file LOG of RocksDB: warnings only, ten megabytes at most.
    options.set_log_level(LogLevel::Warn);
    options.set_max_log_file_size(5 * MIB);
    options.set_keep_log_file_num(2);
    options
}

pub(crate) type Families = Vec<(&'static str, Options)>;

/// For the database and its families: those of every opening, or those of one without room.
pub(crate) fn of_opening(is_scarce: bool) -> Result<(Options, Families), Error> {
    let cache = Cache::new_lru_cache(BLOCK_CACHE_BYTES);
    let fitting = |options| if is_scarce { keeping(options) } else { Ok(options) };
    let families = Family::ALL
        .map(|family| Ok((Family::NAMES[family as usize], fitting(family_options(family, &cache))?)));
    Ok((fitting(db_options())?, families.into_iter().collect::<Result<_, Error>>()?))
}

pub(crate) fn write_buffer_bytes(family: Family) -> usize {
    match family {
        Family::Log => LOG_WRITE_BUFFER_BYTES,
        Family::Index => INDEX_WRITE_BUFFER_BYTES,
        Family::Snapshots | Family::Meta | Family::Pieces => SMALL_WRITE_BUFFER_BYTES,
    }
}

fn family_options(family: Family, cache: &Cache) -> Options {
    let mut options = Options::default();
    options.set_write_buffer_size(write_buffer_bytes(family));
    // Keys of the log only grow, so files never overlap and compaction moves them without reading; it
    // may as long as every level is compressed alike.
    options.set_compression_type(DBCompressionType::Lz4);
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    table.set_format_version(5);
    match family {
        Family::Log => {
            // One fills while others are flushed; with two, a full one would wait for the flush.
            options.set_max_write_buffer_number(3);
            table.set_block_size(16 << 10); // about a chunk; a smaller block could not split one
        }
        Family::Index => {
            options.set_max_write_buffer_number(4);
            // A flushed file is soon compacted: compress it then, not twice.
            let mut levels = [DBCompressionType::Lz4; 7];
            levels[0] = DBCompressionType::None;
            options.set_compression_per_level(&levels);
            // Most look-ups of a key find nothing (is this key new?): filters answer these from memory,
            // in the memtable as in the files.
            options.set_memtable_prefix_bloom_ratio(0.05);
            options.set_memtable_whole_key_filtering(true);
            table.set_bloom_filter(10.0, false);
            table.set_whole_key_filtering(true);
            // Filters and indexes live in the cache, so that memory has one bound; the newest stay.
            table.set_cache_index_and_filter_blocks(true);
            table.set_pin_l0_filter_and_index_blocks_in_cache(true);
            // Filters and indexes are stored in parts: the filter of a large file as one block outgrows
            // a shard of the cache, is never kept, and is read again by every look-up.
            table.set_index_type(BlockBasedIndexType::TwoLevelIndexSearch);
            table.set_partition_filters(true);
            table.set_metadata_block_size(4 << 10);
            table.set_pin_top_level_index_and_filter(true);
            table.set_block_size(4 << 10); // point reads and short scans
        }
        Family::Snapshots | Family::Meta | Family::Pieces => {
            // Snapshots are thinned: a file with many removals in a row is compacted soon, which gives
            // their room back.
            options.add_compact_on_deletion_collector_factory(REMOVALS_WINDOW, REMOVALS_MANY, 0.0);
        }
    }
    if family == Family::Pieces {
        // They come faster than a memtable is flushed: with two, a full one would hold up every write.
        options.set_max_write_buffer_number(4);
    }
    options.set_block_based_table_factory(&table);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocksdb::DB;

    fn usual() -> Options {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_write_buffer_size(1 << 20);
        options
    }

    fn tables(dir: &Path) -> usize {
        let files = fs::read_dir(dir).expect("a directory").flatten();
        files.filter(|file| file.path().extension().is_some_and(|name| name == "sst")).count()
    }

    #[test]
    fn an_opening_that_keeps_writes_no_table_and_knows_everything() {
        let dir = tempfile::tempdir().expect("a directory");
        let dir = dir.path();
        let value = vec![7; 10_000];
        let key = |n: u32| n.to_be_bytes();
        let put = |db: &DB, n| db.put(key(n), &value).expect("written");
        {
            let db = DB::open(&usual(), dir).expect("it opens");
            (0..90).for_each(|n| put(&db, n));
        }
        assert_eq!(tables(dir), 0, "all of it is in the log");
        for n in 90..130 {
            // More than a memtable of the usual size.
            let db = DB::open(&keeping(usual()).expect("options"), dir).expect("it opens");
            assert_eq!(tables(dir), 0, "after {n}");
            put(&db, n);
            assert_eq!(db.get(key(n / 2)).expect("readable").as_ref(), Some(&value));
        }
        let db = DB::open(&usual(), dir).expect("it opens");
        assert!(tables(dir) > 0, "there is room again");
        assert!((0..130).all(|n| db.get(key(n)).expect("readable").as_ref() == Some(&value)));
    }

    #[test]
    fn room_is_scarce_where_there_is_less_than_the_log_may_take() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(!is_scarce(dir.path()), "the disk of the tests has room");
        let log = fs::File::create(dir.path().join("000001.log")).expect("a file");
        log.set_len(1 << 43).expect("a hole");
        assert!(is_scarce(dir.path()));
        assert!(!is_scarce(Path::new("/proc")), "it says nothing of its room");
    }
}
