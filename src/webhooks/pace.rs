//! How much of the processors deliveries take while payments need them.
//!
//! A low priority alone is not enough: what runs in the moments in which payments wait for the disk costs them caches, wake-ups and the kernel's work for its sockets all the same. So while many
//! requests are under way, each thread of deliveries counts its own processor time and rests when that is more than its share; what is due waits in the log.

use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// So many requests under way are many.
const MANY: usize = 16;
/// Of a thread's time, while there are many: one part of so many.
const SHARE: u32 = 16;
/// What may be spent ahead of the share, so that a few deliveries never wait for it.
const AHEAD: Duration = Duration::from_millis(5);
/// The longest rest; then it looks again whether there still are many.
const REST_MAX: Duration = Duration::from_millis(50);

/// What a thread has spent.
#[derive(Clone, Copy)]
struct Spent {
    /// When it was last looked at.
    at: Instant,
    /// The thread's processor time until then.
    processor: Duration,
    /// What of it was beyond the share.
    beyond: Duration,
}

thread_local! {
    static SPENT: Cell<Option<Spent>> = const { Cell::new(None) };
}

impl Spent {
    fn add(self, at: Instant, processor: Duration) -> Spent {
        let earned = at.saturating_duration_since(self.at) / SHARE;
        let beyond = (self.beyond + processor.saturating_sub(self.processor)).saturating_sub(earned);
        Spent { at, processor, beyond }
    }
}

/// Rests while many requests are under way and this thread has had more than its share.
pub async fn keep(under_way: impl Fn() -> usize) {
    while let Some(rest) = due(under_way() >= MANY) {
        sleep(rest).await;
    }
}

/// How long this thread is to rest, if at all.
fn due(are_many: bool) -> Option<Duration> {
    let (at, processor) = (Instant::now(), processor_time());
    let before = SPENT.get().unwrap_or(Spent { at, processor, beyond: Duration::ZERO });
    let mut spent = before.add(at, processor);
    if !are_many {
        // What nobody else needed is not held against it.
        spent.beyond = Duration::ZERO;
    }
    SPENT.set(Some(spent));
    let beyond = spent.beyond.checked_sub(AHEAD).filter(|beyond| !beyond.is_zero())?;
    Some(beyond.saturating_mul(SHARE).min(REST_MAX))
}

/// Of the thread that asks.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_earned_by_time() {
        let at = Instant::now();
        let spent = Spent { at, processor: Duration::ZERO, beyond: Duration::ZERO };
        let busy = spent.add(at + Duration::from_millis(16), Duration::from_millis(16));
        assert_eq!(busy.beyond, Duration::from_millis(15));
        let rested = busy.add(at + Duration::from_millis(16 + 160), Duration::from_millis(16));
        assert_eq!(rested.beyond, Duration::from_millis(5));
        assert_eq!(rested.add(at + Duration::from_secs(9), Duration::from_millis(16)).beyond, Duration::ZERO);
    }

    #[test]
    fn only_who_has_had_too_much_rests_and_only_beside_many() {
        let work = || {
            let until = processor_time() + 2 * AHEAD;
            while processor_time() < until {}
        };
        assert_eq!(due(true), None);
        work();
        assert!(due(true).is_some_and(|rest| !rest.is_zero() && rest <= REST_MAX));
        assert_eq!(due(false), None, "what nobody needed is not held against it");
        assert_eq!(due(true), None);
    }
}
