//! The figures of an engine, for an operator.

use super::{Engine, NotReady};
use crate::machine::Machine;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wal::Seq;

/// The figures of an engine for an operator.
#[derive(Clone, Debug)]
pub struct Status {
    /// The newest durable record.
    pub durable_seq: Seq,
    /// Every record up to here is in snapshots.
    pub snapshot_seq: Seq,
    /// Since the last round of snapshots ended, or since the start.
    pub snapshot_age: Duration,
    /// Books in memory.
    pub books: usize,
    /// Messages that wait for books.
    pub waiting: usize,
    /// The most that wait for one of them.
    pub waiting_most: usize,
    /// Active entities.
    pub entities: usize,
    /// Requests under way.
    pub under_way: usize,
    /// The most that may be.
    pub permits_max: usize,
    /// Requests that were refused because there were so many.
    pub overloaded: u64,
    /// Requests that were refused because their tenant had its share.
    pub share_full: u64,
    /// The same of tenants that yield.
    pub share_full_yielding: u64,
    /// Records whose invariants were checked before they were written.
    pub checked: u64,
    /// Broken invariants, and books that were found not to be what their records lead to.
    pub breached: u64,
    /// Books that are halted.
    pub halted: usize,
    /// The log's counters.
    pub log: wal::Stats,
}

impl<M: Machine> Engine<M> {
    /// Counts for an operator.
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

    /// Whether a write can be accepted; if not, why.
    pub fn ready(&self) -> Result<(), NotReady> {
        let end = &self.shared.host.end;
        match end.failed.get() {
            Some(why) => Err(NotReady::Failed(why.clone())),
            None if end.stopping.load(Ordering::Acquire) => Err(NotReady::Stopping),
            None => Ok(()),
        }
    }

    /// Requests under way.
    pub fn under_way(&self) -> usize {
        self.shared.config.permits_max.saturating_sub(self.shared.gate.places.permits.available_permits())
    }

    /// Every record up to here is in snapshots.
    pub fn snapshot_seq(&self) -> Seq {
        self.shared.snapshot_seq.load(Ordering::Acquire)
    }

    /// Every record up to here is in snapshots, but for those of books that are halted.
    pub fn saved_seq(&self) -> Seq {
        self.shared.saved_seq.load(Ordering::Acquire)
    }

    /// The tenants whose books are in memory.
    pub fn books_in_memory(&self) -> Vec<u64> {
        self.shared.books.handles.iter().map(|handle| *handle.key()).collect()
    }
}
