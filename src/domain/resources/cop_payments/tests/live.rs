//! Live mode: what a processor teaches, codes that are sent once, and orders of which nobody knows
//! whether they arrived.

use super::*;
use crate::entities::cop_payment::COLLECT;
use crate::entities::cop_payment::Failure;
use crate::entities::cop_payment::PROCESSOR_ERROR;
use crate::entities::cop_payment::TELL;
use crate::entities::cop_payment::Telling;
use crate::entities::payment::Status;
use crate::rail::{Availability, BankCall, Service, Terms};
use crate::refusal::{CopPaymentRefusal, PaymentRefusal, Refusal};
use crate::resources::cop_payments::live::NextStep;
use crate::trace::{BankWord, NEVER, Polling, Progress, RailId, Said};
use crate::values::colombia::{Buyer, Channel, DocumentType};
use crate::values::time::MINUTE_MS;
use std::sync::Arc;

const MINUTE: i64 = MINUTE_MS;

/// Live rails that can always be had.
#[derive(Debug)]
struct Served;

impl Rails for Served {
    fn terms(&self, _: bool, _: Service, _: Option<BankCall>) -> Terms {
        Terms { availability: Availability::Served, amount_max: None }
    }

    fn polling(&self, _: bool) -> Polling {
        Polling::Live(MINUTE)
    }
}

/// An order that is on its way to a live processor.
fn ordered(channel: Channel) -> World {
    let mut world = World::of(2, Arc::new(Served));
    world.say(cop_payments::Command::Collect(Box::new(new(channel))), T0).expect("a record");
    assert!(world.payment().livemode && world.payment().next_step().is_none());
    world
}

/// The same once the processor has it.
fn taken(channel: Channel) -> World {
    let mut world = ordered(channel);
    let progress = if channel == Channel::Sms { Progress::AwaitsCode } else { Progress::Waits };
    world.learn(COLLECT, How::Send, progress, T0 + 100).expect("a record");
    if channel == Channel::Sms {
        assert!(world.is_told_to_send());
        assert_eq!(world.payment().next_step(), None, "not before it is sent");
        world.hear(TELL, How::Send, RailAnswer::Waiting, T0 + 200).expect("a record");
    }
    world
}

impl World {
    /// The processor has it, and it waits.
    fn learn(&mut self, operation: u16, how: How, progress: Progress, now_ms: i64) -> Option<Arc<Record>> {
        let said = Said {
            id: RailId::parse("1-1"),
            word: Some(Box::new(BankWord::new("PENDING", ""))),
            qr_image: Some("AAAA".into()),
            progress: Some(progress),
            token: None,
            is_ambiguous: false,
            half_done: false,
        };
        let operation = self.payment().id.operation(operation);
        self.say(Command::RailReply(RailReply { operation, how, answer: RailAnswer::Waiting, said }), now_ms)
    }

    fn is_told_to_send(&self) -> bool {
        let is_it = |effect: &&Effect| {
            matches!(&effect.order, Order::TellCop { instruction: Instruction::SendCode, .. })
        };
        self.effects.iter().filter(is_it).count() == 1
    }

    fn is_sent(&self) -> bool {
        let is_it =
            |effect: &Effect| effect.how == How::Send && matches!(effect.order, Order::CollectCop { .. });
        self.effects.iter().any(is_it)
    }
}

/// How often the processor was asked, and when last, as operators see it.
fn asked(world: &World) -> (u32, Option<i64>) {
    let open = Entity::CopPayment(world.payment().clone()).rules().unanswered();
    (open[0].asks, open[0].asked_at.map(|at| at.unix_ms()))
}

