//! Payments in Colombian pesos: asking, paying, declining, codes, cancelling, time
//! (`docs/contract.md, 11`).

use crate::harness::check::{
    assert_id, assert_nulls, assert_number, assert_texts, instant, list, race, stamp, text,
};
use crate::harness::flows::{DAY, SECOND, UNKNOWN, merged};
use crate::harness::pesos::{buyer, cop_body, cop_path, rows};
use crate::harness::server::Server;
use base64::Engine as _;
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn a_qr_payment_shows_its_picture_and_key_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = cop_body(50_000, "qr");
    let keyed = api.keyed("qr-1");
    let answer = keyed.post("/v1/cop/payments", &body);
    let payment = answer.expect(201);
    assert_id(&payment["id"]);
    assert_texts(
        &payment,
        &[
            ("object", "cop_payment"),
            ("status", "pending"),
            ("method", "COP"),
            ("channel", "qr"),
            ("reference", text(&body, "reference")),
        ],
    );
    assert_number(&payment, "amountCop", "50000");
    assert_eq!((&payment["metadata"], &payment["livemode"]), (&body["metadata"], &json!(false)));
    assert_nulls(&payment, &["feeCop", "netCop", "failureCode", "completedAt", "refundedAt"]);
    assert_eq!(instant(&payment["expiresAt"]) - instant(&payment["createdAt"]), TimeDelta::minutes(15));
    let next = &payment["next"];
    assert_eq!(next["type"], "show_qr");
    let key = text(next, "transferKey");
    assert!(key.starts_with('@') && key.len() == 20, "{key}");
    let png = base64::engine::general_purpose::STANDARD.decode(text(next, "qrPngBase64")).expect("base64");
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    assert!(api.cop_now(&payment)["next"].is_null());
    let again = keyed.post("/v1/cop/payments", &body);
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &answer.body));
    keyed
        .post("/v1/cop/payments", &merged(body, json!({ "amountCop": 50_001 })))
        .refused(422, "idempotency_key_reused");
}

#[test]
fn push_and_sms_say_where_the_buyer_looks() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (channel, kind) in [("push", "approve_in_app"), ("sms", "submit_otp")] {
        let payment = api.cop(20_000, channel);
        assert_eq!(payment["next"], json!({ "type": kind, "phoneMasked": "300***4567" }));
        assert_eq!(instant(&payment["expiresAt"]) - instant(&payment["createdAt"]), TimeDelta::minutes(5));
        assert_eq!(api.cop_now(&payment), payment);
        assert!(!api.get(&cop_path(&payment)).text().contains("1020304050"));
    }
}

#[test]
fn two_payments_may_share_a_reference() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = cop_body(20_000, "qr");
    let (first, second) =
        (api.post("/v1/cop/payments", &body).expect(201), api.post("/v1/cop/payments", &body).expect(201));
    assert_ne!(first["id"], second["id"]);
    assert_ne!(first["next"]["transferKey"], second["next"]["transferKey"]);
    let bare = api.post("/v1/cop/payments", &json!({ "amountCop": 20_000, "channel": "qr" })).expect(201);
    assert_nulls(&bare, &["reference", "metadata"]);
}

