//! Everything that falls due on the way of a clock advance happens first, in the order of its
//! instants, each bearing its own.

use crate::host::Context;
use crate::machine::Machine;
use crate::protocol::book::{Ask, BookMessage, Due, Firing};
use crate::protocol::entity::EntityMessage;
use crate::protocol::reply::{CommandReply, Failure, ReplyTo, Settled, Timing, received};
use crate::protocol::step::Step;
use dashmap::DashMap;
use std::collections::HashSet;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, oneshot};

/// Between looks at a deadline that is being dealt with already.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// A bank that never answers must not hold a clock for ever; its result is taken when it comes.
const PATIENCE: Duration = Duration::from_secs(5);

/// A tenant has one advance at a time.
#[derive(Default)]
pub(crate) struct Advances(DashMap<u64, Arc<Mutex<()>>>);

/// While it lives, the book leaves its deadlines to the advance.
struct Advancing<'a, M: Machine, C: Context<M>> {
    context: &'a C,
    tenant: u64,
    _of: PhantomData<fn() -> M>,
}

impl<M: Machine, C: Context<M>> Drop for Advancing<'_, M, C> {
    fn drop(&mut self) {
        self.context.send_to_book(self.tenant, BookMessage::EndAdvance);
    }
}

/// Every record on the way moves the clock up to its own instant, and the last one to the end: an
/// advance that breaks off leaves a clock that goes on from where it was.
pub(crate) async fn advance<M: Machine, C: Context<M>>(
    context: &C,
    advances: &Advances,
    tenant: u64,
    advance_ms: i64,
    command: M::Command,
) -> CommandReply<M> {
    let lock = Arc::clone(&advances.0.entry(tenant).or_default());
    let reply = {
        let _one_at_a_time = lock.lock().await;
        run(context, tenant, advance_ms, command).await
    };
    drop(lock);
    // Under the map's lock no other advance can be between finding the mutex and cloning it.
    advances.0.remove_if(&tenant, |_, lock| Arc::strong_count(lock) == 1);
    reply
}

async fn run<M: Machine, C: Context<M>>(
    context: &C,
    tenant: u64,
    advance_ms: i64,
    command: M::Command,
) -> CommandReply<M> {
    let (to, from) = oneshot::channel();
    context.send_to_book(tenant, BookMessage::BeginAdvance(to));
    let _advancing = Advancing { context, tenant, _of: PhantomData };
    // A book that is halted answers neither this nor what follows.
    let unanswered = || match context.host().halts.is_halted(tenant) {
        true => Failure::Halted,
        false => Failure::outcome_unknown(),
    };
    let (start_ms, generation) = from.await.map_err(|_| unanswered())?;
    let target_ms = start_ms.saturating_add(advance_ms);
    if let Err(refusal) = context.host().machine.may_reach(target_ms) {
        return Ok(Box::new(refused(start_ms, refusal)));
    }
    // A deadline that was dealt with and is still there (a bank that stays silent and moves
    // nothing) must not be looked at for ever.
    let mut dealt_with = HashSet::new();
    loop {
        if !(context.host().has_room_for_due)(tenant) {
            return Err(Failure::Storage("the disk has no room for what falls due on the way".to_owned()));
        }
        let (to, from) = oneshot::channel();
        context
            .send_to_book(tenant, BookMessage::NextDue { until_ms: target_ms, generation, dealt_with, to });
        let (due, back) = from.await.map_err(|_| unanswered())?;
        dealt_with = back;
        match due {
            Due::Next(firing) => {
                deadline(context, tenant, &firing, generation).await;
                dealt_with.insert((firing.at_ms, firing.id));
            }
            Due::Busy => tokio::time::sleep(BUSY_PAUSE).await,
            Due::None => break,
        }
    }
    let (reply_to, from) = ReplyTo::new(None, None);
    let (step, _end) = Step::new(target_ms, generation);
    let ask = Box::new(Ask {
        command,
        entity: None,
        id: None,
        generation: None,
        step: Some(step),
        fresh: false,
        asked: Instant::now(),
        reply_to,
    });
    context.send_to_book(tenant, BookMessage::Ask(ask));
    received(from.await)
}

/// Waits until everything that the deadline led to is done, the results of effects included.
async fn deadline<M: Machine, C: Context<M>>(context: &C, tenant: u64, firing: &Firing<M>, generation: u64) {
    let Firing { at_ms, id, .. } = firing;
    let (step, end) = Step::new(*at_ms, generation);
    let (reply_to, mut from) = ReplyTo::new(None, None);
    let command = context.host().machine.deadline(*id);
    context.send_to_entity(
        tenant,
        *id,
        EntityMessage::Ask { command, fresh: false, step: Some(step), asked: Instant::now(), reply_to },
    );
    if tokio::time::timeout(PATIENCE, end).await.is_err() {
        tracing::warn!(tenant, ?id, "the outside world is silent; the clock goes on without its answer");
    } else if let Ok(Err(failure)) = from.try_recv() {
        tracing::warn!(tenant, ?id, ?failure, "a deadline was not dealt with; it stays due");
    }
}

/// The machine refuses the instant that the clock would reach: nothing changed.
fn refused<M: Machine>(time_ms: i64, refusal: M::Refusal) -> Settled<M> {
    Settled {
        entity: None,
        record: None,
        seq: None,
        time_ms,
        timing: Timing::default(),
        refusal: Some(refusal),
        performed: None,
        effects: Vec::new(),
    }
}
