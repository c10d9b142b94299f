//! The close of a month in a browser: the statement, the bank's file, what differs, until nothing is left.

use crate::browser::{Browser, DESKTOP, Setup};
use crate::harness::check::{list, text};
use crate::harness::server::Server;
use crate::harness::source::{Behaviour, Source};
use crate::login::hired;
use chrono::{FixedOffset, NaiveDate, Utc};
use serde_json::json;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(90);
const HEADER: &str = "date,reference,amount,kind,phone,bank";

fn today() -> NaiveDate {
    let caracas = FixedOffset::west_opt(4 * 3600).expect("an offset");
    Utc::now().with_timezone(&caracas).date_naive()
}

#[test]
fn a_month_is_closed_until_nothing_differs() {
    let bank = Source::start();
    let says = |body: serde_json::Value| Behaviour::Says(200, body.to_string());
    bank.set("/MBbcv", says(json!({ "code": "01", "message": "COTIZACION NO ENCONTRADA" })));
    let server = Server::start_with(&[
        ("PASARELA__RAILS__R4__BASE_URL", &bank.url("")),
        ("PASARELA__RAILS__R4__COMMERCE_TOKEN", "commerce-token-that-is-secret"),
        ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "1"),
        ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "1"),
    ]);
    let tenant = server.tenant();
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active" })).expect(200);
    server.price_live();
    bank.set("/MBc2p", says(json!({ "code": "00", "reference": "81230001" })));
    assert_eq!(tenant.live.pay_with(1, "12345678")["status"], "COMPLETED");
    bank.set("/MBc2p", says(json!({ "code": "68", "message": "RESPUESTA TARDIA" })));
    let open = tenant.live.pay_with(10, "12345678");
    assert_eq!(open["status"], "PENDING");
    let deadline = Instant::now() + PATIENCE;
    while list(&server.admin().get("/admin/operations?status=unresolved").expect(200), "items").is_empty() {
        assert!(Instant::now() < deadline, "it never is unresolved");
        std::thread::sleep(Duration::from_millis(50));
    }

    let day = today();
    let (from, to) = (day.format("%Y-%m-01").to_string(), day.to_string());
    let (_, treasury) = hired(&server, "treasury");
    let browser = Browser::open(DESKTOP);
    browser.enter_console(&server, &treasury, "");
    // The statement of the month.
    let month = format!("currency=VES&from={from}&to={to}&mode=live&tenantId={}", tenant.id);
    browser.goto(&format!("{}/console/statements?{month}", server.admin_url()));
    browser.stop_at("statements", "console-statements");
    assert!(browser.text("main").contains("200,00"), "{}", browser.text("main"));
    // The bank's file has the payment, the one without an outcome, and a typing error.
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("bank.csv");
    let mut lines = vec![
        HEADER.to_owned(),
        format!("{day},81230001,200.00,credit,,"),
        format!("{day},90311223,2000.00,credit,04141234567,0134"),
        format!("{day},1,twelve,credit,,"),
    ];
    let upload = |browser: &Browser, lines: &[String]| {
        std::fs::write(&file, lines.join("\n")).expect("a file");
        browser.goto(&format!("{}/console/reconciliations", server.admin_url()));
        browser.stop_at("reconciliations", "console-reconciliations");
        browser.fill("rail", "r4");
        browser.fill("account", "01690001001234567890");
        for (name, date) in [("from", &from), ("to", &to)] {
            browser.script(&format!("document.querySelector('[name={name}]').value = '{date}'"));
        }
        browser.choose_file("file", &file);
        browser.click("[data-action=upload]");
        browser.wait_until("return document.querySelector('[data-field=amountDiffers]') !== null");
        browser.wait_until(
            "const main = document.querySelector('main'); if (main.dataset.status === 'running') { location.reload(); } return main.dataset.status === 'done';",
        );
        browser.stop_at("reconciliations", "console-reconciliation");
        ["matched", "proposals", "missingHere", "missingThere", "bad"]
            .map(|field| browser.text(&format!("[data-field={field}]")))
    };
    assert_eq!(upload(&browser, &lines), ["1", "1", "0", "0", "1"]);
    browser.click("main a[href*=\"result=bad\"]");
    browser.find("tr[data-status=bad]");
    browser.click("main a[href*=\"result=proposal\"]");
    browser.click("[data-action=accept]");
    browser.click("[data-action=confirm]");
    browser.find(".note.good, [role=status]");
    browser.stop_at("reconciliations", "console-accepted");
    let paid = tenant.live.payment(&open);
    assert_eq!((text(&paid, "status"), text(&paid, "bankReference")), ("COMPLETED", "90311223"));
    lines.pop();
    assert_eq!(upload(&browser, &lines), ["2", "0", "0", "0", "0"], "none left");
    browser.assert_at_home(&server.admin_url());
    // The same on a telephone: what is there can be read and found again.
    drop(browser);
    let phone = Browser::open(Setup { phone: Some(320), dark: true, scripts: true });
    phone.enter_console(&server, &treasury, "?lang=en");
    phone.goto(&format!("{}/console/reconciliations?lang=en", server.admin_url()));
    phone.stop_at("reconciliations", "console-phone-reconciliations");
    phone.click("main tbody a");
    phone.find("[data-field=matched]");
    phone.stop_at("reconciliations", "console-phone-reconciliation");
}
