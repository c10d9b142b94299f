//! A tenant that another engine decides: of its book this one may have a beginning, which is not decided on and grows
//! by copies alone. It may come, leave, and come back.

use crate::rig::{FAR_MS, Rig, Setup, T, done, failure};
use crate::toy::{Command, How, Phase};
use actors::Failure;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// An engine that has these tenants elsewhere.
async fn engine(elsewhere: &[u64]) -> (Rig, Arc<Mutex<HashSet<u64>>>) {
    let set = Arc::new(Mutex::new(elsewhere.iter().copied().collect::<HashSet<_>>()));
    let rig = Rig::with(Setup { elsewhere: Some(Arc::clone(&set)), ..Setup::default() }).await;
    (rig, set)
}

fn leaves(set: &Mutex<HashSet<u64>>) {
    set.lock().unwrap().insert(T);
}

fn comes(set: &Mutex<HashSet<u64>>) {
    set.lock().unwrap().remove(&T);
}

/// What an engine has of the tenant, from its nth record on.
fn records(rig: &Rig, from: usize) -> Vec<(i64, Vec<u8>)> {
    let all = rig.engine.reader().records(1, None).map(|record| record.expect("it can be read"));
    all.filter(|record| record.tenant == T)
        .map(|record| (record.time_ms, record.payload))
        .skip(from)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_decided_on_a_beginning_of_a_book() {
    let (source, _) = engine(&[]).await;
    done(source.deposit(T, 10).await);
    done(source.withdraw(T, 1, 4, How::AtOnce(true)).await);
    let (target, set) = engine(&[T]).await;
    let copied = target.engine.copy(T, records(&source, 0)).await.expect("it is elsewhere");
    assert_eq!((copied.balance, copied.paid), (6, 4));
    let before = target.engine.reader().last_seq();
    assert_eq!(failure(target.deposit(T, 1).await), Failure::Elsewhere);
    assert_eq!(failure(target.ask(T, 1, Command::Remark).await), Failure::Elsewhere);
    assert_eq!(failure(target.withdraw(T, 2, 1, How::AtOnce(true)).await), Failure::Elsewhere);
    assert_eq!(target.view(T).await.err(), Some(Failure::Elsewhere));
    let advanced = target.engine.advance(T, FAR_MS, (0, Command::MoveClock), None).await;
    assert_eq!(failure(advanced), Failure::Elsewhere);
    assert_eq!(target.engine.reader().last_seq(), before, "nothing was written");
    target.until_idle().await;
    comes(&set);
    done(target.deposit(T, 1).await);
    assert_eq!(target.balance(T).await, 7);
    let late = target.engine.copy(T, records(&source, 0)).await;
    assert!(matches!(late, Err(Failure::Defect(_))), "{late:?}");
    assert_eq!(target.balance(T).await, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_waits_at_its_last_record_for_the_next() {
    let (source, _) = engine(&[]).await;
    done(source.deposit(T, 10).await);
    done(source.book(T, Command::Reserve { amount: 4, for_ms: 50 }).await);
    let (target, set) = engine(&[T]).await;
    target.engine.copy(T, records(&source, 0)).await.expect("copied");
    // The clock here is ahead, a round of snapshots comes, and somebody asks.
    target.setup.clock.forward(1_000);
    let _ = target.view(T).await;
    let _ = target.deposit(T, 1).await;
    target.engine.snapshot().await.expect("a round");
    source.setup.clock.forward(20);
    done(source.deposit(T, 1).await);
    let copied = target.engine.copy(T, records(&source, 2)).await.expect("copied");
    assert_eq!((copied.balance, copied.reserves.len()), (7, 1), "the reserve lasts in the source");
    let target = target.restart().await;
    let copied = target.engine.copy(T, Vec::new()).await.expect("it is elsewhere after a start, too");
    assert_eq!((copied.balance, copied.reserves.len()), (7, 1));
    comes(&set);
    assert_eq!(target.balance(T).await, 11);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_back_is_decided_on_as_it_is_now() {
    let (first, of_first) = engine(&[]).await;
    done(first.deposit(T, 10).await);
    // Its state is one that is kept in memory.
    done(first.withdraw(T, 1, 4, How::AtOnce(true)).await);
    first.until_idle().await;
    leaves(&of_first);
    let (second, of_second) = engine(&[T]).await;
    second.engine.copy(T, records(&first, 0)).await.expect("copied");
    comes(&of_second);
    let there = second.engine.reader().records(1, None).count();
    done(second.ask(T, 1, Command::Remove).await);
    done(second.withdraw(T, 1, 1, How::AtOnce(true)).await);
    leaves(&of_second);
    assert!(first.engine.forget_entities(T));
    first.engine.copy(T, records(&second, there)).await.expect("copied");
    comes(&of_first);
    let known = done(first.ask(T, 1, Command::Remark).await).entity.expect("it is there");
    assert_eq!((known.phase, known.amount), (Phase::Done, 1), "not the one that was removed");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_under_way_when_a_tenant_leaves_changes_nothing_more() {
    let (rig, set) = engine(&[]).await;
    done(rig.deposit(T, 10).await);
    let rig = Arc::new(rig);
    let asked = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { rig.withdraw(T, 1, 4, How::Late(true)).await }
    });
    crate::rig::until("the effect is begun", || rig.world.begun() == 1).await;
    leaves(&set);
    assert!(!rig.engine.forget_entities(T), "its answer is still to come");
    let before = rig.engine.reader().last_seq();
    rig.world.open();
    let answered = done(asked.await.unwrap());
    assert_eq!(answered.entity.unwrap().phase, Phase::Pending, "as far as it is durable");
    rig.until_idle().await;
    assert_eq!(rig.engine.reader().last_seq(), before);
    assert!(rig.engine.forget_entities(T));
}
