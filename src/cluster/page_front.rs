//! The way of the console's pages over all partitions. The process that shows a page asks its node's front what the
//! page's visitor could ask; and a page about one thing is shown by the partition that has it.

use super::ClusterError;
use super::node_front::NodeFront;
use super::passing::{self, PASS, Passing, SHOWN_BY};
use super::peers::{self, PeerKey};
use super::questions::ShownBy;
use crate::config::Config;
use crate::http::body::Inbound;
use crate::http::listen::{Answer, Arrival, OnBehalf};
use crate::http::respond::Reply;
use crate::recovery::directory;
use api::problem::Problem;
use bytes::Bytes;
use std::net::SocketAddr;

/// Of a process, to the front that started it.
#[derive(Clone)]
pub struct ToFront {
    passing: Passing,
    front: String,
}

impl ToFront {
    pub fn new(config: &Config, front: SocketAddr) -> Result<ToFront, ClusterError> {
        let key = PeerKey::derived(&directory::mark_key(&config.storage.path)?);
        let passing = Passing::new(peers::client(config, None)?, key, config.cluster.failover());
        Ok(ToFront { passing, front: format!("http://{front}") })
    }

    /// The same page, shown by another process to a visitor who was let in here.
    pub async fn page(
        &self,
        by: ShownBy,
        arrival: &Arrival,
        visitor: OnBehalf,
        body: Bytes,
    ) -> Result<Reply, Problem> {
        let mut head = arrival.head.clone();
        head.extensions.insert(visitor);
        let arrival = Arrival { head, request_id: arrival.request_id.clone(), peer: arrival.peer };
        self.passing.pass_to_front(&self.front, &arrival, body, Some(by.to_string())).await
    }
}

impl Answer for ToFront {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let answered = match body.bytes().await {
            Ok(body) => self.passing.pass_to_front(&self.front, arrival, body, None).await,
            Err(problem) => Err(problem),
        };
        answered.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id))
    }
}

/// Of a front, for its own processes alone.
pub struct PageFront {
    front: NodeFront,
    key: PeerKey,
}

impl PageFront {
    pub fn new(front: NodeFront, key: PeerKey) -> PageFront {
        PageFront { front, key }
    }

    async fn answered(&self, arrival: &Arrival, body: &mut Inbound) -> Result<Reply, Problem> {
        if arrival.head.uri.path() != PASS {
            return Err(Problem::not_found());
        }
        let shown_by =
            arrival.head.headers.get(SHOWN_BY).map(|by| by.to_str().unwrap_or_default().to_owned());
        let (_, arrival) = passing::restored(&self.key, arrival)?;
        match shown_by {
            Some(by) => {
                let by = ShownBy::parse(&by).ok_or_else(Problem::not_found)?;
                self.front.page(by, &arrival, body).await
            }
            None => Ok(self.front.answer(&arrival, body).await),
        }
    }
}

impl Answer for PageFront {
    async fn answer(&self, arrival: &Arrival, body: &mut Inbound) -> Reply {
        let answered = self.answered(arrival, body).await;
        answered.unwrap_or_else(|problem| Reply::problem(&problem, &arrival.request_id))
    }
}
