//! The entity actor: one payment, payout, merchant … while it is active. It serialises what is asked of its entity, waits for its own records, performs their effects, and stops
//! when nothing is left to do; its state is in the log.

use crate::engine::{Engine, received};
use crate::jump::Leg;
use crate::machine::Machine;
use crate::rider::{Answer, Ask, Failure, Held, Outcome, Settled};
use crate::slot::BookMessage;
use ractor::{Actor, ActorProcessingErr, ActorRef, MessagingErr};
use std::collections::HashMap;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

pub(crate) enum EntityMessage<M: Machine> {
    /// Someone asks. `fresh` as in [`Ask`].
    Ask { command: M::Command, fresh: bool, leg: Option<Leg>, asked: Instant, answer: Answer<M> },
    /// The record of somebody else's command asks for this.
    Perform { effect: M::Effect, leg: Option<Leg>, until_done: Held },
    /// An effect that took its time has come to this.
    Result { command: M::Command, leg: Option<Leg>, effect: u64 },
    /// An effect takes longer than its asker is kept waiting.
    Late { effect: u64 },
    /// An effect that took its time has broken off; the entity's deadline will look after it.
    Lost { effect: u64 },
}

pub(crate) struct EntitySlot<M: Machine> {
    actor: ActorRef<EntityMessage<M>>,
    /// Messages sent and not yet dealt with. It is raised under the map's lock, so an actor that removes itself at zero loses none.
    pending: Arc<AtomicUsize>,
}

impl<M: Machine> EntitySlot<M> {
    /// Gives the message back when the actor is gone; then the slot is of no more use.
    pub fn send(&self, message: EntityMessage<M>) -> Result<(), EntityMessage<M>> {
        self.pending.fetch_add(1, Ordering::AcqRel);
        match self.actor.cast(message) {
            Ok(()) => Ok(()),
            Err(MessagingErr::SendErr(message)) => Err(message),
            // Not for a local actor of the right type; if it were, the caller is told when the answer is dropped, and this may run where a panic would end the log.
            Err(other) => {
                self.pending.fetch_sub(1, Ordering::AcqRel);
                tracing::error!(%other, "a message was not delivered to an entity");
                Ok(())
            }
        }
    }
}

struct EntityHost<M>(PhantomData<fn() -> M>);

pub(crate) struct EntityState<M: Machine> {
    engine: Engine<M>,
    tenant: u64,
    id: M::EntityId,
    /// The newest durable state, which may be that there is none; not known before it is asked for, and after a record that does not say.
    known: Option<Option<Arc<M::Entity>>>,
    pending: Arc<AtomicUsize>,
    /// Effects that take their time, and who waits for them.
    waiting: HashMap<u64, Option<Asker<M>>>,
}

/// Who waits: for an answer, with what the request has made durable so far, or only for the end of it.
struct Asker<M: Machine> {
    answer: Option<Answer<M>>,
    durable: Option<Settled<M>>,
    /// Let go when nothing is left to do for the asker.
    _until_done: Option<Held>,
}

impl<M: Machine> Asker<M> {
    /// Adds what a further command of the same request came to. One that changed nothing leaves the answer as it was.
    fn add(&mut self, mut settled: Settled<M>) {
        if let Some(before) = self.durable.take()
            && settled.record.is_none()
        {
            settled.record = before.record;
            settled.seq = before.seq;
            settled.time_ms = before.time_ms;
            settled.timing = before.timing;
            settled.refusal = settled.refusal.or(before.refusal);
        }
        self.durable = Some(settled);
    }

    fn finish(self) {
        if let (Some(answer), Some(settled)) = (self.answer, self.durable) {
            answer.send(Ok(settled));
        }
    }

    /// A command of the request failed. If something of it is durable already, "nothing happened" would be a lie: the answer is what is durable, and the entity's deadline looks
    /// after the rest.
    fn fail(self, failure: Failure) {
        let Some(answer) = self.answer else { return };
        match (failure, self.durable) {
            (Failure::Defect(_) | Failure::Overloaded, Some(settled)) => answer.send(Ok(settled)),
            (failure, _) => answer.send(Err(failure)),
        }
    }
}

