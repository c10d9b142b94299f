//! Large states, written in pieces beside other entries: one piece in a batch, the next when that
//! is durable, and the head, which makes a snapshot of them, with the last. A piece is never
//! changed once its head is there; pieces that a crash left without a head are not read, and are
//! removed at the next opening. Layout: the header of the crate.

use crate::batch::{Batch, Family};
use crate::snapshot::{self, Head, Snapshot, StoredSnapshot};
use crate::store::{Scan, Store, Way, checked_item};
use crate::{Damage, ReadError, Seq};
use std::time::Instant;

const KEY_BYTES: usize = 20; // u64 tenant, u64 sequence, u32 number

pub(crate) struct Writing<C> {
    pub snapshot: Snapshot,
    /// The sequence of the last record that may be in it.
    pub seq: Seq,
    pub at: Instant,
    pub completion: C,
    written: usize,
    pieces: u32,
    crc: u32,
}

impl<C> Writing<C> {
    pub fn new(snapshot: Snapshot, seq: Seq, completion: C) -> Writing<C> {
        Writing {
            snapshot,
            seq,
            at: Instant::now(),
            completion,
            written: 0,
            pieces: 0,
            crc: crc32c::crc32c(&[]),
        }
    }

    /// True for the last piece, which completes the snapshot. A state of at most `WHOLE_BYTES_MAX`
    /// is stored as one value.
    pub fn put_next_into(&mut self, batch: &mut Batch, piece_bytes_max: usize) -> bool {
        let Snapshot { tenant, time_ms, state, .. } = &self.snapshot;
        if state.len() <= piece_bytes_max.min(snapshot::WHOLE_BYTES_MAX) {
            snapshot::put_whole_into(batch, self.seq, &self.snapshot);
            return true;
        }
        let end = (self.written + piece_bytes_max).min(state.len());
        let piece = &state[self.written..end];
        put(batch, &key(*tenant, self.seq, self.pieces), piece);
        self.crc = crc32c::crc32c_append(self.crc, piece);
        self.written = end;
        self.pieces += 1;
        if end < state.len() {
            return false;
        }
        Head {
            tenant: *tenant,
            seq: self.seq,
            time_ms: *time_ms,
            len: end as u64,
            pieces: self.pieces,
            crc: self.crc,
        }
        .put_into(batch);
        true
    }
}

pub(crate) fn put_into(batch: &mut Batch, seq: Seq, snapshot: &Snapshot, piece_bytes_max: usize) {
    let Snapshot { tenant, time_ms, state, .. } = snapshot;
    if state.len() <= snapshot::WHOLE_BYTES_MAX {
        return snapshot::put_whole_into(batch, seq, snapshot);
    }
    let mut pieces = 0;
    for piece in state.chunks(piece_bytes_max) {
        put(batch, &key(*tenant, seq, pieces), piece);
        pieces += 1;
    }
    Head {
        tenant: *tenant,
        seq,
        time_ms: *time_ms,
        len: state.len() as u64,
        pieces,
        crc: crc32c::crc32c(state),
    }
    .put_into(batch);
}

fn put(batch: &mut Batch, key: &[u8], piece: &[u8]) {
    let crc = crc32c::crc32c_append(crc32c::crc32c(key), piece).to_le_bytes();
    batch.put_parts(Family::Pieces, key, &[piece, &crc]);
}

pub(crate) fn key(tenant: u64, seq: Seq, number: u32) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..16].copy_from_slice(&snapshot::key(tenant, seq));
    key[16..].copy_from_slice(&number.to_be_bytes());
    key
}

fn owner(key: &[u8]) -> Result<(u64, Seq), Damage> {
    match key.split_last_chunk::<4>() {
        Some((owner, _)) if key.len() == KEY_BYTES => snapshot::decode_key(owner),
        _ => Err(Damage::new(0, format!("a piece of a snapshot has a key of {} bytes", key.len()))),
    }
}

fn pieces_of(tenant: u64, seq: Seq) -> Scan {
    Scan {
        from: Some(key(tenant, seq, 0).to_vec()),
        to: Some(key(tenant, seq, u32::MAX).to_vec()),
        ..Scan::all(Family::Pieces).by(Way::Walk)
    }
}

/// Checks each piece and the whole; `None` if it was removed since the head was read.
pub(crate) fn read(
    store: &dyn Store,
    head: &Head,
    head_value: &[u8],
) -> Result<Option<StoredSnapshot>, ReadError> {
    let Head { tenant, seq, time_ms, .. } = *head;
    let mut state =
        Vec::with_capacity(usize::try_from(head.len).unwrap_or_default().min(snapshot::STATE_BYTES_MAX));
    let mut cursor = store.cursor(pieces_of(tenant, seq));
    // Head and pieces are removed in one batch, and the cursor sees the pieces as they were when it
    // was made: if the head is still there after that, so are all pieces.
    if store.get(Family::Snapshots, &snapshot::key(tenant, seq))?.is_none_or(|now| now != head_value) {
        return Ok(None);
    }
    cursor.first();
    for number in 0..head.pieces {
        let expected = key(tenant, seq, number);
        let Some((_, value)) = checked_item(&*cursor)?.filter(|(found, _)| *found == expected) else {
            return Err(head.damage(&format!("lacks piece {} of {}", number + 1, head.pieces)).into());
        };
        let whole = value.split_last_chunk::<4>().filter(|(piece, crc)| {
            crc32c::crc32c_append(crc32c::crc32c(&expected), piece).to_le_bytes() == **crc
        });
        let Some((piece, _)) = whole else {
            return Err(head
                .damage(&format!("has a wrong checksum in piece {} of {}", number + 1, head.pieces))
                .into());
        };
        state.extend_from_slice(piece);
        cursor.next();
    }
    if state.len() as u64 != head.len || crc32c::crc32c(&state) != head.crc {
        return Err(head.damage("is not what its pieces come to").into());
    }
    Ok(Some(StoredSnapshot { tenant, seq, time_ms, state }))
}

/// Only the newest of each tenant can be without a head: one state is written after the other.
pub(crate) fn removal_of_orphans(store: &dyn Store) -> Result<Batch, ReadError> {
    let mut removal = Batch::new();
    let mut cursor = store.cursor(Scan::all(Family::Pieces).by(Way::Leap));
    cursor.last();
    while let Some((found, _)) = checked_item(&*cursor)? {
        let (tenant, seq) = owner(found)?;
        if store.get(Family::Snapshots, &snapshot::key(tenant, seq))?.is_none() {
            removal.delete(Family::Pieces, found);
            cursor.prev();
        } else {
            // Pieces of the tenant's other states fill blocks of their own: stepping would read each.
            cursor.seek_back(&tenant.to_be_bytes());
        }
    }
    Ok(removal)
}
