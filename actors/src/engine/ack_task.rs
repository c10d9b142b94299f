//! Calls the completions of a large write in a task of its own: to wake a task is cheapest from
//! another one, and the log's writer goes on with the next write meanwhile.

use crate::machine::Machine;
use crate::protocol::pending_reply::PendingReply;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use wal::{AckBatch, AckSender};

pub(crate) type AckQueue<M> = UnboundedReceiver<AckBatch<PendingReply<M>>>;

pub(crate) fn queue<M: Machine>() -> (AckSender<PendingReply<M>>, AckQueue<M>) {
    let (sender, queue) = unbounded_channel::<AckBatch<PendingReply<M>>>();
    let send = move |batch| {
        // The task ends with the runtime; then the log's own thread acknowledges, and no caller is
        // left to hear of it.
        if let Err(refused) = sender.send(batch) {
            refused.0.acknowledge();
        }
    };
    (Box::new(send), queue)
}

/// `fail` is called when a completion panicked: what it was doing is unknown.
pub(crate) async fn run<M: Machine>(mut queue: AckQueue<M>, fail: impl Fn(&str)) {
    while let Some(batch) = queue.recv().await {
        if catch_unwind(AssertUnwindSafe(|| batch.acknowledge())).is_err() {
            fail("a completion of the log panicked");
        }
    }
}
