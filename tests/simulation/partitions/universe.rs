//! Everything that a seed decides, what callers saw of it, and what must hold whatever it decided.

use super::auditor::Auditor;
use super::network::{Network, Place};
use super::process::{FAILOVER, Leads, Process, World};
use super::server::{Reply, Server};
use super::{Broken, Fault};
use domain::platform::settings::Settings;
use domain::platform::{ApiKey, Details, Scopes, hash_key};
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::{Id, Mode, tenant_key};
use domain::values::money::Ves;
use domain::values::time::Timestamp;
use faulty::{MemoryQuorum, QuorumFaults};
use pasarela::cluster::spreading;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use wal::Tip;
use wal::cluster::{Founded, Keys, found, partition_name};

const TENANTS: u32 = 4;
const STEPS: u64 = 260;
/// Rounds within which a calm cluster has to come to rest: some minutes.
const CALM_ROUNDS: u64 = 1_200;
const CALM_ROUND: Duration = Duration::from_millis(150);
/// A node has to be there for so long before it gets something back.
const SETTLED: Duration = Duration::from_secs(3);

pub fn name(partition: u8) -> String {
    partition_name("main", partition)
}

/// Bits that look random: one step of SplitMix64.
pub fn mixed(n: u64) -> u64 {
    let mut z = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A seeded source of choices.
#[derive(Clone, Default)]
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0) % sides
    }

    fn index(&mut self, sides: usize) -> usize {
        usize::try_from(self.roll(sides as u64)).expect("it is below a length")
    }
}

/// What runs came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    acknowledged: u64,
    reads: u64,
    changes: u64,
    moved: u64,
    undone: u64,
    takeovers: u64,
    spread: u64,
    records: u64,
    virtual_s: u64,
    fingerprint: u64,
}

impl Sum {
    pub fn add(&mut self, other: &Sum) {
        self.acknowledged += other.acknowledged;
        self.reads += other.reads;
        self.changes += other.changes;
        self.moved += other.moved;
        self.undone += other.undone;
        self.takeovers += other.takeovers;
        self.spread += other.spread;
        self.records += other.records;
        self.virtual_s += other.virtual_s;
        self.fingerprint = mixed(self.fingerprint ^ other.fingerprint);
    }

    /// Whether enough happened in so many seeds to have shown something.
    pub fn is_worth(&self, seeds: u64) -> bool {
        self.acknowledged > 10 * seeds
            && self.moved > seeds
            && self.takeovers > 3 * seeds
            && self.changes > seeds
            && self.undone > 0
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sum {
            acknowledged, reads, changes, moved, undone, takeovers, spread, records, virtual_s, ..
        } = self;
        write!(
            f,
            "{acknowledged} debits, {reads} reads, {changes} changes that held, {moved} moves and {undone} undone, \
             {takeovers} takeovers, {spread} for an even spread, {records} records, {} hours",
            virtual_s / 3_600
        )
    }
}

/// A debit that somebody wants, under a name of its own.
struct Debit {
    tenant: u32,
    name: String,
    attempts: u32,
    is_acknowledged: bool,
    /// It was certainly not carried out, and nobody asks again.
    is_given_up: bool,
}

struct Key {
    tenant: u32,
    id: Id,
    hash: [u8; 32],
    stands: Stands,
    /// The step in which somebody was answered that it is revoked, everywhere.
    revoked: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// It may not be there.
    Asked,
    Works,
    /// Somebody has asked for that.
    Ends,
}

/// What comes back to a caller.
enum Answer {
    Debit { debit: usize, key: usize, partition: u8, node: usize, begun: u64, reply: Reply<u64> },
    Read { tenant: u32, acknowledged: i64, reply: Reply<i64> },
    Probe { tenant: u32, partition: u8, reply: Reply<i64> },
    Opened { result: Result<(), String> },
    Added { key: usize, is_done: bool },
    Revoked { key: usize, is_done: bool, in_time: bool },
    Set { tenant: u32, result: Result<u64, String>, in_time: bool },
    Moved { tenant: u32, result: Result<(), String> },
}

type Answers = Arc<Mutex<Vec<Answer>>>;

