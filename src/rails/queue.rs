//! The queue of a live rail: orders that were accepted and that nobody has sent, in the order of
//! their acceptance, one at a time; those whose call is not made now let the others pass. What is
//! in it is durable elsewhere: an entity's state says that it waits.

use domain::rail::BankCall;
use domain::values::ids::{EntityId, Id};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wal::Seq;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Instants would not do: two tenants' orders may be of one millisecond, and a clock may go back.
    pub accepted: Seq,
    pub operation: Id,
    pub tenant: u64,
    pub entity: EntityId,
    pub call: BankCall,
}

#[derive(Default)]
pub struct Queue {
    inner: Mutex<Inner>,
}

pub enum OrderStanding<'q> {
    First,
    /// It is in the queue already, as each time that it is looked at while it waits.
    Waits,
    Returns,
    Arrives(SoughtPlace<'q>),
}

/// Nothing goes from the queue before the order's place is found: it may be the first.
pub struct SoughtPlace<'q> {
    queue: &'q Queue,
}

impl SoughtPlace<'_> {
    pub fn put(self, queued: Queued) {
        self.queue.put(queued);
    }
}

impl Drop for SoughtPlace<'_> {
    fn drop(&mut self) {
        self.queue.inner().arriving -= 1;
    }
}

#[derive(Default)]
struct Inner {
    /// By acceptance; the orders of one record by their ids, which are in the order of its items.
    waiting: BTreeMap<(Seq, Id), Queued>,
    places: HashMap<Id, Seq>,
    arriving: usize,
    in_turn: Option<Queued>,
    is_called: bool,
    held_until: Duration,
    is_whole: bool,
}

impl Queue {
    pub fn put(&self, queued: Queued) {
        self.inner().put(queued);
    }

