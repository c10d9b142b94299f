//! A clock advance: everything that falls due on the way happens first, in the order of its
//! instants, each bearing its own.

use crate::book_handle::{BookMessage, Due};
use crate::engine::{Engine, outcome_unknown, received};
use crate::entity::EntityMessage;
use crate::machine::Machine;
use crate::pending_reply::{Ask, CommandReply, Failure, ReplyTo, Settled, Timing};
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The pause between looks at a deadline that is being dealt with already.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// The time that an advance waits for the outside world at one step. A bank that never answers must
/// not hold a clock for ever; its result is taken when it comes.
const PATIENCE: Duration = Duration::from_secs(5);

/// A step of an advance, to the instant of one deadline. Everything that is done there bears the
/// instant and carries a clone of this; the advance goes on when no clone is left.
pub(crate) struct Step {
    pub at_ms: i64,
    under_way: Arc<oneshot::Sender<Infallible>>,
}

impl Clone for Step {
    fn clone(&self) -> Self {
        Step { at_ms: self.at_ms, under_way: Arc::clone(&self.under_way) }
    }
}

impl Step {
    /// The step, and a receiver that ends when the last clone of it is gone.
    fn new(at_ms: i64) -> (Self, oneshot::Receiver<Infallible>) {
        let (under_way, end) = oneshot::channel();
        (Step { at_ms, under_way: Arc::new(under_way) }, end)
    }
}

/// A deadline that is being dealt with. Dropping it tells the book that it is, so no path can
/// forget to.
pub(crate) struct Firing<M: Machine> {
    pub engine: Engine<M>,
    pub tenant: u64,
    pub at_ms: i64,
    pub id: M::EntityId,
}

impl<M: Machine> Drop for Firing<M> {
    fn drop(&mut self) {
        let fired = BookMessage::Fired(self.at_ms, self.id);
        self.engine.book(self.tenant, |handle| handle.send(fired));
    }
}

/// Gives an entity the deadline that has come. It counts as dealt with when its record is durable;
/// its effects go on by themselves.
pub(crate) fn fire<M: Machine>(firing: Firing<M>) {
    let (engine, tenant, id) = (firing.engine.clone(), firing.tenant, firing.id);
    let (reply_to, _nobody_waits) = ReplyTo::new(Some(Box::new(firing)), None);
    let command = engine.shared.machine.deadline(id);
    engine.tell_entity(
        tenant,
        id,
        false,
        EntityMessage::Ask { command, fresh: false, step: None, asked: Instant::now(), reply_to },
    );
}

/// Gives an entity a deadline on the way of an advance, and waits until everything that it led to
/// is done, the results of effects included.
async fn deadline<M: Machine>(firing: &Firing<M>) {
    let Firing { engine, tenant, at_ms, id } = firing;
    let (step, end) = Step::new(*at_ms);
    let (reply_to, mut from) = ReplyTo::new(None, None);
    let command = engine.shared.machine.deadline(*id);
    engine.tell_entity(
        *tenant,
        *id,
        false,
        EntityMessage::Ask { command, fresh: false, step: Some(step), asked: Instant::now(), reply_to },
    );
    if tokio::time::timeout(PATIENCE, end).await.is_err() {
        tracing::warn!(tenant, ?id, "the outside world is silent; the clock goes on without its answer");
    } else if let Ok(Err(failure)) = from.try_recv() {
        tracing::warn!(tenant, ?id, ?failure, "a deadline was not dealt with; it stays due");
    }
}

/// The guard of an advance: while it lives, the book leaves its deadlines to it.
struct Advancing<'a, M: Machine> {
    engine: &'a Engine<M>,
    tenant: u64,
}

impl<M: Machine> Drop for Advancing<'_, M> {
    fn drop(&mut self) {
        self.engine.book(self.tenant, |handle| handle.send(BookMessage::EndAdvance));
    }
}

/// Moves the clock of `tenant` forward by `advance_ms`. Every record on the way moves it up to its
/// own instant, and the last one to the end: an advance that breaks off leaves a clock that
/// goes on from where it was.
pub(crate) async fn advance<M: Machine>(
    engine: &Engine<M>,
    tenant: u64,
    advance_ms: i64,
    command: M::Command,
) -> CommandReply<M> {
    let lock = Arc::clone(&engine.shared.advances.entry(tenant).or_default());
    let reply = {
        let _one_at_a_time = lock.lock().await;
        run(engine, tenant, advance_ms, command).await
    };
    drop(lock);
    // Under the map's lock nobody can be between finding the mutex and cloning it.
    engine.shared.advances.remove_if(&tenant, |_, lock| Arc::strong_count(lock) == 1);
    reply
}

/// One advance, while no other moves the tenant's clock.
async fn run<M: Machine>(
    engine: &Engine<M>,
    tenant: u64,
    advance_ms: i64,
    command: M::Command,
) -> CommandReply<M> {
    let (to, from) = oneshot::channel();
    engine.book(tenant, |handle| handle.send(BookMessage::BeginAdvance(to)));
    let _advancing = Advancing { engine, tenant };
    // A book that is halted answers neither this nor what follows.
    let unanswered = || if engine.is_halted(tenant) { Failure::Halted } else { outcome_unknown() };
    let start_ms = from.await.map_err(|_| unanswered())?;
    let target_ms = start_ms.saturating_add(advance_ms);
    if let Err(refusal) = engine.shared.machine.may_reach(target_ms) {
        let (timing, effects) = (Timing::default(), Vec::new());
        let settled = Settled {
            entity: None,
            record: None,
            seq: None,
            time_ms: start_ms,
            timing,
            refusal: Some(refusal),
            performed: None,
            effects,
        };
        return Ok(Box::new(settled));
    }
    // A deadline that was dealt with and is still there (a bank that stays silent and moves
    // nothing) must not be looked at for ever.
    let mut dealt_with = HashSet::new();
    loop {
        let (to, from) = oneshot::channel();
        engine
            .book(tenant, |handle| handle.send(BookMessage::NextDue { until_ms: target_ms, dealt_with, to }));
        let (due, back) = from.await.map_err(|_| unanswered())?;
        dealt_with = back;
        match due {
            Due::Next(firing) => {
                deadline(&firing).await;
                dealt_with.insert((firing.at_ms, firing.id));
            }
            Due::Busy => tokio::time::sleep(BUSY_PAUSE).await,
            Due::None => break,
        }
    }
    let (reply_to, from) = ReplyTo::new(None, None);
    let (step, _end) = Step::new(target_ms);
    let ask = Box::new(Ask {
        command,
        entity: None,
        id: None,
        step: Some(step),
        fresh: false,
        asked: Instant::now(),
        reply_to,
    });
    engine.book(tenant, |handle| handle.send(BookMessage::Ask(ask)));
    received(from.await)
}
