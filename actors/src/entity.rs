//! The entity actor: one payment, payout, merchant … while it is active. It serialises what is asked of its entity, waits for its own records, performs their effects, and stops
//! when nothing is left to do; its state is in the log.

use crate::book::BookMessage;
use crate::engine::{Engine, received};
use crate::machine::Machine;
use crate::rider::{Answer, Ask, Held, Outcome, Settled};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::collections::HashMap;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

pub(crate) enum EntityMessage<M: Machine> {
    /// Someone asks.
    Ask { command: M::Command, at_ms: Option<i64>, asked: Instant, answer: Answer<M> },
    /// The record of somebody else's command asks for this.
    Perform { effect: M::Effect, until_done: Held },
    /// An effect that took its time has come to this.
    Result { command: M::Command, at_ms: Option<i64>, effect: u64 },
    /// An effect that took its time has broken off; the entity's deadline will look after it.
    Lost { effect: u64 },
}

pub(crate) struct EntitySlot<M: Machine> {
    actor: ActorRef<EntityMessage<M>>,
    /// Messages sent and not yet dealt with. It is raised under the map's lock, so an actor that removes itself at zero loses none.
    pending: Arc<AtomicUsize>,
}

impl<M: Machine> EntitySlot<M> {
    /// Gives the message back when the actor is gone.
    pub fn send(&self, message: EntityMessage<M>) -> Result<(), EntityMessage<M>> {
        self.pending.fetch_add(1, Ordering::AcqRel);
        self.actor.cast(message).map_err(|error| match error {
            ractor::MessagingErr::SendErr(message) => message,
            // ractor gives the message back for a stopped actor, and there is no other case for a local actor of the right type.
            other => unreachable!("a message was not delivered: {other}"),
        })
    }
}

struct EntityHost<M>(PhantomData<fn() -> M>);

pub(crate) struct EntityState<M: Machine> {
    engine: Engine<M>,
    tenant: u64,
    id: M::EntityId,
    entity: Option<Arc<M::Entity>>,
    pending: Arc<AtomicUsize>,
    effects_begun: u64,
    /// Who waits for which effect.
    waiting: HashMap<u64, Waiting<M>>,
}

/// Who waits for an effect.
struct Waiting<M: Machine> {
    /// The caller, with what was durable before the effect.
    caller: Option<(Answer<M>, Settled<M>)>,
    /// Let go when what came of the effect is durable.
    until_done: Option<Held>,
}

impl<M: Machine> Waiting<M> {
    const NOBODY: Self = Waiting { caller: None, until_done: None };
}

pub(crate) fn spawn_entity<M: Machine>(engine: &Engine<M>, tenant: u64, id: M::EntityId, new: bool) -> EntitySlot<M> {
    let pending = Arc::new(AtomicUsize::new(0));
    let start = EntityStart { engine: engine.clone(), tenant, id, new, pending: Arc::clone(&pending) };
    match ractor::ActorRuntime::spawn_instant(None, EntityHost::<M>(PhantomData), start) {
        Ok((actor, _started)) => EntitySlot { actor, pending },
        Err(error) => {
            engine.shared.fail(&format!("an entity's actor did not start: {error}"));
            std::process::abort();
        }
    }
}

struct EntityStart<M: Machine> {
    engine: Engine<M>,
    tenant: u64,
    id: M::EntityId,
    /// The caller made the id a moment ago: there is nothing to load.
    new: bool,
    pending: Arc<AtomicUsize>,
}

impl<M: Machine> Actor for EntityHost<M> {
    type Msg = EntityMessage<M>;
    type State = EntityState<M>;
    type Arguments = EntityStart<M>;

    async fn pre_start(&self, _myself: ActorRef<Self::Msg>, start: Self::Arguments) -> Result<Self::State, ActorProcessingErr> {
        let entity = if start.new { None } else { load(&start.engine, start.tenant, start.id)? };
        Ok(EntityState { engine: start.engine, tenant: start.tenant, id: start.id, entity, pending: start.pending, effects_begun: 0, waiting: HashMap::new() })
    }

