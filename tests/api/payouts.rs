//! Single payouts: every outcome of the bank, references, fees, sellers' balances, races
//! (`docs/contract.md, 7.7, 7.8`).

use crate::harness::check::{
    assert_id, assert_movements, assert_nulls, assert_texts, instant, list, race, sum, text,
};
use crate::harness::flows::{UNKNOWN, fresh, merged, method_path, payout_body};
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::slice::from_ref;

#[test]
fn a_payout_that_is_paid() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let body = payout_body(&merchant, "30.00");
    let payout = api.post("/v1/payouts", &body).expect(201);
    assert_id(&payout["payoutId"]);
    assert_texts(
        &payout,
        &[
            ("status", "completed"),
            ("kind", "merchant"),
            ("monto", "30.00"),
            ("feeVes", "0.00"),
            ("concepto", "pago"),
            ("bankCode", "0134"),
            ("merchantName", "Bodega La Esquina"),
            ("destination", "…4321"),
            ("externalRef", text(&body, "externalRef")),
            ("merchantId", text(&merchant, "merchantId")),
            ("payoutMethodId", text(&merchant["payoutMethods"][0], "payoutMethodId")),
        ],
    );
    assert!(payout["reference"].is_string(), "{payout}");
    assert_nulls(&payout, &["failureCode", "batchId"]);
    assert_eq!((&payout["fromMerchantBalance"], &payout["livemode"]), (&json!(false), &json!(false)));
    assert!(instant(&payout["settledAt"]) >= instant(&payout["createdAt"]));
    assert_eq!(api.payout_now(&payout), payout);
    assert_eq!(api.get(&format!("/v1/payouts/by-ref/{}", text(&body, "externalRef"))).expect(200), payout);
    api.assert_books("70.00", "0.00", "70.00");
}

#[test]
fn a_payout_that_is_refused_gives_the_money_back() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let payout = api.payout(&merchant, "30.04", json!({})).expect(201);
    assert_texts(&payout, &[("status", "failed"), ("failureCode", "AM04")]);
    assert_nulls(&payout, &["reference"]);
    let rows: &[(&str, &[&str])] =
        &[("adjustment", &["100.00"]), ("payout", &["-30.04"]), ("payout_reversal", &["30.04"])];
    assert_movements(&api.movements(), rows);
    api.assert_books("100.00", "0.00", "100.00");
}

#[test]
fn payouts_that_take_their_time() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let [waiting, doomed, lost] =
        ["10.05", "20.06", "30.07"].map(|monto| api.payout(&merchant, monto, json!({})).expect(202));
    for payout in [&waiting, &doomed, &lost] {
        assert_eq!(text(payout, "status"), "pending");
        assert_nulls(payout, &["reference", "settledAt", "failureCode"]);
        let operation =
            api.get(&format!("/v1/payments/operations/{}", text(payout, "operationId"))).expect(200);
        assert_eq!((text(&operation, "status"), &operation["payoutId"]), ("pending", &payout["payoutId"]));
    }
    api.assert_books("39.82", "0.00", "39.82");
    api.advance(50);
    assert_eq!(text(&api.payout_now(&waiting), "status"), "pending");
    api.advance(10);
    assert_texts(&api.payout_now(&waiting), &[("status", "completed")]);
    assert_texts(&api.payout_now(&doomed), &[("status", "failed"), ("failureCode", "AC01")]);
    // The bank never received the payout: sent once more, it completes.
    api.advance(60);
    let found = api.payout_now(&lost);
    assert_texts(&found, &[("status", "completed")]);
    assert!(found["reference"].is_string() && found["settledAt"].is_string());
    api.assert_books("59.88", "0.00", "59.88");
    let status = server.admin().get("/admin/status").expect(200);
    assert_eq!(status["rails"]["duplicateCalls"], 0, "{status}");
}

#[test]
fn the_same_again_is_the_same_payout() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let body = payout_body(&merchant, "30.00");
    let first = api.post("/v1/payouts", &body).expect(201);
    let trimmed = merged(body.clone(), json!({ "externalRef": format!(" {} ", text(&body, "externalRef")) }));
    for again in [&body, &trimmed] {
        assert_eq!(api.post("/v1/payouts", again).expect(200), first);
    }
    for (member, value) in [("monto", "30.01"), ("concepto", "otro")] {
        let conflict = api
            .post("/v1/payouts", &merged(body.clone(), json!({ member: value })))
            .refused(409, "external_ref_conflict");
        assert_eq!((&conflict["existingId"], &conflict["differs"]), (&first["payoutId"], &json!([member])));
    }
    api.assert_books("70.00", "0.00", "70.00");
    // The repeat is answered even when nothing new could be paid.
    api.payout(&merchant, "70.00", json!({})).expect(201);
    api.patch(&format!("/v1/merchants/{}", text(&merchant, "merchantId")), &json!({ "isActive": false }))
        .expect(200);
    assert_eq!(api.post("/v1/payouts", &body).expect(200)["payoutId"], first["payoutId"]);
}

