//! Merchants, the hard way: references that come back, keys on what the bank refuses, deletion
//! against everything else (`docs/contract.md, 7.2, 7.3`).

use crate::harness::check::{list, race, text};
use crate::harness::flows::{fresh, merchant_body, merged, method_path};
use crate::harness::server::Server;
use serde_json::json;

#[test]
fn a_deleted_merchants_reference_is_free_for_another_one() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let body = merchant_body();
    let mut ids = Vec::new();
    for round in 0..4 {
        let merchant = api
            .post("/v1/merchants", &merged(body.clone(), json!({ "name": format!("Bodega {round}") })))
            .expect(201);
        assert_eq!(text(&merchant, "status"), "unverified", "nothing of the one before is left");
        let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
        assert_eq!(
            api.query("/v1/merchants", &[("externalRef", text(&body, "externalRef"))]).expect(200),
            merchant
        );
        api.delete(&path).expect(200);
        for gone in ["", "/payout-methods", "/balance", "/balance/transactions"] {
            api.get(&format!("{path}{gone}")).refused(404, "not_found");
        }
        api.patch(&path, &json!({ "isActive": false })).refused(404, "not_found");
        api.query("/v1/merchants", &[("externalRef", text(&body, "externalRef"))]).refused(404, "not_found");
        ids.push(merchant["merchantId"].clone());
        if round == 1 {
            server.kill();
            server.restart();
        }
    }
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert!(api.walk("/v1/merchants", &[], 100).is_empty());
}

#[test]
fn deletion_against_registration_leaves_one_or_none() {
    let server = Server::shared();
    let api = server.tenant().test;
    for _ in 0..5 {
        let body = merchant_body();
        let merchant = api.post("/v1/merchants", &body).expect(201);
        let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
        let answers = race(6, |n| if n == 0 { api.delete(&path) } else { api.post("/v1/merchants", &body) });
        answers[0].expect(200);
        assert!(answers[1..].iter().all(|answer| matches!(answer.status, 200 | 201)));
        assert!(
            answers[1..].iter().filter(|answer| answer.status == 201).count() <= 1,
            "one reference, one merchant"
        );
        let listed = api.walk("/v1/merchants", &[], 100);
        let with_ref =
            listed.iter().filter(|merchant| merchant["externalRef"] == body["externalRef"]).count();
        assert_eq!(with_ref, answers[1..].iter().filter(|answer| answer.status == 201).count());
    }
}

#[test]
fn deletion_against_a_payout_or_a_sale_keeps_the_money() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    for _ in 0..5 {
        let merchant = api.merchant();
        let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
        let intent = api.intent(1);
        let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
        let answers = race(3, |n| match n {
            0 => api.delete(&path),
            1 => api.payout(&merchant, "1.00", json!({})),
            _ => api.execute(&intent, "12345678", share.clone()),
        });
        match answers[0].status {
            200 => {
                answers[1].refused(404, "not_found");
                assert!(matches!(answers[2].status, 200 | 404), "{}", answers[2].text());
                api.get(&path).refused(404, "not_found");
            }
            _ => {
                let code = answers[0].json()["error"].clone();
                assert!(code == "merchant_has_payouts" || code == "merchant_has_balance", "{code}");
            }
        }
        api.books();
    }
}

#[test]
fn a_key_keeps_what_the_bank_said_of_the_phone() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.create_merchant(json!({ "phone": "04147650001" })).expect(201);
    let start = format!("{}/verify/start", method_path(&merchant, 0));
    let keyed = api.keyed(&fresh("key"));
    let first = keyed.act(&start);
    assert_eq!(first.expect(202)["status"], "rejected");
    let again = keyed.act(&start);
    assert_eq!((again.text(), again.wal_seq()), (first.text(), first.wal_seq()));
}

#[test]
fn of_two_methods_the_wrong_persons_goes_and_the_other_stays() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("10.00");
    let merchant = api.create_merchant(json!({ "phone": "04147650001" })).expect(201);
    let methods = format!("/v1/merchants/{}/payout-methods", text(&merchant, "merchantId"));
    let second = api.post(&methods, &json!({ "bankCode": "0105", "phone": "04241234567" })).expect(201);
    let path = format!("{methods}/{}", text(&second, "payoutMethodId"));
    api.act(&format!("{path}/verify/start")).expect(202);
    api.verify(&path, "0.32", "0.45").expect(200);
    api.payout(&merchant, "1.00", json!({})).refused(400, "payout_method_not_verified");
    api.act(&format!("{}/verify/start", method_path(&merchant, 0))).expect(202);
    let now = api.merchant_now(&merchant);
    assert_eq!((text(&now, "status"), list(&now, "payoutMethods").len()), ("verified", 1));
    assert_eq!(list(&now, "payoutMethods")[0]["isDefault"], true, "what is left is the default");
    api.payout(&merchant, "1.00", json!({})).expect(201);
}

#[test]
fn a_merchant_has_at_most_a_hundred_methods() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.create_merchant(json!({})).expect(201);
    let methods = format!("/v1/merchants/{}/payout-methods", text(&merchant, "merchantId"));
    let method = |n: u32| json!({ "bankCode": "0105", "phone": format!("0424{:07}", 2_000_000 + n) });
    for n in 1..100 {
        api.post(&methods, &method(n)).expect(201);
    }
    api.post(&methods, &method(100)).refused(409, "too_many_payout_methods");
    let known = api.post(&methods, &method(1)).json();
    api.request("DELETE", &format!("{methods}/{}", text(&known, "payoutMethodId")));
    api.post(&methods, &method(100)).expect(201);
    assert_eq!(list(&api.merchant_now(&merchant), "payoutMethods").len(), 100);
}
