//! The whole engine, simulated: every seed is a history of tenants, banks, clocks and crashes in
//! virtual time, judged turn by turn by a small sequential model, by the ledger, by what was
//! answered before, and by the program's own proofs. `docs/testing.md` says how to use it.

mod acts;
mod agents;
mod bank;
mod clocks;
mod court;
mod damage;
mod disk;
mod judge;
mod life;
mod mandates;
mod model;
mod other_money;
mod partitions;
mod prices;
mod rehearsals;
mod seeds;
mod statements;
mod steps;
mod universe;
mod values;
mod witness;

use bank::{Fate, Script};
use domain::entities::mandate_approval::{MandateApproval, Waiting};
use domain::machine::{AnyBook, KeyedCommand};
use domain::platform::mandate::{Limits, Mandate};
use domain::record::Record;
use domain::resources::mandate_approvals::Consent;
use domain::values::money::Currency;
use faulty::Crash;
use seeds::{Found, run, run_with, shortest};
use std::sync::Arc;
use std::time::Instant;
use steps::{Act, Step, To, Who};
use universe::Universe;
use witness::{Bend, By};

/// Steps of one seed.
const STEPS: usize = 40;

/// Records and refusals that the seeds must come to.
const EXPECTED: &[&str] = &[
    "payment.requested",
    "payment.charging",
    "payment.completed",
    "payment.failed",
    "payment.canceled",
    "payment.reversal_begun",
    "payment.reversal_refused",
    "payment.reversed",
    "bank.asked",
    "payout.created",
    "payout.completed",
    "payout.failed",
    "batch.created",
    "merchant.created",
    "merchant.changed",
    "merchant.deleted",
    "merchant.released",
    "balance.funded",
    "balance.adjusted",
    "clock.moved",
    "tenant.settings_changed",
    "chargeback.opened",
    "chargeback.closed",
    "own_account.changed",
    "insufficient_balance",
    "external_ref_conflict",
    "charge_in_progress",
    "payment_in_progress",
    "intent_mismatch",
    "intent_canceled",
    "intent_failed",
    "not_reversible",
    "payment_not_completed",
    "reversal_window_expired",
    "reversal_in_progress",
    "reversal_refused",
    "merchant_inactive",
    "payout_method_not_verified",
    "merchant_has_balance",
    "already_verified",
    "chargeback_not_allowed",
    "chargeback_exceeds_payment",
    "payout_account_not_verified",
    "not_found",
    "invalid_data",
    "approval.asked",
    "approval.decided",
    "awaiting_approval",
    "approval_decided",
    "approval_expired",
    "mandate_exceeded",
    "mandate_payee",
    "damage.refused_at_start",
    "damage.noticed",
    "disk.full",
    "disk.full_at_start",
    "price.late",
    "price.near",
    "price.suspect",
    "price.insisted",
];

#[test]
fn every_seed_keeps_its_promises() {
    let (first, count) = (seeds::number("SIMULATION_FIRST", 0), seeds::number("SIMULATION_SEEDS", 1_000));
    let began = Instant::now();
    let mut total = seeds::Total::default();
    for seed in first..first + count {
        match run(seed, &steps::of_seed(seed, STEPS)) {
            Ok(report) => total.add(&report),
            Err(why) => {
                let Found { steps, why } = shortest(seed, steps::of_seed(seed, STEPS), why);
                let history: Vec<String> = steps.iter().map(|step| format!("  {step:?}")).collect();
                panic!(
                    "seed {seed}, the {}. that was tried, after {} steps:\n{}\n{why}",
                    seed - first + 1,
                    steps.len(),
                    history.join("\n")
                );
            }
        }
    }
    println!("simulation: {count} seeds from {first}, {total}, {:.1} s", began.elapsed().as_secs_f64());
}

#[test]
fn a_seed_is_the_same_history_each_time() {
    for seed in 0..10 {
        let steps = steps::of_seed(seed, STEPS);
        let once = run(seed, &steps).expect("a seed that keeps its promises");
        assert_eq!(run(seed, &steps).expect("the same"), once, "seed {seed}");
        assert_ne!(once.fingerprint, 0);
    }
}

#[test]
fn the_steps_come_to_everything() {
    // Names that no sequence reaches are not compared with anything.
    let mut seen = std::collections::BTreeSet::new();
    let mut missing: Vec<&str> = EXPECTED.to_vec();
    // Rare things take hundreds of seeds.
    for seed in 0..1_000 {
        seen.extend(run(seed, &steps::of_seed(seed, STEPS)).expect("a seed that keeps its promises").seen);
        missing.retain(|name| !seen.contains(*name));
        if missing.is_empty() {
            return;
        }
    }
    panic!("no seed comes to {missing:?}");
}

fn home(act: Act) -> Step {
    Step { who: Who::Home, act, together: false }
}

/// Money, and a crash after it.
fn some_life() -> Vec<Step> {
    let fund = || home(Act::Fund { cents: 1_000, held: false, seller: None });
    let kill = home(Act::Kill { writes: 9, crash: Crash::Lost });
    vec![fund(), kill, home(Act::Wait { ms: 100 }), fund(), home(Act::Snapshot)]
}

