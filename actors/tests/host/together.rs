//! Results that come together are one record where they can be, and are decided as if each had come
//! alone.

use crate::memory::expected;
use crate::rig::{Rig, START_MS, T, done, until};
use crate::toy::{Command, How};
use actors::Failure;
use faulty::Crash;
use wal::Seq;

/// The transfer that pokes the others.
const POKING: u32 = 1_000;

/// Pokes, and waits until that has come to its end; returns the last sequence.
async fn poke(rig: &Rig, others: Vec<(u32, How)>) -> Seq {
    let mut poked = done(rig.ask(T, POKING, Command::PokeAll { others }).await);
    poked.performed.take().expect("it has effects").wait().await;
    rig.engine.status().durable_seq
}

fn stamps(rig: &Rig, id: u32) -> usize {
    rig.transfer(T, id).map_or(0, |transfer| transfer.stamps.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn results_that_are_there_at_once_are_one_record() {
    let rig = Rig::new().await;
    let at_once = |id| (id, How::AtOnce(true));
    assert_eq!(poke(&rig, (1..=10).map(at_once).collect()).await, 2, "the poke, and what came of it");
    assert_eq!(poke(&rig, (1..=100).map(at_once).collect()).await, 2 + 3, "groups are bounded");
    assert!((1..=10).all(|id| stamps(&rig, id) == 2) && (11..=100).all(|id| stamps(&rig, id) == 1));
    let checked = rig.engine.status().checked;
    assert_eq!(checked, 10 + 100 + 2, "each was checked by itself");
    // The actors know what the record made of their entities.
    assert_eq!(
        done(rig.ask(T, 7, Command::Poked).await).entity.map(|transfer| transfer.stamps.len()),
        Some(3)
    );
    let shown = rig.view(T).await.unwrap();
    let rig = rig.crash(Crash::Lost).await;
    assert_eq!(rig.view(T).await.unwrap(), shown);
    assert_eq!(shown, expected(rig.engine.reader(), T, START_MS));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_join_is_written_by_itself_and_a_defect_is_alone() {
    let rig = Rig::new().await;
    let hows = [How::AtOnce(true), How::Explodes, How::AtOnce(true), How::Slow, How::AtOnce(true)];
    assert_eq!(poke(&rig, (1..).zip(hows).collect()).await, 3, "one of three, and the slow one later");
    assert_eq!((1..=5).map(|id| stamps(&rig, id)).collect::<Vec<_>>(), [1, 0, 1, 1, 1]);
    // The actor of the defect ends a moment after its effect has.
    rig.until_idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_breach_among_them_halts_the_book_and_nothing_of_them_is_written() {
    let rig = Rig::new().await;
    assert_eq!(poke(&rig, vec![(1, How::AtOnce(true)), (2, How::AtOnce(true))]).await, 2);
    let hows = [How::AtOnce(true), How::AtOnce(true), How::Breaks, How::AtOnce(true)];
    assert_eq!(poke(&rig, (1..).zip(hows).collect()).await, 3, "only the poke");
    until("the book is halted", || rig.halted() == [T]).await;
    assert_eq!(rig.view(T).await.unwrap_err(), Failure::Halted);
    assert_eq!((stamps(&rig, 1), stamps(&rig, 3)), (1, 0));
    let rig = rig.crash(Crash::Lost).await;
    assert_eq!(rig.view(T).await.unwrap(), expected(rig.engine.reader(), T, START_MS));
}