#[test]
fn what_the_buyer_does_follows_from_what_the_processor_said() {
    for (channel, step) in [
        (Channel::Push, NextStep::Approve),
        (Channel::Qr, NextStep::Scan(Some("AAAA"))),
        (Channel::Sms, NextStep::TypeCode),
    ] {
        let mut world = taken(channel);
        assert_eq!(world.payment().next_step(), Some(step));
        assert_eq!(world.payment().order.trace.id, RailId::parse("1-1"));
        let (due, asks) = (world.due(), asked(&world));
        world.learn(COLLECT, How::Ask, Progress::Waits, T0 + 300).expect("a look before its time is kept");
        assert_eq!((world.due(), world.payment().next_step()), (due, Some(step)), "that is no news");
        assert_eq!((asks, asked(&world)), ((0, None), (1, Some(T0 + 300))));
        assert!(world.hear(COLLECT, How::Ask, RailAnswer::NotAsked, T0 + 400).is_none());
        world.hear(COLLECT, How::Ask, done(), T0 + MINUTE).expect("a record");
        assert_eq!((world.payment().next_step(), world.payment().qr_image.as_deref()), (None, None));
    }
}

#[test]
fn nothing_expires_before_the_processor_says_so() {
    let mut world = taken(Channel::Push);
    let mut looks = Vec::new();
    while looks.len() < 8 {
        let at = world.due().expect("a look");
        looks.push((at - T0) / MINUTE);
        world.learn(COLLECT, How::Ask, Progress::Waits, at).expect("a look is written down");
    }
    assert_eq!(looks, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(world.payment().status, Status::Pending);
    world.hear(COLLECT, How::Ask, refused(PROCESSOR_ERROR), T0 + 9 * MINUTE).expect("a record");
    assert_eq!(world.payment().failure, Some(Failure::ProcessorError));
}

#[test]
fn what_never_arrived_is_sent_again_once_per_look_and_only_while_the_buyer_is_there() {
    let mut world = ordered(Channel::Push);
    assert!(world.hear(COLLECT, How::Send, RailAnswer::Silent, T0 + 1).is_none());
    let due = world.due();
    world.hear(COLLECT, How::Ask, RailAnswer::NeverReceived, T0 + 2).expect("a look before its time is kept");
    assert_eq!((world.is_sent(), world.due()), (false, due), "no look is due");
    for minute in 1..=7 {
        let at = T0 + minute * MINUTE;
        world.hear(COLLECT, How::Ask, RailAnswer::NeverReceived, at).expect("a record");
        assert_eq!(world.is_sent(), minute < 5, "{minute}");
        assert!(world.hear(COLLECT, How::Send, RailAnswer::NotSent, at + 1).is_none());
        assert_eq!(world.payment().status, Status::Pending);
    }
    // What the processor has once said to have is not sent again, whatever it says now.
    let mut world = taken(Channel::Push);
    world.hear(COLLECT, How::Ask, RailAnswer::NeverReceived, T0 + MINUTE).expect("a record");
    assert!(!world.is_sent());
    // Nobody could be asked, or the question was lost: no permission.
    for answer in [RailAnswer::NotAsked, RailAnswer::Silent, RailAnswer::Waiting] {
        let mut world = ordered(Channel::Push);
        world.hear(COLLECT, How::Ask, answer, T0 + MINUTE).expect("a record");
        assert!(!world.is_sent());
    }
}

#[test]
fn what_was_never_sent_leaves_nothing() {
    let mut world = ordered(Channel::Qr);
    let record = world.hear(COLLECT, How::Send, RailAnswer::NotSent, T0 + 1).expect("a record");
    assert_eq!((record.cause, record.removed.len(), world.due()), (Cause::CopPaymentUnsent, 1, None));
    assert!(matches!(world.refusal, Some(Refusal::RailUnavailable { .. })));
}

#[test]
fn a_code_is_sent_once() {
    let mut world = ordered(Channel::Sms);
    world.learn(COLLECT, How::Send, Progress::Waits, T0 + 100).expect("a record");
    assert!(!world.is_told_to_send(), "there is none yet");
    world.learn(COLLECT, How::Ask, Progress::AwaitsCode, T0 + MINUTE).expect("a record");
    assert!(world.is_told_to_send());
    // Whether it was sent is not known: it is not sent again, and the buyer may have it.
    for at in [2, 3, 4] {
        world.learn(COLLECT, How::Ask, Progress::AwaitsCode, T0 + at * MINUTE).expect("a record");
        assert!(!world.is_told_to_send());
        assert_eq!(world.payment().next_step(), Some(NextStep::TypeCode));
    }
    // Nothing of it left this machine: the next look has it sent.
    let mut world = ordered(Channel::Sms);
    world.learn(COLLECT, How::Send, Progress::AwaitsCode, T0 + 100).expect("a record");
    world.hear(TELL, How::Send, RailAnswer::NotSent, T0 + 200).expect("a record");
    assert_eq!(world.payment().next_step(), None);
    world.learn(COLLECT, How::Ask, Progress::AwaitsCode, T0 + MINUTE).expect("a record");
    assert!(world.is_told_to_send());
    // The buyer's time is over.
    let mut world = ordered(Channel::Sms);
    world.learn(COLLECT, How::Ask, Progress::AwaitsCode, T0 + 5 * MINUTE).expect("a record");
    assert!(!world.is_told_to_send());
}

#[test]
fn two_codes_are_tried_and_one_without_an_answer_is_never_told_again() {
    let mut world = taken(Channel::Sms);
    for n in 1..=2 {
        world.say(told("111111"), T0 + n * 1_000).expect("a record");
        assert_eq!(world.payment().next_step(), None, "it is judged");
        world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + n * 1_000 + 1).expect("a record");
        assert_eq!(world.refusal, Some(CopPaymentRefusal::InvalidOtp.into()));
        assert!(world.effects.is_empty(), "nothing is called off");
    }
    for now in [T0 + 3_000, T0 + 2 * MINUTE] {
        assert!(world.say(told("574829"), now).is_none());
        assert_eq!(world.refusal, Some(CopPaymentRefusal::OtpAttemptsExhausted.into()));
        world.hear(COLLECT, How::Ask, refused("rejected"), T0 + MINUTE);
    }
    assert_eq!(world.payment().failure, Some(Failure::Rejected));
    let mut world = taken(Channel::Sms);
    world.say(told("574829"), T0 + 1_000).expect("a record");
    for at in [1, 2, 3] {
        world.learn(COLLECT, How::Ask, Progress::AwaitsCode, T0 + at * MINUTE).expect("a record");
        assert!(world.say(told("574829"), T0 + at * MINUTE + 1).is_none());
        assert_eq!(world.refusal, Some(PaymentRefusal::ChargeInProgress.into()));
    }
    world.hear(COLLECT, How::Ask, done(), T0 + 4 * MINUTE).expect("a record");
    assert_eq!(world.payment().status, Status::Completed);
    // The last code that may be tried is the right one.
    let mut world = taken(Channel::Sms);
    world.say(told("111111"), T0 + 1_000).expect("a record");
    world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + 1_001).expect("a record");
    world.say(told("574829"), T0 + 2_000).expect("a record");
    assert!(world.say(told("574829"), T0 + 2_001).is_none());
    assert_eq!(world.refusal, Some(PaymentRefusal::ChargeInProgress.into()));
    world.hear(COLLECT, How::Ask, done(), T0 + MINUTE).expect("a record");
    assert!(world.say(told("574829"), T0 + MINUTE + 1).is_none());
    assert_eq!(world.refusal, Some(CopPaymentRefusal::NotPending.into()));
    // One that was not sent can be typed again.
    let mut world = taken(Channel::Sms);
    for n in 1..=5 {
        world.say(told("574829"), T0 + n * 1_000).expect("a record");
        world.hear(TELL, How::Send, RailAnswer::NotSent, T0 + n * 1_000 + 1).expect("a record");
        assert!(matches!(world.refusal, Some(Refusal::RailUnavailable { .. })));
        assert_eq!((world.payment().codes(), world.payment().next_step()), (0, Some(NextStep::TypeCode)));
    }
}

