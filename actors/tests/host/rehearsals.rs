//! An engine on clones of another one's books: it does what that would do, and leaves nothing there.

use crate::rig::{Rig, T, done, stored};
use crate::toy::{Command, How};
use std::sync::Arc;

#[tokio::test]
async fn a_rehearsal_does_everything_and_nothing_is_left() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 100).await);
    done(rig.withdraw(T, 1, 30, How::AtOnce(true)).await);
    let last = rig.engine.reader().last_seq();
    let rehearsal = rig.engine.rehearse(Arc::clone(&rig.world) as _);
    assert!(rehearsal.is_rehearsal() && !rig.engine.is_rehearsal());
    let deposit = Command::Deposit { amount: 7, memo: Vec::new() };
    done(rehearsal.ask_book(T, (0, deposit), None).await);
    let withdraw = Command::Withdraw { amount: 50, how: How::AtOnce(true), due_in_ms: 1_000 };
    done(rehearsal.ask_entity(T, 2, true, (2, withdraw), None, None).await);
    assert_eq!(rehearsal.view(T).await.expect("a view").0.balance, 27);
    assert!(stored(rehearsal.reader(), T, 2).is_some() && stored(rehearsal.reader(), T, 1).is_some());
    assert_eq!(rehearsal.real_seq(), last);
    drop(rehearsal);
    assert_eq!((rig.balance(T).await, rig.engine.reader().last_seq()), (70, last));
    assert_eq!(rig.transfer(T, 2), None);
    assert_eq!((rig.fatal().len(), rig.halted().len()), (0, 0));
    // The real one goes on as if nobody had asked.
    done(rig.withdraw(T, 2, 70, How::AtOnce(true)).await);
    assert_eq!(rig.balance(T).await, 0);
}

#[tokio::test]
async fn a_book_that_is_halted_is_halted_in_a_rehearsal_too() {
    let rig = Rig::new().await;
    done(rig.deposit(T, 100).await);
    rig.engine.halt(T, 0, "a doubt");
    crate::rig::until("the book is halted", || rig.engine.is_halted(T)).await;
    let rehearsal = rig.engine.rehearse(Arc::clone(&rig.world) as _);
    let deposit = Command::Deposit { amount: 7, memo: Vec::new() };
    let refused = rehearsal.ask_book(T, (0, deposit), None).await;
    assert_eq!(crate::rig::failure(refused), actors::Failure::Halted);
    assert_eq!(rig.fatal(), Vec::<String>::new());
}
