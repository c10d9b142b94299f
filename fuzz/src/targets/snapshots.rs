//! Snapshots in a store: an input is the bytes under the key of one, and of two pieces.
//!
//! As they are they are refused unless every checksum is right; with right checksums the state is
//! what the pieces come to, or the damage is named. Nothing takes more memory than is there.

use crate::bytes::Bytes;
use faulty::MemoryStore;
use std::sync::Arc;
use wal::{Family, Reader};

const TENANT: u64 = 7;
const SEQ: u64 = 0;

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let is_sealed = bytes.byte().is_multiple_of(2);
    let head = bytes.sized();
    let pieces = [bytes.sized(), bytes.rest()];
    let key = [TENANT.to_be_bytes(), SEQ.to_be_bytes()].concat();
    let store = MemoryStore::new();
    let faults = store.faults();
    let put = |family, key: &[u8], value: &[u8]| {
        let value = if is_sealed { sealed(key, value) } else { value.to_vec() };
        faults.overwrite(family, key, Some(&value));
    };
    put(Family::Snapshots, &key, head);
    for (number, piece) in pieces.into_iter().enumerate() {
        put(Family::Pieces, &[&key[..], &(number as u32).to_be_bytes()].concat(), piece);
    }
    let Ok(reader) = Reader::over(Arc::new(store)) else { return };
    let heads = reader.snapshot_heads(TENANT);
    if let Ok(Some(stored)) = reader.snapshot(TENANT, None) {
        assert_eq!((stored.tenant, stored.seq), (TENANT, SEQ));
        assert_eq!(heads.expect("what can be read has a head").len(), 1);
        let whole = head.get(9..).is_some_and(|state| is_sealed && state == stored.state);
        let joined = is_sealed && pieces.concat().starts_with(&stored.state);
        assert!(whole || joined || !is_sealed, "a state of nowhere");
    }
}

/// Appends the checksum that the format asks for, over the key and the value.
fn sealed(key: &[u8], value: &[u8]) -> Vec<u8> {
    let crc = crc32c::crc32c_append(crc32c::crc32c(key), value);
    [value, &crc.to_le_bytes()].concat()
}
