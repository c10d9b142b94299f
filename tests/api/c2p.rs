//! C2P: the intent, its execution, and everything that may become of it
//! (`docs/contract.md, 5.4, 5.5`).
//!
//! 200 VES a dollar, fee 1.5 %: 10 USD are 2000.00 VES, fee 30.00, net 1970.00.

use crate::harness::check::{
    assert_id, assert_movements, assert_nulls, assert_number, assert_texts, instant, race, stamp, text,
};
use crate::harness::flows::{MS, SECOND, UNKNOWN, execution, fresh, merged, number};
use crate::harness::server::Server;
use chrono::TimeDelta;
use domain::entities::payment::REQUEST_OTP;
use domain::values::ids::Id;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn an_intent_is_a_pending_payment() {
    let server = Server::shared();
    let api = server.tenant().test;
    let external_ref = fresh("pay");
    let intent = api.request_c2p(10, json!({ "externalRef": external_ref })).expect(201);
    assert_id(&intent["intentId"]);
    assert_texts(&intent, &[("status", "PENDING"), ("externalRef", &external_ref)]);
    assert_eq!((&intent["otpRequested"], &intent["livemode"]), (&json!(false), &json!(false)));
    for (member, value) in [("usdAmount", "10"), ("vesAmount", "2000"), ("bcvRate", "200")] {
        assert_number(&intent, member, value);
    }
    let payment = api.payment(&intent);
    assert_eq!((&payment["id"], &payment["paymentId"]), (&intent["intentId"], &intent["intentId"]));
    assert_texts(
        &payment,
        &[
            ("object", "payment"),
            ("status", "PENDING"),
            ("method", "C2P"),
            ("debtorBankCode", "0134"),
            ("debtorId", "V***678"),
            ("debtorCellPhone", "0414***4567"),
            ("externalRef", &external_ref),
        ],
    );
    assert_nulls(
        &payment,
        &[
            "failureCode",
            "cancelReason",
            "feeVes",
            "netVes",
            "merchantId",
            "applicationFeePercent",
            "applicationFeeVes",
            "sellerNetVes",
            "cardLast4",
            "cardBrand",
            "bankReference",
            "operationId",
            "description",
            "checkoutSession",
            "reversedAt",
            "reversalRef",
            "reversalType",
            "completedAt",
            "availableAt",
        ],
    );
    assert_eq!(instant(&payment["expiresAt"]) - instant(&payment["createdAt"]), TimeDelta::minutes(15));
    assert_eq!(payment["expiresAt"], intent["expiresAt"]);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn only_one_bank_sends_a_code() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (bank, asked) in [(102, true), (134, false), (105, false), (191, false), (601, false)] {
        let intent = api.request_c2p(1, json!({ "debtorBankCode": bank })).expect(201);
        assert_eq!(intent["otpRequested"], asked, "{bank}");
        assert_eq!(text(&api.payment(&intent), "debtorBankCode"), format!("{bank:04}"));
    }
}

