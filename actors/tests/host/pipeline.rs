//! The book decides at once and never waits; nothing is answered before it is durable.

use crate::rig::{FAR_MS, Rig, T, done, until};
use crate::toy::{Command, How, Refusal};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

#[tokio::test(flavor = "multi_thread")]
async fn many_commands_on_one_book_share_a_sync_and_keep_their_order() {
    let rig = Arc::new(Rig::new().await);
    rig.faults.hold_syncs();
    // The first is alone in its sync; what comes meanwhile is in the next.
    let first = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { done(rig.deposit(T, 1).await) }
    });
    rig.until_held().await;
    let before = rig.faults.writes();
    let mut asked = JoinSet::new();
    for n in 0..500 {
        let rig = Arc::clone(&rig);
        asked.spawn(async move { (n, done(rig.deposit(T, n).await).seq.unwrap()) });
    }
    until("all have been decided", || rig.engine.status().log.pending_records == 501).await;
    assert!(asked.try_join_next().is_none(), "nobody is told before the sync");
    assert!(!first.is_finished());
    rig.faults.release_syncs();
    first.await.unwrap();
    let mut seqs = Vec::new();
    while let Some(answer) = asked.join_next().await {
        seqs.push(answer.unwrap().1);
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (2..=501).collect::<Vec<_>>());
    assert_eq!(rig.faults.writes() - before, 1, "one write for all of them");
    assert_eq!(rig.balance(T).await, 1 + 499 * 250);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_of_one_caller_keep_their_order() {
    let rig = Rig::new().await;
    let asked: Vec<_> = (0..100).map(|n| Box::pin(rig.deposit(T, n))).collect();
    let mut seqs = Vec::new();
    // Polled in order, so that they are sent in order; then awaited.
    let mut asked: Vec<_> = asked.into_iter().map(futures_once).collect();
    for one in &mut asked {
        seqs.push(done(one.await).seq.unwrap());
    }
    assert!(seqs.is_sorted());
}

/// Polls a future once, so that its message is sent, and gives it back.
fn futures_once<F: Future + Unpin>(mut future: F) -> F {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::Pin::new(&mut future).poll(&mut context).is_pending());
    future
}

#[tokio::test(flavor = "multi_thread")]
async fn views_refusals_and_unchanged_answers_wait_for_what_they_rest_on() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 10).await);
    rig.faults.hold_syncs();
    let mut asked = JoinSet::new();
    let pending = |asked: &mut JoinSet<&'static str>, rig: &Arc<Rig>| {
        let (a, b, c) = (Arc::clone(rig), Arc::clone(rig), Arc::clone(rig));
        asked.spawn(async move {
            assert_eq!(a.balance(T).await, 3);
            "view"
        });
        asked.spawn(async move {
            let refused = b.withdraw(T, 9, 5, How::Never).await.unwrap();
            assert_eq!(refused.refusal, Some(Refusal::Insufficient));
            assert!(refused.record.is_none() && refused.seq.is_none());
            "refusal"
        });
        asked.spawn(async move {
            assert!(done(c.ask(T, 8, Command::Deadline).await).record.is_none());
            "unchanged"
        });
    };
    let reserve = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { done(rig.book(T, Command::Reserve { amount: 7, for_ms: FAR_MS }).await) }
    });
    rig.until_held().await;
    pending(&mut asked, &rig);
    until("the three are behind the fence", || rig.engine.status().log.pending_records == 4).await;
    assert!(asked.try_join_next().is_none());
    assert_eq!(rig.engine.status().durable_seq, 1);
    assert_eq!(rig.engine.reader().last_seq(), 1, "a reader sees nothing of it");
    rig.faults.release_syncs();
    while let Some(answer) = asked.join_next().await {
        answer.unwrap();
    }
    assert_eq!(reserve.await.unwrap().seq, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_withdrawals_never_overdraw() {
    let rig = Arc::new(Rig::new().await);
    rig.faults.delay_syncs(Duration::from_millis(1));
    done(rig.deposit(T, 1_000).await);
    let mut asked = JoinSet::new();
    for id in 0..300 {
        let rig = Arc::clone(&rig);
        let how = if id % 2 == 0 { How::AtOnce(true) } else { How::Late(true) };
        asked.spawn(async move { rig.withdraw(T, id, 10, how).await.unwrap().refusal });
    }
    until("all are decided", || rig.world.begun() == 100).await;
    rig.world.open();
    let mut good = 0;
    while let Some(answer) = asked.join_next().await {
        match answer.unwrap() {
            None => good += 1,
            Some(refusal) => assert_eq!(refusal, Refusal::Insufficient),
        }
    }
    assert_eq!(good, 100);
    let purse = rig.view(T).await.unwrap().0;
    assert_eq!((purse.balance, purse.pending, purse.paid), (0, 0, 1_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn books_of_tenants_are_apart() {
    let rig = Rig::new().await;
    for tenant in 0..20 {
        done(rig.deposit(tenant, i64::try_from(tenant).unwrap()).await);
    }
    for tenant in 0..20 {
        assert_eq!(rig.balance(tenant).await, i64::try_from(tenant).unwrap());
    }
    assert_eq!(rig.engine.status().books, 20);
}
