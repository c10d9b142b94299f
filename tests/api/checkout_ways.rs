//! Checkout sessions paid in pesos and in USDT, and by several ways at once
//! (`docs/contract.md, 12.5, 12.7, 12.8`).

use crate::harness::buyers::{Page, of, session};
use crate::harness::check::{list, race, text};
use crate::harness::client::Api;
use crate::harness::flows::{fresh, number};
use crate::harness::pesos::buyer;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

/// The way with this name, as the page's state has it.
fn way(state: &Value, name: &str) -> Option<Value> {
    list(state, "methods").iter().find(|way| way["method"] == name).cloned()
}

/// The data of the tenant's events of one name, oldest first.
fn told(api: &Api, event: &str) -> Vec<Value> {
    let events = api.get("/v1/events?limit=100").expect(200);
    list(&events, "items")
        .iter()
        .filter(|told| told["event"] == event)
        .map(|told| told["data"].clone())
        .collect()
}

fn payments(api: &Api, status: &str) -> Vec<Value> {
    list(&api.query("/v1/payments", &[("status", status)]).expect(200), "items").to_vec()
}

/// A link to a product of so many dollars, and a session of it.
fn link_session(server: &Server, tenant: &Tenant, price: &str, link: Value, quantity: Value) -> Value {
    let product =
        tenant.test.post("/v1/products", &json!({ "name": fresh("Hamaca"), "priceUsd": price })).expect(201);
    let link = tenant.test.post(&format!("/v1/products/{}/links", text(&product, "id")), &link).expect(201);
    server.nobody().post(&format!("{}/sessions", text(&link, "hostedCheckoutPath")), &quantity).expect(201)
}

#[test]
fn a_buyer_pays_in_pesos_and_the_tenant_is_told_at_which_rate() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({ "reference": "P-9", "metadata": { "cart": 81 } }));
    let page = Page::of(&server, &made);
    // 4,000 a dollar on the market, and 2.5 percent.
    assert_eq!(
        way(&page.state(), "cop"),
        Some(json!({ "method": "cop", "enabled": true, "reason": null, "amountCop": 41_000 }))
    );
    let begun = page.pesos("qr").expect(201);
    assert_eq!(
        (&begun["amountCop"], text(&begun, "status"), text(&begun["next"], "type")),
        (&json!(41_000), "pending", "show_qr")
    );
    assert_eq!(
        (text(&begun, "amountUsd"), text(&begun, "copRate"), text(&begun, "copMarketRate")),
        ("10.00", "4100.0000", "4000.0000")
    );
    assert_eq!((text(&page.state(), "status"), text(&of(&tenant, &made), "status")), ("open", "open"));
    tenant.test.cop_buyer(&begun, "pay").expect(200);
    let paid = page.state();
    assert_eq!((text(&paid, "status"), &paid["paymentId"]), ("paid", &begun["id"]));
    assert_eq!(
        (text(&of(&tenant, &made), "status"), &of(&tenant, &made)["paymentId"]),
        ("paid", &begun["id"])
    );
    let data = &told(&tenant.test, "payment.completed")[0];
    let checkout = json!({ "id": made["id"], "reference": "P-9", "metadata": { "cart": 81 } });
    assert_eq!(
        (&data["checkoutSession"], text(data, "amountUsd"), text(data, "copRate")),
        (&checkout, "10.00", "4100.0000")
    );
    assert_eq!(
        (text(data, "currency"), text(data, "channel"), &data["amountCop"], &data["feeCop"]),
        ("COP", "qr", &json!(41_000), &json!(3_345))
    );
    assert_eq!((text(data, "reference"), &data["metadata"]), ("P-9", &json!({ "cart": 81 })));
    let payment = tenant.test.get(&format!("/v1/payments/{}", text(&begun, "id"))).expect(200);
    assert_eq!(
        (&payment["checkoutSession"], payment["usdAmount"].to_string().as_str(), text(&payment, "status")),
        (&checkout, "10.00", "COMPLETED")
    );
    tenant.test.assert_pesos("37655", "37655", "0");
    page.pesos("qr").refused(409, "session_paid");
    page.request(json!({})).refused(409, "session_paid");
    page.usdt("TRC20").refused(409, "session_paid");
    // The session was paid all the same when the payment is refunded.
    tenant.test.cop_refund(&begun).expect(200);
    tenant.test.assert_pesos("0", "0", "0");
    assert_eq!(text(&of(&tenant, &made), "status"), "paid");
}

