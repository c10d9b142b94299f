//! The outside world is asked when the record that says so is durable, and whatever it does, nobody
//! hangs.

use crate::rig::{Rig, Setup, T, done, until};
use crate::toy::{Command, How, Phase};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_begins_after_its_record_is_durable() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 10).await);
    rig.faults.hold_syncs();
    let asked = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move {
            done(rig.ask(T, 3, Command::Poke { other: 4, how: How::AtOnce(true) }).await);
            done(rig.withdraw(T, 1, 4, How::AtOnce(true)).await)
        }
    });
    until("the poke is on its way", || rig.engine.status().log.pending_records == 1).await;
    rig.until_held().await;
    assert_eq!(rig.world.begun(), 0);
    rig.faults.release_syncs();
    let paid = asked.await.unwrap();
    until("both are begun", || rig.world.begun() == 2).await;
    assert_eq!(paid.entity.unwrap().phase, Phase::Done);
    assert_eq!(rig.engine.reader().record(paid.seq.unwrap()).unwrap().unwrap().tenant, T);
}

#[tokio::test(flavor = "multi_thread")]
async fn effects_for_others_reach_them_whether_they_are_active_or_not() {
    let rig = Rig::new().await;
    done(rig.ask(T, 1, Command::Poke { other: 2, how: How::AtOnce(true) }).await);
    until("a new one is told", || rig.transfer(T, 2).is_some()).await;
    rig.until_idle().await;
    rig.world.open();
    done(rig.ask(T, 1, Command::Poke { other: 2, how: How::Late(true) }).await);
    until("a known one is told", || rig.transfer(T, 2).unwrap().stamps.len() == 2).await;
    // A book's own command may have effects too.
    done(rig.book(T, Command::Poke { other: 2, how: How::AtOnce(true) }).await);
    until("it is told again", || rig.transfer(T, 2).unwrap().stamps.len() == 3).await;
    rig.until_idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_effect_that_panics_hangs_neither_the_caller_nor_the_entity() {
    for how in [How::Panics, How::PanicsLate, How::Explodes] {
        let rig = Rig::new().await;
        done(rig.deposit(T, 10).await);
        let answer = done(rig.withdraw(T, 1, 4, how).await);
        assert_eq!(answer.entity.unwrap().phase, Phase::Pending, "{how:?}: the answer is what is durable");
        assert_eq!(answer.seq, Some(2));
        done(rig.ask(T, 2, Command::Poke { other: 1, how }).await);
        done(rig.ask(T, 1, Command::Remark).await);
        rig.until_idle().await;
        assert_eq!(rig.engine.status().under_way, 0);
        assert_eq!(rig.fatal(), Vec::<String>::new());
        // The deadline looks after it.
        rig.setup.clock.forward(crate::rig::FAR_MS);
        until("it falls back", || rig.transfer(T, 1).unwrap().phase == Phase::Failed).await;
        assert_eq!(rig.balance(T).await, 10);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_never_answers_blocks_nobody_else() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 10).await);
    let asked = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { drop(rig.withdraw(T, 1, 4, How::Never).await) }
    });
    until("the effect is begun", || rig.world.begun() == 1).await;
    done(rig.ask(T, 1, Command::Remark).await);
    assert_eq!(rig.balance(T).await, 6);
    rig.setup.clock.forward(crate::rig::FAR_MS);
    until("its deadline comes all the same", || rig.transfer(T, 1).unwrap().phase == Phase::Failed).await;
    assert!(!asked.is_finished());
    asked.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_come_late_find_their_own_request() {
    let rig = Arc::new(Rig::new().await);
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let rig = Arc::clone(&rig);
        asked.spawn(async move {
            done(rig.ask(T, 1, Command::Poke { other: 1, how: How::Late(true) }).await).seq.unwrap()
        });
    }
    until("all are begun", || rig.world.begun() == 20).await;
    rig.world.open();
    let mut seqs = asked.join_all().await;
    seqs.sort_unstable();
    seqs.dedup();
    assert_eq!(seqs.len(), 20, "each is answered with its own record");
    assert_eq!(rig.transfer(T, 1).unwrap().stamps.len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_waits_no_longer_than_its_patience_and_a_late_result_is_taken() {
    let rig = Rig::with(Setup { patience: std::time::Duration::from_millis(20), ..Setup::default() }).await;
    done(rig.deposit(T, 10).await);
    let answer = done(rig.withdraw(T, 1, 4, How::Late(true)).await);
    assert_eq!(
        (answer.entity.unwrap().phase, answer.seq),
        (Phase::Pending, Some(2)),
        "the answer is what is durable"
    );
    assert_eq!(rig.engine.status().under_way, 0, "and nothing is held for it any more");
    done(rig.ask(T, 1, Command::Remark).await);
    rig.world.open();
    until("the result is taken when it comes", || rig.transfer(T, 1).unwrap().phase == Phase::Done).await;
    rig.until_idle().await;
    assert_eq!(rig.balance(T).await, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asks_hears_what_others_came_to_and_of_those_that_take_their_time_only_that_they_are_done() {
    let rig = Rig::new().await;
    let mut at_once = done(rig.ask(T, 1, Command::Poke { other: 2, how: How::AtOnce(true) }).await)
        .performed
        .expect("something was asked of another");
    at_once.wait().await;
    let ended = at_once.ended();
    assert_eq!(ended.iter().map(|(id, transfer)| (*id, transfer.stamps.len())).collect::<Vec<_>>(), [(2, 1)]);
    assert_eq!(rig.transfer(T, 2).expect("it is durable").stamps, ended[0].1.stamps);
    let mut late = done(rig.ask(T, 1, Command::Poke { other: 2, how: How::Slow }).await)
        .performed
        .expect("something was asked of another");
    late.wait().await;
    assert_eq!(rig.transfer(T, 2).expect("it is durable").stamps.len(), 2, "done is durable");
    assert!(late.ended().is_empty());
    rig.until_idle().await;
}
