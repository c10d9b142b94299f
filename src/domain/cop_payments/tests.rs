//! The figures, the places that a refund takes money from, and every state against everything that
//! can be said to it.

use super::collect::{CANCELED, EXPIRED, NewCopPayment, WRONG_CODE};
use super::refund::{self, Taken, spendable, take};
use super::sale::{Figures, fee, figures};
use super::*;
use crate::adjustments::Adjustment;
use crate::bank::{Answer, Effect, Heard, How, Order, Told};
use crate::book::Book;
use crate::codec;
use crate::commands::{Ask, Command};
use crate::events::EventKind;
use crate::external_ref::ExternalRef;
use crate::ids::EntityId;
use crate::kept::{KEPT_MS, KeepRef, Shape};
use crate::ledger::{Account, HOLDS_MAX, HoldChange, Ledger, Release};
use crate::machine::{AnyBook, Domain};
use crate::merchants::Registration;
use crate::money::Currency;
use crate::payments::sale::HOLD_MS;
use crate::record::{Cause, Entity, Record};
use crate::refusal::Refusal;
use crate::token::Token;
use actors::Machine;
use proptest::prelude::*;
use rust_decimal::Decimal;

const T0: i64 = 1_795_226_000_000;

fn percent(ten_thousandths: i64) -> Rate {
    Rate(Decimal::new(ten_thousandths, 4))
}

#[test]
fn the_fee_rounds_half_up_and_never_exceeds_the_amount() {
    // By hand: 4.5 percent of 20,011 is 900.495, of 20,100 is 904.5, of 33,333 is 1,499.985.
    for (amount, expected) in [
        (0, 0),
        (1, 1),
        (1_500, 1_500),
        (1_570, 1_570),
        (1_571, 1_571),
        (1_572, 1_571),
        (20_000, 2_400),
        (20_011, 2_400),
        (20_100, 2_405),
        (33_333, 3_000),
        (50_000, 3_750),
        (100_503, 6_023),
        (999_999_999_999, 45_000_001_500),
    ] {
        assert_eq!(fee(Cop::from_minor(amount)), Some(Cop::from_minor(expected)), "{amount}");
    }
    assert_eq!(fee(Cop::from_minor(i64::MAX)), None);
}

#[test]
fn what_the_tenant_keeps_of_a_sellers_sale() {
    for (amount, ten_thousandths, commission, seller) in [
        (100_000, 100_000, 10_000, 84_000),
        (100_000, 0, 0, 94_000),
        (20_010, 12_345, 247, 17_363),
        (20_000, 880_000, 17_600, 0),
        (20_000, 880_100, 17_602, -2),
    ] {
        let got = figures(Cop::from_minor(amount), Some(percent(ten_thousandths))).expect("they fit");
        let expected = (Some(Cop::from_minor(commission)), Some(Cop::from_minor(seller)));
        assert_eq!((got.commission, got.seller_net), expected, "{ten_thousandths} of {amount}");
    }
    assert_eq!(
        figures(Cop::from_minor(50_000), None),
        Some(Figures { fee: Cop::from_minor(3_750), commission: None, seller_net: None })
    );
}

#[test]
fn a_transfer_key_follows_from_the_id_and_has_twenty_characters() {
    let id = |n| Id::derived(T0, n, 0);
    let key = |n| payment_of(id(n)).transfer_key();
    assert_eq!(key(1), key(1));
    assert_ne!(key(1), key(2));
    assert!(
        key(7).len() == 20
            && key(7).starts_with("@PSR")
            && key(7)[1..].bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    );
}

fn payment_of(id: Id) -> CopPayment {
    let mut world = World::new();
    let record = world
        .ask(None, Ask::CollectCop(Box::new(NewCopPayment { id, ..new(Channel::Qr) })), T0)
        .expect("a record");
    let Entity::CopPayment(payment) = &*record.entities[0].state else { panic!("a payment") };
    payment.clone()
}

