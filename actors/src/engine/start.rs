//! The start of an engine: the log, the books as it leaves them, and the tasks next to them; and its
//! end, orderly or because the log is not what it should be.

use super::follower::Followed;
use super::{Engine, housekeeping, recovery};
use crate::alarm;
use crate::book;
use crate::entity;
use crate::host::{Config, Host};
use crate::machine::{Effects, Machine};
use crate::protocol::{BookMessage, FollowUpMessage, PendingReply};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::oneshot;
use wal::cluster::Agreement;
use wal::{AckBatch, Log, OpenError, Store};

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Log(#[from] OpenError),
    #[error("{0}")]
    Recovery(String),
    #[error("the book of tenant key {tenant}: {why}")]
    Book { tenant: u64, why: String },
}

type AckQueue<M> = UnboundedReceiver<AckBatch<PendingReply<M>>>;

/// Completions of a large write are called in a task of its own: to wake a task is cheapest from
/// another one, and the log's writer goes on with the next write meanwhile.
fn open<M: Machine>(
    store: Arc<dyn Store>,
    log: wal::Config,
    config: &Config,
    agreement: Option<Box<dyn Agreement>>,
) -> Result<(Log<PendingReply<M>>, AckQueue<M>), OpenError> {
    let (sender, queue) = unbounded_channel::<AckBatch<PendingReply<M>>>();
    let send = move |batch| {
        // The task ends with the runtime; then the log's own thread acknowledges, and no caller is
        // left to hear of it.
        if let Err(refused) = sender.send(batch) {
            refused.0.acknowledge();
        }
    };
    let log = Log::open_with(store, log, Some(Box::new(send)), config.stepper.clone(), agreement)?;
    Ok((log, queue))
}

struct Queues<M: Machine> {
    alarms: UnboundedReceiver<(i64, u64)>,
    follow_ups: UnboundedReceiver<FollowUpMessage<M>>,
}

impl<M: Machine> Engine<M> {
    pub async fn start(
        machine: M,
        effects: Arc<dyn Effects<M>>,
        store: Box<dyn Store>,
        log: wal::Config,
        config: Config,
    ) -> Result<Self, StartError> {
        let (log, ack_queue) = open(store.into(), log, &config, None)?;
        let machine = Arc::new(machine);
        let mut recovered = recovery::recover(&*machine, &log.reader(), &config.set_aside)?;
        let (engine, queues) = Engine::new(machine, effects, log, ack_queue, config);
        let host = &engine.host;
        if recovered.len() > host.config.awake_max
            && let Err(failure) = recovery::rest(host, &mut recovered).await
        {
            // Some books are neither in memory nor in a snapshot: nobody may be answered.
            host.fail(&format!("books were not saved at the start: {failure:?}"));
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
        let Followed { store, log, books } = followed;
        let (log, ack_queue) = open(store, log, &config, Some(agreement))?;
        let (engine, queues) = Engine::new(Arc::new(machine), effects, log, ack_queue, config);
        engine.begin(books, queues);
        Ok(engine)
    }

    /// Without books yet. The log is watched: nothing is known of what a completion did that
    /// panicked.
    fn new(
        machine: Arc<M>,
        effects: Arc<dyn Effects<M>>,
        log: Log<PendingReply<M>>,
        mut ack_queue: AckQueue<M>,
        config: Config,
    ) -> (Self, Queues<M>) {
        let ((alarm, alarms), (sender, follow_ups)) = (unbounded_channel(), unbounded_channel());
        let host = Host::new(machine, effects, log, config, (alarm, sender), book::start, None);
        let weak = Arc::downgrade(&host);
        let fail = move |why: &str| {
            if let Some(host) = weak.upgrade() {
                host.fail(why);
            }
        };
        let failed = fail.clone();
        host.log.on_poison(Box::new(move |poisoned| failed(&poisoned.to_string())));
        host.runtime.spawn(async move {
            while let Some(batch) = ack_queue.recv().await {
                if catch_unwind(AssertUnwindSafe(|| batch.acknowledge())).is_err() {
                    fail("a completion of the log panicked");
                }
            }
        });
        let clock = host.config.clock.clone();
        (Engine { host, clock }, Queues { alarms, follow_ups })
    }

    /// The actors come before the tasks next to them: a round of snapshots before would take the
    /// books for saved. The tasks do not keep the engine while they wait.
    fn begin(&self, recovered: recovery::Books<M>, queues: Queues<M>) {
        let host = &self.host;
        for (tenant, recovered) in recovered {
            let handle = host.books.entry(tenant).insert(book::start(host, tenant, Some(recovered)));
            handle.send(BookMessage::Wake);
        }
        let weak = Arc::downgrade(host);
        host.runtime.spawn(alarm::run(queues.alarms, weak.clone()));
        host.runtime.spawn(entity::follow_ups::run(queues.follow_ups, weak.clone()));
        host.runtime.spawn(housekeeping::run(weak));
    }

    /// The log was found not to be what it should be: nothing more is written.
    pub fn declare_broken(&self, why: &str) {
        self.host.breached.fetch_add(1, Ordering::Relaxed);
        self.host.fail(why);
    }

    /// No new requests, those under way are finished (for at most `patience`), snapshots are
    /// written, the log is closed. The data directory is free when every handle is gone and every
    /// effect under way has ended. A handle that is dropped without this leaves the engine running.
    pub async fn stop(&self, patience: Duration) {
        let host = &self.host;
        host.stopping.store(true, Ordering::SeqCst);
        let _ = tokio::time::timeout(patience, host.gate.until_empty()).await;
        if host.failed.get().is_none()
            && (host.config.has_room)()
            && let Err(failure) = self.snapshot().await
        {
            tracing::warn!(?failure, "no snapshot at the end; the next start replays the tail");
        }
        let log = host.log.clone();
        let _ = tokio::task::spawn_blocking(move || log.close()).await;
        // Every record is acknowledged. Its follow-up effects are begun before the books leave, so
        // that the engine is kept until they have ended.
        let (to, from) = oneshot::channel();
        if host.follow_ups.send(FollowUpMessage::Flush(to)).is_ok() {
            let _ = from.await;
        }
        host.closed.store(true, Ordering::Release);
        for handle in &host.books {
            handle.wake();
        }
    }
}
