//! Messages to a book, and its handle. Messages go through a mailbox of our own; ractor's only
//! carries wake-ups, so that a burst of commands costs one of its messages.

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

pub(crate) enum BookMessage<R: Rules> {
    /// Boxed, as it is large and goes through a queue.
    Ask(Box<Ask<R>>),
    /// What is decided about them is one record where it can be.
    AskTogether(Vec<Box<Ask<R>>>),
    View {
        query: R::Query,
        to: oneshot::Sender<Result<R::View, Failure>>,
        /// What continues something has none.
        admission: Option<Admission>,
    },
    Wake,
    Fired(i64, R::EntityId),
    /// The outside world is asked for a deadline, and takes its time.
    Lasts(R::EntityId),
    /// A deadline that changed nothing may come again.
    Rested(R::EntityId),
    /// Deadlines are the advance's own until it ends. The reply is the tenant's clock, and the book's
    /// generation.
    BeginAdvance(oneshot::Sender<(i64, u64)>),
    /// The earliest deadline up to `until_ms` that is not among those dealt with, of this generation.
    NextDue {
        until_ms: i64,
        generation: u64,
        dealt_with: Skip<R>,
        to: oneshot::Sender<(Due<R>, Skip<R>)>,
    },
    EndAdvance,
    Snapshot(oneshot::Sender<Result<Seq, Failure>>),
    /// `None` if the background snapshot failed.
    Saved(Option<u64>),
    /// The book was found in doubt when it had been resumed `resumptions` times.
    Halt {
        why: String,
        resumptions: u64,
    },
    /// The reply comes once all that was appended is durable and no snapshot is being written.
    Fence(oneshot::Sender<Result<Seq, Failure>>),
    Resume(Box<Resumption<R>>),
    /// Leave memory if the book has no deadline: write a snapshot, then stop.
    Retire,
    Retired {
        version: u64,
    },
}

impl<R: Rules> BookMessage<R> {
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

pub(crate) struct Ask<R: Rules> {
    pub command: R::Command,
    pub entity: Option<Arc<R::Entity>>,
    /// To find its new state in the record.
    pub id: Option<R::EntityId>,
    /// The generation of the book that the entity's state is of; `None` without an entity.
    pub generation: Option<u64>,
    /// `None` is the tenant's now.
    pub step: Option<Step>,
    /// No part of the request has happened yet, so that it may be refused for want of room.
    pub fresh: bool,
    pub asked: Instant,
    pub reply_to: ReplyTo<R>,
}

pub(crate) struct Resumption<R: Rules> {
    pub book: R::Book,
    /// The book is settled then; no turn may be before it.
    pub settled_ms: i64,
    pub to: oneshot::Sender<()>,
}

/// Dealt with by a clock advance. The set goes with the question and back, so it is never copied.
pub(crate) type Skip<R> = HashSet<(i64, <R as Rules>::EntityId)>;

pub(crate) enum Due<R: Rules> {
    /// Marked as being dealt with.
    Next(Firing<R>),
    /// Another deadline is being dealt with; ask again.
    Busy,
    None,
}

/// Dropping it tells the book that dealing with the deadline is over, so that no path can forget to.
pub(crate) struct Firing<R: Rules> {
    pub book: Arc<BookHandle<R>>,
    pub at_ms: i64,
    pub id: R::EntityId,
}

impl<R: Rules> Firing<R> {
    /// Tells the book that the outside world takes its time, so that others need not wait.
    pub fn lasts(&self) {
        self.book.send(BookMessage::Lasts(self.id));
    }
}

impl<R: Rules> Drop for Firing<R> {
    fn drop(&mut self) {
        self.book.send(BookMessage::Fired(self.at_ms, self.id));
    }
}

pub(crate) struct BookHandle<R: Rules> {
    pub mailbox: Mailbox<BookMessage<R>>,
    actor: ActorRef<WakeUp>,
    /// Whether the actor ends as it should, and not because of a defect.
    pub over: AtomicBool,
    pub last_used: AtomicI64,
}

pub(crate) struct WakeUp;

impl<R: Rules> BookHandle<R> {
    pub fn new(actor: ActorRef<WakeUp>) -> Self {
        BookHandle {
            mailbox: Mailbox::new(),
            actor,
            over: AtomicBool::new(false),
            last_used: AtomicI64::new(0),
        }
    }

    pub fn send(&self, message: BookMessage<R>) {
        if self.mailbox.push(message) {
            self.wake_actor();
        }
    }

    pub fn wake(&self) {
        if self.mailbox.request_read() {
            self.wake_actor();
        }
    }

    fn wake_actor(&self) {
        // The cast fails only when the actor is gone; then its supervisor answers the messages.
        let _ = self.actor.cast(WakeUp);
    }

    pub fn touch(&self, coarse_seconds: i64) {
        if self.last_used.load(Ordering::Relaxed) != coarse_seconds {
            self.last_used.store(coarse_seconds, Ordering::Relaxed);
        }
    }
}
