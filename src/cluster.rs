//! A node of a cluster: one of several machines on one log, which etcd keeps in agreement.
//!
//! The life of the process goes one way: it stands by, it leads, it is deposed, and then it starts
//! anew in the same process (`step_down.rs`). A standby follows the agreed log with a log and books
//! of its own and opens nothing to the outside; a leader is the whole server. The protocol itself is
//! in `wal::cluster`.
//!
//! Promises: nothing is decided or shown by a node that has not taken the epoch; a node whose log is
//! not a beginning of the agreed one does not start, or goes on as no candidate. It must not know
//! what a record means.

mod admission;
mod barrier;
pub mod directory;
mod etcd;
pub mod founding;
pub mod front;
pub mod growing;
pub mod joining;
mod leading;
mod lifeline;
pub mod looking;
mod merged;
pub mod node_front;
pub mod page_front;
mod partitions;
pub mod passing;
pub mod peer_front;
pub mod peers;
pub mod questions;
mod renewal;
pub mod reports;
mod seed;
mod sending;
mod signs;
pub mod spreading;
mod standing_by;
mod step_down;
pub mod view;
pub mod ways;

pub use admission::{ClusterError, check_directory, check_stored, leave};
pub use barrier::{Confirming, NotConfirmed};
pub use etcd::EtcdError;
pub use leading::HandedOver;
pub use merged::{Csv, Exports, MISSING};
pub use passing::{HAND_OVER, Passing};
pub use sending::Sending;
pub use step_down::{start_anew_if_due, starts_anew, stop_for_good, stop_to_start_anew};

use crate::backups::{self, Made};
use crate::config::{Config, Secret};
use crate::operators::Operators;
use crate::recovery::{Failed, at};
use actors::Followed;
use api::problem::Problem;
use barrier::Barrier;
use bytes::Bytes;
use domain::codec;
use domain::machine::Domain;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread::Thread;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};
use view::{Member, Role, View};
use wal::cluster::{Agreement, Following, Leader};
use wal::{Reader, Seq};

/// The time over `failover_ms` that a request may hang for want of an answer from etcd.
const HANG: Duration = Duration::from_millis(900);
/// The silence of etcd after which requests are not kept waiting for it.
const STALLED: Duration = Duration::from_millis(1_000);
/// The time for which the outcome of a batch is asked for: longer than etcd takes to change its own
/// leader. Who waits for it is answered before.
const INSIST: Duration = Duration::from_secs(8);
/// The time that another node has to serve before this one stops.
const STOP: Duration = Duration::from_secs(5);
/// The time between two attempts to reach etcd of which the first failed at once.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes what the first partition's leader sends, and says how far this one has followed.
pub type Inlet =
    Box<dyn Fn(Bytes) -> Pin<Box<dyn Future<Output = Result<u64, Problem>> + Send>> + Send + Sync>;

/// Answers what another partition's leader asks while a tenant moves, or about live money.
pub type MoveInlet =
    Box<dyn Fn(Bytes) -> Pin<Box<dyn Future<Output = Result<Vec<u8>, Problem>> + Send>> + Send + Sync>;

/// A node, as the rest of the server sees it. Clones are the same one.
#[derive(Clone)]
pub struct Cluster {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Settings,
    following: Following,
    views: watch::Sender<Arc<View>>,
    routes: watch::Sender<reports::Routes>,
    barrier: Barrier,
    operators: Arc<Operators>,
    leader: OnceLock<Leader>,
    reader: RwLock<Option<Reader>>,
    is_open: AtomicBool,
    /// Whether etcd holds as much as it may while this node is the only one left.
    is_window_full: AtomicBool,
    /// The operators who wait for a standby's snapshots.
    snapshots: Mutex<Vec<oneshot::Sender<Seq>>>,
    saying: Mutex<()>,
    is_handing_over: AtomicBool,
    /// Whether the process is about to stop.
    is_leaving: AtomicBool,
    ordered_at_ms: AtomicI64,
    takeovers: AtomicU64,
    /// The epoch whose leader may have died: the connection to it has ended. 0: none.
    doubted: AtomicU64,
    /// The threads that are woken when there is something to look at, or to say.
    standing_by: OnceLock<Thread>,
    beating: OnceLock<Thread>,
    taken_at: OnceLock<Instant>,
    inlet: OnceLock<Inlet>,
    holds: OnceLock<questions::Holds>,
    move_inlet: OnceLock<MoveInlet>,
    live_inlet: OnceLock<MoveInlet>,
}

