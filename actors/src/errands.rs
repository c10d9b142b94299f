//! What a record asks of other entities than the one that it was asked of: performed when it is
//! durable, some dozens in one task. A task for each of a batch's thousand payouts would cost more
//! than all that they do.

use crate::engine::Engine;
use crate::entity::{EntityMessage, Turn, deliver};
use crate::jump::Leg;
use crate::machine::Machine;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// So many in one task.
const TOGETHER: usize = 64;

/// Effects for others than the entity that asked.
pub(crate) struct Errands<M: Machine> {
    pub engine: Engine<M>,
    pub tenant: u64,
    pub leg: Option<Leg>,
    pub effects: Vec<(M::EntityId, M::Effect)>,
}

/// Effects of other entities that a record asked for, while they are performed.
pub struct Performed<M: Machine> {
    /// Ends with the last of those who hold the other end.
    all_done: oneshot::Receiver<()>,
    ended: Arc<Ended<M>>,
}

/// The states that entities came to.
type Ended<M> = Mutex<Vec<(<M as Machine>::EntityId, Arc<<M as Machine>::Entity>)>>;

/// Held by everything that is not done yet.
pub(crate) struct UntilDone<M: Machine> {
    ended: Arc<Ended<M>>,
    _last_gone: oneshot::Sender<()>,
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

impl<M: Machine> Errands<M> {
    /// Has all of it performed. To be called when the record is durable; the writer of the log may
    /// call it.
    pub fn begin(self) -> Performed<M> {
        let Errands { engine, tenant, leg, effects } = self;
        let (last_gone, all_done) = oneshot::channel();
        let ended = Arc::default();
        let until_done = Arc::new(UntilDone { ended: Arc::clone(&ended), _last_gone: last_gone });
        let runtime = engine.shared.runtime.clone();
        let mut effects = effects.into_iter();
        while effects.len() > 0 {
            let some = effects.by_ref().take(TOGETHER).collect();
            runtime.spawn(perform(engine.clone(), tenant, leg.clone(), some, Arc::clone(&until_done)));
        }
        Performed { all_done, ended }
    }
}

/// Has each performed by its entity's actor, and then hears what the book made of those that were
/// done at once, which comes in this order.
async fn perform<M: Machine>(
    engine: Engine<M>,
    tenant: u64,
    leg: Option<Leg>,
    effects: Vec<(M::EntityId, M::Effect)>,
    until_done: Arc<UntilDone<M>>,
) {
    let mut under_way: Vec<Turn<M>> = Vec::with_capacity(effects.len());
    for (target, effect) in effects {
        let message = EntityMessage::Perform {
            effect,
            leg: leg.clone(),
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
