//! Lists of all tenants, the search and the first page of operators.

use crate::browser::{Browser, Setup};
use crate::harness::check::text;
use crate::harness::flows::fresh;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::login::operator;
use crate::visitor::page_of;
use serde_json::json;

#[test]
fn lists_of_all_tenants_are_of_live_mode_unless_asked() {
    let server = Server::start();
    let (one, other) = (server.tenant(), server.tenant());
    one.test.pay(10);
    let failed = one.test.pay_with(10, "99999999");
    other.test.pay_with(20, "99999999");
    let visitor = operator(&server, ADMIN_TOKEN);
    let rows = |query: &str| {
        let page = visitor.get(&format!("/console/payments?{query}"));
        assert_eq!((page.status, page_of(&page).as_str()), (200, "payments"), "{query}: {}", page.text());
        let list = page.text().split("data-list>").nth(1).unwrap_or_default().to_owned();
        let count = list.matches("<tr data-status=").count();
        let file = visitor.get(&format!("/console/payments?{query}&format=csv"));
        assert_eq!((file.status, file.text().lines().count() - 1), (200, count), "{query}");
        (count, page)
    };
    assert_eq!(rows("").0, 0, "there is nothing live");
    assert_eq!(rows("mode=test").0, 3);
    let (count, page) = rows("mode=test&status=FAILED");
    assert!(
        count == 2 && page.text().contains("2 en total") && page.text().contains("Bs\u{a0}6.000,00"),
        "{}",
        page.text()
    );
    assert!(page.text().contains("Órdenes de prueba"), "they are marked");
    let (count, page) = rows(&format!("mode=test&status=FAILED&tenantId={}", one.id));
    assert!(count == 1 && page.text().contains(text(&failed, "externalRef")));
    assert!(page.text().contains(&format!("href=\"/console/tenants/{}\"", one.id)), "the tenant by name");
    for bad in ["tenantId=nobody", "from=ayer", "minAmount=x", "cursor=AAAA", "mode=both"] {
        let page = visitor.get(&format!("/console/payments?{bad}"));
        assert_eq!((page.status, page_of(&page).as_str()), (400, "payments"), "{bad}: {}", page.text());
    }
    for name in ["payouts", "cop-payouts", "crypto-payouts", "conversions", "chargebacks"] {
        for query in ["", "?mode=test", "?from=2020-01-01&to=2020-01-01"] {
            let page = visitor.get(&format!("/console/{name}{query}"));
            assert_eq!((page.status, page_of(&page).as_str()), (200, name), "{}", page.text());
        }
    }
}

#[test]
fn what_does_not_work_is_said_in_words() {
    let server = Server::start();
    let visitor = operator(&server, ADMIN_TOKEN);
    let home = visitor.get("/console/home");
    assert!(home.text().contains("Todo funciona."), "{}", home.text());
    assert!(visitor.get("/console/home?lang=en").text().contains("Everything works."));
    let tenant = server.tenant_with(json!({ "usdt": { "payoutAutoLimitUsdt": "1.00" } }));
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    let body = json!({ "amountUsdt": "10.00", "address": "0x52908400098527886E0F7030069857D2E4169EE7", "network": "POLYGON", "externalRef": fresh("cx") });
    tenant.test.post("/v1/crypto/payouts", &body).expect(201);
    let home = visitor.get("/console/home?mode=test");
    let queue = home.text().split("data-field=\"cryptoReviews\">").nth(1).expect("the queue");
    let queue = queue.split("</dd>").next().expect("its end");
    assert!(queue.contains("desde el "), "{queue}");
    let fields = regex::Regex::new("data-field=\"([a-zA-Z]+)\"").expect("a pattern");
    let first =
        home.text().split("class=\"facts\"").nth(1).and_then(|facts| fields.captures(facts)).expect("queues");
    assert_eq!(&first[1], "cryptoReviews", "the oldest comes first");
}

#[test]
fn a_search_finds_by_amount_and_by_a_tenants_name() {
    let server = Server::start();
    let tenant = server.tenant();
    let payment = tenant.test.pay(17);
    let visitor = operator(&server, ADMIN_TOKEN);
    let page = visitor.get("/console/search?q=3.400,00");
    let link = format!("/console/payments/{}\"", text(&payment, "paymentId"));
    assert!(page.text().contains(&link) && page.text().contains("3.400,00"), "{}", page.text());
    let name = text(&tenant.created, "name");
    let page = visitor.get(&format!("/console/search?{}", crate::visitor::encoded(&[("q", name)])));
    assert!(page.text().contains(&format!("/console/tenants/{}\"", tenant.id)), "{}", page.text());
}

#[test]
fn lists_of_all_tenants_fit_every_screen() {
    let server = Server::start();
    let tenant = server.tenant();
    tenant.test.pay(1);
    let failed = tenant.test.pay_with(10, "99999999");
    for width in [1440, 390] {
        let browser = Browser::open(Setup { phone: Some(width), dark: false, scripts: true });
        browser.enter_console(&server, ADMIN_TOKEN, "");
        browser.stop_at("home", &format!("lists-console-home-{width}"));
        browser.tab_to("#q");
        browser.press(text(&failed, "externalRef"));
        browser.find(&format!("#found a[href*='/payments/{}']", text(&failed, "paymentId")));
        browser.picture(&format!("lists-console-found-{width}"));
        browser.goto(&format!("{}/console/payments?mode=test&status=FAILED", server.admin_url()));
        browser.stop_at("payments", &format!("lists-console-failed-{width}"));
        assert_eq!(browser.script("return document.querySelectorAll('[data-list] tbody tr').length"), 1);
        if width == 1440 {
            // What is typed and not sent yet is not lost by a press on a month.
            browser.goto(&format!("{}/console/payments?mode=test", server.admin_url()));
            browser.script("document.querySelector('.filters').open = true");
            browser.fill("tenantId", text(&tenant.created, "name"));
            browser.click("[data-list] .pick a[href*='from=']:nth-child(6)");
            browser.wait_until("return location.search.includes('from=')");
            assert_eq!(browser.script("return location.search.includes('tenantId=')"), true);
        }
        for page in ["payouts", "conversions", "chargebacks"] {
            browser.goto(&format!("{}/console/{page}", server.admin_url()));
            browser.stop_at(page, &format!("lists-console-{page}-{width}"));
        }
    }
}
