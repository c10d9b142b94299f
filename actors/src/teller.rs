//! Tells those who waited for a large write, in a task: to wake a task is cheapest from another
//! one, and the log's writer goes on with the next write meanwhile.

use crate::machine::Machine;
use crate::rider::Rider;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use wal::{Finished, Teller};

/// Where the log gives them to, and what is to be run for it.
pub(crate) fn teller<M: Machine>() -> (Teller<Rider<M>>, UnboundedReceiver<Finished<Rider<M>>>) {
    let (give, given) = unbounded_channel::<Finished<Rider<M>>>();
    let teller = move |finished| {
        // The task ends with the runtime; then the log's own thread tells, and nobody hears of it.
        if let Err(refused) = give.send(finished) {
            refused.0.tell();
        }
    };
    (Box::new(teller), given)
}

/// Tells, one write after the other. `fail` is called when one of those who were told panicked:
/// what it was doing is unknown.
pub(crate) async fn run<M: Machine>(mut given: UnboundedReceiver<Finished<Rider<M>>>, fail: impl Fn(&str)) {
    while let Some(finished) = given.recv().await {
        if catch_unwind(AssertUnwindSafe(|| finished.tell())).is_err() {
            fail("a completion of the log panicked");
        }
    }
}
