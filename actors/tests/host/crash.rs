//! A power cut at any moment: every acknowledged command is there, none is there in part, and the
//! books are what a sequential model says.

use crate::background_snapshots::assert_true;
use crate::memory::expected;
use crate::rig::{FAR_MS, Rig, Setup, done};
use crate::toy::{Command, How, Phase, Purses};
use actors::{Failure, Machine};
use faulty::Crash;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A step of a tenant's life.
#[derive(Clone, Debug)]
enum Step {
    Deposit(i64),
    Reserve(i64),
    Withdraw(i64, How),
    Tick(i64),
    Advance(i64),
    Snapshot,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let how = prop_oneof![Just(How::AtOnce(true)), Just(How::AtOnce(false)), Just(How::Panics)];
    let step = prop_oneof![
        4 => (1..100_i64).prop_map(Step::Deposit),
        3 => (1..50_i64).prop_map(Step::Reserve),
        4 => ((1..80_i64), how).prop_map(|(amount, how)| Step::Withdraw(amount, how)),
        1 => (1..500_i64).prop_map(Step::Tick),
        1 => (1..500_i64).prop_map(Step::Advance),
        2 => Just(Step::Snapshot),
    ];
    prop::collection::vec((0..4_u64, step), 1..60)
}

async fn take(rig: &Rig, tenant: u64, id: u32, step: Step) -> Result<Option<u64>, Failure> {
    let reply = match step {
        Step::Deposit(amount) => rig.deposit(tenant, amount).await,
        Step::Reserve(amount) => rig.book(tenant, Command::Reserve { amount, for_ms: 50 }).await,
        Step::Withdraw(amount, how) => rig.withdraw(tenant, id, amount, how).await,
        Step::Tick(every_ms) => rig.ask(tenant, id, Command::Tick { every_ms, times: 2, how: None }).await,
        Step::Advance(ms) => rig.engine.advance(tenant, ms, (0, Command::MoveClock), None).await,
        Step::Snapshot => return rig.engine.snapshot().await.map(|_| None),
    };
    reply.map(|settled| settled.seq)
}

/// Runs the steps with `width` callers, cuts the power after `cut_after` writes, and looks at what
/// the next start finds.
async fn crash_and_look(steps: Vec<(u64, Step)>, width: usize, cut_after: u64, crash: Crash) {
    let rig = Arc::new(Rig::with(Setup::default()).await);
    let mut lanes: Vec<Vec<(u32, u64, Step)>> = vec![Vec::new(); width];
    for (n, (tenant, step)) in steps.into_iter().enumerate() {
        lanes[n % width].push((u32::try_from(n).unwrap(), tenant, step));
    }
    let mut callers = tokio::task::JoinSet::new();
    for lane in lanes {
        let rig = Arc::clone(&rig);
        callers.spawn(async move {
            let mut acknowledged = Vec::new();
            for (id, tenant, step) in lane {
                match take(&rig, tenant, id, step).await {
                    Ok(seq) => acknowledged.extend(seq.map(|seq| (seq, tenant))),
                    Err(Failure::Storage(_)) => break,
                    Err(failure) => panic!("{failure:?}"),
                }
            }
            acknowledged
        });
    }
    let mut acknowledged = Vec::new();
    // The loop ends when enough was written, or no caller has anything left to ask.
    while rig.faults.writes() < cut_after && !callers.is_empty() {
        tokio::task::yield_now().await;
        while let Some(lane) = callers.try_join_next() {
            acknowledged.extend(lane.unwrap());
        }
    }
    let store = rig.faults.crash(crash);
    for lane in callers.join_all().await {
        acknowledged.extend(lane);
    }
    let next = Rig::with(Setup { store, clock: rig.setup.clock.clone(), ..Setup::default() }).await;
    let reader = next.engine.reader().clone();
    let mut owners = BTreeMap::new();
    for record in reader.records(1, None) {
        let record = record.expect("the log is whole");
        owners.insert(record.seq, record.tenant);
    }
    for (seq, tenant) in acknowledged {
        assert_eq!(owners.get(&seq), Some(&tenant), "an acknowledged record is there");
    }
    // Deadlines that an advance left behind come at the start; a book that answers has given them
    // to their entities.
    for tenant in 0..4 {
        next.view(tenant).await.unwrap();
    }
    next.until_idle().await;
    let now_ms = next.setup.clock.wall_ms();
    for tenant in 0..4 {
        let view = next.view(tenant).await.unwrap();
        assert_eq!(view, expected(&reader, tenant, now_ms));
        assert_eq!(
            view.0.pending,
            pending(&reader, tenant),
            "money is pending exactly for transfers that are"
        );
    }
    assert_true(&reader);
    assert!(rig.fatal().len() <= 1);
    assert_eq!(next.fatal(), Vec::<String>::new());
    next.engine.stop(Duration::from_secs(10)).await;
}

