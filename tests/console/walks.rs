//! Walks of operators through the console in a browser, as they have them to do: by keyboard, on a telephone,
//! in both languages, and on every page of a walk nothing that keeps anybody out.

use crate::browser::{Browser, DESKTOP, Setup};
use crate::harness::buyers::{Page, session};
use crate::harness::check::{list, text};
use crate::harness::flows::fresh;
use crate::harness::server::{ADMIN_TOKEN, Server};
use crate::login::hired;
use serde_json::json;
use thirtyfour::Key;

/// A telephone of a small kind.
const PHONE: Setup = Setup { phone: Some(320), dark: false, scripts: true };

impl Browser {
    /// Logs in to the console, by keyboard.
    #[track_caller]
    pub fn enter_console(&self, server: &Server, token: &str, query: &str) {
        self.goto(&format!("{}/console{query}", server.admin_url()));
        self.find("[name=token]");
        self.assert_open_to_all();
        self.tab_to("[name=token]");
        self.press(token);
        self.press(Key::Enter);
        self.find("main[data-page=home]");
    }

    /// Asserts that the page is shown as people need it, and keeps a picture of it.
    #[track_caller]
    pub fn stop_at(&self, page: &str, picture: &str) {
        self.find(&format!("main[data-page={page}]"));
        let wide = self.script("return document.documentElement.scrollWidth > innerWidth");
        assert_eq!(wide, false, "{page} is wider than the screen");
        self.assert_open_to_all();
        let kind = self.script("return document.documentElement.lang + (innerWidth < 500 ? '-phone' : '')");
        self.picture(&format!("{picture}-{}", kind.as_str().unwrap_or_default()));
    }

    /// Goes to an element by keyboard and presses Enter.
    #[track_caller]
    pub fn enter_at(&self, selector: &str) {
        if selector.starts_with("nav ") || selector.contains("logout") {
            self.open_sections();
        }
        self.tab_to(selector);
        self.press(Key::Enter);
    }
}

#[test]
fn a_complaint_with_an_order_number_leads_to_the_payment_and_what_to_do() {
    let server = Server::start();
    let tenant = server.tenant();
    let (_, support) = hired(&server, "support");
    for (setup, query, advice) in
        [(PHONE, "", "El banco todavía no respondió"), (DESKTOP, "?lang=en", "The bank has not answered yet")]
    {
        // The bank says nothing for a minute: the browser is there first.
        let browser = Browser::open(setup);
        let order = fresh("pedido");
        let page = Page::of(&server, &session(&tenant, json!({ "reference": &order })));
        let intent = page.request(json!({})).expect(201);
        page.execute(&intent, "77777777").expect(200);
        let payment = text(&intent, "intentId").to_owned();
        browser.enter_console(&server, &support, query);
        browser.tab_to("#q");
        browser.press(order.as_str());
        browser.press(Key::Enter);
        browser.stop_at("search", "console-search");
        browser.enter_at(&format!("main a[href*=\"/payments/{payment}\"]"));
        browser.stop_at("payment", "console-payment");
        let told = browser.text("[data-field=timeline]");
        assert!(told.contains("payment.charging"), "the call to the bank: {told}");
        let main = browser.text("main");
        assert!(main.contains(advice), "what to do: {main}");
        assert!(!main.contains("V12345678"), "the payer is masked until asked for");
        browser.enter_at("[data-action=unmask]");
        browser.wait_until("return document.querySelector('main').innerText.includes('V12345678')");
        browser.assert_open_to_all();
        browser.assert_at_home(&server.admin_url());
    }
}

#[test]
fn every_page_is_open_to_all_in_both_languages() {
    const PAGES: [&str; 9] = [
        "home",
        "tenants",
        "requests",
        "rails",
        "health",
        "audit",
        "statements",
        "reconciliations",
        "search",
    ];
    let server = Server::start();
    let tenant = server.tenant();
    tenant.test.pay(10);
    for (setup, language) in [(PHONE, "en"), (DESKTOP, "es")] {
        let browser = Browser::open(setup);
        browser.enter_console(&server, ADMIN_TOKEN, &format!("?lang={language}"));
        for page in PAGES {
            browser.goto(&format!("{}/console/{page}?lang={language}", server.admin_url()));
            browser.stop_at(page, &format!("console-{page}"));
        }
        browser.goto(&format!("{}/console/tenants/{}?lang={language}", server.admin_url(), tenant.id));
        browser.stop_at("tenant", "console-tenant");
        let seq = server.admin().get("/admin/status").expect(200)["walSeq"].clone();
        let at = |path: &str| format!("{}{path}", server.admin_url());
        let past = format!("/console/tenants/{}/past?mode=test&when={seq}&lang={language}", tenant.id);
        browser.goto(&at(&past));
        browser.stop_at("past", "console-past");
        browser.goto(&at(&format!("/console/records/{seq}?lang={language}")));
        browser.stop_at("record", "console-record");
    }
}

