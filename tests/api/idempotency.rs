//! The Idempotency-Key: the first answer again, to the byte, also after a crash
//! (`docs/contract.md, 1.13`).

use crate::harness::check::{instant, list, race, text};
use crate::harness::client::Answer;
use crate::harness::flows::{UNKNOWN, execution, fresh, merchant_body, merged, payout_body, vpos_body};
use crate::harness::pesos::cop_path;
use crate::harness::receiver::Receiver;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

const FUND: &str = "/v1/test/fund";

/// Asserts that `again` is `first` once more, marked as such.
#[track_caller]
fn assert_replay(first: &Answer, again: &Answer) {
    assert_eq!((again.status, again.text()), (first.status, first.text()));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("wal-seq"), first.header("wal-seq"));
    assert_eq!(again.header("content-type"), first.header("content-type"));
    assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
}

#[test]
fn the_same_key_and_body_is_the_same_answer() {
    let server = Server::shared();
    let api = server.tenant().test.keyed(&fresh("key"));
    let body = json!({ "currency": "VES", "amount": "7.00" });
    let first = api.post(FUND, &body);
    first.expect(201);
    assert_eq!(first.header("idempotent-replayed"), None);
    for _ in 0..3 {
        assert_replay(&first, &api.post(FUND, &body));
    }
    api.post(FUND, &json!({ "currency": "VES", "amount": "7.01" })).refused(422, "idempotency_key_reused");
    // A body with the same value in other bytes is another body.
    api.post_raw(FUND, r#"{"amount": "7.00", "currency": "VES"}"#).refused(422, "idempotency_key_reused");
    api.assert_books("7.00", "0.00", "7.00");
}

#[test]
fn a_key_is_bound_to_tenant_mode_method_and_path() {
    let server = Server::shared();
    let (one, two) = (server.tenant().test, server.tenant().test);
    let key = fresh("key");
    let body = json!({ "currency": "VES", "amount": "7.00" });
    one.keyed(&key).post(FUND, &body).expect(201);
    let other_path = one.keyed(&key).post("/v1/merchants", &merchant_body());
    other_path.expect(201);
    assert_eq!(other_path.header("idempotent-replayed"), None);
    let other_tenant = two.keyed(&key).post(FUND, &body);
    other_tenant.expect(201);
    assert_eq!(other_tenant.header("idempotent-replayed"), None);
}

#[test]
fn what_was_decided_is_kept_also_when_it_was_no() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let poor = api.keyed(&fresh("key"));
    let body = payout_body(&merchant, "5.00");
    let refused = poor.post("/v1/payouts", &body);
    refused.refused(422, "insufficient_balance");
    api.fund("10.00");
    assert_replay(&refused, &poor.post("/v1/payouts", &body));
    api.post("/v1/payouts", &body).expect(201);

    let late = api.keyed(&fresh("key"));
    let mut other = merchant_body();
    other["externalRef"] = merchant["externalRef"].clone();
    other["name"] = json!("Otra");
    let conflict = late.post("/v1/merchants", &other);
    conflict.refused(409, "external_ref_conflict");
    assert_replay(&conflict, &late.post("/v1/merchants", &other));
}

#[test]
fn what_was_not_decided_is_not_kept() {
    let server = Server::shared();
    let api = server.tenant().test.keyed(&fresh("key"));
    api.post(FUND, &json!({ "currency": "VES" })).names(&["amount"]);
    api.post_raw(FUND, "{").refused(400, "invalid_json");
    api.post_as(FUND, "text/plain", "x").refused(415, "unsupported_media_type");
    let done = api.post(FUND, &json!({ "currency": "VES", "amount": "1.00" }));
    done.expect(201);
    assert_eq!(done.header("idempotent-replayed"), None);
    let missing = server.tenant().test.keyed(&fresh("key"));
    let path = format!("/v1/payments/{UNKNOWN}/reverse");
    missing.act(&path).refused(404, "not_found");
    assert_eq!(missing.act(&path).header("idempotent-replayed"), None);
}

#[test]
fn keys_have_1_to_255_characters() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = json!({ "currency": "VES", "amount": "1.00" });
    api.keyed(&"k".repeat(255)).post(FUND, &body).expect(201);
    for key in [String::new(), "k".repeat(256)] {
        api.keyed(&key).post(FUND, &body).names(&["Idempotency-Key"]);
    }
    api.assert_books("1.00", "0.00", "1.00");
}

