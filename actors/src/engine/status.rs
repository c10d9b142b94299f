//! What an operator sees of an engine, and does about a book in doubt: the records of a halted book
//! are in the log, and the book that it is resumed with is derived from them.

use super::Engine;
use crate::alarm;
use crate::host::Halted;
use crate::machine::Machine;
use crate::protocol::{BookMessage, Failure, PendingReply, reply_to};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot;
use wal::{Seq, Snapshot};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// A write failed, or the platform's book is in doubt: the process is about to end.
    #[error("{0}")]
    Failed(String),
    #[error("shutting down")]
    Stopping,
}

#[derive(Clone, Debug)]
pub struct Status {
    pub durable_seq: Seq,
    pub snapshot_seq: Seq,
    pub snapshot_age: Duration,
    pub books: usize,
    pub waiting: usize,
    pub waiting_most: usize,
    pub entities: usize,
    pub under_way: usize,
    pub permits_max: usize,
    pub overloaded: u64,
    pub share_full: u64,
    pub share_full_yielding: u64,
    pub checked: u64,
    pub breached: u64,
    pub halted: usize,
    pub log: wal::Stats,
}

impl<M: Machine> Engine<M> {
    pub fn status(&self) -> Status {
        let (host, gate) = (&self.host, &self.host.gate);
        let books = &host.books;
        let (waiting, waiting_most) = books
            .iter()
            .map(|handle| handle.mailbox.len())
            .fold((0, 0), |(sum, most), len| (sum + len, most.max(len)));
        Status {
            durable_seq: host.log.durable_seq(),
            snapshot_seq: self.snapshot_seq(),
            snapshot_age: host.saved_at.lock().unwrap_or_else(PoisonError::into_inner).elapsed(),
            waiting,
            waiting_most,
            permits_max: host.config.permits_max,
            overloaded: host.overloaded.load(Ordering::Relaxed),
            share_full: gate.share_full[0].load(Ordering::Relaxed),
            share_full_yielding: gate.share_full[1].load(Ordering::Relaxed),
            checked: host.checked.load(Ordering::Relaxed),
            breached: host.breached.load(Ordering::Relaxed),
            halted: host.halts.all().len(),
            books: books.len(),
            entities: host.entities.len(),
            under_way: self.under_way(),
            log: host.log.stats(),
        }
    }

    pub fn ready(&self) -> Result<(), NotReady> {
        match self.host.failed.get() {
            Some(why) => Err(NotReady::Failed(why.clone())),
            None if self.host.stopping.load(Ordering::Acquire) => Err(NotReady::Stopping),
            None => Ok(()),
        }
    }

    pub fn under_way(&self) -> usize {
        self.host.gate.under_way()
    }

    pub fn snapshot_seq(&self) -> Seq {
        self.host.snapshot_seq.load(Ordering::Acquire)
    }

    pub fn saved_seq(&self) -> Seq {
        self.host.saved_seq.load(Ordering::Acquire)
    }

    pub fn books_in_memory(&self) -> Vec<u64> {
        self.host.books.iter().map(|handle| *handle.key()).collect()
    }

    pub fn halted(&self) -> Vec<Halted> {
        self.host.halts.all()
    }

    pub fn resumptions(&self, tenant: u64) -> u64 {
        self.host.halts.resumptions(tenant)
    }

    /// `resumptions` is [`Engine::resumptions`] before the book was read: if it was resumed since,
    /// the finding is about a state that is gone, and nothing happens.
    pub fn halt(&self, tenant: u64, resumptions: u64, why: &str) {
        let why = why.to_owned();
        self.host.send_to_book(tenant, BookMessage::Halt { why, resumptions });
    }

    /// Waits until all records of a halted book are durable and no snapshot of it is being written,
    /// so that what is derived from the log is complete.
    pub async fn halted_fence(&self, tenant: u64) -> Result<Seq, Failure> {
        reply_to(|to| self.host.send_to_book(tenant, BookMessage::Fence(to))).await
    }

    /// `book` was derived from all records up to `seq` and settled at `settled_ms`. The new state
    /// is saved before the snapshots in `wrong` are removed, which the records do not lead to: a
    /// crash in between leaves the right one as the newest.
    pub async fn resume(
        &self,
        tenant: u64,
        seq: Seq,
        book: M::Book,
        settled_ms: i64,
        wrong: &[Seq],
    ) -> Result<(), Failure> {
        let (log, machine) = (&self.host.log, &*self.host.machine);
        let (state, index) = (machine.save(&book), alarm::mark(machine, tenant, &book));
        let snapshot = Snapshot { tenant, time_ms: settled_ms, state, index };
        reply_to(|to| log.snapshot_at(seq, snapshot, PendingReply::Done(to))).await?;
        let wrong: Vec<Seq> = wrong.iter().copied().filter(|wrong| *wrong != seq).collect();
        let (to, from) = oneshot::channel();
        log.forget_snapshots(tenant, &wrong, PendingReply::Done(to))
            .map_err(|error| Failure::Storage(error.to_string()))?;
        from.await??;
        let book = Box::new(book);
        let resume = |to| self.host.send_to_book(tenant, BookMessage::Resume { book, settled_ms, to });
        reply_to(resume).await
    }
}
