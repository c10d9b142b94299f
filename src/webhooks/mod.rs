//! Delivers events to webhook endpoints (`docs/contract.md, 13.3`). Pending deliveries are in the
//! log: an endpoint's entity says how far its deliveries are and which events were due to it when
//! (`domain/resources/webhooks`). A record that somebody waits for wakes the endpoint's
//! [`EndpointQueue`] as soon as it is durable; a [`delivery_worker`] then reads the log from where
//! the endpoint is, posts, and has the outcomes written into the entity. An endpoint without work
//! costs a few words of memory, and a tenant without endpoints nothing at all.
//!
//! All of it runs on threads of its own with a low priority, which keep to a share of their time
//! while payments need the processors ([`pace`]). What an event says is in `src/api/events/`, and
//! rules about endpoints are the domain's.

pub mod backlog;
mod connection;
mod delivery_worker;
mod endpoint_queue;
pub mod names;
mod pace;
pub mod post;
pub mod secret;

use crate::outbound::Outbound;
use crate::store::history::Unreadable;
use crate::webhooks::secret::{Secret, Signing};
use actors::{Clock, Engine};
use api::events::TenantMode;
use api::webhooks::targets::is_public;
use dashmap::DashMap;
use delivery_worker::{DeliveryWorker, Presence};
use domain::cause::Cause;
use domain::entities::Entity;
use domain::entities::webhook::Webhook;
use domain::index;
use domain::machine::Domain;
use domain::record::Record;
use domain::values::ids::{Id, Kind, is_live};
use endpoint_queue::EndpointQueue;
use names::Lookups;
pub use post::WebhooksError;
use post::{HeaderNames, Poster, Sent};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::Semaphore;
use url::{Host, Url};

const QUICK_MAX: usize = 512;
/// On their way at once to slow endpoints: those of dead ones wait for each other, and for nobody else.
const SLOW_MAX: usize = 256;
/// As many as a tenant in a mode may have endpoints. A dead one keeps its place for ten seconds,
/// and only its own tenant waits for it.
const TRIES_PER_TENANT_MAX: usize = 20;
const TRIES_MAX: usize = 512;
/// Below the ten seconds that an endpoint has, so that the caller is not kept for twice as long.
const TRY_PATIENCE: Duration = Duration::from_secs(5);
pub const NICENESS: i32 = 10;
const WRITE_AFTER: Duration = Duration::from_millis(40);
/// Beyond so many each writes more rarely, so that all of them together burden the log no more than these.
const WRITERS: usize = 8;
const WRITE_AFTER_MAX: Duration = Duration::from_millis(400);
const STOP_EVERY: Duration = Duration::from_millis(5);
const LOOKUP: Duration = Duration::from_secs(3);

pub struct Options {
    pub allow_private_targets: bool,
    pub extra_ca_file: Option<PathBuf>,
    pub header_names: HeaderNames,
    /// Keeps a restored copy from sending live events before it has taken over.
    pub outbound: Outbound,
    pub clock: Clock,
}

pub trait Tenants: Send + Sync {
    fn engine(&self) -> &Engine<Domain>;

    fn mode_of(&self, tenant: u64) -> Option<TenantMode>;

    fn has_room(&self, tenant: u64) -> bool;

    fn secret(&self, tenant: u64, webhook: Id, version: u32) -> Secret;

    fn signing(&self, tenant: u64, webhook: &Webhook) -> Signing {
        let secret = |version| self.secret(tenant, webhook.id, version);
        Signing {
            newest: secret(webhook.secret_version),
            older: webhook.older_secrets.iter().rev().map(|older| secret(older.version)).collect(),
            form: webhook.signature,
        }
    }
}

#[derive(Debug, Default)]
pub struct Counters {
    pub delivered: AtomicU64,
    pub failed: AtomicU64,
    pub under_way: AtomicUsize,
}

