//! Has the follow-up effects of durable records performed, some dozens in one task: a task for each
//! of a batch's thousand payouts would cost more than all that they do.

use super::run::EntityRun;
use super::{EntityContext, delivery};
use crate::machine::Machine;
use crate::protocol::book::BookMessage;
use crate::protocol::entity::EntityMessage;
use crate::protocol::follow_ups::{FollowUpMessage, FollowUpWork, UntilDone};
use crate::protocol::step::Step;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;

const GROUP_MAX: usize = 64;

/// `context` returns the engine while it is there: between two messages the task does not keep it.
pub(crate) async fn run<M: Machine, C: EntityContext<M>>(
    mut queue: UnboundedReceiver<FollowUpMessage<M>>,
    context: impl Fn() -> Option<C>,
) {
    while let Some(message) = queue.recv().await {
        match message {
            FollowUpMessage::Perform(work) => {
                let Some(context) = context() else { return };
                begin(&context, work);
            }
            // The caller may have gone; then nothing waits for it.
            FollowUpMessage::Flush(to) => drop(to.send(())),
        }
    }
}

fn begin<M: Machine, C: EntityContext<M>>(context: &C, work: FollowUpWork<M>) {
    let FollowUpWork { tenant, step, effects, until_done } = work;
    let mut effects = effects.into_iter();
    while effects.len() > 0 {
        let group = effects.by_ref().take(GROUP_MAX).collect();
        let performing = perform(context.clone(), tenant, step.clone(), group, Arc::clone(&until_done));
        context.host().runtime.spawn(performing);
    }
}

/// The book is asked about all effects that were done at once together; its replies come in this order.
async fn perform<M: Machine, C: EntityContext<M>>(
    context: C,
    tenant: u64,
    step: Option<Step>,
    effects: Vec<(M::EntityId, M::Effect)>,
    until_done: Arc<UntilDone<M>>,
) {
    let mut under_way: Vec<EntityRun<M, C>> = Vec::with_capacity(effects.len());
    let mut asks = Vec::new();
    for (target, effect) in effects {
        let message = EntityMessage::Perform {
            effect,
            step: step.clone(),
            until_done: Box::new(Arc::clone(&until_done)),
        };
        if let Some((mut run, message)) = delivery::deliver(&context, tenant, target, false, message) {
            asks.extend(run.begin_keeping(message));
            if run.is_under_way() {
                under_way.push(run);
            } else {
                run.leave();
            }
        }
    }
    // Results that are there at once came together: what the book decides about them is one record.
    if !asks.is_empty() {
        context.send_to_book(tenant, BookMessage::AskTogether(asks));
    }
    for mut run in under_way {
        run.end().await;
        if let Some(ended) = run.ended() {
            until_done.note(ended);
        }
        run.leave();
    }
}
