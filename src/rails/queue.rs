//! The queue of a live rail: orders that were accepted and that nobody has sent, in the order of their
//! acceptance, one at a time. What is in it is durable elsewhere: an entity's state says that it waits.
//! It must not know what an order is.

use domain::values::ids::{EntityId, Id};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wal::Seq;

/// An order that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The sequence of the record that accepted it. Instants would not do: two tenants' orders may be
    /// of one millisecond, and a clock may go back.
    pub accepted: Seq,
    /// The order's operation.
    pub operation: Id,
    /// The tenant whose order it is.
    pub tenant: u64,
    /// The entity that sends it.
    pub entity: EntityId,
}

/// The orders that wait.
#[derive(Default)]
pub struct Queue {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The orders that wait, by acceptance; the orders of one record by their ids, which are in the
    /// order of its items.
    waiting: BTreeMap<(Seq, Id), Queued>,
    in_turn: Option<Id>,
    /// Whether the call of the order in its turn has ended.
    is_called: bool,
    held_until: Duration,
    /// Whether what the last process left is here.
    is_whole: bool,
}

impl Queue {
    /// Takes an order in at its place; whether it was not there yet.
    pub fn put(&self, queued: Queued) -> bool {
        self.inner().waiting.insert((queued.accepted, queued.operation), queued).is_none()
    }

    /// The orders that the last process left are in the queue.
    pub fn restored(&self) {
        self.inner().is_whole = true;
    }

    /// Whether nothing waits, is in its turn or holds, so that an order need not be put in.
    pub fn is_free(&self, now: Duration) -> bool {
        let inner = self.inner();
        inner.is_whole && inner.waiting.is_empty() && inner.in_turn.is_none() && now >= inner.held_until
    }

    /// Takes out the first, whose turn it is until [`Queue::end_turn`].
    pub fn take_first(&self, now: Duration) -> Option<Queued> {
        let mut inner = self.inner();
        if !inner.is_whole || inner.in_turn.is_some() || now < inner.held_until {
            return None;
        }
        let (_, first) = inner.waiting.pop_first()?;
        inner.in_turn = Some(first.operation);
        inner.is_called = false;
        Some(first)
    }

    /// A call has ended, or was not begun. One of another order than that in its turn changes nothing.
    pub fn call_ended(&self, operation: Id) {
        let mut inner = self.inner();
        inner.is_called |= inner.in_turn == Some(operation);
    }

    /// Whether the call of the order in its turn has ended.
    pub fn is_called(&self) -> bool {
        self.inner().is_called
    }

    /// The turn is over.
    pub fn end_turn(&self) {
        self.inner().in_turn = None;
    }

    /// Nothing goes before then.
    pub fn hold_until(&self, until: Duration) {
        self.inner().held_until = until;
    }

    /// The number of orders that wait.
    pub fn len(&self) -> usize {
        self.inner().waiting.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn queued(accepted: Seq, n: u64) -> Queued {
        // The ids of an instant say nothing of the order in which tenants' orders were accepted.
        let operation = Id::derived(7, 1_000 - n, 0);
        Queued { accepted, operation, tenant: 2, entity: EntityId::payout(operation) }
    }

    #[test]
    fn one_at_a_time_and_none_while_held_or_before_all_is_there() {
        let queue = Queue::default();
        let (first, second) = (queued(1, 1), queued(2, 2));
        assert!(queue.put(second) && queue.put(first) && !queue.put(first));
        assert_eq!((queue.take_first(Duration::ZERO), queue.is_free(Duration::ZERO)), (None, false));
        queue.restored();
        assert_eq!(queue.take_first(Duration::ZERO), Some(first));
        assert_eq!(queue.take_first(Duration::ZERO), None, "the first is in its turn");
        queue.call_ended(second.operation);
        assert!(!queue.is_called(), "a call beside the queue");
        queue.call_ended(first.operation);
        assert!(queue.is_called());
        // The order found no connection: back to its place.
        queue.put(first);
        queue.hold_until(Duration::from_secs(5));
        queue.end_turn();
        assert_eq!(queue.take_first(Duration::from_secs(4)), None);
        assert_eq!(queue.take_first(Duration::from_secs(5)), Some(first));
        queue.end_turn();
        assert_eq!(queue.take_first(Duration::from_secs(5)), Some(second));
        assert!(!queue.is_called());
        assert!(!queue.is_free(Duration::from_secs(5)));
        queue.end_turn();
        assert!(queue.is_free(Duration::from_secs(5)) && queue.is_empty());
    }

    proptest! {
        #[test]
        fn whatever_comes_leaves_in_the_order_of_acceptance(accepted in prop::collection::vec(0_u64..1_000, 0..60)) {
            let queue = Queue::default();
            queue.restored();
            for (at, n) in accepted.iter().zip(0..) {
                queue.put(queued(*at, n));
            }
            let mut left = Vec::new();
            while let Some(first) = queue.take_first(Duration::ZERO) {
                left.push(first.accepted);
                queue.end_turn();
            }
            let mut sorted = accepted;
            sorted.sort_unstable();
            prop_assert_eq!(left, sorted);
        }
    }
}
