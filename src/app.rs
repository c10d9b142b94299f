//! The composition root: the steps of a start in their order, and of the stop that ends it.
//!
//! The listener comes first and says that it is not ready; then the parts behind it (`parts.rs`):
//! the log, the engine, which replays, the feeds, the platform's tenants; then the gate opens.
//! A stop takes the same steps in reverse.

mod background;
pub mod bank_rate;
mod children;
mod damage;
pub mod front;
mod halted;
mod listeners;
pub mod live_rails;
mod notify;
mod parts;
mod present;
pub mod privacy;
mod room;
mod startup_error;
mod stop_signals;
mod surfaces;
mod welcome;

use crate::admin::{self, live_asks};
use crate::cluster::front::{ListenerKind, StandbyFront};
use crate::cluster::growing;
use crate::cluster::peer_front::PeerFront;
use crate::cluster::peers::{self, PeerKey};
use crate::cluster::{Cluster, Passing, Promoted};
use crate::config::{Config, Secret, TOKEN_CHARACTERS_MIN};
use crate::disk::Disk;
use crate::gateway::services::Services;
use crate::gateway::{following, holding, moving};
use crate::http::listen::Limits;
use crate::http::open_files;
use crate::http::origin_check::OriginCheck;
use crate::metrics::Metrics;
use crate::recovery::directory;
use crate::server;
use crate::telemetry::spans::Spans;
use api::problem::Problem;
use background::Background;
pub use damage::EXIT_DAMAGED;
use domain::values::ids::PLATFORM;
use listeners::Listeners;
use live_rails::Networks;
use parts::Stores;
pub use startup_error::StartupError;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use stop_signals::StopSignals;

const ROUTES_EVERY: Duration = Duration::from_millis(20);

/// The parts that are made before anything is opened: what is wrong with them is the configuration's.
pub struct Outside {
    pub spans: Option<Arc<Spans>>,
    pub networks: Networks,
}

/// The books of the tenant keys in `set_aside` are not recovered; they are halted until an operator
/// resumes them.
pub async fn run(
    mut config: Config,
    take_over: bool,
    set_aside: &[u64],
    outside: Outside,
) -> Result<(), StartupError> {
    let access = config.access()?;
    warn_of_weak_access(access.as_ref());
    privacy::warn_of_open_files(&config);
    let limits = limits(&config)?;
    let mut signals = StopSignals::new()?;
    api::problem::explain_at(config.server.known_url());
    let mut listeners = Listeners::bind(&config, limits).await?;
    let mut successors = None;
    if config.partition.is_some() {
        successors = Some(children::end_with_the_front().map_err(StartupError::of("the front"))?);
        let address = listeners.bind_peers(&config).await?;
        config.cluster.listens_to_peers_at(address);
    }
    let disk = Arc::new(Disk::new(&config.storage.path, config.storage.reserve_bytes));
    room::make_room(&disk);
    let (mut lead, mut stores) = (None, None);
    if config.cluster.is_on() {
        let led = stand_by(&config, access.as_ref(), &disk, &mut listeners, &mut signals).await?;
        let Some((node, promoted, opened)) = led else { return Ok(()) };
        (lead, stores) = (Some((node, promoted)), opened);
    }
    let node = lead.as_ref().map(|(node, _)| Cluster::clone(node));
    let (services, feeds) = loop {
        match parts::open(&config, take_over, set_aside, &outside, &disk, lead.take(), stores.take()).await {
            Ok(opened) => break opened,
            // The right to lead is used up by an attempt: a node starts anew, and another leads meanwhile.
            Err(why) if node.is_none() && room::is_lacking(&disk, &why) => {
                tracing::error!(%why, "the disk is full: the log cannot be opened; trying again");
                listeners.api_gate.explain("the disk is full: the log cannot be opened");
                if signals.unless_stopped(room::wait_for_room()).await.is_none() {
                    return Ok(());
                }
            }
            Err(why) => {
                damage::ends_first().await;
                if let Some(node) = node {
                    node.release().await;
                }
                return Err(why);
            }
        }
    };
    room::keep_some(&disk);
    let background = Background::start(&config, &services, disk)?;
    if let (Some(partition), Some(cluster)) = (config.partition, &services.cluster) {
        tokio::spawn(keep_routes(Arc::clone(&services)));
        cluster.answer_by(holding::holds(&services, admin::has_thing));
        cluster.move_by(moving::start(&services));
        cluster.answer_live_by(live_asks::inlet(&services));
        match partition {
            0 => following::start(&services),
            _ => cluster.follow_by(following::inlet(&services, admin::end_approvals)),
        }
    }
    let metrics = Metrics {
        services: Arc::clone(&services),
        traffic: listeners.traffic.clone(),
        certificates: listeners.certificates.clone(),
        ended_badly: damage::last_end(&config.storage.path),
        is_open: config.admin.listen.ip().is_loopback(),
        started: SystemTime::now(),
    };
    let [public, of_operators] = surfaces::servers(&config, &services, metrics)?;
    listeners.api_gate.open(public);
    listeners.admin_gate.open(of_operators);
    listeners.serve_operators();
    say_ready(&config, &services);

    signals.received().await;
    services.streams.stop();
    if let Some(cluster) = &services.cluster {
        let order = successors.map(|named| named.borrow().clone()).unwrap_or_default();
        cluster.hand_over_to_stop(&order).await;
    }
    tracing::info!("stopping");
    notify::stopping();
    listeners.stop();
    services.read_pool.stop();
    listeners.drain().await;
    drop(feeds);
    background.stop(&services).await;
    services.engine.stop(Duration::from_secs(config.server.shutdown_seconds)).await;
    if let Some(cluster) = &services.cluster {
        cluster.release().await;
    }
    tracing::info!("stopped");
    Ok(())
}

