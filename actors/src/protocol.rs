//! The messages that actors send each other, the replies that callers get, and the handles by which
//! a message reaches its actor. A message that cannot be handled tells its caller so when it is
//! dropped or failed; a reply is sent once. Nothing in here knows the engine: what goes through the
//! log's queue must keep nothing alive that keeps the log alive.

use crate::admission::Admission;
use crate::machine::{Effects, Machine};
use handoff::{Mailbox, TasklessMailbox};
use ractor::ActorRef;
use std::collections::HashSet;
use std::convert::Infallible;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};
use wal::{Completion, Durable, Poisoned, ReadError, Reader, Seq};

/// Dropped at the end of a request, such as a permit or a reserved name.
pub type Guard = Box<dyn Send>;

#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    pub queue: Duration,
    pub apply: Duration,
    pub wal: Duration,
    pub agree: Option<Duration>,
}

pub struct Settled<M: Machine> {
    /// After the command, for a command to an entity.
    pub entity: Option<Arc<M::Entity>>,
    pub record: Option<Arc<M::Record>>,
    pub seq: Option<Seq>,
    pub time_ms: i64,
    pub timing: Timing,
    pub refusal: Option<M::Refusal>,
    /// Effects of other entities; `None` when the record asked for none.
    pub performed: Option<Performed<M>>,
    pub(crate) effects: Vec<M::Effect>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing happened; the request may be repeated later.
    Overloaded,
    /// The tenant has its share of what is under way; nothing happened; the request may be repeated later.
    ShareFull,
    /// Nothing happened.
    ShuttingDown,
    TooLarge,
    Storage(String),
    /// The book is in doubt or set aside by an operator; nothing happened.
    Halted,
    /// The tenant's book began anew meanwhile; nothing happened.
    Reset,
    /// Another engine decides the tenant's book ([`crate::Config::is_elsewhere`]); nothing happened here.
    Elsewhere,
    Defect(String),
}

/// An actor was gone before it replied: the command may be durable all the same.
impl From<oneshot::error::RecvError> for Failure {
    fn from(_: oneshot::error::RecvError) -> Failure {
        Failure::Storage("the actor is gone; outcome unknown".to_owned())
    }
}

/// Boxed once, by the book: the box then goes through the log to the caller as it is.
pub type CommandReply<M> = Result<Box<Settled<M>>, Failure>;

pub(crate) type Sender<T> = oneshot::Sender<Result<T, Failure>>;

pub(crate) async fn reply_to<T>(ask: impl FnOnce(Sender<T>)) -> Result<T, Failure> {
    let (to, from) = oneshot::channel();
    ask(to);
    from.await?
}

pub(crate) struct ReplyTo<M: Machine> {
    // The order of the fields is the order of dropping: the guards of an unsent reply are dropped
    // before the caller wakes.
    pub admission: Option<Admission>,
    pub until_record: Option<Guard>,
    until_reply: Option<Guard>,
    to: oneshot::Sender<CommandReply<M>>,
}

impl<M: Machine> ReplyTo<M> {
    /// `until_record` is dropped when the first record of the request is durable, `admission` and
    /// `until_reply` just before the reply is sent. A part of a request has none of them, nor what takes nothing of
    /// the capacity.
    pub fn new(
        admission: Option<Admission>,
        until_record: Option<Guard>,
        until_reply: Option<Guard>,
    ) -> (Self, oneshot::Receiver<CommandReply<M>>) {
        let (to, from) = oneshot::channel();
        (ReplyTo { admission, until_record, until_reply, to }, from)
    }

    /// Guards are dropped first, so that the caller's next request does not meet its own reservation.
    pub fn send(mut self, reply: CommandReply<M>) {
        self.admission = None;
        self.until_record = None;
        self.until_reply = None;
        // The caller may be gone; what was decided stays.
        let _ = self.to.send(reply);
    }
}

/// Goes through the log with a record or a fence, and is sent to its caller when the writer
/// acknowledges that.
pub(crate) enum PendingReply<M: Machine> {
    Command {
        first: Reply<M>,
        /// Of commands with the same record. They have no effects.
        others: Vec<Reply<M>>,
        /// Begun when the record is durable. Boxed because they are rare, and every record moves a
        /// pending reply through the log's queue.
        follow_ups: Option<Box<FollowUps<M>>>,
        listener: Option<Listener<M>>,
    },
    View {
        to: Sender<(M::Book, i64)>,
        /// Boxed because every pending reply moves through the log's queue.
        view: Box<(M::Book, i64)>,
        admission: Option<Admission>,
    },
    Done(Sender<Seq>),
}

