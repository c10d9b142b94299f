//! Checkout sessions and what their pages call, over HTTP and without a browser
//! (`docs/contract.md, 12.4, 12.6`).

use crate::harness::buyers::{Page, of, session};
use crate::harness::check::{assert_movements, list, race, text};
use crate::harness::client::Answer;
use crate::harness::flows::{UNKNOWN, fresh, merged, number, payer};
use crate::harness::server::Server;
use serde_json::{Value, json};

#[test]
fn a_session_has_every_member() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(
        &tenant,
        json!({
            "amountUsd": number("25.50"), "description": "Café", "reference": "P-1", "successUrl": "https://shop.example/ok", "cancelUrl": "http://localhost:3000/no",
            "methods": ["cop", "c2p"], "metadata": { "order": { "id": 7, "note": "ñ" } },
        }),
    );
    assert_eq!(
        (text(&made, "object"), text(&made, "status"), text(&made, "amountUsd")),
        ("checkout.session", "open", "25.50")
    );
    assert_eq!(text(&made, "url"), format!("{}/checkout/{}", server.url(), text(&made, "id")));
    assert!(text(&made, "clientSecret").starts_with(&format!("{}_secret_", text(&made, "id"))), "{made}");
    assert_eq!(
        (&made["methods"], &made["metadata"]),
        (&json!(["cop", "c2p"]), &json!({ "order": { "id": 7, "note": "ñ" } }))
    );
    assert_eq!((&made["paymentId"], &made["livemode"]), (&Value::Null, &json!(false)));
    assert_eq!(of(&tenant, &made), made);
    server
        .tenant()
        .test
        .get(&format!("/v1/checkout/sessions/{}", text(&made, "id")))
        .refused(404, "not_found");
    for (member, bad) in [
        ("amountUsd", json!("10.00")),
        ("amountUsd", json!(0)),
        ("amountUsd", number("100000.01")),
        ("amountUsd", number("1.001")),
        ("successUrl", json!("http://shop.example/ok")),
        ("cancelUrl", json!("javascript:alert(1)")),
        ("methods", json!(["cash"])),
        ("methods", json!(["c2p", "c2p"])),
        ("methods", json!("c2p")),
        ("metadata", json!([])),
        ("reference", json!(7)),
        ("amount", json!(1)),
    ] {
        let answer = tenant
            .test
            .post("/v1/checkout/sessions", &merged(json!({ "amountUsd": 10 }), json!({ member: bad })));
        let field = list(&answer.refused(400, "invalid_data"), "fields")[0]["field"]
            .as_str()
            .expect("a name")
            .to_owned();
        assert!(field.starts_with(member), "{field}: {bad}");
    }
}

#[test]
fn the_same_key_gives_the_same_session() {
    let server = Server::shared();
    let tenant = server.tenant();
    let body = json!({ "amountUsd": 10 });
    let first = tenant.test.keyed("s-1").post("/v1/checkout/sessions", &body).expect(201);
    let again = tenant.test.keyed("s-1").post("/v1/checkout/sessions", &body);
    assert_eq!((again.status, again.header("idempotent-replayed"), again.json()), (201, Some("true"), first));
}

#[test]
fn a_secret_is_shown_again_and_is_nowhere_on_the_disk() {
    let server = Server::start();
    let api = server.tenant().test;
    let body = json!({ "amountUsd": 10 });
    let first = api.keyed("s-1").post("/v1/checkout/sessions", &body);
    assert_eq!(api.keyed("s-1").post("/v1/checkout/sessions", &body).body, first.body);
    let made = first.expect(201);
    let secret = text(&made, "clientSecret").rsplit('_').next().expect("its random part").to_owned();
    let kept = api.get("/v1/idempotency/s-1").expect(200);
    assert_eq!((&kept["response"]["id"], kept["response"].get("clientSecret")), (&made["id"], None));
    assert_eq!(
        api.get(&format!("/v1/checkout/sessions/{}", text(&made, "id"))).expect(200)["clientSecret"],
        made["clientSecret"]
    );
    let product = api.post("/v1/products", &json!({ "name": "Camisa", "priceUsd": "10.00" })).expect(201);
    let link = api.post(&format!("/v1/products/{}/links", text(&product, "id")), &json!({})).expect(201);
    let opened =
        server.nobody().post(&format!("/pay/{}/sessions", text(&link, "slug")), &json!({})).expect(201);
    assert!(text(&opened, "clientSecret").starts_with(text(&opened, "id")));
    let bytes: Vec<u8> =
        (0..16).map(|n| u8::from_str_radix(&secret[2 * n..2 * n + 2], 16).expect("two digits")).collect();
    assert!(server.has_on_disk(text(&made, "id").as_bytes()), "the session itself is there");
    assert!(!server.has_on_disk(secret.as_bytes()) && !server.has_on_disk(&bytes));
}

