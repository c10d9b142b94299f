//! Books in doubt, for an operator and for the checks of a running engine. The records of a halted
//! book are in the log, and the book that it is resumed with is derived from them.

use super::Engine;
use crate::host::{Context, Halted};
use crate::machine::Machine;
use crate::protocol::book::{BookMessage, Resumption};
use crate::protocol::pending_reply::PendingReply;
use crate::protocol::reply::Failure;
use crate::wake_mark;
use tokio::sync::oneshot;
use wal::{IndexOps, Seq, Snapshot};

impl<M: Machine> Engine<M> {
    pub fn halted(&self) -> Vec<Halted> {
        self.shared.host.halts.all()
    }

    pub fn resumptions(&self, tenant: u64) -> u64 {
        self.shared.host.halts.resumptions(tenant)
    }

    /// `resumptions` is [`Engine::resumptions`] before the book was read: if it was resumed since,
    /// the finding is about a state that is gone, and nothing happens.
    pub fn halt(&self, tenant: u64, resumptions: u64, why: &str) {
        let why = why.to_owned();
        self.send_to_book(tenant, BookMessage::Halt { why, resumptions });
    }

    /// Waits until all records of a halted book are durable and no snapshot of it is being written,
    /// so that what is derived from the log is complete.
    pub async fn halted_fence(&self, tenant: u64) -> Result<Seq, Failure> {
        let (to, from) = oneshot::channel();
        self.send_to_book(tenant, BookMessage::Fence(to));
        from.await.map_err(|_| Failure::outcome_unknown())?
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
        let (log, machine) = (&self.shared.host.log, &self.shared.host.machine);
        let mut index = IndexOps::new();
        wake_mark::mark(machine.as_ref(), tenant, &book, &mut index);
        let (to, from) = oneshot::channel();
        log.snapshot_at(
            seq,
            Snapshot { tenant, time_ms: settled_ms, state: machine.save(&book), index },
            PendingReply::Done(to),
        );
        from.await.map_err(|_| Failure::outcome_unknown())??;
        let wrong: Vec<Seq> = wrong.iter().copied().filter(|wrong| *wrong != seq).collect();
        let (to, from) = oneshot::channel();
        log.forget_snapshots(tenant, &wrong, PendingReply::Done(to))
            .map_err(|error| Failure::Storage(error.to_string()))?;
        from.await.map_err(|_| Failure::outcome_unknown())??;
        let (to, from) = oneshot::channel();
        self.send_to_book(tenant, BookMessage::Resume(Box::new(Resumption { book, settled_ms, to })));
        from.await.map_err(|_| Failure::outcome_unknown())
    }
}