#[test]
fn what_is_called_off_is_asked_about_until_the_processor_agrees() {
    let mut world = taken(Channel::Push);
    world.say(cop_payments::Command::Cancel(None), T0 + 1_000).expect("a record");
    assert!(matches!(world.effects.as_slice(), [Effect { how: How::Ask, .. }]));
    let record = world.learn(COLLECT, How::Ask, Progress::Waits, T0 + 1_001).expect("a record");
    assert_eq!(
        (world.payment().status, events(&record)),
        (Status::Canceled, vec![EventKind::PaymentCanceled])
    );
    assert_eq!(world.due(), Some(T0 + 1_001 + MINUTE));
    let late = world.hear(COLLECT, How::Ask, done(), T0 + 2 * MINUTE).expect("a record");
    assert_eq!((late.cause, late.postings.len()), (Cause::OperationContradicted, 0));
    assert_eq!((world.due(), world.payment().contradicted()), (None, Some(COLLECT)));
    // It agrees.
    let mut world = taken(Channel::Push);
    world.say(cop_payments::Command::Cancel(None), T0 + 1_000).expect("a record");
    world.learn(COLLECT, How::Ask, Progress::Waits, T0 + 1_001).expect("a record");
    world.hear(COLLECT, How::Ask, refused("rejected"), T0 + 2 * MINUTE).expect("a record");
    assert_eq!((world.due(), world.payment().contradicted()), (None, None));
    // It was paid before, or nobody knows.
    let mut world = taken(Channel::Push);
    world.say(cop_payments::Command::Cancel(None), T0 + 1_000).expect("a record");
    assert!(world.hear(COLLECT, How::Ask, RailAnswer::Silent, T0 + 1_001).is_none());
    assert_eq!(world.payment().status, Status::Pending);
    world.hear(COLLECT, How::Ask, done(), T0 + MINUTE).expect("a record");
    assert_eq!(world.payment().status, Status::Completed);
}

