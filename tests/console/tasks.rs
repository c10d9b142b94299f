//! The tasks of operators; docs/pages.md has their table.

use crate::browser::{Browser, DESKTOP};
use crate::clicks::Task;
use crate::harness::check::text;
use crate::harness::flows::fresh;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::login::hired;
use serde_json::json;

#[test]
fn what_operators_do_takes_the_clicks_that_are_written_down() {
    let server = Server::start_with(&[
        ("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true"),
        ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "1"),
        ("PASARELA__ADMIN__APPROVALS", "crypto-payouts"),
    ]);
    let tenant = server.tenant_with(json!({ "usdt": { "payoutAutoLimitUsdt": "1.00" } }));
    let body = json!({ "url": "http://127.0.0.1:9/hook", "events": ["payment.completed"] });
    tenant.test.post("/v1/webhooks", &body).expect(201);
    let (payment, open) = (tenant.test.pay(77), tenant.test.pay_with(10, "77777777"));
    tenant.test.pay_with(10, "99999999");
    // Somebody else has asked for a review to be approved.
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    let body = json!({ "amountUsdt": "10.00", "address": "0x52908400098527886E0F7030069857D2E4169EE7", "network": "POLYGON", "externalRef": fresh("cx") });
    let payout = tenant.test.post("/v1/crypto/payouts", &body).expect(201);
    let (_, asker) = hired(&server, "treasury");
    let approve = format!("/admin/crypto/payouts/{}/approve", text(&payout, "id"));
    server.admin_with(&asker).post(&approve, &json!({})).expect(202);
    let (_, second) = hired(&server, "treasury");

    let browser = Browser::open(DESKTOP);
    browser.enter_console(&server, &second, "");
    let home = format!("{}/console/home", server.admin_url());
    let of = |name| Task::from_home(&browser, &home, name);
    let (id, reference) = (text(&payment, "paymentId"), text(&payment, "externalRef"));

    let mut task = of("find a payment, and see its payer");
    task.search(reference, id);
    task.click("[data-action=unmask]");
    task.took(2, "main[data-page=payment]");
    browser.wait_until("return document.querySelector('main').innerText.includes('V12345678')");

    of("resend a webhook").resends(reference, id);

    let mut task = of("resolve an order");
    task.search(text(&open, "externalRef"), text(&open, "paymentId"));
    browser.fill("outcome", "done");
    browser.fill("reference", "90311223");
    browser.fill("note", "según el extracto");
    task.click("[data-action=resolve]");
    task.click("[data-action=confirm]");
    task.took(3, "main[data-page=payment][data-status=COMPLETED]");

    let mut task = of("approve");
    task.click("nav a[href$='/console/approvals']");
    browser.fill("note", "visto con el comercio");
    task.click("[data-action=approve]");
    task.took(2, "main[data-page=approvals] .note.good");

    let until = chrono::Utc::now() - chrono::TimeDelta::hours(4) + chrono::TimeDelta::hours(1);
    let mut task = of("pin a rate");
    task.click("nav a[href$='/console/rates']");
    for (name, typed) in [
        ("pair", "USDT/COP"),
        ("source", "p2p"),
        ("side", "Compra"),
        ("price", "4.100"),
        ("reason", "feriado"),
    ] {
        browser.tab_to(&format!("#pin-{name}"));
        browser.press(typed);
    }
    // The way in which a moment is typed depends on the browser's language.
    let until = until.format("%Y-%m-%dT%H:%M");
    browser.script(&format!("document.getElementById('pin-pinnedUntil').value = '{until}'"));
    task.click("#form-pin [data-action=pin]");
    task.click("[data-action=confirm]");
    task.took(3, "tr[data-status=pinned]");

    let mut task = of("failed payments of all shops");
    task.click("nav a[href$='/console/payments']");
    task.click("[data-list] .pick a[href*='status=FAILED']");
    task.took(2, "main[data-page=payments] [data-action=clear]");

    let day = chrono::Utc::now() - chrono::TimeDelta::hours(4);
    let day = day.format("%Y-%m-%d").to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("banco.csv");
    std::fs::write(&file, format!("date,reference,amount,kind,phone,bank\n{day},1,1.00,credit,,\n"))
        .expect("a file");
    let mut task = of("reconcile a day");
    task.click("nav a[href$='/console/reconciliations']");
    browser.fill("rail", "r4");
    browser.fill("account", "01690001001234567890");
    for name in ["from", "to"] {
        browser.script(&format!("document.querySelector('[name={name}]').value = '{day}'"));
    }
    browser.choose_file("file", &file);
    task.click("[data-action=upload]");
    task.took(2, "main[data-page=reconciliations] [data-field=amountDiffers]");

    let root = crate::login::operator(&server, ADMIN_TOKEN);
    let page = root.get(&format!("/console/requests?tenantId={}&mode=test", tenant.id));
    let rows = page.text().split("<tbody>").nth(1).unwrap_or_default();
    assert!(rows.contains("/v1/crypto/payouts") && page.text().contains("201: "), "{}", page.text());
    let none = root.get(&format!("/console/requests?tenantId={}", tenant.id));
    assert!(none.text().contains("Todavía no hay nada aquí."), "nothing is live: {}", none.text());
    assert!(root.get("/console/requests").text().contains("Elige un comercio"));
}
