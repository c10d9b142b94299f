//! The entity actor: one payment, payout, merchant … while it is active. It serialises what is
//! asked of its entity, waits for its own records, performs their effects, and leaves memory when
//! nothing is left to do; its state is in the log.
//!
//! It has a mailbox, but no task of its own: it runs in the task of the caller that sends it a
//! message while it rests, and messages that come meanwhile wait for that task. Most entities get
//! one message in their life (a payout, a conversion), and a spawned actor for each would cost more
//! than all that it does.

use crate::book_handle::BookMessage;
use crate::clock_advance::Step;
use crate::engine::{Engine, received};
use crate::entity_reply::{EntityReply, conclude};
use crate::machine::Machine;
use crate::pending_reply::{Ask, CommandReply, Failure, Guard, ReplyTo};
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

/// A message to an entity.
pub(crate) enum EntityMessage<M: Machine> {
    /// A command of a caller. `fresh` as in [`Ask`].
    Ask { command: M::Command, fresh: bool, step: Option<Step>, asked: Instant, reply_to: ReplyTo<M> },
    /// A follow-up effect of the record of another command.
    Perform { effect: M::Effect, step: Option<Step>, until_done: Guard },
    /// The result of an effect that took its time.
    Result { command: M::Command, step: Option<Step>, effect: u64 },
    /// An effect takes longer than its caller is kept waiting.
    Late { effect: u64 },
    /// An effect that took its time has broken off; the entity's deadline will look after it.
    Lost { effect: u64 },
}

/// The handle of an entity that is active: its mailbox, and its state while it rests.
///
/// The mutex is never locked, as its users have the map's own lock. It makes the contents fit to be
/// shared, messages that may only be sent included.
pub(crate) struct EntityHandle<M: Machine>(Mutex<Place<EntityMessage<M>, EntityState<M>>>);

impl<M: Machine> EntityHandle<M> {
    /// The handle of an actor that its maker runs.
    fn running() -> Self {
        EntityHandle(Mutex::new(Place::running()))
    }

