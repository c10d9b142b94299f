//! Crashes at the seam, in many lives: what was acknowledged is there, what was not is there whole
//! or not at all.

use crate::*;
use faulty::Crash;
use proptest::prelude::*;

/// A life of a log: what it writes, what is under way when it ends, and how it ends.
#[derive(Clone, Debug)]
struct Life {
    acknowledged: Vec<Vec<usize>>,
    under_way: Vec<usize>,
    crash: Crash,
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![0usize..300, 15_000usize..20_000], 0..12)
}

fn life() -> impl Strategy<Value = Life> {
    let crash = prop_oneof![Just(Crash::Lost), Just(Crash::Kept), (0usize..60_000).prop_map(Crash::Torn)];
    (prop::collection::vec(sizes(), 0..4), sizes(), crash).prop_map(|(acknowledged, under_way, crash)| Life {
        acknowledged,
        under_way,
        crash,
    })
}

/// A payload that says which it is, so that a half or foreign one is noticed.
fn payload(n: u64, bytes: usize) -> Vec<u8> {
    n.to_le_bytes().into_iter().cycle().take(bytes + 8).collect()
}

fn indexed(n: u64, bytes: usize) -> Append {
    let mut append = record(n % 3, &payload(n, bytes));
    append.index.put_seq(&n.to_be_bytes());
    append
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_acknowledged_record_survives(lives in prop::collection::vec(life(), 1..6)) {
        let mut store = MemoryStore::new();
        let mut expected: Vec<Vec<u8>> = Vec::new();
        for life in lives {
            let log = open(store.clone());
            prop_assert_eq!(log.durable_seq(), expected.len() as u64);
            for batch in &life.acknowledged {
                let pending: Vec<_> = batch
                    .iter()
                    .map(|bytes| {
                        let append_record = indexed(expected.len() as u64 + 1, *bytes);
                        expected.push(append_record.payload.clone());
                        append(&log, append_record)
                    })
                    .collect();
                for pending in pending {
                    pending.seq();
                }
                snapshot(&log, 1, b"state").seq();
            }
            let faults = store.faults();
            let mut under_way = Vec::new();
            if let Some((first, behind)) = life.under_way.split_first() {
                faults.hold_syncs();
                let n = expected.len() as u64 + 1;
                under_way.push(append(&log, indexed(n, *first)));
                faults.wait_until_held();
                for (at, bytes) in behind.iter().enumerate() {
                    under_way.push(append(&log, indexed(n + 1 + at as u64, *bytes)));
                }
            }
            // The batch in its sync holds the first record alone; what is behind it was not handed
            // over.
            let kept = match life.crash {
                Crash::Lost => false,
                Crash::Kept => true,
                Crash::Torn(bytes) => faults.unsynced_bytes().is_some_and(|whole| bytes >= whole),
            };
            store = faults.crash(life.crash);
            for pending in &under_way {
                prop_assert!(pending.wait().is_err());
            }
            if let Some(first) = life.under_way.first().filter(|_| kept) {
                expected.push(payload(expected.len() as u64 + 1, *first));
            }
            log.close();
            prop_assert_eq!(faults.writes_after_failure(), 0);

            let log = open(store.clone());
            let reader = log.reader();
            let found: Vec<_> = reader.records(1, None).map(|record| record.unwrap().payload).collect();
            prop_assert_eq!(&found, &expected);
            for n in 1..=expected.len() as u64 {
                prop_assert_eq!(reader.index_get(&n.to_be_bytes()).unwrap().unwrap(), n.to_be_bytes());
            }
            let beyond = (expected.len() as u64 + 1).to_be_bytes();
            prop_assert_eq!(reader.index_get(&beyond).unwrap(), None, "no index entry without its record");
            prop_assert_eq!(reader.verify(&mut |_, _| ()).unwrap().records, expected.len() as u64);
            log.close();
        }
    }
}
