//! Records of the log: an input is a record as it may lie on a disk, then one that is made.
//!
//! What is taken is written again as the very same bytes; what was written is read as it was; a
//! changed bit, another place in the log or a missing end is refused.

use crate::bytes::Bytes;
use wal::{RECORD_OVERHEAD_BYTES, Record};

pub fn run(input: &[u8]) {
    let mut bytes = Bytes::new(input);
    let seq = u64::from_le_bytes(bytes.array());
    let flip = usize::from(u16::from_le_bytes(bytes.array()));
    let stored = bytes.sized();
    read(stored, seq);
    read(&sealed(stored, seq), seq);

    let payload = bytes.rest();
    let record = Record {
        seq,
        time_ms: seq.rotate_left(7) as i64,
        tenant: seq.rotate_left(23),
        payload: payload.to_vec(),
        bytes: RECORD_OVERHEAD_BYTES + payload.len(),
        hash: [0; 16],
        prev: [seq as u8; 16],
    };
    let mut written = Vec::new();
    record.encode_into(&mut written);
    let (back, rest) = Record::split_off(&written, seq, None).expect("what was written can be read");
    assert!(rest.is_empty());
    assert_eq!(Record { hash: record.hash, ..back }, record);
    assert!(Record::split_off(&written, seq.wrapping_add(1), None).is_err(), "in another place");
    assert!(Record::split_off(&written[..written.len() - 1], seq, None).is_err(), "without its end");
    let at = flip % (8 * written.len());
    written[at / 8] ^= 1 << (at % 8);
    assert!(Record::split_off(&written, seq, None).is_err(), "bit {at} is flipped");
}

fn read(bytes: &[u8], seq: u64) {
    let Ok((record, rest)) = Record::split_off(bytes, seq, None) else { return };
    let mut again = Vec::new();
    record.encode_into(&mut again);
    assert_eq!(again, bytes[..bytes.len() - rest.len()], "a record is written in two ways");
    assert_eq!((record.seq, record.bytes), (seq, again.len()));
}

/// A record with length, version, sequence and checksum as they should be, so that what lies behind
/// those is reached.
fn sealed(bytes: &[u8], seq: u64) -> Vec<u8> {
    let mut sealed = bytes.to_vec();
    sealed.resize(sealed.len().max(RECORD_OVERHEAD_BYTES), 0);
    let length = sealed.len();
    sealed[..4].copy_from_slice(&(length as u32 - 4).to_le_bytes());
    sealed[8..16].copy_from_slice(&seq.to_le_bytes());
    let crc = crc32c::crc32c(&sealed[4..length - 4]);
    sealed[length - 4..].copy_from_slice(&crc.to_le_bytes());
    sealed
}
