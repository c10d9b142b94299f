//! The parts of the server that requests may need: put together once by `app/parts.rs`, shared by
//! all listeners.

use crate::cluster::page_front::ToFront;
use crate::cluster::{Cluster, Sending};
use crate::disk::Disk;
use crate::gateway::bank_feed::BankFeed;
use crate::gateway::business::{Business, Seen};
use crate::gateway::card_vault::CardVault;
use crate::gateway::followers::Followers;
use crate::gateway::intakes::Moves;
use crate::gateway::keys::{Directory, ServerKeys};
use crate::gateway::limits::{Failures, Rate, Share, Shares};
use crate::gateway::meter::Meters;
use crate::gateway::names::{Ids, Reservations};
use crate::gateway::streams::Streams;
use crate::http::respond::Timing;
use crate::operators::{Approvals, Operators};
use crate::outbound::Outbound;
use crate::rails::registry::Registry;
use crate::rates::market::{NEEDS, Need};
use crate::rates::{FeedHealth, Market, RateBoard, RateStore};
use crate::reconciliation::shelf::Shelf;
use crate::requests::RequestLog;
use crate::selfcheck::Counters;
use crate::store::history;
use crate::store::read_pool::ReadPool;
use crate::telemetry::spans::Spans;
use crate::webhooks::secret::Secret;
use crate::webhooks::{Tenants, Webhooks};
use actors::{Engine, Failure};
use api::endpoint::{BankRate, KnownKey, Official};
use api::events::TenantMode;
use api::problem::Problem;
use dashmap::DashMap;
use domain::ledger::book::Book;
use domain::machine::{AnyBook, Domain};
use domain::platform::settings::Settings;
use domain::platform::{PlatformBook, Tenant};
use domain::resources::banks::{BankBook, Catalogue};
use domain::resources::operations::Operation;
use domain::resources::rates::samples::{Filter, Pair, Sample, Series};
use domain::values::ids::{Id, Mode, PLATFORM, is_live};
use domain::values::money::{Currency, Usdt};
use domain::values::time::{DAY_MS, Timestamp};
use foldhash::fast::RandomState;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::{OwnedRwLockReadGuard, RwLock};
use uuid::Uuid;

/// The parts of a running server. Each is a handle on one subject; what needs one subject takes its
/// handle and not all of them.
pub struct Services {
    pub engine: Engine<Domain>,
    pub read_pool: Arc<ReadPool>,
    pub names: Names,
    pub shares: Arc<Shares>,
    pub rate: Arc<Rate>,
    pub misses: Arc<Failures<u64>>,
    pub streams: Arc<Streams>,
    pub callers: Callers,
    pub prices: Prices,
    pub banks: Banks,
    pub rails: Arc<Registry>,
    pub waits: Arc<OutsideWaits>,
    pub webhooks: Arc<Webhooks>,
    pub cards: Arc<CardVault>,
    pub keys: Arc<ServerKeys>,
    pub observed: Observed,
    pub files: Arc<Files>,
    pub site: Site,
    pub cluster: Option<Cluster>,
}

#[derive(Default)]
pub struct Names {
    pub reservations: Arc<Reservations>,
    pub ids: Ids,
    pub test_gates: DashMap<u64, Arc<RwLock<()>>, RandomState>,
}

/// The right of a call to what it reads of test mode: until it is dropped, that does not begin anew.
pub type Pass = OwnedRwLockReadGuard<()>;

impl Names {
    pub async fn pass(&self, tenant: u64) -> Option<Pass> {
        if is_live(tenant) {
            return None;
        }
        let gate = match self.test_gates.get(&tenant) {
            Some(gate) => Arc::clone(&gate),
            None => Arc::clone(&self.test_gates.entry(tenant).or_default()),
        };
        match Arc::clone(&gate).try_read_owned() {
            Ok(pass) => Some(pass),
            // Boxed: every request has room for this future, and few wait.
            Err(_) => Some(Box::pin(gate.read_owned()).await),
        }
    }
}

pub struct OutsideWaits {
    /// The time, in ms, after which an order without an answer is put before an operator.
    pub unresolved_after_ms: i64,
    pub counted: Mutex<Seen>,
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
    pub directory: Arc<Directory>,
    pub operators: Operators,
    pub approvals: Approvals,
    pub turns: Arc<Turns>,
    pub tenant_defaults: Settings,
    /// The partition that this process serves.
    pub partition: u8,
    /// In the first of several partitions: the others.
    pub followers: Option<Arc<Followers>>,
    /// Of several partitions: the way to the others.
    pub sending: Option<Sending>,
    /// Of several partitions: the way of pages to all of them.
    pub to_front: Option<ToFront>,
    /// Of accounts, to this partition.
    pub moves: Arc<Moves>,
}

