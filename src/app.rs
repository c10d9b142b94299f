//! The composition root: what is started, in which order, and how it is stopped again.
//!
//! The listener comes first and says that it is not ready; then the parts behind it (`parts.rs`):
//! the log, the engine, which replays, the feeds, the platform's tenants; then the gate opens.
//! Stopping is the same backwards.
//!
//! Starting and stopping belong here and in this folder, and so does what a start has to know of
//! its machine. Rules do not, and no request comes this way.

mod bank_rate;
mod ended_badly;
mod halted;
pub mod live_rails;
mod notify;
mod parts;
mod present;
pub mod privacy;
mod room;
mod startup_error;
mod startup_gate;
mod translate;
mod welcome;

use crate::admin::{self, AdminApi};
use crate::checkout::{self, Front};
use crate::cluster::front::{Place, StandbyFront};
use crate::cluster::peer_front::PeerFront;
use crate::cluster::peers::{self, PeerKey};
use crate::cluster::{Cluster, Passing, Promoted};
use crate::config::{AdminAccess, Config, Server, TOKEN_CHARACTERS_MIN, Tls};
use crate::console::Console;
use crate::gateway::disk::Disk;
use crate::gateway::dispatch::Gateway;
use crate::gateway::public::Public;
use crate::gateway::rail_calls::RailCalls;
use crate::gateway::services::Services;
use crate::http::body::Budget;
use crate::http::documents::home;
use crate::http::guard::Guard;
use crate::http::listen::{Answer, Drained, Limits, Listener};
use crate::http::open_files;
use crate::http::tls::{self, Certificates, Files};
use crate::metrics::Metrics;
use crate::pages::front;
use crate::portal::Portal;
use crate::recovery::directory;
use crate::selfcheck::SelfCheck;
use crate::telemetry::spans::Spans;
use crate::thinning::Thinning;
use crate::wallets::Wallets;
use domain::values::time::{DAY_MS, HOUR_MS};
pub use startup_error::StartupError;
use startup_gate::StartupGate;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use wal::Retention;

