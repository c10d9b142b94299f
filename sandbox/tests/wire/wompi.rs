//! Wompi's transactions: keys, members, signatures, references, states, books that survive.

use crate::program::{Sandbox, reply};
use crate::wompi_client::*;
use serde_json::{Value, json};

fn start() -> (tempfile::TempDir, Sandbox) {
    start_settling("0")
}

fn start_settling(after_ms: &str) -> (tempfile::TempDir, Sandbox) {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("wompi", data.path(), &["--settle-ms", after_ms]);
    (data, sandbox)
}

#[test]
fn a_push_is_born_pending_and_its_phone_decides() {
    let (_data, sandbox) = start();
    for (phone, status) in [("3991111111", "APPROVED"), ("3992222222", "DECLINED"), ("3001234567", "ERROR")] {
        let id = created(&sandbox, &format!("ref-{phone}"), nequi(phone));
        let shown = read(&sandbox, &id);
        assert_eq!(shown["status"], status);
        assert_eq!(shown["amount_in_cents"], 4_490_000);
        assert_eq!(
            (&shown["currency"], &shown["reference"]),
            (&json!("COP"), &json!(format!("ref-{phone}")))
        );
    }
    assert_eq!(sandbox.books()["totals"]["approved_in_cents"], 4_490_000);
}

#[test]
fn a_push_stays_pending_until_its_time() {
    let (_data, sandbox) = start_settling("3600000");
    let id = created(&sandbox, "ref-1", nequi("3991111111"));
    assert_eq!(read(&sandbox, &id)["status"], "PENDING");
    assert_eq!(sandbox.books()["transactions"][0]["becomes"], "APPROVED");
    assert_eq!(sandbox.books()["totals"]["approved_in_cents"], 0);
}

#[test]
fn a_reference_is_used_once_and_finds_its_transaction() {
    let (data, sandbox) = start();
    let body = transaction(&sandbox, "op 1/ñ", 100_000, qr());
    let first = create(&sandbox, &body);
    assert_eq!(first.status, 201);
    let list = |sandbox: &Sandbox, reference: &str| {
        with_key(sandbox, "GET", &format!("/v1/transactions?reference={reference}"), PRIVATE, "")
    };
    let check = |sandbox: &Sandbox| {
        let second = create(sandbox, &transaction(sandbox, "op 1/ñ", 100_000, qr()));
        assert_eq!((second.status, &second.body["error"]["type"]), (422, &json!("INPUT_VALIDATION_ERROR")));
        assert!(second.body["error"]["messages"]["reference"].is_array(), "{second:?}");
        let found = list(sandbox, "op%201%2F%C3%B1").body["data"].clone();
        assert_eq!(found.as_array().map(Vec::len), Some(1));
        assert_eq!(found[0]["id"], first.body["data"]["id"]);
        assert_eq!(list(sandbox, "op2").body["data"], json!([]));
    };
    check(&sandbox);
    sandbox.kill();
    check(&Sandbox::start("wompi", data.path(), &[]));
}

#[test]
fn keys_are_checked() {
    let (_data, sandbox) = start();
    let body = transaction(&sandbox, "ref-1", 100_000, qr()).to_string();
    let refused = |method: &str, path: &str, key: &str, body: &str| {
        let reply = with_key(&sandbox, method, path, key, body);
        assert_eq!(
            (reply.status, &reply.body["error"]["type"]),
            (401, &json!("INVALID_ACCESS_TOKEN")),
            "{path} {key}"
        );
    };
    refused("POST", "/v1/transactions", "prv_test_another", &body);
    refused("GET", "/v1/transactions/1", "prv_test_another", "");
    refused("GET", "/v1/transactions?reference=ref-1", PUBLIC, "");
    let without = sandbox.call("POST", "/v1/transactions", &[("content-type", "application/json")], &body);
    assert_eq!(without.status, 401);
    assert_eq!(with_key(&sandbox, "POST", "/v1/transactions", PUBLIC, &body).status, 201);
    assert_eq!(sandbox.call("GET", "/v1/merchants/pub_test_another", &[], "").status, 404);
    assert_eq!(with_key(&sandbox, "GET", "/v1/transactions/none", PRIVATE, "").status, 404);
    assert_eq!(sandbox.call("GET", "/transactions/none", &[], "").status, 404, "paths begin with /v1");
    let printed = sandbox.kill();
    let calls: String =
        printed.lines().skip_while(|line| !line.starts_with("integrity_secret")).skip(1).collect();
    assert!(calls.contains("create 201"), "{printed}");
    assert!(![PRIVATE, EVENTS, "acc_test_"].iter().any(|secret| calls.contains(secret)), "{printed}");
}

