//! The delivery of a message to an entity, whose actor is begun if it is not in memory.

use super::EntityContext;
use super::handle::{EntityHandle, EntityState};
use super::run::EntityRun;
use crate::machine::Machine;
use crate::protocol::entity::EntityMessage;
use dashmap::mapref::entry::Entry;
use std::pin::Pin;
use std::task::{Context, Poll};

/// If the actor rests, or is not there yet, the caller gets the message back and has to run the actor.
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
            let cached = if new { None } else { context.host().entity_cache.take(tenant, id) };
            let state = match cached {
                Some((generation, entity)) => EntityState::new(Some(Some(entity)), Some(generation)),
                None => EntityState::new(new.then_some(None), None),
            };
            (state, message)
        }
    };
    Some((EntityRun::new(context.clone(), tenant, id, state), message))
}

/// The actor runs in a task of its own if it rests.
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

/// A run in the task of its caller. If the caller goes away, it goes on in a task of its own: what
/// has begun is brought to its end.
pub(crate) struct Attended<M: Machine, C: EntityContext<M>>(Option<EntityRun<M, C>>);

impl<M: Machine, C: EntityContext<M>> Attended<M, C> {
    pub fn new(mut run: EntityRun<M, C>, message: EntityMessage<M>) -> Attended<M, C> {
        run.begin(message);
        Attended(Some(run))
    }
}

impl<M: Machine, C: EntityContext<M>> Unpin for Attended<M, C> {}

impl<M: Machine, C: EntityContext<M>> Future for Attended<M, C> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Taken out, so that one that panics is not there to be spawned.
        let Some(mut run) = self.0.take() else { return Poll::Ready(()) };
        if run.poll_end(context).is_pending() {
            self.0 = Some(run);
            return Poll::Pending;
        }
        // The caller does not wait for messages of others.
        run.leave();
        Poll::Ready(())
    }
}

impl<M: Machine, C: EntityContext<M>> Drop for Attended<M, C> {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run.context.host().runtime.clone().spawn(run.finish());
        }
    }
}
