//! What all actors of an engine share: the machine, the log, the maps of books and entities, the
//! engine's end. How a book, an entity or a clock advance works does not belong here.

use crate::admission::{Gate, Shares};
use crate::clock::Clock;
use crate::machine::{Effects, Machine};
use crate::protocol::{
    BookHandle, BookMessage, EntityHandle, Failure, FollowUpMessage, PendingReply, Recovered, reply_to,
};
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use foldhash::fast::RandomState;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, UnitWeighter};
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc};
use wal::{Log, ReadError, Reader, Seq, Stepper};

pub type Seeds = Arc<dyn Fn() -> u64 + Send + Sync>;

pub type HasRoomForDue = Arc<dyn Fn(u64) -> bool + Send + Sync>;

pub type IsElsewhere = Arc<dyn Fn(u64) -> bool + Send + Sync>;

pub type OnHalt = Arc<dyn Fn(&[Halted]) + Send + Sync>;

#[derive(Clone)]
pub struct Config {
    /// Requests that may be under way; one more is `Overloaded`.
    pub permits_max: usize,
    pub shares: Shares,
    /// A round of snapshots is written after so many records.
    pub snapshot_records: u64,
    /// A round of snapshots is written after so many seconds, if there were records.
    pub snapshot_seconds: u64,
    /// A book without a deadline leaves memory after so many seconds without a request.
    pub idle_seconds: u64,
    /// Books that a start may leave in memory. Where there are more, those without a deadline are
    /// saved before it is ready, and leave.
    pub awake_max: usize,
    /// Whether there is room for what only saves work later: rounds of snapshots, and books that
    /// leave memory.
    pub has_room: Arc<dyn Fn() -> bool + Send + Sync>,
    /// While there is no room for what falls due in a tenant's book, it waits; nor is there ever for one that is
    /// elsewhere.
    pub has_room_for_due: HasRoomForDue,
    /// Whether a tenant's books are decided by another engine, of whose records this one may have a beginning. Nothing
    /// is decided on them here and nobody sees them, as they are settled at their own records alone.
    pub is_elsewhere: Option<IsElsewhere>,
    /// A caller waits so long for an effect, then gets a reply with what is durable. The effect
    /// goes on, and its result is taken when it comes.
    pub patience: Duration,
    /// Called for a failed log, or a doubt about an essential book. It must end the process; a test
    /// may only note it.
    pub on_fatal: Arc<dyn Fn(&str) + Send + Sync>,
    /// These tenants' books are not recovered and stay halted until they are resumed; with the reason.
    pub set_aside: BTreeMap<u64, String>,
    pub on_halt: OnHalt,
    pub clock: Clock,
    /// New for each turn. Ids are made of these bits, so they must not reveal the number of turns.
    pub seeds: Seeds,
    pub stepper: Option<Stepper>,
}

/// A keyed hash of a counter.
pub fn unforeseeable() -> Seeds {
    let (key, count) = (std::hash::RandomState::new(), AtomicU64::new(0));
    Arc::new(move || key.hash_one(count.fetch_add(1, Ordering::Relaxed)))
}

/// Some hundreds of megabytes if there are ever so many.
const ENTITY_CACHE_MAX: usize = 1 << 19;

/// A rehearsal is of one call, and over soon.
const REHEARSED_MAX: usize = 1 << 10;

/// More than one record: batches that come at once have many entities each, and a single one would
/// be decoded anew for nearly every one of them.
const DECODED_MAX: usize = 16;

pub(crate) type StartBook<M> = fn(&Arc<Host<M>>, u64, Option<Recovered<M>>) -> Arc<BookHandle<M>>;

pub(crate) struct Host<M: Machine> {
    pub machine: Arc<M>,
    pub effects: Arc<dyn Effects<M>>,
    pub log: Log<PendingReply<M>>,
    pub reader: Reader,
    pub config: Config,
    pub runtime: tokio::runtime::Handle,
    pub gate: Gate,

