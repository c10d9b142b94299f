//! The parts behind the listeners, opened in the order in which they need each other: the outside, the
//! log with its engine, which replays, and then what the platform's book says.

use super::halted::HaltedFile;
use super::live_rails::{self, Networks};
use super::present::DirectoryState;
use super::startup_error::StartupError;
use super::{Outside, bank_rate, damage};
use crate::admin;
use crate::cluster::page_front::ToFront;
use crate::cluster::{Cluster, Promoted, Sending};
use crate::config::Config;
use crate::disk::Disk;
use crate::gateway::bank_feed::BankFeed;
use crate::gateway::beside::{self, Agreed, Handed};
use crate::gateway::business::Business;
use crate::gateway::followers::Followers;
use crate::gateway::keys::{Directory, ServerKeys};
use crate::gateway::limits::{self, Failures, Rate, Shares, Throttle};
use crate::gateway::services::{
    Banks, Callers, Files, Names, Observed, OutsideWaits, Prices, Services, Site, system_now,
};
use crate::gateway::tenant_settings;
use crate::operators::{Approvals, Operators};
use crate::outbound::{Leads, Outbound};
use crate::outbox::{self, Outbox};
use crate::rails::registry::{Pace, Registry};
use crate::rails::simulator::Simulator;
use crate::rates::board::Hook;
use crate::rates::{self, Market, RateBoard, RateStore, Sample};
use crate::reconciliation::shelf::Shelf;
use crate::recovery::directory::{
    self, LOG_DIRECTORY, RATES_DIRECTORY, RECONCILIATIONS_DIRECTORY, REQUESTS_DIRECTORY, SIMULATOR_DIRECTORY,
};
use crate::requests::RequestLog;
use crate::store::read_pool::{self, ReadPool};
use crate::webhooks::post::HeaderNames;
use crate::webhooks::{self, Webhooks};
use actors::{Clock, Effects, Engine};
use api::operators::changes;
use domain::machine::Domain;
use domain::values::address::Network;
use domain::values::ids::{PLATFORM, is_live};
use domain::values::time::{MINUTE_MS, SECOND_MS, Timestamp};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wal::RocksStore;

/// The seconds without a request after which a book without a deadline leaves memory.
const IDLE_SECONDS: u64 = 60;
/// Searches of an account within ten minutes that found nobody, after which it has to wait: whoever guesses
/// documents and phones finds nobody most of the time.
const MISSES_MAX: usize = 30;
/// The number of books that a start leaves in memory without another thought: they take about as much
/// as the program itself. Where there are more, they are saved, which needs room on the disk.
const BOOKS_AWAKE_MAX: usize = 1_000;
const SET_ASIDE: &str = "set aside at the start (--set-aside)";
/// Exit code when the log failed or the platform's own book is in doubt: `EX_SOFTWARE`.
const EXIT_FATAL: u8 = 70;
const LOOKED_AT: u64 = 1_000;

/// The stores beside the log. A standby opens them while it waits: that takes longer than all of the rest.
pub(super) struct Stores {
    rates: RateStore,
    simulator: Simulator,
    files: Files,
}

impl Stores {
    pub(super) fn open(config: &Config, disk: &Arc<Disk>) -> Result<Stores, StartupError> {
        let data = &config.storage.path;
        let (rates, books) = (data.join(RATES_DIRECTORY), data.join(SIMULATOR_DIRECTORY));
        let delay = Duration::from_millis(config.rails.simulator_delay_ms);
        Ok(Stores {
            simulator: Simulator::open(&books, disk, delay, config.rails.simulator_fault)
                .map_err(|source| StartupError::Simulator { path: books, source })?,
            rates: RateStore::open(&rates, disk)
                .map_err(|source| StartupError::Rates { path: rates, source })?,
            files: Files {
                requests: RequestLog::open(&data.join(REQUESTS_DIRECTORY), config.requests.bytes_max, disk)
                    .map_err(StartupError::Requests)?,
                reconciliations: Shelf::open(
                    &data.join(RECONCILIATIONS_DIRECTORY),
                    &system_now().to_string(),
                    disk,
                )?,
            },
        })
    }
}

