//! Sessions are in memory alone: a restart ends them all. A session is found by the hash of its
//! cookie and knows the hash of the key or token that opened it; neither the cookie nor the key is
//! kept. Whether that key still opens anything is asked with every page, so a session never
//! outlives it.

use domain::platform::hash_key;
use domain::values::ids::Id;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Without a page.
pub const IDLE: Duration = Duration::from_secs(30 * 60);
/// However busy a session is: a working day.
const LONGEST: Duration = Duration::from_secs(12 * 60 * 60);
/// The one that was idle longest makes room.
const SESSIONS_MAX: usize = 10_000;
/// Of one account, or operator, with all its keys; its own oldest makes room.
const SESSIONS_OF_AN_OWNER_MAX: usize = 20;

struct Session {
    owner: Id,
    secret: [u8; 32],
    began: Instant,
    used: Instant,
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) >= IDLE
            || now.saturating_duration_since(self.began) >= LONGEST
    }
}

#[derive(Default)]
pub struct Sessions(Mutex<HashMap<[u8; 32], Session>>);

impl Sessions {
    /// `secret` is the hash of the key, `cookie` the session's new secret.
    pub fn open(&self, cookie: &str, owner: Id, secret: [u8; 32]) {
        self.open_at(cookie, owner, secret, Instant::now());
    }

    /// `is_used` says whether a person asks, and not a page by itself.
    pub fn find(&self, cookie: &str, is_used: bool) -> Option<[u8; 32]> {
        self.find_at(cookie, is_used, Instant::now())
    }

    pub fn close(&self, cookie: &str) {
        self.all().remove(&hash_key(cookie));
    }

    fn all(&self) -> MutexGuard<'_, HashMap<[u8; 32], Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_at(&self, cookie: &str, owner: Id, secret: [u8; 32], now: Instant) {
        let mut all = self.all();
        all.retain(|_, session| !session.is_over(now));
        let own = all.values().filter(|session| session.owner == owner).count();
        if own >= SESSIONS_OF_AN_OWNER_MAX {
            drop_first(&mut all, |session| (session.owner == owner).then_some(session.began));
        } else if all.len() >= SESSIONS_MAX {
            drop_first(&mut all, |session| Some(session.used));
        }
        all.insert(hash_key(cookie), Session { owner, secret, began: now, used: now });
    }

    fn find_at(&self, cookie: &str, is_used: bool, now: Instant) -> Option<[u8; 32]> {
        let key = hash_key(cookie);
        let mut all = self.all();
        let session = all.get_mut(&key)?;
        if session.is_over(now) {
            all.remove(&key);
            return None;
        }
        if is_used {
            session.used = now;
        }
        Some(session.secret)
    }
}

fn drop_first(all: &mut HashMap<[u8; 32], Session>, place: impl Fn(&Session) -> Option<Instant>) {
    let placed = all.iter().filter_map(|(key, session)| Some((place(session)?, *key)));
    if let Some((_, first)) = placed.min() {
        all.remove(&first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [7; 32];
    const OWNER: Id = Id::from_bytes([1; 16]);

    #[test]
    fn a_session_ends_when_it_is_idle_or_closed_or_old() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        sessions.open_at("a", OWNER, KEY, start);
        let minute = Duration::from_secs(60);
        assert_eq!(sessions.find_at("b", true, start), None);
        assert_eq!(sessions.find_at("a", true, start + 29 * minute), Some(KEY));
        assert_eq!(sessions.find_at("a", true, start + 58 * minute), Some(KEY));
        assert_eq!(sessions.find_at("a", false, start + 87 * minute), Some(KEY), "a page asks by itself");
        assert_eq!(sessions.find_at("a", true, start + 88 * minute), None, "nobody was there for 30 minutes");
        sessions.open_at("c", OWNER, KEY, start);
        sessions.close("c");
        assert_eq!(sessions.find_at("c", true, start), None);
        sessions.open_at("d", OWNER, KEY, start);
        let busy = (1..30).map(|n| start + n * 25 * minute);
        let last = busy.take_while(|now| sessions.find_at("d", true, *now).is_some()).last();
        assert_eq!(last, Some(start + 28 * 25 * minute), "twelve hours are the most");
    }

    #[test]
    fn an_account_has_so_many_sessions_with_all_its_keys_and_pushes_out_nobody_elses() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let at = |n: usize| start + Duration::from_millis(n as u64);
        sessions.open_at("another", Id::from_bytes([2; 16]), KEY, start);
        for n in 0..SESSIONS_OF_AN_OWNER_MAX {
            sessions.open_at(&n.to_string(), OWNER, [n as u8; 32], at(n));
        }
        assert!(sessions.find_at("0", true, at(100)).is_some());
        sessions.open_at("more", OWNER, KEY, at(101));
        assert!(sessions.find_at("0", true, at(102)).is_none(), "the oldest, however busy");
        assert!(sessions.find_at("1", true, at(102)).is_some());
        assert!(sessions.find_at("another", true, at(102)).is_some());
        assert_eq!(sessions.all().len(), SESSIONS_OF_AN_OWNER_MAX + 1);
    }

    #[test]
    fn the_number_of_sessions_is_bounded_and_the_idlest_makes_room() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let at = |n: usize| start + Duration::from_millis(n as u64);
        sessions.open_at("first", OWNER, KEY, start);
        for n in 0..SESSIONS_MAX {
            sessions.open_at(&format!("other {n}"), Id::derived(1, 1, n as u16), KEY, at(200 + n));
        }
        assert_eq!(sessions.all().len(), SESSIONS_MAX);
        assert!(sessions.find_at("first", true, at(200)).is_none());
    }
}
