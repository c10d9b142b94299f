//! `cluster join` fills an empty data directory from a running node. Etcd is asked first, so that a
//! machine which could not be a node copies nothing. The copy arrives in a folder of its own, and
//! gets the mark `WHOLE` when everything of it is synced; then it is held against the agreed log,
//! and its parts move into the directory, the word of the cluster first and the log last. So the
//! directory has no log that is not a cluster's, and the same command goes on after a death at any
//! step.

use super::admission::members;
use super::directory::Belongs;
use super::founding::{self, NotDone};
use super::view::now_ms;
use super::view::{ABSENT_AFTER_MS, Member};
use super::{renewal, seed};
use crate::config::Config;
use crate::recovery::directory::{CLUSTER_FILE, LOG_DIRECTORY, MARK_KEY_FILE, fingerprint};
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wal::cluster::{Following, Founded, FoundingError, LookError};
use wal::{OpenError, Reader};

const FOLDER: &str = "join";
/// A copy is under way.
const COPYING: &str = "COPYING";
/// Everything is there.
const WHOLE: &str = "WHOLE";

#[derive(Debug, thiserror::Error)]
pub enum NotJoined {
    #[error(transparent)]
    NotDone(#[from] NotDone),
    #[error("{}: this directory is in a cluster already: start it with pasarela serve", .0.display())]
    InCluster(PathBuf),
    #[error("{}: this directory has left its cluster for good (--take-over): empty it to join, or found \
        another cluster with it by pasarela cluster init; nothing was copied", .0.display())]
    Barred(PathBuf),
    #[error("{}: there is something in this directory", .0.display())]
    NotEmpty(PathBuf),
    #[error("{}: another pasarela cluster join is under way here", .0.display())]
    UnderWay(PathBuf),
    #[error(
        "etcd holds no cluster under the partition {partition}: if its data was lost, pasarela cluster \
         reseed on the node with the longest log brings it back; otherwise pasarela cluster init founds \
         one; nothing was copied"
    )]
    NotFounded { partition: String },
    #[error(
        "cluster.node: another node called {node} was seen within ten seconds: give this one a name of its \
         own; nothing was copied"
    )]
    NameInUse { node: String },
    #[error("{0}; the copy is kept, and the same command goes on from it")]
    Kept(FoundingError),
    #[error("{from}: {why}: it is a node of another cluster than the one in etcd; its copy was removed")]
    OtherCluster { from: String, why: String },
    #[error(transparent)]
    Log(#[from] OpenError),
    #[error("{0}")]
    NotCopied(io::Error),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Nothing,
    Copy,
    /// The copy was found to be the cluster's, and began to move into its place.
    Moving,
}

/// The directory is empty or missing; `from` is the peer listener of a running node.
pub fn join(config: &Config, from: &str, token: &str) -> Result<(), NotJoined> {
    let data = config.storage.path.as_path();
    left(data)?;
    let cluster = Known::ask(config)?;
    let file = at(data);
    wal::make_directory(data).map_err(&file)?;
    let lock = File::open(data).map_err(&file)?;
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => return Err(NotJoined::UnderWay(data.to_owned())),
        locked => locked.map_err(|error| file(error.into()))?,
    }
    let found = left(data)?;
    if found != Left::Moving {
        if found == Left::Nothing || !cluster.is_of(&data.join(FOLDER)).map_err(&file)? {
            renewed(data, |folder| cluster.copy(config, (from, token), folder))?;
        }
        match cluster.check(&data.join(FOLDER), from) {
            Err(NotJoined::Kept(why)) => return Err(NotJoined::Kept(why)),
            Err(refused) => {
                clear(data).map_err(&file)?;
                return Err(refused);
            }
            Ok(()) => {}
        }
    }
    finish(data).map_err(&file)
}

/// What is left once all of a copy has moved: a death may have come before this.
pub(super) fn sweep(data: &Path) -> io::Result<()> {
    if data.join(FOLDER).join(WHOLE).is_file() { clear(data) } else { Ok(()) }
}

fn left(data: &Path) -> Result<Left, NotJoined> {
    let file = at(data);
    let names = names(data).map_err(&file)?;
    let folder = data.join(FOLDER);
    let is_whole = folder.join(WHOLE).is_file();
    let parts = self::names(&folder).map_err(&file)?;
    // An empty one is what is left of a call that was ended before its first file.
    let is_ours = is_whole || parts.is_empty() || parts.iter().any(|name| name == COPYING);
    let others = names.iter().filter(|name| *name != FOLDER);
    let is_moving = is_whole && names.iter().any(|name| name == CLUSTER_FILE);
    if others.clone().next().is_none() && is_ours {
        Ok(if is_whole { Left::Copy } else { Left::Nothing })
    } else if is_moving && !others.clone().any(|name| parts.contains(name)) {
        Ok(Left::Moving)
    } else if data.join(CLUSTER_FILE).is_file() && data.join(LOG_DIRECTORY).is_dir() {
        let belongs = Belongs::read(data).map_err(&file)?;
        Err(match belongs.filter(|belongs| belongs.barred) {
            Some(_) => NotJoined::Barred(data.to_owned()),
            None => NotJoined::InCluster(data.to_owned()),
        })
    } else {
        Err(NotJoined::NotEmpty(data.to_owned()))
    }
}

