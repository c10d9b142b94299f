//! Completions that wait for a write, and their calls by a task in place of the writer. Completions
//! of one batch are called in order; a batch counts as pending until its last was called.

use crate::Seq;
use crate::log::{Completion, Durable, Shared};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) struct Waiting<C> {
    pub seq: Seq,
    pub at: Instant,
    pub completion: C,
}

/// Takes a batch from the writer to the task that acknowledges, so that the writer can go on. The
/// task has to acknowledge batches in the order in which they come.
pub type AckSender<C> = Box<dyn Fn(AckBatch<C>) + Send>;

pub struct AckBatch<C: Completion> {
    waiting: VecDeque<Waiting<C>>,
    at: Instant,
    agreed: Option<Duration>,
    /// Entries and bytes that count as pending until every completion was called.
    pending: (usize, usize),
    shared: Arc<Shared>,
}

impl<C: Completion> AckBatch<C> {
    pub(crate) fn new(
        waiting: VecDeque<Waiting<C>>,
        agreed: Option<Duration>,
        pending: (usize, usize),
        shared: &Arc<Shared>,
    ) -> AckBatch<C> {
        shared.handed_over.begin();
        AckBatch { waiting, at: Instant::now(), agreed, pending, shared: Arc::clone(shared) }
    }

    /// After a panic in a completion the rest are dropped uncalled.
    pub fn acknowledge(mut self) {
        while let Some(Waiting { seq, at, completion }) = self.waiting.pop_front() {
            let waited = self.at.saturating_duration_since(at);
            completion.complete(Ok(Durable { seq, waited, agreed: self.agreed }));
        }
    }
}

impl<C: Completion> Drop for AckBatch<C> {
    fn drop(&mut self) {
        self.waiting.clear();
        let (entries, bytes) = self.pending;
        self.shared.leave(entries, bytes);
        self.shared.handed_over.end();
    }
}