impl Callers {
    /// Those whose books are in this partition, newest first. Of one that has left there are books and entries of the
    /// index too, which are nobody's here: whoever looks at all accounts asks for these, and of an entry for
    /// [`Callers::is_elsewhere`].
    pub fn own_tenants(&self) -> Vec<Arc<Tenant>> {
        let mut tenants = self.directory.tenants();
        tenants.retain(|tenant| self.has(tenant));
        tenants
    }

    pub fn has(&self, tenant: &Tenant) -> bool {
        tenant.partition == self.partition
    }

    /// The partition that has the books of a tenant, if it is another: here they would be empty ones, or stale.
    pub fn elsewhere(&self, tenant: &Tenant) -> Option<u8> {
        let is_elsewhere = self.sending.is_some() && tenant.partition != self.partition;
        is_elsewhere.then_some(tenant.partition)
    }

    pub fn elsewhere_of(&self, tenant_key: u64) -> Option<u8> {
        self.sending.as_ref()?;
        let tenant = self.directory.tenant_numbered(u32::try_from(tenant_key / 2).ok()?)?;
        self.elsewhere(&tenant)
    }

    /// Whether the books of a tenant are not here, also of one of whom nothing is known yet.
    pub fn is_elsewhere(&self, tenant: u64) -> bool {
        self.sending.is_some() && self.directory.is_elsewhere(tenant, self.partition)
    }

    /// The way to the first partition, from another.
    pub fn first(&self) -> Option<&Sending> {
        self.sending.as_ref().filter(|_| self.partition != 0)
    }
}

impl OutsideWaits {
    /// Whether nobody could tell by now what became of an operation, on its tenant's clock.
    pub fn is_unresolved(&self, operation: &Operation, now: Timestamp) -> bool {
        // An order that was never sent has an outcome that everybody can tell.
        !operation.is_queued
            && (operation.is_operators || now.since_ms(operation.sent_at) >= self.unresolved_after_ms)
    }

    pub fn counted(&self) -> MutexGuard<'_, Seen> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const STRIPES: usize = 32;

/// The order of changes: what a record says of a tenant reaches the directory of callers before the
/// next record about it is written.
#[derive(Default)]
pub struct Turns {
    stripes: [tokio::sync::Mutex<()>; STRIPES],
}

impl Turns {
    /// Waits until nobody else changes this tenant or its keys.
    pub async fn of(&self, number: u32) -> tokio::sync::MutexGuard<'_, ()> {
        self.stripes[number as usize % STRIPES].lock().await
    }
}

/// The age, in ms, beyond which a bank's official rate is not repeated: a day, as long as the rate
/// holds.
const OFFICIAL_AGE_MS_MAX: i64 = DAY_MS;

/// The rates that are in force, their history and their feeds, and what follows from them for an amount of money.
pub struct Prices {
    pub board: Arc<RateBoard>,
    pub history: Arc<RateStore>,
    pub feeds: Arc<[FeedHealth]>,
    /// The source of `[rates.bank]` whose BCV rate stands beside the central bank's in quotes; it
    /// is not a public source.
    pub bank_source: Option<Arc<str>>,
    pub bank_is_bcv: bool,
    pub market: Market,
    /// The network fee of a USDT payout on each network, in the order of
    /// [`domain::resources::crypto::address::Network`].
    pub network_fees: [Usdt; 4],
    /// The blocks after which a transfer on each network is final, in the same order; `None` where no
    /// node is configured.
    pub confirmations: [Option<u64>; 4],
    /// The lock under which operators pin rates, on the disk and then on the board.
    pub pinning: tokio::sync::Mutex<()>,
}

impl Prices {
    pub fn bcv(&self, mode: Mode, now: Timestamp) -> Option<Arc<Sample>> {
        let bank = self.bank_source.as_deref().filter(|_| self.bank_is_bcv && mode == Mode::Live);
        let admits = |series: &Series| {
            series.is_bcv()
                || series.pair == Pair::USD_VES && bank.is_some_and(|bank| *series.source == *bank)
        };
        self.board.official(admits, mode, now)
    }

    pub fn official(&self, mode: Mode, now: Timestamp) -> Official {
        let bank = match &self.bank_source {
            None => BankRate::NotConfigured,
            Some(source) => {
                let filter = Filter { source: Some(source), ..Filter::default() };
                match self.board.latest(Pair::USD_VES, filter, mode, now) {
                    Some(found)
                        if found.is_fresh(now.since_ms(found.sample.fetched_at), OFFICIAL_AGE_MS_MAX) =>
                    {
                        BankRate::Says(found.sample)
                    }
                    _ => BankRate::Unavailable,
                }
            }
        };
        Official { bcv: self.bcv(mode, now), bank }
    }

