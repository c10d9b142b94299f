//! The portal in a real browser: on a telephone, in the dark, by keyboard, and without a script.

use crate::browser::{Browser, DESKTOP, Setup};
use crate::harness::check::{list, text};
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use thirtyfour::Key;

const PAGES: [&str; 9] =
    ["home", "payments", "payouts", "merchants", "links", "webhooks", "requests", "keys", "live"];

fn log_in(browser: &Browser, server: &Server, key: &str, query: &str) {
    browser.goto(&format!("{}/portal{query}", server.url()));
    browser.fill("key", key);
    browser.click("[data-action=login]");
    browser.find("[data-page=home], [data-page=login] nav, main[data-page=home]");
}

/// With and without what it says of a wrong key.
fn assert_login_is_open_to_all(browser: &Browser, server: &Server, query: &str) {
    browser.goto(&format!("{}/portal{query}", server.url()));
    browser.find("[name=key]");
    browser.assert_open_to_all();
    browser.fill("key", "pk_test_nobody");
    browser.click("[data-action=login]");
    browser.find("[data-status=error]");
    browser.assert_open_to_all();
}

#[test]
fn every_page_fits_a_small_dark_telephone() {
    let server = Server::start();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    tenant.test.merchant();
    let browser = Browser::open(Setup { phone: Some(320), dark: true, scripts: true });
    assert_login_is_open_to_all(&browser, &server, "");
    log_in(&browser, &server, text(&tenant.created["testKey"], "key"), "");
    let pages =
        PAGES.map(str::to_owned).into_iter().chain([format!("payments/{}", text(&payment, "paymentId"))]);
    for page in pages {
        browser.goto(&format!("{}/portal/{page}", server.url()));
        browser.find("main");
        let wide = browser.script("return document.documentElement.scrollWidth > innerWidth");
        assert_eq!(wide, false, "{page} is wider than the screen");
        let unlabelled = browser.script("return [...document.querySelectorAll('input:not([type=hidden]), select, textarea')].filter((input) => !(input.labels && input.labels.length) && !input.closest('fieldset')).length");
        assert_eq!(unlabelled, 0, "{page} has an input without a label");
        let small = browser.script("return [...document.querySelectorAll('main button, main select')].filter((part) => { const box = part.getBoundingClientRect(); return box.width > 0 && box.height < 44; }).map((part) => part.outerHTML)");
        assert_eq!(small, serde_json::json!([]), "{page} has something too small for a thumb");
        browser.picture(&format!("portal-phone-{}", page.replace('/', "-")));
        browser.assert_open_to_all();
    }
    browser.goto(&format!("{}/portal/home", server.url()));
    browser.wait_until("return document.querySelector('.canvas canvas') !== null");
    browser.assert_at_home(&server.url());
}

/// The words of a page's tables that stand in more than one line.
const BROKEN_WORDS: &str = "
    const broken = [];
    for (const cell of document.querySelectorAll('th, td')) {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            if (texts.currentNode.parentElement.closest('.mono')) continue;
            for (const word of texts.currentNode.data.matchAll(/\\S+/g)) {
                const range = document.createRange();
                range.setStart(texts.currentNode, word.index);
                range.setEnd(texts.currentNode, word.index + word[0].length);
                const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
                if (lines.size > 1 && !word[0].includes('-')) broken.push(word[0]);
            }
        }
    }
    return broken;";

/// The sections that can be pressed: a thumb's height, inside the screen.
const SECTIONS_IN_SIGHT: &str = "
    return [...document.querySelectorAll('nav a')].filter((link) => {
        const box = link.getBoundingClientRect();
        return box.height >= 44 && box.left >= 0 && box.right <= innerWidth;
    }).length;";

#[test]
fn a_telephone_has_its_sections_in_a_menu_and_whole_words() {
    let server = Server::start();
    let tenant = server.tenant_with(serde_json::json!({ "cop": { "enabled": true } }));
    tenant.test.fund("5000.00");
    let payment = tenant.test.pay(10);
    tenant.test.reverse(&payment).expect(200);
    tenant.test.cop_paid(50_000);
    let merchant = tenant.test.merchant();
    tenant
        .test
        .payout(&merchant, "10.00", serde_json::json!({ "concepto": "liquidación semanal" }))
        .expect(201);
    for width in [360, 320] {
        let browser = Browser::open(Setup { phone: Some(width), dark: false, scripts: true });
        log_in(&browser, &server, text(&tenant.created["testKey"], "key"), "");
        let more = ["sessions", "statements", "home?currency=COP"];
        for page in PAGES.into_iter().chain(more) {
            browser.goto(&format!("{}/portal/{page}", server.url()));
            browser.find("main");
            let header =
                browser.script("return document.querySelector('.top').getBoundingClientRect().height");
            assert!(
                header.as_f64().is_some_and(|high| high < 70.0),
                "{page} at {width}: {header} pixels of header"
            );
            assert_eq!(browser.script(SECTIONS_IN_SIGHT), 0, "{page} at {width}: the menu is shut");
            browser.click(".menu summary");
            assert_eq!(browser.script(SECTIONS_IN_SIGHT), 12, "{page} at {width}: all sections");
            browser.find("[data-action=logout]");
            browser.assert_open_to_all();
            browser.picture(&format!("portal-{width}-menu"));
            browser.click(".menu summary");
            assert_eq!(browser.script(BROKEN_WORDS), serde_json::json!([]), "{page} at {width}");
            let name = format!("portal-{width}-{}", page.replace(['?', '='], "-"));
            browser.picture(&name);
            browser.script("document.querySelector('main > .scroll')?.scrollIntoView()");
            browser.picture(&format!("{name}-table"));
        }
    }
}

