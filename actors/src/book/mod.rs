//! The book actor: one tenant in one mode. It decides in one turn, appends, and takes the next
//! message at once; it never waits for the disk, and nothing in here may wait. Rules about money do
//! not belong here, nor how an entity works.

mod actor;
mod background_snapshot;
mod deadlines;
mod halting;
mod leaving;
mod snapshots;
mod together;
mod turn;

pub(crate) use actor::{Recovered, send, start};

use crate::admission::Admission;
use crate::alarm::Alarm;
use crate::host::{Context, Host};
use crate::machine::Machine;
use crate::protocol::book::{BookHandle, BookMessage, Due};
use crate::protocol::follow_ups::FollowUpSender;
use crate::protocol::pending_reply::PendingReply;
use crate::protocol::reply::Failure;
use dashmap::DashMap;
use foldhash::fast::RandomState;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use tokio::sync::{Semaphore, oneshot};
use wal::Seq;

pub(crate) struct Books<M: Machine> {
    pub handles: DashMap<u64, Arc<BookHandle<M>>, RandomState>,
    pub alarm: Alarm,
    pub follow_ups: FollowUpSender<M>,
    /// One at a time, so that one encoded state is in memory beside the books.
    pub encoding: Semaphore,
    /// Seconds of the engine's life, for idleness.
    pub coarse_seconds: AtomicI64,
}

impl<M: Machine> Books<M> {
    pub fn new(alarm: Alarm, follow_ups: FollowUpSender<M>) -> Self {
        Books {
            handles: DashMap::default(),
            alarm,
            follow_ups,
            encoding: Semaphore::new(1),
            coarse_seconds: AtomicI64::new(0),
        }
    }
}

pub(crate) trait BookContext<M: Machine>: Context<M> {
    fn books(&self) -> &Books<M>;
}

struct Book<M: Machine, C: BookContext<M>> {
    context: C,
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
    background: Option<Vec<oneshot::Sender<Result<Seq, Failure>>>>,
    firing: HashSet<M::EntityId>,
    /// Deadlines for which the outside world is asked: they leave their places to others, and do
    /// not come again before it has answered.
    asking: HashSet<M::EntityId>,
    resting: HashSet<M::EntityId>,
    /// A clock advance is under way, which then deals with deadlines.
    advancing: bool,
    /// Callers of snapshots that a clock advance has put off.
    put_off: Vec<oneshot::Sender<Result<Seq, Failure>>>,
    armed_ms: Option<i64>,
    /// Setting the wall clock back does not lower it.
    latest_ms: i64,
}

#[derive(PartialEq, Eq)]
enum Next {
    GoOn,
    Stop,
}

impl<M: Machine, C: BookContext<M>> Book<M, C> {
    fn host(&self) -> &Host<M> {
        self.context.host()
    }

    fn now_ms(&self) -> i64 {
        self.host().machine.now_ms(&self.book, self.host().clock.wall_ms()).max(self.latest_ms)
    }

    fn generation(&self) -> u64 {
        self.host().machine.generation(&self.book)
    }

    /// Goes on from a book that began anew at this instant: nothing of before is due, advances or waits.
    fn begin_anew(&mut self, now_ms: i64) {
        self.latest_ms = now_ms;
        self.firing.clear();
        self.asking.clear();
        self.resting.clear();
        self.advancing = false;
        // It was set for the clock of before.
        self.armed_ms = None;
        self.catch_up();
        self.fire(None);
    }

    fn settle(&mut self, now_ms: i64) {
        self.latest_ms = now_ms;
        self.context.host().machine.settle(&mut self.book, now_ms);
    }

    fn handle(&mut self, message: BookMessage<M>) -> Next {
        if self.halted {
            self.handle_halted(message);
            return Next::GoOn;
        }
        match message {
            BookMessage::Ask(ask) => self.turn(*ask),
            BookMessage::AskTogether(asks) => self.turns(asks),
            BookMessage::View { .. } if self.host().end.is_failed() => {
                message.fail(self.host().end.failure())
            }
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
            BookMessage::Saved(version) => self.saved_in_background(version),
            BookMessage::Halt { why, resumptions } => self.halt_unless_resumed(&why, resumptions),
            // Only a halted book takes these.
            message @ (BookMessage::Fence(_) | BookMessage::Resume(_)) => {
                message.fail(Failure::Defect("the book is not halted".to_owned()))
            }
            BookMessage::Retire => self.retire(),
            BookMessage::Retired { version } => return self.retired(version),
        }
        Next::GoOn
    }

    fn view(
        &mut self,
        query: M::Query,
        to: oneshot::Sender<Result<M::View, Failure>>,
        admission: Option<Admission>,
    ) {
        let now_ms = self.now_ms();
        self.settle(now_ms);
        let host = self.context.host();
        match catch_unwind(AssertUnwindSafe(|| host.machine.view(&self.book, query, now_ms))) {
            Ok(view) => host.log.fence(PendingReply::View { to, view, admission }),
            Err(_) => {
                drop(admission);
                let _ = to.send(Err(Failure::Defect("a defect in a view; nothing changed".to_owned())));
            }
        }
    }
}
