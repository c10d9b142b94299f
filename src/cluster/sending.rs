//! What the leader of the first partition sends to the leaders of the others: changes of accounts, keys, operators, banks
//! and rates, to their listeners for nodes.

use super::admission::members;
use super::etcd::Etcd;
use super::peers::{self, PROOF, Passed, PeerKey, Surface};
use super::view::now_ms;
use super::{Cluster, ClusterError};
use crate::config::Config;
use crate::recovery::directory;
use domain::platform::hash_key;
use hyper::Method;
use reqwest::Client;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use wal::cluster::{Following, Keys, Quorum, partition_name};

pub const PATH: &str = "/peer/platform";
/// Of one message: it is written in another partition's log, which etcd agrees on.
const ANSWER: Duration = Duration::from_secs(10);

/// A proof is of the message too: no request could have this target.
pub fn target(message: &[u8]) -> String {
    format!("peer platform {}", hex::encode(hash_key(message)))
}

#[derive(Clone)]
pub struct Sending {
    cluster: Cluster,
    client: Client,
    key: PeerKey,
    /// Of the partitions that have one of their own.
    etcd_of: HashMap<u8, Arc<dyn Quorum>>,
}

impl Sending {
    pub fn new(config: &Config, cluster: Cluster) -> Result<Sending, ClusterError> {
        let key = PeerKey::derived(&directory::mark_key(&config.storage.path)?);
        let mut etcd_of = HashMap::new();
        for partition in config.cluster.etcd_of.keys() {
            let etcd: Arc<dyn Quorum> = Arc::new(Etcd::new(&config.of_partition(*partition).cluster)?);
            etcd_of.insert(*partition, etcd);
        }
        Ok(Sending { cluster, client: peers::client(config, None)?, key, etcd_of })
    }

    /// To the leader of a partition; what it answers.
    pub async fn send(&self, partition: u8, message: Vec<u8>) -> Result<u64, String> {
        let shared = Arc::clone(&self.cluster.shared);
        let quorum = Arc::clone(self.etcd_of.get(&partition).unwrap_or(&shared.following.quorum));
        let look = move || {
            let name = partition_name(&shared.views.borrow().partition, partition);
            let seen = Following::new(quorum, Keys::new(&name), &shared.settings.me.node).glance();
            let seen = seen.map_err(|error| error.to_string())?;
            let leader = members(&seen).into_iter().find(|member| member.node == seen.epoch.node);
            leader.map(|leader| leader.peer_advertise).ok_or_else(|| "nobody leads it".to_owned())
        };
        let peer = tokio::task::spawn_blocking(look).await.map_err(|error| error.to_string())??;
        let (target, nobody) = (target(&message), SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
        let passed = Passed { method: &Method::POST, target: &target, surface: Surface::Admin, peer: nobody };
        let asked =
            self.client.post(format!("{peer}{PATH}")).header(PROOF, self.key.prove(&passed, now_ms()));
        let answer = asked.body(message).timeout(ANSWER).send().await.map_err(|error| error.to_string())?;
        let (status, said) = (answer.status(), answer.text().await.map_err(|error| error.to_string())?);
        match said.trim().parse() {
            Ok(followed) if status == 200 => Ok(followed),
            _ => Err(format!("{peer} answered {status}: {}", said.chars().take(200).collect::<String>())),
        }
    }
}
