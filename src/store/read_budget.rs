//! What a read may cost where requests are answered: so many records, and no more.
//!
//! A read that goes through records one by one spends its budget as it goes. One that needs more is
//! broken off and done again on threads of its own (`read_pool.rs`), so that no request waits
//! behind it.

use crate::store::history::Unreadable;
use api::problem::Problem;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wal::ReadError;

/// The records of the longest page, and as many again that are looked at and not shown. About three
/// milliseconds.
const RECORDS_MAX: u32 = 256;

/// The records that a read may still look at.
pub struct ReadBudget {
    /// `None`: as many as there are.
    left: Option<Cell<u32>>,
    canceled: Arc<AtomicBool>,
}

/// The reason why a read came to no result.
#[derive(Debug)]
pub enum Stopped {
    /// What is stored cannot be read.
    Unreadable(Unreadable),
    /// The budget is spent.
    OverBudget,
    /// Nobody waits for the result any more.
    Canceled,
}

impl From<Unreadable> for Stopped {
    fn from(unreadable: Unreadable) -> Stopped {
        Stopped::Unreadable(unreadable)
    }
}

impl From<ReadError> for Stopped {
    fn from(error: ReadError) -> Stopped {
        Stopped::Unreadable(error.into())
    }
}

impl From<Stopped> for Problem {
    fn from(stopped: Stopped) -> Problem {
        match stopped {
            Stopped::Unreadable(unreadable) => unreadable.into(),
            // One that is over its budget is read again, and nobody waits for one that is canceled
            // but those who are told that the server stops.
            Stopped::OverBudget | Stopped::Canceled => Problem::shutting_down(),
        }
    }
}

impl ReadBudget {
    /// The budget on a thread that answers requests.
    pub fn of_request() -> ReadBudget {
        ReadBudget { left: Some(Cell::new(RECORDS_MAX)), canceled: Arc::default() }
    }

    /// The budget elsewhere: no bound, but an end as soon as `canceled` is set.
    pub fn until(canceled: Arc<AtomicBool>) -> ReadBudget {
        ReadBudget { left: None, canceled }
    }

    /// The budget of what must come to its end, because something was done that it tells of.
    pub fn unbounded() -> ReadBudget {
        ReadBudget::until(Arc::default())
    }

    /// Takes one record from the budget; to be called before it is read.
    pub fn spend(&self) -> Result<(), Stopped> {
        match &self.left {
            Some(left) => match left.get().checked_sub(1) {
                Some(rest) => left.set(rest),
                None => return Err(Stopped::OverBudget),
            },
            None if self.canceled.load(Ordering::Relaxed) => return Err(Stopped::Canceled),
            None => {}
        }
        Ok(())
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
        canceled.store(true, Ordering::Relaxed);
        assert!(matches!(budget.spend(), Err(Stopped::Canceled)));
    }
}
