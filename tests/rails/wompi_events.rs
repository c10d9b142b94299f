//! Wompi's events and the payments they are about: a hint has the payment asked at once, and what Wompi
//! says then counts, not what the event says.

use crate::fake_wompi::{CODE, Fault};
use crate::harness::check::text;
use crate::harness::pesos::cop_path;
use crate::wompi_world::{World, body, next};
use serde_json::{Value, json};

/// Nobody is asked without a hint.
fn world() -> World {
    World::with(&[("PASARELA__RAILS__POLL_SECONDS", "3600")])
}

impl World {
    fn notify(&self, status: &str) {
        self.server.nobody().post("/rails/wompi/events", &self.wompi.event(status)).expect(200);
    }

    /// An event about the nth transaction.
    fn notify_of(&self, nth: usize, status: &str) {
        let event = self.wompi.event_about(&self.wompi.transactions()[nth], status);
        self.server.nobody().post("/rails/wompi/events", &event).expect(200);
    }

    /// The ids of the transactions in a list of notices.
    fn noticed(&self, query: &str) -> Vec<String> {
        let page = self.server.admin().get(&format!("/admin/notices{query}")).expect(200);
        let items = page["items"].as_array().expect("items").clone();
        items.iter().map(|item| text(item, "transactionId").to_owned()).collect()
    }
}

#[test]
fn an_event_has_the_payment_asked_at_once() {
    let world = world();
    let created = world.ask("push").expect(201);
    world.notify("APPROVED");
    world.until_looks(1);
    assert_eq!(world.live.get(&cop_path(&created)).expect(200)["status"], "pending", "Wompi says PENDING");
    world.until_asked(1);
    world.wompi.settle("APPROVED");
    world.notify("DECLINED");
    world.until_status(&created, "completed");
    world.notify("APPROVED");
    world.live.assert_pesos("46250", "46250", "0");
}

#[test]
fn an_order_without_an_answer_is_found_by_its_event() {
    let world = world();
    world.wompi.next("create", Fault::DropAfter);
    let created = world.ask("sms").expect(202);
    world.notify("PENDING");
    let now = world.until(&created, |now| next(now) == "submit_otp");
    assert_eq!((text(&now, "status"), world.wompi.asked("send").len()), ("pending", 1));
    assert_eq!(world.live.cop_otp(&created, CODE).expect(200)["status"], "completed");
}

#[test]
fn what_wompi_says_late_contradicts_and_moves_nothing() {
    let world = world();
    for (first, then, status) in [("APPROVED", "DECLINED", "completed"), ("DECLINED", "APPROVED", "failed")] {
        world.wompi.next("create", Fault::State(first));
        let created = world.ask("push").expect(201);
        assert_eq!(text(&created, "status"), status);
        world.wompi.settle(then);
        let before = (world.live.cop_books(), world.events());
        let known = world.operations("contradicted").len();
        world.notify(then);
        let found = world.until_operations("contradicted", known + 1);
        assert_eq!((&found[0]["asks"], found[0]["askedAt"].is_string()), (&json!(1), true), "{found:?}");
        assert_eq!(text(&found[0]["entity"], "id"), text(&created, "id"));
        assert_eq!(world.live.get(&cop_path(&created)).expect(200)["status"], status);
        assert_eq!((world.live.cop_books(), world.events()), before);
        // Once.
        world.notify(then);
        world.until_looks(world.looks());
        assert_eq!(world.operations("contradicted").len(), known + 1);
    }
    let metrics = world.server.admin().get("/metrics");
    assert!(metrics.text().contains("pasarela_rail_contradicted_total 2"), "{}", json!(metrics.text()));
}

#[test]
fn what_was_declined_and_then_paid_under_another_id_is_noticed() {
    let world = world();
    // While it waits the money comes.
    let created = world.ask("push").expect(201);
    world.wompi.settle("DECLINED");
    world.wompi.again("APPROVED");
    world.notify("APPROVED");
    world.until_status(&created, "completed");
    world.live.assert_pesos("46250", "46250", "0");
    // When it has failed nothing moves.
    world.wompi.next("create", Fault::State("DECLINED"));
    let failed = world.ask("push").expect(201);
    assert_eq!(text(&failed, "status"), "failed");
    world.wompi.settle("DECLINED");
    world.wompi.again("APPROVED");
    world.notify("APPROVED");
    let found = world.until_operations("contradicted", 1);
    assert_eq!(text(&found[0]["entity"], "id"), text(&failed, "id"));
    assert_eq!(text(&found[0], "bankReference"), "1234-4");
    assert_eq!(world.live.get(&cop_path(&failed)).expect(200)["status"], "failed");
    world.live.assert_pesos("46250", "46250", "0");
}

