//! Books in doubt, as an operator and the checks of a running engine deal with them. The records of
//! a halted book are in the log, and what it is resumed with is derived from them.

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
    /// Whether a tenant's book is halted.
    pub fn is_halted(&self, tenant: u64) -> bool {
        self.shared.host.halts.is_halted(tenant)
    }

    /// The books that are halted.
    pub fn halted(&self) -> Vec<Halted> {
        self.shared.host.halts.all()
    }

    /// How often a book was resumed since the start.
    pub fn resumptions(&self, tenant: u64) -> u64 {
        self.shared.host.halts.resumptions(tenant)
    }

    /// Halts a book that was found to be in doubt: it decides nothing more. Unless it was resumed
    /// after it had been looked at, when [`Engine::resumptions`] was this: then the finding is of a
    /// book that is no more.
    pub fn halt(&self, tenant: u64, resumptions: u64, why: &str) {
        let why = why.to_owned();
        self.send_to_book(tenant, BookMessage::Halt { why, resumptions });
    }

    /// Waits until everything that a halted book has appended is durable and nothing of it is being
    /// saved, so that what is derived from the log is all of it.
    pub async fn halted_fence(&self, tenant: u64) -> Result<Seq, Failure> {
        let (to, from) = oneshot::channel();
        self.send_to_book(tenant, BookMessage::Fence(to));
        from.await.map_err(|_| Failure::outcome_unknown())?
    }

    /// Has a halted book go on as `book`, which was derived from all of its records up to `seq` and
    /// has lived until `settled_ms`. First it is saved, then those snapshots go that are not what
    /// the records lead to: a crash in between leaves the right one as the newest.
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