#[test]
fn a_refund_takes_of_so_many_holds_and_no_more() {
    let mut account = Account::default();
    for name in 0..30_000 {
        hold(&mut account, Timestamp::from_unix_ms(T0 + i64::from(name)).into(), name, 2);
    }
    let own = Some((Timestamp::from_unix_ms(T0 + 25_000), Id::derived(1, 1, 25_000)));
    let most = 2 * (1 + HOLDS_MAX as i64);
    assert_eq!((spendable(&account, own), take(&account, own, most + 1)), (most, None));
    assert_eq!(
        take(&account, own, most).expect("covered").from_holds.len(),
        1 + HOLDS_MAX,
        "its own hold wherever it is"
    );
}

/// A tenant, and one payment at a time.
struct World {
    domain: Domain,
    book: AnyBook,
    payment: Option<Arc<Entity>>,
    effects: Vec<Effect>,
    refusal: Option<Refusal>,
}

fn new(channel: Channel) -> NewCopPayment {
    NewCopPayment {
        id: Id::derived(T0, 9, 0),
        amount: Cop::from_minor(50_000),
        channel,
        buyer: None,
        reference: None,
        metadata: None,
        marketplace: None,
        checkout: None,
    }
}

impl World {
    fn new() -> World {
        let domain = Domain { live_rails: false, holidays: Vec::new(), render: |_, _| (200, Vec::new()) };
        World { book: domain.empty(3), domain, payment: None, effects: Vec::new(), refusal: None }
    }

    fn collecting(channel: Channel) -> World {
        let mut world = World::new();
        world.say(Ask::CollectCop(Box::new(new(channel))), T0);
        world
    }

    fn completed() -> World {
        let mut world = World::collecting(Channel::Qr);
        world.hear(COLLECT, How::Ask, done(), T0 + 1_000);
        world
    }

    fn keyed(&mut self, entity: Option<&Entity>, command: Command, now_ms: i64) -> Option<Arc<Record>> {
        self.domain.settle(&mut self.book, now_ms);
        let turn = actors::Turn { tenant: 3, now_ms, seed: now_ms.unsigned_abs(), ahead_ms: 0 };
        let decision = self.domain.decide(&self.book, entity, command, turn);
        (self.effects, self.refusal) = (decision.effects, decision.refusal);
        let record = decision.record?;
        self.domain.evolve(&mut self.book, &record, now_ms);
        self.domain.check(&self.book, &record).expect("sound books");
        Some(record)
    }

    fn ask(&mut self, entity: Option<&Entity>, ask: Ask, now_ms: i64) -> Option<Arc<Record>> {
        self.keyed(entity, ask.into(), now_ms)
    }

    /// Asks the payment, which takes its new state.
    fn say(&mut self, ask: Ask, now_ms: i64) -> Option<Arc<Record>> {
        self.say_keyed(ask.into(), now_ms)
    }

    fn say_keyed(&mut self, command: Command, now_ms: i64) -> Option<Arc<Record>> {
        let payment = self.payment.clone();
        let record = self.keyed(payment.as_deref(), command, now_ms)?;
        self.payment = record.entities.first().map(|written| Arc::clone(&written.state)).or(payment);
        Some(record)
    }

    fn hear(&mut self, operation: u16, how: How, answer: Answer, now_ms: i64) -> Option<Arc<Record>> {
        let operation = self.payment().id.operation(operation);
        self.say(Ask::Heard(Heard { operation, how, answer }), now_ms)
    }

    fn payment(&self) -> &CopPayment {
        let Some(Entity::CopPayment(payment)) = self.payment.as_deref() else { panic!("a payment") };
        payment
    }

    fn book(&self) -> &Book {
        let AnyBook::Tenant(book) = &self.book else { panic!("a tenant's book") };
        book
    }

    fn fund(&mut self, minor: i64, held: bool, now_ms: i64) {
        let ask = Adjustment {
            cause: Cause::Funded,
            currency: Currency::Cop,
            minor,
            merchant: None,
            held,
            description: String::new(),
            external_ref: None,
        };
        self.ask(None, Ask::Adjust(Box::new(ask)), now_ms).expect("a record");
    }

    fn due(&self) -> Option<i64> {
        self.domain.next_due(&self.book, &|_| false).map(|(at, _)| at)
    }

