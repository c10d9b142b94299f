//! The rig of every test: an engine over a store in memory, with a clock that stands.

use crate::toy::{Command, How, Purse, Purses, Transfer, World};
use actors::{Clock, CommandReply, Config, Engine, Failure, IsElsewhere, Settled, Shares};
use faulty::{Crash, Faults, MemoryStore};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use wal::Store;

/// The manual clock begins here.
pub const START_MS: i64 = 1_700_000_000_000;
/// A deadline that does not come in a test.
pub const FAR_MS: i64 = 1_000_000_000;
/// The tenant of tests that need one.
pub const T: u64 = 7;

/// The settings by which a rig may differ from the others.
#[derive(Clone)]
pub struct Setup {
    pub store: MemoryStore,
    pub clock: Clock,
    pub permits_max: usize,
    pub shares: Shares,
    pub idle_seconds: u64,
    pub awake_max: usize,
    pub patience: Duration,
    pub snapshot_records: u64,
    pub log: wal::Config,
    /// Books that the start leaves alone.
    pub set_aside: Vec<u64>,
    /// Tenants that another engine decides.
    pub elsewhere: Option<Arc<Mutex<HashSet<u64>>>>,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            store: MemoryStore::new(),
            clock: Clock::manual(START_MS),
            permits_max: 10_000,
            shares: Shares::UNBOUNDED,
            idle_seconds: 3600,
            awake_max: 1_000,
            patience: Duration::from_secs(3600),
            snapshot_records: u64::MAX,
            // Small, so that a small book is in pieces.
            log: wal::Config { piece_bytes_max: 16, ..wal::Config::default() },
            set_aside: Vec::new(),
            elsewhere: None,
        }
    }
}

/// An engine and everything around it.
pub struct Rig {
    /// First, so that it is dropped before the engine, whose end waits for the writer.
    _release: Release,
    pub engine: Engine<Purses>,
    pub world: Arc<World>,
    pub setup: Setup,
    pub faults: Faults,
    pub fatal: Arc<Mutex<Vec<String>>>,
    /// The books that are halted, as the engine last told.
    pub halted: Arc<Mutex<Vec<u64>>>,
}

/// Lets the writer go when a test ends while it is held, so that a failure is not a hang.
struct Release(Faults);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.release_syncs();
    }
}

impl Rig {
    pub async fn new() -> Rig {
        Rig::with(Setup::default()).await
    }

    pub async fn with(setup: Setup) -> Rig {
        let store = Box::new(setup.store.clone());
        Rig::over(store, setup).await.expect("the engine starts")
    }

