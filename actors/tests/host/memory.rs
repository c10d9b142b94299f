//! Memory follows what is active; snapshots and the tail come to what a full replay comes to.

use crate::rig::{FAR_MS, Rig, START_MS, Setup, T, done, until};
use crate::toy::{Command, How, Purse, Purses};
use actors::Machine;
use faulty::{Crash, Refusal};
use std::sync::Arc;
use wal::{Family, Reader};

/// A tenant's book from the first record, without the host.
pub fn replayed(reader: &Reader, tenant: u64) -> Purse {
    let mut book = Purses.empty(tenant);
    for record in reader.records(1, None).map(Result::unwrap).filter(|record| record.tenant == tenant) {
        let entry = Purses.decode(&record.payload).unwrap();
        Purses.settle(&mut book, record.time_ms);
        Purses.evolve(&mut book, &entry, record.time_ms);
        Purses.check(&book, &entry).unwrap();
    }
    book
}

/// The view that the book should show at `now_ms`.
pub fn expected(reader: &Reader, tenant: u64, now_ms: i64) -> (Purse, i64) {
    let mut purse = replayed(reader, tenant);
    let now_ms = Purses.now_ms(&purse, now_ms);
    Purses.settle(&mut purse, now_ms);
    (purse, now_ms)
}

async fn some_life(rig: &Rig, from: u32) {
    for tenant in [2, 3, 4, 5] {
        done(rig.deposit(tenant, 100).await);
        done(rig.book(tenant, Command::Reserve { amount: 1, for_ms: 10 }).await);
        done(rig.withdraw(tenant, from, 10, How::AtOnce(true)).await);
        done(rig.withdraw(tenant, from + 1, 10, How::Panics).await);
    }
    rig.setup.clock.forward(7);
}

