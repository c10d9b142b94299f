//! The handle of a log; the writer thread behind it is in `writer.rs`. `append` never blocks; what
//! one thread appends keeps its order; every completion is called exactly once, with `Durable` only
//! after the sync.

use crate::cluster::Agreement;
use crate::config::Config;
use crate::opening::{self, End};
use crate::poison::Poisoned;
use crate::reader::Reader;
use crate::record::{PAYLOAD_BYTES_MAX, WITNESS_KEY};
use crate::retention::Superfluous;
use crate::snapshot::{self, STATE_BYTES_MAX, Snapshot};
use crate::stats::{Counters, Stats};
use crate::stepper::Stepper;
use crate::store::{Store, StoreError};
use crate::writer::{AckSender, Entry, What, Writer};
use crate::{IndexOps, OpenError, ReadError, Seq};
use crossbeam::channel::{self, Sender};
use handoff::HandedOver;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{JoinHandle, ThreadId};
use std::time::{Duration, Instant};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Append {
    pub tenant: u64,
    /// Milliseconds since 1970.
    pub time_ms: i64,
    /// At most `PAYLOAD_BYTES_MAX`.
    pub payload: Vec<u8>,
    pub index: IndexOps,
}

/// Proof that something is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Durable {
    /// The record's sequence; of a fence, a snapshot or a floor, the last sequence before it.
    pub seq: Seq,
    /// From the call to the completion.
    pub waited: Duration,
    /// The part in which other machines agreed, where there are others.
    pub agreed: Option<Duration>,
}

/// Called on the writer thread, in the task that acknowledges, or, if the outcome is known at once,
/// on the caller's thread. It must neither block nor panic: everything behind it waits.
pub trait Completion: Send + 'static {
    fn complete(self, outcome: Result<Durable, Poisoned>);
}

/// Reports to a channel, if a caller waits for the outcome.
pub struct ReportTo(pub Option<SyncSender<Result<Durable, Poisoned>>>);

impl Completion for ReportTo {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        if let Some(to) = self.0 {
            let _ = to.try_send(outcome);
        }
    }
}

/// Clones are the same log; dropping the last one closes it.
pub struct Log<C: Completion> {
    inner: Arc<Inner<C>>,
}

impl<C: Completion> Clone for Log<C> {
    fn clone(&self) -> Log<C> {
        Log { inner: self.inner.clone() }
    }
}

struct Inner<C: Completion> {
    entries: Sender<Option<Entry<C>>>,
    shared: Arc<Shared>,
    reader: Reader,
    config: Config,
    runs: Runs,
}

pub(crate) enum Runs {
    Thread {
        id: ThreadId,
        handle: Mutex<Option<JoinHandle<()>>>,
    },
    Stepper(Stepper),
    /// Whoever appends writes, and calls the completions.
    Caller(Stepper),
}

/// A log before it is known who runs its writer.
pub(crate) struct Parts<C: Completion> {
    entries: Sender<Option<Entry<C>>>,
    shared: Arc<Shared>,
    reader: Reader,
    config: Config,
}

impl<C: Completion> Parts<C> {
    pub(crate) fn run_by(self, runs: Runs) -> Log<C> {
        let Parts { entries, shared, reader, config } = self;
        Log { inner: Arc::new(Inner { entries, shared, reader, config, runs }) }
    }
}

type PoisonHook = Box<dyn FnOnce(&Poisoned) + Send>;

pub(crate) struct Shared {
    pub(crate) end: Arc<Mutex<End>>,
    pub(crate) counters: Counters,
    /// Entries between their call and the end of their completion. Incremented before `refuses` is
    /// read, so that the writer can wait for callers that have passed that check.
    pub(crate) pending_records: AtomicUsize,
    pub(crate) pending_bytes: AtomicUsize,
    pub(crate) refuses: AtomicBool,
    pub(crate) poisoned: OnceLock<Poisoned>,
    on_poison: Mutex<Option<PoisonHook>>,
    pub(crate) handed_over: HandedOver,
    /// Every waiting completion was called with the failure, so that a hook may be called.
    hook_is_due: AtomicBool,
}

impl Shared {
    pub(crate) fn end(&self) -> End {
        *self.end.lock().expect("nobody panics with it")
    }

    pub(crate) fn call_poison_hook(&self, poisoned: &Poisoned) {
        self.hook_is_due.store(true, Ordering::SeqCst);
        let hook = self.on_poison.lock().expect("nobody panics with it").take();
        if let Some(hook) = hook {
            hook(poisoned);
        }
    }

    pub(crate) fn leave(&self, records: usize, bytes: usize) {
        self.pending_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.pending_records.fetch_sub(records, Ordering::SeqCst);
    }
}

impl<C: Completion> Log<C> {
    /// Panics if the bounds of `config` contradict each other.
    pub fn open(store: Box<dyn Store>, config: Config) -> Result<Log<C>, OpenError> {
        Log::open_with(store.into(), config, None, None, None)
    }

