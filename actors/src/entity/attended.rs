//! A run in the task of its caller.

use super::EntityContext;
use super::run::EntityRun;
use crate::machine::Machine;
use crate::protocol::entity::EntityMessage;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A run in the task of its caller. If the caller goes away, it goes on in a task of its own: what
/// has begun is brought to its end.
pub(crate) struct Attended<M: Machine, C: EntityContext<M>>(Option<EntityRun<M, C>>);

impl<M: Machine, C: EntityContext<M>> Attended<M, C> {
    /// Begins the run with a message.
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
