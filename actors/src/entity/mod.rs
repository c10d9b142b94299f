//! The entity actor: one payment, payout, merchant … while it is active. It serialises what is
//! asked of its entity, waits for its own records, performs their effects, and leaves memory when
//! nothing is left to do; its state is in the log.
//!
//! An entity has a mailbox, but no task of its own: it runs in the task of the caller that sends it
//! a message while it rests, and messages that come meanwhile wait for that task. Most entities get
//! one message in their life (a payout, a conversion), and a spawned actor for each would cost more
//! than all that it does.
//!
//! Rules do not belong here, and neither do calls to banks, which are behind
//! [`Effects`](crate::machine::Effects). It must not know how a book works.
//!
//! The life of an entity:
//!
//! ```text
//!                      message                    command
//!   NOT IN MEMORY ─────────────────▶  WORKING  ─────────────▶  DECIDING
//!         ▲                           │  ▲  ▲                     │
//!         │   no message left,        │  │  └─────────────────────┘
//!         │   no effect under way     │  │       the book's reply
//!         └───────────────────────────┤  │
//!                                     │  │ message: a command,
//!                   no message left,  │  │ the result of an effect
//!               an effect under way   ▼  │
//!                                   RESTING
//! ```
//!
//! - *Not in memory*: no handle is in the map. The state is in the log, and may be in the cache.
//! - *Working*: an [`EntityRun`] has the state. It takes one message, and performs effects until
//!   one leads to a command.
//! - *Deciding*: the run waits for the book, which is the only thing that it ever waits for.
//! - *Resting*: the handle has the state, and effects that take their time go on in tasks of their
//!   own. Their results come back as messages.
//!
//! A run that is over has given its state to the handle, or to nobody.

pub(crate) mod follow_ups;

use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::{
    Ask, BookMessage, CommandReply, EntityMessage, EntityReply, EntityState, Failure, ReplyTo, Step, Waiting,
};
use dashmap::mapref::entry::Entry;
use handoff::TasklessMailbox;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;
use tokio::sync::oneshot;

/// If the actor rests, or is not there yet, the caller gets the message back and has to run the actor.
pub(crate) fn deliver<M: Machine>(
    host: &Arc<Host<M>>,
    tenant: u64,
    id: M::EntityId,
    new: bool,
    message: EntityMessage<M>,
) -> Option<(EntityRun<M>, EntityMessage<M>)> {
    let (state, message) = match host.entities.entry((tenant, id)) {
        Entry::Occupied(mut entry) => {
            entry.get_mut().get_mut().unwrap_or_else(PoisonError::into_inner).deliver(message)?
        }
        Entry::Vacant(vacant) => {
            vacant.insert(Mutex::new(TasklessMailbox::running()));
            // The caller made the id of a new one a moment ago: there is nothing to load.
            let (known, generation) = match if new { None } else { host.entity_cache.remove(&(tenant, id)) } {
                Some((_, (generation, entity))) => (Some(Some(entity)), Some(generation)),
                None => (new.then_some(None), None),
            };
            (EntityState { known, generation, waiting: Vec::new() }, message)
        }
    };
    let run = EntityRun {
        host: Arc::clone(host),
        tenant,
        id,
        state,
        phase: Phase::Working,
        keeps: false,
        kept: None,
        to_do: Vec::new(),
        step: None,
    };
    Some((run, message))
}

pub(crate) fn send<M: Machine>(host: &Arc<Host<M>>, tenant: u64, id: M::EntityId, message: EntityMessage<M>) {
    if let Some((run, message)) = deliver(host, tenant, id, false, message) {
        host.runtime.spawn(run.whole(message));
    }
}

/// A run in the task of its caller. If the caller goes away, it goes on in a task of its own: what
/// has begun is brought to its end.
pub(crate) struct Attended<M: Machine>(pub Option<EntityRun<M>>);

impl<M: Machine> Unpin for Attended<M> {}

impl<M: Machine> Future for Attended<M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Taken out, so that one that panics is not there to be spawned.
        let Some(mut run) = self.0.take() else { return Poll::Ready(()) };
        if run.poll_end(context).is_pending() {
            self.0 = Some(run);
            return Poll::Pending;
        }
        run.leave();
        Poll::Ready(())
    }
}

impl<M: Machine> Drop for Attended<M> {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run.host.runtime.clone().spawn(run.finish());
        }
    }
}

