//! A book in doubt: its halt, its messages while it is halted, and its resumption.

use super::{Book, BookContext};
use crate::machine::Machine;
use crate::protocol::book::{BookMessage, Resumption};
use crate::protocol::pending_reply::PendingReply;
use crate::protocol::reply::Failure;
use std::sync::atomic::Ordering;

impl<M: Machine, C: BookContext<M>> Book<M, C> {
    /// Returns false if the engine can't go on without the book, and ends.
    pub(super) fn halt(&mut self, why: &str) -> bool {
        self.host().counters.breached.fetch_add(1, Ordering::Relaxed);
        let is_halted = self.host().halt(self.tenant, why);
        if is_halted {
            self.forget();
        }
        is_halted
    }

    /// Does nothing if the finding is older than the last resumption.
    pub(super) fn halt_unless_resumed(&mut self, why: &str, resumptions: u64) {
        if resumptions == self.host().halts.resumptions(self.tenant) {
            self.halt(why);
        }
    }

    /// Drops the state in doubt. Deadlines, and what is under way for them, are found again when
    /// the book is resumed.
    fn forget(&mut self) {
        self.halted = true;
        self.book = self.host().machine.empty(self.tenant);
        self.firing.clear();
        self.asking.clear();
        self.resting.clear();
        self.advancing = false;
        self.armed_ms = None;
        // A background snapshot that is being written is of an earlier turn; callers that wait for
        // the next one wait in vain.
        let waiting = self.background.iter_mut().flat_map(|waiting| waiting.drain(..));
        for to in waiting.chain(self.put_off.drain(..)) {
            let _ = to.send(Err(Failure::Halted));
        }
    }

    pub(super) fn handle_halted(&mut self, message: BookMessage<M>) {
        match message {
            BookMessage::Fence(to) => match &mut self.background {
                Some(waiting) => waiting.push(to),
                None => self.host().log.fence(PendingReply::Done(to)),
            },
            BookMessage::Saved(_) => {
                for to in self.background.take().unwrap_or_default() {
                    self.host().log.fence(PendingReply::Done(to));
                }
            }
            BookMessage::Resume(resumption) => self.resume(*resumption),
            message => message.fail(Failure::Halted),
        }
    }

    fn resume(&mut self, resumption: Resumption<M>) {
        let Resumption { book, settled_ms, to } = resumption;
        self.book = book;
        self.halted = false;
        // The new state is in no snapshot that this actor knows of.
        self.version += 1;
        self.latest_ms = self.latest_ms.max(settled_ms);
        self.host().halts.resume(self.tenant);
        let _ = to.send(());
        self.fire(None);
    }
}