/// What the processor says about a payment that is over is never dropped.
#[test]
fn another_transaction_under_a_paid_reference_is_an_unmatched_notice() {
    let mut world = world();
    let created = world.ask("push").expect(201);
    world.wompi.settle("APPROVED");
    world.notify("APPROVED");
    world.until_status(&created, "completed");
    assert_eq!(world.noticed(""), [] as [&str; 0], "its own transaction is no notice");
    // The buyer paid twice.
    world.wompi.again("APPROVED");
    world.notify("APPROVED");
    world.notify("APPROVED");
    assert_eq!(world.noticed("?unmatched=true"), ["1234-2"], "once");
    let page = world.server.admin().get("/admin/notices").expect(200);
    assert_eq!(page["items"][0]["reference"], created["operationId"]);
    assert_eq!((&page["items"][0]["rail"], &page["items"][0]["paymentId"]), (&json!("wompi"), &Value::Null));
    world.live.assert_pesos("46250", "46250", "0");
    world.crash();
    assert_eq!(world.noticed("?unmatched=true"), ["1234-2"]);
    // Two at once, before anybody has looked: one pays, and the other is noticed.
    let created = world.ask("push").expect(201);
    world.wompi.settle("APPROVED");
    world.wompi.again("APPROVED");
    world.notify_of(3, "APPROVED");
    world.notify_of(2, "APPROVED");
    world.until_status(&created, "completed");
    assert_eq!(world.noticed("?unmatched=true"), ["1234-4", "1234-2"]);
    // One that is declined first and then paid under another id is that payment's: nothing is left over.
    let created = world.ask("push").expect(201);
    world.wompi.settle("DECLINED");
    world.wompi.again("APPROVED");
    world.notify("APPROVED");
    world.until_status(&created, "completed");
    assert_eq!(world.noticed("?unmatched=true"), ["1234-4", "1234-2"]);
    let matched = world.server.admin().get("/admin/notices").expect(200);
    assert_eq!(matched["items"][0]["paymentId"], created["id"]);
}

#[test]
fn a_payment_that_is_voided_after_it_was_approved_contradicts() {
    let world = world();
    // Whether its answer, a look by its id or one by its reference told that it was paid; and whether
    // another transaction under the reference is paid.
    for (n, (way, then, has_another)) in [
        ("answer", "VOIDED", false),
        ("id", "VOIDED", false),
        ("reference", "DECLINED", false),
        ("answer", "VOIDED", true),
        ("id", "DECLINED", true),
        ("reference", "VOIDED", true),
    ]
    .into_iter()
    .enumerate()
    {
        let created = match way {
            "answer" => {
                world.wompi.next("create", Fault::State("APPROVED"));
                world.ask("push").expect(201)
            }
            "id" => world.ask("push").expect(201),
            _ => {
                world.wompi.next("create", Fault::DropAfter);
                world.ask("push").expect(202)
            }
        };
        world.wompi.settle("APPROVED");
        world.notify("APPROVED");
        world.until_status(&created, "completed");
        let own = world.wompi.transactions().len() - 1;
        if has_another {
            world.wompi.again("APPROVED");
            world.notify("APPROVED");
        }
        let before = (world.live.cop_books(), world.events());
        world.wompi.change_nth(own, |transaction| transaction.status = then);
        world.notify_of(own, then);
        let found = world.until_operations("contradicted", n + 1);
        let said = (text(&found[0]["entity"], "id"), text(&found[0], "bankCode"));
        assert_eq!(said, (text(&created, "id"), then), "{way} {has_another}");
        assert_eq!((world.live.cop_books(), world.events()), before, "nothing moves by itself");
        assert_eq!(world.live.get(&cop_path(&created)).expect(200)["status"], "completed");
    }
}

#[test]
fn a_request_whose_payment_is_decided_meanwhile_is_answered_that() {
    // Within the time that a caller waits, and beyond it.
    for answer_seconds in ["10", "1"] {
        for (state, status) in [("APPROVED", "completed"), ("DECLINED", "failed")] {
            let world = World::with(&[
                ("PASARELA__RAILS__POLL_SECONDS", "3600"),
                ("PASARELA__RAILS__WOMPI__TIMEOUT_SECONDS", "5"),
                ("PASARELA__RAILS__ANSWER_SECONDS", answer_seconds),
            ]);
            world.wompi.next("create", Fault::Late(2_500));
            let key = world.live.keyed("once");
            let created = std::thread::scope(|threads| {
                threads.spawn(|| {
                    while world.wompi.transactions().is_empty() {
                        std::thread::sleep(std::time::Duration::from_millis(10));
                    }
                    world.wompi.settle(state);
                    world.notify(state);
                });
                key.post("/v1/cop/payments", &body("push"))
            });
            assert_eq!(text(&created.expect(201), "status"), status, "{answer_seconds} {state}");
            let again = key.post("/v1/cop/payments", &body("push"));
            assert_eq!(again.header("idempotent-replayed"), Some("true"));
            assert_eq!(again.expect(201), created.expect(201), "{answer_seconds} {state}");
        }
    }
}
