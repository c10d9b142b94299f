//! The turn of a command: settle, decide, evolve, check, append. Until the append nothing has
//! happened that anybody could see, so a panic or a refusal changes nothing; after it the record is
//! the log's.
//!
//! Commands that came together become one record where they can, with one place in the log, one
//! frame and one acknowledgement. Each is decided on the book as the one before it left it, and
//! checked by itself, as if it had come alone; a record that cannot join the others is written by
//! itself, in its place.

use super::Book;
use crate::machine::{Decision, LONG_AGO_MS, Machine, Turn};
use crate::protocol::{Ask, Failure, FollowUps, Listener, PendingReply, Reply, ReplyTo, Settled, Timing};
use std::collections::HashSet;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use wal::{Append, IndexOps, PAYLOAD_BYTES_MAX};

struct Decided<M: Machine> {
    reply_to: ReplyTo<M>,
    id: Option<M::EntityId>,
    record: Option<M::Record>,
    settled: Box<Settled<M>>,
    follow_ups: Option<Box<FollowUps<M>>>,
}

/// Applied, and not in the log yet.
struct Applied<M: Machine> {
    record: M::Record,
    turn: Turn,
    first: Reply<M>,
    others: Vec<Reply<M>>,
}

type Indexed<M> = (IndexOps, Option<Listener<M>>);

impl<M: Machine> Book<M> {
    pub(super) fn turn(&mut self, ask: Ask<M>) {
        let began = Instant::now();
        if let Err(failure) = self.takes(&ask) {
            return ask.reply_to.send(Err(failure));
        }
        let before = self.host.machine.generation(&self.book);
        let turn = self.begin_turn(&ask);
        if let Some(decided) = self.decide(ask, turn, began) {
            self.carry_out(decided, turn, began);
        }
        if self.host.machine.generation(&self.book) != before {
            self.begin_anew(turn.now_ms);
        }
    }

    pub(super) fn turns(&mut self, asks: Vec<Box<Ask<M>>>) {
        let began = Instant::now();
        let mut together: Option<Applied<M>> = None;
        for ask in asks {
            let taken = if self.halted { Err(Failure::Halted) } else { self.takes(&ask) };
            if let Err(failure) = taken {
                ask.reply_to.send(Err(failure));
                continue;
            }
            let turn = match &together {
                // The instant is common; ids are derived from bits of their own.
                Some(together) => Turn { seed: (self.host.config.seeds)(), ..together.turn },
                None => self.begin_turn(&ask),
            };
            let Some(mut decided) = self.decide(*ask, turn, began) else { continue };
            // Unless anything else comes of the decision.
            let Settled { refusal, effects, .. } = &*decided.settled;
            let is_all = refusal.is_none() && effects.is_empty() && decided.follow_ups.is_none();
            match decided.record.take_if(|record| is_all && self.host.machine.may_join(record)) {
                Some(record) => self.join(&mut together, decided, record, turn),
                None => {
                    self.append_together(together.take(), began);
                    self.carry_out(decided, turn, began);
                }
            }
        }
        self.append_together(together, began);
    }

    fn takes(&self, ask: &Ask<M>) -> Result<(), Failure> {
        if let Some(failure) = self.host.failure() {
            return Err(failure);
        }
        // Whatever it continues: who has the book now goes on with it.
        if self.host.is_elsewhere(self.tenant) {
            return Err(Failure::Elsewhere);
        }
        let generation = self.host.machine.generation(&self.book);
        let is_of_before = matches!(ask.generation, Some(known) if known != generation)
            || matches!(&ask.step, Some(step) if step.generation != generation);
        if is_of_before {
            return Err(Failure::Reset);
        }
        // A command that continues a request is never refused: a part of the request has happened
        // already.
        if ask.fresh && !self.host.log.has_room() {
            return Err(self.host.overloaded());
        }
        Ok(())
    }

    fn begin_turn(&mut self, ask: &Ask<M>) -> Turn {
        let wall_ms = self.host.config.clock.wall_ms();
        let seed = (self.host.config.seeds)();
        let mut turn = Turn { tenant: self.tenant, now_ms: wall_ms, seed, ahead_ms: 0 };
        let machine = &self.host.machine;
        if machine.begins_anew(&ask.command) {
            return turn;
        }
        turn.now_ms = match &ask.step {
            Some(step) => self.earliest_ms().max(step.at_ms),
            None => machine.now_ms(&self.book, wall_ms),
        }
        .max(self.latest_ms);
        self.latest_ms = turn.now_ms;
        machine.settle(&mut self.book, turn.now_ms);
        if self.advancing || ask.step.is_some() {
            turn.ahead_ms = machine.wall_ms(&self.book, turn.now_ms).saturating_sub(wall_ms).max(0);
        }
        turn
    }

