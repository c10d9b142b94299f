//! The host: the parts of the engine that every actor needs.
//!
//! [`Host`] has the machine, the log, the clock and the engine's end; [`Context`] adds the ways
//! from one actor to another. Neither knows how books, entities or clock advances work, so that
//! these need not know each other.
//!
//! Needs of only one kind of actor do not belong here.

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

/// The source of the random bits of turns.
pub type Seeds = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A callback for a failure after which the engine cannot go on, with the reason.
pub(crate) type OnFatal = Arc<dyn Fn(&str) + Send + Sync>;

/// The state that all actors share.
pub(crate) struct Host<M: Machine> {
    pub machine: Arc<M>,
    pub effects: Arc<dyn Effects<M>>,
    pub log: Log<PendingReply<M>>,
    pub reader: Reader,
    pub clock: Clock,
    pub seeds: Seeds,
    pub runtime: tokio::runtime::Handle,
    /// The newest states of open entities that are not active, as many as there is room for; the
    /// others are read from the log. Changed under the lock of the map of entities alone, but for
    /// entities that are new and not known to any caller yet.
    pub entity_cache: EntityCache<M::EntityId, M::Entity>,
    /// The durable generations of books, as far as they were asked for.
    pub generations: DashMap<u64, u64, RandomState>,
    pub halts: Halts,
    pub counters: Counters,
    pub end: End,
}

/// The end of an engine: whether it is stopping, closed or failed.
pub(crate) struct End {
    pub stopping: AtomicBool,
    /// Whether the log is closed: books leave memory as soon as no message waits for them.
    pub closed: AtomicBool,
    /// The reason why the engine cannot go on.
    pub failed: OnceLock<String>,
    pub on_fatal: OnFatal,
}

/// The context of an actor: its host, and the ways to other actors, which are started when they are
/// not in memory.
pub(crate) trait Context<M: Machine>: Clone + Send + Sync + 'static {
    /// The host of all actors.
    fn host(&self) -> &Host<M>;

    /// Sends a message to a book.
    fn send_to_book(&self, tenant: u64, message: BookMessage<M>);

    /// Sends a message to an entity, whose actor runs in a task of its own if it rests.
    fn send_to_entity(&self, tenant: u64, id: M::EntityId, message: EntityMessage<M>);
}

impl<M: Machine> Host<M> {
    /// Random bits for one turn.
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

    /// The failure of a request when too much is under way; it is counted.
    pub fn overloaded(&self) -> Failure {
        self.counters.overloaded.fetch_add(1, Ordering::Relaxed);
        Failure::Overloaded
    }

    /// Halts a book that is in doubt. False if the engine can't go on without the book: then the
    /// engine ends.
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

    /// Ends the engine, which cannot go on. Only the first reason counts.
    pub fn fail(&self, why: &str) {
        if self.failed.set(why.to_owned()).is_ok() {
            // Whoever is told knows whether that is an error.
            tracing::warn!(why, "the engine stops");
            (self.on_fatal)(why);
        }
    }

    /// Whether the engine has failed and cannot go on.
    pub fn is_failed(&self) -> bool {
        self.failed.get().is_some()
    }

    /// The failure of requests once the engine has failed.
    pub fn failure(&self) -> Failure {
        Failure::Storage(self.failed.get().cloned().unwrap_or_default())
    }

    /// Whether the engine is stopping or has failed, so that nothing more is begun.
    pub fn is_over(&self) -> bool {
        self.stopping.load(Ordering::Acquire) || self.is_failed()
    }
}
