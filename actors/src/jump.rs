//! A clock that jumps: everything that falls due on the way happens first, in the order of its
//! instants, each bearing its own.

use crate::engine::{Engine, gone, received};
use crate::entity::EntityMessage;
use crate::machine::Machine;
use crate::rider::{Answer, Ask, Failure, Outcome, Settled, Timing};
use crate::slot::{BookMessage, Due};
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long to let a deadline that is being dealt with already come to its end, between looks.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// How long a jump waits for the outside world at one instant. A bank that never answers must not
/// hold a clock for ever; its answer is taken when it comes.
const PATIENCE: Duration = Duration::from_secs(5);

/// An instant on the way of a jump. What is done there bears it and carries a clone; the jump goes
/// on when none is left.
pub(crate) struct Leg {
    pub at_ms: i64,
    under_way: Arc<oneshot::Sender<Infallible>>,
}

impl Clone for Leg {
    fn clone(&self) -> Self {
        Leg { at_ms: self.at_ms, under_way: Arc::clone(&self.under_way) }
    }
}

impl Leg {
    /// The leg, and what ends when the last clone of it is gone.
    fn new(at_ms: i64) -> (Self, oneshot::Receiver<Infallible>) {
        let (under_way, end) = oneshot::channel();
        (Leg { at_ms, under_way: Arc::new(under_way) }, end)
    }
}

/// A deadline that is being dealt with. The book hears of its end when this is dropped, so no path
/// can forget to say so.
pub(crate) struct Firing<M: Machine> {
    pub engine: Engine<M>,
    pub tenant: u64,
    pub at_ms: i64,
    pub id: M::EntityId,
}

impl<M: Machine> Drop for Firing<M> {
    fn drop(&mut self) {
        let fired = BookMessage::Fired(self.at_ms, self.id);
        self.engine.book(self.tenant, |slot| slot.send(fired));
    }
}

/// Gives an entity the deadline that has come. It counts as dealt with when its record is durable;
/// what it asks of the outside world goes on by itself.
pub(crate) fn fire<M: Machine>(firing: Firing<M>) {
    let (engine, tenant, id) = (firing.engine.clone(), firing.tenant, firing.id);
    let (answer, _nobody_waits) = Answer::new(Some(Box::new(firing)), None);
    let command = engine.shared.machine.deadline(id);
    engine.tell_entity(
        tenant,
        id,
        false,
        EntityMessage::Ask { command, fresh: false, leg: None, asked: Instant::now(), answer },
    );
}

/// Gives an entity a deadline on the way of a jump, and waits until everything that it led to is
/// done, the outside world's answers included.
async fn deadline<M: Machine>(firing: &Firing<M>) {
    let Firing { engine, tenant, at_ms, id } = firing;
    let (leg, end) = Leg::new(*at_ms);
    let (answer, mut from) = Answer::new(None, None);
    let command = engine.shared.machine.deadline(*id);
    engine.tell_entity(
        *tenant,
        *id,
        false,
        EntityMessage::Ask { command, fresh: false, leg: Some(leg), asked: Instant::now(), answer },
    );
    if tokio::time::timeout(PATIENCE, end).await.is_err() {
        tracing::warn!(tenant, ?id, "the outside world is silent; the clock goes on without its answer");
    } else if let Ok(Err(failure)) = from.try_recv() {
        tracing::warn!(tenant, ?id, ?failure, "a deadline was not dealt with; it stays due");
    }
}

/// While it lives, the book leaves its deadlines to the jump.
struct Airborne<'a, M: Machine> {
    engine: &'a Engine<M>,
    tenant: u64,
}

impl<M: Machine> Drop for Airborne<'_, M> {
    fn drop(&mut self) {
        self.engine.book(self.tenant, |slot| slot.send(BookMessage::Land));
    }
}

/// Moves the clock of `tenant` forward by `advance_ms`. Every record on the way moves it up to its
/// own instant, and the last one to the end: a jump that breaks off leaves a clock that goes on
/// from where it was.
pub(crate) async fn advance<M: Machine>(
    engine: &Engine<M>,
    tenant: u64,
    advance_ms: i64,
    command: M::Command,
) -> Outcome<M> {
    let lock = Arc::clone(&engine.shared.jumps.entry(tenant).or_default());
    let outcome = {
        let _one_at_a_time = lock.lock().await;
        jump(engine, tenant, advance_ms, command).await
    };
    drop(lock);
    // Under the map's lock nobody can be between finding the mutex and cloning it.
    engine.shared.jumps.remove_if(&tenant, |_, lock| Arc::strong_count(lock) == 1);
    outcome
}

async fn jump<M: Machine>(
    engine: &Engine<M>,
    tenant: u64,
    advance_ms: i64,
    command: M::Command,
) -> Outcome<M> {
    let (to, from) = oneshot::channel();
    engine.book(tenant, |slot| slot.send(BookMessage::TakeOff(to)));
    let _airborne = Airborne { engine, tenant };
    // A book that is halted answers neither this nor what follows.
    let unanswered = || if engine.is_halted(tenant) { Failure::Halted } else { gone() };
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
        engine.book(tenant, |slot| slot.send(BookMessage::NextDue { until_ms: target_ms, dealt_with, to }));
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
    let (answer, from) = Answer::new(None, None);
    let (leg, _end) = Leg::new(target_ms);
    let ask = Box::new(Ask {
        command,
        entity: None,
        id: None,
        leg: Some(leg),
        fresh: false,
        asked: Instant::now(),
        answer,
    });
    engine.book(tenant, |slot| slot.send(BookMessage::Ask(ask)));
    received(from.await)
}
