//! The bytes of an agreed batch.
//!
//! ```text
//! 0   u8    version = 1
//! 1   u64   epoch
//! 9   u64   first sequence
//! 17  u64   last sequence
//! 25  [16]  hash of the record before the first
//! 41  [16]  hash of the last record
//! 57  u32   pieces under keys of their own; 0: the records are in here
//! 61  u32   bytes of the records
//! 65  u32   crc32c of the records
//! 69  u32   crc32c of all before this
//! 73  ..    the records as the log stores them, zstd
//! ```
//!
//! Numbers are little endian.

use crate::record::{Hash, Tip};
use crate::{Damage, Record, Seq};
use zstd::bulk::Compressor;

/// The bytes of records from which a batch takes no more, and of a value in the quorum.
pub const PROPOSAL_BYTES_MAX: usize = 1 << 20;

const VERSION: u8 = 1;
const HEADER_BYTES: usize = 73;
/// Far more than the writer ever puts into one batch.
const RECORDS_BYTES_MAX: usize = 64 << 20;
/// The fastest level: the writer waits for it.
const ZSTD_LEVEL: i32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub epoch: u64,
    pub base: Tip,
    pub tip: Tip,
    pub pieces: u32,
    records_bytes: u32,
    records_crc: u32,
}

impl Head {
    pub(crate) fn first(&self) -> Seq {
        self.base.seq + 1
    }
}

#[derive(Clone, Debug)]
pub struct AgreedBatch {
    pub base: Tip,
    pub tip: Tip,
    pub epoch: u64,
    pub records: Vec<Record>,
}

