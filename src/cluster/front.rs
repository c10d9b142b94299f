//! What a node answers itself, and what it does with the rest while it does not lead.

use super::passing::Passing;
use super::peers::{Operators, Surface};
use super::view::{Member, View};
use super::{Cluster, HandOverRefused};
use crate::http::body::Inbound;
use crate::http::listen::Arrival;
use crate::http::respond::{Reply, TEXT};
use api::problem::{BadField, Problem};
use api::writer::Object;
use domain::values::time::Timestamp;
use hyper::Method;
use hyper::header::AUTHORIZATION;
use std::fmt::Write;

/// The calls of operators about the cluster.
const CLUSTER: &str = "/admin/cluster";
/// The call that has another node lead.
pub const HAND_OVER: &str = "/admin/cluster/hand-over";

/// A node's own answers on one of its listeners.
#[derive(Clone)]
pub struct StandbyFront {
    cluster: Cluster,
    surface: Surface,
    operators: Operators,
    passing: Passing,
}

impl StandbyFront {
    /// The answers on this listener.
    pub fn new(cluster: Cluster, surface: Surface, operators: Operators, passing: Passing) -> StandbyFront {
        StandbyFront { cluster, surface, operators, passing }
    }

    /// The answer to what is the node's own, whoever leads.
    pub async fn own(&self, arrival: &Arrival, body: &mut Inbound) -> Option<Reply> {
        let path = arrival.head.uri.path();
        if self.surface == Surface::Api {
            return None;
        }
        let is_leader = self.cluster.leads();
        let answered = match path {
            CLUSTER => self.show(arrival),
            // The leader's to do.
            HAND_OVER if is_leader => self.hand_over(arrival, body).await,
            _ => return None,
        };
        Some(answered.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id)))
    }

    /// The answer while another node leads, or nobody.
    pub async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        match (arrival.head.uri.path(), self.surface) {
            ("/healthz", _) => return Reply::json(200, Object::new().plain("status", "ok").end()),
            ("/readyz", Surface::Api) => return ready(&self.cluster),
            ("/metrics", Surface::Admin) => return Reply::new(200, TEXT, metrics(&self.cluster)),
            _ => {}
        }
        let passed = self.passing.pass(&self.cluster, self.surface, arrival, body).await;
        passed.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id))
    }

    fn operators_only(&self, arrival: &Arrival, method: &Method) -> Result<(), Problem> {
        if arrival.head.method != *method {
            return Err(Problem::method_not_allowed(method.as_str().into()));
        }
        let headers = &arrival.head.headers;
        if self.operators.admit(headers) {
            Ok(())
        } else {
            Err(Problem::without_token(headers.contains_key(AUTHORIZATION)))
        }
    }

    fn show(&self, arrival: &Arrival) -> Result<Reply, Problem> {
        self.operators_only(arrival, &Method::GET)?;
        Ok(Reply::json(200, show(&self.cluster.view())))
    }

    async fn hand_over(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        self.operators_only(arrival, &Method::POST)?;
        let body = body.json(&arrival.head.headers).await?;
        let to = wanted(&body)?;
        match self.cluster.hand_over(&to).await {
            Ok(done) => {
                let body = Object::new().text("leader", &done.leader).number("epoch", done.epoch).end();
                Ok(Reply::json(200, body))
            }
            Err(HandOverRefused::UnknownNode) => {
                Err(Problem::invalid_field("to", "must be the name of a node"))
            }
            Err(HandOverRefused::NotCandidate(why)) => Err(Problem::not_a_candidate(why)),
            Err(HandOverRefused::NotLeader) => Err(Problem::no_leader()),
            Err(HandOverRefused::Unknown) => Err(Problem::storage_unavailable()),
        }
    }
}

/// The node that a hand-over names.
fn wanted(body: &[u8]) -> Result<String, Problem> {
    let parsed: serde_json::Value =
        serde_json::from_slice(body).map_err(|error| Problem::invalid_json(error.to_string()))?;
    let serde_json::Value::Object(members) = parsed else {
        return Err(Problem::invalid_json("the body is no object"));
    };
    let mut bad: Vec<BadField> =
        members.keys().filter(|name| *name != "to").map(|name| BadField::new(name, "is unknown")).collect();
    match members.get("to") {
        Some(serde_json::Value::String(to)) if bad.is_empty() => return Ok(to.clone()),
        Some(serde_json::Value::String(_)) => {}
        Some(_) => bad.push(BadField::new("to", "must be a text")),
        None => bad.push(BadField::new("to", "is required")),
    }
    Err(Problem::invalid_data(bad))
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

/// The cluster as this node sees it.
pub fn show(view: &View) -> Vec<u8> {
    let nodes = view.members.iter().map(|member| show_member(view, member));
    Object::with_capacity(512)
        .plain("partition", &view.partition)
        .plain("node", &view.node)
        .plain("role", view.role.name())
        .maybe_plain("leader", view.leader.as_ref())
        .number("epoch", view.epoch)
        .number("walSeq", view.wal_seq)
        .number("agreedSeq", view.agreed_seq)
        .number("windowBytes", view.window_bytes)
        .list("nodes", nodes)
        .end()
}

fn show_member(view: &View, member: &Member) -> Vec<u8> {
    let behind = if view.leader.as_ref() == Some(&member.node) {
        0
    } else {
        view.agreed_seq.saturating_sub(member.wal_seq)
    };
    Object::new()
        .plain("node", &member.node)
        .plain("role", member.role.name())
        .number("walSeq", member.wal_seq)
        .number("behind", behind)
        .plain("seenAt", Timestamp::from_unix_ms(member.seen_at_ms))
        .text("version", &member.version)
        .end()
}

/// The figures of the cluster, as lines of a page of metrics.
pub fn metrics(cluster: &Cluster) -> String {
    let view = cluster.view();
    let mut page = String::with_capacity(1024);
    let mut row = |name: &str, kind: &str, help: &str, labels: &str, value: u64| {
        // A String takes everything.
        let _ = write!(page, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name}{labels} {value}\n");
    };
    let role = format!("{{role=\"{}\"}}", view.role.name());
    row("pasarela_cluster_role", "gauge", "1 for the part that this node has.", &role, 1);
    row("pasarela_cluster_epoch", "gauge", "The newest epoch that was seen.", "", view.epoch);
    let help = "Records that were agreed on and are not synced here.";
    row("pasarela_cluster_behind_records", "gauge", help, "", view.behind());
    row("pasarela_cluster_window_bytes", "gauge", "Bytes of batches in etcd.", "", view.window_bytes);
    let help = "Times that this process has taken over.";
    row("pasarela_cluster_takeovers_total", "counter", help, "", cluster.takeovers());
    page
}
