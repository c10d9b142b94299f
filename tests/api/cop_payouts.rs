//! Payouts of pesos by the operator (`docs/contract.md, 11.8`).

use crate::harness::check::{assert_id, assert_nulls, assert_texts, race, text};
use crate::harness::flows::{UNKNOWN, merged};
use crate::harness::pesos::{cop_payout_body, rows};
use crate::harness::server::Server;
use serde_json::json;

#[test]
fn it_is_debited_at_once_and_told_when_it_is_paid() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.cop_fund("100000", false);
    let body = cop_payout_body(40_000);
    let answer = server.admin().post(&format!("/admin/tenants/{}/cop-payouts", tenant.id), &body);
    let payout = answer.expect(201);
    assert!(answer.wal_seq() > 0);
    assert_id(&payout["id"]);
    assert_eq!(payout["id"], payout["payoutId"]);
    assert_texts(
        &payout,
        &[
            ("status", "pending"),
            ("amountCop", "40000"),
            ("currency", "COP"),
            ("bank", "Bancolombia"),
            ("accountNumber", "…8901"),
            ("accountType", "savings"),
            ("holderName", "Ana Pérez"),
            ("documentType", "CC"),
            ("documentNumber", "***050"),
            ("externalRef", text(&body, "externalRef")),
        ],
    );
    assert_nulls(&payout, &["reference", "failureCode", "settledAt"]);
    api.assert_pesos("60000", "0", "60000");
    let path = format!("/v1/cop/payouts/{}", text(&payout, "id"));
    assert_eq!(api.get(&path).expect(200), payout);
    let settle = format!("/admin/cop-payouts/{}", text(&payout, "id"));
    server.admin().post(&format!("{settle}/complete"), &json!({})).names(&["reference"]);
    let completed =
        server.admin().post(&format!("{settle}/complete"), &json!({ "reference": "B-77" })).expect(200);
    assert_texts(&completed, &[("status", "completed"), ("reference", "B-77")]);
    assert_eq!(api.get(&path).expect(200), completed);
    server
        .admin()
        .post(&format!("{settle}/complete"), &json!({ "reference": "B-77" }))
        .refused(409, "payout_not_pending");
    server
        .admin()
        .post(&format!("{settle}/fail"), &json!({ "failureCode": "AC01" }))
        .refused(409, "payout_not_pending");
    let told = api.told();
    assert_eq!((told.len(), told[0].0.as_str()), (1, "payout.completed"));
    assert_texts(
        &told[0].1,
        &[
            ("currency", "COP"),
            ("payoutId", text(&payout, "id")),
            ("status", "completed"),
            ("amountCop", "40000"),
        ],
    );
    let movements = api.walk("/v1/cop/balance/transactions", &[("payoutId", text(&payout, "id"))], 5);
    assert_eq!(rows(&movements), [("payout", "-40000")]);
    assert_eq!(
        (&movements[0]["payoutId"], &movements[0]["externalRef"]),
        (&payout["id"], &payout["externalRef"])
    );
}

#[test]
fn a_failed_one_comes_back() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.cop_fund("50000", false);
    let payout = server.cop_payout(&tenant, 50_000, json!({})).expect(201);
    api.assert_pesos("0", "0", "0");
    let path = format!("/admin/cop-payouts/{}/fail", text(&payout, "id"));
    server.admin().post(&path, &json!({})).names(&["failureCode"]);
    let failed = server.admin().post(&path, &json!({ "failureCode": "AC01" })).expect(200);
    assert_texts(&failed, &[("status", "failed"), ("failureCode", "AC01")]);
    api.assert_pesos("50000", "0", "50000");
    assert_eq!(
        rows(&api.cop_rows()),
        [("payout_reversal", "50000"), ("payout", "-50000"), ("adjustment", "50000")]
    );
    let told = api.told();
    assert_eq!(told[0].0, "payout.failed");
    assert_texts(&told[0].1, &[("currency", "COP"), ("failureCode", "AC01")]);
}

