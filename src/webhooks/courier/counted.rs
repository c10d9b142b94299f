//! What is counted while a courier lives or waits.

use super::*;

/// Counts a courier, and replaces one that breaks off: what it had on its way has no outcome and is
/// sent again.
pub(super) struct Presence {
    pub(super) webhooks: Arc<Webhooks>,
    pub(super) line: Arc<Line>,
}

impl Presence {
    pub(super) fn new(webhooks: &Arc<Webhooks>, line: &Arc<Line>) -> Presence {
        webhooks.couriers.fetch_add(1, Ordering::SeqCst);
        Presence { webhooks: Arc::clone(webhooks), line: Arc::clone(line) }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.webhooks.couriers.fetch_sub(1, Ordering::SeqCst);
        if std::thread::panicking() {
            tracing::error!(tenant = self.line.tenant, webhook = %self.line.id, "deliveries to an endpoint broke off; they begin again");
            let (webhooks, line) = (Arc::clone(&self.webhooks), Arc::clone(&self.line));
            self.webhooks.spawner.spawn(async move {
                sleep(PAUSE).await;
                begin(&webhooks, line, 0);
            });
        }
    }
}

/// One of those that are counted while they last: a delivery on its way, outcomes being written.
/// Also when it is cut off.
pub(super) struct Counted {
    pub(super) webhooks: Arc<Webhooks>,
    pub(super) counter: fn(&Webhooks) -> &AtomicUsize,
}

impl Counted {
    pub(super) fn new(webhooks: &Arc<Webhooks>, counter: fn(&Webhooks) -> &AtomicUsize) -> Counted {
        counter(webhooks).fetch_add(1, Ordering::Relaxed);
        Counted { webhooks: Arc::clone(webhooks), counter }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.counter)(&self.webhooks).fetch_sub(1, Ordering::Relaxed);
    }
}
