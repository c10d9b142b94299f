//! The handle of a running engine: what callers may ask of it, its start and its stop. The engine
//! puts the layers together: it implements the contexts of books, entities and clock advances,
//! which know none of it. What a single actor does with a message does not belong here.

mod ack_task;
mod asking;
mod config;
mod follower;
mod halting;
mod housekeeping;
mod recovery;
mod resting;
mod start;
mod status;
mod stop;

pub use config::{Config, NotReady, StartError, unforeseeable};
pub use follower::{FollowError, Followed, Follower};
pub use status::Status;

use crate::admission::Gate;
use crate::book::{self, BookContext, Books};
use crate::clock::Clock;
use crate::clock_advance::Advances;
use crate::entity::{self, Entities, EntityContext};
use crate::host::{Context, Host};
use crate::machine::Machine;
use crate::protocol::book::BookMessage;
use crate::protocol::entity::EntityMessage;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use wal::Reader;

pub struct Engine<M: Machine> {
    shared: Arc<Shared<M>>,
}

impl<M: Machine> Clone for Engine<M> {
    fn clone(&self) -> Self {
        Engine { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<M: Machine> {
    host: Host<M>,
    books: Books<M>,
    entities: Entities<M>,
    advances: Advances,
    gate: Gate,
    config: Config,
    snapshot_seq: AtomicU64,
    /// Up to here all records of books that are not halted are in snapshots.
    saved_seq: AtomicU64,
}

impl<M: Machine> Context<M> for Engine<M> {
    fn host(&self) -> &Host<M> {
        &self.shared.host
    }

    fn send_to_book(&self, tenant: u64, message: BookMessage<M>) {
        book::send(self, tenant, message);
    }

    fn send_to_entity(&self, tenant: u64, id: M::EntityId, message: EntityMessage<M>) {
        entity::send(self, tenant, id, message);
    }
}

impl<M: Machine> BookContext<M> for Engine<M> {
    fn books(&self) -> &Books<M> {
        &self.shared.books
    }
}

impl<M: Machine> EntityContext<M> for Engine<M> {
    fn entities(&self) -> &Entities<M> {
        &self.shared.entities
    }
}

impl<M: Machine> Engine<M> {
    pub fn reader(&self) -> &Reader {
        &self.shared.host.reader
    }

    pub fn machine(&self) -> &M {
        &self.shared.host.machine
    }

    pub fn clock(&self) -> &Clock {
        &self.shared.host.clock
    }
}