/// None if the directory is not there.
fn names(directory: &Path) -> io::Result<Vec<OsString>> {
    match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?.map(|entry| Ok(entry?.file_name())).collect(),
    }
}

/// In an empty folder; what broke off goes.
fn renewed(data: &Path, copy: impl FnOnce(&Path) -> Result<(), NotJoined>) -> Result<(), NotJoined> {
    let (file, folder) = (at(data), data.join(FOLDER));
    clear(data).map_err(&file)?;
    fs::create_dir(&folder).map_err(&file)?;
    File::create(folder.join(COPYING)).map_err(&file)?;
    let whole = copy(&folder).and_then(|()| mark(data).map_err(&file));
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

fn at(data: &Path) -> impl Fn(io::Error) -> NotJoined {
    |source| NotJoined::File { path: data.to_owned(), source }
}

struct Known {
    following: Following,
    founded: Founded,
    partition: String,
}

impl Known {
    /// And whether this machine's name is free in it.
    fn ask(config: &Config) -> Result<Known, NotJoined> {
        let (etcd, keys) = founding::etcd(config)?;
        let unfounded = || NotJoined::NotFounded { partition: config.cluster.partition.clone() };
        let founded = founding::founded_in_time(&etcd, &keys).map_err(NotDone::from)?;
        let founded = founded.ok_or_else(unfounded)?;
        let node = &config.cluster.node;
        let following = Following::new(Arc::new(etcd), keys, node);
        let seen = in_time(&following, || following.glance()).map_err(|why| match why {
            LookError::Unanswered(why) => NotJoined::NotDone(FoundingError::Unanswered(why).into()),
            LookError::NotFounded => unfounded(),
            _ => NotJoined::NotDone(FoundingError::Unknown.into()),
        })?;
        // A machine that joins anew, under the name that its lost directory had, is away for
        // longer.
        let is_there =
            |member: &Member| member.node == *node && now_ms() - member.seen_at_ms < ABSENT_AFTER_MS;
        if members(&seen).iter().any(is_there) {
            return Err(NotJoined::NameInUse { node: node.clone() });
        }
        Ok(Known { following, founded, partition: config.cluster.partition.clone() })
    }

    fn is_of(&self, folder: &Path) -> io::Result<bool> {
        let belongs = Belongs::read(folder)?;
        Ok(belongs.is_some_and(|it| it.cluster == self.founded.id && it.partition == self.partition))
    }

    fn copy(&self, config: &Config, peer: (&str, &str), folder: &Path) -> Result<(), NotJoined> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(NotJoined::NotCopied)?;
        runtime.block_on(seed::fetch(config, peer, folder)).map_err(NotJoined::NotCopied)?;
        let belongs = Belongs::new(&self.founded.id, &self.partition).map_err(NotJoined::NotCopied)?;
        belongs.write(folder).map_err(at(folder))
    }

    /// The copy must have the cluster's secret, and a beginning of the agreed log.
    fn check(&self, folder: &Path, from: &str) -> Result<(), NotJoined> {
        let other = |why| NotJoined::OtherCluster { from: from.to_owned(), why };
        let key = fs::read(folder.join(MARK_KEY_FILE)).map_err(at(folder))?;
        if fingerprint(&key) != self.founded.fingerprint {
            return Err(other(format!("{MARK_KEY_FILE} is not the one that the cluster was founded with")));
        }
        let tip = Reader::open_read_only(folder.join(LOG_DIRECTORY))?.tip();
        match in_time(&self.following, || self.following.look(tip)) {
            // The node renews itself when it starts: the records that follow are no longer in etcd.
            Ok(_) | Err(LookError::Pruned { .. }) => Ok(()),
            Err(LookError::Unanswered(why)) => Err(NotJoined::Kept(why.into())),
            Err(why) => Err(other(why.to_string())),
        }
    }
}

fn in_time<T>(following: &Following, mut look: impl FnMut() -> Result<T, LookError>) -> Result<T, LookError> {
    let quorum = following.quorum();
    let began = quorum.now();
    loop {
        match look() {
            Err(LookError::Unanswered(_)) if quorum.now().saturating_sub(began) < founding::PATIENCE => {
                quorum.rest(founding::PAUSE);
            }
            answered => return answered,
        }
    }
}

#[cfg(test)]
mod tests;
