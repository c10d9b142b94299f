//! The records that a read may look at where requests are answered. A read that needs more is
//! broken off and done again on threads of its own (`read_pool.rs`), so that no request waits
//! behind it.

use api::problem::Problem;
pub use api::records::Stopped;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wal::ReadError;

/// The records of the longest page, and as many again that are read and not shown: about three milliseconds.
const RECORDS_MAX: u32 = 256;

/// A thread of low priority works this long at a stretch, and the rest of the pool's after it. A
/// low priority is not enough: beside a read that never rests, each sync of the log took 5 ms
/// longer (docs/experiments/README.md, 40), as the scheduler gives a group of processes its slice
/// whole, and the kernel's thread that completes writes belongs to another group. Time is what
/// counts: a record of a thousand payouts takes as long to read as hundreds of others.
pub const STRETCH: Duration = Duration::from_micros(300);
const REST: Duration = Duration::from_micros(50);

pub struct ReadBudget {
    left: Option<Cell<u32>>,
    rested: Option<Cell<Instant>>,
    canceled: Arc<AtomicBool>,
}

/// A defect or damage, which is logged and never shown to a caller in detail.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

impl From<ReadError> for Unreadable {
    fn from(error: ReadError) -> Self {
        Unreadable(error.to_string())
    }
}

impl From<Unreadable> for Problem {
    fn from(unreadable: Unreadable) -> Problem {
        Stopped::from(unreadable).into()
    }
}

impl From<Unreadable> for Stopped {
    fn from(unreadable: Unreadable) -> Stopped {
        Stopped::Unreadable(unreadable.0)
    }
}

impl ReadBudget {
    pub fn of_request() -> ReadBudget {
        ReadBudget { left: Some(Cell::new(RECORDS_MAX)), rested: None, canceled: Arc::default() }
    }

    /// Without a bound, with rests, and ended as soon as `canceled` is set.
    pub fn until(canceled: Arc<AtomicBool>) -> ReadBudget {
        ReadBudget { left: None, rested: Some(Cell::new(Instant::now())), canceled }
    }

    /// For a read that must be completed because it reports something that was done.
    pub fn unbounded() -> ReadBudget {
        ReadBudget { left: None, rested: None, canceled: Arc::default() }
    }

    pub fn is_bounded(&self) -> bool {
        self.left.is_some()
    }

    pub fn spend(&self) -> Result<(), Stopped> {
        match &self.left {
            Some(left) => match left.get().checked_sub(1) {
                Some(rest) => left.set(rest),
                None => return Err(Stopped::OverBudget),
            },
            None if self.canceled.load(Ordering::Relaxed) => return Err(Stopped::Canceled),
            None => self.rest(),
        }
        Ok(())
    }

    /// Lets the processor go for a moment after each stretch, on a thread of the pool. To be called
    /// for a record that costs nothing of the budget, and after anything else that takes its time;
    /// `spend` calls it.
    pub fn rest(&self) {
        if let Some(rested) = &self.rested
            && rested.get().elapsed() >= STRETCH
        {
            std::thread::sleep(REST);
            rested.set(Instant::now());
        }
    }

    /// Rests after the read: many short ones, one behind the other, are a long one to everybody else.
    pub fn end(self) {
        if self.rested.is_some() {
            std::thread::sleep(REST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_and_one_without_a_bound_ends_when_it_is_canceled() {
        let budget = ReadBudget::of_request();
        assert!((0..RECORDS_MAX).all(|_| budget.spend().is_ok()));
        assert!(matches!(budget.spend(), Err(Stopped::OverBudget)));
        let canceled = Arc::new(AtomicBool::new(false));
        let budget = ReadBudget::until(Arc::clone(&canceled));
        assert!((0..10 * RECORDS_MAX).all(|_| budget.spend().is_ok()));
        let rested = || budget.rested.as_ref().map(Cell::get).expect("a read of the pool rests");
        let before = rested();
        while before.elapsed() < STRETCH {}
        assert!(budget.spend().is_ok());
        assert!(rested() >= before + STRETCH + REST, "one record, and a stretch is over");
        canceled.store(true, Ordering::Relaxed);
        assert!(matches!(budget.spend(), Err(Stopped::Canceled)));
    }
}
