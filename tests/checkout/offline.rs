//! A buyer who loses the network at every step: nothing that was typed is lost, nothing is paid
//! twice, and the page says what is known.

use crate::browser::{Browser, Setup};
use crate::c2p::{ask_for_key, pay_with, session, status};
use crate::harness::check::text;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

const PHONE: Setup = Setup { phone: Some(360), dark: false, scripts: true };

fn begin() -> (Server, Tenant, Value, Browser) {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(PHONE);
    (server, tenant, made, browser)
}

#[track_caller]
fn told(browser: &Browser, words: &str) {
    browser.wait_until(&format!("const net = document.getElementById('net'); return !net.hidden && net.textContent.includes('{words}')"));
}

#[test]
fn at_every_step_of_c2p() {
    let (_server, tenant, made, browser) = begin();
    browser.goto(text(&made, "url"));
    // At the choice: nothing is sent, and the page stays.
    browser.offline(true);
    told(&browser, "Sin conexión");
    browser.click("[data-action=choose-c2p]");
    browser.find("[data-action=choose-c2p]");
    browser.picture("offline-1-choose");
    browser.offline(false);
    browser.wait_until("return document.getElementById('net').hidden");
    browser.click("[data-action=choose-c2p]");
    // With the details typed: they are still there.
    browser.fill("debtorBankCode", "0134");
    browser.fill("debtorId", "V12345678");
    browser.fill("debtorCellPhone", "04141234567");
    browser.offline(true);
    browser.click("[data-action=request-token]");
    told(&browser, "no se pierde");
    assert_eq!(browser.script("return document.querySelector('[name=debtorId]').value"), "V12345678");
    browser.picture("offline-2-details");
    browser.offline(false);
    browser.click("[data-action=request-token]");
    browser.find("[name=token]");
    // With the key typed.
    browser.offline(true);
    browser.fill("token", "12345678");
    browser.click("[data-action=pay]");
    told(&browser, "Sin conexión");
    assert_eq!(browser.script("return document.querySelector('[name=token]').value"), "12345678");
    assert_eq!(status(&tenant, &made), "open");
    browser.offline(false);
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
    // And when it is paid: the page stays.
    browser.offline(true);
    assert!(browser.text("main").contains("Pago recibido"));
    browser.offline(false);
    tenant.test.assert_books("5023.50", "5023.50", "0.00");
}

#[test]
fn while_the_bank_is_asked() {
    let (_server, tenant, made, browser) = begin();
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    ask_for_key(&browser);
    pay_with(&browser, "77777777");
    browser.wait_for("processing");
    browser.find(".may-close");
    assert!(browser.text(".may-close").contains("Puedes cerrar esta página"));
    browser.offline(true);
    told(&browser, "Sin conexión");
    browser.picture("offline-3-processing");
    tenant.test.advance(60);
    browser.offline(false);
    browser.wait_for("paid");
    browser.wait_until("return document.getElementById('net').hidden");
}

/// The connection breaks when the request is on its way: what the server did is found out.
fn lost_on_the_way(token: &str, ends: &str) -> (Server, Tenant, Browser) {
    let (server, tenant, made, browser) = begin();
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    ask_for_key(&browser);
    // The answer never comes, although the request arrived.
    browser.script("const real = window.fetch; window.fetch = (address, options) => real(address, options).then((answer) => { if (options && options.method === 'POST') { window.fetch = () => Promise.reject(new TypeError('gone')); setTimeout(() => { window.fetch = real; }, 4000); throw new TypeError('gone'); } return answer; });");
    pay_with(&browser, token);
    told(&browser, "puedes cerrar esta página");
    browser.picture("offline-4-unknown");
    browser.wait_for(ends);
    browser.wait_until("return document.getElementById('net').hidden");
    (server, tenant, browser)
}

#[test]
fn a_payment_whose_answer_was_lost_is_found() {
    let (_server, tenant, _browser) = lost_on_the_way("12345678", "paid");
    tenant.test.assert_books("5023.50", "5023.50", "0.00");
}

#[test]
fn a_decline_whose_answer_was_lost_is_found() {
    let (_server, tenant, browser) = lost_on_the_way("99999999", "failed");
    assert!(browser.text("[role=alert]").contains("saldo suficiente"));
    tenant.test.assert_books("0.00", "0.00", "0.00");
}

#[test]
fn on_a_slow_network_it_is_paid_all_the_same() {
    let (_server, _tenant, made, browser) = begin();
    browser.slow();
    browser.goto(&format!("{}?method=card", text(&made, "url")));
    browser.find("[name=cardNumber]");
    let ready =
        browser.script("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd");
    assert!(ready.as_f64().is_some_and(|ms| ms < 10_000.0), "{ready} ms");
    for (name, value) in [
        ("cardNumber", "4111111111111111"),
        ("cardExpiry", "12/30"),
        ("cardCvv", "123"),
        ("cardName", "Ana Perez"),
        ("holderId", "V12345678"),
    ] {
        browser.fill(name, value);
    }
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
}

#[test]
fn pesos_are_shown_again() {
    let (_server, tenant, made, browser) = begin();
    browser.goto(&format!("{}?method=cop", text(&made, "url")));
    browser.click("[data-action=channel-qr]");
    browser.find("[data-field=transferKey]");
    browser.offline(true);
    told(&browser, "Sin conexión");
    browser.find("[data-field=transferKey]");
    let pending = tenant.test.query("/v1/payments", &[("method", "COP")]).expect(200);
    tenant.test.cop_buyer(&pending["items"][0], "pay").expect(200);
    browser.offline(false);
    browser.wait_for("paid");
    assert_eq!(pending["items"].as_array().map(Vec::len), json!(1).as_u64().map(|one| one as usize));
}
