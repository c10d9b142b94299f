//! Lists to work with: what is listed, counted and summed by each filter, the file of exactly that, what is hostile,
//! and thousands of rows; and the search of every page.

use crate::browser::{Browser, DESKTOP, Setup};
use crate::harness::check::{list, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, payout_body};
use crate::harness::server::{Server, Tenant};
use crate::visitor::{Visitor, page_of, plain};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use thirtyfour::Key;

fn visitor(server: &Server, tenant: &Tenant) -> Visitor {
    Visitor::of_portal(server.nobody(), text(&tenant.created["testKey"], "key"))
}

/// The rows of the list of a page.
fn rows(page: &Answer) -> usize {
    let list = page.text().split("data-list>").nth(1).unwrap_or_default();
    list.split("</table>").next().unwrap_or_default().matches("<tr data-status=").count()
}

/// What the list comes to, as the page says it.
fn totals(page: &Answer) -> Vec<String> {
    let said = page.text().split("data-field=\"totals\">").nth(1).expect("totals");
    let said = said.split("</p>").next().expect("their end");
    let span = regex::Regex::new("<span>(.*?)</span>").expect("a pattern");
    span.captures_iter(said).map(|found| plain(&found[1]).replace('\u{a0}', " ")).collect()
}

/// The lines of the file of a list, without the header.
fn file(visitor: &Visitor, query: &str) -> Vec<String> {
    let answer = visitor.get(&format!("{query}{}format=csv", if query.contains('?') { '&' } else { '?' }));
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/csv; charset=utf-8")));
    answer.text().lines().skip(1).map(str::to_owned).collect()
}

fn pay_many(api: &Api, merchant: &Value, count: usize) {
    for n in 0..count.div_ceil(1000) {
        let items: Vec<Value> = (n * 1000..count.min((n + 1) * 1000))
            .map(|n| {
                let mut body = payout_body(merchant, &format!("{}.00", n % 100 + 1));
                body["externalRef"] = format!("many-{n}").into();
                body
            })
            .collect();
        api.post("/v1/payouts/batch", &json!({ "externalRef": fresh("batch"), "items": items })).expect(201);
    }
}

#[test]
fn each_filter_lists_counts_sums_and_writes_the_same() {
    let server = Server::shared();
    let tenant = server.tenant();
    for usd in [10, 20, 30] {
        tenant.test.pay(usd);
    }
    let failed = tenant.test.pay_with(10, "99999999");
    let visitor = visitor(&server, &tenant);
    let today = &text(&failed, "createdAt")[..4];
    let past = format!("from={today}-01-01&to={today}-01-01");
    let now = format!("from={today}-01-01");
    let reference = format!("externalRef={}", text(&failed, "externalRef"));
    for (query, count, sums) in [
        ("", 4, &["4 en total", "Cobrado: 3 · Bs 12.000,00", "Fallido: 1 · Bs 2.000,00"][..]),
        ("status=COMPLETED", 3, &["3 en total", "Bs 12.000,00"]),
        ("status=FAILED", 1, &["1 en total", "Bs 2.000,00"]),
        ("method=C2P&minAmount=4.000,00", 2, &["2 en total", "Bs 10.000,00"]),
        ("minAmount=2000,01&maxAmount=4000", 1, &["1 en total", "Bs 4.000,00"]),
        ("method=VPOS", 0, &[]),
        (&now, 4, &["4 en total", "Cobrado: 3 · Bs 12.000,00", "Fallido: 1 · Bs 2.000,00"]),
        (&past, 0, &[]),
        (&reference, 1, &[]),
    ] {
        let path = format!("/portal/payments?{query}");
        let page = visitor.get(&path);
        assert_eq!((page.status, page_of(&page).as_str(), rows(&page)), (200, "payments", count), "{query}");
        assert_eq!(totals(&page), sums, "{query}");
        assert_eq!(file(&visitor, &path).len(), count, "{query}");
        let none = page.text().contains("Nada coincide con estos filtros.");
        assert_eq!(none, count == 0, "{query}: {}", page.text());
    }
    // A column that is asked for is one, and stays in the address of everything on the page.
    let page = visitor.get("/portal/payments?cols=bankReference&cols=status&status=FAILED");
    assert!(page.text().contains(">Referencia del banco</th>"), "{}", page.text());
    assert!(
        page.text().contains("status=COMPLETED&#38;cols=status&#38;cols=bankReference")
            || page.text().contains("cols=bankReference&#38;cols=status"),
        "{}",
        page.text()
    );
}

