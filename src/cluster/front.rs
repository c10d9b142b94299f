//! What a node answers itself while it does not lead, and the way of all other requests.

use super::Cluster;
use super::passing::Passing;
use super::peers::Surface;
use super::view::{Member, View};
use crate::backups;
use crate::http::body::Inbound;
use crate::http::body::{unexpected_parameters, without_unexpected};
use crate::http::listen::Arrival;
use crate::http::origin_check::OriginCheck;
use crate::http::respond::{Reply, TEXT};
use api::fields::Fields;
use api::problem::Problem;
use api::shown;
use api::writer::Object;
use domain::platform::operators::Role;
use domain::values::time::Timestamp;
use hyper::Method;
use std::sync::Arc;
use std::time::Duration;

pub const CLUSTER: &str = "/admin/cluster";
pub(super) const SNAPSHOT: &str = "/admin/snapshot";
pub(super) const BACKUP: &str = "/admin/backup";

/// What holds on a listener whoever leads.
#[derive(Clone)]
pub enum ListenerKind {
    Api,
    Admin {
        guard: OriginCheck,
        /// Whether figures are for everybody who reaches the listener.
        is_open: bool,
        metrics: fn(&Cluster) -> String,
        /// Refuses a copy while the disk has no room for more than what was begun.
        room: Room,
    },
}

pub type Room = Arc<dyn Fn() -> Result<(), Problem> + Send + Sync>;

#[derive(Clone)]
pub struct StandbyFront {
    cluster: Cluster,
    place: ListenerKind,
    passing: Passing,
}

impl StandbyFront {
    pub fn new(cluster: Cluster, place: ListenerKind, passing: Passing) -> StandbyFront {
        StandbyFront { cluster, place, passing }
    }

    /// What is the node's own also when it leads no more.
    pub fn own(&self, arrival: &Arrival) -> Option<Reply> {
        let is_own = arrival.head.uri.path() == CLUSTER && !self.cluster.leads();
        match &self.place {
            ListenerKind::Admin { guard, .. } if is_own => {
                let shown = guard.check(&arrival.head).and_then(|()| self.show(arrival));
                Some(shown.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id)))
            }
            _ => None,
        }
    }

    pub async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let answered = self.answered(arrival, body).await;
        answered.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id))
    }

    async fn answered(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let head = &arrival.head;
        if let ListenerKind::Admin { guard, .. } = &self.place {
            guard.check(head)?;
        }
        match (head.uri.path(), &self.place) {
            ("/healthz", _) => read_only(&head.method, alive()),
            ("/readyz", _) => read_only(&head.method, ready(&self.cluster)),
            (SNAPSHOT | BACKUP, ListenerKind::Admin { room, .. }) => self.copy(room, arrival, body).await,
            ("/metrics", ListenerKind::Admin { is_open, metrics, .. }) => {
                if !*is_open {
                    self.cluster.shared.operators.authenticate(&arrival.head.headers)?;
                }
                Ok(Reply::new(200, TEXT, metrics(&self.cluster)))
            }
            (_, ListenerKind::Admin { .. }) => {
                self.passing.pass(self.cluster.changes(), Surface::Admin, arrival, body).await
            }
            (_, ListenerKind::Api) => {
                self.passing.pass(self.cluster.changes(), Surface::Api, arrival, body).await
            }
        }
    }

    /// Of this node's own data. The records that would tell of it are the leader's to write: the
    /// log lines tell of it, and no Idempotency-Key is kept.
    async fn copy(&self, room: &Room, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let head = &arrival.head;
        if head.method != Method::POST {
            return Err(Problem::method_not_allowed("POST".into()));
        }
        let operator = self.cluster.shared.operators.authenticate(&head.headers)?;
        operator.must_be(Role::Admin)?;
        if head.uri.path() == BACKUP {
            let room = Arc::clone(room);
            // A disk that does not answer must not hold a worker.
            tokio::task::spawn_blocking(move || room()).await.map_err(Problem::internal_error)??;
        }
        let body = body.json(&head.headers).await?;
        let unexpected = unexpected_parameters(head.uri.query());
        let (operation, shown) = if head.uri.path() == SNAPSHOT {
            let read = Fields::parse_optional(&body).and_then(|fields| Ok(fields.finish().map(drop)?));
            without_unexpected(read, unexpected)?;
            let seq = self.cluster.snapshot().await?;
            ("takeSnapshot", Object::new().number("walSeq", seq).end())
        } else {
            let path = without_unexpected(
                Fields::parse(&body).and_then(|fields| Ok(backups::wanted(fields)?)),
                unexpected,
            )?;
            ("makeBackup", self.cluster.back_up(path).await?.show())
        };
        let (operator, request_id) = (operator.who().shown_id(), arrival.request_id.as_str());
        tracing::info!(operation, operator, request_id, peer = %arrival.peer, "an operator's call to a \
            standby");
        Ok(Reply::json(200, shown))
    }

    fn show(&self, arrival: &Arrival) -> Result<Reply, Problem> {
        if !matches!(arrival.head.method, Method::GET | Method::HEAD) {
            return Err(Problem::method_not_allowed("GET, HEAD".into()));
        }
        self.cluster.shared.operators.authenticate(&arrival.head.headers)?;
        without_unexpected(Ok(()), unexpected_parameters(arrival.head.uri.query()))?;
        Ok(Reply::json(200, show(&self.cluster.view(), &[])))
    }
}

