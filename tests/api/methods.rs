//! Payout methods: two small deposits that prove them, the default, deletion
//! (`docs/contract.md, 7.4, 7.5`).

use crate::harness::check::{assert_texts, list, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{UNKNOWN, merchant_body, merged, method_path};
use crate::harness::server::Server;
use serde_json::{Value, json};

#[test]
fn two_amounts_prove_a_method() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.create_merchant(json!({})).expect(201);
    let path = method_path(&merchant, 0);
    api.verify(&path, "0.32", "0.45").refused(409, "verification_not_started");
    let started = api.act(&format!("{path}/verify/start")).expect(202);
    let id = merchant["payoutMethods"][0]["payoutMethodId"].clone();
    assert_eq!(started, json!({ "payoutMethodId": id, "status": "verifying", "attemptsLeft": 3 }));
    assert_eq!(api.merchant_now(&merchant)["payoutMethods"][0]["status"], "verifying");
    api.act(&format!("{path}/verify/start")).refused(409, "verification_in_progress");
    for (amount1, amount2, bad) in
        [("0.3", "0.45", "amount1"), ("0.32", "45", "amount2"), ("", "0.45", "amount1")]
    {
        api.verify(&path, amount1, amount2).names(&[bad]);
    }
    // A malformed try is no try.
    let refused = api.verify(&path, "0.32", "0.46").refused(400, "amounts_mismatch");
    assert_eq!(refused["attemptsLeft"], 2);
    let method = api.verify(&path, "0.45", "0.32").expect(200);
    assert_eq!((text(&method, "status"), &method["payoutMethodId"]), ("verified", &id));
    assert_texts(&api.merchant_now(&merchant), &[("status", "verified")]);
    api.verify(&path, "0.32", "0.45").refused(409, "already_verified");
    api.act(&format!("{path}/verify/start")).refused(409, "already_verified");
    assert!(api.movements().is_empty(), "it costs the tenant nothing");
}

#[test]
fn three_wrong_tries_lock_the_method_for_a_day() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.create_merchant(json!({})).expect(201);
    let path = method_path(&merchant, 0);
    api.act(&format!("{path}/verify/start")).expect(202);
    for left in [2, 1] {
        assert_eq!(api.verify(&path, "0.01", "0.02").refused(400, "amounts_mismatch")["attemptsLeft"], left);
    }
    api.verify(&path, "0.01", "0.02").refused(409, "verification_locked");
    api.verify(&path, "0.32", "0.45").refused(409, "verification_locked");
    let start = format!("{path}/verify/start");
    api.act(&start).refused(409, "verification_locked");
    api.advance(86_390);
    api.act(&start).refused(409, "verification_locked");
    api.verify(&path, "0.32", "0.45").refused(409, "verification_locked");
    api.advance(20);
    api.act(&start).expect(202);
    assert_eq!(text(&api.verify(&path, "0.32", "0.45").expect(200), "status"), "verified");
}

#[test]
fn a_start_lasts_a_day() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.create_merchant(json!({})).expect(201);
    let path = method_path(&merchant, 0);
    api.act(&format!("{path}/verify/start")).expect(202);
    api.advance(86_000);
    api.act(&format!("{path}/verify/start")).refused(409, "verification_in_progress");
    api.advance(500);
    assert_eq!(api.act(&format!("{path}/verify/start")).expect(202)["attemptsLeft"], 3);
}

#[test]
fn the_wrong_persons_phone_is_deleted() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = merged(merchant_body(), json!({ "phone": "04147650001" }));
    let merchant = api.post("/v1/merchants", &body).expect(201);
    let path = method_path(&merchant, 0);
    let started = api.act(&format!("{path}/verify/start")).expect(202);
    let id = merchant["payoutMethods"][0]["payoutMethodId"].clone();
    assert_eq!(
        started,
        json!({ "payoutMethodId": id, "status": "rejected", "failureCode": "BE01", "action": "payout_method_deleted" })
    );
    let rejected = api.merchant_now(&merchant);
    assert_eq!((text(&rejected, "status"), &rejected["payoutMethods"]), ("rejected", &json!([])));
    api.verify(&path, "0.32", "0.45").refused(404, "not_found");
    // The same reference attaches another method when none is left.
    let again = api.post("/v1/merchants", &merged(body, json!({ "phone": "04147654321" }))).expect(200);
    assert_eq!((text(&again, "status"), &again["merchantId"]), ("unverified", &merchant["merchantId"]));
}