pub struct Webhooks {
    pub counters: Counters,
    poster: Poster,
    lookups: Arc<Lookups>,
    pub options: Options,
    queues: DashMap<u64, Vec<Arc<EndpointQueue>>>,
    tenants: OnceLock<Weak<dyn Tenants>>,
    runtime: Mutex<Option<Runtime>>,
    spawner: Handle,
    quick: Arc<Semaphore>,
    slow: Arc<Semaphore>,
    tries: Arc<Semaphore>,
    tries_of: DashMap<u64, Arc<Semaphore>>,
    stopping: AtomicBool,
    has_endpoints: AtomicBool,
    delivery_workers: AtomicUsize,
    writing: AtomicUsize,
}

impl Webhooks {
    pub fn new(options: Options) -> Result<Arc<Webhooks>, WebhooksError> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(cores.div_ceil(4))
            .thread_name("webhooks")
            .on_thread_start(|| {
                // The priority of this thread alone. Where it is not allowed, deliveries compete
                // with payments.
                let _ = rustix::process::nice(NICENESS);
            })
            .enable_all()
            .build()
            .map_err(WebhooksError::Threads)?;
        let lookups = Lookups::new(runtime.handle().clone());
        let poster = Poster::new(
            options.allow_private_targets,
            options.extra_ca_file.as_deref(),
            options.header_names.clone(),
            &lookups,
            options.clock.clone(),
        )?;
        Ok(Arc::new(Webhooks {
            lookups,
            counters: Counters::default(),
            poster,
            options,
            queues: DashMap::new(),
            tenants: OnceLock::new(),
            spawner: runtime.handle().clone(),
            runtime: Mutex::new(Some(runtime)),
            quick: Arc::new(Semaphore::new(QUICK_MAX)),
            slow: Arc::new(Semaphore::new(SLOW_MAX)),
            tries: Arc::new(Semaphore::new(TRIES_MAX)),
            tries_of: DashMap::new(),
            stopping: AtomicBool::new(false),
            has_endpoints: AtomicBool::new(false),
            delivery_workers: AtomicUsize::new(0),
            writing: AtomicUsize::new(0),
        }))
    }

    pub fn attach(self: &Arc<Self>, tenants: Arc<dyn Tenants>) -> Result<(), Unreadable> {
        let _ = self.tenants.set(Arc::downgrade(&tenants));
        let from = index::webhooks();
        self.add_all(&*tenants, &from, from.len())
    }

    /// The tenant leaves: its endpoints get nothing more from here. What has no outcome yet is sent again where it goes.
    pub fn forget_tenant(self: &Arc<Self>, tenant: u64) {
        let left = self.queues.remove(&tenant);
        left.iter().flat_map(|(_, queues)| queues).for_each(|queue| queue.change(self));
    }

    /// The endpoints of a tenant that came.
    pub fn attach_tenant(self: &Arc<Self>, tenants: &dyn Tenants, tenant: u64) -> Result<(), Unreadable> {
        let all = index::webhooks();
        self.add_all(tenants, &[all.as_slice(), &tenant.to_be_bytes()].concat(), all.len())
    }

    fn add_all(self: &Arc<Self>, tenants: &dyn Tenants, from: &[u8], head: usize) -> Result<(), Unreadable> {
        let to = [from, &[0xFF; 25]].concat();
        for entry in tenants.engine().reader().index_scan(from, &to, false) {
            let (key, _) = entry?;
            let name = key.get(head..).and_then(|rest| rest.split_first_chunk::<8>());
            let Some((tenant, Ok(id))) =
                name.map(|(tenant, id)| (u64::from_be_bytes(*tenant), <[u8; 16]>::try_from(id)))
            else {
                return Err(Unreadable("a webhook entry of another length".to_owned()));
            };
            // Events of a tenant that moved are delivered where it went.
            if tenants.mode_of(tenant).is_some() {
                self.add(tenant, Id::from_bytes(id));
            }
        }
        Ok(())
    }

    /// What is on its way may end within `patience`. What then has no outcome is sent again after
    /// the next start.
    pub async fn stop(&self, patience: Duration) {
        self.stopping.store(true, Ordering::SeqCst);
        self.queues.iter().for_each(|queues| queues.iter().for_each(|queue| queue.wake_up.notify_one()));
        let all_stopped = async {
            while self.delivery_workers.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(STOP_EVERY).await;
            }
        };
        if tokio::time::timeout(patience, all_stopped).await.is_err() {
            tracing::warn!(
                deliveries = self.counters.under_way.load(Ordering::Relaxed),
                "webhook deliveries under way were cut off; they are sent again after the next start"
            );
        }
        self.end_threads();
    }

    /// Called in the order of the log, by whoever acknowledges the record, for a tenant that has
    /// endpoints, or had.
    pub fn durable(self: &Arc<Self>, tenant: u64, record: &Record) {
        for written in &record.entities {
            match &*written.state {
                Entity::Webhook(webhook) if written.indexed.is_none() => self.add(tenant, webhook.id),
                Entity::Webhook(webhook) if record.cause != Cause::WebhookProgress => {
                    self.queue(tenant, webhook.id).iter().for_each(|queue| queue.change(self));
                }
                _ => {}
            }
        }
        for (id, _) in record.removed.iter().filter(|(id, _)| id.kind == Kind::Webhook) {
            self.queue(tenant, id.id).iter().for_each(|queue| queue.change(self));
            if let Some(mut queues) = self.queues.get_mut(&tenant) {
                queues.retain(|queue| queue.id != id.id);
            }
        }
        // Most events are of tenants without endpoints, and most servers have some.
        if !record.events.is_empty()
            && self.has_endpoints.load(Ordering::Relaxed)
            && let Some(queues) = self.queues.get(&tenant)
        {
            let numbers = record.first_event..=record.event_number(record.events.len() - 1);
            let kinds = || record.events.iter().map(|event| event.kind);
            queues.iter().for_each(|queue| queue.happened(self, &numbers, kinds()));
        }
    }

    pub fn backlog(&self) -> u64 {
        self.queues.iter().map(|queues| queues.iter().map(|queue| queue.behind()).sum::<u64>()).sum()
    }

    /// At most so many: the tenant key, and the number of the last event that was looked at.
    pub fn behind_live(&self, most: usize) -> Vec<(u64, u64)> {
        let live = self.queues.iter().filter(|queues| is_live(*queues.key()));
        live.flat_map(|queues| {
            let behind = queues.iter().filter(|queue| queue.behind() > 0);
            behind.map(|queue| (queue.tenant, queue.position.load(Ordering::Relaxed))).collect::<Vec<_>>()
        })
        .take(most)
        .collect()
    }

    pub fn quiet_up_to(&self, tenant: u64, id: Id) -> u64 {
        self.queue(tenant, id).map_or(0, |queue| queue.quiet_up_to())
    }

    pub fn signature_header(&self) -> &str {
        match self.options.header_names.signature.as_str() {
            "svc-signature" => "Svc-Signature",
            named => named,
        }
    }

    /// As far as the name can be looked up now; the error completes "url …".
    pub async fn aim(&self, tenant: u64, url: &Url) -> Result<(), &'static str> {
        let Some(Host::Domain(name)) = url.host() else { return Ok(()) };
        if self.options.allow_private_targets {
            return Ok(());
        }
        // A name that cannot be looked up now may be there when something is sent.
        let Ok(Ok(addresses)) = tokio::time::timeout(LOOKUP, self.lookups.find(name, Some(tenant))).await
        else {
            return Ok(());
        };
        if addresses.iter().all(|address| is_public(*address)) {
            Ok(())
        } else {
            Err("must not lead to a loopback, private or otherwise special address")
        }
    }

    /// Nothing is written.
    pub async fn try_out(self: &Arc<Self>, tenant: u64, message: post::Message) -> Sent {
        if !self.may_send(message.livemode) {
            return Sent::failed("live deliveries are off until this server takes over");
        }
        let own = Arc::clone(
            &self.tries_of.entry(tenant).or_insert_with(|| Arc::new(Semaphore::new(TRIES_PER_TENANT_MAX))),
        );
        let placing = async { (own.acquire_owned().await, Arc::clone(&self.tries).acquire_owned().await) };
        let Ok((Ok(of_tenant), Ok(of_all))) = tokio::time::timeout(TRY_PATIENCE, placing).await else {
            return Sent::failed("too many tests are under way; try again later");
        };
        let this = Arc::clone(self);
        let posting = self.spawner.spawn(async move {
            // Spawned, so that it goes on when nobody waits for it any more.
            let _places = (of_tenant, of_all);
            this.post(message).await
        });
        posting.await.unwrap_or_else(|_| Sent::failed("the server is stopping"))
    }

    fn write_after(&self) -> Duration {
        let shares = u32::try_from(self.delivery_workers.load(Ordering::Relaxed).div_ceil(WRITERS))
            .unwrap_or(u32::MAX);
        WRITE_AFTER.saturating_mul(shares.max(1)).min(WRITE_AFTER_MAX)
    }

    /// Not the delivery workers' own: many endpoints must not take themselves for a load of payments.
    fn others_under_way(&self, tenants: &dyn Tenants) -> usize {
        tenants.engine().under_way().saturating_sub(self.writing.load(Ordering::Relaxed))
    }

    async fn post(&self, message: post::Message) -> Sent {
        self.options.outbound.until_it_leads().await;
        self.poster.post(message).await
    }

    fn may_send(&self, livemode: bool) -> bool {
        self.options.outbound.is_open() || !livemode
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    fn add(self: &Arc<Self>, tenant: u64, id: Id) {
        self.has_endpoints.store(true, Ordering::Relaxed);
        let queue = Arc::new(EndpointQueue::new(tenant, id));
        let mut queues = self.queues.entry(tenant).or_default();
        if queues.iter().all(|queue| queue.id != id) {
            queues.push(Arc::clone(&queue));
            self.begin(queue, 0);
        }
    }

    /// Nothing up to `position` is due, apart from what the endpoint's state says.
    fn begin(self: &Arc<Self>, queue: Arc<EndpointQueue>, position: u64) {
        if self.is_stopping() {
            return;
        }
        let present = Presence::new(self, &queue);
        let webhooks = Arc::clone(self);
        webhooks.spawner.clone().spawn(async move {
            let _present = present;
            let Some(tenants) = webhooks.tenants.get().and_then(Weak::upgrade) else { return };
            match DeliveryWorker::new(webhooks, tenants, Arc::clone(&queue), position) {
                Ok(Some(delivery_worker)) => delivery_worker.work().await,
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(tenant = queue.tenant, webhook = %queue.id, %error, "an endpoint cannot be read; its deliveries wait for the next start")
                }
            }
        });
    }

    fn queue(&self, tenant: u64, id: Id) -> Option<Arc<EndpointQueue>> {
        self.queues.get(&tenant)?.iter().find(|queue| queue.id == id).cloned()
    }

    /// Whether nobody else looks after the endpoint by now.
    fn is_current(&self, queue: &Arc<EndpointQueue>) -> bool {
        self.queue(queue.tenant, queue.id).is_some_and(|known| Arc::ptr_eq(&known, queue))
    }

    fn end_threads(&self) {
        if let Some(runtime) = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take() {
            runtime.shutdown_background();
        }
    }
}

impl Drop for Webhooks {
    fn drop(&mut self) {
        self.end_threads();
    }
}

pub fn has_older_signature(event: &str) -> bool {
    event.starts_with("merchant.") || event.starts_with("payout.")
}