pub fn read_only(method: &Method, reply: Reply) -> Result<Reply, Problem> {
    match *method {
        Method::GET | Method::HEAD => Ok(reply),
        _ => Err(Problem::method_not_allowed("GET, HEAD".into())),
    }
}

pub fn alive() -> Reply {
    Reply::json(200, Object::new().plain("status", "ok").end())
}

pub fn ready(cluster: &Cluster) -> Reply {
    readiness(&cluster.view(), cluster.shared.settings.failover)
}

pub fn readiness(view: &View, failover: Duration) -> Reply {
    view.ready(failover).map_or_else(|why| unavailable(view, why), |()| is_ready(view))
}

pub fn is_ready(view: &View) -> Reply {
    Reply::json(200, members(Object::new().plain("status", "ready"), view).end())
}

pub fn unready(cluster: &Cluster, why: &str) -> Reply {
    unavailable(&cluster.view(), why)
}

fn unavailable(view: &View, why: &str) -> Reply {
    let object = Object::new().plain("status", "unavailable").text("reason", why);
    Reply::json(503, members(object, view).end())
}

fn members(object: Object, view: &View) -> Object {
    object
        .plain("role", view.role.name())
        .plain("node", &view.node)
        .maybe_plain("leader", view.leader.as_ref())
        .number("behind", view.behind())
}

shown! {
    /// `others` are the further partitions.
    pub fn show(view: &View, others: &[Arc<View>]), view_schema, 512 {
        plain "partition" = &view.partition, text();
        plain "node" = &view.node, text().about("The node that answers.");
        plain "role" = view.role.name(), one_of(["leader", "standby"]).about("Its part.");
        maybe plain "leader" = view.leader.as_ref(),
            text().about("Who serves; null while nobody does, or this node cannot tell.");
        number "epoch" = view.epoch, count().about("The times that the log changed hands.");
        number "walSeq" = view.wal_seq, count().about("The last record that is synced on this node.");
        number "agreedSeq" = view.agreed_seq, count().about("The last record that was agreed on.");
        number "windowBytes" = view.window_bytes, count().about("Bytes of the log in etcd.");
        number "storedVersion" = u64::from(view.stored_version), count().about(
            "The version of the stored format that records are written in. It is raised by itself once every node reads \
             a later one.");
        list "nodes" = view.members.iter().map(|member| show_member(view, member)), list(named("ClusterNode"));
        list "partitions" = std::iter::once(view)
            .chain(others.iter().map(|view| &**view))
            .zip(0..)
            .map(|(view, partition)| show_partition(view, partition)), list(named("ClusterPartition")).about(
            "The logs of the cluster, of which there is one: what is above is of partition 0.");
    }
}

shown! {
    pub fn show_partition(view: &View, partition: u64), partition_schema, 384 {
        number "partition" = partition, count();
        maybe plain "leader" = view.leader.as_ref(), text();
        number "epoch" = view.epoch, count();
        number "walSeq" = view.wal_seq, count();
        number "agreedSeq" = view.agreed_seq, count();
        number "windowBytes" = view.window_bytes, count();
        list "nodes" = view.members.iter().map(|member| show_place(view, member)), list(named("PartitionNode"));
    }
}

shown! {
    pub fn show_place(view: &View, member: &Member), place_schema, 128 {
        plain "node" = &member.node, text();
        plain "role" = member.role.name(), one_of(["leader", "standby"]);
        number "walSeq" = member.wal_seq, count();
        number "behind" = behind(view, member), count();
    }
}

fn behind(view: &View, member: &Member) -> u64 {
    match view.leader.as_ref() == Some(&member.node) {
        true => 0,
        false => view.agreed_seq.saturating_sub(member.wal_seq),
    }
}

shown! {
    fn show_member(view: &View, member: &Member), member_schema, 256 {
        plain "node" = &member.node, text();
        plain "role" = member.role.name(), one_of(["leader", "standby"]);
        number "walSeq" = member.wal_seq, count();
        number "behind" = behind(view, member), count().about("Records that were agreed on and are not synced there.");
        plain "seenAt" = Timestamp::from_unix_ms(member.seen_at_ms),
            instant().about("When it last said so, by its own clock.");
        text "version" = &member.version, text();
        number "reads" = u64::from(member.format),
            count().about("The newest version of the stored format that it reads and writes.");
    }
}
