//! The bound on requests that wait for their first record: as many are let in as are served within
//! a bounded time, however long each takes. A number alone says little: two thousand payouts are
//! served within a tenth of a second, two thousand batches of a thousand take a minute and more.
//!
//! So the shortest wait of those that were served is looked at (as CoDel does, RFC 8289). When even
//! that was too long at two looks in a row, everybody had a queue before them, and fewer are let
//! in, as many as the pace of just now allows. One that waited long for a reason of its own changes
//! nothing, nor does one sync of the disk that all waited for.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// The longest that all may wait for their first record, in ms.
const WAIT_MS_MAX: u32 = 250;
const LOOK_MS: u32 = 100;
/// So many may wait always, so that a slow disk has records to sync together.
const PLACES_MIN: usize = 64;

/// Instants are ms that begin anew after 49 days.
pub(crate) struct AgeBound {
    places: AtomicUsize,
    places_max: usize,
    shortest_ms: AtomicU32,
    look_at_ms: AtomicU32,
    was_late: AtomicBool,
}

impl AgeBound {
    /// Lets in `places_max` until that turns out to be too many.
    pub fn new(places_max: usize) -> AgeBound {
        AgeBound {
            places: AtomicUsize::new(places_max),
            places_max,
            shortest_ms: AtomicU32::new(u32::MAX),
            look_at_ms: AtomicU32::new(0),
            was_late: AtomicBool::new(false),
        }
    }

    pub fn places(&self) -> usize {
        self.places.load(Ordering::Relaxed)
    }

    /// Nobody waited until now: what was known of the pace is over.
    pub fn begin(&self, now_ms: u32) {
        self.places.store(self.places_max, Ordering::Relaxed);
        self.shortest_ms.store(u32::MAX, Ordering::Relaxed);
        self.look_at_ms.store(now_ms.wrapping_add(LOOK_MS), Ordering::Relaxed);
        self.was_late.store(false, Ordering::Relaxed);
    }

    /// Called when a request got its first record after `waited_ms`, while `waiting` were waiting.
    pub fn served(&self, waited_ms: u32, now_ms: u32, waiting: usize) {
        // Read first: to write what is there already would take it from other processors' caches.
        if waited_ms < self.shortest_ms.load(Ordering::Relaxed) {
            self.shortest_ms.fetch_min(waited_ms, Ordering::Relaxed);
        }
        let look_at = self.look_at_ms.load(Ordering::Relaxed);
        // Instants wrap around: one is before another if the way to it is the shorter one.
        if now_ms.wrapping_sub(look_at) > u32::MAX / 2 {
            return;
        }
        let shortest_ms = self.shortest_ms.load(Ordering::Relaxed).min(waited_ms);
        let is_late = shortest_ms > WAIT_MS_MAX;
        // Requests that wait already were let in before: a change shows when they have been served.
        let next = now_ms.wrapping_add(LOOK_MS).wrapping_add(shortest_ms);
        let mine = self.look_at_ms.compare_exchange(look_at, next, Ordering::Relaxed, Ordering::Relaxed);
        if mine.is_err() {
            return;
        }
        self.shortest_ms.store(u32::MAX, Ordering::Relaxed);
        let places = self.places();
        let fitting = match (self.was_late.swap(is_late, Ordering::Relaxed), is_late) {
            (_, false) => places + places / 8,
            // Requests that waited for one slow sync are not yet a queue.
            (false, true) => places,
            (true, true) => {
                let paced = waiting.min(places) as u64 * u64::from(WAIT_MS_MAX) / u64::from(shortest_ms);
                usize::try_from(paced).unwrap_or(usize::MAX)
            }
        };
        self.places.store(fitting.max(PLACES_MIN).min(self.places_max), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the longest wait of those that were let in during the second half.
    fn overloaded(bound: &AgeBound, per_ms: usize, ms: u32) -> u32 {
        let (mut queue, mut longest) = (std::collections::VecDeque::new(), 0);
        bound.begin(0);
        for now in 0..ms {
            while queue.len() < bound.places() {
                queue.push_back(now);
            }
            for _ in 0..per_ms {
                let came: u32 = queue.pop_front().expect("more come than are served");
                bound.served(now - came, now, queue.len() + 1);
                longest = longest.max(if came > ms / 2 { now - came } else { 0 });
            }
        }
        longest
    }

    #[test]
    fn a_fast_queue_is_bounded_by_its_number() {
        let bound = AgeBound::new(2_048);
        assert!(overloaded(&bound, 20, 2_000) <= 110);
        assert_eq!(bound.places(), 2_048);
    }

    #[test]
    fn four_thousand_at_once_are_no_queue_where_they_are_served_in_time() {
        let bound = AgeBound::new(4_096);
        assert!((160..=WAIT_MS_MAX).contains(&overloaded(&bound, 24, 5_000)));
        assert_eq!(bound.places(), 4_096);
        let longest = overloaded(&bound, 12, 20_000);
        assert!((WAIT_MS_MAX / 2..=WAIT_MS_MAX * 3 / 2).contains(&longest), "{longest} ms");
        assert!((2_048..4_096).contains(&bound.places()), "at half the pace fewer: {}", bound.places());
    }

    #[test]
    fn of_a_slow_queue_as_many_are_let_in_as_are_served_in_time() {
        let bound = AgeBound::new(16_384);
        let longest = overloaded(&bound, 4, 20_000);
        assert!((WAIT_MS_MAX / 2..=WAIT_MS_MAX * 3 / 2).contains(&longest), "{longest} ms");
        assert!((500..=1_500).contains(&bound.places()), "{}", bound.places());
        bound.begin(20_000);
        assert_eq!(bound.places(), 16_384, "after a pause nothing is known");
    }

    #[test]
    fn a_disk_that_is_slow_by_itself_has_enough_to_sync_together() {
        let bound = AgeBound::new(2_048);
        bound.begin(0);
        for round in 0..100 {
            bound.served(3_000, round * 3_000, 2_048);
        }
        assert_eq!(bound.places(), PLACES_MIN);
    }

    #[test]
    fn one_that_waits_for_itself_changes_nothing() {
        let bound = AgeBound::new(2_048);
        bound.begin(0);
        for now in (10..10_000).step_by(10) {
            bound.served(9_000, now, 10);
            bound.served(5, now, 10);
        }
        assert_eq!(bound.places(), 2_048);
    }

    #[test]
    fn one_slow_sync_that_all_wait_for_changes_nothing() {
        let bound = AgeBound::new(2_048);
        bound.begin(0);
        for sync in 0..10 {
            let stall_ends = sync * 1_000 + 400;
            for waiting in (1..=256).rev() {
                bound.served(400, stall_ends, waiting);
            }
            assert_eq!(bound.places(), 2_048);
            for now in (stall_ends..stall_ends + 600).step_by(5) {
                bound.served(5, now, 256);
            }
        }
    }

    #[test]
    fn instants_begin_anew() {
        let bound = AgeBound::new(2_048);
        bound.begin(u32::MAX - 5_000);
        for since in (0..10_000).step_by(100) {
            bound.served(500, (u32::MAX - 5_000).wrapping_add(since), 2_048);
        }
        assert_eq!(bound.places(), PLACES_MIN, "looks go on");
    }
}
