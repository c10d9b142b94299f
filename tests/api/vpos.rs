//! Cards: one charge, its outcomes, repeats, and what is never kept of a card
//! (`docs/contract.md, 1.16, 5.6`).
//!
//! 200 VES a dollar, fee 1.5 %: 10 USD are 2000.00 VES, fee 30.00, net 1970.00.

use crate::harness::check::{
    assert_id, assert_movements, assert_nulls, assert_number, assert_texts, list, race, text,
};
use crate::harness::flows::{UNKNOWN, fresh, merged, vpos_body};
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn a_card_pays_at_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    let external_ref = fresh("card");
    let payment = api.vpos(10, json!({ "externalRef": external_ref })).expect(201);
    assert_id(&payment["paymentId"]);
    assert_eq!(payment["id"], payment["paymentId"]);
    assert_texts(
        &payment,
        &[
            ("object", "payment"),
            ("status", "COMPLETED"),
            ("method", "VPOS"),
            ("externalRef", &external_ref),
            ("cardLast4", "1111"),
            ("cardBrand", "visa"),
            ("description", "compra"),
        ],
    );
    for (member, value) in
        [("usdAmount", "10"), ("vesAmount", "2000"), ("bcvRate", "200"), ("feeVes", "30"), ("netVes", "1970")]
    {
        assert_number(&payment, member, value);
    }
    let nulls = [
        "failureCode",
        "debtorBankCode",
        "debtorId",
        "debtorCellPhone",
        "operationId",
        "expiresAt",
        "reversedAt",
        "reversalType",
        "merchantId",
    ];
    assert_nulls(&payment, &nulls);
    assert!(!text(&payment, "bankReference").is_empty());
    assert_eq!(api.payment(&payment), payment);
    assert_eq!(api.get(&format!("/v1/payments/by-ref/{external_ref}")).expect(200), payment);
    api.assert_books("1970.00", "1970.00", "0.00");
    assert_movements(&api.movements(), &[("payment", &["2000.00"]), ("fee", &["-30.00"])]);
    let listed = api.query("/v1/payments", &[("method", "VPOS"), ("status", "COMPLETED")]).expect(200);
    assert_eq!(listed["items"], json!([payment]));
}

#[test]
fn every_refusal_has_its_code_and_moves_nothing() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (number, code, last_four) in [
        ("4000000000000002", "card_declined", "0002"),
        ("4000000000009995", "insufficient_funds", "9995"),
        ("4000000000000069", "expired_card", "0069"),
        ("4000000000000119", "processing_error", "0119"),
    ] {
        let body = vpos_body(10, json!({ "card": { "number": number } }));
        let payment = api.post("/v1/payments/vpos", &body).expect(201);
        assert_texts(&payment, &[("status", "FAILED"), ("failureCode", code), ("cardLast4", last_four)]);
        assert_nulls(&payment, &["feeVes", "netVes", "completedAt", "availableAt", "operationId"]);
        assert_eq!(api.post("/v1/payments/vpos", &body).expect(200), payment, "a repeat does not try again");
    }
    api.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn a_silent_bank_has_decided_by_the_pollers_next_look() {
    let server = Server::shared();
    for (number, status, code, books) in [
        ("4000000000000077", "COMPLETED", None, ["1970.00", "1970.00", "0.00"]),
        ("4000000000000341", "FAILED", Some("processing_error"), ["0.00", "0.00", "0.00"]),
    ] {
        let api = server.tenant().test;
        let body = vpos_body(10, json!({ "card": { "number": number } }));
        let pending = api.post("/v1/payments/vpos", &body).expect(202);
        assert_eq!(pending["status"], "PENDING", "{number}");
        assert_id(&pending["operationId"]);
        assert_nulls(&pending, &["failureCode", "bankReference", "completedAt"]);
        let events = || list(&api.get("/v1/events").expect(200), "items").to_vec();
        for _ in 0..2 {
            assert_eq!(api.post("/v1/payments/vpos", &body).expect(200), pending, "{number}: a repeat");
            assert_eq!(api.payment(&pending), pending, "{number}");
            assert_eq!(events(), Vec::<Value>::new(), "{number}");
            api.assert_books("0.00", "0.00", "0.00");
            api.advance(25);
        }
        api.advance(35);
        let decided = api.payment(&pending);
        assert_texts(&decided, &[("status", status)]);
        assert_eq!(decided["failureCode"].as_str(), code);
        assert_nulls(&decided, &["operationId"]);
        assert_eq!(api.post("/v1/payments/vpos", &body).expect(200), decided, "{number}: a repeat");
        let kinds = events();
        let kinds: Vec<_> = kinds.iter().map(|event| text(event, "event")).collect();
        assert_eq!(kinds, [format!("payment.{}", status.to_lowercase())]);
        let [ledger, held, available] = books;
        api.assert_books(ledger, held, available);
    }
}