struct Settings {
    /// What this node says of itself that stays.
    me: Member,
    /// Of the directory.
    cluster: String,
    fingerprint: String,
    /// That the configuration claims.
    partitions: Option<u8>,
    is_preview: bool,
    failover: Duration,
    window_bytes_max: u64,
    data: PathBuf,
    /// Of a process behind a front.
    partition: Option<u8>,
    /// Partitions whose copies are in that of this one.
    copied: u8,
}

/// The things that a node that leads from now on is given: the log that it followed, and the right
/// to append.
pub struct Promoted {
    pub followed: Followed<Domain>,
    pub reader: Reader,
    pub agreement: Box<dyn Agreement>,
}

impl Cluster {
    /// Starts the node that the configuration describes: checks that its directory belongs to the
    /// cluster, opens its log, which `watch` sees first, and follows. What comes from the receiver is the right to lead. Waits
    /// for the disk and for etcd.
    pub fn start(
        config: &Config,
        access: Option<&Secret>,
        watch: &dyn Fn(&wal::RocksStore, &Path),
    ) -> Result<(Cluster, oneshot::Receiver<Promoted>), ClusterError> {
        // Until the others' word is read: what any of them may be able to read.
        codec::write(codec::BEFORE);
        let (shared, quorum) = admission::prepare(config, Arc::new(Operators::new(access)))?;
        let shared = Arc::new(shared);
        let store = Arc::new(wal::RocksStore::open(
            config.storage.path.join(crate::recovery::directory::LOG_DIRECTORY),
        )?);
        let data = config.storage.path.as_path();
        watch(&store, data);
        let swept = seed::sweep(data).and_then(|()| joining::sweep(data));
        swept.map_err(at(data))?;
        let (promote, promoted) = oneshot::channel();
        let node = standing_by::StandingBy::new(config, Arc::clone(&shared), store, promote)?;
        drop(quorum);
        let thread = std::thread::Builder::new().name("cluster".to_owned());
        thread.spawn(move || node.run()).map_err(ClusterError::Thread)?;
        Ok((Cluster { shared }, promoted))
    }

    pub fn view(&self) -> Arc<View> {
        let mut view = self.shared.views.borrow().clone();
        // The sequence that a leader has synced is known at once.
        if view.role == Role::Leader
            && let Some(synced) = self.shared.reader().map(|reader| reader.last_seq())
            && synced > view.wal_seq
        {
            let view = Arc::make_mut(&mut view);
            view.wal_seq = synced;
            view.agreed_seq = view.agreed_seq.max(synced);
        }
        view
    }

    /// Says that this node is about to stop, so that nothing is handed to it; it takes nothing either.
    pub async fn leave(&self) {
        self.shared.is_leaving.store(true, Ordering::Release);
        self.shared.see(|_| ());
        // Without an answer the others notice by themselves.
        self.say_now().await;
    }

    async fn say_now(&self) {
        let shared = Arc::clone(&self.shared);
        let _ = tokio::task::spawn_blocking(move || {
            let wal_seq = shared.views.borrow().wal_seq;
            shared.say(wal_seq, |about| shared.following.note(about))
        })
        .await;
    }

    pub fn changes(&self) -> watch::Receiver<Arc<View>> {
        self.shared.views.subscribe()
    }

    /// Begins to look whether this node leads at an instant after the call. One question to etcd
    /// serves all who wait, and a batch that is agreed on meanwhile needs none.
    pub fn begin_to_confirm(&self) -> Confirming {
        Confirming::begin(Arc::clone(&self.shared))
    }

