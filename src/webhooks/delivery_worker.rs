//! Looks after one endpoint while there is work: reads what is due from the log, starts deliveries
//! in order, a few at a time, and has their outcomes written, many in one record. Events are read
//! before the endpoint's state, so that the terms of their moment are known; an event counts as
//! done (`reached`) only when its outcome is in the same record or it is among the `open`. So what
//! has no outcome after a crash is sent again, and only that.

use super::backlog::{self, Happened};
use super::endpoint_queue::{EndpointQueue, Rest, WRITE_EVERY};
use super::pace;
use super::post::{Message, Sent};
use super::secret::Signing;
use super::{Tenants, Webhooks, has_older_signature};
use crate::store::history::{self, Unreadable};
use actors::Failure;
use api::events::{TenantMode, envelope};
use domain::entities::Entity;
use domain::entities::webhook::{Delivered, Resend, Webhook, first_delivery};
use domain::refusal::Refusal;
use domain::resources::webhooks;
use domain::resources::webhooks::Progress;
use domain::values::ids::{EntityId, Id};
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::future::pending;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{AcquireError, OwnedSemaphorePermit};
use tokio::task::{JoinError, JoinSet, yield_now};
use tokio::time::{Instant, sleep, sleep_until};

/// On their way at once to one endpoint (`docs/contract.md, 13.3`).
const WINDOW: usize = 8;
/// Before it is known whether the endpoint answers at all: unknown endpoints must not fill the
/// server with waiting.
const WINDOW_UNKNOWN: usize = 2;
/// The next delivery starts then although the last was not answered: deliveries arrive in order
/// too, and an endpoint that thinks for a while is still served by several.
const HEAD_START: Duration = Duration::from_millis(10);
/// From this latency on an endpoint is slow and shares its places with others like it.
const SLOW_MS: u32 = 2_000;
const PAGE: usize = 64;
/// Written with those that come soon after them (see [`Webhooks::write_after`]).
const WRITE_AT: usize = 256;
/// Before a write that was refused for want of room is tried again, and before a delivery worker
/// that broke off is replaced.
const PAUSE: Duration = Duration::from_millis(200);
const ROOM_PAUSE: Duration = Duration::from_secs(1);
/// Between two tries to have outcomes written while the tenant's book is halted.
const HALTED_PAUSE: Duration = Duration::from_secs(5);
const TERMS_KEPT: usize = 8;

/// The time between two new deliveries to an endpoint at which too many wait to be tried again; what is not sent
/// yet waits in the log.
const PROBE_EVERY: Duration = Duration::from_secs(60);

/// With the event's number, if it was delivered for the first time.
type Ended = (Delivered, Option<u64>);

type PermitFuture = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

pub(super) struct DeliveryWorker {
    webhooks: Arc<Webhooks>,
    tenants: Arc<dyn Tenants>,
    queue: Arc<EndpointQueue>,
    mode: TenantMode,
    webhook: Webhook,
    signing: Signing,
    /// Up to here every event was started or is not due.
    position: u64,
    again: VecDeque<Happened>,
    pending: VecDeque<Happened>,
    read_to: u64,
    at_end: bool,
    posting: JoinSet<Ended>,
    /// Until then only the delivery that was started last may be on its way to arrive.
    next_start: Instant,
    open: BTreeSet<u64>,
    resent: HashSet<Id>,
    unwritten: Vec<Delivered>,
    write_at: Instant,
    known: bool,
    slow: bool,
    failing: bool,
    /// Before that no event is delivered for the first time.
    next_first: Instant,
}

