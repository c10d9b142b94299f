//! The limits that keep one caller from taking the server from the others, and what they remember. `admit` in
//! `services.rs` asks those that hold for every request, in their order.
//!
//! - A rate ([`Rate`], [`Throttle`]): a token bucket per key. A bucket is one number, the instant at which it
//!   will be full again, so a check is one look-up and an addition; a full bucket says nothing and is dropped.
//! - A share ([`Shares`]) of one tenant in a mode, or of one buyer: work slots, and room for bodies. A work slot is
//!   the right to keep processors and disk busy: a request has one from when its body is there until its first
//!   record is durable or, of a read, until its answer. While a tenant is alone it needs none. While others ask
//!   too, only so many of its requests have one, and the rest wait in order: so whoever asks a lot waits for
//!   itself, and the others' requests find short queues. What waits is bounded, in number and in time; one more
//!   is 429, before its body is read, and is told so after a pause, because callers who ask again at once would
//!   keep processors busy with refusals. (What a tenant may have of the engine is in
//!   `actors/src/admission.rs`.)
//! - Failures ([`Failures`]): who guesses secrets or people has to wait.

use crate::http::body::Room;
use crate::http::listen::BODY_BYTES_MAX;
use crate::network::Client;
use actors::{Refused, Shares as Parts};
use api::problem::Problem;
use dashmap::DashMap;
use domain::values::ids::is_live;
use foldhash::fast::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const LATELY: Duration = Duration::from_secs(1);
/// Pages that are read for one of them at once: a page of a hundred keeps a processor busy for as
/// long as some fifty payouts do, without a pause for others.
const PAGES: usize = 1;
/// Before a refusal: callers who ask again at once would keep processors busy with refusals.
pub const PAUSE: Duration = Duration::from_millis(250);
/// The longest wait for a slot: whoever has that much to do already is told so.
const WAIT_MAX: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub live_slots: usize,
    pub test_slots: usize,
    pub waiting_max: usize,
    pub parts: Parts,
}

#[derive(Debug, Default)]
pub struct Counters {
    /// Of live mode, then of test mode, here and below.
    pub slots: [AtomicU64; 2],
    pub bodies: [AtomicU64; 2],
    pub waiting: AtomicUsize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    Tenant(u64),
    /// A person without a key: a buyer, who is apart from the shop's own requests.
    Client(Client),
}

pub struct Shares {
    bounds: Bounds,
    pub counters: Arc<Counters>,
    owners: DashMap<Owner, Arc<Share>, RandomState>,
    pub owners_count: AtomicUsize,
}

#[derive(Debug)]
pub struct Share {
    is_live: bool,
    leaves_reserve: bool,
    parts: Parts,
    slots: Arc<Semaphore>,
    pages: Arc<Semaphore>,
    pub(super) waiting: AtomicUsize,
    pub(super) waiting_max: usize,
    body_bytes: AtomicUsize,
    is_used: AtomicBool,
    counters: Arc<Counters>,
}

#[derive(Debug)]
pub struct WorkSlot {
    /// An owner is known as long as it has a slot.
    _share: Arc<Share>,
    _permit: OwnedSemaphorePermit,
    pub has_waited: bool,
}

struct WaitingRequest<'s>(&'s Share);

impl Drop for WaitingRequest<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.counters.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shares {
    pub fn new(bounds: Bounds) -> Shares {
        let (counters, owners) = (Arc::default(), DashMap::default());
        Shares { bounds, counters, owners, owners_count: AtomicUsize::new(0) }
    }

    pub fn of(&self, owner: Owner) -> Arc<Share> {
        let share = match self.owners.get(&owner) {
            Some(known) => Arc::clone(&known),
            None => Arc::clone(&self.owners.entry(owner).or_insert_with(|| self.new_share(owner))),
        };
        // Read first: to write what is there already would take it from other processors' caches.
        if !share.is_used.load(Ordering::Relaxed) {
            share.is_used.store(true, Ordering::Relaxed);
        }
        share
    }