#[test]
fn every_bad_member_is_named() {
    let server = Server::shared();
    let api = server.tenant().test;
    let post =
        |channel: &str, over: Value| api.post("/v1/cop/payments", &merged(cop_body(50_000, channel), over));
    api.post("/v1/cop/payments", &json!({})).names(&["amountCop", "channel"]);
    post("qr", json!({ "amountCop": "50000" })).names(&["amountCop"]);
    post("qr", json!({ "amountCop": 1_000_000_000_000_i64 })).names(&["amountCop"]);
    api.post_raw("/v1/cop/payments", r#"{"amountCop": 50000.5, "channel": "qr"}"#).names(&["amountCop"]);
    post("qr", json!({ "channel": "card", "amountCop": 5 })).names(&["amountCop", "channel"]);
    post("qr", json!({ "reference": "x".repeat(129), "metadata": [1], "extra": 1, "merchantId": UNKNOWN }))
        .names(&["reference", "metadata", "extra", "merchantId"]);
    post("qr", json!({ "metadata": { "big": "x".repeat(9_000) } })).names(&["metadata"]);
    for channel in ["push", "sms"] {
        post(channel, json!({ "buyer": null })).names(&["buyer"]);
        post(channel, json!({ "buyer": {} })).names(&[
            "buyer.email",
            "buyer.phone",
            "buyer.documentType",
            "buyer.documentNumber",
        ]);
        let bad = json!({ "email": "ana", "phone": "04141234567", "documentType": "V", "documentNumber": "1 2", "name": "Ana" });
        post(channel, json!({ "buyer": bad })).names(&[
            "buyer.email",
            "buyer.phone",
            "buyer.documentType",
            "buyer.documentNumber",
            "buyer.name",
        ]);
    }
    for (document, push, sms) in [
        ("CC", true, true),
        ("CE", true, true),
        ("TI", true, true),
        ("NIT", true, false),
        ("PP", true, false),
    ] {
        let over = json!({ "buyer": merged(buyer(), json!({ "documentType": document })) });
        for (channel, fits) in [("push", push), ("sms", sms)] {
            let answer = post(channel, over.clone());
            if fits {
                assert_eq!(answer.status, 201, "{document} {channel}")
            } else {
                answer.names(&["buyer.documentType"])
            }
        }
    }
    post("qr", json!({ "buyer": { "phone": "3001234567" } })).expect(201);
    post("qr", json!({ "buyer": { "phone": "300" } })).names(&["buyer.phone"]);
    // A number is the same, however it is written.
    assert_number(
        &api.post_raw("/v1/cop/payments", r#"{"amountCop": 5e4, "channel": "qr"}"#).expect(201),
        "amountCop",
        "50000",
    );
}

#[test]
fn less_than_the_minimum_says_what_it_is() {
    let server = Server::shared();
    let api = server.tenant().test;
    for amount in [19_999, 1, 0, -20_000] {
        let body = api.post("/v1/cop/payments", &cop_body(amount, "qr")).refused(400, "amount_below_minimum");
        assert_eq!(body["minimumCop"], 20_000);
    }
    api.cop(20_000, "qr");
}

#[test]
fn who_may_not_collect_pesos() {
    let server = Server::shared();
    let off = server.tenant_with(json!({ "cop": { "enabled": false } }));
    off.test.post("/v1/cop/payments", &cop_body(50_000, "qr")).refused(403, "cop_not_enabled");
    off.test.get("/v1/cop/balance").expect(200);
    let tenant = server.tenant();
    tenant.live.post("/v1/cop/payments", &cop_body(50_000, "qr")).refused(403, "live_mode_not_activated");
    server
        .admin()
        .post(
            &format!("/admin/tenants/{}/live-status", tenant.id),
            &json!({ "status": "active", "reason": "ok" }),
        )
        .expect(200);
    tenant.live.post("/v1/cop/payments", &cop_body(50_000, "qr")).refused(503, "rail_not_configured");
    tenant.live.act(&format!("/v1/test/cop/payments/{UNKNOWN}/pay")).refused(403, "test_mode_only");
    let key = server
        .admin()
        .post(
            &format!("/admin/tenants/{}/keys", tenant.id),
            &json!({ "mode": "test", "scopes": ["read", "payout"] }),
        )
        .expect(201);
    let reader = server.api(text(&key, "key"));
    reader.post("/v1/cop/payments", &cop_body(50_000, "qr")).refused(403, "scope_missing");
    reader.act(&format!("/v1/cop/payments/{UNKNOWN}/refund")).refused(403, "scope_missing");
    reader.get("/v1/cop/balance").expect(200);
}

#[test]
fn a_paid_payment_is_credited_net_of_its_fee_and_held_for_a_day() {
    let server = Server::shared();
    let api = server.tenant().test;
    let pending = api.cop(50_000, "push");
    let paid = api.cop_buyer(&pending, "pay").expect(200);
    assert_texts(&paid, &[("id", text(&pending, "id")), ("status", "completed")]);
    assert_number(&paid, "feeCop", "3750");
    assert_number(&paid, "netCop", "46250");
    assert_nulls(&paid, &["next", "failureCode", "refundedAt"]);
    assert_eq!(api.cop_now(&paid), paid);
    api.assert_pesos("46250", "46250", "0");
    let balance = api.cop_books();
    let available_at = stamp(instant(&paid["completedAt"]) + DAY);
    assert_eq!(text(&balance, "nextReleaseAt"), available_at);
    let movements = api.cop_rows();
    assert_eq!(rows(&movements), [("fee", "-3750"), ("payment", "50000")]);
    for row in &movements {
        assert_texts(
            row,
            &[("paymentId", text(&paid, "id")), ("availableAt", &available_at), ("currency", "COP")],
        );
    }
    let of_payment = api.walk(
        "/v1/cop/balance/transactions",
        &[("paymentId", text(&paid, "id")), ("type", "fee,payment")],
        1,
    );
    assert_eq!(of_payment, movements);
    assert!(api.walk("/v1/cop/balance/transactions", &[("paymentId", UNKNOWN)], 10).is_empty());
    assert!(api.movements().is_empty(), "no bolívares moved");
    api.advance_to(instant(&paid["completedAt"]) + DAY - SECOND * 30);
    api.assert_pesos("46250", "46250", "0");
    api.advance_to(instant(&paid["completedAt"]) + DAY);
    api.assert_pesos("46250", "0", "46250");
    assert_nulls(&api.cop_books(), &["nextReleaseAt"]);
    assert!(api.cop_rows().iter().all(|row| row.get("availableAt").is_none()));
}

#[test]
fn what_a_payment_tells() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.cop_paid(50_000);
    let declined = api.cop_buyer(&api.cop(20_000, "push"), "decline").expect(200);
    let canceled = api.cop_cancel(&api.cop(20_000, "qr")).expect(200);
    assert_texts(&declined, &[("status", "failed"), ("failureCode", "rejected")]);
    assert_eq!(canceled["status"], "canceled");
    assert_nulls(&canceled, &["failureCode", "next"]);
    let told = api.told();
    assert_eq!(
        told.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["payment.completed", "payment.failed", "payment.canceled"]
    );
    for ((_, data), payment) in told.iter().zip([&paid, &declined, &canceled]) {
        assert_texts(
            data,
            &[
                ("paymentId", text(payment, "id")),
                ("currency", "COP"),
                ("method", "COP"),
                ("channel", text(payment, "channel")),
            ],
        );
        for member in
            ["status", "amountCop", "feeCop", "netCop", "reference", "metadata", "failureCode", "livemode"]
        {
            assert_eq!(data[member], payment[member], "{member}");
        }
    }
    api.assert_pesos("46250", "46250", "0");
}

#[test]
fn among_all_payments_it_speaks_upper_case() {
    let server = Server::shared();
    let api = server.tenant().test;
    let bolivares = api.pay(10);
    let paid = api.cop_paid(50_000);
    let failed = api.cop_buyer(&api.cop(20_000, "push"), "decline").expect(200);
    let canceled = api.cop_cancel(&api.cop(20_000, "qr")).expect(200);
    let pending = api.cop(20_000, "sms");
    let refunded = api.cop_refund(&api.cop_paid(30_000)).expect(200);
    let listed = |parameters: &[(&str, &str)]| -> Vec<String> {
        api.walk("/v1/payments", parameters, 2).iter().map(|payment| text(payment, "id").to_owned()).collect()
    };
    let id =
        |payment: &Value| payment["id"].as_str().or(payment["paymentId"].as_str()).expect("an id").to_owned();
    let newest_first = [&refunded, &pending, &canceled, &failed, &paid, &bolivares].map(id);
    assert_eq!(listed(&[]), newest_first);
    assert_eq!(listed(&[("method", "COP")]), newest_first[..5]);
    assert_eq!(listed(&[("method", "C2P")]), newest_first[5..]);
    for (status, payments) in [
        ("COMPLETED", vec![&paid, &bolivares]),
        ("FAILED", vec![&failed]),
        ("CANCELED", vec![&canceled]),
        ("PENDING", vec![&pending]),
        ("REVERSED", vec![&refunded]),
    ] {
        assert_eq!(
            listed(&[("status", status)]),
            payments.iter().map(|payment| id(payment)).collect::<Vec<_>>(),
            "{status}"
        );
        for payment in payments.iter().filter(|payment| payment["object"] == "cop_payment") {
            let shown = api.get(&format!("/v1/payments/{}", id(payment))).expect(200);
            assert_texts(
                &shown,
                &[
                    ("paymentId", &id(payment)),
                    ("id", &id(payment)),
                    ("object", "payment"),
                    ("method", "COP"),
                    ("status", status),
                    ("currency", "COP"),
                ],
            );
            assert_eq!(
                (&shown["amountCop"], &shown["channel"], &shown["metadata"]),
                (&payment["amountCop"], &payment["channel"], &payment["metadata"])
            );
            let of_every_payment: BTreeSet<&String> =
                bolivares.as_object().expect("an object").keys().collect();
            let here: BTreeSet<&String> = shown.as_object().expect("an object").keys().collect();
            assert!(of_every_payment.is_subset(&here), "missing: {:?}", of_every_payment.difference(&here));
            assert_nulls(
                &shown,
                &[
                    "externalRef",
                    "usdAmount",
                    "vesAmount",
                    "bcvRate",
                    "feeVes",
                    "netVes",
                    "cancelReason",
                    "checkoutSession",
                    "cardLast4",
                ],
            );
        }
    }
    let shown = api.get(&format!("/v1/payments/{}", id(&refunded))).expect(200);
    assert_texts(&shown, &[("reversalType", "refund"), ("reversedAt", text(&refunded, "refundedAt"))]);
    // Calls for bolívares alone refuse pesos, and the other way round.
    api.act(&format!("/v1/payments/{}/reverse", id(&paid))).refused(409, "not_reversible");
    api.post("/v1/test/chargebacks", &json!({ "paymentId": id(&paid), "reason": "fraud" }))
        .refused(409, "chargeback_not_allowed");
    api.get(&format!("/v1/cop/payments/{}", id(&bolivares))).refused(404, "not_found");
    api.act(&format!("/v1/cop/payments/{}/refund", id(&bolivares))).refused(404, "not_found");
    api.get(&format!("/v1/payments/{UNKNOWN}")).refused(404, "not_found");
    let operation =
        text(&api.get(&format!("/v1/payments/{}", id(&pending))).expect(200), "operationId").to_owned();
    let operation = api.get(&format!("/v1/payments/operations/{operation}")).expect(200);
    assert_texts(&operation, &[("kind", "collection"), ("status", "pending"), ("paymentId", &id(&pending))]);
}

#[test]
fn the_right_code_pays_and_a_wrong_one_changes_nothing() {
    let server = Server::shared();
    let api = server.tenant().test;
    let pending = api.cop(50_000, "sms");
    for wrong in ["654321", "000000", "1234567", "abc", "", "123456 ", "１２３４５６"] {
        api.cop_otp(&pending, wrong).refused(400, "invalid_otp");
    }
    api.post(&format!("{}/otp", cop_path(&pending)), &json!({})).names(&["otp"]);
    api.post(&format!("{}/otp", cop_path(&pending)), &json!({ "otp": 123_456 })).names(&["otp"]);
    assert_eq!(api.cop_now(&pending), pending);
    let paid = api.cop_otp(&pending, "123456").expect(200);
    assert_eq!(paid["status"], "completed");
    api.assert_pesos("46250", "46250", "0");
    for code in ["123456", "654321"] {
        api.cop_otp(&pending, code).refused(409, "payment_not_pending");
    }
    for channel in ["qr", "push"] {
        api.cop_otp(&api.cop(50_000, channel), "123456").refused(409, "channel_mismatch");
    }
    api.cop_otp(&json!({ "id": UNKNOWN }), "123456").refused(404, "not_found");
    api.cop_otp(&json!({ "id": "x" }), "123456").refused(404, "not_found");
    assert_eq!(api.told().len(), 1);
}

#[test]
fn a_wrong_code_is_not_kept_for_its_key() {
    let server = Server::shared();
    let api = server.tenant().test;
    let pending = api.cop(50_000, "sms");
    let keyed = api.keyed("code");
    keyed.cop_otp(&pending, "654321").refused(400, "invalid_otp");
    api.get("/v1/idempotency/code").refused(404, "not_found");
    let paid = keyed.cop_otp(&pending, "123456");
    paid.expect(200);
    let again = keyed.cop_otp(&pending, "123456");
    assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &paid.body));
    let kept = api.get("/v1/idempotency/code").expect(200);
    assert_eq!(
        (&kept["state"], &kept["status"], &kept["response"]["status"]),
        (&json!("done"), &json!(200), &json!("completed"))
    );
    api.keyed("refused").cop_cancel(&pending).refused(409, "payment_not_pending");
    assert_eq!(api.keyed("refused").cop_cancel(&pending).header("idempotent-replayed"), Some("true"));
}

