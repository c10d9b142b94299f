//! The order of calls to the simulated bank on a machine that has to make sure that it leads.

use super::*;
use crate::outbound::{Leads, Outbound};
use crate::rails::Rail;
use crate::rails::registry::Pace;
use crate::rails::simulator::Simulator;
use crate::rates::{RateBoard, Steps};
use crate::webhooks::Options;
use crate::webhooks::post::HeaderNames;
use domain::values::ids::{EntityId, Kind, Mode, tenant_key};
use domain::values::money::Ves;
use domain::values::venezuela::{IdentityDocument, MobilePhone};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// An outbox whose machine is sure at once that it leads, except the first time: then when it is told.
fn outbox(bank: Arc<dyn Rail>, told: &Arc<Notify>) -> Outbox {
    let (asked, told) = (Arc::new(AtomicUsize::new(0)), Arc::clone(told));
    let leads: Leads = Arc::new(move || {
        let (is_first, told) = (asked.fetch_add(1, Ordering::SeqCst) == 0, Arc::clone(&told));
        Box::pin(async move {
            if is_first {
                told.notified().await;
            }
        })
    });
    let (outbound, clock) = (Outbound::open().led_by(Some(leads)), Clock::system());
    let rails = Registry::new(bank).with_live(Vec::new(), Pace::default(), &outbound);
    let market = Market::new(Arc::new(RateBoard::new(Steps::default(), Box::new(|_| {}))), 900);
    let options = Options {
        allow_private_targets: true,
        extra_ca_file: None,
        header_names: HeaderNames::default(),
        outbound,
        clock: clock.clone(),
    };
    let webhooks = Webhooks::new(options).expect("threads");
    Outbox::new(Arc::new(rails), market, webhooks, Arc::default(), clock)
}

/// A payout whose order is sent, or asked about.
fn effect(operation: Id, how: How) -> Effect {
    let order = Order::Credit {
        bank: BankCode::parse("0134").expect("a bank"),
        phone: MobilePhone::parse("04147654321").expect("a phone"),
        identity: IdentityDocument::parse("V12345678").ok(),
        amount: Ves::from_minor(10_000),
        concept: "pago".to_owned(),
    };
    let entity = EntityId { kind: Kind::Payout, id: operation };
    Effect { entity, operation, rail_id: None, at: Timestamp::EPOCH, how, order }
}

fn answer(command: KeyedCommand) -> RailAnswer {
    match command.command {
        Command::RailReply(reply) => reply.answer,
        _ => panic!("a rail replies"),
    }
}

/// The answer to a question that is asked while the order still waits, and the one to the order.
async fn asked_meanwhile(is_ordered: bool) -> (RailAnswer, RailAnswer) {
    let (told, operation) = (Arc::new(Notify::new()), Id::from(uuid::Uuid::now_v7()));
    let mut outbox = outbox(Arc::new(Simulator::in_memory()), &told);
    if !is_ordered {
        outbox.under_way = None;
    }
    let tenant = tenant_key(1, Mode::Test);
    let sent = tokio::spawn(outbox.perform(tenant, effect(operation, How::Send)));
    tokio::task::yield_now().await;
    let asked = tokio::spawn(outbox.perform(tenant, effect(operation, How::Ask)));
    tokio::task::yield_now().await;
    told.notify_one();
    let ended = async { (answer(asked.await.expect("it ends")), answer(sent.await.expect("it ends"))) };
    ended.await
}

#[tokio::test]
async fn a_question_does_not_overtake_the_order_that_it_is_about() {
    let (asked, sent) = asked_meanwhile(true).await;
    assert!(matches!(sent, RailAnswer::Done { .. }), "{sent:?}");
    assert_eq!(asked, sent, "the bank has the order");
    // The order would be sent again, where nothing keeps them in order.
    assert_eq!(asked_meanwhile(false).await.0, RailAnswer::NeverReceived);
}

#[test]
fn a_question_waits_for_the_order_before_it_and_for_no_other() {
    let under_way = UnderWay::default();
    let [asked, other] = [1, 2].map(|number| Id::from(uuid::Uuid::from_u128(number)));
    let sending = under_way.begin(asked);
    let mut question = std::pin::pin!(under_way.ended(asked));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(question.as_mut().poll(&mut context).is_pending());
    assert!(std::pin::pin!(under_way.ended(other)).poll(&mut context).is_ready());
    drop(sending);
    assert!(question.poll(&mut context).is_ready());
    assert!(std::pin::pin!(under_way.ended(asked)).poll(&mut context).is_ready());
    // Sent once more: the end of the first does not end the second.
    let (first, second) = (under_way.begin(asked), under_way.begin(asked));
    drop(first);
    assert!(std::pin::pin!(under_way.ended(asked)).poll(&mut context).is_pending());
    drop(second);
    assert!(under_way.orders.is_empty(), "nothing stays");
}
