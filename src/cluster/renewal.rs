//! A node that was away for longer than etcd keeps the log takes a copy of another node's data, and
//! starts anew from that. The copy arrives in a folder of its own, while the old data stays as it
//! is. Only a copy that is whole, and whose log goes on from the end of ours, gets the mark
//! `WHOLE`; the next start, which follows at once, puts it in the place of the old. A death at any
//! step leaves one of the two.

use super::peers::{self, PROOF, PeerKey};
use super::seed::{self, WHOLE};
use super::view::now_ms;
use super::view::{Member, Role, View};
use crate::config::Config;
use crate::recovery::Failed;
use crate::recovery::directory::{LOG_DIRECTORY, RATES_DIRECTORY, SIMULATOR_DIRECTORY};
use hyper::Method;
use reqwest::{Client, RequestBuilder};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wal::{OpenError, Reader, RocksStore, Seq, Tip};

const FOLDER: &str = "renewal";
/// Proved when a node asks for a copy: no request could have this target.
pub const TARGET: &str = "peer checkpoint";
const AGAIN: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
enum NotRenewed {
    #[error(transparent)]
    Failed(#[from] Failed),
    #[error("record {0} is another one than in the log of the other nodes")]
    Branched(Seq),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Renewed {
    NotYet,
    /// The process is to start anew.
    Whole,
    /// The log here is not a beginning of the others': no copy will ever continue it.
    Branched(String),
}

pub(super) struct Renewal {
    client: Client,
    key: PeerKey,
    data: PathBuf,
    under_way: Option<JoinHandle<Result<(), NotRenewed>>>,
    tried_at: Option<Instant>,
    tries: usize,
}

impl Renewal {
    pub fn new(config: &Config, key: PeerKey) -> Result<Renewal, reqwest::Error> {
        let client = peers::client(config, Some(seed::SILENCE_MAX))?;
        let data = config.storage.path.clone();
        Ok(Renewal { client, key, data, under_way: None, tried_at: None, tries: 0 })
    }

    pub fn turn(&mut self, view: &View, local: Tip) -> Renewed {
        if let Some(thread) = self.under_way.take_if(|thread| thread.is_finished()) {
            match thread.join() {
                Ok(Ok(())) => return Renewed::Whole,
                Ok(Err(why @ NotRenewed::Branched(_))) => return Renewed::Branched(why.to_string()),
                Ok(Err(why)) => tracing::warn!(%why, "no copy of the log was taken: it is tried again"),
                Err(_) => tracing::error!("the thread that takes a copy of the log panicked"),
            }
        }
        if self.under_way.is_none() && self.tried_at.is_none_or(|at| at.elapsed() >= AGAIN) {
            self.begin(view, local);
        }
        Renewed::NotYet
    }

    fn begin(&mut self, view: &View, local: Tip) {
        self.tried_at = Some(Instant::now());
        let peers = sources(view);
        let Some(peer) = peers.get(self.tries % peers.len().max(1)) else { return };
        self.tries += 1;
        tracing::warn!(
            from = peer.node,
            after = local.seq,
            "what follows this log is no longer in etcd: taking a copy"
        );
        let proof = self.key.prove_node(&Method::GET, TARGET);
        let from = peer.peer_advertise.clone();
        let asked = self.client.get(format!("{from}/peer/checkpoint")).header(PROOF, proof);
        let data = self.data.clone();
        let thread = std::thread::Builder::new().name("renewal".to_owned());
        match thread.spawn(move || take(asked, &from, &data, local)) {
            Ok(thread) => self.under_way = Some(thread),
            Err(error) => tracing::error!(%error, "the thread that takes a copy of the log did not start"),
        }
    }
}

/// Standbys first, because they have less to do.
fn sources(view: &View) -> Vec<&Member> {
    let is_there =
        |member: &&Member| member.node != view.node && member.follows() && member.is_present(now_ms());
    let mut sources: Vec<&Member> = view.members.iter().filter(is_there).collect();
    sources.sort_by_key(|member| (member.role == Role::Leader, std::cmp::Reverse(member.wal_seq)));
    sources
}

/// A copy of another branch is never asked for again, and may be as large as the log here: it goes, as one that is not
/// whole.
fn take(asked: RequestBuilder, from: &str, data: &Path, local: Tip) -> Result<(), NotRenewed> {
    let folder = data.join(FOLDER);
    seed::arrive(&folder, || {
        let fetched = seed::fetch(asked, from, &folder, seed::SILENCE_MAX);
        fetched.map_err(|error| Failed::NotDone(error.to_string()))?;
        check(&folder.join(LOG_DIRECTORY), local)
    })
}

/// The copy's log must go on from the end of ours.
fn check(log: &Path, local: Tip) -> Result<(), NotRenewed> {
    if local.seq == 0 {
        return Ok(());
    }
    let reader = Reader::open_read_only(log).map_err(Failed::from)?;
    match reader.records(local.seq, Some(local.seq)).next().transpose().map_err(Failed::from)? {
        Some(same) if same.hash == local.hash => Ok(()),
        Some(_) => Err(NotRenewed::Branched(local.seq)),
        None => {
            let (copy, ours) = (reader.tip().seq, local.seq);
            Err(Failed::NotDone(format!("the copy ends at record {copy}, this log at {ours}")).into())
        }
    }
}

/// Before anything is opened; a copy that is not whole is thrown away.
pub(super) fn finish(data: &Path) -> io::Result<()> {
    let from = data.join(FOLDER);
    if !from.is_dir() {
        return Ok(());
    }
    if !from.join(WHOLE).is_file() {
        return fs::remove_dir_all(from);
    }
    let log = data.join(LOG_DIRECTORY);
    if log.join("CURRENT").is_file()
        && let Err(error @ OpenError::InUse { .. }) = RocksStore::open(&log)
    {
        return Err(io::Error::other(error.to_string()));
    }
    for store in [LOG_DIRECTORY, RATES_DIRECTORY, SIMULATOR_DIRECTORY] {
        let (new, old) = (from.join(store), data.join(store));
        if !new.exists() {
            continue; // it was moved before a death
        }
        if old.exists() {
            fs::remove_dir_all(&old)?;
        }
        fs::rename(new, old)?;
    }
    File::open(data)?.sync_all()?;
    fs::remove_dir_all(from)
}

#[cfg(test)]
mod tests;
