//! Stopping: what is under way is finished, nothing new is taken, and the directory is free.

use crate::rig::{Rig, Setup, T, done, failure, until};
use crate::toy::How;
use actors::Failure;
use std::sync::Arc;
use std::time::Duration;
use wal::RocksStore;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_under_way_is_finished_and_the_next_is_refused() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 10).await);
    let asked = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { done(rig.withdraw(T, 1, 4, How::Late(true)).await) }
    });
    until("the effect is begun", || rig.world.begun() == 1).await;
    let stopping = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { rig.engine.stop(Duration::from_secs(10)).await }
    });
    until("it refuses", || rig.engine.ready().is_err()).await;
    assert_eq!(failure(rig.deposit(T, 1).await), Failure::ShuttingDown);
    assert_eq!(rig.view(T).await.unwrap_err(), Failure::ShuttingDown);
    assert!(!stopping.is_finished());
    rig.world.open();
    asked.await.unwrap();
    stopping.await.unwrap();
    assert!(rig.setup.store.is_closed());
    assert_eq!(failure(rig.deposit(T, 1).await), Failure::ShuttingDown);
    assert_eq!(rig.fatal(), Vec::<String>::new());
    until("memory is empty", || rig.engine.status().books == 0 && rig.engine.status().entities == 0).await;
    rig.engine.stop(Duration::from_secs(10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn patience_has_an_end() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 10).await);
    let asked = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { drop(rig.withdraw(T, 1, 4, How::Never).await) }
    });
    until("the effect is begun", || rig.world.begun() == 1).await;
    rig.engine.stop(Duration::from_millis(50)).await;
    assert!(rig.setup.store.is_closed());
    assert!(!asked.is_finished());
    asked.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_is_answered_while_it_stops() {
    let rig = Arc::new(Rig::new().await);
    let mut callers = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let rig = Arc::clone(&rig);
        callers.spawn(async move {
            let mut good = 0;
            loop {
                match rig.deposit(T, 1).await {
                    Ok(_) => good += 1,
                    Err(failure) => {
                        assert_eq!(failure, Failure::ShuttingDown);
                        return good;
                    }
                }
            }
        });
    }
    until("they are at it", || rig.engine.status().durable_seq > 200).await;
    rig.engine.stop(Duration::from_secs(10)).await;
    let good: i64 = callers.join_all().await.into_iter().sum();
    let next = Rig::with(Setup { store: rig.setup.store.copy(), ..rig.setup.clone() }).await;
    assert_eq!(next.balance(T).await, good);
    assert_eq!(next.engine.status().snapshot_seq, next.engine.status().durable_seq);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_directory_is_free_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    for round in 1..=3 {
        let open = || RocksStore::open(dir.path()).map(|store| Box::new(store) as Box<dyn wal::Store>);
        let mut store = open();
        let patience = std::time::Instant::now() + Duration::from_secs(10);
        while store.is_err() && std::time::Instant::now() < patience {
            tokio::time::sleep(Duration::from_millis(5)).await;
            store = open();
        }
        let rig = Rig::over(store.expect("the directory is free"), Setup::default()).await.unwrap();
        done(rig.deposit(T, 1).await);
        rig.tick(T, round, crate::rig::FAR_MS, 1, None).await;
        assert_eq!(rig.balance(T).await, i64::from(round));
        rig.engine.stop(Duration::from_secs(10)).await;
    }
}
