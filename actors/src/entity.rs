//! The entity actor: one payment, payout, merchant … while it is active. It serialises what is asked of its entity, waits for its own records, performs their effects, and leaves
//! memory when nothing is left to do; its state is in the log.
//!
//! It has a mailbox, but no task of its own: it runs in the task of whoever speaks to it while it rests, and what comes meanwhile waits for who runs it. Most entities hear one
//! message in their life (a payout, a conversion), and a spawned actor for each would cost more than all that it does.

use crate::engine::{Engine, received};
use crate::jump::Leg;
use crate::machine::Machine;
use crate::rider::{Answer, Ask, Failure, Held, Outcome, Settled};
use crate::slot::BookMessage;
use dashmap::mapref::entry::Entry;
use std::collections::VecDeque;
use std::error::Error;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::sync::oneshot;

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

/// The place of an entity that is active: what waits for it, and its actor while it rests.
///
/// The mutex is never locked: whoever looks inside has the map's own lock. It makes what is in there fit to be shared, messages that may only be sent included.
pub(crate) struct EntitySlot<M: Machine>(Mutex<Place<M>>);

struct Place<M: Machine> {
    mailbox: VecDeque<EntityMessage<M>>,
    resting: Option<Box<EntityState<M>>>,
}

impl<M: Machine> EntitySlot<M> {
    fn place(&mut self) -> &mut Place<M> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an actor knows. It leaves memory when nobody speaks to it and no effect is under way.
struct EntityState<M: Machine> {
    /// The newest durable state, which may be that there is none; not known before it is asked for, and after a record that does not say.
    known: Option<Option<Arc<M::Entity>>>,
    /// Effects that take their time, and who waits for them.
    waiting: Vec<(u64, Option<Asker<M>>)>,
}

/// The right to run an entity's actor, and the message to begin with. There is one of these per active entity at most.
pub(crate) struct Turn<M: Machine> {
    engine: Engine<M>,
    tenant: u64,
    id: M::EntityId,
    /// Gone when the turn is over.
    state: Option<Box<EntityState<M>>>,
    message: Option<EntityMessage<M>>,
}

/// Gives a message to an entity's actor. If it rests, or is not there yet, the caller has to run it.
pub(crate) fn deliver<M: Machine>(engine: &Engine<M>, tenant: u64, id: M::EntityId, new: bool, message: EntityMessage<M>) -> Option<Turn<M>> {
    let state = match engine.shared.entities.entry((tenant, id)) {
        Entry::Occupied(mut slot) => {
            let place = slot.get_mut().place();
            match place.resting.take() {
                Some(state) => state,
                None => {
                    place.mailbox.push_back(message);
                    return None;
                }
            }
        }
        Entry::Vacant(vacant) => {
            vacant.insert(EntitySlot(Mutex::new(Place { mailbox: VecDeque::new(), resting: None })));
            // The caller made the id of a new one a moment ago: there is nothing to load.
            let known = if new { Some(None) } else { engine.shared.at_hand.remove(&(tenant, id)).map(|(_, entity)| Some(entity)) };
            Box::new(EntityState { known, waiting: Vec::new() })
        }
    };
    Some(Turn { engine: engine.clone(), tenant, id, state: Some(state), message: Some(message) })
}

impl<M: Machine> Turn<M> {
    /// Deals with one message. If more has come, the turn goes on.
    pub async fn run_one(mut self) -> Option<Self> {
        if let Some(message) = self.message.take() {
            self.handle(message).await;
        }
        self.next()
    }

    /// Deals with everything that has come.
    pub async fn run(self) {
        let mut turn = Some(self);
        while let Some(more) = turn {
            turn = more.run_one().await;
        }
    }

    /// The turn with the next message. Without one, the actor rests if an effect is under way, or leaves memory; under the map's lock, so that no message is lost.
    fn next(mut self) -> Option<Self> {
        let engine = self.engine.clone();
        let Entry::Occupied(mut slot) = engine.shared.entities.entry((self.tenant, self.id)) else { return None };
        if let Some(message) = slot.get_mut().place().mailbox.pop_front() {
            self.message = Some(message);
            return Some(self);
        }
        let state = self.state.take()?;
        if state.waiting.is_empty() {
            if let Some(Some(entity)) = state.known
                && engine.shared.machine.is_open(&entity)
            {
                engine.shared.at_hand.insert((self.tenant, self.id), entity);
            }
            slot.remove();
        } else {
            slot.get_mut().place().resting = Some(state);
        }
        None
    }