#[test]
fn every_list_says_nothing_yet_apart_from_nothing_found() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "cop": { "enabled": true } }));
    let visitor = visitor(&server, &tenant);
    for name in [
        "payments",
        "payouts",
        "conversions",
        "chargebacks",
        "cop-payouts",
        "crypto-payouts",
        "deposits",
        "events",
    ] {
        for (language, yet, found) in [
            ("es", "Todavía no hay nada aquí.", "Nada coincide con estos filtros."),
            ("en", "There is nothing here yet.", "Nothing matches these filters."),
        ] {
            let page = visitor.get(&format!("/portal/{name}?lang={language}"));
            assert_eq!((page.status, page_of(&page).as_str()), (200, name), "{}", page.text());
            // A tenant has events of its own from the beginning.
            let has_some = page.text().contains("<tbody>");
            assert!(has_some || page.text().contains(yet), "{name}: {}", page.text());
            let page = visitor.get(&format!("/portal/{name}?from=2020-01-01&to=2020-01-01&lang={language}"));
            assert!(page.status == 200 && page.text().contains(found), "{name}: {}", page.text());
        }
    }
}

#[test]
fn deposits_of_customers_and_usdt_are_listed() {
    let server = Server::shared();
    let tenant = server.tenant_with(json!({ "usdt": { "enabled": true } }));
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    for amount in ["1.00", "2.50"] {
        let body = json!({ "amountUsdt": amount, "address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "network": "TRC20", "externalRef": fresh("cx") });
        tenant.test.post("/v1/crypto/payouts", &body).expect(201);
    }
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/crypto-payouts?minAmount=2");
    assert_eq!((rows(&page), totals(&page)), (1, vec!["1 en total".to_owned(), "USDT 2,50".to_owned()]));
    assert_eq!(file(&visitor, "/portal/crypto-payouts?minAmount=2").len(), 1);
}

#[test]
fn what_cannot_be_a_filter_is_said_beside_it() {
    let server = Server::shared();
    let (tenant, other) = (server.tenant(), server.tenant());
    for _ in 0..3 {
        tenant.test.pay(1);
        other.test.pay(1);
    }
    let foreign = other.test.query("/v1/payments", &[("limit", "1")]).expect(200);
    let foreign = format!("cursor={}", text(&foreign, "nextCursor"));
    let visitor = visitor(&server, &tenant);
    for (query, field) in [
        ("from=ayer", "Desde"),
        ("to=30/11/2026", "Hasta"),
        ("from=2026-13-01", "Desde"),
        ("from=2026-11-30&to=2026-11-01", "Hasta"),
        ("minAmount=mucho", "Monto desde"),
        ("minAmount=-1", "Monto desde"),
        ("maxAmount=999999999999999999999999", "Monto hasta"),
        ("status=COBRADO", "Estado"),
        ("method='%20OR%201=1--", "Método"),
        ("merchantId=%3Cscript%3Ealert(1)%3C/script%3E", "Vendedor"),
        (&foreign, "cursor"),
        ("cursor=AAAA", "cursor"),
    ] {
        let page = visitor.get(&format!("/portal/payments?{query}"));
        assert_eq!((page.status, page_of(&page).as_str()), (400, "payments"), "{query}: {}", page.text());
        let note = page.text().split("role=\"alert\"").nth(1).expect("a note");
        let note = note.split("</div>").next().expect("its end");
        assert!(note.contains(&format!("<li>{field}: ")), "{query}: {note}");
        assert!(!page.text().contains("<script>alert") && rows(&page) == 0, "{query}");
        // A file is the whole list, whatever the cursor.
        let file = visitor.get(&format!("/portal/payments?{query}&format=csv")).status;
        assert_eq!(file, if field == "cursor" { 200 } else { 400 }, "{query}");
    }
    // A text that is found nowhere is no fault, whatever is in it.
    let page = visitor.get("/portal/payments?reference=%27%3B%20DROP%20TABLE%20payments--%3Cimg%3E");
    assert!(page.status == 200 && page.text().contains("Nada coincide") && !page.text().contains("<img"));
    // What others wrote is no formula in the file.
    let merchant = tenant.test.merchant();
    tenant.test.fund("10.00");
    tenant.test.payout(&merchant, "1.00", json!({ "concepto": "=HYPERLINK(\"http://x\")" })).expect(201);
    let lines = file(&visitor, "/portal/payouts");
    assert!(lines[0].contains("'=HYPERLINK") && !lines[0].contains(",=HYPERLINK"), "{lines:?}");
}

#[test]
fn thousands_of_rows_come_in_pages_and_are_summed_to_a_bound() {
    let server = Server::start();
    let tenant = server.tenant();
    let merchant = tenant.test.merchant();
    tenant.test.fund("1000000.00");
    pay_many(&tenant.test, &merchant, 3_000);
    let visitor = visitor(&server, &tenant);
    let took = |path: &str| {
        let before = Instant::now();
        let page = visitor.get(path);
        assert_eq!(page.status, 200, "{}", page.text());
        // A debug build beside other tests: the bound is of another order than reading everything would be.
        assert!(before.elapsed() < Duration::from_secs(5), "{path} took {:?}", before.elapsed());
        page
    };
    let page = took("/portal/payouts");
    assert_eq!(rows(&page), 50);
    let said = totals(&page);
    assert_eq!((said[0].as_str(), said.len()), ("500 o más", 3), "{said:?}");
    assert!(said[2].starts_with("Suma solo entre los 500 más recientes"), "{said:?}");
    let all = totals(&took("/portal/payouts?sums=more"));
    assert_eq!(all, ["3.000 en total", "Bs 151.500,00"]);
    let some = totals(&took("/portal/payouts?minAmount=100&sums=more"));
    assert_eq!(some, ["30 en total", "Bs 3.000,00"]);
    // Every page once, by the links of the pages.
    let next = regex::Regex::new("href=\"([^\"]*cursor=[^\"]*)\" rel=\"next\"").expect("a pattern");
    let (mut at, mut seen) = ("/portal/payouts?minAmount=51&maxAmount=60".to_owned(), 0);
    loop {
        let page = took(&at);
        seen += rows(&page);
        match next.captures(page.text()) {
            Some(found) => at = plain(&found[1]),
            None => break,
        }
    }
    assert_eq!(seen, 300);
    assert_eq!(file(&visitor, "/portal/payouts?minAmount=51&maxAmount=60").len(), 300);
    assert_eq!(file(&visitor, "/portal/payouts").len(), 3_000);
    // A file of events has all of them, each once, in the order of the page.
    let events = file(&visitor, "/portal/events?event=payout.completed");
    assert_eq!(events.len(), 3_000);
    assert_eq!(events.iter().collect::<std::collections::BTreeSet<_>>().len(), 3_000);
    let some = file(&visitor, "/portal/events?event=payout.failed");
    assert!(some.is_empty(), "{some:?}");
}

#[test]
fn what_is_held_is_told_also_behind_a_page_of_payouts() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.pay(10);
    tenant.test.fund("10000.00");
    pay_many(&tenant.test, &tenant.test.merchant(), 120);
    let home = visitor(&server, &tenant).get("/portal/home");
    let plot = home.text().split("Retenido, por hora").nth(1).expect("a plot");
    let plot = plot.split("</table>").next().expect("its end");
    assert!(plot.contains(">1.970,00</td>") || plot.contains("1970.00"), "{plot}");
    assert!(!home.text().contains("hay más retenido"), "all of it was found");
}

#[test]
fn events_are_the_newest_first_and_filtered() {
    let server = Server::shared();
    let tenant = server.tenant();
    for _ in 0..60 {
        tenant.test.pay(1);
    }
    let failed = tenant.test.pay_with(1, "99999999");
    let visitor = visitor(&server, &tenant);
    let page = visitor.get("/portal/events");
    let first = page.text().split("<tbody>").nth(1).expect("events");
    assert!(first.trim_start().split("</tr>").next().expect("a row").contains("payment.failed"), "{first}");
    let next = regex::Regex::new("href=\"([^\"]*before=[^\"]*)\" rel=\"next\"").expect("a pattern");
    assert!(next.is_match(page.text()), "{}", page.text());
    let page = visitor.get("/portal/events?event=payment.failed");
    assert!(
        page.text().contains(text(&failed, "externalRef"))
            && !page.text().contains(">payment.completed</td>")
    );
    assert_eq!(visitor.get("/portal/events?from=ayer").status, 400);
    for list in ["events", "requests", "payments"] {
        for of in ["", "&format=csv"] {
            let page = visitor.get(&format!("/portal/{list}?from=2026-02-02&to=2026-02-01{of}"));
            assert_eq!((page.status, page_of(&page).as_str()), (400, list), "{}", page.text());
            let field = page.text().split("name=\"to\"").nth(1).expect("the field");
            let field = field.split("name=").next().expect("its end");
            assert!(field.contains("Es anterior a «Desde»"), "{field}");
        }
    }
    let page = visitor.get("/portal/events?lang=en");
    for sum in ["61 in all", "payment.completed: 60", "payment.failed: 1"] {
        assert!(page.text().contains(sum), "{sum}: {}", page.text());
    }
    let file = visitor.get("/portal/events?event=payment.failed&format=csv");
    assert_eq!(file.header("content-type"), Some("text/csv; charset=utf-8"));
    let (reference, id) = (text(&failed, "externalRef"), text(&failed, "paymentId"));
    let lines: Vec<&str> = file.text().lines().collect();
    assert_eq!((lines.len(), lines[0]), (2, "createdAt,event,id,subject,subjectId"), "{}", file.text());
    assert!(lines[1].contains(",payment.failed,") && lines[1].ends_with(&format!(",{reference},{id}")));
    let whole = visitor.get("/portal/events?format=csv&separator=semicolon");
    assert_eq!(whole.text().lines().count(), 62, "more than a page has");
    assert!(whole.text().starts_with("createdAt;event;"));
}

#[test]
fn requests_are_listed_as_programs_made_them() {
    let server = Server::shared();
    let tenant = server.tenant();
    for _ in 0..55 {
        tenant.test.get("/v1/balance").expect(200);
    }
    let refused = tenant.test.post("/v1/payouts", &json!({})).refused(400, "invalid_data");
    let id = text(&refused, "requestId");
    server.tenant().test.get("/v1/banks").expect(200);
    let visitor = visitor(&server, &tenant);
    visitor.get("/portal/home");
    let page = visitor.get("/portal/requests?lang=en");
    assert_eq!((page.status, page_of(&page).as_str(), rows(&page)), (200, "requests", 50), "{}", page.text());
    let first = page.text().split("<tbody>").nth(1).expect("requests").split("</tr>").next().expect("a row");
    for part in ["/v1/payouts", "POST", "400", "invalid_data", &format!("requestId={id}")] {
        assert!(first.contains(part), "{part}: {first}");
    }
    // What the pages read to show themselves is no program's, and neither is another account's.
    for part in ["56 in all", "200: 55", "400: 1"] {
        assert!(page.text().contains(part), "{part}: {}", page.text());
    }
    let next = regex::Regex::new("href=\"([^\"]*before=[^\"]*)\" rel=\"next\"").expect("a pattern");
    let next = plain(&next.captures(page.text()).expect("older ones")[1]);
    assert_eq!(rows(&visitor.get(&next)), 6);
    for (asked, count) in [
        ("answered=refused", 1),
        ("answered=failed", 0),
        ("method=POST", 1),
        ("route=/v1/pay", 1),
        ("error=invalid_data", 1),
        ("from=2020-01-01&to=2020-01-02", 0),
    ] {
        let page = visitor.get(&format!("/portal/requests?{asked}"));
        assert_eq!((page.status, rows(&page)), (200, count), "{asked}: {}", page.text());
        assert!(count > 0 || page.text().contains("Nada coincide con estos filtros."), "{asked}");
    }
    assert_eq!(visitor.get("/portal/requests?from=ayer").status, 400);
    let file = visitor.get("/portal/requests?format=csv&answered=refused");
    assert_eq!(file.text().lines().count(), 2, "{}", file.text());
    assert!(
        file.text().starts_with("at,method,route,status,error,ms,keyId,requestId\r\n"),
        "{}",
        file.text()
    );
    let one = visitor.get(&format!("/portal/requests?requestId={id}"));
    for part in ["invalid_data", "pk_test_", "Revisa los datos"] {
        assert!(one.text().contains(part), "{part}: {}", one.text());
    }
}

#[test]
fn a_search_finds_by_reference_name_document_phone_id_and_amount() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(17);
    let merchant = tenant.test.merchant();
    let name = text(&merchant, "name");
    let visitor = visitor(&server, &tenant);
    let id = text(&payment, "paymentId");
    let link = format!("href=\"/portal/payments/{id}\"");
    for q in [
        text(&payment, "externalRef"),
        text(&payment, "bankReference"),
        id,
        "V-12.345.678",
        "0414-1234567",
        "04141234567",
        "3.400,00",
        "3400",
    ] {
        let page = visitor.get(&format!("/portal/search?{}", crate::visitor::encoded(&[("q", q)])));
        assert!(page.text().contains(&link), "{q}: {}", page.text());
        assert!(page.text().contains("3.400,00") && page.text().contains("Cobrado"), "{q}: state and amount");
    }
    let part = name.chars().skip(1).take(4).collect::<String>();
    let page = visitor.get(&format!("/portal/search?{}", crate::visitor::encoded(&[("q", &part)])));
    let seller = format!("href=\"/portal/merchants/{}\"", text(&merchant, "merchantId"));
    assert!(page.text().contains(&seller), "{part}: {}", page.text());
    let page = visitor.get("/portal/search?q=nada-de-esto");
    assert!(page.text().contains("No se encontró nada."), "{}", page.text());
    // No amount begins with zeros, nor is one so large: what they are is looked for all the same.
    for q in ["000123456789", "99999999999999999999"] {
        let page = visitor.get(&format!("/portal/search?q={q}"));
        assert_eq!(page.status, 200, "{q}: {}", page.text());
        assert!(page.text().contains("No se encontró nada."), "{q}: {}", page.text());
    }
    // Of another tenant nothing is found.
    let stranger = server.tenant();
    let stranger = Visitor::of_portal(server.nobody(), text(&stranger.created["testKey"], "key"));
    assert!(!stranger.get(&format!("/portal/search?q={id}")).text().contains(&link));
}