struct Shared {
    processes: Vec<Mutex<Process>>,
    dice: Mutex<Dice>,
    world: World,
    broken: Mutex<Option<Broken>>,
    takeovers: Mutex<u64>,
    history: Arc<Mutex<Vec<String>>>,
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().expect("nobody panics with it")
}

impl Shared {
    fn note(&self, what: impl FnOnce() -> String) {
        let at = self.world.now_ms() - 100_000_000;
        lock(&self.history).push(format!("{at:7} ms  {}", what()));
    }

    /// The turn of a process, unless it is in the middle of one, or paused.
    fn turn(&self, number: usize) {
        let Ok(mut process) = self.processes[number].try_lock() else { return };
        if process.paused_until > self.world.now() {
            return;
        }
        match process.turn() {
            Ok(None) => {}
            Ok(Some(word)) => {
                *lock(&self.takeovers) += u64::from(word.starts_with("leads by"));
                self.note(|| format!("n{}/{} {word}", process.node, process.partition));
            }
            Err(broken) => {
                lock(&self.broken).get_or_insert(broken);
            }
        }
    }
}

pub struct Universe {
    shared: Arc<Shared>,
    faults: QuorumFaults,
    nodes: usize,
    partitions: u8,
    dice: Dice,
    step: u64,
    auditor: Auditor,
    answers: Answers,
    debits: Vec<Debit>,
    keys: Vec<Key>,
    /// By account: the newest version of its settings that somebody was answered, and the step of that.
    settings: BTreeMap<u32, (u64, u64)>,
    ids: u64,
    /// Who leads each partition by which epoch, and since when: leaders are spread a while after that.
    led: (Vec<(Option<String>, u64)>, Duration),
    /// By account: the partitions that served it when all were asked last, and the debits that they showed.
    probed: BTreeMap<u32, Vec<(u8, i64)>>,
    opened: u32,
    sum: Sum,
}

impl Universe {
    pub fn new(seed: u64, fault: Option<Fault>) -> Universe {
        let mut dice = Dice(seed);
        let (nodes, partitions) = (2 + dice.index(2), 2 + u8::try_from(dice.roll(2)).expect("a few"));
        let quorum = MemoryQuorum::new();
        let witness = quorum.client(MemoryQuorum::WITNESS);
        for partition in 0..partitions {
            // Nobody has taken the first epoch.
            let founding = Founded { fingerprint: "f".to_owned(), id: "-".to_owned(), stores: Some(8) };
            let node = format!("n{}", usize::from(partition) % nodes);
            let keys = Keys::new(&name(partition));
            found(&witness, &keys, (&founding, partitions), &node, 1, Tip::default()).expect("it is new");
        }
        let network = Arc::new(Network::new(mixed(seed)));
        let world = World { seed, partitions, network, witness, fault };
        let places = (0..nodes).flat_map(|node| (0..partitions).map(move |partition| (node, partition)));
        let processes = places
            .map(|(node, partition)| Mutex::new(Process::new(node, partition, &quorum, world.clone())))
            .collect();
        let shared = Arc::new(Shared {
            processes,
            dice: Mutex::new(Dice(seed ^ 0xD1CE)),
            world,
            broken: Mutex::default(),
            takeovers: Mutex::default(),
            history: Arc::default(),
        });
        let faults = quorum.faults();
        let others: Weak<Shared> = Arc::downgrade(&shared);
        // While a process waits for the quorum others have their turns; not while its tasks do.
        faults.on_wait(move |_| {
            if tokio::runtime::Handle::try_current().is_err()
                && let Some(shared) = others.upgrade()
            {
                let number = lock(&shared.dice).index(shared.processes.len());
                shared.turn(number);
            }
        });
        Universe {
            auditor: Auditor::new(&quorum, partitions),
            shared,
            faults,
            nodes,
            partitions,
            dice,
            step: 0,
            answers: Arc::default(),
            debits: Vec::new(),
            keys: Vec::new(),
            settings: BTreeMap::new(),
            ids: 0,
            led: Default::default(),
            probed: BTreeMap::new(),
            opened: 0,
            sum: Sum::default(),
        }
    }

