//! Pago Móvil: a transfer is looked for, and pays once (`docs/contract.md, 5.8`).

use crate::harness::check::{assert_number, assert_texts, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, merged};
use crate::harness::server::Server;
use chrono::{DateTime, Days, FixedOffset, NaiveDate, Utc};
use serde_json::{Value, json};

/// The day in Caracas.
fn caracas(now: DateTime<Utc>) -> NaiveDate {
    now.with_timezone(&FixedOffset::west_opt(4 * 3600).expect("an offset")).date_naive()
}

impl Api {
    fn today(&self) -> NaiveDate {
        caracas(self.clock())
    }

    fn transfer(&self, reference: &str) -> Value {
        json!({
            "usdAmount": 10, "reference": reference, "phone": "04141234567", "bankCode": "0134", "date": self.today().to_string(),
            "debtorId": "V12345678", "externalRef": fresh("pm"),
        })
    }

    #[track_caller]
    fn verify_transfer(&self, body: &Value) -> Answer {
        self.post("/v1/payments/pago-movil/verify", body)
    }
}

#[test]
fn a_transfer_that_is_there_pays() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = api.transfer("00123456");
    let payment = api.verify_transfer(&body).expect(201);
    assert_texts(
        &payment,
        &[
            ("status", "COMPLETED"),
            ("method", "PAGO_MOVIL"),
            ("bankReference", "123456"),
            ("debtorBankCode", "0134"),
            ("debtorId", "V***678"),
        ],
    );
    assert_number(&payment, "netVes", "1970");
    assert_eq!(api.verify_transfer(&body).expect(200), payment);
    assert_eq!(
        api.verify_transfer(&merged(body.clone(), json!({ "reference": "123456" }))).expect(200),
        payment,
        "leading zeros tell nothing"
    );
    let conflict = api
        .verify_transfer(&merged(body.clone(), json!({ "reference": "123457", "phone": "04241234567" })))
        .refused(409, "external_ref_conflict");
    assert_eq!(conflict["differs"], json!(["reference", "phone"]));
    api.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn a_transfer_pays_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = api.transfer("98765432");
    api.verify_transfer(&body).expect(201);
    let second = |over: Value| merged(merged(body.clone(), json!({ "externalRef": fresh("pm") })), over);
    for reference in ["98765432", "0098765432"] {
        api.verify_transfer(&second(
            json!({ "reference": reference, "usdAmount": 5, "debtorId": "V7654321" }),
        ))
        .refused(409, "reference_already_used");
    }
    let keyed = api.keyed(&fresh("key"));
    let again = second(json!({}));
    keyed.verify_transfer(&again).refused(409, "reference_already_used");
    assert_eq!(keyed.verify_transfer(&again).header("idempotent-replayed"), Some("true"));
    // Transfers with another bank, day, reference or tenant are others.
    api.verify_transfer(&second(json!({ "bankCode": "0102" }))).expect(201);
    api.verify_transfer(&second(json!({ "date": (api.today() - Days::new(1)).to_string() }))).expect(201);
    api.verify_transfer(&second(json!({ "reference": "98765433" }))).expect(201);
    server.tenant().test.verify_transfer(&second(json!({}))).expect(201);
}

#[test]
fn a_failed_verification_leaves_the_reference_free() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = api.transfer("12340000");
    for _ in 0..3 {
        let payment =
            api.verify_transfer(&merged(body.clone(), json!({ "externalRef": fresh("pm") }))).expect(201);
        assert_texts(&payment, &[("status", "FAILED"), ("failureCode", "reference_not_found")]);
    }
    api.assert_books("0.00", "0.00", "0.00");
    let answers =
        race(6, |_| api.verify_transfer(&merged(body.clone(), json!({ "externalRef": fresh("pm") }))));
    assert!(answers.iter().all(|answer| answer.status == 201), "none of them took it from another");
}

#[test]
fn of_many_at_once_one_wins() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = api.transfer("55667788");
    let answers =
        race(10, |_| api.verify_transfer(&merged(body.clone(), json!({ "externalRef": fresh("pm") }))));
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.refused(409, "reference_already_used");
    }
    let same_ref = api.transfer("55667799");
    let mut statuses: Vec<u16> = race(6, |_| api.verify_transfer(&same_ref).status);
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 201]);
    api.assert_books("3940.00", "3940.00", "0.00");
}

#[test]
fn a_used_reference_survives_a_restart() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let body = api.transfer("11223344");
    let payment = api.verify_transfer(&body).expect(201);
    server.kill();
    server.restart();
    api.verify_transfer(&merged(body.clone(), json!({ "externalRef": fresh("pm") })))
        .refused(409, "reference_already_used");
    assert_eq!(api.get(&format!("/v1/payments/{}", text(&payment, "paymentId"))).expect(200), payment);
}

