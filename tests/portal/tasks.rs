//! The tasks of merchants; docs/pages.md has their table.

use crate::browser::{Browser, DESKTOP};
use crate::clicks::Task;
use crate::harness::check::text;
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use serde_json::json;

#[test]
fn what_merchants_do_takes_the_clicks_that_are_written_down() {
    let server = Server::start_with(&[("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true")]);
    let tenant = server.tenant();
    let body = json!({ "url": "http://127.0.0.1:9/hook", "events": ["payment.completed"] });
    tenant.test.post("/v1/webhooks", &body).expect(201);
    tenant.test.fund("5000.00");
    let (payment, returned) = (tenant.test.pay(77), tenant.test.pay(10));
    let merchant = tenant.test.merchant();
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}/portal", server.url()));
    browser.fill("key", text(&tenant.created["testKey"], "key"));
    browser.click("[data-action=login]");
    let home = format!("{}/portal/home", server.url());
    let of = |name| Task::from_home(&browser, &home, name);
    let (id, reference) = (text(&payment, "paymentId"), text(&payment, "externalRef"));

    of("today's sales").took(0, "[data-field=sales]");

    let mut task = of("find a payment, with its payer");
    task.search(reference, id);
    task.took(1, "main[data-page=payment] [data-field=debtorId]");

    of("resend a webhook").resends(reference, id);

    let mut task = of("a receipt");
    task.search(reference, id);
    task.click("[data-action=receipt]");
    task.took(2, "body");
    assert!(browser.address().ends_with("/receipt"), "{}", browser.address());

    let mut task = of("a month as CSV");
    task.click("nav a[href$='/portal/payments']");
    task.click("[data-list] .pick a[href*='from=']:nth-child(6)");
    task.click("[data-action=csv]");
    task.took(3, "main[data-page=payments]");

    let mut task = of("give a payment back");
    task.search(text(&returned, "externalRef"), text(&returned, "paymentId"));
    task.click("[data-action=reverse]");
    task.click("[data-action=confirm]");
    task.took(3, "main[data-page=payment][data-status=REVERSED]");

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pagos.csv");
    let line = format!("{},{},10.00,semana\n", fresh("po"), text(&merchant, "merchantId"));
    std::fs::write(&file, format!("externalRef,merchantId,monto,concepto\n{line}")).expect("a file");
    let mut task = of("pay by file");
    task.click("nav a[href$='/portal/payouts']");
    browser.choose_file("file", &file);
    task.click("[data-action=preview]");
    task.click("[data-action=confirm]");
    task.took(3, "main[data-page=payouts] [data-status=completed]");

    let mut task = of("which of my requests were refused");
    task.click("nav a[href$='/portal/requests']");
    task.click("[data-list] .pick a[href*='answered=refused']");
    task.took(2, "main[data-page=requests] [data-action=clear]");
}
