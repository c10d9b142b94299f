//! The book actor: one tenant in one mode. It decides in one turn, appends, and takes the next
//! message at once; it never waits for the disk, and nothing in here may wait. Rules about money do
//! not belong here, nor how an entity works.

mod deadlines;
mod snapshots;
mod turn;

use crate::admission::Admission;
use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::{BookHandle, BookMessage, Due, Failure, PendingReply, Recovered, Sender, WakeUp};
use handoff::Mailbox;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use std::collections::HashSet;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use tokio::sync::oneshot;
use wal::Seq;

/// Messages handled per wake-up, before other actors get their turn.
const BURST_MAX: usize = 256;

struct Book<M: Machine> {
    host: Arc<Host<M>>,
    handle: Arc<BookHandle<M>>,
    tenant: u64,
    book: M::Book,
    /// In doubt or set aside: nothing is decided, shown or saved.
    halted: bool,
    /// Records since the actor started.
    version: u64,
    /// The version of the newest snapshot.
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
    /// Callers of snapshots that a clock advance has put off.
    put_off: Vec<Sender<Seq>>,
    armed_ms: Option<i64>,
    /// Setting the wall clock back does not lower it.
    latest_ms: i64,
}

struct BookStart<M: Machine> {
    host: Arc<Host<M>>,
    tenant: u64,
    /// `None` to load the book.
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
            None => load(&host, tenant)?,
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

/// The newest snapshot of a book that left memory is all of it. `None` if it cannot be decoded, and
/// the book was halted.
fn load<M: Machine>(host: &Host<M>, tenant: u64) -> Result<Option<Recovered<M>>, ActorProcessingErr> {
    let Some(stored) = host.reader.snapshot(tenant, None)? else {
        return Ok(Some(Recovered::empty(&*host.machine, tenant)));
    };
    match host.machine.restore(tenant, &stored.state) {
        Ok(book) => Ok(Some(Recovered { book, ahead: false, settled_ms: stored.time_ms })),
        Err(error) => {
            let why = format!("its snapshot at {} cannot be decoded: {error}", stored.seq);
            if host.halt(tenant, &why) { Ok(None) } else { Err(error.into()) }
        }
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
                // The runtime ends, and everything with it.
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

    fn generation(&self) -> u64 {
        self.host.machine.generation(&self.book)
    }

    fn settle(&mut self, now_ms: i64) {
        self.latest_ms = now_ms;
        self.host.machine.settle(&mut self.book, now_ms);
    }

    /// True if the book has left memory.
    fn handle(&mut self, message: BookMessage<M>) -> bool {
        if self.halted {
            self.handle_halted(message);
            return false;
        }
        match message {
            BookMessage::Ask(ask) => self.turn(*ask),
            BookMessage::AskTogether(asks) => self.turns(asks),
            BookMessage::View { query, to, admission } => self.view(query, to, admission),
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
                let _ = to.send((self.now_ms(), self.generation()));
            }
            BookMessage::NextDue { until_ms, generation, dealt_with, to } => {
                let is_of = generation == self.generation();
                let due = if is_of { self.next_due(until_ms, &dealt_with) } else { Due::None };
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
            BookMessage::Saved(version) => {
                self.saved = version.unwrap_or(self.saved);
                // Callers that came while it was written ask again.
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
            // Only a halted book takes these.
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

    fn view(&mut self, query: M::Query, to: Sender<M::View>, admission: Option<Admission>) {
        let failure = match self.host.failure() {
            Some(failure) => failure,
            None => {
                let now_ms = self.now_ms();
                self.settle(now_ms);
                let machine = &self.host.machine;
                match catch_unwind(AssertUnwindSafe(|| machine.view(&self.book, query, now_ms))) {
                    Ok(view) => return self.host.log.fence(PendingReply::View { to, view, admission }),
                    Err(_) => Failure::Defect("a defect in a view; nothing changed".to_owned()),
                }
            }
        };
        drop(admission);
        let _ = to.send(Err(failure));
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

    /// An idle book writes a snapshot, then leaves memory.
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
            self.host.forget_generation(self.tenant);
            handle.over.store(true, Ordering::Release);
        }
        left
    }
}