#[test]
fn by_sms_the_code_is_the_buyers() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    page.code("123456").refused(409, "payment_not_pending");
    let begun = page.pesos("sms").expect(201);
    assert_eq!(
        (text(&begun["next"], "type"), text(&begun["next"], "phoneMasked")),
        ("submit_otp", "300***4567")
    );
    page.code("000000").refused(400, "invalid_otp");
    page.code("x").refused(400, "invalid_otp");
    let state = page.api.get(&format!("{}/state?attempt={}", page.base, text(&begun, "id"))).expect(200);
    assert_eq!(
        (text(&state, "status"), text(&state, "attemptStatus"), &state["failureCode"]),
        ("open", "PENDING", &Value::Null)
    );
    let paid = page.code("123456").expect(200);
    assert_eq!((text(&paid, "status"), &paid["paymentId"]), ("paid", &begun["id"]));
    page.code("123456").refused(409, "session_paid");
}

#[test]
fn bad_buyers_are_named_and_nothing_begins() {
    let server = Server::shared();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    let post = |body: Value| page.api.post(&format!("{}/cop", page.base), &body);
    post(json!({ "channel": "cash" })).names(&["channel"]);
    post(json!({ "channel": "push" })).names(&["buyer"]);
    post(json!({ "channel": "qr", "amountCop": 1 })).names(&["amountCop"]);
    let mut half = buyer();
    half["phone"] = json!("04141234567");
    post(json!({ "channel": "sms", "buyer": half })).names(&["buyer.phone"]);
    let post = |body: Value| page.api.post(&format!("{}/usdt", page.base), &body);
    post(json!({ "network": "TRON" })).names(&["network", "asset"]);
    assert_eq!(
        (payments(&tenant.test, "PENDING"), told(&tenant.test, "payment.canceled")),
        (Vec::new(), Vec::new())
    );
    server
        .nobody()
        .post(&format!("{}/cop", page.base), &json!({ "channel": "qr" }))
        .refused(401, "unauthorized");
    server
        .nobody()
        .post(&format!("{}/usdt", page.base), &json!({ "network": "TRC20", "asset": "USDT" }))
        .refused(401, "unauthorized");
}

#[test]
fn the_total_in_pesos_is_fixed_when_the_buyer_begins_and_anew_at_a_new_start() {
    let server = Server::start();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({ "amountUsd": number("10.01") })));
    let says = |price: &str| {
        let rate = json!({ "pair": "USDT/COP", "source": "p2p", "side": "BUY", "price": price });
        server.admin().post("/admin/rates", &rate).expect(201);
    };
    let total = || way(&page.state(), "cop").expect("offered")["amountCop"].clone();
    assert_eq!(total(), 41_041);
    let begun = page.pesos("qr").expect(201);
    says("4100.00004");
    assert_eq!((&begun["amountCop"], total()), (&json!(41_041), json!(41_041)), "as it was begun");
    tenant.test.cop_buyer(&begun, "decline").expect(200);
    // 4202.5000 a dollar after rounding: 42,067.025 are 42,068.
    assert_eq!(total(), 42_068);
    let again = page.pesos("qr").expect(201);
    assert_eq!(
        (&again["amountCop"], text(&again, "copRate"), text(&again, "copMarketRate")),
        (&json!(42_068), "4202.5000", "4100.0000")
    );
}