#[test]
fn a_rate_is_corrected_and_held() {
    let server = Server::start();
    let (_, treasury) = hired(&server, "treasury");
    let until = chrono::Utc::now() - chrono::TimeDelta::hours(4) + chrono::TimeDelta::hours(1);
    let until = until.format("%Y-%m-%dT%H:%M").to_string();
    for (setup, query, side) in [(PHONE, "?lang=en", "Buy"), (DESKTOP, "", "Compra")] {
        let browser = Browser::open(setup);
        browser.enter_console(&server, &treasury, query);
        browser.enter_at("nav a[href*=\"/console/rates\"]");
        browser.stop_at("rates", "console-rates");
        for (name, typed) in [
            ("pair", "USDT/COP"),
            ("source", "p2p"),
            // Chosen by its word, as whoever types does.
            ("side", side),
            ("price", "4100.00"),
            ("reason", "feriado"),
        ] {
            browser.tab_to(&format!("#pin-{name}"));
            browser.press(typed);
        }
        // The way in which a moment is typed depends on the browser's language.
        browser.script(&format!("document.getElementById('pin-pinnedUntil').value = '{until}'"));
        browser.press(Key::Enter);
        browser.enter_at("[data-action=confirm]");
        browser.find("tr[data-status=pinned]");
        browser.stop_at("rates", "console-rate-held");
        let price = server.nobody().get("/api/v1/fx/latest?pair=USDT/COP&source=p2p&side=BUY").expect(200);
        assert_eq!(price["price"], 4100, "{price}");
        browser.enter_at("[data-action=unpin]");
        browser.stop_at("rates", "console-rate-unpin");
        browser.enter_at("[data-action=confirm]");
        browser.wait_until("return document.querySelector('tr[data-status=pinned]') === null");
        let pins = server.admin().get("/admin/status").expect(200)["rates"]["pins"].clone();
        assert_eq!(pins, json!([]));
    }
}

#[test]
fn a_payout_is_approved_by_two_people() {
    let server = Server::start_with(&[("PASARELA__ADMIN__APPROVALS", "crypto-payouts")]);
    let tenant = server.tenant_with(json!({ "usdt": { "payoutAutoLimitUsdt": "1.00" } }));
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    let (_, treasurer) = hired(&server, "treasury");
    let (_, second) = hired(&server, "treasury");
    for (setup, query) in [(DESKTOP, ""), (PHONE, "?lang=en")] {
        let body = json!({ "amountUsdt": "10.00", "address": "0x52908400098527886E0F7030069857D2E4169EE7", "network": "POLYGON", "externalRef": fresh("cx") });
        let payout = tenant.test.post("/v1/crypto/payouts", &body).expect(201);
        assert_eq!(payout["status"], "pending_review");
        let id = text(&payout, "id");
        let browser = Browser::open(setup);
        browser.enter_console(&server, &treasurer, query);
        browser.enter_at("nav a[href*=\"/console/queues\"]");
        browser.enter_at("main a[href*=\"mode=test\"]");
        browser.stop_at("queues", "console-queues");
        assert_eq!(browser.text("[data-field=cryptoReviews]"), "1");
        browser.enter_at("main a[href*=\"/console/crypto/\"]");
        browser.stop_at("decision", "console-decision");
        browser.enter_at("[data-action=approve]");
        browser.stop_at("queues", "console-queues-asked");
        assert_eq!(browser.text("[data-field=approvals]"), "1", "it waits for the second person");
        browser.enter_at("[data-action=logout]");
        browser.find("main[data-page=login]");
        browser.enter_console(&server, &second, query);
        browser.enter_at("nav a[href*=\"/console/approvals\"]");
        browser.stop_at("approvals", "console-approvals");
        browser.tab_to("[data-field=note]");
        browser.press("visto con el comercio");
        browser.enter_at("[data-action=approve]");
        browser.wait_until("return document.querySelector('main [data-action=approve]') === null");
        browser.goto(&format!("{}/console/payouts/{id}", server.admin_url()));
        browser.stop_at("payout", "console-payout");
        let now = tenant.test.get(&format!("/v1/crypto/payouts/{id}")).expect(200);
        assert_ne!(now["status"], "pending_review", "{now}");
    }
    let approvals = server.admin().get("/admin/approvals?status=approved").expect(200);
    assert_eq!(list(&approvals, "items").len(), 2);
}

#[test]
fn a_queue_is_reached_from_home_and_its_buttons_stay_whole() {
    let server = Server::start();
    let tenant = server.tenant_with(json!({ "usdt": { "payoutAutoLimitUsdt": "1.00" } }));
    tenant.test.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    let body = json!({ "amountUsdt": "10.00", "address": "0x52908400098527886E0F7030069857D2E4169EE7", "network": "POLYGON", "externalRef": fresh("cx") });
    assert_eq!(tenant.test.post("/v1/crypto/payouts", &body).expect(201)["status"], "pending_review");
    let browser = Browser::open(DESKTOP);
    browser.enter_console(&server, ADMIN_TOKEN, "");
    browser.goto(&format!("{}/console/home?mode=test", server.admin_url()));
    browser.find("main[data-page=home]");
    let anchors =
        browser.script("return [...document.querySelectorAll('main a[href*=\"#\"]')].map(a => a.hash)");
    assert_eq!(anchors.as_array().map(Vec::len), Some(7), "{anchors}");
    browser.enter_at("main a[href$=\"#cryptoReviews\"]");
    browser.find("main[data-page=queues]");
    let broken = browser.script(
        "return [...document.querySelectorAll('td button, .acts button')].filter(button => {
            const range = document.createRange();
            range.selectNodeContents(button);
            return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size > 1;
        }).map(button => button.innerText)",
    );
    let lost = format!("return {anchors}.filter(anchor => !document.querySelector(anchor))");
    assert_eq!((broken, browser.script(&lost)), (json!([]), json!([])), "broken buttons, lost anchors");
}
