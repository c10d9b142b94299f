//! Codes of one use: wrong ones, those that count, and those sent too often.

use super::*;
use crate::entities::cop_payment::COLLECT;
use crate::entities::cop_payment::Failure;
use crate::entities::cop_payment::TELL;
use crate::entities::cop_payment::Waiting;
use crate::entities::payment::Status;
use crate::entities::resource::Resource;
use crate::refusal::{CopPaymentRefusal, PaymentRefusal};
use crate::resources::cop_payments::codes::WrongCodes;
use crate::values::colombia::Channel;
use std::sync::Arc;

#[test]
fn a_wrong_code_is_counted_and_changes_nothing_else() {
    let mut world = World::collecting(Channel::Sms);
    let before = world.payment().clone();
    world.say(told("654321"), T0 + 10_000).expect("a record");
    world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + 10_001).expect("a record");
    let waiting = before.phase.waiting().map(|waiting| Waiting { codes: 1, ..waiting });
    assert_eq!(
        (world.refusal.clone(), world.payment().phase.waiting()),
        (Some(CopPaymentRefusal::InvalidOtp.into()), waiting)
    );
    assert_eq!(CopPayment { phase: before.phase.clone(), ..world.payment().clone() }, before);
    assert!(world.say(told("12a456"), T0 + 11_000).is_none());
    assert_eq!(world.refusal, Some(CopPaymentRefusal::InvalidOtp.into()));
    for channel in [Channel::Qr, Channel::Push] {
        let mut other = World::collecting(channel);
        assert!(other.say(told("123456"), T0 + 10_000).is_none());
        assert_eq!(other.refusal, Some(CopPaymentRefusal::ChannelMismatch.into()));
    }
}

/// A payment by SMS of which the last code that may be tried was wrong, a moment after T0.
fn tried_too_often() -> World {
    let mut world = World::collecting(Channel::Sms);
    for n in 0..5 {
        assert!(world.effects.iter().all(|effect| !matches!(effect.order, Order::TellCop { .. })));
        world.say(told("654321"), T0 + n).expect("a record");
        world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + n).expect("a record");
        assert_eq!(world.refusal, Some(CopPaymentRefusal::InvalidOtp.into()));
    }
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { order: Order::TellCop { instruction: Instruction::Cancel, .. }, .. }]
    ));
    world
}

#[test]
fn the_fifth_wrong_code_has_the_payment_called_off() {
    let mut world = tried_too_often();
    let record = world.hear(TELL, How::Send, refused(CANCELED), T0 + 5).expect("a record");
    assert_eq!(
        (world.refusal.clone(), events(&record)),
        (Some(CopPaymentRefusal::InvalidOtp.into()), vec![EventKind::PaymentFailed])
    );
    let payment = world.payment().clone();
    assert_eq!(
        (payment.status, payment.failure, payment.deadline()),
        (Status::Failed, Some(Failure::OtpAttemptsExhausted), None)
    );
    for code in ["123456", "12a456"] {
        assert!(world.say(told(code), T0 + 6).is_none());
        assert_eq!(world.refusal, Some(CopPaymentRefusal::OtpAttemptsExhausted.into()));
    }
    assert!(world.say(cop_payments::Command::Cancel(None), T0 + 6).is_none());
    assert_eq!(world.refusal, Some(CopPaymentRefusal::NotPending.into()));
}

