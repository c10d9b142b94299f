//! Finding things: filters of lists, the search, the log of requests, and lists over all tenants
//! (`docs/contract.md, 20.4`).

use crate::harness::buyers::{Page, session};
use crate::harness::check::{assert_nulls, assert_texts, list, race, text};
use crate::harness::client::Api;
use crate::harness::flows::fresh;
use crate::harness::pesos::cop_payout_body;
use crate::harness::server::{Server, Tenant};
use crate::named_operators::{audit, operator};
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;

/// What a text finds: kind, id and why of each.
#[track_caller]
fn found(api: &Api, path: &str, q: &str) -> Vec<(String, String, String)> {
    let items = api.query(path, &[("q", q)]).expect(200);
    let of = |item: &Value, member: &str| text(item, member).to_owned();
    list(&items, "items").iter().map(|item| (of(item, "kind"), of(item, "id"), of(item, "why"))).collect()
}

/// Asserts that the text finds exactly this, as a tenant and as an operator.
#[track_caller]
fn assert_finds(server: &Server, tenant: &Tenant, q: &str, expected: &[(&str, &str, &str)]) {
    let mut expected: Vec<_> = expected
        .iter()
        .map(|(kind, id, why)| ((*kind).to_owned(), (*id).to_owned(), (*why).to_owned()))
        .collect();
    expected.sort();
    for (api, path) in [(&tenant.test, "/v1/search"), (&server.admin(), "/admin/search")] {
        let mut found = found(api, path, q);
        found.sort();
        assert_eq!(found, expected, "{path}?q={q}");
    }
}

#[test]
fn a_payment_is_found_by_all_that_is_known_of_it() {
    let server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant());
    let activation = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&activation, &json!({"status": "active"})).expect(200);
    let (api, request) = (&tenant.test, fresh("req"));
    let reference = fresh("ref");
    let intent =
        api.with("x-request-id", &request).request_c2p(10, json!({"externalRef": reference})).expect(201);
    let payment = api.execute(&intent, "12345678", json!({"externalRef": reference})).expect(200);
    let id = text(&payment, "paymentId");
    for (q, why) in [
        (id, "id"),
        (&id.to_uppercase(), "id"),
        (&format!("  {id} "), "id"),
        (&reference, "externalRef"),
        (text(&payment, "bankReference"), "bankReference"),
        ("V12345678", "document"),
        ("v-12345678", "document"),
        ("04141234567", "phone"),
        ("+584141234567", "phone"),
        ("V-12.345.678", "document"),
        ("12.345.678", "document"),
        ("0414-1234567", "phone"),
        ("(0414) 123.45.67", "phone"),
        ("+58 414 123 45 67", "phone"),
        (&request, "requestId"),
    ] {
        assert_finds(&server, &tenant, q, &[("payment", id, why)]);
        assert!(found(&other.test, "/v1/search", q).is_empty(), "another tenant found {q}");
        assert!(found(&tenant.live, "/v1/search", q).is_empty(), "the other mode found {q}");
    }
    for nothing in ["V1234567", "4141234567", "0414123456", &reference[1..], "%", "' OR 1=1", "\u{202e}"] {
        assert_finds(&server, &tenant, nothing, &[]);
    }
    let item = &list(&api.query("/v1/search", &[("q", id)]).expect(200), "items")[0].clone();
    assert_texts(
        item,
        &[
            ("tenantId", &tenant.id),
            ("mode", "test"),
            ("status", "COMPLETED"),
            ("currency", "VES"),
            ("amount", "2000.00"),
        ],
    );
    assert_eq!(item["createdAt"], payment["createdAt"]);
    let reversed = api.reverse(&payment).expect(200);
    assert_finds(&server, &tenant, text(&reversed, "reversalRef"), &[("payment", id, "bankReference")]);
}

