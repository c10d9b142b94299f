//! A book's place in the engine: its queue, the bell of its actor, and who watches over that.
//!
//! Messages go through a mailbox of our own; ractor's only carries the ring of a bell, so that a
//! burst of commands costs one of its messages.

use crate::admission::Admission;
use crate::book::BookHost;
use crate::engine::Engine;
use crate::jump::Firing;
use crate::machine::Machine;
use crate::recovery::Recovered;
use crate::rider::{Ask, Failure};
use handoff::Mailbox;
use ractor::ActorRef;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use tokio::sync::oneshot;
use wal::Seq;

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
    /// A jump begins: deadlines are its own until it lands. The answer is the tenant's clock.
    TakeOff(oneshot::Sender<i64>),
    /// The earliest deadline up to `until_ms` that is not among those dealt with.
    NextDue {
        until_ms: i64,
        dealt_with: Skip<M>,
        to: oneshot::Sender<(Due<M>, Skip<M>)>,
    },
    /// The jump is over.
    Land,
    /// Write a snapshot if anything changed since the last.
    Snapshot(oneshot::Sender<Result<Seq, Failure>>),
    /// The image of a large book is saved with this version, or could not be.
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
    /// Tells those who wait that nobody will do it.
    pub fn fail(self, failure: Failure) {
        match self {
            BookMessage::Ask(ask) => ask.answer.send(Err(failure)),
            BookMessage::View { to, admission, .. } => {
                drop(admission);
                let _ = to.send(Err(failure));
            }
            BookMessage::Snapshot(to) | BookMessage::Fence(to) => {
                let _ = to.send(Err(failure));
            }
            // Who waits for one of these sees that the sender is gone.
            BookMessage::Wake
            | BookMessage::Fired(..)
            | BookMessage::Rested(_)
            | BookMessage::TakeOff(_)
            | BookMessage::NextDue { .. }
            | BookMessage::Land
            | BookMessage::Saved(_)
            | BookMessage::Halt { .. }
            | BookMessage::Resume(_)
            | BookMessage::Retire
            | BookMessage::Retired { .. } => {}
        }
    }
}

/// What a halted book goes on with.
pub(crate) struct Resumption<M: Machine> {
    pub book: M::Book,
    /// No turn may be before it.
    pub settled_ms: i64,
    pub to: oneshot::Sender<()>,
}

/// Deadlines that a jump has dealt with. It travels with the question and back, so it is never
/// copied.
pub(crate) type Skip<M> = HashSet<(i64, <M as Machine>::EntityId)>;

/// What a jump finds next.
pub(crate) enum Due<M: Machine> {
    /// This one, now marked as being dealt with.
    Next(Firing<M>),
    /// One is being dealt with already; look again.
    Busy,
    /// Nothing more.
    None,
}

pub(crate) struct BookSlot<M: Machine> {
    pub mailbox: Mailbox<BookMessage<M>>,
    bell: ActorRef<Ring>,
    /// The actor ends because it was to, not because something is broken.
    pub over: AtomicBool,
    pub last_used: AtomicI64,
}

impl<M: Machine> BookSlot<M> {
    pub fn send(&self, message: BookMessage<M>) {
        if self.mailbox.push(message) {
            self.ring_bell();
        }
    }

    pub fn ring(&self) {
        if self.mailbox.call() {
            self.ring_bell();
        }
    }

    fn ring_bell(&self) {
        // Fails only when the actor is gone; then its supervisor answers what is in the mailbox.
        let _ = self.bell.cast(Ring);
    }

    pub fn touch(&self, coarse_seconds: i64) {
        if self.last_used.load(Ordering::Relaxed) != coarse_seconds {
            self.last_used.store(coarse_seconds, Ordering::Relaxed);
        }
    }
}

/// "There is something in the queue."
pub(crate) struct Ring;

/// What a book's actor starts from.
pub(crate) struct BookStart<M: Machine> {
    pub engine: Engine<M>,
    pub tenant: u64,
    /// The book as the engine's start recovered it; `None` to load it.
    pub recovered: Option<Recovered<M>>,
    /// The slot holds the actor's reference, which exists only after the spawn; the actor waits for
    /// it.
    pub slot: oneshot::Receiver<Arc<BookSlot<M>>>,
}

/// Starts the actor of a book, and watches over it. Called under the lock of the map that the slot
/// goes into.
pub(crate) fn spawn_book<M: Machine>(
    engine: &Engine<M>,
    tenant: u64,
    recovered: Option<Recovered<M>>,
) -> Arc<BookSlot<M>> {
    let _runtime = engine.shared.runtime.enter();
    let (give, slot) = oneshot::channel();
    let start = BookStart { engine: engine.clone(), tenant, recovered, slot };
    let (bell, started) = match ractor::ActorRuntime::spawn_instant(None, BookHost::<M>::new(), start) {
        Ok(spawned) => spawned,
        Err(error) => {
            // Only a name clash could cause it, and books have no names.
            engine.shared.fail(&format!("the actor of book {tenant} did not start: {error}"));
            std::process::abort();
        }
    };
    let slot = Arc::new(BookSlot {
        mailbox: Mailbox::new(),
        bell,
        over: AtomicBool::new(false),
        last_used: AtomicI64::new(0),
    });
    let _ = give.send(Arc::clone(&slot));
    let (engine, watched) = (engine.clone(), Arc::clone(&slot));
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
            bury(&engine, tenant, &watched, &why);
        }
    });
    slot
}

/// A book's actor ended that should not have: the engine ends, and nobody is left waiting.
fn bury<M: Machine>(engine: &Engine<M>, tenant: u64, slot: &Arc<BookSlot<M>>, why: &str) {
    let why = format!("the actor of book {tenant} ended: {why}");
    engine.shared.fail(&why);
    // After this nobody finds the slot, so its mailbox grows no more.
    engine.shared.books.remove_if(&tenant, |_, found| Arc::ptr_eq(found, slot));
    while let Some(message) = slot.mailbox.pop() {
        message.fail(Failure::Storage(why.clone()));
    }
}
