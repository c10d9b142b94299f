//! A node's process for one of the partitions: a standby that follows, a leader that serves, or one that is down.

use super::network::Network;
use super::server::{Server, Way};
use super::{Broken, Fault, universe};
use actors::{Clock, Config, Effects, Engine, FollowError, Follower, Reading};
use api::operators::changes;
use domain::codec;
use domain::machine::{Domain, KeyedCommand};
use domain::rail::Effect;
use faulty::{MemoryQuorum, MemoryStore, Refusal};
use pasarela::cluster::view::{Member, Role as Said, View};
use pasarela::gateway::followers::Followers;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use wal::cluster::{
    Agreed, Agreement, Appender, Following, Keys, Leader, LookError, Patience, Proposal, Quorum, Seen,
    Silence, Standing,
};
use wal::{Retention, Stepper, Store};

pub const FAILOVER: Duration = Duration::from_millis(1_500);
const PATIENCE: Patience = Patience { total: Duration::from_millis(2_500), pause: Duration::from_millis(50) };
const BEAT_EVERY: Duration = Duration::from_millis(200);
const NOTE_EVERY: Duration = Duration::from_millis(400);
/// Looks, and signs of life, between two that the front of the node is shown.
const SHOW_EVERY: u64 = 3;
/// Looks between two rounds of a standby's snapshots.
const SAVE_EVERY: u64 = 40;
/// How often tasks get their turn before the log writes, and how often it does in a turn.
const YIELDS: usize = 6;
const WRITES: usize = 3;

/// What all processes share.
#[derive(Clone)]
pub struct World {
    pub seed: u64,
    pub partitions: u8,
    pub network: Arc<Network>,
    /// A client that meets no fault, for its clock.
    pub witness: MemoryQuorum,
    pub fault: Option<Fault>,
}

impl World {
    pub fn now(&self) -> Duration {
        self.witness.now()
    }

    pub fn now_ms(&self) -> i64 {
        i64::try_from(self.now().as_millis()).expect("a short life")
    }
}

pub struct Process {
    pub node: usize,
    pub partition: u8,
    pub role: Role,
    pub paused_until: Duration,
    /// What the front of the node is shown.
    pub view: Arc<View>,
    pub ordered_at_ms: i64,
    world: World,
    following: Following,
    store: MemoryStore,
    read_since: Option<Duration>,
    noted_at: Duration,
    looks: u64,
    taken: u64,
}

pub enum Role {
    Down,
    Standby(Box<Standby>),
    Leads(Box<Leads>),
}

pub struct Standby {
    follower: Follower<Domain>,
    silence: Silence,
    _writer: Arc<OnceLock<Stepper>>,
}

pub struct Leads {
    // Tasks end first.
    runtime: Runtime,
    pub server: Arc<Server>,
    stepper: Stepper,
    doom: Arc<Doom>,
    now: Duration,
    beats: u64,
    beaten_at: Duration,
}

#[derive(Default)]
struct Doom {
    is_dead: AtomicBool,
    dies_in_commit: AtomicBool,
}

/// The agreement of a process that may die before it and after it.
struct Mortal {
    appender: Appender,
    doom: Arc<Doom>,
    /// Takes silence for an answer.
    is_hasty: bool,
}

impl Agreement for Mortal {
    fn agree(&mut self, proposal: &Proposal<'_>) -> Agreed {
        if self.doom.is_dead.load(Ordering::Relaxed) {
            return Agreed::Fenced("the process is gone".to_owned());
        }
        let agreed = self.appender.agree(proposal);
        if self.doom.dies_in_commit.load(Ordering::Relaxed) {
            self.doom.is_dead.store(true, Ordering::Relaxed);
            return Agreed::Fenced("the process died before its sync".to_owned());
        }
        match agreed {
            Agreed::Unknown(_) if self.is_hasty => Agreed::Committed,
            known => known,
        }
    }
}

/// No debit of the simulation goes to a bank.
struct Nowhere;

impl Effects<Domain> for Nowhere {
    fn perform(&self, _: u64, _: Effect) -> Pin<Box<dyn Future<Output = KeyedCommand> + Send>> {
        panic!("nothing here asks a bank")
    }
}

fn domain() -> Domain {
    Domain {
        rails: Arc::new(domain::rail::TestModeAlone),
        holidays: Vec::new(),
        changes,
        person_marks: Default::default(),
    }
}

