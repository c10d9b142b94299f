//! Snapshots of large books: clones of one turn, saved while the book goes on.

use crate::memory::expected;
use crate::rig::{FAR_MS, Rig, Setup, T, done, until};
use crate::toy::{Command, LARGE_FROM, Purses};
use actors::{Failure, Machine};
use faulty::{Crash, Refusal};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use wal::{Family, Reader, Seq};

/// The time that each piece takes where a test must meet one under way.
const SLOW: Duration = Duration::from_millis(15);

/// Checks that every snapshot is the state after the records up to its sequence, at the instant
/// that it bears: no record before it is missing, and none after it is included.
pub fn assert_true(reader: &Reader) {
    for newest in reader.latest_snapshots().map(Result::unwrap) {
        for stored in reader.snapshots_of(newest.tenant).map(Result::unwrap) {
            let mut book = Purses.empty(stored.tenant);
            for record in reader
                .records(1, Some(stored.seq))
                .map(Result::unwrap)
                .filter(|record| record.tenant == stored.tenant)
            {
                Purses.settle(&mut book, record.time_ms);
                Purses.evolve(&mut book, &Purses.decode(&record.payload).unwrap(), record.time_ms);
            }
            Purses.settle(&mut book, stored.time_ms);
            assert_eq!(
                Purses.restore(stored.tenant, &stored.state).unwrap(),
                book,
                "the snapshot of {} at {}",
                stored.tenant,
                stored.seq
            );
        }
    }
}

/// A book that is large, durable, and in no snapshot.
async fn large(rig: &Rig, tenant: u64) {
    done(rig.deposit(tenant, 1_000).await);
    for _ in 0..LARGE_FROM * 10 {
        done(rig.book(tenant, Command::Reserve { amount: 1, for_ms: FAR_MS }).await);
    }
}

fn round(rig: &Arc<Rig>) -> JoinHandle<Result<Seq, Failure>> {
    let rig = Arc::clone(rig);
    tokio::spawn(async move { rig.engine.snapshot().await })
}

