//! Sellers' balances: pending, then available, or back; paid out, and never what is not there
//! (`docs/contract.md, 5.9, 6.5`).

use crate::harness::check::{assert_movements, assert_texts, decimal, instant, list, race, sum, text};
use crate::harness::client::Api;
use crate::harness::flows::{DAY, MS, SECOND, UNKNOWN};
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::{Value, json};

fn path(merchant: &Value) -> String {
    format!("/v1/merchants/{}/balance", text(merchant, "merchantId"))
}

#[track_caller]
fn assert_seller(api: &Api, merchant: &Value, pending: &str, available: &str) {
    let balance = api.get(&path(merchant)).expect(200);
    assert_texts(
        &balance,
        &[("pendingVes", pending), ("availableVes", available), ("merchantId", text(merchant, "merchantId"))],
    );
    let rows = api.walk(&format!("{}/transactions", path(merchant)), &[], 2);
    assert_eq!(
        sum(&rows, "amountVes"),
        decimal(&balance["pendingVes"]) + decimal(&balance["availableVes"]),
        "the rows do not add up to {balance}"
    );
}

/// A sale of ten dollars, of which the seller gets 1770.00.
fn sell(api: &Api, merchant: &Value) -> Value {
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    api.execute(&api.intent(10), "12345678", share).expect(200)
}

#[test]
fn a_sellers_money_is_released_at_its_instant() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let first = sell(&api, &merchant);
    assert_seller(&api, &merchant, "1770.00", "0.00");
    let release = api.get(&path(&merchant)).expect(200)["nextReleaseAt"].clone();
    assert_eq!(instant(&release), instant(&first["completedAt"]) + DAY);
    api.advance(3_600);
    let second = sell(&api, &merchant);
    assert_seller(&api, &merchant, "3540.00", "0.00");
    assert_texts(
        &api.balance(),
        &[("sellerPendingVes", "3540.00"), ("sellerAvailableVes", "0.00"), ("heldVes", "400.00")],
    );
    server.kill();
    server.restart();
    api.advance_to(instant(&release));
    assert_seller(&api, &merchant, "1770.00", "1770.00");
    api.advance_to(instant(&second["completedAt"]) + DAY);
    assert_seller(&api, &merchant, "0.00", "3540.00");
    assert!(api.get(&path(&merchant)).expect(200)["nextReleaseAt"].is_null());
    // The past stays as it was: a millisecond before, and at the instant itself.
    let before = api.balance_at(instant(&release) - MS);
    assert_texts(&before, &[("sellerPendingVes", "3540.00"), ("sellerAvailableVes", "0.00")]);
    let at = api.balance_at(instant(&release));
    assert_texts(&at, &[("sellerPendingVes", "1770.00"), ("sellerAvailableVes", "1770.00")]);
    server.kill();
    server.restart();
    assert_eq!((api.balance_at(instant(&release) - MS), api.balance_at(instant(&release))), (before, at));
    assert_seller(&api, &merchant, "0.00", "3540.00");
    api.books();
}

#[test]
fn rows_of_a_seller_are_filtered_like_those_of_the_tenant() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (merchant, other) = (api.merchant(), api.merchant());
    let (sale, _) = (sell(&api, &merchant), sell(&api, &other));
    api.advance_to(instant(&sale["availableAt"]) + SECOND);
    let payout = api.payout(&merchant, "100.00", json!({ "fromMerchantBalance": true })).expect(201);
    let rows = format!("{}/transactions", path(&merchant));
    assert_movements(
        &api.walk(&rows, &[], 1),
        &[("seller_transfer", &["1770.00"]), ("payout", &["-100.00"])],
    );
    let ids = |parameters: &[(&str, &str)]| -> Vec<Value> {
        api.walk(&rows, parameters, 1).iter().map(|row| row["type"].clone()).collect()
    };
    assert_eq!(ids(&[("type", "payout")]), ["payout"]);
    assert_eq!(ids(&[("paymentId", text(&sale, "paymentId"))]), ["seller_transfer"]);
    assert_eq!(ids(&[("payoutId", text(&payout, "payoutId"))]), ["payout"]);
    assert!(
        api.walk("/v1/balance/transactions", &[("type", "payout")], 10).is_empty(),
        "the tenant paid nothing"
    );
    let page = api.query(&rows, &[("limit", "1")]).expect(200);
    let cursor = text(&page, "nextCursor");
    api.query("/v1/balance/transactions", &[("cursor", cursor)]).refused(400, "invalid_data");
    for unknown in ["balance", "balance/transactions"] {
        api.get(&format!("/v1/merchants/{UNKNOWN}/{unknown}")).refused(404, "not_found");
    }
    api.query(&rows, &[("kind", "payout")]).refused(400, "invalid_data");
}

