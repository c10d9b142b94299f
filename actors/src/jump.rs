//! A clock that jumps: everything that falls due on the way happens first, in the order of its instants, each bearing its own.

use crate::book::{BookMessage, Due};
use crate::engine::{Engine, received};
use crate::entity::EntityMessage;
use crate::machine::Machine;
use crate::rider::{Answer, Ask, Failure, Outcome};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How long to let a deadline that is being dealt with already come to its end, between looks.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// Gives an entity its deadline and waits until it has been dealt with, the outside world's answer included. `at_ms` is the instant that it bears.
pub(crate) async fn deadline<M: Machine>(engine: &Engine<M>, tenant: u64, id: M::EntityId, at_ms: Option<i64>) {
    let (answer, from) = Answer::new(None, None);
    let command = engine.shared.machine.deadline(id);
    engine.tell_entity(tenant, id, false, EntityMessage::Ask { command, at_ms, asked: Instant::now(), answer });
    if let Err(failure) = received(from.await) {
        tracing::warn!(tenant, ?id, ?failure, "a deadline was not dealt with; it stays due");
    }
}

/// Moves the clock of `tenant` forward by `advance_ms`.
pub(crate) async fn advance<M: Machine>(engine: &Engine<M>, tenant: u64, advance_ms: i64, command: M::Command) -> Outcome<M> {
    let lock = Arc::clone(&engine.shared.jumps.entry(tenant).or_default());
    let _one_at_a_time = lock.lock().await;
    let (to, from) = oneshot::channel();
    engine.book(tenant, |slot| slot.send(BookMessage::Now(to)));
    let start_ms = from.await.map_err(|_| Failure::Defect("the book is gone".to_owned()))?;
    let target_ms = start_ms.saturating_add(advance_ms);
    // A deadline that was dealt with and is still there (a bank that stays silent and moves nothing) must not be looked at for ever.
    let mut dealt_with = Arc::new(HashSet::new());
    loop {
        let (to, from) = oneshot::channel();
        let skip = Arc::clone(&dealt_with);
        engine.book(tenant, |slot| slot.send(BookMessage::NextDue { until_ms: target_ms, skip, to }));
        match from.await.unwrap_or(Due::None) {
            Due::Next(at_ms, id) => {
                deadline(engine, tenant, id, Some(at_ms)).await;
                engine.book(tenant, |slot| slot.send(BookMessage::Fired(id)));
                Arc::make_mut(&mut dealt_with).insert((at_ms, id));
            }
            Due::Busy => tokio::time::sleep(BUSY_PAUSE).await,
            Due::None => break,
        }
    }
    let (answer, from) = Answer::new(None, None);
    let ask = Ask { command, entity: None, id: None, at_ms: Some(target_ms), asked: Instant::now(), answer };
    engine.book(tenant, |slot| slot.send(BookMessage::Ask(ask)));
    let outcome = received(from.await);
    // The alarms were set for the old clock.
    engine.book(tenant, |slot| slot.send(BookMessage::Wake));
    outcome
}