impl DeliveryWorker {
    pub(super) fn new(
        webhooks: Arc<Webhooks>,
        tenants: Arc<dyn Tenants>,
        queue: Arc<EndpointQueue>,
        position: u64,
    ) -> Result<Option<DeliveryWorker>, Unreadable> {
        // Changes from before are part of the state that is read next.
        queue.changed.store(false, Ordering::SeqCst);
        let (Some(webhook), Some(mode)) = (load(&*tenants, &queue)?, tenants.mode_of(queue.tenant)) else {
            return Ok(None);
        };
        let mut again = VecDeque::new();
        for number in &webhook.open {
            again.extend(backlog::numbered(tenants.engine().reader(), queue.tenant, *number)?);
        }
        let position = position.max(webhook.reached);
        queue.position.store(position, Ordering::Relaxed);
        Ok(Some(DeliveryWorker {
            signing: tenants.signing(queue.tenant, &webhook),
            open: webhook.open.iter().copied().collect(),
            // The newest outcome says how deliveries to the endpoint go.
            known: !webhook.outcomes.is_empty(),
            slow: webhook.outcomes.last().is_some_and(|last| last.latency_ms >= SLOW_MS),
            failing: webhook.outcomes.last().is_some_and(|last| last.error.is_some()),
            next_first: Instant::now(),
            webhooks,
            tenants,
            queue,
            mode,
            webhook,
            position,
            again,
            pending: VecDeque::new(),
            read_to: position,
            at_end: false,
            posting: JoinSet::new(),
            next_start: Instant::now(),
            resent: HashSet::new(),
            unwritten: Vec::new(),
            write_at: Instant::now(),
        }))
    }

    pub(super) async fn work(mut self) {
        let mut place: Option<PermitFuture> = None;
        loop {
            match self.look() {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => return,
                Err(error) => {
                    tracing::error!(tenant = self.queue.tenant, webhook = %self.queue.id, %error, "events cannot be read; deliveries wait for the next start");
                    return;
                }
            }
            let wants = self.wants();
            if !wants {
                place = None;
                let waits = self.holds_first_back() || self.waits_for_room();
                if self.posting.is_empty() && !self.is_reading() && !waits {
                    match self.settle().await {
                        ControlFlow::Continue(()) => continue,
                        ControlFlow::Break(()) => return,
                    }
                }
            } else if place.is_none() {
                let lane = Arc::clone(if self.slow { &self.webhooks.slow } else { &self.webhooks.quick });
                let (webhooks, tenants) = (Arc::clone(&self.webhooks), Arc::clone(&self.tenants));
                place = Some(Box::pin(async move {
                    pace::keep(|| webhooks.others_under_way(&*tenants)).await;
                    lane.acquire_owned().await
                }));
            }
            if self.unwritten.len() >= WRITE_AT && self.write().await.is_break() {
                return;
            }
            tokio::select! {
                biased;
                Some(outcome) = self.posting.join_next(), if !self.posting.is_empty() => self.note(outcome),
                Ok(permit) = async { match &mut place { Some(place) => place.await, None => pending().await } } => {
                    place = None;
                    self.start(permit);
                }
                () = sleep_until(self.write_at), if !self.unwritten.is_empty() => {
                    if self.write().await.is_break() {
                        return;
                    }
                }
                () = sleep_until(self.next_start), if self.has_work() && self.holds_back() => {}
                () = sleep_until(self.next_first), if self.holds_first_back() => {}
                () = sleep(ROOM_PAUSE), if self.waits_for_room() => {}
                () = self.queue.wake_up.notified() => {}
                // A page at a time: others want to read too.
                () = yield_now(), if self.is_reading() => {}
            }
        }
    }

    fn is_reading(&self) -> bool {
        self.pending.is_empty() && !self.at_end && !self.webhooks.is_stopping()
    }

