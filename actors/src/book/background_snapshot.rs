//! A large book is saved beside its turns: in its turn it gives a clone of itself and sends a fence
//! through the log, which tells where in the log the clone stands. The clone is encoded on a thread
//! of low priority, and the log writes the state in pieces.

use super::BookContext;
use crate::machine::Machine;
use crate::protocol::book::{BookHandle, BookMessage};
use crate::protocol::pending_reply::PendingReply;
use crate::protocol::reply::Failure;
use std::sync::Arc;
use tokio::sync::oneshot;
use wal::{IndexOps, Seq, Snapshot};

/// Added to the niceness of threads that encode.
const NICENESS: i32 = 10;

pub(super) struct BackgroundSnapshot<M: Machine> {
    pub tenant: u64,
    pub book: M::Book,
    pub version: u64,
    pub time_ms: i64,
    pub index: IndexOps,
}

/// Called in the book's turn: the fence stands between the records that are in the clone and those
/// that are not.
pub(super) fn save<M: Machine, C: BookContext<M>>(
    context: &C,
    handle: Arc<BookHandle<M>>,
    clone: BackgroundSnapshot<M>,
    to: oneshot::Sender<Result<Seq, Failure>>,
) {
    let (fence, fenced) = oneshot::channel();
    context.host().log.fence(PendingReply::Done(fence));
    let (runtime, context) = (context.host().runtime.clone(), context.clone());
    runtime.spawn(async move {
        let version = clone.version;
        let saved = saved(&context, clone, fenced).await;
        // First the book, which then knows what it need not save again.
        handle.send(BookMessage::Saved(saved.is_ok().then_some(version)));
        let _ = to.send(saved);
    });
}

async fn saved<M: Machine, C: BookContext<M>>(
    context: &C,
    clone: BackgroundSnapshot<M>,
    fenced: oneshot::Receiver<Result<Seq, Failure>>,
) -> Result<Seq, Failure> {
    let host = context.host();
    let seq = fenced.await.map_err(|_| Failure::outcome_unknown())??;
    let _turn = context.books().encoding.acquire().await.map_err(|_| Failure::outcome_unknown())?;
    let BackgroundSnapshot { tenant, book, time_ms, index, .. } = clone;
    let Some(state) = encoded(&host.machine, book)?.await.ok() else {
        let why = format!("book {tenant}: a panic while its snapshot was encoded");
        host.end.fail(&why);
        return Err(Failure::Storage(why));
    };
    let (to, from) = oneshot::channel();
    host.log.snapshot_at(seq, Snapshot { tenant, time_ms, state, index }, PendingReply::Done(to));
    from.await.map_err(|_| Failure::outcome_unknown())?
}

/// The thread's end without a state is a panic.
fn encoded<M: Machine>(machine: &Arc<M>, book: M::Book) -> Result<oneshot::Receiver<Vec<u8>>, Failure> {
    let (to, from) = oneshot::channel();
    let machine = Arc::clone(machine);
    let thread = std::thread::Builder::new().name("book-snapshot".to_owned()).spawn(move || {
        // The niceness is of this thread alone. Where it cannot be set, the thread competes with
        // payments for some milliseconds.
        let _ = rustix::process::nice(NICENESS);
        let state = machine.save(&book);
        // The parts that the book has changed since are freed on this thread too.
        drop(book);
        let _ = to.send(state);
    });
    match thread {
        Ok(_) => Ok(from),
        // Nothing is lost: the next round tries again.
        Err(error) => Err(Failure::Defect(format!("no thread to encode a book: {error}"))),
    }
}
