//! The answers to calls that ask for something wrong (`docs/contract.md, 1.11, 1.12`), at every
//! route.

use crate::harness::check::text;
use crate::harness::flows::{UNKNOWN, fresh, merchant_body, merged, payout_body};
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;

const MIB: usize = 1 << 20;

#[test]
fn what_is_not_there_is_404() {
    let server = Server::shared();
    let api = server.tenant().test;
    api.get("/v1/no-such-thing").refused(404, "not_found");
    for path in [
        "/v1/payments/",
        "/v1/payments/by-ref/",
        "/v1/payments/operations/",
        "/v1/payouts/",
        "/v1/payouts/by-ref/",
        "/v1/payouts/batch/",
        "/v1/merchants/",
        "/v1/idempotency/",
    ] {
        api.get(&format!("{path}{UNKNOWN}")).refused(404, "not_found");
    }
    for path in ["/v1/payments/7", "/v1/payouts/not-a-uuid", "/v1/merchants/7/balance"] {
        api.get(path).refused(404, "not_found");
    }
}

#[test]
fn another_method_is_405_and_allow_names_the_right_ones() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (method, path, allowed) in [
        ("DELETE", "/v1/balance", vec!["GET"]),
        ("PUT", "/v1/payouts", vec!["GET", "POST"]),
        ("GET", "/v1/payments/c2p/request", vec!["POST"]),
        ("POST", "/v1/banks", vec!["GET"]),
        ("PATCH", "/v1/test/fund", vec!["POST"]),
    ] {
        let answer = api.request(method, path);
        answer.refused(405, "method_not_allowed");
        let mut named: Vec<&str> = answer.header("allow").expect("Allow").split(',').map(str::trim).collect();
        named.retain(|method| !["HEAD", "OPTIONS"].contains(method));
        named.sort_unstable();
        assert_eq!(named, allowed, "{path}");
    }
}

#[test]
fn a_path_comes_before_the_key_and_the_key_before_the_body() {
    let server = Server::shared();
    let nobody = server.nobody();
    nobody.get("/v1/no-such-thing").refused(404, "not_found");
    nobody.delete("/v1/balance").refused(405, "method_not_allowed");
    nobody.post_as("/v1/merchants", "text/plain", "x").refused(401, "unauthorized");
    nobody.post_raw("/v1/merchants", "{").refused(401, "unauthorized");
}

#[test]
fn another_media_type_is_415() {
    let server = Server::shared();
    let api = server.tenant().test;
    let body = merchant_body();
    for media_type in ["text/plain", "application/x-www-form-urlencoded", "application/xml"] {
        api.post_as("/v1/merchants", media_type, body.to_string()).refused(415, "unsupported_media_type");
    }
    let external_ref = body["externalRef"].as_str().expect("a ref");
    api.query("/v1/merchants", &[("externalRef", external_ref)]).refused(404, "not_found");
    api.post_as("/v1/merchants", "application/json; charset=utf-8", body.to_string()).expect(201);
}

#[test]
fn a_body_may_have_one_mebibyte() {
    let server = Server::shared();
    let api = server.tenant().test;
    let head = r#"{"currency": "VES", "amount": "1.00""#;
    let padded = |bytes: usize| format!("{head}{}}}", " ".repeat(bytes - head.len() - 1));
    api.post_raw("/v1/test/fund", padded(MIB)).expect(201);
    api.post_raw("/v1/test/fund", padded(MIB + 1)).refused(413, "payload_too_large");
    assert_eq!(api.movements().len(), 1);
}