    /// Reads what changed, and reads on in the log. Breaks when the endpoint is gone.
    fn look(&mut self) -> Result<ControlFlow<()>, Unreadable> {
        if self.queue.changed.swap(false, Ordering::SeqCst) {
            if !self.webhooks.is_current(&self.queue) || !self.reload()? {
                return Ok(ControlFlow::Break(()));
            }
            self.pending.clear();
            self.position = self.position.max(self.webhook.reached);
            (self.read_to, self.at_end) = (self.position, false);
        }
        // While enough is waiting, a wake-up stays pending, and further ones are not kept.
        if self.at_end
            && self.pending.is_empty()
            && self.posting.len() < self.window()
            && self.queue.woken.swap(false, Ordering::SeqCst)
        {
            self.at_end = false;
        }
        if self.pending.is_empty() {
            self.position = self.read_to;
            self.queue.position.store(self.position, Ordering::Relaxed);
        }
        if self.is_reading() {
            let page = backlog::after(self.tenants.engine().reader(), self.queue.tenant, self.read_to, PAGE)?;
            self.at_end = page.len() < PAGE;
            let Some(last) = page.last() else { return Ok(ControlFlow::Continue(())) };
            self.read_to = last.number();
            // Read after the events: changes before the last of them are in the endpoint's state
            // that is read now.
            if !self.reload()? {
                return Ok(ControlFlow::Break(()));
            }
            self.pending.extend(
                page.into_iter().filter(|happened| self.webhook.is_due(happened.number(), happened.kind())),
            );
        }
        Ok(ControlFlow::Continue(()))
    }

    fn reload(&mut self) -> Result<bool, Unreadable> {
        let Some(webhook) = load(&*self.tenants, &self.queue)? else { return Ok(false) };
        self.learn(webhook);
        Ok(true)
    }

    fn learn(&mut self, webhook: Webhook) {
        let signed_by =
            |webhook: &Webhook| (webhook.secret_version, webhook.signature, webhook.older_secrets.clone());
        if signed_by(&webhook) != signed_by(&self.webhook) {
            self.signing = self.tenants.signing(self.queue.tenant, &webhook);
        }
        self.resent.retain(|id| webhook.resends.iter().any(|resend| resend.delivery == *id));
        // Nothing is outstanding that the state has left behind: its book began anew.
        let is_left = |number: u64| number <= webhook.reached && !webhook.open.contains(&number);
        self.open.retain(|number| !is_left(*number));
        self.again.retain(|happened| !is_left(happened.number()));
        self.webhook = webhook;
    }

    fn may_send(&self) -> bool {
        self.is_open() && self.has_room()
    }

    fn has_room(&self) -> bool {
        self.tenants.has_room(self.queue.tenant)
    }

    fn waits_for_room(&self) -> bool {
        self.has_due() && self.is_open() && !self.has_room()
    }

    fn is_open(&self) -> bool {
        self.webhook.is_enabled()
            && self.webhooks.may_send(self.mode.livemode)
            && !self.webhooks.is_stopping()
    }

    fn has_due(&self) -> bool {
        self.has_first() || self.resend().is_some()
    }

    fn has_first(&self) -> bool {
        !self.again.is_empty() || !self.pending.is_empty()
    }

    fn resend(&self) -> Option<Resend> {
        self.webhook.resends.iter().find(|resend| !self.resent.contains(&resend.delivery)).copied()
    }

    fn holds_first_back(&self) -> bool {
        self.has_first() && self.may_send() && self.is_early()
    }

    fn is_early(&self) -> bool {
        self.webhook.is_flooded(self.failing) && Instant::now() < self.next_first
    }

    fn window(&self) -> usize {
        match self.known {
            _ if self.webhook.is_flooded(self.failing) => 1,
            true => WINDOW,
            false => WINDOW_UNKNOWN,
        }
    }

    fn wants(&self) -> bool {
        self.has_work() && !self.holds_back()
    }

    fn has_work(&self) -> bool {
        let has_some = self.resend().is_some() || self.has_first() && !self.is_early();
        self.posting.len() < self.window() && self.may_send() && has_some
    }

    fn holds_back(&self) -> bool {
        !self.posting.is_empty() && Instant::now() < self.next_start
    }