    async fn handle(&mut self, message: EntityMessage<M>) {
        match message {
            EntityMessage::Ask { command, fresh, leg, asked, answer } => {
                let outcome = self.decide(command, fresh, leg.clone(), asked).await;
                self.follow(outcome, Some(Asker { answer: Some(answer), durable: None, _until_done: None }), leg).await;
            }
            EntityMessage::Perform { effect, leg, until_done } => {
                if self.wants(&effect) {
                    let asker = Asker { answer: None, durable: None, _until_done: Some(until_done) };
                    self.work_off(vec![(effect, Some(asker))], leg).await;
                }
            }
            EntityMessage::Result { command, leg, effect } => {
                let outcome = self.decide(command, false, leg.clone(), Instant::now()).await;
                let asker = self.waited_for(effect);
                self.follow(outcome, asker, leg).await;
            }
            EntityMessage::Late { effect } => {
                // What the effect comes to has nobody who waits for it any more; until then the entity stays.
                let waiting = self.state().waiting.iter_mut().find(|(waiting, _)| *waiting == effect);
                if let Some(asker) = waiting.and_then(|(_, asker)| asker.take()) {
                    asker.finish();
                }
            }
            EntityMessage::Lost { effect } => {
                let asker = self.waited_for(effect);
                self.lost(asker);
            }
        }
    }
}

impl<M: Machine> Drop for Turn<M> {
    /// A turn that is dropped before its end (a panic in this crate, the end of the runtime) leaves nobody waiting for it: the state is on disk, and the next message finds it there.
    fn drop(&mut self) {
        if self.state.is_some() {
            let left = self.engine.shared.entities.remove(&(self.tenant, self.id));
            // Outside of the map's lock.
            drop(left);
        }
    }
}

/// A turn in the task of the one who awaits it. If that one goes away, it goes on in a task of its own: what has begun is brought to its end.
pub(crate) struct Attended {
    run: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    runtime: tokio::runtime::Handle,
}

impl Attended {
    pub fn new<M: Machine>(turn: Turn<M>) -> Attended {
        let runtime = turn.engine.shared.runtime.clone();
        let rest = runtime.clone();
        let run = Box::pin(async move {
            // What others have asked meanwhile is not this one's to wait for.
            if let Some(more) = turn.run_one().await {
                rest.spawn(more.run());
            }
        });
        Attended { run: Some(run), runtime }
    }
}

impl Future for Attended {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Taken out, so that one that panics is not there to be spawned.
        let Some(mut run) = self.run.take() else { return Poll::Ready(()) };
        let polled = run.as_mut().poll(context);
        if polled.is_pending() {
            self.run = Some(run);
        }
        polled
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            self.runtime.spawn(run);
        }
    }
}

/// Who waits: for an answer, with what the request has made durable so far, or only for the end of it.
struct Asker<M: Machine> {
    answer: Option<Answer<M>>,
    durable: Option<Box<Settled<M>>>,
    /// Let go when nothing is left to do for the asker.
    _until_done: Option<Held>,
}

