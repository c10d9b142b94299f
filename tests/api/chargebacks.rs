//! Chargebacks of card payments: whole, in part, several, won and lost (`docs/contract.md, 8`).
//!
//! 200 VES a dollar, fee 1.5 %: 10 USD are 2000.00 VES, fee 30.00, net 1970.00.

use crate::harness::check::{
    assert_id, assert_movements, assert_nulls, assert_number, assert_texts, instant, list, race, text,
};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{UNKNOWN, fresh, merged};
use crate::harness::server::Server;
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::collections::BTreeSet;

impl Api {
    /// Has the bank take a payment back; members of `over` are added or replaced.
    #[track_caller]
    fn charge_back(&self, payment: &Value, over: Value) -> Answer {
        self.post(
            "/v1/test/chargebacks",
            &merged(json!({ "paymentId": payment["paymentId"], "reason": "fraud" }), over),
        )
    }

    /// Ends the dispute.
    #[track_caller]
    fn close(&self, chargeback: &Value, outcome: &str) -> Answer {
        self.post(
            &format!("/v1/test/chargebacks/{}/close", text(chargeback, "chargebackId")),
            &json!({ "outcome": outcome }),
        )
    }
}

#[test]
fn a_whole_chargeback_reverses_the_payment() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(10);
    let debited = "2026-11-20T10:00:00.000Z";
    let chargeback = api
        .charge_back(
            &payment,
            json!({ "feeVes": "25.00", "reason": "not_received", "bankDebitedAt": debited }),
        )
        .expect(201);
    assert_id(&chargeback["chargebackId"]);
    assert_texts(
        &chargeback,
        &[
            ("status", "open"),
            ("amountVes", "2000.00"),
            ("feeVes", "25.00"),
            ("reason", "not_received"),
            ("bankDebitedAt", debited),
            ("paymentId", text(&payment, "paymentId")),
            ("externalRef", text(&payment, "externalRef")),
        ],
    );
    assert_nulls(&chargeback, &["outcome", "closedAt"]);
    assert_eq!(chargeback["livemode"], false);
    let id = text(&chargeback, "chargebackId");
    assert_eq!(api.get(&format!("/v1/chargebacks/{id}")).expect(200), chargeback);
    let now = api.payment(&payment);
    assert_texts(&now, &[("status", "REVERSED"), ("reversalType", "chargeback")]);
    assert_eq!(now["reversedAt"], chargeback["createdAt"]);
    assert_number(&now, "feeVes", "30");
    let inside = &list(&now, "chargebacks")[0];
    assert_texts(
        inside,
        &[
            ("chargebackId", id),
            ("status", "open"),
            ("amountVes", "2000.00"),
            ("feeVes", "25.00"),
            ("reason", "not_received"),
        ],
    );
    // The sale is still held; what was taken comes from what is available.
    api.assert_books("-55.00", "1970.00", "-2025.00");
    let all: &[(&str, &[&str])] = &[
        ("payment", &["2000.00"]),
        ("fee", &["-30.00"]),
        ("chargeback", &["-2000.00"]),
        ("chargeback_fee", &["-25.00"]),
    ];
    assert_movements(&api.movements(), all);
    let rows =
        api.query("/v1/balance/transactions", &[("paymentId", text(&payment, "paymentId"))]).expect(200);
    assert_movements(list(&rows, "items"), all);
    for row in list(&rows, "items").iter().filter(|row| text(row, "type").starts_with("chargeback")) {
        assert_texts(
            row,
            &[
                ("chargebackId", id),
                ("paymentId", text(&payment, "paymentId")),
                ("createdAt", text(&chargeback, "createdAt")),
            ],
        );
        assert!(row.get("availableAt").is_none_or(Value::is_null), "{row}");
    }
    api.charge_back(&payment, json!({})).refused(409, "chargeback_exceeds_payment");
}

/// What the card paid whose holder disputes it.
fn disputed(api: &Api) -> Value {
    let payment = api.vpos(10, json!({ "card": { "number": "4000000000000259" } })).expect(201);
    assert_texts(&payment, &[("status", "COMPLETED"), ("cardLast4", "0259")]);
    payment
}

fn chargebacks(api: &Api) -> Vec<Value> {
    list(&api.get("/v1/chargebacks").expect(200), "items").to_vec()
}

