//! What has to hold before a machine is a node: its directory, its secret, its name, its log.

use super::directory::Belongs;
use super::etcd::{Etcd, EtcdError};
use super::view::{Member, Role, View, now_ms};
use super::{Settings, Shared, renewal};
use crate::config::{Config, PARTITIONS_DIRECTORY, advertised};
use crate::operators::Operators;
use crate::recovery::directory::{self, LOG_DIRECTORY};
use crate::recovery::restored_copy::RestoredCopy;
use crate::recovery::{Failed, at};
use domain::codec;
use std::fmt::Display;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use wal::cluster::{Following, Keys, LookError, Quorum, Seen, founded, partitions};
use wal::{OpenError, Tip};

/// A start waits for etcd so long before it goes on without.
pub(super) const START: Duration = Duration::from_secs(3);

/// A process that lives speaks again within this: some of its words.
pub(super) const SPEAKS: Duration = Duration::from_secs(1);

const OTHER_CLUSTER: &str = "this directory is of another cluster than the one in etcd";

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// Why this is no node, or why a command for one was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    #[error("{0}")]
    Refused(String),
    /// Of the configuration or of a command: exit 2.
    #[error("cluster.partitions: {0}")]
    Partitions(String),
    #[error("{0}; the copy is kept, and the same command goes on from it")]
    Kept(LookError),
    #[error(transparent)]
    Agreed(#[from] LookError),
    #[error(transparent)]
    Etcd(#[from] EtcdError),
    #[error(transparent)]
    Directory(#[from] Failed),
    #[error(transparent)]
    Log(#[from] OpenError),
    #[error(transparent)]
    Books(#[from] actors::StartError),
    #[error("cluster.peers: {0}")]
    Peers(#[from] reqwest::Error),
    #[error(transparent)]
    Following(#[from] actors::FollowError),
    #[error("the thread that follows did not start: {0}")]
    Thread(io::Error),
}

impl ClusterError {
    pub(super) fn of(directory: &Path, why: impl Display) -> ClusterError {
        ClusterError::Refused(format!("{}: {why}", directory.display()))
    }

    /// The node may not start as it is, however often it tries. The rest is what another start may
    /// mend, such as a directory that another process has open.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            ClusterError::Directory(_)
                | ClusterError::Log(_)
                | ClusterError::Books(_)
                | ClusterError::Following(_)
                | ClusterError::Thread(_)
        )
    }
}

/// Of a directory, for `serve` and for `cluster init` and `reseed`.
pub(super) const NOT_MEMBER: &str =
    "this directory is in no cluster: pasarela cluster init founds one with it";

/// Nodes that join a restored copy would not keep live banks and webhooks shut, so that what the copied server sent
/// would go out twice.
pub(super) fn must_be_active(data: &Path) -> Result<(), ClusterError> {
    match RestoredCopy::must_be_whole(data)? {
        None => Ok(()),
        Some(copy) if copy.partitions > 1 => Err(ClusterError::of(
            data,
            "this directory is a restored copy of several partitions, which is no node: when the cluster that it is a \
             copy of is gone for good, pasarela cluster init --take-over founds another with it",
        )),
        Some(_) => Err(ClusterError::of(
            data,
            "this directory is a restored copy, which is no node: start it once as one machine, with \
             cluster.etcd = [] and pasarela serve --take-over, stop it, and found a cluster with it by pasarela \
             cluster init",
        )),
    }
}

/// Before the directory is touched: a program that cannot be a node of this cluster changes nothing. Without an answer of
/// etcd that is found out later.
pub fn check_stored(config: &Config) -> Result<(), ClusterError> {
    match founded(&Etcd::new(&config.cluster)?, &Keys::new(&config.cluster.partition)) {
        Ok(Some(founded)) => must_store(founded.stores),
        Err(why @ LookError::Unknown) => Err(why.into()),
        Ok(None) | Err(_) => Ok(()),
    }
}

/// Before anything is made in it.
pub fn check_directory(config: &Config) -> Result<Belongs, ClusterError> {
    let data = config.storage.path.as_path();
    renewal::finish(data).map_err(at(data))?;
    if !data.join(LOG_DIRECTORY).join("CURRENT").is_file() {
        let why = "there is no log here: pasarela cluster join --from URL brings it from a running node";
        return Err(ClusterError::of(data, why));
    }
    must_be_active(data)?;
    let why = match Belongs::read(data)? {
        None => NOT_MEMBER,
        Some(belongs) if belongs.barred => {
            "this directory has left its cluster for good (--take-over): empty it and join anew"
        }
        Some(belongs) if belongs.partition != config.cluster.partition => OTHER_CLUSTER,
        Some(belongs) => return Ok(belongs),
    };
    Err(ClusterError::of(data, why))
}

/// Takes a cluster's directory out of it, to be one machine's again, if that is asked for; it is
/// barred from the cluster from then on.
pub fn leave(data: &Path, take_over: bool) -> Result<(), ClusterError> {
    match Belongs::read(data)?.filter(|belongs| !belongs.barred) {
        None => Ok(()),
        Some(_) if take_over && data.join(PARTITIONS_DIRECTORY).is_dir() => Err(ClusterError::of(
            data,
            "this node has several partitions, and one machine serves one: the accounts of the others would be gone",
        )),
        Some(belongs) if take_over => Ok(Belongs { barred: true, ..belongs }.write(data)?),
        Some(_) => Err(ClusterError::of(
            data,
            "this directory belongs to a cluster, and cluster.etcd is empty: --take-over makes it one machine's \
             for good",
        )),
    }
}

/// Checked as far as can be without the log.
pub(super) fn prepare(
    config: &Config,
    operators: Arc<Operators>,
) -> Result<(Shared, Arc<dyn Quorum>), ClusterError> {
    let belongs = check_directory(config)?;
    let data = &config.storage.path;
    let cluster = &config.cluster;
    let fingerprint = directory::fingerprint(&directory::mark_key(data)?);
    let quorum: Arc<dyn Quorum> = Arc::new(Etcd::new(cluster)?);
    let following = Following::new(Arc::clone(&quorum), Keys::new(&cluster.partition), &cluster.node);
    let has_tls = config.server.tls.is_some();
    let me = Member {
        node: cluster.node.clone(),
        id: belongs.id,
        place: place(data)?,
        role: Role::Standby,
        wal_seq: 0,
        seen_at_ms: 0,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        format: codec::NEWEST,
        advertise: advertised(&cluster.advertise, config.server.listen, has_tls),
        peer_advertise: advertised(&cluster.peer_advertise, cluster.peer_listen, has_tls),
        diverged: false,
        held_up: None,
        present_ms: 0,
        ordered_at_ms: 0,
        partitions: cluster.takes_more().then_some(config.partitions),
    };
    let view = View {
        partition: cluster.partition.clone(),
        node: cluster.node.clone(),
        stored_version: codec::BEFORE,
        waits_for: "catching up with the agreed log".into(),
        ..View::default()
    };
    let settings = Settings {
        me,
        cluster: belongs.cluster,
        fingerprint,
        partitions: cluster.partitions,
        is_preview: cluster.partitions_preview,
        failover: cluster.failover(),
        window_bytes_max: cluster.window_bytes_max,
        data: data.clone(),
        partition: config.partition,
        copied: if config.partition == Some(0) { config.partitions } else { 1 },
    };
    let shared = Shared {
        settings,
        following,
        views: watch::Sender::new(Arc::new(view)),
        routes: Default::default(),
        barrier: Default::default(),
        operators,
        leader: Default::default(),
        reader: Default::default(),
        is_open: AtomicBool::new(false),
        is_window_full: AtomicBool::new(false),
        snapshots: Default::default(),
        saying: Default::default(),
        is_handing_over: AtomicBool::new(false),
        is_leaving: AtomicBool::new(false),
        ordered_at_ms: AtomicI64::new(0),
        takeovers: AtomicU64::new(0),
        doubted: AtomicU64::new(0),
        standing_by: Default::default(),
        beating: Default::default(),
        taken_at: Default::default(),
        inlet: Default::default(),
        holds: Default::default(),
        move_inlet: Default::default(),
        live_inlet: Default::default(),
    };
    Ok((shared, quorum))
}

/// For as long as a start waits. False if etcd does not answer.
pub(super) fn admit(shared: &Shared, local: Tip) -> Result<bool, ClusterError> {
    let quorum = &*shared.following.quorum;
    match until_answered(quorum, (START, super::PAUSE), || try_admit(shared, local)) {
        Err(ClusterError::Agreed(LookError::Unanswered(_))) => Ok(false),
        decided => decided.map(|()| true),
    }
}

/// Asks etcd until it answers or the time is over, with a pause between two attempts.
pub(super) fn until_answered<T>(
    quorum: &dyn Quorum,
    (time, pause): (Duration, Duration),
    mut ask: impl FnMut() -> Result<T, ClusterError>,
) -> Result<T, ClusterError> {
    let began = quorum.now();
    loop {
        match ask() {
            Err(ClusterError::Agreed(LookError::Unanswered(_)))
                if quorum.now().saturating_sub(began) < time =>
            {
                quorum.rest(pause)
            }
            answered => return answered,
        }
    }
}

pub(super) fn try_admit(shared: &Shared, local: Tip) -> Result<(), ClusterError> {
    let (settings, following) = (&shared.settings, &shared.following);
    let path = settings.data.as_path();
    let not_founded = || {
        ClusterError::Refused(format!(
            "etcd holds no cluster under the partition {}: if its data was lost, pasarela cluster reseed brings it \
             back",
            shared.views.borrow().partition
        ))
    };
    let founded = founded(&*following.quorum, &following.keys)?.ok_or_else(not_founded)?;
    must_store(founded.stores)?;
    if founded.fingerprint != settings.fingerprint {
        return Err(ClusterError::of(path, "mark.key is not the one that the cluster was founded with"));
    }
    if founded.id != settings.cluster {
        return Err(ClusterError::of(path, OTHER_CLUSTER));
    }
    // Of the others the first one's process answers for it.
    if settings.partition.unwrap_or(0) == 0 {
        let has = partitions(&*following.quorum, &following.keys)?;
        must_have((settings.partitions, settings.is_preview), has)?;
    }
    let seen = match following.look(local) {
        // The batches that are no longer in etcd are brought by a peer, whose log shows whether this one is a
        // beginning of it.
        Err(LookError::Pruned { .. }) => following.glance(),
        looked => looked,
    };
    match seen {
        Err(why @ (LookError::Ahead { .. } | LookError::Diverged { .. } | LookError::Pruned { .. })) => {
            Err(ClusterError::of(
                path,
                format_args!(
                    "{why}: records that were never agreed on are not served; keep the directory aside and join \
                     anew"
                ),
            ))
        }
        Err(LookError::NotFounded) => Err(not_founded()),
        Err(LookError::Damage(damage)) => Err(OpenError::Damage(damage).into()),
        Err(why) => Err(why.into()),
        Ok(seen) => {
            // A process that handed the log over has started anew.
            let before = of_name(&seen, &settings.me.node).map_or(0, |before| before.ordered_at_ms);
            shared.ordered_at_ms.fetch_max(before, Ordering::AcqRel);
            is_name_free(shared, &seen)
        }
    }
}

/// The version that records are written in.
pub(super) fn stored(stores: Option<u8>) -> u8 {
    stores.unwrap_or(codec::READABLE[0])
}

/// A program that does not read what the cluster stores could not follow, and one that cannot write it would lock the
/// other nodes out.
pub(super) fn must_store(stores: Option<u8>) -> Result<(), ClusterError> {
    let (stored, own) = (stored(stores), env!("CARGO_PKG_VERSION"));
    let advice = match stored {
        codec::BEFORE..=codec::NEWEST => return Ok(()),
        ..codec::BEFORE => "upgrade its nodes to a release between the two first",
        _ => "upgrade this node",
    };
    Err(ClusterError::Refused(format!(
        "the cluster stores version {stored} of the format, and pasarela {own} stores {} and {}: {advice}",
        codec::BEFORE,
        codec::NEWEST
    )))
}

/// The number that a configuration claims, if it does, is the cluster's.
pub(super) fn must_have((claimed, is_preview): (Option<u8>, bool), has: u8) -> Result<(), ClusterError> {
    match claimed.filter(|claimed| *claimed != has) {
        None => must_serve(has, is_preview),
        Some(claimed) => Err(ClusterError::Partitions(format!(
            "the configuration says {claimed}, and the cluster has {has}: set it to {has}, or leave it out"
        ))),
    }
}

/// The only place that refuses more than one partition (docs/decisions/0199): a preview.
pub(super) fn must_serve(partitions: u8, is_preview: bool) -> Result<(), ClusterError> {
    if partitions == 1 || is_preview {
        return Ok(());
    }
    let own = env!("CARGO_PKG_VERSION");
    Err(ClusterError::Partitions(format!("pasarela {own} serves one partition, not {partitions}")))
}

fn is_name_free(shared: &Shared, seen: &Seen) -> Result<(), ClusterError> {
    let Settings { me, data, .. } = &shared.settings;
    let node = &me.node;
    match of_name(seen, node).filter(|member| member.is_present(now_ms())) {
        None => Ok(()),
        Some(member) if member.id != me.id => Err(ClusterError::Refused(format!(
            "cluster.node: another node called {node} was seen within ten seconds"
        ))),
        // The lock of the directory is this process's: the one that said so is dead.
        Some(member) if member.place == me.place => Ok(()),
        // The directory was moved here, or copied: then the first goes on to speak.
        Some(member) if speaks(shared, &member) => {
            let why = format!("a node called {node} runs with another copy of this directory");
            let advice = "stop one of the two; a new node joins with an empty directory";
            Err(ClusterError::of(data, format_args!("{why}: {advice}")))
        }
        Some(_) => Ok(()),
    }
}

fn of_name(seen: &Seen, node: &str) -> Option<Member> {
    members(seen).into_iter().find(|member| member.node == node)
}

fn speaks(shared: &Shared, before: &Member) -> bool {
    let quorum = &shared.following.quorum;
    let began = quorum.now();
    while quorum.now().saturating_sub(began) < SPEAKS {
        quorum.rest(super::PAUSE);
        if let Ok(seen) = shared.following.glance()
            && of_name(&seen, &before.node).is_some_and(|now| now.seen_at_ms != before.seen_at_ms)
        {
            return true;
        }
    }
    false
}

/// The machine since it was started, the disk, and the directory's number there. A restart in the
/// same place knows it again; a copy is in another.
fn place(data: &Path) -> Result<String, ClusterError> {
    let found = std::fs::metadata(data).map_err(at(data))?;
    let boot = std::fs::read_to_string(BOOT_ID).map_err(at(Path::new(BOOT_ID)))?;
    Ok(format!("{} {} {}", boot.trim(), found.dev(), found.ino()))
}

/// Whether every node that is known reads the newest version that this program writes. Words that are not readable were
/// written by who knows which.
pub(super) fn all_read_newest(seen: &Seen) -> bool {
    let members = members(seen);
    members.len() == seen.nodes.len() && members.iter().all(|member| member.format >= codec::NEWEST)
}

/// Words that are not readable were written by a later version.
pub(super) fn members(seen: &Seen) -> Vec<Member> {
    seen.nodes.iter().filter_map(|(_, value)| serde_json::from_slice(value).ok()).collect()
}
