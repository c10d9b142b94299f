//! The handle of an entity: its mailbox, and its state while it rests.

use super::reply::EntityReply;
use crate::machine::Machine;
use crate::protocol::entity::EntityMessage;
use handoff::TasklessMailbox;
use std::sync::{Arc, Mutex, PoisonError};

/// The mutex is never locked, as its users have the map's own lock; it makes contents that may only
/// be sent fit to be shared.
pub(crate) struct EntityHandle<M: Machine>(Mutex<TasklessMailbox<EntityMessage<M>, EntityState<M>>>);

impl<M: Machine> EntityHandle<M> {
    pub(super) fn running() -> Self {
        EntityHandle(Mutex::new(TasklessMailbox::running()))
    }

    pub(super) fn mailbox(&mut self) -> &mut TasklessMailbox<EntityMessage<M>, EntityState<M>> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves memory when no message is left and no effect is under way.
pub(super) struct EntityState<M: Machine> {
    /// The newest durable state, which may be that there is none; not known before it is asked for,
    /// and after a record that does not say.
    pub known: Option<Option<Arc<M::Entity>>>,
    /// The generation of the book that the state is of; not known before it is asked for, as for one that is
    /// new. Asked for before the state is loaded, so that it is never newer than that.
    pub generation: Option<u64>,
    pub waiting: Vec<(u64, Option<EntityReply<M>>)>,
}

impl<M: Machine> EntityState<M> {
    pub fn new(known: Option<Option<Arc<M::Entity>>>, generation: Option<u64>) -> Self {
        EntityState { known, generation, waiting: Vec::new() }
    }

    pub fn waited_for(&mut self, effect: u64) -> Option<EntityReply<M>> {
        let place = self.waiting.iter().position(|(waiting, _)| *waiting == effect)?;
        self.waiting.swap_remove(place).1
    }

    /// Takes the reply that waits for an effect, which goes on without it. That of a deadline
    /// stays: it is due until the effect has ended, and would be asked about again.
    pub fn waited_too_long(&mut self, effect: u64) -> Option<EntityReply<M>> {
        let waiting = self.waiting.iter_mut().find(|(waiting, _)| *waiting == effect);
        waiting.and_then(|(_, reply)| reply.take_if(|reply| !reply.lasts()))
    }
}
