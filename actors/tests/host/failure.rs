//! Failures of a write, a rule, an invariant, a book that cannot be loaded.

use crate::rig::{Rig, Setup, T, done, failure, until};
use crate::toy::{Command, How};
use actors::Failure;
use faulty::Refusal;
use std::sync::Arc;
use wal::Family;

fn is_storage(failure: &Failure) -> bool {
    matches!(failure, Failure::Storage(_))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_failed_write_is_the_last() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 1).await);
    rig.faults.hold_syncs();
    let mut asked = tokio::task::JoinSet::new();
    let (a, b) = (Arc::clone(&rig), Arc::clone(&rig));
    asked.spawn(async move { failure(a.deposit(T, 1).await) });
    rig.until_held().await;
    rig.faults.refuse_write(1, Refusal::SyncFails);
    for id in 0..20 {
        let rig = Arc::clone(&rig);
        asked.spawn(async move {
            failure(rig.ask(T, id, Command::Tick { every_ms: 1_000, times: 1, how: None }).await)
        });
    }
    asked.spawn(async move { b.view(T).await.unwrap_err() });
    until("all are on their way", || rig.engine.status().log.pending_records == 22).await;
    assert_eq!(rig.fatal().len(), 0);
    // The held write goes well; the one behind it does not.
    rig.faults.release_syncs();
    let outcomes: Vec<_> = {
        let mut outcomes = vec![];
        while let Some(reply) = asked.join_next().await {
            match reply {
                Ok(failure) => outcomes.push(failure),
                Err(error) => assert!(error.is_panic(), "the first deposit is the one that goes well"),
            }
        }
        outcomes
    };
    assert_eq!(outcomes.len(), 21);
    assert!(outcomes.iter().all(is_storage), "{outcomes:?}");
    until("the end is told", || !rig.fatal().is_empty()).await;
    assert!(is_storage(&failure(rig.deposit(T, 1).await)));
    assert!(is_storage(&rig.view(T).await.unwrap_err()));
    assert!(rig.engine.ready().is_err());
    assert!(
        rig.engine.snapshot().await.is_err()
            || rig.engine.status().snapshot_seq == rig.engine.status().durable_seq
    );
    assert_eq!(rig.fatal().len(), 1, "once");
    assert_eq!(rig.engine.status().under_way, 0);
    assert_eq!(rig.faults.writes_after_failure(), 0);
    rig.engine.stop(std::time::Duration::from_secs(1)).await;
    assert_eq!(rig.engine.reader().last_seq(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_decide_is_a_defect_and_changes_nothing() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 5).await);
    let before = rig.view(T).await.unwrap();
    assert!(matches!(failure(rig.book(T, Command::PanicInDecide).await), Failure::Defect(_)));
    assert!(matches!(failure(rig.ask(T, 1, Command::PanicInDecide).await), Failure::Defect(_)));
    assert_eq!(rig.view(T).await.unwrap(), before);
    assert_eq!(rig.engine.status().durable_seq, 1);
    rig.engine.ready().unwrap();
    assert_eq!(rig.fatal(), Vec::<String>::new());
    done(rig.deposit(T, 5).await);
    assert_eq!(rig.engine.status().under_way, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_the_log_does_not_take_is_refused_and_changes_nothing() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 5).await);
    let before = rig.view(T).await.unwrap();
    let large = || Command::Deposit { amount: 1, memo: vec![0; wal::PAYLOAD_BYTES_MAX] };
    assert_eq!(failure(rig.book(T, large()).await), Failure::TooLarge);
    assert_eq!(failure(rig.ask(T, 1, large()).await), Failure::TooLarge);
    assert_eq!((rig.view(T).await.unwrap(), rig.fatal()), (before, Vec::new()));
    assert_eq!(rig.engine.status().durable_seq, 1);
    done(rig.deposit(T, 5).await);
    assert_eq!(rig.balance(T).await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_book_that_the_others_need_ends_the_engine() {
    for command in [Command::PanicInEvolve, Command::Breach, Command::Mine] {
        let rig = Rig::new().await;
        done(rig.deposit(0, 5).await);
        // A record whose turn met the defect only after the append is durable all the same.
        assert!(
            rig.ask(0, 1, command)
                .await
                .map_or_else(|failure| is_storage(&failure), |settled| settled.record.is_some())
        );
        until("its end is told", || rig.fatal().len() == 1).await;
        assert!(is_storage(&rig.view(0).await.unwrap_err()));
        assert!(is_storage(&failure(rig.deposit(8, 5).await)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_that_cannot_be_loaded_ends_the_engine_and_hangs_nobody() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 5).await);
    let rig = rig.restart().await;
    let key = rig.faults.keys(Family::Snapshots).pop().unwrap();
    rig.faults.flip_byte(Family::Snapshots, &key, 12);
    let rig = Arc::new(rig);
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..10 {
        let rig = Arc::clone(&rig);
        asked.spawn(async move {
            match n % 3 {
                0 => rig.view(T).await.unwrap_err(),
                1 => failure(rig.deposit(T, 1).await),
                _ => failure(rig.ask(T, n, Command::Remark).await),
            }
        });
    }
    while let Some(reply) = asked.join_next().await {
        assert!(is_storage(&reply.unwrap()));
    }
    assert_eq!(rig.fatal().len(), 1);
    assert!(rig.fatal()[0].contains("snapshot"), "{:?}", rig.fatal());
    until("nothing is under way", || rig.engine.status().under_way == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_log_does_not_start() {
    let rig = Rig::new().await;
    for _ in 0..5 {
        done(rig.deposit(T, 1).await);
    }
    rig.engine.stop(std::time::Duration::from_secs(1)).await;
    let store = rig.setup.store.copy();
    store.faults().overwrite(Family::Meta, b"floor", None);
    // A record that decodes to something else than it should: the payload is the machine's, the
    // frame is whole.
    store.faults().flip_byte_of_record(3, 50);
    let started = Rig::over(Box::new(store.clone()), Setup { store, ..rig.setup.clone() }).await;
    assert!(started.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_defect_in_what_follows_an_effect_leaves_what_is_durable() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 5).await);
    let answer = done(rig.withdraw(T, 1, 5, How::Explodes).await);
    assert_eq!(answer.seq, Some(2));
    assert_eq!(rig.view(T).await.unwrap().0.pending, 5);
}