#[test]
fn dates_and_details() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = api.transfer("44556677");
    let with = |over: Value| {
        api.verify_transfer(&merged(merged(body.clone(), json!({ "externalRef": fresh("pm") })), over))
    };
    let day = |days: i64| (api.today() + chrono::TimeDelta::days(days)).to_string();
    with(json!({ "date": day(2) })).names(&["date"]);
    with(json!({ "date": day(-31) })).names(&["date"]);
    with(json!({ "date": day(-30) })).expect(201);
    with(json!({ "date": "2026-02-30" })).names(&["date"]);
    for reference in [json!("123"), json!("123456789012345678901"), json!("12a4"), json!(1234)] {
        with(json!({ "reference": reference })).names(&["reference"]);
    }
    with(json!({ "bankCode": "0190" })).names(&["bankCode"]);
    with(json!({ "bankCode": 134 })).names(&["bankCode"]);
    with(json!({ "phone": "02121234567", "debtorId": "12", "usdAmount": "10", "merchantId": null, "concept": "x" })).names(&[
        "phone",
        "debtorId",
        "usdAmount",
        "merchantId",
        "concept",
    ]);
    // A repeat is answered however old its transfer is by now.
    let first = with(json!({ "externalRef": "old" })).expect(201);
    api.advance(40 * 86_400);
    assert_eq!(with(json!({ "externalRef": "old" })).expect(200)["paymentId"], first["paymentId"]);
}

#[test]
fn a_transfer_pays_once_however_few_of_its_digits_are_given() {
    let mut server = Server::start_with(&[("PASARELA__RAILS__SIMULATOR_FAULT", "one_transfer")]);
    let api = server.tenant().test;
    let body = api.transfer("123456");
    let of =
        |reference: &str| merged(body.clone(), json!({ "reference": reference, "externalRef": fresh("pm") }));
    let first = api.verify_transfer(&of("123456")).expect(201);
    assert_texts(&first, &[("status", "COMPLETED"), ("bankReference", "77003456")]);
    // Other digits of the same transfer pay nothing; by its whole reference it is not even looked
    // for.
    let second = api.verify_transfer(&of("993456")).expect(201);
    assert_texts(&second, &[("status", "FAILED"), ("failureCode", "reference_already_used")]);
    api.verify_transfer(&of("77003456")).refused(409, "reference_already_used");
    api.verify_transfer(&of("0077003456")).refused(409, "reference_already_used");
    // The digits that were given are no name of it: another transfer may end so. This bank has none.
    let again = api.verify_transfer(&of("123456")).expect(201);
    assert_texts(&again, &[("status", "FAILED"), ("failureCode", "reference_already_used")]);
    api.assert_books("1970.00", "1970.00", "0.00");
    server.kill();
    server.restart();
    let later = api.verify_transfer(&of("883456")).expect(201);
    assert_texts(&later, &[("failureCode", "reference_already_used")]);
    api.verify_transfer(&of("77003456")).refused(409, "reference_already_used");
    // Many are sent at once, with as many digits, and one wins.
    let answers = race(12, |n| match n % 3 {
        0 => api.verify_transfer(&of("77008888")),
        1 => api.verify_transfer(&of("8888")),
        _ => api.verify_transfer(&of(&format!("{n}8888"))),
    });
    let paid = answers.iter().filter(|answer| answer.json()["status"] == "COMPLETED").count();
    assert_eq!(paid, 1, "{:?}", answers.iter().map(Answer::text).collect::<Vec<_>>());
    api.assert_books("3940.00", "3940.00", "0.00");
}

#[test]
fn the_account_that_buyers_send_to_is_the_setting() {
    let server = Server::shared();
    let none = json!({ "bankCode": null, "phone": null, "identification": null });
    let path = "/v1/payments/pago-movil/account";
    assert_eq!(server.tenant().test.get(path).expect(200), none);
    let account = json!({ "bankCode": "0134", "phone": "04141234567", "identification": "J123456789" });
    let tenant = server.tenant_with(json!({ "shop": { "pagoMovil": account } }));
    assert_eq!(tenant.test.get(path).expect(200), account);
    server
        .admin()
        .patch(&format!("/admin/tenants/{}/settings", tenant.id), &json!({ "shop": { "pagoMovil": null } }))
        .expect(200);
    assert_eq!(tenant.test.get(path).expect(200), none);
    tenant.test.get(&format!("{path}?x=1")).names(&["x"]);
}
