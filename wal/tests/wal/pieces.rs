//! States of `snapshot_at`: written in pieces while others go on, whole or not at all.

use crate::*;
use faulty::{Crash, Refusal};
use std::sync::Arc;
use wal::{Family, Reader, RocksStore};

const PIECE_BYTES: usize = 100;

fn in_pieces() -> Config {
    Config { piece_bytes_max: PIECE_BYTES, ..Config::default() }
}

fn open_small(store: &MemoryStore) -> Log<Reply> {
    Log::open(Box::new(store.clone()), in_pieces()).expect("the log opens")
}

/// A state that says which it is, so that a piece of another is noticed.
pub fn state(n: u64, bytes: usize) -> Vec<u8> {
    n.to_be_bytes().into_iter().cycle().take(bytes).collect()
}

pub fn snapshot_at(log: &Log<Reply>, tenant: u64, seq: u64, bytes: usize) -> Pending {
    let (completion, pending) = reply();
    let mut index = IndexOps::new();
    index.put_seq(b"indexed");
    log.snapshot_at(
        seq,
        Snapshot { tenant, time_ms: 1_700_000_000_001, state: state(seq, bytes), index },
        completion,
    );
    pending
}

/// A store in which the second piece of five waits for its sync: the state of tenant 1 at record 2,
/// after a whole snapshot at record 1.
fn under_way() -> (MemoryStore, Log<Reply>, Pending) {
    let store = MemoryStore::new();
    let log = open_small(&store);
    append(&log, record(1, b"first")).seq();
    snapshot(&log, 1, b"before").seq();
    append(&log, record(1, b"second")).seq();
    let faults = store.faults();
    faults.hold_syncs();
    // Nothing of the state is taken before this, so each of its pieces has a write of its own.
    let held = append(&log, record(2, b"third"));
    faults.wait_until_held();
    let pending = snapshot_at(&log, 1, 2, 5 * PIECE_BYTES - 1);
    faults.delay_syncs(Duration::from_millis(200));
    faults.release_syncs();
    held.seq();
    while faults.keys(Family::Pieces).is_empty() {
        std::thread::yield_now();
    }
    faults.hold_syncs();
    faults.delay_syncs(Duration::ZERO);
    faults.wait_until_held();
    (store, log, pending)
}

fn newest(reader: &Reader, tenant: u64) -> (u64, Vec<u8>) {
    let stored = reader.snapshot(tenant, None).unwrap().expect("a snapshot");
    (stored.seq, stored.state)
}

fn check_sizes(log: &Log<Reply>, piece_bytes: usize) {
    let sizes = [0, 1, piece_bytes, piece_bytes + 1, 3 * piece_bytes, 7 * piece_bytes + 5];
    for (n, bytes) in (1..).zip(sizes) {
        let seq = append(log, record(n, b"record")).seq();
        append(log, record(9, b"after it")).seq();
        assert_eq!(snapshot_at(log, n, seq, bytes).seq(), seq, "it is told where the state stands");
        assert_eq!(log.reader().index_get(b"indexed").unwrap().unwrap(), seq.to_be_bytes());
    }
    let reader = log.reader();
    for (n, bytes) in (1..).zip(sizes) {
        let seq = 2 * n - 1;
        assert_eq!(newest(&reader, n), (seq, state(seq, bytes)));
        assert_eq!(reader.snapshot_from(n, 0).unwrap().unwrap().state.len(), bytes);
        assert!(reader.snapshot(n, Some(seq - 1)).unwrap().is_none());
        assert_eq!(reader.snapshots_of(n).count(), 1);
    }
    assert_eq!(
        reader.latest_snapshots().map(|stored| stored.unwrap().tenant).collect::<Vec<_>>(),
        [6, 5, 4, 3, 2, 1]
    );
    assert_eq!(reader.verify(&mut |_, _| ()).unwrap().snapshots, 6);
    assert_eq!(log.stats().snapshots, 6);
}

#[test]
fn a_state_of_any_size_comes_back() {
    let store = MemoryStore::new();
    check_sizes(&open_small(&store), PIECE_BYTES);
    assert_eq!(store.faults().keys(Family::Pieces).len(), 2 + 3 + 8, "what fits into one piece is one value");
}

#[test]
fn a_state_of_any_size_comes_back_from_rocksdb_in_another_life_and_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let piece_bytes = Config::default().piece_bytes_max;
    let log = open(RocksStore::open(dir.path()).unwrap());
    check_sizes(&log, piece_bytes);
    let expected = (11, state(11, 7 * piece_bytes + 5));
    assert_eq!(newest(&Reader::open_read_only(dir.path()).unwrap(), 6), expected);
    let copy = tempfile::tempdir().unwrap();
    log.reader().checkpoint(&copy.path().join("copy")).unwrap();
    log.close();
    drop(log);
    assert_eq!(newest(&open(RocksStore::open(dir.path()).unwrap()).reader(), 6), expected);
    assert_eq!(newest(&open(RocksStore::open(copy.path().join("copy")).unwrap()).reader(), 6), expected);
}

#[test]
fn others_go_on_between_pieces() {
    let (store, log, pending) = under_way();
    let faults = store.faults();
    let beside = append(&log, record(1, b"beside"));
    let pieces = faults.keys(Family::Pieces).len();
    faults.release_syncs();
    assert_eq!(beside.seq(), 4);
    assert_eq!(pending.seq(), 2);
    assert_eq!(pieces, 1, "four were still to come when the record was appended");
    assert_eq!(newest(&log.reader(), 1), (2, state(2, 5 * PIECE_BYTES - 1)));
    assert_eq!(log.stats().pending_bytes, 0);
    log.close();
}

