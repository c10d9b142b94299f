//! Replies to callers: a decision that is durable, or a failure.

use crate::admission::Admission;
use crate::machine::Rules;
use crate::protocol::follow_ups::Performed;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use wal::Seq;

/// A value that is kept while a request is under way and dropped at its end, such as a permit or a
/// reserved name.
pub type Guard = Box<dyn Send>;

/// The time of a request, by its parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// The time from the request to the book's turn.
    pub queue: Duration,
    /// The time of the turn itself.
    pub apply: Duration,
    /// The time from the append until the record is durable.
    pub wal: Duration,
    /// The part of that in which other machines agreed, where there are others.
    pub agree: Option<Duration>,
}

/// A decision that is durable: its record has been synced.
pub struct Settled<R: Rules> {
    /// The entity after the command, for a command to an entity.
    pub entity: Option<Arc<R::Entity>>,
    /// The record that was written; `None` when nothing changed.
    pub record: Option<Arc<R::Record>>,
    /// The sequence of that record.
    pub seq: Option<Seq>,
    /// The tenant's clock at the decision.
    pub time_ms: i64,
    /// The time that the request took.
    pub timing: Timing,
    /// The refusal, if a rule said no.
    pub refusal: Option<R::Refusal>,
    /// The effects of other entities that the record asked for; `None` when it asked for none.
    pub performed: Option<Performed<R>>,
    /// The effects that the asking entity is to perform now.
    pub(crate) effects: Vec<R::Effect>,
}

/// The reason why a request has no durable decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Too much is under way; nothing happened; the request may be repeated later.
    Overloaded,
    /// The tenant has its share of what is under way; nothing happened; the request may be repeated
    /// later.
    ShareFull,
    /// The engine is stopping; nothing happened.
    ShuttingDown,
    /// The record of the command is larger than the log takes; nothing changed.
    TooLarge,
    /// The log refused a write: the outcome is unknown until a restart.
    Storage(String),
    /// The tenant's book is halted, because its state is in doubt or an operator set it aside;
    /// nothing happened.
    Halted,
    /// The tenant's book began anew meanwhile; nothing happened.
    Reset,
    /// A rule has a defect; nothing changed.
    Defect(String),
}

impl Failure {
    /// The failure for an actor that was gone before it replied: the command may be durable all the
    /// same.
    pub(crate) fn outcome_unknown() -> Failure {
        Failure::Storage("the actor is gone; outcome unknown".to_owned())
    }
}

/// The reply to a command. Boxed once, by the book: the box then goes through the log to the caller
/// as it is.
pub type CommandReply<R> = Result<Box<Settled<R>>, Failure>;

/// The received reply, or a failure if its sender was dropped.
pub(crate) fn received<R: Rules>(
    received: Result<CommandReply<R>, oneshot::error::RecvError>,
) -> CommandReply<R> {
    received.unwrap_or_else(|_| Err(Failure::outcome_unknown()))
}

/// The caller that a reply goes to, with the guards that are kept until then.
pub struct ReplyTo<R: Rules> {
    // The order of the fields is the order of dropping: the guards of an unsent reply are dropped
    // before the caller wakes.
    admission: Option<Admission>,
    until_record: Option<Guard>,
    until_reply: Option<Guard>,
    to: oneshot::Sender<CommandReply<R>>,
}

impl<R: Rules> ReplyTo<R> {
    /// Makes a caller and its receiver. `until_record` is dropped when the first record of the
    /// request is durable, `until_reply` just before the reply is sent.
    pub fn new(
        until_record: Option<Guard>,
        until_reply: Option<Guard>,
    ) -> (Self, oneshot::Receiver<CommandReply<R>>) {
        let (to, from) = oneshot::channel();
        (ReplyTo { admission: None, until_record, until_reply, to }, from)
    }

    /// The reply with a part of the engine's capacity, kept until it is sent.
    pub(crate) fn admitted(self, admission: Admission) -> Self {
        ReplyTo { admission: Some(admission), ..self }
    }

    /// Drops the guard of the first record, which is durable: others may find it in the index now.
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
        // The caller may be gone; what was decided stays.
        let _ = self.to.send(reply);
    }
}