/// One message, from its beginning until it is dealt with. At most one per active entity: the right
/// to run its actor.
pub(crate) struct EntityRun<M: Machine> {
    host: Arc<Host<M>>,
    tenant: u64,
    id: M::EntityId,
    state: EntityState<M>,
    phase: Phase<M>,
    /// The next command is kept for whoever began the run, who sends it with others.
    keeps: bool,
    kept: Option<Box<Ask<M>>>,
    /// To be performed, the first last, with the replies that wait for them.
    to_do: Vec<(M::Effect, Option<EntityReply<M>>)>,
    step: Option<Step>,
}

enum Phase<M: Machine> {
    Working,
    Deciding {
        entity: Option<Arc<M::Entity>>,
        from: oneshot::Receiver<CommandReply<M>>,
        reply: Option<EntityReply<M>>,
    },
    Over,
}

impl<M: Machine> EntityRun<M> {
    async fn whole(mut self, message: EntityMessage<M>) {
        self.begin(message);
        self.finish().await;
    }

    async fn finish(mut self) {
        poll_fn(|context| self.poll_end(context)).await;
        while let Some(message) = self.next() {
            self.begin(message);
            poll_fn(|context| self.poll_end(context)).await;
        }
    }

    /// Messages that have come meanwhile are dealt with in a task of their own.
    fn leave(mut self) {
        if let Some(message) = self.next() {
            self.host.runtime.clone().spawn(self.whole(message));
        }
    }

    /// If there is no message, the actor rests while an effect is under way, or leaves memory;
    /// under the map's lock, so that no message is lost.
    fn next(&mut self) -> Option<EntityMessage<M>> {
        let host = &self.host;
        let Entry::Occupied(mut entry) = host.entities.entry((self.tenant, self.id)) else { return None };
        let mailbox = entry.get_mut().get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(message) = mailbox.take_next() {
            return Some(message);
        }
        self.phase = Phase::Over;
        let nothing = EntityState { known: None, generation: None, waiting: Vec::new() };
        let state = std::mem::replace(&mut self.state, nothing);
        if !state.waiting.is_empty() {
            mailbox.rest(state);
            return None;
        }
        if let (Some(Some(entity)), Some(generation)) = (state.known, state.generation)
            && host.machine.is_open(&entity)
            && !host.is_elsewhere(self.tenant)
        {
            host.entity_cache.insert((self.tenant, self.id), (generation, entity));
        }
        entry.remove();
        None
    }

    pub fn begin(&mut self, message: EntityMessage<M>) {
        // A state from before the book began anew is forgotten. The result of an effect is of the state that asked
        // for it, and goes with it.
        if let EntityMessage::Ask { .. } | EntityMessage::Due { .. } = &message
            && let Some(known) = self.state.generation
            && self.host.generation(self.tenant).is_ok_and(|now| now != known)
        {
            (self.state.known, self.state.generation) = (None, None);
        }
        match message {
            EntityMessage::Ask { command, fresh, step, asked, reply_to } => {
                self.step = step;
                let reply = EntityReply { to: Waiting::Caller(reply_to), durable: None };
                self.ask(command, fresh, asked, Some(reply));
            }
            EntityMessage::Due { command, firing } => {
                self.step = None;
                let reply = EntityReply { to: Waiting::Deadline(Some(firing)), durable: None };
                self.ask(command, false, Instant::now(), Some(reply));
            }
            EntityMessage::Perform { effect, step, until_done } => {
                self.step = step;
                // The entity may have changed since the record. One that cannot be read is left to
                // its deadline.
                if self.know().is_ok()
                    && let Some(known) = &self.state.known
                    && self.host.machine.is_wanted(known.as_deref(), &effect)
                {
                    let to = Waiting::FollowUp { _until_done: until_done };
                    self.perform(effect, Some(EntityReply { to, durable: None }));
                }
            }
            EntityMessage::Result { command, step, effect } => {
                self.step = step;
                let waiting = &mut self.state.waiting;
                let place = waiting.iter().position(|(waiting, _)| *waiting == effect);
                let reply = place.and_then(|place| waiting.swap_remove(place).1);
                match command {
                    Some(command) => self.ask(command, false, Instant::now(), reply),
                    None => self.lost(reply),
                }
            }
            EntityMessage::Late { effect } => self.late(effect),
        }
    }

