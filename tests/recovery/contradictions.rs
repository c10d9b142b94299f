//! Contradictions of a bank: its second word moves no money, and operators hear of it. A bank that
//! loses an order twice is asked on.

use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::server::Server;
use crate::{objects, succeeds, verified};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);

fn operation(api: &Api, of: &str) -> Value {
    api.get(&format!("/v1/payments/operations/{of}")).expect(200)
}

#[track_caller]
fn until(server: &Server, what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: {}", server.log_tail());
        sleep(Duration::from_millis(100));
    }
}

fn counted(server: &Server) -> Option<u64> {
    let figures = server.admin().get("/metrics");
    let line = figures
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("pasarela_rail_contradicted_total ").map(str::to_owned));
    line.and_then(|value| value.parse().ok())
}

/// A server whose requests wait a second while the bank takes five, and says the opposite when it
/// is asked meanwhile.
fn contradicting() -> Server {
    let environment = [
        ("PASARELA__RAILS__ANSWER_SECONDS", "1"),
        ("PASARELA__RAILS__SIMULATOR_DELAY_MS", "5000"),
        ("PASARELA__RAILS__SIMULATOR_FAULT", "contradicts"),
    ];
    Server::start_with(&environment)
}

#[test]
fn the_second_word_of_a_bank_moves_no_money_and_is_listed_for_operators() {
    let mut server = contradicting();
    assert_eq!(counted(&server), Some(0));
    let tenant = server.tenant();
    let api = &tenant.test;
    api.fund("100.00");
    let merchant = api.merchant();
    let pay = |amount: &str| api.payout(&merchant, amount, json!({})).expect(202);
    // The bank does the first and refuses the second; a question that comes too early is answered
    // the other way round.
    let (done, refused) = (pay("30.00"), pay("20.04"));
    let operations = [text(&done, "operationId").to_owned(), text(&refused, "operationId").to_owned()];
    api.advance(61);
    assert_eq!(text(&api.payout_now(&done), "status"), "failed");
    assert_eq!(text(&api.payout_now(&refused), "status"), "completed");
    // The done payout is paid with its fee, the refused one is back with its own.
    let settled = api.books();
    until(&server, "the bank says the opposite", || {
        operations.iter().all(|id| operation(api, id)["contradicted"] == true)
    });
    assert_eq!(api.books(), settled, "no money moved");
    let (done_now, refused_now) = (api.payout_now(&done), api.payout_now(&refused));
    assert_eq!((text(&done_now, "status"), &done_now["reference"]), ("failed", &Value::Null));
    assert_eq!((text(&refused_now, "status"), &refused_now["failureCode"]), ("completed", &Value::Null));
    let shown = operation(api, &operations[0]);
    assert_eq!((text(&shown, "status"), text(&shown, "code")), ("failed", "AC01"));
    assert!(shown["reference"].is_string(), "{shown}");
    let events = api.walk("/v1/events", &[], 100);
    assert!(events.iter().all(|event| event["event"] != "operation.contradicted"), "{events:?}");
    let records = objects(&succeeds(&server, &["wal", "explain", "--json", text(&done, "payoutId")]));
    assert_eq!(records.iter().filter(|record| record["type"] == "operation.contradicted").count(), 1);

    // The contradiction outlives the process.
    server.kill();
    verified(&server, &server.data());
    server.restart();
    let page = server.admin().get("/admin/operations?status=contradicted").expect(200);
    let items = list(&page, "items");
    assert_eq!(items.len(), 2, "{page}");
    for item in items {
        assert!(operations.iter().any(|id| id == text(item, "operationId")), "{item}");
        let expected = json!({ "kind": "payout", "rail": "simulator", "tenantId": tenant.id, "mode": "test", "status": "contradicted", "currency": "VES" });
        for (name, value) in expected.as_object().expect("an object") {
            assert_eq!(&item[name], value, "{name} of {item}");
        }
        assert!(
            item["bankCode"].is_string()
                && item["bankReference"].is_string()
                && item["entity"]["id"].is_string(),
            "{item}"
        );
    }
    assert_eq!(counted(&server), Some(2));
    let first = server.admin().get("/admin/operations?limit=1").expect(200);
    let next = server
        .admin()
        .get(&format!("/admin/operations?limit=1&cursor={}", text(&first, "nextCursor")))
        .expect(200);
    assert_eq!(
        [list(&first, "items")[0].clone(), list(&next, "items")[0].clone()],
        [items[0].clone(), items[1].clone()]
    );
    let others = server
        .admin()
        .get(&format!("/admin/operations?tenantId={}", crate::harness::flows::UNKNOWN))
        .expect(200);
    assert!(list(&others, "items").is_empty());
    server.admin().get("/admin/operations?status=lost").expect(400);
    assert!(succeeds(&server, &["admin", "operation", "list", "--json"]).contains(&operations[0]));
}

#[test]
fn a_payout_that_is_lost_twice_keeps_its_money_set_aside() {
    let server = Server::start_with(&[("PASARELA__RAILS__SIMULATOR_FAULT", "loses")]);
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let payout = api.payout(&merchant, "10.07", json!({})).expect(202);
    let set_aside = api.books();
    // The first look learns that it never arrived and sends it once more; that has no answer
    // either, and the looks after it learn the same.
    for _ in 0..4 {
        api.advance(3_600);
        assert_eq!(text(&api.payout_now(&payout), "status"), "pending");
        assert_eq!(api.books(), set_aside);
    }
    assert_eq!(
        server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"],
        0,
        "sent again only because the bank said so"
    );
}