#[test]
fn a_secret_opens_its_own_session_and_nothing_else() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (mine, other) = (session(&tenant, json!({})), session(&tenant, json!({})));
    let state = |id: &str, secret: &str| {
        server
            .nobody()
            .with("authorization", &format!("Bearer {secret}"))
            .get(&format!("/checkout/{id}/state"))
    };
    state(text(&mine, "id"), text(&mine, "clientSecret")).expect(200);
    for secret in [
        text(&other, "clientSecret"),
        "",
        "x",
        &text(&mine, "clientSecret")[..70],
        &format!("{}0", text(&mine, "clientSecret")),
    ] {
        state(text(&mine, "id"), secret).refused(401, "unauthorized");
    }
    server.nobody().get(&format!("/checkout/{}/state", text(&mine, "id"))).refused(401, "unauthorized");
    state(UNKNOWN, text(&mine, "clientSecret")).refused(401, "unauthorized");
    state("x", text(&mine, "clientSecret")).refused(404, "not_found");
    server.api(text(&mine, "clientSecret")).get("/v1/balance").refused(401, "unauthorized");
}

#[test]
fn a_buyer_pays_by_c2p_and_the_tenant_is_told() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({ "reference": "P-7", "metadata": { "a": [1.10, null] } }));
    let page = Page::of(&server, &made);
    let state = page.state();
    assert_eq!(
        (text(&state, "status"), text(&state, "amountUsd"), text(&state, "receivedUsdt")),
        ("open", "10.00", "0.00")
    );
    assert_eq!(
        state["methods"][0],
        json!({ "method": "c2p", "enabled": true, "reason": null, "amountCop": null })
    );
    let intent = page.request(json!({})).expect(201);
    assert_eq!(
        (&intent["otpRequested"], text(&intent, "status"), intent["vesAmount"].to_string().as_str()),
        (&json!(false), "PENDING", "2000.00")
    );
    assert_eq!(
        page.request(json!({ "debtorBankCode": 102 })).expect(201)["otpRequested"],
        true,
        "this bank sends a message"
    );
    page.execute(&intent, "12345678").refused(409, "intent_canceled");
    let paid = page.pay("12345678");
    assert_eq!((text(&paid, "status"), &paid["failureCode"]), ("paid", &Value::Null));
    let payment = tenant.test.get(&format!("/v1/payments/{}", text(&paid, "paymentId"))).expect(200);
    let checkout =
        json!({ "id": made["id"], "reference": "P-7", "metadata": { "a": [number("1.1"), null] } });
    assert_eq!((text(&payment, "status"), text(&payment, "method")), ("COMPLETED", "C2P"));
    assert_eq!(text(&payment["checkoutSession"], "reference"), "P-7");
    assert_eq!(
        payment["checkoutSession"]["metadata"]["a"][0].to_string(),
        checkout["metadata"]["a"][0].to_string()
    );
    assert_eq!(
        tenant.test.get(&format!("/v1/payments/by-ref/{}", text(&payment, "externalRef"))).expect(200),
        payment
    );
    let read = of(&tenant, &made);
    assert_eq!((text(&read, "status"), &read["paymentId"]), ("paid", &paid["paymentId"]));
    let events = tenant.test.get("/v1/events").expect(200);
    let told = list(&events, "items")
        .iter()
        .find(|event| event["event"] == "payment.completed")
        .expect("it was told");
    assert_eq!(
        (text(&told["data"], "amountUsd"), &told["data"]["copRate"], &told["data"]["checkoutSession"]["id"]),
        ("10.00", &Value::Null, &made["id"])
    );
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
    page.request(json!({})).refused(409, "session_paid");
}

#[test]
fn a_declined_charge_can_be_tried_again() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    let declined = page.pay("99999999");
    assert_eq!(
        (text(&declined, "status"), text(&declined, "failureCode"), &declined["paymentId"]),
        ("open", "AM04", &Value::Null)
    );
    assert_eq!(text(&page.pay("88888888"), "failureCode"), "TKCM");
    assert_eq!(text(&page.pay("12345678"), "status"), "paid");
    assert_eq!(
        list(&tenant.test.query("/v1/payments", &[("status", "FAILED")]).expect(200), "items").len(),
        2
    );
}

