//! What the engine does by itself: rounds of snapshots, so that a restart replays little, and idle
//! books leaving memory.

use super::Engine;
use crate::book::Books;
use crate::machine::Machine;
use crate::protocol::book::{BookHandle, BookMessage};
use crate::protocol::pending_reply::PendingReply;
use crate::protocol::reply::Failure;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::oneshot;
use wal::{Seq, StoreError, Superfluous};

const TICK: Duration = Duration::from_secs(1);

/// Books that are asked for a snapshot at once, so that a round does not fill the log's queue.
const ROUND_WIDTH: usize = 64;

/// `engine` returns the engine while it is there; the task does not keep it alive between two rounds.
pub(super) async fn run<M: Machine>(engine: impl Fn() -> Option<Engine<M>>) {
    let mut ticks: i64 = 0;
    let mut last_round: i64 = 0;
    loop {
        tokio::time::sleep(TICK).await;
        let Some(engine) = engine() else { return };
        let shared = &engine.shared;
        if shared.host.end.is_over() {
            return;
        }
        ticks += 1;
        shared.books.coarse_seconds.store(ticks, Ordering::Relaxed);
        shared.gate.sweep();
        if !(shared.config.has_room)() {
            continue;
        }
        let tail = shared.host.log.durable_seq().saturating_sub(engine.saved_seq());
        let due = tail >= shared.config.snapshot_records
            || (tail > 0 && ticks - last_round >= seconds(shared.config.snapshot_seconds));
        if due {
            last_round = ticks;
            if let Err(failure) = snapshot_round(&engine).await {
                tracing::warn!(?failure, "a round of snapshots was not finished");
            }
        }
        let idle = seconds(shared.config.idle_seconds);
        for tenant in tenants(&shared.books, |book| ticks - book.last_used.load(Ordering::Relaxed) >= idle) {
            if let Some(handle) = shared.books.handles.get(&tenant) {
                handle.touch(ticks);
                handle.send(BookMessage::Retire);
            }
        }
    }
}

/// In order: that of the map is not the same each time.
fn tenants<M: Machine>(books: &Books<M>, wanted: impl Fn(&BookHandle<M>) -> bool) -> Vec<u64> {
    let mut tenants: Vec<u64> =
        books.handles.iter().filter(|handle| wanted(handle)).map(|handle| *handle.key()).collect();
    tenants.sort_unstable();
    tenants
}

fn seconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// A snapshot of every book in memory that changed, then the floor, which does not rise over what a
/// halted book has in no snapshot.
pub(super) async fn snapshot_round<M: Machine>(engine: &Engine<M>) -> Result<Seq, Failure> {
    let (shared, log) = (&engine.shared, &engine.shared.host.log);
    // Every record that is durable now is in the books already, and a book that is not in memory
    // left a snapshot behind.
    let floor = log.durable_seq();
    if floor == engine.saved_seq() {
        return Ok(engine.snapshot_seq());
    }
    for group in tenants(&shared.books, |_| true).chunks(ROUND_WIDTH) {
        let mut saved = Vec::with_capacity(group.len());
        for tenant in group {
            let (to, from) = oneshot::channel();
            if let Some(handle) = shared.books.handles.get(tenant) {
                handle.send(BookMessage::Snapshot(to));
                saved.push(from);
            }
        }
        for from in saved {
            // A book does not retire while this is in its queue; if it died, its records are in no
            // snapshot.
            match from.await.map_err(|_| Failure::outcome_unknown())? {
                Ok(_) | Err(Failure::Halted) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
    // The halted books are read after the snapshots: a book that was halted before its own is among
    // them.
    let reached = halted_floor(engine)?.map_or(floor, |halted| halted.min(floor));
    if reached > engine.snapshot_seq() {
        let (to, from) = oneshot::channel();
        log.raise_floor(reached, PendingReply::Done(to));
        from.await.map_err(|_| Failure::outcome_unknown())??;
        shared.snapshot_seq.fetch_max(reached, Ordering::AcqRel);
    }
    shared.saved_seq.fetch_max(floor, Ordering::AcqRel);
    shared.host.counters.saved();
    Ok(engine.snapshot_seq())
}

/// The last record up to which every halted book is in a snapshot; `None` if no book is halted.
fn halted_floor<M: Machine>(engine: &Engine<M>) -> Result<Option<Seq>, Failure> {
    let mut floor = None;
    for halted in engine.halted() {
        let newest = engine
            .reader()
            .newest_snapshot(halted.tenant)
            .map_err(|error| Failure::Storage(error.to_string()))?
            .unwrap_or(0);
        floor = Some(floor.map_or(newest, |floor: Seq| floor.min(newest)));
    }
    Ok(floor)
}

impl<M: Machine> Engine<M> {
    /// Returns the sequence up to which no replay is needed.
    pub async fn snapshot(&self) -> Result<Seq, Failure> {
        snapshot_round(self).await
    }

    /// The reply comes when the removal is durable.
    pub fn remove_snapshots(&self, superfluous: Superfluous) -> oneshot::Receiver<Result<Seq, Failure>> {
        let (to, from) = oneshot::channel();
        self.shared.host.log.remove_snapshots(superfluous, PendingReply::Done(to));
        from
    }

    /// Removes entries that still have these values; the reply comes when that is durable.
    pub fn prune_index(&self, entries: Vec<(Vec<u8>, Vec<u8>)>) -> oneshot::Receiver<Result<Seq, Failure>> {
        let (to, from) = oneshot::channel();
        self.shared.host.log.prune_index(entries, PendingReply::Done(to));
        from
    }

    /// Taken while the engine runs.
    pub fn checkpoint(&self, path: &std::path::Path) -> Result<(), StoreError> {
        self.shared.host.log.checkpoint(path)
    }
}
