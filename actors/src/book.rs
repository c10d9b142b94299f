//! The book actor: one tenant in one mode. It decides in one turn, appends, and takes the next message at once; it never waits for the disk.
//!
//! Messages go through a queue of our own; ractor's mailbox only carries the ring of a bell, so that a burst of commands costs one mailbox message.

use crate::engine::{Engine, Shared};
use crate::machine::{Machine, Turn};
use crate::rider::{Ask, Failure, Rider, Settled, Timing};
use crossbeam::queue::SegQueue;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::collections::HashSet;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Instant;
use tokio::sync::oneshot;
use wal::{Append, IndexOps, Seq, Snapshot};

/// Messages handled per ring before other actors get their turn.
const BURST_MAX: usize = 256;

/// The first byte of the host's own index keys; a machine's keys start with a tenant, which is smaller.
const HOST_PREFIX: u8 = 0xFF;

/// Marks a tenant that has a deadline, so that a restart wakes its book.
pub(crate) fn wake_key(tenant: u64) -> Vec<u8> {
    let mut key = vec![HOST_PREFIX, b'w'];
    key.extend_from_slice(&tenant.to_be_bytes());
    key
}

pub(crate) enum BookMessage<M: Machine> {
    Ask(Ask<M>),
    View {
        query: M::Query,
        to: oneshot::Sender<Result<M::View, Failure>>,
    },
    /// A deadline may have come.
    Wake,
    /// The command of a deadline has been dealt with.
    Fired(M::EntityId),
    /// The tenant's clock, for a jump.
    Now(oneshot::Sender<i64>),
    /// The earliest deadline up to `until_ms` that `skip` does not name; it is marked as being dealt with.
    NextDue {
        until_ms: i64,
        skip: Arc<HashSet<(i64, M::EntityId)>>,
        to: oneshot::Sender<Due<M>>,
    },
    /// Write a snapshot if anything changed since the last.
    Snapshot(oneshot::Sender<Result<Seq, Failure>>),
    /// Leave memory if nothing is due: snapshot, then stop.
    Retire,
    /// The snapshot of a retiring book is durable.
    Retired {
        version: u64,
    },
}

/// What a jump finds next.
pub(crate) enum Due<M: Machine> {
    /// This one, now marked as being dealt with.
    Next(i64, M::EntityId),
    /// One is being dealt with already; look again.
    Busy,
    /// Nothing more.
    None,
}

pub(crate) struct BookSlot<M: Machine> {
    queue: SegQueue<BookMessage<M>>,
    rung: AtomicBool,
    bell: ActorRef<Ring>,
    pub last_used: AtomicI64,
}

impl<M: Machine> BookSlot<M> {
    pub fn send(&self, message: BookMessage<M>) {
        self.queue.push(message);
        self.ring();
    }

    fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            // Fails only when the actor is gone; then the supervisor has ended the engine.
            let _ = self.bell.cast(Ring);
        }
    }

    pub fn touch(&self, coarse_seconds: i64) {
        if self.last_used.load(Ordering::Relaxed) != coarse_seconds {
            self.last_used.store(coarse_seconds, Ordering::Relaxed);
        }
    }
}

/// "There is something in the queue."
pub(crate) struct Ring;

pub(crate) struct BookArguments<M: Machine> {
    pub tenant: u64,
    pub book: Option<M::Book>,
}

struct BookActor<M: Machine> {
    engine: Engine<M>,
    slot: oneshot::Receiver<Arc<BookSlot<M>>>,
}