#[test]
fn things_of_every_kind_are_found() {
    let server = Server::start();
    let tenant = server.tenant_with(json!({"cop": {"enabled": true}, "conversions": {"enabled": ["VES"]}}));
    let api = &tenant.test;
    let merchant = api
        .create_merchant(json!({"identification": "J123456789", "contactPhone": "04129998877"}))
        .expect(201);
    let merchant_id = text(&merchant, "merchantId");
    let method = text(&merchant["payoutMethods"][0], "payoutMethodId");
    for (q, why) in [
        (merchant_id, "id"),
        (method, "id"),
        (text(&merchant, "externalRef"), "externalRef"),
        ("J-123456789", "document"),
        ("+584129998877", "phone"),
    ] {
        assert_finds(&server, &tenant, q, &[("merchant", merchant_id, why)]);
    }
    api.fund("500.00");
    let paid = api.merchant();
    let payout = api.payout(&paid, "100.00", json!({})).json();
    let payout_id = text(&payout, "payoutId");
    assert_finds(&server, &tenant, text(&payout, "externalRef"), &[("payout", payout_id, "externalRef")]);
    assert_finds(
        &server,
        &tenant,
        text(&api.payout_now(&payout), "reference"),
        &[("payout", payout_id, "bankReference")],
    );
    assert_finds(&server, &tenant, payout_id, &[("payout", payout_id, "id")]);
    let product = api.post("/v1/products", &json!({"name": "Café", "priceUsd": "5.00"})).expect(201);
    let links = format!("/v1/products/{}/links", text(&product, "id"));
    let request = fresh("req");
    let link = api.with("x-request-id", &request).post(&links, &json!({})).expect(201);
    assert_finds(&server, &tenant, &request, &[("payment_link", text(&link, "id"), "requestId")]);
    assert_finds(&server, &tenant, text(&product, "id"), &[("product", text(&product, "id"), "id")]);
    assert_finds(&server, &tenant, text(&link, "id"), &[("payment_link", text(&link, "id"), "id")]);
    let events = api.get("/v1/events").expect(200);
    let event = text(&list(&events, "items")[0], "id").to_owned();
    assert_finds(&server, &tenant, &event, &[("event", &event, "id")]);
    let method = json!({ "bankCode": "0102", "phone": "04161112233" });
    api.post(&format!("/v1/merchants/{merchant_id}/payout-methods"), &method).expect(201);
    assert_finds(&server, &tenant, "+584161112233", &[("merchant", merchant_id, "phone")]);
    // What is deleted is found no more, however it was known.
    api.delete(&format!("/v1/merchants/{merchant_id}"));
    for q in [merchant_id, "J123456789", "04129998877", "04161112233"] {
        assert_finds(&server, &tenant, q, &[]);
    }
    let name = fresh("Tienda ñandú");
    let named = server.admin().post("/admin/tenants", &json!({ "name": name })).expect(201);
    let id = text(&named, "tenantId");
    assert_eq!(
        found(&server.admin(), "/admin/search", &name.to_uppercase()),
        [("tenant".to_owned(), id.to_owned(), "name".to_owned())]
    );
    assert_eq!(
        found(&server.admin(), "/admin/search", id),
        [("tenant".to_owned(), id.to_owned(), "id".to_owned())]
    );
    // However the computer of whoever types writes its ñ and ú.
    for q in [name.nfd().collect::<String>(), name.nfd().collect::<String>().to_uppercase()] {
        assert_eq!(
            found(&server.admin(), "/admin/search", &q),
            [("tenant".to_owned(), id.to_owned(), "name".to_owned())]
        );
    }
    let composed = fresh("Peña é");
    let merchant = api.create_merchant(json!({ "externalRef": composed })).expect(201);
    let decomposed: String = composed.nfd().collect();
    assert_ne!(decomposed, composed);
    assert_finds(
        &server,
        &tenant,
        &decomposed,
        &[("merchant", text(&merchant, "merchantId"), "externalRef")],
    );
    assert!(found(api, "/v1/search", &name).is_empty());
}

