//! The test clock: forward only, durable, and nothing due is left behind (`docs/contract.md, 4.3`).

use crate::harness::check::{assert_texts, instant, text};
use crate::harness::flows::SECOND;
use crate::harness::server::Server;
use chrono::{TimeDelta, Utc};
use serde_json::json;

#[test]
fn it_starts_now_and_moves_forward() {
    let server = Server::shared();
    let api = server.tenant().test;
    let start = api.clock();
    assert!((start - Utc::now()).abs() < SECOND * 30, "{start}");
    let moved = instant(&api.advance(86_400)["now"]);
    assert!(
        moved - start >= TimeDelta::days(1) && moved - start < TimeDelta::days(1) + SECOND * 30,
        "{moved}"
    );
    assert!(api.clock() >= moved, "it ticks on from there");
    let funded = instant(&api.fund("1.00")["createdAt"]);
    assert!(funded >= moved && funded <= api.clock());
}

#[test]
fn only_whole_seconds_up_to_a_year() {
    let server = Server::shared();
    let api = server.tenant().test;
    for seconds in [json!(0), json!(-1), json!(31_536_001), json!(1.5), json!("60"), json!(null)] {
        api.post("/v1/test/clock", &json!({ "advanceSeconds": seconds })).names(&["advanceSeconds"]);
    }
    api.advance(31_536_000);
    api.advance(1);
}

#[test]
fn every_tenant_has_a_clock_of_its_own() {
    let server = Server::shared();
    let (one, two) = (server.tenant().test, server.tenant().test);
    one.advance(86_400);
    assert!(one.clock() - two.clock() > TimeDelta::hours(23));
}

#[test]
fn it_survives_a_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let moved = instant(&api.advance(30 * 86_400)["now"]);
    server.kill();
    server.restart();
    assert!(api.clock() >= moved, "it went back");
    assert!(api.clock() - moved < SECOND * 120, "it jumped");
}

#[test]
fn everything_due_happens_in_its_order_and_at_its_instant() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (expiring, silent) = (api.intent(1), api.pay_with(10, "77777777"));
    let merchant = api.merchant();
    api.fund("100.00");
    let waiting = api.payout(&merchant, "10.05", json!({})).expect(202);
    let created = instant(&silent["createdAt"]);
    api.advance(3 * 86_400);
    let payment = api.payment(&silent);
    let completed = instant(&payment["completedAt"]);
    assert!(
        completed >= created + SECOND * 60 && completed < created + SECOND * 90,
        "the poll was due after 60 s: {completed}"
    );
    assert_eq!(instant(&payment["availableAt"]), completed + TimeDelta::days(1));
    assert_texts(&api.payment(&expiring), &[("status", "CANCELED"), ("cancelReason", "expired")]);
    let settled = instant(&api.payout_now(&waiting)["settledAt"]);
    assert!(settled < created + SECOND * 120, "{settled}");
    // The hold began at the poll and ended a day later, both within the clock advance.
    api.assert_books("2059.95", "0.00", "2059.95");
    assert!(api.balance()["nextReleaseAt"].is_null());
}

#[test]
fn deadlines_pass_while_nobody_looks() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (silent, intent) = (api.pay_with(10, "77777777"), api.intent(1));
    let waiting = api.payout(&merchant, "10.06", json!({})).expect(202);
    server.kill();
    server.restart();
    api.advance(86_400);
    assert_eq!(text(&api.payment(&silent), "status"), "COMPLETED");
    assert_eq!(text(&api.payment(&intent), "status"), "CANCELED");
    assert_texts(&api.payout_now(&waiting), &[("status", "failed"), ("failureCode", "AC01")]);
    assert_eq!(text(&api.books(), "ledgerNetVes"), "2070.00");
}
