//! What a node with several partitions answers: whose a request is, and the way to that partition's leader. Of the
//! node itself the first partition's process speaks.

use super::front::{self, CLUSTER};
use super::merged::{Exports, Merged};
use super::passing::Passing;
use super::peers::Surface;
use super::reports::Partition;
use super::view::View;
use crate::http::body::Inbound;
use crate::http::listen::Arrival;
use crate::http::origin_check::OriginCheck;
use crate::http::respond::Reply;
use api::problem::Problem;
use domain::platform::hash_key;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use std::sync::Arc;

/// Who leads the partition of a caller's account: a caller may go there directly.
const LEADER: HeaderName = HeaderName::from_static("pasarela-leader");
const METRICS: &str = "/metrics";
/// What operators ask of the node that they reach, not of the leader.
const OF_NODE: [&str; 4] = [CLUSTER, front::SNAPSHOT, front::BACKUP, METRICS];
const TENANTS: &str = "/admin/tenants/";
/// What is below a tenant and in its books, so in its own partition; the rest of it is the platform's.
const OF_BOOKS: [&str; 5] = ["adjustments", "statements", "chargebacks", "cop-payouts", "resume"];

#[derive(Clone)]
pub enum Place {
    /// The key that a request brings.
    Api(fn(&HeaderMap) -> Option<&str>),
    /// The rule that keeps other sites' pages away.
    Admin(OriginCheck),
}

pub struct NodeFront {
    partitions: Arc<[Partition]>,
    place: Place,
    passing: Passing,
    merged: Merged,
}

impl NodeFront {
    pub fn new(partitions: Arc<[Partition]>, place: Place, passing: Passing, exports: Exports) -> NodeFront {
        let merged = Merged::new(Arc::clone(&partitions), passing.clone(), exports);
        NodeFront { partitions, place, passing, merged }
    }

    pub async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let answered = self.answered(arrival, body).await;
        answered.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id))
    }

    async fn answered(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        let (head, first) = (&arrival.head, &self.partitions[0]);
        if let Place::Admin(guard) = &self.place {
            guard.check(head)?;
        }
        match (head.uri.path(), &self.place) {
            ("/healthz", _) => front::read_only(&head.method, front::alive()),
            ("/readyz", _) => front::read_only(&head.method, front::readiness(&first.view(), first.failover)),
            (METRICS, Place::Admin(_)) if matches!(head.method, Method::GET | Method::HEAD) => {
                self.merged.metrics(arrival).await
            }
            (path, Place::Admin(_)) if OF_NODE.contains(&path) => {
                let reply = self.passing.ask(&first.listens(), arrival, body).await?;
                // Its answer says that whoever asks may; what it shows is of its own partition alone.
                Ok(if path == CLUSTER && reply.status == 200 { self.show() } else { reply })
            }
            (path, Place::Admin(_)) => {
                if let Some(merged) = self.merged.answer(arrival, body).await {
                    return merged;
                }
                let partition = self.of_tenant(path);
                self.passing.pass(partition.views(), Surface::Admin, arrival, body).await
            }
            (_, Place::Api(key)) => {
                let key = key(&head.headers);
                let partition = self.of_key(key);
                let passed = self.passing.pass(partition.views(), Surface::Api, arrival, body).await;
                if key.is_none() {
                    return passed;
                }
                let reply = passed.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id));
                Ok(name_leader(reply, &partition.view()))
            }
        }
    }

    /// A key that is not known here is the first partition's to refuse.
    fn of_key(&self, key: Option<&str>) -> &Partition {
        let hash = key.map(hash_key);
        self.numbered(hash.and_then(|hash| self.partitions.iter().find_map(|heard| heard.of_key(&hash))))
    }

    fn of_tenant(&self, path: &str) -> &Partition {
        let id = path.strip_prefix(TENANTS).and_then(|rest| rest.split_once('/'));
        let id = id.filter(|(_, what)| OF_BOOKS.contains(what)).map(|(id, _)| id);
        self.numbered(id.and_then(|id| self.partitions.iter().find_map(|heard| heard.of_tenant(id))))
    }

    fn numbered(&self, partition: Option<u8>) -> &Partition {
        partition
            .and_then(|partition| self.partitions.get(usize::from(partition)))
            .unwrap_or(&self.partitions[0])
    }

    fn show(&self) -> Reply {
        let views: Vec<Arc<View>> = self.partitions.iter().map(Partition::view).collect();
        let [first, others @ ..] = views.as_slice() else { return front::alive() };
        Reply::json(200, front::show(first, others))
    }
}

fn name_leader(reply: Reply, view: &View) -> Reply {
    match view.leader_member().map(|leader| HeaderValue::from_str(&leader.advertise)) {
        Some(Ok(leader)) => reply.header(LEADER, leader),
        _ => reply,
    }
}

#[cfg(test)]
mod tests {
    use super::super::peers::PeerKey;
    use super::super::reports::{Report, Routes};
    use super::*;
    use crate::config::Config;
    use std::time::Duration;

    fn key(headers: &HeaderMap) -> Option<&str> {
        headers.get("x-api-key")?.to_str().ok()
    }

    #[test]
    fn a_call_goes_to_the_partition_whose_books_it_is_about() {
        let partitions: Vec<Partition> =
            (0..3).map(|partition| Partition::nothing(&partition.to_string(), Duration::ZERO)).collect();
        let tenants = vec![("t2".to_owned(), 2), ("t9".to_owned(), 9)];
        let keys = vec![(hex::encode(hash_key("pk_2")), 2)];
        partitions[0].hear(Report::Routes(Routes { keys, tenants }));
        let client =
            super::super::peers::client(&Config::parse("", []).expect("the usual"), None).expect("a client");
        let passing = Passing::of_front(client, PeerKey::derived(&[7; 32]));
        let front = NodeFront::new(partitions.into(), Place::Api(key), passing, |_, _, _| None);
        for (sent, node) in [(None, "0"), (Some("pk_2"), "2"), (Some("pk_0"), "0")] {
            assert_eq!(front.of_key(sent).view().node, node, "{sent:?}");
        }
        for (path, node) in [
            ("/admin/tenants", "0"),
            ("/admin/tenants/t2", "0"),
            ("/admin/tenants/t2/keys", "0"),
            ("/admin/tenants/t2/live-status", "0"),
            ("/admin/tenants/t2/adjustments", "2"),
            ("/admin/tenants/t2/statements", "2"),
            ("/admin/tenants/t0/statements", "0"),
            ("/admin/tenants/t9/statements", "0"),
            ("/admin/payouts/t2/statements", "0"),
        ] {
            assert_eq!(front.of_tenant(path).view().node, node, "{path}");
        }
    }
}
