//! Applies the records that another machine appends to a log and books of its own, so that it can
//! go on from them at once. A record is applied by the code that ran live, with its invariants
//! checked; the local log has the bytes that were agreed on, or following ends; books are warm when
//! the follower is asked to lead. It decides nothing, performs no effect, and does not know where
//! records come from.

use super::StartError;
use super::recovery::{self, Books};
use crate::alarm;
use crate::machine::{LONG_AGO_MS, Machine};
use crate::protocol::Recovered;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use wal::{
    Append, Durable, IndexOps, Log, Poisoned, Reader, Record, ReportTo, Retention, Seq, Snapshot, Stepper,
    Store, Tip,
};

const SUPERFLUOUS_MAX: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    #[error("{0}")]
    Storage(String),
    /// The records do not lead where they led on the machine that wrote them.
    #[error("{0}")]
    Diverged(String),
}

pub struct Follower<M: Machine> {
    machine: Arc<M>,
    store: Arc<dyn Store>,
    config: wal::Config,
    log: Log<ReportTo>,
    pub reader: Reader,
    books: Books<M>,
    changed: BTreeSet<u64>,
    /// Books that had not changed when the last round came.
    resting: BTreeSet<u64>,
    set_aside: BTreeMap<u64, String>,
    pub tip: Tip,
    saved: Seq,
    ended: Option<String>,
}

pub struct Followed<M: Machine> {
    pub(super) store: Arc<dyn Store>,
    pub(super) log: wal::Config,
    pub(super) books: Books<M>,
}

impl<M: Machine> Follower<M> {
    /// A stepper, which must write at once what is appended, runs the writer in place of a thread.
    pub fn open(
        machine: M,
        store: Arc<dyn Store>,
        config: wal::Config,
        set_aside: BTreeMap<u64, String>,
        stepper: Option<Stepper>,
    ) -> Result<Self, StartError> {
        let lent = wal::Config { closes_store: false, ..config.clone() };
        let log = Log::<ReportTo>::open_with(Arc::clone(&store), lent, None, stepper, None)?;
        let reader = log.reader();
        let machine = Arc::new(machine);
        let books = recovery::recover(&*machine, &reader, &set_aside)?;
        let changed = books.iter().filter(|(_, book)| book.ahead).map(|(tenant, _)| *tenant).collect();
        let (tip, saved) = (reader.tip(), reader.floor());
        let resting = BTreeSet::new();
        Ok(Follower {
            machine,
            store,
            config,
            log,
            reader,
            books,
            changed,
            resting,
            set_aside,
            tip,
            saved,
            ended: None,
        })
    }

    pub fn unsaved(&self) -> u64 {
        self.tip.seq - self.saved
    }

    pub fn book(&mut self, tenant: u64) -> Result<&M::Book, FollowError> {
        Ok(&self.recovered(tenant)?.book)
    }

    fn recovered(&mut self, tenant: u64) -> Result<&mut Recovered<M>, FollowError> {
        match self.books.entry(tenant) {
            Entry::Occupied(book) => Ok(book.into_mut()),
            Entry::Vacant(vacant) => match recovery::load(&*self.machine, &self.reader, tenant) {
                Ok((_, loaded)) => Ok(vacant.insert(loaded)),
                Err(error) => Err(FollowError::Storage(error.to_string())),
            },
        }
    }

    /// Applies the records that follow the local tip and lead to `tip`; returns when they are
    /// synced. After a failure nothing is applied any more: a book may be halfway through a record.
    pub fn apply(&mut self, records: Vec<Record>, tip: Tip) -> Result<(), FollowError> {
        self.must_go_on()?;
        let applied = self.append(records, tip);
        if let Err(why) = &applied {
            self.ended = Some(why.to_string());
        }
        applied
    }

    fn must_go_on(&self) -> Result<(), FollowError> {
        match &self.ended {
            Some(why) => Err(FollowError::Diverged(format!("following has ended: {why}"))),
            None => Ok(()),
        }
    }

