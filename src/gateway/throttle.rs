//! A limit on the rate of requests: a token bucket per key.
//!
//! A bucket is one number, the instant at which it will be full again, so a check is one look-up
//! and an addition; a full bucket says nothing and is dropped. It must not know what a key may do,
//! nor which requests count.

use dashmap::DashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Buckets below this number are not worth a sweep.
const SWEEP_FROM: usize = 1_024;

/// The buckets of all keys.
#[derive(Debug)]
pub struct Throttle<K: Eq + Hash> {
    /// Nanoseconds that one token takes to come; 0 when there is no limit.
    token_ns: u64,
    /// Nanoseconds that an empty bucket takes to fill.
    bucket_ns: u64,
    start: Instant,
    full_at_ns: DashMap<K, u64>,
    /// The next sweep is due at so many buckets.
    sweep_at: AtomicUsize,
}

impl<K: Eq + Hash + Copy> Throttle<K> {
    /// A throttle by rate: `requests_per_second` 0 = no limit; `burst` 0 = as many as come in a
    /// second.
    pub fn new(requests_per_second: u32, burst: u32) -> Self {
        let token_ns = 1_000_000_000_u64.checked_div(u64::from(requests_per_second)).unwrap_or(0);
        Throttle::every(Duration::from_nanos(token_ns), if burst == 0 { requests_per_second } else { burst })
    }

    /// A throttle that refills one token per `token`, and allows `burst` requests in a row. A
    /// `token` of zero is no limit.
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

    /// Takes a token, or says in how many seconds the next one is there.
    pub fn check(&self, key: K) -> Result<(), u32> {
        if self.token_ns == 0 {
            return Ok(());
        }
        self.check_at(key, Instant::now())
    }

    fn ns(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX)
    }

    /// The instant, in ns since the start, at which a bucket will be full again after one more
    /// token; `Err` says in how many seconds there will be a token, if there is none.
    fn room(&self, full_at: u64, now_ns: u64) -> Result<u64, u32> {
        let after = full_at.max(now_ns).saturating_add(self.token_ns);
        let latest = now_ns.saturating_add(self.bucket_ns);
        if after <= latest {
            return Ok(after);
        }
        let wait = Duration::from_nanos(after - latest);
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Err(u32::try_from(seconds).unwrap_or(u32::MAX).max(1))
    }

    fn check_at(&self, key: K, now: Instant) -> Result<(), u32> {
        let now_ns = self.ns(now);
        let mut full_at = self.full_at_ns.entry(key).or_insert(0);
        let after = self.room(*full_at, now_ns)?;
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
