//! Sessions of those who logged in. They are in memory alone: a restart ends them all.
//!
//! A session is found by the hash of its cookie and knows the hash of the key or token that opened
//! it; neither the cookie nor the key is kept. Whether that key still opens anything is asked with
//! every page, so a session never outlives it.

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time without a page after which a session is over.
pub const IDLE: Duration = Duration::from_secs(30 * 60);
/// The time after which a session is over however busy it is: a working day.
const LONGEST: Duration = Duration::from_secs(12 * 60 * 60);
/// The number of sessions on a listener; the one that was idle longest makes room.
const SESSIONS_MAX: usize = 10_000;
/// The number of sessions that one key may have; the one that was idle longest makes room.
const SESSIONS_OF_A_KEY_MAX: usize = 50;

struct Session {
    /// The hash of the key or token that opened it.
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

/// The sessions of a listener.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<[u8; 32], Session>>);

fn hash(cookie: &str) -> [u8; 32] {
    Sha256::digest(cookie.as_bytes()).into()
}

impl Sessions {
    /// Opens a session for whoever brought the key with this hash. `cookie` is its new secret.
    pub fn open(&self, cookie: &str, secret: [u8; 32]) {
        self.open_at(cookie, secret, Instant::now());
    }

    /// The hash of the key that opened the session with this cookie. `is_used` says whether a
    /// person asks, and not a page by itself.
    pub fn find(&self, cookie: &str, is_used: bool) -> Option<[u8; 32]> {
        self.find_at(cookie, is_used, Instant::now())
    }

    /// Ends a session.
    pub fn close(&self, cookie: &str) {
        self.all().remove(&hash(cookie));
    }

    fn all(&self) -> MutexGuard<'_, HashMap<[u8; 32], Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_at(&self, cookie: &str, secret: [u8; 32], now: Instant) {
        let mut all = self.all();
        if all.len() >= SESSIONS_MAX {
            all.retain(|_, session| !session.is_over(now));
        }
        if all.values().filter(|session| session.secret == secret).count() >= SESSIONS_OF_A_KEY_MAX {
            drop_idlest(&mut all, |session| session.secret == secret);
        } else if all.len() >= SESSIONS_MAX {
            drop_idlest(&mut all, |_| true);
        }
        all.insert(hash(cookie), Session { secret, began: now, used: now });
    }

    fn find_at(&self, cookie: &str, is_used: bool, now: Instant) -> Option<[u8; 32]> {
        let key = hash(cookie);
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

/// Ends the session that was idle longest among those that are meant.
fn drop_idlest(all: &mut HashMap<[u8; 32], Session>, is_meant: impl Fn(&Session) -> bool) {
    let meant = all.iter().filter(|(_, session)| is_meant(session));
    let idlest = meant.min_by_key(|(_, session)| session.used).map(|(key, _)| *key);
    idlest.and_then(|key| all.remove(&key));
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [7; 32];

    #[test]
    fn a_session_ends_when_it_is_idle_or_closed_or_old() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        sessions.open_at("a", KEY, start);
        let minute = Duration::from_secs(60);
        assert_eq!(sessions.find_at("b", true, start), None);
        assert_eq!(sessions.find_at("a", true, start + 29 * minute), Some(KEY));
        assert_eq!(sessions.find_at("a", true, start + 58 * minute), Some(KEY));
        assert_eq!(sessions.find_at("a", false, start + 87 * minute), Some(KEY), "a page asks by itself");
        assert_eq!(sessions.find_at("a", true, start + 88 * minute), None, "nobody was there for 30 minutes");
        sessions.open_at("c", KEY, start);
        sessions.close("c");
        assert_eq!(sessions.find_at("c", true, start), None);
        sessions.open_at("d", KEY, start);
        let busy = (1..30).map(|n| start + n * 25 * minute);
        let last = busy.take_while(|now| sessions.find_at("d", true, *now).is_some()).last();
        assert_eq!(last, Some(start + 28 * 25 * minute), "twelve hours are the most");
    }

    #[test]
    fn the_number_of_sessions_is_bounded_and_the_idlest_makes_room() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let at = |n: usize| start + Duration::from_millis(n as u64);
        for n in 0..SESSIONS_OF_A_KEY_MAX {
            sessions.open_at(&n.to_string(), KEY, at(n));
        }
        assert!(sessions.find_at("0", true, at(100)).is_some());
        sessions.open_at("more", KEY, at(101));
        assert!(
            sessions.find_at("0", true, at(102)).is_some() && sessions.find_at("1", true, at(102)).is_none()
        );
        for n in 0..SESSIONS_MAX {
            let key = Sha256::digest(n.to_be_bytes()).into();
            sessions.open_at(&format!("other {n}"), key, at(200 + n));
        }
        assert_eq!(sessions.all().len(), SESSIONS_MAX);
        assert!(sessions.find_at("more", true, at(200)).is_none());
    }
}
