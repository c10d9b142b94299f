//! Requests under way are bounded, and guards are dropped before the reply.

use crate::rig::{FAR_MS, Rig, Setup, T, done, failure, until};
use crate::toy::{Command, How, Phase};
use actors::{Failure, Guard, Shares};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Says when it is let go.
struct Name(Arc<AtomicBool>);

impl Drop for Name {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn name() -> (Option<Guard>, Arc<AtomicBool>) {
    let gone = Arc::new(AtomicBool::new(false));
    (Some(Box::new(Name(Arc::clone(&gone)))), gone)
}

fn is(gone: &AtomicBool) -> bool {
    gone.load(Ordering::SeqCst)
}

#[tokio::test(flavor = "multi_thread")]
async fn one_too_many_is_refused_at_once_and_capacity_comes_back() {
    let rig = Arc::new(Rig::with(Setup { permits_max: 3, ..Setup::default() }).await);
    rig.faults.hold_syncs();
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let rig = Arc::clone(&rig);
        asked.spawn(async move { done(rig.deposit(T, 1).await) });
    }
    until("all permits are taken", || rig.engine.status().under_way == 3).await;
    assert_eq!(failure(rig.deposit(T, 1).await), Failure::Overloaded);
    assert_eq!(failure(rig.ask(T, 1, Command::Remark).await), Failure::Overloaded);
    assert_eq!(rig.view(T).await.unwrap_err(), Failure::Overloaded);
    assert_eq!(failure(rig.engine.advance(T, 1, (0, Command::MoveClock), None).await), Failure::Overloaded);
    rig.faults.release_syncs();
    while let Some(answer) = asked.join_next().await {
        answer.unwrap();
    }
    assert_eq!(rig.engine.status().under_way, 0);
    assert_eq!(rig.balance(T).await, 3, "what was refused did not happen");
}