impl<M: Machine> Asker<M> {
    /// Adds what a further command of the same request came to. One that changed nothing leaves the answer as it was.
    fn add(&mut self, mut settled: Box<Settled<M>>) {
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

/// A command that the book decides on.
struct Deciding<M: Machine> {
    /// As it was.
    entity: Option<Arc<M::Entity>>,
    from: oneshot::Receiver<Outcome<M>>,
}

/// A turn whose effect was done at once, and that has asked the book what comes of it.
pub(crate) struct Asked<M: Machine> {
    turn: Turn<M>,
    deciding: Result<Deciding<M>, Failure>,
    asker: Option<Asker<M>>,
    leg: Option<Leg>,
}

impl<M: Machine> Turn<M> {
    /// Performs what somebody else's record asks for, as far as that can be done without waiting. What has to wait, and what else has come, goes on by itself.
    pub fn begin(mut self) -> Option<Asked<M>> {
        let (effect, leg, until_done) = match self.message.take() {
            Some(EntityMessage::Perform { effect, leg, until_done }) => (effect, leg, until_done),
            other => {
                self.message = other;
                self.engine.shared.runtime.clone().spawn(self.run());
                return None;
            }
        };
        if self.wants(&effect) {
            let asker = Asker { answer: None, durable: None, _until_done: Some(until_done) };
            if let Some((command, asker)) = self.perform(effect, Some(asker), leg.as_ref()) {
                let deciding = self.ask(command, false, leg.clone(), Instant::now());
                return Some(Asked { turn: self, deciding, asker, leg });
            }
        }
        self.go_on();
        None
    }

    /// Leaves the rest, if there is any, to a task of its own.
    fn go_on(self) {
        let runtime = self.engine.shared.runtime.clone();
        if let Some(more) = self.next() {
            runtime.spawn(more.run());
        }
    }
}

impl<M: Machine> Asked<M> {
    /// Waits for the answer. Returns the entity's newest state if nothing more is to be done; else that goes on by itself.
    pub async fn end(self) -> Option<(M::EntityId, Arc<M::Entity>)> {
        let Asked { mut turn, deciding, asker, leg } = self;
        let outcome = match deciding {
            Ok(deciding) => turn.hear(deciding).await,
            Err(failure) => Err(failure),
        };
        let to_do = conclude(outcome, asker);
        if !to_do.is_empty() {
            let runtime = turn.engine.shared.runtime.clone();
            runtime.spawn(async move {
                turn.work_off(to_do, leg).await;
                turn.go_on();
            });
            return None;
        }
        let ended = turn.state().known.clone().flatten().map(|entity| (turn.id, entity));
        turn.go_on();
        ended
    }
}

impl<M: Machine> Turn<M> {
    /// What it knows; a turn has it until it is over.
    fn state(&mut self) -> &mut EntityState<M> {
        // Only `next` and `drop` take it, and both end the turn.
        self.state.get_or_insert_with(|| Box::new(EntityState { known: None, waiting: Vec::new() }))
    }

    fn waited_for(&mut self, effect: u64) -> Option<Asker<M>> {
        let waiting = &mut self.state().waiting;
        let place = waiting.iter().position(|(waiting, _)| *waiting == effect)?;
        waiting.swap_remove(place).1
    }

    /// Has the book decide on this entity as it is, and waits until that is durable.
    async fn decide(&mut self, command: M::Command, fresh: bool, leg: Option<Leg>, asked: Instant) -> Outcome<M> {
        let deciding = self.ask(command, fresh, leg, asked)?;
        self.hear(deciding).await
    }

    /// Asks the book to decide on this entity as it is.
    fn ask(&mut self, command: M::Command, fresh: bool, leg: Option<Leg>, asked: Instant) -> Result<Deciding<M>, Failure> {
        let entity = match self.state().known.take() {
            Some(known) => known,
            None => self.load()?,
        };
        let (answer, from) = Answer::new(None, None);
        let ask = Box::new(Ask { command, entity: entity.clone(), id: Some(self.id), leg, fresh, asked, answer });
        self.engine.book(self.tenant, |slot| slot.send(BookMessage::Ask(ask)));
        Ok(Deciding { entity, from })
    }

    /// Waits until what the book decided is durable.
    async fn hear(&mut self, deciding: Deciding<M>) -> Outcome<M> {
        let Deciding { entity, from } = deciding;
        let outcome = received(from.await);
        let known = Some(match &outcome {
            Ok(settled) => {
                let gone = settled.record.as_ref().is_some_and(|record| self.engine.shared.machine.is_gone(record, self.id));
                if gone { None } else { settled.entity.clone() }
            }
            Err(_) => entity,
        });
        self.state().known = known;
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
        if self.state().known.is_none() {
            self.state().known = self.load().ok();
        }
        let machine = Arc::clone(&self.engine.shared.machine);
        self.state().known.as_ref().is_some_and(|known| machine.is_wanted(known.as_deref(), effect))
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
        self.state().waiting.push((effect, asker));
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
fn load<M: Machine>(engine: &Engine<M>, tenant: u64, id: M::EntityId) -> Result<Option<Arc<M::Entity>>, Box<dyn Error + Send + Sync>> {
    let shared = &engine.shared;
    let Some(seq) = shared.reader.index_get(&shared.machine.entity_key(tenant, id))? else { return Ok(None) };
    let seq = u64::from_be_bytes(seq.as_slice().try_into()?);
    let record = shared.record(seq)?;
    Ok(shared.machine.entity_in(&record, id))
}