#[test]
fn a_large_state_rides_with_what_is_written_anyway_and_leaves_room() {
    let store = MemoryStore::new();
    let config =
        Config { pending_bytes_max: 1_000, batch_bytes_max: 1_000, chunk_bytes_max: 1_000, ..in_pieces() };
    let log: Log<Reply> = Log::open(Box::new(store.clone()), config).unwrap();
    append(&log, record(1, b"first")).seq();
    store.faults().hold_syncs();
    let held = append(&log, record(1, b"second"));
    store.faults().wait_until_held();
    let pending = snapshot_at(&log, 1, 1, 50 * PIECE_BYTES);
    assert!(log.has_room());
    store.faults().release_syncs();
    held.seq();
    let writes = store.faults().writes();
    // Fifty records, each waited for, while fifty pieces are written.
    for _ in 0..50 {
        append(&log, record(1, b"beside")).seq();
    }
    pending.seq();
    assert!(store.faults().writes() <= writes + 102, "none waits for more than the piece before its own");
}

#[test]
fn what_a_crash_leaves_of_it_is_no_snapshot_and_goes() {
    for crash in [Crash::Lost, Crash::Kept] {
        let (store, log, pending) = under_way();
        let store = store.faults().crash(crash);
        assert!(pending.wait().is_err());
        log.close();
        let left = store.faults().keys(Family::Pieces).len();
        assert_eq!(left, if crash == Crash::Kept { 2 } else { 1 });
        // A reader takes no notice.
        let reader = Reader::over(Arc::new(store.copy())).unwrap();
        assert_eq!(newest(&reader, 1), (1, b"before".to_vec()));
        assert_eq!(reader.verify(&mut |_, _| ()).unwrap().snapshots, 1);
        assert_eq!(reader.index_get(b"indexed").unwrap(), None);

        let log = open_small(&store);
        assert_eq!(store.faults().keys(Family::Pieces), Vec::<Vec<u8>>::new());
        assert_eq!(newest(&log.reader(), 1), (1, b"before".to_vec()));
        // The same place in the log, another state.
        snapshot_at(&log, 1, 2, 4 * PIECE_BYTES).seq();
        assert_eq!(newest(&log.reader(), 1), (2, state(2, 4 * PIECE_BYTES)));
        log.close();
        drop(log);
        // A state with a head stays at every opening.
        let log = open_small(&store);
        assert_eq!(newest(&log.reader(), 1), (2, state(2, 4 * PIECE_BYTES)));
    }
}

#[test]
fn orphans_of_one_tenant_leave_others_alone() {
    let (store, log, pending) = under_way();
    store.faults().release_syncs();
    pending.seq();
    for tenant in [0, 3] {
        snapshot_at(&log, tenant, 3, 2 * PIECE_BYTES).seq();
    }
    log.close();
    for owner in [(0, 4), (1, 3), (1, 4), (2, 1), (u64::MAX, 1)] {
        let key = |number: u32| {
            [&owner.0.to_be_bytes()[..], &u64::to_be_bytes(owner.1), &number.to_be_bytes()].concat()
        };
        store.faults().overwrite(Family::Pieces, &key(0), Some(b"left"));
        store.faults().overwrite(Family::Pieces, &key(1), Some(b"left"));
    }
    drop(log);
    let log = open_small(&store);
    assert_eq!(store.faults().keys(Family::Pieces).len(), 5 + 2 + 2);
    assert_eq!(log.reader().verify(&mut |_, _| ()).unwrap().snapshots, 4);
}

#[test]
fn a_failed_write_between_pieces_is_told_and_ends_the_log() {
    let (store, log, pending) = under_way();
    store.faults().refuse_write(2, Refusal::SyncFails);
    let behind = snapshot_at(&log, 2, 3, 3 * PIECE_BYTES);
    store.faults().release_syncs();
    assert!(pending.wait().is_err());
    assert!(behind.wait().is_err());
    log.close();
    assert_eq!(store.faults().writes_after_failure(), 0);
}

#[test]
fn closing_finishes_what_is_under_way() {
    let (store, log, pending) = under_way();
    store.faults().release_syncs();
    log.close();
    assert_eq!(pending.seq(), 2);
    assert_eq!(newest(&Reader::over(Arc::new(store)).unwrap(), 1), (2, state(2, 5 * PIECE_BYTES - 1)));
}

#[test]
fn a_piece_that_is_damaged_or_gone_is_named() {
    let (store, log, pending) = under_way();
    store.faults().release_syncs();
    pending.seq();
    log.close();
    let keys = store.faults().keys(Family::Pieces);
    assert_eq!(keys.len(), 5);
    let told =
        |store: MemoryStore| Reader::over(Arc::new(store)).unwrap().verify(&mut |_, _| ()).unwrap_err();
    for (n, key) in keys.iter().enumerate() {
        let flipped = store.copy();
        flipped.faults().flip_byte(Family::Pieces, key, 7);
        let damage = told(flipped);
        assert_eq!(
            (damage.seq, damage.to_string()),
            (2, format!("the snapshot of tenant 1 at 2 has a wrong checksum in piece {} of 5", n + 1))
        );
        let lacking = store.copy();
        lacking.faults().overwrite(Family::Pieces, key, None);
        assert!(Reader::over(Arc::new(lacking.copy())).unwrap().snapshot(1, None).is_err());
        assert_eq!(
            told(lacking).to_string(),
            format!("the snapshot of tenant 1 at 2 lacks piece {} of 5", n + 1)
        );
    }
}
