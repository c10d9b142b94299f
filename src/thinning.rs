//! Snapshots and kept answers that nobody needs any more, removed while the server runs: room on
//! the disk follows how long it has been used, not how often it was written to.
//!
//! Snapshots are thinned by [`Retention`]; a start, a self-check and a question about the past find
//! what is left, and read more records from there. The index entries of answers whose
//! Idempotency-Keys have expired are taken out; the records that hold the answers stay in the log.
//! Everything goes through the log's writer, so a crash leaves each of them there whole or gone.
//!
//! A thread of its own with the lowest priority does it: for every tenant once after the start,
//! then for the books in memory after rounds of snapshots.

use actors::{Engine, Failure};
use domain::index;
use domain::kept::KEPT_MS;
use domain::machine::Domain;
use domain::values::ids::PLATFORM;
use domain::values::time::{DAY_MS, HOUR_MS, MINUTE_MS};
use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::{Reader, Retention, Seq, SnapshotHead};

const LOOK_EVERY: Duration = Duration::from_secs(2);
const REST: u32 = 4;
/// The time of a tenant's clock, in ms, after which its snapshots are looked through again.
const THINNED_EVERY_MS: i64 = 5 * MINUTE_MS;
/// Every one of them is looked through.
const PRUNED_EVERY_MS: i64 = DAY_MS;
/// So that no request still under way speaks of it.
const PRUNED_AFTER_MS: i64 = KEPT_MS + HOUR_MS;
const SNAPSHOTS_MAX: usize = 64;
/// Index entries in one write: each is looked up by the writer.
const ENTRIES_MAX: usize = 128;
const NICENESS: i32 = 19;

pub struct IdleThread {
    name: &'static str,
    thread: JoinHandle<()>,
    /// Its end stops the thread.
    stop: Sender<()>,
}

pub struct Rests(Receiver<()>);

impl Rests {
    /// False when the thread is to end.
    pub fn rest(&self, time: Duration) -> bool {
        matches!(self.0.recv_timeout(time), Err(RecvTimeoutError::Timeout))
    }
}

impl IdleThread {
    pub fn start(name: &'static str, work: impl FnOnce(Rests) + Send + 'static) -> io::Result<IdleThread> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            // Of this thread alone; where it is not allowed, the rests alone keep the load small.
            let _ = rustix::process::nice(NICENESS);
            work(Rests(stopped));
        })?;
        Ok(IdleThread { name, thread, stop })
    }

    pub fn stop(self) {
        drop(self.stop);
        if self.thread.join().is_err() {
            tracing::error!(thread = self.name, "a thread panicked");
        }
    }
}

pub fn start(engine: Engine<Domain>, retention: Retention) -> io::Result<IdleThread> {
    IdleThread::start("thinning", move |rests| {
        let (thinned, pruned) = (HashMap::new(), HashMap::new());
        Thinner { engine, retention, rests, seen: None, thinned, pruned }.run();
    })
}

type Unfinished = Box<dyn std::error::Error>;

struct Thinner {
    engine: Engine<Domain>,
    retention: Retention,
    rests: Rests,
    /// None before the first round, which is of all tenants.
    seen: Option<Seq>,
    thinned: HashMap<u64, i64>,
    pruned: HashMap<u64, i64>,
}

impl Thinner {
    fn run(mut self) {
        while self.rests.rest(LOOK_EVERY) {
            // The log's floor stands still while a book is halted.
            let snapshots = self.engine.saved_seq();
            let reader = self.engine.reader().clone();
            let tenants = match self.seen {
                Some(seen) if seen == snapshots => continue,
                Some(_) => Ok(self.engine.books_in_memory()),
                None => reader.snapshot_tenants(),
            };
            match tenants {
                Ok(tenants) if self.round(&reader, &tenants) => self.seen = Some(snapshots),
                Ok(_) => return,
                Err(error) => tracing::warn!(%error, "snapshots were not thinned"),
            }
        }
    }

    /// Thins these tenants; false when the thread is to end.
    fn round(&mut self, reader: &Reader, tenants: &[u64]) -> bool {
        for tenant in tenants {
            let began = Instant::now();
            match self.thin(reader, *tenant) {
                Ok(false) => continue,
                Ok(true) => {}
                Err(error) => {
                    tracing::warn!(tenant, %error, "what is no longer needed of a tenant was not removed")
                }
            }
            if !self.rests.rest(began.elapsed() * REST) {
                return false;
            }
        }
        true
    }

    fn thin(&mut self, reader: &Reader, tenant: u64) -> Result<bool, Unfinished> {
        let Some(newest) = reader.newest_snapshot(tenant)? else { return Ok(false) };
        let is_due = |done: &HashMap<u64, i64>, every_ms: i64| {
            done.get(&tenant).is_none_or(|at_ms| newest.time_ms.saturating_sub(*at_ms) >= every_ms)
        };
        if !is_due(&self.thinned, THINNED_EVERY_MS) {
            return Ok(false);
        }
        let mut heads = reader.snapshot_heads(tenant)?;
        // Before snapshots go: one of that time tells by its sequence which answers have expired.
        if is_due(&self.pruned, PRUNED_EVERY_MS) {
            self.prune(reader, tenant, &heads)?;
            self.pruned.insert(tenant, newest.time_ms);
        }
        loop {
            let superfluous = self.retention.superfluous(&heads, SNAPSHOTS_MAX);
            if superfluous.is_empty() {
                break;
            }
            heads.retain(|head| !superfluous.contains(head));
            tracing::debug!(tenant, snapshots = superfluous.len(), "snapshots thinned");
            written(self.engine.remove_snapshots(superfluous))?;
        }
        self.thinned.insert(tenant, newest.time_ms);
        Ok(true)
    }

    fn prune(&self, reader: &Reader, tenant: u64, heads: &[SnapshotHead]) -> Result<(), Unfinished> {
        let Some(newest) = heads.last() else { return Ok(()) };
        let expired_ms = newest.time_ms.saturating_sub(PRUNED_AFTER_MS);
        // The tenant wrote everything up to this snapshot before the snapshot's instant.
        let Some(last) = heads.iter().rev().find(|head| head.time_ms <= expired_ms) else { return Ok(()) };
        let (from, to) = index::kept_of(tenant);
        let mut gone = Vec::new();
        for entry in reader.index_scan(&from, &to, false) {
            let (key, value) = entry?;
            let Ok(seq) = <[u8; 8]>::try_from(value.as_slice()).map(Seq::from_be_bytes) else { continue };
            let has_expired = if tenant == PLATFORM {
                // Operators' answers are in records of all tenants, whose times only their records
                // tell; those of a test clock stay.
                !index::is_of_test_clock(&key)
                    && reader.record(seq)?.is_some_and(|record| record.time_ms <= expired_ms)
            } else {
                seq <= last.seq
            };
            if has_expired {
                gone.push((key, value));
            }
            if gone.len() == ENTRIES_MAX {
                written(self.engine.prune_index(std::mem::take(&mut gone)))?;
            }
        }
        if gone.is_empty() { Ok(()) } else { written(self.engine.prune_index(gone)) }
    }
}

fn written(outcome: oneshot::Receiver<Result<Seq, Failure>>) -> Result<(), Unfinished> {
    outcome.blocking_recv()?.map(drop).map_err(|why| format!("{why:?}").into())
}
