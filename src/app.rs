//! The composition root: what is started, in which order, and how it is stopped again.

use crate::api::problem::Problem;
use crate::config::{AdminAccess, Config, Server};
use crate::server::body::Inbound;
use crate::server::listen::{Answer, Arrival, Limits, Listener};
use crate::server::open_files;
use crate::server::respond::Reply;
use crate::server::router::{Lookup, Router};
use hyper::Method;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Runs until a signal says stop.
pub async fn run(config: Config, take_over: bool) -> Result<(), String> {
    if config.admin.access() == Ok(AdminAccess::Insecure) {
        tracing::warn!(
            "admin.insecure_dev_token is set: whoever reaches the admin listener is an operator"
        );
    }
    tracing::debug!(take_over, path = %config.storage.path.display(), "starting");
    open_files::raise_for(config.server.max_connections);
    let front = Front {
        router: Router::new([(Method::GET, "/healthz", ())]).map_err(|bad| bad.to_string())?,
    };
    let listen = config.server.listen;
    let listener = Listener::bind(listen)
        .await
        .map_err(|error| format!("server.listen: {listen}: {error}"))?;
    let mut terminate =
        signal(SignalKind::terminate()).map_err(|error| format!("no signals: {error}"))?;
    tracing::info!(%listen, "listening");
    let stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        tracing::info!("stopping");
    };
    let drained = listener
        .serve(Arc::new(front), Limits::from(&config.server), stop)
        .await;
    if drained.cut_off > 0 {
        tracing::warn!(
            connections = drained.cut_off,
            "requests under way were cut off"
        );
    }
    tracing::info!("stopped");
    Ok(())
}

impl From<&Server> for Limits {
    fn from(server: &Server) -> Self {
        Limits {
            connections_max: server.max_connections,
            head_bytes_max: server.head_bytes_max,
            head_timeout: Duration::from_secs(server.head_timeout_seconds),
            body_timeout: Duration::from_secs(server.body_timeout_seconds),
            idle_timeout: Duration::from_secs(server.idle_timeout_seconds),
            shutdown_timeout: Duration::from_secs(server.shutdown_seconds),
            ..Limits::default()
        }
    }
}

/// Answers whether the process lives.
struct Front {
    router: Router<()>,
}

impl Answer for Front {
    async fn answer(&self, arrival: Arrival, _body: &mut Inbound) -> Reply {
        let problem = match self
            .router
            .lookup(&arrival.head.method, arrival.head.uri.path())
        {
            Lookup::Found(_) => return Reply::json(200, &b"{\"status\":\"ok\"}"[..]),
            Lookup::WrongMethod { allow } => Problem::method_not_allowed(Arc::clone(allow)),
            Lookup::NotFound => Problem::not_found(),
        };
        Reply::problem(&problem, &arrival.request_id)
    }
}