#[test]
fn typing_never_looks_for_people() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.pay(1);
    let api = server.nobody().with("hx-request", "true");
    let whole = visitor(&server, &tenant);
    let cookies: Vec<String> =
        whole.cookies().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let typing = api.with("cookie", &cookies.join("; "));
    // More of them than a tenant has misses.
    for n in 0..40 {
        let page = typing.get(&format!("/portal/search?q=V{}", 20_000_000 + n));
        assert!(page.status == 200 && page.text().contains("Presiona Enter"), "{}", page.text());
    }
    let page = whole.get("/portal/search?q=V12345678");
    assert!(page.status == 200 && page.text().contains("/portal/payments/"), "{}", page.text());
}

#[test]
fn the_first_page_says_what_was_sold_and_what_waits() {
    let server = Server::shared();
    let tenant = server.tenant();
    tenant.test.fund("100.00");
    let merchant = tenant.test.merchant();
    let visitor = visitor(&server, &tenant);
    assert!(visitor.get("/portal/home").text().contains("Nada espera por ti."));
    tenant.test.pay(10);
    tenant.test.pay_with(10, "99999999");
    tenant.test.payout(&merchant, "10.00", json!({})).expect(201);
    let home = visitor.get("/portal/home");
    let table = |field: &str| {
        let table = home.text().split(&format!("data-field=\"{field}\">")).nth(1).expect("a table");
        plain(table.split("</table>").next().expect("its end")).replace('\u{a0}', " ")
    };
    let sales = table("sales");
    for part in ["Ventas", "Bs 2.000,00", "Comisiones", "Bs 30,00", "Pagos", "Bs 10,00", "Bs 0,00"] {
        assert!(sales.contains(part), "{part}: {sales}");
    }
    let methods = table("methods");
    assert!(methods.contains("/portal/payments?method=C2P&status=FAILED"), "{methods}");
    // Tomorrow it is yesterday's.
    tenant.test.advance(86_400);
    let home = visitor.get("/portal/home?lang=en");
    let sales = home.text().split("data-field=\"sales\">").nth(1).expect("a table").to_owned();
    let first = sales
        .split("<tbody>")
        .nth(1)
        .and_then(|rows| rows.split("</tr>").next())
        .expect("a row")
        .replace('\u{a0}', " ");
    assert!(first.find("Bs 0.00") < first.find("Bs 2,000.00"), "{first}");
}