#[test]
fn test_money_of_a_seller_may_be_held() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let fund = |over: Value| {
        api.post(
            "/v1/test/fund",
            &crate::harness::flows::merged(
                json!({ "currency": "VES", "amount": "50.00", "merchantId": merchant["merchantId"] }),
                over,
            ),
        )
    };
    let held = fund(json!({ "held": true })).expect(201);
    assert_eq!((&held["merchantId"], text(&held, "amountVes")), (&merchant["merchantId"], "50.00"));
    fund(json!({})).expect(201);
    assert_seller(&api, &merchant, "50.00", "50.00");
    api.advance(86_401);
    assert_seller(&api, &merchant, "0.00", "100.00");
    fund(json!({ "currency": "COP", "amount": "50" })).names(&["currency"]);
    fund(json!({ "merchantId": UNKNOWN })).refused(404, "not_found");
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_reversal_during_the_hold_is_taken_from_what_the_seller_is_owed() {
    let server = Server::shared();
    let api = server.tenant_with(json!({ "sellerHoldBusinessDays": 0 })).test;
    let merchant = api.merchant();
    let sale = sell(&api, &merchant);
    api.reverse(&sale).expect(200);
    assert_seller(&api, &merchant, "0.00", "0.00");
    let rows = api.walk(&format!("{}/transactions", path(&merchant)), &[], 10);
    assert_movements(
        &rows,
        &[("seller_transfer", &["1770.00"]), ("seller_transfer_reversal", &["-1770.00"])],
    );
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_seller_is_paid_once_whatever_happens_at_once() {
    let server = Server::shared();
    let api = server.tenant_with(json!({ "fees": { "payoutVes": "1.00" } })).test;
    let merchant = api.merchant();
    let funded = json!({ "currency": "VES", "amount": "100.00", "merchantId": merchant["merchantId"] });
    api.post("/v1/test/fund", &funded).expect(201);
    let sale = sell(&api, &merchant);
    let id = text(&merchant, "merchantId");
    let answers = race(24, |n| {
        match n {
        0 => api.reverse(&sale),
        1 => api.delete(&format!("/v1/merchants/{id}")),
        n if n % 2 == 0 => api.payout(&merchant, "9.00", json!({ "fromMerchantBalance": true })),
        _ => api.payout(&merchant, "9.00", json!({ "fromMerchantBalance": true, "payoutMethodId": merchant["payoutMethods"][0]["payoutMethodId"] })),
    }
    });
    answers[0].expect(200);
    answers[1].refused(
        409,
        if answers[1].text().contains("merchant_has_payouts") {
            "merchant_has_payouts"
        } else {
            "merchant_has_balance"
        },
    );
    let paid = answers[2..].iter().filter(|answer| answer.status == 201).count();
    assert_eq!(paid, 10, "ten times nine and one");
    assert_seller(&api, &merchant, "0.00", "0.00");
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_payout_and_a_switch_at_once_have_an_order() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let own = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    let answers = race(20, |n| {
        if n == 10 {
            api.patch(&own, &json!({ "isActive": false }))
        } else {
            api.payout(&merchant, "1.00", json!({}))
        }
    });
    let paid = answers.iter().enumerate().filter(|(n, answer)| *n != 10 && answer.status == 201).count();
    for (n, answer) in answers.iter().enumerate().filter(|(n, answer)| *n != 10 && answer.status != 201) {
        assert_eq!(answer.json()["error"], "merchant_inactive", "{n}");
    }
    answers[10].expect(200);
    api.payout(&merchant, "1.00", json!({})).refused(409, "merchant_inactive");
    assert_eq!(sum(&api.movements(), "amountVes"), Decimal::from(100 - paid));
}

#[test]
fn a_proof_and_a_deletion_at_once_leave_no_half_method() {
    let server = Server::shared();
    let api = server.tenant().test;
    for _ in 0..5 {
        let merchant = api.create_merchant(json!({})).expect(201);
        let method = crate::harness::flows::method_path(&merchant, 0);
        api.act(&format!("{method}/verify/start")).expect(202);
        let answers =
            race(2, |n| if n == 0 { api.verify(&method, "0.32", "0.45") } else { api.delete(&method) });
        answers[1].expect(200);
        assert!(matches!(answers[0].status, 200 | 404), "{}", answers[0].text());
        let now = api.merchant_now(&merchant);
        assert_eq!((text(&now, "status"), list(&now, "payoutMethods").len()), ("shell", 0));
    }
}
