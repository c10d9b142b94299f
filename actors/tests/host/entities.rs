//! Entity actors stop when nothing is left to do, come back from their stored state, and lose no
//! message in between.

use crate::rig::{Rig, T, done};
use crate::toy::{Command, How, Phase, Refusal};
use std::sync::Arc;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_leaves_memory_and_comes_back_as_it_was() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 10).await);
    let paid = done(rig.withdraw(T, 1, 4, How::AtOnce(true)).await);
    assert_eq!(paid.entity.unwrap().phase, Phase::Done);
    rig.until_idle().await;
    let same = done(rig.ask(T, 1, Command::Deadline).await);
    let transfer = same.entity.unwrap();
    assert_eq!((transfer.phase, transfer.amount, transfer.stamps.len()), (Phase::Done, 4, 2));
    assert_eq!(Some(&*transfer), rig.transfer(T, 1).as_ref());
    rig.until_idle().await;
    let again = rig.withdraw(T, 1, 1, How::AtOnce(true)).await.unwrap();
    assert_eq!(again.refusal, Some(Refusal::WrongState), "it is known to exist");
    rig.until_idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_waits_for_the_outside_world_stays() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 10).await);
    let asked = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { done(rig.withdraw(T, 1, 4, How::Late(false)).await) }
    });
    crate::rig::until("the effect is begun", || rig.world.begun() == 1).await;
    assert_eq!(
        done(rig.ask(T, 1, Command::Remark).await).entity.unwrap().phase,
        Phase::Pending,
        "others are served meanwhile"
    );
    assert_eq!(rig.engine.status().entities, 1);
    rig.world.open();
    assert_eq!(asked.await.unwrap().entity.unwrap().phase, Phase::Failed);
    rig.until_idle().await;
    assert_eq!(rig.balance(T).await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_message_is_lost_between_stopping_and_starting() {
    let rig = Arc::new(Rig::new().await);
    let mut callers = JoinSet::new();
    for caller in 0..16 {
        let rig = Arc::clone(&rig);
        callers.spawn(async move {
            for n in 0..400_u32 {
                // Few entities and many callers: they stop and are asked again all the time.
                let id = (caller + n) % 3;
                done(rig.ask(T, id, Command::Poked).await);
                if n % 7 == 0 {
                    tokio::task::yield_now().await;
                }
            }
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller.unwrap();
    }
    rig.until_idle().await;
    // Two actors of one entity would each have added to a state of their own.
    let stamps: usize = (0..3).map(|id| rig.transfer(T, id).unwrap().stamps.len()).sum();
    assert_eq!(stamps, 16 * 400);
    assert_eq!(rig.engine.status().under_way, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_removed_is_gone_at_once_and_later() {
    let rig = Arc::new(Rig::new().await);
    let tick = |id| rig.tick(T, id, 1_000, 1, None);
    tick(1).await;
    // An effect under way keeps the actor in memory, so that it is the same one that is asked.
    let waiting = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { rig.ask(T, 1, Command::Poke { other: 1, how: How::Late(true) }).await.map(|_| ()) }
    });
    crate::rig::until("the effect is begun", || rig.world.begun() == 1).await;
    done(rig.ask(T, 1, Command::Remove).await);
    assert_eq!(rig.ask(T, 1, Command::Remove).await.unwrap().refusal, Some(Refusal::WrongState));
    assert_eq!(rig.transfer(T, 1), None);
    rig.world.open();
    waiting.await.unwrap().unwrap();
    rig.until_idle().await;
    done(rig.ask(T, 1, Command::Remove).await);
    rig.until_idle().await;
    tick(1).await;
    assert_eq!(rig.transfer(T, 1).unwrap().stamps.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_does_not_speak_of_the_entity_leaves_it() {
    let rig = Rig::new().await;
    rig.tick(T, 1, 1_000, 1, None).await;
    for _ in 0..3 {
        assert!(done(rig.ask(T, 1, Command::Remark).await).entity.is_some());
    }
    assert_eq!(
        rig.ask(T, 1, Command::Tick { every_ms: 1, times: 1, how: None }).await.unwrap().refusal,
        Some(Refusal::WrongState)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_one_is_not_looked_up() {
    let rig = Rig::new().await;
    let created = rig
        .engine
        .ask_entity(T, 5, true, (5, Command::Tick { every_ms: 9, times: 1, how: None }), None, None)
        .await;
    assert_eq!(done(created).entity.unwrap().phase, Phase::Pending);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entity_that_cannot_be_read_says_so_and_hangs_nobody() {
    let rig = Rig::new().await;
    rig.tick(T, 1, 1_000, 1, None).await;
    rig.until_idle().await;
    rig.faults.flip_byte_of_record(1, 60);
    for _ in 0..3 {
        let reply = rig.ask(T, 1, Command::Remark).await;
        assert!(matches!(crate::rig::failure(reply), actors::Failure::Storage(_)));
    }
    rig.until_idle().await;
    done(rig.deposit(T, 1).await);
}
