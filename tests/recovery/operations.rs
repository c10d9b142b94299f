//! Orders that no bank has answered: operators see them, say what became of them, and hear of it
//! when the bank says something else.

use crate::harness::check::{assert_texts, instant, list, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, merchant_body, merged, method_path, payout_body};
use crate::harness::pesos::cop_body;
use crate::harness::server::Server;
use crate::{objects, succeeds, verified};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn until(server: &Server, what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: {}", server.log_tail());
        sleep(Duration::from_millis(100));
    }
}

/// The orders in this state, newest first.
#[track_caller]
fn listed(server: &Server, status: &str) -> Vec<Value> {
    server.admin().walk("/admin/operations", &[("status", status)], 2)
}

#[track_caller]
fn ids(server: &Server, status: &str) -> Vec<String> {
    listed(server, status).iter().map(|item| text(item, "operationId").to_owned()).collect()
}

#[track_caller]
fn one(server: &Server, status: &str, operation: &str) -> Value {
    let found = listed(server, status).into_iter().find(|item| item["operationId"] == operation);
    found.unwrap_or_else(|| panic!("{operation} is not {status}"))
}

fn path(operation: &str) -> String {
    format!("/admin/operations/{operation}/resolve")
}

fn done(reference: &str) -> Value {
    json!({ "outcome": "done", "reference": reference, "note": "on the bank's statement" })
}

fn refused(code: &str) -> Value {
    json!({ "outcome": "refused", "failureCode": code, "note": "the bank's help desk, ticket 4711" })
}