fn log_in(browser: &Browser, server: &Server, tenant: &Tenant) {
    browser.goto(&format!("{}/portal", server.url()));
    browser.fill("key", text(&tenant.created["testKey"], "key"));
    browser.click("[data-action=login]");
    browser.find("main[data-page=home]");
}

#[test]
fn the_keyboard_goes_from_row_to_row_and_to_the_search() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(77);
    tenant.test.pay(1);
    let browser = Browser::open(DESKTOP);
    log_in(&browser, &server, &tenant);
    browser.picture("lists-portal-home");
    browser.tab_to("#q");
    browser.press(text(&payment, "externalRef"));
    browser.find(&format!("#found a[href*='/payments/{}']", text(&payment, "paymentId")));
    browser.picture("lists-portal-found");
    browser.assert_open_to_all();
    browser.goto(&format!("{}/portal/payments", server.url()));
    browser.find("[data-list] tbody");
    browser.press("j");
    browser.press("j");
    browser.press("k");
    browser.press("j");
    let at = "return [...document.querySelectorAll('[data-list] tbody tr')].indexOf(document.activeElement.closest('tr'))";
    assert_eq!(browser.script(at), 1);
    browser.press(Key::Enter);
    browser.find("main[data-page=payment]");
    browser.press("/");
    assert_eq!(browser.script("return document.activeElement.id"), "q");
    browser.assert_at_home(&server.url());
}

