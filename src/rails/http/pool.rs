//! Connections that are open and unused, by where they lead, for a short time.
//!
//! The newest is taken first, so that a burst's connections grow old and are closed. It must not know
//! what is sent.

use super::connection::Connection;
use hyper::Uri;
use hyper::http::uri::{Authority, Scheme};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// An unused connection is kept so long: shorter than banks keep theirs, so that no order is
/// written into one that is being closed.
const IDLE: Duration = Duration::from_secs(5);

/// The place that a connection leads to.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Origin(Scheme, Authority);

impl Origin {
    /// The origin of an address; relative ones have none.
    pub fn of(uri: &Uri) -> Option<Origin> {
        Some(Origin(uri.scheme()?.clone(), uri.authority()?.clone()))
    }

    pub fn scheme(&self) -> &Scheme {
        &self.0
    }
}

/// The unused connections of a client.
#[derive(Default)]
pub struct Pool {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The unused connections of each origin, the newest last; an origin without any is not here.
    by_origin: HashMap<Origin, Vec<Unused>>,
    /// Whether a task closes those that have become old.
    is_swept: bool,
}

struct Unused {
    since: Instant,
    connection: Connection,
}

impl Pool {
    /// Takes the newest connection that the other side has not closed.
    pub fn take(&self, origin: &Origin) -> Option<Connection> {
        loop {
            let Unused { since, mut connection } = self.pop(origin)?;
            if since.elapsed() < IDLE && connection.is_silent() {
                return Some(connection);
            }
        }
    }

    /// Keeps a connection.
    pub fn put(self: &Arc<Self>, origin: Origin, connection: Connection) {
        let unused = Unused { since: Instant::now(), connection };
        let mut kept = self.kept();
        kept.by_origin.entry(origin).or_default().push(unused);
        if !kept.is_swept {
            kept.is_swept = true;
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }

    fn pop(&self, origin: &Origin) -> Option<Unused> {
        let mut kept = self.kept();
        let unused = kept.by_origin.get_mut(origin)?;
        let newest = unused.pop();
        if unused.is_empty() {
            kept.by_origin.remove(origin);
        }
        newest
    }

    /// Closes those that have been unused for too long; whether others are left.
    fn close_old(&self) -> bool {
        let mut old = Vec::new();
        let mut kept = self.kept();
        kept.by_origin.retain(|_, unused| {
            let old_ones = unused.partition_point(|unused| unused.since.elapsed() >= IDLE);
            old.extend(unused.drain(..old_ones));
            unused.shrink_to_fit();
            !unused.is_empty()
        });
        kept.is_swept = !kept.by_origin.is_empty();
        let is_swept = kept.is_swept;
        // Sockets are closed without the lock.
        drop(kept);
        drop(old);
        is_swept
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes old connections until there are no more.
async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE).await;
        match pool.upgrade() {
            Some(pool) if pool.close_old() => {}
            _ => return,
        }
    }
}