    /// The prices that live mode needs and does not have now. One that its feed has not been asked for
    /// yet is on its way.
    pub fn missing_in_live(&self, now: Timestamp) -> impl Iterator<Item = Need> {
        let is_there = move |need: &Need| match need.pair {
            Pair::USD_VES => self.bcv(Mode::Live, now).is_some(),
            Pair::USDT_VES => self.market.rate(Currency::Ves, Mode::Live, now).is_some(),
            _ => self.market.rate(Currency::Cop, Mode::Live, now).is_some(),
        };
        let gives = |feed: &FeedHealth, need: &Need| {
            let is_bank = self.bank_is_bcv && need.pair == Pair::USD_VES && !self.is_public(&feed.series);
            !feed.is_made_up && (need.is_met_by(&feed.series) || is_bank)
        };
        let is_coming =
            move |need: &Need| self.feeds.iter().any(|feed| gives(feed, need) && feed.state().is_new());
        NEEDS.into_iter().filter(move |need| !is_there(need) && !is_coming(need))
    }

    /// Whether everybody may see a series: what a bank tells us is between it and us.
    pub fn is_public(&self, series: &Series) -> bool {
        self.bank_source.as_deref().is_none_or(|bank| series.pair != Pair::USD_VES || *series.source != *bank)
    }
}

/// The banks that are in force, in memory, because every request asks for them. The platform's book owns them; this
/// copy follows it once a change is durable.
pub struct Banks {
    /// With the time of the last refresh.
    shown: std::sync::RwLock<(Arc<Catalogue>, Option<Timestamp>)>,
    /// Held while the catalogue changes: what the book says next must not be overtaken by what it said before.
    pub turn: tokio::sync::Mutex<()>,
    pub feed: Option<Arc<BankFeed>>,
}

impl Banks {
    pub fn new(feed: Option<BankFeed>) -> Banks {
        let feed = feed.map(Arc::new);
        let shown = std::sync::RwLock::new((Arc::new(Catalogue::embedded()), None));
        Banks { shown, turn: tokio::sync::Mutex::default(), feed }
    }

    pub fn now(&self) -> Arc<Catalogue> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner).0)
    }

    pub fn refreshed_at(&self) -> Option<Timestamp> {
        self.shown.read().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Replaces the catalogue by that of the platform's book. To be called under the lock of
    /// [`Banks::turn`].
    pub fn learn(&self, book: &BankBook) {
        let shown = (Arc::new(book.catalogue()), book.refreshed_at);
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = shown;
    }
}

#[derive(Clone)]
pub struct Observed {
    pub meters: Arc<Meters>,
    pub business: Arc<Business>,
    pub spans: Option<Arc<Spans>>,
    pub selfcheck: Arc<Counters>,
}

#[derive(Clone)]
pub struct Site {
    /// The public URL of this server, without a slash at the end.
    pub base_url: Arc<str>,
    /// The same for what callers are to follow: empty where no address is known that leads here.
    pub known_url: Arc<str>,
    pub disk: Arc<Disk>,
    pub outbound: Outbound,
}

impl Services {
    /// The same over an engine that keeps nothing: whatever a call reserves, changes or teaches goes with it. What
    /// is kept beside the log is asked for [`Services::is_rehearsal`] before it changes.
    pub fn rehearsing(&self, engine: Engine<Domain>, rails: Arc<Registry>) -> Services {
        let Services { callers, prices, banks, .. } = self;
        let board = Arc::new(prices.board.copied());
        Services {
            engine,
            rails,
            names: Names { reservations: Reservations::over(&self.names.reservations), ..Names::default() },
            callers: Callers {
                directory: Directory::over(&callers.directory),
                operators: callers.operators.copied(),
                approvals: callers.approvals.clone(),
                turns: Arc::default(),
                tenant_defaults: callers.tenant_defaults.clone(),
                partition: callers.partition,
                // Nobody hears of what is rehearsed, and its numbers are beyond the log's.
                followers: callers.followers.as_ref().map(|others| Arc::new(others.rehearsed())),
                sending: callers.sending.clone(),
                to_front: callers.to_front.clone(),
                moves: Arc::default(),
            },
            prices: Prices {
                market: prices.market.over(&board),
                board,
                history: Arc::clone(&prices.history),
                feeds: Arc::clone(&prices.feeds),
                bank_source: prices.bank_source.clone(),
                bank_is_bcv: prices.bank_is_bcv,
                network_fees: prices.network_fees,
                confirmations: prices.confirmations,
                pinning: tokio::sync::Mutex::default(),
            },
            banks: Banks {
                shown: std::sync::RwLock::new((banks.now(), banks.refreshed_at())),
                turn: tokio::sync::Mutex::default(),
                feed: banks.feed.clone(),
            },
            read_pool: Arc::clone(&self.read_pool),
            shares: Arc::clone(&self.shares),
            rate: Arc::clone(&self.rate),
            misses: Arc::clone(&self.misses),
            streams: Arc::clone(&self.streams),
            waits: Arc::clone(&self.waits),
            webhooks: Arc::clone(&self.webhooks),
            cards: Arc::clone(&self.cards),
            keys: Arc::clone(&self.keys),
            observed: self.observed.clone(),
            files: Arc::clone(&self.files),
            site: self.site.clone(),
            cluster: self.cluster.clone(),
        }
    }

