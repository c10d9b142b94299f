//! Paying in USDT: an address at once, on another network, in parts, without a script, from a link.

use crate::access::assert_open_to_all;
use crate::browser::{Browser, DESKTOP, Setup};
use crate::c2p::{session, status};
use crate::harness::check::text;
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

fn send(tenant: &Tenant, browser: &Browser, network: &str, amount: &str) -> Value {
    let to = json!({ "address": browser.text("[data-field=address]"), "network": network, "asset": "USDT" });
    tenant.test.buyer_sends(&to, amount)
}

#[test]
fn an_address_is_shown_at_once_and_parts_are_counted() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(text(&made, "url"));
    browser.click("[data-action=choose-usdt]");
    browser.find("[data-field=address]");
    assert!(
        browser.text("[data-field=address]").starts_with('T') && browser.text("main").contains("25,50 USDT")
    );
    assert_open_to_all(&browser);
    browser.picture("usdt-1-address");
    send(&tenant, &browser, "TRC20", "10.00");
    browser.find("[data-field=received]");
    assert!(browser.text(".got").contains("10,00 USDT") && browser.text(".got").contains("15,50 USDT"));
    assert_open_to_all(&browser);
    browser.picture("usdt-2-part");
    // The rest comes on another network: what came counts all the same.
    browser.click(".help summary");
    browser.fill("network", "POLYGON");
    browser.click("[data-action=show-address]");
    browser.wait_until("const address = document.querySelector('[data-field=address]'); return address && address.textContent.startsWith('0x')");
    browser.find("[data-field=received]");
    let last = send(&tenant, &browser, "POLYGON", "15.50");
    browser.wait_for("paid");
    assert_open_to_all(&browser);
    browser.picture("usdt-3-paid");
    assert!(
        browser.text(".receipt").contains(text(&last, "txHash"))
            && browser.text(".receipt").contains("25,50 USDT")
    );
    assert_eq!(status(&tenant, &made), "paid");
    browser.assert_at_home(&server.url());
}

#[test]
fn on_a_small_dark_telephone() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(Setup { phone: Some(320), dark: true, scripts: true });
    browser.goto(&format!("{}?lang=en", text(&made, "url")));
    browser.click("[data-action=choose-usdt]");
    browser.find("[data-field=address]");
    assert_open_to_all(&browser);
    browser.picture("usdt-4-phone");
    send(&tenant, &browser, "TRC20", "1.00");
    browser.find("[data-field=received]");
    tenant.test.advance(24 * 3600);
    browser.wait_for("expired");
    assert!(browser.text("main").contains("1.00 USDT"), "what came is not kept quiet");
    assert_open_to_all(&browser);
    browser.picture("usdt-5-expired");
}

#[test]
fn without_a_script_and_from_a_link() {
    let server = Server::start();
    let tenant = server.tenant();
    let product = tenant
        .test
        .post("/v1/products", &json!({ "name": fresh("Papelón"), "priceUsd": "5.00" }))
        .expect(201);
    let link =
        tenant.test.post(&format!("/v1/products/{}/links", text(&product, "id")), &json!({})).expect(201);
    let browser = Browser::open(Setup { scripts: false, ..DESKTOP });
    browser.goto(&format!("{}{}", server.url(), text(&link, "hostedCheckoutPath")));
    browser.click("[data-action=choose-usdt]");
    browser.find("[data-field=address]");
    send(&tenant, &browser, "TRC20", "5.00");
    browser.goto(&browser.address());
    browser.find("main[data-status=paid]");
}
