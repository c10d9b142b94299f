//! Connections that are open and unused. An order that is written into a connection which the other
//! side is closing is lost, and nobody can tell whether it was carried out. So a connection is used
//! again only within a time that is shorter than the other side's: the configured one, half of what
//! its `Keep-Alive` says, and none where it closed the last one without a word, or where nothing is
//! known of it yet. One that stays open unused for a while shows that the other side keeps them.
//! The newest is taken first, so that a burst's connections grow old and are closed.

use super::connection::Connection;
use hyper::header::HeaderMap;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Open for so long after an answer shows that the other side keeps connections.
const KEPT: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(20);

pub struct Pool {
    idle: Duration,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    origins: HashMap<String, AtOrigin>,
    is_swept: bool,
}

#[derive(Default)]
struct AtOrigin {
    unused: Vec<Unused>,
    keeps: bool,
}

struct Unused {
    since: Instant,
    until: Instant,
    connection: Connection,
}

impl Pool {
    pub fn new(idle: Duration) -> Pool {
        Pool { idle, kept: Mutex::default() }
    }

    pub fn take(&self, origin: &str) -> Option<Connection> {
        let mut kept = self.kept();
        let at = kept.origins.get_mut(origin).filter(|at| at.keeps)?;
        let Unused { until, mut connection, .. } = at.unused.pop()?;
        if until <= Instant::now() {
            return None;
        }
        if !connection.is_silent() {
            at.keeps = false;
            return None;
        }
        Some(connection)
    }

    pub fn put(self: &Arc<Self>, origin: String, connection: Connection, headers: &HeaderMap) {
        let idle = announced(headers).map_or(self.idle, |announced| announced.min(self.idle));
        if idle.is_zero() {
            return;
        }
        let since = Instant::now();
        let unused = Unused { since, until: since + idle, connection };
        let mut kept = self.kept();
        kept.origins.entry(origin).or_default().unused.push(unused);
        if !kept.is_swept {
            kept.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    pub fn note_closed(&self, origin: &str) {
        if let Some(at) = self.kept().origins.get_mut(origin) {
            at.keeps = false;
        }
    }

    fn look(&self) -> bool {
        let (now, mut out) = (Instant::now(), Vec::new());
        let mut kept = self.kept();
        kept.origins.retain(|_, at| {
            let (mut stays, mut ended) = (false, false);
            let is_out = |unused: &mut Unused| {
                let (is_over, is_silent) = (unused.until <= now, unused.connection.is_silent());
                stays |= is_silent && (is_over || unused.since + KEPT <= now);
                ended |= !is_silent && !is_over;
                is_over || !is_silent
            };
            out.extend(at.unused.extract_if(.., is_out));
            at.keeps = (at.keeps || stays) && !ended;
            at.unused.shrink_to_fit();
            at.keeps || !at.unused.is_empty()
        });
        kept.is_swept = kept.origins.values().any(|at| !at.unused.is_empty());
        let is_swept = kept.is_swept;
        // Sockets are closed without the lock.
        drop(kept);
        drop(out);
        is_swept
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(LOOK).await;
        match pool.upgrade() {
            Some(pool) if pool.look() => {}
            _ => return,
        }
    }
}

/// Half of the time for which the other side says that it keeps a connection: the other half is for
/// the way of the answer and of what is sent next. None where it says that it was the last.
fn announced(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get("keep-alive")?.to_str().ok()?.to_ascii_lowercase();
    let number = |wanted: &str| {
        value.split(',').filter_map(|member| member.split_once('=')).find_map(|(name, number)| {
            (name.trim() == wanted).then(|| number.trim().trim_matches('"').parse::<u32>().ok())?
        })
    };
    if number("max") == Some(0) {
        return Some(Duration::ZERO);
    }
    number("timeout").map(|seconds| Duration::from_secs(seconds.into()) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_the_other_side_says() {
        for (value, ms) in [
            ("timeout=5", Some(2_500)),
            ("timeout=1, max=100", Some(500)),
            ("Max=7,  Timeout = \"2\"", Some(1_000)),
            ("timeout=0", Some(0)),
            ("timeout=5, max=0", Some(0)),
            ("max=5", None),
            ("timeout=soon", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(
                "keep-alive".parse().expect("a name"),
                value.parse().expect("a value"),
            )]);
            assert_eq!(announced(&headers), ms.map(Duration::from_millis), "{value}");
        }
        assert_eq!(announced(&HeaderMap::new()), None);
    }
}
