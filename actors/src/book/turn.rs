//! The turn of a command: settle, decide, evolve, check, append. Until the append nothing has
//! happened that anybody could see, so a panic or a refusal changes nothing; after it the record is
//! the log's. Several commands in one turn: `together.rs`.

use super::{Book, BookContext};
use crate::host::Host;
use crate::machine::{Decision, LONG_AGO_MS, Machine, Turn};
use crate::protocol::book::Ask;
use crate::protocol::follow_ups::FollowUps;
use crate::protocol::pending_reply::{Listener, PendingReply};
use crate::protocol::reply::{Failure, ReplyTo, Settled, Timing};
use crate::protocol::step::Step;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use wal::{Append, IndexOps, PAYLOAD_BYTES_MAX};

/// Not applied yet.
pub(super) struct Made<M: Machine> {
    pub reply_to: ReplyTo<M>,
    pub id: Option<M::EntityId>,
    pub record: Option<Arc<M::Record>>,
    pub settled: Box<Settled<M>>,
    pub follow_ups: Option<Box<FollowUps<M>>>,
}

/// Effects are apart by whether they are the asking entity's own.
struct Decided<M: Machine> {
    record: Option<Arc<M::Record>>,
    refusal: Option<M::Refusal>,
    own: Vec<M::Effect>,
    others: Vec<(M::EntityId, M::Effect)>,
}

pub(super) struct Breach(pub String);

impl<M: Machine, C: BookContext<M>> Book<M, C> {
    pub(super) fn turn(&mut self, ask: Ask<M>) {
        let began = Instant::now();
        if let Err(failure) = self.takes(&ask) {
            return ask.reply_to.send(Err(failure));
        }
        let before = self.generation();
        let turn = match self.host().machine.begins_anew(&ask.command) {
            true => self.turn_at(self.host().clock.wall_ms(), 0),
            false => self.begin_turn(ask.step.as_ref()),
        };
        if let Some(made) = self.decide(ask, turn, began) {
            self.carry_out(made, turn, began);
        }
        if self.generation() != before {
            self.begin_anew(turn.now_ms);
        }
    }

    /// `None` if the decision panicked, and the caller was told.
    pub(super) fn decide(&self, ask: Ask<M>, turn: Turn, began: Instant) -> Option<Made<M>> {
        let host = self.host();
        let Ask { command, entity, id, generation: _, step, fresh: _, asked, reply_to } = ask;
        let decided = catch_unwind(AssertUnwindSafe(|| {
            by_target(&*host.machine, id, host.machine.decide(&self.book, entity.as_deref(), command, turn))
        }));
        let Ok(Decided { record, refusal, own, others }) = decided else {
            tracing::error!(tenant = self.tenant, ?id, "a panic in decide; nothing changed");
            reply_to.send(Err(Failure::Defect("a defect in a rule; nothing changed".to_owned())));
            return None;
        };
        let follow_ups = self.follow_ups(step, others);
        let timing = Timing { queue: began.saturating_duration_since(asked), ..Timing::default() };
        let settled = Box::new(Settled {
            entity,
            record: None,
            seq: None,
            time_ms: turn.now_ms,
            timing,
            refusal,
            performed: None,
            effects: own,
        });
        Some(Made { reply_to, id, record, settled, follow_ups })
    }

    pub(super) fn carry_out(&mut self, made: Made<M>, turn: Turn, began: Instant) {
        let Made { reply_to, id, record, mut settled, follow_ups } = made;
        let context = self.context.clone();
        let host = context.host();
        let Some(record) = record else {
            settled.timing.apply = began.elapsed();
            return host.log.fence(PendingReply::Command { reply_to, settled, follow_ups, listener: None });
        };
        let payload = match encoded(host, self.tenant, id, &record) {
            Ok(payload) => payload,
            Err(failure) => return reply_to.send(Err(failure)),
        };
        let applied = self.apply(host, &record, turn.now_ms).and_then(|()| self.index(&record, turn.now_ms));
        let (index, listener) = match applied {
            Ok(indexed) => indexed,
            Err(Breach(why)) => return self.breach(reply_to, &why),
        };
        if let Some(follow_ups) = &follow_ups {
            self.cache_new_entities(&record, follow_ups);
        }
        if let Some(id) = id {
            settled.entity = host.machine.entity_in(&record, id).or(settled.entity);
        }
        settled.record = Some(record);
        settled.timing.apply = began.elapsed();
        let append = Append { tenant: self.tenant, time_ms: turn.now_ms, payload, index };
        self.append(append, PendingReply::Command { reply_to, settled, follow_ups, listener });
    }

    pub(super) fn append(&mut self, append: Append, reply: PendingReply<M>) {
        self.version += 1;
        self.host().log.append(append, reply);
        self.catch_up();
        // While deadlines are being dealt with, the end of each sets the alarm.
        if self.firing.is_empty() {
            self.arm();
        }
    }

    pub(super) fn takes(&self, ask: &Ask<M>) -> Result<(), Failure> {
        let host = self.host();
        if host.end.is_failed() {
            return Err(host.end.failure());
        }
        let generations = [ask.generation, ask.step.as_ref().map(|step| step.generation)];
        if generations.into_iter().flatten().any(|generation| generation != self.generation()) {
            return Err(Failure::Reset);
        }
        // A command that continues a request is never refused: a part of the request has happened
        // already.
        if ask.fresh && !host.log.has_room() {
            return Err(host.overloaded());
        }
        Ok(())
    }