    /// `ack_sender` may have large batches acknowledged by a task, a stepper run the writer.
    /// With an agreement batches are agreed on with other machines before their sync: the store's end must be what
    /// was agreed on last.
    pub fn open_with(
        store: Arc<dyn Store>,
        config: Config,
        ack_sender: Option<AckSender<C>>,
        stepper: Option<Stepper>,
        agreement: Option<Box<dyn Agreement>>,
    ) -> Result<Log<C>, OpenError> {
        config.check();
        let end = match opening::check(&*store)? {
            Some(end) => end,
            None => opening::create(&*store)?,
        };
        let orphans = snapshot::removal_of_orphans(&*store)?;
        if !orphans.is_empty() {
            tracing::info!(
                pieces = orphans.len(),
                "removing what a crash left of a snapshot that was being written"
            );
            store.write(&orphans)?;
        }
        store.witness(&end.tip.sealed(WITNESS_KEY))?;
        tracing::info!(last_seq = end.tip.seq, floor = end.floor, "log opened");
        let reader = Reader { store, end: Arc::new(Mutex::new(end)) };
        let (parts, writer) = Log::over(reader, config, ack_sender, agreement);
        let runs = match stepper {
            Some(stepper) => {
                stepper.give(writer);
                Runs::Stepper(stepper)
            }
            None => {
                let thread = std::thread::Builder::new()
                    .name("wal-writer".into())
                    .spawn(move || writer.run())
                    .map_err(|error| {
                        StoreError::Failed(format!("the writer thread cannot be started: {error}"))
                    })?;
                Runs::Thread { id: thread.thread().id(), handle: Mutex::new(Some(thread)) }
            }
        };
        Ok(parts.run_by(runs))
    }

    /// A log over what a reader sees, and its writer, which nobody runs yet.
    pub(crate) fn over(
        reader: Reader,
        config: Config,
        ack_sender: Option<AckSender<C>>,
        agreement: Option<Box<dyn Agreement>>,
    ) -> (Parts<C>, Writer<C>) {
        let shared = Arc::new(Shared {
            end: reader.end.clone(),
            counters: Counters::new(),
            pending_records: AtomicUsize::new(0),
            pending_bytes: AtomicUsize::new(0),
            handed_over: HandedOver::default(),
            refuses: AtomicBool::new(false),
            poisoned: OnceLock::new(),
            on_poison: Mutex::new(None),
            hook_is_due: AtomicBool::new(false),
        });
        let (entries, receiver) = channel::unbounded();
        let store = reader.store.clone();
        let writer = Writer::new(store, receiver, shared.clone(), config.clone(), ack_sender, agreement);
        (Parts { entries, shared, reader, config }, writer)
    }

    /// If the log is poisoned or closed the completion is called at once. Panics if the payload is
    /// larger than `PAYLOAD_BYTES_MAX`.
    pub fn append(&self, record: Append, completion: C) {
        assert!(record.payload.len() <= PAYLOAD_BYTES_MAX, "a payload is at most {PAYLOAD_BYTES_MAX} bytes");
        let bytes = record.payload.len() + record.index.ops.bytes.len();
        self.inner.send(What::Record(record), bytes, completion);
    }

    /// Completes once everything appended before it is durable: at once, on the caller's thread, if
    /// nothing is pending.
    pub fn fence(&self, completion: C) {
        let shared = &self.inner.shared;
        if shared.pending_records.load(Ordering::SeqCst) == 0 && !shared.refuses.load(Ordering::SeqCst) {
            completion.complete(Ok(Durable {
                seq: self.durable_seq(),
                waited: Duration::ZERO,
                agreed: None,
            }));
            return;
        }
        self.inner.send(What::Fence, 0, completion);
    }

    /// Stored under the last sequence appended before it; must contain every record of its tenant
    /// up to that one. Panics if the state is larger than `STATE_BYTES_MAX`.
    pub fn snapshot(&self, snapshot: Snapshot, completion: C) {
        assert!(snapshot.state.len() <= STATE_BYTES_MAX, "a state is at most {STATE_BYTES_MAX} bytes");
        let bytes = snapshot.state.len() + snapshot.index.ops.bytes.len();
        self.inner.send(What::Snapshot(snapshot), bytes, completion);
    }

    /// A snapshot of a state taken earlier, under the sequence of the last record before that: it
    /// must contain every record of its tenant up to that one, and none after it. What is appended
    /// meanwhile does not wait: a large state is written in pieces, and does not count against the
    /// bounds of what is pending. There must be no newer snapshot of the tenant and none under way.
    ///
    /// Panics if the state is larger than `STATE_BYTES_MAX` or ahead of what is durable.
    pub fn snapshot_at(&self, seq: Seq, snapshot: Snapshot, completion: C) {
        assert!(snapshot.state.len() <= STATE_BYTES_MAX, "a state is at most {STATE_BYTES_MAX} bytes");
        assert!(seq <= self.durable_seq(), "a state that was taken earlier is durable");
        self.inner.send(What::SnapshotAt(seq, snapshot), 0, completion);
    }