#[test]
fn only_what_is_pending_can_be_called_off_paid_or_declined() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.cop_paid(20_000);
    let failed = api.cop_buyer(&api.cop(20_000, "push"), "decline").expect(200);
    let canceled = api.cop_cancel(&api.cop(20_000, "qr")).expect(200);
    for over in [&paid, &failed, &canceled] {
        api.cop_cancel(over).refused(409, "payment_not_pending");
        for act in ["pay", "decline"] {
            api.cop_buyer(over, act).refused(409, "payment_not_pending");
        }
        assert_eq!(&api.cop_now(over), over);
    }
    for path in [
        "/v1/cop/payments/{}/cancel",
        "/v1/cop/payments/{}/refund",
        "/v1/test/cop/payments/{}/pay",
        "/v1/test/cop/payments/{}/decline",
    ] {
        api.act(&path.replace("{}", UNKNOWN)).refused(404, "not_found");
        api.post(&path.replace("{}", text(&paid, "id")), &json!({ "amount": 1 })).names(&["amount"]);
    }
    let other = server.tenant().test;
    other.cop_cancel(&api.cop(20_000, "qr")).refused(404, "not_found");
    assert_eq!(
        api.request("PATCH", &cop_path(&paid)).refused(405, "method_not_allowed")["error"],
        "method_not_allowed"
    );
}

