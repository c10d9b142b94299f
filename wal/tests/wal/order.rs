//! Order, density, and that nothing is acknowledged before its sync.

use crate::*;
use faulty::MemoryStore;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wal::{AckBatch, AckSender};

#[test]
fn sequences_are_dense_and_keep_the_order_of_each_thread() {
    const THREADS: u64 = 8;
    const EACH: u64 = 2_000;
    let log = open(MemoryStore::new());
    let order = Arc::new(AtomicU64::new(0));
    std::thread::scope(|scope| {
        for tenant in 0..THREADS {
            let (log, order) = (log.clone(), order.clone());
            scope.spawn(move || {
                let pending: Vec<_> = (0..EACH)
                    .map(|n| {
                        if n % 64 == 0 {
                            fence(&log);
                        }
                        append(&log, record(tenant, &n.to_le_bytes()))
                    })
                    .collect();
                let mut last = 0;
                for pending in pending {
                    let seq = pending.seq();
                    assert!(seq > last, "a thread's records keep their order");
                    last = seq;
                }
                order.fetch_max(last, Ordering::SeqCst);
            });
        }
    });
    assert_eq!(order.load(Ordering::SeqCst), THREADS * EACH);
    let mut next: HashMap<u64, u64> = HashMap::new();
    for (at, record) in log.reader().records(1, None).enumerate() {
        let record = record.unwrap();
        assert_eq!(record.seq, at as u64 + 1);
        let expected = next.entry(record.tenant).or_default();
        assert_eq!(record.payload, expected.to_le_bytes());
        *expected += 1;
    }
    assert!(next.values().all(|count| *count == EACH) && next.len() as u64 == THREADS);
    log.close();
    let stats = log.stats();
    assert_eq!((stats.records, stats.pending_records, stats.pending_bytes), (THREADS * EACH, 0, 0));
    assert!(stats.batches <= stats.records);
}

#[test]
fn nothing_is_acknowledged_or_seen_before_the_sync() {
    let store = MemoryStore::new();
    let faults = store.faults();
    let log = open(store);
    append(&log, record(1, b"before")).seq();
    faults.hold_syncs();
    let first = append(&log, record(1, b"in the sync"));
    faults.wait_until_held();
    let mut late = record(1, b"behind it");
    late.index.put(b"key", b"value");
    let second = append(&log, late);
    let fenced = fence(&log);
    let snapshot = snapshot(&log, 1, b"state");
    assert!(first.is_open() && second.is_open() && fenced.is_open() && snapshot.is_open());
    assert_eq!(log.durable_seq(), 1);
    let reader = log.reader();
    assert_eq!(reader.records(1, None).count(), 1);
    assert!(reader.record(2).unwrap().is_none());
    assert_eq!(log.stats().pending_records, 4);
    // The counters show that the disk does not answer, and for how long.
    let before = log.stats().waiting;
    assert!(before > Duration::ZERO);
    std::thread::sleep(Duration::from_millis(2));
    assert!(log.stats().waiting > before);
    faults.release_syncs();
    assert_eq!(first.seq(), 2);
    assert_eq!(second.seq(), 3);
    let fenced = fenced.wait().unwrap();
    assert_eq!(fenced.seq, 3);
    assert_eq!(snapshot.seq(), 3);
    assert_eq!(reader.index_get(b"key").unwrap().unwrap(), b"value");
}

/// A completion that writes down its number and its thread.
struct Noted(Arc<std::sync::Mutex<Vec<(u32, std::thread::ThreadId)>>>, u32);

impl Completion for Noted {
    fn complete(self, outcome: Outcome) {
        outcome.unwrap();
        self.0.lock().unwrap().push((self.1, std::thread::current().id()));
    }
}

#[test]
fn completions_come_in_order_from_the_writer_and_an_idle_fence_at_once() {
    let store = MemoryStore::new();
    let faults = store.faults();
    let log: Log<Noted> = Log::open(Box::new(store), Config::default()).unwrap();
    let noted = Arc::new(std::sync::Mutex::new(Vec::new()));
    log.fence(Noted(noted.clone(), 0));
    assert_eq!(noted.lock().unwrap().as_slice(), [(0, std::thread::current().id())], "nothing was pending");
    faults.hold_syncs();
    for n in (1..100).step_by(3) {
        log.append(record(1, b"r"), Noted(noted.clone(), n));
        log.fence(Noted(noted.clone(), n + 1));
        log.snapshot(Snapshot::default(), Noted(noted.clone(), n + 2));
    }
    faults.release_syncs();
    log.close();
    let noted = noted.lock().unwrap();
    let order: Vec<u32> = noted.iter().map(|(n, _)| *n).collect();
    assert_eq!(order, (0..100).collect::<Vec<_>>());
    let writer = noted[1].1;
    assert!(writer != std::thread::current().id() && noted[1..].iter().all(|(_, thread)| *thread == writer));
}