#[test]
fn a_refused_reference_stays_free_and_a_failed_one_is_used() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let body = payout_body(&merchant, "30.00");
    api.post("/v1/payouts", &body).refused(422, "insufficient_balance");
    api.get(&format!("/v1/payouts/by-ref/{}", text(&body, "externalRef"))).refused(404, "not_found");
    api.fund("100.00");
    api.post("/v1/payouts", &body).expect(201);
    // A merchant or method that does not exist is reported before a reference that does.
    for unknown in ["merchantId", "payoutMethodId"] {
        api.post("/v1/payouts", &merged(body.clone(), json!({ unknown: UNKNOWN }))).refused(404, "not_found");
    }
    let failing = payout_body(&merchant, "30.04");
    let failed = api.post("/v1/payouts", &failing).expect(201);
    assert_eq!(api.post("/v1/payouts", &failing).expect(200)["payoutId"], failed["payoutId"]);
    api.assert_books("70.00", "0.00", "70.00");
}

#[test]
fn only_a_verified_method_is_paid() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    let unverified = api.create_merchant(json!({})).expect(201);
    api.payout(&unverified, "1.00", json!({})).refused(400, "payout_method_not_verified");
    api.act(&format!("{}/verify/start", method_path(&unverified, 0))).expect(202);
    api.payout(&unverified, "1.00", json!({})).refused(400, "payout_method_not_verified");
    let merchant = api.merchant();
    api.payout(&merchant, "1.00", json!({ "payoutMethodId": UNKNOWN })).refused(404, "not_found");
    let foreign = unverified["payoutMethods"][0]["payoutMethodId"].clone();
    api.payout(&merchant, "1.00", json!({ "payoutMethodId": foreign })).refused(404, "not_found");
    api.payout(&merchant, "1.00", json!({ "merchantId": UNKNOWN })).refused(404, "not_found");
    let named = merchant["payoutMethods"][0]["payoutMethodId"].clone();
    api.payout(&merchant, "1.00", json!({ "payoutMethodId": named })).expect(201);
    api.assert_books("99.00", "0.00", "99.00");
}

#[test]
fn a_fee_is_paid_and_comes_back_with_a_failed_payout() {
    let server = Server::shared();
    let api = server.tenant_with(json!({ "fees": { "payoutVes": "2.50" } })).test;
    let merchant = api.merchant();
    api.fund("100.00");
    let paid = api.payout(&merchant, "10.00", json!({})).expect(201);
    assert_eq!(text(&paid, "feeVes"), "2.50");
    api.assert_books("87.50", "0.00", "87.50");
    api.payout(&merchant, "10.04", json!({})).expect(201);
    assert_movements(
        &api.movements(),
        &[
            ("adjustment", &["100.00"]),
            ("payout", &["-10.04", "-10.00"]),
            ("payout_fee", &["-2.50", "-2.50"]),
            ("payout_reversal", &["2.50", "10.04"]),
        ],
    );
    api.assert_books("87.50", "0.00", "87.50");
    api.payout(&merchant, "85.01", json!({})).refused(422, "insufficient_balance");
    api.payout(&merchant, "85.00", json!({})).expect(201);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_seller_is_paid_from_what_is_the_sellers() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("5000.00");
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let sale = api.execute(&api.intent(10), "12345678", share).expect(200);
    let from_seller = json!({ "fromMerchantBalance": true });
    let refused = api.payout(&merchant, "0.01", from_seller.clone()).refused(422, "insufficient_balance");
    assert_eq!(text(&refused, "availableVes"), "0.00", "pending money is not available");
    api.advance_to(instant(&sale["availableAt"]));
    api.payout(&merchant, "1770.01", from_seller.clone()).refused(422, "insufficient_balance");
    let failed = api.payout(&merchant, "70.04", from_seller.clone()).expect(201);
    assert_eq!((text(&failed, "status"), &failed["fromMerchantBalance"]), ("failed", &json!(true)));
    api.payout(&merchant, "1770.00", from_seller).expect(201);
    let path = format!("/v1/merchants/{}/balance", text(&merchant, "merchantId"));
    assert_texts(&api.get(&path).expect(200), &[("pendingVes", "0.00"), ("availableVes", "0.00")]);
    api.assert_books("5200.00", "0.00", "5200.00");
}

