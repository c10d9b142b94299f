//! The parts of the server that requests may need: put together once by `app/parts.rs`, shared by
//! all listeners.

use crate::cluster::Cluster;
use crate::disk::Disk;
use crate::gateway::bank_feed::BankFeed;
use crate::gateway::business::{Business, Waiting};
use crate::gateway::card_vault::CardVault;
use crate::gateway::keys::{Directory, ServerKeys};
use crate::gateway::limits::{Failures, Rate, Share, Shares};
use crate::gateway::meter::Meters;
use crate::gateway::names::{Ids, Reservations, TestGates};
use crate::gateway::operators::{Approvals, Operators};
use crate::gateway::prices::Prices;
use crate::http::respond::Timing;
use crate::outbound::Outbound;
use crate::rails::registry::Registry;
use crate::reconciliation::shelf::Shelf;
use crate::requests::RequestLog;
use crate::selfcheck::Counters;
use crate::store::read_pool::ReadPool;
use crate::telemetry::spans::Spans;
use crate::webhooks::secret::Secret;
use crate::webhooks::{Tenants, Webhooks};
use actors::{Engine, Failure};
use api::events::TenantMode;
use api::problem::Problem;
use domain::machine::Domain;
use domain::platform::settings::Settings;
use domain::resources::banks::{BankBook, Catalogue};
use domain::resources::operations::Operation;
use domain::values::ids::{Id, PLATFORM, is_live};
use domain::values::time::Timestamp;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// The parts of a running server. Each is a handle on one subject; what needs one subject takes its
/// handle and not all of them.
pub struct Services {
    pub engine: Engine<Domain>,
    pub read_pool: ReadPool,
    pub names: Names,
    pub shares: Shares,
    pub rate: Rate,
    pub misses: Failures<u64>,
    pub callers: Callers,
    pub prices: Prices,
    pub banks: Banks,
    pub rails: Arc<Registry>,
    pub waits: OutsideWaits,
    pub webhooks: Arc<Webhooks>,
    pub cards: Arc<CardVault>,
    pub keys: ServerKeys,
    pub observed: Observed,
    pub files: Files,
    pub site: Site,
    pub cluster: Option<Cluster>,
}

#[derive(Default)]
pub struct Names {
    pub reservations: Arc<Reservations>,
    pub ids: Ids,
    pub test_gates: TestGates,
}

pub struct OutsideWaits {
    pub unresolved: Unresolved,
    pub counted: Waiting,
    /// The time, in ms, for which the notice of a live transfer is waited for.
    pub notice_ms: i64,
    /// References of live transfers that were looked for since the start, and were wrong.
    pub transfer_guesses: AtomicU64,
}

pub struct Files {
    pub requests: RequestLog,
    pub reconciliations: Shelf,
}

pub struct Callers {
    pub directory: Directory,
    pub operators: Operators,
    pub approvals: Approvals,
    pub turns: Arc<Turns>,
    pub tenant_defaults: Settings,
}

const STRIPES: usize = 64;

/// The order of changes: what a record says of a tenant reaches the directory of callers before the
/// next record about it is written.
pub struct Turns {
    stripes: [tokio::sync::Mutex<()>; STRIPES],
}

impl Default for Turns {
    fn default() -> Self {
        Turns { stripes: [const { tokio::sync::Mutex::const_new(()) }; STRIPES] }
    }
}

impl Turns {
    /// Waits until nobody else changes this tenant or its keys.
    pub async fn of(&self, number: u32) -> tokio::sync::MutexGuard<'_, ()> {
        self.stripes[number as usize % STRIPES].lock().await
    }
}

pub struct Unresolved {
    /// The time, in ms, after which an order without an answer is put before an operator.
    pub after_ms: i64,
    counts: Mutex<BTreeMap<&'static str, u64>>,
}

impl Unresolved {
    pub const fn after(after_ms: i64) -> Unresolved {
        Unresolved { after_ms, counts: Mutex::new(BTreeMap::new()) }
    }

