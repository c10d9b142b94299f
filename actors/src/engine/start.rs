//! The start of an engine: the log, the books as it leaves them, and the tasks beside them.

use super::ack_task::{self, AckQueue};
use super::follower::Followed;
use super::{Config, Engine, Shared, StartError, housekeeping, recovery};
use crate::admission::Gate;
use crate::alarm::{self, Alarm, AlarmQueue};
use crate::book::{self, Books};
use crate::clock_advance::Advances;
use crate::entity::{self, Entities};
use crate::entity_cache::EntityCache;
use crate::host::{Context, Counters, End, Halted, Halts, Host};
use crate::machine::{Effects, Machine};
use crate::protocol::book::BookMessage;
use crate::protocol::follow_ups::FollowUpMessage;
use crate::protocol::pending_reply::PendingReply;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use wal::cluster::Agreement;
use wal::{Log, Store};

/// The open entities that the cache has room for: some hundreds of megabytes if there are ever so
/// many.
const ENTITY_CACHE_MAX: usize = 1 << 19;

impl<M: Machine> Engine<M> {
    /// Opens the log on `store`, replays what snapshots do not hold, and is ready when it returns.
    pub async fn start(
        machine: M,
        effects: Arc<dyn Effects<M>>,
        store: Box<dyn Store>,
        log: wal::Config,
        config: Config,
    ) -> Result<Self, StartError> {
        let (ack_sender, ack_queue) = ack_task::queue::<M>();
        let log = Log::<PendingReply<M>>::open_with(store, log, Some(ack_sender), config.stepper.clone())?;
        let machine = Arc::new(machine);
        let recovered = recovery::recover(&machine, &log.reader(), &config.set_aside)?;
        Ok(Engine::run(machine, effects, (log, ack_queue), recovered, config))
    }

    /// Goes on from a follower as the one that appends, with its books as they are: nothing is
    /// replayed. Every batch needs the agreement.
    pub async fn lead(
        machine: M,
        effects: Arc<dyn Effects<M>>,
        followed: Followed<M>,
        agreement: Box<dyn Agreement>,
        config: Config,
    ) -> Result<Self, StartError> {
        let (ack_sender, ack_queue) = ack_task::queue::<M>();
        let Followed { store, log, books } = followed;
        let stepper = config.stepper.clone();
        let log = Log::open_agreed(store, log, Some(ack_sender), stepper, Some(agreement))?;
        Ok(Engine::run(Arc::new(machine), effects, (log, ack_queue), books, config))
    }

    /// Runs an engine over a log whose books are there.
    fn run(
        machine: Arc<M>,
        effects: Arc<dyn Effects<M>>,
        (log, ack_queue): (Log<PendingReply<M>>, AckQueue<M>),
        recovered: recovery::Books<M>,
        config: Config,
    ) -> Self {
        let reader = log.reader();
        let (alarm, alarm_queue) = Alarm::new(config.clock.clone());
        // Bounded by use: by the records that are under way.
        let (follow_ups, follow_up_queue) = unbounded_channel();
        let floor = reader.floor();
        let host = Host {
            machine,
            effects,
            log,
            reader,
            clock: config.clock.clone(),
            seeds: Arc::clone(&config.seeds),
            runtime: tokio::runtime::Handle::current(),
            entity_cache: EntityCache::new(ENTITY_CACHE_MAX),
            halts: Halts::new(set_aside(&config), Arc::clone(&config.on_halt)),
            counters: Counters::new(),
            end: End::new(Arc::clone(&config.on_fatal)),
        };
        let shared = Arc::new(Shared {
            host,
            books: Books::new(alarm, follow_ups),
            entities: Entities::new(config.patience),
            advances: Advances::default(),
            gate: Gate::new(config.permits_max, config.shares),
            snapshot_seq: AtomicU64::new(floor),
            saved_seq: AtomicU64::new(floor),
            config,
        });
        let engine = Engine { shared };
        engine.watch_log(ack_queue);
        for (tenant, recovered) in recovered {
            let books = &engine.shared.books.handles;
            let handle = books.entry(tenant).insert(book::start(&engine, tenant, Some(recovered)));
            handle.send(BookMessage::Wake);
        }
        engine.run_tasks(alarm_queue, follow_up_queue);
        engine
    }

    /// Runs the ack task, and ends the engine when the log fails.
    fn watch_log(&self, ack_queue: AckQueue<M>) {
        let host = &self.shared.host;
        let fail = |weak: Weak<Shared<M>>| {
            move |why: &str| {
                if let Some(shared) = weak.upgrade() {
                    shared.host.end.fail(why);
                }
            }
        };
        host.runtime.spawn(ack_task::run(ack_queue, fail(Arc::downgrade(&self.shared))));
        let fail = fail(Arc::downgrade(&self.shared));
        host.log.on_poison(Box::new(move |poisoned| fail(&poisoned.to_string())));
    }

    /// Runs the tasks beside the actors. They do not keep the engine while they wait.
    fn run_tasks(&self, alarms: AlarmQueue, follow_ups: UnboundedReceiver<FollowUpMessage<M>>) {
        let runtime = &self.shared.host.runtime;
        let weak = Arc::downgrade(&self.shared);
        let engine = move || weak.upgrade().map(|shared| Engine { shared });
        let (of_alarm, of_wake) = (engine.clone(), engine.clone());
        runtime.spawn(alarm::run(
            alarms,
            move || of_alarm().is_none_or(|engine| engine.shared.host.end.is_over()),
            move |tenant| {
                if let Some(engine) = of_wake() {
                    engine.send_to_book(tenant, BookMessage::Wake);
                }
            },
        ));
        runtime.spawn(entity::follow_ups::run(follow_ups, engine.clone()));
        runtime.spawn(housekeeping::run(engine));
    }
}

/// The books that are halted from the start.
fn set_aside(config: &Config) -> Vec<Halted> {
    let since_ms = config.clock.wall_ms();
    let halted = |(tenant, why): (&u64, &String)| Halted { tenant: *tenant, why: why.clone(), since_ms };
    config.set_aside.iter().map(halted).collect()
}
