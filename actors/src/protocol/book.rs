//! Messages to a book, and its handle: a mailbox with wake-up.
//!
//! Messages go through a mailbox of our own; ractor's only carries wake-ups, so that a burst of
//! commands costs one of its messages.

use crate::admission::Admission;
use crate::machine::Rules;
use crate::protocol::reply::{Failure, ReplyTo};
use crate::protocol::step::Step;
use handoff::Mailbox;
use ractor::ActorRef;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Instant;
use tokio::sync::oneshot;
use wal::Seq;

/// A message to a book.
pub(crate) enum BookMessage<R: Rules> {
    /// A command; boxed, as it is large and goes through a queue.
    Ask(Box<Ask<R>>),
    /// Commands that came together: what is decided about them is one record where it can be.
    AskTogether(Vec<Box<Ask<R>>>),
    View {
        query: R::Query,
        to: oneshot::Sender<Result<R::View, Failure>>,
        /// The capacity of a request; what continues something has none.
        admission: Option<Admission>,
    },
    /// A deadline may have come.
    Wake,
    /// The deadline of this instant has been dealt with.
    Fired(i64, R::EntityId),
    /// The outside world is asked for a deadline, and takes its time.
    Lasts(R::EntityId),
    /// A deadline that changed nothing may come again.
    Rested(R::EntityId),
    /// A clock advance begins: deadlines are its own until it ends. The reply is the tenant's
    /// clock, and the book's generation.
    BeginAdvance(oneshot::Sender<(i64, u64)>),
    /// The earliest deadline up to `until_ms` that is not among those dealt with, of this generation.
    NextDue { until_ms: i64, generation: u64, dealt_with: Skip<R>, to: oneshot::Sender<(Due<R>, Skip<R>)> },
    /// The clock advance is over.
    EndAdvance,
    /// A request for a snapshot, if there were records since the last.
    Snapshot(oneshot::Sender<Result<Seq, Failure>>),
    /// The background snapshot of this version was written; `None` if it failed.
    Saved(Option<u64>),
    /// The book was found to be in doubt when it had been resumed `resumptions` times: it is to
    /// halt.
    Halt { why: String, resumptions: u64 },
    /// A request for a reply once all that was appended is durable and no snapshot is being
    /// written.
    Fence(oneshot::Sender<Result<Seq, Failure>>),
    /// A request to go on with another state.
    Resume(Box<Resumption<R>>),
    /// A request to leave memory if the book has no deadline: write a snapshot, then stop.
    Retire,
    /// The snapshot of a retiring book is durable.
    Retired { version: u64 },
}

impl<R: Rules> BookMessage<R> {
    /// Answers the caller, if there is one, with a failure.
    pub fn fail(self, failure: Failure) {
        match self {
            BookMessage::Ask(ask) => ask.reply_to.send(Err(failure)),
            BookMessage::AskTogether(asks) => {
                asks.into_iter().for_each(|ask| ask.reply_to.send(Err(failure.clone())));
            }
            BookMessage::View { to, admission, .. } => {
                drop(admission);
                let _ = to.send(Err(failure));
            }
            BookMessage::Snapshot(to) | BookMessage::Fence(to) => {
                let _ = to.send(Err(failure));
            }
            // Callers of these messages notice that the sender is dropped.
            BookMessage::Wake
            | BookMessage::Fired(..)
            | BookMessage::Lasts(_)
            | BookMessage::Rested(_)
            | BookMessage::BeginAdvance(_)
            | BookMessage::NextDue { .. }
            | BookMessage::EndAdvance
            | BookMessage::Saved(_)
            | BookMessage::Halt { .. }
            | BookMessage::Resume(_)
            | BookMessage::Retire
            | BookMessage::Retired { .. } => {}
        }
    }
}

/// A command on its way to a book.
pub(crate) struct Ask<R: Rules> {
    pub command: R::Command,
    pub entity: Option<Arc<R::Entity>>,
    /// The entity's name, to find its new state in the record.
    pub id: Option<R::EntityId>,
    /// The generation of the book that the entity's state is of; `None` without an entity.
    pub generation: Option<u64>,
    /// The step of a clock advance whose instant the decision bears; `None` is the tenant's now.
    pub step: Option<Step>,
    /// Whether no part of the request has happened yet, so that it may be refused for want of room.
    pub fresh: bool,
    pub asked: Instant,
    pub reply_to: ReplyTo<R>,
}

/// The state with which a halted book goes on.
pub(crate) struct Resumption<R: Rules> {
    pub book: R::Book,
    /// The instant at which the book is settled; no turn may be before it.
    pub settled_ms: i64,
    pub to: oneshot::Sender<()>,
}

/// Deadlines that a clock advance has dealt with. The set goes with the question and back, so it is
/// never copied.
pub(crate) type Skip<R> = HashSet<(i64, <R as Rules>::EntityId)>;

/// The next deadline of a clock advance.
pub(crate) enum Due<R: Rules> {
    /// A deadline, now marked as being dealt with.
    Next(Firing<R>),
    /// Another deadline is being dealt with; ask again.
    Busy,
    /// No deadline is left.
    None,
}

/// The guard of a deadline that is being dealt with. Dropping it tells the book that this is over,
/// so that no path can forget to.
pub(crate) struct Firing<R: Rules> {
    pub book: Arc<BookHandle<R>>,
    pub at_ms: i64,
    pub id: R::EntityId,
}

impl<R: Rules> Firing<R> {
    /// Tells the book that the outside world takes its time, so that others need not wait for it.
    pub fn lasts(&self) {
        self.book.send(BookMessage::Lasts(self.id));
    }
}

impl<R: Rules> Drop for Firing<R> {
    fn drop(&mut self) {
        self.book.send(BookMessage::Fired(self.at_ms, self.id));
    }
}

/// The handle of a book's actor.
pub(crate) struct BookHandle<R: Rules> {
    pub mailbox: Mailbox<BookMessage<R>>,
    actor: ActorRef<WakeUp>,
    /// Whether the actor ends as it should, and not because of a defect.
    pub over: AtomicBool,
    pub last_used: AtomicI64,
}

/// The wake-up of a book's actor: its mailbox has messages.
pub(crate) struct WakeUp;

impl<R: Rules> BookHandle<R> {
    /// The handle of an actor that was just spawned.
    pub fn new(actor: ActorRef<WakeUp>) -> Self {
        BookHandle {
            mailbox: Mailbox::new(),
            actor,
            over: AtomicBool::new(false),
            last_used: AtomicI64::new(0),
        }
    }

    /// Puts a message into the mailbox, and wakes the actor unless it was woken already.
    pub fn send(&self, message: BookMessage<R>) {
        if self.mailbox.push(message) {
            self.wake_actor();
        }
    }

    /// Wakes the actor to look into its mailbox, even if that is empty.
    pub fn wake(&self) {
        if self.mailbox.request_read() {
            self.wake_actor();
        }
    }

    fn wake_actor(&self) {
        // The cast fails only when the actor is gone; then its supervisor answers the messages.
        let _ = self.actor.cast(WakeUp);
    }

    /// Notes that the book was used.
    pub fn touch(&self, coarse_seconds: i64) {
        if self.last_used.load(Ordering::Relaxed) != coarse_seconds {
            self.last_used.store(coarse_seconds, Ordering::Relaxed);
        }
    }
}