    /// Whether nobody could tell by now what became of an operation, on its tenant's clock.
    pub fn has(&self, operation: &Operation, now: Timestamp) -> bool {
        // An order that was never sent has an outcome that everybody can tell.
        !operation.is_queued && (operation.is_operators || now.since_ms(operation.sent_at) >= self.after_ms)
    }

    pub fn counted(&self, counts: BTreeMap<&'static str, u64>) {
        *self.counts() = counts;
    }

    pub fn total(&self) -> u64 {
        self.counts().values().sum()
    }

    pub fn at(&self, rail: &str) -> u64 {
        self.counts().get(rail).copied().unwrap_or(0)
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The banks that are in force, in memory, because every request asks for them. The platform's book owns them; this
/// copy follows it once a change is durable.
pub struct Banks {
    shown: RwLock<ShownBanks>,
    /// Held while the catalogue changes: what the book says next must not be overtaken by what it said before.
    pub turn: tokio::sync::Mutex<()>,
    /// The catalogue is refreshed from it.
    pub feed: Option<BankFeed>,
}

struct ShownBanks {
    catalogue: Arc<Catalogue>,
    refreshed_at: Option<Timestamp>,
}

impl Banks {
    pub fn new(feed: Option<BankFeed>) -> Banks {
        let shown = ShownBanks { catalogue: Arc::new(Catalogue::embedded()), refreshed_at: None };
        Banks { shown: RwLock::new(shown), turn: tokio::sync::Mutex::default(), feed }
    }

    pub fn now(&self) -> Arc<Catalogue> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner).catalogue)
    }

    pub fn refreshed_at(&self) -> Option<Timestamp> {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).refreshed_at
    }

    /// Replaces the catalogue by that of the platform's book. To be called under the lock of
    /// [`Banks::turn`].
    pub fn learn(&self, book: &BankBook) {
        let shown = ShownBanks { catalogue: Arc::new(book.catalogue()), refreshed_at: book.refreshed_at };
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = shown;
    }
}

pub struct Observed {
    pub meters: Arc<Meters>,
    pub business: Arc<Business>,
    pub spans: Option<Arc<Spans>>,
    pub selfcheck: Arc<Counters>,
}

pub struct Site {
    /// The public URL of this server, without a slash at the end.
    pub base_url: String,
    pub disk: Arc<Disk>,
    pub outbound: Outbound,
}

#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    #[error("a write failed: this process ends, and goes on from what is durable when it is started again")]
    Failed,
    #[error("shutting down")]
    Stopping,
    #[error("the disk is nearly full")]
    DiskShort,
    #[error("this node leads no more: it starts anew and stands by")]
    Deposed,
}