    pub fn history(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.shared.history)
    }

    /// Runs the seed, lets everything heal, and checks what must hold.
    pub fn run(mut self) -> Result<Sum, Broken> {
        self.found()?;
        // Some seeds have a calm network, some a bad one.
        let (bad, bad_wires) = (self.dice.roll(4), self.dice.roll(4));
        self.faults.begin(mixed(self.dice.0), 30 * bad, 40 * bad, 20 * bad, 40 * bad);
        self.shared.world.network.be_bad(6 * bad_wires);
        for _ in 0..STEPS {
            self.act();
            let by = 5 + self.dice.roll(120);
            self.pass(Duration::from_millis(by), 2)?;
        }
        self.shared.note(|| "all is well from here on".to_owned());
        self.heal();
        self.come_to_rest()?;
        self.sum.acknowledged = self.debits.iter().filter(|debit| debit.is_acknowledged).count() as u64;
        (self.sum.moved, self.sum.undone) = (self.auditor.moved, self.auditor.undone);
        (self.sum.records, self.sum.fingerprint) = (self.auditor.records, self.auditor.fingerprint);
        self.sum.takeovers = *lock(&self.shared.takeovers);
        self.sum.virtual_s = self.shared.world.now().as_secs() - 100_000;
        Ok(self.sum.clone())
    }

    /// The accounts that all of it is about.
    fn found(&mut self) -> Result<(), Broken> {
        for _ in 0..200 {
            self.pass(Duration::from_millis(50), 0)?;
            if self.opened == TENANTS {
                return Ok(());
            }
            if self.opened == self.keys.len() as u32 / 2 {
                let Some((first, _)) = self.serving(0) else { continue };
                let number = self.opened + 1;
                let keys = [Stands::Works; 2].map(|stands| self.new_key(number, stands));
                let ask = PlatformAsk::Open {
                    id: self.id(),
                    name: format!("account {number}"),
                    settings: Arc::new(Settings::default()),
                    keys: keys.into(),
                    opener: None,
                    partitions: (0..self.partitions).collect(),
                };
                self.spawn(first, move |server| async move {
                    let result = async {
                        server.change(number, ask).await?;
                        server.push(number).await
                    };
                    Answer::Opened { result: result.await }
                });
            }
        }
        Err(Broken("accounts could not be opened in a calm cluster".to_owned()))
    }

    fn id(&mut self) -> Id {
        self.ids += 1;
        Id::derived(self.shared.world.now_ms(), self.ids, 0)
    }

    fn new_key(&mut self, tenant: u32, stands: Stands) -> ApiKey {
        let id = self.id();
        let hash = hash_key(id.to_string());
        self.keys.push(Key { tenant, id, hash, stands, revoked: None });
        ApiKey {
            id,
            tenant,
            mode: Mode::Test,
            hash,
            prefix: "pk_test_".into(),
            scopes: Scopes::ALL,
            created_at: Timestamp::EPOCH,
            expires_at: None,
            revoked_at: None,
            retires_at: None,
            details: Details::default(),
        }
    }

    /// Time goes on: letters arrive, some processes or, for 0 turns, all of them have one, and what came of it is looked
    /// at.
    fn pass(&mut self, time: Duration, turns: usize) -> Result<(), Broken> {
        self.step += 1;
        self.faults.advance(time);
        let reached = self.deliver();
        if turns == 0 {
            (0..self.shared.processes.len()).for_each(|number| self.shared.turn(number));
        } else {
            // Who got a letter mostly goes on at once.
            let reached: Vec<usize> = reached.into_iter().filter(|_| self.dice.roll(5) != 0).collect();
            let others: Vec<usize> =
                (0..turns).map(|_| self.dice.index(self.shared.processes.len())).collect();
            reached.into_iter().chain(others).for_each(|number| self.shared.turn(number));
        }
        if let Some(broken) = lock(&self.shared.broken).take() {
            return Err(broken);
        }
        self.auditor.look()?;
        self.prefixes()?;
        self.one_place_each()?;
        let answers = std::mem::take(&mut *lock(&self.answers));
        answers.into_iter().try_for_each(|answer| self.take(answer))
    }

    /// Whom letters have reached.
    fn deliver(&self) -> Vec<usize> {
        let network = &self.shared.world.network;
        let number = |(node, partition): Place| node * usize::from(self.partitions) + usize::from(partition);
        let (questions, answered) = network.arrived(self.shared.world.now());
        let mut reached: Vec<usize> = answered.into_iter().map(number).collect();
        for question in questions {
            let to = number(question.to);
            let process = lock(&self.shared.processes[to]);
            match process.leads().filter(|leads| leads.is_open()) {
                Some(leads) => leads.spawn(Arc::clone(&leads.server).answer(question)),
                None => network.answer(question.slot, Err("503".to_owned())),
            }
            reached.push(to);
        }
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    /// No local log is ahead of the agreed one.
    fn prefixes(&self) -> Result<(), Broken> {
        for process in &self.shared.processes {
            let process = lock(process);
            let agreed = self.auditor.tip(process.partition);
            if process.tip().is_some_and(|tip| tip.seq > agreed.seq) {
                let Process { node, partition, .. } = &*process;
                return Err(Broken(format!(
                    "node {node} is ahead of the agreed log of partition {partition}"
                )));
            }
        }
        Ok(())
    }

    /// No account is served by two partitions: by who has the epoch and finds it there and open.
    fn one_place_each(&self) -> Result<(), Broken> {
        let mut served = BTreeMap::new();
        for process in &self.shared.processes {
            let process = lock(process);
            let Some(leads) = process.leads().filter(|leads| self.is_epoch_of(leads)) else { continue };
            for number in 1..=TENANTS {
                let known = leads.server.directory.tenant_numbered(number);
                let is_here = known.is_some_and(|known| {
                    known.partition == process.partition && !known.tenant_settings.are_closed()
                });
                if is_here && let Some(other) = served.insert(number, process.partition) {
                    let partition = process.partition;
                    return Err(Broken(format!(
                        "account {number} is served by two partitions, {other} and {partition}"
                    )));
                }
            }
        }
        Ok(())
    }

    fn is_epoch_of(&self, leads: &Leads) -> bool {
        let epoch = &leads.server.leader.epoch;
        let value = self.faults.get(format!("/pasarela/{}/epoch", name(leads.server.partition)).as_bytes());
        leads.is_open()
            && value == Some(format!("{} {} {}", epoch.number, epoch.node, epoch.token).into_bytes())
    }

    // What callers and operators do.

    fn act(&mut self) {
        let number = self.dice.index(self.shared.processes.len());
        let node = self.dice.index(self.nodes);
        let fault = self.shared.world.fault;
        if fault == Some(Fault::AnswersUnconfirmed) && self.dice.roll(2) == 0 {
            return self.read();
        }
        // Where an account is to come back to who remembers it nobody dies.
        let sides = if fault == Some(Fault::GoesOnFromAnOldCopy) { 64 } else { 100 };
        match self.dice.roll(sides) {
            0..24 => self.debit_anew(),
            24..36 => self.debit_again(),
            36..46 => self.read(),
            46..50 => self.revoke(),
            50..52 => self.add_key(),
            52..56 => self.set(),
            56..64 => self.begin_move(),
            64..67 => self.with(number, "dies", |process| process.end()),
            67..69 => {
                self.shared.note(|| format!("n{node} loses its power"));
                (0..self.partitions).for_each(|partition| {
                    self.with(
                        node * usize::from(self.partitions) + usize::from(partition),
                        "dies",
                        Process::end,
                    )
                });
            }
            69..72 => self.with(number, "is to die in its next commit", |process| {
                process.leads().into_iter().for_each(Leads::die_in_commit)
            }),
            72..75 => {
                let until = self.shared.world.now() + Duration::from_millis(self.dice.roll(5_000));
                self.with(number, "is paused", |process| process.paused_until = until);
            }
            75..77 => {
                self.shared.note(|| format!("n{node} is cut off from etcd"));
                self.faults.cut(node, true);
            }
            77..84 => self.faults.cut(node, false),
            84..85 => self.with(number, "has a disk that will refuse", |process| process.refuse_write()),
            85..87 => {
                let by_ms = i64::try_from(self.dice.roll(20_000)).expect("it is small") - 10_000;
                self.faults.set_clock(node, by_ms);
            }
            87..90 => self.hand_over(number, &format!("n{node}"), true),
            90..92 => self.spread(),
            _ => {}
        }
    }

    fn with(&self, number: usize, word: &str, what: impl FnOnce(&mut Process)) {
        let mut process = lock(&self.shared.processes[number]);
        self.shared.note(|| format!("n{}/{} {word}", process.node, process.partition));
        what(&mut process);
    }

    /// A process that believes that it leads a partition, maybe wrongly, and its node.
    fn serving(&mut self, partition: u8) -> Option<(usize, usize)> {
        let mut found = Vec::new();
        for (number, process) in self.shared.processes.iter().enumerate() {
            let process = lock(process);
            if process.partition == partition && process.leads().is_some_and(Leads::is_open) {
                found.push((number, process.node));
            }
        }
        if found.is_empty() { None } else { Some(found[self.dice.index(found.len())]) }
    }

    fn spawn<F: Future<Output = Answer> + Send + 'static>(
        &self,
        number: usize,
        what: impl FnOnce(Arc<Server>) -> F,
    ) {
        if let Some(leads) = lock(&self.shared.processes[number]).leads() {
            let (answers, doing) = (Arc::clone(&self.answers), what(Arc::clone(&leads.server)));
            leads.spawn(async move {
                let answer = doing.await;
                lock(&answers).push(answer);
            });
        }
    }

    fn any_tenant(&mut self) -> u32 {
        1 + u32::try_from(self.dice.roll(u64::from(TENANTS))).expect("a few")
    }

    /// Where a caller takes an account to be: mostly where it is.
    fn guess(&mut self, tenant: u32) -> u8 {
        let partition = self.dice.roll(4 * u64::from(self.partitions));
        let known = self.auditor.tenants.get(&tenant).map_or(0, |tenant| tenant.partition);
        u8::try_from(partition).ok().filter(|partition| *partition < self.partitions).unwrap_or(known)
    }

    /// One of its keys: rarely one that somebody ends, or has ended.
    fn key_of(&mut self, tenant: u32) -> Option<usize> {
        let any = self.dice.roll(4) == 0;
        let keys: Vec<usize> = (0..self.keys.len())
            .filter(|key| {
                self.keys[*key].tenant == tenant && (any || self.keys[*key].stands == Stands::Works)
            })
            .collect();
        if keys.is_empty() { None } else { Some(keys[self.dice.index(keys.len())]) }
    }

    fn debit_anew(&mut self) {
        let tenant = self.any_tenant();
        let name = format!("d{}", self.debits.len());
        self.debits.push(Debit { tenant, name, attempts: 0, is_acknowledged: false, is_given_up: false });
        self.debit(self.debits.len() - 1);
    }

    fn debit_again(&mut self) {
        let open: Vec<usize> = (0..self.debits.len())
            .filter(|debit| !self.debits[*debit].is_acknowledged && !self.debits[*debit].is_given_up)
            .collect();
        if !open.is_empty() {
            let debit = open[self.dice.index(open.len())];
            self.debit(debit);
        }
    }

    fn debit(&mut self, debit: usize) {
        let tenant = self.debits[debit].tenant;
        let partition = self.guess(tenant);
        let (Some(key), Some((number, node))) = (self.key_of(tenant), self.serving(partition)) else {
            return;
        };
        self.debits[debit].attempts += 1;
        let (hash, name, begun) = (self.keys[key].hash, self.debits[debit].name.clone(), self.step);
        self.shared.note(|| format!("{name} of account {tenant} is asked for at n{node}/{partition}"));
        self.spawn(number, move |server| async move {
            let reply = server.debit(&hash, &name).await;
            Answer::Debit { debit, key, partition, node, begun, reply }
        });
    }

    /// At everybody who believes that it leads: of those that do not, nobody may answer.
    fn read(&mut self) {
        let tenant = self.any_tenant();
        let (partition, Some(key)) = (self.guess(tenant), self.key_of(tenant)) else { return };
        let of = |debit: &&Debit| debit.tenant == tenant;
        let acknowledged = self.debits.iter().filter(of).filter(|debit| debit.is_acknowledged).count() as i64;
        let hash = self.keys[key].hash;
        for number in 0..self.shared.processes.len() {
            let is_asked = {
                let process = lock(&self.shared.processes[number]);
                process.partition == partition && process.leads().is_some_and(Leads::is_open)
            };
            if is_asked {
                self.spawn(number, move |server| async move {
                    Answer::Read { tenant, acknowledged, reply: server.read(&hash).await }
                });
            }
        }
    }

    fn add_key(&mut self) {
        let tenant = self.any_tenant();
        let Some((first, _)) = self.serving(0) else { return };
        let added = self.new_key(tenant, Stands::Asked);
        let key = self.keys.len() - 1;
        self.spawn(first, move |server| async move {
            let done = server.change(tenant, PlatformAsk::AddKey { key: added, by: None }).await;
            Answer::Added { key, is_done: done.is_ok() }
        });
    }

    fn revoke(&mut self) {
        let key = self.dice.index(self.keys.len());
        let Key { tenant, id, stands, .. } = self.keys[key];
        let work = self.keys.iter().filter(|key| key.tenant == tenant && key.stands == Stands::Works).count();
        // An account keeps a key.
        if stands == Stands::Asked || stands == Stands::Works && work == 1 {
            return;
        }
        let Some((first, _)) = self.serving(0) else { return };
        self.keys[key].stands = Stands::Ends;
        self.shared.note(|| format!("the key {key} of account {tenant} is to be revoked"));
        self.spawn(first, move |server| async move {
            let began = tokio::time::Instant::now();
            let ask = PlatformAsk::RevokeKey { id, with_successors: false, by: None };
            let done = server.change(tenant, ask).await;
            // That it was revoked already is answered at once, however far others are with that.
            let is_done = matches!(done, Ok(Some(_)));
            Answer::Revoked { key, is_done, in_time: began.elapsed() < FAILOVER }
        });
    }

    fn set(&mut self) {
        let tenant = self.any_tenant();
        let Some((first, _)) = self.serving(0) else { return };
        let reserve = i64::try_from(self.dice.roll(1_000_000)).expect("it is small");
        let settings = Settings { reserve: Ves::from_minor(reserve), ..Settings::default() };
        self.spawn(first, move |server| async move {
            let began = tokio::time::Instant::now();
            let result = server.set(tenant, settings).await;
            Answer::Set { tenant, result, in_time: began.elapsed() < FAILOVER }
        });
    }

    fn begin_move(&mut self) {
        let tenant = self.any_tenant();
        let to = u8::try_from(self.dice.roll(u64::from(self.partitions))).expect("a few");
        let Some((first, node)) = self.serving(0) else { return };
        self.shared.note(|| format!("n{node}/0 is asked to move account {tenant} to {to}"));
        self.spawn(first, move |server| async move {
            Answer::Moved { tenant, result: server.begin_move(tenant, to).await }
        });
    }

    /// Whoever leads has another node lead.
    fn hand_over(&mut self, number: usize, to: &str, is_ordered: bool) {
        let server = {
            let mut process = lock(&self.shared.processes[number]);
            let Some(server) = process.leads().map(|leads| Arc::clone(&leads.server)) else { return };
            if is_ordered {
                process.ordered_at_ms = self.shared.world.now_ms();
            }
            self.shared.note(|| format!("n{}/{} hands over to {to}", process.node, process.partition));
            server
        };
        let _ = server.leader.appoint(to);
    }

    /// What the front of the node does that leads the first partition.
    fn spread(&mut self) {
        let now = self.shared.world.now();
        let Some((_, node)) = self.serving(0) else { return };
        let processes = self.shared.processes.iter();
        let views: Vec<_> = processes
            .filter_map(|process| {
                let process = lock(process);
                (process.node == node).then(|| Arc::clone(&process.view))
            })
            .collect();
        let led: Vec<_> = views.iter().map(|view| (view.leader.clone(), view.epoch)).collect();
        if self.led.0 != led {
            self.led = (led, now);
        }
        if views[0].leader.as_ref() != Some(&views[0].node) || now - self.led.1 < SETTLED / 6 {
            return;
        }
        let Some(due) = spreading::next(&views, self.shared.world.now_ms(), SETTLED) else { return };
        // By another epoch it is refused.
        let number = self.shared.processes.iter().position(|process| {
            let process = lock(process);
            usize::from(process.partition) == due.partition
                && process.leads().is_some_and(|leads| leads.server.leader.epoch.number == due.epoch)
        });
        if let Some(number) = number {
            self.sum.spread += 1;
            self.hand_over(number, &due.to, false);
        }
    }

    // What comes back.

    fn take(&mut self, answer: Answer) -> Result<(), Broken> {
        match answer {
            Answer::Debit { debit, key, partition, node, begun, reply } => {
                let name = &self.debits[debit].name;
                self.shared.note(|| format!("{name} is answered by n{node}/{partition}: {reply:?}"));
                match reply {
                    Reply::Done(_) => self.acknowledge(debit, key, partition, begun)?,
                    Reply::Refused(_) | Reply::Elsewhere(_) if self.debits[debit].attempts == 1 => {
                        let is_given_up = self.dice.roll(3) == 0;
                        self.debits[debit].is_given_up = is_given_up;
                    }
                    Reply::Refused(_) | Reply::Elsewhere(_) | Reply::Unknown(_) => {}
                }
            }
            Answer::Read { tenant, acknowledged, reply: Reply::Done(taken) } => {
                self.sum.reads += 1;
                if taken < acknowledged {
                    return Err(Broken(format!(
                        "a read of account {tenant} does not show what was acknowledged before it: {taken} of \
                         {acknowledged} debits"
                    )));
                }
            }
            Answer::Read { .. } => {}
            Answer::Probe { tenant, partition, reply: Reply::Done(taken) } => {
                self.probed.entry(tenant).or_default().push((partition, taken));
            }
            Answer::Probe { .. } => {}
            Answer::Opened { result } => {
                result
                    .map_err(|why| Broken(format!("an account was not opened in a calm cluster: {why}")))?;
                self.opened += 1;
            }
            Answer::Added { key, is_done } => {
                if is_done {
                    self.sum.changes += 1;
                    self.keys[key].stands = Stands::Works;
                }
            }
            Answer::Revoked { key, is_done, in_time } => {
                self.shared.note(|| format!("the key {key} is revoked: {is_done}, everywhere: {in_time}"));
                if is_done && in_time {
                    self.sum.changes += 1;
                    self.keys[key].revoked.get_or_insert(self.step);
                }
            }
            Answer::Set { tenant, result, in_time } => {
                if let Ok(version) = result
                    && in_time
                {
                    self.sum.changes += 1;
                    self.shared.note(|| format!("account {tenant} has settings {version} everywhere"));
                    let known = self.settings.entry(tenant).or_default();
                    if version > known.0 {
                        *known = (version, self.step);
                    }
                }
            }
            Answer::Moved { tenant, result } => {
                self.shared.note(|| format!("the move of account {tenant} came to {result:?}"));
            }
        }
        Ok(())
    }

    fn acknowledge(&mut self, debit: usize, key: usize, partition: u8, begun: u64) -> Result<(), Broken> {
        let Debit { tenant, name, .. } = &self.debits[debit];
        let of = tenant_key(*tenant, Mode::Test);
        let Some(version) = self.auditor.debit(partition, of, name) else {
            return Err(Broken(format!(
                "the debit {name} was acknowledged and is not agreed on in {partition}"
            )));
        };
        if self.keys[key].revoked.is_some_and(|step| step <= begun) {
            return Err(Broken(format!(
                "the debit {name} was made with key {key}, which had been revoked before"
            )));
        }
        let is_first = self.debits[debit].attempts == 1;
        let known = self.settings.get(tenant).filter(|(_, step)| *step <= begun && is_first);
        if known.is_some_and(|(known, _)| version < *known) {
            return Err(Broken(format!("the debit {name} was decided by settings from before: {version}")));
        }
        self.debits[debit].is_acknowledged = true;
        Ok(())
    }

    // The end.

    fn heal(&mut self) {
        self.faults.end();
        self.shared.world.network.be_bad(0);
        for process in &self.shared.processes {
            lock(process).paused_until = Duration::ZERO;
        }
    }

    fn come_to_rest(&mut self) -> Result<(), Broken> {
        let mut why = String::new();
        for round in 0..CALM_ROUNDS {
            self.pass(CALM_ROUND, 0)?;
            if round % 3 == 0 {
                self.spread();
            }
            if round % 10 != 9 {
                continue;
            }
            for debit in 0..self.debits.len() {
                if !self.debits[debit].is_acknowledged && !self.debits[debit].is_given_up {
                    self.debit(debit);
                }
            }
            match self.unrest() {
                Some(unrest) => why = unrest,
                None => return self.check(),
            }
            self.probe();
        }
        Err(Broken(format!("a calm cluster does not come to rest: {why}")))
    }

    /// Asks each partition for each account.
    fn probe(&mut self) {
        self.probed.clear();
        for tenant in 1..=TENANTS {
            let works = |key: &&Key| key.tenant == tenant && key.stands == Stands::Works;
            let hash = self.keys.iter().find(works).expect("an account keeps a key").hash;
            for partition in 0..self.partitions {
                let Some((number, _)) = self.serving(partition) else { continue };
                self.spawn(number, move |server| async move {
                    Answer::Probe { tenant, partition, reply: server.read(&hash).await }
                });
            }
        }
    }

    /// What is not as it is to be when all is quiet.
    fn unrest(&self) -> Option<String> {
        let mut leads: BTreeMap<usize, u32> = (0..self.nodes).map(|node| (node, 0)).collect();
        for partition in 0..self.partitions {
            let of = |process: &&Mutex<Process>| lock(process).partition == partition;
            let leading: Vec<usize> = self
                .shared
                .processes
                .iter()
                .filter(of)
                .filter_map(|process| {
                    let process = lock(process);
                    process.leads().is_some_and(|leads| self.is_epoch_of(leads)).then_some(process.node)
                })
                .collect();
            let [node] = leading[..] else {
                return Some(format!("partition {partition} is led by {leading:?}"));
            };
            *leads.entry(node).or_default() += 1;
            let tip = self.auditor.tip(partition);
            if !self.shared.processes.iter().filter(of).all(|process| lock(process).tip() == Some(tip)) {
                return Some(format!("not all nodes have all of partition {partition}"));
            }
        }
        if leads.values().max() > leads.values().min().map(|least| least + 1).as_ref() {
            return Some(format!("leaders are not spread: {leads:?}"));
        }
        for tenant in 1..=TENANTS {
            let there = self.auditor.debits(tenant).map_or(0, BTreeMap::len) as i64;
            match self.probed.get(&tenant).map_or(&[][..], Vec::as_slice) {
                [] => return Some(format!("account {tenant} is served by no partition")),
                [(_, taken)] if *taken == there => {}
                [(_, taken)] => return Some(format!("account {tenant} shows {taken} debits of {there}")),
                more => return Some(format!("account {tenant} is served by partitions {more:?}")),
            }
        }
        if let Some(moving) = self.auditor.tenants.values().find(|tenant| tenant.moving.is_some()) {
            return Some(format!("account {} still moves", moving.number));
        }
        let open = self.debits.iter().find(|debit| !debit.is_acknowledged && !debit.is_given_up);
        open.map(|debit| format!("nobody knows what became of the debit {}", debit.name))
    }

    /// Each debit that was acknowledged is where its account is, once; what was refused is nowhere.
    fn check(&self) -> Result<(), Broken> {
        for debit in &self.debits {
            let is_there =
                self.auditor.debits(debit.tenant).is_some_and(|debits| debits.contains_key(&debit.name));
            if is_there != debit.is_acknowledged {
                let Debit { name, tenant, is_acknowledged, .. } = debit;
                return Err(Broken(format!(
                    "the debit {name} of account {tenant}: acknowledged {is_acknowledged}, there {is_there}"
                )));
            }
        }
        for tenant in 1..=TENANTS {
            if !self.auditor.is_whole(tenant) {
                return Err(Broken(format!(
                    "a partition has more of account {tenant} than the one that it is in"
                )));
            }
        }
        Ok(())
    }
}
