//! What the engine does by itself: rounds of snapshots, so that a restart replays little, and idle
//! books leaving memory.

use super::Engine;
use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::{BookHandle, BookMessage, Failure, PendingReply, reply_to};
use std::sync::atomic::Ordering;
use std::sync::{PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::{Seq, Superfluous};

const TICK: Duration = Duration::from_secs(1);

/// Books that are asked for a snapshot at once, so that a round does not fill the log's queue.
const ROUND_WIDTH: usize = 64;

pub(super) async fn run<M: Machine>(host: Weak<Host<M>>) {
    let (mut ticks, mut last_round) = (0_i64, 0_i64);
    loop {
        tokio::time::sleep(TICK).await;
        let Some(host) = host.upgrade() else { return };
        if host.is_over() {
            return;
        }
        ticks += 1;
        host.coarse_seconds.store(ticks, Ordering::Relaxed);
        host.gate.sweep();
        if !(host.config.has_room)() {
            continue;
        }
        let tail = host.log.durable_seq().saturating_sub(host.saved_seq.load(Ordering::Acquire));
        let due = tail >= host.config.snapshot_records
            || (tail > 0 && ticks - last_round >= seconds(host.config.snapshot_seconds));
        if due {
            last_round = ticks;
            if let Err(failure) = snapshot_round(&host).await {
                tracing::warn!(?failure, "a round of snapshots was not finished");
            }
        }
        let idle = seconds(host.config.idle_seconds);
        for tenant in tenants(&host, |book| ticks - book.last_used.load(Ordering::Relaxed) >= idle) {
            if let Some(handle) = host.books.get(&tenant) {
                handle.last_used.store(ticks, Ordering::Relaxed);
                handle.send(BookMessage::Retire);
            }
        }
    }
}

fn tenants<M: Machine>(host: &Host<M>, wanted: impl Fn(&BookHandle<M>) -> bool) -> Vec<u64> {
    let mut tenants: Vec<u64> =
        host.books.iter().filter(|handle| wanted(handle)).map(|handle| *handle.key()).collect();
    tenants.sort_unstable();
    tenants
}

fn seconds(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

/// A snapshot of every book in memory that changed, then the floor, which does not rise over what a
/// halted book has in no snapshot.
async fn snapshot_round<M: Machine>(host: &Host<M>) -> Result<Seq, Failure> {
    // Every record that is durable now is in the books already, and a book that is not in memory
    // left a snapshot behind.
    let floor = host.log.durable_seq();
    let snapshot_seq = || host.snapshot_seq.load(Ordering::Acquire);
    if floor == host.saved_seq.load(Ordering::Acquire) {
        return Ok(snapshot_seq());
    }
    for group in tenants(host, |_| true).chunks(ROUND_WIDTH) {
        let mut saved = Vec::with_capacity(group.len());
        for tenant in group {
            let (to, from) = oneshot::channel();
            if let Some(handle) = host.books.get(tenant) {
                handle.send(BookMessage::Snapshot(to));
                saved.push(from);
            }
        }
        for from in saved {
            // A book does not retire while this is in its queue; if it died, its records are in no
            // snapshot.
            match from.await? {
                Ok(_) | Err(Failure::Halted) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
    // The halted books are read after the snapshots, as a book that was halted before its own is
    // among them. The floor does not rise over what they have in no snapshot.
    let mut reached = floor;
    for halted in host.halts.all() {
        let newest = host.reader.newest_snapshot_seq(halted.tenant);
        let newest = newest.map_err(|error| Failure::Storage(error.to_string()))?;
        reached = reached.min(newest.unwrap_or(0));
    }
    if reached > snapshot_seq() {
        reply_to(|to| host.log.raise_floor(reached, PendingReply::Done(to))).await?;
        host.snapshot_seq.fetch_max(reached, Ordering::AcqRel);
    }
    host.saved_seq.fetch_max(floor, Ordering::AcqRel);
    *host.saved_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    Ok(snapshot_seq())
}

impl<M: Machine> Engine<M> {
    pub async fn snapshot(&self) -> Result<Seq, Failure> {
        snapshot_round(&self.host).await
    }

    pub fn remove_snapshots(&self, superfluous: Superfluous) -> oneshot::Receiver<Result<Seq, Failure>> {
        let (to, from) = oneshot::channel();
        self.host.log.remove_snapshots(superfluous, PendingReply::Done(to));
        from
    }

    pub fn prune_index(&self, entries: Vec<(Vec<u8>, Vec<u8>)>) -> oneshot::Receiver<Result<Seq, Failure>> {
        let (to, from) = oneshot::channel();
        self.host.log.prune_index(entries, PendingReply::Done(to));
        from
    }
}