#[test]
fn who_looks_for_people_and_finds_nobody_has_to_wait() {
    let server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant());
    let search = |api: &Api, q: &str| api.query("/v1/search", &[("q", q)]);
    tenant.test.pay(10);
    for _ in 0..40 {
        assert_eq!(
            list(&search(&tenant.test, "V12345678").expect(200), "items").len(),
            1,
            "a hit is no miss"
        );
    }
    let tried = race(50, |n| search(&tenant.test, &format!("V2{n:07}")).status);
    assert_eq!(tried.iter().filter(|status| **status == 200).count(), 30, "{tried:?}");
    assert_eq!(tried.iter().filter(|status| **status == 429).count(), 20, "{tried:?}");
    for q in ["V12345678", "0414-1234567", "+57 300 123 4567"] {
        let refused = search(&tenant.test, q);
        refused.refused(429, "too_many_attempts");
        let seconds: u32 = refused.header("retry-after").and_then(|text| text.parse().ok()).expect("seconds");
        assert!((1..=601).contains(&seconds), "{seconds}");
    }
    // What may be a reference as well is looked for as that, and what is nobody's is looked for as ever.
    let merchant = tenant.test.create_merchant(json!({ "externalRef": "20261126" })).expect(201);
    assert_eq!(list(&search(&tenant.test, "20261126").expect(200), "items")[0]["id"], merchant["merchantId"]);
    search(&tenant.test, "20261127").refused(429, "too_many_attempts");
    search(&tenant.test, "order-42").expect(200);
    // By every key of the account, and by no other account.
    let path = format!("/admin/tenants/{}/keys", tenant.id);
    let made = server.admin().post(&path, &json!({ "mode": "test", "scopes": ["read"] })).expect(201);
    search(&server.api(text(&made, "key")), "V12345678").refused(429, "too_many_attempts");
    search(&other.test, "V12345678").expect(200);
    let made = server.admin().post(&path, &json!({ "mode": "test", "scopes": ["payout"] })).expect(201);
    search(&server.api(text(&made, "key")), "order-42").refused(403, "scope_missing");
}

#[test]
fn people_are_looked_for_by_support_and_the_audit_says_so() {
    let server = Server::start();
    let tenant = server.tenant();
    let paid = tenant.test.pay(10);
    let (viewer, support) = (operator(&server, "viewer").1, operator(&server, "support").1);
    let search = |api: &Api, q: &str| api.query("/admin/search", &[("q", q)]);
    for q in ["V12345678", "V-12.345.678", "0414-1234567"] {
        assert_eq!(search(&viewer, q).refused(403, "role_missing")["role"], "support");
    }
    // What may be a reference as well finds what has it, and no person.
    assert_eq!(search(&viewer, "12345678").expect(200)["items"], json!([]));
    assert_eq!(search(&viewer, text(&paid, "paymentId")).expect(200)["items"][0]["why"], "id");
    assert!(audit(&server, &[("action", "search.person")]).is_empty());
    for q in ["V-12.345.678", "0414-1234567", "V99999999"] {
        let found = search(&support, q).expect(200);
        assert_eq!(list(&found, "items").len(), usize::from(q != "V99999999"), "{q}");
    }
    let looks = audit(&server, &[("action", "search.person")]);
    let targets: Vec<&str> = looks.iter().map(|look| text(look, "target")).collect();
    assert_eq!(targets, ["V***999", "0414***4567", "V***678"]);
    assert!(!server.admin().get("/admin/audit?limit=100").text().contains("12345678"));
}

#[test]
fn a_session_and_its_payment_are_found_by_its_reference() {
    let server = Server::start();
    let tenant = server.tenant();
    let reference = fresh("order");
    let opened = session(&tenant, json!({"reference": reference}));
    let page = Page::of(&server, &opened);
    page.pay("12345678");
    let id = text(&opened, "id");
    let read = tenant.test.get(&format!("/v1/checkout/sessions/{id}")).expect(200);
    let payment = text(&read, "paymentId").to_owned();
    assert_finds(
        &server,
        &tenant,
        &reference,
        &[("checkout_session", id, "reference"), ("payment", &payment, "reference")],
    );
    assert_finds(&server, &tenant, id, &[("checkout_session", id, "id")]);
    let shown = tenant.test.get(&format!("/v1/payments/{payment}")).expect(200);
    assert_texts(&shown, &[("checkoutSessionId", id), ("reference", &reference)]);
    let plain = tenant.test.pay(10);
    assert_nulls(&tenant.test.payment(&plain), &["checkoutSessionId", "reference"]);
    let listed = tenant.test.query("/v1/payments", &[("reference", &reference)]).expect(200);
    assert_eq!(list(&listed, "items"), [shown]);
    let sessions = |parameters: &[(&str, &str)]| {
        let page = tenant.test.query("/v1/checkout/sessions", parameters).expect(200);
        assert!(!page.to_string().contains("_secret_"), "{page}");
        list(&page, "items").iter().map(|item| text(item, "id").to_owned()).collect::<Vec<_>>()
    };
    let open = text(&session(&tenant, json!({})), "id").to_owned();
    assert_eq!(sessions(&[]), [open.as_str(), id]);
    assert_eq!(sessions(&[("status", "open")]), [open.as_str()]);
    assert_eq!(sessions(&[("status", "paid")]), [id]);
    assert_eq!(sessions(&[("status", "expired")]), [""; 0]);
    assert_eq!(sessions(&[("reference", &reference)]), [id]);
    let at = text(&read, "createdAt");
    assert!(
        sessions(&[("from", at)]).contains(&id.to_owned())
            && !sessions(&[("to", at)]).contains(&id.to_owned())
    );
}

