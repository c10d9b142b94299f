//! The handle of a running engine, with everything that the rest of the program may ask of it.
//!
//! The engine puts the layers together: it implements the contexts of books, entities and clock
//! advances, which know none of it.
//!
//! The questions that callers may ask of a running engine belong here, and so do its start and its
//! stop. What a single actor does with a message does not.
//!
//! Layout: `config` settings · `start` and `stop` · `asking` commands and questions · `status`
//! figures · `halting` books in doubt · `housekeeping` snapshots and idle books · `recovery` books
//! at the start, `resting` those that leave again · `follower` books of a machine that stands by ·
//! `ack_task` acknowledgements of the log.

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

/// The engine. Clone it freely.
pub struct Engine<M: Machine> {
    shared: Arc<Shared<M>>,
}

impl<M: Machine> Clone for Engine<M> {
    fn clone(&self) -> Self {
        Engine { shared: Arc::clone(&self.shared) }
    }
}

/// The state of an engine, which its handles and its actors share.
struct Shared<M: Machine> {
    host: Host<M>,
    books: Books<M>,
    entities: Entities<M>,
    advances: Advances,
    gate: Gate,
    config: Config,
    snapshot_seq: AtomicU64,
    /// The sequence up to which all records of books that are not halted are in snapshots.
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
    /// The log and its indexes, for reading.
    pub fn reader(&self) -> &Reader {
        &self.shared.host.reader
    }

    /// The machine that is hosted.
    pub fn machine(&self) -> &M {
        &self.shared.host.machine
    }

    /// The source of "now".
    pub fn clock(&self) -> &Clock {
        &self.shared.host.clock
    }
}