#[test]
fn the_bank_sends_a_code_for_every_intent_that_says_so() {
    let server = Server::start();
    let api = server.tenant().test;
    let over = json!({ "debtorBankCode": 102, "externalRef": fresh("pay") });
    let first = api.request_c2p(1, over.clone()).expect(201);
    let second = api.request_c2p(1, over).expect(201);
    assert_texts(&api.payment(&first), &[("status", "CANCELED"), ("cancelReason", "superseded")]);
    for intent in [first, second] {
        assert_eq!(intent["otpRequested"], true);
        // The operation's id is in the simulated bank's books alone.
        let asked = Id::parse(text(&intent, "intentId")).expect("an id").operation(REQUEST_OTP);
        let asked = *uuid::Uuid::from(asked).as_bytes();
        let deadline = Instant::now() + Duration::from_secs(10);
        while !server.has_on_disk(&asked) {
            assert!(Instant::now() < deadline, "no bank was asked for {intent}");
            sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn details_that_make_no_sense_are_refused() {
    let server = Server::shared();
    let api = server.tenant().test;
    for bank in [
        json!(9999),
        json!(1),
        json!(0),
        json!(-134),
        json!(116),
        json!(178),
        json!("134"),
        json!("0178"),
        json!(134.5),
    ] {
        api.request_c2p(1, json!({ "debtorBankCode": bank })).names(&["debtorBankCode"]);
    }
    for document in ["12345678", "X12345678", "V1234", "V1234567890", "V12.345.678", "", "VV1234567"] {
        api.request_c2p(1, json!({ "debtorId": document })).names(&["debtorId"]);
    }
    for phone in
        ["04131234567", "02121234567", "0414123456", "041412345678", "4141234567", "+574141234567", ""]
    {
        api.request_c2p(1, json!({ "debtorCellPhone": phone })).names(&["debtorCellPhone"]);
    }
    assert_eq!(api.get("/v1/payments").expect(200)["items"], json!([]));
}

#[test]
fn documents_and_phones_in_every_form() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (given, shown) in [
        ("v-12345678", "V***678"),
        ("E84211905", "E***905"),
        ("j-301234567", "J***567"),
        ("P12345", "P***345"),
        ("g200099976", "G***976"),
    ] {
        let intent = api.request_c2p(1, json!({ "debtorId": given })).expect(201);
        assert_eq!(text(&api.payment(&intent), "debtorId"), shown);
    }
    for (given, shown) in
        [("04221234567", "0422***4567"), ("584121234567", "0412***4567"), ("+584261234567", "0426***4567")]
    {
        let intent = api.request_c2p(1, json!({ "debtorCellPhone": given })).expect(201);
        assert_eq!(text(&api.payment(&intent), "debtorCellPhone"), shown);
    }
}

#[test]
fn figures_are_exact_to_the_cent() {
    let server = Server::shared();
    for (usd, ves, fee, net) in [
        ("0.01", "2.00", "0.03", "1.97"),
        ("0.29", "58.00", "0.87", "57.13"),
        ("4.35", "870.00", "13.05", "856.95"),
        ("1234.56", "246912.00", "3703.68", "243208.32"),
        ("100000", "20000000.00", "300000.00", "19700000.00"),
    ] {
        let api = server.tenant().test;
        let payment = api.pay(number(usd));
        for (member, value) in
            [("usdAmount", usd), ("vesAmount", ves), ("feeVes", fee), ("netVes", net), ("bcvRate", "200")]
        {
            assert_number(&payment, member, value);
        }
        assert!(payment["bankReference"].is_string(), "{payment}");
        assert_eq!(instant(&payment["availableAt"]) - instant(&payment["completedAt"]), TimeDelta::hours(24));
        assert_movements(&api.movements(), &[("payment", &[ves]), ("fee", &[&format!("-{fee}")])]);
        api.assert_books(net, net, "0.00");
    }
}

#[test]
fn fees_are_rounded_half_up_and_never_exceed_the_amount() {
    let server = Server::shared();
    for (percent, fixed, usd, fee, net) in [
        ("1.2500", "0.00", "0.01", "0.03", "1.97"),
        ("1.2500", "0.00", "0.05", "0.13", "9.87"),
        ("0.2500", "0.00", "0.01", "0.01", "1.99"),
        ("0.2499", "0.00", "0.01", "0.00", "2.00"),
        ("0.0000", "0.00", "0.01", "0.00", "2.00"),
        ("33.3333", "0.00", "0.01", "0.67", "1.33"),
        ("100.0000", "0.00", "0.01", "2.00", "0.00"),
        ("1.5000", "5.50", "10", "35.50", "1964.50"),
        ("1.5000", "5.50", "0.01", "2.00", "0.00"),
    ] {
        let api =
            server.tenant_with(json!({ "fees": { "c2p": { "percent": percent, "fixedVes": fixed } } })).test;
        let payment = api.pay(number(usd));
        assert_number(&payment, "feeVes", fee);
        assert_number(&payment, "netVes", net);
        api.assert_books(net, net, "0.00");
        assert!(
            api.movements().iter().all(|row| row["amountVes"] != "0.00"),
            "a movement of nothing was written"
        );
    }
}

#[test]
fn other_details_charge_nothing() {
    let server = Server::shared();
    let api = server.tenant().test;
    let intent = api.intent(10);
    for change in [
        json!({ "usdAmount": 10.01 }),
        json!({ "debtorId": "V12345679" }),
        json!({ "debtorId": "E12345678" }),
        json!({ "debtorCellPhone": "04241234567" }),
        json!({ "debtorBankCode": 105 }),
        json!({ "externalRef": "another" }),
    ] {
        api.execute(&intent, "12345678", change).refused(409, "intent_mismatch");
    }
    assert_eq!(api.payment(&intent)["status"], "PENDING");
    assert!(api.movements().is_empty());
    assert_eq!(api.execute(&intent, "12345678", json!({})).expect(200)["status"], "COMPLETED");
}

#[test]
fn the_same_details_written_otherwise_are_the_same() {
    let server = Server::shared();
    let api = server.tenant().test;
    let intent = api.intent(10);
    let otherwise = json!({
        "debtorId": "v-12345678", "debtorCellPhone": "+584141234567", "usdAmount": number("10.00"),
        "externalRef": format!(" {}\t", text(&intent, "externalRef")),
    });
    assert_eq!(api.execute(&intent, "12345678", otherwise).expect(200)["status"], "COMPLETED");
}

#[test]
fn tokens_have_6_to_8_digits() {
    let server = Server::shared();
    let api = server.tenant().test;
    let intent = api.intent(1);
    for token in [
        json!("12345"),
        json!("123456789"),
        json!("12345a"),
        json!(""),
        json!("１２３４５６"),
        json!(12345678),
        Value::Null,
    ] {
        api.execute(&intent, "", json!({ "token": token })).names(&["token"]);
    }
    for token in ["123456", "1234567", "00000000"] {
        assert_eq!(api.pay_with(1, token)["status"], "COMPLETED", "{token}");
    }
    let gone = merged(intent, json!({ "intentId": UNKNOWN }));
    api.execute(&gone, "12345678", json!({})).refused(404, "not_found");
}

#[test]
fn a_refusal_of_the_bank_fails_the_payment() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (token, code) in [("99999999", "AM04"), ("88888888", "TKCM")] {
        let intent = api.intent(10);
        let payment = api.execute(&intent, token, json!({})).expect(200);
        assert_texts(&payment, &[("status", "FAILED"), ("failureCode", code)]);
        assert_nulls(&payment, &["feeVes", "netVes", "completedAt", "availableAt"]);
        api.execute(&intent, "12345678", json!({})).refused(409, "intent_failed");
    }
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn while_the_bank_is_silent_the_payment_is_pending() {
    let server = Server::shared();
    let api = server.tenant().test;
    let intent = api.intent(10);
    let pending = api.execute(&intent, "77777777", json!({})).expect(202);
    assert_eq!(pending["status"], "PENDING");
    let operation =
        api.get(&format!("/v1/payments/operations/{}", text(&pending, "operationId"))).expect(200);
    assert_eq!((text(&operation, "status"), &operation["paymentId"]), ("pending", &intent["intentId"]));
    api.execute(&intent, "12345678", json!({})).refused(409, "charge_in_progress");
    let again = json!({ "externalRef": intent["externalRef"] });
    assert_eq!(api.request_c2p(10, again).expect(200)["paymentId"], pending["paymentId"]);
    assert!(api.movements().is_empty());
    api.advance(50);
    assert_eq!(api.payment(&intent)["status"], "PENDING");
    api.advance(10);
    let payment = api.payment(&intent);
    assert_eq!(payment["status"], "COMPLETED");
    assert_eq!(instant(&payment["availableAt"]) - instant(&payment["completedAt"]), TimeDelta::hours(24));
    api.assert_books("1970.00", "1970.00", "0.00");
    let operation =
        api.get(&format!("/v1/payments/operations/{}", text(&pending, "operationId"))).expect(200);
    assert_eq!(
        (text(&operation, "status"), &operation["reference"]),
        ("completed", &payment["bankReference"])
    );
}

#[test]
fn a_silent_bank_may_have_refused() {
    let server = Server::shared();
    let api = server.tenant().test;
    let pending = api.pay_with(10, "66666666");
    assert_eq!(pending["status"], "PENDING");
    api.advance(60);
    assert_texts(&api.payment(&pending), &[("status", "FAILED"), ("failureCode", "AB01")]);
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_completed_intent_is_never_charged_again() {
    let server = Server::shared();
    let api = server.tenant().test;
    let intent = api.intent(10);
    let first = api.execute(&intent, "12345678", json!({})).expect(200);
    assert_eq!(api.execute(&intent, "12345678", json!({})).expect(200), first);
    api.execute(&intent, "87654321", json!({})).refused(409, "intent_completed");
    api.execute(&intent, "99999999", json!({})).refused(409, "intent_completed");
    api.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn of_many_executions_at_once_one_charges() {
    let server = Server::shared();
    let api = server.tenant().test;
    let intent = api.intent(10);
    let body = execution(&intent, "12345678");
    let answers = race(16, |_| api.post("/v1/payments/c2p", &body));
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 202 | 409), "{}", answer.text());
    }
    assert_eq!(api.payment(&intent)["status"], "COMPLETED");
    assert_eq!(api.movements().len(), 2);
    api.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn a_newer_request_supersedes_the_pending_one() {
    let server = Server::shared();
    let api = server.tenant().test;
    let old = api.intent(10);
    let new = api.request_c2p(number("12.5"), json!({ "externalRef": old["externalRef"] })).expect(201);
    assert_ne!(new["intentId"], old["intentId"]);
    assert_texts(&api.payment(&old), &[("status", "CANCELED"), ("cancelReason", "superseded")]);
    api.execute(&old, "12345678", json!({})).refused(409, "intent_canceled");
    assert_eq!(api.execute(&new, "12345678", json!({})).expect(200)["status"], "COMPLETED");
    let by_ref = api.get(&format!("/v1/payments/by-ref/{}", text(&old, "externalRef"))).expect(200);
    assert_eq!(by_ref["paymentId"], new["intentId"]);
    let conflict = api
        .request_c2p(10, json!({ "externalRef": old["externalRef"] }))
        .refused(409, "external_ref_conflict");
    assert_eq!(conflict["existingId"], new["intentId"]);
    api.assert_books("2462.50", "2462.50", "0.00");
}

#[test]
fn after_a_failure_the_reference_is_free() {
    let server = Server::shared();
    let api = server.tenant().test;
    let failed = api.pay_with(10, "99999999");
    let named = json!({ "externalRef": failed["externalRef"] });
    let second = api.request_c2p(10, named).expect(201);
    let path = format!("/v1/payments/by-ref/{}", text(&failed, "externalRef"));
    assert_eq!(api.get(&path).expect(200)["paymentId"], second["intentId"]);
    api.execute(&second, "12345678", json!({})).expect(200);
    let items = api.walk("/v1/payments", &[("externalRef", text(&failed, "externalRef"))], 100);
    let listed: Vec<&str> = items.iter().map(|item| text(item, "status")).collect();
    assert_eq!(listed, ["COMPLETED", "FAILED"]);
}

#[test]
fn an_intent_expires_after_15_minutes() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (late, good) = (api.intent(10), api.intent(10));
    let expires = instant(&late["expiresAt"]);
    api.advance_to(expires - SECOND * 10);
    assert_eq!(api.execute(&good, "12345678", json!({})).expect(200)["status"], "COMPLETED");
    assert_eq!(api.payment(&late)["status"], "PENDING");
    api.advance_to(expires);
    assert_texts(&api.payment(&late), &[("status", "CANCELED"), ("cancelReason", "expired")]);
    api.execute(&late, "12345678", json!({})).refused(409, "intent_canceled");
    api.request_c2p(10, json!({ "externalRef": late["externalRef"] })).expect(201);
    api.advance_to(expires + SECOND * 60);
    assert_eq!(api.payment(&good)["status"], "COMPLETED");
}

#[test]
fn an_intent_at_the_bank_never_expires() {
    let server = Server::shared();
    let api = server.tenant().test;
    let intent = api.intent(10);
    let expires = instant(&intent["expiresAt"]);
    api.advance_to(expires - SECOND * 20);
    api.execute(&intent, "77777777", json!({})).expect(202);
    api.advance_to(expires + SECOND * 10);
    assert_eq!(api.payment(&intent)["status"], "PENDING");
    api.advance_to(expires + SECOND * 60);
    assert_eq!(api.payment(&intent)["status"], "COMPLETED");
}

#[test]
fn what_is_read_is_what_was_answered_and_nothing_secret() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.pay(10);
    let by_id = api.get(&format!("/v1/payments/{}", text(&payment, "paymentId")));
    let by_ref = api.get(&format!("/v1/payments/by-ref/{}", text(&payment, "externalRef")));
    assert_eq!((by_id.expect(200), by_ref.expect(200)), (payment.clone(), payment));
    for secret in ["12345678", "4141234567"] {
        assert!(!by_id.text().contains(secret), "{}", by_id.text());
    }
}

