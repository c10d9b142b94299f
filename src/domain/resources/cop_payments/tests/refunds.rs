//! Refunds: their order, their window, and a processor that stays silent.

use super::*;
use crate::entities::cop_payment::Phase;
use crate::entities::payment::Status;
use crate::refusal::{CopPaymentRefusal, PaymentRefusal};
use crate::values::colombia::Channel;
use crate::values::ids::Id;
use crate::values::time::Timestamp;
use std::sync::Arc;

#[test]
fn a_refund_takes_its_own_hold_first_then_what_is_available_then_other_holds() {
    let mut world = World::completed();
    assert_eq!(world.pesos(), (46_250, 46_250, 0));
    world.fund(10_000, true, T0 + 2_000);
    world.fund(5_000, false, T0 + 3_000);
    let record = world.say(cop_payments::Command::Refund, T0 + 4_000).expect("a record");
    assert!(record.postings.is_empty(), "set aside, not moved");
    assert_eq!(world.pesos(), (61_250, 56_250, 5_000), "shown as held");
    assert!(world.hear(17, How::Send, done(), T0 + 4_001).is_some());
    assert_eq!(world.pesos(), (15_000, 10_000, 5_000));
    // A sale whose hold has ended, and whose pesos are gone: what is available and then the hold of
    // another.
    let mut world = World::completed();
    world.fund(20_000, true, T0 + HOLD_MS);
    world.domain.settle(&mut world.book, T0 + 1_000 + HOLD_MS);
    let ask = Adjustment {
        cause: Cause::Adjusted,
        currency: Currency::Cop,
        minor: -40_000,
        merchant: None,
        held: false,
        description: String::new(),
        external_ref: None,
    };
    world.ask(None, Command::Adjust(Box::new(ask)), T0 + HOLD_MS + 2_000);
    assert_eq!(world.pesos(), (26_250, 20_000, 6_250));
    assert!(world.say(cop_payments::Command::Refund, T0 + HOLD_MS + 3_000).is_none());
    let missing = CopPaymentRefusal::RefundNotCovered {
        available: Cop::from_minor(6_250),
        spendable: Cop::from_minor(26_250),
    }
    .into();
    assert_eq!(world.refusal, Some(missing));
    world.fund(20_000, true, T0 + HOLD_MS + 4_000);
    world.say(cop_payments::Command::Refund, T0 + HOLD_MS + 5_000).expect("a record");
    let Phase::Refunding { aside, .. } = &world.payment().phase else { panic!("a refund") };
    assert_eq!(
        (aside.own.from_available, aside.own.from_holds.iter().map(|part| part.minor).collect::<Vec<_>>()),
        (6_250, vec![20_000, 20_000])
    );
    world.hear(17, How::Send, done(), T0 + HOLD_MS + 5_001).expect("a record");
    assert_eq!(world.pesos(), (0, 0, 0));
}

#[test]
fn a_refund_that_is_not_done_gives_everything_back_but_what_is_released_by_now() {
    let mut world = World::completed();
    let before = world.book().account(Currency::Cop).clone();
    world.say(cop_payments::Command::Refund, T0 + 4_000).expect("a record");
    let Phase::Refunding { .. } = world.payment().phase else { panic!("a refund") };
    assert!(world.say(cop_payments::Command::Refund, T0 + 4_500).is_none());
    assert_eq!(world.refusal, Some(CopPaymentRefusal::RefundInProgress.into()));
    world.hear(17, How::Send, refused("processor_unavailable"), T0 + 5_000).expect("a record");
    assert_eq!(
        (world.refusal.clone(), world.payment().status),
        (Some(CopPaymentRefusal::ProcessorUnavailable.into()), Status::Completed)
    );
    assert_eq!(world.book().account(Currency::Cop), &before);
    // The next try has a name of its own; an answer to the first one moves nothing, and if it is the
    // opposite of what was said, it is written down.
    world.say(cop_payments::Command::Refund, T0 + 6_000).expect("a record");
    assert_eq!(world.payment().operation(), Some(world.payment().id.operation(18)));
    assert!(world.hear(17, How::Ask, refused("processor_unavailable"), T0 + 6_500).is_none());
    let set_aside = world.pesos();
    let record = world.hear(17, How::Ask, done(), T0 + 7_000).expect("a record");
    assert_eq!((record.cause, world.payment().contradicted()), (Cause::OperationContradicted, Some(17)));
    assert_eq!((world.pesos(), world.payment().status), (set_aside, Status::Completed));
    // The bank takes so long that the hold ends meanwhile.
    world.hear(18, How::Ask, refused("processor_unavailable"), T0 + 2_000 + HOLD_MS).expect("a record");
    assert_eq!(world.pesos(), (46_250, 0, 46_250));
}

#[test]
fn the_window_of_a_refund_ends_exactly() {
    for (after, refusal) in [
        (refund::WINDOW_MS - 1, None),
        (refund::WINDOW_MS, Some(CopPaymentRefusal::RefundWindowExpired.into())),
    ] {
        let mut world = World::completed();
        world.say(cop_payments::Command::Refund, T0 + 1_000 + after);
        assert_eq!(world.refusal, refusal);
    }
    let mut pending = World::collecting(Channel::Qr);
    pending.say(cop_payments::Command::Refund, T0 + 1_000);
    assert_eq!(pending.refusal, Some(PaymentRefusal::NotCompleted.into()));
}

