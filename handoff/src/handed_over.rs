//! A count that keeps acknowledgements in order when two threads give them: the log's writer
//! acknowledges small batches itself, and hands large ones over to a task.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// Batches that were handed to another thread and are not finished. A writer that finds none may
/// acknowledge the next itself: all that was done for earlier ones is visible.
#[derive(Default)]
pub struct HandedOver(AtomicUsize);

impl HandedOver {
    pub fn new() -> HandedOver {
        HandedOver(AtomicUsize::new(0))
    }

    /// Called before the batch is handed over, and only by the thread that hands over, as is `is_done`.
    pub fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn end(&self) {
        self.0.fetch_sub(1, Ordering::Release);
    }

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

    /// Relaxed: an order that nobody promised shows as a stale number.
    fn acknowledge(last: &AtomicUsize, batch: usize) {
        assert_eq!(last.load(Ordering::Relaxed) + 1, batch, "out of order");
        last.store(batch, Ordering::Relaxed);
    }

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