#[test]
fn every_page_is_open_to_all_in_both_languages() {
    let server = Server::start();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    tenant.test.merchant();
    let browser = Browser::open(DESKTOP);
    assert_login_is_open_to_all(&browser, &server, "?lang=en");
    log_in(&browser, &server, text(&tenant.created["testKey"], "key"), "?lang=en");
    let more = ["sessions", "statements"].map(str::to_owned);
    let one = format!("payments/{}", text(&payment, "paymentId"));
    for page in PAGES.map(str::to_owned).into_iter().chain(more).chain([one]) {
        for language in ["en", "es"] {
            browser.goto(&format!("{}/portal/{page}?lang={language}", server.url()));
            browser.find("main");
            browser.assert_open_to_all();
            let kind = browser.script("return document.querySelector('main').dataset.page");
            browser.picture(&format!("portal-{}-{language}", kind.as_str().unwrap_or_default()));
        }
    }
}

#[test]
fn the_keyboard_pays() {
    let server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("100.00");
    let merchant = tenant.test.merchant();
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}/portal/payouts", server.url()));
    browser.tab_to("[name=key]");
    browser.press(text(&tenant.created["testKey"], "key"));
    browser.press(Key::Enter);
    browser.find("[data-page=payouts]");
    let reference = fresh("po");
    for (name, typed) in [
        ("merchantId", text(&merchant, "merchantId")),
        ("monto", "12.50"),
        ("concepto", "semana"),
        ("externalRef", &reference),
    ] {
        browser.tab_to(&format!("#create-payout-{name}"));
        browser.press(typed);
    }
    browser.press(Key::Enter);
    browser.tab_to("[data-action=confirm]");
    browser.press(Key::Enter);
    browser.find("[data-page=payout][data-status=completed]");
    browser.assert_at_home(&server.url());
    assert_eq!(text(&list(&tenant.test.get("/v1/payouts").expect(200), "items")[0], "monto"), "12.50");
}

#[test]
fn without_a_script_everything_is_read_and_done() {
    let server = Server::start();
    let tenant = server.tenant();
    let payment = tenant.test.pay(10);
    tenant.test.fund("5000.00");
    let browser = Browser::open(Setup { scripts: false, ..DESKTOP });
    log_in(&browser, &server, text(&tenant.created["testKey"], "key"), "?lang=en");
    browser.goto(&format!("{}/portal/payments/{}?lang=en", server.url(), text(&payment, "paymentId")));
    browser.click("[data-action=reverse]");
    browser.click("[data-action=confirm]");
    browser.find("[data-page=payment][data-status=REVERSED]");
    assert!(browser.text("[data-field=timeline]").contains("reversed"));
    assert_eq!(tenant.test.payment(&payment)["status"], "REVERSED");
}

#[test]
fn what_a_payout_would_do_fits_every_screen() {
    let server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("1234567.89");
    let merchant = tenant.test.merchant();
    let id = text(&merchant, "merchantId");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("pagos.csv");
    let rows = format!("uno,{id},1000000.00,semana\ndos,{id},234567.90,otra\ntres,{id},1.04,más\n");
    std::fs::write(&file, format!("externalRef,merchantId,monto,concepto\n{rows}")).expect("a file");
    // A telephone without scripts hangs in the browser's driver.
    for (phone, scripts) in [(Some(390), true), (None, false), (Some(1024), true), (Some(1440), true)] {
        let browser = Browser::open(Setup { phone, dark: false, scripts });
        let width = phone.map_or_else(|| "wide".to_owned(), |width| width.to_string());
        log_in(&browser, &server, text(&tenant.created["testKey"], "key"), "");
        for language in ["es", "en"] {
            let assert_fits = |what: &str| {
                browser.find("[data-action=confirm]");
                if scripts {
                    let wide = browser.script("return document.documentElement.scrollWidth > innerWidth");
                    assert_eq!(wide, false, "{what} is wider than the screen of {width}");
                    browser.assert_open_to_all();
                }
                browser.picture(&format!("portal-{what}-{language}-{width}"));
            };
            let payouts = format!("{}/portal/payouts?lang={language}", server.url());
            browser.goto(&payouts);
            let reference = fresh("po");
            for (name, typed) in
                [("merchantId", id), ("monto", "12.50"), ("concepto", "semana"), ("externalRef", &reference)]
            {
                browser.fill(name, typed);
            }
            browser.click("[data-action=create-payout]");
            assert_fits("review");
            browser.click("[data-action=back]");
            browser.find(&format!("#create-payout-externalRef[value=\"{reference}\"]"));
            browser.goto(&payouts);
            browser.choose_file("file", &file);
            browser.click("[data-action=preview]");
            assert_fits("preview");
        }
    }
    assert!(list(&tenant.test.get("/v1/payouts").expect(200), "items").is_empty(), "nothing was confirmed");
}
