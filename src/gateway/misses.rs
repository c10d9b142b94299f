//! Searches for a person that found nobody: whoever guesses documents and phones finds nobody most of the
//! time. It must not know what is searched for.

use dashmap::DashMap;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Misses of an account in [`WINDOW`], after which it has to wait.
const MAX: usize = 30;
/// The time for which a miss counts.
const WINDOW: Duration = Duration::from_secs(10 * 60);

/// The misses of all accounts, by tenant key.
#[derive(Debug, Default)]
pub struct Misses(DashMap<u64, VecDeque<Instant>>);

impl Misses {
    /// Counts a search as a miss before it is made, so that many at once are no more than one after the
    /// other; or says in how many seconds there may be another.
    pub fn begin(&self, tenant: u64) -> Result<(), u32> {
        self.begin_at(tenant, Instant::now())
    }

    /// A search that was begun has found somebody after all.
    pub fn found(&self, tenant: u64) {
        if let Some(mut misses) = self.0.get_mut(&tenant) {
            misses.pop_back();
        }
    }

    fn begin_at(&self, tenant: u64, now: Instant) -> Result<(), u32> {
        let mut misses = self.0.entry(tenant).or_default();
        let lasts = |began: &Instant| now.saturating_duration_since(*began) < WINDOW;
        while misses.front().is_some_and(|began| !lasts(began)) {
            misses.pop_front();
        }
        match misses.front() {
            Some(oldest) if misses.len() >= MAX => {
                let wait = WINDOW.saturating_sub(now.saturating_duration_since(*oldest));
                Err(u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1))
            }
            _ => {
                misses.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_nobody_has_to_wait_and_who_finds_somebody_has_not() {
        let (misses, start) = (Misses::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..1_000 {
            assert_eq!(misses.begin_at(1, at(0)), Ok(()));
            misses.found(1);
        }
        for n in 0..30 {
            assert_eq!(misses.begin_at(1, at(n)), Ok(()));
        }
        assert_eq!(misses.begin_at(1, at(30)), Err(571));
        assert_eq!(misses.begin_at(2, at(30)), Ok(()), "another account");
        assert_eq!(misses.begin_at(1, at(599)), Err(2));
        assert_eq!(misses.begin_at(1, at(600)), Ok(()), "the oldest counts no more");
        assert_eq!(misses.begin_at(1, at(600)), Err(2));
    }
}