#[test]
fn a_reference_is_used_once() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.cop_fund("100000", false);
    let body = cop_payout_body(30_000);
    let path = format!("/admin/tenants/{}/cop-payouts", tenant.id);
    let answers = race(6, |_| server.admin().post(&path, &body));
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    let first = answers.iter().find(|answer| answer.status == 201).expect("one").json();
    assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 201) && answer.json() == first));
    let other = merged(body.clone(), json!({ "amountCop": 30_001, "holderName": "Otra" }));
    let conflict = server.admin().post(&path, &other).refused(409, "external_ref_conflict");
    assert_eq!(
        (&conflict["existingId"], &conflict["differs"]),
        (&first["id"], &json!(["amountCop", "holderName"]))
    );
    // A payout in bolívares has a space of its own.
    tenant.test.fund("10.00");
    let merchant = tenant.test.merchant();
    tenant.test.payout(&merchant, "1.00", json!({ "externalRef": body["externalRef"] })).expect(201);
    tenant.test.assert_pesos("70000", "0", "70000");
    // The same key and body get the same answer, also when it was a refusal.
    let keyed = server.admin().keyed("cop-payout");
    let fresh = cop_payout_body(70_001);
    for replayed in [None, Some("true")] {
        let answer = keyed.post(&path, &fresh);
        let refused = answer.expect(422);
        assert_texts(&refused, &[("error", "insufficient_balance"), ("availableCop", "70000")]);
        assert_eq!(answer.header("idempotent-replayed"), replayed);
    }
}

#[test]
fn held_pesos_are_not_paid_out() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.cop_paid(50_000);
    tenant.test.cop_fund("10000", false);
    let refused = server.cop_payout(&tenant, 10_001, json!({})).refused(422, "insufficient_balance");
    assert_eq!(refused["availableCop"], "10000");
    server.cop_payout(&tenant, 10_000, json!({})).expect(201);
    tenant.test.assert_pesos("46250", "46250", "0");
}

#[test]
fn they_never_overdraw() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.cop_fund("50000", false);
    let answers = race(12, |_| server.cop_payout(&tenant, 10_000, json!({})));
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 5);
    assert!(answers.iter().all(|answer| matches!(answer.status, 201 | 422)));
    tenant.test.assert_pesos("0", "0", "0");
}

#[test]
fn they_are_listed_newest_first_and_by_status() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.cop_fund("100000", false);
    let mut payouts: Vec<_> =
        (0..3).map(|_| server.cop_payout(&tenant, 10_000, json!({})).expect(201)).collect();
    payouts[1] = server
        .admin()
        .post(
            &format!("/admin/cop-payouts/{}/complete", text(&payouts[1], "id")),
            &json!({ "reference": "x" }),
        )
        .expect(200);
    payouts.reverse();
    assert_eq!(api.walk("/v1/cop/payouts", &[], 2), payouts);
    assert_eq!(api.walk("/v1/cop/payouts", &[("status", "completed")], 2), [payouts[1].clone()]);
    assert!(api.walk("/v1/cop/payouts", &[("status", "failed")], 2).is_empty());
    api.query("/v1/cop/payouts", &[("status", "paid")]).names(&["status"]);
    api.get(&format!("/v1/cop/payouts/{UNKNOWN}")).refused(404, "not_found");
    server
        .tenant()
        .test
        .get(&format!("/v1/cop/payouts/{}", text(&payouts[0], "id")))
        .refused(404, "not_found");
    tenant.test.get(&format!("/v1/payouts/{}", text(&payouts[0], "id"))).refused(404, "not_found");
}

#[test]
fn what_the_operator_must_say() {
    let server = Server::shared();
    let tenant = server.tenant();
    let all = [
        "mode",
        "amountCop",
        "bank",
        "accountNumber",
        "accountType",
        "holderName",
        "documentType",
        "documentNumber",
        "externalRef",
    ];
    server.admin().post(&format!("/admin/tenants/{}/cop-payouts", tenant.id), &json!({})).names(&all);
    server
        .admin()
        .post(&format!("/admin/tenants/{UNKNOWN}/cop-payouts"), &cop_payout_body(1))
        .refused(404, "not_found");
    for act in ["complete", "fail"] {
        let body =
            if act == "complete" { json!({ "reference": "r" }) } else { json!({ "failureCode": "c" }) };
        server.admin().post(&format!("/admin/cop-payouts/{UNKNOWN}/{act}"), &body).refused(404, "not_found");
    }
    // The operator is the rail: it works in live mode, too.
    let admin = server.admin();
    let adjust = json!({ "mode": "live", "currency": "COP", "amount": "5000", "description": "d", "externalRef": "a" });
    admin.post(&format!("/admin/tenants/{}/adjustments", tenant.id), &adjust).expect(201);
    let payout =
        server.cop_payout(&tenant, 5_000, json!({ "mode": "live", "amountCop": "5000" })).expect(201);
    assert_eq!((&payout["livemode"], &payout["amountCop"]), (&json!(true), &json!("5000")));
}
