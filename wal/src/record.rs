//! The bytes of a record, of a chunk of records, of the three meta entries and of the witness;
//! layout: the header of the crate. What is encoded here decodes to the same for ever (golden
//! files); what was changed by one bit does not decode.

use crate::{Damage, Seq};
use sha2::{Digest, Sha256};

pub const RECORD_VERSION: u8 = 1;
pub const RECORD_OVERHEAD_BYTES: usize = 52;
pub const PAYLOAD_BYTES_MAX: usize = 16 << 20;

pub type Hash = [u8; 16];

const PAYLOAD_AT: usize = 48; // from the start of the record, its length field included
const CRC_BYTES: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub seq: Seq,
    pub time_ms: i64,
    pub tenant: u64,
    pub payload: Vec<u8>,
    pub bytes: usize,
    pub hash: Hash,
    pub prev: Hash,
}

impl Record {
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        encode(out, self.seq, self.time_ms, self.tenant, &self.prev, &self.payload);
    }

    /// Takes the first record off `chunk`, checked whole; it must follow the one with the hash `prev`, where that is
    /// known.
    pub fn split_off(chunk: &[u8], seq: Seq, prev: Option<Hash>) -> Result<(Record, &[u8]), Damage> {
        let damage = |why: String| Damage::new(seq, why);
        let Some((bytes, rest)) = split(chunk) else {
            return Err(damage(format!("record {seq} is cut off")));
        };
        let body = &bytes[4..];
        let (covered, crc) = body.split_at(body.len() - CRC_BYTES);
        if crc32c::crc32c(covered).to_le_bytes() != crc {
            return Err(damage(format!("record {seq} has a wrong checksum")));
        }
        if bytes[4] != RECORD_VERSION || bytes[5..8] != [0; 3] {
            let found = &bytes[4..8];
            return Err(damage(format!(
                "record {seq} has the format {found:?}, which this program does not know"
            )));
        }
        let found = Seq::from_le_bytes(field(bytes, 8));
        if found != seq {
            return Err(damage(format!("record {found} is where record {seq} should be")));
        }
        let before: Hash = field(bytes, 32);
        if prev.is_some_and(|prev| prev != before) {
            let last = seq - 1;
            return Err(damage(format!(
                "record {seq} does not follow record {last}: the hash chain is broken"
            )));
        }
        let record = Record {
            seq,
            time_ms: i64::from_le_bytes(field(bytes, 16)),
            tenant: u64::from_le_bytes(field(bytes, 24)),
            payload: bytes[PAYLOAD_AT..bytes.len() - CRC_BYTES].to_vec(),
            bytes: bytes.len(),
            hash: hash(body),
            prev: before,
        };
        Ok((record, rest))
    }
}

/// Takes the first record off `chunk` by its length alone.
fn split(chunk: &[u8]) -> Option<(&[u8], &[u8])> {
    let total = (u32::from_le_bytes(*chunk.first_chunk::<4>()?) as usize).checked_add(4)?;
    if total < RECORD_OVERHEAD_BYTES { None } else { chunk.split_at_checked(total) }
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("a record is longer than its header")
}

pub(crate) fn encode(
    out: &mut Vec<u8>,
    seq: Seq,
    time_ms: i64,
    tenant: u64,
    prev: &Hash,
    payload: &[u8],
) -> Hash {
    let start = out.len();
    let total = RECORD_OVERHEAD_BYTES + payload.len();
    let length = u32::try_from(total - 4).expect("a payload is at most 16 MiB");
    let mut header = [0; PAYLOAD_AT];
    header[0..4].copy_from_slice(&length.to_le_bytes());
    header[4] = RECORD_VERSION; // 5: flags, 6 and 7: reserved, all zero
    header[8..16].copy_from_slice(&seq.to_le_bytes());
    header[16..24].copy_from_slice(&time_ms.to_le_bytes());
    header[24..32].copy_from_slice(&tenant.to_le_bytes());
    header[32..48].copy_from_slice(prev);
    out.reserve(total);
    out.extend_from_slice(&header);
    out.extend_from_slice(payload);
    let crc = crc32c::crc32c(&out[start + 4..]);
    out.extend_from_slice(&crc.to_le_bytes());
    hash(&out[start + 4..])
}