#[test]
fn filters_leave_what_they_say() {
    let server = Server::shared();
    let tenant = server.tenant();
    let api = &tenant.test;
    let payments: Vec<Value> = (0..3).map(|_| api.pay(10)).collect();
    let ids = |path: &str, id: &str, parameters: &[(&str, &str)]| {
        let items = api.walk(path, parameters, 1);
        items.iter().map(|item| text(item, id).to_owned()).collect::<Vec<_>>()
    };
    let middle = &payments[1];
    let (id, at) = (text(middle, "paymentId"), text(middle, "createdAt"));
    assert_eq!(ids("/v1/payments", "id", &[("bankReference", text(middle, "bankReference"))]), [id]);
    assert_eq!(
        ids("/v1/payments", "id", &[("bankReference", text(middle, "bankReference")), ("status", "FAILED")]),
        [""; 0]
    );
    let (from, before) =
        (ids("/v1/payments", "id", &[("from", at)]), ids("/v1/payments", "id", &[("to", at)]));
    assert!(from.contains(&id.to_owned()) && !before.contains(&id.to_owned()));
    assert_eq!(from.len() + before.len(), 3);
    api.get("/v1/payments?from=yesterday&merchantId=x&bankReference=").names(&[
        "from",
        "merchantId",
        "bankReference",
    ]);
    let merchant = api.merchant();
    api.fund("500.00");
    let payout = api.payout(&merchant, "10.00", json!({})).json();
    let payout_id = text(&payout, "payoutId");
    let whose = text(&merchant, "merchantId");
    for parameters in [
        &[("merchantId", whose)][..],
        &[("externalRef", text(&payout, "externalRef"))],
        &[("kind", "merchant"), ("from", text(&payout, "createdAt"))],
    ] {
        assert_eq!(ids("/v1/payouts", "payoutId", parameters), [payout_id], "{parameters:?}");
    }
    for parameters in [
        &[("merchantId", id)][..],
        &[("externalRef", "nobody")],
        &[("kind", "instant")],
        &[("to", text(&payout, "createdAt"))],
        &[("externalRef", text(&payout, "externalRef")), ("status", "failed")],
    ] {
        assert_eq!(ids("/v1/payouts", "payoutId", parameters), [""; 0], "{parameters:?}");
    }
}

#[test]
fn what_is_searched_for_has_1_to_128_characters() {
    let server = Server::shared();
    let tenant = server.tenant();
    for (api, path) in [(&tenant.test, "/v1/search"), (&server.admin(), "/admin/search")] {
        api.get(path).names(&["q"]);
        for bad in ["", "  ", &"x".repeat(129)] {
            api.query(path, &[("q", bad)]).names(&["q"]);
        }
        api.query(path, &[("q", "x"), ("limit", "5")]).names(&["limit"]);
        assert!(found(api, path, &"ñ".repeat(128)).is_empty());
    }
}

