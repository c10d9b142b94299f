//! The pending reply: it goes through the log with a record or a fence, and is sent to its caller
//! when the writer acknowledges that.

use crate::admission::Admission;
use crate::clock_advance::Step;
use crate::follow_ups::{FollowUps, Performed};
use crate::machine::{Effects, Machine};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::{Completion, Durable, Poisoned, Seq};

/// A value that lives as long as a request is under way and is then dropped, such as a permit or a
/// reserved name.
pub type Guard = Box<dyn Send>;

/// The time of a request, by where it went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// From being asked to the book's turn.
    pub queue: Duration,
    /// The turn itself.
    pub apply: Duration,
    /// From the append to durable.
    pub wal: Duration,
}

/// A decision that is durable: the record that it speaks of has been synced.
pub struct Settled<M: Machine> {
    /// The entity after the command, when one was asked.
    pub entity: Option<Arc<M::Entity>>,
    /// The record that was written; `None` when nothing changed.
    pub record: Option<Arc<M::Record>>,
    /// The sequence of that record.
    pub seq: Option<Seq>,
    /// The tenant's clock at the decision.
    pub time_ms: i64,
    /// The time that it took.
    pub timing: Timing,
    /// A rule said no.
    pub refusal: Option<M::Refusal>,
    /// The effects of other entities that the record asked for; `None` when it asked for none.
    pub performed: Option<Performed<M>>,
    /// The effects that the asking entity is to perform now.
    pub(crate) effects: Vec<M::Effect>,
}

/// The reason why a request has no durable decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Too much is under way; nothing happened; try again later.
    Overloaded,
    /// The tenant has its share of what is under way; nothing happened; try again later.
    ShareFull,
    /// The engine is going down; nothing happened.
    ShuttingDown,
    /// The record of the command is larger than the log takes; nothing changed.
    TooLarge,
    /// The log refused a write: the outcome is unknown until a restart.
    Storage(String),
    /// The tenant's book is halted, because its state is in doubt or an operator set it aside;
    /// nothing happened.
    Halted,
    /// A rule has a defect; nothing changed.
    Defect(String),
}

/// The reply to a command. Boxed once, by the book: the box then goes through the log to the caller
/// as it is.
pub type CommandReply<M> = Result<Box<Settled<M>>, Failure>;

/// The caller that a reply goes to, with the guards that are kept until then.
pub struct ReplyTo<M: Machine> {
    // In this order, so that one that is dropped unsent also drops its guards before the caller
    // wakes.
    admission: Option<Admission>,
    until_record: Option<Guard>,
    until_reply: Option<Guard>,
    to: oneshot::Sender<CommandReply<M>>,
}

impl<M: Machine> ReplyTo<M> {
    /// A caller and its receiving end. `until_record` is dropped when the first record of the
    /// request is durable, `until_reply` just before the reply is sent.
    pub fn new(
        until_record: Option<Guard>,
        until_reply: Option<Guard>,
    ) -> (Self, oneshot::Receiver<CommandReply<M>>) {
        let (to, from) = oneshot::channel();
        (ReplyTo { admission: None, until_record, until_reply, to }, from)
    }

    /// The same, keeping a part of the engine's capacity until the reply is sent.
    pub(crate) fn admitted(self, admission: Admission) -> Self {
        ReplyTo { admission: Some(admission), ..self }
    }

    /// Drops the guard of the first record, which is durable: others may look it up now.
    pub fn recorded(&mut self) {
        self.until_record = None;
        if let Some(admission) = &mut self.admission {
            admission.recorded();
        }
    }

    /// Sends the reply. The guards are dropped first, so that the caller's next request does not
    /// meet its own reservation.
    pub fn send(mut self, reply: CommandReply<M>) {
        self.admission = None;
        self.until_record = None;
        self.until_reply = None;
        // The caller may have gone; what happened has happened.
        let _ = self.to.send(reply);
    }
}

/// A reply that waits in the log until its entry is durable.
pub(crate) enum PendingReply<M: Machine> {
    /// The reply to a command.
    Command {
        reply_to: ReplyTo<M>,
        settled: Box<Settled<M>>,
        /// Effects to begin when the record is durable. Boxed because they are rare, and every
        /// record moves a pending reply through the log's queue.
        follow_ups: Option<Box<FollowUps<M>>>,
        /// The outside world, if it waits to hear that the record is durable.
        listener: Option<Listener<M>>,
    },
    /// The reply to a question, and the part of the capacity that is free before it is sent.
    View { to: oneshot::Sender<Result<M::View, Failure>>, view: M::View, admission: Admission },
    /// A caller that only wants to know that the entry is durable.
    Done(oneshot::Sender<Result<Seq, Failure>>),
}

/// The outside world, waiting to hear of a tenant's record.
pub(crate) struct Listener<M: Machine> {
    pub effects: Arc<dyn Effects<M>>,
    pub tenant: u64,
}

impl<M: Machine> Completion for PendingReply<M> {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        let outcome = outcome.map_err(|poisoned| Failure::Storage(poisoned.to_string()));
        match self {
            PendingReply::Command { reply_to, mut settled, follow_ups, listener } => match outcome {
                Ok(durable) => {
                    settled.timing.wal = durable.waited;
                    if settled.record.is_some() {
                        settled.seq = Some(durable.seq);
                    }
                    if let (Some(listener), Some(record)) = (listener, &settled.record) {
                        notify(&listener, record);
                    }
                    settled.performed = follow_ups.map(|follow_ups| follow_ups.begin());
                    reply_to.send(Ok(settled));
                }
                Err(failure) => reply_to.send(Err(failure)),
            },
            PendingReply::View { to, view, admission } => {
                drop(admission);
                let _ = to.send(outcome.map(|_| view));
            }
            PendingReply::Done(to) => {
                let _ = to.send(outcome.map(|durable| durable.seq));
            }
        }
    }
}

/// Tells a listener of a record. A panic in there must not end the log.
fn notify<M: Machine>(listener: &Listener<M>, record: &M::Record) {
    if catch_unwind(AssertUnwindSafe(|| listener.effects.durable(listener.tenant, record))).is_err() {
        tracing::error!(tenant = listener.tenant, "a panic in the listener for durable records");
    }
}

/// A command on its way to a book.
pub(crate) struct Ask<M: Machine> {
    pub command: M::Command,
    pub entity: Option<Arc<M::Entity>>,
    /// The entity's name, to find its new state in the record.
    pub id: Option<M::EntityId>,
    /// The step of a clock advance whose instant the decision bears; `None` is the tenant's now.
    pub step: Option<Step>,
    /// Whether nothing of the request has happened yet, so that it may be refused for want of room.
    pub fresh: bool,
    pub asked: Instant,
    pub reply_to: ReplyTo<M>,
}