#[test]
fn payments_are_filtered() {
    let server = Server::shared();
    let api = server.tenant().test;
    let (paid, failed, pending) = (api.pay(1), api.pay_with(1, "99999999"), api.intent(1));
    let ids = |parameters: &[(&str, &str)]| -> Vec<Value> {
        api.walk("/v1/payments", parameters, 1).iter().map(|item| item["paymentId"].clone()).collect()
    };
    assert_eq!(ids(&[("status", "COMPLETED")]), [paid["paymentId"].clone()]);
    assert_eq!(ids(&[("status", "FAILED")]), [failed["paymentId"].clone()]);
    assert_eq!(ids(&[("status", "PENDING")]), [pending["intentId"].clone()]);
    assert_eq!(ids(&[("method", "C2P")]).len(), 3);
    assert_eq!(ids(&[("method", "C2P"), ("status", "FAILED")]), [failed["paymentId"].clone()]);
    assert_eq!(ids(&[("method", "VPOS")]), [] as [Value; 0]);
    assert_eq!(ids(&[("externalRef", text(&paid, "externalRef"))]), [paid["paymentId"].clone()]);
    assert_eq!(ids(&[("externalRef", "nobody's")]), [] as [Value; 0]);
}

#[test]
fn the_rate_of_the_intent_is_the_rate_of_the_payment() {
    let server = Server::start();
    let api = server.tenant().test;
    let old = api.intent(10);
    let sample = json!({
        "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "210.00000000", "asOf": stamp(chrono::Utc::now() - MS),
    });
    server.admin().post("/admin/rates", &sample).expect(201);
    assert_number(&api.intent(10), "vesAmount", "2100");
    let payment = api.execute(&old, "12345678", json!({})).expect(200);
    assert_number(&payment, "bcvRate", "200");
    assert_number(&payment, "vesAmount", "2000");
}