/// A writer that writes as soon as something is appended, for as long as the second part lives.
fn at_once() -> (Stepper, Arc<OnceLock<Stepper>>) {
    let own: Arc<OnceLock<Stepper>> = Arc::default();
    let weak = Arc::downgrade(&own);
    let stepper = Stepper::new(move || {
        if let Some(own) = weak.upgrade() {
            while own.get().is_some_and(Stepper::step) {}
        }
    });
    let _ = own.set(stepper.clone());
    (stepper, own)
}

impl Leads {
    /// Tasks go on until the time that it is by now.
    fn poll(&mut self, now: Duration) {
        let by = now.saturating_sub(self.now);
        self.now += by;
        self.runtime.block_on(async {
            if !by.is_zero() {
                tokio::time::advance(by).await;
            }
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
        });
    }

    pub fn spawn(&self, what: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(what);
    }

    pub fn is_open(&self) -> bool {
        self.server.is_open.load(Ordering::Acquire)
    }

    /// The process dies when its next batch has been agreed on, and is not synced.
    pub fn die_in_commit(&self) {
        self.doom.dies_in_commit.store(true, Ordering::Relaxed);
    }
}

impl Process {
    pub fn new(node: usize, partition: u8, quorum: &MemoryQuorum, world: World) -> Process {
        let client = Arc::new(quorum.client(node));
        Process {
            node,
            partition,
            role: Role::Down,
            paused_until: Duration::ZERO,
            view: Arc::default(),
            ordered_at_ms: 0,
            world,
            following: Following::new(client, Keys::new(&universe::name(partition)), &format!("n{node}")),
            store: MemoryStore::new(),
            read_since: None,
            noted_at: Duration::ZERO,
            looks: 0,
            taken: 0,
        }
    }

    fn broken<E: std::fmt::Display>(&self) -> impl FnOnce(E) -> Broken + use<E> {
        let (node, partition) = (self.node, self.partition);
        move |why| Broken(format!("node {node}, partition {partition}: {why}"))
    }

    /// The process is gone, with whatever it had not synced.
    pub fn end(&mut self) {
        self.store = self.store.copy();
        if let Role::Leads(leads) = std::mem::replace(&mut self.role, Role::Down) {
            leads.doom.is_dead.store(true, Ordering::Relaxed);
        }
        self.read_since = None;
    }

    fn start(&mut self) -> Result<(), Broken> {
        self.end();
        let (stepper, writer) = at_once();
        let store: Arc<dyn Store> = Arc::new(self.store.clone());
        let config = wal::Config::default();
        let follower = Follower::open(domain(), store, config, BTreeMap::new(), Some(stepper));
        let follower = follower.map_err(self.broken())?;
        self.role =
            Role::Standby(Box::new(Standby { follower, silence: Silence::default(), _writer: writer }));
        Ok(())
    }

    pub fn leads(&self) -> Option<&Leads> {
        match &self.role {
            Role::Leads(leads) => Some(leads),
            _ => None,
        }
    }

    pub fn tip(&self) -> Option<wal::Tip> {
        match &self.role {
            Role::Standby(standby) => Some(standby.follower.tip),
            Role::Leads(leads) => Some(leads.server.engine.reader().tip()),
            Role::Down => None,
        }
    }

    /// Has the disk refuse its next write.
    pub fn refuse_write(&self) {
        self.store.faults().refuse_write(1, Refusal::NotStored);
    }

    /// One turn of the process. The word is for the history.
    pub fn turn(&mut self) -> Result<Option<String>, Broken> {
        match &self.role {
            Role::Down => self.start().map(|()| None),
            Role::Standby(_) => self.stand_by(),
            Role::Leads(_) => self.lead(),
        }
    }

