//! One wrong byte in what the disk has, of the log, the snapshots or the format: on a copy, so that the
//! history goes on. What is read of the copy is what was written, or it is refused.

use faulty::MemoryStore;
use pasarela::recovery::rederive::rederive;
use std::sync::Arc;
use wal::{Family, OpenError, Reader};

/// Index entries have no checksum of their own: they are RocksDB's, which `tests/recovery/` damages.
const FAMILIES: [Family; 4] = [Family::Log, Family::Snapshots, Family::Meta, Family::Pieces];

/// Where a byte is wrong: each modulo how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub family: usize,
    pub key: usize,
    pub at: usize,
}

/// Panics if anything wrong can be read of a store with one wrong byte. Says whether somebody noticed it.
pub fn examine(store: &MemoryStore, tenants: &[u64], place: Place) -> Option<&'static str> {
    let (intact, damaged) = (store.copy(), store.copy());
    let family = FAMILIES[place.family % FAMILIES.len()];
    let keys = damaged.faults().keys(family);
    let key = keys.get(place.key.checked_rem(keys.len())?)?;
    damaged.faults().flip_byte(family, key, place.at.checked_rem(damaged.faults().len_of(family, key))?);
    let intact = Reader::over(Arc::new(intact)).expect("the store opens");
    let damaged = match Reader::over(Arc::new(damaged)) {
        Ok(reader) => reader,
        Err(OpenError::Damage(_) | OpenError::Store(_)) => return Some("damage.refused_at_start"),
        Err(other) => panic!("{family:?} {place:?}: a wrong byte is no {other:?}"),
    };
    let last = intact.last_seq();
    assert_eq!(damaged.last_seq(), last, "{family:?} {place:?}: the end of the log");
    for seq in 1..=last {
        // A record that cannot be read is found by whoever asks for it.
        let Ok(read) = damaged.record(seq) else { continue };
        assert_eq!(read, intact.record(seq).expect("it is whole"), "{family:?} {place:?}: record {seq}");
    }
    let mut noticed = damaged.verify(&mut |_, _| {}).is_err();
    for tenant in tenants {
        if let Ok(Some(read)) = damaged.snapshot(*tenant, None) {
            let whole = intact.snapshot(*tenant, Some(read.seq)).expect("it is whole").expect("a snapshot");
            let is_same = (read.seq, read.time_ms, &read.state) == (whole.seq, whole.time_ms, &whole.state);
            assert!(is_same, "{family:?} {place:?}: the snapshot of {tenant} at {}", read.seq);
        }
        match rederive(&damaged, *tenant, last) {
            Err(_) => noticed = true,
            Ok(derived) => {
                let whole = rederive(&intact, *tenant, last).expect("it is whole");
                assert!(derived.book == whole.book, "{family:?} {place:?}: the book of {tenant}");
                noticed |= !derived.wrong.is_empty();
            }
        }
    }
    // Of the format's own entries some say how far something got, and are only a beginning to look from.
    assert!(noticed || family == Family::Meta, "{family:?} {place:?}: nobody notices the wrong byte");
    noticed.then_some("damage.noticed")
}
