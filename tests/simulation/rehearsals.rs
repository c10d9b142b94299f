//! What a rehearsal of a call comes to is what the call then comes to: the same records, byte by byte, whatever the
//! state that it meets. Both get the same names and the same random bits, and no time passes.

use crate::life::Life;
use crate::seeds::number;
use crate::steps::{self, Act, Step};
use crate::universe::{Universe, tenant, webhooks};
use crate::witness::{Outside, Witness};
use actors::{Engine, Machine};
use domain::record::Record;
use pasarela::gateway::names::Reservations;
use pasarela::outbox::Outbox;
use pasarela::rails::registry::Registry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;
use tokio::time::Instant;
use wal::{BEFORE_REHEARSED, Stepper};

/// Steps of one seed.
const STEPS: usize = 40;
/// Turns of the runtime after which whatever can go on has gone on.
const TURNS: usize = 400;

type Written = Vec<(u64, i64, Record)>;

#[derive(Default)]
struct Counts {
    commands: u64,
    records: u64,
}

fn written(engine: &Engine<Witness>, after: u64) -> Written {
    let decoded = engine.reader().records(after + 1, None).map(|stored| {
        let stored = stored.expect("the log is whole");
        let record = engine.machine().decode(&stored.payload).expect("a record can be decoded");
        (stored.tenant, stored.time_ms, record)
    });
    decoded.collect()
}

async fn rest() {
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
}

/// Whether a step is a call, and not something that the world does.
fn is_call(act: &Act) -> bool {
    !matches!(
        act,
        Act::Feed { .. }
            | Act::FeedInsists { .. }
            | Act::JumpToTheEnd
            | Act::Sleep { .. }
            | Act::Wait { .. }
            | Act::Spike { .. }
            | Act::Unspike
            | Act::Confirm
            | Act::Snapshot
            | Act::Restart
            | Act::Kill { .. }
            | Act::Full { .. }
            | Act::Damage { .. }
    )
}

async fn take(life: &Life, step: &Step) {
    match step.act {
        Act::Jump { ms } => life.jump(tenant(step.who), ms).await,
        ref act => life.act(tenant(step.who), act.clone()).await,
    }
    rest().await;
}

impl Universe {
    /// The same life for a rehearsal, on an engine of its own.
    fn stage(&self, life: &Life) -> (Life, actors::Rehearsal<Witness>) {
        let bank = self.bank.copied();
        let outbox = Outbox::new(
            Arc::new(Registry::new(Arc::new(bank.clone()))),
            life.market.clone(),
            webhooks(),
            Arc::default(),
            life.engine.clock.clone(),
        );
        let (memory, clock) = (Arc::clone(&self.memory), life.engine.clock.clone());
        let effects = Arc::new(Outside { outbox, bank: bank.clone(), memory, clock });
        let rehearsal = life.engine.rehearse(effects);
        let staged = Life {
            engine: rehearsal.clone(),
            bank,
            market: life.market.clone(),
            board: Arc::clone(&life.board),
            memory: Arc::clone(&life.memory),
            jumps: AtomicU64::new(0),
            names: Reservations::over(&life.names),
        };
        (staged, rehearsal)
    }

    async fn rehearse(&mut self, steps: &[Step], counts: &mut Counts) {
        self.bank.answer_at_once();
        let given = Arc::new(Notify::new());
        let (wake, disk) = (Arc::clone(&given), Arc::clone(&given));
        let stepper = Stepper::new(move || wake.notify_one());
        let log = stepper.clone();
        // A disk that takes no time.
        tokio::spawn(async move {
            loop {
                disk.notified().await;
                while log.step() {}
            }
        });
        let (board, market) = self.memory().feed.restart();
        let engine = self.start(stepper, market.clone()).await;
        let life = Life {
            engine,
            bank: self.bank.clone(),
            market,
            board,
            memory: Arc::clone(&self.memory),
            jumps: AtomicU64::new(0),
            names: Arc::default(),
        };
        for (n, step) in steps.iter().enumerate() {
            if let Act::Wait { ms } = step.act {
                tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
                rest().await;
            }
            if matches!(step.act, Act::Feed { .. } | Act::FeedInsists { .. }) {
                take(&life, step).await;
            }
            if !is_call(&step.act) {
                continue;
            }
            let (undo, turns) = (self.memory().mark(), self.turns.load(Ordering::Relaxed));
            let before = life.engine.reader().last_seq();
            let (began, rehearsed) = (Instant::now(), {
                let (staged, rehearsal) = self.stage(&life);
                take(&staged, step).await;
                written(&rehearsal, BEFORE_REHEARSED)
            });
            rest().await;
            let has_waited = began != Instant::now();
            undo(&mut self.memory());
            self.turns.store(turns, Ordering::Relaxed);
            // What falls due while somebody waits is not the call's.
            if !has_waited {
                assert_eq!(life.engine.reader().last_seq(), before, "step {n} wrote something: {step:?}");
            }
            let before = life.engine.reader().last_seq();
            take(&life, step).await;
            let made = written(&life.engine, before);
            counts.commands += 1;
            if has_waited {
                continue;
            }
            counts.records += made.len() as u64;
            assert_eq!(rehearsed, made, "step {n} comes to something else than its rehearsal: {step:?}");
        }
        let _ = self.diary.take();
        life.engine.stop(std::time::Duration::from_secs(1)).await;
    }
}

#[test]
fn a_rehearsal_comes_to_what_the_call_comes_to() {
    let (first, count) = (number("REHEARSAL_FIRST", 0), number("REHEARSAL_SEEDS", 150));
    let mut counts = Counts::default();
    for seed in first..first + count {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let steps = steps::of_seed(seed, STEPS);
        println!("seed {seed}");
        runtime.block_on(Universe::new(seed).rehearse(&steps, &mut counts));
    }
    assert!(counts.records > count * 10, "the seeds come to little");
    println!(
        "rehearsals: {count} seeds from {first}, {} commands, {} records",
        counts.commands, counts.records
    );
}
