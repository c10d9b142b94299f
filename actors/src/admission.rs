//! Bounds on what is under way: requests in all, those that wait for their first record, and of
//! both what one tenant may have. Requests that wait for their first record keep processors and
//! disk busy; the others wait for a bank, which takes as long as it takes. A request beyond either
//! bound would only wait for its turn: it is refused at once. So is one more when those that wait
//! for their first record wait too long ([`AgeBound`]).
//!
//! A tenant's share is a part of the places that it has and of those that are free: alone it may
//! have [`Shares::percent`] of all, two have less each, and a tenant that has nothing yet always
//! finds a free place (dynamic thresholds, as switches share their buffers). Tenants that yield
//! ([`Machine::yields`](crate::Machine::yields)) also leave a reserve to the others.

use dashmap::DashMap;
use foldhash::fast::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::Semaphore;

/// One in so many requests under way may wait for its first record. By default 4,096: that many
/// payouts which begin at once are served within 250 ms; what is slower is bounded by its age.
const FIRST_RECORDS_PART: usize = 4;
const FIRST_RECORDS_MIN: usize = 1_024;
/// Commands at once that continue what is durable; one more waits.
const CONTINUING_MAX: usize = 1_024;
/// The longest that all may wait for their first record, in ms.
const WAIT_MS_MAX: u32 = 250;
const LOOK_MS: u32 = 100;
/// So many may wait always, so that a slow disk has records to sync together.
const PLACES_MIN: usize = 64;

#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// Of a tenant's own places and the free ones together; 100 is no bound.
    pub percent: usize,
    /// Of all places; tenants that yield never take them.
    pub reserve_percent: usize,
}

impl Shares {
    pub const UNBOUNDED: Shares = Shares { percent: 100, reserve_percent: 0 };