    /// Net, held and available pesos.
    fn pesos(&self) -> (i64, i64, i64) {
        let account = self.book().account(Currency::Cop);
        (account.net, account.held, account.free())
    }
}

fn done() -> Answer {
    Answer::Done { reference: "12345678".to_owned() }
}

fn refused(code: &str) -> Answer {
    Answer::Refused { code: code.to_owned() }
}

fn told(code: &str) -> Ask {
    Ask::SubmitCopCode(Token::parse_debit(code).ok())
}

fn events(record: &Record) -> Vec<EventKind> {
    record.events.iter().map(|event| event.kind).collect()
}

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
        // Whatever comes afterwards finds it settled; the opposite is written down, once.
        let settled = world.pesos();
        for late in [done(), refused("rejected"), refused(CANCELED), Answer::NeverReceived, Answer::Silent] {
            let is_opposite = match late {
                Answer::Done { .. } => status != Status::Completed,
                Answer::Refused { .. } => status == Status::Completed && world.payment().failure.is_none(),
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
            Ask::CancelCop,
            told("123456"),
            Ask::PlayCopBuyer { pays: true },
            Ask::PlayCopBuyer { pays: false },
        ] {
            assert!(world.say(ask, T0 + 61_000).is_none());
            assert_eq!(world.refusal, Some(Refusal::PaymentNotPending));
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
        world.hear(COLLECT, How::Send, Answer::Waiting, T0 + 5).is_none(),
        "that it took the order is not news"
    );
    let mut looks = Vec::new();
    while let Some(at) = world.due().filter(|_| looks.len() < 20) {
        assert!(world.say(Ask::Deadline, at).is_none());
        assert!(matches!(
            world.effects.as_slice(),
            [Effect { how: How::Ask, order: Order::CollectCop { .. }, .. }]
        ));
        looks.push((at - T0) / 1_000);
        let answer = if at < T0 + 15 * MINUTE_MS { Answer::Waiting } else { refused(EXPIRED) };
        world.hear(COLLECT, How::Ask, answer, at);
    }
    assert_eq!(looks, [60, 180, 420, 900]);
    assert_eq!(world.payment().failure, Some(Failure::Expired));
}

#[test]
fn what_the_processor_never_received_is_sent_again_until_the_end() {
    let mut world = World::collecting(Channel::Sms);
    let record = world.hear(COLLECT, How::Ask, Answer::NeverReceived, T0 + 60_000).expect("a record");
    assert_eq!(record.cause, Cause::BankAsked);
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { how: How::Send, order: Order::CollectCop { .. }, .. }]
    ));
    assert!(world.hear(COLLECT, How::Send, Answer::NeverReceived, T0 + 60_001).is_none(), "not at once");
    world.hear(COLLECT, How::Ask, Answer::NeverReceived, T0 + 5 * MINUTE_MS);
    assert_eq!(world.payment().failure, Some(Failure::Expired));
}

#[test]
fn whoever_told_something_else_than_what_came_learns_that_it_was_over() {
    let tell: [(fn() -> Ask, Answer); 4] = [
        (|| Ask::CancelCop, refused(CANCELED)),
        (|| told("123456"), done()),
        (|| Ask::PlayCopBuyer { pays: true }, done()),
        (|| Ask::PlayCopBuyer { pays: false }, refused("rejected")),
    ];
    for (ask, wanted) in tell {
        for answer in [done(), refused("rejected"), refused(CANCELED), refused(EXPIRED)] {
            let mut world = World::collecting(Channel::Sms);
            assert_eq!(world.say(ask(), T0 + 10_000).expect("a record").cause, Cause::CopPaymentTold);
            assert!(matches!(world.effects.as_slice(), [Effect { order: Order::TellCop { .. }, .. }]));
            assert!(world.hear(TELL, How::Send, answer.clone(), T0 + 10_001).is_some());
            let over = (answer != wanted).then_some(Refusal::PaymentNotPending);
            assert_eq!((world.refusal.clone(), world.payment().deadline()), (over, None), "{answer:?}");
        }
    }
}

