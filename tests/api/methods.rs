//! Payout methods: two small deposits that prove them, the default, deletion
//! (`docs/contract.md, 7.4, 7.5`).

use crate::harness::check::{assert_texts, list, text};
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
fn three_wrong_tries_void_the_start() {
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
    api.act(&format!("{path}/verify/start")).expect(202);
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