    /// Returns when a request that began at the call has waited for as long as it may, while etcd is
    /// silent.
    pub async fn stalled(&self) {
        tokio::time::sleep(self.shared.settings.failover + HANG).await;
        while self.view().read_at.is_some_and(|at| at.elapsed() < STALLED) {
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until it is sure that this node leads. Never returns on one that leads no more: what
    /// waits here is not to happen.
    pub async fn until_confirmed(&self) {
        while self.begin_to_confirm().asked().await.is_err() {
            if self.is_deposed() {
                return std::future::pending().await;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether writes are refused because etcd holds as much as it may.
    pub fn is_window_full(&self) -> bool {
        self.shared.is_window_full.load(Ordering::Relaxed)
    }

    pub fn opened(&self, reader: Reader) {
        self.shared.read_by(reader);
        self.shared.is_open.store(true, Ordering::Release);
        if let Some(taken_at) = self.shared.taken_at.get() {
            tracing::info!(took_ms = taken_at.elapsed().as_millis(), "serves in the place of another");
        }
        // The others pass requests on once they have heard of it.
        if let Some(thread) = self.shared.beating.get() {
            thread.unpark();
        }
    }

    /// Of a partition that follows the first, once it leads.
    pub fn follow_by(&self, inlet: Inlet) {
        let _ = self.shared.inlet.set(inlet);
    }

    /// Of a partition, once it leads.
    pub fn answer_by(&self, holds: questions::Holds) {
        let _ = self.shared.holds.set(holds);
    }

    /// Of any partition, once it leads.
    pub fn move_by(&self, inlet: MoveInlet) {
        let _ = self.shared.move_inlet.set(inlet);
    }

    /// Of any partition, once it leads.
    pub fn answer_live_by(&self, inlet: MoveInlet) {
        let _ = self.shared.live_inlet.set(inlet);
    }

    pub fn takeovers(&self) -> u64 {
        self.shared.takeovers.load(Ordering::Relaxed)
    }

    /// Whether this node leads no more; the process is about to start anew.
    pub fn is_deposed(&self) -> bool {
        self.shared.leader.get().is_some_and(|leader| leader.lost().is_some())
    }

    pub fn leads(&self) -> bool {
        self.shared.is_open.load(Ordering::Acquire) && !self.is_deposed()
    }

    /// A copy of this node's data, for another one.
    pub fn seed(&self) -> Result<seed::Seed, Failed> {
        self.is_agreed().map_err(Failed::NotDone)?;
        let no_log = || Failed::NotDone("there is no log yet".to_owned());
        seed::Seed::make(&self.shared.settings.data, &self.shared.reader().ok_or_else(no_log)?)
    }

    fn is_agreed(&self) -> Result<(), String> {
        match &self.view().diverged {
            None => Ok(()),
            Some(why) => Err(format!("the log here is not the agreed one: {why}")),
        }
    }

    pub async fn back_up(&self, path: PathBuf) -> Result<Made, Problem> {
        self.is_agreed().map_err(backups::failed)?;
        let reader = self.shared.reader().ok_or_else(|| Problem::overloaded(1))?;
        let Settings { data, copied, .. } = &self.shared.settings;
        backups::make(data.clone(), path, *copied, move |to| reader.checkpoint(to)).await
    }

    /// Has the standby that this node is write its snapshots now; the last record in them.
    pub async fn snapshot(&self) -> Result<Seq, Problem> {
        self.is_agreed().map_err(Problem::internal_error)?;
        let (done, written) = oneshot::channel();
        self.shared.snapshots.lock().unwrap_or_else(PoisonError::into_inner).push(done);
        let mut views = self.changes();
        tokio::select! {
            written = written => written.map_err(|_| Problem::overloaded(1)),
            // The thread that followed has ended; the whole server that leads takes snapshots by itself.
            _ = views.wait_for(|view| view.role == Role::Leader) => Err(Problem::overloaded(1)),
        }
    }

    pub fn step_down(&self, why: &str) {
        step_down::step_down(&self.shared, why);
    }

    /// Has another node serve before this one stops, if there is one that goes on: rather the first in `order`.
    pub async fn hand_over_to_stop(&self, order: &[String]) {
        let handed = async {
            self.leave().await;
            if let Some(to) = leading::successor(&self.shared, order).await {
                tracing::info!(to, "handing the log over");
                let _ = self.hand_over(&to).await;
            }
        };
        // The process ends, whatever comes of it.
        let _ = tokio::time::timeout(STOP, handed).await;
    }
}

impl Shared {
    fn read_by(&self, reader: Reader) {
        *self.reader.write().unwrap_or_else(PoisonError::into_inner) = Some(reader);
    }

    fn reader(&self) -> Option<Reader> {
        self.reader.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says what this node has. What it says are its newest words: none that were chosen before it left are
    /// said after those.
    fn say<T>(&self, wal_seq: Seq, say: impl FnOnce(Vec<u8>) -> T) -> T {
        let _turn = self.saying.lock().unwrap_or_else(PoisonError::into_inner);
        say(standing_by::about(self, wal_seq))
    }

    fn see(&self, change: impl FnOnce(&mut View)) {
        self.views.send_modify(|view| change(Arc::make_mut(view)));
    }
}
