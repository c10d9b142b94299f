//! Runs seeds, and makes the history of one that fails as short as it gets.

use crate::steps::Step;
use crate::universe::{Report, Universe};
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Runs to shorten one history.
const RUNS_MAX: usize = 400;

thread_local! {
    /// The first panic of the run.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A number from the environment.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Has panics of this thread kept instead of printed.
fn keep_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_running = PANIC.with(|kept| match &mut *kept.borrow_mut() {
                Some(first) if first.is_empty() => {
                    *first = panic.to_string();
                    true
                }
                Some(_) => true,
                None => false,
            });
            if !is_running {
                print(panic);
            }
        }));
    });
}

/// Lives through the steps; the error is the first thing that must not have been.
pub fn run(seed: u64, steps: &[Step]) -> Result<Report, String> {
    run_with(seed, steps, |_| {})
}

/// Lives through the steps in a universe that was spoilt before.
pub fn run_with(seed: u64, steps: &[Step], spoil: impl FnOnce(&mut Universe)) -> Result<Report, String> {
    caught(|| {
        let mut universe = Universe::new(seed);
        spoil(&mut universe);
        universe.run(steps)
    })
}

/// Does something of which each panic is a finding, also one in a task.
pub fn caught<T>(what: impl FnOnce() -> T) -> Result<T, String> {
    keep_panics();
    PANIC.set(Some(String::new()));
    let ended = catch_unwind(AssertUnwindSafe(what));
    let panic = PANIC.take().unwrap_or_default();
    match ended {
        Ok(_) if !panic.is_empty() => Err(panic),
        Ok(came_to) => Ok(came_to),
        Err(_) => Err(panic),
    }
}

/// A history that fails.
pub struct Found {
    pub steps: Vec<Step>,
    pub why: String,
}

/// Leaves out what a failure does not need: halves, then smaller parts, then single steps.
pub fn shortest(seed: u64, mut steps: Vec<Step>, mut why: String) -> Found {
    let mut runs = 0;
    let mut part = steps.len().div_ceil(2);
    while part > 0 && runs < RUNS_MAX {
        let mut at = 0;
        let before = steps.len();
        while at < steps.len() && runs < RUNS_MAX {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + part).min(steps.len()));
            runs += 1;
            match run(seed, &fewer) {
                Err(also) => (steps, why) = (fewer, also),
                Ok(_) => at += part,
            }
        }
        if part > 1 {
            part = part.div_ceil(2);
        } else if steps.len() == before {
            break;
        }
    }
    Found { steps, why }
}

/// The sum of many runs.
#[derive(Default)]
pub struct Total {
    report: Report,
}

impl Total {
    pub fn add(&mut self, report: &Report) {
        let total = &mut self.report;
        total.steps += report.steps;
        total.starts += report.starts;
        total.kills += report.kills;
        total.writes += report.writes;
        total.records += report.records;
        total.virtual_ms += report.virtual_ms;
        total.seen.extend(&report.seen);
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { steps, starts, kills, writes, records, virtual_ms, .. } = &self.report;
        let days = virtual_ms / domain::values::time::DAY_MS;
        write!(
            f,
            "{steps} steps, {records} records in {writes} writes, {starts} starts, {kills} kills, {days} days"
        )
    }
}