#[test]
fn a_wrong_code_is_counted_and_changes_nothing_else() {
    let mut world = World::collecting(Channel::Sms);
    let before = world.payment().clone();
    world.say(told("654321"), T0 + 10_000).expect("a record");
    world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + 10_001).expect("a record");
    let waiting = before.phase.waiting().map(|waiting| Waiting { codes: 1, ..waiting });
    assert_eq!(
        (world.refusal.clone(), world.payment().phase.waiting()),
        (Some(Refusal::InvalidOtp), waiting)
    );
    assert_eq!(CopPayment { phase: before.phase.clone(), ..world.payment().clone() }, before);
    assert!(world.say(told("12a456"), T0 + 11_000).is_none());
    assert_eq!(world.refusal, Some(Refusal::InvalidOtp));
    for channel in [Channel::Qr, Channel::Push] {
        let mut other = World::collecting(channel);
        assert!(other.say(told("123456"), T0 + 10_000).is_none());
        assert_eq!(other.refusal, Some(Refusal::ChannelMismatch));
    }
}

/// A payment by SMS of which the last code that may be tried was wrong, a moment after T0.
fn tried_too_often() -> World {
    let mut world = World::collecting(Channel::Sms);
    for n in 0..5 {
        assert!(world.effects.iter().all(|effect| !matches!(effect.order, Order::TellCop { .. })));
        world.say(told("654321"), T0 + n).expect("a record");
        world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + n).expect("a record");
        assert_eq!(world.refusal, Some(Refusal::InvalidOtp));
    }
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { order: Order::TellCop { told: Told::Cancel, .. }, .. }]
    ));
    world
}

#[test]
fn the_fifth_wrong_code_has_the_payment_called_off() {
    let mut world = tried_too_often();
    let record = world.hear(TELL, How::Send, refused(CANCELED), T0 + 5).expect("a record");
    assert_eq!(
        (world.refusal.clone(), events(&record)),
        (Some(Refusal::InvalidOtp), vec![EventKind::PaymentFailed])
    );
    let payment = world.payment().clone();
    assert_eq!(
        (payment.status, payment.failure, payment.deadline()),
        (Status::Failed, Some(Failure::OtpAttemptsExhausted), None)
    );
    for code in ["123456", "12a456"] {
        assert!(world.say(told(code), T0 + 6).is_none());
        assert_eq!(world.refusal, Some(Refusal::OtpAttemptsExhausted));
    }
    assert!(world.say(Ask::CancelCop, T0 + 6).is_none());
    assert_eq!(world.refusal, Some(Refusal::PaymentNotPending));
}

#[test]
fn a_processor_that_stays_silent_is_told_again_until_it_has_called_it_off() {
    let mut world = tried_too_often();
    assert!(world.hear(TELL, How::Send, Answer::Silent, T0 + 5).is_none());
    for ask in [told("123456"), Ask::CancelCop] {
        let wanted = if matches!(ask, Ask::CancelCop) {
            Refusal::ChargeInProgress
        } else {
            Refusal::OtpAttemptsExhausted
        };
        assert!(world.say(ask, T0 + 6).is_none());
        assert_eq!(world.refusal, Some(wanted));
    }
    world.say(Ask::Deadline, T0 + 60_000);
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { order: Order::TellCop { told: Told::Cancel, .. }, .. }]
    ));
    world.hear(TELL, How::Send, Answer::Silent, T0 + 60_001).expect("a record");
    world.hear(TELL, How::Send, refused(CANCELED), T0 + 60_002).expect("a record");
    assert_eq!(world.payment().failure, Some(Failure::OtpAttemptsExhausted));
    // Nothing is there that anybody could pay.
    let mut world = tried_too_often();
    world.hear(TELL, How::Send, Answer::NeverReceived, T0 + 60_000).expect("a record");
    assert_eq!(world.payment().failure, Some(Failure::OtpAttemptsExhausted));
    // Somebody paid all the same: the money counts.
    let mut world = tried_too_often();
    world.hear(TELL, How::Send, done(), T0 + 5).expect("a record");
    assert_eq!(
        (world.payment().status, world.refusal.clone()),
        (Status::Completed, Some(Refusal::PaymentNotPending))
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
        world.hear(COLLECT, How::Ask, Answer::Waiting, look).expect("a record");
        assert_eq!(codes(&world), Some(n));
        now = look + 1;
    }
    let mut world = World::collecting(Channel::Sms);
    for _ in 0..20 {
        world.say(told("654321"), T0 + 1_000).expect("a record");
        world.hear(TELL, How::Send, Answer::NeverReceived, T0 + 1_001).expect("a record");
        assert_eq!(codes(&world), Some(0));
    }
}