/// An agent's payouts: one that the bank refuses, one that waits for a person and is approved twice, one above the limit.
fn a_budget(who: Who) -> Vec<Step> {
    let step = |act| Step { who, ..home(act) };
    let bank = |fate| Script { fate, takes_ms: 0 };
    let pay = |cents, fate| {
        let act = Box::new(Act::Pay { to: To::Phone, cents, bank: bank(fate) });
        step(Act::ByAgent { agent: 0, act })
    };
    vec![
        step(Act::Fund { cents: 900_000, held: false, seller: None }),
        pay(50_000, Fate::Done),
        pay(60_000, Fate::Refused),
        pay(150_000, Fate::Done),
        step(Act::Decide { n: 0, approve: true }),
        step(Act::Decide { n: 0, approve: true }),
        pay(100_000, Fate::Refused),
        step(Act::Kill { writes: 9, crash: Crash::Lost }),
        step(Act::Wait { ms: 100 }),
        pay(350_001, Fate::Done),
        pay(90_000, Fate::Done),
    ]
}

/// Rules that look at no limit.
fn without_limits(_: &mut AnyBook, command: &mut KeyedCommand) {
    if let Some(mandate) = &mut command.mandate {
        let all = Limits([Currency::Ves, Currency::Cop, Currency::Usdt].map(|of| (of, i64::MAX)).into());
        let Mandate { per_call, per_day, per_month, approval_above, .. } = Arc::make_mut(mandate);
        (*per_call, *per_day, *per_month, *approval_above) = (Some(all), None, None, None);
    }
}

/// Rules for which whatever is decided waits still.
fn for_ever_waiting(book: &mut AnyBook, command: &mut KeyedCommand) {
    if let (AnyBook::Tenant(book), Some(Consent::Given(given))) = (book, &command.consent) {
        let MandateApproval { id, mandate, expires_at, ref subject, .. } = given.approval;
        let waiting = Waiting { expires_at, subject: subject.clone() };
        book.waiting.insert((mandate, id), Arc::new(waiting));
    }
}

#[test]
fn the_judges_notice_what_is_wrong() {
    // Canaries: what is planted must be found, or the judges judge nothing.
    let judged = |spoil: fn(&mut Universe)| run_with(1, &some_life(), spoil).map(|_| ());
    assert_eq!(judged(|_| {}), Ok(()));
    let noticed = |what: &str, spoil: fn(&mut Universe)| {
        let why = judged(spoil).expect_err("it is noticed");
        assert!(why.contains(what), "{why}");
    };
    noticed("the sum", |universe| universe.court.mislead = |model| model.net += 1);
    noticed("what was told", |universe| universe.court.mislead = |model| model.events += 1);
    noticed("a restart always starts", |universe| {
        universe.meddle = |store| store.faults().drop_records_after(0)
    });
    let quotes = |spoil: fn(&mut Universe)| {
        let quote = Step { who: Who::Other, ..home(Act::Quote { pesos: false, minor: 100_000 }) };
        run_with(1, &[quote], spoil).map(|_| ())
    };
    assert_eq!(quotes(|_| {}), Ok(()));
    let why = quotes(|universe| universe.believe_another_price()).expect_err("it is noticed");
    assert!(why.contains("is believed"), "{why}");
    let agents = |plant: fn(&mut Record)| {
        run_with(1, &a_budget(Who::Home), move |universe| universe.plant = plant).map(|_| ())
    };
    assert_eq!(agents(|_| {}), Ok(()));
    let fails = |plant: fn(&mut Record), what: &str| {
        let why = agents(plant).expect_err("it is noticed");
        assert!(why.contains(what), "{why}");
    };
    let back_twice = |record: &mut Record| {
        let back = record.spent.iter_mut().filter(|spending| spending.minor < 0);
        back.for_each(|spending| spending.minor *= 2);
    };
    fails(back_twice, "more was given back");
    fails(|record| record.spent.retain(|spending| spending.minor > 0), "given back exactly once");
    fails(|record| record.spent.clear(), "drawn from nothing");
    for (who, of_limit, of_decision) in [
        (Who::Home, "the verdict on", "the verdict on"),
        (Who::Other, "are out under a mandate that lets", "is decided twice"),
    ] {
        let bent = |bend| run_with(1, &a_budget(who), |universe| universe.bend = bend).map(|_| ());
        assert_eq!(bent(None), Ok(()));
        for (bend, what) in [(without_limits as Bend, of_limit), (for_ever_waiting, of_decision)] {
            let why = bent(Some(bend)).expect_err("it is noticed");
            assert!(why.contains(what), "{why}");
        }
    }
    noticed("the log is whole", |universe| {
        universe.meddle = |store| store.faults().flip_byte_of_record(1, 60)
    });
}

#[test]
fn a_clock_that_a_crash_stops_in_its_advance_goes_on() {
    // A round of snapshots in a clock advance once saved a book as of an instant that no record had
    // moved its clock to; after a crash the clock stood for as long.
    let bank = Script { fate: Fate::Lost, takes_ms: 6 };
    let steps = [
        home(Act::Collect { by: By::Card, usd_cents: 9_645, seller: None, bank }),
        home(Act::Kill { writes: 1, crash: Crash::Torn(2_516) }),
        Step { together: true, ..home(Act::Jump { ms: 21_556_195 }) },
        home(Act::Snapshot),
    ];
    for seed in 0..20 {
        run(seed, &steps).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}
