//! Those who wait to hear that something is durable, when somebody else than the writer tells them.

use crate::Seq;
use crate::log::{Completion, Durable, Shared};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// One who waits.
pub(crate) struct Waiting<C> {
    pub seq: Seq,
    pub at: Instant,
    pub completion: C,
}

impl<C: Completion> Waiting<C> {
    /// It is durable since `now`.
    pub fn tell(self, now: Instant) {
        self.completion
            .complete(Ok(Durable { seq: self.seq, waited: now.saturating_duration_since(self.at) }));
    }
}

/// Takes over who waited for a write, so that the writer can go on with the next. It has them told
/// in the order in which it was given them.
pub type Teller<C> = Box<dyn Fn(Finished<C>) + Send>;

/// Everybody who waited for one write, which is durable now.
pub struct Finished<C: Completion> {
    waiting: VecDeque<Waiting<C>>,
    at: Instant,
    /// What counts as pending until everybody has heard of it.
    pending: (usize, usize),
    shared: Arc<Shared>,
}

impl<C: Completion> Finished<C> {
    /// `pending` are entries and bytes.
    pub(crate) fn new(
        waiting: VecDeque<Waiting<C>>,
        pending: (usize, usize),
        shared: &Arc<Shared>,
    ) -> Finished<C> {
        shared.telling.begin();
        Finished { waiting, at: Instant::now(), pending, shared: Arc::clone(shared) }
    }

    /// Tells everybody, in order. Behind a panic nobody is told: their completions are gone.
    pub fn tell(mut self) {
        while let Some(waiting) = self.waiting.pop_front() {
            waiting.tell(self.at);
        }
    }
}

impl<C: Completion> Drop for Finished<C> {
    fn drop(&mut self) {
        self.waiting.clear();
        let (entries, bytes) = self.pending;
        self.shared.leave(entries, bytes);
        self.shared.telling.end();
    }
}
