//! What a node answers while it does not lead.

use super::Cluster;
use super::view::View;
use crate::http::body::Inbound;
use crate::http::listen::Arrival;
use crate::http::respond::Reply;
use api::problem::Problem;
use api::writer::Object;

/// The answers of a standby, on either listener.
#[derive(Clone)]
pub struct StandbyFront {
    cluster: Cluster,
}

impl StandbyFront {
    /// Over this node.
    pub fn new(cluster: Cluster) -> StandbyFront {
        StandbyFront { cluster }
    }

    /// Answers a request: what is the node's own itself, everything else with `no_leader`, which
    /// says that nothing was carried out.
    pub async fn answer(&self, arrival: &Arrival, _body: &mut Inbound) -> Reply {
        match arrival.head.uri.path() {
            "/healthz" => Reply::json(200, Object::new().plain("status", "ok").end()),
            "/readyz" => ready(&self.cluster),
            _ => Reply::problem(&Problem::no_leader(), &arrival.request_id),
        }
    }
}

/// The readiness of a node.
pub fn ready(cluster: &Cluster) -> Reply {
    let view = cluster.view();
    match view.ready(cluster.failover()) {
        Ok(()) => Reply::json(200, members(Object::new().plain("status", "ready"), &view).end()),
        Err(why) => {
            let unavailable = Object::new().plain("status", "unavailable").plain("reason", why);
            Reply::json(503, members(unavailable, &view).end())
        }
    }
}

fn members(object: Object, view: &View) -> Object {
    object
        .plain("role", view.role.name())
        .plain("node", &view.node)
        .maybe_plain("leader", view.leader.as_ref())
        .number("behind", view.behind())
}
