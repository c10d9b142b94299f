//! The handle of a running engine, with everything that the rest of the program may ask of it.

use crate::ack_task;
use crate::admission::{Admission, Gate, Refused, Shares, Standing};
use crate::alarm::Alarm;
use crate::book_handle::{BookHandle, BookMessage, spawn_book};
use crate::clock::Clock;
use crate::entity::{Attended, EntityHandle, EntityMessage, deliver};
use crate::entity_cache::EntityCache;
use crate::halt::{Halted, Halts};
use crate::housekeeping;
use crate::machine::{Effects, Machine};
use crate::pending_reply::{Ask, CommandReply, Failure, Guard, PendingReply, ReplyTo};
use crate::recovery;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::{Log, OpenError, Reader, Seq, Stepper, Store, Superfluous};

/// The open entities that the cache has room for: some hundreds of megabytes if there are ever so
/// many.
const ENTITY_CACHE_MAX: usize = 1 << 19;

/// A callback with the books that are halted.
pub type OnHalt = Arc<dyn Fn(&[Halted]) + Send + Sync>;

/// The settings of an engine. Times are in milliseconds or seconds as their names say.
#[derive(Clone)]
pub struct Config {
    /// Requests that may be under way at once; one more is `Overloaded`.
    pub permits_max: usize,
    /// The part of them that one tenant may have.
    pub shares: Shares,
    /// A round of snapshots after so many records.
    pub snapshot_records: u64,
    /// A round of snapshots after so many seconds, if anything was written.
    pub snapshot_seconds: u64,
    /// A book without a deadline leaves memory after so many seconds without a request.
    pub idle_seconds: u64,
    /// The time that a caller waits for an effect; then it has a reply with what is durable. The
    /// effect goes on, and its result is taken when it comes.
    pub patience: Duration,
    /// A callback for when the log fails, or a book is in doubt that is essential. It must end the
    /// process; a test may only note it.
    pub on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
    /// Tenants whose books are not recovered and stay halted until they are resumed, with the
    /// reason.
    pub set_aside: BTreeMap<u64, String>,
    /// Called whenever the set of halted books has changed.
    pub on_halt: OnHalt,
    /// The source of "now".
    pub clock: Clock,
    /// Random bits, others for each turn. Ids are made of them, so they must not tell how many
    /// turns there were.
    pub seeds: Seeds,
    /// A stepper that runs the log's writer instead of a thread of its own.
    pub stepper: Option<Stepper>,
}

/// The source of the random bits of turns.
pub type Seeds = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Random bits that nobody can foresee: a keyed hash of a counter.
pub fn unforeseeable() -> Seeds {
    let (key, count) = (std::hash::RandomState::new(), AtomicU64::new(0));
    Arc::new(move || key.hash_one(count.fetch_add(1, Ordering::Relaxed)))
}

/// The reason why an engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The log refused.
    #[error(transparent)]
    Log(#[from] OpenError),
    /// A record or a snapshot cannot be read.
    #[error("{0}")]
    Recovery(String),
    /// The stored data of one book is not right; without it the others could start.
    #[error("the book of tenant key {tenant}: {why}")]
    Book {
        /// The tenant key of the book.
        tenant: u64,
        /// The damage, in words.
        why: String,
    },
}

/// The figures of an engine for an operator.
#[derive(Clone, Debug)]
pub struct Status {
    /// The newest durable record.
    pub durable_seq: Seq,
    /// Every record up to here is in snapshots.
    pub snapshot_seq: Seq,
    /// Since the last round of snapshots ended, or since the start.
    pub snapshot_age: Duration,
    /// Books in memory.
    pub books: usize,
    /// Messages that wait for books.
    pub waiting: usize,
    /// The most that wait for one of them.
    pub waiting_most: usize,
    /// Active entities.
    pub entities: usize,
    /// Requests under way.
    pub under_way: usize,
    /// The most that may be.
    pub permits_max: usize,
    /// Requests that were refused because there were so many.
    pub overloaded: u64,
    /// Requests that were refused because their tenant had its share.
    pub share_full: u64,
    /// The same of tenants that yield.
    pub share_full_yielding: u64,
    /// Records whose invariants were checked before they were written.
    pub checked: u64,
    /// Broken invariants, and books that were found not to be what their records lead to.
    pub breached: u64,
    /// Books that are halted.
    pub halted: usize,
    /// The log's counters.
    pub log: wal::Stats,
}

