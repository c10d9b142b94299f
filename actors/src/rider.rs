//! What travels with a record or a fence through the log: the answer to the one who asked. It is
//! sent when the writer says that it is durable.

use crate::admission::Admission;
use crate::errands::{Errands, Performed};
use crate::jump::Leg;
use crate::machine::{Effects, Machine};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use wal::{Completion, Durable, Poisoned, Seq};

/// Something that must live as long as a request is under way, such as a permit or a reserved name.
pub type Held = Box<dyn Send>;

/// Where the time of a request went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// From being asked to the book's turn.
    pub queue: Duration,
    /// The turn itself.
    pub apply: Duration,
    /// From the append to durable.
    pub wal: Duration,
}

/// An answer that is durable: what it says has been synced.
pub struct Settled<M: Machine> {
    /// The entity after the command, when one was asked.
    pub entity: Option<Arc<M::Entity>>,
    /// What was written; `None` when nothing changed.
    pub record: Option<Arc<M::Record>>,
    /// The sequence of that record.
    pub seq: Option<Seq>,
    /// The tenant's clock at the decision.
    pub time_ms: i64,
    /// Where the time went.
    pub timing: Timing,
    /// A rule said no.
    pub refusal: Option<M::Refusal>,
    /// The effects of other entities that the record asked for; `None` when it asked for none.
    pub performed: Option<Performed<M>>,
    /// What the asking entity is to perform now.
    pub(crate) effects: Vec<M::Effect>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Too much is under way; nothing happened; try again later.
    Overloaded,
    /// The tenant has its share of what is under way; nothing happened; try again later.
    ShareFull,
    /// The engine is going down; nothing happened.
    ShuttingDown,
    /// What was asked makes a record that is larger than the log takes; nothing changed.
    TooLarge,
    /// The log refused a write: the outcome is unknown until a restart.
    Storage(String),
    /// The tenant's book is halted, because its state is in doubt or an operator set it aside;
    /// nothing happened.
    Halted,
    /// A rule has a defect; nothing changed.
    Defect(String),
}

/// What comes back to the one who asked. Boxed once, by the book: it then travels through the log
/// to the answer as it is.
pub type Outcome<M> = Result<Box<Settled<M>>, Failure>;

/// Where an answer goes, with what is held until then.
pub struct Answer<M: Machine> {
    // In this order, so that one that is dropped unsent also lets go of what is held before the
    // caller wakes.
    admission: Option<Admission>,
    until_record: Option<Held>,
    until_answer: Option<Held>,
    to: oneshot::Sender<Outcome<M>>,
}

impl<M: Machine> Answer<M> {
    /// An answer and its receiving end. `until_record` is dropped when the first record of the
    /// request is durable, `until_answer` just before the answer is sent.
    pub fn new(
        until_record: Option<Held>,
        until_answer: Option<Held>,
    ) -> (Self, oneshot::Receiver<Outcome<M>>) {
        let (to, from) = oneshot::channel();
        (Answer { admission: None, until_record, until_answer, to }, from)
    }

    /// The same, holding a part of the engine's capacity until the answer is sent.
    pub(crate) fn admitted(self, admission: Admission) -> Self {
        Answer { admission: Some(admission), ..self }
    }

    /// The first record is durable: others may look it up now.
    pub fn recorded(&mut self) {
        self.until_record = None;
        if let Some(admission) = &mut self.admission {
            admission.recorded();
        }
    }

    /// Sends it. What was held is let go first, so that the caller's next request does not meet its
    /// own reservation.
    pub fn send(mut self, outcome: Outcome<M>) {
        self.admission = None;
        self.until_record = None;
        self.until_answer = None;
        // The caller may have gone; what happened has happened.
        let _ = self.to.send(outcome);
    }
}

/// What the log carries for the engine.
pub(crate) enum Rider<M: Machine> {
    /// The answer to a command.
    Answer {
        answer: Answer<M>,
        settled: Box<Settled<M>>,
        /// To perform when it is durable. Boxed because it is rare and every record moves a rider
        /// through the log's queue.
        errands: Option<Box<Errands<M>>>,
        /// Who waits to hear that it is durable.
        listener: Option<Listener<M>>,
    },
    /// The answer to a question, and the part of the capacity that is free before it is sent.
    View { to: oneshot::Sender<Result<M::View, Failure>>, view: M::View, admission: Admission },
    /// Something that only wants to know that it is durable.
    Done(oneshot::Sender<Result<Seq, Failure>>),
}

/// The outside world, waiting to hear of a tenant's record.
pub(crate) struct Listener<M: Machine> {
    pub effects: Arc<dyn Effects<M>>,
    pub tenant: u64,
}

impl<M: Machine> Completion for Rider<M> {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        let outcome = outcome.map_err(|poisoned| Failure::Storage(poisoned.to_string()));
        match self {
            Rider::Answer { answer, mut settled, errands, listener } => match outcome {
                Ok(durable) => {
                    settled.timing.wal = durable.waited;
                    if settled.record.is_some() {
                        settled.seq = Some(durable.seq);
                    }
                    if let (Some(listener), Some(record)) = (listener, &settled.record) {
                        tell(&listener, record);
                    }
                    settled.performed = errands.map(|errands| errands.begin());
                    answer.send(Ok(settled));
                }
                Err(failure) => answer.send(Err(failure)),
            },
            Rider::View { to, view, admission } => {
                drop(admission);
                let _ = to.send(outcome.map(|_| view));
            }
            Rider::Done(to) => {
                let _ = to.send(outcome.map(|durable| durable.seq));
            }
        }
    }
}

/// A panic in there must not end the log.
fn tell<M: Machine>(listener: &Listener<M>, record: &M::Record) {
    if catch_unwind(AssertUnwindSafe(|| listener.effects.durable(listener.tenant, record))).is_err() {
        tracing::error!(tenant = listener.tenant, "a panic in who waits to hear of records");
    }
}

/// A command on its way to a book.
pub(crate) struct Ask<M: Machine> {
    pub command: M::Command,
    pub entity: Option<Arc<M::Entity>>,
    /// The entity's name, to find its new state in the record.
    pub id: Option<M::EntityId>,
    /// The instant of a jump that the decision bears; `None` is the tenant's now.
    pub leg: Option<Leg>,
    /// Nothing of the request has happened yet, so it may be refused for want of room.
    pub fresh: bool,
    pub asked: Instant,
    pub answer: Answer<M>,
}
