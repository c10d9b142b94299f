//! Ends of a collection, and what the processor is asked on the way there.

use super::*;
use crate::entities::cop_payment::COLLECT;
use crate::entities::cop_payment::Failure;
use crate::entities::cop_payment::TELL;
use crate::entities::payment::Status;
use crate::entities::resource::Resource;
use crate::refusal::{CopPaymentRefusal, PaymentRefusal};
use crate::values::colombia::Channel;
use crate::values::time::{MINUTE_MS, Timestamp};

#[test]
fn every_end_of_a_collection_that_is_asked_about() {
    for (answer, status, failure, event) in [
        (done(), Status::Completed, None, EventKind::PaymentCompleted),
        (refused("rejected"), Status::Failed, Some(Failure::Rejected), EventKind::PaymentFailed),
        (refused("anything else"), Status::Failed, Some(Failure::Rejected), EventKind::PaymentFailed),
        (refused(EXPIRED), Status::Failed, Some(Failure::Expired), EventKind::PaymentFailed),
        (refused(CANCELED), Status::Canceled, None, EventKind::PaymentCanceled),
    ] {
        let mut world = World::collecting(Channel::Push);
        let record = world.hear(COLLECT, How::Ask, answer.clone(), T0 + 60_000).expect("a record");
        assert_eq!(
            (world.payment().status, world.payment().failure, events(&record)),
            (status, failure, vec![event]),
            "{answer:?}"
        );
        assert_eq!((world.due(), world.refusal.clone()), (None, None));
        // A later reply finds the payment settled; one that contradicts is written down, once.
        let settled = world.pesos();
        for late in
            [done(), refused("rejected"), refused(CANCELED), RailAnswer::NeverReceived, RailAnswer::Silent]
        {
            let is_opposite = match late {
                RailAnswer::Done { .. } => status != Status::Completed,
                RailAnswer::Refused { .. } => {
                    status == Status::Completed && world.payment().failure.is_none()
                }
                _ => false,
            };
            let record = world.hear(COLLECT, How::Ask, late, T0 + 61_000);
            assert_eq!(
                record.map(|record| (record.cause, record.postings.len(), record.events.len())),
                is_opposite.then_some((Cause::OperationContradicted, 0, 0))
            );
            assert_eq!((world.payment().status, world.pesos(), world.due()), (status, settled, None));
        }
        assert_eq!(world.payment().contradicted(), Some(COLLECT));
        for ask in [
            cop_payments::Command::Cancel(None).into(),
            told("123456"),
            cop_payments::Command::PlayBuyer { pays: true }.into(),
            cop_payments::Command::PlayBuyer { pays: false }.into(),
        ] {
            assert!(world.say(ask, T0 + 61_000).is_none());
            assert_eq!(world.refusal, Some(CopPaymentRefusal::NotPending.into()));
        }
    }
}

#[test]
fn the_processor_is_asked_ever_more_rarely_and_exactly_at_the_end() {
    let mut world = World::collecting(Channel::Qr);
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { how: How::Send, order: Order::CollectCop { .. }, .. }]
    ));
    assert!(
        world.hear(COLLECT, How::Send, RailAnswer::Waiting, T0 + 5).is_none(),
        "that it took the order is not news"
    );
    let mut looks = Vec::new();
    while let Some(at) = world.due().filter(|_| looks.len() < 20) {
        assert!(world.say(Command::Deadline, at).is_none());
        assert!(matches!(
            world.effects.as_slice(),
            [Effect { how: How::Ask, order: Order::CollectCop { .. }, .. }]
        ));
        looks.push((at - T0) / 1_000);
        let answer = if at < T0 + 15 * MINUTE_MS { RailAnswer::Waiting } else { refused(EXPIRED) };
        world.hear(COLLECT, How::Ask, answer, at);
    }
    assert_eq!(looks, [60, 180, 420, 900]);
    assert_eq!(world.payment().failure, Some(Failure::Expired));
}

#[test]
fn what_the_processor_never_received_is_sent_again_until_the_end() {
    let mut world = World::collecting(Channel::Sms);
    let record = world.hear(COLLECT, How::Ask, RailAnswer::NeverReceived, T0 + 60_000).expect("a record");
    assert_eq!(record.cause, Cause::BankAsked);
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { how: How::Send, order: Order::CollectCop { .. }, .. }]
    ));
    assert!(world.hear(COLLECT, How::Send, RailAnswer::NeverReceived, T0 + 60_001).is_none(), "not at once");
    world.hear(COLLECT, How::Ask, RailAnswer::NeverReceived, T0 + 5 * MINUTE_MS);
    assert_eq!(world.payment().failure, Some(Failure::Expired));
}

#[test]
fn whoever_told_something_else_than_what_came_learns_that_it_was_over() {
    let tell: [(fn() -> Command, RailAnswer); 4] = [
        (|| cop_payments::Command::Cancel(None).into(), refused(CANCELED)),
        (|| told("123456"), done()),
        (|| cop_payments::Command::PlayBuyer { pays: true }.into(), done()),
        (|| cop_payments::Command::PlayBuyer { pays: false }.into(), refused("rejected")),
    ];
    for (ask, wanted) in tell {
        for answer in [done(), refused("rejected"), refused(CANCELED), refused(EXPIRED)] {
            let mut world = World::collecting(Channel::Sms);
            assert_eq!(world.say(ask(), T0 + 10_000).expect("a record").cause, Cause::CopPaymentInstructed);
            assert!(matches!(world.effects.as_slice(), [Effect { order: Order::TellCop { .. }, .. }]));
            assert!(world.hear(TELL, How::Send, answer.clone(), T0 + 10_001).is_some());
            let over = (answer != wanted).then_some(CopPaymentRefusal::NotPending.into());
            assert_eq!((world.refusal.clone(), world.payment().deadline()), (over, None), "{answer:?}");
        }
    }
}

