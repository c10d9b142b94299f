//! What a caller will get while the entity's actor does what was asked. A request may need several
//! commands (its own, then one for the result of each effect): the reply gathers what they made
//! durable and is sent when nothing is left to do.

use crate::machine::Machine;
use crate::protocol::book::Firing;
use crate::protocol::reply::{CommandReply, Failure, Guard, ReplyTo, Settled};
use std::sync::Arc;

/// A follow-up effect has no caller: its reply is only a guard, which is dropped at the end. Nor
/// has a deadline: its guard is dropped at the first record.
pub(super) struct EntityReply<M: Machine> {
    reply_to: Option<ReplyTo<M>>,
    firing: Option<Box<Firing<M>>>,
    durable: Option<Box<Settled<M>>>,
    _until_done: Option<Guard>,
}

impl<M: Machine> EntityReply<M> {
    pub fn to_caller(reply_to: ReplyTo<M>) -> Self {
        EntityReply { reply_to: Some(reply_to), firing: None, durable: None, _until_done: None }
    }

    pub fn of_deadline(firing: Box<Firing<M>>) -> Self {
        EntityReply { reply_to: None, firing: Some(firing), durable: None, _until_done: None }
    }

    pub fn dropping(until_done: Guard) -> Self {
        EntityReply { reply_to: None, firing: None, durable: None, _until_done: Some(until_done) }
    }

    /// Whether a deadline waits for the effect that takes its time; its book hears that it does.
    pub fn lasts(&self) -> bool {
        if let Some(firing) = &self.firing {
            firing.lasts();
        }
        self.firing.is_some()
    }

    fn recorded(&mut self) {
        self.firing = None;
        if let Some(reply_to) = &mut self.reply_to {
            reply_to.recorded();
        }
    }

    /// One that changed nothing leaves the reply as it was.
    fn add(&mut self, mut settled: Box<Settled<M>>) {
        if let Some(before) = self.durable.take()
            && settled.record.is_none()
        {
            // Of an entity that is gone since, the answer is what it was.
            settled.entity = settled.entity.or(before.entity);
            settled.record = before.record;
            settled.seq = before.seq;
            settled.time_ms = before.time_ms;
            settled.timing = before.timing;
            settled.refusal = settled.refusal.or(before.refusal);
        }
        self.durable = Some(settled);
    }

    /// What became of the entity by other commands than the request's.
    pub fn now_is(&mut self, known: Option<&Option<Arc<M::Entity>>>) {
        if let (Some(settled), Some(Some(entity))) = (&mut self.durable, known) {
            settled.entity = Some(Arc::clone(entity));
        }
    }

    pub fn send(self) {
        if let (Some(reply_to), Some(settled)) = (self.reply_to, self.durable) {
            reply_to.send(Ok(settled));
        }
    }

    /// If something of the request is durable already, a failure would say falsely that nothing
    /// happened: the reply is what is durable, and the entity's deadline deals with the rest.
    fn fail(self, failure: Failure) {
        let Some(reply_to) = self.reply_to else { return };
        match (failure, self.durable) {
            (
                Failure::Defect(_)
                | Failure::Overloaded
                | Failure::ShareFull
                | Failure::TooLarge
                | Failure::Reset
                | Failure::Halted,
                Some(settled),
            ) => reply_to.send(Ok(settled)),
            (failure, _) => reply_to.send(Err(failure)),
        }
    }
}

/// Sends the entity's reply if there is no effect to perform; else returns the effects, the first
/// last, and the reply with the first.
pub(super) fn conclude<M: Machine>(
    decided: CommandReply<M>,
    mut reply: Option<EntityReply<M>>,
) -> Vec<(M::Effect, Option<EntityReply<M>>)> {
    let mut settled = match decided {
        Ok(settled) => settled,
        Err(failure) => {
            if let Some(reply) = reply {
                reply.fail(failure);
            }
            return Vec::new();
        }
    };
    let effects = std::mem::take(&mut settled.effects);
    let has_record = settled.record.is_some();
    if let Some(reply) = &mut reply {
        reply.add(settled);
    }
    if effects.is_empty() {
        if let Some(reply) = reply {
            reply.send();
        }
        return Vec::new();
    }
    // A deadline that only asks outside is dealt with when that has led to something: until then it
    // would come again.
    if let Some(reply) = reply.as_mut().filter(|_| has_record) {
        reply.recorded();
    }
    let mut to_do: Vec<_> = effects.into_iter().map(|effect| (effect, reply.take())).collect();
    to_do.reverse();
    to_do
}
