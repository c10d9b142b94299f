//! Three machines in one thread, over a quorum that loses, delays and repeats: what was acknowledged
//! is in every log, once, whatever the seed.
//!
//! A seed decides everything: which machine has its turn, who is paused, killed or cut off, whose
//! disk refuses, whose clock jumps by up to ten seconds, and the fate of each call to the quorum.
//! While one machine waits for an answer the others have their turns. `CLUSTER_SEEDS=FIRST..LAST`
//! runs others than the usual ones.

mod machine;
mod universe;

use universe::{Broken, Universe};

/// The seeds that every run tries: some seconds.
const SEEDS: std::ops::Range<u64> = 0..2_000;
/// The seeds among which the canary must be caught.
const CANARY_SEEDS: std::ops::Range<u64> = 0..300;

fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("CLUSTER_SEEDS").ok();
    let range = given.as_deref().and_then(|given| given.split_once(".."));
    range.map_or(SEEDS, |(from, to)| from.parse().expect("a number")..to.parse().expect("a number"))
}

#[test]
fn what_was_acknowledged_is_everywhere_once_over_thousands_of_seeds() {
    let (mut acknowledged, mut takeovers) = (0, 0);
    for seed in seeds() {
        match Universe::new(seed, false).run() {
            Ok(seen) => {
                acknowledged += seen.acknowledged;
                takeovers += seen.takeovers;
            }
            Err(Broken(why)) => panic!("seed {seed}: {why}"),
        }
    }
    let runs = seeds().end - seeds().start;
    assert!(acknowledged > 5 * runs && takeovers > runs, "{acknowledged} records, {takeovers} takeovers");
}

#[test]
fn a_writer_that_acknowledges_before_the_quorum_is_caught() {
    let caught = CANARY_SEEDS.filter(|seed| Universe::new(*seed, true).run().is_err()).count();
    assert!(caught > 0, "none of the seeds has found the canary");
}