/// The sending half that `pre_start` waits for: the slot holds the actor's reference, which exists only after the spawn.
pub(crate) fn spawn_book<M: Machine>(engine: &Engine<M>, arguments: BookArguments<M>) -> Arc<BookSlot<M>> {
    let _runtime = engine.shared.runtime.enter();
    let (give, slot) = oneshot::channel();
    let actor = BookHost::<M>(PhantomData);
    let tenant = arguments.tenant;
    let start = (BookActor { engine: engine.clone(), slot }, arguments);
    let (bell, started) = match ractor::ActorRuntime::spawn_instant(None, actor, start) {
        Ok(spawned) => spawned,
        Err(error) => {
            // Only a name clash or a stopped runtime could cause it, and books have no names.
            engine.shared.fail(&format!("the actor of book {tenant} did not start: {error}"));
            std::process::abort();
        }
    };
    let engine = engine.clone();
    engine.shared.runtime.clone().spawn(async move {
        let ended = match started.await {
            Ok(Ok(running)) => running.await.map_err(|error| error.to_string()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = ended {
            engine.shared.fail(&format!("the actor of book {tenant} ended: {why}"));
        }
    });
    let slot = Arc::new(BookSlot { queue: SegQueue::new(), rung: AtomicBool::new(false), bell, last_used: AtomicI64::new(0) });
    let _ = give.send(Arc::clone(&slot));
    slot
}

struct BookHost<M>(PhantomData<fn() -> M>);

struct BookState<M: Machine> {
    engine: Engine<M>,
    slot: Arc<BookSlot<M>>,
    tenant: u64,
    book: M::Book,
    /// Counts the records since the actor started.
    version: u64,
    /// The version that the newest snapshot holds.
    saved: u64,
    /// Deadlines that are being dealt with.
    firing: HashSet<M::EntityId>,
    /// The wall time of the alarm that is set.
    armed_ms: Option<i64>,
}

impl<M: Machine> Actor for BookHost<M> {
    type Msg = Ring;
    type State = BookState<M>;
    type Arguments = (BookActor<M>, BookArguments<M>);

    async fn pre_start(&self, _myself: ActorRef<Ring>, (actor, arguments): Self::Arguments) -> Result<Self::State, ActorProcessingErr> {
        let slot = actor.slot.await?;
        let shared = &actor.engine.shared;
        let recovered = arguments.book.is_some();
        let book = match arguments.book {
            Some(book) => book,
            None => match shared.reader.snapshot(arguments.tenant, None)? {
                Some(stored) => shared.machine.restore(arguments.tenant, &stored.state)?,
                None => shared.machine.empty(arguments.tenant),
            },
        };
        // A recovered book may be ahead of its snapshot.
        let version = u64::from(recovered);
        Ok(BookState { engine: actor.engine, slot, tenant: arguments.tenant, book, version, saved: 0, firing: HashSet::new(), armed_ms: None })
    }

    async fn handle(&self, myself: ActorRef<Ring>, _ring: Ring, state: &mut Self::State) -> Result<(), ActorProcessingErr> {
        // Cleared before the queue is read: whoever pushes after our last look rings again.
        state.slot.rung.store(false, Ordering::Release);
        for _ in 0..BURST_MAX {
            match state.slot.queue.pop() {
                Some(message) => {
                    if state.handle(message) {
                        myself.stop(None);
                        return Ok(());
                    }
                }
                None => return Ok(()),
            }
        }
        state.slot.ring();
        Ok(())
    }
}

impl<M: Machine> BookState<M> {
    fn shared(&self) -> &Shared<M> {
        &self.engine.shared
    }

    fn now_ms(&self) -> i64 {
        self.shared().machine.now_ms(&self.book, self.shared().config.clock.wall_ms())
    }

    /// True when the actor is to stop.
    fn handle(&mut self, message: BookMessage<M>) -> bool {
        match message {
            BookMessage::Ask(ask) => self.turn(ask),
            BookMessage::View { query, to } => {
                let now = self.now_ms();
                let machine = Arc::clone(&self.shared().machine);
                machine.settle(&mut self.book, now);
                let view = machine.view(&self.book, query, now);
                self.shared().log.fence(Rider::View { to, view });
            }
            BookMessage::Wake => {
                self.armed_ms = None;
                self.fire();
            }
            BookMessage::Fired(id) => {
                self.firing.remove(&id);
                self.fire();
            }
            BookMessage::Now(to) => {
                let _ = to.send(self.now_ms());
            }
            BookMessage::NextDue { until_ms, skip, to } => {
                let _ = to.send(self.next_due(until_ms, &skip));
            }
            BookMessage::Snapshot(to) => self.snapshot(to),
            BookMessage::Retire => self.retire(),
            BookMessage::Retired { version } => return self.retired(version),
        }
        false
    }

    fn turn(&mut self, ask: Ask<M>) {
        let began = Instant::now();
        let shared = Arc::clone(&self.engine.shared);
        if let Some(why) = shared.failed.get() {
            return ask.answer.send(Err(Failure::Storage(why.clone())));
        }
        if !shared.log.has_room() {
            return ask.answer.send(Err(Failure::Overloaded));
        }
        let now_ms = match ask.at_ms {
            // A wall clock in the far past leaves the time of the last record, before which no turn may be.
            Some(at_ms) => shared.machine.now_ms(&self.book, i64::MIN / 4).max(at_ms),
            None => self.now_ms(),
        };
        shared.machine.settle(&mut self.book, now_ms);
        let turn = Turn { tenant: self.tenant, now_ms, seed: shared.seed() };
        let Ask { command, entity, id, at_ms: _, asked, answer } = ask;
        let decided = catch_unwind(AssertUnwindSafe(|| shared.machine.decide(&self.book, entity.as_deref(), command, turn)));
        let Ok(decision) = decided else {
            tracing::error!(tenant = self.tenant, ?id, "a panic in decide; nothing changed");
            return answer.send(Err(Failure::Defect("a defect in a rule; nothing changed".to_owned())));
        };
        let mut settled = Settled {
            entity,
            record: None,
            seq: None,
            time_ms: now_ms,
            timing: Timing { queue: began.saturating_duration_since(asked), ..Timing::default() },
            refusal: decision.refusal,
            performed: None,
            effects: Vec::new(),
        };
        let Some(record) = decision.record else {
            settled.timing.apply = began.elapsed();
            return shared.log.fence(Rider::Answer { answer, settled, effects: decision.effects, engine: self.engine.clone(), tenant: self.tenant, asker: id });
        };
        let record = Arc::new(record);
        let written = catch_unwind(AssertUnwindSafe(|| {
            shared.machine.evolve(&mut self.book, &record, now_ms);
            shared.machine.check(&self.book, &record)?;
            let mut index = IndexOps::new();
            shared.machine.index(self.tenant, now_ms, &record, &mut index);
            Ok::<_, String>((shared.machine.encode(&record), index))
        }));
        let (payload, index) = match written {
            Ok(Ok(written)) => written,
            Ok(Err(breach)) => return self.breach(answer, &breach),
            Err(_) => return self.breach(answer, "a panic while a record was applied"),
        };
        if let Some(id) = id {
            settled.entity = shared.machine.entity_in(&record, id).or(settled.entity);
        }
        settled.record = Some(record);
        self.version += 1;
        settled.timing.apply = began.elapsed();
        let rider = Rider::Answer { answer, settled, effects: decision.effects, engine: self.engine.clone(), tenant: self.tenant, asker: id };
        shared.log.append(Append { tenant: self.tenant, time_ms: now_ms, payload, index }, rider);
        self.arm();
    }

    /// An invariant broke: nothing of this record is written, and the engine ends.
    fn breach(&mut self, answer: crate::rider::Answer<M>, why: &str) {
        let why = format!("book {}: {why}", self.tenant);
        self.shared().fail(&why);
        answer.send(Err(Failure::Storage(why)));
    }

    fn due(&self, skip: &dyn Fn(i64, M::EntityId) -> bool) -> Option<(i64, M::EntityId)> {
        // The machine skips by name; a jump also by instant, so that an entity with a new deadline is seen again.
        let machine = &self.shared().machine;
        let mut skipped: HashSet<M::EntityId> = HashSet::new();
        loop {
            let found = machine.next_due(&self.book, &|id| self.firing.contains(&id) || skipped.contains(&id))?;
            if !skip(found.0, found.1) {
                return Some(found);
            }
            skipped.insert(found.1);
        }
    }

    /// Gives every deadline that has come to its entity, and sets the alarm for the next.
    fn fire(&mut self) {
        let now = self.now_ms();
        while let Some((at_ms, id)) = self.due(&|_, _| false) {
            if at_ms > now {
                break;
            }
            self.firing.insert(id);
            let engine = self.engine.clone();
            let tenant = self.tenant;
            self.shared().runtime.spawn(async move {
                crate::jump::deadline(&engine, tenant, id, None).await;
                engine.book(tenant, |slot| slot.send(BookMessage::Fired(id)));
            });
        }
        self.arm();
    }

    fn arm(&mut self) {
        let Some((at_ms, _)) = self.due(&|_, _| false) else { return };
        let wall_ms = self.shared().machine.wall_ms(&self.book, at_ms);
        if self.armed_ms.is_none_or(|armed| wall_ms < armed) {
            self.armed_ms = Some(wall_ms);
            self.shared().alarm.set(wall_ms, self.tenant);
        }
    }

    fn next_due(&mut self, until_ms: i64, skip: &HashSet<(i64, M::EntityId)>) -> Due<M> {
        if !self.firing.is_empty() {
            return Due::Busy;
        }
        match self.due(&|at_ms, id| skip.contains(&(at_ms, id))) {
            Some((at_ms, id)) if at_ms <= until_ms => {
                self.firing.insert(id);
                Due::Next(at_ms, id)
            }
            _ => Due::None,
        }
    }

    fn snapshot(&mut self, to: oneshot::Sender<Result<Seq, Failure>>) {
        if self.saved == self.version || self.shared().failed.get().is_some() {
            let _ = to.send(Ok(0));
            return;
        }
        let mut index = IndexOps::new();
        let key = wake_key(self.tenant);
        match self.shared().machine.next_due(&self.book, &|_| false) {
            Some(_) => index.put(&key, &[]),
            None => index.delete(&key),
        }
        let state = self.shared().machine.save(&self.book);
        self.saved = self.version;
        let time_ms = self.shared().machine.now_ms(&self.book, i64::MIN / 4);
        let snapshot = Snapshot { tenant: self.tenant, time_ms, state, index };
        self.shared().log.snapshot(snapshot, Rider::Done(to));
    }

    fn retire(&mut self) {
        let pending = !self.firing.is_empty() || self.shared().machine.next_due(&self.book, &|_| false).is_some();
        if pending {
            return;
        }
        let version = self.version;
        let (to, from) = oneshot::channel();
        self.snapshot(to);
        let engine = self.engine.clone();
        let tenant = self.tenant;
        self.shared().runtime.spawn(async move {
            if matches!(from.await, Ok(Ok(_)))
                && let Some(slot) = engine.shared.books.get(&tenant)
            {
                slot.send(BookMessage::Retired { version });
            }
        });
    }

    fn retired(&mut self, version: u64) -> bool {
        if version != self.version || !self.firing.is_empty() {
            return false;
        }
        // Under the map's lock nobody can be between finding the slot and pushing a message.
        let slot = &self.slot;
        self.engine.shared.books.remove_if(&self.tenant, |_, _| slot.queue.is_empty()).is_some()
    }
}
