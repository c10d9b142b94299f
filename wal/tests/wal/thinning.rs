//! Snapshots that are removed while others read, and index entries that are removed while others
//! write.

use crate::pieces::{snapshot_at, state};
use crate::*;
use wal::{Family, Reader, RocksStore};

/// Larger than what is stored in one value.
const LARGE: usize = 5_000;

fn at_time(log: &Log<Reply>, tenant: u64, time_ms: i64, bytes: usize) -> u64 {
    let seq = append(log, record(tenant, b"record")).seq();
    let (completion, pending) = reply();
    log.snapshot(Snapshot { tenant, time_ms, state: state(seq, bytes), index: IndexOps::new() }, completion);
    pending.seq();
    seq
}

fn seqs(reader: &Reader, tenant: u64) -> Vec<u64> {
    reader.snapshot_heads(tenant).unwrap().iter().map(|head| head.seq).collect()
}

fn thin(log: &Log<Reply>, tenant: u64) -> usize {
    let superfluous = everything_old().superfluous(&log.reader().snapshot_heads(tenant).unwrap(), usize::MAX);
    let gone = superfluous.len();
    remove(log, superfluous).seq();
    gone
}

#[test]
fn large_states_leave_only_their_heads_among_the_snapshots() {
    let store = MemoryStore::new();
    let log = open(store.clone());
    let (small, large) = (at_time(&log, 1, 10, 4_096), at_time(&log, 2, 10, LARGE));
    assert_eq!(store.faults().keys(Family::Pieces).len(), 1);
    assert_eq!(log.reader().snapshot(1, None).unwrap().unwrap().state, state(small, 4_096));
    assert_eq!(log.reader().snapshot(2, None).unwrap().unwrap().state, state(large, LARGE));
    assert_eq!(log.reader().snapshot_tenants().unwrap(), [1, 2]);
}

#[test]
fn the_newest_by_an_instant_is_found() {
    let log = open(MemoryStore::new());
    at_time(&log, 6, 0, 3);
    // Instants may repeat, and there are records of others between.
    let taken: Vec<(i64, u64)> = [10, 20, 20, 30, 70]
        .into_iter()
        .map(|time| (at_time(&log, 9, 1, 8) as i64, (time, at_time(&log, 7, time, 8))))
        .map(|(_, found)| found)
        .collect();
    let reader = log.reader();
    for at in 0..100 {
        let expected = taken.iter().rev().find(|(time, _)| *time <= at).map(|(_, seq)| *seq);
        assert_eq!(reader.snapshot_taken_by(7, 0, at).unwrap().map(|stored| stored.seq), expected, "at {at}");
    }
    assert!(reader.snapshot_taken_by(8, 0, i64::MAX).unwrap().is_none());
}

#[test]
fn removed_snapshots_go_with_their_pieces_and_whoever_reads_them_gets_others() {
    let store = MemoryStore::new();
    let log = open(store.clone());
    let taken: Vec<u64> = (0..6).map(|time| at_time(&log, 1, time, LARGE)).collect();
    at_time(&log, 2, 0, LARGE);
    let reader = log.reader();
    // Begun before the removal: the walk stands at heads whose pieces are then gone.
    let mut walk = reader.snapshots_of(1);
    let mut newest = reader.latest_snapshots();
    assert_eq!(walk.next().unwrap().unwrap().seq, taken[5]);
    assert_eq!(thin(&log, 1), 3);
    assert_eq!(seqs(&reader, 1), [taken[0], taken[4], taken[5]]);
    assert_eq!(walk.map(|stored| stored.unwrap().seq).collect::<Vec<_>>(), [taken[4], taken[0]]);
    assert_eq!(newest.next().unwrap().unwrap().tenant, 2);
    assert_eq!(newest.next().unwrap().unwrap().seq, taken[5]);
    assert_eq!(reader.snapshot(1, Some(taken[3])).unwrap().unwrap().seq, taken[0]);
    assert_eq!(reader.snapshot_from(1, taken[1]).unwrap().unwrap().seq, taken[4]);
    assert_eq!(store.faults().keys(Family::Pieces).len(), 4, "one for each that is left");
    assert_eq!(reader.verify(&mut |_, _| ()).unwrap().snapshots, 4);
    log.close();
}

#[test]
fn snapshots_of_an_earlier_program_are_removed_too() {
    // Earlier programs stored a state in one value unless it was written beside other entries.
    let store = MemoryStore::new();
    let log = open(store.clone());
    for _ in 0..4 {
        let seq = append(&log, record(1, b"record")).seq();
        snapshot_at(&log, 1, seq, 20).seq();
    }
    assert_eq!(thin(&log, 1), 1);
    assert_eq!(thin(&log, 1), 0);
    log.close();
}

#[test]
fn reading_beside_thinning_never_meets_half_a_snapshot() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(RocksStore::open(dir.path()).unwrap());
    at_time(&log, 1, 0, LARGE);
    std::thread::scope(|scope| {
        let reader = log.reader();
        let reading = scope.spawn(move || {
            let mut read = 0;
            while seqs(&reader, 1).last().is_some_and(|last| *last < 400) {
                let last = reader.last_seq();
                for seq in [last, last.saturating_sub(3), last / 2] {
                    let found = reader.snapshot(1, Some(seq.max(1))).unwrap().unwrap();
                    assert_eq!(found.state, state(found.seq, LARGE));
                }
                assert!(reader.snapshots_of(1).all(|stored| stored.is_ok()));
                read += 1;
            }
            read
        });
        while at_time(&log, 1, 0, LARGE) < 400 {
            thin(&log, 1);
        }
        assert!(reading.join().unwrap() > 0);
    });
    log.close();
}

#[test]
fn an_index_entry_that_was_written_anew_is_not_pruned() {
    let store = MemoryStore::new();
    let log = open(store.clone());
    let with_key = |key: &[u8]| {
        let mut append = record(1, b"record");
        append.index.put_seq(key);
        append
    };
    let first = append(&log, with_key(b"a")).seq();
    append(&log, with_key(b"b")).seq();
    let seen = |seq: u64, key: &[u8]| (key.to_vec(), seq.to_be_bytes().to_vec());
    let faults = store.faults();
    faults.hold_syncs();
    let held = append(&log, record(1, b"held"));
    faults.wait_until_held();
    // The queue has a new use of the first name before the pruning, and one of the second after it.
    let again = append(&log, with_key(b"a"));
    let (completion, pruned) = reply();
    log.prune_index(vec![seen(first, b"a"), seen(first + 1, b"b")], completion);
    let after = append(&log, with_key(b"b"));
    faults.release_syncs();
    held.seq();
    pruned.seq();
    let reader = log.reader();
    let (again, after) = (again.seq(), after.seq());
    assert_eq!(reader.index_get(b"a").unwrap(), Some(again.to_be_bytes().to_vec()));
    assert_eq!(reader.index_get(b"b").unwrap(), Some(after.to_be_bytes().to_vec()));
    let (completion, pruned) = reply();
    log.prune_index(vec![seen(after, b"b"), seen(9, b"never")], completion);
    pruned.seq();
    assert_eq!(reader.index_get(b"b").unwrap(), None);
    log.close();
}
