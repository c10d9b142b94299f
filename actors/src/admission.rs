//! Bounds on what is under way: requests in all, those that wait for their first record, and of
//! both what one tenant may have. Requests that wait for their first record keep processors and
//! disk busy; the others wait for a bank, which takes as long as it takes. A request beyond either
//! bound would only wait for its turn: it is refused at once. So is one more when those that wait
//! for their first record wait too long (`age_bound.rs`).
//!
//! A tenant's share is a part of the places that it has and of those that are free: alone it may
//! have [`Shares::percent`] of all, two have less each, and a tenant that has nothing yet always
//! finds a free place (dynamic thresholds, as switches share their buffers). Tenants that yield
//! ([`Rules::yields`](crate::Rules::yields)) also leave a reserve to the others.

use crate::age_bound::AgeBound;
use dashmap::DashMap;
use foldhash::fast::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::Semaphore;

/// One in so many requests under way may wait for its first record. By default 4,096: that many
/// payouts which begin at once are served within 250 ms; what is slower is bounded by its age.
const FIRST_RECORDS_PART: usize = 4;
/// About a batch of the log.
const FIRST_RECORDS_MIN: usize = 1_024;
/// Commands at once that continue what is durable; one more waits.
const CONTINUING_MAX: usize = 1_024;

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

impl Standing {
    fn yields(self) -> bool {
        self == Standing::Yields
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    Full,
    ShareFull,
}

pub(crate) struct Gate {
    pub places: Arc<Places>,
    /// For commands that continue what is durable, whosever it is: nobody who asks for more keeps
    /// it from its end.
    pub continuing: Arc<Semaphore>,
    tenants: DashMap<u64, Arc<Share>, RandomState>,
    shares: Shares,
    /// Refusals because a tenant had its share: first of tenants that do not yield, then of those that do.
    pub share_full: [AtomicU64; 2],
}

pub(crate) struct Places {
    pub permits: Semaphore,
    permits_max: usize,
    first_records: AtomicUsize,
    /// Those of tenants that yield.
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

    /// `None` if a request for a record would be admitted now. Takes no place, and looks up the
    /// tenant's places only when so many are taken that it might have its share.
    pub fn refuses(&self, tenant: u64, standing: Standing) -> Option<Refused> {
        let places = &self.places;
        let (permits, first_records) = (places.permits_left(), places.first_records_left(standing.yields()));
        let check = |own_permits, own_first_records| {
            self.check(standing, own_permits, permits, places.permits_max)
                .and_then(|()| self.check(standing, own_first_records, first_records, places.bound.places()))
                .err()
        };
        // The first check assumes that all taken places are the tenant's own.
        check(
            places.permits_max - permits.min(places.permits_max),
            places.first_records.load(Ordering::Relaxed),
        )?;
        let own = self.tenants.get(&tenant);
        let own = |count: fn(&Share) -> &AtomicUsize| {
            own.as_ref().map_or(0, |share| count(share).load(Ordering::Relaxed))
        };
        let refused = check(own(|share| &share.permits), own(|share| &share.first_records));
        self.count(refused, standing);
        refused
    }

    pub fn admit(&self, tenant: u64, standing: Standing) -> Result<Admission, Refused> {
        self.let_in(tenant, standing, true).inspect_err(|refused| self.count(Some(*refused), standing))
    }

    pub fn admit_without_record(&self, tenant: u64, standing: Standing) -> Result<Admission, Refused> {
        self.let_in(tenant, standing, false).inspect_err(|refused| self.count(Some(*refused), standing))
    }

    fn let_in(&self, tenant: u64, standing: Standing, asks_record: bool) -> Result<Admission, Refused> {
        let yields = standing.yields();
        let share = self.share(tenant);
        let places = &self.places;
        let own = share.permits.load(Ordering::Relaxed);
        self.check(standing, own, places.permits_left(), places.permits_max)?;
        if asks_record {
            let own = share.first_records.load(Ordering::Relaxed);
            // A reserve of what there once was could be more than all that there is now, and nobody
            // who yields would ever be served and raise the bound again.
            self.check(standing, own, places.first_records_left(yields), places.bound.places())?;
        }
        let permit = places.permits.try_acquire().map_err(|_| Refused::Full)?;
        let since_ms = if asks_record { places.wait(yields)? } else { 0 };
        permit.forget();
        share.permits.fetch_add(1, Ordering::Relaxed);
        share.first_records.fetch_add(usize::from(asks_record), Ordering::Relaxed);
        Ok(Admission { share, waits_for_record: asks_record, yields, since_ms })
    }

    fn check(&self, standing: Standing, own: usize, left: usize, all: usize) -> Result<(), Refused> {
        let shares = if standing == Standing::Essential { Shares::UNBOUNDED } else { self.shares };
        shares.check(own, left, all, standing.yields())
    }