    /// Whether a call is only rehearsed: nothing may be written, kept or sent.
    pub fn is_rehearsal(&self) -> bool {
        self.engine.is_rehearsal()
    }

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
        if let Some(share) = share
            && self.shares.is_full(share)
        {
            return Err(Box::pin(share.refuse()).await);
        }
        Ok(())
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

    /// The clock of a tenant in a mode, when everything is durable that its book has decided by now.
    pub async fn clock(&self, tenant: u64) -> Result<Timestamp, Problem> {
        let (_, now_ms) = self.engine.view(tenant).await.map_err(failure)?;
        Ok(Timestamp::from_unix_ms(now_ms))
    }

    /// The book of a tenant in a mode and its clock, when everything is durable that it has decided by now.
    pub async fn book(&self, tenant: u64) -> Result<(Box<Book>, Timestamp), Problem> {
        match self.engine.view(tenant).await.map_err(failure)? {
            (AnyBook::Tenant(book), now_ms) => Ok((book, Timestamp::from_unix_ms(now_ms))),
            (AnyBook::Platform(_), _) => Err(defect("the platform has no tenant's book")),
        }
    }

    pub async fn platform_book(&self) -> Result<PlatformBook, Problem> {
        match self.engine.view(PLATFORM).await.map_err(failure)? {
            (AnyBook::Platform(book), _) => Ok(book),
            (AnyBook::Tenant(_), _) => Err(defect("the platform's book is none")),
        }
    }

    /// How often banks contradicted themselves about orders of accounts that are here, at most `most`.
    pub fn contradictions(&self, most: usize) -> usize {
        let reader = self.engine.reader();
        let is_elsewhere =
            |seq| !matches!(reader.record(seq), Ok(Some(read)) if !self.callers.is_elsewhere(read.tenant));
        let found = history::contradictions(reader);
        found.filter(|seq| self.callers.sending.is_none() || !is_elsewhere(*seq)).take(most).count()
    }

    /// The keys of an account, newest first, with the minute of their last use.
    pub async fn keys_of(&self, number: u32) -> Result<Vec<KnownKey>, Problem> {
        let book = self.platform_book().await?;
        let mut keys: Vec<_> = book.keys.of(number).cloned().collect();
        keys.reverse();
        Ok(keys.into_iter().map(|key| self.callers.directory.known(key)).collect())
    }

    pub fn fresh_id(&self, tenant: u64) -> Id {
        self.names.ids.next(tenant, self.now().unix_ms(), Uuid::new_v4())
    }

    /// Whether writes are accepted; if not, why.
    pub fn ready(&self) -> Result<(), &'static str> {
        // The log fails because another machine has the right to append: that is the reason.
        if self.cluster.as_ref().is_some_and(Cluster::is_deposed) {
            return Err("this node leads no more: it starts anew and stands by");
        }
        match self.engine.ready() {
            Ok(()) if !self.site.disk.has_room(PLATFORM, false) => Err("the disk is nearly full"),
            Ok(()) => Ok(()),
            Err(actors::NotReady::Stopping) => Err("shutting down"),
            Err(actors::NotReady::Failed(_)) => Err(
                "a write failed: this process ends, and goes on from what is durable when it is started again",
            ),
        }
    }
}

pub fn failure(failure: Failure) -> Problem {
    match failure {
        // Of a test account that began anew meanwhile nothing was decided: whoever asks again is after it.
        Failure::Overloaded | Failure::Reset => Problem::overloaded(1),
        Failure::ShareFull => Problem::share_full(),
        Failure::ShuttingDown => Problem::shutting_down(),
        Failure::Halted => Problem::account_halted(),
        Failure::Elsewhere => Problem::tenant_moving(),
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
        let is_here = known.partition == self.callers.partition && !known.tenant_settings.are_closed();
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