#[test]
fn bad_fields_are_named_and_nothing_happens() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    for (member, bad) in [
        ("debtorId", json!("X1")),
        ("debtorCellPhone", json!("0212")),
        ("debtorBankCode", json!("134")),
        ("debtorBankCode", json!(178)),
        ("usdAmount", json!(1)),
    ] {
        let answer = page.request(json!({ member: bad })).refused(400, "invalid_data");
        assert_eq!(answer["fields"][0]["field"], member);
    }
    let intent = page.request(json!({})).expect(201);
    page.execute(&intent, "123").refused(400, "invalid_data");
    page.execute(&json!({ "intentId": UNKNOWN }), "12345678").refused(404, "not_found");
    let other = session(&tenant, json!({}));
    Page::of(&server, &other).execute(&intent, "12345678").refused(404, "not_found");
    let body = merged(
        payer(),
        json!({ "intentId": intent["intentId"], "token": "12345678", "debtorId": "V7654321" }),
    );
    page.api.post(&format!("{}/c2p", page.base), &body).refused(409, "intent_mismatch");
    assert_eq!(text(&page.state(), "status"), "open");
    assert_eq!(tenant.test.movements(), Vec::<Value>::new());
}

#[test]
fn many_tabs_pay_once() {
    let server = Server::shared();
    let tenant = server.tenant();
    for _ in 0..5 {
        let made = session(&tenant, json!({}));
        let answers = race(6, |_| {
            let page = Page::of(&server, &made);
            let intent = page.request(json!({}));
            if intent.status == 201 { page.execute(&intent.json(), "12345678") } else { intent }
        });
        let paid: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert_eq!(
            paid.len(),
            1,
            "{:?}",
            answers.iter().map(|answer| answer.text().to_owned()).collect::<Vec<_>>()
        );
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 409)));
        assert_eq!(of(&tenant, &made)["paymentId"], paid[0].json()["paymentId"]);
    }
    assert_eq!(
        list(&tenant.test.query("/v1/payments", &[("status", "COMPLETED")]).expect(200), "items").len(),
        5
    );
    tenant.test.assert_books("9850.00", "9850.00", "0.00");
}

#[test]
fn while_the_bank_is_silent_nobody_else_can_pay() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    assert_eq!(text(&page.pay("77777777"), "status"), "processing");
    assert_eq!(text(&page.state(), "status"), "processing");
    assert_eq!(text(&of(&tenant, &made), "status"), "open");
    page.request(json!({})).refused(409, "charge_in_progress");
    tenant.test.advance(60);
    assert_eq!(text(&page.state(), "status"), "paid");
    assert_eq!(text(&of(&tenant, &made), "status"), "paid");
}

#[test]
fn a_session_ends_after_a_day_unless_a_charge_is_at_the_bank() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (made, charged) = (session(&tenant, json!({})), session(&tenant, json!({})));
    let (page, other) = (Page::of(&server, &made), Page::of(&server, &charged));
    tenant.test.advance(24 * 3600 - 30);
    let intent = page.request(json!({})).expect(201);
    other.pay("77777777");
    tenant.test.advance(30);
    assert_eq!((text(&page.state(), "status"), text(&of(&tenant, &made), "status")), ("expired", "expired"));
    page.request(json!({})).refused(409, "session_expired");
    page.execute(&intent, "12345678").refused(409, "session_expired");
    assert_eq!(text(&other.state(), "status"), "processing");
    tenant.test.advance(30);
    assert_eq!(text(&other.state(), "status"), "paid");
}

#[test]
fn a_link_sells_and_the_operator_has_a_share() {
    let server = Server::shared();
    let tenant = server.tenant();
    let product =
        tenant.test.post("/v1/products", &json!({ "name": fresh("Arepa"), "priceUsd": "5.00" })).expect(201);
    let link = tenant
        .test
        .post(
            &format!("/v1/products/{}/links", text(&product, "id")),
            &json!({ "allowQuantity": true, "maxQuantity": 4 }),
        )
        .expect(201);
    let sessions = format!("{}/sessions", text(&link, "hostedCheckoutPath"));
    let made = server.nobody().post(&sessions, &json!({ "quantity": 2 })).expect(201);
    assert_eq!(
        (text(&made, "amountUsd"), &made["quantity"], &made["paymentLinkId"]),
        ("10.00", &json!(2), &link["id"])
    );
    for bad in [json!(0), json!(5), json!("2"), json!(1.5)] {
        server.nobody().post(&sessions, &json!({ "quantity": bad })).refused(400, "invalid_data");
    }
    let product_path = format!("/v1/products/{}", text(&product, "id"));
    let link_path = format!("/v1/payment-links/{}", text(&link, "id"));
    // A link that is switched off opens no new sessions, and the open one goes on.
    tenant.test.patch(&link_path, &json!({ "status": "disabled" })).expect(200);
    server.nobody().post(&sessions, &json!({})).refused(404, "not_found");
    assert_eq!(server.nobody().get(text(&link, "hostedCheckoutPath")).status, 404);
    let paid = Page::of(&server, &made).pay("12345678");
    assert_eq!(text(&paid, "status"), "paid");
    assert_movements(
        &tenant.test.movements(),
        &[("payment", &["2000.00"]), ("fee", &["-30.00"]), ("PLATFORM_FEE", &["-10.00"])],
    );
    tenant.test.assert_books("1960.00", "1960.00", "0.00");
    tenant.test.delete(&product_path).refused(409, "product_has_sales");
    tenant.test.delete(&link_path).refused(409, "product_has_sales");
    // A reversal gives everything back, the operator's share too.
    let payment = tenant.test.get(&format!("/v1/payments/{}", text(&paid, "paymentId"))).expect(200);
    tenant.test.reverse(&payment).expect(200);
    tenant.test.assert_books("0.00", "0.00", "0.00");
    assert_eq!(text(&of(&tenant, &made), "status"), "paid");
}