pub(crate) type Reply<M> = (ReplyTo<M>, Box<Settled<M>>);

pub(crate) struct Listener<M: Machine> {
    pub effects: Arc<dyn Effects<M>>,
    pub tenant: u64,
}

impl<M: Machine> Completion for PendingReply<M> {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        let outcome = match outcome {
            Ok(durable) => Ok(durable),
            Err(poisoned) => Err(Failure::Storage(poisoned.to_string())),
        };
        match self {
            PendingReply::Command { first: (reply_to, mut settled), others, follow_ups, listener } => {
                if outcome.is_ok() {
                    if let (Some(Listener { effects, tenant }), Some(record)) = (listener, &settled.record)
                        && catch_unwind(AssertUnwindSafe(|| effects.durable(tenant, record))).is_err()
                    {
                        // It must not end the log.
                        tracing::error!(tenant, "a panic in the listener for durable records");
                    }
                    if let Some(follow_ups) = follow_ups {
                        settled.performed = Some(follow_ups.begin());
                    }
                }
                for (reply_to, mut settled) in iter::once((reply_to, settled)).chain(others) {
                    let durable = match &outcome {
                        Ok(durable) => durable,
                        Err(failure) => {
                            reply_to.send(Err(failure.clone()));
                            continue;
                        }
                    };
                    settled.timing.wal = durable.waited;
                    settled.timing.agree = durable.agreed;
                    if settled.record.is_some() {
                        settled.seq = Some(durable.seq);
                    }
                    reply_to.send(Ok(settled));
                }
            }
            PendingReply::View { to, view, admission } => {
                drop(admission);
                let _ = to.send(outcome.map(|_| *view));
            }
            PendingReply::Done(to) => {
                let _ = to.send(outcome.map(|durable| durable.seq));
            }
        }
    }
}

// Follow-up effects, from the record that asks for them to the task that has them performed, and
// the receiver by which a caller waits for them.

pub(crate) enum FollowUpMessage<M: Machine> {
    Perform(FollowUps<M>, UntilDone<M>),
    /// The reply comes once everything that was sent before has been begun.
    Flush(oneshot::Sender<()>),
}

pub(crate) struct FollowUps<M: Machine> {
    pub tenant: u64,
    pub step: Option<Step>,
    pub effects: Vec<(M::EntityId, M::Effect)>,
    pub sender: mpsc::UnboundedSender<FollowUpMessage<M>>,
}

type Ended<M> = (<M as Machine>::EntityId, Arc<<M as Machine>::Entity>);

/// Dropped by each effect at its end, which may tell what became of its entity.
pub(crate) type UntilDone<M> = mpsc::UnboundedSender<Ended<M>>;

pub struct Performed<M: Machine> {
    from: mpsc::UnboundedReceiver<Ended<M>>,
    ended: Vec<Ended<M>>,
}

impl<M: Machine> FollowUps<M> {
    /// Called when the record is durable, possibly by the log's writer.
    fn begin(self) -> Performed<M> {
        let (until_done, from) = mpsc::unbounded_channel();
        // The task ends with the runtime; then no actor is left to perform anything.
        let _ = self.sender.clone().send(FollowUpMessage::Perform(self, until_done));
        Performed { from, ended: Vec::new() }
    }
}

impl<M: Machine> Performed<M> {
    /// Until all effects have been performed and their results are durable.
    pub async fn wait(&mut self) {
        while let Some(ended) = self.from.recv().await {
            self.ended.push(ended);
        }
    }

    /// Not of all entities: one that was busy with something else is not among them.
    pub fn ended(mut self) -> Vec<Ended<M>> {
        while let Ok(ended) = self.from.try_recv() {
            self.ended.push(ended);
        }
        self.ended
    }
}