pub(super) async fn open(
    config: &Config,
    take_over: bool,
    set_aside: &[u64],
    outside: &Outside,
    disk: &Arc<Disk>,
    lead: Option<(Cluster, Promoted)>,
    stores: Option<Stores>,
) -> Result<(Arc<Services>, rates::Feeds), StartupError> {
    let data = &config.storage.path;
    wal::make_directory(data).map_err(StartupError::of(format!("storage.path: {}", data.display())))?;
    let mut state = DirectoryState::of(data, take_over)?;
    // The confirmation that is waited for before anything goes outside.
    let leads = |cluster: Cluster| -> Leads {
        Arc::new(move || {
            let cluster = cluster.clone();
            Box::pin(async move { cluster.until_confirmed().await })
        })
    };
    state.outbound = state.outbound.led_by(lead.as_ref().map(|(cluster, _)| leads(cluster.clone())));
    // Checked before there is a log: a server without its secret is refused.
    let card_file = config.storage.card_key_file.as_deref();
    let keys = ServerKeys::new(directory::mark_key(data)?, directory::card_key(data, card_file)?);
    let agreed = lead.as_ref().map(|(_, promoted)| Arc::new(Agreed::of(promoted.reader.clone())));
    let (cluster, log) = match lead {
        Some((cluster, promoted)) => (Some(cluster), Log::Followed(Box::new(promoted))),
        None => {
            let store = RocksStore::open(data.join(LOG_DIRECTORY))?;
            damage::settle(&store, data)?;
            damage::watch(&store, data);
            (None, Log::Own(Box::new(store)))
        }
    };
    let clock = Clock::system();
    // Whatever a full disk may refuse comes before the engine, which would keep the log from the next try.
    let stores = stores.map_or_else(|| Stores::open(config, disk), Ok)?;
    let networks = outside.networks.clone();
    let rails = open_rails(config, stores.simulator, &state.outbound, (agreed.clone(), networks))?;
    let handed = cluster.as_ref().map(|_| Handed::default());
    let (rates, board) = open_rates(config, disk, stores.rates, handed.clone())?;
    let market = Market::new(Arc::clone(&board), config.rates.max_age_seconds * SECOND_MS);
    let webhooks = open_webhooks(config, &state.outbound, &clock)?;
    let business = Arc::<Business>::default();
    let (hooks, counts) = (Arc::clone(&webhooks), Arc::clone(&business));
    let outbox = Arc::new(Outbox::new(Arc::clone(&rails), market.clone(), hooks, counts, clock.clone()));
    let machine = Domain {
        rails: Arc::<Registry>::clone(&rails),
        holidays: config.holidays.clone(),
        changes,
        person_marks: keys.person_marks.clone(),
    };
    let directory = Arc::<Directory>::default();
    let mut engine_config = engine_config(config, set_aside, clock.clone(), cluster.clone(), disk);
    if let Some(own) = config.partition {
        let of_others = Arc::clone(&directory);
        let is_elsewhere: actors::IsElsewhere = Arc::new(move |tenant| of_others.is_elsewhere(tenant, own));
        let (elsewhere, has_room) = (Arc::clone(&is_elsewhere), engine_config.has_room_for_due);
        engine_config.has_room_for_due = Arc::new(move |tenant| !elsewhere(tenant) && has_room(tenant));
        engine_config.is_elsewhere = Some(is_elsewhere);
    }
    let engine = start_engine(config, machine, Arc::<Outbox>::clone(&outbox), log, engine_config).await?;
    // The samples of other machines in the log of the cluster that this one's history lacks.
    let learned = match &cluster {
        Some(_) => beside::restore(engine.reader(), &board, &rates, system_now())
            .await
            .map_err(StartupError::of("what other machines learned of rates"))?,
        None => Vec::new(),
    };
    let (prices, feeds) = start_prices(config, &state.outbound, clock, (rates, board), market)?;
    let limits = &config.limits;
    let read_bounds = read_pool::Bounds {
        waiting_max: limits.long_reads_max,
        per_tenant_max: limits.long_reads_per_tenant_max,
        pause: limits::PAUSE,
    };
    let bank_feed = config.banks_feed_url.as_deref().map(BankFeed::new).transpose();
    let services = Arc::new(Services {
        engine,
        read_pool: Arc::new(
            ReadPool::start(read_bounds)
                .map_err(StartupError::of("the threads of long reads did not start"))?,
        ),
        names: Names::default(),
        shares: Arc::new(Shares::new(limits::Bounds {
            live_slots: limits.live_slots,
            test_slots: limits.test_slots,
            waiting_max: limits.waiting_max,
            parts: shares(config),
        })),
        misses: Arc::new(Failures::new(MISSES_MAX)),
        streams: Arc::default(),
        rate: Arc::new(Rate {
            throttle: Throttle::new(limits.requests_per_second, limits.burst),
            per_second: limits.requests_per_second,
        }),
        callers: Callers {
            directory,
            operators: Operators::new(config.access()?.as_ref()),
            approvals: Approvals {
                of: config.admin.approvals.iter().copied().collect(),
                valid_ms: i64::from(config.admin.approval_seconds) * SECOND_MS,
            },
            turns: Arc::default(),
            tenant_defaults: config.tenant_defaults.clone(),
            partition: config.partition.unwrap_or(0),
            followers: (config.partition == Some(0))
                .then(|| Arc::new(Followers::of(config.partitions, config.cluster.failover()))),
            sending: match &cluster {
                Some(cluster) if config.partition.is_some() => Some(Sending::new(config, cluster.clone())?),
                _ => None,
            },
            to_front: match config.front {
                Some(front) => Some(ToFront::new(config, front)?),
                None => None,
            },
            moves: Arc::default(),
        },
        prices,
        banks: Banks::new(bank_feed.map_err(StartupError::of("banks.feed_url"))?),
        rails,
        waits: Arc::new(OutsideWaits {
            unresolved_after_ms: i64::from(config.rails.unresolved_after_seconds) * SECOND_MS,
            counted: Mutex::default(),
            notice_ms: config.rails.r4.as_ref().map_or(0, |r4| r4.notice_wait_seconds * SECOND_MS),
            transfer_guesses: AtomicU64::new(0),
        }),
        webhooks,
        cards: Arc::default(),
        keys: Arc::new(keys),
        observed: Observed {
            meters: Arc::default(),
            business,
            spans: outside.spans.clone(),
            selfcheck: Arc::default(),
        },
        files: Arc::new(stores.files),
        site: Site {
            base_url: config.server.base_url().into(),
            known_url: config.server.known_url().into(),
            disk: Arc::clone(disk),
            outbound: state.outbound.clone(),
        },
        cluster,
    });
    if let (Some(handed), Some(agreed)) = (handed, agreed) {
        agreed.attach(&services);
        keep_learned(&services, learned);
        tokio::spawn(handed.run(Arc::clone(&services)));
    }
    outbox.attach(&services);
    compare_with_the_log(&services);
    state.settle(data, &services).await?;
    load(config, &services).await?;
    Ok((services, feeds))
}

