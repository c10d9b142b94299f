//! Opening a RocksDB on a disk that has little room. An opening replays RocksDB's own log and
//! writes all of it to files, which on a full disk fails however often it is tried. So there what
//! is replayed stays in memory and in the log, and an opening writes no more than a few names of
//! files.

use rocksdb::{Error, Options};
use rustix::fs::statvfs;
use std::fs;
use std::path::Path;

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

pub(crate) fn keeping(mut options: Options) -> Result<Options, Error> {
    options.set_write_buffer_size(WRITE_BUFFER_BYTES);
    options.get_options_from_string(KEEPING)
}

pub fn fitting(dir: &Path, options: Options) -> Result<Options, Error> {
    if is_scarce(dir) { keeping(options) } else { Ok(options) }
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
