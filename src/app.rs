//! The composition root: what is started, in which order, and how it is stopped again.
//!
//! The listener comes first and says that it is not ready; then the log, the engine (which
//! replays), the platform's tenants, the feeds; then the door opens. Stopping is the same
//! backwards.

mod ended_badly;
mod halted;
mod notify;
mod present;
pub mod privacy;
mod room;
mod startup_error;
mod startup_gate;
mod translate;
mod welcome;

use crate::admin::{self, AdminApi, Guard};
use crate::checkout::{self, Front};
use crate::config::{AdminAccess, Config, Server, TOKEN_CHARACTERS_MIN, Tls};
use crate::gateway::bank_feed::BankFeed;
use crate::gateway::banks::Banks;
use crate::gateway::directory::Directory;
use crate::gateway::disk::Disk;
use crate::gateway::dispatch::Gateway;
use crate::gateway::meter::Meters;
use crate::gateway::public::Public;
use crate::gateway::reservations::Reservations;
use crate::gateway::services::{Ids, Services, system_now};
use crate::gateway::shares::{self, Shares};
use crate::http::body::Budget;
use crate::http::documents::home;
use crate::http::listen::{Limits, Listener};
use crate::http::open_files;
use crate::http::tls::{self, Certificates, Files};
use crate::metrics::Metrics;
use crate::outbox::Outbox;
use crate::rails::simulator::Simulator;
use crate::rates::{self, Market, RateBoard, RateStore};
use crate::recovery::directory::{self, LOG_DIRECTORY, RATES_DIRECTORY, SIMULATOR_DIRECTORY};
use crate::selfcheck::SelfCheck;
use crate::store::read_pool::{self, ReadPool};
use crate::telemetry::spans::Spans;
use crate::thinning::Thinning;
use crate::webhooks::{self, Webhooks};
use actors::{Clock, Effects, Engine};
use api::render::render;
use domain::machine::Domain;
use domain::platform::{PLATFORM, is_live};
use domain::values::time::{DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Timestamp};
use halted::HaltedFile;
use present::World;
pub use startup_error::StartupError;
use startup_gate::StartupGate;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use wal::{Retention, RocksStore};