#[test]
fn a_marketplace_sale_is_shared() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let share = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let intent = api.intent(10);
    let payment = api.execute(&intent, "12345678", share.clone()).expect(200);
    for (member, value) in [
        ("vesAmount", "2000"),
        ("feeVes", "30"),
        ("netVes", "1970"),
        ("applicationFeeVes", "200"),
        ("sellerNetVes", "1770"),
    ] {
        assert_number(&payment, member, value);
    }
    assert_movements(
        &api.movements(),
        &[("payment", &["2000.00"]), ("fee", &["-30.00"]), ("seller_transfer", &["-1770.00"])],
    );
    api.assert_books("200.00", "200.00", "0.00");
    let path = format!("/v1/merchants/{}/balance", text(&merchant, "merchantId"));
    assert_texts(&api.get(&path).expect(200), &[("pendingVes", "1770.00"), ("availableVes", "0.00")]);
    api.advance_to(instant(&payment["availableAt"]));
    assert_texts(&api.get(&path).expect(200), &[("pendingVes", "0.00"), ("availableVes", "1770.00")]);
    api.assert_books("200.00", "0.00", "200.00");
    api.execute(&intent, "12345678", json!({})).refused(409, "intent_mismatch");
    api.execute(&api.intent(1), "12345678", merged(share.clone(), json!({ "merchantId": UNKNOWN })))
        .refused(404, "not_found");
    for percent in [json!(-1), json!(100.5), json!("10"), json!(1.23456)] {
        api.execute(
            &api.intent(1),
            "12345678",
            merged(share.clone(), json!({ "applicationFeePercent": percent })),
        )
        .names(&["applicationFeePercent"]);
    }
    api.execute(&api.intent(1), "12345678", json!({ "applicationFeePercent": 10 }))
        .refused(400, "invalid_data");
}

