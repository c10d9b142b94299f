//! An idle book leaves memory: it writes a snapshot, then leaves the map of books.

use super::{Book, BookContext, Next};
use crate::machine::Machine;
use crate::protocol::book::BookMessage;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;

impl<M: Machine, C: BookContext<M>> Book<M, C> {
    fn is_needed(&self) -> bool {
        self.advancing
            || !self.firing.is_empty()
            || !self.asking.is_empty()
            || !self.resting.is_empty()
            || self.host().machine.next_due(&self.book, &|_| false).is_some()
    }

    pub(super) fn retire(&mut self) {
        if self.is_needed() {
            return;
        }
        let version = self.version;
        let (to, from) = oneshot::channel();
        self.snapshot(to);
        // The reply goes to this actor and not to the book: another actor may have replaced it by
        // then.
        let handle = Arc::clone(&self.handle);
        self.host().runtime.spawn(async move {
            if matches!(from.await, Ok(Ok(_))) {
                handle.send(BookMessage::Retired { version });
            }
        });
    }

    pub(super) fn retired(&mut self, version: u64) -> Next {
        let may_leave = version == self.version && self.background.is_none() && !self.is_needed();
        if may_leave && self.leave() { Next::Stop } else { Next::GoOn }
    }

    /// Leaves the map unless something waits. Under the map's lock no sender can be between finding
    /// the handle and pushing a message.
    pub(super) fn leave(&mut self) -> bool {
        let handle = &self.handle;
        let left = self
            .context
            .books()
            .handles
            .remove_if(&self.tenant, |_, found| Arc::ptr_eq(found, handle) && handle.mailbox.is_empty())
            .is_some();
        if left {
            self.host().forget_generation(self.tenant);
            handle.over.store(true, Ordering::Release);
        }
        left
    }
}