#[test]
fn a_disputed_card_is_charged_back_whole_a_day_later() {
    let server = Server::shared();
    for steps in [&[86_399_i64, 1][..], &[86_400], &[9 * 86_400]] {
        let tenant = server.tenant();
        let api = &tenant.test;
        let payment = disputed(api);
        if let [before, _] = steps {
            api.advance(before - 30);
            assert_eq!(api.payment(&payment)["status"], "COMPLETED");
            api.assert_books("1970.00", "1970.00", "0.00");
            api.advance(30);
        }
        api.advance(*steps.last().expect("a step"));
        let [chargeback] = &chargebacks(api)[..] else { panic!("{:?}", chargebacks(api)) };
        assert_texts(
            chargeback,
            &[("status", "open"), ("amountVes", "2000.00"), ("feeVes", "0.00"), ("reason", "fraud")],
        );
        let due = instant(&payment["completedAt"]) + TimeDelta::days(1);
        assert_eq!(instant(&chargeback["createdAt"]), due, "{steps:?}");
        let now = api.payment(&payment);
        assert_texts(&now, &[("status", "REVERSED"), ("reversalType", "chargeback")]);
        api.assert_books("-30.00", "0.00", "-30.00");
        let events = api.get("/v1/events").expect(200);
        let kinds: BTreeSet<_> = list(&events, "items").iter().map(|event| text(event, "event")).collect();
        assert_eq!(kinds, ["payment.chargeback", "payment.completed", "payment.reversed"].into());
        assert_eq!(list(&events, "items").len(), 3);
        // Once: not after it was won either.
        api.close(chargeback, "won").expect(200);
        api.advance(40 * 86_400);
        assert_eq!(chargebacks(api).len(), 1);
        assert_eq!(api.payment(&payment)["status"], "COMPLETED");
        api.assert_books("1970.00", "0.00", "1970.00");
    }
}

#[test]
fn a_dispute_survives_a_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let payment = disputed(&api);
    for seconds in [43_200, 43_200] {
        server.kill();
        server.restart();
        assert_eq!(api.payment(&payment)["status"], "COMPLETED");
        api.advance(seconds);
    }
    server.kill();
    server.restart();
    assert_eq!(api.payment(&payment)["status"], "REVERSED");
    api.advance(10 * 86_400);
    assert_eq!(chargebacks(&api).len(), 1);
    api.assert_books("-30.00", "0.00", "-30.00");
}

#[test]
fn a_dispute_that_was_opened_before_takes_the_place_of_the_one_a_day_later() {
    let server = Server::shared();
    for (amount, outcome, status) in [
        ("2000.00", None, "REVERSED"),
        ("2000.00", Some("won"), "COMPLETED"),
        ("500.00", None, "COMPLETED"),
        ("500.00", Some("lost"), "COMPLETED"),
    ] {
        let api = server.tenant().test;
        let payment = disputed(&api);
        let chargeback = api.charge_back(&payment, json!({ "amountVes": amount })).expect(201);
        if let Some(outcome) = outcome {
            api.close(&chargeback, outcome).expect(200);
        }
        api.advance(2 * 86_400);
        assert_eq!(chargebacks(&api).len(), 1, "{amount} {outcome:?}");
        assert_eq!(api.payment(&payment)["status"], status, "{amount} {outcome:?}");
    }
}

#[test]
fn a_won_dispute_brings_everything_back() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(10);
    let chargeback = api.charge_back(&payment, json!({ "feeVes": "25.00" })).expect(201);
    api.advance(3_600);
    let closed = api.close(&chargeback, "won").expect(200);
    assert_texts(
        &closed,
        &[("status", "won"), ("outcome", "won"), ("amountVes", "2000.00"), ("feeVes", "25.00")],
    );
    assert!(instant(&closed["closedAt"]) > instant(&closed["createdAt"]));
    let now = api.payment(&payment);
    assert_eq!(now["status"], "COMPLETED");
    assert_nulls(&now, &["reversedAt", "reversalType", "reversalRef"]);
    assert_eq!(list(&now, "chargebacks")[0]["status"], "won");
    api.assert_books("1970.00", "1970.00", "0.00");
    let rows = api.query("/v1/balance/transactions", &[("type", "chargeback_reversal")]).expect(200);
    assert_movements(list(&rows, "items"), &[("chargeback_reversal", &["25.00", "2000.00"])]);
    let rows =
        api.query("/v1/balance/transactions", &[("paymentId", text(&payment, "paymentId"))]).expect(200);
    assert_eq!(list(&rows, "items").len(), 6);
    for outcome in ["won", "lost"] {
        api.close(&chargeback, outcome).refused(409, "chargeback_closed");
    }
    // A payment that was won back can be charged back again.
    api.charge_back(&payment, json!({})).expect(201);
}

#[test]
fn a_lost_dispute_moves_nothing_more() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(10);
    let chargeback = api.charge_back(&payment, json!({})).expect(201);
    let before = api.movements();
    let closed = api.close(&chargeback, "lost").expect(200);
    assert_texts(&closed, &[("status", "lost"), ("outcome", "lost")]);
    assert_eq!(api.movements(), before);
    assert_texts(&api.payment(&payment), &[("status", "REVERSED"), ("reversalType", "chargeback")]);
    api.close(&chargeback, "won").refused(409, "chargeback_closed");
    api.assert_books("-30.00", "1970.00", "-2000.00");
}

