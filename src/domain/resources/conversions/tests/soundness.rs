//! Any order of commands against the rules that always hold.

use super::*;
use crate::entities::conversion::Status;

#[derive(Clone, Debug)]
enum Step {
    Fund { cop: bool, minor: i64, held: bool },
    Quote { cop: bool, minor: i64, target: bool },
    Accept { n: usize, waits: bool },
    End { n: usize, how: u8 },
    Wait { ms: i64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (any::<bool>(), 1..5_000_000_i64, any::<bool>()).prop_map(|(cop, minor, held)| Step::Fund { cop, minor, held }),
        4 => (any::<bool>(), 1..3_000_000_i64, any::<bool>()).prop_map(|(cop, minor, target)| Step::Quote { cop, minor, target }),
        5 => (any::<usize>(), any::<bool>()).prop_map(|(n, waits)| Step::Accept { n, waits }),
        4 => (any::<usize>(), 0..3_u8).prop_map(|(n, how)| Step::End { n, how }),
        2 => prop_oneof![1..30_000_i64, 1..DAY_MS].prop_map(|ms| Step::Wait { ms }),
    ]
}

/// Checks that the balances are the funds, less the sums that conversions took and plus those that
/// they gave, and that the book's totals are those of the conversions.
fn assert_sound(world: &mut World, funded: [i64; 2]) {
    world.domain.settle(&mut world.book, world.now);
    let accepted: Vec<(Source, &Conversion, &Accepted)> = world
        .conversions
        .iter()
        .filter_map(|entity| {
            if let Entity::Conversion(conversion) = &**entity {
                Some((conversion.source, conversion, conversion.accepted()?))
            } else {
                None
            }
        })
        .collect();
    let book = world.book();
    for source in Source::ALL {
        let of = || {
            accepted.iter().filter(|(of, _, accepted)| *of == source && accepted.status() != Status::Canceled)
        };
        let spent: i64 = of().map(|(_, _, accepted)| accepted.price.source_minor).sum();
        let account = book.account(source.currency());
        assert_eq!(account.net, funded[source as usize] - spent);
        assert_eq!(book.counter.get(&(Ledger::Exchange, source.currency())).copied().unwrap_or(0), spent);
        assert_eq!(account.held, account.holds.values().sum::<i64>());
        assert!(account.holds.values().all(|held| *held > 0) && account.free() >= 0, "{account:?}");
        let now = Timestamp::from_unix_ms(world.now);
        let today = of().filter(|(_, conversion, _)| {
            conversion.created_at.date_in(source.zone()) == now.date_in(source.zone())
        });
        assert_eq!(
            book.converted.on_the_day_of(source, now),
            today.map(|(_, _, accepted)| accepted.price.source_minor).sum::<i64>()
        );
        if source == Source::Ves {
            assert_eq!(book.converted.ves, spent);
        }
    }
    let usdt = book.account(Currency::Usdt);
    let bought: i64 = accepted
        .iter()
        .filter(|(_, _, accepted)| accepted.status() == Status::Completed)
        .map(|(_, _, accepted)| accepted.price.target.minor())
        .sum();
    assert_eq!((usdt.net, usdt.held), (bought, usdt.holds.values().sum::<i64>()));
    let still_held = |accepted: &Accepted| {
        accepted.held_until().is_some_and(|until| until.unix_ms() > world.now)
            && accepted.status() == Status::Completed
    };
    let held: i64 = accepted
        .iter()
        .filter(|(_, _, accepted)| still_held(accepted))
        .map(|(_, _, accepted)| accepted.price.target.minor())
        .sum();
    assert_eq!(usdt.held, held);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_value_appears_or_vanishes(steps in prop::collection::vec(step(), 1..60)) {
        let mut world = World::new();
        let mut funded = [0; 2];
        for step in steps {
            let count = world.conversions.len();
            match step {
                Step::Fund { cop, minor, held } => {
                    world.fund(if cop { Currency::Cop } else { Currency::Ves }, minor, held);
                    funded[usize::from(cop)] += minor;
                }
                Step::Quote { cop, minor, target } => {
                    let amount = if target { Amount::Target(Usdt::from_minor(minor / 1_000 + 1)) } else { Amount::Source(minor) };
                    let _ = if cop { world.quote(Source::Cop, amount, 4_000) } else { world.quote(Source::Ves, amount, 245) };
                }
                Step::Accept { n, waits } if count > 0 => {
                    let _ = world.accept(n % count, waits);
                }
                Step::End { n, how } if count > 0 => {
                    let decision = match how {
                        0 => Decision::Cancel,
                        1 => Decision::Fulfil,
                        _ => Decision::Reject("why not".to_owned()),
                    };
                    let _ = world.tell(n % count, conversions::Command::End(decision));
                }
                Step::Wait { ms } => world.now += ms,
                Step::Accept { .. } | Step::End { .. } => {}
            }
            assert_sound(&mut world, funded);
        }
        // Replay is what ran live, also through a snapshot in the middle.
        let mut replayed = world.domain.empty(3);
        for (n, (time, record)) in world.records.iter().enumerate() {
            if n == world.records.len() / 2 {
                replayed = world.domain.restore(3, &world.domain.save(&replayed)).expect("a snapshot");
            }
            world.domain.settle(&mut replayed, *time);
            let read = world.domain.decode(&world.domain.encode(record)).expect("a record");
            world.domain.evolve(&mut replayed, &read, *time);
        }
        world.domain.settle(&mut replayed, world.now);
        let AnyBook::Tenant(replayed) = replayed else { panic!("a tenant's book") };
        prop_assert_eq!(&*replayed, world.book());
    }
}
