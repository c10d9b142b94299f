//! The delivery of a message to an entity, whose actor it begins if it is not in memory.

use super::EntityContext;
use super::handle::{EntityHandle, EntityState};
use super::run::EntityRun;
use crate::machine::Machine;
use crate::protocol::entity::EntityMessage;
use dashmap::mapref::entry::Entry;

/// Gives a message to an entity's actor. If it rests, or is not there yet, the caller gets it back
/// and has to run the actor.
pub(crate) fn deliver<M: Machine, C: EntityContext<M>>(
    context: &C,
    tenant: u64,
    id: M::EntityId,
    new: bool,
    message: EntityMessage<M>,
) -> Option<(EntityRun<M, C>, EntityMessage<M>)> {
    let (state, message) = match context.entities().handles.entry((tenant, id)) {
        Entry::Occupied(mut entry) => entry.get_mut().mailbox().deliver(message)?,
        Entry::Vacant(vacant) => {
            vacant.insert(EntityHandle::running());
            // The caller made the id of a new one a moment ago: there is nothing to load.
            let cached = || context.host().entity_cache.take(tenant, id).map(Some);
            (EntityState::new(if new { Some(None) } else { cached() }), message)
        }
    };
    Some((EntityRun::new(context.clone(), tenant, id, state), message))
}

/// Gives a message to an entity's actor, which runs in a task of its own if it rests.
pub(crate) fn send<M: Machine>(
    context: &impl EntityContext<M>,
    tenant: u64,
    id: M::EntityId,
    message: EntityMessage<M>,
) {
    if let Some((run, message)) = deliver(context, tenant, id, false, message) {
        context.host().runtime.spawn(run.whole(message));
    }
}