fn shares(config: &Config) -> actors::Shares {
    actors::Shares {
        percent: config.limits.share_percent,
        reserve_percent: config.limits.live_reserve_percent,
    }
}

async fn load(config: &Config, services: &Arc<Services>) -> Result<(), StartupError> {
    let unanswered = |what| move |problem| StartupError::Unanswered { what, problem: Box::new(problem) };
    let failed = unanswered("the tenants");
    admin::load_directory(services).await.map_err(failed)?;
    if config.partition.is_none() {
        must_have_all(services)?;
    }
    admin::settle_approvals(services).await.map_err(unanswered("the approvals"))?;
    admin::load_banks(services).await.map_err(unanswered("the banks"))?;
    let banks = services.banks.now();
    let named = config.rails.r4.iter().flat_map(|r4| &r4.otp_banks);
    for code in named.filter(|code| banks.get(**code).is_none()) {
        let bank = code.number();
        tracing::warn!(bank, "rails.r4.otp_banks names a bank that the catalogue does not have");
    }
    for need in services.prices.missing_in_live(services.now()) {
        tracing::warn!(missing = %need, "live mode has no price of a pair");
    }
    admin::bootstrap(services, &config.bootstrap_tenants).await.map_err(failed)?;
    services
        .webhooks
        .attach(Arc::<Services>::clone(services))
        .map_err(StartupError::of("the webhook endpoints could not be read"))?;
    tenant_settings::push_pending(services).await.map_err(failed)?;
    outbox::turns::start(services).await.map_err(unanswered("the orders that wait"))
}

/// One log alone has no books of an account that is in another: it would begin them anew, empty.
fn must_have_all(services: &Services) -> Result<(), StartupError> {
    let tenants = services.callers.directory.tenants();
    let Some(elsewhere) = tenants.iter().find(|tenant| tenant.partition != 0) else { return Ok(()) };
    Err(StartupError::of("the accounts")(format!(
        "{} is in partition {}, and this server has the log of partition 0 alone: start it as a node of its cluster, \
         with cluster.partitions as it was",
        elsewhere.id, elsewhere.partition
    )))
}