pub(crate) fn spawn_entity<M: Machine>(engine: &Engine<M>, tenant: u64, id: M::EntityId, new: bool) -> EntitySlot<M> {
    let pending = Arc::new(AtomicUsize::new(0));
    // The caller made the id of a new one a moment ago: there is nothing to load.
    let known = new.then_some(None);
    let start = EntityState { engine: engine.clone(), tenant, id, known, pending: Arc::clone(&pending), waiting: HashMap::new() };
    match ractor::ActorRuntime::spawn_instant(None, EntityHost::<M>(PhantomData), start) {
        Ok((actor, _started)) => EntitySlot { actor, pending },
        Err(error) => {
            engine.shared.fail(&format!("an entity's actor did not start: {error}"));
            std::process::abort();
        }
    }
}

impl<M: Machine> Actor for EntityHost<M> {
    type Msg = EntityMessage<M>;
    type State = EntityState<M>;
    type Arguments = EntityState<M>;

    async fn pre_start(&self, _myself: ActorRef<Self::Msg>, start: Self::Arguments) -> Result<Self::State, ActorProcessingErr> {
        // The state is loaded by the first command, which can be told why it cannot be.
        Ok(start)
    }

    async fn handle(&self, myself: ActorRef<Self::Msg>, message: Self::Msg, state: &mut Self::State) -> Result<(), ActorProcessingErr> {
        match message {
            EntityMessage::Ask { command, fresh, leg, asked, answer } => {
                let outcome = state.decide(command, fresh, leg.clone(), asked).await;
                state.follow(outcome, Some(Asker { answer: Some(answer), durable: None, _until_done: None }), leg).await;
            }
            EntityMessage::Perform { effect, leg, until_done } => {
                if state.wants(&effect) {
                    let asker = Asker { answer: None, durable: None, _until_done: Some(until_done) };
                    state.work_off(vec![(effect, Some(asker))], leg).await;
                }
            }
            EntityMessage::Result { command, leg, effect } => {
                let outcome = state.decide(command, false, leg.clone(), Instant::now()).await;
                let asker = state.waiting.remove(&effect).flatten();
                state.follow(outcome, asker, leg).await;
            }
            EntityMessage::Late { effect } => {
                // What the effect comes to has nobody who waits for it any more; until then the entity stays.
                if let Some(asker) = state.waiting.get_mut(&effect).and_then(Option::take) {
                    asker.finish();
                }
            }
            EntityMessage::Lost { effect } => {
                let asker = state.waiting.remove(&effect).flatten();
                state.lost(asker);
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
    async fn decide(&mut self, command: M::Command, fresh: bool, leg: Option<Leg>, asked: Instant) -> Outcome<M> {
        let entity = match self.known.take() {
            Some(known) => known,
            None => self.load()?,
        };
        let (answer, from) = Answer::new(None, None);
        let ask = Ask { command, entity: entity.clone(), id: Some(self.id), leg, fresh, asked, answer };
        self.engine.book(self.tenant, |slot| slot.send(BookMessage::Ask(ask)));
        let outcome = received(from.await);
        self.known = Some(match &outcome {
            Ok(settled) => {
                let gone = settled.record.as_ref().is_some_and(|record| self.engine.shared.machine.is_gone(record, self.id));
                if gone { None } else { settled.entity.clone() }
            }
            Err(_) => entity,
        });
        outcome
    }

    /// The newest durable state of the entity.
    fn load(&self) -> Result<Option<Arc<M::Entity>>, Failure> {
        match catch_unwind(AssertUnwindSafe(|| load(&self.engine, self.tenant, self.id))) {
            Ok(Ok(entity)) => Ok(entity),
            Ok(Err(error)) => {
                tracing::error!(tenant = self.tenant, id = ?self.id, %error, "an entity cannot be read");
                Err(Failure::Storage(error.to_string()))
            }
            Err(_) => Err(Failure::Defect("a defect in reading an entity; nothing changed".to_owned())),
        }
    }

    /// Whether an effect that somebody else's record asked for is still to be performed: the entity may have moved on in between. One that cannot be read is left to its deadline.
    fn wants(&mut self, effect: &M::Effect) -> bool {
        if self.known.is_none() {
            self.known = self.load().ok();
        }
        let machine = &self.engine.shared.machine;
        self.known.as_ref().is_some_and(|known| machine.is_wanted(known.as_deref(), effect))
    }

    /// Answers, or performs the effects first.
    async fn follow(&mut self, outcome: Outcome<M>, asker: Option<Asker<M>>, leg: Option<Leg>) {
        let to_do = conclude(outcome, asker);
        self.work_off(to_do, leg).await;
    }

    /// Performs effects, the last first, and what they lead to. One that is done at once (a simulator) is followed up at once; another goes on by itself.
    async fn work_off(&mut self, mut to_do: Vec<(M::Effect, Option<Asker<M>>)>, leg: Option<Leg>) {
        while let Some((effect, asker)) = to_do.pop() {
            if let Some((command, asker)) = self.perform(effect, asker, leg.as_ref()) {
                let outcome = self.decide(command, false, leg.clone(), Instant::now()).await;
                to_do.extend(conclude(outcome, asker));
            }
        }
    }

    /// Begins an effect. Returns its result if it has one at once; else that comes back as a message.
    fn perform(&mut self, effect: M::Effect, asker: Option<Asker<M>>, leg: Option<&Leg>) -> Option<(M::Command, Option<Asker<M>>)> {
        let effects = &self.engine.shared.effects;
        // Polled here once without a waker; a future that is not ready is polled again by the task that gets it.
        let begun = catch_unwind(AssertUnwindSafe(|| {
            let mut performing = effects.perform(self.tenant, effect);
            let polled = performing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (performing, polled)
        }));
        let mut performing = match begun {
            Ok((_, Poll::Ready(command))) => return Some((command, asker)),
            Ok((performing, Poll::Pending)) => performing,
            Err(_) => {
                self.lost(asker);
                return None;
            }
        };
        // Not a count from zero: a result must not be taken for that of another actor of the same entity.
        let effect = self.engine.shared.seed();
        self.waiting.insert(effect, asker);
        let (engine, tenant, id, leg) = (self.engine.clone(), self.tenant, self.id, leg.cloned());
        self.engine.shared.runtime.spawn(async move {
            let mut performed = pin!(poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| performing.as_mut().poll(context))) {
                Ok(polled) => polled.map(Some),
                Err(_) => Poll::Ready(None),
            }));
            let performed = match tokio::time::timeout(engine.shared.config.patience, &mut performed).await {
                Ok(performed) => performed,
                Err(_) => {
                    engine.tell_entity(tenant, id, false, EntityMessage::Late { effect });
                    performed.await
                }
            };
            let message = match performed {
                Some(command) => EntityMessage::Result { command, leg, effect },
                None => EntityMessage::Lost { effect },
            };
            engine.tell_entity(tenant, id, false, message);
        });
        None
    }

