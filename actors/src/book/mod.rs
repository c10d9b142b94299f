//! The book actor: one tenant in one mode. It decides in one turn, appends, and takes the next
//! message at once; it never waits for the disk, and nothing in here may wait. Rules about money do
//! not belong here, nor how an entity works.

mod copies;
mod snapshots;
mod turn;

use crate::admission::Admission;
use crate::entity;
use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::{
    BookHandle, BookMessage, Due, EntityMessage, Failure, Firing, PendingReply, Recovered, Sender, Skip,
    WakeUp,
};
use handoff::Mailbox;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::collections::HashSet;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::oneshot;
use wal::Seq;

const BURST_MAX: usize = 256;

/// Deadlines need no permit, so this is what bounds them. The next comes when one is done, or when
/// the outside world takes longer for it than callers wait.
const FIRING_MAX: usize = 64;

/// The rest of a deadline that came and changed nothing (a defect, no room in the log), and of all of
/// them while the disk has no room.
const REST: Duration = Duration::from_secs(1);

struct Book<M: Machine> {
    host: Arc<Host<M>>,
    handle: Arc<BookHandle<M>>,
    tenant: u64,
    book: M::Book,
    /// In doubt or set aside: nothing is decided, shown or saved.
    halted: bool,
    version: u64,
    saved: u64,
    /// While a background snapshot is being written: callers that wait for the next one.
    background: Option<Vec<Sender<Seq>>>,
    firing: HashSet<M::EntityId>,
    /// Deadlines for which the outside world is asked: they leave their places to others, and do
    /// not come again before it has answered.
    asking: HashSet<M::EntityId>,
    resting: HashSet<M::EntityId>,
    /// A clock advance is under way, which then deals with deadlines.
    advancing: bool,
    put_off: Vec<Sender<Seq>>,
    armed_ms: Option<i64>,
    /// Setting the wall clock back does not lower it.
    latest_ms: i64,
}

struct BookStart<M: Machine> {
    host: Arc<Host<M>>,
    tenant: u64,
    recovered: Option<Recovered<M>>,
    /// The handle has the actor's reference, which exists only after the spawn.
    handle: oneshot::Receiver<Arc<BookHandle<M>>>,
}

struct BookActor<M>(PhantomData<fn() -> M>);

impl<M: Machine> Actor for BookActor<M> {
    type Msg = WakeUp;
    type State = Book<M>;
    type Arguments = BookStart<M>;

    async fn pre_start(
        &self,
        _myself: ActorRef<WakeUp>,
        start: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        let BookStart { host, tenant, recovered, handle } = start;
        let handle = handle.await?;
        let loaded = match recovered {
            _ if host.halts.is_halted(tenant) => None,
            Some(recovered) => Some(recovered),
            None if let Some(real) = &host.rehearses => match real.clone_book(tenant).await {
                Err(Failure::Halted) => None,
                // What is rehearsed was admitted: it is an account that is opened in the rehearsal.
                Err(Failure::Elsewhere) => Some(Recovered::empty(&*host.machine, tenant)),
                cloned => Some(cloned.map_err(|failure| format!("it cannot be cloned: {failure:?}"))?),
            },
            // The newest snapshot of a book that left memory is all of it.
            None => match Recovered::load(&*host.machine, &host.reader, tenant)? {
                Ok((_, loaded)) => Some(loaded),
                Err(why) if host.halt(tenant, &why) => None,
                Err(why) => return Err(why.into()),
            },
        };
        let halted = loaded.is_none();
        let Recovered { book, ahead, settled_ms } =
            loaded.unwrap_or_else(|| Recovered::empty(&*host.machine, tenant));
        Ok(Book {
            host,
            handle,
            tenant,
            book,
            halted,
            version: u64::from(ahead),
            saved: 0,
            background: None,
            firing: HashSet::new(),
            asking: HashSet::new(),
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
                if state.host.closed.load(Ordering::Acquire) && state.leave() {
                    myself.stop(None);
                }
                return Ok(());
            };
            // ractor keeps a panic to itself; a book whose state is in doubt must not decide any
            // more.
            match catch_unwind(AssertUnwindSafe(|| state.handle(message))) {
                Ok(has_left) if has_left => {
                    myself.stop(None);
                    return Ok(());
                }
                Ok(_) => {}
                Err(_) => {
                    let why = "a panic outside of a decision";
                    if !state.halt(why) {
                        return Err(why.into());
                    }
                }
            }
        }
        state.handle.wake();
        Ok(())
    }
}