#[test]
fn a_request_is_remembered_without_its_body() {
    let mut server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant());
    let (api, id) = (&tenant.test, fresh("request"));
    let named = api.with("x-request-id", &id);
    let payment = named.request_c2p(10, json!({})).expect(201);
    let read = |api: &Api, id: &str| api.get(&format!("/v1/requests/{id}"));
    let seen = read(api, &id).expect(200);
    assert_texts(
        &seen,
        &[
            ("requestId", &id),
            ("method", "POST"),
            ("route", "/v1/payments/c2p/request"),
            ("entityId", text(&payment, "intentId")),
        ],
    );
    assert_eq!(seen["status"], 201);
    assert_nulls(&seen, &["error"]);
    assert!(seen["ms"].is_u64() && !seen.to_string().contains("12345678"), "{seen}");
    // The newest of one id, and what was refused before a handler saw it.
    named.get("/v1/payments/nothing").refused(404, "not_found");
    let seen = read(api, &id).expect(200);
    assert_texts(&seen, &[("method", "GET"), ("route", "/v1/payments/{id}"), ("error", "not_found")]);
    assert_nulls(&seen, &["entityId"]);
    named.get("/v1/nowhere").refused(404, "not_found");
    let seen = read(api, &id).expect(200);
    assert_texts(&seen, &[("error", "not_found"), ("route", "none"), ("method", "GET")]);
    for stranger in [&other.test, &tenant.live, &other.live] {
        assert!(matches!(read(stranger, &id).status, 403 | 404), "a stranger read it");
    }
    read(api, "nobody").refused(404, "not_found");
    let before = server.admin().get("/admin/status").expect(200)["walSeq"].clone();
    read(api, &id).expect(200);
    assert_eq!(server.admin().get("/admin/status").expect(200)["walSeq"], before);
    server.terminate();
    server.restart();
    assert_texts(&read(&tenant.test, &id).expect(200), &[("requestId", &id), ("error", "not_found")]);
}

#[test]
fn operators_list_over_all_tenants() {
    let server = Server::start();
    let tenants: Vec<Tenant> =
        (0..2).map(|_| server.tenant_with(json!({"cop": {"enabled": true}}))).collect();
    let admin = server.admin();
    let mut ids = Vec::new();
    for round in 0..3 {
        let tenant = &tenants[round % 2];
        ids.insert(0, text(&tenant.test.pay(10), "paymentId").to_owned());
    }
    let walked = admin.walk("/admin/payments", &[], 1);
    let listed: Vec<&str> = walked.iter().map(|item| text(item, "id")).collect();
    assert_eq!(listed, ids);
    assert_texts(&walked[0], &[("tenantId", &tenants[0].id), ("mode", "test"), ("debtorId", "V***678")]);
    let twin = tenants[1].test.get("/v1/payments").expect(200);
    let own = admin.query("/admin/payments", &[("tenantId", &tenants[1].id)]).expect(200);
    let (twin, own) = (list(&twin, "items")[0].clone(), list(&own, "items").to_vec());
    assert_eq!(own.len(), 1);
    for (member, value) in twin.as_object().expect("an object") {
        assert_eq!(&own[0][member], value, "{member}");
    }
    assert!(list(&admin.get("/admin/payments?mode=live").expect(200), "items").is_empty());
    let named = admin.query("/admin/payments", &[("externalRef", text(&twin, "externalRef"))]).expect(200);
    assert_eq!(list(&named, "items").len(), 1);
    admin.get("/admin/payments?mode=both&tenantId=x&status=no").names(&["mode", "tenantId", "status"]);
    tenants[0].test.fund("100.00");
    tenants[0].test.cop_paid(100_000);
    tenants[0].test.advance(4 * 86_400);
    let made = admin
        .post(&format!("/admin/tenants/{}/cop-payouts", tenants[0].id), &cop_payout_body(1000))
        .expect(201);
    let payouts = admin.get("/admin/cop-payouts?status=pending").expect(200);
    assert_eq!(list(&payouts, "items")[0]["id"], made["id"]);
    assert_texts(
        &list(&payouts, "items")[0],
        &[("holderName", "***rez"), ("accountNumber", text(&made, "accountNumber"))],
    );
    for path in ["/admin/payouts", "/admin/conversions", "/admin/chargebacks", "/admin/webhooks/deliveries"] {
        let page = admin.get(path).expect(200);
        assert!(page["items"].is_array() && page["nextCursor"].is_null(), "{path}: {page}");
    }
    let hook = tenants[0]
        .test
        .post("/v1/webhooks", &json!({"url": "https://example.com/x", "events": ["payment.completed"]}));
    assert!(matches!(hook.status, 201 | 400), "{}", hook.text());
}

