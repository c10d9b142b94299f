//! Has the follow-up effects of durable records performed, some dozens in one task: a task for each
//! of a batch's thousand payouts would cost more than all that they do.

use super::{EntityRun, Phase, deliver};
use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::{BookMessage, EntityMessage, FollowUpMessage, FollowUps, Step, UntilDone};
use std::future::poll_fn;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc::UnboundedReceiver;

const GROUP_MAX: usize = 64;

pub(crate) async fn run<M: Machine>(mut queue: UnboundedReceiver<FollowUpMessage<M>>, host: Weak<Host<M>>) {
    while let Some(message) = queue.recv().await {
        match message {
            FollowUpMessage::Perform(FollowUps { tenant, step, effects, .. }, until_done) => {
                let Some(host) = host.upgrade() else { return };
                let mut effects = effects.into_iter();
                while effects.len() > 0 {
                    let group = effects.by_ref().take(GROUP_MAX).collect();
                    let until_done = until_done.clone();
                    let performing = perform(Arc::clone(&host), tenant, step.clone(), group, until_done);
                    host.runtime.spawn(performing);
                }
            }
            FollowUpMessage::Flush(to) => drop(to.send(())),
        }
    }
}

/// The book is asked about all effects that were done at once together; its replies come in this order.
async fn perform<M: Machine>(
    host: Arc<Host<M>>,
    tenant: u64,
    step: Option<Step>,
    effects: Vec<(M::EntityId, M::Effect)>,
    until_done: UntilDone<M>,
) {
    let mut under_way: Vec<EntityRun<M>> = Vec::with_capacity(effects.len());
    let mut asks = Vec::new();
    for (target, effect) in effects {
        let until_done = until_done.clone();
        let message = EntityMessage::Perform { effect, step: step.clone(), until_done };
        if let Some((mut run, message)) = deliver(&host, tenant, target, false, message) {
            run.keeps = true;
            run.begin(message);
            run.keeps = false;
            asks.extend(run.kept.take());
            if matches!(run.phase, Phase::Deciding { .. }) {
                under_way.push(run);
            } else {
                run.leave();
            }
        }
    }
    // Results that are there at once came together: what the book decides about them is one record.
    if !asks.is_empty() {
        host.send_to_book(tenant, BookMessage::AskTogether(asks));
    }
    for mut run in under_way {
        poll_fn(|context| run.poll_end(context)).await;
        // Unless something that the run began has not ended.
        if run.state.waiting.is_empty()
            && let Some(Some(entity)) = &run.state.known
        {
            // The caller may be gone.
            let _ = until_done.send((run.id, Arc::clone(entity)));
        }
        run.leave();
    }
}
