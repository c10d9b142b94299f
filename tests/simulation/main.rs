//! The pure core against a small sequential model: random sequences of every command of the bolívar
//! side, of banks that say yes, no, nothing or two things, and of time, compared after every step;
//! and the same records replayed, from the start and from a snapshot, in the middle of it all.

mod acts;
mod model;
mod steps;
mod world;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use steps::{Bank, Step, To, step};
use world::World;

proptest! {
    // A long run: PROPTEST_CASES=20000.
    #[test]
    fn the_core_agrees_with_the_model_and_with_its_own_replay(steps in prop::collection::vec(step(), 1..100), middle in any::<prop::sample::Index>()) {
        let mut world = with_merchants();
        let middle = middle.index(steps.len());
        for (n, step) in steps.iter().enumerate() {
            world.take(step);
            world.assert_as_the_model_says();
            if n == middle {
                world.save();
            }
        }
        world.crash();
        world.assert_as_the_model_says();
    }
}

/// A world with a merchant that can be paid and one that cannot.
fn with_merchants() -> World {
    let mut world = World::new();
    for shell in [false, true] {
        world.take(&Step::Register { shell });
    }
    world.take(&Step::Prove { n: 0, nth: 0, bank: Bank::Done });
    world
}

#[test]
fn the_steps_come_to_everything() {
    // What no sequence reaches is not compared with anything.
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    for _ in 0..128 {
        let steps = prop::collection::vec(step(), 100).new_tree(&mut runner).expect("a sequence").current();
        let mut world = with_merchants();
        steps.iter().for_each(|step| world.take(step));
        seen.extend(world.seen);
    }
    let expected = [
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
        "tenant.sheet",
        "chargeback.opened",
        "chargeback.closed",
        "own_account.changed",
        "insufficient_balance",
        "external_ref_conflict",
        "charge_in_progress",
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
        "merchant_has_payouts",
        "merchant_has_balance",
        "verification_in_progress",
        "already_verified",
        "chargeback_not_allowed",
        "chargeback_exceeds_payment",
        "chargeback_closed",
        "payout_account_not_verified",
        "not_found",
        "invalid_data",
    ];
    let missing: Vec<&&str> = expected.iter().filter(|name| !seen.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Whether the checks find what `spoil` does to a world that was in order.
fn is_noticed(spoil: impl FnOnce(&mut World)) -> bool {
    let mut world = World::new();
    world.take(&Step::Register { shell: false });
    world.take(&Step::Prove { n: 0, nth: 0, bank: Bank::Done });
    world.take(&Step::Fund { cents: 1_000, held: false, seller: None });
    world.take(&Step::Pay { to: To::Phone, cents: 100, bank: Bank::Done });
    world.assert_as_the_model_says();
    spoil(&mut world);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.assert_as_the_model_says();
        world.crash();
    }))
    .is_err()
}

#[test]
fn the_harness_notices_what_is_wrong() {
    // Canaries: what is planted must be found, or the checks above check nothing.
    assert!(!is_noticed(|_| {}));
    assert!(is_noticed(|world| world.model.net += 1), "a cent too much");
    assert!(is_noticed(|world| world.model.events += 1), "an event that was not told");
    assert!(
        is_noticed(|world| world
            .model
            .sent
            .values_mut()
            .for_each(|sent| sent.stands = model::Sending::Failed)),
        "a payout that stands otherwise"
    );
    assert!(is_noticed(World::lose_a_record), "a record that did not reach the disk");
}
