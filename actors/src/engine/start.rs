//! The start of an engine: the log, the books as it leaves them, and the tasks beside them.

use super::ack_task::{self, AckQueue};
use super::follower::Followed;
use super::{Config, Engine, Shared, StartError, housekeeping, recovery, resting};
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
use dashmap::DashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use wal::cluster::Agreement;
use wal::{Log, Store};

/// Some hundreds of megabytes if there are ever so many.
const ENTITY_CACHE_MAX: usize = 1 << 19;

struct Queues<M: Machine> {
    alarms: AlarmQueue,
    follow_ups: UnboundedReceiver<FollowUpMessage<M>>,
}

impl<M: Machine> Engine<M> {
    /// Replays what snapshots do not hold, and is ready when it returns.
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
        let mut recovered = recovery::recover(&machine, &log.reader(), &config.set_aside)?;
        let (engine, queues) = Engine::new(machine, effects, log, ack_queue, config);
        let host = &engine.shared.host;
        if recovered.len() > engine.shared.config.awake_max
            && let Err(failure) = resting::rest(host, &mut recovered).await
        {
            // Some books are neither in memory nor in a snapshot: nobody may be answered.
            host.end.fail(&format!("books were not saved at the start: {failure:?}"));
        }
        engine.begin(recovered, queues);
        Ok(engine)
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
        let (engine, queues) = Engine::new(Arc::new(machine), effects, log, ack_queue, config);
        engine.begin(books, queues);
        Ok(engine)
    }

    /// Without books yet.
    fn new(
        machine: Arc<M>,
        effects: Arc<dyn Effects<M>>,
        log: Log<PendingReply<M>>,
        ack_queue: AckQueue<M>,
        config: Config,
    ) -> (Self, Queues<M>) {
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
            has_room_for_due: Arc::clone(&config.has_room_for_due),
            runtime: tokio::runtime::Handle::current(),
            entity_cache: EntityCache::new(ENTITY_CACHE_MAX),
            generations: DashMap::default(),
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
        (engine, Queues { alarms: alarm_queue, follow_ups: follow_up_queue })
    }

    /// The actors come before the tasks beside them: a round of snapshots before would take the
    /// books for saved.
    fn begin(&self, recovered: recovery::Books<M>, queues: Queues<M>) {
        for (tenant, recovered) in recovered {
            let books = &self.shared.books.handles;
            let handle = books.entry(tenant).insert(book::start(self, tenant, Some(recovered)));
            handle.send(BookMessage::Wake);
        }
        self.run_tasks(queues);
    }

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

    /// The tasks do not keep the engine while they wait.
    fn run_tasks(&self, Queues { alarms, follow_ups }: Queues<M>) {
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

fn set_aside(config: &Config) -> Vec<Halted> {
    let since_ms = config.clock.wall_ms();
    let halted = |(tenant, why): (&u64, &String)| Halted { tenant: *tenant, why: why.clone(), since_ms };
    config.set_aside.iter().map(halted).collect()
}
