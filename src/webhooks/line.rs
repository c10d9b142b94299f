//! What is known of one endpoint in memory: whether a courier is at work for it, and if not, up to which event nothing is due and what would be.

use super::{Webhooks, courier};
use crate::domain::events::EventKind;
use crate::domain::ids::Id;
use crate::domain::webhooks::Term;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// After so many events that were not due the endpoint's state is written all the same, so that a restart need not look at more.
pub const WRITE_EVERY: u64 = 10_000;

/// One endpoint.
pub struct Line {
    /// Whose.
    pub tenant: u64,
    /// Which.
    pub id: Id,
    duty: Mutex<Duty>,
    changed: AtomicBool,
    bell: Notify,
    newest: AtomicU64,
    position: AtomicU64,
}

/// Who looks after the endpoint.
enum Duty {
    /// A courier does; `rung` when something happened since it last looked.
    Working { rung: bool },
    /// Nobody: there is nothing to do.
    Resting(Rest),
}

/// What holds while there is nothing to do.
pub struct Rest {
    /// Up to which event nothing is due.
    pub position: u64,
    /// Up to which the log says so.
    pub written: u64,
    /// What would be due; `None` while nothing can be sent anyway, until the endpoint changes.
    pub term: Option<Term>,
}

impl Line {
    /// An endpoint that a courier is about to look after.
    pub fn new(tenant: u64, id: Id) -> Line {
        Line {
            tenant,
            id,
            duty: Mutex::new(Duty::Working { rung: false }),
            changed: AtomicBool::new(false),
            bell: Notify::new(),
            newest: AtomicU64::new(0),
            position: AtomicU64::new(0),
        }
    }

    /// The endpoint was changed, is to send something again, or is gone.
    pub fn change(self: &Arc<Self>, webhooks: &Arc<Webhooks>) {
        self.changed.store(true, Ordering::SeqCst);
        let mut duty = self.duty();
        self.wake(&mut duty, webhooks);
    }

    /// Events with these numbers happened.
    pub fn happened(self: &Arc<Self>, webhooks: &Arc<Webhooks>, numbers: &RangeInclusive<u64>, mut kinds: impl Iterator<Item = EventKind>) {
        let (first, last) = (*numbers.start(), *numbers.end());
        self.newest.fetch_max(last, Ordering::Relaxed);
        let mut duty = self.duty();
        if let Duty::Resting(rest) = &mut *duty {
            let Some(term) = &rest.term else { return };
            // The events before the term were due by others.
            let quiet = rest.position + 1 == first && first >= term.from && !kinds.any(|kind| term.is_due(kind));
            if quiet && last - rest.written < WRITE_EVERY {
                rest.position = last;
                self.position.store(last, Ordering::Relaxed);
                return;
            }
        }
        self.wake(&mut duty, webhooks);
    }

    fn wake(self: &Arc<Self>, duty: &mut Duty, webhooks: &Arc<Webhooks>) {
        match duty {
            Duty::Working { rung } => {
                *rung = true;
                self.bell.notify_one();
            }
            Duty::Resting(rest) => {
                let position = rest.position;
                *duty = Duty::Working { rung: false };
                courier::begin(webhooks, Arc::clone(self), position);
            }
        }
    }

    /// Has the courier look around, if there is one.
    pub fn look_up(&self) {
        self.bell.notify_one();
    }

    /// Waits until something happens.
    pub async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Whether something happened since the last call.
    pub fn take_rung(&self) -> bool {
        match &mut *self.duty() {
            Duty::Working { rung } => std::mem::take(rung),
            Duty::Resting(_) => false,
        }
    }

    /// Whether the endpoint was changed since the last [`Line::take_changed`].
    pub fn is_changed(&self) -> bool {
        self.changed.load(Ordering::SeqCst)
    }

    /// The same, once.
    pub fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::SeqCst)
    }

    /// The courier has nothing to do and goes, unless something happened meanwhile.
    pub fn rest(&self, rest: Rest) -> bool {
        let mut duty = self.duty();
        if self.is_changed() || matches!(*duty, Duty::Working { rung: true }) {
            return false;
        }
        self.reach(rest.position);
        *duty = Duty::Resting(rest);
        true
    }

    /// The courier has looked at the events up to this one.
    pub fn reach(&self, position: u64) {
        self.position.store(position, Ordering::Relaxed);
    }

    /// Up to which event nothing waits; 0 while a courier is at work.
    pub fn quiet_up_to(&self) -> u64 {
        match &*self.duty() {
            Duty::Working { .. } => 0,
            Duty::Resting(rest) => rest.position,
        }
    }

    /// Events that nobody looked at yet.
    pub fn behind(&self) -> u64 {
        self.newest.load(Ordering::Relaxed).saturating_sub(self.position.load(Ordering::Relaxed))
    }

    fn duty(&self) -> MutexGuard<'_, Duty> {
        self.duty.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