#[test]
fn the_default_is_the_first_until_another_one_is_chosen() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let methods = format!("/v1/merchants/{}/payout-methods", text(&merchant, "merchantId"));
    let add = |phone: &str| api.post(&methods, &json!({ "bankCode": "0105", "phone": phone })).expect(201);
    let prove = |method: &Value| {
        let path = format!("{methods}/{}", text(method, "payoutMethodId"));
        api.act(&format!("{path}/verify/start")).expect(202);
        api.verify(&path, "0.32", "0.45").expect(200);
    };
    let (second, third) = (add("04241234567"), add("04261234567"));
    assert_eq!((&second["isDefault"], text(&second, "status")), (&json!(false), "unverified"));
    let default = || -> Value {
        let merchant = api.merchant_now(&merchant);
        let defaults: Vec<&Value> =
            list(&merchant, "payoutMethods").iter().filter(|method| method["isDefault"] == true).collect();
        assert_eq!(defaults.len(), 1, "{merchant}");
        defaults[0]["payoutMethodId"].clone()
    };
    let first = merchant["payoutMethods"][0]["payoutMethodId"].clone();
    assert_eq!(default(), first);
    prove(&third);
    prove(&second);
    api.act(&format!("{methods}/{}/default", text(&third, "payoutMethodId"))).expect(200);
    assert_eq!(default(), third["payoutMethodId"]);
    api.delete(&format!("{methods}/{}", text(&third, "payoutMethodId"))).expect(200);
    assert_eq!(default(), first, "the oldest verified one follows");
    api.delete(&format!("{methods}/{}", first.as_str().expect("an id"))).expect(200);
    assert_eq!(default(), second["payoutMethodId"]);
    api.delete(&format!("{methods}/{}", text(&second, "payoutMethodId"))).expect(200);
    assert_eq!(api.merchant_now(&merchant)["payoutMethods"], json!([]));
    api.delete(&format!("{methods}/{UNKNOWN}")).refused(404, "not_found");
    api.act(&format!("{methods}/{UNKNOWN}/verify/start")).refused(404, "not_found");
    api.act(&format!("{methods}/{UNKNOWN}/default")).refused(404, "not_found");
}

#[test]
fn bad_methods_are_refused() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let methods = format!("/v1/merchants/{}/payout-methods", text(&merchant, "merchantId"));
    api.post(&methods, &json!({})).names(&["bankCode", "phone"]);
    api.post(&methods, &json!({ "bankCode": "9999", "phone": "0414" })).names(&["bankCode", "phone"]);
    let unknown = format!("/v1/merchants/{UNKNOWN}/payout-methods");
    api.post(&unknown, &json!({ "bankCode": "0134", "phone": "04141234567" })).refused(404, "not_found");
    api.get(&unknown).refused(404, "not_found");
}

#[test]
fn a_verification_survives_a_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.create_merchant(json!({})).expect(201);
    let path = method_path(&merchant, 0);
    api.act(&format!("{path}/verify/start")).expect(202);
    api.verify(&path, "0.01", "0.02").refused(400, "amounts_mismatch");
    server.kill();
    server.restart();
    assert_eq!(api.verify(&path, "0.01", "0.02").refused(400, "amounts_mismatch")["attemptsLeft"], 1);
    assert_eq!(text(&api.verify(&path, "0.32", "0.45").expect(200), "status"), "verified");
}

/// A merchant with a method of this phone, whose verification can be started.
fn start_of(api: &Api, phone: &str) -> String {
    format!("{}/verify/start", method_path(&api.create_merchant(json!({ "phone": phone })).expect(201), 0))
}

