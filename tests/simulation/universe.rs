//! The whole engine in virtual time: the domain, the actors, the outbox and the recovery over a
//! store in memory, with banks, clocks, crashes and callers that are all of one seed.

use crate::bank::Bank;
use crate::clocks::Clocks;
use crate::court::Court;
use crate::damage;
use crate::disk::Disk;
use crate::life::{Life, Memory};
use crate::steps::{Act, Step, Who};
use crate::witness::{Bend, Diary, Outside, Witness};
use actors::{Config, Engine, Machine};
use api::operators::changes;
use domain::cause::Cause;
use domain::machine::{AnyBook, Domain};
use domain::record::Record;
use domain::values::ids::{Mode, tenant_key};
use domain::values::time::{DAY_MS, Date};
use faulty::{Crash, MemoryStore};
use pasarela::outbound::Outbound;
use pasarela::outbox::Outbox;
use pasarela::rails::registry::Registry;
use pasarela::rates::Market;
use pasarela::recovery::recheck::recheck;
use pasarela::recovery::rederive::rederive;
use pasarela::webhooks::post::HeaderNames;
use pasarela::webhooks::{Options, Webhooks};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use tokio::task::JoinSet;

/// Steps after which a process dies that was to die at a write that does not come.
const LAST_STEPS: usize = 5;
/// A time beyond the end of every calendar, in ms.
const FOR_EVER_MS: i64 = 8_000 * 366 * DAY_MS;

/// The counts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub steps: u64,
    pub starts: u64,
    pub kills: u64,
    pub writes: u64,
    pub records: u64,
    /// Virtual time, in milliseconds.
    pub virtual_ms: i64,
    /// A hash of everything that is in the log in the end.
    pub fingerprint: u64,
    /// The names of what was recorded and what was refused.
    pub seen: BTreeSet<&'static str>,
}

/// The way in which a life ends.
enum End {
    Killed(Crash),
    Stopped,
    Over,
}

pub struct Universe {
    seed: u64,
    store: MemoryStore,
    pub bank: Bank,
    clocks: Arc<Clocks>,
    pub memory: Arc<Mutex<Memory>>,
    pub court: Court,
    pub diary: Diary,
    /// Whether the next start finds a disk without room.
    is_full: bool,
    report: Report,
    /// The turns of this life, which their random bits follow from.
    pub turns: Arc<AtomicU64>,
    /// A fault that is planted in what is decided, to see that it is noticed.
    pub plant: fn(&mut Record),
    /// The same of what is decided upon.
    pub bend: Option<Bend>,
    /// The damage that is done to the store while the process is dead, to see that it is noticed.
    pub meddle: fn(&MemoryStore),
}

pub fn tenant(who: Who) -> u64 {
    match who {
        Who::Home => tenant_key(1, Mode::Test),
        Who::Other => tenant_key(2, Mode::Test),
        Who::Live => tenant_key(2, Mode::Live),
    }
}

const EVERYBODY: [Who; 3] = [Who::Home, Who::Other, Who::Live];

/// The webhooks of tenants without endpoints; one for all seeds, as it has threads.
pub fn webhooks() -> Arc<Webhooks> {
    static NOBODY: OnceLock<Arc<Webhooks>> = OnceLock::new();
    let options = || Options {
        allow_private_targets: false,
        extra_ca_file: None,
        header_names: HeaderNames::default(),
        outbound: Outbound::open(),
        clock: actors::Clock::system(),
    };
    Arc::clone(NOBODY.get_or_init(|| Webhooks::new(options()).expect("delivery workers")))
}

