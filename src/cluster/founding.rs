//! The commands `cluster init`, `reseed` and `forget`, at work.

use super::admission::{
    ClusterError, NOT_MEMBER, SPEAKS, members, must_be_active, must_serve, until_answered,
};
use super::directory::{Belongs, random_name};
use super::etcd::Etcd;
use super::partitions;
use super::view::now_ms;
use crate::config::{Config, PARTITIONS_DIRECTORY};
use crate::recovery::directory::{self, CLUSTER_FILE, LOG_DIRECTORY};
use crate::recovery::restored_copy::RestoredCopy;
use crate::recovery::{Failed, at};
use domain::codec;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use wal::cluster::{
    Change, Compare, Following, Founded, Keys, LookError, Quorum, Read, Transaction, TransactionOutcome,
    found, founded, partitions, place,
};
use wal::{Config as LogConfig, Log, ReportTo, RocksStore, Tip};

/// A command waits so long for etcd, with a pause between two attempts.
pub(super) const PATIENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_millis(100));

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub cluster: String,
    pub tip: Tip,
}

/// The directory may be empty. A restored copy of several partitions takes over from what it is a copy of, if that is
/// meant: one machine, which would ask for it, could not serve it.
pub fn init(config: &Config, take_over: bool) -> Result<Done, ClusterError> {
    let data = &config.storage.path;
    let copy = RestoredCopy::must_be_whole(data)?.filter(|copy| take_over && copy.partitions > 1);
    if let Some(copy) = copy.as_ref().filter(|copy| copy.partitions != config.partitions) {
        let number = copy.partitions;
        return Err(ClusterError::Partitions(format!("the copy has {number}: set it to {number}")));
    }
    let (etcd, keys) = not_founded_yet(config, copy.is_some())?;
    // One that has left its cluster is one machine's, and founds another.
    let left = Belongs::read(data)?;
    if left.as_ref().is_some_and(|belongs| !belongs.barred) {
        let why = "this directory is in a cluster already, which is not in etcd";
        let advice = "if etcd's data was lost, pasarela cluster reseed brings it back";
        return Err(ClusterError::of(data, format_args!("{why}: {advice}")));
    }
    fs::create_dir_all(data).map_err(at(data))?;
    let (fingerprint, tip, _) = open(config)?;
    let cluster = random_name()?;
    for (_, partition) in others(config) {
        partitions::prepare(config, &partition, &cluster)?;
        open(&partition)?;
    }
    // The first one's marker last: it says that there is something to take over.
    if copy.is_some() {
        let all = others(config).map(|(_, partition)| partition.storage.path).chain([data.clone()]);
        for data in all {
            if RestoredCopy::read(&data)?.is_some() {
                RestoredCopy::remove(&data)?;
            }
        }
    }
    // Written down before etcd has it: after a death in between `reseed` goes on.
    let belongs = Belongs::new(&cluster, &config.cluster.partition)?;
    Belongs { partitions: config.partitions, ..belongs }.write(data)?;
    let founding = Founded { fingerprint, id: cluster.clone(), stores: Some(codec::NEWEST) };
    let made =
        found_others(config, &etcd, &founding).and_then(|()| insist(&etcd, &keys, &founding, config, tip));
    // Another was faster; where it is unknown, `reseed` or `init` finds out.
    if matches!(made, Err(ClusterError::Agreed(LookError::Exists))) {
        match left {
            Some(left) => left.write(data)?,
            None => fs::remove_file(data.join(CLUSTER_FILE)).map_err(at(data))?,
        }
    }
    made.map(|()| Done { cluster, tip })
}

/// Makes a partition's directory where there is none: its log is empty, and goes on from the agreed one as that of a
/// node that was away does, by a copy of another node's where etcd has no longer all of it. A death at any step leaves
/// what the next call goes on from. `node` is the configuration of the whole node.
pub fn make_partition(node: &Config, partition: u8) -> Result<(), ClusterError> {
    let own = node.of_partition(partition);
    let data = own.storage.path.as_path();
    if data.join(LOG_DIRECTORY).join("CURRENT").is_file() && Belongs::read(data)?.is_some() {
        return Ok(());
    }
    let Some(belongs) = Belongs::read(&node.storage.path)? else { return Ok(()) };
    partitions::prepare(node, &own, &belongs.cluster)?;
    open(&own).map(drop)
}

/// The record of the cluster in etcd was lost. The log must have been verified.
pub fn reseed(config: &Config) -> Result<Done, ClusterError> {
    let data = &config.storage.path;
    let (etcd, keys) = not_founded_yet(config, false)?;
    let belongs = must_be_member(data)?;
    let (fingerprint, tip, stores) = open(config)?;
    let founding = Founded { fingerprint, id: belongs.cluster.clone(), stores };
    found_others(config, &etcd, &founding)?;
    insist(&etcd, &keys, &founding, config, tip)?;
    Ok(Done { cluster: belongs.cluster, tip })
}

