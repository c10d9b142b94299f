//! How much may be under way: requests in all, and those of them that wait for their first record.
//!
//! The second are the ones that processors and disk have work with; the others wait for a bank,
//! which takes as long as it takes. What comes beyond either bound would only wait for its turn,
//! longer than anybody likes: it is refused at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// Of the requests that may be under way, this part may wait for its first record.
const FIRST_RECORDS_PART: usize = 8;
/// But at least so many: as many as a batch of the log is worth.
const FIRST_RECORDS_MIN: usize = 1_024;

/// The bounds, and what is left of them.
pub(crate) struct Gate {
    /// Requests that may be under way.
    pub permits: Arc<Semaphore>,
    /// Requests that wait for their first record.
    first_records: AtomicUsize,
    first_records_max: usize,
}

/// A request's part of the capacity, until it is answered. It travels with every record, so it is
/// small.
pub(crate) struct Admission {
    gate: Arc<Gate>,
    waits_for_record: bool,
}

impl Gate {
    pub fn new(permits_max: usize) -> Arc<Gate> {
        Arc::new(Gate {
            permits: Arc::new(Semaphore::new(permits_max)),
            first_records: AtomicUsize::new(0),
            first_records_max: (permits_max / FIRST_RECORDS_PART).max(FIRST_RECORDS_MIN),
        })
    }

    /// Whether nobody is let in now.
    pub fn is_full(&self) -> bool {
        self.first_records.load(Ordering::Relaxed) >= self.first_records_max
            || self.permits.available_permits() == 0
    }

    /// Lets a request in that will ask for a record.
    pub fn admit(self: &Arc<Self>) -> Option<Admission> {
        let permit = self.permits.try_acquire().ok()?;
        if self.first_records.fetch_add(1, Ordering::Relaxed) >= self.first_records_max {
            self.first_records.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        permit.forget();
        Some(Admission { gate: Arc::clone(self), waits_for_record: true })
    }
}

impl Admission {
    /// Its first record is durable.
    pub fn recorded(&mut self) {
        if std::mem::take(&mut self.waits_for_record) {
            self.gate.first_records.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.recorded();
        self.gate.permits.add_permits(1);
    }
}