#[test]
fn what_was_stored_before_codes_were_counted_stays_readable() {
    let at = Timestamp::from_unix_ms(T0);
    let phases =
        [Phase::Idle, Phase::Collecting { looks: 3, next_look: at, telling: Some(Telling::Declines) }];
    let bytes = phases.map(|phase| codec::encode(&phase));
    assert_eq!(bytes.clone().map(|bytes| bytes[..2].to_vec()), [vec![1, 0], vec![1, 1]]);
    assert_eq!(bytes[1].last(), Some(&3), "the last of what it is told");
    for n in [0, 7] {
        let waiting = Waiting { looks: 3, next_look: at, telling: Some(Telling::Void), codes: n };
        let read: Phase = codec::decode(&codec::encode(&Phase::from(waiting))).expect("readable");
        assert_eq!(read.waiting(), Some(waiting));
    }
}

#[test]
fn a_cancellation_that_met_silence_is_told_again() {
    let mut world = World::collecting(Channel::Qr);
    world.say(Ask::CancelCop, T0 + 10_000);
    assert!(world.say(Ask::PlayCopBuyer { pays: true }, T0 + 10_000).is_none());
    assert_eq!(world.refusal, Some(Refusal::ChargeInProgress));
    assert!(world.hear(TELL, How::Send, Answer::Silent, T0 + 10_001).is_none());
    assert_eq!(world.due(), Some(T0 + 60_000));
    world.say(Ask::Deadline, T0 + 60_000);
    assert!(matches!(world.effects.as_slice(), [Effect { order: Order::TellCop { .. }, .. }]));
    assert!(world.hear(TELL, How::Send, Answer::Silent, T0 + 60_001).is_some());
    assert_eq!(world.due(), Some(T0 + 180_001), "later, and not at once again");
    // What was never received needs no cancellation at the processor.
    world.hear(TELL, How::Send, Answer::NeverReceived, T0 + 180_001);
    assert_eq!(world.payment().status, Status::Canceled);
}

#[test]
fn an_order_that_may_be_on_its_way_is_not_given_up() {
    let mut world = World::collecting(Channel::Sms);
    world.say(Ask::CancelCop, T0 + 1_000);
    assert!(
        world.hear(TELL, How::Send, Answer::NeverReceived, T0 + 1_001).is_none(),
        "the order may come after all"
    );
    // It came, and the buyer paid: the look finds that, and the cancellation is over.
    world.say(Ask::Deadline, T0 + 60_000);
    world.hear(TELL, How::Send, done(), T0 + 60_001).expect("a record");
    assert_eq!((world.payment().status, world.pesos().0), (Status::Completed, 46_250));
    // A code that came before the order can be typed again.
    let mut world = World::collecting(Channel::Sms);
    world.say(told("123456"), T0 + 1_000);
    world.hear(TELL, How::Send, Answer::NeverReceived, T0 + 1_001).expect("a record");
    assert!(world.effects.is_empty() && world.due() == Some(T0 + 60_000));
    world.say(told("123456"), T0 + 2_000).expect("a record");
    world.hear(TELL, How::Send, done(), T0 + 2_001).expect("a record");
    // Sent again near the end: the next look is not before it can have arrived.
    let mut world = World::collecting(Channel::Sms);
    world.hear(COLLECT, How::Ask, Answer::Waiting, T0 + 60_000).expect("a record");
    world.hear(COLLECT, How::Ask, Answer::NeverReceived, T0 + 5 * MINUTE_MS - 1_000).expect("a record");
    assert!(matches!(world.effects.as_slice(), [Effect { how: How::Send, .. }]));
    assert!(world.due().is_some_and(|at| at >= T0 + 6 * MINUTE_MS - 1_000));
    assert!(world.hear(COLLECT, How::Ask, Answer::NeverReceived, T0 + 5 * MINUTE_MS).is_none());
    world.hear(COLLECT, How::Ask, done(), world.due().expect("a look")).expect("a record");
    assert_eq!(world.payment().status, Status::Completed);
}