/// The record of one further partition was lost, with an etcd of its own. Its log must have been verified.
pub fn reseed_partition(config: &Config, partition: u8) -> Result<Done, ClusterError> {
    must_be_active(&config.storage.path)?;
    let belongs = must_be_member(&config.storage.path)?;
    let (etcd, keys) = etcd(config)?;
    let Some(first) = founded_in_time(&etcd, &keys)? else { return Err(LookError::NotFounded.into()) };
    let own = config.of_partition(partition);
    let tip = found_other(&own, (&etcd, &keys), &first, partition, true)?.ok_or(LookError::Exists)?;
    Ok(Done { cluster: belongs.cluster, tip })
}

/// That this directory's cluster had, for [`reseed`]: more than one only if it is served here.
pub fn number_before(config: &Config) -> Result<u8, ClusterError> {
    let data = config.storage.path.as_path();
    let known = Belongs::read(data)?.map_or(1, |belongs| belongs.partitions);
    let number = config.cluster.partitions.unwrap_or(known);
    if number < known || number == 1 && data.join(PARTITIONS_DIRECTORY).is_dir() {
        let why = "this node has several: set the number that the cluster had";
        return Err(ClusterError::Partitions(why.to_owned()));
    }
    must_serve(number, config.cluster.partitions_preview)?;
    Ok(number)
}

fn must_be_member(data: &Path) -> Result<Belongs, ClusterError> {
    let belongs = Belongs::read(data)?.filter(|belongs| !belongs.barred);
    belongs.ok_or_else(|| ClusterError::of(data, NOT_MEMBER))
}

fn others(config: &Config) -> impl Iterator<Item = (u8, Config)> {
    (1..config.partitions).map(|partition| (partition, config.of_partition(partition)))
}

/// Before the first: what is begun and not there is known by that, and goes on.
fn found_others(config: &Config, etcd: &Etcd, first: &Founded) -> Result<(), ClusterError> {
    let keys = Keys::new(&config.cluster.partition);
    for (partition, own) in others(config) {
        found_other(&own, (etcd, &keys), first, partition, false)?;
    }
    Ok(())
}

/// From its log here; the end of that, unless it was there already. `own` is its configuration; where its etcd has lost
/// it (`is_lost`), another one may take its place.
fn found_other(
    own: &Config,
    (etcd, keys): (&Etcd, &Keys),
    first: &Founded,
    partition: u8,
    is_lost: bool,
) -> Result<Option<Tip>, ClusterError> {
    let data = own.storage.path.as_path();
    if !data.join(LOG_DIRECTORY).join("CURRENT").is_file() {
        return Err(ClusterError::of(data, "the log of this partition is missing: bring its directory back"));
    }
    if Belongs::read(data)?.is_none_or(|belongs| belongs.cluster != first.id) {
        return Err(ClusterError::of(
            data,
            "this directory is of another cluster than the one that it is in",
        ));
    }
    let (own_etcd, own_keys) = self::etcd(own)?;
    // By a call before, or it was not lost; its nodes may have raised what it stores since.
    let there = founded_in_time(&own_etcd, &own_keys)?;
    let is_there = there.is_some_and(|there| there.id == first.id && there.fingerprint == first.fingerprint);
    let random = random_name()?;
    until_answered(etcd, PATIENCE, || {
        Ok(place((etcd, keys), (&own_etcd, &own_keys), partition, &random, is_lost && !is_there)?)
    })?;
    if is_there {
        return Ok(None);
    }
    let (_, tip, stores) = open(own)?;
    let founding = Founded { stores: stores.or(first.stores), ..first.clone() };
    insist(&own_etcd, &own_keys, &founding, own, tip)?;
    Ok(Some(tip))
}

fn not_founded_yet(config: &Config, takes_over: bool) -> Result<(Etcd, Keys), ClusterError> {
    must_serve(config.partitions, config.cluster.partitions_preview)?;
    let (etcd, keys) = etcd(config)?;
    if !takes_over {
        must_be_active(&config.storage.path)?;
    }
    match founded_in_time(&etcd, &keys)? {
        None => Ok((etcd, keys)),
        Some(_) => Err(LookError::Exists.into()),
    }
}

pub fn peers(config: &Config) -> Result<Vec<String>, ClusterError> {
    let (etcd, keys) = etcd(config)?;
    let seen = Following::new(Arc::new(etcd), keys, &config.cluster.node).glance()?;
    Ok(members(&seen).into_iter().map(|member| member.peer_advertise).collect())
}

/// What the node has no longer counts, and nothing is kept in etcd for it. Of the first partition last: a call that was
/// refused is made again.
pub fn forget(config: &Config, node: &str) -> Result<(), ClusterError> {
    let (first, keys) = etcd(config)?;
    let config = &Config { partitions: partitions_in_time(&first, &keys)?, ..config.clone() };
    for (_, partition) in others(config) {
        let (etcd, keys) = etcd(&partition)?;
        let seen = Following::new(Arc::new(etcd), keys.clone(), &config.cluster.node).glance()?;
        if seen.nodes.iter().any(|(of, _)| *of == keys.node(node)) {
            forget_in(&partition, node)?;
        }
    }
    forget_in(config, node)
}