/// Bits that look random: one step of SplitMix64.
fn mixed(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Universe {
    pub fn new(seed: u64) -> Universe {
        let clocks = Clocks::new();
        Universe {
            seed,
            store: MemoryStore::new(),
            bank: Bank::default(),
            memory: Arc::new(Mutex::new(Memory::new(clocks.believed_ms()))),
            clocks,
            is_full: false,
            court: Court::new(tenant(Who::Home)),
            diary: Diary::default(),
            report: Report::default(),
            turns: Arc::default(),
            plant: |_| {},
            bend: None,
            meddle: |_| {},
        }
    }

    /// Lives through the steps, and then until everything is settled. Panics at the first thing that
    /// must not be.
    pub fn run(mut self, steps: &[Step]) -> Report {
        let mut at = 0;
        loop {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .expect("a runtime");
            let end = runtime.block_on(self.live(steps, &mut at));
            // The end of the process: nothing of it goes on.
            drop(runtime);
            // The last turns were acknowledged to nobody, so they do not count.
            let _ = self.diary.take();
            match end {
                End::Killed(crash) => {
                    self.store = self.store.faults().crash(crash);
                    self.report.kills += 1;
                    (self.meddle)(&self.store);
                }
                End::Stopped => self.store = self.store.copy(),
                End::Over => break,
            }
        }
        self.report.seen = std::mem::take(&mut self.court.seen);
        let of_feed = std::mem::take(&mut self.memory().feed.seen);
        self.report.seen.extend(of_feed);
        self.report
    }

    /// Makes what is known of the feed wrong, to see that it is noticed.
    pub fn believe_another_price(&mut self) {
        self.memory().feed.spoil();
    }

    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().expect("nobody panics with the memory")
    }

    async fn live(&mut self, steps: &[Step], at: &mut usize) -> End {
        self.report.starts += 1;
        if self.is_full {
            self.store.faults().leave_room(0);
        }
        let (disk, stepper) = Disk::new(self.store.faults());
        tokio::spawn(Arc::clone(&disk).run(stepper.clone()));
        let (board, market) = self.memory().feed.restart();
        let engine = self.start(stepper, market.clone()).await;
        let life = Arc::new(Life {
            engine,
            bank: self.bank.clone(),
            market,
            board,
            memory: Arc::clone(&self.memory),
            jumps: AtomicU64::new(0),
            names: Arc::default(),
        });
        let end = self.take_steps(steps, at, &life, &disk).await;
        if self.store.faults().has_failed() && self.is_full {
            self.court.seen.insert("disk.full");
        }
        self.report.writes += disk.written();
        self.report.virtual_ms = self.clocks.boot_ms();
        self.clocks.end();
        end
    }

    /// Starts the server, which must not fail, and returns what it finds.
    pub async fn start(&mut self, stepper: wal::Stepper, market: Market) -> Engine<Witness> {
        let clock = self.clocks.begin();
        let holiday = Date::from_days(i32::try_from(crate::model::HOLIDAY).expect("a day"));
        let domain = Domain {
            rails: Arc::new(domain::rail::TestModeAlone),
            holidays: vec![holiday],
            changes,
            person_marks: Default::default(),
        };
        let outbox = Outbox::new(
            Arc::new(Registry::new(Arc::new(self.bank.clone()))),
            market,
            webhooks(),
            Arc::default(),
            clock.clone(),
        );
        let turns = Arc::clone(&self.turns);
        turns.store(mixed(self.seed) ^ mixed(self.report.starts), Ordering::Relaxed);
        let config = Config {
            permits_max: 1_000,
            shares: actors::Shares::UNBOUNDED,
            // Snapshots are made after some records or seconds, and books leave memory soon.
            snapshot_records: 40 + self.seed % 40,
            snapshot_seconds: 30,
            idle_seconds: 5 + self.seed % 20,
            awake_max: usize::try_from(self.seed % 4).expect("a small number"),
            has_room: Arc::new(|| true),
            has_room_for_due: Arc::new(|_| true),
            is_elsewhere: None,
            patience: Duration::from_secs(2),
            on_fatal: Arc::new(|_| {}),
            set_aside: BTreeMap::new(),
            on_halt: Arc::new(|_| {}),
            clock: clock.clone(),
            seeds: Arc::new(move || mixed(turns.fetch_add(1, Ordering::Relaxed))),
            stepper: Some(stepper),
        };
        let memory = Arc::clone(&self.memory);
        let effects = Arc::new(Outside { outbox, bank: self.bank.clone(), memory, clock });
        let machine = Witness { domain, diary: self.diary.clone(), plant: self.plant, bend: self.bend };
        let engine =
            Engine::start(machine, effects, Box::new(self.store.clone()), wal::Config::default(), config)
                .await
                .unwrap_or_else(|error| panic!("a restart always starts: {error}"));
        let mut records: BTreeMap<u64, usize> = BTreeMap::new();
        for record in engine.reader().records(1, None) {
            let stored = record.expect("the log is whole");
            let record = engine.machine().decode(&stored.payload).expect("a record can be decoded");
            // Outcomes that came together are one record of several turns.
            let turns = if record.cause == Cause::PayoutCompleted { record.entities.len() } else { 1 };
            *records.entry(stored.tenant).or_default() += turns;
        }
        self.court.start_again(&records);
        for (seq, tenant, bytes) in &self.memory().answered {
            let stored = engine.reader().record(*seq).expect("a record can be read");
            assert!(
                stored.is_some_and(|stored| stored.tenant == *tenant && stored.payload == *bytes),
                "record {seq} was answered and is not there"
            );
        }
        engine
    }

    async fn take_steps(
        &mut self,
        steps: &[Step],
        at: &mut usize,
        life: &Arc<Life>,
        disk: &Arc<Disk>,
    ) -> End {
        let mut together: JoinSet<()> = JoinSet::new();
        // The way in which the process is to die, and after how many steps at the latest.
        let mut doomed: Option<(Crash, usize)> = None;
        self.look(life, disk).await;
        if std::mem::take(&mut self.is_full) {
            // Something that was due may have wanted to be written.
            if disk.is_dead() {
                self.note(life, true);
                return End::Killed(Crash::Lost);
            }
            self.court.seen.insert("disk.full_at_start");
            self.store.faults().leave_room(usize::MAX);
        }
        while let Some(step) = steps.get(*at) {
            *at += 1;
            self.report.steps += 1;
            if let Act::Full { bytes } = step.act {
                self.store.faults().leave_room(bytes);
                (self.is_full, doomed) = (true, Some((Crash::Lost, LAST_STEPS)));
                continue;
            }
            if let Act::Damage { place } = step.act {
                let seen = damage::examine(&self.store, &EVERYBODY.map(tenant), place);
                self.court.seen.extend(seen);
                continue;
            }
            if let Act::Kill { writes, crash } = step.act {
                disk.die_at(writes);
                doomed = Some((crash, LAST_STEPS));
                continue;
            }
            let is_alone = !step.together;
            let taken = self.take(step, life, &mut together);
            tokio::select! {
                biased;
                () = disk.death() => {}
                stopped = taken => if stopped { return End::Stopped },
            }
            if let Some((crash, left)) = &mut doomed {
                *left -= 1;
                if disk.is_dead() || *left == 0 {
                    self.note(life, true);
                    return End::Killed(*crash);
                }
            }
            if is_alone {
                tokio::select! {
                    biased;
                    () = disk.death() => {
                        self.note(life, true);
                        return End::Killed(doomed.expect("it was to die").0);
                    }
                    () = self.look(life, disk) => {}
                }
            }
        }
        if let Some((crash, _)) = doomed {
            self.note(life, true);
            return End::Killed(crash);
        }
        self.settle(life, disk, together).await;
        End::Over
    }

    /// Takes a step; true when the server has ended in order.
    async fn take(&mut self, step: &Step, life: &Arc<Life>, together: &mut JoinSet<()>) -> bool {
        let tenant = tenant(step.who);
        match step.act {
            Act::Sleep { ms } => {
                self.clocks.suspend(ms);
                // A sleeper by the machine's clock finds out within a second.
                tokio::time::sleep(Duration::from_millis(1_100)).await;
            }
            Act::Wait { ms } => tokio::time::sleep(Duration::from_millis(ms)).await,
            Act::Spike { ms } => self.clocks.set(|skew_ms| skew_ms + ms),
            Act::Unspike => self.clocks.set(|_| 0),
            Act::Confirm => {
                life.engine.clock.confirm();
                self.clocks.confirm();
            }
            Act::Snapshot => self.snapshot(life).await,
            Act::Restart => {
                life.engine.stop(Duration::from_secs(60)).await;
                self.note(life, true);
                return true;
            }
            Act::Jump { .. } | Act::JumpToTheEnd => {
                let ms = if let Act::Jump { ms } = step.act { ms } else { FOR_EVER_MS };
                self.begin(step, Arc::clone(life), together, move |life| async move {
                    life.jump(tenant, ms).await
                })
                .await;
            }
            ref act => {
                let act = act.clone();
                self.begin(step, Arc::clone(life), together, move |life| async move {
                    life.act(tenant, act).await
                })
                .await;
            }
        }
        false
    }

    /// Carries a request out now, or beside what comes next.
    async fn begin<F: Future<Output = ()> + Send + 'static>(
        &self,
        step: &Step,
        life: Arc<Life>,
        together: &mut JoinSet<()>,
        what: impl FnOnce(Arc<Life>) -> F,
    ) {
        let doing = what(life);
        if step.together {
            together.spawn(doing);
            tokio::task::yield_now().await;
        } else {
            doing.await;
        }
    }

    async fn snapshot(&self, life: &Life) {
        match life.engine.snapshot().await {
            Ok(_) | Err(actors::Failure::Storage(_)) => self.check_snapshots(life),
            Err(failure) => life.complain(format!("a round of snapshots: {failure:?}")),
        }
    }

    /// Checks the snapshots as the self-check of a running server does.
    fn check_snapshots(&self, life: &Life) {
        let tenants: Vec<u64> = EVERYBODY.map(tenant).to_vec();
        let checked = recheck(life.engine.reader(), &tenants, u64::MAX, &mut || true);
        let checked = checked.unwrap_or_else(|failed| panic!("the self-check: {failed}"));
        assert_eq!(checked.breaches, [], "the self-check");
    }

    /// Judges what has happened.
    fn note(&mut self, life: &Life, is_dying: bool) {
        self.court.hear(self.diary.take());
        if let Some(complaint) = life.memory().complaints.first() {
            panic!("{complaint}");
        }
        if let Some(complaint) = self.bank.complaint() {
            panic!("{complaint}");
        }
        if let Some(halted) = life.engine.halted().first() {
            panic!("the book of {} is halted: {}", halted.tenant, halted.why);
        }
        if !is_dying && let Err(why) = life.engine.ready() {
            panic!("the engine has ended: {why}");
        }
        assert_eq!(life.wall_ms(), self.clocks.believed_ms(), "the machine's clock, as it is believed");
    }

    /// Looks at everything that can be looked at.
    async fn look(&mut self, life: &Life, disk: &Disk) {
        for who in EVERYBODY {
            let tenant = tenant(who);
            let clock = life.look(tenant).await;
            self.note(life, disk.is_dead());
            if let Some(now) = clock {
                let latest_ms = self.clocks.latest_ms() + self.court.offset_ms(tenant);
                assert!(
                    now.unix_ms() <= latest_ms || life.jumps.load(Ordering::Relaxed) > 0,
                    "the clock of {tenant} stands {} ms ahead of what it was moved to",
                    now.unix_ms() - latest_ms
                );
            }
        }
    }

    /// Lets everything come to its end, and looks at it once more.
    async fn settle(&mut self, life: &Arc<Life>, disk: &Disk, mut together: JoinSet<()>) {
        while together.join_next().await.is_some() {}
        self.clocks.set(|_| 0);
        life.engine.clock.confirm();
        self.clocks.confirm();
        self.bank.hurry();
        // Calls may still be on their way.
        tokio::time::sleep(Duration::from_secs(61)).await;
        for who in [Who::Home, Who::Other] {
            life.jump(tenant(who), 2 * DAY_MS).await;
        }
        self.look(life, disk).await;
        let waiting = self.court.waiting();
        assert!(waiting.is_empty(), "after two days something waits for a bank: {waiting:#?}");
        self.snapshot(life).await;
        let last = life.engine.reader().last_seq();
        for who in EVERYBODY {
            let mut derived = rederive(life.engine.reader(), tenant(who), last)
                .unwrap_or_else(|failed| panic!("the records of {who:?}: {failed}"));
            assert!(derived.wrong.is_empty(), "snapshots of {who:?} are not what the records lead to");
            let (now, known) = self.court.book(tenant(who)).expect("it was looked at");
            life.engine.machine().settle(&mut derived.book, now);
            let is_same = AnyBook::Tenant(known) == derived.book;
            assert!(is_same, "the book of {who:?} is not what its records lead to");
            self.court.compare_statements(tenant(who), life.engine.reader());
        }
        life.engine.reader().verify(&mut |_, _| {}).unwrap_or_else(|damage| panic!("the log: {damage:?}"));
        self.report.records = last;
        let mut fingerprint = 0;
        for record in life.engine.reader().records(1, None) {
            let record = record.expect("the log is whole");
            for byte in record.payload.iter().chain(&record.time_ms.to_le_bytes()) {
                fingerprint = mixed(fingerprint ^ u64::from(*byte));
            }
        }
        self.report.fingerprint = fingerprint;
    }
}