#[test]
fn what_was_paid_otherwise_is_an_operators() {
    let mut world = taken(Channel::Push);
    world.learn(COLLECT, How::Ask, Progress::Misfit, T0 + MINUTE).expect("a record");
    assert_eq!((world.payment().status, world.payment().next_step()), (Status::Pending, None));
    assert_eq!(world.pesos(), (0, 0, 0));
    world.say(cop_payments::Command::Cancel(None), T0 + MINUTE + 1).expect("a record");
    assert!(world.learn(COLLECT, How::Ask, Progress::Misfit, T0 + MINUTE + 2).is_none(), "not called off");
    assert_eq!(world.payment().status, Status::Pending);
}

#[test]
fn a_refund_is_told_to_nobody() {
    let mut world = taken(Channel::Push);
    world.hear(COLLECT, How::Ask, done(), T0 + MINUTE).expect("a record");
    world.say(cop_payments::Command::Refund, T0 + 2 * MINUTE).expect("a record");
    assert!(world.effects.is_empty());
    assert_eq!(world.due(), Some(NEVER.unix_ms()), "it is among those that wait, and never asked about");
    assert_eq!(world.pesos(), (46_250, 46_250, 0));
    world.hear(17, How::Ask, refused("no_funds"), T0 + 3 * MINUTE).expect("a record");
    world.say(cop_payments::Command::Refund, T0 + 4 * MINUTE).expect("a record");
    world.hear(18, How::Ask, done(), T0 + 5 * MINUTE).expect("a record");
    assert_eq!((world.payment().status, world.pesos()), (Status::Reversed, (0, 0, 0)));
}

#[test]
fn codes_go_to_holders_of_a_cedula() {
    for document in DocumentType::ALL {
        let mut world = World::of(2, Arc::new(Served));
        let buyer = Some(Buyer { document_type: Some(document), ..Buyer::default() });
        let asked = NewCopPayment { buyer, ..new(Channel::Sms) };
        let record = world.say(cop_payments::Command::Collect(Box::new(asked)), T0);
        assert_eq!(record.is_some(), document == DocumentType::Cc, "{document:?}");
    }
}

