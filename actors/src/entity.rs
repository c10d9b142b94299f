//! The entity actor: one payment, payout, merchant … while it is active. It serialises what is
//! asked of its entity, waits for its own records, performs their effects, and leaves memory when
//! nothing is left to do; its state is in the log.
//!
//! It has a mailbox, but no task of its own: it runs in the task of whoever speaks to it while it
//! rests, and what comes meanwhile waits for who runs it. Most entities hear one message in their
//! life (a payout, a conversion), and a spawned actor for each would cost more than all that it
//! does.

use crate::asker::{Asker, conclude};
use crate::engine::{Engine, received};
use crate::jump::Leg;
use crate::machine::Machine;
use crate::rider::{Answer, Ask, Failure, Held, Outcome};
use crate::slot::BookMessage;
use dashmap::mapref::entry::Entry;
use handoff::Place;
use std::error::Error;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};
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

/// The place of an entity that is active.
///
/// The mutex is never locked: whoever looks inside has the map's own lock. It makes what is in
/// there fit to be shared, messages that may only be sent included.
pub(crate) struct EntitySlot<M: Machine>(Mutex<Place<EntityMessage<M>, EntityState<M>>>);

impl<M: Machine> EntitySlot<M> {
    /// Of an actor that its maker runs.
    fn running() -> Self {
        EntitySlot(Mutex::new(Place::running()))
    }

    fn place(&mut self) -> &mut Place<EntityMessage<M>, EntityState<M>> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an actor knows. It leaves memory when nobody speaks to it and no effect is under way.
struct EntityState<M: Machine> {
    /// The newest durable state, which may be that there is none; not known before it is asked for,
    /// and after a record that does not say.
    known: Option<Option<Arc<M::Entity>>>,
    /// Effects that take their time, and who waits for them.
    waiting: Vec<(u64, Option<Asker<M>>)>,
}

/// The right to run an entity's actor: to deal with one message, which needs a wait only for the
/// book. There is one of these per active entity at most.
pub(crate) struct Turn<M: Machine> {
    engine: Engine<M>,
    tenant: u64,
    id: M::EntityId,
    /// Gone when the turn is over.
    state: Option<EntityState<M>>,
    /// What the book decides on.
    deciding: Option<Deciding<M>>,
    /// Effects that are to be performed, the first last, and who waits for them.
    to_do: Vec<(M::Effect, Option<Asker<M>>)>,
    /// The instant of a jump that the message bears.
    leg: Option<Leg>,
}

/// A command that the book decides on.
struct Deciding<M: Machine> {
    /// The entity as it was.
    entity: Option<Arc<M::Entity>>,
    from: oneshot::Receiver<Outcome<M>>,
    asker: Option<Asker<M>>,
}

/// Gives a message to an entity's actor. If it rests, or is not there yet, the caller gets it back
/// and has to run the actor.
pub(crate) fn deliver<M: Machine>(
    engine: &Engine<M>,
    tenant: u64,
    id: M::EntityId,
    new: bool,
    message: EntityMessage<M>,
) -> Option<(Turn<M>, EntityMessage<M>)> {
    let (state, message) = match engine.shared.entities.entry((tenant, id)) {
        Entry::Occupied(mut slot) => slot.get_mut().place().deliver(message)?,
        Entry::Vacant(vacant) => {
            vacant.insert(EntitySlot::running());
            // The caller made the id of a new one a moment ago: there is nothing to load.
            let known = if new { Some(None) } else { engine.shared.at_hand.take(tenant, id).map(Some) };
            (EntityState { known, waiting: Vec::new() }, message)
        }
    };
    Some((
        Turn {
            engine: engine.clone(),
            tenant,
            id,
            state: Some(state),
            deciding: None,
            to_do: Vec::new(),
            leg: None,
        },
        message,
    ))
}

impl<M: Machine> Turn<M> {
    /// Deals with everything that has come, beginning with this.
    pub async fn run(mut self, message: EntityMessage<M>) {
        self.begin(message);
        self.finish().await;
    }

    /// Brings to its end what was begun, and everything that has come meanwhile.
    pub async fn finish(mut self) {
        self.end().await;
        while let Some(message) = self.next() {
            self.begin(message);
            self.end().await;
        }
    }

