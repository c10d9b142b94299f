//! Snapshots of tenants: what is asked for, what is stored, and its bytes. The drawing is in the header of the crate.

use crate::batch::{Batch, Family};
use crate::{Damage, IndexOps, Seq};

/// The largest state of one snapshot.
pub const STATE_BYTES_MAX: usize = 1 << 30;

const VERSION: u8 = 1;
const STATE_AT: usize = 9; // u8 version, i64 time

/// The state of a tenant after every record of it that was appended before the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Whose state it is.
    pub tenant: u64,
    /// When it was taken, milliseconds since 1970.
    pub time_ms: i64,
    /// The state; opaque here.
    pub state: Vec<u8>,
    /// Index entries to write with it. Their sequence is that of the snapshot.
    pub index: IndexOps,
}

impl Snapshot {
    /// What it counts against the bounds of what is pending.
    pub(crate) fn len_bytes(&self) -> usize {
        self.state.len() + self.index.len_bytes()
    }
}

/// A snapshot as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSnapshot {
    /// Whose state it is.
    pub tenant: u64,
    /// It contains all records of that tenant up to this one.
    pub seq: Seq,
    /// When it was taken.
    pub time_ms: i64,
    /// The state.
    pub state: Vec<u8>,
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

pub(crate) fn put_into(batch: &mut Batch, seq: Seq, snapshot: &Snapshot) {
    let key = key(snapshot.tenant, seq);
    let open = batch.begin(Family::Snapshots, &key);
    let out = batch.grow();
    let start = out.len();
    out.reserve(STATE_AT + snapshot.state.len() + 4);
    out.push(VERSION);
    out.extend_from_slice(&snapshot.time_ms.to_le_bytes());
    out.extend_from_slice(&snapshot.state);
    let crc = crc32c::crc32c_append(crc32c::crc32c(&key), &out[start..]);
    out.extend_from_slice(&crc.to_le_bytes());
    batch.finish(open);
}

pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<StoredSnapshot, Damage> {
    let (tenant, seq) = decode_key(key)?;
    let damage = |what| Damage::new(seq, format!("the snapshot of tenant {tenant} at {seq} {what}"));
    let Some((body, crc)) = value.split_last_chunk::<4>().filter(|(body, _)| body.len() >= STATE_AT) else {
        return Err(damage("is cut off"));
    };
    if crc32c::crc32c_append(crc32c::crc32c(key), body).to_le_bytes() != *crc {
        return Err(damage("has a wrong checksum"));
    }
    if body[0] != VERSION {
        return Err(damage("has a format that this program does not know"));
    }
    let time_ms = i64::from_le_bytes(body[1..STATE_AT].try_into().expect("eight bytes"));
    Ok(StoredSnapshot { tenant, seq, time_ms, state: body[STATE_AT..].to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_comes_back_and_a_changed_one_does_not() {
        let snapshot = Snapshot { tenant: 7, time_ms: -1, state: b"state".to_vec(), index: IndexOps::new() };
        let mut batch = Batch::new();
        put_into(&mut batch, 41, &snapshot);
        let op = batch.ops().next().unwrap();
        let (key, value) = (op.key, op.value.unwrap());
        let stored = StoredSnapshot { tenant: 7, seq: 41, time_ms: -1, state: b"state".to_vec() };
        assert_eq!(decode(key, value).unwrap(), stored);
        for at in 0..value.len() {
            let mut value = value.to_vec();
            value[at] ^= 0x40;
            assert_eq!(decode(key, &value).unwrap_err().seq, 41);
        }
        assert!(decode(&super::key(8, 41), value).is_err(), "the key is under the checksum");
    }
}