    fn new_share(&self, owner: Owner) -> Arc<Share> {
        self.owners_count.fetch_add(1, Ordering::Relaxed);
        let Bounds { live_slots, test_slots, waiting_max, parts } = self.bounds;
        // A buyer in live mode is one of many, and nobody knows who they are.
        let (is_live, leaves_reserve) = match owner {
            Owner::Tenant(tenant) => (is_live(tenant), !is_live(tenant)),
            Owner::Client(_) => (true, true),
        };
        Arc::new(Share {
            is_live,
            leaves_reserve,
            parts,
            slots: Arc::new(Semaphore::new(if is_live { live_slots } else { test_slots })),
            pages: Arc::new(Semaphore::new(PAGES)),
            waiting: AtomicUsize::new(0),
            waiting_max,
            body_bytes: AtomicUsize::new(0),
            is_used: AtomicBool::new(true),
            counters: Arc::clone(&self.counters),
        })
    }

    /// Waits for a slot; `None` when none is needed. Whoever stops waiting leaves its place.
    pub async fn slot(&self, share: &Arc<Share>) -> Result<Option<WorkSlot>, Problem> {
        if self.owners_count.load(Ordering::Relaxed) < 2 {
            return Ok(None);
        }
        take(share, &share.slots).await.map(Some)
    }

    /// Waits for the right to read a page of a list, instead of the slot that its request has.
    ///
    /// A page is read in one go. So whoever has the right lets all others go first that can go now:
    /// else the pages of one owner would stand in the runtime's queue, one behind the other and none
    /// waiting for the right, and everybody else's steps behind them.
    pub async fn page(&self, share: &Arc<Share>) -> Result<Option<WorkSlot>, Problem> {
        if self.owners_count.load(Ordering::Relaxed) < 2 {
            return Ok(None);
        }
        let slot = take(share, &share.pages).await?;
        if !slot.has_waited {
            tokio::task::yield_now().await;
        }
        Ok(Some(slot))
    }

    /// Whether a request of its would have no place to wait in, while others are busy too: refused before its body is
    /// read.
    pub fn is_full(&self, share: &Share) -> bool {
        share.waiting.load(Ordering::Relaxed) >= share.waiting_max
            && self.owners_count.load(Ordering::Relaxed) > 1
    }

    pub async fn sweep(&self) {
        loop {
            tokio::time::sleep(LATELY).await;
            self.sweep_once();
        }
    }

    fn sweep_once(&self) {
        self.owners.retain(|_, share| {
            // The map is locked, so nobody else can take a share that only the map has.
            let stays = share.is_used.swap(false, Ordering::Relaxed) || Arc::strong_count(share) > 1;
            self.owners_count.fetch_sub(usize::from(!stays), Ordering::Relaxed);
            stays
        });
    }
}

async fn take(share: &Arc<Share>, semaphore: &Arc<Semaphore>) -> Result<WorkSlot, Problem> {
    let (permit, has_waited) = match Arc::clone(semaphore).try_acquire_owned() {
        Ok(permit) => (permit, false),
        // Boxed: every request has room for this future, and few wait.
        Err(_) => (Box::pin(share.wait(semaphore)).await?, true),
    };
    Ok(WorkSlot { _share: Arc::clone(share), _permit: permit, has_waited })
}

impl Share {
    async fn wait(&self, semaphore: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Problem> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.waiting_max {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(self.refuse().await);
        }
        self.counters.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = WaitingRequest(self);
        match tokio::time::timeout(WAIT_MAX, Arc::clone(semaphore).acquire_owned()).await {
            // The semaphore is never closed.
            Ok(permit) => permit.map_err(|_| Problem::shutting_down()),
            Err(_) => {
                self.count(&self.counters.slots);
                Err(Problem::share_full())
            }
        }
    }

    pub(super) async fn refuse(&self) -> Problem {
        self.count(&self.counters.slots);
        tokio::time::sleep(PAUSE).await;
        Problem::share_full()
    }

    fn count(&self, refused: &[AtomicU64; 2]) {
        refused[usize::from(!self.is_live)].fetch_add(1, Ordering::Relaxed);
    }
}