#[test]
fn the_answer_of_whoever_told_is_replaced_and_that_of_the_request_is_not() {
    let keep = |path: &str, shape| KeepRef {
        key: "k".to_owned(),
        path: path.to_owned(),
        body_hash: [0; 16],
        first_seen: Timestamp::EPOCH,
        shape,
        request_id: "r".to_owned(),
    };
    let kept = |record: &Record| record.kept.as_ref().map(|kept| (kept.of.path.clone(), kept.void));
    let mut world = World::new();
    let record = world.say_keyed(
        Command {
            ask: Ask::CollectCop(Box::new(new(Channel::Sms))),
            keep: Some(keep("new", Shape::CopPaymentCreated)),
        },
        T0,
    );
    assert_eq!(kept(&record.expect("a record")), Some(("new".to_owned(), false)));
    let asked_about = world.hear(COLLECT, How::Ask, Answer::Waiting, T0 + 60_000).expect("a record");
    assert_eq!(kept(&asked_about), None);
    world.say_keyed(Command { ask: told("654321"), keep: Some(keep("otp", Shape::CopPayment)) }, T0 + 70_000);
    let wrong = world.hear(TELL, How::Send, refused(WRONG_CODE), T0 + 70_001).expect("a record");
    assert_eq!(kept(&wrong), Some(("otp".to_owned(), true)));
    world.say_keyed(
        Command { ask: Ask::CancelCop, keep: Some(keep("cancel", Shape::CopPayment)) },
        T0 + 71_000,
    );
    // The answer came late: by the poller.
    let canceled = world.hear(COLLECT, How::Ask, refused(CANCELED), T0 + 180_000).expect("a record");
    assert_eq!(kept(&canceled), Some(("cancel".to_owned(), false)));
}

#[test]
fn a_refund_takes_its_own_hold_first_then_what_is_available_then_other_holds() {
    let mut world = World::completed();
    assert_eq!(world.pesos(), (46_250, 46_250, 0));
    world.fund(10_000, true, T0 + 2_000);
    world.fund(5_000, false, T0 + 3_000);
    let record = world.say(Ask::RefundCop, T0 + 4_000).expect("a record");
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
    world.ask(None, Ask::Adjust(Box::new(ask)), T0 + HOLD_MS + 2_000);
    assert_eq!(world.pesos(), (26_250, 20_000, 6_250));
    assert!(world.say(Ask::RefundCop, T0 + HOLD_MS + 3_000).is_none());
    let missing =
        Refusal::RefundNotCovered { available: Cop::from_minor(6_250), spendable: Cop::from_minor(26_250) };
    assert_eq!(world.refusal, Some(missing));
    world.fund(20_000, true, T0 + HOLD_MS + 4_000);
    world.say(Ask::RefundCop, T0 + HOLD_MS + 5_000).expect("a record");
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
    world.say(Ask::RefundCop, T0 + 4_000).expect("a record");
    let Phase::Refunding { .. } = world.payment().phase else { panic!("a refund") };
    assert!(world.say(Ask::RefundCop, T0 + 4_500).is_none());
    assert_eq!(world.refusal, Some(Refusal::RefundInProgress));
    world.hear(17, How::Send, refused("processor_unavailable"), T0 + 5_000).expect("a record");
    assert_eq!(
        (world.refusal.clone(), world.payment().status),
        (Some(Refusal::ProcessorUnavailable), Status::Completed)
    );
    assert_eq!(world.book().account(Currency::Cop), &before);
    // The next try has a name of its own; an answer to the first one moves nothing, and if it is the
    // opposite of what was said, it is written down.
    world.say(Ask::RefundCop, T0 + 6_000).expect("a record");
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
    for (after, refusal) in
        [(refund::WINDOW_MS - 1, None), (refund::WINDOW_MS, Some(Refusal::RefundWindowExpired))]
    {
        let mut world = World::completed();
        world.say(Ask::RefundCop, T0 + 1_000 + after);
        assert_eq!(world.refusal, refusal);
    }
    let mut pending = World::collecting(Channel::Qr);
    pending.say(Ask::RefundCop, T0 + 1_000);
    assert_eq!(pending.refusal, Some(Refusal::PaymentNotCompleted));
}

