//! Cursors, snapshots and damage that reading finds.

use crate::*;
use faulty::MemoryStore;
use wal::{Family, ReadError, Reader, RocksStore};

fn index(log: &Log<Reply>, keys: &[&str]) {
    let mut append_record = record(1, b"index");
    for key in keys {
        append_record.index.put(key.as_bytes(), key.as_bytes());
    }
    append(log, append_record).seq();
}

fn merged(reader: &Reader, prefixes: &[&str], reverse: bool) -> Vec<String> {
    let mut cursors: Vec<_> = prefixes
        .iter()
        .map(|prefix| {
            reader.index_scan(format!("{prefix}/").as_bytes(), format!("{prefix}0").as_bytes(), reverse)
        })
        .collect();
    let mut merged = Vec::new();
    loop {
        let tail = |cursor: &wal::IndexCursor<'_>| cursor.peek_key().map(|key| key[2..].to_vec());
        let best = (0..cursors.len())
            .filter(|at| cursors[*at].peek_key().is_some())
            .reduce(|a, b| if (tail(&cursors[a]) <= tail(&cursors[b])) != reverse { a } else { b });
        let Some(best) = best else { return merged };
        let (key, value) = cursors[best].next().unwrap().unwrap();
        assert_eq!(key, value);
        merged.push(String::from_utf8(key).unwrap());
    }
}

fn walk(log: &Log<Reply>) {
    index(log, &["a/1", "a/4", "a/7", "b/2", "b/5", "c/3", "d/9"]);
    let reader = log.reader();
    let forward = merged(&reader, &["a", "b", "c"], false);
    assert_eq!(forward, ["a/1", "b/2", "c/3", "a/4", "b/5", "a/7"]);
    let mut backward = merged(&reader, &["a", "b", "c"], true);
    backward.reverse();
    assert_eq!(backward, forward);

    let mut cursor = reader.index_scan(b"a/", b"b0", false);
    cursor.seek(b"a/5");
    assert_eq!(cursor.peek_key(), Some(&b"a/7"[..]));
    cursor.advance();
    assert_eq!(cursor.peek().unwrap(), Some((&b"b/2"[..], &b"b/2"[..])));
    // A cursor that is there already does not see a later write.
    index(log, &["b/3", "a/0"]);
    let rest: Vec<_> = cursor.by_ref().map(|entry| entry.unwrap().0).collect();
    assert_eq!(rest, [b"b/2", b"b/5"]);
    assert!(cursor.next().is_none() && cursor.status().is_ok());

    let mut cursor = reader.index_scan(b"a/", b"b0", true);
    cursor.seek(b"b/4");
    let rest: Vec<_> = cursor.map(|entry| String::from_utf8(entry.unwrap().0).unwrap()).collect();
    assert_eq!(rest, ["b/3", "b/2", "a/7", "a/4", "a/1", "a/0"]);
    assert_eq!(reader.index_scan(b"a/4", b"a/4", false).count(), 0);
    assert_eq!(reader.index_scan(b"a/4", b"a/5", true).count(), 1);
    assert_eq!(reader.index_scan(b"x", b"y", true).count(), 0);
}

fn snapshots(log: &Log<Reply>) {
    for round in 0..3u8 {
        for tenant in [0, 1, 7, u64::MAX] {
            append(log, record(tenant, b"r")).seq();
            snapshot(log, tenant, &[round, tenant as u8]).seq();
        }
    }
    let reader = log.reader();
    let latest: Vec<_> = reader.latest_snapshots().map(|s| s.unwrap()).map(|s| (s.tenant, s.state)).collect();
    let expected = [u64::MAX, 7, 1, 0].map(|tenant| (tenant, vec![2, tenant as u8]));
    assert_eq!(latest, expected);
    for tenant in [0, 1, 7, u64::MAX] {
        let rounds: Vec<u8> = reader.snapshots_of(tenant).map(|s| s.unwrap().state[0]).collect();
        assert_eq!(rounds, [2, 1, 0]);
        let newest = reader.snapshot(tenant, None).unwrap().unwrap();
        let before = reader.snapshot(tenant, Some(newest.seq - 1)).unwrap().unwrap();
        assert_eq!((newest.state[0], before.state[0]), (2, 1));
        assert_eq!(reader.newest_snapshot(tenant).unwrap().map(|head| head.seq), Some(newest.seq));
        assert_eq!(newest.time_ms, 1_700_000_000_001);
    }
    assert_eq!(reader.snapshots_of(2).count(), 0);
    assert_eq!(reader.newest_snapshot(2).unwrap(), None);
}