/// The requests that may wait for their first record when the rig's 10,000 may be under way.
const FIRST_RECORDS: usize = 2_500;

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_its_first_record_is_bounded_and_what_waits_for_a_bank_is_not_counted() {
    let rig = Arc::new(Rig::with(Setup { patience: Duration::from_secs(600), ..Setup::default() }).await);
    done(rig.deposit(T, 10_000).await);
    let mut asked = tokio::task::JoinSet::new();
    // Requests with their first record, waiting for a bank: more of them than may wait for the
    // disk.
    let banked = 2 * (FIRST_RECORDS - 100);
    for half in [0, banked / 2] {
        for n in half..half + banked / 2 {
            let rig = Arc::clone(&rig);
            asked.spawn(async move { rig.withdraw(T, n as u32, 1, How::Never).await.map(|_| ()) });
        }
        // An effect is begun after its request has left the first count; a durable record alone
        // says nothing of that.
        until("they wait for the bank", || rig.world.begun() == (half + banked / 2) as u64).await;
    }
    assert!(rig.engine.refuses(T).is_none());
    rig.faults.hold_syncs();
    for _ in 0..FIRST_RECORDS {
        let rig = Arc::clone(&rig);
        asked.spawn(async move { rig.deposit(T, 1).await.map(|_| ()) });
    }
    until("as many wait for the disk as may", || rig.engine.refuses(T).is_some()).await;
    until("all of them are in", || rig.engine.status().under_way == banked + FIRST_RECORDS).await;
    let before = rig.engine.status().overloaded;
    assert_eq!(failure(rig.deposit(T, 1).await), Failure::Overloaded);
    assert_eq!(rig.engine.status().overloaded, before + 1);
    rig.faults.release_syncs();
    until("there is room again", || rig.engine.refuses(T).is_none()).await;
    done(rig.deposit(T, 1).await);
    asked.abort_all();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_everything_is_at_its_share_and_the_others_are_let_in() {
    const OTHER: u64 = T + 2;
    let shares = Shares { percent: 75, reserve_percent: 0 };
    let rig = Arc::new(Rig::with(Setup { permits_max: 40, shares, ..Setup::default() }).await);
    rig.faults.hold_syncs();
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..30 {
        let rig = Arc::clone(&rig);
        asked.spawn(async move { drop(done(rig.deposit(T, 1).await)) });
    }
    until("it has its share", || rig.engine.status().under_way == 30).await;
    assert_eq!(rig.engine.refuses(T), Some(Failure::ShareFull));
    assert_eq!(rig.engine.refuses(OTHER), None);
    assert_eq!(failure(rig.deposit(T, 1).await), Failure::ShareFull);
    assert_eq!(failure(rig.ask(T, 1, Command::Remark).await), Failure::ShareFull);
    assert_eq!(rig.view(T).await.unwrap_err(), Failure::ShareFull);
    assert_eq!(rig.engine.status().share_full, 4);
    assert_eq!(rig.engine.status().overloaded, 0);
    let other = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { drop(done(rig.deposit(OTHER, 1).await)) }
    });
    until("another is let in", || rig.engine.status().under_way == 31).await;
    rig.faults.release_syncs();
    other.await.unwrap();
    while let Some(answer) = asked.join_next().await {
        answer.unwrap();
    }
    done(rig.deposit(T, 1).await);
    assert_eq!(rig.balance(T).await, 31, "what was refused did not happen");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_goes_on_at_a_full_share_and_a_stop_waits_for_it() {
    let shares = Shares { percent: 75, reserve_percent: 0 };
    let rig = Arc::new(Rig::with(Setup { permits_max: 4, shares, ..Setup::default() }).await);
    done(rig.deposit(T, 100).await);
    let mut asked = tokio::task::JoinSet::new();
    for n in 0..3 {
        let rig = Arc::clone(&rig);
        asked.spawn(async move { drop(done(rig.withdraw(T, n, 1, How::Late(true)).await)) });
    }
    until("it has its share", || rig.engine.refuses(T) == Some(Failure::ShareFull)).await;
    until("the bank is asked", || rig.world.begun() == 3).await;
    assert_eq!(failure(rig.ask(T, 9, Command::Remark).await), Failure::ShareFull);
    done(rig.engine.continue_entity(T, 9, (9, Command::Remark)).await);
    assert_eq!(rig.view(T).await.unwrap_err(), Failure::ShareFull);
    assert_eq!(rig.engine.continue_view(T).await.unwrap().0.pending, 3);
    let going_on = tokio::spawn({
        let rig = Arc::clone(&rig);
        let command = Command::Withdraw { amount: 1, how: How::Late(true), due_in_ms: FAR_MS };
        async move { done(rig.engine.continue_entity(T, 3, (3, command)).await).entity.unwrap().phase }
    });
    until("the bank is asked once more", || rig.world.begun() == 4).await;
    asked.abort_all();
    let stopping = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { rig.engine.stop(Duration::from_secs(60)).await }
    });
    until("it stops", || rig.engine.ready().is_err()).await;
    assert!(!stopping.is_finished() && !rig.setup.store.is_closed());
    rig.world.open();
    assert_eq!(going_on.await.unwrap(), Phase::Done, "its record is durable");
    stopping.await.unwrap();
    let again = rig.engine.continue_entity(T, 9, (9, Command::Remark)).await;
    assert_eq!(failure(again), Failure::ShuttingDown);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_one_permit_the_next_request_never_meets_the_one_before() {
    let rig = Rig::with(Setup { permits_max: 1, ..Setup::default() }).await;
    for n in 0..300 {
        done(rig.deposit(T, 1).await);
        done(rig.withdraw(T, n, 1, How::AtOnce(true)).await);
        assert!(rig.ask(T, n, Command::Remove).await.is_ok());
        assert!(failure(rig.book(T, Command::PanicInDecide).await) != Failure::Overloaded);
        assert_eq!(rig.balance(T).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_let_go_before_the_answer_whatever_it_is() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 10).await);
    for command in [
        Command::Withdraw { amount: 1, how: How::AtOnce(true), due_in_ms: FAR_MS },
        Command::Withdraw { amount: 100, how: How::Never, due_in_ms: FAR_MS },
        Command::Deadline,
        Command::PanicInDecide,
        Command::Poke { other: 1, how: How::Panics },
    ] {
        let ((recorded, recorded_gone), (answered, answered_gone)) = (name(), name());
        let _ = rig.engine.ask_entity(T, 1, false, (1, command), recorded, answered).await;
        assert!(is(&recorded_gone) && is(&answered_gone));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_record_lets_go_of_one_name_and_the_answer_of_the_other() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 10).await);
    let ((recorded, recorded_gone), (answered, answered_gone)) = (name(), name());
    rig.faults.hold_syncs();
    let asked = tokio::spawn({
        let rig = Arc::clone(&rig);
        let command = Command::Withdraw { amount: 1, how: How::Late(true), due_in_ms: FAR_MS };
        async move { done(rig.engine.ask_entity(T, 1, true, (1, command), recorded, answered).await) }
    });
    until("the record is on its way", || rig.engine.status().log.pending_records == 1).await;
    assert!(!is(&recorded_gone) && !is(&answered_gone));
    rig.faults.release_syncs();
    until("the effect is begun", || rig.world.begun() == 1).await;
    until("the first is let go", || is(&recorded_gone)).await;
    assert!(!is(&answered_gone), "the answer is still to come");
    rig.world.open();
    asked.await.unwrap();
    assert!(is(&answered_gone));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_goes_away_leaves_nothing_behind() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 10).await);
    rig.faults.hold_syncs();
    let ((recorded, recorded_gone), (answered, answered_gone)) = (name(), name());
    let mut asked = vec![];
    let (a, b, c) = (Arc::clone(&rig), Arc::clone(&rig), Arc::clone(&rig));
    let command = Command::Withdraw { amount: 1, how: How::Late(true), due_in_ms: FAR_MS };
    asked.push(tokio::spawn(async move {
        drop(a.engine.ask_entity(T, 1, true, (1, command), recorded, answered).await)
    }));
    asked.push(tokio::spawn(async move { drop(b.deposit(T, 5).await) }));
    until("both are on their way", || rig.engine.status().log.pending_records == 2).await;
    asked.push(tokio::spawn(async move { drop(c.view(T).await) }));
    until("all three are on their way", || rig.engine.status().log.pending_records == 3).await;
    for one in asked {
        one.abort();
        let _ = one.await;
    }
    assert_eq!(rig.engine.status().under_way, 3, "a permit is for the work and not for the caller");
    assert!(!is(&recorded_gone) && !is(&answered_gone));
    rig.faults.release_syncs();
    until("the effect is begun", || rig.world.begun() == 1).await;
    until("the deposit and the view are done", || rig.engine.status().under_way == 1).await;
    assert!(is(&recorded_gone) && !is(&answered_gone));
    rig.world.open();
    until("nothing is under way", || rig.engine.status().under_way == 0).await;
    assert!(is(&answered_gone));
    assert_eq!(rig.balance(T).await, 14, "what was asked happened");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_log_refuses_what_is_new_and_takes_what_goes_on() {
    let log = wal::Config { pending_records_max: 2, batch_records_max: 2, ..wal::Config::default() };
    let rig = Arc::new(Rig::with(Setup { log, ..Setup::default() }).await);
    done(rig.deposit(T, 10).await);
    let withdrawal = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { done(rig.withdraw(T, 1, 4, How::Late(true)).await) }
    });
    until("the effect is begun", || rig.world.begun() == 1).await;
    rig.faults.hold_syncs();
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let rig = Arc::clone(&rig);
        asked.spawn(async move { done(rig.deposit(T, 1).await) });
    }
    until("the log is full", || rig.engine.status().log.pending_records == 2).await;
    assert_eq!(failure(rig.deposit(T, 1).await), Failure::Overloaded);
    rig.world.open();
    until("the bank's answer is taken all the same", || rig.engine.status().log.pending_records == 3).await;
    rig.faults.release_syncs();
    assert_eq!(withdrawal.await.unwrap().entity.unwrap().phase, Phase::Done);
    asked.join_all().await;
}