#[test]
fn a_silent_processor_is_asked_about_a_refund_and_sent_it_again_only_if_it_never_received_it() {
    let mut world = World::completed();
    world.say(Ask::RefundCop, T0 + 4_000).expect("a record");
    assert!(world.hear(17, How::Send, Answer::Silent, T0 + 4_001).is_none());
    assert_eq!(world.due(), Some(T0 + 64_000));
    world.say(Ask::Deadline, T0 + 64_000);
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { how: How::Ask, order: Order::RefundCop { .. }, .. }]
    ));
    world.hear(17, How::Ask, Answer::Waiting, T0 + 64_000).expect("a record");
    assert!(world.effects.is_empty());
    world.hear(17, How::Ask, Answer::NeverReceived, T0 + 184_000).expect("a record");
    assert!(matches!(
        world.effects.as_slice(),
        [Effect { how: How::Send, order: Order::RefundCop { .. }, .. }]
    ));
    world.hear(17, How::Send, done(), T0 + 184_001).expect("a record");
    assert_eq!((world.payment().status, world.pesos()), (Status::Reversed, (0, 0, 0)));
}

/// A world with a seller, and the seller's id.
fn with_seller() -> (World, Id) {
    let mut world = World::new();
    let id = Id::derived(T0, 77, 0);
    let external_ref = ExternalRef::parse("m").expect("a reference");
    let ask = Registration {
        id,
        external_ref,
        name: "Tienda".to_owned(),
        identification: None,
        contact_email: None,
        contact_phone: None,
        method: None,
    };
    world.ask(None, Ask::Register(Box::new(ask)), T0 - 1_000).expect("a record");
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
    world.say(Ask::CollectCop(Box::new(sale)), T0).expect("a record");
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
    world.say(Ask::RefundCop, T0 + 4_000).expect("a record");
    let record = world.hear(17, How::Send, done(), T0 + 4_001).expect("a record");
    assert_eq!(events(&record), [EventKind::PaymentReversed, EventKind::MerchantBalanceUpdated]);
    assert_eq!((world.pesos(), account(&world).net, account(&world).held), ((0, 0, 0), 0, 0));
}

#[test]
fn a_sellers_pesos_are_released_and_told_and_keep_the_seller_from_being_deleted() {
    let (mut world, seller) = with_seller();
    let sale = NewCopPayment { marketplace: Some((seller, percent(0))), ..new(Channel::Qr) };
    world.say(Ask::CollectCop(Box::new(sale)), T0).expect("a record");
    world.hear(COLLECT, How::Ask, done(), T0 + 1_000).expect("a record");
    assert_eq!(world.due(), Some(T0 + 1_000 + HOLD_MS));
    let merchant = world.domain.next_due(&world.book, &|_| false).map(|(_, id)| id);
    assert_eq!(merchant, Some(EntityId::merchant(seller)));
    world.domain.settle(&mut world.book, T0 + 1_000 + HOLD_MS);
    let balance = crate::sellers::balance(world.book(), seller).expect("a seller");
    assert_eq!(balance.pesos, Some((Cop::ZERO, Cop::from_minor(46_250))));
}