#[test]
fn several_parts_never_exceed_the_whole() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(10);
    let first = api.charge_back(&payment, json!({ "amountVes": "500.00" })).expect(201);
    assert_eq!(first["feeVes"], "0.00");
    assert_eq!(api.payment(&payment)["status"], "COMPLETED");
    // No row of 0.00 is written for a fee of nothing.
    assert_movements(
        &api.movements(),
        &[("payment", &["2000.00"]), ("fee", &["-30.00"]), ("chargeback", &["-500.00"])],
    );
    api.charge_back(&payment, json!({ "amountVes": "1500.01" })).refused(409, "chargeback_exceeds_payment");
    let second = api.charge_back(&payment, json!({ "amountVes": "700.00" })).expect(201);
    api.close(&first, "lost").expect(200);
    api.close(&second, "won").expect(200);
    api.charge_back(&payment, json!({ "amountVes": "1500.01" })).refused(409, "chargeback_exceeds_payment");
    assert_eq!(api.payment(&payment)["status"], "COMPLETED");
    let rest = api.charge_back(&payment, json!({})).expect(201);
    assert_eq!(rest["amountVes"], "1500.00");
    let now = api.payment(&payment);
    assert_eq!((now["status"].as_str(), list(&now, "chargebacks").len()), (Some("REVERSED"), 3));
    api.close(&rest, "won").expect(200);
    assert_eq!(api.payment(&payment)["status"], "COMPLETED");
    api.assert_books("1470.00", "1970.00", "-500.00");
}

#[test]
fn only_completed_card_payments() {
    let server = Server::shared();
    let api = server.tenant().test;
    let c2p = api.pay(10);
    let declined = api.vpos(10, json!({ "card": { "number": "4000000000000002" } })).expect(201);
    for payment in [&c2p, &declined, &api.intent(1)] {
        let of = json!({ "paymentId": payment["paymentId"].as_str().or(payment["intentId"].as_str()) });
        api.charge_back(&c2p, of).refused(409, "chargeback_not_allowed");
    }
    api.charge_back(&c2p, json!({ "paymentId": UNKNOWN })).refused(404, "not_found");
    let other = server.tenant().test;
    other.charge_back(&api.vpos_pay(1), json!({})).refused(404, "not_found");
    let card = api.vpos_pay(10);
    api.charge_back(&card, json!({ "reason": "because" })).names(&["reason"]);
    api.charge_back(&card, json!({ "amountVes": "0.00" })).names(&["amountVes"]);
    api.charge_back(&card, json!({ "amountVes": 10, "feeVes": "-1.00", "bankDebitedAt": "today", "x": 1 }))
        .names(&["amountVes", "feeVes", "bankDebitedAt", "x"]);
    let chargeback = api.charge_back(&card, json!({})).expect(201);
    api.close(&chargeback, "settled").names(&["outcome"]);
    other.close(&chargeback, "won").refused(404, "not_found");
    other.get(&format!("/v1/chargebacks/{}", text(&chargeback, "chargebackId"))).refused(404, "not_found");
    api.get("/v1/chargebacks/no-id").refused(404, "not_found");
}

#[test]
fn the_fee_is_the_tenants_setting_and_the_balance_may_go_below_zero() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "fees": { "chargebackVes": "15.50" } }));
    let api = tenant.test;
    let payment = api.vpos_pay(10);
    api.advance(86_400);
    let merchant = api.merchant();
    api.payout(&merchant, "1970.00", json!({})).expect(201);
    let chargeback = api.charge_back(&payment, json!({})).expect(201);
    assert_eq!(chargeback["feeVes"], "15.50");
    api.assert_books("-2015.50", "0.00", "-2015.50");
    let refused = api.payout(&merchant, "0.01", json!({})).refused(422, "insufficient_balance");
    assert_eq!(refused["availableVes"], "-2015.50");
}

#[test]
fn the_sellers_share_is_taken_from_the_tenant() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let payment = api
        .vpos(10, json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 }))
        .expect(201);
    let before = api.balance();
    let chargeback = api.charge_back(&payment, json!({})).expect(201);
    let after = api.books();
    assert_eq!(after["sellerPendingVes"], before["sellerPendingVes"]);
    assert_eq!(after["sellerPendingVes"], "1770.00");
    assert_eq!(after["availableVes"], "-2000.00");
    api.close(&chargeback, "won").expect(200);
    api.assert_books("200.00", "200.00", "0.00");
}

