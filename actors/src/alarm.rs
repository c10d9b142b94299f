//! What wakes a book at its next deadline: an alarm, and after a restart the index entry that marks
//! a tenant with a deadline.

use crate::host::Host;
use crate::machine::Machine;
use crate::protocol::BookMessage;
use std::collections::{BTreeSet, HashMap};
use std::sync::Weak;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use wal::IndexOps;

/// So that a wall clock that was set is noticed.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// Books set their alarms through the queue; the task does not keep the engine.
pub(crate) async fn run<M: Machine>(mut queue: UnboundedReceiver<(i64, u64)>, host: Weak<Host<M>>) {
    let Some(clock) = host.upgrade().map(|host| host.config.clock.clone()) else { return };
    let mut moves = clock.moves();
    let mut alarms: BTreeSet<(i64, u64)> = BTreeSet::new();
    // The alarm of each book: only the one that it set last counts.
    let mut of_book: HashMap<u64, i64> = HashMap::new();
    loop {
        let now_ms = clock.wall_ms();
        let sleep = alarms.first().map_or(SLEEP_MAX, |(at_ms, _)| {
            Duration::from_millis(u64::try_from(at_ms.saturating_sub(now_ms)).unwrap_or(0)).min(SLEEP_MAX)
        });
        // The order of the branches is fixed, so that equal conditions lead to equal runs.
        tokio::select! {
            biased;
            set = queue.recv() => match set {
                Some((at_ms, tenant)) => {
                    if let Some(before_ms) = of_book.insert(tenant, at_ms) {
                        alarms.remove(&(before_ms, tenant));
                    }
                    alarms.insert((at_ms, tenant));
                }
                None => return,
            },
            () = tokio::time::sleep(sleep) => {}
            _ = moves.changed() => {}
        }
        let Some(host) = host.upgrade().filter(|host| !host.is_over()) else { return };
        let now_ms = clock.wall_ms();
        while let Some(&(at_ms, tenant)) = alarms.first()
            && at_ms <= now_ms
        {
            alarms.pop_first();
            of_book.remove(&tenant);
            host.send_to_book(tenant, BookMessage::Wake);
        }
    }
}

/// The host's own index keys; a machine's keys start with a tenant, which is smaller.
const HOST_PREFIX: u8 = 0xFF;

pub fn wake_key(tenant: u64) -> Vec<u8> {
    [&[HOST_PREFIX, b'w'][..], &tenant.to_be_bytes()].concat()
}

/// A book without a deadline has no mark.
pub(crate) fn mark<M: Machine>(machine: &M, tenant: u64, book: &M::Book) -> IndexOps {
    let (key, mut index) = (wake_key(tenant), IndexOps::new());
    match machine.next_due(book, &|_| false) {
        Some(_) => index.put(&key, &[]),
        None => index.delete(&key),
    }
    index
}
