//! Wompi's events and the payments they are about: a hint has the payment asked at once, and what Wompi
//! says then counts, not what the event says.

use crate::fake_wompi::{CODE, Fault};
use crate::harness::check::text;
use crate::harness::pesos::cop_path;
use crate::wompi_world::{World, next};
use serde_json::json;

/// Nobody is asked without a hint.
fn world() -> World {
    World::with(&[("PASARELA__RAILS__POLL_SECONDS", "3600")])
}

impl World {
    fn notify(&self, status: &str) {
        self.server.nobody().post("/rails/wompi/events", &self.wompi.event(status)).expect(200);
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
