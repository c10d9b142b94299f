//! A bank that takes longer than a request may: the request is answered 202 in bounded time, and
//! what the bank says counts when it comes, also after a crash (`docs/contract.md, 1.13, 5.11`).

use crate::harness::check::{assert_texts, list, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, method_path, payout_body, vpos_body};
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A server whose requests wait a second while the bank takes three.
fn slow() -> Server {
    Server::start_with(&[
        ("PASARELA__RAILS__ANSWER_SECONDS", "1"),
        ("PASARELA__RAILS__SIMULATOR_DELAY_MS", "3000"),
    ])
}

/// The answer, after it was seen to come before the bank's.
#[track_caller]
fn in_time(ask: impl FnOnce() -> Answer) -> Value {
    let asked = Instant::now();
    let answer = ask().expect(202);
    let took = asked.elapsed();
    assert!(
        (Duration::from_millis(900)..Duration::from_millis(2_900)).contains(&took),
        "answered after {took:?}"
    );
    answer
}

#[track_caller]
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} within 20 s");
        sleep(Duration::from_millis(50));
    }
}

fn operation(api: &Api, of: &Value) -> Value {
    api.get(&format!("/v1/payments/operations/{}", text(of, "operationId"))).expect(200)
}

#[test]
fn a_request_does_not_wait_for_ever_and_a_late_answer_counts() {
    let server = slow();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (body, key) = (payout_body(&merchant, "30.00"), fresh("key"));
    let answers = race(4, |n| {
        in_time(|| match n {
            0 => api.keyed(&key).post("/v1/payouts", &body),
            1 => api.vpos(10, json!({})),
            2 => api.execute(&api.intent(10), "12345678", json!({})),
            _ => api.execute(&api.intent(10), "99999999", json!({})),
        })
    });
    for answer in &answers {
        assert_texts(&operation(&api, answer), &[("status", "pending")]);
    }
    api.assert_books("70.00", "0.00", "70.00");
    // A repeat meanwhile gets what is known so far, and the bank is not called again.
    assert_eq!(api.post("/v1/payouts", &body).json()["payoutId"], answers[0]["payoutId"]);
    assert_texts(&api.keyed(&key).post("/v1/payouts", &body).expect(202), &[("status", "pending")]);
    for answer in &answers {
        until("the bank's answer", || operation(&api, answer)["status"] != "pending");
    }
    assert_texts(&api.payout_now(&answers[0]), &[("status", "completed")]);
    assert_texts(&api.payment(&answers[1]), &[("status", "COMPLETED")]);
    assert_texts(&api.payment(&answers[2]), &[("status", "COMPLETED")]);
    assert_texts(&api.payment(&answers[3]), &[("status", "FAILED"), ("failureCode", "AM04")]);
    assert_texts(&api.keyed(&key).post("/v1/payouts", &body).expect(201), &[("status", "completed")]);
    api.assert_books("4010.00", "3940.00", "70.00");
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn what_a_bank_was_slow_about_is_found_out_after_a_crash() {
    let mut server = slow();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let items: Vec<Value> = (0..3).map(|_| payout_body(&merchant, "10.00")).collect();
    let (payout, card) = std::thread::scope(|scope| {
        let card = scope.spawn(|| in_time(|| api.vpos(10, json!({}))));
        (in_time(|| api.payout(&merchant, "30.00", json!({}))), card.join().expect("answered in time"))
    });
    let batch = std::thread::scope(|scope| {
        let asked =
            scope.spawn(|| api.try_post("/v1/payouts/batch", &json!({ "externalRef": "b", "items": items })));
        // The batch is written, the bank has heard of it, and its answer is still to come.
        until("the batch", || {
            list(&api.query("/v1/payouts", &[("limit", "10")]).expect(200), "items").len() == 4
        });
        server.kill();
        asked.join().expect("no panic")
    });
    assert!(batch.is_err(), "the server was killed before it answered");
    server.restart();
    api.advance(60);
    assert_texts(&api.payout_now(&payout), &[("status", "completed")]);
    assert_texts(&api.payment(&card), &[("status", "COMPLETED")]);
    let batch = api.post("/v1/payouts/batch", &json!({ "externalRef": "b", "items": items })).expect(200);
    assert!(list(&batch, "items").iter().all(|item| item["status"] == "completed"), "{batch}");
    api.assert_books("2010.00", "1970.00", "40.00");
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn what_became_of_micro_deposits_is_found_out_after_a_crash() {
    let mut server = slow();
    let api = server.tenant().test;
    let merchants = [
        api.create_merchant(json!({})).expect(201),
        api.create_merchant(json!({ "phone": "04140000001" })).expect(201),
    ];
    let account = json!({ "bankCode": "0134", "phone": "04140000001", "identification": "V87654321" });
    api.put("/v1/payouts/account", &account).expect(201);
    let starts = [
        format!("{}/verify/start", method_path(&merchants[0], 0)),
        format!("{}/verify/start", method_path(&merchants[1], 0)),
    ];
    let started = race(3, |n| {
        in_time(|| api.act(starts.get(n).map_or("/v1/payouts/account/verify/start", |path| path)))
    });
    assert!(started.iter().all(|answer| answer["status"] == "verifying"), "{started:?}");
    server.kill();
    server.restart();
    api.advance(60);
    assert_texts(&api.merchant_now(&merchants[0]), &[("status", "unverified")]);
    assert_texts(&api.merchant_now(&merchants[1]), &[("status", "rejected")]);
    api.get("/v1/payouts/account").refused(404, "not_found");
    let events = api.query("/v1/events", &[("limit", "10")]).expect(200);
    let told: Vec<&str> = list(&events, "items").iter().map(|event| text(event, "event")).collect();
    assert_eq!(told, ["merchant.rejected"]);
    // The other one sees its deposits; nobody is asked about them again, and nothing is sent twice.
    api.verify(&method_path(&merchants[0], 0), "0.32", "0.45").expect(200);
    api.advance(86_400);
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn a_key_that_ends_or_may_do_less_while_its_call_waits_is_refused() {
    let server = slow();
    let owner = server.tenant().test;
    for (what, status) in [("nothing", 200), ("revoked", 401), ("lost its scope", 403)] {
        let made = owner.post("/v1/keys", &json!({ "scopes": ["read", "collect"] })).expect(201);
        let (agent, path) = (server.api(text(&made, "key")), format!("/v1/keys/{}", text(&made, "keyId")));
        let body = vpos_body(10, json!({}));
        // The second waits for what the bank says about the first.
        let answers = race(3, |n| match n {
            0 => owner.post("/v1/payments/vpos", &body).status,
            1 => {
                sleep(Duration::from_millis(250));
                agent.post("/v1/payments/vpos", &body).status
            }
            _ => {
                sleep(Duration::from_millis(500));
                match what {
                    "revoked" => owner.delete(&path).expect(200),
                    "lost its scope" => owner.patch(&path, &json!({ "scopes": ["read"] })).expect(200),
                    _ => return 0,
                };
                0
            }
        });
        assert_eq!(answers, [202, status, 0], "{what}");
    }
}
