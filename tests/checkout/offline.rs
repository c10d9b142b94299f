//! A buyer who loses the network at every step: nothing that was typed is lost, nothing is paid
//! twice, and the page says what is known.

use crate::bolivares::card;
use crate::browser::{Browser, Setup};
use crate::c2p::{ask_for_key, pay_with, session, status};
use crate::harness::buyers::Page;
use crate::harness::check::{list, text};
use crate::harness::flows::UNKNOWN;
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
    // Wherever on the page the buyer is.
    browser.wait_until(&format!("const net = document.getElementById('net'); const {{ top, bottom }} = net.getBoundingClientRect(); return !net.hidden && net.textContent.includes('{words}') && top >= 0 && bottom <= innerHeight"));
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

/// From now on the answer to what is sent never comes, although it arrived; the network is back four
/// seconds later.
fn lose_the_answer(browser: &Browser) {
    browser.script("const real = window.fetch; window.fetch = (address, options) => real(address, options).then((answer) => { if (options && options.method === 'POST') { window.fetch = () => Promise.reject(new TypeError('gone')); setTimeout(() => { window.fetch = real; }, 4000); throw new TypeError('gone'); } return answer; });");
}

/// What is sent next never arrives; the network is back at once.
fn lose_the_request(browser: &Browser) {
    browser.script("const real = window.fetch; window.fetch = (address, options) => { if (options && options.method === 'POST') { window.fetch = real; return Promise.reject(new TypeError('gone')); } return real(address, options); };");
}

/// A proxy answers what is sent next in the server's place; whether it arrives first is told.
fn answer_by_a_proxy(browser: &Browser, status: u16, arrives: bool) {
    browser.script(&format!("const real = window.fetch; window.fetch = async (address, options) => {{ if (!options || options.method !== 'POST') return real(address, options); window.fetch = real; if ({arrives}) await real(address, options); return new Response('<html><body><h1>Bad Gateway</h1></body></html>', {{ status: {status}, headers: {{ 'content-type': 'text/html' }} }}); }};"));
}

/// The connection breaks when the request is on its way: what the server did is found out.
fn lost_on_the_way(token: &str, ends: &str) -> (Server, Tenant, Browser) {
    let (server, tenant, made, browser) = begin();
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    ask_for_key(&browser);
    lose_the_answer(&browser);
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
    card(&browser, "4111111111111111");
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
}

#[test]
fn a_key_that_was_asked_for_is_found() {
    let (_server, tenant, made, browser) = begin();
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    for (name, value) in
        [("debtorBankCode", "0134"), ("debtorId", "V12345678"), ("debtorCellPhone", "04141234567")]
    {
        browser.fill(name, value);
    }
    lose_the_answer(&browser);
    browser.click("[data-action=request-token]");
    told(&browser, "puedes cerrar esta página");
    browser.find("[name=token]");
    pay_with(&browser, "12345678");
    browser.wait_for("paid");
    assert_eq!(tries(&tenant), 1, "no second key was asked for");
}

/// The number of payments of a tenant.
fn tries(tenant: &Tenant) -> usize {
    list(&tenant.test.get("/v1/payments").expect(200), "items").len()
}

#[test]
fn at_every_step_of_a_card() {
    let (_server, tenant, made, browser) = begin();
    browser.goto(text(&made, "url"));
    browser.offline(true);
    told(&browser, "Sin conexión");
    browser.click("[data-action=choose-card]");
    browser.find("[data-action=choose-card]");
    browser.offline(false);
    browser.wait_until("return document.getElementById('net').hidden");
    browser.click("[data-action=choose-card]");
    // With the card typed: it is still there, and nothing is sent.
    card(&browser, "4000000000000002");
    browser.offline(true);
    browser.click("[data-action=pay]");
    told(&browser, "no se pierde");
    assert_eq!(
        browser.script("return document.querySelector('[name=cardNumber]').value"),
        "4000000000000002"
    );
    browser.picture("offline-5-card");
    browser.offline(false);
    assert_eq!(tries(&tenant), 0);
    // On its way there: it is said that it did not arrive, and the form is as it was.
    lose_the_request(&browser);
    browser.click("[data-action=pay]");
    told(&browser, "puedes cerrar esta página");
    told(&browser, "No llegó a enviarse");
    browser.picture("offline-6-not-sent");
    assert_eq!(tries(&tenant), 0);
    // On the way back: it was declined, and that is said.
    lose_the_answer(&browser);
    browser.click("[data-action=pay]");
    told(&browser, "puedes cerrar esta página");
    browser.wait_for("failed");
    assert!(browser.text("[role=alert]").contains("Prueba con otra"), "{}", browser.text("main"));
    browser.picture("offline-7-declined");
    assert_eq!((tries(&tenant), status(&tenant, &made)), (1, "open".to_owned()));
    // On the way back once more: this one has paid.
    card(&browser, "4111111111111111");
    lose_the_answer(&browser);
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
    browser.offline(true);
    assert!(browser.text("main").contains("Pago recibido"));
    assert_eq!(tries(&tenant), 2);
    tenant.test.assert_books("5023.50", "5023.50", "0.00");
}