#[test]
fn of_many_at_once_one_is_done() {
    let server = Server::shared();
    let api = server.tenant().test;
    let keyed = api.keyed(&fresh("key"));
    let body = json!({ "currency": "VES", "amount": "1.00" });
    let answers = race(32, |_| keyed.post(FUND, &body));
    let fresh_ones = answers
        .iter()
        .filter(|answer| answer.status == 201 && answer.header("idempotent-replayed").is_none())
        .count();
    assert_eq!(fresh_ones, 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.refused(409, "idempotency_in_progress");
    }
    assert_eq!(keyed.post(FUND, &body).header("idempotent-replayed"), Some("true"), "being busy is not kept");
    api.assert_books("1.00", "0.00", "1.00");
}

#[test]
fn one_can_ask_what_became_of_a_key() {
    let server = Server::shared();
    let api = server.tenant().test;
    let key = fresh("key");
    let path = format!("/v1/idempotency/{key}");
    api.get(&path).refused(404, "not_found");
    let done = api.keyed(&key).post(FUND, &json!({ "currency": "VES", "amount": "1.00" }));
    let told = api.get(&path).expect(200);
    assert_eq!((text(&told, "key"), text(&told, "state")), (key.as_str(), "done"));
    assert_eq!((text(&told, "method"), text(&told, "path"), &told["status"]), ("POST", FUND, &json!(201)));
    assert_eq!((&told["response"], &told["walSeq"]), (&done.expect(201), &json!(done.wal_seq())));
    assert_eq!(instant(&told["expiresAt"]) - instant(&told["firstSeenAt"]), chrono::TimeDelta::hours(24));
    server.tenant().test.get(&path).refused(404, "not_found");
}

#[test]
fn a_key_lasts_24_hours_on_the_tenants_clock() {
    let server = Server::shared();
    let api = server.tenant().test;
    let key = fresh("key");
    let keyed = api.keyed(&key);
    let body = json!({ "currency": "VES", "amount": "1.00" });
    let first = keyed.post(FUND, &body);
    first.expect(201);
    let expires = instant(&api.get(&format!("/v1/idempotency/{key}")).expect(200)["expiresAt"]);
    api.advance_to(expires - chrono::TimeDelta::seconds(15));
    assert_replay(&first, &keyed.post(FUND, &body));
    api.advance_to(expires);
    api.get(&format!("/v1/idempotency/{key}")).refused(404, "not_found");
    let second = keyed.post(FUND, &body);
    second.expect(201);
    assert_eq!(second.header("idempotent-replayed"), None);
    api.assert_books("2.00", "0.00", "2.00");
}

#[test]
fn a_pending_answer_is_kept_as_it_was_given() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("10.00");
    let keyed = api.keyed(&fresh("key"));
    let body = payout_body(&merchant, "1.05");
    let pending = keyed.post("/v1/payouts", &body);
    assert_eq!(text(&pending.expect(202), "status"), "pending");
    assert_replay(&pending, &keyed.post("/v1/payouts", &body));
}

#[test]
fn the_kept_answer_survives_a_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (paid_key, refused_key) = (api.keyed(&fresh("key")), api.keyed(&fresh("key")));
    let (paid_body, refused_body) = (payout_body(&merchant, "40.00"), payout_body(&merchant, "99.00"));
    let paid = paid_key.post("/v1/payouts", &paid_body);
    paid.expect(201);
    let refused = refused_key.post("/v1/payouts", &refused_body);
    refused.refused(422, "insufficient_balance");
    server.kill();
    server.restart();
    assert_replay(&paid, &paid_key.post("/v1/payouts", &paid_body));
    assert_replay(&refused, &refused_key.post("/v1/payouts", &refused_body));
    paid_key.post("/v1/payouts", &refused_body).refused(422, "idempotency_key_reused");
    api.assert_books("60.00", "0.00", "60.00");
}

