//! The counters of delivery workers, and the guards that count.

use super::*;

/// Replaces a delivery worker that breaks off: its deliveries under way have no outcome and are sent again.
pub(super) struct Presence {
    pub(super) webhooks: Arc<Webhooks>,
    pub(super) queue: Arc<EndpointQueue>,
}

impl Presence {
    pub(super) fn new(webhooks: &Arc<Webhooks>, queue: &Arc<EndpointQueue>) -> Presence {
        webhooks.delivery_workers.fetch_add(1, Ordering::SeqCst);
        Presence { webhooks: Arc::clone(webhooks), queue: Arc::clone(queue) }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.webhooks.delivery_workers.fetch_sub(1, Ordering::SeqCst);
        if std::thread::panicking() {
            tracing::error!(tenant = self.queue.tenant, webhook = %self.queue.id, "deliveries to an endpoint \
                broke off; they begin again");
            let (webhooks, queue) = (Arc::clone(&self.webhooks), Arc::clone(&self.queue));
            self.webhooks.spawner.spawn(async move {
                sleep(PAUSE).await;
                begin(&webhooks, queue, 0);
            });
        }
    }
}

/// A delivery on its way, outcomes being written. The count is right also when the work is cut off.
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