    pub books: DashMap<u64, Arc<BookHandle<M>>, RandomState>,
    /// Called under the lock of the map that the handle goes into. A pointer, as books send to
    /// entities, and entities to books.
    pub start_book: StartBook<M>,
    /// Bounded by use: a book sets an alarm only when it is earlier than the one it has.
    pub alarm: mpsc::UnboundedSender<(i64, u64)>,
    /// Bounded by use: by the records that are under way.
    pub follow_ups: mpsc::UnboundedSender<FollowUpMessage<M>>,
    /// One book at a time, so that one encoded state is in memory next to the books.
    pub encoding: Semaphore,
    /// Seconds of the engine's life, for idleness.
    pub coarse_seconds: AtomicI64,
    /// The durable generations of books, as far as they were asked for.
    pub generations: DashMap<u64, u64, RandomState>,
    pub advances: DashMap<u64, Arc<tokio::sync::Mutex<()>>>,

    pub entities: DashMap<(u64, M::EntityId), EntityHandle<M>, RandomState>,
    /// States of open entities that are not active, as many as there is room for. Changed under the
    /// lock of the map of entities alone, but for new entities that no caller knows yet.
    pub entity_cache: EntityCache<M::EntityId, M::Entity>,
    /// The records that entities were loaded from last: those of a batch are all in one.
    decoded: Mutex<VecDeque<(Seq, Arc<M::Record>)>>,

    /// The engine whose books these are clones of, where nothing is written.
    pub rehearses: Option<Arc<Host<M>>>,

    pub halts: Halts,
    pub stopping: AtomicBool,
    /// Books leave memory as soon as no message waits for them.
    pub closed: AtomicBool,
    pub failed: OnceLock<String>,

    pub snapshot_seq: AtomicU64,
    /// Up to here all records of books that are not halted are in snapshots.
    pub saved_seq: AtomicU64,
    pub saved_at: Mutex<Instant>,
    pub overloaded: AtomicU64,
    pub checked: AtomicU64,
    pub breached: AtomicU64,
}

impl<M: Machine> Host<M> {
    pub fn new(
        machine: Arc<M>,
        effects: Arc<dyn Effects<M>>,
        log: Log<PendingReply<M>>,
        config: Config,
        (alarm, follow_ups): (mpsc::UnboundedSender<(i64, u64)>, mpsc::UnboundedSender<FollowUpMessage<M>>),
        start_book: StartBook<M>,
        rehearses: Option<Arc<Host<M>>>,
    ) -> Arc<Host<M>> {
        let reader = log.reader();
        let floor = reader.floor();
        Arc::new(Host {
            machine,
            effects,
            log,
            reader,
            runtime: tokio::runtime::Handle::current(),
            gate: Gate::new(config.permits_max, config.shares),
            books: DashMap::default(),
            start_book,
            alarm,
            follow_ups,
            encoding: Semaphore::new(1),
            coarse_seconds: AtomicI64::new(0),
            generations: DashMap::default(),
            advances: DashMap::default(),
            entities: DashMap::default(),
            entity_cache: entity_cache(if rehearses.is_some() { REHEARSED_MAX } else { ENTITY_CACHE_MAX }),
            decoded: Mutex::default(),
            rehearses,
            halts: Halts::new(&config),
            stopping: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            failed: OnceLock::new(),
            snapshot_seq: AtomicU64::new(floor),
            saved_seq: AtomicU64::new(floor),
            saved_at: Mutex::new(Instant::now()),
            overloaded: AtomicU64::new(0),
            checked: AtomicU64::new(0),
            breached: AtomicU64::new(0),
            config,
        })
    }

    pub fn send_to_book(self: &Arc<Self>, tenant: u64, message: BookMessage<M>) {
        let now = self.coarse_seconds.load(Ordering::Relaxed);
        // Under the map's lock, so that a retiring book sees the message or a new one gets it.
        let handle = match self.books.get(&tenant) {
            Some(handle) => handle,
            None => {
                self.books.entry(tenant).or_insert_with(|| (self.start_book)(self, tenant, None)).downgrade()
            }
        };
        // Read first: writing the value it has would take it from other processors' caches.
        if handle.last_used.load(Ordering::Relaxed) != now {
            handle.last_used.store(now, Ordering::Relaxed);
        }
        handle.send(message);
    }