    fn append(&mut self, records: Vec<Record>, tip: Tip) -> Result<(), FollowError> {
        let Some(last) = records.last().map(|record| record.seq) else { return Ok(()) };
        let (to, from) = sync_channel(1);
        for stored in records {
            let (seq, follows) = (self.tip.seq + 1, stored.prev == self.tip.hash);
            if stored.seq != seq || !follows {
                let why = format!("record {} does not follow record {}", stored.seq, self.tip.seq);
                return Err(FollowError::Diverged(why));
            }
            let index = self.evolve(&stored)?;
            self.tip = Tip { seq, hash: stored.hash };
            let Record { tenant, time_ms, payload, .. } = stored;
            let waits = (seq == last).then(|| to.clone());
            self.log.append(Append { tenant, time_ms, payload, index }, ReportTo(waits));
        }
        durable(&from)?;
        // The local log made the bytes anew: they must be those that were agreed on.
        let written = self.reader.tip();
        if written != tip || self.tip != tip {
            let why = format!("the log came out as another one at record {}", written.seq);
            return Err(FollowError::Diverged(why));
        }
        Ok(())
    }

    fn evolve(&mut self, stored: &Record) -> Result<IndexOps, FollowError> {
        let mut ops = IndexOps::new();
        let diverged = |why: &dyn std::fmt::Display| FollowError::Diverged(why.to_string());
        if self.set_aside.contains_key(&stored.tenant) {
            let record = self.machine.decode(&stored.payload).map_err(|error| diverged(&error))?;
            self.machine.index(stored.tenant, stored.time_ms, &record, &mut ops);
            return Ok(ops);
        }
        let machine = Arc::clone(&self.machine);
        let book = self.recovered(stored.tenant)?;
        let record = recovery::apply(&*machine, book, stored).map_err(|error| diverged(&error))?;
        self.machine.index(stored.tenant, stored.time_ms, &record, &mut ops);
        self.changed.insert(stored.tenant);
        Ok(ops)
    }

    /// Saves every book that changed and raises the floor, so that a start has little to replay.
    /// Snapshots that `retention` does not keep go.
    pub fn snapshot(&mut self, retention: &Retention) -> Result<(), FollowError> {
        self.must_go_on()?;
        let changed = std::mem::take(&mut self.changed);
        for tenant in &changed {
            let Some(recovered) = self.books.get_mut(tenant) else { continue };
            // Settled at its last record, as the book that wrote it was then.
            let time_ms = self.machine.now_ms(&recovered.book, LONG_AGO_MS);
            let index = alarm::mark(&*self.machine, *tenant, &recovered.book);
            let state = self.machine.save(&recovered.book);
            self.log.snapshot(Snapshot { tenant: *tenant, time_ms, state, index }, ReportTo(None));
            recovered.ahead = false;
            recovered.settled_ms = time_ms;
        }
        if self.set_aside.is_empty() {
            self.log.raise_floor(self.tip.seq, ReportTo(None));
        }
        let (to, from) = sync_channel(1);
        self.log.fence(ReportTo(Some(to)));
        durable(&from)?;
        self.saved = self.tip.seq;
        for tenant in &changed {
            let heads = self
                .reader
                .snapshot_heads(*tenant)
                .map_err(|error| FollowError::Storage(error.to_string()))?;
            let superfluous = retention.superfluous(&heads, SUPERFLUOUS_MAX);
            if !superfluous.is_empty() {
                self.log.remove_snapshots(superfluous, ReportTo(None));
            }
        }
        self.forget_resting(&changed);
        Ok(())
    }

    /// Books without a deadline that did not change for two rounds leave memory: their snapshot is
    /// all of them.
    fn forget_resting(&mut self, changed: &BTreeSet<u64>) {
        let machine = &self.machine;
        let resting: BTreeSet<u64> = self
            .books
            .iter()
            .filter(|(tenant, book)| {
                !changed.contains(tenant) && machine.next_due(&book.book, &|_| false).is_none()
            })
            .map(|(tenant, _)| *tenant)
            .collect();
        for tenant in resting.intersection(&self.resting) {
            self.books.remove(tenant);
        }
        self.resting = resting;
    }

    pub fn finish(self) -> Followed<M> {
        self.log.close();
        Followed { store: self.store, log: self.config, books: self.books }
    }

    pub fn close(self) {
        self.log.close();
        if let Err(error) = self.store.close() {
            tracing::error!(%error, "the store could not be put in order; nothing is lost");
        }
    }
}

fn durable(from: &Receiver<Result<Durable, Poisoned>>) -> Result<(), FollowError> {
    match from.recv() {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(poisoned)) => Err(FollowError::Storage(poisoned.to_string())),
        Err(_) => Err(FollowError::Storage("the writer of the log ended".to_owned())),
    }
}
