//! The queue as loom can schedule it.

use crate::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const SLOTS: usize = 4;

/// Promises less than crossbeam's queue: a message is seen by whoever is told of it, and by
/// others at any time. What holds with this one holds with that one.
pub struct Queue<T> {
    slots: [Slot<T>; SLOTS],
    head: AtomicUsize,
    tail: AtomicUsize,
}

struct Slot<T> {
    is_full: AtomicBool,
    /// A mutex of the standard library: loom's would order what the queue does not promise to
    /// order.
    value: Mutex<Option<T>>,
}

impl<T> Queue<T> {
    pub fn new() -> Queue<T> {
        let slot = |_| Slot { is_full: AtomicBool::new(false), value: Mutex::new(None) };
        Queue { slots: std::array::from_fn(slot), head: AtomicUsize::new(0), tail: AtomicUsize::new(0) }
    }

    pub fn push(&self, value: T) {
        let slot = &self.slots[self.tail.fetch_add(1, Ordering::Relaxed)];
        *slot.value.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        slot.is_full.store(true, Ordering::Release);
    }

    pub fn pop(&self) -> Option<T> {
        let at = self.head.load(Ordering::Relaxed);
        let slot = self.slots.get(at).filter(|slot| slot.is_full.load(Ordering::Acquire))?;
        self.head.store(at + 1, Ordering::Relaxed);
        slot.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub fn len(&self) -> usize {
        self.tail.load(Ordering::Relaxed).saturating_sub(self.head.load(Ordering::Relaxed))
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