/// Called under the lock of the map that the handle goes into.
pub(crate) fn start<M: Machine>(
    host: &Arc<Host<M>>,
    tenant: u64,
    recovered: Option<Recovered<M>>,
) -> Arc<BookHandle<M>> {
    let _entered = host.runtime.enter();
    let (give, handle) = oneshot::channel();
    let arguments = BookStart { host: Arc::clone(host), tenant, recovered, handle };
    let (actor, started) = match ractor::ActorRuntime::spawn_instant(None, BookActor(PhantomData), arguments)
    {
        Ok(spawned) => spawned,
        Err(error) => {
            // Only a name clash could cause it, and books have no names.
            host.fail(&format!("the actor of book {tenant} did not start: {error}"));
            std::process::abort();
        }
    };
    let handle = Arc::new(BookHandle {
        mailbox: Mailbox::new(),
        actor,
        over: AtomicBool::new(false),
        last_used: AtomicI64::new(0),
    });
    let _ = give.send(Arc::clone(&handle));
    let (host, watched) = (Arc::clone(host), Arc::clone(&handle));
    host.runtime.clone().spawn(async move {
        let why = match started.await {
            Ok(Ok(running)) => match running.await {
                Ok(()) => "it ended by itself".to_owned(),
                Err(_) => return,
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => return,
        };
        if watched.over.load(Ordering::Acquire) {
            return;
        }
        // An actor ended that should not have: the engine ends, and no caller is left waiting.
        let why = format!("the actor of book {tenant} ended: {why}");
        host.fail(&why);
        // After this the handle cannot be found, so its mailbox grows no more.
        host.books.remove_if(&tenant, |_, found| Arc::ptr_eq(found, &watched));
        while let Some(message) = watched.mailbox.pop() {
            message.fail(Failure::Storage(why.clone()));
        }
    });
    handle
}

impl<M: Machine> Book<M> {
    fn now_ms(&self) -> i64 {
        self.host.machine.now_ms(&self.book, self.host.config.clock.wall_ms()).max(self.latest_ms)
    }

    fn handle(&mut self, message: BookMessage<M>) -> bool {
        if self.halted {
            self.handle_halted(message);
            return false;
        }
        match message {
            BookMessage::Ask(ask) => self.turn(*ask),
            BookMessage::AskTogether(asks) => self.turns(asks),
            BookMessage::View { to, admission } => self.view(to, admission),
            BookMessage::Copy { records, to } => self.copy(records, to),
            BookMessage::Wake => {
                self.armed_ms = None;
                self.fire(None);
            }
            BookMessage::Fired(at_ms, id) => {
                self.firing.remove(&id);
                self.asking.remove(&id);
                self.fire(Some((at_ms, id)));
            }
            BookMessage::Lasts(id) => {
                if self.firing.remove(&id) {
                    self.asking.insert(id);
                }
                self.fire(None);
            }
            BookMessage::Rested(id) => {
                self.resting.remove(&id);
                self.fire(None);
            }
            BookMessage::BeginAdvance(to) => {
                self.advancing = true;
                let _ = to.send((self.now_ms(), self.host.machine.generation(&self.book)));
            }
            BookMessage::NextDue { until_ms, generation, dealt_with, to } => {
                let is_of = generation == self.host.machine.generation(&self.book);
                let due = if is_of { self.next_due(until_ms, &dealt_with) } else { Due::None };
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
            BookMessage::Saved(version) => {
                self.saved = version.unwrap_or(self.saved);
                for to in self.background.take().unwrap_or_default() {
                    self.snapshot(to);
                }
            }
            // Else the finding is older than the last resumption.
            BookMessage::Halt { why, resumptions } => {
                if resumptions == self.host.halts.resumptions(self.tenant) {
                    self.halt(&why);
                }
            }
            BookMessage::Fence(_) | BookMessage::Resume { .. } => {
                message.fail(Failure::Defect("the book is not halted".to_owned()))
            }
            BookMessage::Retire => self.retire(),
            BookMessage::Retired { version } => {
                let may_leave = version == self.version && self.background.is_none() && !self.is_needed();
                return may_leave && self.leave();
            }
        }
        false
    }

    fn view(&mut self, to: Sender<(M::Book, i64)>, admission: Option<Admission>) {
        let elsewhere = || self.host.is_elsewhere(self.tenant).then_some(Failure::Elsewhere);
        if let Some(failure) = self.host.failure().or_else(elsewhere) {
            drop(admission);
            let _ = to.send(Err(failure));
            return;
        }
        let now_ms = self.now_ms();
        self.latest_ms = now_ms;
        self.host.machine.settle(&mut self.book, now_ms);
        let view = Box::new((self.host.machine.view(self.tenant, &self.book, now_ms), now_ms));
        self.host.log.fence(PendingReply::View { to, view, admission });
    }

    /// Goes on from a book that began anew at this instant: nothing of before is due, advances or waits.
    fn begin_anew(&mut self, now_ms: i64) {
        self.latest_ms = now_ms;
        self.forget_deadlines();
        self.catch_up();
        self.fire(None);
    }

    fn forget_deadlines(&mut self) {
        self.firing.clear();
        self.asking.clear();
        self.resting.clear();
        self.advancing = false;
        self.armed_ms = None;
    }

    /// Returns false if the engine can't go on without the book, and ends. Else the state in doubt
    /// is dropped. Deadlines, and what is under way for them, are found again when the book is
    /// resumed.
    fn halt(&mut self, why: &str) -> bool {
        self.host.breached.fetch_add(1, Ordering::Relaxed);
        if !self.host.halt(self.tenant, why) {
            return false;
        }
        self.halted = true;
        self.book = self.host.machine.empty(self.tenant);
        self.forget_deadlines();
        // A background snapshot that is being written is of an earlier turn; callers that wait for
        // the next one wait in vain.
        let waiting = self.background.iter_mut().flat_map(|waiting| waiting.drain(..));
        for to in waiting.chain(self.put_off.drain(..)) {
            let _ = to.send(Err(Failure::Halted));
        }
        true
    }

    fn handle_halted(&mut self, message: BookMessage<M>) {
        match message {
            BookMessage::Fence(to) => match &mut self.background {
                Some(waiting) => waiting.push(to),
                None => self.host.log.fence(PendingReply::Done(to)),
            },
            BookMessage::Saved(_) => {
                for to in self.background.take().unwrap_or_default() {
                    self.host.log.fence(PendingReply::Done(to));
                }
            }
            BookMessage::Resume { book, settled_ms, to } => {
                self.book = *book;
                self.halted = false;
                // The new state is in no snapshot that this actor knows of.
                self.version += 1;
                self.latest_ms = self.latest_ms.max(settled_ms);
                self.host.halts.resume(self.tenant);
                let _ = to.send(Ok(()));
                self.fire(None);
            }
            message => message.fail(Failure::Halted),
        }
    }

    fn is_needed(&self) -> bool {
        self.advancing
            || !self.firing.is_empty()
            || !self.asking.is_empty()
            || !self.resting.is_empty()
            || self.host.machine.next_due(&self.book, &|_| false).is_some()
    }

    fn retire(&mut self) {
        if self.is_needed() {
            return;
        }
        let version = self.version;
        let (to, from) = oneshot::channel();
        self.snapshot(to);
        // The reply goes to this actor and not to the book: another actor may have replaced it by
        // then.
        let handle = Arc::clone(&self.handle);
        self.host.runtime.spawn(async move {
            if matches!(from.await, Ok(Ok(_))) {
                handle.send(BookMessage::Retired { version });
            }
        });
    }

    /// Leaves the map unless something waits. Under the map's lock no sender can be between finding
    /// the handle and pushing a message.
    fn leave(&mut self) -> bool {
        let handle = &self.handle;
        let is_left =
            |_: &u64, found: &Arc<BookHandle<M>>| Arc::ptr_eq(found, handle) && handle.mailbox.is_empty();
        let left = self.host.books.remove_if(&self.tenant, is_left).is_some();
        if left {
            self.host.generations.remove(&self.tenant);
            handle.over.store(true, Ordering::Release);
        }
        left
    }
}

/// Which deadlines are dealt with by their entities, which rest, and when the book wakes for the next.
impl<M: Machine> Book<M> {
    fn due(&self) -> Option<(i64, M::EntityId)> {
        self.host.machine.next_due(&self.book, &|id| {
            self.firing.contains(&id) || self.asking.contains(&id) || self.resting.contains(&id)
        })
    }

    /// Gives every deadline that has come to its entity, and sets the alarm for the next. `done`
    /// was dealt with just now; if it is still due, it changed nothing.
    ///
    /// A deadline counts as dealt with when its record is durable, and its effects go on by
    /// themselves. Without a record it is due until its effects have ended: an outside world that is
    /// slow must not be asked the same twice at once.
    fn fire(&mut self, done: Option<(i64, M::EntityId)>) {
        if self.advancing || self.host.is_over() {
            return;
        }
        let now_ms = self.now_ms();
        while self.firing.len() < FIRING_MAX && (self.host.config.has_room_for_due)(self.tenant) {
            let Some((at_ms, id)) = self.due().filter(|(at_ms, _)| *at_ms <= now_ms) else { break };
            if done == Some((at_ms, id)) {
                self.rest(id);
                continue;
            }
            let command = self.host.machine.deadline(id);
            let firing = Box::new(self.firing(at_ms, id));
            entity::send(&self.host, self.tenant, id, EntityMessage::Due { command, firing });
        }
        self.arm();
    }

    fn firing(&mut self, at_ms: i64, id: M::EntityId) -> Firing<M> {
        self.firing.insert(id);
        Firing { book: Arc::clone(&self.handle), at_ms, id }
    }

    fn rest(&mut self, id: M::EntityId) {
        tracing::warn!(tenant = self.tenant, ?id, "a deadline changed nothing; it comes again");
        self.resting.insert(id);
        // A book does not leave memory while a deadline rests, so this is its actor still.
        let handle = Arc::clone(&self.handle);
        self.host.runtime.spawn(async move {
            tokio::time::sleep(REST).await;
            handle.send(BookMessage::Rested(id));
        });
    }

    /// Only if the next deadline is earlier than the alarm that is set.
    fn arm(&mut self) {
        // While no place is free, the alarm would wake the book in vain; the next deadline that
        // ends frees a place and sets the alarm.
        if self.firing.len() >= FIRING_MAX {
            return;
        }
        let Some((at_ms, _)) = self.due() else { return };
        let mut wall_ms = self.host.machine.wall_ms(&self.book, at_ms);
        if !(self.host.config.has_room_for_due)(self.tenant) {
            wall_ms = wall_ms.max(self.host.config.clock.wall_ms().saturating_add(REST.as_millis() as i64));
        }
        if !matches!(self.armed_ms, Some(armed_ms) if armed_ms <= wall_ms) {
            self.armed_ms = Some(wall_ms);
            // The queue is closed after the engine's end; then no book is left to wake.
            let _ = self.host.alarm.send((wall_ms, self.tenant));
        }
    }

    fn next_due(&mut self, until_ms: i64, dealt_with: &Skip<M>) -> Due<M> {
        if !self.firing.is_empty() {
            return Due::Busy;
        }
        // The machine skips by name; an advance by instant too, so that an entity with a new
        // deadline is seen again. What is asked outside already is not asked again meanwhile.
        let mut skipped: HashSet<M::EntityId> = self.asking.clone();
        loop {
            let found = self.host.machine.next_due(&self.book, &|id| skipped.contains(&id));
            let Some((at_ms, id)) = found.filter(|(at_ms, _)| *at_ms <= until_ms) else { return Due::None };
            if !dealt_with.contains(&(at_ms, id)) {
                return Due::Next(self.firing(at_ms, id));
            }
            skipped.insert(id);
        }
    }
}