    /// Until no command waits for the book. An effect that is done at once (a simulator) is followed up at
    /// once; another goes on by itself.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Phase::Deciding { entity, from, reply } = &mut self.phase {
            let decided = match ready!(Pin::new(from).poll(context)) {
                Ok(decided) => decided,
                Err(gone) => Err(gone.into()),
            };
            let (before, reply) = (entity.take(), reply.take());
            self.phase = Phase::Working;
            self.conclude(before, decided, reply);
            while matches!(self.phase, Phase::Working)
                && let Some((effect, reply)) = self.to_do.pop()
            {
                self.perform(effect, reply);
            }
        }
        Poll::Ready(())
    }

    fn ask(&mut self, command: M::Command, fresh: bool, asked: Instant, reply: Option<EntityReply<M>>) {
        if let Err(failure) = self.know() {
            if let Some(reply) = reply {
                reply.fail(failure);
            }
            return;
        }
        let entity = self.state.known.take().flatten();
        let (reply_to, from) = ReplyTo::new(None, None, None);
        let ask = Box::new(Ask {
            command,
            entity: entity.clone(),
            id: Some(self.id),
            generation: self.state.generation,
            step: self.step.clone(),
            fresh,
            asked,
            reply_to,
        });
        if self.keeps {
            self.kept = Some(ask);
        } else {
            self.host.send_to_book(self.tenant, BookMessage::Ask(ask));
        }
        self.phase = Phase::Deciding { entity, from, reply };
    }

    fn know(&mut self) -> Result<(), Failure> {
        // Its state here may be an old one, which must not wait for the tenant to come.
        if self.host.is_elsewhere(self.tenant) {
            return Err(Failure::Elsewhere);
        }
        if self.state.generation.is_none() {
            match self.host.generation(self.tenant) {
                Ok(generation) => self.state.generation = Some(generation),
                Err(error) => return Err(self.unreadable(&error)),
            }
        }
        if self.state.known.is_none() {
            let loaded = catch_unwind(AssertUnwindSafe(|| self.host.load(self.tenant, self.id)));
            self.state.known = match loaded {
                Ok(Ok(entity)) => Some(entity),
                Ok(Err(error)) => return Err(self.unreadable(&error)),
                Err(_) => {
                    let why = "a defect in reading an entity; nothing changed";
                    return Err(Failure::Defect(why.to_owned()));
                }
            };
        }
        Ok(())
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> Failure {
        tracing::error!(tenant = self.tenant, id = ?self.id, %error, "an entity cannot be read");
        Failure::Storage(error.to_string())
    }

    /// An effect is performed at once where the outside world answers at once, else in a task of its
    /// own, whose result comes back as a message.
    fn perform(&mut self, effect: M::Effect, reply: Option<EntityReply<M>>) {
        let host = &self.host;
        // Polled here once without a waker; a future that is not ready is polled again by the task
        // that gets it.
        let begun = catch_unwind(AssertUnwindSafe(|| {
            let mut performing = host.effects.perform(self.tenant, effect);
            let polled = performing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            (performing, polled)
        }));
        let performing = match begun {
            Ok((_, Poll::Ready(command))) => return self.ask(command, false, Instant::now(), reply),
            Ok((performing, Poll::Pending)) => performing,
            Err(_) => return self.lost(reply),
        };
        // The number of an effect is not a count from zero: a result must not be taken for that of
        // another actor of the same entity.
        let effect = (host.config.seeds)();
        let step = self.step.clone();
        host.runtime.spawn(go_on(Arc::clone(host), self.tenant, self.id, step, effect, performing));
        self.state.waiting.push((effect, reply));
    }

    /// No caller waits for the effect's result any more; the entity stays until it comes. A deadline
    /// is due until the effect has ended, and would be asked about again: its book hears that it
    /// takes its time.
    fn late(&mut self, effect: u64) {
        let waiting = self.state.waiting.iter_mut().find(|(waiting, _)| *waiting == effect);
        let Some((_, reply)) = waiting else { return };
        if let Some(EntityReply { to: Waiting::Deadline(Some(firing)), .. }) = reply {
            return firing.book.send(BookMessage::Lasts(firing.id));
        }
        let Some(mut reply) = reply.take() else { return };
        // What became of the entity by other commands than the request's.
        if let (Some(settled), Some(Some(entity))) = (&mut reply.durable, &self.state.known) {
            settled.entity = Some(Arc::clone(entity));
        }
        reply.send();
    }

    fn lost(&self, reply: Option<EntityReply<M>>) {
        tracing::error!(tenant = self.tenant, id = ?self.id, "an effect broke off");
        if let Some(reply) = reply {
            reply.send();
        }
    }

    /// Sends the entity's reply if there is no effect to perform; else these are to be done, and the
    /// reply goes with the first.
    fn conclude(
        &mut self,
        before: Option<Arc<M::Entity>>,
        decided: CommandReply<M>,
        mut reply: Option<EntityReply<M>>,
    ) {
        let mut settled = match decided {
            Ok(settled) => settled,
            Err(failure) => {
                self.state.known = Some(before);
                if failure == Failure::Reset {
                    self.host.generations.remove(&self.tenant);
                    (self.state.known, self.state.generation) = (None, None);
                }
                if let Some(reply) = reply {
                    reply.fail(failure);
                }
                return;
            }
        };
        self.state.known = match &settled.record {
            Some(record) if self.host.machine.is_gone(record, self.id) => Some(None),
            _ => Some(settled.entity.clone()),
        };
        let effects = std::mem::take(&mut settled.effects);
        let has_record = settled.record.is_some();
        if let Some(reply) = &mut reply {
            if let Some(before) = reply.durable.take()
                && !has_record
            {
                // Of an entity that is gone since, the answer is what it was.
                settled.entity = settled.entity.or(before.entity);
                settled.record = before.record;
                settled.seq = before.seq;
                settled.time_ms = before.time_ms;
                settled.timing = before.timing;
                settled.refusal = settled.refusal.or(before.refusal);
            }
            reply.durable = Some(settled);
        }
        if effects.is_empty() {
            if let Some(reply) = reply {
                reply.send();
            }
            return;
        }
        // A deadline that only asks outside is dealt with when that has led to something: until then
        // it would come again.
        if has_record && let Some(reply) = &mut reply {
            match &mut reply.to {
                // Others may find the record in the index now.
                Waiting::Caller(reply_to) => {
                    reply_to.until_record = None;
                    if let Some(admission) = &mut reply_to.admission {
                        admission.recorded();
                    }
                }
                Waiting::Deadline(firing) => *firing = None,
                Waiting::FollowUp { .. } => {}
            }
        }
        for effect in effects.into_iter().rev() {
            self.to_do.push((effect, None));
        }
        if let Some((_, first)) = self.to_do.last_mut() {
            *first = reply;
        }
    }
}