#[tokio::test(flavor = "multi_thread")]
async fn snapshots_and_tail_come_to_a_full_replay() {
    let mut rig = Rig::new().await;
    for round in 0..4 {
        some_life(&rig, round * 10).await;
        if round < 3 {
            let floor = rig.engine.snapshot().await.unwrap();
            assert_eq!(floor, rig.engine.status().durable_seq);
            // Nothing changed since: nothing is written.
            let snapshots = rig.engine.status().log.snapshots;
            rig.engine.snapshot().await.unwrap();
            assert_eq!(rig.engine.status().log.snapshots, snapshots);
        }
        some_life(&rig, round * 10 + 5).await;
        rig = rig.crash(Crash::Lost).await;
        let now_ms = rig.setup.clock.wall_ms();
        for tenant in [2, 3, 4, 5] {
            assert_eq!(rig.view(tenant).await.unwrap(), expected(rig.engine.reader(), tenant, now_ms));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_of_snapshots_beside_writes_lose_nothing() {
    let rig = Arc::new(Rig::new().await);
    let mut tasks = tokio::task::JoinSet::new();
    for tenant in 0..8 {
        let rig = Arc::clone(&rig);
        tasks.spawn(async move {
            for _ in 0..100 {
                done(rig.deposit(tenant, 1).await);
            }
        });
    }
    for _ in 0..2 {
        let rig = Arc::clone(&rig);
        tasks.spawn(async move {
            while rig.engine.snapshot().await.unwrap() < 800 {
                tokio::task::yield_now().await;
            }
        });
    }
    tasks.join_all().await;
    let rig = Arc::into_inner(rig).unwrap().crash(Crash::Lost).await;
    assert_eq!(rig.engine.status().snapshot_seq, 800);
    for tenant in 0..8 {
        assert_eq!(rig.balance(tenant).await, 100);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clean_stop_leaves_nothing_to_replay() {
    let rig = Rig::new().await;
    for tenant in 0..10 {
        done(rig.deposit(tenant, 3).await);
    }
    let rig = rig.restart().await;
    let status = rig.engine.status();
    assert_eq!((status.durable_seq, status.snapshot_seq, status.books), (10, 10, 0));
    let writes = rig.faults.writes();
    for tenant in 0..10 {
        assert_eq!(rig.balance(tenant).await, 3);
    }
    // Books that were only looked at are not written again.
    assert_eq!(rig.engine.snapshot().await.unwrap(), 10);
    assert_eq!(rig.faults.writes(), writes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_comes_by_itself_after_enough_records() {
    let rig = Rig::with(Setup { snapshot_records: 5, ..Setup::default() }).await;
    for _ in 0..6 {
        done(rig.deposit(T, 1).await);
    }
    until("there is a snapshot", || rig.engine.status().snapshot_seq == 6).await;
    assert_eq!(rig.faults.keys(Family::Snapshots).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_books_leave_memory_and_come_back_equal() {
    let rig = Rig::with(Setup { idle_seconds: 1, ..Setup::default() }).await;
    for tenant in 0..20 {
        done(rig.deposit(tenant, 5).await);
        done(rig.withdraw(tenant, 1, 2, How::AtOnce(true)).await);
    }
    rig.tick(99, 1, FAR_MS, 1, None).await;
    let before = rig.view(3).await.unwrap();
    until("only the one with a deadline is left", || rig.engine.status().books == 1).await;
    assert_eq!(rig.engine.status().entities, 0);
    assert_eq!(rig.view(3).await.unwrap(), before);
    for tenant in 0..20 {
        done(rig.deposit(tenant, 1).await);
        assert_eq!(rig.balance(tenant).await, 4);
    }
    rig.setup.clock.forward(FAR_MS);
    until("its deadline comes", || rig.transfer(99, 1).unwrap().stamps.len() == 2).await;
    let rig = rig.crash(Crash::Lost).await;
    for tenant in 0..20 {
        assert_eq!(rig.view(tenant).await.unwrap(), expected(rig.engine.reader(), tenant, START_MS + FAR_MS));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_that_leaves_and_is_asked_at_once_loses_nothing() {
    // Every book is asked to leave at every tick while it is in use, with snapshots that take their
    // time.
    let rig = Arc::new(Rig::with(Setup { idle_seconds: 0, snapshot_records: 1, ..Setup::default() }).await);
    let began = std::time::Instant::now();
    let mut callers = tokio::task::JoinSet::new();
    for tenant in 0..64 {
        let rig = Arc::clone(&rig);
        callers.spawn(async move {
            let mut n = 0;
            while began.elapsed() < std::time::Duration::from_millis(3_300) {
                done(rig.deposit(tenant, 1).await);
                n += 1;
                tokio::time::sleep(std::time::Duration::from_millis(tenant % 7)).await;
            }
            (tenant, n)
        });
    }
    let counts = callers.join_all().await;
    for &(tenant, n) in &counts {
        assert_eq!(rig.balance(tenant).await, n);
    }
    let rig = Arc::into_inner(rig).unwrap().crash(Crash::Lost).await;
    for (tenant, n) in counts {
        assert_eq!(rig.balance(tenant).await, n);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_stays_until_its_snapshot_is_durable_whoever_wrote_it() {
    let rig = Arc::new(Rig::with(Setup { idle_seconds: 0, ..Setup::default() }).await);
    done(rig.deposit(8, 1).await);
    done(rig.deposit(T, 6).await);
    rig.faults.hold_syncs();
    // A round hands the snapshots to the log, where they are stuck; books are asked to leave at
    // every tick of a second.
    let round = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { rig.engine.snapshot().await }
    });
    rig.until_held().await;
    // More than two ticks: nothing that one could wait for says that a book was asked and stayed.
    tokio::time::sleep(std::time::Duration::from_millis(2_300)).await;
    assert_eq!(rig.engine.status().books, 2);
    rig.faults.release_syncs();
    round.await.unwrap().unwrap();
    until("they leave", || rig.engine.status().books == 0).await;
    assert_eq!(rig.balance(T).await, 6);
}

/// More tenants than the rig's start leaves in memory.
const MANY: u64 = 40;

async fn few_awake() -> Rig {
    Rig::with(Setup { awake_max: 10, ..Setup::default() }).await
}

#[tokio::test(flavor = "multi_thread")]
async fn many_books_rest_again_once_they_were_replayed() {
    let rig = few_awake().await;
    for tenant in 1..=MANY {
        done(rig.deposit(tenant, 5).await);
    }
    rig.tick(9, 1, FAR_MS, 1, None).await;
    let rig = rig.crash(Crash::Lost).await;
    let status = rig.engine.status();
    assert_eq!((status.books, status.snapshot_seq), (1, 0), "the one with a deadline, and no round yet");
    assert_eq!(status.log.snapshots, MANY - 1);
    // Before any round of snapshots: the log has records before and behind those of the start.
    for tenant in 1..=MANY {
        done(rig.deposit(tenant, 1).await);
    }
    let rig = rig.crash(Crash::Lost).await;
    assert_eq!(rig.engine.status().books, 1);
    let now_ms = rig.setup.clock.wall_ms();
    for tenant in 1..=MANY {
        assert_eq!(rig.view(tenant).await.unwrap(), expected(rig.engine.reader(), tenant, now_ms));
    }
    rig.setup.clock.forward(FAR_MS);
    until("its deadline comes", || rig.transfer(9, 1).unwrap().stamps.len() == 2).await;
    let floor = rig.engine.snapshot().await.unwrap();
    assert_eq!(floor, rig.engine.status().durable_seq);
    let rig = rig.restart().await;
    for tenant in 1..=MANY {
        assert_eq!(rig.balance(tenant).await, 6);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_cannot_save_the_books_answers_nobody() {
    let rig = few_awake().await;
    for tenant in 1..=MANY {
        done(rig.deposit(tenant, 5).await);
    }
    let store = rig.faults.crash(Crash::Lost);
    store.faults().refuse_write(1, Refusal::SyncFails);
    let failing = Rig::with(Setup { store: store.clone(), ..rig.setup.clone() }).await;
    assert!(!failing.fatal().is_empty());
    assert!(failing.view(3).await.is_err() && failing.deposit(3, 1).await.is_err());
    // The next start has all that was there.
    let rig = failing.crash(Crash::Lost).await;
    for tenant in 1..=MANY {
        assert_eq!(rig.balance(tenant).await, 5);
    }
}
