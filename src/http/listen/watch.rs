//! What a connection does, and since when, for its time limits. Nothing here costs a timer per
//! request: the connection looks at its watch every now and then, and at least as often as heads
//! may take.

use super::Limits;
use crate::http::wiping::Secrets;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Seen by its stream, its requests and its time keeper.
#[derive(Debug)]
pub(super) struct Watch {
    opened: Instant,
    under_way: AtomicU32,
    /// While the bytes of a head come in.
    in_head: AtomicBool,
    /// Bytes may be pings there and say nothing about a head.
    is_http2: AtomicBool,
    /// Bytes may be left that nobody will read, so the connection has to linger before it closes.
    unread: AtomicBool,
    /// Of the present state, in ms since `opened`.
    since_ms: AtomicU64,
    /// With card data, to be zeroed when the connection is over.
    secrets: Arc<Secrets>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Later(Duration),
    Head,
    Idle,
}

impl Watch {
    /// The first head is due.
    pub(super) fn new() -> Self {
        Watch {
            opened: Instant::now(),
            under_way: AtomicU32::new(0),
            in_head: AtomicBool::new(true),
            is_http2: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            since_ms: AtomicU64::new(0),
            secrets: Arc::default(),
        }
    }

    /// Bytes begin a head after a rest.
    pub(super) fn received(&self) {
        let idle = self.under_way.load(Ordering::Relaxed) == 0 && !self.in_head.load(Ordering::Relaxed);
        if idle && !self.is_http2.load(Ordering::Relaxed) {
            self.in_head.store(true, Ordering::Relaxed);
            self.mark();
        }
    }

    /// A head is complete and its request is being answered until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>, is_http2: bool) -> UnderWay {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        self.in_head.store(false, Ordering::Relaxed);
        if is_http2 {
            self.is_http2.store(true, Ordering::Relaxed);
        }
        UnderWay(Arc::clone(self))
    }

    pub(super) fn secrets(&self) -> Arc<Secrets> {
        Arc::clone(&self.secrets)
    }

    pub(super) fn leave_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    pub(super) fn due(&self, limits: &Limits) -> Due {
        if self.under_way.load(Ordering::Relaxed) > 0 {
            return Due::Later(limits.head_timeout);
        }
        let in_head = self.in_head.load(Ordering::Relaxed);
        let allowed = if in_head { limits.head_timeout } else { limits.idle_timeout };
        let since = Duration::from_millis(self.since_ms.load(Ordering::Relaxed));
        let left = (since + allowed).saturating_sub(self.opened.elapsed());
        match (left.is_zero(), in_head) {
            (true, true) => Due::Head,
            (true, false) => Due::Idle,
            // A head may begin at any time, so no look is further away than a head may take.
            (false, _) => Due::Later(left.min(limits.head_timeout)),
        }
    }

    /// The present state begins now: also that a piece of an answer was taken.
    pub(super) fn mark(&self) {
        let ms = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since_ms.store(ms, Ordering::Relaxed);
    }
}

pub(super) struct UnderWay(Arc<Watch>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.mark();
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(head_ms: u64, idle_ms: u64) -> Limits {
        Limits {
            head_timeout: Duration::from_millis(head_ms),
            idle_timeout: Duration::from_millis(idle_ms),
            ..Limits::default()
        }
    }

    #[test]
    fn the_first_head_is_due_from_the_start() {
        let watch = Watch::new();
        assert!(
            matches!(watch.due(&limits(1_000, 9_000)), Due::Later(left) if left <= Duration::from_secs(1))
        );
        assert_eq!(watch.due(&limits(0, 9_000)), Due::Head);
    }

    #[test]
    fn between_requests_it_idles_and_the_first_byte_starts_a_head() {
        let watch = Arc::new(Watch::new());
        let request = watch.begin(false);
        assert_eq!(watch.due(&limits(5, 0)), Due::Later(Duration::from_millis(5)));
        watch.received();
        drop(request);
        assert_eq!(watch.due(&limits(5, 0)), Due::Idle);
        assert_eq!(watch.due(&limits(5, 9_000)), Due::Later(Duration::from_millis(5)));
        watch.received();
        assert_eq!(watch.due(&limits(0, 9_000)), Due::Head);
    }

    #[test]
    fn pings_are_no_heads() {
        let watch = Arc::new(Watch::new());
        drop(watch.begin(true));
        watch.received();
        assert!(matches!(watch.due(&limits(0, 9_000)), Due::Later(_)));
        assert_eq!(watch.due(&limits(0, 0)), Due::Idle);
    }
}
