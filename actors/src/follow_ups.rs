//! Follow-up effects: those that a record asks of other entities than the one that the command was
//! for. They are performed when the record is durable, some dozens in one task. A task for each of
//! a batch's thousand payouts would cost more than all that they do.

use crate::clock_advance::Step;
use crate::engine::Engine;
use crate::entity::{EntityMessage, Turn, deliver};
use crate::machine::Machine;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// The effects that one task performs.
const GROUP_MAX: usize = 64;

/// The follow-up effects of one record.
pub(crate) struct FollowUps<M: Machine> {
    pub engine: Engine<M>,
    pub tenant: u64,
    pub step: Option<Step>,
    pub effects: Vec<(M::EntityId, M::Effect)>,
}

/// The follow-up effects of a record, while they are performed.
pub struct Performed<M: Machine> {
    /// Ends with the last guard that has the other end.
    all_done: oneshot::Receiver<()>,
    ended: Arc<Ended<M>>,
}

/// The states that entities came to.
type Ended<M> = Mutex<Vec<(<M as Machine>::EntityId, Arc<<M as Machine>::Entity>)>>;

/// The guard of every effect that is not done yet.
pub(crate) struct UntilDone<M: Machine> {
    ended: Arc<Ended<M>>,
    _last_dropped: oneshot::Sender<()>,
}

impl<M: Machine> Performed<M> {
    /// Waits until all of it has been performed and what came of it is durable.
    pub async fn wait(&mut self) {
        // An error is what the end looks like.
        let _ = (&mut self.all_done).await;
    }

    /// The newest states, durable, of those entities that have come to an end of it so far. Not of
    /// all: one that was busy with something else is not among them.
    pub fn ended(self) -> Vec<(M::EntityId, Arc<M::Entity>)> {
        std::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<M: Machine> FollowUps<M> {
    /// Begins to perform them. To be called when the record is durable; the writer of the log may
    /// call it.
    pub fn begin(self) -> Performed<M> {
        let FollowUps { engine, tenant, step, effects } = self;
        let (last_dropped, all_done) = oneshot::channel();
        let ended = Arc::default();
        let until_done = Arc::new(UntilDone { ended: Arc::clone(&ended), _last_dropped: last_dropped });
        let runtime = engine.shared.runtime.clone();
        let mut effects = effects.into_iter();
        while effects.len() > 0 {
            let some = effects.by_ref().take(GROUP_MAX).collect();
            runtime.spawn(perform(engine.clone(), tenant, step.clone(), some, Arc::clone(&until_done)));
        }
        Performed { all_done, ended }
    }
}

/// Has each effect performed by its entity's actor, then waits for the book's replies to those that
/// were done at once, which come in this order.
async fn perform<M: Machine>(
    engine: Engine<M>,
    tenant: u64,
    step: Option<Step>,
    effects: Vec<(M::EntityId, M::Effect)>,
    until_done: Arc<UntilDone<M>>,
) {
    let mut under_way: Vec<Turn<M>> = Vec::with_capacity(effects.len());
    for (target, effect) in effects {
        let message = EntityMessage::Perform {
            effect,
            step: step.clone(),
            until_done: Box::new(Arc::clone(&until_done)),
        };
        if let Some((mut turn, message)) = deliver(&engine, tenant, target, false, message) {
            turn.begin(message);
            if turn.is_under_way() {
                under_way.push(turn);
            } else {
                turn.leave();
            }
        }
    }
    for mut turn in under_way {
        turn.end().await;
        if let Some(ended) = turn.ended() {
            until_done.ended.lock().unwrap_or_else(PoisonError::into_inner).push(ended);
        }
        turn.leave();
    }
}