/// A step of a clock advance, to the instant of one deadline. Everything that is done there bears
/// the instant and carries a clone of this; the advance goes on when all clones are dropped.
#[derive(Clone)]
pub(crate) struct Step {
    pub at_ms: i64,
    pub generation: u64,
    _under_way: Arc<oneshot::Sender<Infallible>>,
}

impl Step {
    pub fn new(at_ms: i64, generation: u64) -> (Self, oneshot::Receiver<Infallible>) {
        let (under_way, end) = oneshot::channel();
        (Step { at_ms, generation, _under_way: Arc::new(under_way) }, end)
    }
}

pub(crate) struct Ask<M: Machine> {
    pub command: M::Command,
    pub entity: Option<Arc<M::Entity>>,
    pub id: Option<M::EntityId>,
    /// The generation of the book that the entity's state is of; `None` without an entity.
    pub generation: Option<u64>,
    /// `None` is the tenant's now.
    pub step: Option<Step>,
    /// No part of the request has happened yet, so that it may be refused for want of room.
    pub fresh: bool,
    pub asked: Instant,
    pub reply_to: ReplyTo<M>,
}

pub(crate) enum BookMessage<M: Machine> {
    Ask(Box<Ask<M>>),
    /// What is decided about them is one record where it can be.
    AskTogether(Vec<Box<Ask<M>>>),
    View {
        to: Sender<(M::Book, i64)>,
        /// What continues something has none.
        admission: Option<Admission>,
    },
    /// Records that another engine wrote, each with its time. They are this engine's too when the reply comes, the book
    /// with them.
    Copy {
        records: Vec<(i64, Vec<u8>)>,
        to: Sender<(M::Book, i64)>,
    },
    Wake,
    Fired(i64, M::EntityId),
    /// The outside world is asked for a deadline, and takes its time: others need not wait.
    Lasts(M::EntityId),
    /// A deadline that changed nothing may come again.
    Rested(M::EntityId),
    /// Deadlines are the advance's own until it ends. The reply is the tenant's clock, and the book's
    /// generation.
    BeginAdvance(oneshot::Sender<(i64, u64)>),
    /// The earliest deadline up to `until_ms` that is not among those dealt with, of this generation.
    NextDue {
        until_ms: i64,
        generation: u64,
        dealt_with: Skip<M>,
        to: oneshot::Sender<(Due<M>, Skip<M>)>,
    },
    EndAdvance,
    Snapshot(Sender<Seq>),
    Saved(Option<u64>),
    /// The book was found in doubt when it had been resumed `resumptions` times.
    Halt {
        why: String,
        resumptions: u64,
    },
    /// The reply comes once all that was appended is durable and no snapshot is being written.
    Fence(Sender<Seq>),
    /// The book is settled at `settled_ms`; no turn may be before it.
    Resume {
        book: Box<M::Book>,
        settled_ms: i64,
        to: Sender<()>,
    },
    /// Leave memory if the book has no deadline: write a snapshot, then stop.
    Retire,
    Retired {
        version: u64,
    },
}

impl<M: Machine> Ask<M> {
    pub fn of_book(command: M::Command, step: Option<Step>, fresh: bool, reply_to: ReplyTo<M>) -> Box<Self> {
        let asked = Instant::now();
        Box::new(Ask { command, entity: None, id: None, generation: None, step, fresh, asked, reply_to })
    }
}

impl<M: Machine> BookMessage<M> {
    /// Callers of the messages that are not named here notice that the sender is dropped.
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
            BookMessage::Copy { to, .. } => drop(to.send(Err(failure))),
            BookMessage::Snapshot(to) | BookMessage::Fence(to) => {
                let _ = to.send(Err(failure));
            }
            _ => {}
        }
    }
}

/// Dealt with by a clock advance. The set goes with the question and back, so it is never copied.
pub(crate) type Skip<M> = HashSet<(i64, <M as Machine>::EntityId)>;

pub(crate) enum Due<M: Machine> {
    /// Marked as being dealt with.
    Next(Firing<M>),
    /// Another deadline is being dealt with; ask again.
    Busy,
    None,
}

/// Dropping it tells the book that dealing with the deadline is over, so that no path can forget to.
pub(crate) struct Firing<M: Machine> {
    pub book: Arc<BookHandle<M>>,
    pub at_ms: i64,
    pub id: M::EntityId,
}