#[derive(Clone, Copy, Debug)]
enum Happens {
    Answered(usize),
    Learned(usize),
    Told(usize),
    Due,
    Cancel,
    Code,
    Refund,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        (0..8_usize).prop_map(Happens::Answered),
        (0..3_usize).prop_map(Happens::Learned),
        (0..5_usize).prop_map(Happens::Told),
        Just(Happens::Due),
        Just(Happens::Cancel),
        Just(Happens::Code),
        Just(Happens::Refund),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_money_moves_once_and_nothing_is_told_twice(
        acts in prop::collection::vec((happens(), 1..90_000_i64), 1..60),
        channel in 0..3_usize,
    ) {
        let mut world = ordered(Channel::ALL[channel]);
        let (mut now, mut credited, mut refunded) = (T0, 0, 0);
        let (mut sent, mut never, mut send_codes, mut unsent_codes) = (1, 0, 0, 0);
        let (mut codes, mut uncounted) = (0, 0);
        for (act, after) in acts {
            now += after;
            let was = world.payment().clone();
            let answers = [
                RailAnswer::Waiting, RailAnswer::Silent, RailAnswer::NotAsked, RailAnswer::NeverReceived,
                done(), refused("rejected"), refused(PROCESSOR_ERROR), RailAnswer::NotSent,
            ];
            let record = match act {
                Happens::Answered(n) => {
                    never += i32::from(n == 3);
                    world.hear(COLLECT, How::Ask, answers[n].clone(), now)
                }
                Happens::Learned(n) => {
                    let progress = [Progress::Waits, Progress::AwaitsCode, Progress::Misfit][n];
                    world.learn(COLLECT, How::Ask, progress, now)
                }
                Happens::Told(n) => {
                    let telling = was.phase.waiting().and_then(|waiting| waiting.telling);
                    unsent_codes += i32::from(n == 2 && telling == Some(Telling::SendCode));
                    uncounted += i32::from(n == 2 && telling == Some(Telling::Code));
                    let told = [RailAnswer::Waiting, RailAnswer::Silent, RailAnswer::NotSent, done(), refused(WRONG_CODE)];
                    world.hear(TELL, How::Send, told[n].clone(), now)
                }
                Happens::Due => {
                    now = now.max(world.due().filter(|at| *at < NEVER.unix_ms()).unwrap_or(now));
                    world.say(Command::Deadline, now)
                }
                Happens::Cancel => world.say(cop_payments::Command::Cancel(None), now),
                Happens::Code => world.say(told("574829"), now),
                Happens::Refund => world.say(cop_payments::Command::Refund, now),
            };
            for effect in &world.effects {
                match (&effect.order, effect.how) {
                    (Order::CollectCop { .. }, How::Send) => sent += 1,
                    (Order::TellCop { instruction: Instruction::SendCode, .. }, _) => send_codes += 1,
                    (Order::TellCop { instruction: Instruction::Code(_), .. }, _) => codes += 1,
                    (Order::CollectCop { .. }, _) => {}
                    (order, _) => prop_assert!(false, "nobody is told {order:?}"),
                }
            }
            credited += i32::from(record.as_ref().is_some_and(|record| record.cause == Cause::CopPaymentCompleted));
            refunded += i32::from(record.as_ref().is_some_and(|record| record.cause == Cause::CopPaymentRefunded));
            prop_assert!(sent <= 1 + never && send_codes <= 1 + unsent_codes && codes <= 2 + uncounted);
            prop_assert!(credited <= 1 && refunded == 0);
            if was.status != Status::Pending {
                prop_assert_eq!(world.payment().status, was.status, "what is settled stays");
            }
            let expected = if credited == 1 { 46_250 } else { 0 };
            prop_assert_eq!(world.pesos().0, expected);
        }
    }
}
