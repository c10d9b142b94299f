//! Events while a page is open: another tab pays, the session ends, the server is killed and
//! started again.

use crate::browser::{Browser, DESKTOP};
use crate::c2p::{ask_for_key, pay_with, session, status};
use crate::harness::check::text;
use crate::harness::server::Server;
use serde_json::json;

#[test]
fn two_tabs_pay_once() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let address = format!("{}?method=c2p", text(&made, "url"));
    let browser = Browser::open(DESKTOP);
    browser.goto(&address);
    ask_for_key(&browser);
    let first = browser.new_tab();
    browser.goto(&address);
    ask_for_key(&browser);
    // The first tab's intent was superseded by the second's: its key buys nothing, and the page
    // says so.
    let second = browser.switch(&first);
    pay_with(&browser, "12345678");
    browser.wait_for("failed");
    assert!(browser.text("[role=alert]").contains("otro intento"));
    browser.switch(&second);
    pay_with(&browser, "12345678");
    browser.wait_for("paid");
    browser.switch(&first);
    browser.wait_for("paid");
    assert_eq!(status(&tenant, &made), "paid");
    tenant.test.assert_books("5023.50", "5023.50", "0.00");
}

#[test]
fn a_session_ends_while_its_page_is_open() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    ask_for_key(&browser);
    tenant.test.advance(24 * 3600);
    browser.wait_for("expired");
    browser.picture("9-expired");
    assert!(!browser.has("form"), "nothing can be sent any more");
    assert_eq!(tenant.test.movements(), Vec::<serde_json::Value>::new());
}

#[test]
fn a_page_outlives_its_server() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}?method=c2p", text(&made, "url")));
    ask_for_key(&browser);
    server.kill();
    pay_with(&browser, "12345678");
    browser.wait_until(
        "return document.getElementById('net').textContent.includes('puedes cerrar esta página')",
    );
    server.restart();
    // It had not arrived: the same form again.
    browser.wait_for("open");
    assert!(browser.text("#net").contains("Inténtalo de nuevo"), "{}", browser.text("#net"));
    pay_with(&browser, "77777777");
    // The page is the server's own: until then nobody knows whether the bank has the charge.
    browser.find(".state h1");
    server.kill();
    server.restart();
    tenant.test.advance(60);
    browser.wait_for("paid");
    browser.goto(text(&made, "url"));
    browser.wait_for("paid");
    assert_eq!(
        tenant.test.get(&format!("/v1/checkout/sessions/{}", text(&made, "id"))).expect(200)["status"],
        json!("paid")
    );
}