    /// While nothing is on its way and nothing can be started, writes outcomes that wait, then
    /// rests if nothing happened meanwhile. Breaks when the work is over.
    async fn settle(&mut self) -> ControlFlow<()> {
        let behind = self.position - self.webhook.reached;
        let outgrown = behind > 0 && self.webhook.terms.len() > TERMS_KEPT;
        if !self.unwritten.is_empty() || behind >= WRITE_EVERY || outgrown {
            return self.write().await;
        }
        if self.webhooks.is_stopping() {
            return ControlFlow::Break(());
        }
        // While deliveries must wait, nothing matters until the endpoint changes.
        let term = if self.has_due() {
            self.queue.woken.store(false, Ordering::SeqCst);
            None
        } else {
            self.webhook.term().cloned()
        };
        if self.queue.rest(Rest { position: self.position, written: self.webhook.reached, term }) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn start(&mut self, permit: OwnedSemaphorePermit) {
        // A change since the last look is dealt with by the next one.
        if self.queue.changed.load(Ordering::SeqCst) || !self.wants() {
            return;
        }
        let again = if self.is_early() { None } else { self.again.pop_front() };
        let resend = self.resend().filter(|_| again.is_none());
        let (id, created_at, event, attempt, happened, first) = match resend {
            Some(Resend { delivery, event, created_at, attempt }) => {
                self.resent.insert(delivery);
                let (reader, tenant) = (self.tenants.engine().reader(), self.queue.tenant);
                (delivery, created_at, event, attempt, backlog::numbered(reader, tenant, event.number), None)
            }
            None => {
                let Some(happened) = again.or_else(|| self.pending.pop_front()) else { return };
                let number = happened.number();
                self.open.insert(number);
                self.position = self.position.max(number);
                let time = happened.read.time;
                let id = first_delivery(self.webhook.id, number, time);
                (id, time, happened.event(), 1, Ok(Some(happened)), Some(number))
            }
        };
        let delivered = move |Sent { http_status, latency_ms, error }: Sent| {
            (Delivered { id, event, created_at, http_status, latency_ms, error, attempt }, first)
        };
        let body = happened
            .ok()
            .flatten()
            .and_then(|happened| envelope(&happened.read.record, happened.read.time, happened.n, self.mode));
        let Some(body) = body else {
            tracing::error!(tenant = self.queue.tenant, event = %event.id, "an event cannot be read, and so not be delivered");
            self.posting.spawn(async move { delivered(Sent::failed("the event could not be read")) });
            return;
        };
        let message = Message {
            url: self.webhook.url.clone(),
            livemode: self.mode.livemode,
            event: event.id,
            sequence: Some(event.number),
            attempt,
            older_signature: has_older_signature(event.kind.name()),
            body,
            signing: self.signing.clone(),
        };
        let webhooks = Arc::clone(&self.webhooks);
        self.next_start = Instant::now() + HEAD_START;
        self.posting.spawn(async move {
            let _permit = permit;
            let _counted = Counted::new(&webhooks, |webhooks| &webhooks.counters.under_way);
            delivered(webhooks.post(message).await)
        });
    }

    fn note(&mut self, outcome: Result<Ended, JoinError>) {
        // A delivery that broke off has no outcome: a delivery worker that begins again sends it again.
        let (delivered, first) = outcome.unwrap_or_else(|error| panic!("a delivery broke off: {error}"));
        let counter = if delivered.error.is_none() {
            &self.webhooks.counters.delivered
        } else {
            &self.webhooks.counters.failed
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.known = true;
        self.slow = delivered.latency_ms >= SLOW_MS;
        self.failing = delivered.error.is_some();
        self.next_first = Instant::now() + PROBE_EVERY;
        if let Some(number) = first {
            self.open.remove(&number);
        }
        if self.unwritten.is_empty() {
            self.write_at = Instant::now() + self.webhooks.write_after();
        }
        self.unwritten.push(delivered);
    }

    /// Breaks when the endpoint is gone or nothing more can be written.
    async fn write(&mut self) -> ControlFlow<()> {
        loop {
            let progress = Progress {
                outcomes: self.unwritten.clone(),
                reached: self.position,
                open: self.open.iter().copied().collect(),
            };
            let command = webhooks::Command::Progress(Box::new(progress));
            let counted = Counted::new(&self.webhooks, |webhooks| &webhooks.writing);
            let (tenant, id) = (self.queue.tenant, EntityId::webhook(self.queue.id));
            let engine = self.tenants.engine();
            let outcome = engine.ask_entity(tenant, id, false, command.into(), None, None).await;
            drop(counted);
            match outcome {
                Ok(settled) => {
                    let Some(Entity::Webhook(webhook)) =
                        settled.entity.as_deref().filter(|_| settled.refusal != Some(Refusal::NotFound))
                    else {
                        return ControlFlow::Break(());
                    };
                    for delivered in self.unwritten.drain(..).filter(Delivered::is_exhausted) {
                        tracing::warn!(tenant = self.queue.tenant, webhook = %self.queue.id, event = %delivered.event.id,
                            tries = delivered.attempt, error = delivered.error, "webhook.exhausted: an event was given up");
                    }
                    self.learn(webhook.clone());
                    return ControlFlow::Continue(());
                }
                Err(Failure::Overloaded | Failure::ShareFull) => sleep(PAUSE).await,
                // The endpoint goes on under what its book kept; outcomes of before are nobody's.
                Err(Failure::Reset) => {
                    match self.reload() {
                        Ok(true) => {}
                        Ok(false) => return ControlFlow::Break(()),
                        Err(error) => {
                            tracing::error!(tenant = self.queue.tenant, webhook = %self.queue.id, %error, "an endpoint cannot be read; its deliveries wait for the next start");
                            return ControlFlow::Break(());
                        }
                    }
                    sleep(PAUSE).await;
                }
                // The outcomes wait until the tenant's book goes on.
                Err(Failure::Halted) => sleep(HALTED_PAUSE).await,
                // A delivery without an outcome is sent again after the next start, or where its tenant has gone.
                Err(Failure::ShuttingDown | Failure::Storage(_) | Failure::Elsewhere) => {
                    return ControlFlow::Break(());
                }
                Err(failure @ (Failure::Defect(_) | Failure::TooLarge)) => {
                    let why = match &failure {
                        Failure::Defect(why) => why.as_str(),
                        _ => "they are more than one record takes",
                    };
                    tracing::error!(tenant = self.queue.tenant, webhook = %self.queue.id, why, "outcomes cannot be written; deliveries wait for the next start");
                    return ControlFlow::Break(());
                }
            }
        }
    }
}

fn load(tenants: &dyn Tenants, queue: &EndpointQueue) -> Result<Option<Webhook>, Unreadable> {
    match history::entity(tenants.engine().reader(), queue.tenant, EntityId::webhook(queue.id))?.as_deref() {
        Some(Entity::Webhook(webhook)) => Ok(Some(webhook.clone())),
        _ => Ok(None),
    }
}

/// Replaces a delivery worker that breaks off: its deliveries under way have no outcome and are sent again.
pub(super) struct Presence {
    webhooks: Arc<Webhooks>,
    queue: Arc<EndpointQueue>,
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
                webhooks.begin(queue, 0);
            });
        }
    }
}

struct Counted {
    webhooks: Arc<Webhooks>,
    counter: fn(&Webhooks) -> &AtomicUsize,
}

impl Counted {
    fn new(webhooks: &Arc<Webhooks>, counter: fn(&Webhooks) -> &AtomicUsize) -> Counted {
        counter(webhooks).fetch_add(1, Ordering::Relaxed);
        Counted { webhooks: Arc::clone(webhooks), counter }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.counter)(&self.webhooks).fetch_sub(1, Ordering::Relaxed);
    }
}