fn figure(server: &Server, name: &str) -> Option<u64> {
    let page = server.admin().get("/metrics");
    page.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

fn operation(of: &Value) -> String {
    text(of, "operationId").to_owned()
}

/// A payout that the bank has taken and says nothing about.
fn pending(api: &Api, merchant: &Value, amount: &str) -> Value {
    api.payout(merchant, amount, json!({})).expect(202)
}

#[test]
fn an_operator_says_what_became_of_a_payout_once_and_the_bank_is_asked_on() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.fund("100.00");
    let merchant = api.merchant();
    let keyed = api.keyed("the tenant's key");
    let body = payout_body(&merchant, "20.06");
    let refused_later = keyed.post("/v1/payouts", &body).expect(202);
    let done_later = pending(api, &merchant, "30.05");
    let operations = [operation(&refused_later), operation(&done_later)];
    let seen = one(&server, "pending", &operations[0]);
    let expected = json!({
        "kind": "payout", "rail": "simulator", "tenantId": tenant.id, "mode": "test", "amount": "20.06", "currency": "VES",
        "asks": 0, "askedAt": null, "bankCode": null, "bankReference": null, "status": "pending",
        "entity": { "type": "payout", "id": refused_later["payoutId"] }, "sentAt": refused_later["createdAt"],
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&seen[name], value, "{name} of {seen}");
    }
    assert!(ids(&server, "unresolved").is_empty() && ids(&server, "contradicted").is_empty());

    // Outcomes that are refused.
    let admin = server.admin();
    admin.post(&path(&operations[0]), &json!({ "outcome": "lost" })).names(&["outcome", "note"]);
    admin.post(&path(&operations[0]), &json!({ "outcome": "done", "note": "n" })).names(&["reference"]);
    let both = merged(done("81"), json!({ "failureCode": "AC01" }));
    admin.post(&path(&operations[0]), &both).names(&["failureCode"]);
    admin.post(&path(UNKNOWN), &done("81")).refused(404, "not_found");
    admin.post(&path("x"), &done("81")).refused(404, "not_found");

    // The outcome is said once, under whatever key.
    let before = api.books();
    let saying = admin.keyed("the operator's key");
    let told = saying.post(&path(&operations[0]), &done("81234567")).expect(200);
    assert_texts(&told, &[("status", "completed"), ("reference", "81234567")]);
    let again = saying.post(&path(&operations[0]), &done("81234567"));
    assert_eq!((again.status, again.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!(again.json(), told);
    for body in [done("81234567"), refused("AC01")] {
        admin.post(&path(&operations[0]), &body).refused(409, "operation_resolved");
    }
    assert_eq!(api.books(), before, "a completed payout moves nothing more");
    let replayed = keyed.post("/v1/payouts", &body);
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    assert_texts(&replayed.json(), &[("status", "completed"), ("reference", "81234567")]);
    assert_eq!(ids(&server, "pending"), [operations[1].clone()]);
    let events = api.walk("/v1/events", &[], 100);
    assert_eq!(events.iter().filter(|event| event["event"] == "payout.completed").count(), 1);
    let records =
        objects(&succeeds(&server, &["wal", "explain", "--json", text(&refused_later, "payoutId")]));
    let settled = records.iter().find(|record| record["type"] == "payout.completed").expect("its record");
    let who = text(settled, "operator");
    assert_eq!(who, format!("root from 127.0.0.1: operation.resolve {}", operations[0]));
    let audit = server.admin().get("/admin/audit?action=operation.resolve").expect(200);
    let after = audit["items"][0]["after"].to_string();
    assert!(after.contains("on the bank's statement"), "{audit}");

    // The other outcome is said after a crash, by the command line, which sends the money back.
    server.kill();
    verified(&server, &server.data());
    server.restart();
    let arguments = ["--outcome", "refused", "--failure-code", "AM04", "--note", "not on the statement"];
    let mut command = vec!["admin", "operation", "resolve", operations[1].as_str()];
    command.extend(arguments);
    let returned: Value = serde_json::from_str(&succeeds(&server, &command)).expect("JSON");
    assert_texts(&returned, &[("status", "failed"), ("failureCode", "AM04")]);
    assert!(ids(&server, "pending").is_empty());

    // The bank says the opposite of both when it is asked on: no money moves by it.
    let settled = api.books();
    api.advance(61);
    assert_eq!(api.books(), settled);
    let mut contradicted = ids(&server, "contradicted");
    contradicted.sort();
    let mut expected = operations.to_vec();
    expected.sort();
    assert_eq!(contradicted, expected);
    let first = one(&server, "contradicted", &operations[0]);
    assert_texts(&first, &[("bankCode", "AC01"), ("bankReference", "81234567")]);
    let shown = api.get(&format!("/v1/payments/operations/{}", operations[1])).expect(200);
    assert_eq!((text(&shown, "status"), &shown["contradicted"]), ("failed", &json!(true)));
    // The bank is not asked for ever.
    api.advance(8 * 86_400);
    assert_eq!(ids(&server, "contradicted").len(), 2);
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
    assert!(server.terminate().success());
    verified(&server, &server.data());
}

#[test]
fn a_bank_that_agrees_with_the_operator_is_asked_no_more() {
    let server = Server::start();
    let api = server.tenant().test;
    let charges = [("77777777", done("5")), ("66666666", refused("AM04"))];
    for (token, said) in charges {
        let payment = api.pay_with(10, token);
        let id = operation(&payment);
        assert_texts(&one(&server, "pending", &id), &[("kind", "c2p"), ("amount", "2000.00")]);
        let told = server.admin().post(&path(&id), &said).expect(200);
        assert_eq!(told["operationId"], Value::Null);
        let now = api.payment(&payment);
        assert_eq!(now, told);
        api.advance(61);
        let later = api.payment(&payment);
        for name in ["status", "failureCode", "bankReference", "netVes", "completedAt"] {
            assert_eq!(later[name], now[name], "{name}");
        }
    }
    // Pesos are resolved too: of a buyer who paid, as the processor's page shows, and of one who
    // did not.
    for (said, status) in [(done("5"), "COMPLETED"), (refused("wrong_code"), "FAILED")] {
        let sale = api.cop(50_000, "qr");
        let id = operation(&api.payment(&json!({ "paymentId": sale["id"] })));
        let told = server.admin().post(&path(&id), &said).expect(200);
        assert_texts(&told, &[("status", status), ("method", "COP")]);
        server.admin().post(&path(&id), &said).refused(409, "operation_resolved");
    }
    api.assert_pesos("46250", "46250", "0");
    assert!(ids(&server, "contradicted").is_empty());
    // Paid by the operator's word and no other: the figures of one sale.
    assert_eq!(text(&api.books(), "ledgerNetVes"), "1970.00");
}

#[test]
fn what_nobody_answers_for_long_is_unresolved_and_counted() {
    let server = Server::start_with(&[("PASARELA__RAILS__SIMULATOR_FAULT", "loses")]);
    let (one_tenant, other) = (server.tenant(), server.tenant());
    let api = &one_tenant.test;
    api.fund("100.00");
    let merchant = api.merchant();
    let lost: Vec<String> = (0..3).map(|_| operation(&pending(api, &merchant, "1.07"))).collect();
    // Other tenants' clocks, and operations that wait for a buyer, make nothing old.
    other.test.post("/v1/cop/payments", &cop_body(50_000, "qr")).expect(201);
    assert_eq!(ids(&server, "pending").len(), 4);
    api.advance(7_000);
    assert!(ids(&server, "unresolved").is_empty());
    api.advance(300);
    let mut newest_first = lost.clone();
    newest_first.reverse();
    assert_eq!(ids(&server, "unresolved"), newest_first);
    assert_eq!(ids(&server, "pending").len(), 1, "one of both");
    let seen = one(&server, "unresolved", &lost[0]);
    assert!(seen["asks"].as_u64().is_some_and(|asks| asks > 2), "{seen}");
    assert!(instant(&seen["askedAt"]) > instant(&seen["sentAt"]), "{seen}");
    until(&server, "they are counted", || figure(&server, "pasarela_rail_unresolved") == Some(3));
    let of = |id: &str| {
        let page = server.admin().get(&format!("/admin/operations?status=unresolved&tenantId={id}"));
        list(&page.expect(200), "items").len()
    };
    assert_eq!((of(&one_tenant.id), of(&other.id)), (3, 0));
    let elsewhere = server.admin().get("/admin/operations?status=unresolved&rail=r4").expect(200);
    assert!(list(&elsewhere, "items").is_empty());
    for id in &lost {
        let back = server.admin().post(&path(id), &refused("never_arrived")).expect(200);
        assert_texts(&back, &[("status", "failed"), ("failureCode", "never_arrived")]);
    }
    api.assert_books("100.00", "0.00", "100.00");
    until(&server, "they are counted", || figure(&server, "pasarela_rail_unresolved") == Some(0));
    // A bank that never received it does not get it again.
    api.advance(86_400);
    api.assert_books("100.00", "0.00", "100.00");
}

/// A server whose requests wait a second while the bank takes far longer, and says the opposite
/// when it is asked meanwhile.
fn contradicting() -> Server {
    let environment = [
        ("PASARELA__RAILS__ANSWER_SECONDS", "1"),
        ("PASARELA__RAILS__SIMULATOR_DELAY_MS", "8000"),
        ("PASARELA__RAILS__SIMULATOR_FAULT", "contradicts"),
    ];
    Server::start_with(&environment)
}

#[track_caller]
fn of_kind(server: &Server, kind: &str) -> Value {
    let has = |items: &[Value]| items.iter().find(|item| item["kind"] == kind).cloned();
    until(server, kind, || has(&listed(server, "contradicted")).is_some());
    has(&listed(server, "contradicted")).expect("it was there")
}

#[test]
fn a_reversal_that_was_contradicted_keeps_its_reference() {
    let mut server = contradicting();
    let api = server.tenant().test;
    // The bank gives back one and refuses the other; a question that comes too early is answered
    // the other way round.
    let (made, denied) = (api.pay_with(10, "12345678"), api.pay_with(10, "55555555"));
    for payment in [&made, &denied] {
        until(&server, "the bank charges", || api.payment(payment)["status"] == "COMPLETED");
    }
    let operations = [&made, &denied].map(|payment| operation(&api.reverse(payment).expect(202)));
    assert_texts(&one(&server, "pending", &operations[0]), &[("kind", "c2p_reversal")]);
    api.advance(61);
    assert_texts(&api.payment(&made), &[("status", "COMPLETED")]);
    assert_texts(&api.payment(&denied), &[("status", "REVERSED")]);
    let settled = api.books();
    until(&server, "the bank says the opposite", || ids(&server, "contradicted").len() == 2);
    assert_eq!(api.books(), settled, "no money moved");
    let check = |server: &Server| {
        let kept = one(server, "contradicted", &operations[0]);
        assert!(kept["bankReference"].is_string() && kept["bankCode"].is_null(), "{kept}");
        assert_texts(&one(server, "contradicted", &operations[1]), &[("bankCode", "41")]);
        for (id, status) in [(&operations[0], "failed"), (&operations[1], "completed")] {
            let shown = api.get(&format!("/v1/payments/operations/{id}")).expect(200);
            assert_eq!((text(&shown, "status"), &shown["contradicted"]), (status, &json!(true)));
            assert!(shown["reference"].is_string(), "{shown}");
        }
        assert_eq!(api.payment(&made)["reversalRef"], Value::Null, "the tenant sees the first word");
        assert!(api.payment(&denied)["reversalRef"].is_string());
    };
    check(&server);
    server.kill();
    verified(&server, &server.data());
    server.restart();
    check(&server);
    api.advance(86_400);
    assert_eq!(ids(&server, "contradicted").len(), 2);
}

#[test]
fn pesos_and_micro_deposits_are_contradicted_too() {
    let mut server = contradicting();
    let tenant = server.tenant();
    let api = &tenant.test;
    let merchant = api.create_merchant(merchant_body()).expect(201);
    let sale = api.cop(50_000, "qr");
    api.cop_buyer(&sale, "pay").expect(202);
    let method = api.act(&format!("{}/verify/start", method_path(&merchant, 0))).expect(202);
    let waiting = listed(&server, "pending");
    api.advance(61);
    let of = |kind: &str| waiting.iter().find(|item| item["kind"] == kind).expect("it waits").clone();
    let deposits = of("micro_deposit");
    assert_eq!(deposits["entity"], json!({ "type": "payout_method", "id": method["payoutMethodId"] }));
    assert_texts(&deposits, &[("amount", "0.77")]);
    assert_texts(&of("cop_payment"), &[("currency", "COP"), ("amount", "50000")]);
    assert_texts(&api.cop_now(&sale), &[("status", "failed")]);
    let told = of_kind(&server, "cop_payment");
    assert!(told["bankReference"].is_string() && told["bankCode"].is_string(), "{told}");
    let settled = api.cop_books();
    let told = of_kind(&server, "micro_deposit");
    assert_texts(&told, &[("bankCode", "AC01"), ("amount", "0.77")]);
    assert!(told["bankReference"].is_string(), "{told}");
    assert_eq!(told["operationId"], deposits["operationId"]);
    assert_eq!(told["entity"], deposits["entity"]);
    let now = api.merchant_now(&merchant);
    assert_eq!(now["payoutMethods"][0]["status"], "unverified", "the first word counts: {now}");

    // The third order is a refund.
    let paid = api.cop(50_000, "qr");
    let _ = api.cop_buyer(&paid, "pay");
    until(&server, "the buyer pays", || api.cop_now(&paid)["status"] == "completed");
    let before = api.cop_books();
    assert_ne!(before, settled);
    assert_eq!(api.cop_refund(&paid).status, 202);
    api.advance(61);
    assert_texts(&api.cop_now(&paid), &[("status", "completed")]);
    let told = of_kind(&server, "cop_refund");
    assert_texts(&told, &[("currency", "COP"), ("amount", "46250")]);
    assert!(told["bankReference"].is_string(), "{told}");
    assert_eq!(api.cop_now(&paid)["refundedAt"], Value::Null);
    server.kill();
    verified(&server, &server.data());
    server.restart();
    assert_eq!(ids(&server, "contradicted").len(), 3);
    let events = api.walk("/v1/events", &[], 100);
    assert!(events.iter().all(|event| event["event"] != "operation.contradicted"));
}

#[test]
fn nothing_goes_back_again_while_the_bank_is_asked_on_about_what_an_operator_refused() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let (paid, sold) = (api.pay(10), api.cop_paid(40_000));
    // The bank gives both back, and says so to nobody: the power goes first.
    slow_down(&mut server, 60_000);
    let operations = [operation(&api.reverse(&paid).expect(202)), {
        api.cop_refund(&sold).expect(202);
        text(&one_of_kind(&server, "cop_refund"), "operationId").to_owned()
    }];
    for id in &operations {
        let told = server.admin().post(&path(id), &refused("AM04")).expect(200);
        assert_texts(&told, &[("status", "COMPLETED")]);
    }
    let settled = (api.books(), api.cop_books());
    let refused_again = || {
        api.reverse(&paid).refused(409, "reversal_in_progress");
        api.cop_refund(&sold).refused(409, "refund_in_progress");
    };
    refused_again();
    server.kill();
    server.restart();
    refused_again();
    api.advance(61);
    let mut contradicted = ids(&server, "contradicted");
    contradicted.sort();
    let mut expected = operations.to_vec();
    expected.sort();
    assert_eq!(contradicted, expected, "the bank was asked on, and had given both back");
    assert_eq!((api.books(), api.cop_books()), settled, "no money moved");
    assert!(server.terminate().success());
    verified(&server, &server.data());
}

fn one_of_kind(server: &Server, kind: &str) -> Value {
    let pending = listed(server, "pending");
    pending.into_iter().find(|item| item["kind"] == kind).unwrap_or_else(|| panic!("no {kind} is pending"))
}

/// Starts it again with a bank that answers after so long.
fn slow_down(server: &mut Server, milliseconds: u32) {
    server.kill();
    server.configure(|config| {
        let rest = config.split_once("\n[rails]").map_or(config, |(rest, _)| rest);
        format!("{rest}\n[rails]\nanswer_seconds = 1\nsimulator_delay_ms = {milliseconds}\n")
    });
    server.restart();
}

#[test]
fn what_a_bank_has_decided_is_resolved_whatever_it_was() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let sale = api.pay_with(10, "55555555");
    let merchant = api.create_merchant(merchant_body()).expect(201);
    slow_down(&mut server, 60_000);
    let reversal = operation(&api.reverse(&sale).expect(202));
    api.act(&format!("{}/verify/start", method_path(&merchant, 0))).expect(202);
    let deposits = text(&one_of_kind(&server, "micro_deposit"), "operationId").to_owned();
    slow_down(&mut server, 0);
    api.advance(61);
    assert!(ids(&server, "pending").is_empty(), "the bank has said that it refused one and did the other");
    for id in [&reversal, &deposits] {
        server.admin().post(&path(id), &refused("AM04")).refused(409, "operation_resolved");
    }
    let shown = api.get(&format!("/v1/payments/operations/{reversal}")).expect(200);
    assert_texts(&shown, &[("kind", "reversal"), ("status", "failed")]);
    assert_eq!(shown["contradicted"], json!(false));
}
