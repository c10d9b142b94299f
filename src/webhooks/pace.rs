//! The share of the processors that deliveries take while payments need them. A low priority alone
//! is not enough: what runs in the moments in which payments wait for the disk costs them caches,
//! wake-ups and the kernel's work for its sockets all the same. So while many requests are under
//! way, each thread of deliveries counts its own processor time and rests when that is more than
//! its share; what is due waits in the log.

use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const MANY: usize = 16;
/// A shorter time with fewer requests changes nothing: a caller that waited for one write is
/// answered at once, and asks again.
const LULL: Duration = Duration::from_millis(100);
const SHARE: u32 = 16;
/// May be spent ahead of the share, so that a few deliveries never wait for it.
const AHEAD: Duration = Duration::from_millis(5);
const REST_MAX: Duration = Duration::from_millis(100);

#[derive(Clone, Copy)]
struct Spent {
    at: Instant,
    processor: Duration,
    beyond: Duration,
    many_at: Option<Instant>,
}

thread_local! {
    static SPENT: Cell<Option<Spent>> = const { Cell::new(None) };
}

impl Spent {
    fn new(at: Instant, processor: Duration) -> Spent {
        Spent { at, processor, beyond: Duration::ZERO, many_at: None }
    }

    fn add(self, at: Instant, processor: Duration, are_many: bool) -> Spent {
        let many_at = if are_many { Some(at) } else { self.many_at };
        let is_needed = many_at.is_some_and(|many_at| at.saturating_duration_since(many_at) < LULL);
        let earned = at.saturating_duration_since(self.at) / SHARE;
        // Processor time that nobody else needed does not count.
        let beyond = if is_needed {
            (self.beyond + processor.saturating_sub(self.processor)).saturating_sub(earned)
        } else {
            Duration::ZERO
        };
        Spent { at, processor, beyond, many_at }
    }

    fn rest(self) -> Option<Duration> {
        let beyond = self.beyond.checked_sub(AHEAD).filter(|beyond| !beyond.is_zero())?;
        Some(beyond.saturating_mul(SHARE).min(REST_MAX))
    }
}

/// While many requests are under way and this thread has had more than its share.
pub async fn keep(under_way: impl Fn() -> usize) {
    while let Some(rest) = look(under_way() >= MANY).rest() {
        sleep(rest).await;
    }
}

fn look(are_many: bool) -> Spent {
    let (at, processor) = (Instant::now(), processor_time());
    let spent = SPENT.get().unwrap_or(Spent::new(at, processor)).add(at, processor, are_many);
    SPENT.set(Some(spent));
    spent
}

fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_share_is_earned_by_time() {
        let at = Instant::now();
        let busy = Spent::new(at, ms(0)).add(at + ms(32), ms(32), true);
        assert_eq!((busy.beyond, busy.rest()), (ms(30), Some(REST_MAX)));
        let rested = busy.add(at + ms(32 + 320), ms(32), true);
        assert_eq!(rested.beyond, ms(10));
        let even = rested.add(at + ms(9_000), ms(32), true);
        assert_eq!((even.beyond, even.rest()), (ms(0), None));
        assert_eq!(even.add(at + ms(9_005), ms(36), true).rest(), None, "a few deliveries never wait");
    }

    #[test]
    fn what_nobody_needed_is_not_held_against_it_but_a_lull_is_no_end() {
        let at = Instant::now();
        assert_eq!(Spent::new(at, ms(0)).add(at + ms(500), ms(500), false).rest(), None);
        let busy = Spent::new(at, ms(0)).add(at + ms(50), ms(50), true);
        assert!(busy.add(at + ms(120), ms(50), false).rest().is_some());
        assert_eq!(busy.add(at + ms(150), ms(50), false).rest(), None);
    }

    #[test]
    fn a_thread_counts_its_own_time() {
        let begin = Instant::now();
        while look(true).rest().is_none() {
            assert!(begin.elapsed() < Duration::from_secs(20));
        }
        assert!(processor_time() > AHEAD);
    }
}