/// Counters that are raised where things happen.
pub(crate) struct Counters {
    pub started: Instant,
    /// The end of the last round of snapshots, in milliseconds since `started`.
    pub snapshot_ms: AtomicU64,
    pub overloaded: AtomicU64,
    pub checked: AtomicU64,
    pub breached: AtomicU64,
}

impl Counters {
    fn new() -> Counters {
        let zero = || AtomicU64::new(0);
        Counters {
            started: Instant::now(),
            snapshot_ms: zero(),
            overloaded: zero(),
            checked: zero(),
            breached: zero(),
        }
    }

    /// A round of snapshots has ended.
    pub fn saved(&self) {
        self.snapshot_ms
            .store(u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn snapshot_age(&self) -> Duration {
        self.started.elapsed().saturating_sub(Duration::from_millis(self.snapshot_ms.load(Ordering::Relaxed)))
    }
}

/// Decoded records that are kept for entities that are loaded from them. More than one: of batches
/// that come at once, each has many entities, and a single record would be decoded anew for nearly
/// every one of them.
const DECODED_MAX: usize = 16;

/// The state that actors share.
pub(crate) struct Shared<M: Machine> {
    pub machine: Arc<M>,
    pub effects: Arc<dyn Effects<M>>,
    pub log: Log<PendingReply<M>>,
    pub reader: Reader,
    pub config: Config,
    pub alarm: Alarm,
    pub books: DashMap<u64, Arc<BookHandle<M>>, RandomState>,
    pub entities: DashMap<(u64, M::EntityId), EntityHandle<M>, RandomState>,
    /// The newest states of open entities that are not active, as many as there is room for; the
    /// others are read from the log. Changed under the lock of `entities` alone, but for entities
    /// that are new and not known to any caller yet.
    pub entity_cache: EntityCache<M::EntityId, M::Entity>,
    /// The locks of clock advances: a tenant has one at a time.
    pub advances: DashMap<u64, Arc<tokio::sync::Mutex<()>>>,
    pub gate: Gate,
    pub stopping: AtomicBool,
    /// The log is closed: books leave memory as soon as nobody asks them anything.
    pub closed: AtomicBool,
    pub failed: OnceLock<String>,
    pub snapshot_seq: AtomicU64,
    /// Every record up to here of a book that is not halted is in snapshots.
    pub saved_seq: AtomicU64,
    pub halts: Halts,
    pub counters: Counters,
    /// The right to encode a large book: one at a time, so that one state is in memory beside the
    /// books.
    pub encoding: tokio::sync::Semaphore,
    pub runtime: tokio::runtime::Handle,
    /// The records that entities were loaded from last: those of one batch are all in one record,
    /// which need not be read once for each of them.
    pub decoded: Mutex<VecDeque<(Seq, Arc<M::Record>)>>,
    /// Seconds of the engine's life, for idleness; coarse on purpose.
    pub coarse_seconds: AtomicI64,
}

/// The engine. Clone it freely.
pub struct Engine<M: Machine> {
    pub(crate) shared: Arc<Shared<M>>,
}

impl<M: Machine> Clone for Engine<M> {
    fn clone(&self) -> Self {
        Engine { shared: Arc::clone(&self.shared) }
    }
}

impl<M: Machine> Engine<M> {
    /// Opens the log on `store`, replays what snapshots do not hold, and is ready when it returns.
    pub async fn start(
        machine: M,
        effects: Arc<dyn Effects<M>>,
        store: Box<dyn Store>,
        log: wal::Config,
        config: Config,
    ) -> Result<Self, StartError> {
        let (ack_sender, ack_queue) = ack_task::queue::<M>();
        let log = Log::<PendingReply<M>>::open_with(store, log, Some(ack_sender), config.stepper.clone())?;
        let reader = log.reader();
        let machine = Arc::new(machine);
        let recovered = recovery::recover(&machine, &reader, &config.set_aside)?;
        let since_ms = config.clock.wall_ms();
        let halted: Vec<Halted> = config
            .set_aside
            .iter()
            .map(|(tenant, why)| Halted { tenant: *tenant, why: why.clone(), since_ms })
            .collect();
        (config.on_halt)(&halted);
        let (alarm, queue) = Alarm::new(config.clock.clone());
        let shared = Arc::new(Shared {
            machine,
            effects,
            reader,
            snapshot_seq: AtomicU64::new(log.reader().floor()),
            saved_seq: AtomicU64::new(log.reader().floor()),
            halts: Halts::new(halted.into_iter()),
            counters: Counters::new(),
            encoding: tokio::sync::Semaphore::new(1),
            log,
            alarm,
            books: DashMap::default(),
            entities: DashMap::default(),
            entity_cache: EntityCache::new(ENTITY_CACHE_MAX),
            advances: DashMap::new(),
            gate: Gate::new(config.permits_max, config.shares),
            stopping: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            failed: OnceLock::new(),
            runtime: tokio::runtime::Handle::current(),
            decoded: Mutex::new(VecDeque::with_capacity(DECODED_MAX)),
            coarse_seconds: AtomicI64::new(0),
            config,
        });
        let engine = Engine { shared: Arc::clone(&shared) };
        let fatal = Arc::downgrade(&shared);
        let on_panic = fatal.clone();
        shared.runtime.spawn(ack_task::run(ack_queue, move |why| {
            if let Some(shared) = on_panic.upgrade() {
                shared.fail(why);
            }
        }));
        shared.log.on_poison(Box::new(move |poisoned| {
            if let Some(shared) = fatal.upgrade() {
                shared.fail(&poisoned.to_string());
            }
        }));
        for (tenant, recovered) in recovered {
            let handle = shared.books.entry(tenant).insert(spawn_book(&engine, tenant, Some(recovered)));
            handle.send(BookMessage::Wake);
        }
        crate::alarm::run(queue, engine.clone());
        housekeeping::run(engine.clone());
        Ok(engine)
    }

    /// Takes part of the engine's capacity, or says that there is none.
    fn admit(
        &self,
        tenant: u64,
        take: impl FnOnce(&Gate, Standing) -> Result<Admission, Refused>,
    ) -> Result<Admission, Failure> {
        if self.shared.failed.get().is_some() {
            return Err(self.shared.failure());
        }
        let taken = take(&self.shared.gate, self.standing(tenant));
        // Looked at with the permit in hand: a request that passes is seen by `stop`, which waits
        // for all permits after it raised this.
        if self.shared.stopping.load(Ordering::SeqCst) {
            return Err(Failure::ShuttingDown);
        }
        taken.map_err(|refused| self.refused(refused))
    }

    /// The same for a request that asks for no record.
    fn permit(&self, tenant: u64) -> Result<Admission, Failure> {
        self.admit(tenant, |gate, standing| gate.admit_without_record(tenant, standing))
    }

    /// The same for a request that does.
    fn admission(&self, tenant: u64) -> Result<Admission, Failure> {
        self.admit(tenant, |gate, standing| gate.admit(tenant, standing))
    }

    fn standing(&self, tenant: u64) -> Standing {
        let machine = &self.shared.machine;
        match (machine.is_essential(tenant), machine.yields(tenant)) {
            (true, _) => Standing::Essential,
            (false, false) => Standing::First,
            (false, true) => Standing::Yields,
        }
    }

    /// The failure with which a tenant's request for a record would be refused now for want of
    /// capacity, if it would: to be asked before work is put into one. It counts as refused.
    pub fn refuses(&self, tenant: u64) -> Option<Failure> {
        let refused = self.shared.gate.refuses(tenant, self.standing(tenant))?;
        // While it stops all permits are taken too, which is no overload.
        (!self.shared.is_over()).then(|| self.refused(refused))
    }

    fn refused(&self, refused: Refused) -> Failure {
        match refused {
            Refused::Full => self.overloaded(),
            Refused::ShareFull => Failure::ShareFull,
        }
    }

    /// The failure of a request when too much is under way; it is counted.
    pub(crate) fn overloaded(&self) -> Failure {
        self.shared.counters.overloaded.fetch_add(1, Ordering::Relaxed);
        Failure::Overloaded
    }

    /// Asks a book itself, at once; the future waits for the reply. `until_reply` is kept until
    /// that is sent.
    pub fn ask_book(
        &self,
        tenant: u64,
        command: M::Command,
        until_reply: Option<Guard>,
    ) -> impl Future<Output = CommandReply<M>> + Send + use<M> {
        let asked = self.admission(tenant).map(|admission| {
            let (reply_to, from) = ReplyTo::new(None, until_reply);
            let reply_to = reply_to.admitted(admission);
            self.book(tenant, |handle| {
                handle.send(BookMessage::Ask(Box::new(Ask {
                    command,
                    entity: None,
                    id: None,
                    step: None,
                    fresh: true,
                    asked: Instant::now(),
                    reply_to,
                })));
            });
            from
        });
        async move { received(asked?.await) }
    }

    /// Asks an entity, at once; the future waits for the reply, and need not be awaited.
    /// `until_record` is kept until the first record is durable, `until_reply` until the reply is
    /// sent, also when no caller waits for it any more.
    pub fn ask_entity(
        &self,
        tenant: u64,
        id: M::EntityId,
        new: bool,
        command: M::Command,
        until_record: Option<Guard>,
        until_reply: Option<Guard>,
    ) -> impl Future<Output = CommandReply<M>> + Send + use<M> {
        let mut asked = self.admission(tenant).map(|admission| {
            let (reply_to, from) = ReplyTo::new(until_record, until_reply);
            let reply_to = reply_to.admitted(admission);
            let message =
                EntityMessage::Ask { command, fresh: true, step: None, asked: Instant::now(), reply_to };
            (
                deliver(self, tenant, id, new, message).map(|(turn, message)| Attended::new(turn, message)),
                from,
            )
        });
        // Nothing is moved out of what is captured: it would be kept twice.
        async move {
            let (attended, from) = match &mut asked {
                Ok(asked) => (&mut asked.0, &mut asked.1),
                Err(failure) => return Err(failure.clone()),
            };
            if let Some(attended) = attended {
                attended.await;
            }
            received(from.await)
        }
    }

    /// Asks a question of a book; everything that the view rests on is durable when it comes.
    pub async fn view(&self, tenant: u64, query: M::Query) -> Result<M::View, Failure> {
        // The permit goes with the question: a caller that goes away leaves that in the queue.
        let admission = self.permit(tenant)?;
        let (to, from) = oneshot::channel();
        self.book(tenant, |handle| handle.send(BookMessage::View { query, to, admission }));
        from.await.map_err(|_| outcome_unknown())?
    }

    /// The same of a book that is in memory, without keeping it there; `None` if it is not.
    pub async fn glance(&self, tenant: u64, query: M::Query) -> Result<Option<M::View>, Failure> {
        // The caller is not the tenant, whose share may be used up.
        let admission =
            self.admit(tenant, |gate, _| gate.admit_without_record(tenant, Standing::Essential))?;
        let (to, from) = oneshot::channel();
        {
            let Some(handle) = self.shared.books.get(&tenant) else { return Ok(None) };
            handle.send(BookMessage::View { query, to, admission });
        }
        from.await.map_err(|_| outcome_unknown())?.map(Some)
    }

    /// Moves a tenant's clock forward by `advance_ms`. What falls due on the way happens first,
    /// each at its own instant and in order; then the book is asked `command`, which must write
    /// that the clock moved, in a turn that bears the instant arrived at; it must write a record,
    /// because the book has settled at that instant, which a replay would not know.
    pub async fn advance(
        &self,
        tenant: u64,
        advance_ms: i64,
        command: M::Command,
        until_reply: Option<Guard>,
    ) -> CommandReply<M> {
        let admission = self.permit(tenant)?;
        let engine = self.clone();
        // A task of its own: a caller that goes away must not leave a clock between two instants.
        let advance = self.shared.runtime.spawn(async move {
            let _guards = (admission, until_reply);
            crate::clock_advance::advance(&engine, tenant, advance_ms, command).await
        });
        advance.await.map_err(|_| outcome_unknown())?
    }

    /// The log and its indexes, for reading.
    pub fn reader(&self) -> &Reader {
        &self.shared.reader
    }

    /// The machine that is hosted.
    pub fn machine(&self) -> &M {
        &self.shared.machine
    }

    /// Whether a write can be accepted; if not, why.
    pub fn ready(&self) -> Result<(), String> {
        match self.shared.failed.get() {
            Some(why) => Err(why.clone()),
            None if self.shared.stopping.load(Ordering::Acquire) => Err("shutting down".to_owned()),
            None => Ok(()),
        }
    }

    /// Counts for an operator.
    pub fn status(&self) -> Status {
        let counters = &self.shared.counters;
        let waiting = self
            .shared
            .books
            .iter()
            .map(|handle| handle.mailbox.len())
            .fold((0, 0), |(sum, most), len| (sum + len, most.max(len)));
        Status {
            durable_seq: self.shared.log.durable_seq(),
            snapshot_seq: self.shared.snapshot_seq.load(Ordering::Acquire),
            snapshot_age: counters.snapshot_age(),
            waiting: waiting.0,
            waiting_most: waiting.1,
            permits_max: self.shared.config.permits_max,
            overloaded: counters.overloaded.load(Ordering::Relaxed),
            share_full: self.shared.gate.share_full[0].load(Ordering::Relaxed),
            share_full_yielding: self.shared.gate.share_full[1].load(Ordering::Relaxed),
            checked: counters.checked.load(Ordering::Relaxed),
            breached: counters.breached.load(Ordering::Relaxed),
            halted: self.shared.halts.all().len(),
            books: self.shared.books.len(),
            entities: self.shared.entities.len(),
            under_way: self.under_way(),
            log: self.shared.log.stats(),
        }
    }

    /// Requests under way.
    pub fn under_way(&self) -> usize {
        self.shared.config.permits_max.saturating_sub(self.shared.gate.places.permits.available_permits())
    }

    /// Every record up to here is in snapshots.
    pub fn snapshot_seq(&self) -> Seq {
        self.shared.snapshot_seq.load(Ordering::Acquire)
    }

    /// Every record up to here is in snapshots, but for those of books that are halted.
    pub fn saved_seq(&self) -> Seq {
        self.shared.saved_seq.load(Ordering::Acquire)
    }

    /// The source of "now".
    pub fn clock(&self) -> &Clock {
        &self.shared.config.clock
    }

    /// The tenants whose books are in memory.
    pub fn books_in_memory(&self) -> Vec<u64> {
        self.shared.books.iter().map(|handle| *handle.key()).collect()
    }

    /// Ends the engine because the log was found not to be what it should be: nothing more is
    /// written.
    pub fn declare_broken(&self, why: &str) {
        self.shared.counters.breached.fetch_add(1, Ordering::Relaxed);
        self.shared.fail(why);
    }

    /// Writes a snapshot of every book that changed; returns the sequence up to which no replay is
    /// needed.
    pub async fn snapshot(&self) -> Result<Seq, Failure> {
        housekeeping::snapshot_round(self).await
    }

    /// Removes snapshots that are not needed; the reply comes when that is durable.
    pub fn remove_snapshots(&self, superfluous: Superfluous) -> oneshot::Receiver<Result<Seq, Failure>> {
        let (to, from) = oneshot::channel();
        self.shared.log.remove_snapshots(superfluous, PendingReply::Done(to));
        from
    }

    /// Removes index entries that are not needed, where they still have these values; the reply
    /// comes when that is durable.
    pub fn prune_index(&self, entries: Vec<(Vec<u8>, Vec<u8>)>) -> oneshot::Receiver<Result<Seq, Failure>> {
        let (to, from) = oneshot::channel();
        self.shared.log.prune_index(entries, PendingReply::Done(to));
        from
    }

    /// A consistent copy of the data directory at `path`, taken while the engine runs.
    pub fn checkpoint(&self, path: &std::path::Path) -> Result<(), String> {
        self.shared.log.checkpoint(path).map_err(|error| error.to_string())
    }

    /// Stops: no new requests, those under way are finished (for at most `patience`), snapshots are
    /// written, the log is closed, books and entities leave memory.
    ///
    /// The data directory is free when every handle is gone and every effect under way has ended. A
    /// handle that is dropped without this leaves the engine running.
    pub async fn stop(&self, patience: Duration) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        let all = u32::try_from(self.shared.config.permits_max).unwrap_or(u32::MAX);
        let _ = tokio::time::timeout(patience, self.shared.gate.places.permits.acquire_many(all)).await;
        if self.shared.failed.get().is_none()
            && let Err(failure) = housekeeping::snapshot_round(self).await
        {
            tracing::warn!(?failure, "no snapshot at the end; the next start replays the tail");
        }
        let log = self.shared.log.clone();
        let _ = tokio::task::spawn_blocking(move || log.close()).await;
        self.shared.closed.store(true, Ordering::Release);
        for handle in &self.shared.books {
            handle.wake();
        }
    }

    /// Runs `with` on the handle of a book, which is started when it is not there. Under the map's
    /// lock, so that a retiring book sees the message or a new one gets it.
    pub(crate) fn book<R>(&self, tenant: u64, with: impl FnOnce(&BookHandle<M>) -> R) -> R {
        let now = self.shared.coarse_seconds.load(Ordering::Relaxed);
        if let Some(handle) = self.shared.books.get(&tenant) {
            handle.touch(now);
            return with(&handle);
        }
        match self.shared.books.entry(tenant) {
            Entry::Occupied(handle) => with(handle.get()),
            Entry::Vacant(vacant) => {
                let handle = spawn_book(self, tenant, None);
                handle.touch(now);
                with(&vacant.insert(handle))
            }
        }
    }

    /// Gives a message to an entity's actor, which runs in a task of its own if it rests.
    pub(crate) fn tell_entity(&self, tenant: u64, id: M::EntityId, new: bool, message: EntityMessage<M>) {
        if let Some((turn, message)) = deliver(self, tenant, id, new, message) {
            self.shared.runtime.spawn(turn.run(message));
        }
    }
}

impl<M: Machine> Shared<M> {
    /// The engine cannot go on. Said once.
    pub(crate) fn fail(&self, why: &str) {
        if self.failed.set(why.to_owned()).is_ok() {
            tracing::error!(why, "the engine stops");
            (self.config.on_fatal)(why);
        }
    }

