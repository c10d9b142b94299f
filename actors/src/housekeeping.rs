//! Housekeeping, which the engine does by itself: rounds of snapshots, so that a restart replays
//! little, and idle books leaving memory.

use crate::book_handle::{BookHandle, BookMessage};
use crate::engine::{Engine, Shared, outcome_unknown};
use crate::machine::Machine;
use crate::pending_reply::{Failure, PendingReply};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot;
use wal::Seq;

/// One look around per second; idleness is measured in these.
const TICK: Duration = Duration::from_secs(1);

/// Books asked for a snapshot at once, so that a round does not fill the log's queue.
const ROUND_WIDTH: usize = 64;

/// Keeps house until the engine is gone.
pub(crate) fn run<M: Machine>(engine: Engine<M>) {
    let weak = Arc::downgrade(&engine.shared);
    let runtime = engine.shared.runtime.clone();
    drop(engine);
    runtime.spawn(async move {
        let mut ticks: i64 = 0;
        let mut last_round: i64 = 0;
        loop {
            tokio::time::sleep(TICK).await;
            let Some(shared) = weak.upgrade() else { return };
            if shared.is_over() {
                return;
            }
            ticks += 1;
            shared.coarse_seconds.store(ticks, Ordering::Relaxed);
            shared.gate.sweep();
            let engine = Engine { shared };
            let shared = &engine.shared;
            let tail = shared.log.durable_seq().saturating_sub(shared.saved_seq.load(Ordering::Acquire));
            let due = tail >= shared.config.snapshot_records
                || (tail > 0 && ticks - last_round >= seconds(shared.config.snapshot_seconds));
            if due {
                last_round = ticks;
                if let Err(failure) = snapshot_round(&engine).await {
                    tracing::warn!(?failure, "a round of snapshots was not finished");
                }
            }
            let idle = seconds(shared.config.idle_seconds);
            for tenant in tenants(shared, |handle| ticks - handle.last_used.load(Ordering::Relaxed) >= idle) {
                if let Some(handle) = shared.books.get(&tenant) {
                    handle.touch(ticks);
                    handle.send(BookMessage::Retire);
                }
            }
        }
    });
}

/// The tenants of these books in memory, in order: the map has none that would be the same each
/// time.
fn tenants<M: Machine>(shared: &Shared<M>, wanted: impl Fn(&BookHandle<M>) -> bool) -> Vec<u64> {
    let mut tenants: Vec<u64> =
        shared.books.iter().filter(|handle| wanted(handle)).map(|handle| *handle.key()).collect();
    tenants.sort_unstable();
    tenants
}

fn seconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// A snapshot of every book in memory that changed, then the floor: records up to it need no
/// replay. It does not rise over what a halted book has in no snapshot.
pub(crate) async fn snapshot_round<M: Machine>(engine: &Engine<M>) -> Result<Seq, Failure> {
    let shared = &engine.shared;
    // Every record that is durable now is in the books already, and a book that is not in memory
    // left a snapshot behind.
    let floor = shared.log.durable_seq();
    if floor == shared.saved_seq.load(Ordering::Acquire) {
        return Ok(shared.snapshot_seq.load(Ordering::Acquire));
    }
    for group in tenants(shared, |_| true).chunks(ROUND_WIDTH) {
        let mut saved = Vec::with_capacity(group.len());
        for tenant in group {
            let (to, from) = oneshot::channel();
            if let Some(handle) = shared.books.get(tenant) {
                handle.send(BookMessage::Snapshot(to));
                saved.push(from);
            }
        }
        for from in saved {
            // A book does not retire while this is in its queue; if it died, its records are in no
            // snapshot.
            match from.await.map_err(|_| outcome_unknown())? {
                Ok(_) | Err(Failure::Halted) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
    // Asked after the snapshots: a book that was halted before its own is among those that are.
    let reached = shared.halted_floor()?.map_or(floor, |halted| halted.min(floor));
    if reached > shared.snapshot_seq.load(Ordering::Acquire) {
        let (to, from) = oneshot::channel();
        shared.log.raise_floor(reached, PendingReply::Done(to));
        from.await.map_err(|_| outcome_unknown())??;
        shared.snapshot_seq.fetch_max(reached, Ordering::AcqRel);
    }
    shared.saved_seq.fetch_max(floor, Ordering::AcqRel);
    shared.counters.saved();
    Ok(shared.snapshot_seq.load(Ordering::Acquire))
}
