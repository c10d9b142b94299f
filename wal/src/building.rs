//! The batch that the writer fills: chunks of records, then what is derived from them, then the tip.

use crate::Seq;
use crate::batch::{Batch, Family, OpenPut};
use crate::config::Config;
use crate::log::Append;
use crate::meta::{self, Tip};
use crate::pieces::{self, Writing};
use crate::record::{self, RECORD_OVERHEAD_BYTES};
use crate::snapshot::Snapshot;

pub(crate) struct Building {
    pub tip: Tip,
    pub floor: Seq,
    /// The last chunk may still be open.
    pub batch: Batch,
    chunk: Option<OpenPut>,
    pub rest: Batch,
    key: Vec<u8>,
    pub records: u64,
    pub snapshots: u64,
    chunk_bytes_max: usize,
    piece_bytes_max: usize,
}

impl Building {
    pub fn new(tip: Tip, floor: Seq, config: &Config) -> Building {
        Building {
            tip,
            floor,
            batch: Batch::new(),
            chunk: None,
            rest: Batch::new(),
            key: Vec::new(),
            records: 0,
            snapshots: 0,
            chunk_bytes_max: config.chunk_bytes_max,
            piece_bytes_max: config.piece_bytes_max,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.rest.is_empty()
    }

    pub fn len_bytes(&self) -> usize {
        self.batch.len_bytes() + self.rest.len_bytes()
    }

    pub fn add_record(&mut self, append: &Append) {
        let seq = self.tip.seq + 1;
        let bytes = RECORD_OVERHEAD_BYTES + append.payload.len();
        if self.chunk.as_ref().is_some_and(|chunk| self.batch.grown(chunk) + bytes > self.chunk_bytes_max) {
            self.end_chunk();
        }
        if self.chunk.is_none() {
            self.chunk = Some(self.batch.begin(Family::Log, &seq.to_be_bytes()));
        }
        let hash = record::encode(
            self.batch.grow(),
            seq,
            append.time_ms,
            append.tenant,
            &self.tip.hash,
            &append.payload,
        );
        self.tip = Tip { seq, hash };
        self.records += 1;
        append.index.resolve_into(seq, &mut self.rest, &mut self.key);
    }

    pub fn add_snapshot(&mut self, snapshot: &Snapshot) {
        pieces::put_into(&mut self.rest, self.tip.seq, snapshot, self.piece_bytes_max);
        snapshot.index.resolve_into(self.tip.seq, &mut self.rest, &mut self.key);
        self.snapshots += 1;
    }

    /// True for the last piece, which completes the snapshot.
    pub fn add_piece<C>(&mut self, writing: &mut Writing<C>) -> bool {
        let done = writing.put_next_into(&mut self.rest, self.piece_bytes_max);
        if done {
            writing.snapshot.index.resolve_into(writing.seq, &mut self.rest, &mut self.key);
            self.snapshots += 1;
        }
        done
    }

    pub fn raise_floor(&mut self, floor: Seq) {
        let floor = floor.min(self.tip.seq);
        if floor > self.floor {
            self.floor = floor;
            self.rest.put(Family::Meta, meta::FLOOR_KEY, &meta::floor_bytes(floor));
        }
    }

    fn end_chunk(&mut self) {
        if let Some(chunk) = self.chunk.take() {
            self.batch.finish(chunk);
        }
    }

    pub fn complete(&mut self) {
        self.end_chunk();
        self.tip.put_into(&mut self.rest);
        self.batch.append(&self.rest);
    }

    pub fn clear(&mut self, keep_bytes: usize) {
        self.batch.clear(keep_bytes);
        self.rest.clear(keep_bytes);
        self.records = 0;
        self.snapshots = 0;
    }
}
