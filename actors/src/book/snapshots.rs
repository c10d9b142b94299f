//! Snapshots of a book: written, put off, or shared by several callers. A small one is encoded in
//! the book's turn. A large book gives a clone of itself in its turn and sends a fence through the
//! log, which tells where in the log the clone stands; the clone is encoded on a thread of low
//! priority, and the log writes the state in pieces.

use super::Book;
use crate::alarm;
use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::{BookMessage, Failure, PendingReply, Sender, reply_to};
use std::sync::Arc;
use tokio::sync::oneshot;
use wal::{Seq, Snapshot};

const NICENESS: i32 = 10;

impl<M: Machine> Book<M> {
    /// Does nothing if there were no records since the last.
    pub(super) fn snapshot(&mut self, to: Sender<Seq>) {
        // A reply "nothing to write" would let the floor rise over records that are in no snapshot.
        if let Some(failure) = self.host.failure() {
            let _ = to.send(Err(failure));
            return;
        }
        if self.is_ahead_of_its_records() {
            return self.put_off.push(to);
        }
        if let Some(waiting) = &mut self.background {
            // The snapshot under way may be older than the one that is asked for; if it is not, the
            // second one finds nothing to do.
            return waiting.push(to);
        }
        if self.saved == self.version {
            // The last snapshot that the log was given may not be durable yet.
            return self.host.log.fence(PendingReply::Done(to));
        }
        // The snapshot's time may be later than the last record's. The book is settled at that
        // time, which a record may have left undone, so that the saved state follows from the
        // records and the time alone.
        let time_ms = self.earliest_ms().max(self.latest_ms);
        self.latest_ms = time_ms;
        self.host.machine.settle(&mut self.book, time_ms);
        let (tenant, version) = (self.tenant, self.version);
        let index = alarm::mark(&*self.host.machine, tenant, &self.book);
        if !self.host.machine.is_large(&self.book) {
            let state = self.host.machine.save(&self.book);
            self.saved = version;
            let snapshot = Snapshot { tenant, time_ms, state, index };
            return self.host.log.snapshot(snapshot, PendingReply::Done(to));
        }
        self.background = Some(Vec::new());
        let (book, handle, host) = (self.book.clone(), Arc::clone(&self.handle), Arc::clone(&self.host));
        // In this turn: the fence stands between the records that are in the clone and those that
        // are not.
        let (fence, fenced) = oneshot::channel();
        self.host.log.fence(PendingReply::Done(fence));
        self.host.runtime.spawn(async move {
            let snapshot = Snapshot { tenant, time_ms, state: Vec::new(), index };
            let saved = save_in_background(&host, book, snapshot, fenced).await;
            // First the book, which then knows what it need not save again.
            handle.send(BookMessage::Saved(saved.is_ok().then_some(version)));
            let _ = to.send(saved);
        });
    }

    /// Whether an advance has brought the book to an instant that no record has moved its clock to.
    /// Were it saved as of then, its clock would stand for as long after a crash.
    fn is_ahead_of_its_records(&self) -> bool {
        let host = &self.host;
        self.advancing && self.latest_ms > host.machine.now_ms(&self.book, host.config.clock.wall_ms())
    }

    pub(super) fn catch_up(&mut self) {
        if !self.put_off.is_empty() && !self.is_ahead_of_its_records() {
            for to in std::mem::take(&mut self.put_off) {
                self.snapshot(to);
            }
        }
    }
}

async fn save_in_background<M: Machine>(
    host: &Host<M>,
    book: M::Book,
    mut snapshot: Snapshot,
    fenced: oneshot::Receiver<Result<Seq, Failure>>,
) -> Result<Seq, Failure> {
    let seq = fenced.await??;
    let _turn = host.encoding.acquire().await.expect("it is never closed");
    let (give, state) = oneshot::channel();
    let machine = Arc::clone(&host.machine);
    let encode = move || {
        // The niceness is of this thread alone. Where it cannot be set, the thread competes with
        // payments for some milliseconds.
        let _ = rustix::process::nice(NICENESS);
        let state = machine.save(&book);
        // The parts that the book has changed since are freed on this thread too.
        drop(book);
        let _ = give.send(state);
    };
    std::thread::Builder::new()
        .name("book-snapshot".to_owned())
        .spawn(encode)
        .map_err(|error| Failure::Defect(format!("no thread to encode a book: {error}")))?;
    let Ok(state) = state.await else {
        let why = format!("book {}: a panic while its snapshot was encoded", snapshot.tenant);
        host.fail(&why);
        return Err(Failure::Storage(why));
    };
    snapshot.state = state;
    reply_to(|to| host.log.snapshot_at(seq, snapshot, PendingReply::Done(to))).await
}
