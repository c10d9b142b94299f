//! Logs that refuse to open, and what they say. The damage is made at the seam.

use crate::*;
use wal::Family;

#[test]
fn a_log_below_its_tip_is_refused() {
    let store = filled(57);
    store.faults().drop_records_after(41);
    assert_eq!(
        refusal(store),
        "the log is damaged at sequence 42: the log ends at 41, but the tip says 57: records 42 to 57 are missing"
    );
    let store = filled(3);
    store.faults().drop_records_after(0);
    assert_eq!(
        refusal(store),
        "the log is damaged at sequence 1: the log ends at 0, but the tip says 3: records 1 to 3 are missing"
    );
}

#[test]
fn a_log_beyond_its_tip_is_refused() {
    let (short, long) = (filled(5), filled(9));
    let tip = Store::get(&short, Family::Meta, b"tip").unwrap().unwrap();
    long.faults().overwrite(Family::Meta, b"tip", Some(&tip));
    assert_eq!(refusal(long), "the log is damaged at sequence 6: the tip says 5, but the log goes on to 9");
}

#[test]
fn a_log_that_lost_its_tail_whole_is_refused() {
    // Log, tip and snapshots agree, as when a RocksDB log file is gone; only the witness knows
    // better.
    let store = filled(5);
    let old = store.copy();
    let log = open(store.clone());
    append(&log, record(1, b"six")).seq();
    append(&log, record(1, b"seven")).seq();
    log.close();
    assert_eq!(open(old.copy()).durable_seq(), 5);
    old.faults().take_witness_of(&store);
    assert_eq!(
        refusal(old),
        "the log is damaged at sequence 6: the log ends at 5, but 7 was acknowledged: records 6 to 7 are missing"
    );
    let empty = MemoryStore::new();
    empty.faults().take_witness_of(&store);
    assert_eq!(
        refusal(empty),
        "the log is damaged at sequence 1: the log ends at 0, but 7 was acknowledged: records 1 to 7 are missing"
    );
}

#[test]
fn another_log_of_the_same_length_is_refused() {
    let (ours, theirs) = (filled(5), MemoryStore::new());
    let log = open(theirs.clone());
    for _ in 0..5 {
        append(&log, record(9, b"another history")).seq();
    }
    log.close();
    ours.faults().take_witness_of(&theirs);
    assert_eq!(
        refusal(ours),
        "the log is damaged at sequence 5: record 5 is not the one that was acknowledged"
    );
    let ours = filled(5);
    let tip = Store::get(&theirs, Family::Meta, b"tip").unwrap().unwrap();
    ours.faults().overwrite(Family::Meta, b"tip", Some(&tip));
    assert_eq!(refusal(ours), "the log is damaged at sequence 5: record 5 is not the one that the tip names");
}

#[test]
fn a_snapshot_above_the_tip_is_refused() {
    let store = filled(5);
    let log = open(store.clone());
    snapshot(&log, 0, b"old").seq();
    append(&log, record(0, b"six")).seq();
    snapshot(&log, 7, b"state").seq();
    log.close();
    let low = filled(5);
    for key in store.faults().keys(Family::Snapshots) {
        let value = Store::get(&store, Family::Snapshots, &key).unwrap();
        low.faults().overwrite(Family::Snapshots, &key, value.as_deref());
    }
    assert_eq!(
        refusal(low),
        "the log is damaged at sequence 6: the log ends at 5, but 6 is in the snapshot of tenant 7: record 6 is missing"
    );
}

#[test]
fn a_floor_above_the_tip_is_refused() {
    let store = filled(9);
    raise_floor(&open(store.clone()), 9).seq();
    let floor = Store::get(&store, Family::Meta, b"floor").unwrap().unwrap();
    let low = filled(5);
    low.faults().overwrite(Family::Meta, b"floor", Some(&floor));
    assert_eq!(
        refusal(low),
        "the log is damaged at sequence 6: the log ends at 5, but 9 is the floor of replay: records 6 to 9 are missing"
    );
}

#[test]
fn damaged_or_missing_meta_entries_are_refused() {
    for key in [&b"format"[..], b"tip", b"floor"] {
        let name = std::str::from_utf8(key).unwrap();
        let store = filled(5);
        store.faults().flip_byte(Family::Meta, key, 3);
        assert!(refusal(store).ends_with(&format!("the {name} entry has a wrong checksum or length")));
        let store = filled(5);
        store.faults().overwrite(Family::Meta, key, None);
        let text = refusal(store);
        assert!(
            text.ends_with(&format!("the {name} entry is missing"))
                || text.ends_with("there is data in the family log, but no format entry"),
            "{text}"
        );
    }
}

#[test]
fn a_log_without_its_beginning_or_with_a_damaged_end_is_refused() {
    let store = filled(5);
    store.faults().overwrite(Family::Log, &1u64.to_be_bytes(), None);
    assert_eq!(refusal(store), "the log is damaged at sequence 1: record 1 is missing");
    let store = filled(5);
    store.faults().flip_byte_of_record(5, 50);
    assert_eq!(refusal(store), "the log is damaged at sequence 5: record 5 has a wrong checksum");
}

#[test]
fn a_format_of_the_future_is_refused() {
    let store = filled(1);
    let mut format = [&b"pasarela"[..], &2u32.to_le_bytes()].concat();
    let crc = crc32c::crc32c_append(crc32c::crc32c(b"format"), &format);
    format.extend_from_slice(&crc.to_le_bytes());
    store.faults().overwrite(Family::Meta, b"format", Some(&format));
    assert!(refusal(store).ends_with("the store is written in format 2, this program knows 1"));
}