impl Services {
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.engine.clock.wall_ms())
    }

    /// Admits a request before any work is put into it: refusing must cost next to nothing, or there is nothing
    /// left for those who are not refused. Whatever is asked of the server, by a key, a page, a buyer, an
    /// operator or a bank, passes here. The problem's code says which limit refused: the rate of the account,
    /// then those of [`Services::admit`], then its share of what waits.
    pub async fn admit_request(
        &self,
        tenant: Option<u64>,
        writes: bool,
        share: Option<&Share>,
    ) -> Result<(), Problem> {
        if let Some(tenant) = tenant
            && let Err(seconds) = self.rate.throttle.check(tenant)
        {
            return Err(Problem::rate_limited(self.rate.per_second, seconds));
        }
        self.admit(tenant, writes)?;
        match share {
            Some(share) => self.shares.admit(share).await,
            None => Ok(()),
        }
    }

    /// Admits what is asked of a tenant in a mode, or without one of the platform: a halted book, the engine, the
    /// disk, the window of a cluster, a stepped clock. Reads of a halted book are refused too: a list that is
    /// right beside a balance that cannot be shown would be taken for all there is.
    pub fn admit(&self, tenant: Option<u64>, writes: bool) -> Result<(), Problem> {
        if let Some(tenant) = tenant
            && self.engine.is_halted(tenant)
        {
            return Err(Problem::account_halted());
        }
        if !writes {
            return Ok(());
        }
        if let Some(tenant) = tenant
            && let Some(refused) = self.engine.refuses(tenant)
        {
            return Err(failure(refused));
        }
        if !self.site.disk.has_room(tenant.unwrap_or(PLATFORM), false) {
            return Err(Problem::disk_nearly_full());
        }
        if self.cluster.as_ref().is_some_and(Cluster::is_window_full) {
            return Err(Problem::window_full());
        }
        match tenant {
            Some(tenant) => self.may_decide(tenant),
            None => Ok(()),
        }
    }

    /// Refuses a decision about live money while the wall clock was set and nobody has confirmed that: it could bear a
    /// wrong time.
    pub fn may_decide(&self, tenant: u64) -> Result<(), Problem> {
        let clock = &self.engine.clock;
        if is_live(tenant) {
            // The step is noticed when the clock is read.
            clock.wall_ms();
            if clock.step_ms() != 0 {
                return Err(Problem::clock_stepped());
            }
        }
        Ok(())
    }

    pub fn fresh_id(&self, tenant: u64) -> Id {
        self.names.ids.fresh(tenant, self.now())
    }

    pub fn ready(&self) -> Result<(), NotReady> {
        // The log fails because another machine has the right to append: that is the reason.
        if self.cluster.as_ref().is_some_and(Cluster::is_deposed) {
            return Err(NotReady::Deposed);
        }
        self.engine.ready().map_err(|why| match why {
            actors::NotReady::Failed(_) => NotReady::Failed,
            actors::NotReady::Stopping => NotReady::Stopping,
        })?;
        if self.site.disk.has_room(PLATFORM, false) { Ok(()) } else { Err(NotReady::DiskShort) }
    }
}

pub fn failure(failure: Failure) -> Problem {
    match failure {
        // Of a test account that began anew meanwhile nothing was decided: whoever asks again is after it.
        Failure::Overloaded | Failure::Reset => Problem::overloaded(1),
        Failure::ShareFull => Problem::share_full(),
        Failure::ShuttingDown => Problem::shutting_down(),
        Failure::Halted => Problem::account_halted(),
        Failure::TooLarge => Problem::record_too_large(),
        Failure::Storage(why) => Problem::storage_unavailable().because(why),
        Failure::Defect(why) => Problem::internal_error(why),
    }
}

pub fn timing(timing: actors::Timing) -> Timing {
    Timing {
        queue_us: timing.queue.as_micros() as u64,
        apply_us: timing.apply.as_micros() as u64,
        wal_us: timing.wal.as_micros() as u64,
        agree_us: timing.agree.map(|agree| agree.as_micros() as u64),
    }
}

pub fn defect(what: &'static str) -> Problem {
    Problem::internal_error(format!("a defect: {what}"))
}

impl Tenants for Services {
    fn engine(&self) -> &Engine<Domain> {
        &self.engine
    }

    fn mode_of(&self, tenant: u64) -> Option<TenantMode> {
        let number = u32::try_from(tenant / 2).ok()?;
        let known = self.callers.directory.tenant_numbered(number)?;
        // The events of a tenant that moves are delivered where it goes.
        let is_here = known.tenant_settings.moved_to.is_none();
        is_here.then(|| TenantMode { tenant: known.id, livemode: is_live(tenant) })
    }

    fn has_room(&self, tenant: u64) -> bool {
        self.site.disk.has_room(tenant, true)
    }

    fn secret(&self, tenant: u64, webhook: Id, version: u32) -> Secret {
        self.keys.webhook_secret(self.callers.directory.first_key(tenant), webhook, version)
    }
}

pub fn system_now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