/// The sum of a tenant's pending transfers, from their newest states.
fn pending(reader: &wal::Reader, tenant: u64) -> i64 {
    let mut newest = BTreeMap::new();
    for record in reader.records(1, None).map(Result::unwrap).filter(|record| record.tenant == tenant) {
        let entry = Purses.decode(&record.payload).unwrap();
        if let Some(transfer) = entry.transfer {
            newest.insert(entry.id, transfer);
        }
    }
    newest.values().filter(|transfer| transfer.phase == Phase::Pending).map(|transfer| transfer.amount).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_life_survives_a_power_cut(steps in steps(), width in 1..9_usize, cut_after in 1..60_u64, how in 0..3_usize, bytes in 0..4_000_usize) {
        let crash = [Crash::Lost, Crash::Kept, Crash::Torn(bytes)][how];
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(crash_and_look(steps, width, cut_after, crash));
        runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_in_a_held_write_loses_or_keeps_all_of_it() {
    for (crash, balance) in [(Crash::Lost, 1), (Crash::Torn(40), 1), (Crash::Kept, 31)] {
        let rig = Arc::new(Rig::new().await);
        done(rig.deposit(3, 1).await);
        rig.faults.hold_syncs();
        let mut asked = tokio::task::JoinSet::new();
        let ask = |asked: &mut tokio::task::JoinSet<bool>, amount| {
            let rig = Arc::clone(&rig);
            asked.spawn(async move { matches!(rig.deposit(3, amount).await, Err(Failure::Storage(_))) });
        };
        ask(&mut asked, 30);
        rig.until_held().await;
        ask(&mut asked, 500);
        crate::rig::until("both are on their way", || rig.engine.status().log.pending_records == 2).await;
        let store = rig.faults.crash(crash);
        assert!(asked.join_all().await.into_iter().all(|told| told), "both are told that it is unknown");
        let next = Rig::with(Setup { store, ..Setup::default() }).await;
        assert_eq!(next.balance(3).await, balance);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_withdrawal_cut_between_its_records_falls_back_by_its_deadline() {
    let rig = Arc::new(Rig::new().await);
    done(rig.deposit(3, 10).await);
    let asked = tokio::spawn({
        let rig = Arc::clone(&rig);
        async move { rig.withdraw(3, 1, 4, How::Late(true)).await.err() }
    });
    crate::rig::until("the effect is begun", || rig.world.begun() == 1).await;
    let store = rig.faults.crash(Crash::Lost);
    rig.world.open();
    assert!(matches!(asked.await.unwrap(), Some(Failure::Storage(_))));
    let next = Rig::with(Setup { store, clock: rig.setup.clock.clone(), ..Setup::default() }).await;
    assert_eq!(next.view(3).await.unwrap().0.pending, 4);
    assert_eq!(next.world.begun(), 0, "nothing is sent again by itself");
    next.setup.clock.forward(FAR_MS);
    crate::rig::until("it falls back", || next.transfer(3, 1).unwrap().phase == Phase::Failed).await;
    assert_eq!(next.balance(3).await, 10);
}
