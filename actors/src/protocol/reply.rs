//! Replies to callers: a decision that is durable, or a failure.

use crate::admission::Admission;
use crate::machine::Rules;
use crate::protocol::follow_ups::Performed;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use wal::Seq;

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
pub struct Settled<R: Rules> {
    /// The entity after the command, when one was asked.
    pub entity: Option<Arc<R::Entity>>,
    /// The record that was written; `None` when nothing changed.
    pub record: Option<Arc<R::Record>>,
    /// The sequence of that record.
    pub seq: Option<Seq>,
    /// The tenant's clock at the decision.
    pub time_ms: i64,
    /// The time that it took.
    pub timing: Timing,
    /// A rule said no.
    pub refusal: Option<R::Refusal>,
    /// The effects of other entities that the record asked for; `None` when it asked for none.
    pub performed: Option<Performed<R>>,
    /// The effects that the asking entity is to perform now.
    pub(crate) effects: Vec<R::Effect>,
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

impl Failure {
    /// The failure when an actor is gone before it replied: the command may be durable all the
    /// same.
    pub(crate) fn outcome_unknown() -> Failure {
        Failure::Storage("the actor is gone; outcome unknown".to_owned())
    }
}

/// The reply to a command. Boxed once, by the book: the box then goes through the log to the caller
/// as it is.
pub type CommandReply<R> = Result<Box<Settled<R>>, Failure>;

/// The reply that was received, if its sender was not lost.
pub(crate) fn received<R: Rules>(
    received: Result<CommandReply<R>, oneshot::error::RecvError>,
) -> CommandReply<R> {
    received.unwrap_or_else(|_| Err(Failure::outcome_unknown()))
}

/// The caller that a reply goes to, with the guards that are kept until then.
pub struct ReplyTo<R: Rules> {
    // In this order, so that one that is dropped unsent also drops its guards before the caller
    // wakes.
    admission: Option<Admission>,
    until_record: Option<Guard>,
    until_reply: Option<Guard>,
    to: oneshot::Sender<CommandReply<R>>,
}

impl<R: Rules> ReplyTo<R> {
    /// A caller and its receiving end. `until_record` is dropped when the first record of the
    /// request is durable, `until_reply` just before the reply is sent.
    pub fn new(
        until_record: Option<Guard>,
        until_reply: Option<Guard>,
    ) -> (Self, oneshot::Receiver<CommandReply<R>>) {
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
    pub fn send(mut self, reply: CommandReply<R>) {
        self.admission = None;
        self.until_record = None;
        self.until_reply = None;
        // The caller may have gone; what happened has happened.
        let _ = self.to.send(reply);
    }
}
