//! The book actor: one tenant in one mode. It decides in one turn, appends, and takes the next
//! message at once; it never waits for the disk.

use crate::admission::Admission;
use crate::background_snapshot::{self, BackgroundSnapshot};
use crate::book_handle::{BookHandle, BookMessage, BookStart, Due, Resumption, Skip, WakeUp};
use crate::clock_advance::Firing;
use crate::engine::{Engine, Shared};
use crate::follow_ups::FollowUps;
use crate::machine::{Machine, Turn};
use crate::pending_reply::{Ask, Failure, Listener, PendingReply, Settled, Timing};
use crate::recovery::Recovered;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::collections::HashSet;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::{Append, IndexOps, PAYLOAD_BYTES_MAX, Seq, Snapshot};

/// Messages handled per wake-up before other actors get their turn.
const BURST_MAX: usize = 256;

/// Deadlines dealt with at once per book: they need no permit, so this is what bounds them. The
/// next comes when one is done.
const FIRING_MAX: usize = 64;

/// The rest of a deadline that came and changed nothing (a defect, no room in the log), before it
/// comes again.
const REST: Duration = Duration::from_secs(1);

/// The first byte of the host's own index keys; a machine's keys start with a tenant, which is
/// smaller.
const HOST_PREFIX: u8 = 0xFF;

/// Marks a tenant that has a deadline, so that a restart wakes its book.
pub fn wake_key(tenant: u64) -> Vec<u8> {
    let mut key = vec![HOST_PREFIX, b'w'];
    key.extend_from_slice(&tenant.to_be_bytes());
    key
}

/// Writes the mark of a book that has a deadline, and takes that of another away.
pub(crate) fn mark<M: Machine>(machine: &M, tenant: u64, book: &M::Book, index: &mut IndexOps) {
    let key = wake_key(tenant);
    match machine.next_due(book, &|_| false) {
        Some(_) => index.put(&key, &[]),
        None => index.delete(&key),
    }
}

pub(crate) struct BookHost<M>(PhantomData<fn() -> M>);

impl<M> BookHost<M> {
    pub fn new() -> Self {
        BookHost(PhantomData)
    }
}

pub(crate) struct BookState<M: Machine> {
    engine: Engine<M>,
    handle: Arc<BookHandle<M>>,
    tenant: u64,
    book: M::Book,
    /// The book's state is in doubt, or it is set aside: nothing is decided, shown or saved.
    halted: bool,
    /// Counts the records since the actor started.
    version: u64,
    /// The version that the newest snapshot holds.
    saved: u64,
    /// While a background snapshot is being written, the callers that wait to ask for the next one.
    background: Option<Vec<oneshot::Sender<Result<Seq, Failure>>>>,
    /// Deadlines that are being dealt with.
    firing: HashSet<M::EntityId>,
    /// Deadlines that came and changed nothing, and wait to come again.
    resting: HashSet<M::EntityId>,
    /// Deadlines are left to a clock advance.
    advancing: bool,
    /// The callers of snapshots that a clock advance has put off.
    put_off: Vec<oneshot::Sender<Result<Seq, Failure>>>,
    /// The wall time of the alarm that is set.
    armed_ms: Option<i64>,
    /// The latest instant that the book has lived; a wall clock that is set back does not take it
    /// back.
    latest_ms: i64,
}

impl<M: Machine> Actor for BookHost<M> {
    type Msg = WakeUp;
    type State = BookState<M>;
    type Arguments = BookStart<M>;