    pub(super) fn begin_turn(&mut self, step: Option<&Step>) -> Turn {
        let now_ms = match step {
            Some(step) => self.earliest_ms().max(step.at_ms).max(self.latest_ms),
            None => self.now_ms(),
        };
        self.settle(now_ms);
        let host = self.host();
        let ahead_ms = if self.advancing || step.is_some() {
            host.machine.wall_ms(&self.book, now_ms).saturating_sub(host.clock.wall_ms()).max(0)
        } else {
            0
        };
        self.turn_at(now_ms, ahead_ms)
    }

    fn turn_at(&self, now_ms: i64, ahead_ms: i64) -> Turn {
        Turn { tenant: self.tenant, now_ms, seed: self.host().seed(), ahead_ms }
    }

    /// The time of the last record, before which no turn may be.
    pub(super) fn earliest_ms(&self) -> i64 {
        self.host().machine.now_ms(&self.book, LONG_AGO_MS)
    }

    fn follow_ups(
        &self,
        step: Option<Step>,
        effects: Vec<(M::EntityId, M::Effect)>,
    ) -> Option<Box<FollowUps<M>>> {
        (!effects.is_empty()).then(|| {
            let sender = self.context.books().follow_ups.clone();
            Box::new(FollowUps { tenant: self.tenant, step, effects, sender })
        })
    }

    /// Applies a record and checks the invariants. After a breach the book is in doubt.
    pub(super) fn apply(&mut self, host: &Host<M>, record: &M::Record, now_ms: i64) -> Result<(), Breach> {
        let applied = catch_unwind(AssertUnwindSafe(|| {
            host.machine.evolve(&mut self.book, record, now_ms);
            host.machine.check(&self.book, record).map_err(|breach| Breach(breach.to_string()))?;
            host.counters.checked.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }));
        applied.unwrap_or_else(|_| Err(in_doubt()))
    }

    /// After a breach the book is in doubt.
    pub(super) fn index(
        &self,
        record: &M::Record,
        now_ms: i64,
    ) -> Result<(IndexOps, Option<Listener<M>>), Breach> {
        let host = self.host();
        let indexed = catch_unwind(AssertUnwindSafe(|| {
            let mut index = IndexOps::new();
            host.machine.index(self.tenant, now_ms, record, &mut index);
            let is_awaited = host.machine.is_awaited(&self.book, record);
            let listener =
                is_awaited.then(|| Listener { effects: Arc::clone(&host.effects), tenant: self.tenant });
            (index, listener)
        }));
        indexed.map_err(|_| in_doubt())
    }

    /// No caller knows of the new entities before this turn is over, so no newer state can be in the cache.
    fn cache_new_entities(&self, record: &M::Record, follow_ups: &FollowUps<M>) {
        let targets: HashSet<M::EntityId> = follow_ups.effects.iter().map(|(target, _)| *target).collect();
        let generation = self.generation();
        for (id, entity) in self.host().machine.entities_in(record) {
            if targets.contains(&id) {
                self.host().entity_cache.put(self.tenant, id, generation, entity);
            }
        }
    }

    /// An invariant broke: nothing of this record is written, and the book decides nothing more.
    fn breach(&mut self, reply_to: ReplyTo<M>, why: &str) {
        let failure = self.broken(why);
        reply_to.send(Err(failure));
    }

    /// Halts the book, or ends the engine that cannot go on without it.
    pub(super) fn broken(&mut self, why: &str) -> Failure {
        if self.halt(why) { Failure::Halted } else { self.host().end.failure() }
    }
}

fn in_doubt() -> Breach {
    Breach("a panic while a record was applied".to_owned())
}

/// The targets are asked for in the turn, where a panic does no harm; the writer of the log must not see one.
fn by_target<M: Machine>(
    machine: &M,
    id: Option<M::EntityId>,
    decision: Decision<M::Record, M::Refusal, M::Effect>,
) -> Decided<M> {
    let Decision { record, refusal, effects: mut own } = decision;
    let others = own
        .extract_if(.., |effect| id != Some(machine.effect_target(effect)))
        .map(|effect| (machine.effect_target(&effect), effect))
        .collect();
    Decided { record: record.map(Arc::new), refusal, own, others }
}

pub(super) fn encoded<M: Machine>(
    host: &Host<M>,
    tenant: u64,
    id: Option<M::EntityId>,
    record: &M::Record,
) -> Result<Vec<u8>, Failure> {
    let Ok(payload) = catch_unwind(AssertUnwindSafe(|| host.machine.encode(record))) else {
        tracing::error!(tenant, ?id, "a panic while a record was encoded; nothing changed");
        return Err(Failure::Defect("a record cannot be encoded; nothing changed".to_owned()));
    };
    if payload.len() > PAYLOAD_BYTES_MAX {
        tracing::warn!(
            tenant,
            ?id,
            bytes = payload.len(),
            max = PAYLOAD_BYTES_MAX,
            "a command was refused: its record is too large"
        );
        return Err(Failure::TooLarge);
    }
    Ok(payload)
}
