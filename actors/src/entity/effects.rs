//! Effects are performed at once where the outside world answers at once, else in a task of their
//! own, whose result comes back as a message.

use super::reply::EntityReply;
use super::run::EntityRun;
use super::{EntityContext, delivery};
use crate::machine::Machine;
use crate::protocol::entity::EntityMessage;
use crate::protocol::step::Step;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

type Performing<M> = Pin<Box<dyn Future<Output = M> + Send>>;

impl<M: Machine, C: EntityContext<M>> EntityRun<M, C> {
    /// Returns the result if there is one at once; else that comes back as a message.
    pub(super) fn perform(
        &mut self,
        effect: M::Effect,
        reply: Option<EntityReply<M>>,
    ) -> Option<(M::Command, Option<EntityReply<M>>)> {
        let host = self.context.host();
        // Polled here once without a waker; a future that is not ready is polled again by the task
        // that gets it.
        let begun = catch_unwind(AssertUnwindSafe(|| {
            let mut performing = host.effects.perform(self.tenant, effect);
            let polled = performing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (performing, polled)
        }));
        let performing = match begun {
            Ok((_, Poll::Ready(command))) => return Some((command, reply)),
            Ok((performing, Poll::Pending)) => performing,
            Err(_) => {
                self.lost(reply);
                return None;
            }
        };
        // The number of an effect is not a count from zero: a result must not be taken for that of
        // another actor of the same entity.
        let effect = host.seed();
        let going_on =
            go_on(self.context.clone(), self.tenant, self.id, self.step.clone(), effect, performing);
        host.runtime.spawn(going_on);
        self.state.waiting.push((effect, reply));
        None
    }

    pub(super) fn lost(&self, reply: Option<EntityReply<M>>) {
        tracing::error!(tenant = self.tenant, id = ?self.id, "an effect broke off");
        if let Some(reply) = reply {
            reply.send();
        }
    }
}

/// Tells the entity of the result, of an end without one, and before that when the effect takes
/// longer than a caller is kept waiting.
async fn go_on<M: Machine, C: EntityContext<M>>(
    context: C,
    tenant: u64,
    id: M::EntityId,
    step: Option<Step>,
    effect: u64,
    mut performing: Performing<M::Command>,
) {
    let mut performed = pin!(poll_fn(|task| {
        match catch_unwind(AssertUnwindSafe(|| performing.as_mut().poll(task))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    }));
    let performed = match tokio::time::timeout(context.entities().patience, &mut performed).await {
        Ok(performed) => performed,
        Err(_) => {
            delivery::send(&context, tenant, id, EntityMessage::Late { effect });
            performed.await
        }
    };
    let message = match performed {
        Some(command) => EntityMessage::Result { command, step, effect },
        None => EntityMessage::Lost { effect },
    };
    delivery::send(&context, tenant, id, message);
}
