//! A log that is written without an engine: records that were decided elsewhere, with the index
//! that they write and snapshots of the books that they lead to. A wrong record is refused before
//! it is written.

use super::Failed;
use super::books::Books;
use actors::{Machine, wake_key};
use domain::machine::AnyBook;
use domain::machine::KeyedCommand;
use domain::refusal::Refusal;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use wal::{
    Append, Config, Damage, Durable, IndexOps, Log, Poisoned, Reader, ReportTo, RocksStore, Snapshot,
    StoreError, Tip,
};

/// Between two fences; at most about twice as many records are not durable.
const FENCE_RECORDS: u64 = 4096;

pub struct Writing {
    directory: PathBuf,
    log: Log<ReportTo>,
    /// As far as they are known.
    pub books: Books,
    pub tip: Tip,
    changed: HashSet<u64>,
    /// Not waited for yet.
    fence: Option<Receiver<Result<Durable, Poisoned>>>,
}

impl Writing {
    /// Nobody else may have it open.
    pub fn open(directory: &Path) -> Result<Writing, Failed> {
        let log = Log::open(Box::new(RocksStore::open(directory)?), Config::default())?;
        let tip = log.reader().tip();
        Ok(Writing {
            directory: directory.to_owned(),
            log,
            books: Books::default(),
            tip,
            changed: HashSet::new(),
            fence: None,
        })
    }

    pub fn reader(&self) -> Reader {
        self.log.reader()
    }

    pub fn checkpoint(&self, to: &Path) -> Result<(), StoreError> {
        self.log.reader().checkpoint(to)
    }

    /// The record names its predecessor.
    pub fn add(&mut self, stored: wal::Record) -> Result<(), Failed> {
        let seq = self.tip.seq + 1;
        if stored.seq != seq || stored.prev != self.tip.hash {
            let detail = format!("record {} does not follow record {}", stored.seq, self.tip.seq);
            return Err(Damage { seq, detail }.into());
        }
        let record = self.books.apply(&stored)?;
        let ops = self.books.entries(&stored, &record);
        self.write(stored, ops)
    }

    pub fn following(&self, tenant: u64, time_ms: i64, payload: Vec<u8>) -> Result<wal::Record, Failed> {
        let Tip { seq, hash: prev } = self.tip;
        let next = wal::Record { seq: seq + 1, time_ms, tenant, payload, bytes: 0, hash: [0; 16], prev };
        let mut bytes = Vec::new();
        next.encode_into(&mut bytes);
        Ok(wal::Record::split_off(&bytes, next.seq, None)?.0)
    }

    pub fn write(&mut self, stored: wal::Record, index: IndexOps) -> Result<(), Failed> {
        self.tip = Tip { seq: stored.seq, hash: stored.hash };
        self.changed.insert(stored.tenant);
        let wal::Record { tenant, time_ms, payload, .. } = stored;
        self.log.append(Append { tenant, time_ms, payload, index }, ReportTo(None));
        if self.tip.seq.is_multiple_of(FENCE_RECORDS) || !self.log.has_room() {
            self.wait_for_the_fence_before()?;
        }
        Ok(())
    }

    /// Decides as the engine would, now, and writes the record. A rule's refusal is returned.
    pub fn decide(
        &mut self,
        tenant: u64,
        command: KeyedCommand,
        wall_ms: i64,
    ) -> Result<Result<(), Refusal>, Failed> {
        let machine = &self.books.machine;
        let now_ms = self.books.get(tenant).map_or(wall_ms, |book| machine.now_ms(book, wall_ms));
        let book = self.books.at(tenant, now_ms);
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(super::directory::no_randomness)?;
        let turn = actors::Turn { tenant, now_ms, seed: u64::from_le_bytes(seed), ahead_ms: 0 };
        let decision = machine.decide(&book, None, command, turn);
        if let Some(refusal) = decision.refusal {
            return Ok(Err(refusal));
        }
        if let Some(record) = decision.record {
            let payload = machine.encode(&record);
            self.add(self.following(tenant, now_ms, payload)?)?;
        }
        Ok(Ok(()))
    }

    /// Waits for the fence before, so that the writer has something to do meanwhile; without room
    /// in the log for its own fence too.
    fn wait_for_the_fence_before(&mut self) -> Result<(), Failed> {
        let (to, from) = sync_channel(1);
        self.log.fence(ReportTo(Some(to)));
        if let Some(before) = self.fence.replace(from) {
            self.acknowledged(&before)?;
        }
        if !self.log.has_room()
            && let Some(own) = self.fence.take()
        {
            self.acknowledged(&own)?;
        }
        Ok(())
    }

    fn acknowledged(&self, from: &Receiver<Result<Durable, Poisoned>>) -> Result<(), Failed> {
        let why = match from.recv() {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(poisoned)) => poisoned.to_string(),
            Err(_) => "the log's writer ended".to_owned(),
        };
        Err(Failed::refused(&self.directory, why))
    }

    pub fn sync(&mut self) -> Result<(), Failed> {
        let (to, from) = sync_channel(1);
        self.log.fence(ReportTo(Some(to)));
        self.acknowledged(&from)
    }

    pub fn snapshot(&mut self) -> Result<(), Failed> {
        for tenant in std::mem::take(&mut self.changed) {
            let last = match self.books.get(tenant) {
                Some(AnyBook::Platform(book)) => book.last,
                Some(AnyBook::Tenant(book)) => book.last,
                None => continue,
            };
            let last_ms = last.unix_ms();
            // The book is settled at its last record, as when the engine saves it.
            let book = &self.books.at(tenant, last_ms);
            let machine = &self.books.machine;
            let mut ops = IndexOps::new();
            match machine.next_due(book, &|_| false) {
                Some(_) => ops.put(&wake_key(tenant), &[]),
                None => ops.delete(&wake_key(tenant)),
            }
            let snapshot = Snapshot { tenant, time_ms: last_ms, state: machine.save(book), index: ops };
            self.log.snapshot(snapshot, ReportTo(None));
            if !self.log.has_room() {
                self.wait_for_the_fence_before()?;
            }
        }
        Ok(())
    }

    /// Snapshots must have everything up to the last record.
    pub fn raise_floor(&mut self) -> Result<(), Failed> {
        self.log.raise_floor(self.tip.seq, ReportTo(None));
        self.wait_for_the_fence_before()
    }

    /// Everything is durable then; returns the log's end.
    pub fn close(mut self) -> Result<Tip, Failed> {
        self.sync()?;
        self.log.close();
        let (written, tip) = (self.log.reader().tip(), self.tip);
        if written != tip {
            let detail = format!("record {} came out as another one; the copy is useless", tip.seq);
            return Err(Damage { seq: tip.seq, detail }.into());
        }
        Ok(tip)
    }
}