#[test]
fn only_american_express_has_codes_of_four_digits() {
    let server = Server::shared();
    let api = server.tenant().test;
    for number in ["4111111111111111", "5555555555554444"] {
        let body = vpos_body(10, json!({ "card": { "number": number, "cvv": "1234" } }));
        api.post("/v1/payments/vpos", &body).names(&["card.cvv"]);
    }
    api.assert_books("0.00", "0.00", "0.00");
    let american = json!({ "card": { "number": "378282246310005", "cvv": "1234" } });
    assert_texts(&api.vpos(1, american).expect(201), &[("status", "COMPLETED"), ("cardLast4", "0005")]);
}

#[test]
fn brands_by_number() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (number, brand, last_four) in [
        ("5555555555554444", "mastercard", "4444"),
        ("378282246310005", "amex", "0005"),
        ("4222222222222", "visa", "2222"),
        ("6011111111111117", "discover", "1117"),
    ] {
        let payment = api.vpos(1, json!({ "card": { "number": number } })).expect(201);
        assert_texts(&payment, &[("cardBrand", brand), ("cardLast4", last_four)]);
    }
}

#[test]
fn what_is_wrong_with_a_card_is_named() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (member, value) in [
        ("number", json!("4111111111111112")),
        ("number", json!("411111111111")),
        ("number", json!("4111 1111 1111 1111")),
        ("number", json!(4111111111111111_i64)),
        ("expMonth", json!(0)),
        ("expMonth", json!(13)),
        ("expMonth", json!("12")),
        ("expYear", json!(35)),
        ("expYear", json!(2020)),
        ("cvv", json!("12")),
        ("cvv", json!("12345")),
        ("cvv", json!(123)),
        ("holderName", json!("  ")),
        ("holderId", json!("12345678")),
        ("pin", json!("1234")),
    ] {
        api.vpos(10, json!({ "card": { member: value } })).names(&[&format!("card.{member}")]);
    }
    api.vpos(10, json!({ "card": "4111111111111111" })).names(&["card"]);
    api.vpos(0, json!({ "card": null, "externalRef": " ", "amount": 1 })).names(&[
        "usdAmount",
        "card",
        "externalRef",
        "amount",
    ]);
    let (year, month) = {
        let now = api.clock();
        (chrono::Datelike::year(&now), chrono::Datelike::month(&now))
    };
    // A day or two around the end of a month cannot tell anything.
    api.vpos(1, json!({ "card": { "expYear": year, "expMonth": month } }));
    api.advance(62 * 86_400);
    let bad = api.vpos(1, json!({ "card": { "expYear": year, "expMonth": month } })).bad_fields();
    assert!(
        bad == BTreeSet::from(["card.expMonth".to_owned()])
            || bad == BTreeSet::from(["card.expYear".to_owned()]),
        "{bad:?}"
    );
}

