//! What wakes a book at its next deadline: an alarm, and after a restart the index entry that marks
//! a tenant with a deadline.

use crate::clock::Clock;
use crate::machine::Machine;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use wal::IndexOps;

/// So that a wall clock that was set is noticed.
const SLEEP_MAX: Duration = Duration::from_secs(1);

pub(crate) struct Alarm {
    set: mpsc::UnboundedSender<(i64, u64)>,
}

pub(crate) struct AlarmQueue {
    set: mpsc::UnboundedReceiver<(i64, u64)>,
    clock: Clock,
    moves: Option<watch::Receiver<i64>>,
}

impl Alarm {
    pub fn new(clock: Clock) -> (Self, AlarmQueue) {
        // Bounded by use: a book sets an alarm only when it is earlier than the one it has.
        let (set, from) = mpsc::unbounded_channel();
        let moves = clock.moves();
        (Alarm { set }, AlarmQueue { set: from, clock, moves })
    }

    pub fn set(&self, wall_ms: i64, tenant: u64) {
        // The queue is closed after the engine's end; then no book is left to wake.
        let _ = self.set.send((wall_ms, tenant));
    }
}

/// The machine's clock has no moves: this waits for ever.
async fn moved(moves: &mut Option<watch::Receiver<i64>>) {
    if let Some(moves) = moves
        && moves.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

pub(crate) async fn run(mut queue: AlarmQueue, is_over: impl Fn() -> bool, wake: impl Fn(u64)) {
    let mut alarms: BTreeSet<(i64, u64)> = BTreeSet::new();
    // The alarm of each book: only the one that it set last counts.
    let mut of_book: HashMap<u64, i64> = HashMap::new();
    loop {
        let now_ms = queue.clock.wall_ms();
        let sleep = alarms.first().map_or(SLEEP_MAX, |(at_ms, _)| {
            Duration::from_millis(u64::try_from(at_ms.saturating_sub(now_ms)).unwrap_or(0)).min(SLEEP_MAX)
        });
        // The order of the branches is fixed, so that equal conditions lead to equal runs.
        tokio::select! {
            biased;
            set = queue.set.recv() => match set {
                Some((at_ms, tenant)) => {
                    if let Some(before_ms) = of_book.insert(tenant, at_ms) {
                        alarms.remove(&(before_ms, tenant));
                    }
                    alarms.insert((at_ms, tenant));
                }
                None => return,
            },
            () = tokio::time::sleep(sleep) => {}
            () = moved(&mut queue.moves) => {}
        }
        if is_over() {
            return;
        }
        let now_ms = queue.clock.wall_ms();
        while let Some(&(at_ms, tenant)) = alarms.first()
            && at_ms <= now_ms
        {
            alarms.pop_first();
            of_book.remove(&tenant);
            wake(tenant);
        }
    }
}

/// The host's own index keys; a machine's keys start with a tenant, which is smaller.
const HOST_PREFIX: u8 = 0xFF;

pub fn wake_key(tenant: u64) -> Vec<u8> {
    let mut key = vec![HOST_PREFIX, b'w'];
    key.extend_from_slice(&tenant.to_be_bytes());
    key
}

/// A book without a deadline has no mark.
pub(crate) fn mark<M: Machine>(machine: &M, tenant: u64, book: &M::Book, index: &mut IndexOps) {
    let key = wake_key(tenant);
    match machine.next_due(book, &|_| false) {
        Some(_) => index.put(&key, &[]),
        None => index.delete(&key),
    }
}