#[test]
fn a_body_that_does_not_say_its_length_may_not_have_more() {
    let server = Server::shared();
    let tenant = server.tenant();
    let key = tenant.created["testKey"]["key"].as_str().expect("a key");
    let mut stream = TcpStream::connect(server.address()).expect("connects");
    let head = format!(
        "POST /v1/merchants HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("writes");
    let chunk = format!("8000\r\n{}\r\n", " ".repeat(0x8000));
    for _ in 0..33 {
        // The server may answer and close before it was given everything.
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[test]
fn what_is_no_json_is_400() {
    let server = Server::shared();
    let api = server.tenant().test;
    for body in [
        "",
        "{",
        r#"{"currency": "VES",}"#,
        r#"{"currency": "VES", "amount": NaN}"#,
        "{} {}",
        "currency=VES",
        "{'currency': 'VES'}",
        r#"{"currency": "VES", "amount": "1.00", "amount": "2.00"}"#,
    ] {
        api.post_raw("/v1/test/fund", body).refused(400, "invalid_json");
    }
    api.post_raw("/v1/test/fund", &b"{\"currency\": \"\xff\xfe\"}"[..]).refused(400, "invalid_json");
    let deep = format!("{{\"currency\":{}", "[".repeat(100_000));
    api.post_raw("/v1/test/fund", deep).refused(400, "invalid_json");
    assert!(api.movements().is_empty());
}

#[test]
fn a_body_that_is_no_object_is_named() {
    let server = Server::shared();
    let api = server.tenant().test;
    for body in ["[]", "7", "\"x\"", "null", "true"] {
        api.post_raw("/v1/test/fund", body).names(&["body"]);
    }
}

#[test]
fn every_bad_field_is_named_at_once() {
    let server = Server::shared();
    let api = server.tenant().test;
    let bad = json!({ "usdAmount": -1, "debtorId": "X1", "debtorCellPhone": "0414", "debtorBankCode": 9999, "externalRef": "   ", "extra": 1 });
    api.post("/v1/payments/c2p/request", &bad).names(&[
        "usdAmount",
        "debtorId",
        "debtorCellPhone",
        "debtorBankCode",
        "externalRef",
        "extra",
    ]);
    let all = ["usdAmount", "debtorId", "debtorCellPhone", "debtorBankCode", "externalRef"];
    api.post("/v1/payments/c2p/request", &json!({})).names(&all);
    let nulls: Value =
        all.iter().map(|name| ((*name).to_owned(), Value::Null)).collect::<serde_json::Map<_, _>>().into();
    api.post("/v1/payments/c2p/request", &nulls).names(&all);
    api.post("/v1/payouts", &json!({})).names(&["merchantId", "monto", "concepto", "externalRef"]);
}

#[test]
fn a_misspelt_money_field_moves_no_money() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    api.payout(&merchant, "10.00", json!({ "fromMerchantBalnce": true })).names(&["fromMerchantBalnce"]);
    api.assert_books("100.00", "0.00", "100.00");
}

#[test]
fn json_types_are_strict() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    for usd in [json!("10"), json!(true), json!([10]), json!({}), json!(null), json!("ten")] {
        api.request_c2p(usd, json!({})).names(&["usdAmount"]);
    }
    for (member, value) in [
        ("monto", json!(10)),
        ("monto", json!("10")),
        ("monto", json!("10.0")),
        ("monto", json!("10.000")),
        ("monto", json!("010.00")),
        ("monto", json!("-1.00")),
        ("monto", json!("0.00")),
        ("monto", json!("1e1")),
        ("monto", json!(" 1.00")),
        ("concepto", json!(7)),
        ("fromMerchantBalance", json!("true")),
        ("merchantId", json!("7")),
        ("externalRef", json!(7)),
    ] {
        api.payout(&merchant, "1.00", json!({ member: value })).names(&[member]);
    }
    api.assert_books("100.00", "0.00", "100.00");
}

#[test]
fn writes_take_no_parameters() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("10.00");
    let path = format!("/v1/merchants/{}", text(&merchant, "merchantId"));
    api.post("/v1/payouts?monto=5.00", &payout_body(&merchant, "1.00")).names(&["monto"]);
    api.post("/v1/payouts?x=1&y", &json!({ "monto": "1" })).names(&[
        "x",
        "y",
        "merchantId",
        "monto",
        "concepto",
        "externalRef",
    ]);
    api.patch(&format!("{path}?isActive=false"), &json!({ "isActive": false })).names(&["isActive"]);
    api.request("DELETE", &format!("{path}?x=1")).names(&["x"]);
    let key = "k".repeat(256);
    api.keyed(&key)
        .post("/v1/test/fund", &json!({ "currency": "VES" }))
        .names(&["Idempotency-Key", "amount"]);
    api.assert_books("10.00", "0.00", "10.00");
    assert_eq!(api.get(&path).expect(200)["isActive"], true);
}

#[test]
fn query_parameters_are_checked_like_fields() {
    let server = Server::shared();
    let api = server.tenant().test;
    for path in ["/v1/balance", "/v1/balance/transactions", "/v1/payments", "/v1/payouts", "/v1/merchants"] {
        api.query(path, &[("limitt", "5")]).names(&["limitt"]);
    }
    let several =
        [("limit", "0"), ("cursor", "@@@"), ("from", "yesterday"), ("to", "now"), ("typ", "payment")];
    api.query("/v1/balance/transactions", &several).names(&["limit", "cursor", "from", "to", "typ"]);
    api.query("/v1/payments", &[("status", "DONE"), ("method", "CASH")]).names(&["status", "method"]);
    api.query("/v1/payouts", &[("status", "paid")]).names(&["status"]);
    api.query("/v1/merchants", &[("status", "good"), ("isActive", "maybe")]).names(&["status", "isActive"]);
    api.query("/v1/balance/transactions", &[("type", "payment,bogus")]).names(&["type"]);
}

#[test]
fn an_error_does_not_spoil_the_connection() {
    let server = Server::shared();
    let api = server.tenant().test;
    for _ in 0..3 {
        api.post("/v1/no-such-thing", &json!({ "a": "b".repeat(5000) })).refused(404, "not_found");
        api.get("/v1/balance").expect(200);
        api.post("/v1/balance", &json!({ "a": 1 })).refused(405, "method_not_allowed");
        api.get("/v1/balance").expect(200);
        api.post_as("/v1/merchants", "text/plain", "x".repeat(5000)).refused(415, "unsupported_media_type");
        api.get("/v1/balance").expect(200);
    }
}

#[test]
fn overlong_and_hostile_text_is_refused() {
    let server = Server::shared();
    let api = server.tenant().test;
    for external_ref in
        [String::new(), " \t ".to_owned(), "x".repeat(65), "a\nb".to_owned(), "a\u{0}b".to_owned()]
    {
        let body = merged(merchant_body(), json!({ "externalRef": external_ref }));
        api.post("/v1/merchants", &body).names(&["externalRef"]);
    }
    let longest = format!("{}{}", &fresh("longest")[..16], "ñ".repeat(48));
    let body = merged(merchant_body(), json!({ "externalRef": format!("  {longest}\t") }));
    assert_eq!(api.post("/v1/merchants", &body).expect(201)["externalRef"], longest.as_str());
}
