//! The alarm that wakes a book at its next deadline.

use crate::clock::Clock;
use crate::engine::Engine;
use crate::machine::Machine;
use crate::slot::BookMessage;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// The longest the alarm sleeps in one go, so that a wall clock that was set is noticed.
const NAP_MAX: Duration = Duration::from_secs(1);

/// Waits until a manual clock moves; the machine's clock has no moves.
async fn moved(moves: &mut Option<watch::Receiver<i64>>) {
    if let Some(moves) = moves
        && moves.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// Sets alarms.
pub(crate) struct Alarm {
    set: mpsc::UnboundedSender<(i64, u64)>,
}

/// The alarms that were set, for the task that rings them.
pub(crate) struct Rings {
    set: mpsc::UnboundedReceiver<(i64, u64)>,
    clock: Clock,
    moves: Option<watch::Receiver<i64>>,
}

impl Alarm {
    pub fn new(clock: Clock) -> (Self, Rings) {
        // Bounded by use: a book sets an alarm only when it is earlier than the one it has.
        let (set, from) = mpsc::unbounded_channel();
        let moves = clock.moves();
        (Alarm { set }, Rings { set: from, clock, moves })
    }

    /// Wakes the book of `tenant` at `wall_ms`.
    pub fn set(&self, wall_ms: i64, tenant: u64) {
        // After the engine's end there is nobody to wake.
        let _ = self.set.send((wall_ms, tenant));
    }
}

/// Rings alarms until the engine is gone.
pub(crate) fn run<M: Machine>(mut rings: Rings, engine: Engine<M>) {
    let engine =
        WeakEngine { shared: Arc::downgrade(&engine.shared), runtime: engine.shared.runtime.clone() };
    engine.runtime.clone().spawn(async move {
        let mut alarms: BTreeSet<(i64, u64)> = BTreeSet::new();
        // One alarm per book: its latest wish.
        let mut of_book: HashMap<u64, i64> = HashMap::new();
        loop {
            let now_ms = rings.clock.wall_ms();
            let nap = alarms.first().map_or(NAP_MAX, |(at_ms, _)| {
                Duration::from_millis(u64::try_from(at_ms.saturating_sub(now_ms)).unwrap_or(0)).min(NAP_MAX)
            });
            // In this order, so that the same happens each time that all is the same.
            tokio::select! {
                biased;
                set = rings.set.recv() => match set {
                    Some((at_ms, tenant)) => {
                        if let Some(before_ms) = of_book.insert(tenant, at_ms) {
                            alarms.remove(&(before_ms, tenant));
                        }
                        alarms.insert((at_ms, tenant));
                    }
                    None => return,
                },
                () = tokio::time::sleep(nap) => {}
                () = moved(&mut rings.moves) => {}
            }
            let Some(shared) = engine.shared.upgrade() else { return };
            if shared.is_over() {
                return;
            }
            let engine = Engine { shared };
            let now_ms = rings.clock.wall_ms();
            while let Some(&(at_ms, tenant)) = alarms.first()
                && at_ms <= now_ms
            {
                alarms.pop_first();
                of_book.remove(&tenant);
                engine.book(tenant, |slot| slot.send(BookMessage::Wake));
            }
        }
    });
}

struct WeakEngine<M: Machine> {
    shared: std::sync::Weak<crate::engine::Shared<M>>,
    runtime: tokio::runtime::Handle,
}
