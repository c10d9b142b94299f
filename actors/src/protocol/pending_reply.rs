//! Goes through the log with a record or a fence, and is sent to its caller when the writer
//! acknowledges that. It has senders and values, and never the engine: the log's queue keeps
//! nothing alive that keeps the log alive.

use crate::admission::Admission;
use crate::machine::{Effects, Rules};
use crate::protocol::follow_ups::FollowUps;
use crate::protocol::reply::{Failure, ReplyTo, Settled};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::oneshot;
use wal::{Completion, Durable, Poisoned, Seq};

pub(crate) enum PendingReply<R: Rules> {
    Command {
        reply_to: ReplyTo<R>,
        settled: Box<Settled<R>>,
        /// Begun when the record is durable. Boxed because they are rare, and every record moves a
        /// pending reply through the log's queue.
        follow_ups: Option<Box<FollowUps<R>>>,
        /// If the outside world waits for the record to be durable.
        listener: Option<Listener<R>>,
    },
    /// Commands whose record is one. They have no effects.
    Commands {
        replies: Vec<Reply<R>>,
        listener: Option<Listener<R>>,
    },
    /// The part of the capacity is freed before the reply is sent.
    View {
        to: oneshot::Sender<Result<R::View, Failure>>,
        view: R::View,
        admission: Option<Admission>,
    },
    Done(oneshot::Sender<Result<Seq, Failure>>),
}

pub(crate) type Reply<R> = (ReplyTo<R>, Box<Settled<R>>);

pub(crate) struct Listener<R: Rules> {
    pub effects: Arc<dyn Effects<R>>,
    pub tenant: u64,
}

impl<R: Rules> Completion for PendingReply<R> {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        let outcome = outcome.map_err(|poisoned| Failure::Storage(poisoned.to_string()));
        match self {
            PendingReply::Command { reply_to, mut settled, follow_ups, listener } => match outcome {
                Ok(durable) => {
                    settled.timing.wal = durable.waited;
                    settled.timing.agree = durable.agreed;
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
            PendingReply::Commands { replies, listener } => {
                let record = replies.first().and_then(|(_, settled)| settled.record.as_deref());
                if let (Ok(_), Some(listener), Some(record)) = (&outcome, listener, record) {
                    notify(&listener, record);
                }
                for (reply_to, mut settled) in replies {
                    reply_to.send(outcome.clone().map(|durable| {
                        settled.timing.wal = durable.waited;
                        settled.timing.agree = durable.agreed;
                        settled.seq = Some(durable.seq);
                        settled
                    }));
                }
            }
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

/// A panic of the listener must not end the log.
fn notify<R: Rules>(listener: &Listener<R>, record: &R::Record) {
    if catch_unwind(AssertUnwindSafe(|| listener.effects.durable(listener.tenant, record))).is_err() {
        tracing::error!(tenant = listener.tenant, "a panic in the listener for durable records");
    }
}