fn start_prices(
    config: &Config,
    outbound: &Outbound,
    clock: Clock,
    (history, board): (Arc<RateStore>, Arc<RateBoard>),
    market: Market,
) -> Result<(Prices, rates::Feeds), StartupError> {
    // Read by the clock that is believed: a price from a time that was not would stay the newest.
    let now = move || Timestamp::from_unix_ms(clock.wall_ms());
    let mut feeds = Vec::new();
    // The other partitions are sent what the first one was told.
    if config.partition.is_none_or(|partition| partition == 0) {
        feeds.extend(config.rates.feeds.iter().chain(&config.rates.bank).cloned());
        feeds.extend(bank_rate::feed(config, outbound)?);
    }
    let feeds = rates::start(feeds, &board, now).map_err(StartupError::of("rates.feeds"))?;
    let prices = Prices {
        board,
        history,
        feeds: Arc::clone(&feeds.health),
        bank_source: bank_rate::source(config).map(Into::into),
        bank_is_bcv: bank_rate::is_bcv(config),
        market,
        network_fees: config.network_fees,
        confirmations: Network::NAMES.map(|(name, _)| {
            let evm = config.rails.evm.iter().find(|evm| evm.network == name);
            evm.map(|evm| evm.confirmations)
        }),
        pinning: tokio::sync::Mutex::default(),
    };
    Ok((prices, feeds))
}

fn open_webhooks(config: &Config, outbound: &Outbound, clock: &Clock) -> Result<Arc<Webhooks>, StartupError> {
    Ok(Webhooks::new(webhooks::Options {
        allow_private_targets: config.webhooks.allow_private_targets,
        extra_ca_file: config.webhooks.extra_ca_file.clone(),
        header_names: HeaderNames {
            signature: config.webhooks.signature_header.clone(),
            event_id: config.webhooks.event_id_header.clone(),
        },
        outbound: outbound.clone(),
        clock: clock.clone(),
    })?)
}

fn keep_learned(services: &Arc<Services>, learned: Vec<Arc<Sample>>) {
    let history = Arc::clone(&services.prices.history);
    tokio::spawn(async move {
        for sample in learned {
            if let Err(why) = history.keep(rates::Item::Sample(sample)).await {
                return tracing::warn!(%why, "the history of rates lacks what other machines learned");
            }
        }
    });
}

fn open_rails(
    config: &Config,
    simulator: Simulator,
    outbound: &Outbound,
    (agreed, networks): (Option<Arc<Agreed>>, Networks),
) -> Result<Arc<Registry>, StartupError> {
    let live = live_rails::all(&config.rails)?;
    for (rail, missing) in live_rails::omissions(&config.rails) {
        tracing::warn!(rail, what = missing.what, "{}", missing.text);
    }
    let pace = Pace {
        otp_banks: config.rails.r4.as_ref().map(|r4| r4.otp_banks.clone()).unwrap_or_default(),
        poll_ms: i64::try_from(config.rails.poll_seconds).unwrap_or(i64::MAX / SECOND_MS) * SECOND_MS,
        probe: Duration::from_secs(config.rails.probe_seconds),
        // A bank knows of no partitions: their leaders share its connections.
        calls_max: (config.rails.calls_max / usize::from(config.partitions)).max(1),
    };
    let simulator = match agreed {
        Some(agreed) => simulator.agreed_in(agreed),
        None => simulator,
    };
    let registry = Registry::new(Arc::new(simulator)).with_live(live, pace, outbound);
    Ok(Arc::new(registry.with(networks, config.rails.r4.is_some())))
}

enum Log {
    Own(Box<RocksStore>),
    Followed(Box<Promoted>),
}