#[test]
fn what_a_new_payment_needs() {
    let (mut world, seller) = with_seller();
    let refuse = |world: &mut World, marketplace| {
        assert!(
            world
                .say(Ask::CollectCop(Box::new(NewCopPayment { marketplace, ..new(Channel::Qr) })), T0)
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

fn hold(account: &mut Account, release_at: Release, name: u16, minor: i64) {
    let change = HoldChange {
        ledger: Ledger::Tenant,
        currency: Currency::Cop,
        release_at,
        hold: Id::derived(1, 1, name),
        minor,
    };
    account.net += minor;
    account.hold(&change);
}

proptest! {
    /// All or nothing, never more than a place has, its own hold first, and what is set aside
    /// already is not touched.
    #[test]
    fn taking_is_exact(
        holds in proptest::collection::vec((1_i64..50, 1_i64..100_000), 0..6),
        aside in 0_i64..50_000,
        free in -50_000_i64..100_000,
        wanted in 0_i64..300_000,
        own in 0_usize..6,
    ) {
        let mut account = Account { net: free, ..Account::default() };
        for (name, (at, minor)) in holds.iter().enumerate() {
            hold(&mut account, Timestamp::from_unix_ms(*at).into(), name as u16, *minor);
        }
        if aside > 0 {
            hold(&mut account, Release::WhenDecided, 99, aside);
        }
        let own_key = holds.get(own).map(|(at, _)| (Timestamp::from_unix_ms(*at), Id::derived(1, 1, own as u16)));
        let taken = take(&account, own_key, wanted);
        prop_assert_eq!(taken.is_some(), wanted <= spendable(&account, own_key));
        prop_assert_eq!(spendable(&account, own_key), free + holds.iter().map(|(_, minor)| minor).sum::<i64>());
        let Some(Taken { from_holds, from_available }) = taken else { return Ok(()) };
        prop_assert_eq!(from_available + from_holds.iter().map(|part| part.minor).sum::<i64>(), wanted);
        prop_assert!(from_available >= 0 && from_available <= account.free().max(0));
        for part in &from_holds {
            prop_assert!(part.minor > 0 && part.minor <= account.held_for(part.release_at, part.hold));
        }
        let of_own = own_key.map_or(0, |key| account.held_for(key.0, key.1).min(wanted));
        let from_own: i64 = from_holds.iter().filter(|part| Some((part.release_at, part.hold)) == own_key).map(|part| part.minor).sum();
        prop_assert_eq!(from_own, of_own);
        // Another hold is touched only once what is available is used up.
        if from_holds.iter().any(|part| Some((part.release_at, part.hold)) != own_key) {
            prop_assert_eq!(from_available, account.free().max(0));
        }
    }

    /// The three parts of a sale are all of it, and the fee is 4.5 percent plus 1,500 to the peso.
    #[test]
    fn a_sale_is_shared_to_the_peso(amount in 20_000_i64..=999_999_999_999, ten_thousandths in 0_i64..=1_000_000) {
        let figures = figures(Cop::from_minor(amount), Some(percent(ten_thousandths))).expect("they fit");
        let parts = figures.fee.minor() + figures.commission.map_or(0, Cop::minor) + figures.seller_net.map_or(0, Cop::minor);
        prop_assert_eq!(parts, amount);
        let exact = Decimal::from(amount) * Decimal::new(45, 3) + Decimal::from(1_500);
        prop_assert!((Decimal::from(figures.fee.minor()) - exact).abs() <= Decimal::new(5, 1));
    }
}

#[test]
fn after_a_day_no_answer_takes_the_place_of_the_one_that_was_kept() {
    let keep = KeepRef {
        key: "k".to_owned(),
        path: "new".to_owned(),
        body_hash: [0; 16],
        first_seen: Timestamp::EPOCH,
        shape: Shape::CopPaymentCreated,
        request_id: "r".to_owned(),
    };
    for (after, is_kept) in [(KEPT_MS - 1, true), (KEPT_MS, false)] {
        let mut world = World::new();
        let command = Command { ask: Ask::CollectCop(Box::new(new(Channel::Sms))), keep: Some(keep.clone()) };
        world.say_keyed(command, T0).expect("a record");
        let record = world.hear(COLLECT, How::Send, refused("rejected"), T0 + after).expect("a record");
        assert_eq!((record.kept.is_some(), world.payment().status), (is_kept, Status::Failed));
    }
}