#[test]
fn lists_fit_every_screen_and_are_open_to_all() {
    let server = Server::start();
    let tenant = server.tenant();
    for usd in [1, 20, 3000] {
        tenant.test.pay(usd);
    }
    tenant.test.pay_with(10, "99999999");
    tenant.test.fund("5000.00");
    let merchant = tenant.test.merchant();
    tenant.test.payout(&merchant, "1234.50", json!({ "concepto": "liquidación semanal" })).expect(201);
    for phone in [Some(1440), Some(390), Some(320)] {
        let browser = Browser::open(Setup { phone, dark: phone == Some(320), scripts: true });
        log_in(&browser, &server, &tenant);
        for path in [
            "home",
            "payments",
            "payments?status=FAILED&minAmount=1",
            "payments?from=ayer",
            "payouts",
            "conversions",
            "events",
            "requests",
            "requests?answered=refused&method=POST",
            "search?q=V12345678",
        ] {
            browser.goto(&format!("{}/portal/{path}", server.url()));
            browser.find("main");
            let wide = browser.script("return document.documentElement.scrollWidth > innerWidth");
            let width = phone.unwrap_or_default();
            browser.picture(&format!("lists-portal-{}-{width}", path.replace(['?', '=', '&'], "-")));
            assert_eq!(wide, false, "{path} is wider than {width}");
            browser.assert_open_to_all();
        }
    }
    assert!(!list(&tenant.test.get("/v1/payouts").expect(200), "items").is_empty());
}

