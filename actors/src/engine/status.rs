//! The figures of an engine, for an operator.

use super::{Engine, NotReady};
use crate::machine::Machine;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wal::Seq;

#[derive(Clone, Debug)]
pub struct Status {
    pub durable_seq: Seq,
    /// Up to here every record is in snapshots.
    pub snapshot_seq: Seq,
    /// Since the last round of snapshots ended, or since the start.
    pub snapshot_age: Duration,
    pub books: usize,
    pub waiting: usize,
    pub waiting_most: usize,
    pub entities: usize,
    pub under_way: usize,
    pub permits_max: usize,
    pub overloaded: u64,
    /// Refusals because the tenant had its share.
    pub share_full: u64,
    /// Those of tenants that yield.
    pub share_full_yielding: u64,
    /// Records whose invariants were checked before they were written.
    pub checked: u64,
    /// Broken invariants, and books that differed from what their records lead to.
    pub breached: u64,
    pub halted: usize,
    pub log: wal::Stats,
}

impl<M: Machine> Engine<M> {
    pub fn status(&self) -> Status {
        let (host, gate) = (&self.shared.host, &self.shared.gate);
        let books = &self.shared.books.handles;
        let (waiting, waiting_most) = books
            .iter()
            .map(|handle| handle.mailbox.len())
            .fold((0, 0), |(sum, most), len| (sum + len, most.max(len)));
        Status {
            durable_seq: host.log.durable_seq(),
            snapshot_seq: self.snapshot_seq(),
            snapshot_age: host.counters.snapshot_age(),
            waiting,
            waiting_most,
            permits_max: self.shared.config.permits_max,
            overloaded: host.counters.overloaded.load(Ordering::Relaxed),
            share_full: gate.share_full[0].load(Ordering::Relaxed),
            share_full_yielding: gate.share_full[1].load(Ordering::Relaxed),
            checked: host.counters.checked.load(Ordering::Relaxed),
            breached: host.counters.breached.load(Ordering::Relaxed),
            halted: host.halts.all().len(),
            books: books.len(),
            entities: self.shared.entities.handles.len(),
            under_way: self.under_way(),
            log: host.log.stats(),
        }
    }

    /// The error says why no writes are accepted.
    pub fn ready(&self) -> Result<(), NotReady> {
        let end = &self.shared.host.end;
        match end.failed.get() {
            Some(why) => Err(NotReady::Failed(why.clone())),
            None if end.stopping.load(Ordering::Acquire) => Err(NotReady::Stopping),
            None => Ok(()),
        }
    }

    pub fn under_way(&self) -> usize {
        self.shared.config.permits_max.saturating_sub(self.shared.gate.places.permits.available_permits())
    }

    /// Up to here every record is in snapshots.
    pub fn snapshot_seq(&self) -> Seq {
        self.shared.snapshot_seq.load(Ordering::Acquire)
    }

    /// The same, but for records of halted books.
    pub fn saved_seq(&self) -> Seq {
        self.shared.saved_seq.load(Ordering::Acquire)
    }

    pub fn books_in_memory(&self) -> Vec<u64> {
        self.shared.books.handles.iter().map(|handle| *handle.key()).collect()
    }
}
