//! A node with several partitions: the public listeners, and a process for each partition behind them. It leads
//! nothing, and has no log.

use super::children::Children;
use super::listeners::Listeners;
use super::stop_signals::StopSignals;
use super::{StartupError, guard, limits, notify, warn_of_weak_access};
use crate::cluster::Passing;
use crate::cluster::growing;
use crate::cluster::looking;
use crate::cluster::node_front::{NodeFront, Place};
use crate::cluster::page_front::PageFront;
use crate::cluster::peers::{self, PeerKey};
use crate::cluster::reports::Partition;
use crate::cluster::spreading::{self, Spreading};
use crate::config::Config;
use crate::recovery::directory;
use crate::server::{operators_csv, whose};
use std::sync::Arc;
use std::time::Duration;

/// Beyond what a process waits for requests under way, twice, and for another node to lead.
const STOP: Duration = Duration::from_secs(15);

/// The exit code of a start that the first partition refused, and said why.
pub async fn run(config: Config) -> Result<Option<u8>, StartupError> {
    warn_of_weak_access(config.access()?.as_ref());
    let limits = limits(&config)?;
    let mut signals = StopSignals::new()?;
    api::problem::explain_at(config.server.known_url());
    let mut listeners = Listeners::bind(&config, limits).await?;
    let client = peers::client(&config, None)
        .map_err(StartupError::of("server.tls: the certificates for other nodes"))?;
    let key = PeerKey::derived(&directory::mark_key(&config.storage.path)?);
    let (node, failover) = (&config.cluster.node, config.cluster.failover());
    let passing = Passing::of_front(client.clone(), key.clone(), failover);
    let partitions: Arc<[Partition]> =
        (0..config.partitions).map(|_| Partition::nothing(node, failover)).collect();
    let front = |place| NodeFront::new(Arc::clone(&partitions), place, passing.clone(), operators_csv);
    listeners.api_gate.pass_on(front(Place::Api(whose)));
    listeners.admin_gate.pass_on(front(Place::Admin(guard(&config))));
    listeners.serve_operators();
    let pages = PageFront::new(front(Place::Admin(guard(&config))), key.clone());
    let for_pages = listeners.serve_pages(&config, pages).await?;
    let spreading = Spreading::new(Arc::clone(&partitions), client, key, config.cluster.settled());
    let patience = STOP + 2 * Duration::from_secs(config.server.shutdown_seconds);
    let mut children = Children::start(&partitions, for_pages, patience)
        .map_err(StartupError::of("the processes of the partitions"))?;
    tracing::info!(listen = %config.server.listen, admin = %config.admin.listen, partitions = partitions.len(), "ready");
    notify::ready();
    let first = Arc::clone(&partitions);
    signals.start_anew_when(growing::grown(config.clone(), move || first[0].view()));
    let refused = tokio::select! {
        never = spreading.run() => never,
        never = looking::look(config.clone(), Arc::clone(&partitions)) => never,
        () = signals.received() => None,
        code = children.refused() => Some(code),
    };
    tracing::info!("stopping");
    notify::stopping();
    spreading::name_successors(&partitions);
    // They hand over meanwhile, so that requests go on until another node has all partitions.
    let stopped = tokio::task::spawn_blocking(move || children.stop()).await;
    stopped.map_err(StartupError::of("the processes of the partitions"))?;
    listeners.stop();
    listeners.drain().await;
    tracing::info!("stopped");
    Ok(refused)
}