#[test]
fn what_nobody_pays_in_time_fails_at_its_very_end() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payments = ["push", "sms", "qr"].map(|channel| api.cop(20_000, channel));
    api.advance_to(instant(&payments[0]["expiresAt"]) - SECOND * 30);
    assert!(payments.iter().all(|payment| api.cop_now(payment)["status"] == "pending"));
    api.advance(60);
    for payment in &payments[..2] {
        assert_texts(&api.cop_now(payment), &[("status", "failed"), ("failureCode", "expired")]);
        api.cop_buyer(payment, "pay").refused(409, "payment_not_pending");
        api.cop_otp(payment, "123456").refused(409, "payment_not_pending");
        api.cop_cancel(payment).refused(409, "payment_not_pending");
    }
    assert_eq!(api.cop_now(&payments[2])["status"], "pending");
    api.advance(86_400);
    assert_texts(&api.cop_now(&payments[2]), &[("status", "failed"), ("failureCode", "expired")]);
    let page = api.get("/v1/events?limit=100").expect(200);
    let events = list(&page, "items");
    assert_eq!(events.len(), 3);
    for (event, payment) in events.iter().zip(&payments) {
        assert_texts(event, &[("event", "payment.failed"), ("timestamp", text(payment, "expiresAt"))]);
    }
    api.assert_pesos("0", "0", "0");
}