    async fn handle(&self, myself: ActorRef<Self::Msg>, message: Self::Msg, state: &mut Self::State) -> Result<(), ActorProcessingErr> {
        match message {
            EntityMessage::Ask { command, at_ms, asked, answer } => {
                let outcome = state.decide(command, at_ms, asked).await;
                state.follow(outcome, Some(answer), None, at_ms).await;
            }
            EntityMessage::Perform { effect, until_done } => {
                if state.engine.shared.machine.is_wanted(state.entity.as_deref(), &effect) {
                    state.perform(effect, Waiting { caller: None, until_done: Some(until_done) }, None).await;
                }
            }
            EntityMessage::Result { command, at_ms, effect } => {
                let outcome = state.decide(command, at_ms, Instant::now()).await;
                let Waiting { caller, until_done } = state.waiting.remove(&effect).unwrap_or(Waiting::NOBODY);
                let (answer, before) = caller.unzip();
                state.follow(outcome, answer, before, at_ms).await;
                drop(until_done);
            }
            EntityMessage::Lost { effect } => {
                tracing::error!(tenant = state.tenant, id = ?state.id, "an effect broke off");
                if let Some((answer, before)) = state.waiting.remove(&effect).and_then(|waiting| waiting.caller) {
                    answer.send(Ok(before));
                }
            }
        }
        state.pending.fetch_sub(1, Ordering::AcqRel);
        if state.waiting.is_empty() {
            let key = (state.tenant, state.id);
            let idle =
                state.engine.shared.entities.remove_if(&key, |_, slot| Arc::ptr_eq(&slot.pending, &state.pending) && slot.pending.load(Ordering::Acquire) == 0);
            if idle.is_some() {
                myself.stop(None);
            }
        }
        Ok(())
    }
}

impl<M: Machine> EntityState<M> {
    /// Has the book decide on this entity as it is, and waits until that is durable.
    async fn decide(&mut self, command: M::Command, at_ms: Option<i64>, asked: Instant) -> Outcome<M> {
        let (answer, from) = Answer::new(None, None);
        let ask = Ask { command, entity: self.entity.clone(), id: Some(self.id), at_ms, asked, answer };
        self.engine.book(self.tenant, |slot| slot.send(BookMessage::Ask(ask)));
        let outcome = received(from.await);
        if let Ok(settled) = &outcome {
            let gone = settled.record.as_ref().is_some_and(|record| self.engine.shared.machine.is_gone(record, self.id));
            self.entity = if gone { None } else { settled.entity.clone() };
        }
        outcome
    }

    /// Answers, or performs the effects first. `before` is what the same request made durable earlier.
    async fn follow(&mut self, outcome: Outcome<M>, answer: Option<Answer<M>>, before: Option<Settled<M>>, at_ms: Option<i64>) {
        let mut settled = match outcome {
            Ok(settled) => settled,
            Err(failure) => {
                if let Some(answer) = answer {
                    answer.send(Err(failure));
                }
                return;
            }
        };
        let effects = std::mem::take(&mut settled.effects);
        if let Some(before) = before
            && settled.record.is_none()
        {
            settled.record = before.record;
            settled.seq = before.seq;
            settled.time_ms = before.time_ms;
            settled.timing = before.timing;
        }
        let mut effects = effects.into_iter();
        let Some(first) = effects.next() else {
            if let Some(answer) = answer {
                answer.send(Ok(settled));
            }
            return;
        };
        let caller = answer.map(|mut answer| {
            answer.recorded();
            (answer, settled)
        });
        self.perform(first, Waiting { caller, until_done: None }, at_ms).await;
        for effect in effects {
            self.perform(effect, Waiting::NOBODY, at_ms).await;
        }
    }

    /// Performs an effect. One that is done at once (a simulator) is followed up at once; another goes on by itself, and its result comes back as a message.
    fn perform<'a>(&'a mut self, effect: M::Effect, waiting: Waiting<M>, at_ms: Option<i64>) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
        Box::pin(async move {
            let mut performing = self.engine.shared.effects.perform(self.tenant, effect);
            // Polled here once without a waker; a future that is not ready is polled again by the task that gets it.
            let at_once = performing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if let Poll::Ready(command) = at_once {
                let outcome = self.decide(command, at_ms, Instant::now()).await;
                let (answer, before) = waiting.caller.unzip();
                self.follow(outcome, answer, before, at_ms).await;
                drop(waiting.until_done);
                return;
            }
            self.effects_begun += 1;
            let effect = self.effects_begun;
            self.waiting.insert(effect, waiting);
            let (engine, tenant, id) = (self.engine.clone(), self.tenant, self.id);
            self.engine.shared.runtime.spawn(async move {
                let message = match tokio::spawn(performing).await {
                    Ok(command) => EntityMessage::Result { command, at_ms, effect },
                    Err(_) => EntityMessage::Lost { effect },
                };
                engine.tell_entity(tenant, id, false, message);
            });
        })
    }
}

/// The newest durable state of an entity.
pub(crate) fn load<M: Machine>(engine: &Engine<M>, tenant: u64, id: M::EntityId) -> Result<Option<Arc<M::Entity>>, ActorProcessingErr> {
    let shared = &engine.shared;
    let Some(seq) = shared.reader.index_get(&shared.machine.entity_key(tenant, id))? else { return Ok(None) };
    let seq = u64::from_be_bytes(seq.as_slice().try_into()?);
    let record = shared.record(seq)?;
    Ok(shared.machine.entity_in(&record, id))
}
