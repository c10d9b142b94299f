//! A follower applies what another machine wrote, or ends: nothing is written after a record that it could
//! not apply.

use crate::rig::{Rig, done};
use crate::toy::Purses;
use actors::{FollowError, Follower};
use faulty::MemoryStore;
use std::collections::BTreeMap;
use std::sync::Arc;
use wal::{Append, Log, Record, ReportTo, Tip};

/// The records of a log with these payloads, all of one tenant.
fn written(payloads: Vec<(Vec<u8>, i64)>) -> Vec<Record> {
    let log = Log::<ReportTo>::open(Box::new(MemoryStore::new()), wal::Config::default()).expect("a log");
    for (payload, time_ms) in payloads {
        log.append(Append { tenant: 7, time_ms, payload, ..Append::default() }, ReportTo(None));
    }
    let reader = log.reader();
    log.close();
    reader.records(1, None).map(|record| record.expect("it can be read")).collect()
}

fn end(record: &Record) -> Tip {
    Tip { seq: record.seq, hash: record.hash }
}

#[tokio::test]
async fn nothing_is_written_after_a_record_that_could_not_be_applied() {
    let rig = Rig::new().await;
    for amount in [5, 6] {
        done(rig.deposit(7, amount).await);
    }
    let deposits: Vec<_> =
        rig.engine.reader().records(1, None).map(|record| record.expect("whole")).collect();
    let [first, second] = deposits.try_into().expect("two records");
    let (first, second) = ((first.payload, first.time_ms), (second.payload, second.time_ms));
    let unreadable = (b"no purse's".to_vec(), second.1);
    let agreed = written(vec![first, unreadable, second]);

    let store = Arc::new(MemoryStore::new());
    let opened = Follower::open(Purses, store, wal::Config::default(), BTreeMap::new(), None);
    let mut follower = opened.expect("an empty store opens");
    let apply =
        |follower: &mut Follower<Purses>, record: &Record| follower.apply(vec![record.clone()], end(record));
    apply(&mut follower, &agreed[0]).expect("it follows");
    let before = end(&agreed[0]);
    for record in [&agreed[1], &agreed[2], &agreed[1]] {
        let refused = apply(&mut follower, record);
        assert!(matches!(refused, Err(FollowError::Diverged(_))), "{refused:?}");
        assert_eq!((follower.tip, follower.reader.tip()), (before, before));
    }
    let refused = follower.snapshot(&wal::Retention::default());
    assert!(matches!(refused, Err(FollowError::Diverged(_))), "a book may be halfway through a record");
    follower.close();
}

#[tokio::test]
async fn the_store_of_who_leads_next_stays_open() {
    for (leads, closed) in [(true, false), (false, true)] {
        let store = Arc::new(MemoryStore::new());
        let opened = Follower::open(Purses, store.clone(), wal::Config::default(), BTreeMap::new(), None);
        let follower = opened.expect("an empty store opens");
        if leads {
            drop(follower.finish());
        } else {
            follower.close();
        }
        assert_eq!(store.is_closed(), closed, "leads: {leads}");
    }
}
