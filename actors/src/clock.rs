//! The clock of the engine. The wall clock can be set: by hand, by a wrong time service, by a host
//! that resumes a machine. A step that the clock since boot does not explain (it counts suspension
//! too) is not believed: time goes on as before, so that no hold ends early and no book has to
//! stand still afterwards, and [`Clock::step_ms`] reports the step until it is undone or confirmed.
//! Small corrections of a time service are followed.

use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::watch;

/// The wall clock is believed up to this distance from its expected value.
pub const STEP_MS_MAX: i64 = 60_000;

/// If two readings of the clock since boot are further apart, the process slept between them.
const LOOK_MS_MAX: i64 = 1_000;

#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub wall_ms: i64,
    pub boot_ms: i64,
}

#[derive(Clone)]
pub struct Clock {
    /// `None` for one that is moved by hand.
    watched: Option<Arc<Watched>>,
    /// A watch channel and not a notification: several engines may use one clock, and none misses a
    /// move. Of the machine's clock it has none.
    moves: Arc<watch::Sender<i64>>,
}

struct Watched {
    read: Box<dyn Fn() -> Reading + Send + Sync>,
    /// The believed difference between the wall clock and the clock since boot.
    ahead_ms: AtomicI64,
    /// The step of the wall clock that is not believed; 0 while it is believed.
    step_ms: AtomicI64,
}

impl Clock {
    /// A debug build adds to the wall clock the milliseconds in the file that the environment
    /// variable `PASARELA_TEST_CLOCK_STEP` names.
    pub fn system() -> Self {
        #[cfg(debug_assertions)]
        if let Some(file) = std::env::var_os("PASARELA_TEST_CLOCK_STEP") {
            return Clock::watched(Box::new(move || {
                let step =
                    std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse::<i64>().ok());
                let Reading { wall_ms, boot_ms } = machine();
                Reading { wall_ms: wall_ms.saturating_add(step.unwrap_or(0)), boot_ms }
            }));
        }
        Clock::watched(Box::new(machine))
    }

    pub fn watched(read: Box<dyn Fn() -> Reading + Send + Sync>) -> Self {
        let Reading { wall_ms, boot_ms } = read();
        let ahead_ms = AtomicI64::new(wall_ms.saturating_sub(boot_ms));
        let watched = Arc::new(Watched { read, ahead_ms, step_ms: AtomicI64::new(0) });
        Clock { watched: Some(watched), moves: Arc::new(watch::Sender::new(0)) }
    }

    pub fn manual(now_ms: i64) -> Self {
        Clock { watched: None, moves: Arc::new(watch::Sender::new(now_ms)) }
    }

    pub fn wall_ms(&self) -> i64 {
        let Some(watched) = &self.watched else { return *self.moves.borrow() };
        let Reading { wall_ms, boot_ms } = (watched.read)();
        let expected_ms = boot_ms.saturating_add(watched.ahead_ms.load(Ordering::Relaxed));
        let step_ms = wall_ms.saturating_sub(expected_ms);
        let is_believed = step_ms.unsigned_abs() <= STEP_MS_MAX.unsigned_abs();
        let before_ms = watched.step_ms.swap(if is_believed { 0 } else { step_ms }, Ordering::Relaxed);
        if is_believed {
            if before_ms != 0 {
                tracing::info!("the wall clock is again where it was expected");
            }
            watched.ahead_ms.store(wall_ms.saturating_sub(boot_ms), Ordering::Relaxed);
            return wall_ms;
        }
        if before_ms == 0 {
            tracing::error!(
                step_ms,
                "the wall clock was set and is not believed: live money decisions wait until that is undone \
                 or confirmed"
            );
        }
        expected_ms
    }

    pub fn step_ms(&self) -> i64 {
        self.watched.as_ref().map_or(0, |watched| watched.step_ms.load(Ordering::Relaxed))
    }

    /// Believes the wall clock as it is; returns the step that was not believed.
    pub fn confirm(&self) -> i64 {
        let Some(watched) = &self.watched else { return 0 };
        let Reading { wall_ms, boot_ms } = (watched.read)();
        watched.ahead_ms.store(wall_ms.saturating_sub(boot_ms), Ordering::Relaxed);
        watched.step_ms.swap(0, Ordering::Relaxed)
    }

    /// Of a clock that is moved by hand.
    pub fn forward(&self, by_ms: i64) {
        self.moves.send_modify(|now_ms| *now_ms = now_ms.saturating_add(by_ms));
    }

    pub(crate) fn moves(&self) -> watch::Receiver<i64> {
        self.moves.subscribe()
    }
}