    /// The turn is over; what has come meanwhile is dealt with in a task of its own.
    pub fn leave(mut self) {
        if let Some(message) = self.next() {
            self.engine.shared.runtime.clone().spawn(self.run(message));
        }
    }

    /// What has come next. If nothing has, the actor rests while an effect is under way, or leaves
    /// memory; under the map's lock, so that no message is lost.
    fn next(&mut self) -> Option<EntityMessage<M>> {
        let shared = &self.engine.shared;
        let Entry::Occupied(mut slot) = shared.entities.entry((self.tenant, self.id)) else { return None };
        if let Some(message) = slot.get_mut().place().take_next() {
            return Some(message);
        }
        let state = self.state.take()?;
        if state.waiting.is_empty() {
            if let Some(Some(entity)) = state.known
                && shared.machine.is_open(&entity)
            {
                shared.at_hand.put(self.tenant, self.id, entity);
            }
            slot.remove();
        } else {
            slot.get_mut().place().rest(state);
        }
        None
    }

    /// Begins to deal with a message, and does what can be done without waiting for the book.
    pub fn begin(&mut self, message: EntityMessage<M>) {
        match message {
            EntityMessage::Ask { command, fresh, leg, asked, answer } => {
                self.leg = leg;
                self.ask(command, fresh, asked, Some(Asker::answered(answer)));
            }
            EntityMessage::Perform { effect, leg, until_done } => {
                self.leg = leg;
                if self.wants(&effect) {
                    self.to_do.push((effect, Some(Asker::told(until_done))));
                }
            }
            EntityMessage::Result { command, leg, effect } => {
                self.leg = leg;
                let asker = self.waited_for(effect);
                self.ask(command, false, Instant::now(), asker);
            }
            EntityMessage::Late { effect } => {
                // What the effect comes to has nobody who waits for it any more; until then the
                // entity stays.
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
        self.work_off();
    }

    /// Whether the book is deciding, so that there is an end to wait for.
    pub fn is_under_way(&self) -> bool {
        self.deciding.is_some()
    }

    /// Waits for the book, and does what follows, until the message is dealt with.
    pub async fn end(&mut self) {
        poll_fn(|context| self.poll_end(context)).await;
    }

    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(deciding) = &mut self.deciding {
            let outcome = received(ready!(Pin::new(&mut deciding.from).poll(context)));
            if let Some(Deciding { entity, asker, .. }) = self.deciding.take() {
                self.learn(entity, &outcome);
                self.to_do.extend(conclude(outcome, asker));
                self.work_off();
            }
        }
        Poll::Ready(())
    }

    /// The entity's newest state if all that the turn began has come to its end.
    pub fn ended(&self) -> Option<(M::EntityId, Arc<M::Entity>)> {
        let state = self.state.as_ref().filter(|state| state.waiting.is_empty())?;
        state.known.clone().flatten().map(|entity| (self.id, entity))
    }

    /// What it knows; a turn has it until it is over.
    fn state(&mut self) -> &mut EntityState<M> {
        // Only `next` and `drop` take it, and both end the turn.
        self.state.get_or_insert_with(|| EntityState { known: None, waiting: Vec::new() })
    }

    fn waited_for(&mut self, effect: u64) -> Option<Asker<M>> {
        let waiting = &mut self.state().waiting;
        let place = waiting.iter().position(|(waiting, _)| *waiting == effect)?;
        waiting.swap_remove(place).1
    }

    /// Has the book decide on this entity as it is.
    fn ask(&mut self, command: M::Command, fresh: bool, asked: Instant, asker: Option<Asker<M>>) {
        let entity = match self.state().known.take().map_or_else(|| self.load(), Ok) {
            Ok(entity) => entity,
            Err(failure) => return self.to_do.extend(conclude(Err(failure), asker)),
        };
        let (answer, from) = Answer::new(None, None);
        let ask = Box::new(Ask {
            command,
            entity: entity.clone(),
            id: Some(self.id),
            leg: self.leg.clone(),
            fresh,
            asked,
            answer,
        });
        self.engine.book(self.tenant, |slot| slot.send(BookMessage::Ask(ask)));
        self.deciding = Some(Deciding { entity, from, asker });
    }

    /// Takes over what the book made of the entity.
    fn learn(&mut self, before: Option<Arc<M::Entity>>, outcome: &Outcome<M>) {
        let known = match outcome {
            Ok(settled) => {
                let gone = settled
                    .record
                    .as_ref()
                    .is_some_and(|record| self.engine.shared.machine.is_gone(record, self.id));
                if gone { None } else { settled.entity.clone() }
            }
            Err(_) => before,
        };
        self.state().known = Some(known);
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

    /// Whether an effect that somebody else's record asked for is still to be performed: the entity
    /// may have moved on in between. One that cannot be read is left to its deadline.
    fn wants(&mut self, effect: &M::Effect) -> bool {
        if self.state().known.is_none() {
            self.state().known = self.load().ok();
        }
        let machine = Arc::clone(&self.engine.shared.machine);
        self.state().known.as_ref().is_some_and(|known| machine.is_wanted(known.as_deref(), effect))
    }

    /// Performs effects, and what they lead to, until the book has to decide. One that is done at
    /// once (a simulator) is followed up at once; another goes on by itself.
    fn work_off(&mut self) {
        while self.deciding.is_none()
            && let Some((effect, asker)) = self.to_do.pop()
        {
            if let Some((command, asker)) = self.perform(effect, asker) {
                self.ask(command, false, Instant::now(), asker);
            }
        }
    }

    /// Begins an effect. Returns its result if it has one at once; else that comes back as a
    /// message.
    fn perform(
        &mut self,
        effect: M::Effect,
        asker: Option<Asker<M>>,
    ) -> Option<(M::Command, Option<Asker<M>>)> {
        let effects = &self.engine.shared.effects;
        // Polled here once without a waker; a future that is not ready is polled again by the task
        // that gets it.
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
        // Not a count from zero: a result must not be taken for that of another actor of the same
        // entity.
        let effect = self.engine.shared.seed();
        self.state().waiting.push((effect, asker));
        let (engine, tenant, id, leg) = (self.engine.clone(), self.tenant, self.id, self.leg.clone());
        self.engine.shared.runtime.spawn(async move {
            let mut performed = pin!(poll_fn(|context| {
                match catch_unwind(AssertUnwindSafe(|| performing.as_mut().poll(context))) {
                    Ok(polled) => polled.map(Some),
                    Err(_) => Poll::Ready(None),
                }
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

impl<M: Machine> Drop for Turn<M> {
    /// A turn that is dropped before its end (a panic in this crate, the end of the runtime) leaves
    /// nobody waiting for it: the state is on disk, and the next message finds it there.
    fn drop(&mut self) {
        if self.state.is_some() {
            let left = self.engine.shared.entities.remove(&(self.tenant, self.id));
            // Outside of the map's lock.
            drop(left);
        }
    }
}

/// A turn in the task of the one who awaits it. If that one goes away, it goes on in a task of its
/// own: what has begun is brought to its end.
pub(crate) struct Attended<M: Machine>(Option<Turn<M>>);

impl<M: Machine> Attended<M> {
    /// Begins with the message.
    pub fn new(mut turn: Turn<M>, message: EntityMessage<M>) -> Attended<M> {
        turn.begin(message);
        Attended(Some(turn))
    }
}

impl<M: Machine> Unpin for Attended<M> {}

impl<M: Machine> Future for Attended<M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Taken out, so that one that panics is not there to be spawned.
        let Some(mut turn) = self.0.take() else { return Poll::Ready(()) };
        if turn.poll_end(context).is_pending() {
            self.0 = Some(turn);
            return Poll::Pending;
        }
        // What others have asked meanwhile is not this one's to wait for.
        turn.leave();
        Poll::Ready(())
    }
}

impl<M: Machine> Drop for Attended<M> {
    fn drop(&mut self) {
        if let Some(turn) = self.0.take() {
            turn.engine.shared.runtime.clone().spawn(turn.finish());
        }
    }
}

/// The newest durable state of an entity.
fn load<M: Machine>(
    engine: &Engine<M>,
    tenant: u64,
    id: M::EntityId,
) -> Result<Option<Arc<M::Entity>>, Box<dyn Error + Send + Sync>> {
    let shared = &engine.shared;
    let Some(seq) = shared.reader.index_get(&shared.machine.entity_key(tenant, id))? else { return Ok(None) };
    let seq = u64::from_be_bytes(seq.as_slice().try_into()?);
    let record = shared.record(seq)?;
    Ok(shared.machine.entity_in(&record, id))
}