/// Keeps its compressor: to make one costs more than to pack a small batch.
pub(crate) struct Packer(Compressor<'static>);

impl Packer {
    pub(crate) fn new() -> Packer {
        Packer(Compressor::new(ZSTD_LEVEL).expect("zstd has memory for its tables"))
    }

    /// The value of a batch, and the pieces to be written before it.
    pub(crate) fn pack(
        &mut self,
        epoch: u64,
        base: Tip,
        tip: Tip,
        records: &[u8],
    ) -> (Vec<u8>, Vec<Vec<u8>>) {
        let packed = self.0.compress(records).expect("zstd packs what is in memory");
        let fits = HEADER_BYTES + packed.len() <= PROPOSAL_BYTES_MAX;
        let pieces: Vec<Vec<u8>> =
            if fits { Vec::new() } else { packed.chunks(PROPOSAL_BYTES_MAX).map(<[u8]>::to_vec).collect() };
        let count = u32::try_from(pieces.len()).expect("a batch has few pieces");
        let records_bytes = u32::try_from(records.len()).expect("a batch is shorter than 4 GiB");
        let mut value = Vec::with_capacity(HEADER_BYTES + if fits { packed.len() } else { 0 });
        value.push(VERSION);
        value.extend_from_slice(&epoch.to_le_bytes());
        value.extend_from_slice(&(base.seq + 1).to_le_bytes());
        value.extend_from_slice(&tip.seq.to_le_bytes());
        value.extend_from_slice(&base.hash);
        value.extend_from_slice(&tip.hash);
        value.extend_from_slice(&count.to_le_bytes());
        value.extend_from_slice(&records_bytes.to_le_bytes());
        value.extend_from_slice(&crc32c::crc32c(records).to_le_bytes());
        value.extend_from_slice(&crc32c::crc32c(&value).to_le_bytes());
        if fits {
            value.extend_from_slice(&packed);
        }
        (value, pieces)
    }
}

pub(crate) fn head(value: &[u8]) -> Result<(Head, &[u8]), Damage> {
    let wrong = |why: &str| Damage::new(0, format!("a batch of the agreed log {why}"));
    if value.first() != Some(&VERSION) {
        return Err(wrong("has a version that this program does not know"));
    }
    let Some((head, rest)) = value.split_first_chunk::<HEADER_BYTES>() else {
        return Err(wrong("is cut off"));
    };
    if crc32c::crc32c(&head[..69]).to_le_bytes() != head[69..73] {
        return Err(wrong("has a wrong checksum"));
    }
    let u64_at = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let u32_at = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let hash_at = |at: usize| Hash::try_from(&head[at..at + 16]).expect("sixteen bytes");
    let (first, last) = (u64_at(9), u64_at(17));
    if first == 0 || last < first {
        return Err(wrong("has no records"));
    }
    let head = Head {
        epoch: u64_at(1),
        base: Tip { seq: first - 1, hash: hash_at(25) },
        tip: Tip { seq: last, hash: hash_at(41) },
        pieces: u32_at(57),
        records_bytes: u32_at(61),
        records_crc: u32_at(65),
    };
    Ok((head, rest))
}

/// Checks each record, that each follows the one before it, and that the last is the one that the head names.
pub(crate) fn unpack(head: &Head, packed: &[u8]) -> Result<AgreedBatch, Damage> {
    let first = head.first();
    let bytes = usize::try_from(head.records_bytes).unwrap_or(usize::MAX).min(RECORDS_BYTES_MAX);
    let records = zstd::bulk::decompress(packed, bytes).map_err(|error| {
        Damage::new(first, format!("the agreed batch at {first} does not unpack: {error}"))
    })?;
    if crc32c::crc32c(&records) != head.records_crc {
        return Err(Damage::new(first, format!("the agreed batch at {first} has a wrong checksum")));
    }
    let (mut tip, mut rest, mut found) = (head.base, &records[..], Vec::new());
    while !rest.is_empty() {
        let (record, next) = Record::split_off(rest, tip.seq + 1, Some(tip.hash))?;
        tip = Tip { seq: record.seq, hash: record.hash };
        found.push(record);
        rest = next;
    }
    if tip != head.tip {
        return Err(Damage::new(tip.seq, format!("the agreed batch at {first} does not end as it says")));
    }
    Ok(AgreedBatch { base: head.base, tip, epoch: head.epoch, records: found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;

    fn records(base: Tip, payloads: &[Vec<u8>]) -> (Vec<u8>, Tip) {
        let (mut bytes, mut tip) = (Vec::new(), base);
        for payload in payloads {
            let hash = record::encode(&mut bytes, tip.seq + 1, 5, 2, &tip.hash, payload);
            tip = Tip { seq: tip.seq + 1, hash };
        }
        (bytes, tip)
    }

    #[test]
    fn a_batch_comes_back_and_damage_is_found() {
        let base = Tip { seq: 4, hash: [9; 16] };
        let (bytes, tip) = records(base, &[vec![1; 40], vec![2; 9]]);
        let (value, pieces) = Packer::new().pack(3, base, tip, &bytes);
        assert!(pieces.is_empty());
        let (found, rest) = head(&value).unwrap();
        let batch = unpack(&found, rest).unwrap();
        assert_eq!((batch.base, batch.tip, batch.epoch, batch.records.len()), (base, tip, 3, 2));
        assert_eq!(batch.records[1].payload, vec![2; 9]);
        for at in 0..value.len() {
            let mut value = value.clone();
            value[at] ^= 4;
            let opened = head(&value).and_then(|(found, rest)| unpack(&found, rest));
            assert!(opened.is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_batch_above_a_megabyte_travels_in_pieces() {
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let noise: Vec<u8> = (0..3 << 20).map(|_| next()).collect();
        let (bytes, tip) = records(Tip::default(), std::slice::from_ref(&noise));
        let (value, pieces) = Packer::new().pack(1, Tip::default(), tip, &bytes);
        assert_eq!(value.len(), HEADER_BYTES);
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() <= PROPOSAL_BYTES_MAX));
        let (found, _) = head(&value).unwrap();
        assert_eq!(found.pieces as usize, pieces.len());
        assert_eq!(unpack(&found, &pieces.concat()).unwrap().records[0].payload, noise);
    }
}