/// A snapshot of the large book of `T` is being written, and has some pieces to go.
async fn under_way(rig: &Arc<Rig>) -> JoinHandle<Result<Seq, Failure>> {
    large(rig, T).await;
    rig.faults.delay_syncs(SLOW);
    let saving = round(rig);
    until("a piece is there", || !rig.faults.keys(Family::Pieces).is_empty()).await;
    assert_eq!(rig.faults.keys(Family::Snapshots).len(), 0);
    saving
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_after_the_clone_is_not_in_it_and_does_not_wait_for_it() {
    let rig = Arc::new(Rig::new().await);
    let saving = under_way(&rig).await;
    let floor = rig.engine.status().durable_seq;
    for _ in 0..3 {
        done(rig.deposit(T, 1).await);
        done(rig.deposit(8, 1).await);
    }
    assert_eq!(
        rig.faults.keys(Family::Snapshots).len(),
        0,
        "six writes, one after the other, and it is still not there"
    );
    assert_eq!(saving.await.unwrap().unwrap(), floor);
    let reader = rig.engine.reader();
    assert_eq!(reader.snapshot(T, None).unwrap().unwrap().seq, floor);
    assert_true(reader);
    rig.faults.delay_syncs(Duration::ZERO);
    let rig = Arc::into_inner(rig).unwrap().crash(Crash::Lost).await;
    assert_eq!(rig.view(T).await.unwrap(), expected(rig.engine.reader(), T, rig.setup.clock.wall_ms()));
    assert_eq!(rig.engine.status().snapshot_seq, floor);
    // By the snapshot and three records, not by the whole log.
    rig.engine.snapshot().await.unwrap();
    assert_true(rig.engine.reader());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_between_pieces_leaves_the_snapshot_before() {
    for crash in [Crash::Lost, Crash::Kept, Crash::Torn(30)] {
        let rig = Arc::new(Rig::new().await);
        let saving = under_way(&rig).await;
        done(rig.deposit(T, 1).await);
        let store = rig.faults.crash(crash);
        assert!(matches!(saving.await.unwrap(), Err(Failure::Storage(_))));
        let next = Rig::with(Setup { store, ..rig.setup.clone() }).await;
        assert_eq!(next.faults.keys(Family::Pieces), Vec::<Vec<u8>>::new());
        assert_eq!(next.engine.status().snapshot_seq, 0);
        let view = next.view(T).await.unwrap();
        assert_eq!(view, expected(next.engine.reader(), T, next.setup.clock.wall_ms()));
        let next = next.restart().await;
        assert_true(next.engine.reader());
        assert_eq!(next.engine.status().snapshot_seq, next.engine.status().durable_seq);
        assert_eq!(next.view(T).await.unwrap(), view);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_meanwhile_gets_a_snapshot_that_is_not_older_than_the_question() {
    let rig = Arc::new(Rig::new().await);
    let first = under_way(&rig).await;
    // Nothing is new: the one under way is enough.
    let (same, again) = (round(&rig), round(&rig));
    assert_eq!(first.await.unwrap().unwrap(), rig.engine.status().durable_seq);
    same.await.unwrap().unwrap();
    again.await.unwrap().unwrap();
    assert_eq!(rig.engine.status().log.snapshots, 1);
    // Something is new: those who ask then share the next.
    done(rig.deposit(T, 1).await);
    let second = round(&rig);
    until("it is under way", || {
        rig.faults
            .keys(Family::Pieces)
            .iter()
            .any(|key| key[8..16] == rig.engine.status().durable_seq.to_be_bytes())
    })
    .await;
    done(rig.deposit(T, 1).await);
    let asked = rig.engine.status().durable_seq;
    let (third, fourth) = (round(&rig), round(&rig));
    second.await.unwrap().unwrap();
    assert_eq!((third.await.unwrap().unwrap(), fourth.await.unwrap().unwrap()), (asked, asked));
    assert_eq!(rig.engine.reader().snapshot(T, None).unwrap().unwrap().seq, asked);
    assert_eq!(rig.engine.status().log.snapshots, 3);
    assert_true(rig.engine.reader());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_book_leaves_memory_when_its_snapshot_is_durable_and_nothing_came_after_it() {
    let rig = Arc::new(Rig::with(Setup { idle_seconds: 0, ..Setup::default() }).await);
    let tenants = 1..9_u64;
    let began = std::time::Instant::now();
    let mut callers = tokio::task::JoinSet::new();
    for tenant in tenants.clone() {
        let rig = Arc::clone(&rig);
        callers.spawn(async move {
            large(&rig, tenant).await;
            while began.elapsed() < Duration::from_millis(3_300) {
                done(rig.deposit(tenant, 1).await);
                tokio::time::sleep(Duration::from_millis(tenant % 3 * 5)).await;
            }
        });
    }
    callers.join_all().await;
    until("all leave", || rig.engine.status().books == 0).await;
    assert_true(rig.engine.reader());
    for tenant in tenants {
        assert_eq!(
            rig.view(tenant).await.unwrap(),
            expected(rig.engine.reader(), tenant, rig.setup.clock.wall_ms())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_write_between_pieces_ends_the_engine_and_hangs_nobody() {
    let rig = Arc::new(Rig::new().await);
    let saving = under_way(&rig).await;
    let behind = round(&rig);
    rig.faults.refuse_write(2, Refusal::NotStored);
    assert!(matches!(saving.await.unwrap(), Err(Failure::Storage(_))));
    assert!(matches!(behind.await.unwrap(), Err(Failure::Storage(_))));
    until("the end is told", || !rig.fatal().is_empty()).await;
    assert_eq!(rig.fatal().len(), 1);
    assert_eq!(rig.faults.writes_after_failure(), 0);
    assert_eq!(rig.faults.keys(Family::Snapshots).len(), 0);
    rig.engine.stop(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_background_snapshots() {
    let rig = Arc::new(Rig::new().await);
    large(&rig, 8).await;
    let saving = under_way(&rig).await;
    done(rig.deposit(T, 1).await);
    rig.engine.stop(Duration::from_secs(10)).await;
    saving.await.unwrap().unwrap();
    let status = rig.engine.status();
    assert_eq!(status.snapshot_seq, status.durable_seq);
    assert_eq!(rig.fatal(), Vec::<String>::new());
    assert_true(rig.engine.reader());
}
