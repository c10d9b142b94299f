//! Deadlines come in their time, and after a restart from what is durable.

use crate::rig::{Rig, START_MS, Setup, T, done, until};
use crate::toy::{Command, How, Phase};
use actors::Clock;
use faulty::Crash;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_comes_when_the_clock_says_so() {
    let rig = Rig::new().await;
    rig.tick(T, 1, 1_000, 3, None).await;
    rig.setup.clock.forward(999);
    assert_eq!(rig.view(T).await.unwrap().1, START_MS + 999);
    assert_eq!(rig.transfer(T, 1).unwrap().stamps.len(), 1);
    for n in 1..=3 {
        rig.setup.clock.forward(if n == 1 { 1 } else { 1_000 });
        until("it comes", || rig.transfer(T, 1).unwrap().stamps.len() == n + 1).await;
    }
    let transfer = rig.transfer(T, 1).unwrap();
    assert_eq!(transfer.stamps, [0, 1_000, 2_000, 3_000].map(|ms| START_MS + ms));
    assert_eq!(transfer.phase, Phase::Done);
    rig.until_idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_machines_clock_rings_too() {
    let rig = Rig::with(Setup { clock: Clock::system(), ..Setup::default() }).await;
    rig.tick(T, 1, 30, 2, None).await;
    until("both come", || rig.transfer(T, 1).unwrap().phase == Phase::Done).await;
    let stamps = rig.transfer(T, 1).unwrap().stamps;
    assert!(stamps[1] >= stamps[0] + 30 && stamps[2] >= stamps[1] + 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_deadline_is_not_missed_behind_a_later_one() {
    let rig = Rig::new().await;
    rig.tick(T, 1, 5_000, 1, None).await;
    rig.tick(T, 2, 1_000, 1, None).await;
    rig.tick(T, 3, 3_000, 1, None).await;
    for (id, ms) in [(2, 1_000), (3, 2_000), (1, 2_000)] {
        rig.setup.clock.forward(ms);
        until("the next comes", || rig.transfer(T, id).unwrap().phase == Phase::Done).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_deadlines_all_come() {
    let rig = Rig::new().await;
    let mut asked = Vec::new();
    for id in 0..1_000 {
        asked.push(Box::pin(rig.tick(T, id, 1_000, 1, None)));
    }
    for one in asked {
        one.await;
    }
    rig.setup.clock.forward(1_000);
    until("all have come", || (0..1_000).all(|id| rig.transfer(T, id).unwrap().phase == Phase::Done)).await;
    rig.until_idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn deadlines_outlive_a_crash_and_a_clean_stop() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 10).await);
    let due_in_ms = 5_000;
    done(rig.ask(T, 1, Command::Withdraw { amount: 3, how: How::Panics, due_in_ms }).await);
    rig.tick(8, 1, due_in_ms, 1, None).await;
    let rig = rig.crash(Crash::Lost).await;
    // From a snapshot, with no tail at all, and then once more.
    let rig = rig.restart().await;
    assert_eq!(rig.engine.status().books, 2, "a book with a deadline is in memory from the start");
    let rig = rig.restart().await;
    assert_eq!(rig.engine.status().snapshot_seq, 3);
    rig.setup.clock.forward(due_in_ms);
    until("it falls back", || rig.transfer(T, 1).unwrap().phase == Phase::Failed).await;
    until("the other comes", || rig.transfer(8, 1).unwrap().phase == Phase::Done).await;
    assert_eq!(rig.balance(T).await, 10);
    let rig = rig.restart().await;
    assert_eq!(rig.engine.status().books, 0, "nothing is due any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fell_due_while_nobody_ran_comes_at_the_start() {
    let rig = Rig::new().await;
    rig.tick(T, 1, 5_000, 1, None).await;
    rig.engine.stop(Duration::from_secs(10)).await;
    rig.setup.clock.forward(60_000);
    assert_eq!(rig.transfer(T, 1).unwrap().phase, Phase::Pending, "an engine that has stopped does nothing");
    let rig = Rig::with(Setup { store: rig.setup.store.copy(), ..rig.setup }).await;
    until("it comes", || rig.transfer(T, 1).unwrap().phase == Phase::Done).await;
    assert_eq!(rig.transfer(T, 1).unwrap().stamps[1], START_MS + 60_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_changes_nothing_comes_again_after_a_rest_and_keeps_nobody_up() {
    let rig = Arc::new(Rig::new().await);
    done(rig.ask(T, 1, Command::Stubborn { in_ms: 1_000, how: None }).await);
    rig.tick(T, 2, 1_000, 1, None).await;
    rig.setup.clock.forward(1_000);
    until("the other comes", || rig.transfer(T, 2).unwrap().phase == Phase::Done).await;
    rig.until_idle().await;
    // Were it asked again at once, there would be a mailbox message for every turn; a thousand
    // looks see none.
    let mut active = 0;
    for _ in 0..200 {
        active += rig.engine.status().entities;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(active < 20, "it was active {active} times out of 200");
    done(rig.ask(T, 1, Command::Remove).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_asks_outside_is_asked_once_however_long_that_takes_and_keeps_nobody_waiting() {
    let rig = Rig::with(Setup { patience: Duration::from_millis(10), ..Setup::default() }).await;
    // More than are dealt with at once.
    let asking = 0..100;
    for id in asking.clone() {
        done(rig.ask(T, id, Command::Stubborn { in_ms: 1_000, how: Some(How::Late(true)) }).await);
    }
    // Its question breaks off, so that it comes again after each rest.
    const AGAIN: u32 = 100;
    done(rig.ask(T, AGAIN, Command::Stubborn { in_ms: 2_000, how: Some(How::Panics) }).await);
    rig.setup.clock.forward(1_000);
    until("all are asked about", || asking.clone().all(|id| rig.world.begun_for(id) > 0)).await;
    rig.setup.clock.forward(1_000);
    until("another comes again", || rig.world.begun_for(AGAIN) == 3).await;
    assert!(asking.clone().all(|id| rig.world.begun_for(id) == 1), "asked again beside itself");
    done(rig.ask(T, AGAIN, Command::Remove).await);
    // An advance of the clock does not ask again either.
    done(rig.engine.advance(T, 1_000, (0, Command::MoveClock), None).await);
    rig.world.open();
    let due = |id| rig.transfer(T, id).unwrap().due_ms;
    until("all are answered", || asking.clone().all(|id| due(id).is_none())).await;
    rig.until_idle().await;
    assert!(asking.clone().all(|id| rig.world.begun_for(id) == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_ends_by_itself_before_the_next_decision() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 10).await);
    done(rig.book(T, Command::Reserve { amount: 10, for_ms: 1_000 }).await);
    assert_eq!(rig.balance(T).await, 0);
    rig.setup.clock.forward(1_000);
    done(rig.withdraw(T, 1, 10, How::AtOnce(true)).await);
    assert_eq!(rig.balance(T).await, 0);
    // A wall clock that is set back does not bring the hold back.
    rig.setup.clock.forward(-5_000);
    assert_eq!(rig.view(T).await.unwrap().1, START_MS + 1_000);
    let rig = rig.crash(Crash::Kept).await;
    assert_eq!(rig.balance(T).await, 0, "replay comes to the same");
}