/// A book without a deadline leaves memory after so long without a request.
const IDLE_SECONDS: u64 = 60;
/// Why a book is halted that the operator did not want to be started.
const SET_ASIDE: &str = "set aside at the start (--set-aside)";
/// Exit code when the log failed or the platform's own book is in doubt: `EX_SOFTWARE`.
const EXIT_FATAL: i32 = 70;
/// Deliveries under way may end within so long; the others are sent again after the next start.
const WEBHOOKS_STOP: Duration = Duration::from_secs(2);
/// Records at the end of the log that a start compares with its clock.
const LOOKED_AT: u64 = 1_000;
/// Time for the answers of a failed write to leave, and for the reason to be written down, before
/// the process ends.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Runs until a signal says stop. `spans` is what traces are made with, if they are.
///
/// The books of the tenant keys in `set_aside` are not recovered; they are halted until an operator
/// resumes them.
pub async fn run(
    config: Config,
    take_over: bool,
    set_aside: &[u64],
    spans: Option<Arc<Spans>>,
) -> Result<(), StartupError> {
    let access = config.admin.access(&config.storage.path)?;
    match &access {
        AdminAccess::Insecure => {
            tracing::warn!(
                "admin.insecure_dev_token is set: whoever reaches the admin listener is an operator"
            );
        }
        AdminAccess::Token(token) if token.expose().len() < TOKEN_CHARACTERS_MIN => {
            tracing::warn!(characters_min = TOKEN_CHARACTERS_MIN, "admin.token is short: it can be guessed");
        }
        AdminAccess::Token(_) => {}
    }
    privacy::warn_of_open_files(&config);
    let limits = Limits {
        connections_max: open_files::connections_allowed(config.server.max_connections)?,
        ..Limits::from(&config.server)
    };
    let mut terminate = signal(SignalKind::terminate()).map_err(StartupError::Signals)?;
    let certificates = [
        certificates("api", "server.tls", config.server.tls.as_ref())?,
        certificates("admin", "admin.tls", config.admin.tls.as_ref())?,
    ];
    let [of_api, of_admin] = certificates.clone();
    let listener = bind("server.listen", config.server.listen).await?.secured(of_api);
    let admin_listener = bind("admin.listen", config.admin.listen).await?.secured(of_admin);
    let certificates: Vec<_> = certificates.into_iter().flatten().collect();
    let renewing = tokio::spawn(tls::keep_fresh(certificates.clone()));
    let traffic = [("api", listener.traffic()), ("admin", admin_listener.traffic())];
    let (stop, stopped) = watch::channel(false);

    let door = Arc::new(StartupGate::<Front<Gateway>>::new());
    let serving = tokio::spawn(listener.serve(Arc::clone(&door), limits.clone(), until(stopped.clone())));

    let disk = Arc::new(Disk::new(&config.storage.path, config.storage.reserve_bytes));
    room::make_room(&disk);
    let (services, feeds) = loop {
        match start(&config, take_over, set_aside, spans.clone(), &disk).await {
            Ok(started) => break started,
            // To end would only be to be started again.
            Err(why) if room::is_full(&disk) => {
                tracing::error!(%why, "the disk is full: the log cannot be opened; trying again");
                door.explain("the disk is full: the log cannot be opened");
                tokio::select! {
                    _ = terminate.recv() => return Ok(()),
                    _ = tokio::signal::ctrl_c() => return Ok(()),
                    () = room::wait_for_room() => {}
                }
            }
            Err(why) => return Err(why),
        }
    };
    let looking = tokio::spawn(room::watch(disk));
    let asking = Arc::clone(&services);
    let sweeping = tokio::spawn(async move { asking.shares.sweep().await });
    let banks = tokio::spawn(admin::keep_banks_fresh(Arc::clone(&services)));
    let counting = tokio::spawn(admin::operations::keep_counted(Arc::clone(&services)));
    let home = home::page(&services.base_url, config.demo_key()).map_err(StartupError::Page)?;
    let public = public(&config, &services.meters)?;
    let gateway = Gateway::new(
        Arc::clone(&services),
        config.limits.requests_per_second,
        config.limits.burst,
        public,
        home,
    )?;
    let buyers = checkout::Limits::new(
        config.server.trusted_proxies.clone(),
        config.limits.misses_per_minute,
        config.limits.misses_burst,
    );
    door.open(Front::new(Arc::clone(&services), gateway, buyers)?);
    let token = match &access {
        AdminAccess::Token(token) => Some(token.expose()),
        AdminAccess::Insecure => None,
    };
    let selfcheck = SelfCheck::start(services.engine.clone()).map_err(not_started("the self-check"))?;
    let selfcheck = Arc::new(selfcheck);
    let thinning = Thinning::start(services.engine.clone(), retention(&config))
        .map_err(not_started("the thinning of snapshots"))?;
    let ended_badly = ended_badly::last(&config.storage.path);
    let metrics = Metrics::new(
        Arc::clone(&services),
        Arc::clone(&selfcheck),
        traffic,
        certificates,
        ended_badly,
        config.admin.listen.ip().is_loopback(),
    );
    let admin = AdminApi::new(Arc::clone(&services), token, metrics, Guard::new(&config.admin))?;
    let admin = Arc::new(admin);
    // A budget of its own: strangers must not use up what operators need.
    let limits = Limits { bodies: Arc::new(Budget::new(config.server.bodies_bytes_max)), ..limits };
    let administering = tokio::spawn(admin_listener.serve(admin, limits, until(stopped)));
    tracing::info!(listen = %config.server.listen, admin = %config.admin.listen, path = %config.storage.path.display(), "ready");
    if welcome::is_watched(&config) {
        let scheme = if config.admin.tls.is_some() { "https" } else { "http" };
        eprintln!("{}", welcome::lines(&config, &format!("{scheme}://{}", config.admin.listen)));
    }
    notify::ready();

    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    tracing::info!("stopping");
    notify::stopping();
    stop.send_replace(true);
    services.read_pool.stop();
    for (name, listener) in [("server", serving), ("admin", administering)] {
        match listener.await {
            Ok(drained) if drained.cut_off > 0 => {
                tracing::warn!(name, connections = drained.cut_off, "requests under way were cut off")
            }
            Ok(_) => {}
            Err(error) => tracing::error!(name, %error, "a listener ended badly"),
        }
    }
    drop(feeds);
    selfcheck.stop();
    thinning.stop();
    services.webhooks.stop(WEBHOOKS_STOP).await;
    sweeping.abort();
    banks.abort();
    counting.abort();
    looking.abort();
    renewing.abort();
    services.engine.stop(Duration::from_secs(config.server.shutdown_seconds)).await;
    tracing::info!("stopped");
    Ok(())
}