    fn lead(&mut self) -> Result<Option<String>, Broken> {
        let Role::Leads(leads) = &mut self.role else { return Ok(None) };
        let now = self.world.now();
        leads.poll(now);
        for _ in 0..WRITES {
            leads.stepper.step();
            leads.poll(self.world.now());
        }
        let (server, is_open) = (Arc::clone(&leads.server), leads.is_open());
        if now - leads.beaten_at >= BEAT_EVERY && server.leader.lost().is_none() {
            (leads.beaten_at, leads.beats) = (now, leads.beats + 1);
            let beats = leads.beats;
            let said = vec![(self.following.keys.node(&format!("n{}", self.node)), self.about())];
            if server.leader.beat(beats, is_open, said) == Ok(Standing::Ours) {
                self.read_since.get_or_insert(now);
                if beats % SHOW_EVERY == 1
                    && let Ok(seen) = self.following.glance()
                {
                    self.show(&seen);
                }
            }
        }
        let lost = server.leader.lost().map(str::to_owned);
        let lost = lost.or_else(|| server.engine.ready().err().map(|why| format!("{why:?}")));
        let Some(why) = lost else { return Ok(None) };
        drop(server);
        self.start()?;
        Ok(Some(format!("leads no more: {why}")))
    }

    fn stand_by(&mut self) -> Result<Option<String>, Broken> {
        let Role::Standby(standby) = &mut self.role else { return Ok(None) };
        let quorum = Arc::clone(&self.following.quorum);
        let seen = match self.following.look(standby.follower.tip) {
            Ok(seen) => seen,
            Err(LookError::Unanswered(_)) => {
                standby.silence.failed();
                self.read_since = None;
                return Ok(None);
            }
            Err(error) => return Err(self.broken()(error)),
        };
        self.looks += 1;
        standby.silence.looked(quorum.now(), &seen, FAILOVER / 2);
        let silence = standby.silence.lasts(quorum.now());
        if !self.follow(&seen)? {
            self.start()?;
            return Ok(Some("the disk refused: it starts anew".to_owned()));
        }
        let now = self.world.now();
        self.read_since.get_or_insert(now);
        if self.looks % SHOW_EVERY == 1 {
            self.show(&seen);
        }
        if now - self.noted_at >= NOTE_EVERY {
            self.noted_at = now;
            let _ = self.following.note(self.about());
        }
        let is_due = silence >= FAILOVER || seen.epoch.appoints(&format!("n{}", self.node));
        if is_due { self.take_over(&seen) } else { Ok(None) }
    }

    /// False if the disk refused.
    fn follow(&mut self, seen: &Seen) -> Result<bool, Broken> {
        let broken = self.broken();
        let Role::Standby(standby) = &mut self.role else { return Ok(true) };
        let Some(last) = seen.batches.last() else {
            let is_full = self.looks.is_multiple_of(SAVE_EVERY) && standby.follower.unsaved() > 0;
            return Ok(!is_full || standby.follower.snapshot(&Retention::default()).is_ok());
        };
        let records = seen.batches.iter().flat_map(|batch| batch.records.iter().cloned()).collect();
        match standby.follower.apply(records, last.tip) {
            Ok(()) => Ok(true),
            Err(FollowError::Storage(_)) => Ok(false),
            Err(FollowError::Diverged(why)) => Err(broken(why)),
        }
    }

    fn take_over(&mut self, seen: &Seen) -> Result<Option<String>, Broken> {
        self.taken += 1;
        let token = format!("{}-{}", self.node, self.taken);
        let Ok(Some(leader)) = self.following.take(seen, &token) else { return Ok(None) };
        // What was agreed on until the epoch was taken is caught up with; nobody appends after it.
        let seen = loop {
            let Role::Standby(standby) = &mut self.role else { return Ok(None) };
            match self.following.look(standby.follower.tip) {
                Ok(seen) if seen.epoch != leader.epoch => {
                    self.start()?;
                    return Ok(Some("was deposed before it had caught up".to_owned()));
                }
                Ok(seen) if seen.batches.is_empty() => break seen,
                Ok(seen) => {
                    if !self.follow(&seen)? {
                        self.start()?;
                        return Ok(Some("the disk refused while it caught up".to_owned()));
                    }
                }
                Err(LookError::Unanswered(_)) => {}
                Err(error) => return Err(self.broken()(error)),
            }
        };
        let word = format!("leads by epoch {} from record {}", leader.epoch.number, seen.tip.tip.seq);
        self.open(leader, &seen)?;
        Ok(Some(word))
    }