#[test]
fn the_index_is_derived_again_with_its_documents() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let id = text(&tenant.test.pay(10), "paymentId").to_owned();
    server.terminate();
    let verified = server.command(&["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let into = tempfile::tempdir().expect("a directory");
    let copy = into.path().join("copy");
    let replayed = server.command(&["wal", "replay", "--into", &copy.to_string_lossy()]);
    assert!(replayed.status.success(), "{}", String::from_utf8_lossy(&replayed.stderr));
    let copied = Server::on(&copy);
    let key = text(&tenant.created["testKey"], "key").to_owned();
    let api = copied.api(&key);
    assert_eq!(found(&api, "/v1/search", "V12345678"), [("payment".to_owned(), id, "document".to_owned())]);
}

#[test]
fn what_made_a_webhook_is_found_by_its_request() {
    let server = Server::shared();
    let tenant = server.tenant();
    let id = fresh("request");
    let body = json!({ "url": "https://example.com/hook", "events": ["payment.completed"] });
    let webhook = tenant.test.with("x-request-id", &id).post("/v1/webhooks", &body).expect(201);
    assert_finds(&server, &tenant, &id, &[("webhook", text(&webhook, "id"), "requestId")]);
}

#[test]
fn every_list_of_entities_is_filtered_by_amount_and_time() {
    let server = Server::start();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true }, "usdt": { "enabled": true } }));
    let (api, admin) = (&tenant.test, server.admin());
    for usd in [10, 20] {
        api.pay(usd);
    }
    api.cop_paid(50_000);
    api.cop_fund("500000", false);
    api.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "50.00" })).expect(201);
    for amount in ["1.00", "2.50"] {
        let body = json!({
            "amountUsdt": amount, "address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "network": "TRC20",
            "externalRef": fresh("cx"),
        });
        api.post("/v1/crypto/payouts", &body).expect(201);
    }
    for amount in [1_000, 20_000] {
        let path = format!("/admin/tenants/{}/cop-payouts", tenant.id);
        admin.post(&path, &cop_payout_body(amount)).expect(201);
    }
    for (list, all, operators, bounds, expected) in [
        ("/v1/payments", 3, "/admin/payments", ("2000", "4000.00"), 2),
        ("/v1/payments", 3, "/admin/payments", ("2000.01", "4000"), 1),
        // In pesos, which have no decimals.
        ("/v1/payments", 3, "/admin/payments", ("50000", "50000"), 1),
        ("/v1/crypto/payouts", 2, "/admin/crypto/payouts", ("2", "2.5"), 1),
        ("/v1/crypto/payouts", 2, "/admin/crypto/payouts", ("0", "0.99"), 0),
        ("/v1/cop/payouts", 2, "/admin/cop-payouts", ("1000", "19999.99"), 1),
    ] {
        let bounded = [("minAmount", bounds.0), ("maxAmount", bounds.1)];
        for (api, path) in [(api, list), (&admin, operators)] {
            let count = |parameters: &[(&str, &str)]| api.walk(path, parameters, 1).len();
            assert_eq!((count(&[]), count(&bounded)), (all, expected), "{path} {bounds:?}");
            let past = [("from", "2020-01-01T00:00:00Z"), ("to", "2020-01-02T00:00:00Z")];
            assert_eq!(count(&past), 0, "{path}");
            let now = [("from", "2020-01-01T00:00:00Z"), ("to", "9000-01-01T00:00:00Z")];
            assert_eq!(count(&now), all, "{path}");
        }
    }
    for path in ["/v1/payments", "/v1/payouts", "/v1/conversions", "/v1/chargebacks", "/v1/crypto/payouts"] {
        api.query(path, &[("minAmount", "-1"), ("maxAmount", "1.234"), ("from", "x"), ("to", "y")]).names(&[
            "from",
            "maxAmount",
            "minAmount",
            "to",
        ]);
    }
}
