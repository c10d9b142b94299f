//! The answers to calls that ask for something wrong (`docs/contract.md, 1.11, 1.12`), at every
//! route.

use crate::harness::check::text;
use crate::harness::client::Answer;
use crate::harness::flows::{UNKNOWN, fresh, merchant_body, merged, payout_body};
use crate::harness::server::{Server, Tenant};
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

/// The message of a refusal.
#[track_caller]
fn says(answer: &Answer, status: u16, code: &str) -> String {
    text(&answer.refused(status, code), "message").to_owned()
}

#[test]
fn a_path_that_is_none_and_an_id_of_nothing_are_told_apart() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    for (path, message) in [
        ("/v1/paymets", "there is no path GET /v1/paymets; did you mean /v1/payments?"),
        ("/v1/payouts/", "there is no path GET /v1/payouts/; did you mean /v1/payouts?"),
        ("/v1/cards/4111111111111111", "there is no path GET /v1/cards/…; GET /openapi.json has them all"),
        (
            "/v1/payments/7",
            "no payment with this id, which is no UUID, under this key; a test key sees test mode alone",
        ),
        (
            "/v1/payments/by-ref/x",
            "no payment with this externalRef under this key; a test key sees test mode alone",
        ),
    ] {
        assert_eq!(says(&api.get(path), 404, "not_found"), message);
    }
    for (path, kind) in [
        ("/v1/payments/", "payment"),
        ("/v1/payouts/", "payout"),
        ("/v1/payouts/batch/", "batch of payouts"),
        ("/v1/merchants/", "merchant"),
        ("/v1/cop/payments/", "payment in pesos"),
        ("/v1/checkout/sessions/", "checkout session"),
        ("/v1/webhooks/", "webhook endpoint"),
        ("/v1/conversions/", "conversion"),
    ] {
        let said = says(&api.get(&format!("{path}{UNKNOWN}")), 404, "not_found");
        assert!(said.starts_with(&format!("no {kind} {UNKNOWN} under this key; ")), "{said}");
    }
    // Also where a rule of the engine does not find it, and where the body names it.
    let said = says(&api.post(&format!("/v1/payments/{UNKNOWN}/reverse"), &json!({})), 404, "not_found");
    assert!(said.starts_with(&format!("no payment {UNKNOWN} ")), "{said}");
    let said = says(&api.post("/v1/conversions", &json!({ "quoteId": UNKNOWN })), 404, "not_found");
    assert!(said.starts_with("no quote with the quoteId of the body "), "{said}");
    let payout = merged(payout_body(&json!({ "merchantId": UNKNOWN }), "1.00"), json!({}));
    let said = says(&api.post("/v1/payouts", &payout), 404, "not_found");
    assert!(said.starts_with("no merchant, or payout method of it, "), "{said}");
    let said = says(&server.admin().get(&format!("/admin/tenants/{UNKNOWN}")), 404, "not_found");
    assert_eq!(said, format!("no tenant {UNKNOWN} on this server"));
    let said = says(&server.admin().get("/admin/tenant"), 404, "not_found");
    assert_eq!(said, "there is no path GET /admin/tenant; did you mean /admin/tenants?");
}

