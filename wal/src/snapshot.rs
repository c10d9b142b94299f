//! Snapshots of tenants; layout: the header of the crate.

use crate::batch::{Batch, Family};
use crate::{Damage, IndexOps, Seq};

pub const STATE_BYTES_MAX: usize = 1 << 30;

/// A larger state is in pieces, so that walking the snapshots of a tenant reads little else than their times.
pub(crate) const WHOLE_BYTES_MAX: usize = 4 << 10;

const WHOLE: u8 = 1;
const IN_PIECES: u8 = 2;
const STATE_AT: usize = 9; // u8 version, i64 time
const DESCRIPTION_BYTES: usize = 16; // u64 length, u32 pieces, u32 checksum

/// The state after every record of the tenant that was appended before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub tenant: u64,
    pub time_ms: i64,
    pub state: Vec<u8>,
    /// Their sequence is that of the snapshot.
    pub index: IndexOps,
}

impl Snapshot {
    pub(crate) fn len_bytes(&self) -> usize {
        self.state.len() + self.index.len_bytes()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSnapshot {
    pub tenant: u64,
    /// All records before it are in it too.
    pub seq: Seq,
    pub time_ms: i64,
    pub state: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotHead {
    pub tenant: u64,
    /// All records before it are in it too.
    pub seq: Seq,
    pub time_ms: i64,
    /// 0 when the state is stored with the head.
    pub(crate) pieces: u32,
}

impl SnapshotHead {
    pub(crate) fn remove_from(&self, batch: &mut Batch) {
        batch.delete(Family::Snapshots, &key(self.tenant, self.seq));
        for number in 0..self.pieces {
            batch.delete(Family::Pieces, &crate::pieces::key(self.tenant, self.seq, number));
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Whole(StoredSnapshot),
    InPieces(Head),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub tenant: u64,
    pub seq: Seq,
    pub time_ms: i64,
    pub len: u64,
    pub pieces: u32,
    pub crc: u32,
}

impl Head {
    pub fn damage(&self, what: &str) -> Damage {
        damage(self.tenant, self.seq, what)
    }

    pub fn put_into(&self, batch: &mut Batch) {
        let mut description = [0; DESCRIPTION_BYTES];
        description[..8].copy_from_slice(&self.len.to_le_bytes());
        description[8..12].copy_from_slice(&self.pieces.to_le_bytes());
        description[12..].copy_from_slice(&self.crc.to_le_bytes());
        put(batch, &key(self.tenant, self.seq), IN_PIECES, self.time_ms, &description);
    }
}

fn damage(tenant: u64, seq: Seq, what: &str) -> Damage {
    Damage::new(seq, format!("the snapshot of tenant {tenant} at {seq} {what}"))
}

pub(crate) fn key(tenant: u64, seq: Seq) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&tenant.to_be_bytes());
    key[8..].copy_from_slice(&seq.to_be_bytes());
    key
}

pub(crate) fn decode_key(key: &[u8]) -> Result<(u64, Seq), Damage> {
    let Ok(key) = <&[u8; 16]>::try_from(key) else {
        return Err(Damage::new(0, format!("a snapshot has a key of {} bytes", key.len())));
    };
    let (tenant, seq) = key.split_at(8);
    let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().expect("eight bytes"));
    Ok((number(tenant), number(seq)))
}

/// At most `WHOLE_BYTES_MAX`; earlier programs wrote larger ones.
pub(crate) fn put_whole_into(batch: &mut Batch, seq: Seq, snapshot: &Snapshot) {
    put(batch, &key(snapshot.tenant, seq), WHOLE, snapshot.time_ms, &snapshot.state);
}

fn put(batch: &mut Batch, key: &[u8], version: u8, time_ms: i64, what: &[u8]) {
    let (version, time) = ([version], time_ms.to_le_bytes());
    let parts = [&version[..], &time, what];
    let crc = parts.iter().fold(crc32c::crc32c(key), |crc, part| crc32c::crc32c_append(crc, part));
    batch.put_parts(Family::Snapshots, key, &[parts[0], parts[1], parts[2], &crc.to_le_bytes()]);
}

struct Checked<'a> {
    tenant: u64,
    seq: Seq,
    version: u8,
    time_ms: i64,
    rest: &'a [u8],
}

fn checked<'a>(key: &[u8], value: &'a [u8]) -> Result<Checked<'a>, Damage> {
    let (tenant, seq) = decode_key(key)?;
    let Some((body, crc)) = value.split_last_chunk::<4>().filter(|(body, _)| body.len() >= STATE_AT) else {
        return Err(damage(tenant, seq, "is cut off"));
    };
    if crc32c::crc32c_append(crc32c::crc32c(key), body).to_le_bytes() != *crc {
        return Err(damage(tenant, seq, "has a wrong checksum"));
    }
    let (head, rest) = body.split_at(STATE_AT);
    let time_ms = i64::from_le_bytes(head[1..].try_into().expect("eight bytes"));
    Ok(Checked { tenant, seq, version: head[0], time_ms, rest })
}

pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Found, Damage> {
    let Checked { tenant, seq, version, time_ms, rest } = checked(key, value)?;
    match (version, <&[u8; DESCRIPTION_BYTES]>::try_from(rest)) {
        (WHOLE, _) => Ok(Found::Whole(StoredSnapshot { tenant, seq, time_ms, state: rest.to_vec() })),
        (IN_PIECES, Ok([len @ .., p0, p1, p2, p3, c0, c1, c2, c3])) => Ok(Found::InPieces(Head {
            tenant,
            seq,
            time_ms,
            len: u64::from_le_bytes(*len),
            pieces: u32::from_le_bytes([*p0, *p1, *p2, *p3]),
            crc: u32::from_le_bytes([*c0, *c1, *c2, *c3]),
        })),
        _ => Err(unknown(tenant, seq)),
    }
}

pub(crate) fn decode_head(key: &[u8], value: &[u8]) -> Result<SnapshotHead, Damage> {
    let Checked { tenant, seq, version, time_ms, rest } = checked(key, value)?;
    let pieces = match (version, <&[u8; DESCRIPTION_BYTES]>::try_from(rest)) {
        (WHOLE, _) => 0,
        (IN_PIECES, Ok([_, _, _, _, _, _, _, _, p0, p1, p2, p3, ..])) => {
            u32::from_le_bytes([*p0, *p1, *p2, *p3])
        }
        _ => return Err(unknown(tenant, seq)),
    };
    Ok(SnapshotHead { tenant, seq, time_ms, pieces })
}

fn unknown(tenant: u64, seq: Seq) -> Damage {
    damage(tenant, seq, "has a format that this program does not know")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_comes_back_and_a_changed_one_does_not() {
        let snapshot = Snapshot { tenant: 7, time_ms: -1, state: b"state".to_vec(), index: IndexOps::new() };
        let mut batch = Batch::new();
        put_whole_into(&mut batch, 41, &snapshot);
        let op = batch.ops().next().unwrap();
        let (key, value) = (op.key, op.value.unwrap());
        let stored = StoredSnapshot { tenant: 7, seq: 41, time_ms: -1, state: b"state".to_vec() };
        assert_eq!(decode(key, value).unwrap(), Found::Whole(stored));
        assert_eq!(
            decode_head(key, value).unwrap(),
            SnapshotHead { tenant: 7, seq: 41, time_ms: -1, pieces: 0 }
        );
        for at in 0..value.len() {
            let mut value = value.to_vec();
            value[at] ^= 0x40;
            assert_eq!(decode(key, &value).unwrap_err().seq, 41);
        }
        assert!(decode(&super::key(8, 41), value).is_err(), "the key is under the checksum");
    }

    #[test]
    fn a_head_comes_back_and_a_changed_one_does_not() {
        let head = Head { tenant: 7, seq: 41, time_ms: -1, len: 1 << 33, pieces: 3, crc: 0xABCD };
        let mut batch = Batch::new();
        head.put_into(&mut batch);
        let op = batch.ops().next().unwrap();
        let (key, value) = (op.key, op.value.unwrap());
        assert_eq!(decode(key, value).unwrap(), Found::InPieces(head));
        let without_state = SnapshotHead { tenant: 7, seq: 41, time_ms: -1, pieces: 3 };
        assert_eq!(decode_head(key, value).unwrap(), without_state);
        for at in 0..value.len() {
            let mut value = value.to_vec();
            value[at] ^= 0x40;
            assert_eq!(decode(key, &value).unwrap_err().seq, 41);
        }
    }
}