/// Tenants with one snapshot and with more than are passed one by one, each between others.
fn tenants_of_few_and_many_snapshots(log: &Log<Reply>) {
    let many = [(0, 12_u8), (3, 1), (4, 7), (5, 8), (6, 9), (256, 30), (257, 1), (u64::MAX, 10)];
    for (tenant, count) in many {
        for nth in 1..=count {
            append(log, record(tenant, b"r")).seq();
            snapshot(log, tenant, &[nth]).seq();
        }
    }
    let reader = log.reader();
    let latest: Vec<_> = reader.latest_snapshots().map(|s| s.unwrap()).map(|s| (s.tenant, s.state)).collect();
    let newest: Vec<_> = many.iter().rev().map(|(tenant, count)| (*tenant, vec![*count])).collect();
    assert_eq!(latest, newest);
    assert_eq!(reader.snapshot_tenants().unwrap(), many.map(|(tenant, _)| tenant));
}

#[test]
fn the_newest_snapshot_of_each_tenant_is_found_however_many_it_has() {
    tenants_of_few_and_many_snapshots(&open(MemoryStore::new()));
    let dir = tempfile::tempdir().unwrap();
    tenants_of_few_and_many_snapshots(&open(RocksStore::open(dir.path().join("log")).unwrap()));
}

#[test]
fn cursors_walk_and_merge_both_ways() {
    walk(&open(MemoryStore::new()));
    let dir = tempfile::tempdir().unwrap();
    walk(&open(RocksStore::open(dir.path()).unwrap()));
}

#[test]
fn snapshots_are_found_by_tenant_and_time() {
    snapshots(&open(MemoryStore::new()));
    let dir = tempfile::tempdir().unwrap();
    snapshots(&open(RocksStore::open(dir.path()).unwrap()));
}

fn seq_of(error: ReadError) -> u64 {
    match error {
        ReadError::Damage(damage) => damage.seq,
        ReadError::Store(error) => panic!("{error}"),
    }
}

#[test]
fn a_flipped_byte_is_named_by_whoever_reads_it() {
    for at in [0, 4, 9, 16, 24, 33, 50, 88, 91] {
        let store = filled(20);
        let log = open(store.clone());
        store.faults().flip_byte_of_record(13, at);
        let reader = log.reader();
        assert_eq!(seq_of(reader.record(13).unwrap_err()), 13, "byte {at}");
        assert_eq!(reader.record(12).unwrap().unwrap().seq, 12);
        let read: Vec<_> = reader.records(5, None).collect();
        assert_eq!(read.len(), 9);
        assert!(read[..8].iter().all(Result::is_ok));
        assert_eq!(seq_of(read.into_iter().last().unwrap().unwrap_err()), 13);
        assert_eq!(reader.verify(&mut |_, _| ()).unwrap_err().seq, 13);
    }
}

#[test]
fn a_hole_is_named_by_whoever_reads_it() {
    let store = filled(20);
    let log = open(store.clone());
    store.faults().remove_record(13);
    let reader = log.reader();
    assert_eq!(seq_of(reader.record(13).unwrap_err()), 13);
    let last = reader.records(1, None).last().unwrap().unwrap_err();
    assert_eq!(last.to_string(), "record 13 is missing");
    assert_eq!(seq_of(reader.records(13, None).next().unwrap().unwrap_err()), 13);
    assert_eq!(reader.records(14, None).count(), 7, "what lies behind it can still be read");
    assert_eq!(reader.verify(&mut |_, _| ()).unwrap_err().seq, 13);
}

#[test]
fn another_history_with_right_checksums_breaks_the_chain() {
    let (ours, theirs) = (filled(20), MemoryStore::new());
    let log = open(theirs.clone());
    for _ in 0..20 {
        append(&log, record(9, b"another")).seq();
    }
    let log = open(ours.clone());
    let key = 13u64.to_be_bytes();
    let forged = theirs.copy();
    let value = Store::get(&forged, Family::Log, &key).unwrap().unwrap();
    ours.faults().overwrite(Family::Log, &key, Some(&value));
    let reader = log.reader();
    assert_eq!(reader.record(13).unwrap().unwrap().payload, b"another", "it is a whole record");
    let damage = reader.verify(&mut |_, _| ()).unwrap_err();
    assert_eq!(damage.to_string(), "record 13 does not follow record 12: the hash chain is broken");
}

#[test]
fn a_damaged_snapshot_is_named() {
    let store = filled(5);
    let log = open(store.clone());
    snapshot(&log, 4, b"the state").seq();
    let key = store.faults().keys(Family::Snapshots).remove(0);
    store.faults().flip_byte(Family::Snapshots, &key, 12);
    let damage = log.reader().verify(&mut |_, _| ()).unwrap_err();
    assert_eq!(
        (damage.seq, damage.to_string().as_str()),
        (5, "the snapshot of tenant 4 at 5 has a wrong checksum")
    );
    assert!(log.reader().snapshot(4, None).is_err());
    assert!(log.reader().latest_snapshots().next().unwrap().is_err());
}
