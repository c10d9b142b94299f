//! What leaders of partitions send to each other, to their listeners for nodes: the first one's the changes of accounts,
//! keys, operators, banks and rates; the others' the calls that the first one decides.

use super::admission::members;
use super::etcd::Etcd;
use super::passing::Passing;
use super::peers::{self, PROOF, PeerKey};
use super::questions::{self, Question};
use super::{Cluster, ClusterError};
use crate::config::{self, Config};
use crate::http::listen::Arrival;
use crate::http::respond::Reply;
use crate::recovery::directory;
use api::problem::Problem;
use bytes::Bytes;
use domain::platform::hash_key;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use hyper::Method;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use wal::cluster::{Following, Keys, Quorum, cluster_name, partition_name};

pub const PATH: &str = "/peer/platform";
/// Of what is said while a tenant moves.
pub const MOVE: &str = "/peer/move";
/// Of what is asked about live money.
pub const LIVE: &str = "/peer/live";
/// Of one message: it is written in another partition's log, which etcd agrees on.
const ANSWER: Duration = Duration::from_secs(10);
/// Between two questions whether a partition has a leader.
const AGAIN: Duration = Duration::from_millis(50);

/// Of an answer: a page of records, of which the last may be as long as a record can be.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A proof is of the message too: no request could have this target.
pub fn target(message: &[u8]) -> String {
    format!("peer platform {}", hex::encode(hash_key(message)))
}

pub fn move_target(message: &[u8]) -> String {
    format!("peer move {}", hex::encode(hash_key(message)))
}

pub fn live_target(message: &[u8]) -> String {
    format!("peer live {}", hex::encode(hash_key(message)))
}

#[derive(Clone)]
pub struct Sending {
    cluster: Cluster,
    passing: Passing,
    own: u8,
    partitions: u8,
    /// Of the partitions that have another one than this.
    etcd_of: HashMap<u8, Arc<dyn Quorum>>,
}

impl Sending {
    pub fn new(config: &Config, cluster: Cluster) -> Result<Sending, ClusterError> {
        let key = PeerKey::derived(&directory::mark_key(&config.storage.path)?);
        let (own, partitions) = (config.partition.unwrap_or(0), config.partitions);
        let (mut etcd_of, mut known) = (HashMap::new(), HashMap::<&[String], Arc<dyn Quorum>>::new());
        for partition in 0..partitions {
            let etcd = config.cluster.etcd_for(partition);
            if etcd == config.cluster.etcd {
                continue;
            }
            let other = match known.get(etcd) {
                Some(other) => Arc::clone(other),
                None => {
                    Arc::new(Etcd::new(&config::Cluster { etcd: etcd.to_vec(), ..config.cluster.clone() })?)
                }
            };
            known.insert(etcd, Arc::clone(&other));
            etcd_of.insert(partition, other);
        }
        let passing = Passing::new(peers::client(config, None)?, key, config.cluster.failover());
        Ok(Sending { cluster, passing, own, partitions, etcd_of })
    }

    /// The address of a partition's leader for other nodes.
    async fn leader(&self, partition: u8) -> Result<String, String> {
        let shared = Arc::clone(&self.cluster.shared);
        let quorum = Arc::clone(self.etcd_of.get(&partition).unwrap_or(&shared.following.quorum));
        let look = move || {
            let name = partition_name(cluster_name(&shared.views.borrow().partition), partition);
            let seen = Following::new(quorum, Keys::new(&name), &shared.settings.me.node).glance();
            let seen = seen.map_err(|error| error.to_string())?;
            let leader = members(&seen).into_iter().find(|member| member.node == seen.epoch.node);
            leader.map(|leader| leader.peer_advertise).ok_or_else(|| "nobody leads it".to_owned())
        };
        tokio::task::spawn_blocking(look).await.map_err(|error| error.to_string())?
    }