#[test]
fn an_outcome_that_comes_a_day_later_leaves_the_newer_use_of_its_key() {
    let server = Server::start_with(&[
        ("PASARELA__RAILS__ANSWER_SECONDS", "1"),
        ("PASARELA__RAILS__SIMULATOR_DELAY_MS", "8000"),
    ]);
    let api = server.tenant().test;
    let payment = api.cop(50_000, "qr");
    let (keyed, path) = (api.keyed(&fresh("key")), format!("{}/cancel", cop_path(&payment)));
    keyed.act(&path).expect(202);
    // The processor has not answered when the key's day is over, and the key is used anew, with
    // another body.
    api.advance(24 * 60 * 60);
    let newer = keyed.post(&path, &json!({}));
    newer.refused(409, "charge_in_progress");
    let deadline = Instant::now() + Duration::from_secs(60);
    while api.cop_now(&payment)["status"] != "canceled" {
        assert!(Instant::now() < deadline, "{}", api.cop_now(&payment));
        sleep(Duration::from_millis(50));
    }
    assert_replay(&newer, &keyed.post(&path, &json!({})));
}

/// A request whose answer is the 200 of what is known already.
struct Repeat {
    path: &'static str,
    body: Value,
    /// Another body, for which the key must not serve.
    other: Value,
}

impl Repeat {
    fn of(path: &'static str, body: Value, over: Value) -> Repeat {
        Repeat { path, other: merged(body.clone(), over), body }
    }
}

#[test]
fn the_answer_about_what_is_known_is_kept_too() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("1000.00");
    let intent = api.intent(5);
    let repeats = [
        Repeat::of("/v1/payments/vpos", vpos_body(3, json!({})), json!({ "externalRef": fresh("card") })),
        Repeat::of(
            "/v1/payouts",
            payout_body(&merchant, "7.00"),
            json!({ "externalRef": fresh("po"), "monto": "9.00" }),
        ),
        Repeat::of(
            "/v1/payouts/batch",
            json!({ "externalRef": fresh("batch"), "items": [payout_body(&merchant, "4.00")] }),
            json!({ "externalRef": fresh("batch"), "items": [payout_body(&merchant, "4.00")] }),
        ),
        Repeat::of("/v1/payments/c2p", execution(&intent, "12345678"), json!({ "token": "55555555" })),
        Repeat::of("/v1/merchants", merchant_body(), json!({ "externalRef": fresh("m") })),
    ];
    let mut answered = Vec::new();
    for Repeat { path, body, other } in &repeats {
        let first = api.post(path, body);
        assert!(matches!(first.status, 200 | 201), "{path}: {}", first.text());
        let (books, key) = (api.books(), fresh("key"));
        let keyed = api.keyed(&key);
        let known = keyed.post(path, body);
        known.expect(200);
        assert_eq!(known.header("idempotent-replayed"), None, "{path}");
        assert_replay(&known, &keyed.post(path, body));
        let told = api.get(&format!("/v1/idempotency/{key}")).expect(200);
        assert_eq!((&told["status"], &told["response"]), (&json!(200), &known.json()), "{path}");
        keyed.post(path, other).refused(422, "idempotency_key_reused");
        assert_eq!(api.books(), books, "{path}");
        answered.push((keyed, known));
    }
    server.kill();
    server.restart();
    for (Repeat { path, body, other }, (keyed, known)) in repeats.iter().zip(&answered) {
        assert_replay(known, &keyed.post(path, body));
        keyed.post(path, other).refused(422, "idempotency_key_reused");
    }
}

#[test]
fn an_operators_repeat_of_an_adjustment_is_kept() {
    let server = Server::shared();
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/adjustments", tenant.id);
    let body = json!({
        "mode": "test", "currency": "VES", "amount": "5.00", "description": "una corrección", "externalRef": fresh("adj"),
    });
    server.admin().post(&path, &body).expect(201);
    let keyed = server.admin().keyed(&fresh("key"));
    let known = keyed.post(&path, &body);
    known.expect(200);
    assert_replay(&known, &keyed.post(&path, &body));
    let other = merged(body, json!({ "externalRef": fresh("adj"), "amount": "6.00" }));
    keyed.post(&path, &other).refused(422, "idempotency_key_reused");
    tenant.test.assert_books("5.00", "0.00", "5.00");
}

#[test]
fn a_test_notification_is_sent_once_for_a_key() {
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::good();
    api.post("/v1/webhooks", &json!({ "url": receiver.url(), "events": ["payment.completed"] })).expect(201);
    let keyed = api.keyed(&fresh("key"));
    let path = "/v1/notifications/test";
    let sent = keyed.act(path);
    assert_eq!(list(&sent.expect(202), "deliveries").len(), 1);
    assert_replay(&sent, &keyed.act(path));
    assert_eq!(receiver.count(), 1);
    keyed.post(path, &json!({})).refused(422, "idempotency_key_reused");
}
