//! Conversions of a share of each payment, tried until there is a rate.

use super::*;
use crate::entities::conversion::Status;
use actors::Machine;

/// The record of a peso payment of this net, with what it arranges.
fn complete(world: &mut World, net: i64, reference: Option<&str>) -> Option<Arc<Entity>> {
    world.turns += 1;
    let (payment, now) = (Id::derived(world.now, world.turns, 0), Timestamp::from_unix_ms(world.now));
    let turn = Turn { seed: world.turns, ..Turn::at(now) };
    let release_at = now.plus_ms(HOLD_MS);
    let mut draft = Draft::new(Cause::PaymentCompleted);
    let (ledger, currency) = (Ledger::Tenant, Currency::Cop);
    let row = Row {
        kind: MovementKind::Payment,
        subject: None,
        chargeback: None,
        external_ref: None,
        description: String::new(),
        available_at: None,
    };
    draft.post((currency, net), (ledger, Some(row)), (Ledger::Rail, None));
    draft.hold((ledger, currency), release_at, payment, net);
    let of = auto::Completed { payment, reference, net: Cop::from_minor(net), release_at };
    world.domain.settle(&mut world.book, world.now);
    let effect = auto::arrange(world.book(), &mut draft, &of, &turn);
    world.effects.extend(effect);
    let record = Record { seed: turn.seed, first_event: 1, ..draft.record };
    world.apply(record).expect("applied")
}

fn market(world: &mut World, n: usize, rate: Option<i64>) {
    world.tell(n, Command::Market(rate.map(|rate| Rate(Decimal::from(rate))))).expect("it is never refused");
}

fn waiting(percent: u8, net: i64, reference: Option<&str>) -> (World, usize) {
    let mut world = World::with(|settings| settings.conversions.auto_cop_percent = percent);
    let arranged = complete(&mut world, net, reference).expect("something to convert");
    world.conversions.push(arranged);
    (world, 0)
}

#[test]
fn a_share_of_a_payment_is_converted_out_of_its_own_pesos() {
    let (mut world, n) = waiting(50, 94_001, Some("order-7"));
    assert!(
        matches!(
            world.effects.as_slice(),
            [Effect { order: Order::PriceUsdt { currency: Currency::Cop }, .. }]
        ),
        "asked at once"
    );
    // Other held pesos, which would be released earlier, are left alone.
    world.fund(Currency::Cop, 5, false);
    market(&mut world, n, Some(4_000));
    let conversion = world.conversion(n);
    let accepted = conversion.accepted().expect("made");
    // Half of 94001 is 47000.5: up to 47001. 47001 / 4080 = 11.5198…
    assert_eq!(
        (accepted.price.source_minor, accepted.price.target, accepted.status()),
        (47_001, Usdt::from_minor(1_151), Status::Completed)
    );
    assert_eq!(
        (conversion.payment, conversion.reference.as_deref()),
        (Some(accepted.taken[0].hold), Some("order-7"))
    );
    let (cop, usdt) = (world.account(Currency::Cop), world.account(Currency::Usdt));
    assert_eq!((cop.net, cop.held, usdt.held), (47_005, 47_000, 1_151));
    assert_eq!(world.records.last().map(|(_, record)| record.events.len()), Some(2));
    market(&mut world, n, Some(4_000));
    assert_eq!(world.account(Currency::Cop), cop, "a second answer changes nothing");
    assert_eq!(world.accept(n, false), Err(Refusal::NotFound), "it never was a quote");
}

#[test]
fn without_a_rate_it_is_tried_every_minute_for_a_day() {
    let (mut world, n) = waiting(100, 100_000, None);
    market(&mut world, n, None);
    let mut tries = 0;
    while let Some((due, _)) = world.domain.next_due(&world.book, &|_| false) {
        assert!(due - world.now <= auto::RETRY_MS, "at least every minute");
        world.now = due;
        world.effects.clear();
        world.tell(n, Command::Deadline).expect("it is never refused");
        tries += world.effects.len();
    }
    assert_eq!((world.now - START, tries), (auto::PATIENCE_MS, 24 * 60 - 1));
    assert_eq!(world.conversion(n).stage, Stage::Dropped);
    market(&mut world, n, Some(4_000));
    assert_eq!(world.account(Currency::Cop).net, 100_000);
}

#[test]
fn what_stands_in_the_way_leaves_the_pesos() {
    // Below the minimum of one USDT: 4079 pesos are 0.99.
    let (mut world, n) = waiting(100, 4_079, None);
    market(&mut world, n, Some(4_000));
    assert_eq!(world.conversion(n).stage, Stage::Dropped);
    // Spent meanwhile: a conversion took some of the payment's pesos.
    let (mut world, n) = waiting(100, 100_000, None);
    let other = world.quote(Source::Cop, Amount::Source(5_000), 4_000).expect("a price");
    world.accept(other, false).expect("held money may be spent");
    market(&mut world, n, Some(4_000));
    assert_eq!(world.conversion(n).stage, Stage::Dropped);
    assert_eq!(world.domain.next_due(&world.book, &|_| false), None);
    // Over the limit of the day.
    let mut world = World::with(|settings| {
        settings.conversions.auto_cop_percent = 100;
        settings.conversions.daily_limit.cop = Some(99_999);
    });
    let arranged = complete(&mut world, 100_000, None).expect("something to convert");
    world.conversions.push(arranged);
    market(&mut world, 0, Some(4_000));
    assert_eq!(world.conversion(0).stage, Stage::Dropped);
    // Switched off: nothing is arranged at all.
    let mut world = World::new();
    assert!(complete(&mut world, 100_000, None).is_none());
}

#[test]
fn one_that_waits_for_its_fulfilment_can_be_canceled() {
    let (mut world, n) = waiting(100, 100_000, Some("test_pending-9"));
    let before = world.account(Currency::Cop);
    market(&mut world, n, Some(4_000));
    assert_eq!(world.status(n), Some(Status::Pending));
    world.tell(n, conversions::Command::End(Decision::Cancel)).expect("it waits");
    assert_eq!(world.account(Currency::Cop), before);
}
