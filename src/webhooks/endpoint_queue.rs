//! One endpoint in memory: whether a delivery worker is at work for it, and if not, up to which
//! event nothing is due and what would be.

use super::Webhooks;
use domain::entities::webhook::Term;
use domain::events::EventKind;
use domain::values::ids::Id;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// After so many events that were not due the endpoint's state is written all the same, so that a
/// restart need not look at more.
pub const WRITE_EVERY: u64 = 10_000;

pub struct EndpointQueue {
    pub tenant: u64,
    pub id: Id,
    pub woken: AtomicBool,
    /// No delivery worker is at work, or one is about to end; then `rest` says more. Otherwise the
    /// writer of the log touches no lock here: delivery workers have a low priority, and one that
    /// is interrupted with a lock in hand would keep everybody waiting.
    resting: AtomicBool,
    rest: Mutex<Option<Rest>>,
    pub changed: AtomicBool,
    pub wake_up: Notify,
    newest: AtomicU64,
    pub position: AtomicU64,
}

pub struct Rest {
    pub position: u64,
    pub written: u64,
    /// `None` while nothing can be sent anyway, until the endpoint changes.
    pub term: Option<Term>,
}

impl EndpointQueue {
    pub fn new(tenant: u64, id: Id) -> EndpointQueue {
        EndpointQueue {
            tenant,
            id,
            woken: AtomicBool::new(false),
            resting: AtomicBool::new(false),
            rest: Mutex::new(None),
            changed: AtomicBool::new(false),
            wake_up: Notify::new(),
            newest: AtomicU64::new(0),
            position: AtomicU64::new(0),
        }
    }

    pub fn change(self: &Arc<Self>, webhooks: &Arc<Webhooks>) {
        self.changed.store(true, Ordering::SeqCst);
        // The notification is sent also if it was woken before and has not looked yet: the change
        // is not to wait until a delivery ends.
        self.wake_up.notify_one();
        if self.wake()
            && let Some(rest) = self.resting().take()
        {
            self.begin(webhooks, &rest);
        }
    }

    pub fn happened(
        self: &Arc<Self>,
        webhooks: &Arc<Webhooks>,
        numbers: &RangeInclusive<u64>,
        mut kinds: impl Iterator<Item = EventKind>,
    ) {
        let (first, last) = (*numbers.start(), *numbers.end());
        self.newest.store(last, Ordering::Relaxed);
        if !self.resting.load(Ordering::SeqCst) && !self.wake() {
            return;
        }
        let mut resting = self.resting();
        let Some(rest) = resting.as_mut() else { return };
        let Some(term) = &rest.term else { return };
        // Events before the term were due by other terms.
        let quiet = rest.position + 1 == first && first >= term.from && !kinds.any(|kind| term.is_due(kind));
        if quiet && last - rest.written < WRITE_EVERY {
            rest.position = last;
            self.position.store(last, Ordering::Relaxed);
        } else if let Some(rest) = resting.take() {
            self.begin(webhooks, &rest);
        }
    }

    /// True if there may be no delivery worker: one that is ending sees that it was woken, or else
    /// this sees that it was ending.
    fn wake(&self) -> bool {
        if !self.woken.swap(true, Ordering::SeqCst) {
            self.wake_up.notify_one();
        }
        self.resting.load(Ordering::SeqCst)
    }

    fn begin(self: &Arc<Self>, webhooks: &Arc<Webhooks>, rest: &Rest) {
        self.resting.store(false, Ordering::SeqCst);
        webhooks.begin(Arc::clone(self), rest.position);
    }

    pub fn rest(&self, rest: Rest) -> bool {
        let mut resting = self.resting();
        self.resting.store(true, Ordering::SeqCst);
        if self.woken.load(Ordering::SeqCst) || self.changed.load(Ordering::SeqCst) {
            self.resting.store(false, Ordering::SeqCst);
            return false;
        }
        self.position.store(rest.position, Ordering::Relaxed);
        *resting = Some(rest);
        true
    }

    /// Nothing waits up to this event; 0 while a delivery worker is at work.
    pub fn quiet_up_to(&self) -> u64 {
        self.resting().as_ref().map_or(0, |rest| rest.position)
    }

    pub fn behind(&self) -> u64 {
        self.newest.load(Ordering::Relaxed).saturating_sub(self.position.load(Ordering::Relaxed))
    }

    fn resting(&self) -> MutexGuard<'_, Option<Rest>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