#[test]
fn paying_and_cancelling_at_once_ends_it_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    let mut net = 0;
    for _ in 0..15 {
        let pending = api.cop(50_000, "sms");
        let answers = race(4, |n| match n {
            0 => api.cop_buyer(&pending, "pay"),
            1 => api.cop_cancel(&pending),
            2 => api.cop_otp(&pending, "123456"),
            _ => api.cop_buyer(&pending, "decline"),
        });
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{answers:?}");
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            answer.refused(409, "payment_not_pending");
        }
        let now = api.cop_now(&pending);
        net += if now["status"] == "completed" { 46_250 } else { 0 };
        assert_ne!(now["status"], "pending");
    }
    api.assert_pesos(&net.to_string(), &net.to_string(), "0");
    assert_eq!(api.told().len(), 15);
}

#[test]
fn a_code_and_the_end_of_its_time_at_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    for _ in 0..5 {
        let before = api.cop_rows().len();
        let pending = api.cop(50_000, "sms");
        api.advance_to(instant(&pending["expiresAt"]) - SECOND * 20);
        let answers = race(2, |n| {
            if n == 0 {
                api.cop_otp(&pending, "123456")
            } else {
                api.post("/v1/test/clock", &json!({ "advanceSeconds": 30 }))
            }
        });
        answers[1].expect(200);
        let now = api.cop_now(&pending);
        match answers[0].status {
            200 => assert_eq!((text(&now, "status"), api.cop_rows().len()), ("completed", before + 2)),
            _ => {
                answers[0].refused(409, "payment_not_pending");
                assert_eq!(
                    (text(&now, "status"), text(&now, "failureCode"), api.cop_rows().len()),
                    ("failed", "expired", before)
                );
            }
        }
    }
}

#[test]
fn a_slow_processor_settles_it_all_the_same() {
    let server = Server::start_with(&[("PASARELA__RAILS__SIMULATOR_DELAY_MS", "400")]);
    let api = server.tenant().test;
    let pending = api.cop(50_000, "sms");
    // The tenant cancels while the code is on its way; the processor takes what comes first.
    let answers =
        race(2, |n| if n == 0 { api.cop_otp(&pending, "123456") } else { api.cop_cancel(&pending) });
    let (first, second) =
        if answers[0].status == 200 { (&answers[0], &answers[1]) } else { (&answers[1], &answers[0]) };
    first.expect(200);
    second.refused(409, "charge_in_progress");
    let now = api.cop_now(&pending);
    assert!(matches!(text(&now, "status"), "completed" | "canceled"));
    assert_eq!(api.told().len(), 1);
    let net = if now["status"] == "completed" { "46250" } else { "0" };
    api.assert_pesos(net, net, "0");
}