#[test]
fn a_refusal_says_where_it_is_wrong_and_what_to_do() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    for (body, message) in [
        (
            "{\n  \"currency\": \"VES\"\n  \"amount\": \"1.00\"\n}",
            "line 3, column 3: a comma or a closing bracket is expected",
        ),
        (
            r#"{"bankCode": 0134}"#,
            "line 1, column 15: a number has no zero at its beginning; write a code such as 0134 in quotes",
        ),
        ("", "the body is empty; send a JSON object"),
        (r#"{"amount": "1.00", "amount": "2.00"}"#, "line 1, column 20: a member is twice in one object"),
    ] {
        assert_eq!(says(&api.post_raw("/v1/test/fund", body), 400, "invalid_json"), message);
    }
    let two = says(&api.post("/v1/test/fund", &json!({ "x": 1, "currency": "VES" })), 400, "invalid_data");
    assert_eq!(two, "2 fields can't be accepted: amount, x; fields says why each");
    let near = api
        .post("/v1/test/fund", &json!({ "amont": "1.00", "currency": "VES" }))
        .refused(400, "invalid_data");
    assert_eq!(near["fields"][1]["message"], "is unknown; did you mean amount?");
    let missing = says(&server.nobody().get("/v1/balance"), 401, "unauthorized");
    assert_eq!(missing, "the header x-api-key is missing: send the account's key in it");
    let wrong = says(&server.api("pk_test_wrong").get("/v1/balance"), 401, "unauthorized");
    assert!(wrong.contains("x-api-key opens nothing") && !wrong.contains("pk_test_wrong"), "{wrong}");
    let unnamed = says(&server.admin_with("wrong").get("/admin/status"), 401, "unauthorized");
    assert!(unnamed.contains("authorization opens nothing"), "{unnamed}");
    let method = says(&api.request("DELETE", "/v1/balance"), 405, "method_not_allowed");
    assert_eq!(
        method,
        "this path takes GET, HEAD alone, so nothing was done; repeat it with one that it takes"
    );
    let large = format!("{{\"currency\": \"{}\"}}", " ".repeat(MIB));
    let large = says(&api.post_raw("/v1/test/fund", large), 413, "payload_too_large");
    assert!(large.contains("1048576 bytes"), "{large}");
}

#[test]
fn a_name_that_is_used_says_for_what() {
    let server = Server::shared();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("10.00");
    let body = payout_body(&merchant, "1.00");
    api.post("/v1/payouts", &body).expect(201);
    let other = merged(body, json!({ "monto": "2.00", "concepto": "otro" }));
    let said = says(&api.post("/v1/payouts", &other), 409, "external_ref_conflict");
    assert!(said.contains("monto") && said.contains("concepto"), "{said}");

    let keyed = api.keyed(&fresh("key"));
    let first = keyed.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" }));
    first.expect(201);
    let again = keyed.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "2.00" }));
    let said = says(&again, 422, "idempotency_key_reused");
    let request = first.header("x-request-id").expect("a request id");
    assert!(said.contains(&format!("by the request {request};")), "{said}");
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
    // A compressed body is not unpacked, and is not taken as if it were plain.
    let packed = api.with("content-encoding", "gzip").post("/v1/merchants", &body);
    packed.refused(415, "unsupported_media_type");
    assert!(packed.text().contains("content-encoding"), "{}", packed.text());
    api.query("/v1/merchants", &[("externalRef", external_ref)]).refused(404, "not_found");
    api.with("content-encoding", "identity")
        .post_as("/v1/merchants", "application/json; charset=utf-8", body.to_string())
        .expect(201);
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
fn two_keys_in_one_request_are_nobodys() {
    let server = Server::shared();
    let (tenant, other) = (server.tenant(), server.tenant());
    let key = |of: &Tenant| of.created["testKey"]["key"].as_str().expect("a key").to_owned();
    let answer = |second: &str| {
        let mut stream = TcpStream::connect(server.address()).expect("connects");
        let first = key(&tenant);
        let head = format!(
            "GET /v1/balance HTTP/1.1\r\nhost: localhost\r\nx-api-key: {first}\r\nx-api-key: {second}\r\n\
             connection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("writes");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let refused = answer(&key(&other));
    assert!(refused.starts_with("HTTP/1.1 401 ") && refused.contains("more than once"), "{refused}");
    assert!(answer(&key(&tenant)).starts_with("HTTP/1.1 200 "), "the same twice is one");
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
    let all = ["usdAmount", "vesAmount", "debtorId", "debtorCellPhone", "debtorBankCode", "externalRef"];
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
    for usd in [json!("10"), json!(true), json!([10]), json!({}), json!("ten"), json!(null)] {
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