fn hash(body: &[u8]) -> Hash {
    let digest = Sha256::digest(body);
    digest[..16].try_into().expect("a SHA-256 has 32 bytes")
}

/// `None` if the chunk ends before it.
pub(crate) fn find(chunk: &[u8], first: Seq, seq: Seq) -> Result<Option<Record>, Damage> {
    let (mut rest, mut at) = (chunk, first);
    while !rest.is_empty() {
        if at == seq
            && let Ok((record, _)) = Record::split_off(rest, seq, None)
        {
            return Ok(Some(record));
        }
        rest = match split(rest) {
            Some((_, next)) if at != seq => next,
            // A wrong length leads the walk astray; the damaged record is then found by its checksum.
            _ => return Err(first_damage(chunk, first)),
        };
        at += 1;
    }
    Ok(None)
}

fn first_damage(chunk: &[u8], first: Seq) -> Damage {
    let (mut rest, mut seq) = (chunk, first);
    loop {
        match Record::split_off(rest, seq, None) {
            Ok((_, next)) => (rest, seq) = (next, seq + 1),
            Err(damage) => return damage,
        }
    }
}

pub(crate) fn decode_key(key: &[u8]) -> Result<Seq, Damage> {
    match key.try_into() {
        Ok(key) => Ok(Seq::from_be_bytes(key)),
        Err(_) => Err(Damage::new(0, format!("the log has a key of {} bytes", key.len()))),
    }
}

pub(crate) const FORMAT_KEY: &[u8] = b"format";
pub(crate) const TIP_KEY: &[u8] = b"tip";
pub(crate) const FLOOR_KEY: &[u8] = b"floor";
pub(crate) const WITNESS_KEY: &[u8] = b"witness";

const FORMAT_MAGIC: &[u8; 8] = b"pasarela";
const FORMAT_VERSION: u32 = 1;

/// Sequence 0 and zeroes when the log is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tip {
    pub seq: Seq,
    pub hash: Hash,
}

fn seal(key: &[u8], mut value: Vec<u8>) -> Vec<u8> {
    let crc = crc32c::crc32c_append(crc32c::crc32c(key), &value);
    value.extend_from_slice(&crc.to_le_bytes());
    value
}

fn unseal<'v, const N: usize>(key: &[u8], value: &'v [u8]) -> Option<&'v [u8; N]> {
    let (body, crc) = value.split_last_chunk::<4>()?;
    let expected = crc32c::crc32c_append(crc32c::crc32c(key), body).to_le_bytes();
    if *crc == expected { body.try_into().ok() } else { None }
}

pub(crate) fn format_bytes() -> Vec<u8> {
    seal(FORMAT_KEY, [&FORMAT_MAGIC[..], &FORMAT_VERSION.to_le_bytes()].concat())
}

pub(crate) fn check_format(value: &[u8]) -> Result<(), Damage> {
    let Some(body) = unseal::<12>(FORMAT_KEY, value) else {
        return Err(Damage::new(0, "the format entry has a wrong checksum or length"));
    };
    let version = u32::from_le_bytes([body[8], body[9], body[10], body[11]]);
    if &body[..8] != FORMAT_MAGIC || version != FORMAT_VERSION {
        return Err(Damage::new(
            0,
            format!("the store is written in format {version}, this program knows {FORMAT_VERSION}"),
        ));
    }
    Ok(())
}

impl Tip {
    pub(crate) fn sealed(self, key: &[u8]) -> Vec<u8> {
        let mut value = [&self.seq.to_le_bytes()[..], &self.hash].concat();
        let crc = crc32c::crc32c_append(crc32c::crc32c(key), &value);
        value.extend_from_slice(&crc.to_le_bytes());
        value
    }

