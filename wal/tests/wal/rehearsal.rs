//! A log that is never written: it reads as if it were, and the real one as if nobody had asked.

use crate::*;
use faulty::MemoryStore;
use proptest::prelude::*;
use wal::{BEFORE_REHEARSED, Reader};

#[derive(Clone, Debug)]
enum Op {
    Put(u8, u8),
    Delete(u8),
    DeleteRange(u8, u8),
}

fn ops() -> impl Strategy<Value = Vec<Vec<Op>>> {
    let op = prop_oneof![
        4 => (0..24_u8, any::<u8>()).prop_map(|(key, value)| Op::Put(key, value)),
        2 => (0..24_u8).prop_map(Op::Delete),
        1 => (0..24_u8, 0..24_u8).prop_map(|(from, to)| Op::DeleteRange(from.min(to), from.max(to))),
    ];
    prop::collection::vec(prop::collection::vec(op, 0..8), 0..6)
}

fn write(log: &Log<Reply>, records: &[Vec<Op>]) {
    for ops in records {
        let mut append_record = record(1, b"ops");
        for op in ops {
            match op {
                Op::Put(key, value) => append_record.index.put(&[*key], &[*value]),
                Op::Delete(key) => append_record.index.delete(&[*key]),
                Op::DeleteRange(from, to) => append_record.index.delete_range(&[*from], &[*to]),
            }
        }
        append(log, append_record).seq();
    }
}

fn all(reader: &Reader, reverse: bool) -> Vec<(Vec<u8>, Vec<u8>)> {
    reader.index_scan(&[0], &[255], reverse).map(|entry| entry.expect("readable")).collect()
}

/// A walk with seeks on the way, in both directions.
fn walk(reader: &Reader, seeks: &[u8], reverse: bool) -> Vec<Option<Vec<u8>>> {
    let mut cursor = reader.index_scan(&[2], &[22], reverse);
    let mut seen = Vec::new();
    for key in seeks {
        cursor.seek(&[*key]);
        for _ in 0..3 {
            seen.push(cursor.peek_key().map(<[u8]>::to_vec));
            cursor.advance();
        }
    }
    seen
}

proptest! {
    #[test]
    fn it_reads_as_if_it_were_written(before in ops(), rehearsed in ops(), seeks in prop::collection::vec(0..26_u8, 0..6)) {
        let (store, twin) = (MemoryStore::new(), MemoryStore::new());
        let (real, written) = (open(store), open(twin));
        write(&real, &before);
        write(&written, &before);
        write(&written, &rehearsed);
        let reader = real.reader();
        let (last, entries) = (reader.last_seq(), all(&reader, false));
        let log = Log::<Reply>::rehearsal(&reader, Config::default());
        write(&log, &rehearsed);
        let (seen, expected) = (log.reader(), written.reader());
        for reverse in [false, true] {
            prop_assert_eq!(all(&seen, reverse), all(&expected, reverse));
            prop_assert_eq!(walk(&seen, &seeks, reverse), walk(&expected, &seeks, reverse));
        }
        for key in 0..24_u8 {
            prop_assert_eq!(seen.index_get(&[key]).expect("readable"), expected.index_get(&[key]).expect("readable"));
        }
        let own: Vec<_> = seen.records(BEFORE_REHEARSED + 1, None).map(|one| one.expect("readable").seq).collect();
        let wanted: Vec<u64> = (1..=rehearsed.len() as u64).map(|n| BEFORE_REHEARSED + n).collect();
        prop_assert_eq!(own, wanted);
        prop_assert_eq!((reader.last_seq(), all(&reader, false)), (last, entries));
    }
}

#[test]
fn what_is_appended_meanwhile_keeps_its_place() {
    let real = open(MemoryStore::new());
    append(&real, record(1, b"one")).seq();
    let log = Log::<Reply>::rehearsal(&real.reader(), Config::default());
    let rehearsed = append(&log, record(1, b"rehearsed")).seq();
    let second = append(&real, record(1, b"two")).seq();
    assert_eq!((rehearsed, second), (BEFORE_REHEARSED + 1, 2));
    let payload = |reader: &Reader, seq| reader.record(seq).expect("readable").map(|record| record.payload);
    assert_eq!(payload(&log.reader(), rehearsed), Some(b"rehearsed".to_vec()));
    assert_eq!(payload(&log.reader(), 1), Some(b"one".to_vec()));
    assert_eq!(payload(&real.reader(), 2), Some(b"two".to_vec()));
    assert_eq!(payload(&real.reader(), rehearsed), None);
    fence(&log).seq();
    log.close();
    real.close();
}
