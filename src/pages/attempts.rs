//! After so many failures from one address within ten minutes nobody logs in from there, not even
//! with the right secret, until the oldest of them is ten minutes ago. A failure is counted before
//! the secret is looked at and taken back if it was right, so that many attempts at once are no way
//! around it.

use crate::network::Client;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const FAILURES_MAX: usize = 10;
const WINDOW: Duration = Duration::from_secs(10 * 60);
/// Beyond so many addresses those are forgotten whose last failure is the oldest: whoever has so
/// many can try ten secrets from each.
const CLIENTS_MAX: usize = 20_000;

#[derive(Default)]
pub struct Attempts(Mutex<HashMap<Client, VecDeque<Instant>>>);

impl Attempts {
    /// The error is the number of seconds until the next attempt may be made.
    pub fn begin(&self, client: Client) -> Result<(), u32> {
        self.begin_at(client, Instant::now())
    }

    /// The newest attempt was no failure.
    pub fn succeeded(&self, client: Client) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failures) = all.get_mut(&client) {
            failures.pop_back();
        }
    }

    fn begin_at(&self, client: Client, now: Instant) -> Result<(), u32> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= CLIENTS_MAX && !all.contains_key(&client) {
            make_room(&mut all, now);
        }
        let failures = all.entry(client).or_default();
        while failures.front().is_some_and(|at| now.saturating_duration_since(*at) >= WINDOW) {
            failures.pop_front();
        }
        match failures.front() {
            Some(oldest) if failures.len() >= FAILURES_MAX => {
                let wait = WINDOW.saturating_sub(now.saturating_duration_since(*oldest));
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                Err(u32::try_from(seconds).unwrap_or(u32::MAX).max(1))
            }
            _ => {
                failures.push_back(now);
                Ok(())
            }
        }
    }
}

fn make_room(all: &mut HashMap<Client, VecDeque<Instant>>, now: Instant) {
    let is_fresh = |at: &Instant| now.saturating_duration_since(*at) < WINDOW;
    all.retain(|_, failures| failures.back().is_some_and(is_fresh));
    if all.len() >= CLIENTS_MAX {
        let mut last: Vec<Instant> = all.values().filter_map(|failures| failures.back().copied()).collect();
        last.sort_unstable();
        if let Some(median) = last.get(last.len() / 2).copied() {
            all.retain(|_, failures| failures.back().is_some_and(|at| *at > median));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    fn client(number: u32) -> Client {
        Client::of(IpAddr::V4(Ipv4Addr::from_bits(number)))
    }

    #[test]
    fn ten_failures_in_ten_minutes_are_the_most() {
        let (attempts, start) = (Attempts::default(), Instant::now());
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
        let (attempts, start) = (Attempts::default(), Instant::now());
        for n in 0..2 * CLIENTS_MAX as u32 {
            assert_eq!(attempts.begin_at(client(n), start + Duration::from_millis(n.into())), Ok(()));
        }
        assert!(attempts.0.lock().expect("not poisoned").len() <= CLIENTS_MAX);
    }
}
