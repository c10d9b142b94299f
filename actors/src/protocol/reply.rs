//! Replies to callers: a decision that is durable, or a failure.

use crate::admission::Admission;
use crate::machine::Rules;
use crate::protocol::follow_ups::Performed;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use wal::Seq;

/// Dropped at the end of a request, such as a permit or a reserved name.
pub type Guard = Box<dyn Send>;

#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// From the request to the book's turn.
    pub queue: Duration,
    pub apply: Duration,
    /// From the append until the record is durable.
    pub wal: Duration,
    /// The part of `wal` in which other machines agreed, where there are others.
    pub agree: Option<Duration>,
}

/// Its record has been synced.
pub struct Settled<R: Rules> {
    /// After the command, for a command to an entity.
    pub entity: Option<Arc<R::Entity>>,
    /// `None` when nothing changed.
    pub record: Option<Arc<R::Record>>,
    pub seq: Option<Seq>,
    pub time_ms: i64,
    pub timing: Timing,
    pub refusal: Option<R::Refusal>,
    /// Effects of other entities; `None` when the record asked for none.
    pub performed: Option<Performed<R>>,
    /// The asking entity's own.
    pub(crate) effects: Vec<R::Effect>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing happened; the request may be repeated later.
    Overloaded,
    /// The tenant has its share of what is under way; nothing happened; the request may be repeated later.
    ShareFull,
    /// Nothing happened.
    ShuttingDown,
    /// The record is larger than the log takes; nothing changed.
    TooLarge,
    /// The outcome is unknown until a restart.
    Storage(String),
    /// The book is in doubt or set aside by an operator; nothing happened.
    Halted,
    /// The tenant's book began anew meanwhile; nothing happened.
    Reset,
    /// A rule has a defect; nothing changed.
    Defect(String),
}

impl Failure {
    /// An actor was gone before it replied: the command may be durable all the same.
    pub(crate) fn outcome_unknown() -> Failure {
        Failure::Storage("the actor is gone; outcome unknown".to_owned())
    }
}

/// Boxed once, by the book: the box then goes through the log to the caller as it is.
pub type CommandReply<R> = Result<Box<Settled<R>>, Failure>;

pub(crate) fn received<R: Rules>(
    received: Result<CommandReply<R>, oneshot::error::RecvError>,
) -> CommandReply<R> {
    received.unwrap_or_else(|_| Err(Failure::outcome_unknown()))
}

pub struct ReplyTo<R: Rules> {
    // The order of the fields is the order of dropping: the guards of an unsent reply are dropped
    // before the caller wakes.
    admission: Option<Admission>,
    until_record: Option<Guard>,
    until_reply: Option<Guard>,
    to: oneshot::Sender<CommandReply<R>>,
}

impl<R: Rules> ReplyTo<R> {
    /// `until_record` is dropped when the first record of the request is durable, `until_reply`
    /// just before the reply is sent.
    pub fn new(
        until_record: Option<Guard>,
        until_reply: Option<Guard>,
    ) -> (Self, oneshot::Receiver<CommandReply<R>>) {
        let (to, from) = oneshot::channel();
        (ReplyTo { admission: None, until_record, until_reply, to }, from)
    }

    /// The part of the capacity is kept until the reply is sent.
    pub(crate) fn admitted(self, admission: Admission) -> Self {
        ReplyTo { admission: Some(admission), ..self }
    }

    /// The first record is durable: others may find it in the index now.
    pub fn recorded(&mut self) {
        self.until_record = None;
        if let Some(admission) = &mut self.admission {
            admission.recorded();
        }
    }

    /// Guards are dropped first, so that the caller's next request does not meet its own reservation.
    pub fn send(mut self, reply: CommandReply<R>) {
        self.admission = None;
        self.until_record = None;
        self.until_reply = None;
        // The caller may be gone; what was decided stays.
        let _ = self.to.send(reply);
    }
}