#[test]
fn a_sellers_link_credits_the_seller() {
    let server = Server::shared();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    let product =
        tenant.test.post("/v1/products", &json!({ "name": fresh("Queso"), "priceUsd": "10.00" })).expect(201);
    let body = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let link = tenant.test.post(&format!("/v1/products/{}/links", text(&product, "id")), &body).expect(201);
    let made = server
        .nobody()
        .post(&format!("{}/sessions", text(&link, "hostedCheckoutPath")), &json!({}))
        .expect(201);
    Page::of(&server, &made).pay("12345678");
    // 2000 less 30 of fee; 200 of commission, of which the operator has 10; the seller has 1770.
    assert_movements(
        &tenant.test.movements(),
        &[
            ("payment", &["2000.00"]),
            ("fee", &["-30.00"]),
            ("PLATFORM_FEE", &["-10.00"]),
            ("seller_transfer", &["-1770.00"]),
        ],
    );
    tenant.test.assert_books("190.00", "190.00", "0.00");
    let balance =
        tenant.test.get(&format!("/v1/merchants/{}/balance", text(&merchant, "merchantId"))).expect(200);
    assert_eq!((text(&balance, "pendingVes"), text(&balance, "availableVes")), ("1770.00", "0.00"));
}

#[test]
fn sessions_and_what_paid_them_survive_a_kill() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let (paid, open, silent) =
        (session(&tenant, json!({})), session(&tenant, json!({})), session(&tenant, json!({})));
    Page::of(&server, &paid).pay("12345678");
    let intent = Page::of(&server, &open).request(json!({})).expect(201);
    Page::of(&server, &silent).pay("77777777");
    server.kill();
    server.restart();
    assert_eq!(text(&of(&tenant, &paid), "status"), "paid");
    assert_eq!(text(&Page::of(&server, &silent).state(), "status"), "processing");
    tenant.test.advance(60);
    assert_eq!(text(&Page::of(&server, &silent).state(), "status"), "paid");
    assert_eq!(text(&Page::of(&server, &open).execute(&intent, "12345678").expect(200), "status"), "paid");
    tenant.test.assert_books("5910.00", "5910.00", "0.00");
}