#[test]
fn pesos_are_hidden_or_disabled_by_their_rules() {
    let server = Server::start();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({ "amountUsd": number("4.87") })));
    assert_eq!(way(&page.state(), "cop"), None, "19,967 pesos are too few");
    assert_eq!(page.pesos("qr").refused(400, "amount_below_minimum")["minimumCop"], 20_000);
    assert!(
        way(&Page::of(&server, &session(&tenant, json!({ "amountUsd": number("4.88") }))).state(), "cop")
            .is_some()
    );
    // On a link with a quantity, pesos stay visible but disabled.
    let few =
        link_session(&server, &tenant, "2.00", json!({ "allowQuantity": true }), json!({ "quantity": 2 }));
    let cop = way(&Page::of(&server, &few).state(), "cop").expect("shown");
    assert_eq!(
        cop,
        json!({ "method": "cop", "enabled": false, "reason": "amount_below_minimum", "amountCop": null })
    );
    let one = link_session(&server, &tenant, "2.00", json!({}), json!({}));
    assert_eq!(way(&Page::of(&server, &one).state(), "cop"), None);
    let named = Page::of(&server, &session(&tenant, json!({ "methods": ["c2p", "usdt"] })));
    assert_eq!(list(&named.state(), "methods").len(), 2);
    named.pesos("qr").refused(409, "method_not_offered");
    let without = server.tenant_with(json!({ "cop": { "enabled": false }, "usdt": { "enabled": false } }));
    let page = Page::of(&server, &session(&without, json!({})));
    assert_eq!((way(&page.state(), "cop"), way(&page.state(), "usdt")), (None, None));
    page.pesos("qr").refused(403, "cop_not_enabled");
    page.usdt("TRC20").refused(403, "usdt_not_enabled");
}

#[test]
fn without_a_rate_there_are_no_pesos() {
    let mut server = Server::start();
    server.kill();
    server.configure(|config| config.replace("pair = \"USDT/COP\"", "pair = \"USDT/PEN\""));
    server.set("PASARELA__RATES__MAX_AGE_SECONDS", "1");
    server.restart();
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    assert_eq!(way(&page.state(), "cop"), None);
    page.pesos("qr").refused(503, "rate_unavailable");
    let many =
        link_session(&server, &tenant, "20.00", json!({ "allowQuantity": true }), json!({ "quantity": 2 }));
    assert_eq!(way(&Page::of(&server, &many).state(), "cop").expect("shown")["reason"], "rate_unavailable");
}