    /// Whether a tenant that has `own` of `all` places may have one more while `left` are free. Two
    /// requests that ask at once may both be let in where one place of the share was left.
    pub fn check(self, own: usize, left: usize, all: usize, yields: bool) -> Result<(), Refused> {
        let reserve = if yields { all.saturating_mul(self.reserve_percent) / 100 } else { 0 };
        match left.saturating_sub(reserve) {
            0 => Err(Refused::Full),
            free if own.saturating_mul(100 - self.percent) < free.saturating_mul(self.percent) => Ok(()),
            _ => Err(Refused::ShareFull),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Essential,
    First,
    Yields,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Full,
    ShareFull,
}

pub(crate) struct Gate {
    places: Arc<Places>,
    /// For commands that continue what is durable, whosever it is: nobody who asks for more keeps
    /// it from its end.
    pub continuing: Arc<Semaphore>,
    tenants: DashMap<u64, Arc<Share>, RandomState>,
    shares: Shares,
    /// Refusals because a tenant had its share: first of tenants that do not yield, then of those that do.
    pub share_full: [AtomicU64; 2],
}

struct Places {
    permits: Semaphore,
    permits_max: usize,
    first_records: AtomicUsize,
    yielding: AtomicUsize,
    bound: AgeBound,
    /// Percent of the bound that tenants that yield leave to the others.
    reserve_percent: usize,
    began: Instant,
}

struct Share {
    places: Arc<Places>,
    permits: AtomicUsize,
    first_records: AtomicUsize,
    is_used: AtomicBool,
}

/// A request's part of the capacity, until it has its reply. Every record carries one, so it is small.
pub(crate) struct Admission {
    share: Arc<Share>,
    waits_for_record: bool,
    yields: bool,
    since_ms: u32,
}

impl Gate {
    pub fn new(permits_max: usize, shares: Shares) -> Gate {
        let first_records_max = (permits_max / FIRST_RECORDS_PART).max(FIRST_RECORDS_MIN);
        Gate {
            places: Arc::new(Places {
                permits: Semaphore::new(permits_max),
                permits_max,
                first_records: AtomicUsize::new(0),
                yielding: AtomicUsize::new(0),
                bound: AgeBound::new(first_records_max),
                reserve_percent: shares.reserve_percent,
                began: Instant::now(),
            }),
            continuing: Arc::new(Semaphore::new(CONTINUING_MAX)),
            tenants: DashMap::default(),
            shares,
            share_full: [const { AtomicU64::new(0) }; 2],
        }
    }

    pub fn under_way(&self) -> usize {
        self.places.permits_max.saturating_sub(self.places.permits.available_permits())
    }

    /// `None` if a request for a record would be admitted now. Takes no place, and looks up the
    /// tenant's places only when so many are taken that it might have its share.
    pub fn refuses(&self, tenant: u64, standing: Standing) -> Option<Refused> {
        // As if all places that are taken were the tenant's own.
        let places = &self.places;
        let taken = places.permits_max.saturating_sub(places.permits.available_permits());
        if self.fits(standing, taken, Some(places.first_records.load(Ordering::Relaxed))).is_ok() {
            return None;
        }
        let (permits, first_records) = match self.tenants.get(&tenant) {
            Some(own) => (own.permits.load(Ordering::Relaxed), own.first_records.load(Ordering::Relaxed)),
            None => (0, 0),
        };
        self.fits(standing, permits, Some(first_records)).err()
    }

    pub fn admit(&self, tenant: u64, standing: Standing, for_record: bool) -> Result<Admission, Refused> {
        let (places, yields) = (&self.places, standing == Standing::Yields);
        let share = match self.tenants.get(&tenant) {
            Some(share) => Arc::clone(&share),
            None => {
                let new = || {
                    Arc::new(Share {
                        places: Arc::clone(places),
                        permits: AtomicUsize::new(0),
                        first_records: AtomicUsize::new(0),
                        is_used: AtomicBool::new(true),
                    })
                };
                Arc::clone(&self.tenants.entry(tenant).or_insert_with(new))
            }
        };
        // The flag is read first: writing the value it has would take it from other processors'
        // caches.
        if !share.is_used.load(Ordering::Relaxed) {
            share.is_used.store(true, Ordering::Relaxed);
        }
        let first_records = share.first_records.load(Ordering::Relaxed);
        self.fits(standing, share.permits.load(Ordering::Relaxed), for_record.then_some(first_records))?;
        let Ok(permit) = places.permits.try_acquire() else { return Err(Refused::Full) };
        let mut since_ms = 0;
        if for_record {
            since_ms = places.now_ms();
            let waiting = places.first_records.fetch_add(1, Ordering::Relaxed);
            if waiting == 0 {
                places.bound.begin(since_ms);
            } else if places.left_beside(waiting, yields) == 0 {
                places.first_records.fetch_sub(1, Ordering::Relaxed);
                return Err(Refused::Full);
            }
            places.yielding.fetch_add(usize::from(yields), Ordering::Relaxed);
            share.first_records.fetch_add(1, Ordering::Relaxed);
        }
        permit.forget();
        share.permits.fetch_add(1, Ordering::Relaxed);
        Ok(Admission { share, waits_for_record: for_record, yields, since_ms })
    }

    fn fits(&self, standing: Standing, permits: usize, first_records: Option<usize>) -> Result<(), Refused> {
        let shares = if standing == Standing::Essential { Shares::UNBOUNDED } else { self.shares };
        let (places, yields) = (&self.places, standing == Standing::Yields);
        shares.check(permits, places.permits.available_permits(), places.permits_max, yields)?;
        let Some(own) = first_records else { return Ok(()) };
        // A reserve of what there once was could be more than all that there is now, and nobody
        // who yields would ever be served and raise the bound again.
        let left = places.left_beside(places.first_records.load(Ordering::Relaxed), yields);
        shares.check(own, left, places.bound.places.load(Ordering::Relaxed), yields)
    }

    pub async fn until_empty(&self) {
        let all = |places: usize| u32::try_from(places).unwrap_or(u32::MAX);
        drop(self.places.permits.acquire_many(all(self.places.permits_max)).await);
        drop(self.continuing.acquire_many(all(CONTINUING_MAX)).await);
    }

    /// Forgets tenants that have nothing under way and did not ask since the last sweep.
    pub fn sweep(&self) {
        self.tenants.retain(|_, share| {
            // Under the map's lock nobody else can clone a share that only the map holds.
            share.is_used.swap(false, Ordering::Relaxed) || Arc::strong_count(share) > 1
        });
    }
}

impl Places {
    /// The bound may have become less than wait already, and then those that yield have the
    /// reserve's places too: it counts without them.
    fn left_beside(&self, waiting: usize, yields: bool) -> usize {
        let places = self.bound.places.load(Ordering::Relaxed);
        let free = places.saturating_sub(waiting);
        if yields {
            return free;
        }
        let reserve = places.saturating_mul(self.reserve_percent) / 100;
        free.max(reserve.saturating_sub(waiting.saturating_sub(self.yielding.load(Ordering::Relaxed))))
    }

    /// In ms that begin anew after 49 days.
    fn now_ms(&self) -> u32 {
        (self.began.elapsed().as_millis() & u128::from(u32::MAX)) as u32
    }
}

impl Admission {
    pub fn recorded(&mut self) {
        if !std::mem::take(&mut self.waits_for_record) {
            return;
        }
        self.share.first_records.fetch_sub(1, Ordering::Relaxed);
        let places = &self.share.places;
        places.yielding.fetch_sub(usize::from(self.yields), Ordering::Relaxed);
        let waiting = places.first_records.fetch_sub(1, Ordering::Relaxed);
        let now_ms = places.now_ms();
        places.bound.served(now_ms.wrapping_sub(self.since_ms), now_ms, waiting);
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.recorded();
        self.share.permits.fetch_sub(1, Ordering::Relaxed);
        self.share.places.permits.add_permits(1);
    }
}

/// The bound on requests that wait for their first record: as many are let in as are served within
/// a bounded time, however long each takes. A number alone says little: two thousand payouts are
/// served within a tenth of a second, two thousand batches of a thousand take a minute and more.
///
/// So the shortest wait of those that were served is looked at (as CoDel does, RFC 8289). When even
/// that was too long at two looks in a row, everybody had a queue before them, and fewer are let
/// in, as many as the pace of just now allows. One that waited long for a reason of its own changes
/// nothing, nor does one sync of the disk that all waited for.
///
/// Instants are ms that begin anew after 49 days.
struct AgeBound {
    places: AtomicUsize,
    places_max: usize,
    shortest_ms: AtomicU32,
    look_at_ms: AtomicU32,
    was_late: AtomicBool,
}

impl AgeBound {
    /// Lets in `places_max` until that turns out to be too many.
    fn new(places_max: usize) -> AgeBound {
        AgeBound {
            places: AtomicUsize::new(places_max),
            places_max,
            shortest_ms: AtomicU32::new(u32::MAX),
            look_at_ms: AtomicU32::new(0),
            was_late: AtomicBool::new(false),
        }
    }

    /// Nobody waited until now: what was known of the pace is over.
    fn begin(&self, now_ms: u32) {
        self.places.store(self.places_max, Ordering::Relaxed);
        self.shortest_ms.store(u32::MAX, Ordering::Relaxed);
        self.look_at_ms.store(now_ms.wrapping_add(LOOK_MS), Ordering::Relaxed);
        self.was_late.store(false, Ordering::Relaxed);
    }

    /// Called when a request got its first record after `waited_ms`, while `waiting` were waiting.
    fn served(&self, waited_ms: u32, now_ms: u32, waiting: usize) {
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
        let places = self.places.load(Ordering::Relaxed);
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

    fn gate(percent: usize, reserve_percent: usize) -> Gate {
        // As many permits as first records, so that either bound is the same.
        Gate::new(FIRST_RECORDS_MIN, Shares { percent, reserve_percent })
    }

    fn fill(gate: &Gate, tenant: u64, standing: Standing) -> (Vec<Admission>, Refused) {
        let mut taken = Vec::new();
        loop {
            assert_eq!(
                gate.refuses(tenant, standing),
                gate.admit(tenant, standing, true).map(|one| taken.push(one)).err()
            );
            if let Some(refused) = gate.refuses(tenant, standing) {
                return (taken, refused);
            }
        }
    }

    #[test]
    fn alone_a_tenant_has_its_percentage_and_the_next_ones_still_find_places() {
        let gate = gate(75, 0);
        let (one, refused) = fill(&gate, 2, Standing::First);
        assert_eq!((one.len(), refused), (768, Refused::ShareFull));
        let (two, refused) = fill(&gate, 4, Standing::First);
        assert_eq!((two.len(), refused), (192, Refused::ShareFull));
        assert_eq!(fill(&gate, 6, Standing::First).0.len(), 48);
        drop((one, two));
        assert_eq!(fill(&gate, 6, Standing::First).0.len(), 768);
    }

    #[test]
    fn four_thousand_that_begin_at_once_are_let_in() {
        let gate = Gate::new(16_384, Shares::UNBOUNDED);
        let (taken, refused) = fill(&gate, 2, Standing::First);
        assert_eq!((taken.len(), refused), (4_096, Refused::Full));
    }

    #[test]
    fn who_yields_leaves_the_reserve_however_many_there_are() {
        let gate = gate(100, 25);
        let taken: Vec<_> = (1..40).map(|tenant| fill(&gate, tenant, Standing::Yields)).collect();
        assert!(taken.iter().all(|(_, refused)| *refused == Refused::Full));
        assert_eq!(taken.iter().map(|(taken, _)| taken.len()).sum::<usize>(), 768);
        assert_eq!(fill(&gate, 50, Standing::First).0.len(), 256);
    }

    fn late(gate: &Gate, waiting: usize) {
        let now_ms = gate.places.now_ms();
        gate.places.bound.served(60_000, now_ms + 1_000, waiting);
        gate.places.bound.served(60_000, now_ms + 90_000, waiting);
    }

    #[test]
    fn after_a_stall_who_yields_is_let_in_again() {
        let gate = gate(75, 25);
        let stalled = gate.admit(3, Standing::Yields, true).expect("a place");
        late(&gate, 1);
        assert!(
            gate.places.bound.places.load(Ordering::Relaxed) < FIRST_RECORDS_MIN / 4,
            "fewer places than the reserve was"
        );
        drop(stalled);
        assert_eq!(gate.refuses(3, Standing::Yields), None);
        assert!(gate.admit(3, Standing::Yields, true).is_ok());
    }

    #[test]
    fn a_backlog_of_those_who_yield_leaves_the_reserve_also_when_the_bound_shrinks() {
        let gate = gate(75, 25);
        let backlog = fill(&gate, 3, Standing::Yields).0;
        late(&gate, backlog.len());
        let places = gate.places.bound.places.load(Ordering::Relaxed);
        assert!(places < backlog.len(), "more wait than there are places");
        assert_eq!(gate.refuses(5, Standing::Yields), Some(Refused::Full), "the reserve is not for them");
        let (live, refused) = fill(&gate, 2, Standing::First);
        assert_eq!((live.len(), refused), (places / 4 * 3 / 4, Refused::ShareFull));
        let all = fill(&gate, 0, Standing::Essential).0;
        assert_eq!(all.len(), places / 4 - live.len());
        assert_eq!(gate.refuses(4, Standing::First), Some(Refused::Full), "and no more than the reserve");
        drop(backlog);
        assert_eq!(gate.places.yielding.load(Ordering::Relaxed), 0);
        assert!(gate.admit(4, Standing::First, true).is_ok());
    }

    #[test]
    fn what_all_need_has_no_share() {
        let gate = gate(50, 25);
        let (_taken, _) = fill(&gate, 3, Standing::Yields);
        let all = fill(&gate, 0, Standing::Essential);
        assert_eq!((all.0.len(), all.1), (1_024 - 384, Refused::Full));
    }

    #[test]
    fn only_tenants_that_asked_lately_are_remembered() {
        let gate = gate(90, 0);
        let admission = gate.admit(2, Standing::First, false).expect("a place");
        drop(gate.admit(4, Standing::First, true).expect("a place"));
        gate.sweep();
        assert_eq!(gate.tenants.len(), 2);
        gate.sweep();
        assert_eq!(gate.tenants.len(), 1, "one has a request under way");
        drop(admission);
        gate.sweep();
        assert!(gate.tenants.is_empty());
        assert_eq!(gate.places.permits.available_permits(), FIRST_RECORDS_MIN);
    }

    /// Returns the longest wait of those that were let in during the second half.
    fn overloaded(bound: &AgeBound, per_ms: usize, ms: u32) -> u32 {
        let (mut queue, mut longest) = (std::collections::VecDeque::new(), 0);
        bound.begin(0);
        for now in 0..ms {
            while queue.len() < bound.places.load(Ordering::Relaxed) {
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
        assert_eq!(bound.places.load(Ordering::Relaxed), 2_048);
    }

    #[test]
    fn four_thousand_at_once_are_no_queue_where_they_are_served_in_time() {
        let bound = AgeBound::new(4_096);
        assert!((160..=WAIT_MS_MAX).contains(&overloaded(&bound, 24, 5_000)));
        assert_eq!(bound.places.load(Ordering::Relaxed), 4_096);
        let longest = overloaded(&bound, 12, 20_000);
        assert!((WAIT_MS_MAX / 2..=WAIT_MS_MAX * 3 / 2).contains(&longest), "{longest} ms");
        assert!(
            (2_048..4_096).contains(&bound.places.load(Ordering::Relaxed)),
            "at half the pace fewer: {}",
            bound.places.load(Ordering::Relaxed)
        );
    }

    #[test]
    fn of_a_slow_queue_as_many_are_let_in_as_are_served_in_time() {
        let bound = AgeBound::new(16_384);
        let longest = overloaded(&bound, 4, 20_000);
        assert!((WAIT_MS_MAX / 2..=WAIT_MS_MAX * 3 / 2).contains(&longest), "{longest} ms");
        assert!(
            (500..=1_500).contains(&bound.places.load(Ordering::Relaxed)),
            "{}",
            bound.places.load(Ordering::Relaxed)
        );
        bound.begin(20_000);
        assert_eq!(bound.places.load(Ordering::Relaxed), 16_384, "after a pause nothing is known");
    }

    #[test]
    fn a_disk_that_is_slow_by_itself_has_enough_to_sync_together() {
        let bound = AgeBound::new(2_048);
        bound.begin(0);
        for round in 0..100 {
            bound.served(3_000, round * 3_000, 2_048);
        }
        assert_eq!(bound.places.load(Ordering::Relaxed), PLACES_MIN);
    }

    #[test]
    fn one_that_waits_for_itself_changes_nothing() {
        let bound = AgeBound::new(2_048);
        bound.begin(0);
        for now in (10..10_000).step_by(10) {
            bound.served(9_000, now, 10);
            bound.served(5, now, 10);
        }
        assert_eq!(bound.places.load(Ordering::Relaxed), 2_048);
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
            assert_eq!(bound.places.load(Ordering::Relaxed), 2_048);
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
        assert_eq!(bound.places.load(Ordering::Relaxed), PLACES_MIN, "looks go on");
    }
}
