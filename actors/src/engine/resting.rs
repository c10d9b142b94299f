//! A start would keep every book in memory that has a record behind its snapshot, until it has been
//! idle for a while. So those with nothing due are written as snapshots, under the last sequence of
//! the log, and leave at a time when nobody can ask for them yet. A crash on the way leaves
//! snapshots that contain all of their tenants' records, and the floor where it was.

use super::recovery::Books;
use crate::host::Host;
use crate::machine::{LONG_AGO_MS, Machine};
use crate::protocol::pending_reply::PendingReply;
use crate::protocol::reply::Failure;
use crate::wake_mark;
use tokio::sync::oneshot;
use wal::{IndexOps, Snapshot};

/// In the log's queue at once.
const GROUP_MAX: usize = 1_024;

/// When this returns well the snapshots are durable.
pub(super) async fn rest<M: Machine>(host: &Host<M>, books: &mut Books<M>) -> Result<(), Failure> {
    let machine = &*host.machine;
    let resting: Vec<_> = books
        .extract_if(.., |tenant, recovered| {
            // A large book is encoded beside its turns, and there are few.
            !machine.is_essential(*tenant)
                && !machine.is_large(&recovered.book)
                && machine.next_due(&recovered.book, &|_| false).is_none()
        })
        .collect();
    let mut resting = resting.into_iter();
    while resting.len() > 0 {
        for (tenant, mut recovered) in resting.by_ref().take(GROUP_MAX).filter(|(_, book)| book.ahead) {
            // Settled at its last record, as when it left memory by itself.
            let time_ms = machine.now_ms(&recovered.book, LONG_AGO_MS).max(recovered.settled_ms);
            machine.settle(&mut recovered.book, time_ms);
            let mut index = IndexOps::new();
            wake_mark::mark(machine, tenant, &recovered.book, &mut index);
            let state = machine.save(&recovered.book);
            let (written, _) = oneshot::channel();
            host.log.snapshot(Snapshot { tenant, time_ms, state, index }, PendingReply::Done(written));
        }
        let (to, from) = oneshot::channel();
        host.log.fence(PendingReply::Done(to));
        from.await.map_err(|_| Failure::outcome_unknown())??;
    }
    Ok(())
}