#[test]
fn a_file_for_people_has_their_words_days_and_decimals() {
    let server = Server::shared();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    let visitor = visitor(&server, &tenant);
    let query = "/portal/payments?format=csv&from=2020-01-01&to=2100-01-31";
    let answer = visitor.get(&format!("{query}&separator=semicolon"));
    let name = answer.header("content-disposition").expect("a name");
    assert!(
        name.starts_with("attachment; filename=\"cobros-prueba-")
            && name.ends_with("-2020-01-01-2100-01-31.csv\""),
        "{name}"
    );
    let text_of = answer.text();
    let mut lines = text_of.lines();
    let heads = lines.next().expect("a header");
    assert!(
        heads.starts_with('\u{feff}') && heads.contains("Creado") && heads.contains("Comisión (Bs)"),
        "{heads}"
    );
    let row = lines.next().expect("a row");
    let at = chrono::DateTime::parse_from_rfc3339(text(&payment, "createdAt")).expect("an instant");
    let in_caracas = (at - chrono::TimeDelta::hours(4)).format("%Y-%m-%d %H:%M:%S").to_string();
    for cell in [&*in_caracas, "2000,00", "Cobrado"] {
        assert!(row.split(';').any(|known| known.trim_matches('"') == cell), "{cell}: {row}");
    }
    // A month is one only if it is whole.
    for (days, named) in [
        ("from=2026-02-01&to=2026-02-28", "2026-02"),
        ("from=2026-02-01&to=2026-02-05", "2026-02-01-2026-02-05"),
    ] {
        let answer = visitor.get(&format!("/portal/payments?format=csv&{days}"));
        let name = answer.header("content-disposition").expect("a name");
        assert!(name.ends_with(&format!("-{named}.csv\"")), "{name}");
    }
    // The form sends every box that is checked: with the list's own, nothing was chosen.
    let page = visitor.get("/portal/payments").text().to_owned();
    let boxes = page.split("name=\"cols\"").skip(1).map(|rest| rest.split('>').next().unwrap_or_default());
    let checked = boxes.filter(|part| part.contains("checked")).map(|part| {
        let value = part.split("value=\"").nth(1).and_then(|rest| rest.split('"').next());
        format!("&cols={}", value.unwrap_or_else(|| panic!("{part}")))
    });
    let checked: String = checked.collect();
    assert!(checked.contains("&cols=status"), "{checked}");
    let filtered = visitor.get(&format!("{query}&separator=semicolon{checked}"));
    assert_eq!(filtered.text().lines().next(), Some(heads));
    // The columns that are chosen, and no others.
    let chosen = visitor.get(&format!("{query}&cols=vesAmount&cols=status"));
    assert_eq!(chosen.text().lines().collect::<Vec<_>>(), ["Estado,Monto (Bs)", "Cobrado,2000.00"]);
}
