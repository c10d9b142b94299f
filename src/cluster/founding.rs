//! The commands `cluster init`, `reseed` and `forget`, at work.

use super::admission::members;
use super::directory::{Belongs, random_name};
use super::etcd::{Etcd, EtcdError};
use super::view::ABSENT_AFTER_MS;
use super::view::now_ms;
use crate::config::Config;
use crate::recovery::Failed;
use crate::recovery::directory::{self, CLUSTER_FILE, LOG_DIRECTORY};
use crate::recovery::restored_copy::RestoredCopy;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wal::cluster::{
    Change, Following, Founded, FoundingError, Keys, LookError, Quorum, Transaction, found, founded,
};
use wal::{Config as LogConfig, Durable, Log, OpenError, Poisoned, RocksStore, Tip};

/// A command waits so long for etcd.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
pub(super) const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, thiserror::Error)]
pub enum NotDone {
    #[error("cluster.etcd names no endpoint")]
    NoEtcd,
    #[error("{}: this directory is in a cluster already, which is not in etcd: if etcd's data was lost, \
        pasarela cluster reseed brings it back", .0.display())]
    InCluster(PathBuf),
    #[error("{}: this directory is in no cluster: pasarela cluster init founds one with it", .0.display())]
    NotMember(PathBuf),
    /// Nodes that join a restored copy would not keep live banks and webhooks shut, so that what
    /// the copied server sent would go out twice.
    #[error("{}: this directory is a restored copy: start it once as one machine, with cluster.etcd = [] and \
        pasarela serve --take-over, stop it, and then found the cluster with pasarela cluster \
        init", .0.display())]
    RestoredCopy(PathBuf),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("etcd holds no cluster under the partition {partition}; nothing was done")]
    NotFounded { partition: String },
    #[error("there is no node called {node} in this cluster{}; nothing was done", named(.nodes))]
    UnknownNode { node: String, nodes: Vec<String> },
    #[error("{node} leads this cluster now{}: hand over first; nothing was done", named(.nodes))]
    Leads { node: String, nodes: Vec<String> },
    #[error(transparent)]
    Founding(#[from] FoundingError),
    #[error(transparent)]
    Etcd(#[from] EtcdError),
    #[error(transparent)]
    Directory(#[from] Failed),
    #[error(transparent)]
    Log(#[from] OpenError),
}

fn named(nodes: &[String]) -> String {
    if nodes.is_empty() { String::new() } else { format!(" (its nodes are {})", nodes.join(", ")) }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub cluster: String,
    pub tip: Tip,
}

struct Unawaited;

impl wal::Completion for Unawaited {
    fn complete(self, _: Result<Durable, Poisoned>) {}
}

/// The directory may be empty.
pub fn init(config: &Config) -> Result<Done, NotDone> {
    let (etcd, keys) = etcd(config)?;
    let data = &config.storage.path;
    let file = |source| NotDone::File { path: data.clone(), source };
    must_be_active(config)?;
    if founded_in_time(&etcd, &keys)?.is_some() {
        return Err(FoundingError::Exists.into());
    }
    // One that has left its cluster is one machine's, and founds another.
    let left = Belongs::read(data).map_err(file)?;
    if left.as_ref().is_some_and(|belongs| !belongs.barred) {
        return Err(NotDone::InCluster(data.clone()));
    }
    fs::create_dir_all(data).map_err(file)?;
    let (fingerprint, tip) = open(config)?;
    let cluster = random_name().map_err(file)?;
    // Written down before etcd has it: after a death in between `reseed` goes on.
    let belongs = Belongs::new(&cluster, &config.cluster.partition).map_err(file)?;
    belongs.write(data).map_err(file)?;
    let founding = Founded { fingerprint, id: cluster.clone() };
    match insist(&etcd, &keys, &founding, &config.cluster.node, 1, tip) {
        Ok(()) => Ok(Done { cluster, tip }),
        Err(why) => {
            // Another was faster, or it is unknown: then `reseed` or `init` finds out.
            match left {
                Some(left) if why == FoundingError::Exists => left.write(data).map_err(file)?,
                None if why == FoundingError::Exists => {
                    fs::remove_file(data.join(CLUSTER_FILE)).map_err(file)?;
                }
                _ => {}
            }
            Err(why.into())
        }
    }
}

/// The record of the cluster in etcd was lost. The log must have been verified.
pub fn reseed(config: &Config) -> Result<Done, NotDone> {
    let (etcd, keys) = etcd(config)?;
    let data = &config.storage.path;
    let file = |source| NotDone::File { path: data.clone(), source };
    must_be_active(config)?;
    let Some(belongs) = Belongs::read(data).map_err(file)?.filter(|belongs| !belongs.barred) else {
        return Err(NotDone::NotMember(data.clone()));
    };
    if founded_in_time(&etcd, &keys)?.is_some() {
        return Err(FoundingError::Exists.into());
    }
    let (fingerprint, tip) = open(config)?;
    let founding = Founded { fingerprint, id: belongs.cluster.clone() };
    insist(&etcd, &keys, &founding, &config.cluster.node, 1, tip)?;
    Ok(Done { cluster: belongs.cluster, tip })
}

pub fn peers(config: &Config) -> Result<Vec<String>, NotDone> {
    let (etcd, keys) = etcd(config)?;
    let following = Following::new(Arc::new(etcd), keys, &config.cluster.node);
    match following.glance() {
        Ok(seen) => Ok(members(&seen).into_iter().map(|member| member.peer_advertise).collect()),
        Err(LookError::Unanswered(why)) => Err(FoundingError::Unanswered(why).into()),
        Err(_) => Err(FoundingError::Unknown.into()),
    }
}

/// What the node has no longer counts, and nothing is kept in etcd for it.
pub fn forget(config: &Config, node: &str) -> Result<(), NotDone> {
    let (etcd, keys) = etcd(config)?;
    if founded_in_time(&etcd, &keys)?.is_none() {
        return Err(NotDone::NotFounded { partition: config.cluster.partition.clone() });
    }
    let etcd = Arc::new(etcd);
    let quorum: Arc<dyn Quorum> = Arc::<Etcd>::clone(&etcd);
    let seen = match Following::new(quorum, keys.clone(), &config.cluster.node).glance() {
        Ok(seen) => seen,
        Err(LookError::Unanswered(why)) => return Err(FoundingError::Unanswered(why).into()),
        Err(_) => return Err(FoundingError::Unknown.into()),
    };
    let members = members(&seen);
    let nodes = members.iter().map(|member| member.node.clone()).collect();
    let Some(member) = members.iter().find(|member| member.node == node) else {
        return Err(NotDone::UnknownNode { node: node.to_owned(), nodes });
    };
    // One that died as the leader, with nobody to take over, may be gone for good.
    if seen.epoch.node == node && now_ms() - member.seen_at_ms < ABSENT_AFTER_MS {
        return Err(NotDone::Leads { node: node.to_owned(), nodes });
    }
    let then = vec![Change::Delete(keys.node(node))];
    let forgotten = etcd.transact(&Transaction { then, ..Transaction::default() });
    forgotten.map(|_| ()).map_err(|unanswered| FoundingError::from(unanswered).into())
}

/// A restored copy's marker is its directory's alone, and keeps no other node silent.
fn must_be_active(config: &Config) -> Result<(), NotDone> {
    let data = &config.storage.path;
    match RestoredCopy::must_be_whole(data)? {
        Some(_) => Err(NotDone::RestoredCopy(data.clone())),
        None => Ok(()),
    }
}

/// A running server has the log open.
fn open(config: &Config) -> Result<(String, Tip), NotDone> {
    let data = &config.storage.path;
    let key = directory::mark_key(data)?;
    // Nodes that join bring it along.
    directory::card_key(data, config.storage.card_key_file.as_deref())?;
    let store = RocksStore::open(data.join(LOG_DIRECTORY))?;
    let log = Log::<Unawaited>::open(Box::new(store), LogConfig::default())?;
    let tip = log.reader().tip();
    log.close();
    Ok((directory::fingerprint(&key), tip))
}

pub(super) fn etcd(config: &Config) -> Result<(Etcd, Keys), NotDone> {
    if !config.cluster.is_on() {
        return Err(NotDone::NoEtcd);
    }
    Ok((Etcd::new(&config.cluster)?, Keys::new(&config.cluster.partition)))
}

pub(super) fn founded_in_time(etcd: &Etcd, keys: &Keys) -> Result<Option<Founded>, FoundingError> {
    until_answered(etcd, || founded(etcd, keys))
}

fn insist(
    etcd: &Etcd,
    keys: &Keys,
    founding: &Founded,
    node: &str,
    epoch: u64,
    tip: Tip,
) -> Result<(), FoundingError> {
    until_answered(etcd, || found(etcd, keys, founding, node, epoch, tip))
}

fn until_answered<T>(
    etcd: &Etcd,
    mut ask: impl FnMut() -> Result<T, FoundingError>,
) -> Result<T, FoundingError> {
    let began = etcd.now();
    loop {
        match ask() {
            Err(FoundingError::Unanswered(_)) if etcd.now().saturating_sub(began) < PATIENCE => {
                etcd.rest(PAUSE)
            }
            answered => return answered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn an_etcd_that_takes_connections_and_says_nothing_is_given_up() {
        // The system takes connections for it; nobody reads them.
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", silent.local_addr().expect("an address"));
        let text = format!("[cluster]\netcd = [\"{endpoint}\"]\nnode = \"a\"");
        let config = Config::parse(&text, []).expect("a configuration");
        let (done, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || done.send(forget(&config, "b").map_err(|why| why.to_string())));
        let why = ended.recv_timeout(3 * PATIENCE).expect("it does not wait for ever");
        let why = why.expect_err("nothing was answered");
        assert!(why.starts_with(&format!("etcd does not answer: {endpoint}")), "{why}");
    }
}