#[test]
fn a_task_acknowledges_in_order_and_closing_waits_for_it() {
    let store = MemoryStore::new();
    let faults = store.faults();
    let (give, given) = channel::<AckBatch<Noted>>();
    let ack_sender: AckSender<Noted> = Box::new(move |batch| give.send(batch).unwrap());
    let log: Log<Noted> =
        Log::open_with(Arc::new(store), Config::default(), Some(ack_sender), None, None).unwrap();
    let noted = Arc::new(std::sync::Mutex::new(Vec::new()));
    faults.hold_syncs();
    for n in 0..100 {
        log.append(record(1, b"r"), Noted(noted.clone(), n));
    }
    faults.release_syncs();
    // Large batches are handed over, and wait here. A small one after them does not overtake them.
    let first = given.recv().unwrap();
    while log.durable_seq() < 100 {
        std::thread::yield_now();
    }
    log.append(record(1, b"r"), Noted(noted.clone(), 100));
    while log.durable_seq() < 101 {
        std::thread::yield_now();
    }
    assert!(noted.lock().unwrap().len() < 100);
    assert!(log.stats().pending_records > 0, "what was not acknowledged is pending");
    let closing = std::thread::spawn({
        let log = log.clone();
        move || log.close()
    });
    first.acknowledge();
    // The log drops the sender at its end.
    drop(log);
    for batch in given {
        batch.acknowledge();
    }
    closing.join().unwrap();
    let order: Vec<u32> = noted.lock().unwrap().iter().map(|(n, _)| *n).collect();
    assert_eq!(order, (0..=100).collect::<Vec<_>>());
}

#[test]
fn a_snapshot_is_tagged_with_the_last_record_before_it() {
    let log = open(MemoryStore::new());
    let mut expected = Vec::new();
    for n in 1..=50u64 {
        append(&log, record(1, b"r"));
        if n % 10 == 0 {
            expected.push((n, snapshot(&log, 1, &n.to_le_bytes())));
        }
    }
    for (seq, pending) in &expected {
        assert_eq!(pending.seq(), *seq);
    }
    let found: Vec<u64> = log.reader().snapshots_of(1).map(|s| s.unwrap().seq).collect();
    assert_eq!(found, [50, 40, 30, 20, 10]);
}

#[test]
fn room_is_bounded_by_count_and_by_bytes() {
    let config = Config {
        pending_records_max: 10,
        batch_records_max: 10,
        pending_bytes_max: 10_000,
        batch_bytes_max: 10_000,
        chunk_bytes_max: 10_000,
        piece_bytes_max: 10_000,
        closes_store: true,
    };
    let store = MemoryStore::new();
    let faults = store.faults();
    let log: Log<Reply> = Log::open(Box::new(store), config).unwrap();
    faults.hold_syncs();
    for n in 0..10 {
        assert!(log.has_room(), "{n} are pending");
        append(&log, record(1, b"small"));
    }
    assert!(!log.has_room());
    faults.release_syncs();
    while !log.has_room() {
        std::thread::yield_now();
    }
    log.close();
    assert!(log.has_room());
    assert_eq!(log.stats().pending_bytes, 0);

    let store = MemoryStore::new();
    let faults = store.faults();
    let log = open(store);
    faults.hold_syncs();
    let large = Config::default().pending_bytes_max / 5;
    for _ in 0..5 {
        assert!(log.has_room());
        append(&log, record(1, &vec![0; large + 1]));
    }
    assert!(!log.has_room());
    faults.release_syncs();
}

#[test]
fn closing_answers_everybody_and_takes_nothing_more() {
    for _ in 0..50 {
        let store = MemoryStore::new();
        let log = open(store.clone());
        let (durable, refused) = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|tenant| {
                    let log = log.clone();
                    scope.spawn(move || {
                        let pending: Vec<_> = (0..200).map(|_| append(&log, record(tenant, b"r"))).collect();
                        let durable = pending.iter().filter(|pending| pending.wait().is_ok()).count();
                        (durable as u64, (pending.len() - durable) as u64)
                    })
                })
                .collect();
            log.close();
            threads.into_iter().fold((0, 0), |sum, thread| {
                let (durable, refused) = thread.join().unwrap();
                (sum.0 + durable, sum.1 + refused)
            })
        });
        assert_eq!(durable + refused, 800);
        assert_eq!(open(store).durable_seq(), durable, "what was answered Ok is there, and nothing else");
        let late = append(&log, record(1, b"late")).wait().unwrap_err();
        assert!(!late.outcome_unknown && late.to_string().starts_with("the log is closed"));
        assert!(fence(&log).wait().is_err());
    }
}
