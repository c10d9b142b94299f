//! The run of an entity: one message, from its beginning until it is dealt with.

use super::EntityContext;
use super::handle::{EntityHandle, EntityState};
use super::records;
use super::reply::{EntityReply, conclude};
use crate::machine::Machine;
use crate::protocol::book::{Ask, BookMessage};
use crate::protocol::entity::EntityMessage;
use crate::protocol::reply::{CommandReply, Failure, ReplyTo, received};
use crate::protocol::step::Step;
use dashmap::mapref::entry::Entry;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::sync::oneshot;

/// At most one per active entity: the right to run its actor.
pub(crate) struct EntityRun<M: Machine, C: EntityContext<M>> {
    pub(super) context: C,
    pub(super) tenant: u64,
    pub(super) id: M::EntityId,
    pub(super) state: EntityState<M>,
    phase: Phase<M>,
    /// The next command is kept for whoever began the run, who sends it with others.
    keeps: bool,
    kept: Option<Box<Ask<M>>>,
    /// To be performed, the first last, with the replies that wait for them.
    to_do: Vec<(M::Effect, Option<EntityReply<M>>)>,
    pub(super) step: Option<Step>,
}

/// See the drawing of an entity's life.
pub(super) enum Phase<M: Machine> {
    Working,
    Deciding(Deciding<M>),
    Over,
}

pub(super) struct Deciding<M: Machine> {
    entity: Option<Arc<M::Entity>>,
    from: oneshot::Receiver<CommandReply<M>>,
    reply: Option<EntityReply<M>>,
}

impl<M: Machine, C: EntityContext<M>> EntityRun<M, C> {
    pub(super) fn new(context: C, tenant: u64, id: M::EntityId, state: EntityState<M>) -> Self {
        EntityRun {
            context,
            tenant,
            id,
            state,
            phase: Phase::Working,
            keeps: false,
            kept: None,
            to_do: Vec::new(),
            step: None,
        }
    }

    pub async fn whole(mut self, message: EntityMessage<M>) {
        self.begin(message);
        self.finish().await;
    }

    pub async fn finish(mut self) {
        self.end().await;
        while let Some(message) = self.next() {
            self.begin(message);
            self.end().await;
        }
    }

    /// Messages that have come meanwhile are dealt with in a task of their own.
    pub fn leave(mut self) {
        if let Some(message) = self.next() {
            self.context.host().runtime.clone().spawn(self.whole(message));
        }
    }

    /// If there is no message, the actor rests while an effect is under way, or leaves memory;
    /// under the map's lock, so that no message is lost.
    fn next(&mut self) -> Option<EntityMessage<M>> {
        let host = self.context.host();
        let key = (self.tenant, self.id);
        let Entry::Occupied(mut entry) = self.context.entities().handles.entry(key) else { return None };
        if let Some(message) = entry.get_mut().mailbox().take_next() {
            return Some(message);
        }
        self.phase = Phase::Over;
        let state = std::mem::replace(&mut self.state, EntityState::new(None, None));
        if state.waiting.is_empty() {
            if let (Some(Some(entity)), Some(generation)) = (state.known, state.generation)
                && host.machine.is_open(&entity)
            {
                host.entity_cache.put(self.tenant, self.id, generation, entity);
            }
            entry.remove();
        } else {
            entry.get_mut().mailbox().rest(state);
        }
        None
    }

    /// Up to the first wait for the book.
    pub fn begin(&mut self, message: EntityMessage<M>) {
        match message {
            EntityMessage::Ask { command, fresh, step, asked, reply_to } => {
                self.step = step;
                self.forget_before();
                self.ask(command, fresh, asked, Some(EntityReply::to_caller(reply_to)));
            }
            EntityMessage::Due { command, firing } => {
                self.step = None;
                self.forget_before();
                self.ask(command, false, Instant::now(), Some(EntityReply::of_deadline(firing)));
            }
            EntityMessage::Perform { effect, step, until_done } => {
                self.step = step;
                if self.wants(&effect) {
                    self.to_do.push((effect, Some(EntityReply::dropping(until_done))));
                }
            }
            EntityMessage::Result { command, step, effect } => {
                self.step = step;
                let reply = self.state.waited_for(effect);
                self.ask(command, false, Instant::now(), reply);
            }
            EntityMessage::Late { effect } => {
                // No caller waits for the effect's result any more; the entity stays until it
                // comes.
                if let Some(mut reply) = self.state.waited_too_long(effect) {
                    reply.now_is(self.state.known.as_ref());
                    reply.send();
                }
            }
            EntityMessage::Lost { effect } => {
                let reply = self.state.waited_for(effect);
                self.lost(reply);
            }
        }
        self.work();
    }