#[test]
fn payouts_are_listed_and_filtered() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let [paid, failed, pending] = ["1.00", "1.04", "1.05"]
        .map(|monto| api.payout(&merchant, monto, json!({})).json()["payoutId"].clone());
    let ids = |parameters: &[(&str, &str)]| -> Vec<Value> {
        api.walk("/v1/payouts", parameters, 1).iter().map(|payout| payout["payoutId"].clone()).collect()
    };
    assert_eq!(ids(&[]), [pending.clone(), failed.clone(), paid.clone()]);
    assert_eq!(ids(&[("status", "completed")]), from_ref(&paid));
    assert_eq!(ids(&[("status", "failed")]), [failed]);
    assert_eq!(ids(&[("status", "pending")]), from_ref(&pending));
    api.advance(60);
    assert_eq!(ids(&[("status", "pending")]), [] as [Value; 0]);
    assert_eq!(ids(&[("status", "completed")]), [pending, paid]);
}

#[test]
fn concurrent_payouts_never_overdraw() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let answers = race(200, |_| api.payout(&merchant, "1.00", json!({})));
    let paid = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(paid, 100, "money for exactly 100");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(text(&answer.refused(422, "insufficient_balance"), "availableVes"), "0.00");
    }
    let sequences: BTreeSet<u64> =
        answers.iter().filter(|answer| answer.status == 201).map(|answer| answer.wal_seq()).collect();
    assert_eq!(sequences.len(), 100, "each has a record of its own");
    assert_eq!(
        sum(&api.walk("/v1/balance/transactions", &[("type", "payout")], 100), "amountVes"),
        Decimal::from(-100)
    );
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn one_reference_at_once_is_one_payout() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let body = payout_body(&merchant, "1.00");
    let answers = race(32, |_| api.post("/v1/payouts", &body));
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    let ids: BTreeSet<String> = answers
        .iter()
        .map(|answer| {
            assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
            text(&answer.json(), "payoutId").to_owned()
        })
        .collect();
    assert_eq!(ids.len(), 1);
    api.assert_books("99.00", "0.00", "99.00");
}

#[test]
fn a_batch_pays_each_item_for_itself() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("50.04");
    let items: Vec<Value> =
        ["20.00", "40.00", "10.04", "20.00"].iter().map(|monto| payout_body(&merchant, monto)).collect();
    let mut wrong = payout_body(&merchant, "1.00");
    wrong["monto"] = json!("1");
    let body =
        json!({ "externalRef": fresh("batch"), "items": [items[0], items[1], items[2], items[3], wrong] });
    let batch = api.post("/v1/payouts/batch", &body).expect(201);
    let answered = list(&batch, "items");
    let statuses: Vec<&str> = answered.iter().map(|item| text(item, "status")).collect();
    assert_eq!(statuses, ["completed", "failed", "failed", "completed", "failed"]);
    let codes: Vec<&Value> = answered.iter().map(|item| &item["failureCode"]).collect();
    assert_eq!(
        codes,
        [&Value::Null, &json!("insufficient_balance"), &json!("AM04"), &Value::Null, &json!("invalid_data")]
    );
    assert!(
        answered
            .iter()
            .zip(list(&body, "items"))
            .all(|(item, asked)| item["externalRef"] == asked["externalRef"])
    );
    // The money of the third came back only after the fourth was decided: one record debits them
    // all.
    api.assert_books("10.04", "0.00", "10.04");
    assert_eq!(api.post("/v1/payouts/batch", &body).expect(200)["batchId"], batch["batchId"]);
    assert_eq!(
        api.get(&format!("/v1/payouts/batch/{}", text(&batch, "batchId"))).expect(200)["batchId"],
        batch["batchId"]
    );
    assert_eq!(api.walk("/v1/payouts", &[], 100).len(), 3, "what was refused is no payout");
}

#[test]
fn a_default_that_is_spelt_out_is_no_difference() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.fund("100.00");
    let merchant = api.merchant();
    let default = json!({ "payoutMethodId": merchant["payoutMethods"][0]["payoutMethodId"], "fromMerchantBalance": false });
    for (first, again) in [(json!({}), default.clone()), (default, json!({}))] {
        let body = payout_body(&merchant, "1.00");
        let paid = api.post("/v1/payouts", &merged(body.clone(), first.clone())).expect(201);
        assert_eq!(api.post("/v1/payouts", &merged(body.clone(), again)).expect(200), paid, "{first}");
    }
    api.assert_books("98.00", "0.00", "98.00");
}
