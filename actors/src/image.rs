//! Saves a large book beside its turns. In its turn the book gives a clone of itself and sends a
//! fence through the log, which tells where in the log the clone stands. The clone is then encoded
//! on a thread of low priority, and the log writes the state in pieces, while the book goes on.

use crate::engine::{Engine, gone};
use crate::machine::Machine;
use crate::rider::{Failure, Rider};
use crate::slot::{BookMessage, BookSlot};
use std::sync::Arc;
use tokio::sync::oneshot;
use wal::{IndexOps, Seq, Snapshot};

/// How much lower than others the threads stand with the scheduler that encode.
const NICENESS: i32 = 10;

/// A book as it was in one turn.
pub(crate) struct Image<M: Machine> {
    pub tenant: u64,
    pub book: M::Book,
    /// The book's version then.
    pub version: u64,
    /// The instant that the book had lived.
    pub time_ms: i64,
    /// What is to be written with it.
    pub index: IndexOps,
}

/// Saves an image, and tells its book and who asked. Called in the book's turn: the fence stands
/// between the records that are in the image and those that are not.
pub(crate) fn save<M: Machine>(
    engine: &Engine<M>,
    slot: &Arc<BookSlot<M>>,
    image: Image<M>,
    to: oneshot::Sender<Result<Seq, Failure>>,
) {
    let (fence, fenced) = oneshot::channel();
    engine.shared.log.fence(Rider::Done(fence));
    let (engine, slot) = (engine.clone(), Arc::clone(slot));
    engine.shared.runtime.clone().spawn(async move {
        let version = image.version;
        let saved = saved(&engine, image, fenced).await;
        // First the book, which then knows what it need not save again.
        slot.send(BookMessage::Saved(saved.is_ok().then_some(version)));
        let _ = to.send(saved);
    });
}

async fn saved<M: Machine>(
    engine: &Engine<M>,
    image: Image<M>,
    fenced: oneshot::Receiver<Result<Seq, Failure>>,
) -> Result<Seq, Failure> {
    let shared = &engine.shared;
    let seq = fenced.await.map_err(|_| gone())??;
    let _turn = shared.imaging.acquire().await.map_err(|_| gone())?;
    let Image { tenant, book, time_ms, index, .. } = image;
    let Some(state) = encoded(engine, book)?.await.ok() else {
        let why = format!("book {tenant}: a panic while its image was encoded");
        shared.fail(&why);
        return Err(Failure::Storage(why));
    };
    let (to, from) = oneshot::channel();
    shared.log.snapshot_at(seq, Snapshot { tenant, time_ms, state, index }, Rider::Done(to));
    from.await.map_err(|_| gone())?
}

/// Encodes a book on a thread of its own, whose end without an answer is a panic.
fn encoded<M: Machine>(engine: &Engine<M>, book: M::Book) -> Result<oneshot::Receiver<Vec<u8>>, Failure> {
    let (to, from) = oneshot::channel();
    let machine = Arc::clone(&engine.shared.machine);
    let thread = std::thread::Builder::new().name("book-image".to_owned()).spawn(move || {
        // Of this thread alone. Where it is not allowed, it competes with payments for some
        // milliseconds.
        let _ = rustix::process::nice(NICENESS);
        let state = machine.save(&book);
        // What the book has changed since is let go here too.
        drop(book);
        let _ = to.send(state);
    });
    match thread {
        Ok(_) => Ok(from),
        // Nothing is lost: the next round tries again.
        Err(error) => Err(Failure::Defect(format!("no thread to encode a book: {error}"))),
    }
}