    pub fn offer(&self, operation: Id, is_open: bool, now: Duration) -> OrderStanding<'_> {
        let mut inner = self.inner();
        if is_open && inner.is_free(now) {
            return OrderStanding::First;
        }
        if inner.places.contains_key(&operation) {
            return OrderStanding::Waits;
        }
        if let Some(returns) = inner.in_turn.filter(|in_turn| in_turn.operation == operation) {
            inner.put(returns);
            return OrderStanding::Returns;
        }
        inner.arriving += 1;
        OrderStanding::Arrives(SoughtPlace { queue: self })
    }

    pub fn restored(&self) {
        self.inner().is_whole = true;
    }

    pub fn take_first(&self, now: Duration, may_call: impl Fn(BankCall) -> bool) -> Option<Queued> {
        let mut inner = self.inner();
        if !inner.may_go(now) {
            return None;
        }
        let place =
            inner.waiting.iter().find(|(_, queued)| may_call(queued.call)).map(|(place, _)| *place)?;
        let first = inner.waiting.remove(&place)?;
        inner.places.remove(&first.operation);
        inner.in_turn = Some(first);
        inner.is_called = false;
        Some(first)
    }

    /// A call has ended, or was not begun. One of another order than that in its turn changes nothing.
    pub fn call_ended(&self, operation: Id) {
        let mut inner = self.inner();
        inner.is_called |= inner.in_turn.is_some_and(|in_turn| in_turn.operation == operation);
    }

    pub fn is_called(&self) -> bool {
        self.inner().is_called
    }

    pub fn end_turn(&self) {
        self.inner().in_turn = None;
    }

    pub fn hold_until(&self, until: Duration) {
        self.inner().held_until = until;
    }

    pub fn len(&self) -> usize {
        self.inner().waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn may_go(&self, now: Duration) -> bool {
        self.is_whole && self.arriving == 0 && self.in_turn.is_none() && now >= self.held_until
    }

    fn is_free(&self, now: Duration) -> bool {
        self.waiting.is_empty() && self.may_go(now)
    }

    fn put(&mut self, queued: Queued) {
        self.places.insert(queued.operation, queued.accepted);
        self.waiting.insert((queued.accepted, queued.operation), queued);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::values::venezuela::BankCode;
    use proptest::prelude::*;

    fn queued(accepted: Seq, n: u64) -> Queued {
        // The ids of an instant say nothing of the order in which tenants' orders were accepted.
        let operation = Id::derived(7, 1_000 - n, 0);
        let call = BankCall { kind: "credit", bank: None };
        Queued { accepted, operation, tenant: 2, entity: EntityId::payout(operation), call }
    }

    fn all(_: BankCall) -> bool {
        true
    }

    #[test]
    fn an_order_whose_bank_does_not_answer_lets_the_others_pass() {
        let queue = Queue::default();
        queue.restored();
        let hangs = BankCall { kind: "credit", bank: BankCode::parse("0102").ok() };
        let (first, second, third) = (Queued { call: hangs, ..queued(1, 1) }, queued(2, 2), queued(3, 3));
        for each in [first, second, third] {
            queue.put(each);
        }
        assert_eq!(queue.take_first(Duration::ZERO, |call| call != hangs), Some(second));
        queue.end_turn();
        assert_eq!(queue.take_first(Duration::ZERO, all), Some(first), "it has kept its place");
    }

    fn is_free(queue: &Queue, now: Duration) -> bool {
        matches!(queue.offer(queued(9, 9).operation, true, now), OrderStanding::First)
    }

    #[test]
    fn one_at_a_time_and_none_while_held_or_before_all_is_there() {
        let queue = Queue::default();
        let (first, second) = (queued(1, 1), queued(2, 2));
        for each in [second, first, first] {
            queue.put(each);
        }
        assert_eq!((queue.take_first(Duration::ZERO, all), is_free(&queue, Duration::ZERO)), (None, false));
        queue.restored();
        assert_eq!(queue.take_first(Duration::ZERO, all), Some(first));
        assert_eq!(queue.take_first(Duration::ZERO, all), None, "the first is in its turn");
        queue.call_ended(second.operation);
        assert!(!queue.is_called(), "a call beside the queue");
        queue.call_ended(first.operation);
        assert!(queue.is_called());
        // The order found no connection: back to its place, which nobody has to find.
        assert!(matches!(queue.offer(first.operation, true, Duration::ZERO), OrderStanding::Returns));
        assert!(matches!(queue.offer(first.operation, true, Duration::ZERO), OrderStanding::Waits));
        queue.hold_until(Duration::from_secs(5));
        queue.end_turn();
        assert_eq!(queue.take_first(Duration::from_secs(4), all), None);
        assert_eq!(queue.take_first(Duration::from_secs(5), all), Some(first));
        queue.end_turn();
        assert_eq!(queue.take_first(Duration::from_secs(5), all), Some(second));
        assert!(!queue.is_called());
        assert!(!is_free(&queue, Duration::from_secs(5)));
        queue.end_turn();
        assert!(is_free(&queue, Duration::from_secs(5)) && queue.is_empty());
    }

    #[test]
    fn nothing_goes_before_an_order_whose_place_is_being_found() {
        let queue = Queue::default();
        queue.restored();
        let (first, second, third) = (queued(1, 1), queued(2, 2), queued(3, 3));
        let closed = |of: &Queued| queue.offer(of.operation, false, Duration::ZERO);
        let (OrderStanding::Arrives(arrives), OrderStanding::Arrives(leaves)) =
            (closed(&first), closed(&third))
        else {
            panic!("they are new");
        };
        queue.put(second);
        assert!(!is_free(&queue, Duration::ZERO));
        assert_eq!(queue.take_first(Duration::ZERO, all), None, "the first may be on its way");
        arrives.put(first);
        assert_eq!(queue.take_first(Duration::ZERO, all), None, "another is");
        // It waits no more: somebody has decided about it.
        drop(leaves);
        assert_eq!(queue.take_first(Duration::ZERO, all), Some(first));
        queue.end_turn();
        assert_eq!(queue.take_first(Duration::ZERO, all), Some(second));
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
            while let Some(first) = queue.take_first(Duration::ZERO, all) {
                left.push(first.accepted);
                queue.end_turn();
            }
            let mut sorted = accepted;
            sorted.sort_unstable();
            prop_assert_eq!(left, sorted);
        }
    }
}
