//! The listeners, each with a gate in front of what answers: bound before anything behind them is
//! there, served until the server stops.

use super::StartupError;
use crate::cluster::passing;
use crate::config::{Config, Server, Tls};
use crate::http::body::Budget;
use crate::http::listen::{Answer, Drained, Limits, Listener, Traffic};
use crate::http::tls::{self, Certificates, Files};
use crate::server::StartupGate;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(super) struct Listeners {
    pub(super) api_gate: Arc<StartupGate>,
    pub(super) admin_gate: Arc<StartupGate>,
    pub(super) traffic: [(&'static str, Arc<Traffic>); 2],
    pub(super) certificates: Vec<Arc<Certificates>>,
    api: Option<JoinHandle<Drained>>,
    bound: Option<(Listener, Limits)>,
    bound_to_peers: Option<Listener>,
    admin: Option<JoinHandle<Drained>>,
    peers: Option<JoinHandle<Drained>>,
    limits: Limits,
    renewing: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

impl Listeners {
    /// A process behind a front has no listener but the one for nodes.
    pub(super) async fn bind(config: &Config, limits: Limits) -> Result<Listeners, StartupError> {
        if config.partition.is_some() {
            return Ok(Listeners::of_partition(limits));
        }
        let certificates = [
            certificates("api", "server.tls", config.server.tls.as_ref())?,
            certificates("admin", "admin.tls", config.admin.tls.as_ref())?,
        ];
        let [of_api, of_admin] = certificates.clone();
        let api = bind("server.listen", config.server.listen).await?.secured(of_api);
        let admin = bind("admin.listen", config.admin.listen).await?.secured(of_admin);
        let certificates: Vec<_> = certificates.into_iter().flatten().collect();
        let renewing = tokio::spawn(tls::keep_fresh(certificates.clone()));
        let traffic = [("api", api.traffic()), ("admin", admin.traffic())];
        let (stop, stopped) = watch::channel(false);
        let api_gate = Arc::new(StartupGate::new(false));
        // Before anybody asks: a node that starts has no leader to ask, and is not overloaded.
        if config.cluster.is_on() {
            api_gate.start_node();
        }
        let api = tokio::spawn(api.serve(Arc::clone(&api_gate), limits.clone(), until(stopped)));
        Ok(Listeners {
            api_gate,
            admin_gate: Arc::new(StartupGate::new(true)),
            traffic,
            certificates,
            api: Some(api),
            bound_to_peers: None,
            bound: Some((admin, with_own_bodies(config, &limits))),
            admin: None,
            peers: None,
            limits,
            renewing,
            stop,
        })
    }

    fn of_partition(limits: Limits) -> Listeners {
        let gate = |is_operators| Arc::new(StartupGate::new(is_operators));
        let api_gate = gate(false);
        api_gate.start_node();
        Listeners {
            api_gate,
            admin_gate: gate(true),
            traffic: [("api", Arc::default()), ("admin", Arc::default())],
            certificates: Vec::new(),
            api: None,
            bound: None,
            bound_to_peers: None,
            admin: None,
            peers: None,
            limits,
            renewing: tokio::spawn(async {}),
            stop: watch::Sender::new(false),
        }
    }

    /// Before the node says where it listens: the system may have chosen the port.
    pub(super) async fn bind_peers(&mut self, config: &Config) -> Result<SocketAddr, StartupError> {
        let listener = bind("cluster.peer_listen", config.cluster.peer_listen).await?;
        let address = listener.local_addr().map_err(StartupError::of("cluster.peer_listen"))?;
        self.bound_to_peers = Some(listener);
        Ok(address)
    }

    pub(super) fn serve_operators(&mut self) {
        if let Some((listener, limits)) = self.bound.take() {
            let serving = listener.serve(Arc::clone(&self.admin_gate), limits, until(self.stop.subscribe()));
            self.admin = Some(tokio::spawn(serving));
        }
    }

    pub(super) async fn serve_peers(
        &mut self,
        config: &Config,
        front: impl Answer,
    ) -> Result<(), StartupError> {
        let certificates = certificates("peers", "server.tls", config.server.tls.as_ref())?;
        let listener = match self.bound_to_peers.take() {
            Some(listener) => listener,
            None => bind("cluster.peer_listen", config.cluster.peer_listen).await?,
        };
        let listener = listener.secured(certificates);
        let serving = listener.serve(Arc::new(front), self.for_nodes(config), until(self.stop.subscribe()));
        self.peers = Some(tokio::spawn(serving));
        Ok(())
    }

    /// Of a front, for its own processes: the address, which the system chooses.
    pub(super) async fn serve_pages(
        &mut self,
        config: &Config,
        front: impl Answer,
    ) -> Result<SocketAddr, StartupError> {
        let listener = bind("the listener for pages", (Ipv4Addr::LOCALHOST, 0).into()).await?;
        let address = listener.local_addr().map_err(StartupError::of("the listener for pages"))?;
        let serving = listener.serve(Arc::new(front), self.for_nodes(config), until(self.stop.subscribe()));
        self.peers = Some(tokio::spawn(serving));
        Ok(address)
    }

    fn for_nodes(&self, config: &Config) -> Limits {
        Limits {
            connections_per_peer_max: 0,
            // What another node took is taken with what that added.
            head_bytes_max: self.limits.head_bytes_max + passing::HEAD_BYTES_ADDED_MAX,
            ..with_own_bodies(config, &self.limits)
        }
    }

    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    pub(super) async fn drain(self) {
        for (name, listener) in [("server", self.api), ("admin", self.admin), ("peers", self.peers)] {
            let Some(listener) = listener else { continue };
            match listener.await {
                Ok(drained) if drained.cut_off > 0 => {
                    tracing::warn!(name, connections = drained.cut_off, "requests under way were cut off")
                }
                Ok(_) => {}
                Err(error) => tracing::error!(name, %error, "the task of a listener failed"),
            }
        }
        self.renewing.abort();
    }
}

/// Strangers do not use up what operators and other nodes need.
fn with_own_bodies(config: &Config, limits: &Limits) -> Limits {
    Limits { bodies: Arc::new(Budget::new(config.server.bodies_bytes_max)), ..limits.clone() }
}

async fn bind(key: &'static str, address: SocketAddr) -> Result<Listener, StartupError> {
    Listener::bind(address).await.map_err(StartupError::of(format!("{key}: {address}")))
}

fn certificates(
    name: &'static str,
    key: &'static str,
    tls: Option<&Tls>,
) -> Result<Option<Arc<Certificates>>, StartupError> {
    let files = tls.map(|tls| Files { certificate: tls.certificate.clone(), key: tls.key.clone() });
    files.map(|files| Certificates::load(name, files).map_err(StartupError::of(key))).transpose()
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // The sender lives as long as the listeners; if it is gone, so is the reason to serve.
    let _ = stopped.wait_for(|stopped| *stopped).await;
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