impl<M: Machine> Drop for Firing<M> {
    fn drop(&mut self) {
        self.book.send(BookMessage::Fired(self.at_ms, self.id));
    }
}

/// Messages go through a mailbox of our own; ractor's only carries wake-ups, so that a burst of
/// commands costs one of its messages.
pub(crate) struct BookHandle<M: Machine> {
    pub mailbox: Mailbox<BookMessage<M>>,
    pub actor: ActorRef<WakeUp>,
    /// Whether the actor ends as it should, and not because of a defect.
    pub over: AtomicBool,
    pub last_used: AtomicI64,
}

pub(crate) struct WakeUp;

impl<M: Machine> BookHandle<M> {
    pub fn send(&self, message: BookMessage<M>) {
        if self.mailbox.push(message) {
            // The cast fails only when the actor is gone; then its supervisor answers the messages.
            let _ = self.actor.cast(WakeUp);
        }
    }

    pub fn wake(&self) {
        if self.mailbox.request_read() {
            let _ = self.actor.cast(WakeUp);
        }
    }
}

/// What a start or a snapshot leaves of a book.
pub(crate) struct Recovered<M: Machine> {
    pub book: M::Book,
    pub ahead: bool,
    /// No turn may be before it.
    pub settled_ms: i64,
}

impl<M: Machine> Recovered<M> {
    pub fn empty(machine: &M, tenant: u64) -> Self {
        Recovered { book: machine.empty(tenant), ahead: false, settled_ms: i64::MIN }
    }

    /// From its newest snapshot, with the sequence of that; or says why that cannot be decoded.
    pub fn load(machine: &M, reader: &Reader, tenant: u64) -> Result<Result<(Seq, Self), String>, ReadError> {
        let Some(stored) = reader.snapshot(tenant, None)? else {
            return Ok(Ok((0, Recovered::empty(machine, tenant))));
        };
        Ok(match machine.restore(tenant, &stored.state) {
            Ok(book) => Ok((stored.seq, Recovered { book, ahead: false, settled_ms: stored.time_ms })),
            Err(error) => Err(format!("its snapshot at {} cannot be decoded: {error}", stored.seq)),
        })
    }
}

pub(crate) enum EntityMessage<M: Machine> {
    /// `fresh` as in [`Ask`].
    Ask {
        command: M::Command,
        fresh: bool,
        step: Option<Step>,
        asked: Instant,
        reply_to: ReplyTo<M>,
    },
    Due {
        command: M::Command,
        firing: Box<Firing<M>>,
    },
    Perform {
        effect: M::Effect,
        step: Option<Step>,
        until_done: UntilDone<M>,
    },
    /// `None` if the effect broke off; the entity's deadline will take care of it.
    Result {
        command: Option<M::Command>,
        step: Option<Step>,
        effect: u64,
    },
    /// The effect takes longer than its caller is kept waiting.
    Late {
        effect: u64,
    },
}

/// The mailbox of an entity, and its state while it rests. The mutex is never locked, as its users
/// have the map's own lock; it makes contents that may only be sent fit to be shared.
pub(crate) type EntityHandle<M> = Mutex<TasklessMailbox<EntityMessage<M>, EntityState<M>>>;

/// Leaves memory when no message is left and no effect is under way.
pub(crate) struct EntityState<M: Machine> {
    /// The newest durable state, which may be that there is none; not known before it is asked for,
    /// and after a record that does not say.
    pub known: Option<Option<Arc<M::Entity>>>,
    /// The generation of the book that the state is of; not known before it is asked for, as for one that is
    /// new. Asked for before the state is loaded, so that it is never newer than that.
    pub generation: Option<u64>,
    pub waiting: Vec<(u64, Option<EntityReply<M>>)>,
}

/// The reply in the making: a request may need several commands (its own, then one for the result of
/// each effect), and the reply gathers what they made durable until nothing is left to do.
pub(crate) struct EntityReply<M: Machine> {
    pub to: Waiting<M>,
    pub durable: Option<Box<Settled<M>>>,
}

/// A deadline's guard is dropped at the first record, that of a follow-up effect at the end.
pub(crate) enum Waiting<M: Machine> {
    Caller(ReplyTo<M>),
    Deadline(Option<Box<Firing<M>>>),
    FollowUp { _until_done: UntilDone<M> },
}
