//! Snapshots of a book: written, put off, or shared by several callers.

use super::background_snapshot::{self, BackgroundSnapshot};
use super::{Book, BookContext};
use crate::machine::Machine;
use crate::protocol::pending_reply::PendingReply;
use crate::protocol::reply::Failure;
use crate::wake_mark;
use std::sync::Arc;
use tokio::sync::oneshot;
use wal::{IndexOps, Seq, Snapshot};

impl<M: Machine, C: BookContext<M>> Book<M, C> {
    /// Does nothing if there were no records since the last.
    pub(super) fn snapshot(&mut self, to: oneshot::Sender<Result<Seq, Failure>>) {
        // A reply "nothing to write" would let the floor rise over records that are in no snapshot.
        if self.host().end.is_failed() {
            let _ = to.send(Err(self.host().end.failure()));
            return;
        }
        if self.is_ahead_of_its_records() {
            return self.put_off.push(to);
        }
        if let Some(waiting) = &mut self.background {
            // The snapshot under way may be older than the one that is asked for; if it is not, the
            // second one finds nothing to do.
            waiting.push(to);
            return;
        }
        if self.saved == self.version {
            // The last snapshot that the log was given may not be durable yet.
            self.host().log.fence(PendingReply::Done(to));
            return;
        }
        let mut index = IndexOps::new();
        wake_mark::mark(self.host().machine.as_ref(), self.tenant, &self.book, &mut index);
        // The snapshot's time may be later than the last record's. The book is settled at that
        // time, which a record may have left undone, so that the saved state follows from the
        // records and the time alone.
        let time_ms = self.earliest_ms().max(self.latest_ms);
        self.settle(time_ms);
        if self.host().machine.is_large(&self.book) {
            self.background = Some(Vec::new());
            let clone = BackgroundSnapshot {
                tenant: self.tenant,
                book: self.book.clone(),
                version: self.version,
                time_ms,
                index,
            };
            return background_snapshot::save(&self.context, Arc::clone(&self.handle), clone, to);
        }
        let state = self.host().machine.save(&self.book);
        self.saved = self.version;
        let snapshot = Snapshot { tenant: self.tenant, time_ms, state, index };
        self.host().log.snapshot(snapshot, PendingReply::Done(to));
    }

    /// Whether an advance has brought the book to an instant that no record has moved its clock to.
    /// Were it saved as of then, its clock would stand for as long after a crash.
    fn is_ahead_of_its_records(&self) -> bool {
        let host = self.host();
        self.advancing && self.latest_ms > host.machine.now_ms(&self.book, host.clock.wall_ms())
    }

    /// Called once the clock has been moved or the advance is over.
    pub(super) fn catch_up(&mut self) {
        if !self.put_off.is_empty() && !self.is_ahead_of_its_records() {
            for to in std::mem::take(&mut self.put_off) {
                self.snapshot(to);
            }
        }
    }

    /// Callers that came while it was written ask again.
    pub(super) fn saved_in_background(&mut self, version: Option<u64>) {
        self.saved = version.unwrap_or(self.saved);
        for to in self.background.take().unwrap_or_default() {
            self.snapshot(to);
        }
    }
}
