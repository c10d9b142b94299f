//! `cluster join` fills an empty data directory from a running node. Etcd is asked first, so that a
//! machine which could not be a node copies nothing. The copy arrives in a folder of its own, and
//! gets the mark `WHOLE` when everything of it is synced; then it is held against the agreed log,
//! and its parts move into the directory, the word of the cluster first and the log last. So the
//! directory has no log that is not a cluster's, and the same command goes on after a death at any
//! step.

use super::admission::{ClusterError, members, until_answered};
use super::directory::Belongs;
use super::view::now_ms;
use super::{founding, renewal, seed};
use crate::config::Config;
use crate::recovery::at;
use crate::recovery::directory::{CLUSTER_FILE, LOG_DIRECTORY, MARK_KEY_FILE, fingerprint};
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;
use wal::Reader;
use wal::cluster::{Following, Founded, LookError};

const FOLDER: &str = "join";
const COPYING: &str = "COPYING";
const WHOLE: &str = "WHOLE";

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
    let found = left(data)?;
    if found != Left::Moving {
        if found == Left::Nothing || !cluster.is_of(&data.join(FOLDER))? {
            renewed(data, |folder| cluster.copy(config, (from, token), folder))?;
        }
        let checked = cluster.check(&data.join(FOLDER), from);
        if checked.as_ref().is_err_and(|why| !matches!(why, ClusterError::Kept(_))) {
            clear(data).map_err(at(data))?;
        }
        checked?;
    }
    Ok(finish(data).map_err(at(data))?)
}

/// What is left once all of a copy has moved: a death may have come before this.
pub(super) fn sweep(data: &Path) -> io::Result<()> {
    if data.join(FOLDER).join(WHOLE).is_file() { clear(data) } else { Ok(()) }
}

fn left(data: &Path) -> Result<Left, ClusterError> {
    let names = names(data).map_err(at(data))?;
    let folder = data.join(FOLDER);
    let is_whole = folder.join(WHOLE).is_file();
    let parts = self::names(&folder).map_err(at(data))?;
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

fn names(directory: &Path) -> io::Result<Vec<OsString>> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.file_name())).collect(),
    }
}

/// In an empty folder; what broke off goes.
fn renewed(data: &Path, copy: impl FnOnce(&Path) -> Result<(), ClusterError>) -> Result<(), ClusterError> {
    let folder = data.join(FOLDER);
    clear(data).and_then(|()| fs::create_dir(&folder)).map_err(at(data))?;
    File::create(folder.join(COPYING)).map_err(at(data))?;
    let whole = copy(&folder).and_then(|()| Ok(mark(data).map_err(at(data))?));
    if whole.is_err() {
        // The error that is told is the one before this.
        let _ = clear(data);
    }
    whole
}

fn mark(data: &Path) -> io::Result<()> {
    let folder = data.join(FOLDER);
    renewal::sync_folders(&folder)?;
    fs::rename(folder.join(COPYING), folder.join(WHOLE))?;
    File::open(&folder)?.sync_all()?;
    File::open(data)?.sync_all()
}

/// The mark goes last: what is left after a death is still known as a copy.
fn clear(data: &Path) -> io::Result<()> {
    let folder = data.join(FOLDER);
    for name in names(&folder)?.iter().filter(|name| *name != COPYING && *name != WHOLE) {
        let path = folder.join(name);
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The word of the cluster moves first, the log last.
fn finish(data: &Path) -> io::Result<()> {
    let folder = data.join(FOLDER);
    let mut parts = names(&folder)?;
    parts.retain(|name| name != WHOLE);
    parts.sort_by_key(|name| (name != CLUSTER_FILE, name == LOG_DIRECTORY));
    for part in parts {
        fs::rename(folder.join(&part), data.join(&part))?;
        File::open(data)?.sync_all()?;
    }
    clear(data)
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
        let following = Following::new(Arc::new(etcd), keys, node);
        let seen = in_time(&following, || following.glance()).map_err(founding::unseen)?;
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
        let not_copied = |error: io::Error| ClusterError::Refused(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let fetching = seed::fetch(config, peer, folder, seed::SILENCE_MAX);
        runtime.and_then(|runtime| runtime.block_on(fetching)).map_err(not_copied)?;
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
        match in_time(&self.following, || self.following.look(tip)) {
            // The node renews itself when it starts: the records that follow are no longer in etcd.
            Ok(_) | Err(LookError::Pruned { .. }) => Ok(()),
            Err(LookError::Unanswered(why)) => Err(ClusterError::Kept(why.into())),
            Err(why) => other(why.to_string()),
        }
    }
}

fn in_time<T>(following: &Following, look: impl FnMut() -> Result<T, LookError>) -> Result<T, LookError> {
    let is_unanswered = |why: &LookError| matches!(why, LookError::Unanswered(_));
    until_answered(&**following.quorum(), founding::PATIENCE, is_unanswered, look)
}

#[cfg(test)]
mod tests;