    fn lost(&self, asker: Option<Asker<M>>) {
        tracing::error!(tenant = self.tenant, id = ?self.id, "an effect broke off");
        if let Some(asker) = asker {
            asker.finish();
        }
    }
}

/// Answers if there is nothing to perform. Else returns what is, the first last; the asker waits for the first.
fn conclude<M: Machine>(outcome: Outcome<M>, mut asker: Option<Asker<M>>) -> Vec<(M::Effect, Option<Asker<M>>)> {
    let mut settled = match outcome {
        Ok(settled) => settled,
        Err(failure) => {
            if let Some(asker) = asker {
                asker.fail(failure);
            }
            return Vec::new();
        }
    };
    let effects = std::mem::take(&mut settled.effects);
    if let Some(asker) = &mut asker {
        asker.add(settled);
    }
    if effects.is_empty() {
        if let Some(asker) = asker {
            asker.finish();
        }
        return Vec::new();
    }
    if let Some(answer) = asker.as_mut().and_then(|asker| asker.answer.as_mut()) {
        answer.recorded();
    }
    let mut to_do: Vec<_> = effects.into_iter().map(|effect| (effect, asker.take())).collect();
    to_do.reverse();
    to_do
}

/// The newest durable state of an entity.
fn load<M: Machine>(engine: &Engine<M>, tenant: u64, id: M::EntityId) -> Result<Option<Arc<M::Entity>>, ActorProcessingErr> {
    let shared = &engine.shared;
    let Some(seq) = shared.reader.index_get(&shared.machine.entity_key(tenant, id))? else { return Ok(None) };
    let seq = u64::from_be_bytes(seq.as_slice().try_into()?);
    let record = shared.record(seq)?;
    Ok(shared.machine.entity_in(&record, id))
}