#[test]
fn a_cancellation_that_met_silence_is_told_again() {
    let mut world = World::collecting(Channel::Qr);
    world.say(cop_payments::Command::Cancel(None), T0 + 10_000);
    assert!(world.say(cop_payments::Command::PlayBuyer { pays: true }, T0 + 10_000).is_none());
    assert_eq!(world.refusal, Some(PaymentRefusal::ChargeInProgress.into()));
    assert!(world.hear(TELL, How::Send, RailAnswer::Silent, T0 + 10_001).is_none());
    assert_eq!(world.due(), Some(T0 + 60_000));
    world.say(Command::Deadline, T0 + 60_000);
    assert!(matches!(world.effects.as_slice(), [Effect { order: Order::TellCop { .. }, .. }]));
    assert!(world.hear(TELL, How::Send, RailAnswer::Silent, T0 + 60_001).is_some());
    assert_eq!(world.due(), Some(T0 + 180_001), "later, and not at once again");
    // A collection that was never received needs no cancellation at the processor.
    world.hear(TELL, How::Send, RailAnswer::NeverReceived, T0 + 180_001);
    assert_eq!(world.payment().status, Status::Canceled);
}

#[test]
fn an_order_that_may_be_on_its_way_is_not_given_up() {
    let mut world = World::collecting(Channel::Sms);
    world.say(cop_payments::Command::Cancel(None), T0 + 1_000);
    assert!(
        world.hear(TELL, How::Send, RailAnswer::NeverReceived, T0 + 1_001).is_none(),
        "the order may come after all"
    );
    // The order arrived, and the buyer paid: the question finds that, and the cancellation is over.
    world.say(Command::Deadline, T0 + 60_000);
    world.hear(TELL, How::Send, done(), T0 + 60_001).expect("a record");
    assert_eq!((world.payment().status, world.pesos().0), (Status::Completed, 46_250));
    // A code that came before the order can be typed again.
    let mut world = World::collecting(Channel::Sms);
    world.say(told("123456"), T0 + 1_000);
    world.hear(TELL, How::Send, RailAnswer::NeverReceived, T0 + 1_001).expect("a record");
    assert!(world.effects.is_empty() && world.due() == Some(T0 + 60_000));
    world.say(told("123456"), T0 + 2_000).expect("a record");
    world.hear(TELL, How::Send, done(), T0 + 2_001).expect("a record");
    // Sent again near the end: the next look is not before it can have arrived.
    let mut world = World::collecting(Channel::Sms);
    world.hear(COLLECT, How::Ask, RailAnswer::Waiting, T0 + 60_000).expect("a record");
    world.hear(COLLECT, How::Ask, RailAnswer::NeverReceived, T0 + 5 * MINUTE_MS - 1_000).expect("a record");
    assert!(matches!(world.effects.as_slice(), [Effect { how: How::Send, .. }]));
    assert!(world.due().is_some_and(|at| at >= T0 + 6 * MINUTE_MS - 1_000));
    assert!(world.hear(COLLECT, How::Ask, RailAnswer::NeverReceived, T0 + 5 * MINUTE_MS).is_none());
    world.hear(COLLECT, How::Ask, done(), world.due().expect("a look")).expect("a record");
    assert_eq!(world.payment().status, Status::Completed);
}

#[test]
fn the_answer_of_whoever_told_is_replaced_and_that_of_the_request_is_not() {
    let keep = |path: &str| KeepRef {
        key: "k".to_owned(),
        path: path.to_owned(),
        body_hash: [0; 16],
        first_seen: Timestamp::EPOCH,
        request_id: "r".to_owned(),
    };
    let kept = |record: &Record| {
        record.kept.as_ref().map(|kept| (kept.of.path.clone(), kept.answer == Answer::Void))
    };
    let mut world = World::new();
    let record = world.say_keyed(
        KeyedCommand {
            command: cop_payments::Command::Collect(Box::new(new(Channel::Sms))).into(),
            keep: Some(keep("new")),
            audit: None,
            mandate: None,
            consent: None,
        },
        T0,
    );
    assert_eq!(kept(&record.expect("a record")), Some(("new".to_owned(), false)));
    let asked_about = world.hear(COLLECT, How::Ask, RailAnswer::Waiting, T0 + 60_000).expect("a record");
    assert_eq!(kept(&asked_about), None);
    world.say_keyed(
        KeyedCommand {
            command: told("654321"),
            keep: Some(keep("otp")),
            audit: None,
            mandate: None,
            consent: None,
        },
        T0 + 70_000,
    );
    let wrong = world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + 70_001).expect("a record");
    assert_eq!(kept(&wrong), Some(("otp".to_owned(), true)));
    world.say_keyed(
        KeyedCommand {
            command: cop_payments::Command::Cancel(None).into(),
            keep: Some(keep("cancel")),
            audit: None,
            mandate: None,
            consent: None,
        },
        T0 + 71_000,
    );
    // The answer came late: by the poller.
    let canceled = world.hear(COLLECT, How::Ask, refused(CANCELED), T0 + 180_000).expect("a record");
    assert_eq!(kept(&canceled), Some(("cancel".to_owned(), false)));
}
