//! Paying by card and by a Pago Móvil that the buyer made; codes that are sent again; the receipt.

use crate::access::assert_open_to_all;
use crate::browser::{Browser, DESKTOP, Setup};
use crate::c2p::{session, status};
use crate::harness::check::text;
use crate::harness::server::Server;
use serde_json::Value;

const CARD: [(&str, &str); 5] = [
    ("cardNumber", "4111 1111 1111 1111"),
    ("cardExpiry", "12/30"),
    ("cardCvv", "123"),
    ("cardName", "Ana Perez"),
    ("holderId", "V12345678"),
];

/// Fills in a card.
pub fn card(browser: &Browser, number: &str) {
    for (name, value) in CARD {
        browser.fill(name, if name == "cardNumber" { number } else { value });
    }
}

#[test]
fn by_card_after_a_mistake_and_a_decline() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(Setup { phone: Some(360), dark: true, scripts: true });
    browser.goto(text(&made, "url"));
    browser.click("[data-action=choose-card]");
    card(&browser, "4111 1111 1111 1112");
    browser.click("[data-action=pay]");
    browser.wait_until("return document.querySelectorAll('[aria-invalid=true]').length === 1");
    assert!(browser.text("#cardNumber-error").contains("13 a 19"));
    assert_open_to_all(&browser);
    browser.picture("card-1-wrong");
    browser.fill("cardNumber", "4000000000000002");
    browser.click("[data-action=pay]");
    browser.wait_for("failed");
    assert!(browser.text("[role=alert]").contains("Prueba con otra"));
    assert_eq!(browser.script("return document.querySelector('[name=cardNumber]').value"), "");
    assert_eq!(browser.script("return document.querySelector('[name=cardName]').value"), "Ana Perez");
    card(&browser, "4111111111111111");
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
    assert!(browser.text(".receipt").contains("…1111"));
    assert_open_to_all(&browser);
    browser.picture("card-2-paid");
    browser.assert_at_home(&server.url());
    tenant.test.assert_books("5023.50", "5023.50", "0.00");
}

#[test]
fn by_pago_movil_after_a_reference_that_is_not_there() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}?lang=en", text(&made, "url")));
    browser.click("[data-action=choose-pago-movil]");
    browser.find("[name=reference]");
    assert_eq!(browser.text("[data-field=receiverPhone]"), "04140000000");
    assert_eq!(browser.text("[data-field=receiverAmount]"), "5100.00");
    for (name, value) in [
        ("debtorBankCode", "0134"),
        ("debtorId", "V12345678"),
        ("debtorCellPhone", "04141234567"),
        ("reference", "10000"),
    ] {
        browser.fill(name, value);
    }
    browser.click("[data-action=pay]");
    browser.wait_for("failed");
    assert!(browser.text("[role=alert]").contains("no Pago Móvil"));
    assert_eq!(browser.script("return document.querySelector('[name=debtorId]').value"), "V12345678");
    browser.fill("reference", "00482913");
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
    assert_eq!(status(&tenant, &made), "paid");
    browser.assert_at_home(&server.url());
}

#[test]
fn without_a_script_by_both() {
    let server = Server::start();
    let tenant = server.tenant();
    let browser = Browser::open(Setup { scripts: false, ..DESKTOP });
    let made = session(&tenant);
    browser.goto(text(&made, "url"));
    browser.click("[data-action=choose-card]");
    card(&browser, "4111111111111111");
    browser.click("[data-action=pay]");
    browser.find("main[data-status=paid]");
    let made = session(&tenant);
    browser.goto(text(&made, "url"));
    browser.click("[data-action=choose-pago-movil]");
    for (name, value) in [
        ("debtorBankCode", "0134"),
        ("debtorId", "V12345678"),
        ("debtorCellPhone", "04141234567"),
        ("reference", "00482914"),
    ] {
        browser.fill(name, value);
    }
    browser.click("[data-action=pay]");
    browser.find("main[data-status=paid]");
    assert_eq!(status(&tenant, &made), "paid");
}

#[test]
fn a_code_is_sent_again_after_a_minute_and_the_button_says_what_it_does() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    let words = |browser: &Browser| browser.text("[data-action=request-token]");
    assert_eq!(words(&browser), "Continuar");
    browser.fill("debtorBankCode", "0134");
    assert_eq!(words(&browser), "Continuar", "this bank sends nothing");
    browser.fill("debtorBankCode", "0102");
    assert_eq!(words(&browser), "Pedir clave por SMS");
    browser.fill("debtorId", "V12345678");
    browser.fill("debtorCellPhone", "04141234567");
    browser.click("[data-action=request-token]");
    browser.find("[data-action=resend]");
    let state = "const button = document.querySelector('[data-action=resend]'); return [button.disabled, /0:[0-5][0-9]|1:00/.test(button.textContent)]";
    assert_eq!(browser.script(state), serde_json::json!([true, true]));
    browser.picture("resend-1-counts");
    tenant.test.advance(60);
    browser.goto(&browser.address());
    browser.wait_until("return document.querySelector('[data-action=resend]').disabled === false");
    let before = browser.address();
    browser.click("[data-action=resend]");
    browser.wait_until(&format!(
        "return location.href !== '{before}' && document.querySelector('[data-action=resend]').disabled"
    ));
    let items = tenant.test.get("/v1/payments").expect(200);
    let statuses: Vec<&Value> =
        items["items"].as_array().expect("a list").iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["PENDING", "CANCELED"], "the first key buys nothing any more");
    browser.fill("token", "12345678");
    browser.click("[data-action=pay]");
    browser.wait_for("paid");
    // The receipt, to print, save and send.
    assert!(
        browser
            .script("return document.querySelector('[data-action=email]').href")
            .as_str()
            .is_some_and(|href| href.starts_with("mailto:?subject=Comprobante"))
    );
    let pdf = browser.script("return fetch(document.querySelector('[data-action=receipt-pdf]').href).then((answer) => answer.headers.get('content-type'))");
    assert_eq!(pdf, "application/pdf");
    let receipt = browser.script("return document.querySelector('[data-action=receipt]').href");
    browser.goto(receipt.as_str().expect("an address"));
    browser.find("[data-page=receipt]");
    browser.picture("receipt");
}