    /// The book as it is now, cloned in its turn. Everything that it rests on is durable when it comes.
    pub async fn clone_book(self: &Arc<Self>, tenant: u64) -> Result<Recovered<M>, Failure> {
        let view = |to| self.send_to_book(tenant, BookMessage::View { to, admission: None });
        let (book, settled_ms) = reply_to(view).await?;
        Ok(Recovered { book, ahead: false, settled_ms })
    }

    pub fn generation(&self, tenant: u64) -> Result<u64, ReadError> {
        if let Some(known) = self.generations.get(&tenant) {
            return Ok(*known);
        }
        match self.generations.entry(tenant) {
            Entry::Occupied(known) => Ok(*known.get()),
            // Read under the map's lock: what is forgotten is never put there again.
            Entry::Vacant(vacant) => {
                let key = self.machine.generation_key(tenant);
                let stored = key.map(|key| self.reader.index_get(&key)).transpose()?.flatten();
                let generation = stored.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
                Ok(*vacant.insert(generation))
            }
        }
    }

    pub fn load(
        &self,
        tenant: u64,
        id: M::EntityId,
    ) -> Result<Option<Arc<M::Entity>>, Box<dyn Error + Send + Sync>> {
        let key = self.machine.entity_key(tenant, id);
        let Some(seq) = self.reader.index_get(&key)? else { return Ok(None) };
        let seq = u64::from_be_bytes(seq.as_slice().try_into()?);
        let decoded = || self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = decoded().iter().find(|(kept, _)| *kept == seq).map(|(_, record)| Arc::clone(record));
        if let Some(record) = kept {
            return Ok(self.machine.entity_in(&record, id));
        }
        let Some(stored) = self.reader.record(seq)? else {
            return Err(format!("the index names record {seq}, which is not there").into());
        };
        let record = Arc::new(self.machine.decode(&stored.payload)?);
        let mut decoded = decoded();
        decoded.truncate(DECODED_MAX - 1);
        decoded.push_front((seq, Arc::clone(&record)));
        drop(decoded);
        Ok(self.machine.entity_in(&record, id))
    }

    pub fn is_elsewhere(&self, tenant: u64) -> bool {
        self.config.is_elsewhere.as_ref().is_some_and(|is_elsewhere| is_elsewhere(tenant))
    }

    pub fn overloaded(&self) -> Failure {
        self.overloaded.fetch_add(1, Ordering::Relaxed);
        Failure::Overloaded
    }

    /// False if the engine can't go on without the book: then the engine ends.
    pub fn halt(&self, tenant: u64, why: &str) -> bool {
        if self.machine.is_essential(tenant) {
            self.fail(&format!("book {tenant}: {why}"));
            return false;
        }
        self.halts.halt(Halted { tenant, why: why.to_owned(), since_ms: self.config.clock.wall_ms() });
        true
    }

    pub fn fail(&self, why: &str) {
        if self.failed.set(why.to_owned()).is_ok() {
            // Whoever is told knows whether that is an error.
            tracing::warn!(why, "the engine stops");
            (self.config.on_fatal)(why);
        }
    }

    pub fn failure(&self) -> Option<Failure> {
        Some(Failure::Storage(self.failed.get()?.clone()))
    }

    pub fn is_over(&self) -> bool {
        self.stopping.load(Ordering::Acquire) || self.failed.get().is_some()
    }
}

/// The newest states of open entities that are not active, each with the generation of its tenant's book, so
/// that the next request for one does not read the log. First in, first out is the order of use, as a
/// lookup takes a state out and it comes back after the entity's turn. A cache by frequency would keep
/// an entity for ever that stays open and is never asked for again.
pub(crate) type EntityCache<I, E> = Cache<(u64, I), (u64, Arc<E>), UnitWeighter, RandomState>;