/// The time that another machine has to serve before this one stops.
const HAND_OVER: Duration = Duration::from_secs(5);
/// The time that deliveries under way have to end; the others are sent again after the next start.
const WEBHOOKS_STOP: Duration = Duration::from_secs(2);

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
    let mut admin_listener = Some(bind("admin.listen", config.admin.listen).await?.secured(of_admin));
    let certificates: Vec<_> = certificates.into_iter().flatten().collect();
    let renewing = tokio::spawn(tls::keep_fresh(certificates.clone()));
    let traffic = [
        ("api", listener.traffic()),
        ("admin", admin_listener.as_ref().map(Listener::traffic).unwrap_or_default()),
    ];
    let (stop, stopped) = watch::channel(false);

    let gate = Arc::new(StartupGate::<front::Front<Portal<Front<Gateway>>>>::new());
    let serving = tokio::spawn(listener.serve(Arc::clone(&gate), limits.clone(), until(stopped.clone())));
    // A budget of its own keeps strangers from using up what operators need.
    let admin_limits = Limits { bodies: Arc::new(Budget::new(config.server.bodies_bytes_max)), ..limits };
    let admin_gate = Arc::new(StartupGate::<front::Front<Console<AdminApi>>>::new());

    let disk = Arc::new(Disk::new(&config.storage.path, config.storage.reserve_bytes));
    room::make_room(&disk);
    let (mut administering, mut listening_to_peers) = (None, None);
    let mut lead = None;
    if config.cluster.is_on() {
        let (node, promoted) = start_node(&config, &access).await?;
        let peers = listen_to_peers(&config, &node, (&gate, &admin_gate), &limits, stopped.clone());
        listening_to_peers = Some(peers.await?);
        // Operators ask a standby too.
        let (listener, limits) = (admin_listener.take(), admin_limits.clone());
        administering = listener.map(|listener| {
            tokio::spawn(listener.serve(Arc::clone(&admin_gate), limits, until(stopped.clone())))
        });
        notify::ready();
        let promoted = tokio::select! {
            promoted = promoted => Some(promoted),
            _ = terminate.recv() => None,
            _ = tokio::signal::ctrl_c() => None,
        };
        let Some(promoted) = promoted else {
            node.leave().await;
            return Ok(());
        };
        // Without a sender the process is about to start anew.
        let Ok(promoted) = promoted else { return std::future::pending().await };
        lead = Some((node, promoted));
    }
    let (services, feeds) = loop {
        match parts::open(&config, take_over, set_aside, spans.clone(), &disk, lead.take()).await {
            Ok(started) => break started,
            // Ending would only lead to another start, so it tries again.
            Err(why) if room::is_full(&disk) => {
                tracing::error!(%why, "the disk is full: the log cannot be opened; trying again");
                gate.explain("the disk is full: the log cannot be opened");
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
    let wallets = Wallets::start(&services);
    let home = home::page(&services.site.base_url, config.demo_key()).map_err(StartupError::Page)?;
    let public = public(&config, &services)?;
    let rail_calls = RailCalls::new(Arc::clone(&services), live_rails::callers(&config)?)?;
    let gateway = Gateway::new(
        Arc::clone(&services),
        config.limits.requests_per_second,
        config.limits.burst,
        public,
        rail_calls,
        home,
        config.demo_key(),
    )?;
    let buyers = checkout::Limits::new(
        config.server.trusted_proxies.clone(),
        config.limits.misses_per_minute,
        config.limits.misses_burst,
    );
    let buyers = Front::new(Arc::clone(&services), gateway, buyers)?;
    gate.open(portal(&config, &services, buyers)?);
    let selfcheck = SelfCheck::start(services.engine.clone(), Arc::clone(&services.observed.selfcheck));
    let selfcheck = selfcheck.map_err(not_started("the self-check"))?;
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
    let admin = AdminApi::new(Arc::clone(&services), metrics, guard(&config))?;
    admin_gate.open(console(&config, &services, admin)?);
    let administering = administering.or_else(|| {
        let serve =
            |listener: Listener| listener.serve(Arc::clone(&admin_gate), admin_limits, until(stopped));
        admin_listener.take().map(|listener| tokio::spawn(serve(listener)))
    });
    if let Some(cluster) = &services.cluster {
        cluster.opened(services.engine.reader().clone());
    }
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
    if let Some(cluster) = &services.cluster
        && let Some(to) = cluster.successor()
    {
        tracing::info!(to, "handing the log over");
        // Whatever comes of it, this process ends.
        let _ = tokio::time::timeout(HAND_OVER, cluster.hand_over(&to)).await;
    }
    tracing::info!("stopping");
    notify::stopping();
    stop.send_replace(true);
    services.read_pool.stop();
    for (name, listener) in
        [("server", Some(serving)), ("admin", administering), ("peers", listening_to_peers)]
    {
        let Some(listener) = listener else { continue };
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
    wallets.stop();
    looking.abort();
    renewing.abort();
    services.engine.stop(Duration::from_secs(config.server.shutdown_seconds)).await;
    tracing::info!("stopped");
    Ok(())
}

async fn bind(key: &'static str, address: SocketAddr) -> Result<Listener, StartupError> {
    Listener::bind(address).await.map_err(|source| StartupError::Bind { key, address, source })
}

/// Has a standby answer on both listeners, and opens the one for other nodes.
async fn listen_to_peers<A: Answer, B: Answer>(
    config: &Config,
    node: &Cluster,
    (api, admin): (&Arc<StartupGate<A>>, &Arc<StartupGate<B>>),
    limits: &Limits,
    stopped: watch::Receiver<bool>,
) -> Result<JoinHandle<Drained>, StartupError> {
    let key = PeerKey::derived(&directory::mark_key(&config.storage.path)?);
    let client = peers::client(config).map_err(StartupError::Peers)?;
    let passing = Passing::new(client, key.clone());
    let front = |place| StandbyFront::new(node.clone(), place, passing.clone());
    api.stand_by(front(Place::Api));
    admin.stand_by(front(Place::Admin {
        guard: guard(config),
        is_open: config.admin.listen.ip().is_loopback(),
    }));
    let certificates = certificates("peers", "server.tls", config.server.tls.as_ref())?;
    let listener = bind("cluster.peer_listen", config.cluster.peer_listen).await?.secured(certificates);
    let peers = PeerFront::new(node.clone(), key, Arc::clone(api), Arc::clone(admin));
    let limits = Limits {
        connections_per_peer_max: 0,
        bodies: Arc::new(Budget::new(config.server.bodies_bytes_max)),
        ..limits.clone()
    };
    Ok(tokio::spawn(listener.serve(Arc::new(peers), limits, until(stopped))))
}

/// The node of a cluster that this machine is, and what says that it leads.
async fn start_node(
    config: &Config,
    access: &AdminAccess,
) -> Result<(Cluster, oneshot::Receiver<Promoted>), StartupError> {
    let (config, access) = (config.clone(), access.clone());
    let started = tokio::task::spawn_blocking(move || Cluster::start(&config, &access)).await;
    let started =
        started.map_err(|_| not_started("the node of the cluster")(io::Error::other("it panicked")));
    Ok(started??)
}

/// What keeps other sites' pages away from the operators' listener.
fn guard(config: &Config) -> Guard {
    Guard::new(config.admin.hosts.clone(), config.admin.tls.is_some())
}

/// The error of a thread that does not start.
fn not_started(what: &'static str) -> impl FnOnce(io::Error) -> StartupError {
    move |source| StartupError::Thread { what, source }
}

/// The certificates of a listener, if it speaks TLS.
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

/// The public API and what it needs.
fn public(config: &Config, services: &Arc<Services>) -> Result<Public, StartupError> {
    let withdrawals = translate::withdrawals(&config.withdraw)?;
    let policy = withdrawals
        .policy(config.tenant_defaults.withdraw_fee_policy)
        .cloned()
        .ok_or(StartupError::NoPolicy)?;
    Ok(Public::new(Arc::clone(services), &config.public_allowed_origins, withdrawals, policy)?)
}

/// The console of operators, in front of their API.
fn console(
    config: &Config,
    services: &Arc<Services>,
    api: AdminApi,
) -> Result<front::Front<Console<AdminApi>>, StartupError> {
    let site = Console::new(Arc::clone(services), guard(config), api);
    Ok(front::Front::new(Arc::clone(services), site, Vec::new(), config.admin.tls.is_some())?)
}

/// The portal of merchants, in front of what buyers and tenants are answered by.
fn portal(
    config: &Config,
    services: &Arc<Services>,
    api: Front<Gateway>,
) -> Result<front::Front<Portal<Front<Gateway>>>, StartupError> {
    let site = Portal::new(Arc::clone(services), api);
    let is_secure = config.server.tls.is_some() || services.site.base_url.starts_with("https://");
    let proxies = config.server.trusted_proxies.clone();
    Ok(front::Front::new(Arc::clone(services), site, proxies, is_secure)?)
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