    /// The time of the last record, before which no turn may be.
    pub(super) fn earliest_ms(&self) -> i64 {
        self.host.machine.now_ms(&self.book, LONG_AGO_MS)
    }

    /// `None` if the decision panicked, and the caller was told.
    fn decide(&self, ask: Ask<M>, turn: Turn, began: Instant) -> Option<Decided<M>> {
        let machine = &*self.host.machine;
        let Ask { command, entity, id, step, asked, reply_to, .. } = ask;
        let decided = catch_unwind(AssertUnwindSafe(|| {
            let Decision { record, refusal, effects } =
                machine.decide(&self.book, entity.as_deref(), command, turn);
            let (mut own, mut others) = (Vec::new(), Vec::new());
            // The targets are asked for in the turn, where a panic does no harm; the writer of the
            // log must not see one.
            for effect in effects {
                match machine.effect_target(&effect) {
                    target if Some(target) == id => own.push(effect),
                    target => others.push((target, effect)),
                }
            }
            (record, refusal, own, others)
        }));
        let Ok((record, refusal, own, others)) = decided else {
            tracing::error!(tenant = self.tenant, ?id, "a panic in decide; nothing changed");
            reply_to.send(Err(Failure::Defect("a defect in a rule; nothing changed".to_owned())));
            return None;
        };
        let follow_ups = if others.is_empty() {
            None
        } else {
            let sender = self.host.follow_ups.clone();
            Some(Box::new(FollowUps { tenant: self.tenant, step, effects: others, sender }))
        };
        let settled = Box::new(Settled {
            entity,
            record: None,
            seq: None,
            time_ms: turn.now_ms,
            timing: Timing { queue: began.saturating_duration_since(asked), ..Timing::default() },
            refusal,
            performed: None,
            effects: own,
        });
        Some(Decided { reply_to, id, record, settled, follow_ups })
    }

    fn carry_out(&mut self, decided: Decided<M>, turn: Turn, began: Instant) {
        let Decided { reply_to, id, record, mut settled, follow_ups } = decided;
        let Some(record) = record else {
            settled.timing.apply = began.elapsed();
            let (first, others) = ((reply_to, settled), Vec::new());
            let reply = PendingReply::Command { first, others, follow_ups, listener: None };
            return self.host.log.fence(reply);
        };
        let payload = match self.encoded(id, &record) {
            Ok(payload) => payload,
            Err(failure) => return reply_to.send(Err(failure)),
        };
        let applied = guarded(|| {
            self.apply(&record, turn.now_ms)?;
            Ok(self.index(&record, turn.now_ms))
        });
        let indexed = match applied {
            Ok(indexed) => indexed,
            Err(why) => return reply_to.send(Err(self.broken(&why))),
        };
        if let Some(follow_ups) = &follow_ups {
            // No caller knows of the new entities before this turn is over, so no newer state can be in
            // the cache.
            let targets: HashSet<_> = follow_ups.effects.iter().map(|(target, _)| *target).collect();
            let generation = self.host.machine.generation(&self.book);
            for (new, entity) in self.host.machine.entities_in(&record) {
                if targets.contains(&new) {
                    self.host.entity_cache.insert((self.tenant, new), (generation, entity));
                }
            }
        }
        if let Some(id) = id {
            settled.entity = self.host.machine.entity_in(&record, id).or(settled.entity);
        }
        let applied = Applied { record, turn, first: (reply_to, settled), others: Vec::new() };
        self.append(applied, payload, indexed, follow_ups, began);
    }