    /// The failure of requests once it cannot go on.
    pub(crate) fn failure(&self) -> Failure {
        Failure::Storage(self.failed.get().cloned().unwrap_or_default())
    }

    /// Whether nothing is begun any more.
    pub(crate) fn is_over(&self) -> bool {
        self.stopping.load(Ordering::Acquire) || self.failed.get().is_some()
    }

    /// Keeps a record for entities that are loaded from it next.
    pub(crate) fn remember(&self, seq: Seq, record: Option<&Arc<M::Record>>) {
        if let Some(record) = record {
            let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
            decoded.truncate(DECODED_MAX - 1);
            decoded.push_front((seq, Arc::clone(record)));
        }
    }

    /// A record, decoded.
    pub(crate) fn record(
        &self,
        seq: Seq,
    ) -> Result<Arc<M::Record>, Box<dyn std::error::Error + Send + Sync>> {
        let kept = self
            .decoded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .find(|(kept, _)| *kept == seq)
            .map(|(_, record)| Arc::clone(record));
        if let Some(record) = kept {
            return Ok(record);
        }
        let stored = self
            .reader
            .record(seq)?
            .ok_or_else(|| format!("the index names record {seq}, which is not there"))?;
        let record = Arc::new(self.machine.decode(&stored.payload)?);
        self.remember(seq, Some(&record));
        Ok(record)
    }

    /// Random bits for one turn.
    pub(crate) fn seed(&self) -> u64 {
        (self.config.seeds)()
    }
}

/// The failure when an actor is gone before it replied: the command may be durable all the same.
pub(crate) fn outcome_unknown() -> Failure {
    Failure::Storage("the actor is gone; outcome unknown".to_owned())
}

/// The reply that was received, if its sender was not lost.
pub(crate) fn received<M: Machine>(
    received: Result<CommandReply<M>, oneshot::error::RecvError>,
) -> CommandReply<M> {
    received.unwrap_or_else(|_| Err(outcome_unknown()))
}
