//! Everything that falls due on the way of a clock advance happens first, in the order of its
//! instants, each bearing its own.

use crate::entity;
use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::{
    Ask, BookMessage, CommandReply, Due, EntityMessage, Failure, Firing, ReplyTo, Settled, Step, Timing,
};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// A bank that never answers must not hold a clock for ever; its result is taken when it comes.
const PATIENCE: Duration = Duration::from_secs(5);

/// While it lives, the book leaves its deadlines to the advance.
struct Advancing<'a, M: Machine> {
    host: &'a Arc<Host<M>>,
    tenant: u64,
}

impl<M: Machine> Drop for Advancing<'_, M> {
    fn drop(&mut self) {
        self.host.send_to_book(self.tenant, BookMessage::EndAdvance);
    }
}

/// Every record on the way moves the clock up to its own instant, and the last one to the end: an
/// advance that breaks off leaves a clock that goes on from where it was.
pub(crate) async fn advance<M: Machine>(
    host: &Arc<Host<M>>,
    tenant: u64,
    advance_ms: i64,
    command: M::Command,
) -> CommandReply<M> {
    let lock = Arc::clone(&host.advances.entry(tenant).or_default());
    let reply = {
        let _one_at_a_time = lock.lock().await;
        run(host, tenant, advance_ms, command).await
    };
    drop(lock);
    // Under the map's lock no other advance can be between finding the mutex and cloning it.
    host.advances.remove_if(&tenant, |_, lock| Arc::strong_count(lock) == 1);
    reply
}

async fn run<M: Machine>(
    host: &Arc<Host<M>>,
    tenant: u64,
    advance_ms: i64,
    command: M::Command,
) -> CommandReply<M> {
    let (to, from) = oneshot::channel();
    host.send_to_book(tenant, BookMessage::BeginAdvance(to));
    let _advancing = Advancing { host, tenant };
    // A book that is halted answers neither this nor what follows.
    let unanswered = |gone: oneshot::error::RecvError| match host.halts.is_halted(tenant) {
        true => Failure::Halted,
        false => gone.into(),
    };
    let (start_ms, generation) = from.await.map_err(unanswered)?;
    let target_ms = start_ms.saturating_add(advance_ms);
    if let Err(refusal) = host.machine.may_reach(target_ms) {
        return Ok(Box::new(Settled {
            entity: None,
            record: None,
            seq: None,
            time_ms: start_ms,
            timing: Timing::default(),
            refusal: Some(refusal),
            performed: None,
            effects: Vec::new(),
        }));
    }
    // A deadline that was dealt with and is still there (a bank that stays silent and moves
    // nothing) must not be looked at for ever.
    let mut dealt_with = HashSet::new();
    loop {
        if host.is_elsewhere(tenant) {
            return Err(Failure::Elsewhere);
        }
        if !(host.config.has_room_for_due)(tenant) {
            return Err(Failure::Storage("the disk has no room for what falls due on the way".to_owned()));
        }
        let (to, from) = oneshot::channel();
        host.send_to_book(tenant, BookMessage::NextDue { until_ms: target_ms, generation, dealt_with, to });
        let (due, back) = from.await.map_err(unanswered)?;
        dealt_with = back;
        match due {
            Due::Next(firing) => {
                deadline(host, tenant, &firing, generation).await;
                dealt_with.insert((firing.at_ms, firing.id));
            }
            Due::Busy => tokio::time::sleep(BUSY_PAUSE).await,
            Due::None => break,
        }
    }
    let (reply_to, from) = ReplyTo::new(None, None, None);
    let (step, _end) = Step::new(target_ms, generation);
    host.send_to_book(tenant, BookMessage::Ask(Ask::of_book(command, Some(step), false, reply_to)));
    from.await?
}

/// Waits until everything that the deadline led to is done, the results of effects included.
async fn deadline<M: Machine>(host: &Arc<Host<M>>, tenant: u64, firing: &Firing<M>, generation: u64) {
    let Firing { at_ms, id, .. } = firing;
    let (step, end) = Step::new(*at_ms, generation);
    let (reply_to, mut from) = ReplyTo::new(None, None, None);
    let command = host.machine.deadline(*id);
    entity::send(
        host,
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