    /// To the leader of a partition; what it answers.
    pub async fn send(&self, partition: u8, message: Vec<u8>) -> Result<u64, String> {
        let target = target(&message);
        let said = self.post(partition, (PATH, &target), message).await?;
        let said = String::from_utf8_lossy(&said);
        said.trim().parse().map_err(|_| format!("it answered no number: {said}"))
    }

    /// To the leader of a partition, while a tenant moves.
    pub async fn ask_of_move(&self, partition: u8, message: Vec<u8>) -> Result<Vec<u8>, String> {
        let target = move_target(&message);
        self.post(partition, (MOVE, &target), message).await
    }

    /// To the leader of a partition, about live money.
    pub async fn ask_of_live(&self, partition: u8, message: Vec<u8>) -> Result<Vec<u8>, String> {
        let target = live_target(&message);
        self.post(partition, (LIVE, &target), message).await
    }

    /// The other partitions.
    pub fn others(&self) -> impl Iterator<Item = u8> + use<> {
        let own = self.own;
        (0..self.partitions).filter(move |partition| *partition != own)
    }

    async fn post(
        &self,
        partition: u8,
        (path, target): (&str, &str),
        message: Vec<u8>,
    ) -> Result<Vec<u8>, String> {
        let peer = self.leader(partition).await?;
        let Passing { client, key, .. } = &self.passing;
        let asked = client.post(format!("{peer}{path}")).header(PROOF, key.prove_node(&Method::POST, target));
        let text = |error: reqwest::Error| error.to_string();
        let mut answer = asked.body(message).timeout(ANSWER).send().await.map_err(text)?;
        let (status, mut said) = (answer.status(), Vec::new());
        while let Some(piece) = answer.chunk().await.map_err(text)? {
            if said.len() + piece.len() > ANSWER_BYTES_MAX {
                return Err(format!("{peer} answers more than it may"));
            }
            said.extend_from_slice(&piece);
        }
        if status == 200 {
            return Ok(said);
        }
        let said = String::from_utf8_lossy(&said);
        Err(format!("{peer} answered {status}: {}", said.chars().take(200).collect::<String>()))
    }

    /// Whether the leader of a partition says that it has it.
    async fn holds(&self, partition: u8, question: &Question) -> Result<bool, String> {
        let asked = async { self.passing.holds(&self.leader(partition).await?, question, None).await };
        let held = tokio::time::timeout(questions::PATIENCE, asked).await;
        held.map_err(|_| format!("partition {partition} does not answer"))?
    }

    /// The partitions whose leader answers, this one among them. The others have `failover_ms` for it, also those that
    /// change hands.
    pub async fn answering(&self) -> Vec<u8> {
        // Nobody has such a key. What matters is that it is said.
        let question = &Question::Key([0; 32]);
        let asked = (0..self.partitions).map(|partition| async move {
            let answers = async {
                while partition != self.own && self.holds(partition, question).await.is_err() {
                    tokio::time::sleep(AGAIN).await;
                }
            };
            let answers = tokio::time::timeout(self.cluster.shared.settings.failover, answers).await;
            answers.is_ok().then_some(partition)
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Whether another partition has it. All of them have to answer, unless one has it.
    pub async fn others_hold(&self, question: Question) -> Result<bool, Problem> {
        let question = &question;
        let mut asked: FuturesUnordered<_> =
            self.others().map(|partition| async move { self.holds(partition, question).await }).collect();
        let mut unasked = None;
        while let Some(held) = asked.next().await {
            match held {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(why) => unasked = Some(why),
            }
        }
        unasked.map_or(Ok(false), |why| Err(Problem::no_leader().because(why)))
    }

    /// Has the first partition answer a call about the account itself: it decides, and keeps the answer under the
    /// Idempotency-Key. `caller` is the hash of the key that makes the call.
    pub async fn ask_first(
        &self,
        caller: &[u8; 32],
        arrival: &Arrival,
        body: Bytes,
    ) -> Result<Reply, Problem> {
        let peer = self.leader(0).await.map_err(|why| Problem::no_leader().because(why))?;
        self.passing.pass_for(&peer, caller, arrival, body, self.cluster.shared.settings.failover).await
    }
}