#[test]
fn a_silent_processor_is_asked_about_a_refund_and_sent_it_again_only_if_it_never_received_it() {
    let mut world = World::completed();
    world.say(cop_payments::Command::Refund, T0 + 4_000).expect("a record");
    assert!(world.hear(17, How::Send, RailAnswer::Silent, T0 + 4_001).is_none());
    assert_eq!(world.due(), Some(T0 + 64_000));
    world.say(Command::Deadline, T0 + 64_000);
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { how: How::Ask, order: Order::RefundCop { .. }, .. }]
    ));
    world.hear(17, How::Ask, RailAnswer::Waiting, T0 + 64_000).expect("a record");
    assert!(world.effects.is_empty());
    world.hear(17, How::Ask, RailAnswer::NeverReceived, T0 + 184_000).expect("a record");
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { how: How::Send, order: Order::RefundCop { .. }, .. }]
    ));
    world.hear(17, How::Send, done(), T0 + 184_001).expect("a record");
    assert_eq!((world.payment().status, world.pesos()), (Status::Reversed, (0, 0, 0)));
}

/// The refund of which the processor said both, and its reference.
fn said_both_of(world: &World) -> Option<(Id, Option<String>)> {
    let entity = world.payment.as_deref().expect("a payment");
    entity.rules().contradiction(Timestamp::from_unix_ms(T0)).map(|order| (order.id, order.reference))
}

fn made(reference: &str) -> RailAnswer {
    RailAnswer::done(reference)
}

#[test]
fn a_late_word_about_an_earlier_refund_is_remembered_beside_the_newest() {
    let mut world = World::completed();
    let id = world.payment().id;
    world.say(cop_payments::Command::Refund, T0 + 2_000).expect("a record");
    world.hear(17, How::Send, refused("processor_unavailable"), T0 + 3_000).expect("a record");
    world.say(cop_payments::Command::Refund, T0 + 4_000).expect("a record");
    world.hear(17, How::Ask, made("R-1"), T0 + 5_000).expect("a record");
    let of_the_first = Some((id.operation(17), Some("R-1".to_owned())));
    assert_eq!(said_both_of(&world), of_the_first);
    let open = world.payment.as_deref().expect("a payment").rules().unanswered();
    assert_eq!(
        open.iter().map(|open| (open.id, &open.reference)).collect::<Vec<_>>(),
        [(id.operation(18), &None)]
    );
    assert!(world.hear(17, How::Ask, made("R-1"), T0 + 5_500).is_none(), "once");
    let refused_again = {
        world.hear(18, How::Ask, refused("processor_unavailable"), T0 + 6_000).expect("a record");
        said_both_of(&world)
    };
    assert_eq!(refused_again, of_the_first, "not the second, which was refused");
    world.say(cop_payments::Command::Refund, T0 + 7_000).expect("a record");
    world.hear(18, How::Ask, made("R-2"), T0 + 7_500).expect("a record");
    assert_eq!(said_both_of(&world), Some((id.operation(18), Some("R-2".to_owned()))));
    world.hear(19, How::Send, made("R-3"), T0 + 8_000).expect("a record");
    let refunded = world.payment();
    assert_eq!((refunded.status, refunded.refund_reference.as_deref()), (Status::Reversed, Some("R-3")));
    assert_eq!(said_both_of(&world), Some((id.operation(18), Some("R-2".to_owned()))), "given back thrice");
}

#[test]
fn what_the_newest_refund_was_contradicted_by_stays_with_it_when_another_begins() {
    let mut world = World::completed();
    let id = world.payment().id;
    world.say(cop_payments::Command::Refund, T0 + 2_000).expect("a record");
    world.hear(17, How::Send, refused("processor_unavailable"), T0 + 3_000).expect("a record");
    world.hear(17, How::Ask, made("R-1"), T0 + 4_000).expect("a record");
    let of_the_first = Some((id.operation(17), Some("R-1".to_owned())));
    assert_eq!(said_both_of(&world), of_the_first);
    world.say(cop_payments::Command::Refund, T0 + 5_000).expect("a record");
    assert_eq!(said_both_of(&world), of_the_first);
    world.hear(18, How::Send, made("R-2"), T0 + 6_000).expect("a record");
    let refunded = world.payment();
    assert_eq!((refunded.status, refunded.refund_reference.as_deref()), (Status::Reversed, Some("R-2")));
    assert_eq!(said_both_of(&world), of_the_first, "the processor gave it back twice");
}

#[test]
fn no_refund_begins_while_the_processor_is_asked_on_about_one_before() {
    let settled_by_operator = |world: &World| {
        let mut payment = world.payment().clone();
        payment.order.ask_on(&Turn::at(Timestamp::from_unix_ms(T0 + 3_000)));
        Some(Arc::new(Entity::CopPayment(payment)))
    };
    let mut world = World::completed();
    world.payment = settled_by_operator(&world);
    world.say(cop_payments::Command::Refund, T0 + 4_000).expect("a collection is in nobody's way");
    let mut world = World::completed();
    world.say(cop_payments::Command::Refund, T0 + 2_000).expect("a record");
    world.hear(17, How::Send, refused("processor_unavailable"), T0 + 3_000).expect("a record");
    world.payment = settled_by_operator(&world);
    assert!(world.say(cop_payments::Command::Refund, T0 + 4_000).is_none());
    assert_eq!(world.refusal, Some(CopPaymentRefusal::RefundInProgress.into()));
    // The processor agrees, and nobody asks about the first any more.
    world.hear(17, How::Ask, refused("processor_unavailable"), T0 + 5_000).expect("a record");
    world.say(cop_payments::Command::Refund, T0 + 6_000).expect("a record");
}
