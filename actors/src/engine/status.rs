//! The figures of an engine, for an operator.

use super::{Engine, NotReady};
use crate::machine::Machine;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wal::Seq;

/// The figures of an engine.
#[derive(Clone, Debug)]
pub struct Status {
    /// The newest durable sequence.
    pub durable_seq: Seq,
    /// The sequence up to which every record is in snapshots.
    pub snapshot_seq: Seq,
    /// The time since the last round of snapshots ended, or since the start.
    pub snapshot_age: Duration,
    /// The number of books in memory.
    pub books: usize,
    /// The number of messages that wait for books.
    pub waiting: usize,
    /// The largest number of messages that wait for one book.
    pub waiting_most: usize,
    /// The number of active entities.
    pub entities: usize,
    /// The number of requests under way.
    pub under_way: usize,
    /// The largest number of requests under way.
    pub permits_max: usize,
    /// The number of requests that were refused because too many were under way.
    pub overloaded: u64,
    /// The number of requests that were refused because their tenant had its share.
    pub share_full: u64,
    /// The number of them whose tenant was one that yields.
    pub share_full_yielding: u64,
    /// The number of records whose invariants were checked before they were written.
    pub checked: u64,
    /// The number of broken invariants, and of books that differed from what their records lead to.
    pub breached: u64,
    /// The number of books that are halted.
    pub halted: usize,
    /// The log's counters.
    pub log: wal::Stats,
}

impl<M: Machine> Engine<M> {
    /// The figures for an operator.
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

    /// Checks whether writes are accepted; the error says why not.
    pub fn ready(&self) -> Result<(), NotReady> {
        let end = &self.shared.host.end;
        match end.failed.get() {
            Some(why) => Err(NotReady::Failed(why.clone())),
            None if end.stopping.load(Ordering::Acquire) => Err(NotReady::Stopping),
            None => Ok(()),
        }
    }

    /// The number of requests under way.
    pub fn under_way(&self) -> usize {
        self.shared.config.permits_max.saturating_sub(self.shared.gate.places.permits.available_permits())
    }

    /// The sequence up to which every record is in snapshots.
    pub fn snapshot_seq(&self) -> Seq {
        self.shared.snapshot_seq.load(Ordering::Acquire)
    }

    /// The sequence up to which every record is in snapshots, but for those of halted books.
    pub fn saved_seq(&self) -> Seq {
        self.shared.saved_seq.load(Ordering::Acquire)
    }

    /// The tenants whose books are in memory.
    pub fn books_in_memory(&self) -> Vec<u64> {
        self.shared.books.handles.iter().map(|handle| *handle.key()).collect()
    }
}