fn machine() -> Reading {
    loop {
        let mut read = [0_i64; 3];
        for (ms, clock) in read.iter_mut().zip([ClockId::Boottime, ClockId::Realtime, ClockId::Boottime]) {
            let since = clock_gettime(clock);
            *ms = since.tv_sec.saturating_mul(1_000).saturating_add(since.tv_nsec / 1_000_000);
        }
        let [boot_ms, wall_ms, after_ms] = read;
        if after_ms - boot_ms <= LOOK_MS_MAX {
            return Reading { wall_ms: wall_ms.max(0), boot_ms };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    fn by_hand() -> (Clock, Arc<(AtomicI64, AtomicI64)>) {
        let clocks = Arc::new((AtomicI64::new(1_000 * HOUR_MS), AtomicI64::new(HOUR_MS)));
        let read = Arc::clone(&clocks);
        let clock = Clock::watched(Box::new(move || Reading {
            wall_ms: read.0.load(Ordering::Relaxed),
            boot_ms: read.1.load(Ordering::Relaxed),
        }));
        (clock, clocks)
    }

    #[test]
    fn a_step_is_not_believed_until_it_is_undone() {
        let (clock, clocks) = by_hand();
        for step_ms in [24 * HOUR_MS, -HOUR_MS, STEP_MS_MAX + 1] {
            let before_ms = clock.wall_ms();
            clocks.0.fetch_add(step_ms, Ordering::Relaxed);
            assert_eq!((clock.wall_ms(), clock.step_ms()), (before_ms, step_ms));
            // Time goes on by the clock since boot.
            clocks.0.fetch_add(5_000, Ordering::Relaxed);
            clocks.1.fetch_add(5_000, Ordering::Relaxed);
            assert_eq!((clock.wall_ms(), clock.step_ms()), (before_ms + 5_000, step_ms));
            clocks.0.fetch_add(-step_ms, Ordering::Relaxed);
            assert_eq!((clock.wall_ms(), clock.step_ms()), (before_ms + 5_000, 0));
        }
    }

    #[test]
    fn a_step_that_is_confirmed_is_believed() {
        let (clock, clocks) = by_hand();
        let before_ms = clock.wall_ms();
        clocks.0.fetch_add(HOUR_MS, Ordering::Relaxed);
        assert_eq!(clock.wall_ms(), before_ms);
        assert_eq!(clock.confirm(), HOUR_MS);
        assert_eq!((clock.wall_ms(), clock.step_ms(), clock.confirm()), (before_ms + HOUR_MS, 0, 0));
    }

    #[test]
    fn suspension_and_small_corrections_are_no_steps() {
        let (clock, clocks) = by_hand();
        clocks.0.fetch_add(9 * HOUR_MS, Ordering::Relaxed);
        clocks.1.fetch_add(9 * HOUR_MS, Ordering::Relaxed);
        assert_eq!((clock.wall_ms(), clock.step_ms()), (1_009 * HOUR_MS, 0));
        // Many small ones come to more than a step: they were followed one by one.
        for _ in 0..10 {
            clocks.0.fetch_add(STEP_MS_MAX / 2, Ordering::Relaxed);
            clock.wall_ms();
        }
        assert_eq!((clock.wall_ms(), clock.step_ms()), (1_009 * HOUR_MS + 5 * STEP_MS_MAX, 0));
    }
}