fn entity_cache<I: Hash + Eq, E>(room: usize) -> EntityCache<I, E> {
    let options = OptionsBuilder::new()
        .estimated_items_capacity(room)
        .weight_capacity(room as u64)
        // Without these allocations the cache is first in, first out.
        .hot_allocation(0.0)
        .ghost_allocation(0.0)
        .build()
        .expect("both capacities are set");
    Cache::with_options(options, UnitWeighter, RandomState::default(), DefaultLifecycle::default())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halted {
    pub tenant: u64,
    pub why: String,
    pub since_ms: i64,
}

/// The books that are halted: those whose state is in doubt, and those that an operator set aside
/// at the start. A halted book decides nothing, is asked nothing and saves nothing, while all
/// others go on. A breach of the log itself ends the engine ([`Host::fail`]).
pub(crate) struct Halts {
    books: Mutex<BTreeMap<u64, Halted>>,
    /// Every request asks for it, and there are nearly always none.
    pub count: AtomicUsize,
    /// How often each book was resumed.
    resumptions: DashMap<u64, u64>,
    on_halt: OnHalt,
}

impl Halts {
    fn new(config: &Config) -> Halts {
        let since_ms = config.clock.wall_ms();
        let set_aside = config.set_aside.iter();
        let books: BTreeMap<u64, Halted> = set_aside
            .map(|(tenant, why)| (*tenant, Halted { tenant: *tenant, why: why.clone(), since_ms }))
            .collect();
        let halts = Halts {
            count: AtomicUsize::new(books.len()),
            books: Mutex::new(books),
            resumptions: DashMap::default(),
            on_halt: Arc::clone(&config.on_halt),
        };
        (halts.on_halt)(&halts.all());
        halts
    }

    fn halt(&self, halted: Halted) {
        let (tenant, why) = (halted.tenant, halted.why.clone());
        if self.change(|books| books.contains_key(&tenant) || books.insert(tenant, halted).is_some()) {
            return;
        }
        tracing::error!(tenant, why, "a book is halted; the others go on");
        (self.on_halt)(&self.all());
    }

    pub fn resume(&self, tenant: u64) {
        *self.resumptions.entry(tenant).or_default() += 1;
        if self.change(|books| books.remove(&tenant)).is_some() {
            tracing::info!(tenant, "a halted book was resumed and decides again");
            (self.on_halt)(&self.all());
        }
    }

    pub fn resumptions(&self, tenant: u64) -> u64 {
        self.resumptions.get(&tenant).map_or(0, |resumptions| *resumptions)
    }

    pub fn is_halted(&self, tenant: u64) -> bool {
        self.change(|books| books.contains_key(&tenant))
    }

    pub fn all(&self) -> Vec<Halted> {
        self.change(|books| books.values().cloned().collect())
    }

    fn change<R>(&self, change: impl FnOnce(&mut BTreeMap<u64, Halted>) -> R) -> R {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut books);
        self.count.store(books.len(), Ordering::SeqCst);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 1 << 14;

    #[test]
    fn what_is_never_asked_for_again_makes_room() {
        let cache = entity_cache(ROOM);
        for id in 0..ROOM {
            cache.insert((1, id), (0, Arc::new(id)));
            // The entity is asked for a second time, and then no more.
            let (_, again) = cache.remove(&(1, id)).expect("it was put there just now");
            cache.insert((1, id), again);
        }
        // Half as many come after them: the places are shared out by hash, so that one that is full
        // may have others beside it with room.
        for id in 0..ROOM / 2 {
            cache.insert((2, id), (0, Arc::new(id)));
        }
        for id in 0..ROOM / 2 {
            assert_eq!(cache.remove(&(2, id)), Some(((2, id), (0, Arc::new(id)))));
        }
        let old = (0..ROOM).filter(|id| cache.remove(&(1, *id)).is_some()).count();
        // How evenly the hash shares them out is another thing in each run.
        assert!((ROOM / 3..=ROOM * 5 / 9).contains(&old), "{old} of the old ones are left");
        assert!(cache.remove(&(2, 0)).is_none(), "it was taken out");
    }
}
