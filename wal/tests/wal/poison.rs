//! The first failed write is the last.

use crate::*;
use faulty::{Crash, MemoryStore, Refusal};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn everybody_is_told_and_nothing_more_is_written() {
    for how in [Refusal::NotStored, Refusal::Stored, Refusal::SyncFails, Refusal::DiskFull] {
        let store = MemoryStore::new();
        let faults = store.faults();
        let log = open(store.clone());
        append(&log, record(1, b"good")).seq();
        let hooks = Arc::new(AtomicUsize::new(0));
        let (hook_sender, hook) = channel();
        let counted = hooks.clone();
        log.on_poison(Box::new(move |poisoned| {
            counted.fetch_add(1, Ordering::SeqCst);
            hook_sender.send(poisoned.clone()).unwrap();
        }));

        // The first write is held in its sync; behind it waits the batch that will fail.
        faults.hold_syncs();
        let held = append(&log, record(1, b"held"));
        faults.wait_until_held();
        faults.refuse_write(1, how);
        let failing = append(&log, record(1, b"failing"));
        let behind = fence(&log);
        faults.release_syncs();
        assert_eq!(held.seq(), 2);
        let poisoned = failing.wait().unwrap_err();
        assert!(poisoned.outcome_unknown);
        assert!(
            poisoned.to_string().ends_with("outcome unknown, ask again with the same key after the restart"),
            "{poisoned}"
        );
        assert!(behind.wait().is_err());
        assert_eq!(hook.recv_timeout(Duration::from_secs(60)).unwrap(), poisoned);

        // A later entry is refused at once, on the caller's thread.
        let late = append(&log, record(1, b"late"));
        let told = late.0.try_recv().expect("at once").unwrap_err();
        assert!(!told.outcome_unknown && told.to_string().contains("; not written, ask again"), "{told}");
        assert!(fence(&log).0.try_recv().expect("at once").is_err());
        assert!(snapshot(&log, 1, b"s").0.try_recv().expect("at once").is_err());
        assert!(raise_floor(&log, 1).0.try_recv().expect("at once").is_err());
        assert!(log.poisoned().is_some());
        assert_eq!(log.durable_seq(), 2);
        log.close();
        assert_eq!(faults.writes_after_failure(), 0);
        assert!(!store.is_closed(), "a store in doubt is left alone");
        assert_eq!(hooks.load(Ordering::SeqCst), 1);
        // A hook that comes too late is not forgotten.
        let (late_sender, late_hook) = channel();
        log.on_poison(Box::new(move |poisoned| late_sender.send(poisoned.clone()).unwrap()));
        assert_eq!(late_hook.try_recv().unwrap(), poisoned);

        // The next start: what was acknowledged is there, and the one in doubt if it was stored.
        let log = open(store.faults().crash(Crash::Lost));
        let payloads: Vec<_> = log.reader().records(1, None).map(|record| record.unwrap().payload).collect();
        let expected: &[&[u8]] =
            if how == Refusal::Stored { &[b"good", b"held", b"failing"] } else { &[b"good", b"held"] };
        assert_eq!(payloads, expected);
    }
}

#[test]
fn a_failed_sync_may_have_kept_the_record() {
    let store = MemoryStore::new();
    let log = open(store.clone());
    append(&log, record(1, b"good")).seq();
    store.faults().refuse_write(1, Refusal::SyncFails);
    assert!(append(&log, record(1, b"in doubt")).wait().unwrap_err().outcome_unknown);
    let log = open(store.faults().crash(Crash::Kept));
    assert_eq!(log.durable_seq(), 2);
    assert_eq!(log.reader().record(2).unwrap().unwrap().payload, b"in doubt");
}

#[test]
fn a_full_disk_says_so() {
    let store = MemoryStore::new();
    let log = open(store.clone());
    store.faults().leave_room(10_000);
    let mut appended = 0;
    let poisoned = loop {
        match append(&log, record(1, &[0; 1_000])).wait() {
            Ok(durable) => appended = durable.seq,
            Err(poisoned) => break poisoned,
        }
    };
    assert!((8..10).contains(&appended), "{appended}");
    assert!(poisoned.to_string().starts_with("the log could not be written: the disk is full"), "{poisoned}");
    assert_eq!(open(store.faults().crash(Crash::Kept)).durable_seq(), appended);
}

struct Panics;

impl Completion for Panics {
    fn complete(self, outcome: Outcome) {
        if outcome.is_ok() {
            panic!("a completion must not panic");
        }
    }
}

#[test]
fn a_panic_of_a_completion_poisons_and_hangs_nobody() {
    let log: Log<Panics> = Log::open(Box::new(MemoryStore::new()), Config::default()).unwrap();
    let (sender, hook) = channel();
    log.on_poison(Box::new(move |poisoned| sender.send(poisoned.clone()).unwrap()));
    log.append(record(1, b"r"), Panics);
    let poisoned = hook.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(&*poisoned.why, "the writer thread of the log panicked");
    log.append(record(1, b"r"), Panics);
    log.close();
}
