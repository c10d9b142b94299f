//! A book in doubt is halted alone: the others go on, also over a restart, and it goes on as what
//! its records lead to.

use crate::rig::{Rig, START_MS, Setup, T, done, failure, until};
use crate::toy::{Command, Phase, Purses};
use actors::{Failure, Machine};
use faulty::Crash;
use std::sync::Arc;
use wal::Family;

/// The tenant that goes on.
const OTHER: u64 = 8;

/// The book that the records up to `seq` lead to, and the instant that it has lived.
fn derived(rig: &Rig, seq: u64) -> (crate::toy::Purse, i64) {
    let mut purse = Purses.empty(T);
    for record in
        rig.engine.reader().records(1, Some(seq)).map(Result::unwrap).filter(|record| record.tenant == T)
    {
        Purses.settle(&mut purse, record.time_ms);
        Purses.evolve(&mut purse, &Purses.decode(&record.payload).unwrap(), record.time_ms);
    }
    let last_ms = purse.last_ms;
    (purse, last_ms)
}

async fn resume(rig: &Rig) {
    let seq = rig.engine.halted_fence(T).await.unwrap();
    let (purse, settled_ms) = derived(rig, seq);
    let stored: Vec<u64> = rig.engine.reader().snapshots_of(T).map(|stored| stored.unwrap().seq).collect();
    rig.engine.resume(T, seq, purse, settled_ms, &stored).await.unwrap();
    assert_eq!(
        rig.engine.reader().snapshots_of(T).map(|stored| stored.unwrap().seq).collect::<Vec<_>>(),
        [seq]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_in_evolve_or_a_broken_invariant_halts_one_book_before_the_record_is_written() {
    for (command, named) in [(Command::PanicInEvolve, "applied"), (Command::Breach, "the balance is")] {
        let rig = Rig::new().await;
        done(rig.deposit(T, 5).await);
        rig.tick(T, 9, 1_000, 1, None).await;
        assert_eq!(failure(rig.ask(T, 1, command).await), Failure::Halted);
        assert_eq!(
            (rig.halted(), rig.engine.is_halted(T), rig.engine.is_halted(OTHER)),
            (vec![T], true, false)
        );
        assert!(rig.engine.halted()[0].why.contains(named), "{:?}", rig.engine.halted());
        // Nothing of the state in doubt is seen, kept or built upon.
        assert_eq!(rig.view(T).await.unwrap_err(), Failure::Halted);
        assert_eq!(failure(rig.deposit(T, 5).await), Failure::Halted);
        assert_eq!(failure(rig.ask(T, 9, Command::Remark).await), Failure::Halted);
        assert_eq!(failure(rig.engine.advance(T, 1, (0, Command::MoveClock), None).await), Failure::Halted);
        rig.setup.clock.forward(2_000);
        // The other decides and is saved, and the floor does not rise over what is in no snapshot.
        done(rig.deposit(OTHER, 5).await);
        assert_eq!(rig.engine.snapshot().await.unwrap(), 0);
        assert_eq!(
            (rig.engine.saved_seq(), rig.engine.status().snapshot_seq, rig.engine.status().halted),
            (3, 0, 1)
        );
        assert!(rig.faults.keys(Family::Snapshots).iter().all(|key| key[..8] == OTHER.to_be_bytes()));
        resume(&rig).await;
        assert_eq!((rig.balance(T).await, rig.halted(), rig.engine.is_halted(T)), (5, vec![], false));
        until("what fell due meanwhile is done", || {
            rig.transfer(T, 9).is_some_and(|transfer| transfer.phase == Phase::Done)
        })
        .await;
        done(rig.deposit(T, 5).await);
        assert_eq!(rig.engine.snapshot().await.unwrap(), rig.engine.status().durable_seq);
        assert_eq!((rig.fatal(), rig.engine.status().under_way), (Vec::new(), 0));
        let rig = rig.restart().await;
        assert_eq!((rig.balance(T).await, rig.balance(OTHER).await), (10, 5));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halted_book_is_whole_after_a_restart() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 5).await);
    rig.engine.snapshot().await.unwrap();
    done(rig.deposit(T, 5).await);
    assert_eq!(failure(rig.book(T, Command::Breach).await), Failure::Halted);
    for _ in 0..3 {
        done(rig.deposit(OTHER, 1).await);
        rig.engine.snapshot().await.unwrap();
    }
    let rig = rig.restart().await;
    assert_eq!((rig.balance(T).await, rig.balance(OTHER).await, rig.halted()), (10, 3, vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_beside_decisions_halts_the_book_and_hangs_nobody() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(T, 5).await);
    rig.faults.hold_syncs();
    let mut asked = tokio::task::JoinSet::new();
    for command in [Command::Mine, Command::Remark, Command::Remark] {
        let rig = Arc::clone(&rig);
        asked.spawn(async move { rig.book(T, command).await.is_ok() });
    }
    until("its end is told", || !rig.halted().is_empty()).await;
    assert!(rig.engine.halted()[0].why.contains("panic"), "{:?}", rig.engine.halted());
    rig.faults.release_syncs();
    asked.join_all().await;
    done(rig.deposit(OTHER, 5).await);
    assert_eq!((failure(rig.deposit(T, 5).await), rig.fatal()), (Failure::Halted, Vec::new()));
    until("nothing is under way", || rig.engine.status().under_way == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_book_that_is_set_aside_is_left_alone_and_found_again() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 5).await);
    rig.tick(T, 1, 1_000, 1, None).await;
    done(rig.deposit(OTHER, 5).await);
    let store = rig.faults.crash(Crash::Lost);
    let rig = Rig::with(Setup { store, set_aside: vec![T], ..rig.setup.clone() }).await;
    assert_eq!((rig.halted(), failure(rig.deposit(T, 1).await)), (vec![T], Failure::Halted));
    rig.setup.clock.forward(5_000);
    done(rig.deposit(OTHER, 5).await);
    rig.engine.snapshot().await.unwrap();
    assert_eq!((rig.balance(OTHER).await, rig.engine.status().snapshot_seq), (10, 0));
    // The book stays set aside over a restart, whatever the others have written and saved since.
    let store = rig.faults.crash(Crash::Lost);
    let mut rig = Rig::with(Setup { store, set_aside: vec![T], ..rig.setup.clone() }).await;
    assert_eq!(rig.balance(OTHER).await, 10);
    resume(&rig).await;
    assert_eq!(rig.balance(T).await, 5);
    until("what fell due meanwhile is done", || {
        rig.transfer(T, 1).is_some_and(|transfer| transfer.phase == Phase::Done)
    })
    .await;
    assert_eq!(rig.transfer(T, 1).unwrap().stamps[1], START_MS + 5_000);
    rig.setup.set_aside.clear();
    let rig = rig.restart().await;
    assert_eq!((rig.balance(T).await, rig.balance(OTHER).await), (5, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_find_halts_a_book_too() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 5).await);
    rig.engine.halt(T, rig.engine.resumptions(T), "it is not what the records lead to");
    until("it is halted", || rig.halted() == [T]).await;
    assert_eq!(failure(rig.deposit(T, 5).await), Failure::Halted);
    assert_eq!(rig.engine.status().breached, 1);
    done(rig.deposit(OTHER, 5).await);
    resume(&rig).await;
    done(rig.deposit(T, 5).await);
    assert_eq!(rig.balance(T).await, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_before_a_book_was_resumed_does_not_halt_it_again() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 5).await);
    // Two look at the book, and find the same.
    let seen = rig.engine.resumptions(T);
    rig.engine.halt(T, seen, "it is not what the records lead to");
    until("it is halted", || rig.halted() == [T]).await;
    resume(&rig).await;
    rig.engine.halt(T, seen, "it is not what the records lead to");
    done(rig.deposit(T, 5).await);
    assert_eq!((rig.balance(T).await, rig.halted(), rig.engine.status().breached), (10, vec![], 1));
    // A finding of the book as it is now counts; other books are as before.
    assert_eq!((rig.engine.resumptions(T), rig.engine.resumptions(OTHER)), (seen + 1, 0));
    rig.engine.halt(T, rig.engine.resumptions(T), "it is not what the records lead to");
    until("it is halted", || rig.halted() == [T]).await;
}