async fn bind(key: &'static str, address: SocketAddr) -> Result<Listener, StartupError> {
    Listener::bind(address).await.map_err(|source| StartupError::Bind { key, address, source })
}

/// The error of a thread that does not start.
fn not_started(what: &'static str) -> impl FnOnce(io::Error) -> StartupError {
    move |source| StartupError::Thread { what, source }
}

/// What a listener shows, if it speaks TLS.
fn certificates(
    name: &'static str,
    key: &'static str,
    tls: Option<&Tls>,
) -> Result<Option<Arc<Certificates>>, StartupError> {
    let files = tls.map(|tls| Files { certificate: tls.certificate.clone(), key: tls.key.clone() });
    let failed = |source| StartupError::Certificates { key, source };
    files.map(|files| Certificates::load(name, files).map_err(failed)).transpose()
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // The sender lives as long as `run`; if it is gone, so is the reason to serve.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// What everybody may ask.
fn public(config: &Config, meters: &Meters) -> Result<Public, StartupError> {
    let withdrawals = translate::withdrawals(&config.withdraw)?;
    let policy = withdrawals
        .policy(config.tenant_defaults.withdraw_fee_policy)
        .cloned()
        .ok_or(StartupError::NoPolicy)?;
    Ok(Public::new(&config.public_allowed_origins, withdrawals, policy, meters)?)
}

/// Everything behind the listeners.
async fn start(
    config: &Config,
    take_over: bool,
    set_aside: &[u64],
    spans: Option<Arc<Spans>>,
    disk: &Arc<Disk>,
) -> Result<(Arc<Services>, rates::Feeds), StartupError> {
    let data = &config.storage.path;
    fs::create_dir_all(data).map_err(|source| StartupError::Directory { path: data.clone(), source })?;
    let world = World::of(data, take_over)?;
    // Before there is a log: one without its secret is refused.
    let mark_key = directory::mark_key(data)?;
    let card_key = directory::card_key(data, config.storage.card_key_file.as_deref())?;
    let store = RocksStore::open(data.join(LOG_DIRECTORY))?;
    let clock = Clock::system();
    let delay = Duration::from_millis(config.rails.simulator_delay_ms);
    let books = data.join(SIMULATOR_DIRECTORY);
    let simulator = Simulator::open(&books, delay, config.rails.simulator_fault)
        .map_err(|source| StartupError::Simulator { path: books, source })?;
    let simulator = Arc::new(simulator);
    let machine = Domain { live_rails: false, holidays: translate::holidays(config), render };
    let (rates, board) = open_rates(&data.join(RATES_DIRECTORY))?;
    let market = Market::new(Arc::clone(&board), translate::max_age_ms(&config.rates));
    let webhooks = Webhooks::new(webhooks::Options {
        allow_private_targets: config.webhooks.allow_private_targets,
        extra_ca_file: config.webhooks.extra_ca_file.clone(),
        outbound: world.outbound.clone(),
        clock: clock.clone(),
    })?;
    let outbox = Arc::new(
        Outbox::new(
            Arc::<Simulator>::clone(&simulator),
            market.clone(),
            Arc::clone(&webhooks),
            clock.clone(),
        )
        .within(world.outbound.clone()),
    );
    let outcomes = vec![outbox.outcomes()];
    let engine = Engine::start(
        machine,
        Arc::clone(&outbox) as Arc<dyn Effects<Domain>>,
        Box::new(store),
        translate::log_bounds(&config.storage),
        engine_config(config, set_aside, clock.clone()),
    );
    let engine = engine.await.map_err(|source| StartupError::Engine { path: data.clone(), source })?;
    for book in engine.halted() {
        tracing::warn!(
            tenant_key = book.tenant,
            why = book.why,
            "a book is set aside: its account is answered 503 account_halted until it is resumed"
        );
    }
    let bank_feed = config.banks_feed_url.as_deref().map(BankFeed::new).transpose();
    let bank_feed = bank_feed.map_err(StartupError::BankFeed)?;
    // By the clock that is believed: a price from a time that was not would stay the newest.
    let now = move || Timestamp::from_unix_ms(clock.wall_ms());
    let feeds = rates::start(translate::feeds(&config.rates)?, &board, now)?;
    let bounds = read_pool::Bounds {
        waiting_max: config.limits.long_reads_max,
        per_tenant_max: config.limits.long_reads_per_tenant_max,
    };
    let read_pool = ReadPool::start(bounds).map_err(not_started("the threads of long reads"))?;
    let services = Arc::new(Services {
        engine,
        shares: Shares::new(share_bounds(config)),
        read_pool,
        directory: Directory::default(),
        reservations: Arc::new(Reservations::default()),
        board,
        rates,
        feeds: feeds.health(),
        bank_source: config.rates.bank.as_ref().map(|bank| bank.source.clone()),
        banks: Banks::default(),
        bank_feed,
        market,
        network_fees: translate::network_fees(&config.crypto)?,
        ids: Ids::default(),
        turns: Arc::default(),
        simulator,
        base_url: config.server.base_url(),
        tenant_defaults: translate::settings(&config.tenant_defaults)?,
        mark_key,
        card_key,
        outbound: world.outbound.clone(),
        data: data.clone(),
        disk: Arc::clone(disk),
        webhooks,
        meters: Arc::default(),
        outcomes,
        spans,
        unresolved_after_ms: i64::from(config.rails.unresolved_after_seconds) * SECOND_MS,
        unresolved: AtomicU64::new(0),
    });
    outbox.attach(&services);
    compare_with_the_log(&services);
    world.settle(data, &services.engine).await?;
    let unanswered = |what| move |problem| StartupError::Unanswered { what, problem };
    let failed = unanswered("the tenants");
    admin::load_directory(&services).await.map_err(failed)?;
    admin::load_banks(&services).await.map_err(unanswered("the banks"))?;
    admin::bootstrap(&services, &translate::bootstrap(config)).await.map_err(failed)?;
    services.webhooks.attach(&services).map_err(StartupError::Endpoints)?;
    admin::push_pending(&services).await.map_err(failed)?;
    Ok((services, feeds))
}

/// Says when the log bears a later time than the clock: one of the two was wrong. Test clocks run
/// ahead by themselves.
fn compare_with_the_log(services: &Services) {
    let reader = services.engine.reader();
    let first = reader.last_seq().saturating_sub(LOOKED_AT);
    let records = reader.records(first, None).map_while(Result::ok);
    let latest_ms = records
        .filter(|record| record.tenant == PLATFORM || is_live(record.tenant))
        .map(|record| record.time_ms)
        .max();
    let ahead_ms = latest_ms.map_or(0, |latest_ms| latest_ms.saturating_sub(services.now().unix_ms()));
    if ahead_ms > MINUTE_MS {
        tracing::warn!(
            ahead_ms,
            "the log is ahead of the clock: the clock is behind, or was ahead before; until it has caught up live books stand still"
        );
    }
}

/// The history of rates, and a board that begins with the latest of them and writes to it.
fn open_rates(directory: &Path) -> Result<(Arc<RateStore>, Arc<RateBoard>), StartupError> {
    let failed = |source| StartupError::Rates { path: directory.to_owned(), source };
    let rates = Arc::new(RateStore::open(directory).map_err(failed)?);
    let history = Arc::clone(&rates);
    let board = Arc::new(RateBoard::new(Box::new(move |sample| history.note(sample))));
    rates.newest(system_now()).map_err(failed)?.into_iter().for_each(|sample| board.restore(sample));
    Ok((rates, board))
}

fn retention(config: &Config) -> Retention {
    let storage = &config.storage;
    let ms = |units: u32, unit_ms: i64| i64::from(units) * unit_ms;
    Retention {
        all_ms: ms(storage.snapshot_all_hours, HOUR_MS),
        hourly_ms: ms(storage.snapshot_hourly_days, DAY_MS),
        daily_ms: ms(storage.snapshot_daily_days, DAY_MS),
    }
}

/// Why each book is set aside: the operator's word, and what it was halted for before.
fn reasons(data: &Path, set_aside: &[u64]) -> BTreeMap<u64, String> {
    let before = directory::halted::read(data);
    let why = |tenant: &u64| match before.iter().find(|book| book.tenant_key == *tenant) {
        Some(book) if book.why.starts_with(SET_ASIDE) => book.why.clone(),
        Some(book) => format!("{SET_ASIDE}; before: {}", book.why),
        None => SET_ASIDE.to_owned(),
    };
    set_aside.iter().map(|tenant| (*tenant, why(tenant))).collect()
}

fn parts(config: &Config) -> actors::Shares {
    actors::Shares {
        percent: config.limits.share_percent,
        reserve_percent: config.limits.live_reserve_percent,
    }
}

fn share_bounds(config: &Config) -> shares::Bounds {
    shares::Bounds {
        live_slots: config.limits.live_slots,
        test_slots: config.limits.test_slots,
        waiting_max: config.limits.waiting_max,
        parts: parts(config),
    }
}

fn engine_config(config: &Config, set_aside: &[u64], clock: Clock) -> actors::Config {
    let data = config.storage.path.clone();
    let set_aside = reasons(&data, set_aside);
    let halted = HaltedFile::new(data.clone());
    actors::Config {
        permits_max: config.engine.permits_max,
        shares: parts(config),
        snapshot_records: config.storage.snapshot_records,
        snapshot_seconds: config.storage.snapshot_seconds,
        idle_seconds: IDLE_SECONDS,
        patience: Duration::from_secs(config.rails.answer_seconds),
        on_fatal: Arc::new(move |why| {
            // The first failed write is the last: the outcome is unknown, and only a restart can
            // tell.
            tracing::error!(why, "ending the process; a restart replays the log");
            let (data, why) = (data.clone(), why.to_owned());
            std::thread::spawn(move || {
                // A disk that does not answer must not keep the process from ending.
                std::thread::spawn(move || ended_badly::note(&data, &why));
                std::thread::sleep(LAST_WORDS);
                std::process::exit(EXIT_FATAL);
            });
        }),
        set_aside,
        on_halt: Arc::new(move |now| halted.note(now)),
        clock,
        seeds: actors::unforeseeable(),
        stepper: None,
    }
}

impl From<&Server> for Limits {
    fn from(server: &Server) -> Self {
        Limits {
            connections_max: server.max_connections,
            connections_per_peer_max: server.max_connections_per_peer,
            head_bytes_max: server.head_bytes_max,
            head_timeout: Duration::from_secs(server.head_timeout_seconds),
            body_timeout: Duration::from_secs(server.body_timeout_seconds),
            bodies: Arc::new(Budget::new(server.bodies_bytes_max)),
            idle_timeout: Duration::from_secs(server.idle_timeout_seconds),
            shutdown_timeout: Duration::from_secs(server.shutdown_seconds),
            ..Limits::default()
        }
    }
}
