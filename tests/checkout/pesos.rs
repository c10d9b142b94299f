//! Paying in pesos: by QR code, by a push, by an SMS code; declined, run out, in two tabs.

use crate::access::assert_open_to_all;
use crate::browser::{Browser, DESKTOP, Setup};
use crate::c2p::{ask_for_key, pay_with, session, status};
use crate::harness::check::{list, text};
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

/// The attempt in pesos that waits for its buyer.
fn waiting(tenant: &Tenant) -> Value {
    let pending = tenant.test.query("/v1/payments", &[("method", "COP"), ("status", "PENDING")]).expect(200);
    list(&pending, "items").first().expect("one waits").clone()
}

/// Fills in who pays.
fn identify(browser: &Browser) {
    browser.fill("email", "ana@example.com");
    browser.fill("phone", "300 123 4567");
    browser.fill("documentType", "CC");
    browser.fill("documentNumber", "1.020.304.050");
}

#[test]
fn by_qr_code() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(text(&made, "url"));
    browser.click("[data-action=choose-cop]");
    browser.find("[data-action=channel-qr]");
    // 25.50 at 4,000 and 2.5 percent.
    assert_eq!(browser.text("[data-field=amountCop]"), "COP 104.550");
    browser.picture("pesos-1-channels");
    browser.click("[data-action=channel-qr]");
    browser.find("[data-field=transferKey]");
    assert_open_to_all(&browser);
    browser.picture("pesos-2-qr");
    let begun = waiting(&tenant);
    assert_eq!(begun["amountCop"], 104_550);
    assert!(browser.text("[data-field=transferKey]").starts_with("@PSR"));
    assert_eq!(
        browser
            .script("return document.querySelector('[data-field=qr] path').getAttribute('d').length > 1000"),
        true
    );
    tenant.test.cop_buyer(&begun, "pay").expect(200);
    browser.wait_for("paid");
    assert_open_to_all(&browser);
    browser.picture("pesos-3-paid");
    assert!(
        browser.text(".receipt").contains("COP 104.550") && browser.text(".receipt").contains("COP 4.100")
    );
    assert_eq!(status(&tenant, &made), "paid");
    browser.assert_at_home(&server.url());
}

#[test]
fn by_push_declined_and_then_by_sms_on_a_dark_telephone() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(Setup { phone: Some(360), dark: true, scripts: true });
    browser.goto(&format!("{}?lang=en", text(&made, "url")));
    browser.click("[data-action=choose-cop]");
    browser.click("[data-action=channel-push]");
    browser.find("[name=email]");
    browser.click("[data-action=pay]");
    browser.wait_until("return document.querySelectorAll('[aria-invalid=true]').length === 3");
    assert_open_to_all(&browser);
    browser.picture("pesos-4-wrong");
    identify(&browser);
    browser.picture("pesos-5-buyer");
    browser.click("[data-action=pay]");
    browser.find(".spinner");
    assert!(browser.text("main").contains("300***4567"));
    assert_open_to_all(&browser);
    browser.picture("pesos-6-push");
    tenant.test.cop_buyer(&waiting(&tenant), "decline").expect(200);
    browser.wait_for("failed");
    assert_open_to_all(&browser);
    browser.picture("pesos-7-declined");
    assert!(browser.text("[role=alert]").contains("declined"));
    browser.click("[data-action=channel-sms]");
    identify(&browser);
    browser.click("[data-action=pay]");
    browser.find("[name=otp]");
    browser.fill("otp", "000000");
    browser.click("[data-action=pay]");
    browser.wait_until("const otp = document.querySelector('[name=otp]'); return otp && otp.getAttribute('aria-invalid') === 'true'");
    assert_open_to_all(&browser);
    browser.picture("pesos-8-code");
    browser.fill("otp", "123456");
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
    assert_eq!(status(&tenant, &made), "paid");
    browser.assert_at_home(&server.url());
}

#[test]
fn time_runs_out_and_another_tab_takes_over() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}?method=cop", text(&made, "url")));
    browser.click("[data-action=channel-qr]");
    browser.find("[data-field=transferKey]");
    tenant.test.advance(15 * 60);
    browser.wait_for("failed");
    assert!(browser.text("[role=alert]").contains("tiempo"));
    browser.click("[data-action=channel-qr]");
    let key = browser.find("[data-field=transferKey]");
    drop(key);
    let key = browser.text("[data-field=transferKey]");
    // The page after a restart, and in another tab, is the same.
    server.kill();
    server.restart();
    let first = browser.new_tab();
    browser.goto(&format!("{}?method=cop", text(&made, "url")));
    assert_eq!(browser.text("[data-field=transferKey]"), key);
    // The buyer thinks again in this tab: what the other one shows cannot be paid any more.
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    ask_for_key(&browser);
    let second = browser.switch(&first);
    browser.wait_for("failed");
    assert!(browser.text("[role=alert]").contains("otro intento"), "{}", browser.text("main"));
    browser.switch(&second);
    pay_with(&browser, "12345678");
    browser.wait_for("paid");
    browser.switch(&first);
    browser.wait_for("paid");
    tenant.test.assert_books("5023.50", "5023.50", "0.00");
}

#[test]
fn a_total_that_rose_is_shown_again_first() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}?method=cop", text(&made, "url")));
    browser.find("[data-action=channel-qr]");
    let rate = json!({ "pair": "USDT/COP", "source": "p2p", "side": "BUY", "price": "4200.00000000" });
    server.admin().post("/admin/rates", &rate).expect(201);
    browser.click("[data-action=channel-qr]");
    browser.wait_until("const total = document.querySelector('[data-field=amountCop]'); return total && total.textContent === 'COP 109.778'");
    assert!(browser.text("[role=alert]").contains("cambió"));
    assert!(!browser.has("[data-field=transferKey]"), "nothing has begun");
    browser.click("[data-action=channel-qr]");
    browser.find("[data-field=transferKey]");
    assert_eq!(waiting(&tenant)["amountCop"], 109_778);
}

#[test]
fn from_a_link_pesos_wait_for_enough_of_it() {
    let server = Server::start();
    let tenant = server.tenant();
    let product =
        tenant.test.post("/v1/products", &json!({ "name": fresh("Cambur"), "priceUsd": "2.00" })).expect(201);
    let link = tenant
        .test
        .post(
            &format!("/v1/products/{}/links", text(&product, "id")),
            &json!({ "allowQuantity": true, "maxQuantity": 10 }),
        )
        .expect(201);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}{}", server.url(), text(&link, "hostedCheckoutPath")));
    let disabled = "return document.querySelector('[data-action=choose-cop]').disabled";
    browser.find("[data-action=choose-cop]");
    assert_eq!(browser.script(disabled), true, "8,200 pesos are too few");
    browser.picture("link-quantity");
    browser.fill("quantity", "3");
    assert_eq!(browser.script(disabled), false);
    browser.click("[data-action=choose-cop]");
    browser.find("[data-action=channel-qr]");
    assert_eq!(browser.text("[data-field=amountCop]"), "COP 24.600");
}