#[test]
fn pages_say_who_may_do_what_with_them() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "checkout": { "allowedOrigins": ["https://shop.example"] } }));
    let made = session(&tenant, json!({}));
    let path = format!("/checkout/{}", text(&made, "id"));
    let page = server.nobody().get(&path);
    let policy = page.header("content-security-policy").expect("a policy").to_owned();
    assert!(
        policy.contains("default-src 'none'")
            && policy.contains("frame-ancestors 'none'")
            && !policy.contains("unsafe"),
        "{policy}"
    );
    for (name, value) in [
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("content-type", "text/html; charset=utf-8"),
    ] {
        assert_eq!(page.header(name), Some(value));
    }
    let html = page.text();
    assert!(
        html.contains("data-status=\"open\"")
            && html.contains("data-action=\"choose-c2p\"")
            && html.contains("<html lang=\"es\">"),
        "{html}"
    );
    assert!(
        !html.contains("<style") && !html.contains(" style=") && !html.contains("onclick"),
        "nothing inline"
    );
    assert!(server.nobody().get(&format!("{path}?lang=en")).text().contains("<html lang=\"en\">"));
    let embedded = server.nobody().get(&format!("{path}/embed?origin=https%3A%2F%2Fshop.example"));
    assert!(
        embedded
            .header("content-security-policy")
            .is_some_and(|policy| policy.ends_with("frame-ancestors https://shop.example"))
    );
    assert!(
        embedded.header("x-frame-options").is_none()
            && embedded.text().contains("data-parent=\"https://shop.example\"")
    );
    let foreign = server.nobody().get(&format!("{path}/embed?origin=https%3A%2F%2Fevil.example"));
    assert!(!foreign.text().contains("data-parent=\"https://evil.example\""));
    // A file that a page loads may be kept for ever, because its name contains a hash of its
    // content.
    let style = html
        .split("href=\"")
        .find_map(|rest| rest.split('"').next().filter(|href| href.ends_with(".css")))
        .expect("a style sheet");
    let style = server.nobody().get(style);
    assert_eq!(
        (style.status, style.header("cache-control")),
        (200, Some("public, max-age=31536000, immutable"))
    );
    assert!(server.nobody().get("/checkout.js").text().contains("Pasarela"));
    assert_eq!(server.nobody().get("/checkout-assets/nothing.css").status, 404);
    assert_eq!(server.nobody().get("/checkout/x").status, 404);
    assert!(server.nobody().get("/pay/no-such-link").text().contains("<h1>"));
}

/// A form as a browser without scripts sends it.
pub fn send(server: &Server, path: &str, pairs: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
    let body: Vec<String> = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", value.replace('+', "%2B").replace(' ', "+")))
        .collect();
    let api = headers.iter().fold(server.nobody(), |api, (name, value)| api.with(name, value));
    api.post_as(path, "application/x-www-form-urlencoded", body.join("&"))
}

#[test]
fn plain_forms_pay_too_and_only_with_the_secret() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let (path, secret) = (format!("/checkout/{}", text(&made, "id")), text(&made, "clientSecret"));
    let details = |secret| {
        [
            ("secret", secret),
            ("debtorBankCode", "0134"),
            ("debtorId", "v-12.345.678"),
            ("debtorCellPhone", "0414-123 45 67"),
        ]
    };
    let request = format!("{path}/c2p/request");
    assert_eq!(send(&server, &request, &details("x"), &[]).status, 401);
    assert_eq!(send(&server, &request, &details(secret), &[("sec-fetch-site", "cross-site")]).status, 401);
    let wrong = send(
        &server,
        &request,
        &[("secret", secret), ("debtorBankCode", "0134"), ("debtorId", "<b>"), ("debtorCellPhone", "0212")],
        &[],
    );
    assert_eq!(wrong.status, 400);
    assert_eq!(wrong.text().matches("aria-invalid=\"true\"").count(), 2);
    assert!(!wrong.text().contains("<b>"), "what was typed is escaped");
    let asked = send(&server, &request, &details(secret), &[]);
    assert_eq!(asked.status, 303, "{}", asked.text());
    let step = server.nobody().get(asked.header("location").expect("an address"));
    let html = step.text();
    assert!(
        html.contains("data-action=\"pay\"")
            && html.contains("name=\"token\"")
            && html.contains("V***678")
            && !html.contains("12345678"),
        "{html}"
    );
    let intent = html
        .split("name=\"intentId\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("an intent")
        .to_owned();
    let bad = send(
        &server,
        &format!("{path}/c2p"),
        &[("secret", secret), ("intentId", &intent), ("token", "12")],
        &[],
    );
    assert_eq!((bad.status, bad.text().contains("aria-invalid=\"true\"")), (400, true));
    let declined = send(
        &server,
        &format!("{path}/c2p"),
        &[("secret", secret), ("intentId", &intent), ("token", "99999999")],
        &[],
    );
    let failed = server.nobody().get(declined.header("location").expect("an address"));
    assert!(
        failed.text().contains("data-status=\"failed\"")
            && failed.text().contains("data-action=\"request-token\""),
        "{}",
        failed.text()
    );
    let again = send(&server, &request, &details(secret), &[("sec-fetch-site", "same-origin")]);
    let step = server.nobody().get(again.header("location").expect("an address"));
    let intent = step
        .text()
        .split("name=\"intentId\" value=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("an intent")
        .to_owned();
    let paid = send(
        &server,
        &format!("{path}/c2p"),
        &[("secret", secret), ("intentId", &intent), ("token", "1234 5678")],
        &[],
    );
    assert_eq!(paid.status, 303);
    assert!(
        server
            .nobody()
            .get(paid.header("location").expect("an address"))
            .text()
            .contains("data-status=\"paid\"")
    );
    assert_eq!(text(&of(&tenant, &made), "status"), "paid");
}