#[track_caller]
fn too_many(answer: &Answer) {
    answer.refused(429, "too_many_attempts");
    let seconds: u32 = answer.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds");
    assert!((1..=86_401).contains(&seconds), "{seconds}");
}

#[test]
fn an_account_starts_so_many_verifications_a_day() {
    let mut server = Server::start();
    let tenant = server.tenant_with(json!({ "microDepositsDailyMax": 2 }));
    let api = &tenant.test;
    let starts = ["04141230011", "04141230012", "04141230013"].map(|phone| start_of(api, phone));
    api.act(&starts[0]).expect(202);
    api.act(&starts[0]).refused(409, "verification_in_progress");
    api.advance(3_600);
    api.act(&starts[1]).expect(202);
    too_many(&api.act(&starts[2]));
    // The count is in the log.
    server.kill();
    server.restart();
    too_many(&api.act(&starts[2]));
    api.advance(82_800);
    api.act(&starts[2]).expect(202);
    let fourth = start_of(api, "04141230014");
    too_many(&api.act(&fourth));
    let path = format!("/admin/tenants/{}/settings", tenant.id);
    let changed = server.admin().patch(&path, &json!({ "microDepositsDailyMax": 3 })).expect(200);
    assert_eq!(changed["microDepositsDailyMax"], 3, "{changed}");
    api.act(&fourth).expect(202);
    server
        .admin()
        .patch(&path, &json!({ "microDepositsDailyMax": 10_001 }))
        .names(&["microDepositsDailyMax"]);
    server.admin().patch(&path, &json!({ "microDepositsDailyMax": 0 })).expect(200);
    too_many(&api.act(&start_of(api, "04141230015")));
}

#[test]
fn a_phone_gets_so_many_deposits_a_day_in_test_mode_from_each_account() {
    let server = Server::shared();
    let (api, other) = (server.tenant().test, server.tenant().test);
    let starts: Vec<String> = (0..8).map(|_| start_of(&api, "04141230021")).collect();
    let answers = race(starts.len(), |n| api.act(&starts[n]));
    let sent = answers.iter().filter(|answer| answer.status == 202).count();
    assert_eq!(sent, 5, "of all at once");
    answers.iter().filter(|answer| answer.status != 202).for_each(too_many);
    other.act(&start_of(&other, "04141230021")).expect(202);
    api.act(&start_of(&api, "04141230022")).expect(202);
    // The own account is sent to as well.
    let own = |phone: &str| json!({ "bankCode": "0134", "phone": phone, "identification": "V12345678" });
    api.put("/v1/payouts/account", &own("04141230021")).expect(201);
    too_many(&api.act("/v1/payouts/account/verify/start"));
    api.put("/v1/payouts/account", &own("04141230023")).expect(200);
    api.act("/v1/payouts/account/verify/start").expect(202);
    api.advance(86_400);
    api.act(&start_of(&api, "04141230021")).expect(202);
}

#[test]
fn each_amount_is_a_movement_of_the_platform() {
    let server = Server::start();
    let api = server.tenant().test;
    let day = |name: &str| {
        let today = api.clock() - chrono::TimeDelta::hours(4);
        let today = today.date_naive();
        let path = format!("/admin/statements?currency=VES&from={today}&to={today}&mode=test");
        server.admin().get(&path).expect(200)["days"][0][name].clone()
    };
    let figures = || ["payouts", "movements", "closing"].map(day);
    api.act(&start_of(&api, "04141230031")).expect(202);
    assert_eq!(figures(), [json!("-0.77"), json!(2), json!("-0.77")]);
    // The bank refuses: nothing was sent.
    assert_eq!(api.act(&start_of(&api, "04141230001")).expect(202)["status"], "rejected");
    assert_eq!(figures(), [json!("-0.77"), json!(6), json!("-0.77")]);
    assert!(api.movements().is_empty(), "it costs the tenant nothing");
    api.books();
}