#[test]
fn the_same_reference_is_the_same_payment_or_a_conflict() {
    let server = Server::shared();
    let api = server.tenant().test;
    let external_ref = fresh("card");
    let body = vpos_body(10, json!({ "externalRef": external_ref }));
    let payment = api.post("/v1/payments/vpos", &body).expect(201);
    let again = merged(
        body.clone(),
        json!({ "usdAmount": crate::harness::flows::number("10.00"), "externalRef": format!(" {external_ref} ") }),
    );
    assert_eq!(api.post("/v1/payments/vpos", &again).expect(200), payment);
    for (over, differs) in [
        (json!({ "usdAmount": 11 }), json!(["usdAmount"])),
        (json!({ "card": { "number": "5555555555554444" } }), json!(["card"])),
        (json!({ "card": { "expYear": 2036 } }), json!(["card"])),
        (json!({ "description": "otra" }), json!(["description"])),
    ] {
        let other = vpos_body(10, merged(over, json!({ "externalRef": external_ref })));
        let other = if differs == json!(["description"]) {
            merged(body.clone(), json!({ "description": "otra" }))
        } else {
            other
        };
        let conflict = api.post("/v1/payments/vpos", &other).refused(409, "external_ref_conflict");
        assert_eq!((&conflict["differs"], &conflict["existingId"]), (&differs, &payment["paymentId"]));
    }
    // Payments of all methods share one space.
    api.request_c2p(10, json!({ "externalRef": external_ref })).refused(409, "external_ref_conflict");
    let c2p = api.pay(1);
    let conflict = api
        .vpos(1, json!({ "externalRef": c2p["externalRef"], "description": null }))
        .refused(409, "external_ref_conflict");
    assert_eq!((&conflict["existingId"], &conflict["differs"]), (&c2p["paymentId"], &json!(["method"])));
    assert_eq!(api.movements().len(), 4);
}

#[test]
fn ten_at_once_are_one_payment() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = vpos_body(10, json!({}));
    let answers = race(10, |_| api.post("/v1/payments/vpos", &body));
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 9].as_slice(), &[201]].concat());
    let ids: BTreeSet<String> =
        answers.iter().map(|answer| text(&answer.json(), "paymentId").to_owned()).collect();
    assert_eq!(ids.len(), 1);
    api.assert_books("1970.00", "1970.00", "0.00");
}

#[test]
fn a_key_replays_the_answer_and_holds_no_card() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let body = vpos_body(10, json!({ "card": { "number": "378282246310005", "cvv": "9371" } }));
    let key = fresh("key");
    let first = api.keyed(&key).post("/v1/payments/vpos", &body);
    let payment = first.expect(201);
    let again = api.keyed(&key).post("/v1/payments/vpos", &body);
    assert_eq!(
        (again.status, again.text(), again.header("idempotent-replayed")),
        (201, first.text(), Some("true"))
    );
    server.kill();
    server.restart();
    let again = api.keyed(&key).post("/v1/payments/vpos", &body);
    assert_eq!((again.status, again.json()), (201, payment));
    server.terminate();
    let mut folders = vec![server.data()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            } else {
                let bytes = std::fs::read(entry.path()).expect("a file");
                assert!(
                    !bytes.windows(16).any(|window| window == b"4111111111111111" || window.starts_with(b"378282246310005")),
                    "{} has a card number",
                    entry.path().display()
                );
            }
        }
    }
}

#[test]
fn a_marketplace_sale_by_card() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    let sale = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let payment = api.vpos(10, sale.clone()).expect(201);
    assert_number(&payment, "applicationFeeVes", "200");
    assert_number(&payment, "sellerNetVes", "1770");
    api.vpos(10, json!({ "merchantId": UNKNOWN })).refused(404, "not_found");
    api.vpos(10, json!({ "applicationFeePercent": 10 })).names(&["applicationFeePercent"]);
    api.vpos(10, merged(sale.clone(), json!({ "applicationFeePercent": 99 })))
        .names(&["applicationFeePercent"]);
    api.patch(&format!("/v1/merchants/{}", text(&merchant, "merchantId")), &json!({ "isActive": false }))
        .expect(200);
    api.vpos(10, sale).refused(409, "merchant_inactive");
    api.assert_books("200.00", "200.00", "0.00");
}

#[test]
fn an_operation_can_be_looked_up() {
    let server = Server::shared();
    let api = server.tenant().test;
    let payment = api.vpos_pay(1);
    let id = uuid::Uuid::parse_str(text(&payment, "paymentId")).expect("an id").as_u128() | 1;
    let operation: Value =
        api.get(&format!("/v1/payments/operations/{}", uuid::Uuid::from_u128(id))).expect(200);
    assert_texts(
        &operation,
        &[("kind", "charge"), ("status", "completed"), ("paymentId", text(&payment, "paymentId"))],
    );
}
