//! Immediate debit: the code, the charge, its outcomes and repeats (`docs/contract.md, 5.7`).
//!
//! 200 VES a dollar, fee 1.5 %: 100.00 VES are 0.50 USD, fee 1.50, net 98.50.

use crate::harness::check::{assert_id, assert_nulls, assert_number, assert_texts, instant, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merged, number};
use crate::harness::server::Server;
use chrono::TimeDelta;
use serde_json::{Value, json};

fn payer(monto: Value) -> Value {
    json!({ "banco": "0134", "monto": monto, "telefono": "04141234567", "cedula": "V12345678" })
}

fn debit_body(monto: Value, otp: &str) -> Value {
    merged(
        payer(monto),
        json!({ "nombre": "Ana Pérez", "otp": otp, "concepto": "cobro", "externalRef": fresh("deb") }),
    )
}

impl Api {
    #[track_caller]
    fn debit(&self, otp: &str) -> Answer {
        self.post("/v1/payments/debit", &debit_body(json!(100), otp))
    }

    #[track_caller]
    fn operation(&self, of: &Value) -> Value {
        self.get(&format!("/v1/payments/operations/{}", text(of, "operationId"))).expect(200)
    }
}

#[test]
fn a_code_is_asked_for() {
    let server = Server::shared();
    let api = server.tenant().test;
    let answer = api.post("/v1/payments/debit/otp", &payer(json!(100)));
    let otp = answer.expect(201);
    assert!(answer.header("wal-seq").is_some(), "the bank is called after it was written");
    assert_eq!(otp["requested"], true);
    assert_id(&otp["operationId"]);
    assert!(instant(&otp["expiresAt"]) > api.clock());
    assert_texts(&api.operation(&otp), &[("kind", "otp"), ("status", "completed")]);
    api.post(
        "/v1/payments/debit/otp",
        &json!({ "banco": "0190", "monto": "100", "telefono": "1", "cedula": "1", "otp": "1" }),
    )
    .names(&["banco", "monto", "telefono", "cedula", "otp"]);
    let key = api.keyed(&fresh("key"));
    let first = key.post("/v1/payments/debit/otp", &payer(json!(100)));
    assert_eq!(key.post("/v1/payments/debit/otp", &payer(json!(100))).text(), first.text());
}

#[test]
fn a_debit_pays_at_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.debit("12345678").expect(201);
    assert_texts(
        &payment,
        &[
            ("status", "COMPLETED"),
            ("method", "DEBIT"),
            ("debtorBankCode", "0134"),
            ("debtorId", "V***678"),
            ("debtorCellPhone", "0414***4567"),
            ("description", "cobro"),
        ],
    );
    for (member, value) in [
        ("usdAmount", "0.50"),
        ("vesAmount", "100"),
        ("feeVes", "1.50"),
        ("netVes", "98.50"),
        ("bcvRate", "200"),
    ] {
        assert_number(&payment, member, value);
    }
    assert_nulls(&payment, &["cardLast4", "cardBrand", "failureCode", "operationId"]);
    api.assert_books("98.50", "98.50", "0.00");
    // Half a cent of a dollar goes up.
    let small = api.post("/v1/payments/debit", &debit_body(number("1"), "1234")).expect(201);
    assert_number(&small, "usdAmount", "0.01");
    for monto in [number("0.5"), number("99999999999")] {
        api.post("/v1/payments/debit", &debit_body(monto, "1234")).names(&["monto"]);
    }
}

#[test]
fn refused_codes() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (otp, code) in [("99999999", "AM04"), ("88888888", "TKCM")] {
        let payment = api.debit(otp).expect(201);
        assert_texts(&payment, &[("status", "FAILED"), ("failureCode", code)]);
    }
    api.assert_books("0.00", "0.00", "0.00");
    for otp in ["123", "123456789", "12a4"] {
        api.debit(otp).names(&["otp"]);
    }
}

#[test]
fn a_silent_bank_is_asked_after_a_minute() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (otp, status, code) in [("77777777", "COMPLETED", None), ("66666666", "FAILED", Some("AB01"))] {
        let body = debit_body(json!(100), otp);
        let keyed = api.keyed(&fresh("key"));
        let pending = keyed.post("/v1/payments/debit", &body).expect(202);
        assert_eq!(pending["status"], "PENDING");
        assert_texts(
            &api.operation(&pending),
            &[("kind", "debit"), ("status", "pending"), ("paymentId", text(&pending, "paymentId"))],
        );
        assert_eq!(api.post("/v1/payments/debit", &body).expect(200), pending);
        api.advance(59);
        assert_eq!(api.payment(&pending)["status"], "PENDING");
        api.advance(1);
        let settled = api.payment(&pending);
        assert_eq!((settled["status"].as_str(), settled["failureCode"].as_str()), (Some(status), code));
        assert_eq!(api.operation(&pending)["status"], status.to_lowercase());
        if status == "COMPLETED" {
            assert_eq!(
                instant(&settled["completedAt"]) - instant(&settled["createdAt"]),
                TimeDelta::seconds(60)
            );
        }
        let kept = keyed.post("/v1/payments/debit", &body);
        assert_eq!(
            (kept.status, kept.json()),
            (201, settled),
            "the outcome takes the place of what was kept"
        );
    }
    api.assert_books("98.50", "98.50", "0.00");
    let status = server.admin().get("/admin/status").expect(200);
    assert_eq!(status["rails"]["duplicateCalls"], 0);
}

#[test]
fn the_code_is_not_part_of_the_payload() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = debit_body(json!(100), "11223344");
    let payment = api.post("/v1/payments/debit", &body).expect(201);
    assert_eq!(
        api.post(
            "/v1/payments/debit",
            &merged(body.clone(), json!({ "otp": "12345678", "telefono": "+584141234567" }))
        )
        .expect(200),
        payment
    );
    for (over, differs) in [
        (json!({ "monto": 101 }), "monto"),
        (json!({ "banco": "0102" }), "banco"),
        (json!({ "telefono": "04241234567" }), "telefono"),
        (json!({ "cedula": "E12345678" }), "cedula"),
        (json!({ "nombre": "Eva" }), "nombre"),
        (json!({ "concepto": "otro" }), "concepto"),
    ] {
        let conflict =
            api.post("/v1/payments/debit", &merged(body.clone(), over)).refused(409, "external_ref_conflict");
        assert_eq!(conflict["differs"], json!([differs]));
    }
    let body = debit_body(json!(100), "12345678");
    let mut statuses: Vec<u16> = race(6, |_| api.post("/v1/payments/debit", &body).status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 201]);
    api.assert_books("197.00", "197.00", "0.00");
}