#[test]
fn two_at_once_take_the_payment_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(10);
    let answers = race(8, |_| api.charge_back(&payment, json!({ "amountVes": "1500.00" })));
    let taken = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(taken, 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.refused(409, "chargeback_exceeds_payment");
    }
    let open = answers.iter().find(|answer| answer.status == 201).expect("one").json();
    let answers = race(8, |n| api.close(&open, if n % 2 == 0 { "won" } else { "lost" }));
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refused(409, "chargeback_closed");
    }
    api.books();
}

#[test]
fn they_are_listed_newest_first_by_status() {
    let server = Server::shared();
    let api = server.tenant().test;
    assert_eq!(api.get("/v1/chargebacks").expect(200), json!({ "items": [], "nextCursor": null }));
    let payments = [api.vpos_pay(1), api.vpos_pay(2), api.vpos_pay(3)];
    let opened: Vec<Value> =
        payments.iter().map(|payment| api.charge_back(payment, json!({})).expect(201)).collect();
    let won = api.close(&opened[0], "won").expect(200);
    let lost = api.close(&opened[1], "lost").expect(200);
    assert_eq!(api.walk("/v1/chargebacks", &[], 2), [opened[2].clone(), lost.clone(), won.clone()]);
    for (status, expected) in [("open", &opened[2]), ("won", &won), ("lost", &lost)] {
        assert_eq!(api.walk("/v1/chargebacks", &[("status", status)], 1), std::slice::from_ref(expected));
    }
    api.query("/v1/chargebacks", &[("status", "closed")]).names(&["status"]);
}

#[test]
fn a_key_keeps_both_answers() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(10);
    let keyed = api.keyed(&fresh("key"));
    let opened = keyed.charge_back(&payment, json!({}));
    let chargeback = opened.expect(201);
    let again = keyed.charge_back(&payment, json!({}));
    assert_eq!(
        (again.status, again.text(), again.header("idempotent-replayed")),
        (201, opened.text(), Some("true"))
    );
    let keyed = api.keyed(&fresh("key"));
    let closed = keyed.close(&chargeback, "won");
    let again = keyed.close(&chargeback, "won");
    assert_eq!(
        (again.status, again.text(), again.header("idempotent-replayed")),
        (200, closed.text(), Some("true"))
    );
    assert_eq!(api.movements().len(), 4);
}

#[test]
fn operators_do_the_same() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "chargebackFeeMax": "10.00" }));
    let (api, admin) = (tenant.test, server.admin());
    let payment = api.vpos_pay(10);
    let path = format!("/admin/tenants/{}/chargebacks", tenant.id);
    let body = json!({ "paymentId": payment["paymentId"], "amountVes": "500.00", "feeVes": "10.00", "reason": "duplicate" });
    let keyed = admin.keyed(&fresh("key"));
    let chargeback = keyed.post(&path, &body).expect(201);
    assert_eq!(keyed.post(&path, &body).expect(201), chargeback);
    assert_texts(
        &chargeback,
        &[("status", "open"), ("amountVes", "500.00"), ("feeVes", "10.00"), ("reason", "duplicate")],
    );
    let id = text(&chargeback, "chargebackId");
    assert_eq!(api.get(&format!("/v1/chargebacks/{id}")).expect(200), chargeback);
    admin
        .post(&path, &merged(body.clone(), json!({ "amountVes": "1500.01" })))
        .refused(409, "chargeback_exceeds_payment");
    admin.post(&path, &merged(body.clone(), json!({ "paymentId": UNKNOWN }))).refused(404, "not_found");
    admin
        .post(&format!("/admin/tenants/{}/chargebacks", server.tenant().id), &body)
        .refused(404, "not_found");
    admin.post(&path, &json!({ "reason": "duplicate" })).names(&["paymentId"]);
    let close = format!("/admin/chargebacks/{id}/close");
    let closed = admin.post(&close, &json!({ "outcome": "won" })).expect(200);
    assert_texts(&closed, &[("status", "won"), ("outcome", "won")]);
    admin.post(&close, &json!({ "outcome": "won" })).refused(409, "chargeback_closed");
    admin
        .post(&format!("/admin/chargebacks/{UNKNOWN}/close"), &json!({ "outcome": "won" }))
        .refused(404, "not_found");
    api.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn a_payment_has_at_most_a_hundred_chargebacks() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(10);
    for _ in 0..100 {
        let chargeback =
            api.charge_back(&payment, json!({ "amountVes": "1.00", "feeVes": "0.00" })).expect(201);
        api.close(&chargeback, "won").expect(200);
    }
    api.charge_back(&payment, json!({ "amountVes": "1.00" })).refused(409, "too_many_chargebacks");
    api.assert_books("1970.00", "1970.00", "0.00");
    assert_eq!(list(&api.payment(&payment), "chargebacks").len(), 100);
}
