//! A writer that is run by hand does what its thread would do, when it is run.

use crate::{Reply, append, fence, record};
use faulty::{MemoryStore, Refusal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wal::{Config, Log, Stepper};

fn stepped(store: MemoryStore) -> (Log<Reply>, Stepper, Arc<AtomicU64>) {
    let given = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&given);
    let stepper = Stepper::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let log = Log::open_with(Arc::new(store), Config::default(), None, Some(stepper.clone()), None).unwrap();
    (log, stepper, given)
}

#[test]
fn nothing_is_written_before_a_step_and_all_that_waits_by_one() {
    let store = MemoryStore::new();
    let (log, stepper, given) = stepped(store.clone());
    let writes = store.faults().writes();
    let asked: Vec<_> = (0..3).map(|n| append(&log, record(1, &[n]))).collect();
    assert!(asked.iter().all(|pending| pending.is_open()));
    assert_eq!((given.load(Ordering::Relaxed), log.durable_seq()), (3, 0));
    assert!(stepper.step());
    assert_eq!(asked.iter().map(|pending| pending.seq()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(store.faults().writes(), writes + 1);
    assert!(!stepper.step(), "nothing waits");
}

#[test]
fn closing_writes_what_waits() {
    let store = MemoryStore::new();
    let (log, _stepper, _) = stepped(store.clone());
    let (asked, fenced) = (append(&log, record(1, b"r")), fence(&log));
    log.close();
    assert_eq!((asked.seq(), fenced.seq()), (1, 1));
    assert!(append(&log, record(1, b"r")).wait().is_err());
    drop(log);
    assert_eq!(stepped(store.copy()).0.durable_seq(), 1);
}

#[test]
fn the_first_failed_write_is_the_last() {
    let store = MemoryStore::new();
    let (log, stepper, _) = stepped(store.clone());
    store.faults().refuse_write(1, Refusal::NotStored);
    let asked = append(&log, record(1, b"r"));
    assert!(!stepper.step());
    assert!(asked.wait().unwrap_err().outcome_unknown);
    let later = append(&log, record(1, b"r"));
    assert!(!later.wait().unwrap_err().outcome_unknown);
    assert!(!stepper.step() && log.poisoned().is_some());
    assert_eq!(store.faults().writes_after_failure(), 0);
}