impl Room for Share {
    fn gather(&self, bytes: usize, left: usize, all: usize) -> Result<(), Problem> {
        let own = self.body_bytes.load(Ordering::Relaxed) + bytes;
        // A tenant's only body is never over its share, whatever its size and however small the
        // share.
        let beyond_one = if own > BODY_BYTES_MAX { own } else { 0 };
        match self.parts.check(beyond_one, left, all, self.leaves_reserve) {
            Ok(()) => {
                self.body_bytes.fetch_add(bytes, Ordering::Relaxed);
                Ok(())
            }
            Err(Refused::Full) => Err(Problem::overloaded(1)),
            Err(Refused::ShareFull) => {
                self.count(&self.counters.bodies);
                Err(Problem::share_full())
            }
        }
    }

    fn release(&self, bytes: usize) {
        self.body_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

pub struct Rate {
    pub throttle: Throttle<u64>,
    pub per_second: u32,
}

const SWEEP_FROM: usize = 1_024;

#[derive(Debug)]
pub struct Throttle<K: Eq + Hash> {
    /// Nanoseconds that one token takes to come; 0 when there is no limit.
    token_ns: u64,
    /// Nanoseconds that an empty bucket takes to fill.
    bucket_ns: u64,
    start: Instant,
    full_at_ns: DashMap<K, u64>,
    sweep_at: AtomicUsize,
}

impl<K: Eq + Hash + Copy> Throttle<K> {
    /// A throttle by rate: `requests_per_second` 0 = no limit; `burst` 0 = as many as come in a
    /// second.
    pub fn new(requests_per_second: u32, burst: u32) -> Self {
        let token_ns = 1_000_000_000_u64.checked_div(u64::from(requests_per_second)).unwrap_or(0);
        Throttle::every(Duration::from_nanos(token_ns), if burst == 0 { requests_per_second } else { burst })
    }

    pub fn every(token: Duration, burst: u32) -> Self {
        let token_ns = u64::try_from(token.as_nanos()).unwrap_or(u64::MAX);
        let bucket_ns = token_ns.saturating_mul(u64::from(burst));
        Throttle {
            token_ns,
            bucket_ns,
            start: Instant::now(),
            full_at_ns: DashMap::new(),
            sweep_at: AtomicUsize::new(SWEEP_FROM),
        }
    }

    pub fn check(&self, key: K) -> Result<(), u32> {
        if self.token_ns == 0 {
            return Ok(());
        }
        self.check_at(key, Instant::now())
    }

    fn check_at(&self, key: K, now: Instant) -> Result<(), u32> {
        let since = now.saturating_duration_since(self.start);
        let now_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        let mut full_at = self.full_at_ns.entry(key).or_insert(0);
        let after = (*full_at).max(now_ns).saturating_add(self.token_ns);
        let latest = now_ns.saturating_add(self.bucket_ns);
        if after > latest {
            return Err(seconds(Duration::from_nanos(after - latest)));
        }
        *full_at = after;
        drop(full_at);
        self.sweep(now_ns);
        Ok(())
    }

    /// Drops the full buckets whenever their number has doubled since the last time.
    fn sweep(&self, now_ns: u64) {
        let due = self.sweep_at.load(Ordering::Relaxed);
        if self.full_at_ns.len() < due || self.sweep_at.swap(usize::MAX, Ordering::Relaxed) == usize::MAX {
            return;
        }
        self.full_at_ns.retain(|_, full_at| *full_at > now_ns);
        let next = (self.full_at_ns.len() * 2).max(SWEEP_FROM);
        self.sweep_at.store(next, Ordering::Relaxed);
    }
}

const WINDOW: Duration = Duration::from_secs(10 * 60);
/// Beyond so many those are forgotten whose last failure is the oldest: whoever has so many addresses can try
/// from each.
const FAILING_MAX: usize = 20_000;

/// Failures within ten minutes: logins by an address, searches of an account that found nobody. After so many
/// nothing more is tried, not even with the right secret, until the oldest of them is ten minutes ago.
#[derive(Debug)]
pub struct Failures<K> {
    max: usize,
    all: Mutex<HashMap<K, VecDeque<Instant>>>,
}

impl<K: Eq + Hash + Copy> Failures<K> {
    pub fn new(max: usize) -> Failures<K> {
        Failures { max, all: Mutex::default() }
    }

    /// Counts a failure before it is tried, so that many tries at once are no way around it. The error is the
    /// number of seconds until the next may be made.
    pub fn begin(&self, key: K) -> Result<(), u32> {
        self.begin_at(key, Instant::now())
    }

    pub fn succeeded(&self, key: K) {
        if let Some(failures) = self.all().get_mut(&key) {
            failures.pop_back();
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<K, VecDeque<Instant>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_at(&self, key: K, now: Instant) -> Result<(), u32> {
        let mut all = self.all();
        if all.len() >= FAILING_MAX && !all.contains_key(&key) {
            make_room(&mut all, now);
        }
        let failures = all.entry(key).or_default();
        while failures.front().is_some_and(|at| now.saturating_duration_since(*at) >= WINDOW) {
            failures.pop_front();
        }
        match failures.front() {
            Some(oldest) if failures.len() >= self.max => {
                Err(seconds(WINDOW.saturating_sub(now.saturating_duration_since(*oldest))))
            }
            _ => {
                failures.push_back(now);
                Ok(())
            }
        }
    }
}

fn make_room<K: Eq + Hash>(all: &mut HashMap<K, VecDeque<Instant>>, now: Instant) {
    let is_fresh = |at: &Instant| now.saturating_duration_since(*at) < WINDOW;
    all.retain(|_, failures| failures.back().is_some_and(is_fresh));
    if all.len() >= FAILING_MAX {
        let mut last: Vec<Instant> = all.values().filter_map(|failures| failures.back().copied()).collect();
        last.sort_unstable();
        if let Some(median) = last.get(last.len() / 2).copied() {
            all.retain(|_, failures| failures.back().is_some_and(|at| *at > median));
        }
    }
}

fn seconds(wait: Duration) -> u32 {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    u32::try_from(seconds).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};
    use std::num::NonZeroU32;
    use std::pin::pin;
    use std::task::Poll;

    const LIVE: u64 = 2;
    const TEST: u64 = 3;

    fn shares() -> Shares {
        let parts = Parts { percent: 75, reserve_percent: 25 };
        Shares::new(Bounds { live_slots: 3, test_slots: 2, waiting_max: 1, parts })
    }

    async fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        std::future::poll_fn(|cx| {
            Poll::Ready(match future.as_mut().poll(cx) {
                Poll::Ready(done) => Some(done),
                Poll::Pending => None,
            })
        })
        .await
    }

    #[tokio::test]
    async fn who_is_alone_needs_no_slot_and_who_is_not_waits_for_itself() {
        let shares = shares();
        let test = shares.of(Owner::Tenant(TEST));
        assert!(shares.slot(&test).await.is_ok_and(|slot| slot.is_none()));
        let live = shares.of(Owner::Tenant(LIVE));
        let slots = [now(shares.slot(&test)).await, now(shares.slot(&test)).await];
        assert!(slots.iter().all(|slot| matches!(slot, Some(Ok(Some(_))))));
        let mut third = pin!(shares.slot(&test));
        assert!(now(third.as_mut()).await.is_none(), "it waits");
        assert!(now(shares.slot(&live)).await.is_some(), "another does not");
        assert!(matches!(shares.page(&test).await, Ok(Some(_))), "pages are apart");
        drop(slots);
        assert!(now(third).await.is_some());
        assert_eq!(shares.counters.waiting.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_second_page_waits_for_the_first_though_nothing_else_keeps_a_processor_busy() {
        let shares = shares();
        let (test, _live) = (shares.of(Owner::Tenant(TEST)), shares.of(Owner::Tenant(LIVE)));
        let mut first = pin!(shares.page(&test));
        let mut second = pin!(shares.page(&test));
        assert!(now(first.as_mut()).await.is_none(), "whoever else can go now goes first");
        assert!(now(second.as_mut()).await.is_none(), "so the second finds the right taken");
        let first = first.await.ok().flatten().expect("the right");
        assert!(!first.has_waited);
        drop(first);
        assert!(second.await.ok().flatten().is_some_and(|slot| slot.has_waited));
    }

    #[tokio::test]
    async fn one_too_many_is_refused_and_who_goes_away_leaves_its_place() {
        let shares = shares();
        let (test, _live) = (shares.of(Owner::Tenant(TEST)), shares.of(Owner::Tenant(LIVE)));
        let _slots = [shares.slot(&test).await, shares.slot(&test).await];
        {
            let mut waiting = pin!(shares.slot(&test));
            assert!(now(waiting.as_mut()).await.is_none());
            let refused = shares.slot(&test).await.expect_err("one waits already");
            assert_eq!(
                (refused.status, refused.code, refused.retry_after.map(NonZeroU32::get)),
                (429, "rate_limited", Some(1))
            );
            assert_eq!(shares.counters.slots[1].load(Ordering::Relaxed), 1);
        }
        let mut next = pin!(shares.slot(&test));
        assert!(!shares.is_full(&test));
        assert!(now(next.as_mut()).await.is_none(), "there is a place to wait again");
        assert_eq!(shares.counters.waiting.load(Ordering::Relaxed), 1);
        assert!(shares.is_full(&test), "refused before its body is read");
        assert_eq!(test.refuse().await.status, 429);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_told_so() {
        let shares = shares();
        let (test, _live) = (shares.of(Owner::Tenant(TEST)), shares.of(Owner::Tenant(LIVE)));
        let _slots = [shares.slot(&test).await, shares.slot(&test).await];
        let began = tokio::time::Instant::now();
        let refused = shares.slot(&test).await.expect_err("no slot comes free");
        assert_eq!((refused.status, began.elapsed().as_secs()), (429, WAIT_MAX.as_secs()));
        assert_eq!(shares.counters.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn one_tenant_gathers_a_part_and_leaves_the_reserve() {
        let shares = shares();
        let (test, live) = (shares.of(Owner::Tenant(TEST)), shares.of(Owner::Tenant(LIVE)));
        let mib = |n: usize| n * BODY_BYTES_MAX;
        assert!(test.gather(mib(5), mib(10), mib(10)).is_ok());
        let refused = test.gather(mib(1), mib(4), mib(10)).expect_err("its share");
        assert_eq!(refused.status, 429);
        assert!(live.gather(mib(1), mib(4), mib(10)).is_ok());
        assert!(shares.of(Owner::Tenant(5)).gather(mib(1), mib(3), mib(10)).is_ok(), "one body");
        let refused = shares.of(Owner::Tenant(7)).gather(1, mib(10) / 4, mib(10)).expect_err("the reserve");
        assert_eq!((refused.status, refused.code), (503, "overloaded"));
        test.release(mib(5));
        assert!(test.gather(mib(1), mib(9), mib(10)).is_ok());
    }

    #[test]
    fn buyers_gather_a_part_and_leave_the_reserve() {
        let shares = shares();
        let client = |last| shares.of(Owner::Client(Client::of(Ipv4Addr::new(192, 0, 2, last).into())));
        let mib = |n: usize| n * BODY_BYTES_MAX;
        let one = client(1);
        assert!(one.gather(mib(5), mib(10), mib(10)).is_ok());
        assert_eq!(one.gather(mib(1), mib(4), mib(10)).expect_err("its share").status, 429);
        // However many they are, and each with one body.
        let refused = client(2).gather(1, mib(10) / 4, mib(10)).expect_err("the reserve");
        assert_eq!((refused.status, refused.code), (503, "overloaded"));
        assert!(shares.of(Owner::Tenant(LIVE)).gather(mib(1), mib(10) / 4, mib(10)).is_ok());
    }

    #[test]
    fn only_who_asks_counts() {
        let shares = shares();
        drop(shares.of(Owner::Tenant(LIVE)));
        let _asking = shares.of(Owner::Tenant(TEST));
        shares.sweep_once();
        assert_eq!(shares.owners_count.load(Ordering::Relaxed), 2);
        shares.sweep_once();
        assert_eq!(shares.owners_count.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn off_means_off() {
        let throttle = Throttle::new(0, 0);
        assert!((0..10_000).all(|_| throttle.check(1_u64).is_ok()));
        assert!(throttle.full_at_ns.is_empty());
    }

    #[test]
    fn a_burst_passes_and_then_the_rate_holds() {
        let throttle = Throttle::new(2, 5);
        let start = throttle.start;
        let at = |ms: u64| start + Duration::from_millis(ms);
        for _ in 0..5 {
            assert_eq!(throttle.check_at(1, at(0)), Ok(()));
        }
        assert_eq!(throttle.check_at(1, at(0)), Err(1));
        assert_eq!(throttle.check_at(1, at(499)), Err(1));
        assert_eq!(throttle.check_at(2, at(499)), Ok(()), "another key has its own bucket");
        assert_eq!(throttle.check_at(1, at(500)), Ok(()));
        assert_eq!(throttle.check_at(1, at(500)), Err(1));
        for _ in 0..5 {
            assert_eq!(throttle.check_at(1, at(60_000)), Ok(()));
        }
        assert_eq!(throttle.check_at(1, at(60_000)), Err(1));
    }

    #[test]
    fn who_waits_as_told_gets_through() {
        let throttle = Throttle::new(1, 1);
        assert_eq!(throttle.check_at(1, throttle.start), Ok(()));
        let wait = throttle.check_at(1, throttle.start).expect_err("empty");
        assert_eq!(throttle.check_at(1, throttle.start + Duration::from_secs(u64::from(wait))), Ok(()));
    }

    #[test]
    fn full_buckets_are_dropped() {
        let throttle = Throttle::new(1_000, 1);
        for key in 0..100_000_u64 {
            let now = throttle.start + Duration::from_millis(key);
            assert_eq!(throttle.check_at(key, now), Ok(()));
        }
        assert!(throttle.full_at_ns.len() <= SWEEP_FROM, "{}", throttle.full_at_ns.len());
    }

    fn client(number: u32) -> Client {
        Client::of(IpAddr::V4(Ipv4Addr::from_bits(number)))
    }

    #[test]
    fn ten_failures_in_ten_minutes_are_the_most() {
        let (attempts, start) = (Failures::new(10), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for n in 0..9 {
            assert_eq!(attempts.begin_at(client(1), at(n)), Ok(()));
        }
        assert_eq!(attempts.begin_at(client(1), at(9)), Ok(()));
        attempts.succeeded(client(1));
        assert_eq!(attempts.begin_at(client(1), at(10)), Ok(()), "nine failures and a success");
        assert_eq!(attempts.begin_at(client(1), at(20)), Err(580));
        assert_eq!(attempts.begin_at(client(2), at(20)), Ok(()), "another address");
        assert_eq!(attempts.begin_at(client(1), at(599)), Err(1));
        assert_eq!(attempts.begin_at(client(1), at(600)), Ok(()), "the first failure is ten minutes ago");
        assert_eq!(attempts.begin_at(client(1), at(600)), Err(1));
    }

    #[test]
    fn the_number_of_addresses_is_bounded() {
        let (attempts, start) = (Failures::new(10), Instant::now());
        for n in 0..2 * FAILING_MAX as u32 {
            assert_eq!(attempts.begin_at(client(n), start + Duration::from_millis(n.into())), Ok(()));
        }
        assert!(attempts.all().len() <= FAILING_MAX);
    }

    #[test]
    fn who_finds_nobody_has_to_wait_and_who_finds_somebody_has_not() {
        let (misses, start) = (Failures::new(30), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..1_000 {
            assert_eq!(misses.begin_at(1, at(0)), Ok(()));
            misses.succeeded(1);
        }
        for n in 0..30 {
            assert_eq!(misses.begin_at(1, at(n)), Ok(()));
        }
        assert_eq!(misses.begin_at(1, at(30)), Err(570));
        assert_eq!(misses.begin_at(2, at(30)), Ok(()), "another account");
        assert_eq!(misses.begin_at(1, at(599)), Err(1));
        assert_eq!(misses.begin_at(1, at(600)), Ok(()), "the oldest counts no more");
        assert_eq!(misses.begin_at(1, at(600)), Err(1));
    }
}