#[test]
fn a_processor_that_stays_silent_is_told_again_until_it_has_called_it_off() {
    let mut world = tried_too_often();
    assert!(world.hear(TELL, How::Send, RailAnswer::Silent, T0 + 5).is_none());
    for command in [told("123456"), cop_payments::Command::Cancel(None).into()] {
        let wanted = if matches!(command, Command::CopPayments(cop_payments::Command::Cancel(_))) {
            PaymentRefusal::ChargeInProgress.into()
        } else {
            CopPaymentRefusal::OtpAttemptsExhausted.into()
        };
        assert!(world.say(command, T0 + 6).is_none());
        assert_eq!(world.refusal, Some(wanted));
    }
    world.say(Command::Deadline, T0 + 60_000);
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { order: Order::TellCop { instruction: Instruction::Cancel, .. }, .. }]
    ));
    world.hear(TELL, How::Send, RailAnswer::Silent, T0 + 60_001).expect("a record");
    world.hear(TELL, How::Send, refused(CANCELED), T0 + 60_002).expect("a record");
    assert_eq!(world.payment().failure, Some(Failure::OtpAttemptsExhausted));
    // The processor has no collection that could be paid.
    let mut world = tried_too_often();
    world.hear(TELL, How::Send, RailAnswer::NeverReceived, T0 + 60_000).expect("a record");
    assert_eq!(world.payment().failure, Some(Failure::OtpAttemptsExhausted));
    // The buyer paid all the same: the money counts.
    let mut world = tried_too_often();
    world.hear(TELL, How::Send, done(), T0 + 5).expect("a record");
    assert_eq!(
        (world.payment().status, world.refusal.clone()),
        (Status::Completed, Some(CopPaymentRefusal::NotPending.into()))
    );
}

#[test]
fn a_code_counts_as_soon_as_it_is_sent_unless_nobody_judged_it() {
    let codes = |world: &World| world.payment().phase.waiting().map(|waiting| waiting.codes);
    let (mut world, mut now) = (World::collecting(Channel::Sms), T0 + 1_000);
    for n in 1..=2 {
        world.say(told("654321"), now).expect("a record");
        assert_eq!(codes(&world), Some(n));
        // The processor stays silent: what it makes of the code nobody knows.
        let look = world.due().expect("a look");
        world.hear(COLLECT, How::Ask, RailAnswer::Waiting, look).expect("a record");
        assert_eq!(codes(&world), Some(n));
        now = look + 1;
    }
    let mut world = World::collecting(Channel::Sms);
    for _ in 0..20 {
        world.say(told("654321"), T0 + 1_000).expect("a record");
        world.hear(TELL, How::Send, RailAnswer::NeverReceived, T0 + 1_001).expect("a record");
        assert_eq!(codes(&world), Some(0));
    }
}

#[test]
fn records_tell_which_codes_were_wrong() {
    let mut world = World::collecting(Channel::Sms);
    let mut codes = WrongCodes::default();
    let mut told_by = |world: &World, record: Option<Arc<Record>>| {
        let wrong = codes.next(record.expect("a record").cause, world.payment());
        wrong.map(|wrong| wrong.to_string())
    };
    for n in 1..=5 {
        // Nobody judges the first try.
        let sent = world.say(told("654321"), T0 + 1_000);
        assert_eq!(told_by(&world, sent), None);
        let unjudged = world.hear(TELL, How::Send, RailAnswer::NeverReceived, T0 + 1_001);
        assert_eq!(told_by(&world, unjudged), None);
        let sent = world.say(told("654321"), T0 + 1_002);
        assert_eq!(told_by(&world, sent), None);
        let wrong = world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + 1_003);
        let end = if n == 5 { "; attempt void" } else { "" };
        assert_eq!(told_by(&world, wrong), Some(format!("wrong code, {n} of 5{end}")));
    }
    let void = world.hear(TELL, How::Send, refused(CANCELED), T0 + 1_004);
    assert_eq!(told_by(&world, void), None);
    // What became of a code at a processor that stays silent nobody knows; what comes after it is no word
    // about it.
    let mut world = World::collecting(Channel::Sms);
    let sent = world.say(told("654321"), T0 + 1_000);
    assert_eq!(told_by(&world, sent), None);
    let look = world.due().expect("a look");
    let silent = world.hear(COLLECT, How::Ask, RailAnswer::Waiting, look);
    assert_eq!(told_by(&world, silent), None);
    let canceled = world.say(cop_payments::Command::Cancel(None), look + 1);
    assert_eq!(told_by(&world, canceled), None);
}
