//! `cluster join` fills an empty data directory from a running node. Etcd is asked first, so that a
//! machine which could not be a node copies nothing. The copy arrives in a folder of its own, and
//! gets the mark `WHOLE` when everything of it is synced; then it is held against the agreed log,
//! and its parts move into the directory, the word of the cluster first and the log last. So the
//! directory has no log that is not a cluster's, and the same command goes on after a death at any
//! step.

use super::admission::{ClusterError, members, must_have, must_store, until_answered};
use super::directory::Belongs;
use super::seed::{self, COPYING, WHOLE};
use super::view::now_ms;
use super::{founding, peers};
use crate::config::Config;
use crate::recovery::at;
use crate::recovery::directory::{CLUSTER_FILE, LOG_DIRECTORY, MARK_KEY_FILE, fingerprint};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;
use wal::Reader;
use wal::cluster::{Following, Founded, LookError};

const FOLDER: &str = "join";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Nothing,
    Copy,
    /// The copy was found to be the cluster's, and began to move into its place.
    Moving,
}

/// The directory is empty or missing; `from` is the peer listener of a running node.
pub fn join(config: &Config, from: &str, token: &str) -> Result<(), ClusterError> {
    let data = config.storage.path.as_path();
    left(data)?;
    let cluster = Known::ask(config)?;
    wal::make_directory(data).map_err(at(data))?;
    let lock = File::open(data).map_err(at(data))?;
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => {
            return Err(ClusterError::of(data, "another pasarela cluster join is under way here"));
        }
        locked => locked.map_err(|error| at(data)(error.into()))?,
    }
    let (found, folder) = (left(data)?, data.join(FOLDER));
    if found != Left::Moving {
        if found == Left::Nothing || !cluster.is_of(&folder)? {
            seed::arrive(&folder, || cluster.copy(config, (from, token), &folder))?;
        }
        let checked = cluster.check(&folder, from);
        if checked.as_ref().is_err_and(|why| !matches!(why, ClusterError::Kept(_))) {
            seed::clear(&folder).map_err(at(data))?;
        }
        checked?;
    }
    Ok(finish(data).map_err(at(data))?)
}

/// What is left once all of a copy has moved: a death may have come before this.
pub(super) fn sweep(data: &Path) -> io::Result<()> {
    let folder = data.join(FOLDER);
    if folder.join(WHOLE).is_file() { seed::clear(&folder) } else { Ok(()) }
}

fn left(data: &Path) -> Result<Left, ClusterError> {
    let names = seed::names(data).map_err(at(data))?;
    let folder = data.join(FOLDER);
    let is_whole = folder.join(WHOLE).is_file();
    let parts = seed::names(&folder).map_err(at(data))?;
    // An empty one is what is left of a call that was ended before its first file.
    let is_ours = is_whole || parts.is_empty() || parts.iter().any(|name| name == COPYING);
    let others = names.iter().filter(|name| *name != FOLDER);
    let is_moving = is_whole && names.iter().any(|name| name == CLUSTER_FILE);
    if others.clone().next().is_none() && is_ours {
        Ok(if is_whole { Left::Copy } else { Left::Nothing })
    } else if is_moving && !others.clone().any(|name| parts.contains(name)) {
        Ok(Left::Moving)
    } else if data.join(CLUSTER_FILE).is_file() && data.join(LOG_DIRECTORY).is_dir() {
        let why = match Belongs::read(data)?.filter(|belongs| belongs.barred) {
            Some(_) => {
                "this directory has left its cluster for good (--take-over): empty it to join, or found another \
                 cluster with it by pasarela cluster init; nothing was copied"
            }
            None => "this directory is in a cluster already: start it with pasarela serve",
        };
        Err(ClusterError::of(data, why))
    } else {
        Err(ClusterError::of(data, "there is something in this directory"))
    }
}

