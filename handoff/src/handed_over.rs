//! A count that keeps acknowledgements in order when two threads give them: the log's writer
//! acknowledges small batches itself, and hands large ones over to a task.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// The number of batches that were handed to another thread and are not finished. A writer that
/// finds none may acknowledge the next batch itself: everything done for earlier ones has been
/// done, and is visible.
#[derive(Default)]
pub struct HandedOver(AtomicUsize);

impl HandedOver {
    /// A count of zero.
    pub fn new() -> HandedOver {
        HandedOver(AtomicUsize::new(0))
    }

    /// Counts a batch, before it is handed over. Only the thread that hands over calls this.
    pub fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a batch is finished.
    pub fn end(&self) {
        self.0.fetch_sub(1, Ordering::Release);
    }

    /// Whether all are finished, for the thread that hands over.
    pub fn is_done(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::mpsc::channel;
    use loom::thread;

    /// Acknowledges `batch`, which must be the one after the last. Relaxed: an order that nobody
    /// promised shows as a stale number.
    fn acknowledge(last: &AtomicUsize, batch: usize) {
        assert_eq!(last.load(Ordering::Relaxed) + 1, batch, "out of order");
        last.store(batch, Ordering::Relaxed);
    }

    /// A writer with these batches, the large ones of which go to a task.
    fn write(batches: &'static [(usize, bool)]) {
        loom::model(move || {
            let handed = Arc::new(HandedOver::new());
            let last = Arc::new(AtomicUsize::new(0));
            let (give, given) = channel();
            let (task_handed, task_last) = (Arc::clone(&handed), Arc::clone(&last));
            let task = thread::spawn(move || {
                while let Ok(Some(batch)) = given.recv() {
                    acknowledge(&task_last, batch);
                    task_handed.end();
                }
            });
            for (batch, is_large) in batches {
                if *is_large || !handed.is_done() {
                    handed.begin();
                    give.send(Some(*batch)).expect("the task lives");
                } else {
                    acknowledge(&last, *batch);
                }
            }
            give.send(None).expect("the task lives");
            task.join().expect("the task");
            assert!(handed.is_done());
            assert_eq!(last.load(Ordering::Relaxed), batches.len());
        });
    }

    #[test]
    fn a_small_batch_does_not_overtake_a_large_one() {
        write(&[(1, true), (2, false), (3, false)]);
    }

    #[test]
    fn a_large_batch_behind_small_ones_comes_after_them() {
        write(&[(1, false), (2, true), (3, false), (4, true)]);
    }
}