#[test]
fn members_are_checked_and_named() {
    let (_data, sandbox) = start();
    let cases: [(&str, Value, &str); 14] = [
        ("acceptance_token", json!("old"), "acceptance_token"),
        ("accept_personal_auth", json!("old"), "accept_personal_auth"),
        ("amount_in_cents", json!("4490000"), "amount_in_cents"),
        ("amount_in_cents", json!(0), "amount_in_cents"),
        ("currency", json!("USD"), "currency"),
        ("customer_email", json!("ana"), "customer_email"),
        ("customer_email", Value::Null, "customer_email"),
        ("reference", json!(""), "reference"),
        ("extra", json!(1), "body"),
        ("payment_method", json!({"type": "CARD"}), "payment_method"),
        ("payment_method", nequi("573001234567"), "payment_method"),
        ("payment_method", json!({"type": "BANCOLOMBIA_QR"}), "payment_method"),
        (
            "payment_method",
            json!({"type": "NEQUI", "phone_number": "3001234567", "extra": 1}),
            "payment_method",
        ),
        (
            "payment_method",
            {
                let mut method = daviplata();
                method["user_legal_id_type"] = json!("CE");
                method
            },
            "payment_method",
        ),
    ];
    for (name, value, member) in cases {
        let mut body = transaction(&sandbox, "ref-1", 100_000, qr());
        match value.is_null() {
            true => drop(body.as_object_mut().expect("members").shift_remove(name)),
            false => body[name] = value.clone(),
        }
        sign(&mut body, None);
        let reply = create(&sandbox, &body);
        assert_eq!(reply.status, 422, "{name} {value}: {reply:?}");
        assert!(reply.body["error"]["messages"][member].is_array(), "{name} {value}: {reply:?}");
    }
    assert_eq!(sandbox.books()["transactions"], json!([]));
}

#[test]
fn the_integrity_signature_is_over_all_of_it() {
    let (_data, sandbox) = start();
    let mut body = transaction(&sandbox, "ref-1", 100_000, qr());
    sign(&mut body, Some("test_integrity_another"));
    let wrong = create(&sandbox, &body);
    assert_eq!(wrong.status, 422);
    assert!(wrong.body["error"]["messages"]["signature"].is_array(), "{wrong:?}");
    sign(&mut body, None);
    body["expiration_time"] = json!("2030-01-01T00:00:00.000Z");
    assert_eq!(create(&sandbox, &body).status, 422, "the expiry is signed too");
    sign(&mut body, None);
    assert_eq!(create(&sandbox, &body).status, 201);
}

#[test]
fn acceptance_tokens_are_renewed_and_the_old_ones_refused() {
    let (_data, sandbox) = start();
    let old = transaction(&sandbox, "ref-1", 100_000, qr());
    assert_eq!(sandbox.post("/sandbox/acceptance/renew", &json!({})).status, 200);
    let refused = create(&sandbox, &old);
    assert_eq!(refused.status, 422);
    let messages = refused.body["error"]["messages"].as_object().expect("messages");
    assert_eq!(messages.keys().collect::<Vec<_>>(), ["acceptance_token", "accept_personal_auth"]);
    assert_eq!(create(&sandbox, &transaction(&sandbox, "ref-1", 100_000, qr())).status, 201);
}

#[test]
fn a_qr_shows_its_picture_and_waits_for_its_buyer() {
    let (_data, sandbox) = start();
    let id = created(&sandbox, "ref-1", qr());
    let shown = read(&sandbox, &id);
    assert_eq!(shown["status"], "PENDING");
    assert!(shown["payment_method"]["extra"]["qr_image"].is_string(), "{shown}");
    let settle = |body: Value| sandbox.post("/sandbox/settle", &body).status;
    assert_eq!(settle(json!({"reference": "ref-2", "status": "APPROVED"})), 404);
    assert_eq!(settle(json!({"reference": "ref-1", "status": "PAID"})), 400);
    assert_eq!(settle(json!({"reference": "ref-1", "status": "VOIDED"})), 200);
    assert_eq!(read(&sandbox, &id)["status"], "VOIDED");
    assert_eq!(settle(json!({"id": id, "status": "APPROVED"})), 409);
    assert_eq!(settle(json!({"id": id, "status": "APPROVED", "again": true})), 200);
    assert_eq!(read(&sandbox, &id)["status"], "APPROVED");
    let mut told = qr();
    told["sandbox_status"] = json!("DECLINED");
    let id = created(&sandbox, "ref-3", told);
    assert_eq!(read(&sandbox, &id)["status"], "DECLINED");
}

#[test]
fn faults_are_the_same_as_elsewhere() {
    let (_data, sandbox) = start();
    sandbox.faults(json!([
        {"fault": "drop_after", "operation": "create", "match": {"payment_method.type": "NEQUI"}, "first": 1},
        {"fault": "alter", "operation": "get", "set": {"data.amount_in_cents": 1}, "first": 1},
        {"fault": "contradict", "operation": "list"},
    ]));
    let body = transaction(&sandbox, "ref-1", 100_000, nequi("3991111111"));
    let bytes = sandbox.exchange(&keyed_request("POST", "/v1/transactions", PRIVATE, &body.to_string()));
    assert_eq!(bytes, b"");
    let second =
        reply(sandbox.exchange(&keyed_request("POST", "/v1/transactions", PRIVATE, &body.to_string())));
    assert_eq!(second.status, 422, "the first one was kept");
    let found =
        with_key(&sandbox, "GET", "/v1/transactions?reference=ref-1", PRIVATE, "").body["data"][0].clone();
    assert_eq!(found["status"], "DECLINED", "the list says the contrary");
    let id = found["id"].as_str().expect("an id");
    assert_eq!(read(&sandbox, id)["amount_in_cents"], 1);
    assert_eq!(
        (&read(&sandbox, id)["amount_in_cents"], &read(&sandbox, id)["status"]),
        (&json!(100_000), &json!("APPROVED"))
    );
    assert_eq!(sandbox.books()["totals"]["approved_in_cents"], 100_000);
}
