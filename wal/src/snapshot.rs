//! Snapshots of tenants, whole or in pieces; layout: the header of the crate.

use crate::batch::Batch;
use crate::store::{Family, Scan, Store, Way, checked_item};
use crate::{Damage, IndexOps, ReadError, Seq};
use std::time::Instant;

pub const STATE_BYTES_MAX: usize = 1 << 30;

/// A larger state is in pieces, so that walking the snapshots of a tenant reads little else than their times.
pub(crate) const WHOLE_BYTES_MAX: usize = 4 << 10;

const WHOLE: u8 = 1;
const IN_PIECES: u8 = 2;
const STATE_AT: usize = 9; // u8 version, i64 time
const DESCRIPTION_BYTES: usize = 16; // u64 length, u32 pieces, u32 checksum
const PIECE_KEY_BYTES: usize = 20; // u64 tenant, u64 sequence, u32 number

/// The state after every record of the tenant that was appended before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    pub tenant: u64,
    pub time_ms: i64,
    pub state: Vec<u8>,
    /// Their sequence is that of the snapshot.
    pub index: IndexOps,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSnapshot {
    pub tenant: u64,
    /// All records before it are in it too.
    pub seq: Seq,
    pub time_ms: i64,
    pub state: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotHead {
    pub tenant: u64,
    /// All records before it are in it too.
    pub seq: Seq,
    pub time_ms: i64,
    /// 0 when the state is stored with the head, as are its length and its checksum.
    pub(crate) pieces: u32,
    pub(crate) len: u64,
    pub(crate) crc: u32,
}

impl SnapshotHead {
    fn damage(&self, what: &str) -> ReadError {
        damage(self.tenant, self.seq, what).into()
    }

    fn put_into(&self, batch: &mut Batch) {
        let mut description = [0; DESCRIPTION_BYTES];
        description[..8].copy_from_slice(&self.len.to_le_bytes());
        description[8..12].copy_from_slice(&self.pieces.to_le_bytes());
        description[12..].copy_from_slice(&self.crc.to_le_bytes());
        put(batch, &key(self.tenant, self.seq), IN_PIECES, self.time_ms, &description);
    }

    pub(crate) fn remove_from(&self, batch: &mut Batch) {
        batch.delete(Family::Snapshots, &key(self.tenant, self.seq));
        for number in 0..self.pieces {
            batch.delete(Family::Pieces, &piece_key(self.tenant, self.seq, number));
        }
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

fn put(batch: &mut Batch, key: &[u8], version: u8, time_ms: i64, what: &[u8]) {
    let mut value = [&[version], &time_ms.to_le_bytes()[..], what].concat();
    value.extend_from_slice(&checksum(key, &value));
    batch.put(Family::Snapshots, key, &value);
}

pub(crate) fn decode<'v>(key: &[u8], value: &'v [u8]) -> Result<(SnapshotHead, &'v [u8]), Damage> {
    let (tenant, seq) = decode_key(key)?;
    let Some((body, crc)) = value.split_last_chunk::<4>().filter(|(body, _)| body.len() >= STATE_AT) else {
        return Err(damage(tenant, seq, "is cut off"));
    };
    if checksum(key, body) != *crc {
        return Err(damage(tenant, seq, "has a wrong checksum"));
    }
    let (head, rest) = body.split_at(STATE_AT);
    let time_ms = i64::from_le_bytes(head[1..].try_into().expect("eight bytes"));
    let whole = SnapshotHead { tenant, seq, time_ms, ..SnapshotHead::default() };
    if head[0] == WHOLE {
        return Ok((whole, rest));
    }
    if head[0] == IN_PIECES
        && let Ok([len @ .., p0, p1, p2, p3, c0, c1, c2, c3]) = <&[u8; DESCRIPTION_BYTES]>::try_from(rest)
        && let pieces @ 1.. = u32::from_le_bytes([*p0, *p1, *p2, *p3])
    {
        let (len, crc) = (u64::from_le_bytes(*len), u32::from_le_bytes([*c0, *c1, *c2, *c3]));
        return Ok((SnapshotHead { pieces, len, crc, ..whole }, &[]));
    }
    Err(damage(tenant, seq, "has a format that this program does not know"))
}

/// Checks each piece and the whole; `None` if it was removed since the head was read.
pub(crate) fn read(
    store: &dyn Store,
    head_key: &[u8],
    head_value: &[u8],
) -> Result<Option<StoredSnapshot>, ReadError> {
    let (head, whole) = decode(head_key, head_value)?;
    let SnapshotHead { tenant, seq, time_ms, pieces, .. } = head;
    if pieces == 0 {
        return Ok(Some(StoredSnapshot { tenant, seq, time_ms, state: whole.to_vec() }));
    }
    let mut state = Vec::with_capacity(usize::try_from(head.len).unwrap_or_default().min(STATE_BYTES_MAX));
    let mut cursor = store.cursor(Scan {
        from: Some(piece_key(tenant, seq, 0).to_vec()),
        to: Some(piece_key(tenant, seq, u32::MAX).to_vec()),
        ..Scan::all(Family::Pieces).by(Way::Walk)
    });
    // Head and pieces are removed in one batch, and the cursor sees the pieces as they were when it
    // was made: if the head is still there after that, so are all pieces.
    if store.get(Family::Snapshots, head_key)?.is_none_or(|now| now != head_value) {
        return Ok(None);
    }
    cursor.first();
    for number in 0..pieces {
        let expected = piece_key(tenant, seq, number);
        let Some((_, value)) = checked_item(&*cursor)?.filter(|(found, _)| *found == expected) else {
            return Err(head.damage(&format!("lacks piece {} of {pieces}", number + 1)));
        };
        match value.split_last_chunk::<4>() {
            Some((piece, crc)) if checksum(&expected, piece) == *crc => state.extend_from_slice(piece),
            _ => {
                return Err(head.damage(&format!("has a wrong checksum in piece {} of {pieces}", number + 1)));
            }
        }
        cursor.next();
    }
    if state.len() as u64 != head.len || crc32c::crc32c(&state) != head.crc {
        return Err(head.damage("is not what its pieces come to"));
    }
    Ok(Some(StoredSnapshot { tenant, seq, time_ms, state }))
}

/// A large state that is written in pieces beside other entries: one in a batch, the next when that
/// is durable, and the head, which makes a snapshot of them, with the last. A piece is never changed
/// once its head is there.
pub(crate) struct Writing<C> {
    pub snapshot: Snapshot,
    /// The sequence of the last record that may be in it.
    pub seq: Seq,
    pub at: Instant,
    pub completion: C,
    pub written: Written,
}

#[derive(Default)]
pub(crate) struct Written {
    bytes: usize,
    pieces: u32,
    crc: u32,
}

impl Written {
    /// True for the last piece, which completes the snapshot.
    pub fn put_next(
        &mut self,
        batch: &mut Batch,
        seq: Seq,
        snapshot: &Snapshot,
        piece_bytes_max: usize,
    ) -> bool {
        let Snapshot { tenant, time_ms, state, .. } = snapshot;
        if state.len() <= piece_bytes_max.min(WHOLE_BYTES_MAX) {
            put(batch, &key(*tenant, seq), WHOLE, *time_ms, state);
            return true;
        }
        let end = (self.bytes + piece_bytes_max).min(state.len());
        let piece = &state[self.bytes..end];
        let piece_key = piece_key(*tenant, seq, self.pieces);
        batch.put(Family::Pieces, &piece_key, &[piece, &checksum(&piece_key, piece)].concat());
        self.crc = crc32c::crc32c_append(self.crc, piece);
        self.bytes = end;
        self.pieces += 1;
        if end < state.len() {
            return false;
        }
        let (len, pieces, crc) = (end as u64, self.pieces, self.crc);
        SnapshotHead { tenant: *tenant, seq, time_ms: *time_ms, pieces, len, crc }.put_into(batch);
        true
    }
}

fn piece_key(tenant: u64, seq: Seq, number: u32) -> [u8; PIECE_KEY_BYTES] {
    let mut piece_key = [0; PIECE_KEY_BYTES];
    piece_key[..16].copy_from_slice(&key(tenant, seq));
    piece_key[16..].copy_from_slice(&number.to_be_bytes());
    piece_key
}

fn checksum(key: &[u8], value: &[u8]) -> [u8; 4] {
    crc32c::crc32c_append(crc32c::crc32c(key), value).to_le_bytes()
}

/// The removal of pieces that a crash left without a head, which are not read. Only the newest of
/// each tenant can be such: one state is written after the other.
pub(crate) fn removal_of_orphans(store: &dyn Store) -> Result<Batch, ReadError> {
    let mut removal = Batch::new();
    let mut cursor = store.cursor(Scan::all(Family::Pieces).by(Way::Leap));
    cursor.last();
    while let Some((found, _)) = checked_item(&*cursor)? {
        let Some((head_key, _)) = found.split_last_chunk::<4>().filter(|_| found.len() == PIECE_KEY_BYTES)
        else {
            let why = format!("a piece of a snapshot has a key of {} bytes", found.len());
            return Err(Damage::new(0, why).into());
        };
        if store.get(Family::Snapshots, head_key)?.is_none() {
            removal.delete(Family::Pieces, found);
            cursor.prev();
        } else {
            // Pieces of the tenant's other states fill blocks of their own: stepping would read each.
            let tenant = head_key[..8].to_vec();
            cursor.seek_back(&tenant);
        }
    }
    Ok(removal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_comes_back_and_a_changed_one_does_not() {
        let snapshot = Snapshot { tenant: 7, time_ms: -1, state: b"state".to_vec(), index: IndexOps::new() };
        let head = SnapshotHead { tenant: 7, seq: 41, time_ms: -1, ..SnapshotHead::default() };
        let in_pieces = SnapshotHead { len: 1 << 33, pieces: 3, crc: 0xABCD, ..head };
        let (mut whole, mut description) = (Batch::new(), Batch::new());
        assert!(Written::default().put_next(&mut whole, 41, &snapshot, 64));
        in_pieces.put_into(&mut description);
        for (batch, expected) in [(whole, (head, &b"state"[..])), (description, (in_pieces, &b""[..]))] {
            let op = batch.ops().next().unwrap();
            let (key, value) = (op.key, op.value.unwrap());
            assert_eq!(decode(key, value).unwrap(), expected);
            for at in 0..value.len() {
                let mut value = value.to_vec();
                value[at] ^= 0x40;
                assert_eq!(decode(key, &value).unwrap_err().seq, 41);
            }
            assert!(decode(&super::key(8, 41), value).is_err(), "the key is under the checksum");
        }
        let mut none = Batch::new();
        SnapshotHead { pieces: 0, ..in_pieces }.put_into(&mut none);
        let op = none.ops().next().unwrap();
        assert!(decode(op.key, op.value.unwrap()).is_err(), "a state in no pieces is none");
    }
}