#[test]
fn usdt_pays_when_what_came_reaches_the_amount_whatever_the_networks() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({ "reference": "U-1" }));
    let page = Page::of(&server, &made);
    assert_eq!(
        way(&page.state(), "usdt"),
        Some(json!({ "method": "usdt", "enabled": true, "reason": null, "amountCop": null }))
    );
    let tron = page.usdt("TRC20").expect(201);
    assert_eq!(
        (
            text(&tron, "amountUsdt"),
            text(&tron, "receivedUsdt"),
            text(&tron, "network"),
            text(&tron, "asset")
        ),
        ("10.00", "0.00", "TRC20", "USDT")
    );
    assert_eq!(page.usdt("TRC20").expect(200), tron, "the same whenever it is asked for");
    let polygon = page.usdt("POLYGON").expect(201);
    assert!(text(&tron, "address").starts_with('T') && text(&polygon, "address").starts_with("0x"));
    let other = Page::of(&server, &session(&tenant, json!({}))).usdt("TRC20").expect(201);
    assert_ne!(other["address"], tron["address"], "an address is one session's");
    tenant.test.buyer_sends(&tron, "4.00");
    let state = page.state();
    assert_eq!(
        (text(&state, "status"), text(&state, "receivedUsdt"), &state["paymentId"]),
        ("open", "4.00", &Value::Null)
    );
    assert_eq!(payments(&tenant.test, "COMPLETED"), Vec::<Value>::new());
    tenant.test.buyer_sends(&polygon, "5.99");
    assert_eq!(text(&page.state(), "status"), "open");
    let last = tenant.test.buyer_sends(&tron, "0.02");
    let state = page.state();
    assert_eq!((text(&state, "status"), text(&state, "receivedUsdt")), ("paid", "10.01"));
    assert_eq!(of(&tenant, &made)["paymentId"], state["paymentId"]);
    let payment = tenant.test.get(&format!("/v1/payments/{}", text(&state, "paymentId"))).expect(200);
    assert_eq!(
        (text(&payment, "method"), text(&payment, "status"), payment["usdAmount"].to_string().as_str()),
        ("USDT", "COMPLETED", "10.00")
    );
    assert_eq!(
        (&payment["vesAmount"], &payment["bcvRate"], &payment["feeVes"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(payment["externalRef"], Value::Null);
    assert_eq!(
        (text(&payment, "amountUsdt"), &payment["txHash"], &payment["checkoutSession"]["id"]),
        ("10.01", &last["txHash"], &made["id"])
    );
    assert_eq!(tenant.test.query("/v1/payments", &[("method", "USDT")]).expect(200)["items"][0], payment);
    let data = &told(&tenant.test, "payment.completed")[0];
    assert_eq!(
        (text(data, "amountUsd"), text(data, "amountUsdt"), &data["txHash"]),
        ("10.00", "10.01", &last["txHash"])
    );
    assert_eq!(
        (&data["checkoutSession"]["reference"], told(&tenant.test, "crypto_deposit.completed").len()),
        (&json!("U-1"), 3)
    );
    let balance = tenant.test.get("/v1/crypto/balance").expect(200);
    assert_eq!(
        (text(&balance, "heldUsdt"), text(&balance, "availableUsdt")),
        ("10.01", "0.00"),
        "no fee, and held for a day"
    );
    tenant.test.advance(24 * 3600);
    assert_eq!(text(&tenant.test.get("/v1/crypto/balance").expect(200), "availableUsdt"), "10.01");
    // Money at a network that the session did not ask for does not count.
    let body = json!({ "address": tron["address"], "amount": "1.00", "network": "POLYGON", "asset": "USDT" });
    tenant.test.post("/v1/test/crypto/deposits", &body).names(&["network"]);
    // More money is a payment of its own, and the session keeps its first.
    tenant.test.buyer_sends(&polygon, "3.00");
    assert_eq!(of(&tenant, &made)["paymentId"], state["paymentId"]);
    let late = &payments(&tenant.test, "COMPLETED")[0];
    assert_eq!(
        (late["usdAmount"].to_string().as_str(), &late["checkoutSession"]["id"]),
        ("3.00", &made["id"])
    );
    assert_eq!(told(&tenant.test, "payment.completed").len(), 2);
}

#[test]
fn a_new_attempt_ends_the_one_before() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    let intent = page.request(json!({})).expect(201);
    let first = page.pesos("qr").expect(201);
    page.execute(&intent, "12345678").refused(409, "intent_canceled");
    let second = page.pesos("push").expect(201);
    assert_eq!(text(&tenant.test.cop_now(&first), "status"), "canceled");
    tenant.test.cop_buyer(&first, "pay").refused(409, "payment_not_pending");
    let address = page.usdt("BEP20").expect(201);
    assert_eq!(text(&tenant.test.cop_now(&second), "status"), "canceled");
    let third = page.pesos("qr").expect(201);
    let paid = page.pay("12345678");
    assert_eq!((text(&paid, "status"), text(&tenant.test.cop_now(&third), "status")), ("paid", "canceled"));
    // An address cannot be taken back: what comes to it is the tenant's all the same.
    tenant.test.buyer_sends(&address, "10.00");
    assert_eq!(of(&tenant, &made)["paymentId"], paid["paymentId"], "the first one paid");
    let completed = payments(&tenant.test, "COMPLETED");
    let methods: Vec<&str> = completed.iter().map(|payment| text(payment, "method")).collect();
    assert_eq!(methods, ["USDT", "C2P"]);
    assert!(completed.iter().all(|payment| payment["checkoutSession"]["id"] == made["id"]));
    tenant.test.assert_books("1970.00", "1970.00", "0.00");
    assert_eq!(text(&tenant.test.get("/v1/crypto/balance").expect(200), "heldUsdt"), "10.00");
}

#[test]
fn while_a_bank_has_the_charge_no_other_way_begins() {
    let server = Server::shared();
    let tenant = server.tenant();
    let page = Page::of(&server, &session(&tenant, json!({})));
    assert_eq!(text(&page.pay("66666666"), "status"), "processing");
    page.pesos("qr").refused(409, "charge_in_progress");
    page.usdt("TRC20").refused(409, "charge_in_progress");
    tenant.test.advance(60);
    page.pesos("qr").expect(201);
}

#[test]
fn usdt_that_comes_while_the_bank_has_the_charge_pays_first() {
    let server = Server::shared();
    let tenant = server.tenant();
    let made = session(&tenant, json!({}));
    let page = Page::of(&server, &made);
    let address = page.usdt("TRC20").expect(201);
    let charged = page.pay("77777777");
    assert_eq!(text(&charged, "status"), "processing");
    let deposit = tenant.test.buyer_sends(&address, "10.00");
    assert_eq!((text(&page.state(), "status"), &page.state()["paymentId"]), ("paid", &deposit["id"]));
    tenant.test.advance(60);
    assert_eq!(page.state()["paymentId"], deposit["id"], "it keeps its first");
    assert_eq!(payments(&tenant.test, "COMPLETED").len(), 2);
    // The other is the tenant's to give back.
    let second = payments(&tenant.test, "COMPLETED")
        .into_iter()
        .find(|payment| payment["method"] == "C2P")
        .expect("paid too");
    tenant.test.reverse(&second).expect(200);
    tenant.test.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn two_ways_in_two_tabs_pay_once_or_are_both_the_tenants() {
    let server = Server::shared();
    let tenant = server.tenant();
    for round in 0..6 {
        let made = session(&tenant, json!({}));
        let page = Page::of(&server, &made);
        let begun = page.pesos("sms").expect(201);
        race(3, |tab| {
            let page = Page::of(&server, &made);
            match (tab + round) % 3 {
                0 => page.code("123456"),
                1 => {
                    let intent = page.request(json!({}));
                    if intent.status == 201 { page.execute(&intent.json(), "12345678") } else { intent }
                }
                _ => page.pesos("qr"),
            }
        });
        let now = of(&tenant, &made);
        let paid: Vec<Value> = payments(&tenant.test, "COMPLETED")
            .into_iter()
            .filter(|payment| payment["checkoutSession"]["id"] == made["id"])
            .collect();
        assert!(paid.len() <= 1, "by C2P and in pesos it is one at a time: {paid:?}");
        assert_eq!(paid.first().map_or(&Value::Null, |payment| &payment["id"]), &now["paymentId"]);
        assert_eq!(text(&now, "status"), if paid.is_empty() { "open" } else { "paid" });
        assert_ne!(text(&tenant.test.cop_now(&begun), "status"), "pending", "something ended it");
    }
}

#[test]
fn pesos_do_not_outlive_their_session_and_late_usdt_pays_it() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (made, other) = (session(&tenant, json!({})), session(&tenant, json!({})));
    let (page, late) = (Page::of(&server, &made), Page::of(&server, &other));
    let address = late.usdt("ERC20").expect(201);
    tenant.test.advance(24 * 3600 - 120);
    let begun = page.pesos("qr").expect(201);
    assert_eq!(begun["expiresAt"], made["expiresAt"], "two minutes are left");
    tenant.test.advance(120);
    let ended = tenant.test.cop_now(&begun);
    assert_eq!((text(&ended, "status"), text(&ended, "failureCode")), ("failed", "expired"));
    for page in [&page, &late] {
        assert_eq!(text(&page.state(), "status"), "expired");
        page.pesos("qr").refused(409, "session_expired");
        page.usdt("TRC20").refused(409, "session_expired");
    }
    let deposit = tenant.test.buyer_sends(&address, "10.00");
    assert_eq!(
        (text(&of(&tenant, &other), "status"), &of(&tenant, &other)["paymentId"]),
        ("paid", &deposit["id"])
    );
}

#[test]
fn a_link_paid_in_pesos_gives_the_operator_a_share_and_the_seller_the_rest() {
    let server = Server::shared();
    let tenant = server.tenant();
    let own = link_session(&server, &tenant, "10.00", json!({}), json!({}));
    let begun = Page::of(&server, &own).pesos("qr").expect(201);
    tenant.test.cop_buyer(&begun, "pay").expect(200);
    // 41,000 less 3,345 of fee and half a percent of 41,000.
    tenant.test.assert_pesos("37450", "37450", "0");
    tenant.test.cop_refund(&begun).expect(200);
    tenant.test.assert_pesos("0", "0", "0");
    let merchant = tenant.test.merchant();
    let link = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let sold = link_session(&server, &tenant, "10.00", link.clone(), json!({}));
    let begun = Page::of(&server, &sold).pesos("qr").expect(201);
    tenant.test.cop_buyer(&begun, "pay").expect(200);
    // 4,100 of commission, of which the operator has 205; the seller has what the fee leaves.
    tenant.test.assert_pesos("3895", "3895", "0");
    let balance =
        tenant.test.get(&format!("/v1/merchants/{}/balance", text(&merchant, "merchantId"))).expect(200);
    assert_eq!((text(&balance, "pendingCop"), text(&balance, "availableCop")), ("33555", "0"));
    let product = list(&tenant.test.get("/v1/products").expect(200), "items")[0].clone();
    tenant.test.delete(&format!("/v1/products/{}", text(&product, "id"))).refused(409, "product_has_sales");
    tenant.test.cop_refund(&begun).expect(200);
    tenant.test.assert_pesos("0", "0", "0");
}

#[test]
fn a_sellers_link_paid_in_usdt_credits_the_seller_as_it_comes() {
    let server = Server::shared();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    let link = json!({ "merchantId": merchant["merchantId"], "applicationFeePercent": 10 });
    let sold = link_session(&server, &tenant, "10.00", link, json!({}));
    let page = Page::of(&server, &sold);
    let address = page.usdt("TRC20").expect(201);
    tenant.test.buyer_sends(&address, "4.00");
    tenant.test.buyer_sends(&address, "6.00");
    assert_eq!(text(&page.state(), "status"), "paid");
    let balance = tenant.test.get("/v1/crypto/balance").expect(200);
    assert_eq!((text(&balance, "heldUsdt"), text(&balance, "availableUsdt")), ("1.00", "0.00"));
    let sellers =
        || tenant.test.get(&format!("/v1/merchants/{}/balance", text(&merchant, "merchantId"))).expect(200);
    assert_eq!((text(&sellers(), "pendingUsdt"), text(&sellers(), "availableUsdt")), ("9.00", "0.00"));
    let payment = &payments(&tenant.test, "COMPLETED")[0];
    assert_eq!((&payment["merchantId"], text(payment, "sellerNetUsdt")), (&merchant["merchantId"], "9.00"));
    let rows = tenant.test.get("/v1/crypto/balance/transactions").expect(200);
    let rows: Vec<(&str, &str)> =
        list(&rows, "items").iter().map(|row| (text(row, "type"), text(row, "amountUsdt"))).collect();
    assert_eq!(
        rows,
        [
            ("seller_transfer", "-5.40"),
            ("deposit", "6.00"),
            ("seller_transfer", "-3.60"),
            ("deposit", "4.00")
        ]
    );
    tenant.test.advance(24 * 3600);
    assert_eq!((text(&sellers(), "pendingUsdt"), text(&sellers(), "availableUsdt")), ("0.00", "9.00"));
    let changes = told(&tenant.test, "merchant.balance.updated");
    let changes: Vec<_> = changes
        .iter()
        .map(|told| (text(told, "reason"), text(told, "pendingUsdt"), text(told, "availableUsdt")))
        .collect();
    assert_eq!(changes[..2], [("sale", "3.60", "0.00"), ("sale", "9.00", "0.00")]);
    assert_eq!(changes.last(), Some(&("release", "0.00", "9.00")));
}

#[test]
fn every_way_survives_a_kill() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let (pesos, usdt, part) =
        (session(&tenant, json!({})), session(&tenant, json!({})), session(&tenant, json!({})));
    let begun = Page::of(&server, &pesos).pesos("sms").expect(201);
    let address = Page::of(&server, &usdt).usdt("TRC20").expect(201);
    let parts = Page::of(&server, &part).usdt("TRC20").expect(201);
    tenant.test.buyer_sends(&address, "10.00");
    tenant.test.buyer_sends(&parts, "6.00");
    server.kill();
    server.restart();
    let state = Page::of(&server, &pesos)
        .api
        .get(&format!("/checkout/{}/state?attempt={}", text(&pesos, "id"), text(&begun, "id")))
        .expect(200);
    assert_eq!(text(&state, "attemptStatus"), "PENDING");
    assert_eq!(text(&Page::of(&server, &pesos).code("123456").expect(200), "status"), "paid");
    assert_eq!(text(&of(&tenant, &usdt), "status"), "paid");
    assert_eq!(text(&Page::of(&server, &part).state(), "receivedUsdt"), "6.00");
    assert_eq!(Page::of(&server, &part).usdt("TRC20").expect(200)["address"], parts["address"]);
    let polygon = Page::of(&server, &part).usdt("POLYGON").expect(201);
    tenant.test.buyer_sends(&polygon, "4.00");
    assert_eq!(text(&of(&tenant, &part), "status"), "paid");
    // The log tells all of it again: entities, names and books.
    let proved = server.command(&["wal", "verify"]);
    assert!(proved.status.success(), "{}", String::from_utf8_lossy(&proved.stderr));
}
