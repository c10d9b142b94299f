//! A clock advance does everything that falls due on the way, in order, each at its own instant.

use crate::rig::{Rig, START_MS, T, done, until};
use crate::toy::{Command, How, Phase, Purses};
use actors::Machine;
use faulty::Crash;
use std::sync::Arc;

const HOUR_MS: i64 = 3_600_000;

/// Instant and transfer of every record after `from`.
fn history(rig: &Rig, from: u64) -> Vec<(i64, Option<u32>)> {
    let records = rig.engine.reader().records(from, None);
    records
        .map(|record| {
            record
                .map(|record| (record.time_ms - START_MS, Purses.decode(&record.payload).unwrap().id))
                .unwrap()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_falls_due_happens_in_order_and_bears_its_own_instant() {
    let rig = Rig::new().await;
    // Chains: each deadline that comes makes a new one before the target.
    rig.tick(T, 1, 1_000, 3, None).await;
    rig.tick(T, 2, 700, 3, None).await;
    rig.tick(T, 3, HOUR_MS, 1, None).await;
    let ended = done(rig.engine.advance(T, 10_000, (0, Command::MoveClock), None).await);
    assert_eq!(ended.time_ms, START_MS + 10_000);
    let expected = [(700, 2), (1_000, 1), (1_400, 2), (2_000, 1), (2_100, 2), (3_000, 1)];
    let mut expected: Vec<_> = expected.into_iter().map(|(ms, id)| (ms, Some(id))).collect();
    expected.push((10_000, None));
    assert_eq!(history(&rig, 4), expected);
    assert_eq!(rig.view(T).await.unwrap().1, START_MS + 10_000);
    assert_eq!(rig.transfer(T, 3).unwrap().phase, Phase::Pending);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_outside_worlds_answers_belong_to_the_instant() {
    let rig = Arc::new(Rig::new().await);
    rig.tick(T, 1, 1_000, 2, Some(How::Late(true))).await;
    rig.tick(T, 2, 1_500, 1, Some(How::AtOnce(true))).await;
    let advance = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { done(rig.engine.advance(T, 5_000, (0, Command::MoveClock), None).await) }
    });
    until("the first is asked", || rig.world.begun() == 1).await;
    assert_eq!(rig.transfer(T, 2).unwrap().stamps.len(), 1, "the clock waits for the answer");
    rig.world.open();
    advance.await.unwrap();
    let ms =
        |id| rig.transfer(T, id).unwrap().stamps.iter().map(|at_ms| at_ms - START_MS).collect::<Vec<_>>();
    assert_eq!(ms(1), [0, 1_000, 1_000, 2_000, 2_000]);
    assert_eq!(ms(2), [0, 1_500, 1_500]);
}

#[tokio::test(flavor = "multi_thread")]
async fn deadlines_of_one_instant_all_bear_it() {
    let rig = Rig::new().await;
    // Slow, so that one that were fired beside the advance would hear of it at a later instant.
    for id in 1..=20 {
        rig.tick(T, id, 1_000, 1, Some(How::Slow)).await;
    }
    rig.tick(T, 900, 1_001, 1, None).await;
    done(rig.engine.advance(T, 2_000, (0, Command::MoveClock), None).await);
    for id in 1..=20 {
        assert_eq!(rig.transfer(T, id).unwrap().stamps, [0, 1_000, 1_000].map(|ms| START_MS + ms));
    }
    let times: Vec<i64> = history(&rig, 22).into_iter().map(|(ms, _)| ms).collect();
    assert!(times.is_sorted());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_advances_come_one_after_the_other() {
    let rig = Arc::new(Rig::new().await);
    rig.tick(T, 1, 1_000, 50, None).await;
    let mut advances = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let rig = Arc::clone(&rig);
        advances.spawn(async move {
            done(rig.engine.advance(T, 3_000, (0, Command::MoveClock), None).await).time_ms - START_MS
        });
    }
    let mut ended = advances.join_all().await;
    ended.sort_unstable();
    assert_eq!(ended, (1..=10).map(|n| n * 3_000).collect::<Vec<_>>());
    let stamps: Vec<_> = rig.transfer(T, 1).unwrap().stamps.iter().map(|at_ms| at_ms - START_MS).collect();
    assert_eq!(stamps, (0..=30).map(|n| n * 1_000).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_goes_away_does_not_break_an_advance() {
    let rig = Arc::new(Rig::new().await);
    rig.tick(T, 1, 1_000, 3, Some(How::Late(true))).await;
    let advance = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { drop(rig.engine.advance(T, 10_000, (0, Command::MoveClock), None).await) }
    });
    until("the advance is under way", || rig.world.begun() == 1).await;
    advance.abort();
    let _ = advance.await;
    assert_eq!(rig.engine.status().under_way, 1);
    rig.world.open();
    until("it ends", || rig.engine.status().under_way == 0).await;
    assert_eq!(rig.view(T).await.unwrap().1, START_MS + 10_000);
    assert_eq!(rig.transfer(T, 1).unwrap().stamps.len(), 7);
    // Deadlines are the book's own again.
    rig.tick(T, 2, 500, 1, None).await;
    rig.setup.clock.forward(500);
    until("one comes by itself", || rig.transfer(T, 2).unwrap().phase == Phase::Done).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn alarms_are_right_after_an_advance() {
    let rig = Rig::new().await;
    rig.tick(T, 1, HOUR_MS, 1, None).await;
    done(rig.engine.advance(T, HOUR_MS - 10, (0, Command::MoveClock), None).await);
    assert_eq!(rig.transfer(T, 1).unwrap().stamps.len(), 1);
    rig.setup.clock.forward(10);
    until("it comes an hour early by the wall", || rig.transfer(T, 1).unwrap().phase == Phase::Done).await;
    assert_eq!(rig.transfer(T, 1).unwrap().stamps[1], START_MS + HOUR_MS);
    // The clock of another tenant has not moved, and a restart knows.
    let rig = rig.crash(Crash::Lost).await;
    assert_eq!(rig.view(8).await.unwrap().1, START_MS + 10);
    assert_eq!(rig.view(T).await.unwrap().1, START_MS + HOUR_MS);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_that_changes_nothing_is_met_once() {
    let rig = Rig::new().await;
    done(rig.ask(T, 1, Command::Stubborn { in_ms: 1_000, how: None }).await);
    rig.tick(T, 2, 2_000, 1, None).await;
    done(rig.engine.advance(T, 10_000, (0, Command::MoveClock), None).await);
    assert_eq!(rig.transfer(T, 2).unwrap().phase, Phase::Done);
    // The deadline is still due, rests, and does not stop a further advance.
    rig.tick(T, 3, 1_000, 1, None).await;
    done(rig.engine.advance(T, 10_000, (0, Command::MoveClock), None).await);
    assert_eq!(rig.transfer(T, 3).unwrap().stamps[1], START_MS + 11_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_bank_does_not_hold_the_clock_for_ever() {
    let rig = Rig::new().await;
    rig.tick(T, 1, 1_000, 1, Some(How::Never)).await;
    rig.tick(T, 2, 2_000, 1, None).await;
    done(rig.engine.advance(T, 10_000, (0, Command::MoveClock), None).await);
    assert_eq!(rig.transfer(T, 2).unwrap().stamps[1], START_MS + 2_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn effects_for_others_are_part_of_the_advance() {
    let rig = Arc::new(Rig::new().await);
    done(rig.ask(T, 1, Command::PokeLater { in_ms: 1_000, other: 2, how: How::Late(true) }).await);
    rig.tick(T, 3, 1_500, 1, None).await;
    let advance = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { done(rig.engine.advance(T, 5_000, (0, Command::MoveClock), None).await) }
    });
    until("the other is told", || rig.world.begun() == 1).await;
    until("the first is done", || rig.engine.status().entities == 1).await;
    assert_eq!(
        rig.transfer(T, 3).unwrap().stamps.len(),
        1,
        "the clock waits for what another does at this instant"
    );
    rig.world.open();
    advance.await.unwrap();
    assert_eq!(rig.transfer(T, 2).unwrap().stamps, [START_MS + 1_000]);
    assert_eq!(rig.transfer(T, 3).unwrap().stamps[1], START_MS + 1_500);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_during_an_advance_keep_the_order_of_time() {
    let rig = Arc::new(Rig::new().await);
    rig.tick(T, 1, 10, 300, None).await;
    let advance = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { done(rig.engine.advance(T, 5_000, (0, Command::MoveClock), None).await) }
    });
    while !advance.is_finished() {
        done(rig.deposit(T, 1).await);
    }
    advance.await.unwrap();
    let times: Vec<i64> = history(&rig, 1).into_iter().map(|(ms, _)| ms).collect();
    assert!(times.is_sorted());
    assert_eq!(rig.transfer(T, 1).unwrap().phase, Phase::Done);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_advance_that_breaks_off_leaves_a_clock_that_ticks() {
    let rig = Arc::new(Rig::new().await);
    rig.tick(T, 1, HOUR_MS, 1, None).await;
    rig.tick(T, 2, HOUR_MS + 1_000, 1, Some(How::Late(true))).await;
    let advance = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { drop(rig.engine.advance(T, 10 * HOUR_MS, (0, Command::MoveClock), None).await) }
    });
    until("it waits for the outside world", || rig.world.begun() == 1).await;
    let store = rig.faults.crash(Crash::Lost);
    let next = Rig::with(crate::rig::Setup { store, ..rig.setup.clone() }).await;
    assert_eq!(next.view(T).await.unwrap().1, START_MS + HOUR_MS + 1_000);
    next.setup.clock.forward(10);
    assert_eq!(next.view(T).await.unwrap().1, START_MS + HOUR_MS + 1_010);
    rig.world.open();
    advance.await.unwrap();
}