async fn start_engine(
    config: &Config,
    machine: Domain,
    effects: Arc<dyn Effects<Domain>>,
    log: Log,
    engine: actors::Config,
) -> Result<Engine<Domain>, StartupError> {
    let (storage, defaults) = (&config.storage, wal::Config::default());
    // What a batch may hold follows from what may wait.
    let bounds = wal::Config {
        pending_bytes_max: storage.pending_bytes_max,
        pending_records_max: storage.pending_records_max,
        batch_records_max: storage.batch_records_max,
        batch_bytes_max: defaults.batch_bytes_max.min(storage.pending_bytes_max),
        piece_bytes_max: defaults.piece_bytes_max.min(storage.pending_bytes_max),
        ..defaults
    };
    let started = match log {
        Log::Own(store) => Engine::start(machine, effects, store, bounds, engine).await,
        Log::Followed(promoted) => {
            let Promoted { followed, agreement, .. } = *promoted;
            Engine::lead(machine, effects, followed, agreement, engine).await
        }
    };
    let engine = started.map_err(|source| StartupError::Engine { path: storage.path.clone(), source })?;
    for book in engine.halted() {
        tracing::warn!(
            tenant_key = book.tenant,
            why = book.why,
            "a book is set aside: its account is answered 503 account_halted until it is resumed"
        );
    }
    Ok(engine)
}

/// One of the two was wrong. Test clocks run ahead by themselves.
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
            "the log is ahead of the clock: the clock is behind, or was ahead before; until it has caught up \
             live books stand still"
        );
    }
}

/// In a cluster what the board learns is handed to the others.
fn open_rates(
    config: &Config,
    disk: &Arc<Disk>,
    store: RateStore,
    handed: Option<Handed>,
) -> Result<(Arc<RateStore>, Arc<RateBoard>), StartupError> {
    let directory = config.storage.path.join(RATES_DIRECTORY);
    let failed = |source| StartupError::Rates { path: directory.clone(), source };
    let rates = Arc::new(store);
    let history = Arc::clone(&rates);
    let room = Arc::clone(disk);
    let hook: Hook = Box::new(move |sample| {
        history.note(sample);
        if let Some(handed) = handed.as_ref().filter(|_| room.has_room(PLATFORM, false)) {
            handed.take(sample);
        }
    });
    let board = Arc::new(RateBoard::new(config.rates.steps.clone(), hook));
    let now = system_now();
    rates.newest(now).map_err(failed)?.into_iter().for_each(|sample| board.restore(sample));
    rates.pins(now).map_err(failed)?.into_iter().for_each(|pin| board.pin(pin));
    Ok((rates, board))
}

fn reasons(data: &Path, set_aside: &[u64]) -> BTreeMap<u64, String> {
    let before = directory::halted::read(data);
    let why = |tenant: &u64| match before.iter().find(|book| book.tenant == *tenant) {
        Some(book) if book.why.starts_with(SET_ASIDE) => book.why.clone(),
        Some(book) => format!("{SET_ASIDE}; before: {}", book.why),
        None => SET_ASIDE.to_owned(),
    };
    set_aside.iter().map(|tenant| (*tenant, why(tenant))).collect()
}

fn engine_config(
    config: &Config,
    set_aside: &[u64],
    clock: Clock,
    cluster: Option<Cluster>,
    disk: &Arc<Disk>,
) -> actors::Config {
    let room = Arc::clone(disk);
    let data = config.storage.path.clone();
    let set_aside = reasons(&data, set_aside);
    let halted = HaltedFile::new(data.clone());
    actors::Config {
        permits_max: config.engine.permits_max,
        shares: shares(config),
        snapshot_records: config.storage.snapshot_records,
        snapshot_seconds: config.storage.snapshot_seconds,
        idle_seconds: IDLE_SECONDS,
        awake_max: if disk.has_room(PLATFORM, false) { BOOKS_AWAKE_MAX } else { usize::MAX },
        has_room: Arc::new(move || room.has_room(PLATFORM, false)),
        has_room_for_due: disk.room_for_due(),
        is_elsewhere: None,
        patience: Duration::from_secs(config.rails.answer_seconds),
        on_fatal: Arc::new(move |why| {
            // A machine that was deposed has nothing wrong with it.
            if let Some(cluster) = cluster.as_ref().filter(|cluster| cluster.is_deposed()) {
                return cluster.step_down(why);
            }
            // The first failed write is the last: only a restart can tell what came of it.
            tracing::error!(why, "ending the process; a restart replays the log");
            let (data, why) = (data.clone(), why.to_owned());
            damage::end(EXIT_FATAL, move || damage::note(&data, &why));
        }),
        set_aside,
        on_halt: Arc::new(move |now| halted.note(now)),
        clock,
        seeds: actors::unforeseeable(),
        stepper: None,
    }
}