#[test]
fn a_request_for_what_is_paid_answers_it_or_names_the_difference() {
    let server = Server::shared();
    let api = server.tenant().test;
    let paid = api.pay(10);
    let again = json!({ "externalRef": paid["externalRef"] });
    let known = api.request_c2p(10, again.clone()).expect(200);
    assert_eq!((&known["paymentId"], &known["status"]), (&paid["paymentId"], &paid["status"]));
    let conflict = api.request_c2p(11, again).refused(409, "external_ref_conflict");
    assert_eq!(conflict["differs"], json!(["usdAmount"]));
}

#[test]
fn a_bank_is_named_by_its_number_or_by_its_code() {
    let server = Server::shared();
    let api = server.tenant().test;
    let request = |bank: Value| {
        let reference = fresh("bank");
        api.post(
            "/v1/payments/c2p/request",
            &json!({ "usdAmount": 10, "debtorId": "V12345678", "debtorCellPhone": "04141234567", "debtorBankCode": bank, "externalRef": reference }),
        )
    };
    for bank in [json!(134), json!("0134"), json!(134.0)] {
        let intent = request(bank).expect(201);
        let payment = api.get(&format!("/v1/payments/{}", text(&intent, "intentId"))).expect(200);
        assert_eq!(payment["debtorBankCode"], "0134");
    }
    for bank in [
        json!("134"),
        json!("00134"),
        json!(0),
        json!("0000"),
        json!("0001"),
        json!(9999),
        json!(null),
        json!([134]),
    ] {
        request(bank).names(&["debtorBankCode"]);
    }
}
