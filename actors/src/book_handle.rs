//! The handle of a book: its mailbox with wake-up, and the supervision of its actor.
//!
//! Messages go through a mailbox of our own; ractor's only carries wake-ups, so that a burst of
//! commands costs one of its messages.

use crate::admission::Admission;
use crate::book::BookHost;
use crate::clock_advance::Firing;
use crate::engine::Engine;
use crate::machine::Machine;
use crate::pending_reply::{Ask, Failure};
use crate::recovery::Recovered;
use handoff::Mailbox;
use ractor::ActorRef;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use tokio::sync::oneshot;
use wal::Seq;

/// A message to a book.
pub(crate) enum BookMessage<M: Machine> {
    /// Boxed: it is large, and goes through a queue.
    Ask(Box<Ask<M>>),
    View {
        query: M::Query,
        to: oneshot::Sender<Result<M::View, Failure>>,
        admission: Admission,
    },
    /// A deadline may have come.
    Wake,
    /// The deadline of this instant has been dealt with.
    Fired(i64, M::EntityId),
    /// A deadline that changed nothing may come again.
    Rested(M::EntityId),
    /// A clock advance begins: deadlines are its own until it ends. The reply is the tenant's
    /// clock.
    BeginAdvance(oneshot::Sender<i64>),
    /// The earliest deadline up to `until_ms` that is not among those dealt with.
    NextDue {
        until_ms: i64,
        dealt_with: Skip<M>,
        to: oneshot::Sender<(Due<M>, Skip<M>)>,
    },
    /// The clock advance is over.
    EndAdvance,
    /// Write a snapshot if anything changed since the last.
    Snapshot(oneshot::Sender<Result<Seq, Failure>>),
    /// The background snapshot of this version is written, or could not be.
    Saved(Option<u64>),
    /// The book is in doubt, as it was when it had been resumed so often: decide nothing more.
    Halt {
        why: String,
        resumptions: u64,
    },
    /// Tell when all that was appended is durable and nothing is being saved.
    Fence(oneshot::Sender<Result<Seq, Failure>>),
    /// Go on as another book.
    Resume(Box<Resumption<M>>),
    /// Leave memory if nothing is due: snapshot, then stop.
    Retire,
    /// The snapshot of a retiring book is durable.
    Retired {
        version: u64,
    },
}

impl<M: Machine> BookMessage<M> {
    /// Tells the caller, if there is one, that it will not be done.
    pub fn fail(self, failure: Failure) {
        match self {
            BookMessage::Ask(ask) => ask.reply_to.send(Err(failure)),
            BookMessage::View { to, admission, .. } => {
                drop(admission);
                let _ = to.send(Err(failure));
            }
            BookMessage::Snapshot(to) | BookMessage::Fence(to) => {
                let _ = to.send(Err(failure));
            }
            // The caller of one of these sees that the sender is gone.
            BookMessage::Wake
            | BookMessage::Fired(..)
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

/// The state with which a halted book goes on.
pub(crate) struct Resumption<M: Machine> {
    pub book: M::Book,
    /// No turn may be before it.
    pub settled_ms: i64,
    pub to: oneshot::Sender<()>,
}

/// Deadlines that a clock advance has dealt with. The set goes with the question and back, so it is
/// never copied.
pub(crate) type Skip<M> = HashSet<(i64, <M as Machine>::EntityId)>;

/// The next deadline of a clock advance.
pub(crate) enum Due<M: Machine> {
    /// This one, now marked as being dealt with.
    Next(Firing<M>),
    /// One is being dealt with already; look again.
    Busy,
    /// Nothing more.
    None,
}

/// The way to a book's actor.
pub(crate) struct BookHandle<M: Machine> {
    pub mailbox: Mailbox<BookMessage<M>>,
    actor: ActorRef<WakeUp>,
    /// The actor ends because it was to, not because something is broken.
    pub over: AtomicBool,
    pub last_used: AtomicI64,
}

impl<M: Machine> BookHandle<M> {
    /// Puts a message into the mailbox, and wakes the actor if it may not look there by itself.
    pub fn send(&self, message: BookMessage<M>) {
        if self.mailbox.push(message) {
            self.wake_actor();
        }
    }

    /// Has the actor look into its mailbox, though there may be nothing.
    pub fn wake(&self) {
        if self.mailbox.call() {
            self.wake_actor();
        }
    }

    fn wake_actor(&self) {
        // Fails only when the actor is gone; then its supervisor answers what is in the mailbox.
        let _ = self.actor.cast(WakeUp);
    }

    /// Notes that the book was used.
    pub fn touch(&self, coarse_seconds: i64) {
        if self.last_used.load(Ordering::Relaxed) != coarse_seconds {
            self.last_used.store(coarse_seconds, Ordering::Relaxed);
        }
    }
}

/// The wake-up of a book's actor: there is something in its mailbox.
pub(crate) struct WakeUp;

/// The arguments of a book's actor.
pub(crate) struct BookStart<M: Machine> {
    pub engine: Engine<M>,
    pub tenant: u64,
    /// The book as the engine's start recovered it; `None` to load it.
    pub recovered: Option<Recovered<M>>,
    /// The handle has the actor's reference, which exists only after the spawn; the actor waits for
    /// it.
    pub handle: oneshot::Receiver<Arc<BookHandle<M>>>,
}

/// Starts the actor of a book, and watches over it. Called under the lock of the map that the
/// handle goes into.
pub(crate) fn spawn_book<M: Machine>(
    engine: &Engine<M>,
    tenant: u64,
    recovered: Option<Recovered<M>>,
) -> Arc<BookHandle<M>> {
    let _runtime = engine.shared.runtime.enter();
    let (give, handle) = oneshot::channel();
    let start = BookStart { engine: engine.clone(), tenant, recovered, handle };
    let (actor, started) = match ractor::ActorRuntime::spawn_instant(None, BookHost::<M>::new(), start) {
        Ok(spawned) => spawned,
        Err(error) => {
            // Only a name clash could cause it, and books have no names.
            engine.shared.fail(&format!("the actor of book {tenant} did not start: {error}"));
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
    let (engine, watched) = (engine.clone(), Arc::clone(&handle));
    engine.shared.runtime.clone().spawn(async move {
        let why = match started.await {
            Ok(Ok(running)) => match running.await {
                Ok(()) => "it ended by itself".to_owned(),
                // The runtime ends, and everything with it.
                Err(_) => return,
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => return,
        };
        if !watched.over.load(Ordering::Acquire) {
            actor_ended(&engine, tenant, &watched, &why);
        }
    });
    handle
}

/// Ends the engine because the actor of a book ended that should not have. No caller is left
/// waiting.
fn actor_ended<M: Machine>(engine: &Engine<M>, tenant: u64, handle: &Arc<BookHandle<M>>, why: &str) {
    let why = format!("the actor of book {tenant} ended: {why}");
    engine.shared.fail(&why);
    // After this the handle cannot be found, so its mailbox grows no more.
    engine.shared.books.remove_if(&tenant, |_, found| Arc::ptr_eq(found, handle));
    while let Some(message) = handle.mailbox.pop() {
        message.fail(Failure::Storage(why.clone()));
    }
}