    fn append(
        &mut self,
        applied: Applied<M>,
        payload: Vec<u8>,
        (index, listener): Indexed<M>,
        follow_ups: Option<Box<FollowUps<M>>>,
        began: Instant,
    ) {
        let Applied { record, turn, mut first, mut others } = applied;
        let (apply, record) = (began.elapsed(), Arc::new(record));
        for (_, settled) in iter::once(&mut first).chain(&mut others) {
            settled.timing.apply = apply;
            settled.record = Some(Arc::clone(&record));
        }
        self.version += 1;
        let append = Append { tenant: self.tenant, time_ms: turn.now_ms, payload, index };
        self.host.log.append(append, PendingReply::Command { first, others, follow_ups, listener });
        if !self.put_off.is_empty() {
            self.catch_up();
        }
        // While deadlines are being dealt with, the end of each sets the alarm.
        if self.firing.is_empty() {
            self.arm();
        }
    }

    fn encoded(&self, id: Option<M::EntityId>, record: &M::Record) -> Result<Vec<u8>, Failure> {
        let tenant = self.tenant;
        let Ok(payload) = catch_unwind(AssertUnwindSafe(|| self.host.machine.encode(record))) else {
            tracing::error!(tenant, ?id, "a panic while a record was encoded; nothing changed");
            return Err(Failure::Defect("a record cannot be encoded; nothing changed".to_owned()));
        };
        if payload.len() > PAYLOAD_BYTES_MAX {
            let (bytes, max) = (payload.len(), PAYLOAD_BYTES_MAX);
            tracing::warn!(tenant, ?id, bytes, max, "a command was refused: its record is too large");
            return Err(Failure::TooLarge);
        }
        Ok(payload)
    }

    pub(super) fn apply(&mut self, record: &M::Record, now_ms: i64) -> Result<(), String> {
        let machine = &self.host.machine;
        machine.evolve(&mut self.book, record, now_ms);
        if let Err(breach) = machine.check(&self.book, record) {
            return Err(breach.to_string());
        }
        self.host.checked.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    pub(super) fn index(&self, record: &M::Record, now_ms: i64) -> Indexed<M> {
        let (host, tenant) = (&self.host, self.tenant);
        let mut index = IndexOps::new();
        host.machine.index(tenant, now_ms, record, &mut index);
        let listener = match host.machine.is_awaited(&self.book, record) {
            true => Some(Listener { effects: Arc::clone(&host.effects), tenant }),
            false => None,
        };
        (index, listener)
    }

    /// An invariant broke: nothing of this record is written. Halts the book, or ends the engine
    /// that cannot go on without it.
    fn broken(&mut self, why: &str) -> Failure {
        if self.halt(why) { Failure::Halted } else { self.host.failure().unwrap_or(Failure::Halted) }
    }

    fn join(
        &mut self,
        together: &mut Option<Applied<M>>,
        decided: Decided<M>,
        record: M::Record,
        turn: Turn,
    ) {
        let Decided { reply_to, id, mut settled, .. } = decided;
        if let Some(id) = id {
            settled.entity = self.host.machine.entity_in(&record, id).or(settled.entity);
        }
        if let Err(why) = guarded(|| self.apply(&record, turn.now_ms)) {
            // Decisions before it are in the book that is in doubt, and not in the log.
            let before = together.take().into_iter();
            let before = before.flat_map(|Applied { first, others, .. }| iter::once(first).chain(others));
            return self.fail(before.chain([(reply_to, settled)]), &why);
        }
        match together {
            Some(together) => {
                self.host.machine.join(&mut together.record, record);
                together.others.push((reply_to, settled));
            }
            None => {
                *together = Some(Applied { record, turn, first: (reply_to, settled), others: Vec::new() });
            }
        }
    }

    fn append_together(&mut self, together: Option<Applied<M>>, began: Instant) {
        let Some(together) = together else { return };
        let written = match self.encoded(None, &together.record) {
            Ok(payload) => guarded(|| Ok((payload, self.index(&together.record, together.turn.now_ms)))),
            Err(_) => Err("a record of several commands cannot be written".to_owned()),
        };
        match written {
            Ok((payload, indexed)) => self.append(together, payload, indexed, None, began),
            Err(why) => self.fail(iter::once(together.first).chain(together.others), &why),
        }
    }

    fn fail(&mut self, replies: impl IntoIterator<Item = Reply<M>>, why: &str) {
        let failure = self.broken(why);
        for (reply_to, _) in replies {
            reply_to.send(Err(failure.clone()));
        }
    }
}

pub(super) fn guarded<T>(apply: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(apply)) {
        Ok(applied) => applied,
        Err(_) => Err("a panic while a record was applied".to_owned()),
    }
}
