//! Paying from a Venezuelan bank: to the receipt, after a decline, without a script, and through a
//! payment link.

use crate::browser::{Browser, DESKTOP, Setup};
use crate::harness::check::text;
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

/// A session of 25.50 dollars.
pub fn session(tenant: &Tenant) -> Value {
    let body = json!({ "amountUsd": 25.5, "description": "Café de especialidad, 1 kg", "reference": "P-1042", "successUrl": "https://shop.example/gracias" });
    tenant.test.post("/v1/checkout/sessions", &body).expect(201)
}

/// The session as the tenant sees it.
pub fn status(tenant: &Tenant, session: &Value) -> String {
    text(&tenant.test.get(&format!("/v1/checkout/sessions/{}", text(session, "id"))).expect(200), "status")
        .to_owned()
}

/// Fills in who pays, and asks for a key.
pub fn ask_for_key(browser: &Browser) {
    browser.fill("debtorBankCode", "0134");
    browser.fill("debtorId", "V12345678");
    browser.fill("debtorCellPhone", "0414-1234567");
    browser.click("[data-action=request-token]");
    browser.find("[name=token]");
}

/// Types the key and pays.
pub fn pay_with(browser: &Browser, token: &str) {
    browser.fill("token", token);
    browser.click("[data-action=pay]");
}

#[test]
fn a_buyer_pays_after_a_decline() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(text(&made, "url"));
    browser.wait_for("open");
    browser.picture("1-choose");
    browser.click("[data-action=choose-c2p]");
    browser.fill("debtorBankCode", "0134");
    assert!(
        browser.text("[data-bank-help]").contains("2846"),
        "the page says how the key is got at this bank"
    );
    browser.picture("2-details");
    ask_for_key(&browser);
    browser.picture("3-key");
    assert!(browser.text("main").contains("Bs 5.100,00") && browser.text("main").contains("V***678"));
    pay_with(&browser, "99999999");
    browser.wait_for("failed");
    browser.picture("4-failed");
    assert!(browser.text("[role=alert]").contains("saldo suficiente"));
    assert_eq!(status(&tenant, &made), "open");
    // The text that was typed is still there; the form works again.
    assert_eq!(browser.script("return document.querySelector('[name=debtorId]').value"), "V12345678");
    ask_for_key(&browser);
    pay_with(&browser, "12345678");
    browser.wait_for("paid");
    browser.picture("5-paid");
    assert!(browser.text(".receipt").contains("Bs 5.100,00"));
    assert_eq!(
        browser.script("return document.querySelector('[data-action=return]').href"),
        "https://shop.example/gracias"
    );
    assert_eq!(status(&tenant, &made), "paid");
    browser.assert_at_home(&server.url());
    tenant.test.assert_books("5023.50", "5023.50", "0.00");
}

#[test]
fn a_bad_field_is_said_and_nothing_is_sent() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    browser.fill("debtorId", "12");
    browser.click("[data-action=request-token]");
    browser.wait_until("return document.querySelectorAll('[aria-invalid=true]').length === 3");
    browser.picture("6-wrong");
    let described = "const input = document.querySelector('[name=debtorId]'); return input.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).textContent).join(' ')";
    assert!(browser.script(described).as_str().is_some_and(|said| said.contains("V12345678")));
    assert_eq!(
        browser.script("return document.activeElement.name"),
        "debtorBankCode",
        "the first bad field has the focus"
    );
    ask_for_key(&browser);
    browser.fill("token", "12");
    browser.click("[data-action=pay]");
    browser
        .wait_until("return document.querySelector('[name=token]').getAttribute('aria-invalid') === 'true'");
    let payments = tenant.test.get("/v1/payments").expect(200);
    assert_eq!(
        (payments["items"].as_array().map(Vec::len), &payments["items"][0]["status"]),
        (Some(1), &json!("PENDING"))
    );
    browser.fill("token", "12345678");
    assert_eq!(
        browser.script("return document.querySelector('[name=token]').getAttribute('aria-invalid')"),
        Value::Null
    );
}

#[test]
fn without_a_script_it_goes_all_the_way() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(Setup { scripts: false, ..DESKTOP });
    browser.goto(text(&made, "url"));
    browser.click("[data-action=choose-c2p]");
    ask_for_key(&browser);
    pay_with(&browser, "88888888");
    assert!(browser.find("main[data-status=failed]").element_id().to_string().len() > 1);
    ask_for_key(&browser);
    pay_with(&browser, "12345678");
    browser.find("main[data-status=paid]");
    assert_eq!(status(&tenant, &made), "paid");
}

#[test]
fn a_silent_bank_is_waited_for() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}?method=c2p&lang=en", text(&made, "url")));
    ask_for_key(&browser);
    pay_with(&browser, "77777777");
    browser.wait_for("processing");
    browser.find("progress");
    browser.picture("7-processing");
    tenant.test.advance(60);
    browser.wait_for("paid");
    assert!(browser.text("main").contains("Payment received"));
}

#[test]
fn a_link_asks_how_many() {
    let server = Server::start();
    let tenant = server.tenant();
    let product = json!({ "name": fresh("Empanada de cazón"), "priceUsd": "2.50", "description": "Recién hecha, con ají dulce" });
    let product = tenant.test.post("/v1/products", &product).expect(201);
    let link = tenant
        .test
        .post(
            &format!("/v1/products/{}/links", text(&product, "id")),
            &json!({ "allowQuantity": true, "maxQuantity": 10 }),
        )
        .expect(201);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}{}", server.url(), text(&link, "hostedCheckoutPath")));
    browser.wait_for("open");
    browser.picture("8-link");
    browser.fill("quantity", "11");
    browser.click("[data-action=choose-c2p]");
    browser.wait_until(
        "return document.querySelector('[name=quantity]').getAttribute('aria-invalid') === 'true'",
    );
    browser.fill("quantity", "4");
    browser.click("[data-action=choose-c2p]");
    browser.find("[name=debtorBankCode]");
    assert!(browser.text("main").contains("10,00"), "{}", browser.text("main"));
    ask_for_key(&browser);
    pay_with(&browser, "12345678");
    browser.wait_for("paid");
    browser.assert_at_home(&server.url());
    tenant.test.assert_books("1960.00", "1960.00", "0.00");
}
