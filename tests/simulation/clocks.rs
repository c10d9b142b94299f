//! The clocks of the simulated machine: the one since boot follows virtual time and suspensions,
//! and the wall clock is what somebody has set it to.

use actors::{Clock, Reading, STEP_MS_MAX};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// The start: noon in Caracas, three days before the holiday.
const START_MS: i64 = (crate::model::HOLIDAY - 3) * crate::model::DAY + 16 * 3_600_000;

/// The clocks; they outlive the server.
pub struct Clocks(Mutex<State>);

struct State {
    /// The clock since boot when the server started.
    boot_ms: i64,
    started: Option<Instant>,
    /// The wall clock less what it would be if nobody had set it.
    skew_ms: i64,
    /// The time of the wall clock that must be believed, in ms.
    believed_ms: i64,
    /// The latest time that had to be believed.
    latest_ms: i64,
}

impl State {
    fn boot_ms(&self) -> i64 {
        let since = self.started.map_or(0, |started| started.elapsed().as_millis());
        self.boot_ms + i64::try_from(since).expect("a short life")
    }

    fn believed_ms(&self) -> i64 {
        START_MS + self.boot_ms() + self.believed_ms
    }

    /// Follows the wall clock: a step that is small enough is a correction.
    fn follow(&mut self) {
        if (self.skew_ms - self.believed_ms).abs() <= STEP_MS_MAX {
            self.believed_ms = self.skew_ms;
        }
        self.latest_ms = self.latest_ms.max(self.believed_ms());
    }
}

impl Clocks {
    pub fn new() -> Arc<Clocks> {
        let state = State { boot_ms: 0, started: None, skew_ms: 0, believed_ms: 0, latest_ms: START_MS };
        Arc::new(Clocks(Mutex::new(state)))
    }

    fn with<R>(&self, with: impl FnOnce(&mut State) -> R) -> R {
        with(&mut self.0.lock().expect("nobody panics with the clocks"))
    }

    /// Starts the server's clock: what the wall clock says now is believed.
    pub fn begin(self: &Arc<Self>) -> Clock {
        self.with(|state| {
            state.started = Some(Instant::now());
            state.believed_ms = state.skew_ms;
            state.follow();
        });
        let clocks = Arc::clone(self);
        Clock::watched(Box::new(move || {
            clocks.with(|state| Reading {
                wall_ms: START_MS + state.boot_ms() + state.skew_ms,
                boot_ms: state.boot_ms(),
            })
        }))
    }

    /// Ends the server's clock.
    pub fn end(&self) {
        self.with(|state| {
            state.follow();
            state.boot_ms = state.boot_ms();
            state.started = None;
        });
    }

    /// Suspends the machine.
    pub fn suspend(&self, ms: i64) {
        self.with(|state| {
            state.boot_ms += ms;
            state.follow();
        });
    }

    /// Sets the wall clock.
    pub fn set(&self, skew_ms: impl FnOnce(i64) -> i64) {
        self.with(|state| {
            // Up to this instant the time of before had to be believed.
            state.follow();
            state.skew_ms = skew_ms(state.skew_ms);
            state.follow();
        });
    }

    /// Confirms the wall clock, as an operator does.
    pub fn confirm(&self) {
        self.with(|state| {
            state.follow();
            state.believed_ms = state.skew_ms;
            state.follow();
        });
    }

    /// The time since the machine was booted, in ms, suspensions included.
    pub fn boot_ms(&self) -> i64 {
        self.with(|state| state.boot_ms())
    }

    /// The time that must be believed now, in ms.
    pub fn believed_ms(&self) -> i64 {
        self.with(|state| {
            state.follow();
            state.believed_ms()
        })
    }

    /// The latest time that had to be believed. No clock may be later but by what it was moved.
    pub fn latest_ms(&self) -> i64 {
        self.with(|state| {
            state.follow();
            state.latest_ms
        })
    }
}