    fn count(&self, refused: Option<Refused>, standing: Standing) {
        if refused == Some(Refused::ShareFull) {
            self.share_full[usize::from(standing.yields())].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn share(&self, tenant: u64) -> Arc<Share> {
        let known = self.tenants.get(&tenant).map(|share| Arc::clone(&share));
        let share = known.unwrap_or_else(|| {
            let new = || {
                Arc::new(Share {
                    places: Arc::clone(&self.places),
                    permits: AtomicUsize::new(0),
                    first_records: AtomicUsize::new(0),
                    is_used: AtomicBool::new(true),
                })
            };
            Arc::clone(&self.tenants.entry(tenant).or_insert_with(new))
        });
        // The flag is read first: writing the value it has would take it from other processors'
        // caches.
        if !share.is_used.load(Ordering::Relaxed) {
            share.is_used.store(true, Ordering::Relaxed);
        }
        share
    }

    /// To be called when no more requests and continuing commands begin.
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
    fn permits_left(&self) -> usize {
        self.permits.available_permits()
    }

    fn first_records_left(&self, yields: bool) -> usize {
        self.left_beside(self.first_records.load(Ordering::Relaxed), yields)
    }

    /// The bound may have become less than wait already, and then those that yield have the
    /// reserve's places too: it counts without them.
    fn left_beside(&self, waiting: usize, yields: bool) -> usize {
        let places = self.bound.places();
        let free = places.saturating_sub(waiting);
        if yields {
            return free;
        }
        let reserve = places.saturating_mul(self.reserve_percent) / 100;
        free.max(reserve.saturating_sub(waiting.saturating_sub(self.yielding.load(Ordering::Relaxed))))
    }

    fn wait(&self, yields: bool) -> Result<u32, Refused> {
        let now_ms = self.now_ms();
        let waiting = self.first_records.fetch_add(1, Ordering::Relaxed);
        if waiting == 0 {
            self.bound.begin(now_ms);
        } else if self.left_beside(waiting, yields) == 0 {
            self.first_records.fetch_sub(1, Ordering::Relaxed);
            return Err(Refused::Full);
        }
        self.yielding.fetch_add(usize::from(yields), Ordering::Relaxed);
        Ok(now_ms)
    }

    fn served(&self, since_ms: u32, yields: bool) {
        self.yielding.fetch_sub(usize::from(yields), Ordering::Relaxed);
        let waiting = self.first_records.fetch_sub(1, Ordering::Relaxed);
        let now_ms = self.now_ms();
        self.bound.served(now_ms.wrapping_sub(since_ms), now_ms, waiting);
    }

    /// In ms that begin anew after 49 days.
    fn now_ms(&self) -> u32 {
        (self.began.elapsed().as_millis() & u128::from(u32::MAX)) as u32
    }
}

impl Admission {
    pub fn recorded(&mut self) {
        if std::mem::take(&mut self.waits_for_record) {
            self.share.first_records.fetch_sub(1, Ordering::Relaxed);
            self.share.places.served(self.since_ms, self.yields);
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.recorded();
        self.share.permits.fetch_sub(1, Ordering::Relaxed);
        self.share.places.permits.add_permits(1);
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
                gate.admit(tenant, standing).map(|one| taken.push(one)).err()
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
        let stalled = gate.admit(3, Standing::Yields).expect("a place");
        late(&gate, 1);
        assert!(gate.places.bound.places() < FIRST_RECORDS_MIN / 4, "fewer places than the reserve was");
        drop(stalled);
        assert_eq!(gate.refuses(3, Standing::Yields), None);
        assert!(gate.admit(3, Standing::Yields).is_ok());
    }

    #[test]
    fn a_backlog_of_those_who_yield_leaves_the_reserve_also_when_the_bound_shrinks() {
        let gate = gate(75, 25);
        let backlog = fill(&gate, 3, Standing::Yields).0;
        late(&gate, backlog.len());
        let places = gate.places.bound.places();
        assert!(places < backlog.len(), "more wait than there are places");
        assert_eq!(gate.refuses(5, Standing::Yields), Some(Refused::Full), "the reserve is not for them");
        let (live, refused) = fill(&gate, 2, Standing::First);
        assert_eq!((live.len(), refused), (places / 4 * 3 / 4, Refused::ShareFull));
        let all = fill(&gate, 0, Standing::Essential).0;
        assert_eq!(all.len(), places / 4 - live.len());
        assert_eq!(gate.refuses(4, Standing::First), Some(Refused::Full), "and no more than the reserve");
        drop(backlog);
        assert_eq!(gate.places.yielding.load(Ordering::Relaxed), 0);
        assert!(gate.admit(4, Standing::First).is_ok());
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
        let admission = gate.admit_without_record(2, Standing::First).expect("a place");
        drop(gate.admit(4, Standing::First).expect("a place"));
        gate.sweep();
        assert_eq!(gate.tenants.len(), 2);
        gate.sweep();
        assert_eq!(gate.tenants.len(), 1, "one has a request under way");
        drop(admission);
        gate.sweep();
        assert!(gate.tenants.is_empty());
        assert_eq!(gate.places.permits_left(), FIRST_RECORDS_MIN);
    }
}