    /// As [`EntityRun::begin`], but the caller sends the command to the book.
    pub fn begin_keeping(&mut self, message: EntityMessage<M>) -> Option<Box<Ask<M>>> {
        self.keeps = true;
        self.begin(message);
        self.keeps = false;
        self.kept.take()
    }

    pub fn is_under_way(&self) -> bool {
        matches!(self.phase, Phase::Deciding(_))
    }

    pub async fn end(&mut self) {
        poll_fn(|context| self.poll_end(context)).await;
    }

    pub(super) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Phase::Deciding(deciding) = &mut self.phase {
            let decided = received(ready!(Pin::new(&mut deciding.from).poll(context)));
            let (before, reply) = (deciding.entity.take(), deciding.reply.take());
            self.phase = Phase::Working;
            self.learn(before, &decided);
            self.to_do.extend(conclude(decided, reply));
            self.work();
        }
        Poll::Ready(())
    }

    /// `None` while something that the run began has not ended.
    pub fn ended(&self) -> Option<(M::EntityId, Arc<M::Entity>)> {
        if !self.state.waiting.is_empty() {
            return None;
        }
        self.state.known.clone().flatten().map(|entity| (self.id, entity))
    }

    /// Until the book has to decide. An effect that is done at once (a simulator) is followed up at
    /// once; another goes on by itself.
    fn work(&mut self) {
        while matches!(self.phase, Phase::Working)
            && let Some((effect, reply)) = self.to_do.pop()
        {
            if let Some((command, reply)) = self.perform(effect, reply) {
                self.ask(command, false, Instant::now(), reply);
            }
        }
    }

    fn ask(&mut self, command: M::Command, fresh: bool, asked: Instant, reply: Option<EntityReply<M>>) {
        if let Err(failure) = self.know() {
            return self.to_do.extend(conclude(Err(failure), reply));
        }
        let entity = self.state.known.take().flatten();
        let (reply_to, from) = ReplyTo::new(None, None);
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
            self.context.send_to_book(self.tenant, BookMessage::Ask(ask));
        }
        self.phase = Phase::Deciding(Deciding { entity, from, reply });
    }

    fn learn(&mut self, before: Option<Arc<M::Entity>>, decided: &CommandReply<M>) {
        let known = match decided {
            Ok(settled) => {
                let is_gone = |record| self.context.host().machine.is_gone(record, self.id);
                if settled.record.as_deref().is_some_and(is_gone) { None } else { settled.entity.clone() }
            }
            Err(Failure::Reset) => {
                self.context.host().forget_generation(self.tenant);
                (self.state.known, self.state.generation) = (None, None);
                return;
            }
            Err(_) => before,
        };
        self.state.known = Some(known);
    }

    /// Forgets a state from before the book began anew. The result of an effect is of the state that asked
    /// for it, and goes with it.
    fn forget_before(&mut self) {
        let known = self.state.generation;
        if known
            .is_some_and(|known| self.context.host().generation(self.tenant).is_ok_and(|now| now != known))
        {
            (self.state.known, self.state.generation) = (None, None);
        }
    }

    /// Has the entity's state and its generation known.
    fn know(&mut self) -> Result<(), Failure> {
        if self.state.generation.is_none() {
            let generation = self.context.host().generation(self.tenant);
            self.state.generation = Some(generation.map_err(|error| self.unreadable(&error))?);
        }
        if self.state.known.is_none() {
            self.state.known = Some(self.load()?);
        }
        Ok(())
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> Failure {
        tracing::error!(tenant = self.tenant, id = ?self.id, %error, "an entity cannot be read");
        Failure::Storage(error.to_string())
    }

    fn load(&self) -> Result<Option<Arc<M::Entity>>, Failure> {
        match catch_unwind(AssertUnwindSafe(|| records::load(&self.context, self.tenant, self.id))) {
            Ok(Ok(entity)) => Ok(entity),
            Ok(Err(error)) => Err(self.unreadable(&error)),
            Err(_) => Err(Failure::Defect("a defect in reading an entity; nothing changed".to_owned())),
        }
    }

    /// The entity may have changed since the record. One that cannot be read is left to its deadline.
    fn wants(&mut self, effect: &M::Effect) -> bool {
        if self.know().is_err() {
            return false;
        }
        let machine = &self.context.host().machine;
        self.state.known.as_ref().is_some_and(|known| machine.is_wanted(known.as_deref(), effect))
    }
}

impl<M: Machine, C: EntityContext<M>> Drop for EntityRun<M, C> {
    /// A run that is dropped before its end (a panic in this crate, the end of the runtime) leaves
    /// no message behind: the state is on disk, and the next message finds it there.
    fn drop(&mut self) {
        if !matches!(self.phase, Phase::Over) {
            let left: Option<(_, EntityHandle<M>)> =
                self.context.entities().handles.remove(&(self.tenant, self.id));
            // Outside of the map's lock.
            drop(left);
        }
    }
}