/// The word of the cluster moves first, the log last.
fn finish(data: &Path) -> io::Result<()> {
    let folder = data.join(FOLDER);
    let mut parts = seed::names(&folder)?;
    parts.retain(|name| name != WHOLE);
    parts.sort_by_key(|name| (name != CLUSTER_FILE, name == LOG_DIRECTORY));
    for part in parts {
        fs::rename(folder.join(&part), data.join(&part))?;
        File::open(data)?.sync_all()?;
    }
    seed::clear(&folder)
}

struct Known {
    following: Following,
    founded: Founded,
    partition: String,
}

impl Known {
    /// And whether this machine's name is free in it.
    fn ask(config: &Config) -> Result<Known, ClusterError> {
        let (etcd, keys) = founding::etcd(config)?;
        let (node, partition) = (&config.cluster.node, &config.cluster.partition);
        let Some(founded) = founding::founded_in_time(&etcd, &keys)? else {
            return Err(ClusterError::Refused(format!(
                "etcd holds no cluster under the partition {partition}: if its data was lost, pasarela cluster \
                 reseed on the node with the longest log brings it back; otherwise pasarela cluster init founds \
                 one; nothing was copied"
            )));
        };
        must_store(founded.stores)?;
        must_have(
            (config.cluster.partitions, config.cluster.partitions_preview),
            founding::partitions_in_time(&etcd, &keys)?,
        )?;
        let following = Following::new(Arc::new(etcd), keys, node);
        let quorum = &*following.quorum;
        let seen = until_answered(quorum, founding::PATIENCE, || Ok(following.glance()?))?;
        // A machine that joins anew, under the name that its lost directory had, is away for
        // longer.
        if members(&seen).iter().any(|member| member.node == *node && member.is_present(now_ms())) {
            return Err(ClusterError::Refused(format!(
                "cluster.node: another node called {node} was seen within ten seconds: give this one a name of \
                 its own; nothing was copied"
            )));
        }
        Ok(Known { following, founded, partition: partition.clone() })
    }

    fn is_of(&self, folder: &Path) -> Result<bool, ClusterError> {
        let belongs = Belongs::read(folder)?;
        Ok(belongs.is_some_and(|it| it.cluster == self.founded.id && it.partition == self.partition))
    }

    fn copy(&self, config: &Config, peer: (&str, &str), folder: &Path) -> Result<(), ClusterError> {
        let (from, token) = peer;
        let client = peers::client(config, Some(seed::SILENCE_MAX))?;
        let asked = client.get(format!("{}/peer/checkpoint", from.trim_end_matches('/'))).bearer_auth(token);
        seed::fetch(asked, from, folder, seed::SILENCE_MAX)
            .map_err(|error| ClusterError::Refused(error.to_string()))?;
        Ok(Belongs::new(&self.founded.id, &self.partition)?.write(folder)?)
    }

    /// The copy must have the cluster's secret, and a beginning of the agreed log.
    fn check(&self, folder: &Path, from: &str) -> Result<(), ClusterError> {
        let other = |why: String| {
            let other = "it is a node of another cluster than the one in etcd; its copy was removed";
            Err(ClusterError::Refused(format!("{from}: {why}: {other}")))
        };
        let key = fs::read(folder.join(MARK_KEY_FILE)).map_err(at(folder))?;
        if fingerprint(&key) != self.founded.fingerprint {
            return other(format!("{MARK_KEY_FILE} is not the one that the cluster was founded with"));
        }
        let tip = Reader::open_read_only(folder.join(LOG_DIRECTORY))?.tip();
        let quorum = &*self.following.quorum;
        match until_answered(quorum, founding::PATIENCE, || Ok(self.following.look(tip)?)) {
            // The node renews itself when it starts: the records that follow are no longer in etcd.
            Ok(_) | Err(ClusterError::Agreed(LookError::Pruned { .. })) => Ok(()),
            Err(ClusterError::Agreed(why @ LookError::Unanswered(_))) => Err(ClusterError::Kept(why)),
            Err(why) => other(why.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