    /// Removes snapshots that are not what the records lead to. A newer one must have been written
    /// before, so that the floor stands on that.
    pub fn forget_snapshots(&self, tenant: u64, seqs: &[Seq], completion: C) -> Result<(), ReadError> {
        let mut heads = self.inner.reader.snapshot_heads(tenant)?;
        heads.retain(|head| seqs.contains(&head.seq));
        self.remove_snapshots(Superfluous(heads), completion);
        Ok(())
    }

    /// Replay may start after the floor: every tenant's records up to it are in snapshots written
    /// before, those of `snapshot_at` durable. It never falls, and never passes the last record.
    pub fn raise_floor(&self, floor: Seq, completion: C) {
        self.inner.send(What::Floor(floor), 0, completion);
    }

    /// Each with its pieces in one batch: after a crash, and for a concurrent reader, a snapshot is
    /// there whole or not at all.
    pub fn remove_snapshots(&self, superfluous: Superfluous, completion: C) {
        self.inner.send(What::Removal(superfluous), 0, completion);
    }

    /// Removes entries that still have this value when their turn comes: one that a record wrote
    /// anew meanwhile stays.
    pub fn prune_index(&self, entries: Vec<(Vec<u8>, Vec<u8>)>, completion: C) {
        self.inner.send(What::Pruning(entries), 0, completion);
    }

    /// Callers ask before they decide; `append` itself takes everything.
    pub fn has_room(&self) -> bool {
        let shared = &self.inner.shared;
        shared.pending_records.load(Ordering::Relaxed) < self.inner.config.pending_records_max
            && shared.pending_bytes.load(Ordering::Relaxed) < self.inner.config.pending_bytes_max
    }

    pub fn durable_seq(&self) -> Seq {
        self.inner.shared.end().tip.seq
    }

    pub fn reader(&self) -> Reader {
        self.inner.reader.clone()
    }

    /// Called once by the writer thread, when a write has failed and every waiting completion was
    /// called; at once if that has happened. A later hook replaces an earlier one.
    pub fn on_poison(&self, hook: Box<dyn FnOnce(&Poisoned) + Send>) {
        let shared = &self.inner.shared;
        *shared.on_poison.lock().expect("nobody panics with it") = Some(hook);
        if shared.hook_is_due.load(Ordering::SeqCst)
            && let Some(poisoned) = shared.poisoned.get()
        {
            shared.call_poison_hook(poisoned);
        }
    }

    pub fn poisoned(&self) -> Option<Poisoned> {
        self.inner.shared.poisoned.get().cloned()
    }

    pub fn stats(&self) -> Stats {
        let shared = &self.inner.shared;
        shared.counters.stats(
            shared.pending_records.load(Ordering::Relaxed) as u64,
            shared.pending_bytes.load(Ordering::Relaxed) as u64,
        )
    }

    /// Takes no more entries, and returns when what is pending is written. The data directory is
    /// released when the last `Log` and `Reader` are dropped.
    pub fn close(&self) {
        self.inner.close();
    }
}

impl<C: Completion> Inner<C> {
    fn send(&self, what: What, bytes: usize, completion: C) {
        let shared = &self.shared;
        shared.pending_bytes.fetch_add(bytes, Ordering::Relaxed);
        shared.pending_records.fetch_add(1, Ordering::SeqCst);
        // Sequentially consistent, like the counter before it: see `pending_records`.
        if shared.refuses.load(Ordering::SeqCst) {
            shared.leave(1, bytes);
            let refusal = match shared.poisoned.get() {
                Some(poisoned) => Poisoned::not_written(poisoned.why.clone()),
                None => Poisoned::not_written("the log is closed"),
            };
            return completion.complete(Err(refusal));
        }
        // The writer takes entries until none is pending, so it is still there.
        let sent = self.entries.send(Some(Entry { what, bytes, completion, at: Instant::now() }));
        assert!(sent.is_ok(), "the writer outlives what is pending");
        match &self.runs {
            Runs::Stepper(stepper) => (stepper.wake)(),
            Runs::Caller(stepper) => stepper.drain(),
            Runs::Thread { .. } => {}
        }
    }

    fn close(&self) {
        self.shared.refuses.store(true, Ordering::SeqCst);
        let (id, handle) = match &self.runs {
            Runs::Stepper(stepper) => {
                while stepper.step() {}
                return;
            }
            Runs::Caller(stepper) => return stepper.drain(),
            Runs::Thread { id, handle } => (id, handle),
        };
        if std::thread::current().id() == *id {
            // A completion dropped the last handle: the thread cannot wait for itself, but it will
            // end.
            let _ = self.entries.send(None);
            return;
        }
        // Held while joining, so that a second caller returns when the first does.
        let mut writer = handle.lock().expect("nobody panics with it");
        if let Some(writer) = writer.take() {
            let _ = self.entries.send(None);
            let _ = writer.join();
        }
    }
}

impl<C: Completion> Drop for Inner<C> {
    fn drop(&mut self) {
        self.close();
    }
}