    pub(crate) fn unseal(key: &[u8], value: &[u8]) -> Result<Tip, Damage> {
        let Some(body) = unseal::<24>(key, value) else {
            let what = if key == TIP_KEY { "tip entry" } else { "witness" };
            return Err(Damage::new(0, format!("the {what} has a wrong checksum or length")));
        };
        let (seq, hash) = body.split_at(8);
        Ok(Tip {
            seq: Seq::from_le_bytes(seq.try_into().expect("eight bytes")),
            hash: hash.try_into().expect("sixteen bytes"),
        })
    }
}

pub(crate) fn floor_bytes(floor: Seq) -> Vec<u8> {
    seal(FLOOR_KEY, floor.to_le_bytes().to_vec())
}

pub(crate) fn decode_floor(value: &[u8]) -> Result<Seq, Damage> {
    match unseal::<8>(FLOOR_KEY, value) {
        Some(body) => Ok(Seq::from_le_bytes(*body)),
        None => Err(Damage::new(0, "the floor entry has a wrong checksum or length")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk() -> Vec<u8> {
        let mut chunk = Vec::new();
        let mut prev = [0; 16];
        for seq in 7..12 {
            prev = encode(&mut chunk, seq, 1_700_000_000_000, 5, &prev, b"payload of a record");
        }
        chunk
    }

    #[test]
    fn a_record_comes_back_as_it_was() {
        let mut out = vec![0xAA];
        let hash = encode(&mut out, 3, -5, u64::MAX, &[9; 16], b"abc");
        assert_eq!(out.len(), 1 + RECORD_OVERHEAD_BYTES + 3);
        let (found, rest) = Record::split_off(&out[1..], 3, Some([9; 16])).unwrap();
        assert!(rest.is_empty());
        let record = Record {
            seq: 3,
            time_ms: -5,
            tenant: u64::MAX,
            payload: b"abc".to_vec(),
            bytes: 55,
            hash,
            prev: [9; 16],
        };
        assert_eq!(found, record);
    }

    #[test]
    fn a_record_is_found_by_walking_the_lengths() {
        let chunk = chunk();
        assert_eq!(find(&chunk, 7, 11).unwrap().unwrap().seq, 11);
        assert!(find(&chunk, 7, 12).unwrap().is_none());
    }

    #[test]
    fn every_flipped_bit_is_noticed_and_named() {
        let whole = chunk();
        let each = whole.len() / 5;
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut chunk = whole.clone();
                chunk[at] ^= 1 << bit;
                let seq = 7 + (at / each) as Seq;
                let damage = find(&chunk, 7, seq).expect_err("a changed record does not decode");
                assert_eq!(damage.seq, seq, "byte {at}, bit {bit}: {damage}");
            }
        }
    }

    #[test]
    fn a_chunk_cut_short_is_noticed() {
        let whole = chunk();
        let damage = find(&whole[..whole.len() - 1], 7, 11).err().unwrap();
        assert_eq!(damage.to_string(), "record 11 is cut off");
    }

    #[test]
    fn entries_come_back_and_do_not_pass_for_each_other() {
        let tip = Tip { seq: 57, hash: [3; 16] };
        let value = tip.sealed(TIP_KEY);
        assert_eq!(Tip::unseal(TIP_KEY, &value).unwrap(), tip);
        assert!(Tip::unseal(WITNESS_KEY, &value).is_err(), "the key is under the checksum");
        assert_eq!(Tip::unseal(WITNESS_KEY, &tip.sealed(WITNESS_KEY)).unwrap(), tip);
        assert_eq!(decode_floor(&floor_bytes(9)).unwrap(), 9);
        check_format(&format_bytes()).unwrap();
        for at in 0..value.len() {
            let mut value = value.clone();
            value[at] ^= 1;
            assert!(Tip::unseal(TIP_KEY, &value).is_err());
        }
    }
}