impl<M: Machine> Drop for EntityRun<M> {
    /// A run that is dropped before its end (a panic in this crate, the end of the runtime) leaves
    /// no message behind: the state is on disk, and the next message finds it there.
    fn drop(&mut self) {
        if !matches!(self.phase, Phase::Over) {
            let left = self.host.entities.remove(&(self.tenant, self.id));
            drop(left);
        }
    }
}

/// Tells the entity of the result, of an end without one, and before that when the effect takes
/// longer than a caller is kept waiting.
async fn go_on<M: Machine>(
    host: Arc<Host<M>>,
    tenant: u64,
    id: M::EntityId,
    step: Option<Step>,
    effect: u64,
    mut performing: Pin<Box<dyn Future<Output = M::Command> + Send>>,
) {
    let mut performed = pin!(poll_fn(|task| {
        match catch_unwind(AssertUnwindSafe(|| performing.as_mut().poll(task))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    }));
    let command = match tokio::time::timeout(host.config.patience, &mut performed).await {
        Ok(performed) => performed,
        Err(_) => {
            send(&host, tenant, id, EntityMessage::Late { effect });
            performed.await
        }
    };
    send(&host, tenant, id, EntityMessage::Result { command, step, effect });
}

impl<M: Machine> EntityReply<M> {
    fn send(self) {
        if let (Waiting::Caller(reply_to), Some(settled)) = (self.to, self.durable) {
            reply_to.send(Ok(settled));
        }
    }

    /// If something of the request is durable already, a failure would say falsely that nothing
    /// happened: the reply is what is durable, and the entity's deadline deals with the rest.
    fn fail(self, failure: Failure) {
        let Waiting::Caller(reply_to) = self.to else { return };
        match (failure, self.durable) {
            (failure @ (Failure::Storage(_) | Failure::ShuttingDown), _) | (failure, None) => {
                reply_to.send(Err(failure))
            }
            (_, Some(settled)) => reply_to.send(Ok(settled)),
        }
    }
}