    fn open(&mut self, leader: Leader, seen: &Seen) -> Result<(), Broken> {
        let Role::Standby(standby) = std::mem::replace(&mut self.role, Role::Down) else { return Ok(()) };
        let (doom, stepper, world) = (Arc::<Doom>::default(), Stepper::new(|| {}), &self.world);
        let is_hasty = world.fault == Some(Fault::AcknowledgesBeforeTheQuorum);
        let appender = leader.appender(seen.tip, PATIENCE);
        let agreement = Mortal { appender, doom: Arc::clone(&doom), is_hasty };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.map_err(self.broken())?;
        let directory = Arc::<pasarela::gateway::keys::Directory>::default();
        let (of_others, own) = (Arc::clone(&directory), self.partition);
        let config = self.config(
            &stepper,
            leader.epoch.number,
            Arc::new(move |tenant| of_others.is_elsewhere(tenant, own)),
        );
        let followed = standby.follower.finish();
        let led = Engine::lead(domain(), Arc::new(Nowhere), followed, Box::new(agreement), config);
        let engine = runtime.block_on(led).map_err(self.broken())?;
        let server = Arc::new(Server {
            partition: self.partition,
            engine,
            directory,
            leader,
            is_open: AtomicBool::new(false),
            followers: (self.partition == 0).then(|| Followers::of(world.partitions, FAILOVER)),
            turns: Default::default(),
            reservations: Arc::default(),
            copies: Default::default(),
            way: Way {
                network: Arc::clone(&world.network),
                node: self.node,
                quorum: Arc::clone(&self.following.quorum),
                partitions: world.partitions,
            },
            fault: world.fault,
        });
        let beginning = Arc::clone(&server).begin();
        runtime.spawn(async move { drop(beginning.await) });
        let (now, beaten_at) = (world.now(), Duration::ZERO);
        self.role = Role::Leads(Box::new(Leads { runtime, server, stepper, doom, now, beats: 0, beaten_at }));
        Ok(())
    }

    fn config(&self, stepper: &Stepper, epoch: u64, is_elsewhere: actors::IsElsewhere) -> Config {
        let witness = self.world.witness.clone();
        let clock = Clock::watched(Box::new(move || {
            let boot_ms = i64::try_from(witness.now().as_millis()).expect("a short life");
            Reading { wall_ms: boot_ms, boot_ms }
        }));
        let place = self.world.seed ^ (u64::from(self.partition) << 56) ^ (epoch << 40);
        let turns = AtomicU64::new(universe::mixed(place));
        let elsewhere = Arc::clone(&is_elsewhere);
        Config {
            permits_max: 1_000,
            shares: actors::Shares::UNBOUNDED,
            snapshot_records: 40 + self.world.seed % 40,
            snapshot_seconds: 30,
            idle_seconds: 5 + self.world.seed % 20,
            awake_max: 1_000,
            has_room: Arc::new(|| true),
            has_room_for_due: Arc::new(move |tenant| !elsewhere(tenant)),
            is_elsewhere: Some(is_elsewhere),
            patience: Duration::from_secs(2),
            on_fatal: Arc::new(|_| {}),
            set_aside: BTreeMap::new(),
            on_halt: Arc::new(|_| {}),
            clock,
            seeds: Arc::new(move || universe::mixed(turns.fetch_add(1, Ordering::Relaxed))),
            stepper: Some(stepper.clone()),
        }
    }

    /// What the process says of itself in etcd.
    fn about(&self) -> Vec<u8> {
        let now = self.world.now();
        let present = self.read_since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        let member = Member {
            node: format!("n{}", self.node),
            id: String::new(),
            place: String::new(),
            role: if self.leads().is_some() { Said::Leader } else { Said::Standby },
            wal_seq: self.tip().map_or(0, |tip| tip.seq),
            seen_at_ms: self.world.now_ms(),
            version: String::new(),
            format: codec::NEWEST,
            advertise: String::new(),
            peer_advertise: String::new(),
            diverged: false,
            held_up: None,
            present_ms: u64::try_from(present.as_millis()).expect("a short life"),
            ordered_at_ms: self.ordered_at_ms,
            partitions: None,
        };
        serde_json::to_vec(&member).expect("it is JSON")
    }

    fn show(&mut self, seen: &Seen) {
        let members = seen.nodes.iter().filter_map(|(_, word)| serde_json::from_slice(word).ok()).collect();
        self.view = Arc::new(View {
            node: format!("n{}", self.node),
            leader: seen.is_open.then(|| seen.epoch.node.clone()),
            epoch: seen.epoch.number,
            agreed_seq: seen.tip.tip.seq,
            members,
            ..View::default()
        });
    }
}