    async fn pre_start(
        &self,
        _myself: ActorRef<WakeUp>,
        start: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        let BookStart { engine, tenant, recovered, handle } = start;
        let handle = handle.await?;
        let shared = &engine.shared;
        let empty = || Recovered { book: shared.machine.empty(tenant), ahead: false, settled_ms: i64::MIN };
        let mut halted = shared.halts.why(tenant).is_some();
        let Recovered { book, ahead, settled_ms } = match recovered {
            _ if halted => empty(),
            Some(recovered) => recovered,
            None => match shared.reader.snapshot(tenant, None)? {
                Some(stored) => match shared.machine.restore(tenant, &stored.state) {
                    Ok(book) => Recovered { book, ahead: false, settled_ms: stored.time_ms },
                    Err(error)
                        if shared.halt(
                            tenant,
                            &format!("its snapshot at {} cannot be decoded: {error}", stored.seq),
                        ) =>
                    {
                        halted = true;
                        empty()
                    }
                    Err(error) => return Err(error.into()),
                },
                None => empty(),
            },
        };
        Ok(BookState {
            engine,
            handle,
            tenant,
            book,
            halted,
            version: u64::from(ahead),
            saved: 0,
            background: None,
            firing: HashSet::new(),
            resting: HashSet::new(),
            advancing: false,
            put_off: Vec::new(),
            armed_ms: None,
            latest_ms: settled_ms,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<WakeUp>,
        _wake_up: WakeUp,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        state.handle.mailbox.begin();
        for _ in 0..BURST_MAX {
            let Some(message) = state.handle.mailbox.pop() else {
                if state.shared().closed.load(Ordering::Acquire) && state.leave() {
                    myself.stop(None);
                }
                return Ok(());
            };
            // ractor keeps a panic to itself; a book whose state is in doubt must not decide any
            // more.
            match catch_unwind(AssertUnwindSafe(|| state.handle(message))) {
                Ok(false) => {}
                Ok(true) => {
                    myself.stop(None);
                    return Ok(());
                }
                Err(_) => {
                    let why = "a panic outside of a decision";
                    state.shared().counters.breached.fetch_add(1, Ordering::Relaxed);
                    if !state.shared().halt(state.tenant, why) {
                        return Err(why.into());
                    }
                    state.halt();
                }
            }
        }
        state.handle.wake();
        Ok(())
    }
}

impl<M: Machine> BookState<M> {
    fn shared(&self) -> &Shared<M> {
        &self.engine.shared
    }

    fn now_ms(&self) -> i64 {
        self.shared().machine.now_ms(&self.book, self.shared().config.clock.wall_ms()).max(self.latest_ms)
    }

    fn settle(&mut self, now_ms: i64) {
        self.latest_ms = now_ms;
        let machine = Arc::clone(&self.engine.shared.machine);
        machine.settle(&mut self.book, now_ms);
    }

    /// True when the actor is to stop.
    fn handle(&mut self, message: BookMessage<M>) -> bool {
        if self.halted {
            self.refuse(message);
            return false;
        }
        match message {
            BookMessage::Ask(ask) => self.turn(*ask),
            BookMessage::View { .. } if self.shared().failed.get().is_some() => {
                message.fail(self.shared().failure())
            }
            BookMessage::View { query, to, admission } => self.view(query, to, admission),
            BookMessage::Wake => {
                self.armed_ms = None;
                self.fire(None);
            }
            BookMessage::Fired(at_ms, id) => {
                self.firing.remove(&id);
                self.fire(Some((at_ms, id)));
            }
            BookMessage::Rested(id) => {
                self.resting.remove(&id);
                self.fire(None);
            }
            BookMessage::BeginAdvance(to) => {
                self.advancing = true;
                let _ = to.send(self.now_ms());
            }
            BookMessage::NextDue { until_ms, dealt_with, to } => {
                let due = self.next_due(until_ms, &dealt_with);
                // If the advance is gone, the deadline is dropped here.
                let _ = to.send((due, dealt_with));
            }
            BookMessage::EndAdvance => {
                self.advancing = false;
                // The alarm was set for the old clock.
                self.armed_ms = None;
                self.catch_up();
                self.fire(None);
            }
            BookMessage::Snapshot(to) => self.snapshot(to),
            BookMessage::Saved(version) => self.saved_in_background(version),
            // The finding is of the book before it was resumed.
            BookMessage::Halt { resumptions, .. }
                if resumptions != self.shared().halts.resumptions(self.tenant) => {}
            BookMessage::Halt { why, .. } => {
                self.shared().counters.breached.fetch_add(1, Ordering::Relaxed);
                if self.shared().halt(self.tenant, &why) {
                    self.halt();
                }
            }
            // Only a halted book takes these.
            message @ (BookMessage::Fence(_) | BookMessage::Resume(_)) => {
                message.fail(Failure::Defect("the book is not halted".to_owned()))
            }
            BookMessage::Retire => self.retire(),
            BookMessage::Retired { version } => return self.retired(version),
        }
        false
    }

    /// Halts: nothing more is decided, and nothing of the state in doubt is kept. Deadlines, and
    /// what is under way for them, are found again when the book is resumed.
    fn halt(&mut self) {
        self.halted = true;
        self.book = self.shared().machine.empty(self.tenant);
        self.firing.clear();
        self.resting.clear();
        self.advancing = false;
        self.armed_ms = None;
        // A background snapshot that is being written is of an earlier turn; callers that wait for
        // the next one wait in vain.
        for to in
            self.background.iter_mut().flat_map(|waiting| waiting.drain(..)).chain(self.put_off.drain(..))
        {
            let _ = to.send(Err(Failure::Halted));
        }
    }

    /// Handles a message to a halted book.
    fn refuse(&mut self, message: BookMessage<M>) {
        match message {
            BookMessage::Fence(to) => match &mut self.background {
                Some(waiting) => waiting.push(to),
                None => self.shared().log.fence(PendingReply::Done(to)),
            },
            BookMessage::Saved(_) => {
                for to in self.background.take().unwrap_or_default() {
                    self.shared().log.fence(PendingReply::Done(to));
                }
            }
            BookMessage::Resume(resumption) => self.resume(*resumption),
            message => message.fail(Failure::Halted),
        }
    }

    fn resume(&mut self, resumption: Resumption<M>) {
        let Resumption { book, settled_ms, to } = resumption;
        self.book = book;
        self.halted = false;
        // It is in no snapshot that this actor knows of.
        self.version += 1;
        self.latest_ms = self.latest_ms.max(settled_ms);
        self.shared().resumed(self.tenant);
        let _ = to.send(());
        self.fire(None);
    }

    fn view(&mut self, query: M::Query, to: oneshot::Sender<Result<M::View, Failure>>, admission: Admission) {
        let now_ms = self.now_ms();
        self.settle(now_ms);
        let shared = &self.engine.shared;
        match catch_unwind(AssertUnwindSafe(|| shared.machine.view(&self.book, query, now_ms))) {
            Ok(view) => shared.log.fence(PendingReply::View { to, view, admission }),
            Err(_) => {
                drop(admission);
                let _ = to.send(Err(Failure::Defect("a defect in a view; nothing changed".to_owned())));
            }
        }
    }

    fn turn(&mut self, ask: Ask<M>) {
        let began = Instant::now();
        let shared = Arc::clone(&self.engine.shared);
        if shared.failed.get().is_some() {
            return ask.reply_to.send(Err(shared.failure()));
        }
        // A command that continues a request is never refused: something of it has happened
        // already.
        if ask.fresh && !shared.log.has_room() {
            let refused = self.engine.overloaded();
            return ask.reply_to.send(Err(refused));
        }
        let now_ms = match &ask.step {
            // A wall clock in the far past leaves the time of the last record, before which no turn
            // may be.
            Some(step) => shared.machine.now_ms(&self.book, i64::MIN / 4).max(step.at_ms).max(self.latest_ms),
            None => self.now_ms(),
        };
        self.settle(now_ms);
        let is_advancing = self.advancing || ask.step.is_some();
        let ahead_ms = if is_advancing {
            shared.machine.wall_ms(&self.book, now_ms).saturating_sub(shared.config.clock.wall_ms()).max(0)
        } else {
            0
        };
        let turn = Turn { tenant: self.tenant, now_ms, seed: shared.seed(), ahead_ms };
        let Ask { command, entity, id, step, fresh: _, asked, reply_to } = ask;
        let decided = catch_unwind(AssertUnwindSafe(|| {
            let decision = shared.machine.decide(&self.book, entity.as_deref(), command, turn);
            // The targets are asked for here, where a panic does no harm; the writer of the log
            // must not see one.
            let mut others = Vec::new();
            let mut own = decision.effects;
            for effect in own.extract_if(.., |effect| id != Some(shared.machine.effect_target(effect))) {
                others.push((shared.machine.effect_target(&effect), effect));
            }
            (decision.record, decision.refusal, own, others)
        }));
        let Ok((record, refusal, effects, others)) = decided else {
            tracing::error!(tenant = self.tenant, ?id, "a panic in decide; nothing changed");
            return reply_to.send(Err(Failure::Defect("a defect in a rule; nothing changed".to_owned())));
        };
        let follow_ups = (!others.is_empty()).then(|| {
            Box::new(FollowUps { engine: self.engine.clone(), tenant: self.tenant, step, effects: others })
        });
        let timing = Timing { queue: began.saturating_duration_since(asked), ..Timing::default() };
        let mut settled = Box::new(Settled {
            entity,
            record: None,
            seq: None,
            time_ms: now_ms,
            timing,
            refusal,
            performed: None,
            effects,
        });
        let Some(record) = record else {
            settled.timing.apply = began.elapsed();
            return shared.log.fence(PendingReply::Command { reply_to, settled, follow_ups, listener: None });
        };
        let Ok(payload) = catch_unwind(AssertUnwindSafe(|| shared.machine.encode(&record))) else {
            tracing::error!(tenant = self.tenant, ?id, "a panic while a record was encoded; nothing changed");
            return reply_to
                .send(Err(Failure::Defect("a record cannot be encoded; nothing changed".to_owned())));
        };
        if payload.len() > PAYLOAD_BYTES_MAX {
            tracing::warn!(
                tenant = self.tenant,
                ?id,
                bytes = payload.len(),
                max = PAYLOAD_BYTES_MAX,
                "a command was refused: its record is too large"
            );
            return reply_to.send(Err(Failure::TooLarge));
        }
        let written = catch_unwind(AssertUnwindSafe(|| {
            shared.machine.evolve(&mut self.book, &record, now_ms);
            shared.machine.check(&self.book, &record)?;
            let mut index = IndexOps::new();
            shared.machine.index(self.tenant, now_ms, &record, &mut index);
            shared.counters.checked.fetch_add(1, Ordering::Relaxed);
            let awaited = shared.machine.is_awaited(&self.book, &record);
            Ok::<_, String>((index, awaited))
        }));
        let (index, awaited) = match written {
            Ok(Ok(written)) => written,
            Ok(Err(breach)) => return self.breach(reply_to, &breach),
            Err(_) => return self.breach(reply_to, "a panic while a record was applied"),
        };
        if let Some(follow_ups) = &follow_ups {
            self.cache_new_entities(&record, follow_ups);
        }
        if let Some(id) = id {
            settled.entity = shared.machine.entity_in(&record, id).or(settled.entity);
        }
        settled.record = Some(record);
        self.version += 1;
        settled.timing.apply = began.elapsed();
        let listener =
            awaited.then(|| Listener { effects: Arc::clone(&shared.effects), tenant: self.tenant });
        shared.log.append(
            Append { tenant: self.tenant, time_ms: now_ms, payload, index },
            PendingReply::Command { reply_to, settled, follow_ups, listener },
        );
        self.catch_up();
        // While deadlines are being dealt with, the end of each sets the alarm.
        if self.firing.is_empty() {
            self.arm();
        }
    }

    /// Caches the new entities that have follow-up effects. No caller knows of them before this
    /// turn is over, so that no newer state of one can be there.
    fn cache_new_entities(&self, record: &M::Record, follow_ups: &FollowUps<M>) {
        let targets: HashSet<M::EntityId> = follow_ups.effects.iter().map(|(target, _)| *target).collect();
        for (id, entity) in self.shared().machine.entities_in(record) {
            if targets.contains(&id) {
                self.shared().entity_cache.put(self.tenant, id, entity);
            }
        }
    }

    /// An invariant broke: nothing of this record is written, and the book decides nothing more.
    fn breach(&mut self, reply_to: crate::pending_reply::ReplyTo<M>, why: &str) {
        self.shared().counters.breached.fetch_add(1, Ordering::Relaxed);
        if self.shared().halt(self.tenant, why) {
            self.halt();
            reply_to.send(Err(Failure::Halted));
        } else {
            reply_to.send(Err(self.shared().failure()));
        }
    }

    /// The earliest deadline that nobody deals with and that does not rest.
    fn due(&self) -> Option<(i64, M::EntityId)> {
        self.shared()
            .machine
            .next_due(&self.book, &|id| self.firing.contains(&id) || self.resting.contains(&id))
    }

    fn firing(&mut self, at_ms: i64, id: M::EntityId) -> Firing<M> {
        self.firing.insert(id);
        Firing { engine: self.engine.clone(), tenant: self.tenant, at_ms, id }
    }

    /// Gives every deadline that has come to its entity, and sets the alarm for the next. `done`
    /// was dealt with just now; if it is still due, it changed nothing.
    fn fire(&mut self, done: Option<(i64, M::EntityId)>) {
        if self.advancing || self.shared().is_over() {
            return;
        }
        let now_ms = self.now_ms();
        while self.firing.len() < FIRING_MAX {
            let Some((at_ms, id)) = self.due().filter(|(at_ms, _)| *at_ms <= now_ms) else { break };
            if done == Some((at_ms, id)) {
                self.rest(id);
            } else {
                crate::clock_advance::fire(self.firing(at_ms, id));
            }
        }
        self.arm();
    }

    fn rest(&mut self, id: M::EntityId) {
        tracing::warn!(tenant = self.tenant, ?id, "a deadline changed nothing; it comes again");
        self.resting.insert(id);
        let (engine, tenant) = (self.engine.clone(), self.tenant);
        self.shared().runtime.spawn(async move {
            tokio::time::sleep(REST).await;
            engine.book(tenant, |handle| handle.send(BookMessage::Rested(id)));
        });
    }

    fn arm(&mut self) {
        // With no place for one more the alarm would wake the book in vain; the next that ends
        // makes place and comes here.
        if self.firing.len() >= FIRING_MAX {
            return;
        }
        let Some((at_ms, _)) = self.due() else { return };
        let wall_ms = self.shared().machine.wall_ms(&self.book, at_ms);
        if self.armed_ms.is_none_or(|armed_ms| wall_ms < armed_ms) {
            self.armed_ms = Some(wall_ms);
            self.shared().alarm.set(wall_ms, self.tenant);
        }
    }

    fn next_due(&mut self, until_ms: i64, dealt_with: &Skip<M>) -> Due<M> {
        if !self.firing.is_empty() {
            return Due::Busy;
        }
        // The machine skips by name; an advance by instant too, so that an entity with a new
        // deadline is seen again.
        let mut skipped: HashSet<M::EntityId> = HashSet::new();
        loop {
            let found = self.shared().machine.next_due(&self.book, &|id| skipped.contains(&id));
            let Some((at_ms, id)) = found.filter(|(at_ms, _)| *at_ms <= until_ms) else { return Due::None };
            if !dealt_with.contains(&(at_ms, id)) {
                return Due::Next(self.firing(at_ms, id));
            }
            skipped.insert(id);
        }
    }

    fn snapshot(&mut self, to: oneshot::Sender<Result<Seq, Failure>>) {
        // "Nothing to write" would let the floor rise over records that are in no snapshot.
        if self.shared().failed.get().is_some() {
            let _ = to.send(Err(self.shared().failure()));
            return;
        }
        if self.is_ahead_of_its_records() {
            return self.put_off.push(to);
        }
        if let Some(waiting) = &mut self.background {
            // The snapshot under way may be older than the one that is asked for; if it is not,
            // nothing is left to do then.
            waiting.push(to);
            return;
        }
        if self.saved == self.version {
            // The snapshot that the log was handed may not be durable yet.
            self.shared().log.fence(PendingReply::Done(to));
            return;
        }
        let mut index = IndexOps::new();
        mark(self.shared().machine.as_ref(), self.tenant, &self.book, &mut index);
        // The instant that the book has lived, which may be later than its last record. It is
        // settled at that: a record may leave it otherwise, and what is saved must follow from the
        // records and the instant alone.
        let time_ms = self.shared().machine.now_ms(&self.book, i64::MIN / 4).max(self.latest_ms);
        self.settle(time_ms);
        if self.shared().machine.is_large(&self.book) {
            self.background = Some(Vec::new());
            let clone = BackgroundSnapshot {
                tenant: self.tenant,
                book: self.book.clone(),
                version: self.version,
                time_ms,
                index,
            };
            return background_snapshot::save(&self.engine, &self.handle, clone, to);
        }
        let state = self.shared().machine.save(&self.book);
        self.saved = self.version;
        let snapshot = Snapshot { tenant: self.tenant, time_ms, state, index };
        self.shared().log.snapshot(snapshot, PendingReply::Done(to));
    }

    /// Whether an advance has brought the book to an instant that no record has moved its clock to.
    /// Were it saved as of then, its clock would stand for as long after a crash.
    fn is_ahead_of_its_records(&self) -> bool {
        let shared = self.shared();
        self.advancing && self.latest_ms > shared.machine.now_ms(&self.book, shared.config.clock.wall_ms())
    }

    /// Does what was put off, once the clock has been moved or the advance is over.
    fn catch_up(&mut self) {
        if !self.put_off.is_empty() && !self.is_ahead_of_its_records() {
            for to in std::mem::take(&mut self.put_off) {
                self.snapshot(to);
            }
        }
    }

    /// The background snapshot was written, or could not be: callers that came meanwhile ask again.
    fn saved_in_background(&mut self, version: Option<u64>) {
        self.saved = version.unwrap_or(self.saved);
        for to in self.background.take().unwrap_or_default() {
            self.snapshot(to);
        }
    }

    /// Whether the book has something to do by itself.
    fn is_needed(&self) -> bool {
        self.advancing
            || !self.firing.is_empty()
            || !self.resting.is_empty()
            || self.shared().machine.next_due(&self.book, &|_| false).is_some()
    }

    fn retire(&mut self) {
        if self.is_needed() {
            return;
        }
        let version = self.version;
        let (to, from) = oneshot::channel();
        self.snapshot(to);
        // To this actor and not to the book: another may have taken its place by then.
        let handle = Arc::clone(&self.handle);
        self.shared().runtime.spawn(async move {
            if matches!(from.await, Ok(Ok(_))) {
                handle.send(BookMessage::Retired { version });
            }
        });
    }

    fn retired(&mut self, version: u64) -> bool {
        version == self.version && self.background.is_none() && !self.is_needed() && self.leave()
    }

    /// Leaves the map unless something waits. Under the map's lock nobody can be between finding
    /// the handle and pushing a message.
    fn leave(&mut self) -> bool {
        let handle = &self.handle;
        let left = self
            .engine
            .shared
            .books
            .remove_if(&self.tenant, |_, found| Arc::ptr_eq(found, handle) && handle.mailbox.is_empty())
            .is_some();
        if left {
            handle.over.store(true, Ordering::Release);
        }
        left
    }
}