/// As many connections as the process may have open, at most.
fn limits(config: &Config) -> Result<Limits, StartupError> {
    let connections_max = open_files::connections_allowed(config.server.max_connections)?;
    Ok(Limits { connections_max, ..Limits::from(&config.server) })
}

fn warn_of_weak_access(access: Option<&Secret>) {
    match access {
        None => {
            tracing::warn!(
                "admin.insecure_dev_token is set: whoever reaches the admin listener is an operator"
            );
        }
        Some(token) if token.expose().len() < TOKEN_CHARACTERS_MIN => {
            tracing::warn!(characters_min = TOKEN_CHARACTERS_MIN, "admin.token is short: it can be guessed");
        }
        Some(_) => {}
    }
}

/// Tells the front whose keys lead where.
async fn keep_routes(services: Arc<Services>) {
    let Some(cluster) = &services.cluster else { return };
    let mut known = None;
    loop {
        let version = services.callers.directory.version();
        if known != Some(version)
            && let Ok(book) = services.platform_book().await
        {
            cluster.learn_routes(&book);
            known = Some(version);
        }
        tokio::time::sleep(ROUTES_EVERY).await;
    }
}

fn say_ready(config: &Config, services: &Services) {
    if let Some(cluster) = &services.cluster {
        cluster.opened(services.engine.reader().clone());
    }
    tracing::info!(listen = %config.server.listen, admin = %config.admin.listen, path = %config.storage.path.display(), "ready");
    if config.partition.is_none() && welcome::is_watched(config) {
        let scheme = if config.admin.tls.is_some() { "https" } else { "http" };
        eprintln!("{}", welcome::lines(config, &format!("{scheme}://{}", config.admin.listen)));
    }
    notify::ready();
}

/// Follows the log of the cluster until this machine leads it; none if a signal came first.
async fn stand_by(
    config: &Config,
    access: Option<&Secret>,
    disk: &Arc<Disk>,
    listeners: &mut Listeners,
    signals: &mut StopSignals,
) -> Result<Option<(Cluster, Promoted, Option<Stores>)>, StartupError> {
    let (own, access) = (config.clone(), access.cloned());
    let started =
        tokio::task::spawn_blocking(move || Cluster::start(&own, access.as_ref(), &damage::watch)).await;
    let panicked = |_| StartupError::of("the node of the cluster did not start")("it panicked");
    let (node, promoted) = started.map_err(panicked)??;
    listen_to_peers(config, &node, disk, listeners).await?;
    if config.partition.is_some() {
        node.tell(config.cluster.peer_address(config.server.tls.is_some()))
            .map_err(StartupError::of("the front"))?;
    }
    if config.partition.is_none() {
        let own = node.clone();
        signals.start_anew_when(growing::grown(config.clone(), move || own.view()));
    }
    // Operators ask a standby too.
    listeners.serve_operators();
    let (own, disk) = (config.clone(), Arc::clone(disk));
    let stores = tokio::task::spawn_blocking(move || {
        server::prepare();
        Stores::open(&own, &disk)
    });
    notify::ready();
    let Some(promoted) = signals.unless_stopped(promoted).await else {
        node.leave().await;
        // It may have taken the log just now.
        node.release().await;
        return Ok(None);
    };
    // Without a sender the process is about to start anew.
    let Ok(promoted) = promoted else { return std::future::pending().await };
    let opened = stores.await.map_err(panicked)?;
    // A full disk, mostly: they are opened once there is room.
    let opened = opened.inspect_err(|why| tracing::warn!(%why, "the stores beside the log are not open yet"));
    Ok(Some((node, promoted, opened.ok())))
}

async fn listen_to_peers(
    config: &Config,
    node: &Cluster,
    disk: &Arc<Disk>,
    listeners: &mut Listeners,
) -> Result<(), StartupError> {
    let key = PeerKey::derived(&directory::mark_key(&config.storage.path)?);
    let client = peers::client(config, None)
        .map_err(StartupError::of("server.tls: the certificates for other nodes"))?;
    let passing = Passing::new(client, key.clone(), config.cluster.failover());
    let front = |place| StandbyFront::new(node.clone(), place, passing.clone());
    let (api, admin) = (&listeners.api_gate, &listeners.admin_gate);
    api.stand_by(front(ListenerKind::Api));
    let disk = Arc::clone(disk);
    admin.stand_by(front(ListenerKind::Admin {
        guard: guard(config),
        is_open: config.admin.listen.ip().is_loopback(),
        metrics: crate::metrics::standby,
        // Nothing looks at the disk by itself while another node leads.
        room: Arc::new(move || {
            disk.look();
            if disk.has_room(PLATFORM, false) { Ok(()) } else { Err(Problem::disk_nearly_full()) }
        }),
    }));
    let peers = PeerFront::new(node.clone(), key, peer_guard(config), Arc::clone(api), Arc::clone(admin));
    listeners.serve_peers(config, peers).await
}

/// The rule that keeps other sites' pages away from the operators' listener.
fn guard(config: &Config) -> OriginCheck {
    OriginCheck::new(config.admin.hosts.clone(), config.admin.tls.is_some())
}

fn peer_guard(config: &Config) -> OriginCheck {
    let mut hosts = config.admin.hosts.clone();
    hosts.extend(config.cluster.peer_hosts());
    OriginCheck::new(hosts, config.server.tls.is_some())
}
