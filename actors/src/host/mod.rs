//! What every actor needs of its engine: [`Host`] has the machine, the log, the clock and the
//! engine's end; [`Context`] adds the ways from one actor to another. Neither knows how books,
//! entities or clock advances work, so that these need not know each other.

mod counters;
mod halts;

pub(crate) use counters::Counters;
pub(crate) use halts::Halts;
pub use halts::{Halted, OnHalt};

use crate::clock::Clock;
use crate::entity_cache::EntityCache;
use crate::machine::{Effects, Machine};
use crate::protocol::book::BookMessage;
use crate::protocol::entity::EntityMessage;
use crate::protocol::pending_reply::PendingReply;
use crate::protocol::reply::Failure;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use foldhash::fast::RandomState;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use wal::{Log, ReadError, Reader};

pub type Seeds = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Whether there is room for what falls due in a tenant's book.
pub type HasRoomForDue = Arc<dyn Fn(u64) -> bool + Send + Sync>;

pub(crate) type OnFatal = Arc<dyn Fn(&str) + Send + Sync>;

pub(crate) struct Host<M: Machine> {
    pub machine: Arc<M>,
    pub effects: Arc<dyn Effects<M>>,
    pub log: Log<PendingReply<M>>,
    pub reader: Reader,
    pub clock: Clock,
    pub seeds: Seeds,
    pub has_room_for_due: HasRoomForDue,
    pub runtime: tokio::runtime::Handle,
    /// States of open entities that are not active, as many as there is room for. Changed under the
    /// lock of the map of entities alone, but for new entities that no caller knows yet.
    pub entity_cache: EntityCache<M::EntityId, M::Entity>,
    /// The durable generations of books, as far as they were asked for.
    pub generations: DashMap<u64, u64, RandomState>,
    pub halts: Halts,
    pub counters: Counters,
    pub end: End,
}

pub(crate) struct End {
    pub stopping: AtomicBool,
    /// Books leave memory as soon as no message waits for them.
    pub closed: AtomicBool,
    pub failed: OnceLock<String>,
    pub on_fatal: OnFatal,
}

/// Actors that are not in memory are started.
pub(crate) trait Context<M: Machine>: Clone + Send + Sync + 'static {
    fn host(&self) -> &Host<M>;

    fn send_to_book(&self, tenant: u64, message: BookMessage<M>);

    /// Its actor runs in a task of its own if it rests.
    fn send_to_entity(&self, tenant: u64, id: M::EntityId, message: EntityMessage<M>);
}

impl<M: Machine> Host<M> {
    pub fn seed(&self) -> u64 {
        (self.seeds)()
    }

    /// The durable generation of a tenant's book.
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

    /// Forgets the generation of a book, which is read anew when it is asked for.
    pub fn forget_generation(&self, tenant: u64) {
        self.generations.remove(&tenant);
    }

    /// Counts the refusal.
    pub fn overloaded(&self) -> Failure {
        self.counters.overloaded.fetch_add(1, Ordering::Relaxed);
        Failure::Overloaded
    }

    /// False if the engine can't go on without the book: then the engine ends.
    pub fn halt(&self, tenant: u64, why: &str) -> bool {
        if self.machine.is_essential(tenant) {
            self.end.fail(&format!("book {tenant}: {why}"));
            return false;
        }
        self.halts.halt(Halted { tenant, why: why.to_owned(), since_ms: self.clock.wall_ms() });
        true
    }
}

impl End {
    pub fn new(on_fatal: OnFatal) -> End {
        End {
            stopping: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            failed: OnceLock::new(),
            on_fatal,
        }
    }

    /// Only the first reason counts.
    pub fn fail(&self, why: &str) {
        if self.failed.set(why.to_owned()).is_ok() {
            // Whoever is told knows whether that is an error.
            tracing::warn!(why, "the engine stops");
            (self.on_fatal)(why);
        }
    }

    pub fn is_failed(&self) -> bool {
        self.failed.get().is_some()
    }

    pub fn failure(&self) -> Failure {
        Failure::Storage(self.failed.get().cloned().unwrap_or_default())
    }

    pub fn is_over(&self) -> bool {
        self.stopping.load(Ordering::Acquire) || self.is_failed()
    }
}