    pub async fn over(store: Box<dyn Store>, setup: Setup) -> Result<Rig, actors::StartError> {
        let fatal = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&fatal);
        let halted = Arc::new(Mutex::new(Vec::new()));
        let halts = Arc::clone(&halted);
        let config = Config {
            permits_max: setup.permits_max,
            shares: setup.shares,
            snapshot_records: setup.snapshot_records,
            snapshot_seconds: 3600,
            idle_seconds: setup.idle_seconds,
            awake_max: setup.awake_max,
            has_room: Arc::new(|| true),
            has_room_for_due: Arc::new(|_| true),
            is_elsewhere: setup.elsewhere.clone().map(|elsewhere| -> IsElsewhere {
                Arc::new(move |tenant| elsewhere.lock().expect("nobody panics with it").contains(&tenant))
            }),
            patience: setup.patience,
            on_fatal: Arc::new(move |why| heard.lock().expect("nobody panics with it").push(why.to_owned())),
            set_aside: setup.set_aside.iter().map(|tenant| (*tenant, "set aside".to_owned())).collect(),
            on_halt: Arc::new(move |now| {
                *halts.lock().expect("nobody panics with it") =
                    now.iter().map(|halted| halted.tenant).collect()
            }),
            clock: setup.clock.clone(),
            seeds: actors::unforeseeable(),
            stepper: None,
        };
        let world = Arc::new(World::new());
        let effects = Arc::clone(&world);
        let engine = Engine::start(Purses, effects, store, setup.log.clone(), config).await?;
        let faults = setup.store.faults();
        let _release = Release(faults.clone());
        Ok(Rig { _release, engine, world, setup, faults, fatal, halted })
    }

    /// The next engine, on what a clean end leaves.
    pub async fn restart(self) -> Rig {
        self.engine.stop(Duration::from_secs(10)).await;
        assert_eq!(self.fatal(), Vec::<String>::new());
        let store = self.setup.store.copy();
        Rig::with(Setup { store, ..self.setup }).await
    }

    /// The next engine, on what a power cut leaves.
    pub async fn crash(self, crash: Crash) -> Rig {
        let store = self.faults.crash(crash);
        Rig::with(Setup { store, ..self.setup }).await
    }

    /// Waits until a write is held in its sync.
    pub async fn until_held(&self) {
        until("a write is held", || self.faults.unsynced_bytes().is_some()).await;
    }

    pub fn fatal(&self) -> Vec<String> {
        self.fatal.lock().expect("nobody panics with it").clone()
    }

    pub fn halted(&self) -> Vec<u64> {
        self.halted.lock().expect("nobody panics with it").clone()
    }

    pub async fn book(&self, tenant: u64, command: Command) -> CommandReply<Purses> {
        self.engine.ask_book(tenant, (0, command), None).await
    }

    pub async fn deposit(&self, tenant: u64, amount: i64) -> CommandReply<Purses> {
        self.book(tenant, Command::Deposit { amount, memo: Vec::new() }).await
    }

    pub async fn ask(&self, tenant: u64, id: u32, command: Command) -> CommandReply<Purses> {
        self.engine.ask_entity(tenant, id, false, (id, command), None, None).await
    }

    pub async fn withdraw(&self, tenant: u64, id: u32, amount: i64, how: How) -> CommandReply<Purses> {
        self.ask(tenant, id, Command::Withdraw { amount, how, due_in_ms: FAR_MS }).await
    }

    pub async fn tick(
        &self,
        tenant: u64,
        id: u32,
        every_ms: i64,
        times: u32,
        how: Option<How>,
    ) -> Box<Settled<Purses>> {
        done(self.ask(tenant, id, Command::Tick { every_ms, times, how }).await)
    }

    pub async fn view(&self, tenant: u64) -> Result<(Purse, i64), Failure> {
        self.engine.view(tenant).await
    }

    pub async fn balance(&self, tenant: u64) -> i64 {
        self.view(tenant).await.expect("a view").0.balance
    }

    /// The transfer as the log has it.
    pub fn transfer(&self, tenant: u64, id: u32) -> Option<Transfer> {
        stored(self.engine.reader(), tenant, id)
    }

    /// Waits until no entity is active.
    pub async fn until_idle(&self) {
        until("no entity is active", || self.engine.status().entities == 0).await;
    }
}

/// The newest stored state of a transfer.
pub fn stored(reader: &wal::Reader, tenant: u64, id: u32) -> Option<Transfer> {
    use actors::Machine;
    let seq = reader.index_get(&Purses.entity_key(tenant, id)).expect("the index can be read")?;
    let seq = u64::from_be_bytes(seq.try_into().expect("eight bytes"));
    let record = reader.record(seq).expect("the log can be read").expect("the record is there");
    let entry = Purses.decode(&record.payload).expect("it can be read");
    Purses.entity_in(&entry, id).map(|transfer| (*transfer).clone())
}

/// The answer of one that went well.
pub fn done(reply: CommandReply<Purses>) -> Box<Settled<Purses>> {
    match reply {
        Ok(settled) => {
            assert_eq!(settled.refusal, None);
            settled
        }
        Err(failure) => panic!("it failed: {failure:?}"),
    }
}

/// The failure of a request that must have failed.
pub fn failure(reply: CommandReply<Purses>) -> Failure {
    reply.err().expect("a failure")
}

/// Waits for a condition, not for a time.
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < patience, "it does not come to be that {what}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
