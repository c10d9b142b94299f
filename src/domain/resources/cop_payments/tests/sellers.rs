//! Sales of a seller, and answers that come after a day.

use super::*;
use crate::entities::cop_payment::COLLECT;
use crate::entities::payment::Status;
use crate::resources::merchants;
use crate::values::colombia::Channel;
use crate::values::ids::Id;
use crate::values::time::Timestamp;

fn with_seller() -> (World, Id) {
    let mut world = World::new();
    let id = Id::derived(T0, 77, 0);
    let external_ref = ExternalRef::parse("m").expect("a reference");
    let ask = Registration {
        id,
        external_ref,
        name: Some("Tienda".to_owned()),
        identification: None,
        contact_email: None,
        contact_phone: None,
        method: None,
    };
    world.ask(None, merchants::Command::Register(Box::new(ask)), T0 - 1_000).expect("a record");
    (world, id)
}

#[test]
fn a_sellers_sale_is_shared_and_shared_back() {
    let (mut world, seller) = with_seller();
    let sale = NewCopPayment {
        amount: Cop::from_minor(100_000),
        marketplace: Some((seller, percent(100_000))),
        ..new(Channel::Qr)
    };
    world.say(cop_payments::Command::Collect(Box::new(sale)), T0).expect("a record");
    let record = world.hear(COLLECT, How::Ask, done(), T0 + 1_000).expect("a record");
    assert_eq!(events(&record), [EventKind::PaymentCompleted, EventKind::MerchantBalanceUpdated]);
    let account =
        |world: &World| world.book().sellers.get(&seller).expect("a seller").account(Currency::Cop).clone();
    assert_eq!(
        (world.pesos(), account(&world).net, account(&world).held),
        ((10_000, 10_000, 0), 84_000, 84_000)
    );
    assert_eq!(
        world.book().sellers.get(&seller).expect("a seller").account(Currency::Ves),
        &Account::default()
    );
    world.say(cop_payments::Command::Refund, T0 + 4_000).expect("a record");
    let record = world.hear(17, How::Send, done(), T0 + 4_001).expect("a record");
    assert_eq!(events(&record), [EventKind::PaymentReversed, EventKind::MerchantBalanceUpdated]);
    assert_eq!((world.pesos(), account(&world).net, account(&world).held), ((0, 0, 0), 0, 0));
}

#[test]
fn a_sellers_pesos_are_released_and_told_and_keep_the_seller_from_being_deleted() {
    let (mut world, seller) = with_seller();
    let sale = NewCopPayment { marketplace: Some((seller, percent(0))), ..new(Channel::Qr) };
    world.say(cop_payments::Command::Collect(Box::new(sale)), T0).expect("a record");
    world.hear(COLLECT, How::Ask, done(), T0 + 1_000).expect("a record");
    assert_eq!(world.due(), Some(T0 + 1_000 + HOLD_MS));
    let merchant = world.domain.next_due(&world.book, &|_| false).map(|(_, id)| id);
    assert_eq!(merchant, Some(EntityId::merchant(seller)));
    world.domain.settle(&mut world.book, T0 + 1_000 + HOLD_MS);
    let balance = crate::ledger::sellers::balance(world.book(), seller).expect("a seller");
    assert_eq!(balance.pesos, Some((Cop::ZERO, Cop::from_minor(46_250))));
}

#[test]
fn what_a_new_payment_needs() {
    let (mut world, seller) = with_seller();
    let refuse = |world: &mut World, marketplace| {
        assert!(
            world
                .say(
                    cop_payments::Command::Collect(Box::new(NewCopPayment {
                        marketplace,
                        ..new(Channel::Qr)
                    })),
                    T0
                )
                .is_none()
        );
        world.refusal.clone()
    };
    assert_eq!(refuse(&mut world, Some((Id::derived(1, 1, 0), percent(0)))), Some(Refusal::NotFound));
    assert!(matches!(
        refuse(&mut world, Some((seller, percent(999_999)))),
        Some(Refusal::Invalid { field: "applicationFeePercent", .. })
    ));
}

#[test]
fn after_a_day_no_answer_takes_the_place_of_the_one_that_was_kept() {
    let keep = KeepRef {
        key: "k".to_owned(),
        path: "new".to_owned(),
        body_hash: [0; 16],
        first_seen: Timestamp::EPOCH,
        request_id: "r".to_owned(),
    };
    for (after, is_kept) in [(KEPT_MS - 1, true), (KEPT_MS, false)] {
        let mut world = World::new();
        let command = KeyedCommand {
            command: cop_payments::Command::Collect(Box::new(new(Channel::Sms))).into(),
            keep: Some(keep.clone()),
            audit: None,
            mandate: None,
            consent: None,
        };
        world.say_keyed(command, T0).expect("a record");
        let record = world.hear(COLLECT, How::Send, refused("rejected"), T0 + after).expect("a record");
        assert_eq!((record.kept.is_some(), world.payment().status), (is_kept, Status::Failed));
    }
}
