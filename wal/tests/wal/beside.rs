//! Others beside a running log: a second process, a reader, a checkpoint.

use crate::*;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use wal::{OpenError, Reader, RocksStore};

/// Writes as fast as it can until `work` is done; large records, so that files are flushed and
/// deleted meanwhile.
fn under_load<T>(log: &Log<Reply>, work: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for tenant in 0..2 {
            let stop = &stop;
            scope.spawn(move || {
                let mut n = 0u64;
                while !stop.load(Ordering::Relaxed) {
                    let pending: Vec<_> = (0..32)
                        .map(|_| {
                            n += 1;
                            let mut append_record = record(tenant, &vec![n as u8; 20_000]);
                            append_record.index.put_at_seq(b"list/", &n.to_le_bytes());
                            append(log, append_record)
                        })
                        .collect();
                    snapshot(log, tenant, &n.to_le_bytes());
                    for pending in pending {
                        pending.seq();
                    }
                }
            });
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        stop.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[test]
fn a_second_log_in_the_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(RocksStore::open(dir.path()).unwrap());
    let error = RocksStore::open(dir.path()).err().unwrap();
    assert!(matches!(&error, OpenError::InUse { pid: Some(pid), .. } if *pid == std::process::id()));
    let pid = std::process::id();
    let expected =
        format!("data directory {} is in use by another process (pid {pid})", dir.path().display());
    assert_eq!(error.to_string(), expected);
    let reader = log.reader();
    drop(log);
    assert!(RocksStore::open(dir.path()).is_err(), "a reader keeps the directory");
    drop(reader);
    RocksStore::open(dir.path()).unwrap();
}

/// Run by the test below in a process of its own.
#[test]
#[ignore = "run by another test"]
fn child_that_opens() {
    let dir = std::env::var_os("PASARELA_WAL_DIR").unwrap();
    println!("said: {}", RocksStore::open(dir).err().unwrap());
}

#[test]
fn a_second_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _log = open(RocksStore::open(dir.path()).unwrap());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "beside::child_that_opens", "--ignored", "--nocapture"])
        .env("PASARELA_WAL_DIR", dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let expected = format!("is in use by another process (pid {})", std::process::id());
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn a_reader_beside_a_running_log_sees_what_was_durable() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(RocksStore::open(dir.path()).unwrap());
    under_load(&log, || {
        for _ in 0..10 {
            let before = log.durable_seq();
            let reader = Reader::open_read_only(dir.path()).unwrap();
            let last = reader.last_seq();
            assert!(last >= before);
            let verified = reader.verify(&mut |_, _| ()).unwrap();
            assert_eq!((verified.records, verified.head_hash), (last, reader.tip().hash));
            let listed = reader.index_scan(b"list/", b"list0", true).next();
            assert!(last == 0 || listed.unwrap().unwrap().0 == [b"list/", &last.to_be_bytes()[..]].concat());
            assert!(log.durable_seq() > last || log.durable_seq() >= before);
            assert!(reader.record(last + 1).unwrap().is_none(), "it does not see what is written later");
        }
    });
    // The reader leaves the log as it was.
    append(&log, record(1, b"more")).seq();
}

#[test]
fn there_is_nothing_to_read_in_an_empty_directory() {
    let dir = tempfile::tempdir().unwrap();
    let error = Reader::open_read_only(dir.path()).err().unwrap();
    assert_eq!(error.to_string(), format!("there is no log in {}", dir.path().display()));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_checkpoint_under_load_opens_and_verifies() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(RocksStore::open(dir.path().join("live")).unwrap());
    under_load(&log, || {
        for n in 0..5 {
            let target = dir.path().join(format!("copy-{n}"));
            let before = log.durable_seq();
            log.reader().checkpoint(&target).unwrap();
            let beside = Reader::open_read_only(&target).unwrap();
            let copy = open(RocksStore::open(&target).unwrap());
            let last = copy.durable_seq();
            assert!(last >= before && beside.last_seq() == last);
            let verified = copy.reader().verify(&mut |_, _| ()).unwrap();
            assert_eq!((verified.records, verified.head_hash), (last, copy.reader().tip().hash));
            assert_eq!(append(&copy, record(1, b"a life of its own")).seq(), last + 1);
        }
    });
    assert!(log.reader().checkpoint(&dir.path().join("copy-0")).is_err(), "a checkpoint does not overwrite");
    assert!(append(&log, record(1, b"on")).wait().is_ok(), "a failed checkpoint is no failed write");
}

#[test]
fn a_checkpoint_in_memory_is_a_store_of_its_own() {
    let store = MemoryStore::new();
    let log = open(store.clone());
    append(&log, record(1, b"one")).seq();
    let path = std::path::Path::new("copy");
    log.reader().checkpoint(path).unwrap();
    append(&log, record(1, b"two")).seq();
    assert_eq!(open(store.checkpoint_at(path).unwrap()).durable_seq(), 1);
}