fn forget_in(config: &Config, node: &str) -> Result<(), ClusterError> {
    let refused = |why: String| Err(ClusterError::Refused(format!("{why}; nothing was done")));
    let (etcd, keys) = etcd(config)?;
    if founded_in_time(&etcd, &keys)?.is_none() {
        return refused(format!("etcd holds no cluster under the partition {}", config.cluster.partition));
    }
    let etcd: Arc<dyn Quorum> = Arc::new(etcd);
    let following = Following::new(Arc::clone(&etcd), keys.clone(), &config.cluster.node);
    let seen = following.glance()?;
    let prefix = keys.nodes().0;
    let name = |key: &[u8]| String::from_utf8_lossy(key.strip_prefix(&*prefix).unwrap_or(key)).into_owned();
    let nodes: Vec<String> = seen.nodes.iter().map(|(key, _)| name(key)).collect();
    let nodes = match nodes.is_empty() {
        true => String::new(),
        false => format!(" (its nodes are {})", nodes.join(", ")),
    };
    let key = keys.node(node);
    // Whatever it said: the words of a later program may not be readable.
    let Some((_, words)) = seen.nodes.iter().find(|(of, _)| *of == key) else {
        return refused(format!("there is no node called {node} in this cluster{nodes}"));
    };
    let member = members(&seen).into_iter().find(|member| member.node == node);
    // One that died as the leader, with nobody to take over, may be gone for good.
    if seen.epoch.node == node && member.is_some_and(|member| member.is_present(now_ms())) {
        return refused(format!("{node} leads this cluster now{nodes}: hand over first"));
    }
    // One that is alive says so meanwhile, and keeps its place.
    etcd.rest(SPEAKS);
    let forgetting = Transaction {
        compare: vec![Compare::Is(key.clone(), words.clone())],
        then: vec![Change::Delete(key.clone())],
        otherwise: vec![Read::Key(key)],
    };
    match etcd.transact(&forgetting).map_err(LookError::from)? {
        TransactionOutcome::Refused(read) if read.iter().any(|pairs| !pairs.is_empty()) => {
            refused(format!("{node} has just spoken{nodes}: stop it first"))
        }
        // An attempt before may have done it.
        TransactionOutcome::Done | TransactionOutcome::Refused(_) => Ok(()),
    }
}

/// With the version of the last record, if it is a later one than the first release's. A running server has the log
/// open.
pub(super) fn open(config: &Config) -> Result<(String, Tip, Option<u8>), ClusterError> {
    let data = &config.storage.path;
    let key = directory::mark_key(data)?;
    // Nodes that join bring it along.
    directory::card_key(data, config.storage.card_key_file.as_deref())?;
    let store = RocksStore::open(data.join(LOG_DIRECTORY))?;
    let log = Log::<ReportTo>::open(Box::new(store), LogConfig::default())?;
    let reader = log.reader();
    let tip = reader.tip();
    // What the nodes had agreed on to write: some of them may not read more. In the middle of an upgrade the last
    // record may be an earlier version's, and the leader raises it again.
    let last =
        reader.record(tip.seq).map_err(Failed::from)?.and_then(|record| record.payload.first().copied());
    log.close();
    Ok((directory::fingerprint(&key), tip, last.filter(|stores| *stores > codec::READABLE[0])))
}

pub(super) fn etcd(config: &Config) -> Result<(Etcd, Keys), ClusterError> {
    if !config.cluster.is_on() {
        return Err(ClusterError::Refused("cluster.etcd names no endpoint".to_owned()));
    }
    Ok((Etcd::new(&config.cluster)?, Keys::new(&config.cluster.partition)))
}

pub(super) fn founded_in_time(etcd: &Etcd, keys: &Keys) -> Result<Option<Founded>, ClusterError> {
    until_answered(etcd, PATIENCE, || Ok(founded(etcd, keys)?))
}

pub(super) fn partitions_in_time(etcd: &Etcd, keys: &Keys) -> Result<u8, ClusterError> {
    until_answered(etcd, PATIENCE, || Ok(partitions(etcd, keys)?))
}

pub(super) fn insist(
    etcd: &Etcd,
    keys: &Keys,
    founding: &Founded,
    config: &Config,
    tip: Tip,
) -> Result<(), ClusterError> {
    let (founding, node) = ((founding, config.partitions), &config.cluster.node);
    until_answered(etcd, PATIENCE, || Ok(found(etcd, keys, founding, node, 1, tip)?))
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
        let why = ended.recv_timeout(3 * PATIENCE.0).expect("it does not wait for ever");
        let why = why.expect_err("nothing was answered");
        assert!(why.starts_with(&format!("etcd does not answer: {endpoint}")), "{why}");
    }
}
