//! The bytes on disk, pinned. A golden file is never changed: a new version of the format gets new
//! files, and the old ones stay readable for ever.

use crate::*;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use wal::{Family, Reader};

/// The bytes that the golden files hold, by name.
fn written() -> Vec<(&'static str, Vec<u8>)> {
    let store = MemoryStore::new();
    let faults = store.faults();
    // Pieces of sixteen bytes: the state of tenant 4 is in two, that of tenant 3 is small enough to
    // be written in order.
    let log: Log<Reply> =
        Log::open(Box::new(store.clone()), Config { piece_bytes_max: 16, ..Config::default() }).unwrap();
    faults.hold_syncs();
    let first = append(&log, at(1, "the first record"));
    faults.wait_until_held();
    append(&log, at(2, ""));
    append(&log, at(3, "the third record"));
    append(&log, at(u64::MAX, "the fourth"));
    snapshot(&log, 3, b"the state of tenant 3");
    raise_floor(&log, 2);
    faults.release_syncs();
    first.seq();
    fence(&log).seq();
    let (completion, pending) = reply();
    let large = Snapshot {
        tenant: 4,
        time_ms: 1_700_000_000_001,
        state: b"the state of tenant 4".to_vec(),
        index: IndexOps::new(),
    };
    log.snapshot_at(3, large, completion);
    pending.seq();
    log.close();
    let get = |family, key: &[u8]| Store::get(&store, family, key).unwrap().unwrap();
    let snapshot_key = faults.keys(Family::Snapshots).remove(0);
    assert_eq!(snapshot_key, [3u64.to_be_bytes(), 4u64.to_be_bytes()].concat());
    vec![
        ("record-v1.hex", get(Family::Log, &1u64.to_be_bytes())),
        ("chunk-v1.hex", get(Family::Log, &2u64.to_be_bytes())),
        ("snapshot-v1.hex", get(Family::Snapshots, &snapshot_key)),
        ("snapshot-v2.hex", get(Family::Snapshots, &head_key())),
        ("piece-0-v1.hex", get(Family::Pieces, &piece_key(0))),
        ("piece-1-v1.hex", get(Family::Pieces, &piece_key(1))),
        ("meta-format-v1.hex", get(Family::Meta, b"format")),
        ("meta-tip-v1.hex", get(Family::Meta, b"tip")),
        ("meta-floor-v1.hex", get(Family::Meta, b"floor")),
        ("witness-v1.hex", Store::witnessed(&store).unwrap().unwrap()),
    ]
}

fn head_key() -> Vec<u8> {
    [4u64.to_be_bytes(), 3u64.to_be_bytes()].concat()
}

fn piece_key(number: u32) -> Vec<u8> {
    [&head_key()[..], &number.to_be_bytes()].concat()
}

fn at(tenant: u64, text: &str) -> Append {
    Append { tenant, time_ms: 1_800_000_000_123, payload: text.into(), index: IndexOps::new() }
}

fn golden(name: &str) -> PathBuf {
    ["tests", "golden", name].iter().collect()
}

fn to_hex(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for line in bytes.chunks(16) {
        for byte in line {
            write!(hex, "{byte:02x} ").unwrap();
        }
        hex.pop();
        hex.push('\n');
    }
    hex
}

fn from_hex(name: &str) -> Vec<u8> {
    let hex = std::fs::read_to_string(golden(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Set in the environment, it writes golden files that are not there yet; it never overwrites one.
const CREATE: &str = "PASARELA_CREATE_GOLDEN";

#[test]
fn what_is_written_is_what_was_always_written() {
    for (name, bytes) in written() {
        if std::env::var_os(CREATE).is_some() && !golden(name).exists() {
            std::fs::write(golden(name), to_hex(&bytes)).unwrap();
        }
        assert_eq!(to_hex(&bytes), to_hex(&from_hex(name)), "{name}");
    }
}

#[test]
fn what_was_written_once_can_be_read() {
    let store = MemoryStore::new();
    let faults = store.faults();
    faults.overwrite(Family::Log, &1u64.to_be_bytes(), Some(&from_hex("record-v1.hex")));
    faults.overwrite(Family::Log, &2u64.to_be_bytes(), Some(&from_hex("chunk-v1.hex")));
    let key = [3u64.to_be_bytes(), 4u64.to_be_bytes()].concat();
    faults.overwrite(Family::Snapshots, &key, Some(&from_hex("snapshot-v1.hex")));
    faults.overwrite(Family::Snapshots, &head_key(), Some(&from_hex("snapshot-v2.hex")));
    faults.overwrite(Family::Pieces, &piece_key(0), Some(&from_hex("piece-0-v1.hex")));
    faults.overwrite(Family::Pieces, &piece_key(1), Some(&from_hex("piece-1-v1.hex")));
    faults.overwrite(Family::Meta, b"format", Some(&from_hex("meta-format-v1.hex")));
    faults.overwrite(Family::Meta, b"tip", Some(&from_hex("meta-tip-v1.hex")));
    faults.overwrite(Family::Meta, b"floor", Some(&from_hex("meta-floor-v1.hex")));
    Store::witness(&store, &from_hex("witness-v1.hex")).unwrap();

    let reader = Reader::over(Arc::new(store)).unwrap();
    let records: Vec<_> = reader.records(1, None).map(Result::unwrap).collect();
    let read: Vec<_> =
        records.iter().map(|r| (r.tenant, String::from_utf8(r.payload.clone()).unwrap())).collect();
    let expected = [(1, "the first record"), (2, ""), (3, "the third record"), (u64::MAX, "the fourth")];
    assert_eq!(read, expected.map(|(tenant, text)| (tenant, text.to_owned())));
    assert!(records.iter().all(|record| record.time_ms == 1_800_000_000_123));
    let stored = reader.snapshot(3, None).unwrap().unwrap();
    assert_eq!((stored.seq, stored.state.as_slice()), (4, &b"the state of tenant 3"[..]));
    let stored = reader.snapshot(4, None).unwrap().unwrap();
    assert_eq!(
        (stored.seq, stored.time_ms, stored.state.as_slice()),
        (3, 1_700_000_000_001, &b"the state of tenant 4"[..])
    );
    assert_eq!((reader.last_seq(), reader.floor()), (4, 2));
    assert_eq!(reader.verify(&mut |_, _| ()).unwrap().records, 4);
}

#[test]
fn the_drawing_in_the_header_is_true() {
    let record = from_hex("record-v1.hex");
    let text = b"the first record";
    let field = |from: usize, to: usize| &record[from..to];
    assert_eq!(field(0, 4), (record.len() as u32 - 4).to_le_bytes());
    assert_eq!(field(4, 8), [1, 0, 0, 0]);
    assert_eq!(field(8, 16), 1u64.to_le_bytes());
    assert_eq!(field(16, 24), 1_800_000_000_123i64.to_le_bytes());
    assert_eq!(field(24, 32), 1u64.to_le_bytes());
    assert_eq!(field(32, 48), [0; 16]);
    assert_eq!(field(48, 48 + text.len()), text);
    let end = 48 + text.len();
    assert_eq!(field(end, end + 4), crc32c::crc32c(field(4, end)).to_le_bytes());
    assert_eq!(record.len(), end + 4);
    let digest = <sha2::Sha256 as sha2::Digest>::digest(field(4, end + 4));
    assert_eq!(
        from_hex("chunk-v1.hex")[32..48],
        digest[..16],
        "the second record carries the hash of the first"
    );
}