#[test]
fn a_proxy_that_answers_for_the_server_is_no_answer() {
    let (_server, tenant, made, browser) = begin();
    browser.goto(&format!("{}?method=card", text(&made, "url")));
    card(&browser, "4111111111111111");
    answer_by_a_proxy(&browser, 502, false);
    browser.click("[data-action=pay]");
    told(&browser, "puedes cerrar esta página");
    told(&browser, "No llegó a enviarse");
    assert_eq!(browser.script("return document.querySelector('[data-action=pay]').disabled"), false);
    answer_by_a_proxy(&browser, 504, true);
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
    assert_eq!(tries(&tenant), 1);
    tenant.test.assert_books("5023.50", "5023.50", "0.00");
}

#[test]
fn at_every_step_of_pesos() {
    let (_server, tenant, made, browser) = begin();
    browser.goto(text(&made, "url"));
    browser.offline(true);
    told(&browser, "Sin conexión");
    browser.click("[data-action=choose-cop]");
    browser.find("[data-action=choose-cop]");
    browser.offline(false);
    browser.wait_until("return document.getElementById('net').hidden");
    browser.click("[data-action=choose-cop]");
    browser.find("[data-action=channel-qr]");
    // A code to scan: asked for without a network, lost on its way there, and on its way back.
    browser.offline(true);
    browser.click("[data-action=channel-qr]");
    told(&browser, "Sin conexión");
    browser.offline(false);
    lose_the_request(&browser);
    browser.click("[data-action=channel-qr]");
    told(&browser, "No llegó a enviarse");
    assert_eq!(tries(&tenant), 0);
    lose_the_answer(&browser);
    browser.click("[data-action=channel-qr]");
    told(&browser, "puedes cerrar esta página");
    browser.find("[data-field=transferKey]");
    browser.picture("offline-8-qr");
    assert_eq!(tries(&tenant), 1, "no second one was begun");
    // By SMS: the details stay, and the attempt whose answer was lost is found.
    browser.goto(&format!("{}?method=cop&channel=sms", text(&made, "url")));
    for (name, value) in
        [("email", "ana@example.com"), ("phone", "3001234567"), ("documentNumber", "1020304050")]
    {
        browser.fill(name, value);
    }
    browser.offline(true);
    browser.click("[data-action=pay]");
    told(&browser, "no se pierde");
    assert_eq!(browser.script("return document.querySelector('[name=email]').value"), "ana@example.com");
    browser.offline(false);
    lose_the_answer(&browser);
    browser.click("[data-action=pay]");
    told(&browser, "puedes cerrar esta página");
    browser.find("[name=otp]");
    assert_eq!(tries(&tenant), 2);
    // The code: without a network, lost on its way there, and on its way back.
    browser.fill("otp", "123456");
    browser.offline(true);
    browser.click("[data-action=pay]");
    told(&browser, "Sin conexión");
    assert_eq!(browser.script("return document.querySelector('[name=otp]').value"), "123456");
    browser.offline(false);
    lose_the_request(&browser);
    browser.click("[data-action=pay]");
    told(&browser, "puedes cerrar esta página");
    browser.wait_until("const otp = document.querySelector('[name=otp]'); return document.getElementById('net').hidden && otp && otp.value === ''");
    browser.picture("offline-9-code");
    browser.fill("otp", "123456");
    lose_the_answer(&browser);
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
    browser.wait_until("return document.getElementById('net').hidden");
    assert_eq!((tries(&tenant), status(&tenant, &made)), (2, "paid".to_owned()));
    let rows = tenant.test.cop_rows();
    assert_eq!(rows.iter().filter(|row| row["type"] == "payment").count(), 1, "{rows:?}");
}

#[test]
fn an_address_for_usdt_is_shown_whatever_was_lost() {
    let (_server, _tenant, made, browser) = begin();
    browser.goto(text(&made, "url"));
    lose_the_answer(&browser);
    browser.click("[data-action=choose-usdt]");
    told(&browser, "puedes cerrar esta página");
    browser.find("[data-field=address]");
}

#[test]
fn who_misses_too_often_sees_what_their_own_payment_came_to() {
    let server = Server::start_with(&[("PASARELA__LIMITS__MISSES_PER_MINUTE", "1")]);
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(PHONE);
    browser.goto(&format!("{}?method=card", text(&made, "url")));
    card(&browser, "4000000000000002");
    let nobody = server.nobody();
    let end =
        (0..500).map(|_| nobody.get(&format!("/checkout/{UNKNOWN}"))).find(|answer| answer.status == 429);
    assert!(end.is_some(), "the address is stopped");
    browser.click("[data-action=pay]");
    browser.wait_for("failed");
    // Another tab pays: this one sees it.
    let page = Page::of(&server, &made);
    page.pay("12345678");
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