    fn place(&mut self) -> &mut Place<EntityMessage<M>, EntityState<M>> {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of an actor. It leaves memory when no message is left and no effect is under way.
struct EntityState<M: Machine> {
    /// The newest durable state, which may be that there is none; not known before it is asked for,
    /// and after a record that does not say.
    known: Option<Option<Arc<M::Entity>>>,
    /// Effects that take their time, and the replies that wait for them.
    waiting: Vec<(u64, Option<EntityReply<M>>)>,
}

/// The right to run an entity's actor: to deal with one message, which needs a wait only for the
/// book. There is one of these per active entity at most.
pub(crate) struct Turn<M: Machine> {
    engine: Engine<M>,
    tenant: u64,
    id: M::EntityId,
    /// Gone when the turn is over.
    state: Option<EntityState<M>>,
    /// The command that the book decides on.
    deciding: Option<Deciding<M>>,
    /// Effects that are to be performed, the first last, and the replies that wait for them.
    to_do: Vec<(M::Effect, Option<EntityReply<M>>)>,
    /// The step of a clock advance that the message belongs to.
    step: Option<Step>,
}

/// A command that the book decides on.
struct Deciding<M: Machine> {
    /// The entity as it was.
    entity: Option<Arc<M::Entity>>,
    from: oneshot::Receiver<CommandReply<M>>,
    reply: Option<EntityReply<M>>,
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
        Entry::Occupied(mut entry) => entry.get_mut().place().deliver(message)?,
        Entry::Vacant(vacant) => {
            vacant.insert(EntityHandle::running());
            // The caller made the id of a new one a moment ago: there is nothing to load.
            let known = if new { Some(None) } else { engine.shared.entity_cache.take(tenant, id).map(Some) };
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
            step: None,
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

    /// Ends the turn; messages that have come meanwhile are dealt with in a task of their own.
    pub fn leave(mut self) {
        if let Some(message) = self.next() {
            self.engine.shared.runtime.clone().spawn(self.run(message));
        }
    }

    /// The next message. If there is none, the actor rests while an effect is under way, or leaves
    /// memory; under the map's lock, so that no message is lost.
    fn next(&mut self) -> Option<EntityMessage<M>> {
        let shared = &self.engine.shared;
        let Entry::Occupied(mut entry) = shared.entities.entry((self.tenant, self.id)) else { return None };
        if let Some(message) = entry.get_mut().place().take_next() {
            return Some(message);
        }
        let state = self.state.take()?;
        if state.waiting.is_empty() {
            if let Some(Some(entity)) = state.known
                && shared.machine.is_open(&entity)
            {
                shared.entity_cache.put(self.tenant, self.id, entity);
            }
            entry.remove();
        } else {
            entry.get_mut().place().rest(state);
        }
        None
    }

    /// Begins to deal with a message, and does what can be done without waiting for the book.
    pub fn begin(&mut self, message: EntityMessage<M>) {
        match message {
            EntityMessage::Ask { command, fresh, step, asked, reply_to } => {
                self.step = step;
                self.ask(command, fresh, asked, Some(EntityReply::to_caller(reply_to)));
            }
            EntityMessage::Perform { effect, step, until_done } => {
                self.step = step;
                if self.wants(&effect) {
                    self.to_do.push((effect, Some(EntityReply::dropping(until_done))));
                }
            }
            EntityMessage::Result { command, step, effect } => {
                self.step = step;
                let reply = self.waited_for(effect);
                self.ask(command, false, Instant::now(), reply);
            }
            EntityMessage::Late { effect } => {
                // No caller waits for the effect's result any more; the entity stays until it
                // comes.
                let waiting = self.state().waiting.iter_mut().find(|(waiting, _)| *waiting == effect);
                if let Some(reply) = waiting.and_then(|(_, reply)| reply.take()) {
                    reply.send();
                }
            }
            EntityMessage::Lost { effect } => {
                let reply = self.waited_for(effect);
                self.lost(reply);
            }
        }
        self.perform_effects();
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
            let decided = received(ready!(Pin::new(&mut deciding.from).poll(context)));
            if let Some(Deciding { entity, reply, .. }) = self.deciding.take() {
                self.learn(entity, &decided);
                self.to_do.extend(conclude(decided, reply));
                self.perform_effects();
            }
        }
        Poll::Ready(())
    }

    /// The entity's newest state if all that the turn began has come to its end.
    pub fn ended(&self) -> Option<(M::EntityId, Arc<M::Entity>)> {
        let state = self.state.as_ref().filter(|state| state.waiting.is_empty())?;
        state.known.clone().flatten().map(|entity| (self.id, entity))
    }

    /// The state, which a turn has until it is over.
    fn state(&mut self) -> &mut EntityState<M> {
        // Only `next` and `drop` take it, and both end the turn.
        self.state.get_or_insert_with(|| EntityState { known: None, waiting: Vec::new() })
    }

    /// Takes the reply that waits for an effect.
    fn waited_for(&mut self, effect: u64) -> Option<EntityReply<M>> {
        let waiting = &mut self.state().waiting;
        let place = waiting.iter().position(|(waiting, _)| *waiting == effect)?;
        waiting.swap_remove(place).1
    }

    /// Has the book decide on this entity as it is.
    fn ask(&mut self, command: M::Command, fresh: bool, asked: Instant, reply: Option<EntityReply<M>>) {
        let entity = match self.state().known.take().map_or_else(|| self.load(), Ok) {
            Ok(entity) => entity,
            Err(failure) => return self.to_do.extend(conclude(Err(failure), reply)),
        };
        let (reply_to, from) = ReplyTo::new(None, None);
        let ask = Box::new(Ask {
            command,
            entity: entity.clone(),
            id: Some(self.id),
            step: self.step.clone(),
            fresh,
            asked,
            reply_to,
        });
        self.engine.book(self.tenant, |handle| handle.send(BookMessage::Ask(ask)));
        self.deciding = Some(Deciding { entity, from, reply });
    }

    /// Takes over what the book made of the entity.
    fn learn(&mut self, before: Option<Arc<M::Entity>>, decided: &CommandReply<M>) {
        let known = match decided {
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

    /// Whether a follow-up effect is still to be performed: the entity may have moved on in
    /// between. One that cannot be read is left to its deadline.
    fn wants(&mut self, effect: &M::Effect) -> bool {
        if self.state().known.is_none() {
            self.state().known = self.load().ok();
        }
        let machine = Arc::clone(&self.engine.shared.machine);
        self.state().known.as_ref().is_some_and(|known| machine.is_wanted(known.as_deref(), effect))
    }

    /// Performs effects, and what they lead to, until the book has to decide. One that is done at
    /// once (a simulator) is followed up at once; another goes on by itself.
    fn perform_effects(&mut self) {
        while self.deciding.is_none()
            && let Some((effect, reply)) = self.to_do.pop()
        {
            if let Some((command, reply)) = self.perform(effect, reply) {
                self.ask(command, false, Instant::now(), reply);
            }
        }
    }

    /// Begins an effect. Returns its result if it has one at once; else that comes back as a
    /// message.
    fn perform(
        &mut self,
        effect: M::Effect,
        reply: Option<EntityReply<M>>,
    ) -> Option<(M::Command, Option<EntityReply<M>>)> {
        let effects = &self.engine.shared.effects;
        // Polled here once without a waker; a future that is not ready is polled again by the task
        // that gets it.
        let begun = catch_unwind(AssertUnwindSafe(|| {
            let mut performing = effects.perform(self.tenant, effect);
            let polled = performing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (performing, polled)
        }));
        let mut performing = match begun {
            Ok((_, Poll::Ready(command))) => return Some((command, reply)),
            Ok((performing, Poll::Pending)) => performing,
            Err(_) => {
                self.lost(reply);
                return None;
            }
        };
        // Not a count from zero: a result must not be taken for that of another actor of the same
        // entity.
        let effect = self.engine.shared.seed();
        self.state().waiting.push((effect, reply));
        let (engine, tenant, id, step) = (self.engine.clone(), self.tenant, self.id, self.step.clone());
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
                Some(command) => EntityMessage::Result { command, step, effect },
                None => EntityMessage::Lost { effect },
            };
            engine.tell_entity(tenant, id, false, message);
        });
        None
    }

    /// An effect broke off: the reply is what is durable.
    fn lost(&self, reply: Option<EntityReply<M>>) {
        tracing::error!(tenant = self.tenant, id = ?self.id, "an effect broke off");
        if let Some(reply) = reply {
            reply.send();
        }
    }
}

impl<M: Machine> Drop for Turn<M> {
    /// A turn that is dropped before its end (a panic in this crate, the end of the runtime) leaves
    /// no message behind: the state is on disk, and the next message finds it there.
    fn drop(&mut self) {
        if self.state.is_some() {
            let left = self.engine.shared.entities.remove(&(self.tenant, self.id));
            // Outside of the map's lock.
            drop(left);
        }
    }
}

/// A turn in the task of its caller. If the caller goes away, it goes on in a task of its own: what
/// has begun is brought to its end.
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
        // This caller does not wait for messages of others.
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
