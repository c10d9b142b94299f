//! Records that are written can be read, on both stores, in one life of the process and in the next.

use crate::*;
use faulty::MemoryStore;
use wal::RocksStore;

fn indexed(tenant: u64, name: &[u8]) -> Append {
    let mut append = record(tenant, name);
    append.index.put(&[b"name/", name].concat(), b"value");
    append.index.put_seq(&[b"seq/", name].concat());
    append.index.put_at_seq(b"list/", name);
    append
}

fn write(log: &Log<Reply>) {
    assert_eq!(fence(log).seq(), 0, "nothing is durable yet");
    for n in 1..=200u64 {
        let pending = append(log, indexed(n % 5, format!("r{n}").as_bytes()));
        if n % 50 == 0 {
            assert_eq!(pending.seq(), n);
        }
    }
    let last = snapshot(log, 3, b"state of 3");
    assert_eq!(last.seq(), 200);
    let mut removal = record(1, b"removal");
    removal.index.delete(b"name/r7");
    append(log, removal);
    assert_eq!(raise_floor(log, 150).seq(), 201);
    assert_eq!(raise_floor(log, 90).seq(), 201, "a lower floor changes nothing");
    assert_eq!(fence(log).seq(), 201);
    assert_eq!(log.durable_seq(), 201);
}

fn read(log: &Log<Reply>) {
    let reader = log.reader();
    assert_eq!((reader.last_seq(), reader.floor()), (201, 150));
    let all: Vec<_> = reader.records(1, None).collect::<Result<_, _>>().unwrap();
    assert_eq!(all.len(), 201);
    assert_eq!(all[0].prev, [0; 16]);
    assert_eq!(all[200].hash, reader.tip().hash);
    for (at, record) in all.iter().enumerate() {
        assert_eq!(record.seq, at as u64 + 1);
        assert_eq!(reader.record(record.seq).unwrap().as_ref(), Some(record));
    }
    let tail: Vec<_> = reader.records(199, Some(200)).map(|r| r.unwrap().seq).collect();
    assert_eq!(tail, [199, 200]);
    assert_eq!(reader.records(202, None).count(), 0);
    assert!(reader.record(0).unwrap().is_none() && reader.record(202).unwrap().is_none());

    assert_eq!(reader.index_get(b"name/r7").unwrap(), None);
    assert_eq!(reader.index_get(b"name/r8").unwrap().unwrap(), b"value");
    assert_eq!(reader.index_get(b"seq/r8").unwrap().unwrap(), 8u64.to_be_bytes());
    let list: Vec<_> = reader.index_scan(b"list/", b"list0", true).map(|entry| entry.unwrap().1).collect();
    assert_eq!(list.len(), 200);
    assert_eq!(list[0], b"r200");

    let stored = reader.snapshot(3, None).unwrap().unwrap();
    assert_eq!((stored.seq, stored.state.as_slice()), (200, &b"state of 3"[..]));
    assert!(reader.snapshot(3, Some(199)).unwrap().is_none());
    assert!(reader.snapshot(2, None).unwrap().is_none());

    let mut reports = Vec::new();
    let verified = reader.verify(&mut |at, of| reports.push((at, of))).unwrap();
    assert_eq!((verified.records, verified.snapshots), (201, 1));
    assert_eq!(verified.head_hash, reader.tip().hash);
    assert_eq!(reports.last(), Some(&(201, 201)));
}

#[test]
fn memory_keeps_what_it_was_given() {
    let store = MemoryStore::new();
    let log = open(store.clone());
    write(&log);
    read(&log);
    log.close();
    log.close();
    assert!(store.is_closed());
    read(&open(store));
}

#[test]
fn rocksdb_keeps_what_it_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let log = open(RocksStore::open(dir.path()).unwrap());
    write(&log);
    read(&log);
    log.close();
    drop(log);
    let log = open(RocksStore::open(dir.path()).unwrap());
    read(&log);
    assert_eq!(append(&log, record(0, b"on and on")).seq(), 202);
}

#[test]
fn an_empty_log_is_whole() {
    let log = open(MemoryStore::new());
    let reader = log.reader();
    assert_eq!((reader.last_seq(), reader.floor()), (0, 0));
    assert_eq!(reader.records(1, None).count(), 0);
    assert_eq!(reader.verify(&mut |_, _| ()).unwrap().records, 0);
    assert_eq!(raise_floor(&log, 10).seq(), 0);
    assert_eq!(reader.floor(), 0, "the floor never passes the last record");
}

#[test]
fn records_are_stored_in_chunks_and_a_large_one_alone() {
    let store = MemoryStore::new();
    let faults = store.faults();
    let log = open(store);
    faults.hold_syncs();
    let first = append(&log, record(1, b"alone in the first batch"));
    faults.wait_until_held();
    // Two of 6,000 and one of 4,000 bytes fill a chunk of 16 KiB nearly; the next does not fit.
    for bytes in [6_000, 6_000, 4_000, 300, 40_000, 10] {
        append(&log, record(1, &vec![7; bytes]));
    }
    faults.release_syncs();
    first.seq();
    assert_eq!(fence(&log).seq(), 7);
    let firsts: Vec<u64> = faults
        .keys(wal::Family::Log)
        .iter()
        .map(|key| u64::from_be_bytes(key.as_slice().try_into().unwrap()))
        .collect();
    assert_eq!(firsts, [1, 2, 5, 6, 7]);
    for seq in 1..=7 {
        assert_eq!(log.reader().record(seq).unwrap().unwrap().seq, seq);
    }
}

fn overwrite(log: &Log<Reply>) {
    let mut append_record = record(1, b"many operations");
    let index = &mut append_record.index;
    for n in 0..100u8 {
        index.put(&[n % 7], &[n]);
        index.delete(&[n % 7, 1]);
        index.put(&[n % 7, 1], &[n]);
        index.put(&[n % 7, 2], &[n]);
        index.delete(&[n % 7, 2]);
    }
    append(log, append_record).seq();
    let reader = log.reader();
    for key in 0..7u8 {
        let last = (0..100).rev().find(|n| n % 7 == key).unwrap();
        assert_eq!(reader.index_get(&[key]).unwrap().unwrap(), [last]);
        assert_eq!(reader.index_get(&[key, 1]).unwrap().unwrap(), [last]);
        assert_eq!(reader.index_get(&[key, 2]).unwrap(), None);
    }
}

#[test]
fn the_last_operation_on_a_key_wins() {
    overwrite(&open(MemoryStore::new()));
    let dir = tempfile::tempdir().unwrap();
    overwrite(&open(RocksStore::open(dir.path()).unwrap()));
}
