//! axe-core over every page of the checkout, in both languages, wide and narrow, light and dark; and
//! what a page weighs.
//!
//! The library is the one copy of the tests, `tests/axe`.

use crate::browser::{Browser, DESKTOP, Setup};
use crate::c2p::{ask_for_key, pay_with, session};
use crate::harness::check::text;
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};

const AXE: &str = include_str!("../axe/axe.min.js");

/// The bytes of a page with all that it loads.
const PAGE_BYTES_MAX: u64 = 60_000;

/// Runs axe over the page that is shown, in all its rules.
const RUN: &str = r#"
return axe.run(document, { resultTypes: ['violations', 'incomplete'] }).then((found) => ({
  passes: found.passes.length,
  violations: found.violations.map((rule) => [rule.impact, rule.id, rule.nodes.map((node) => node.html.slice(0, 120))]),
}));
"#;

/// What the page and what it loads weigh, uncompressed and without heads.
const WEIGH: &str = "return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].filter((entry) => !/\\/state/.test(entry.name)).reduce((sum, entry) => sum + entry.decodedBodySize, 0);";

/// The pages that were looked at.
#[derive(Default)]
struct Audit {
    pages: usize,
    rules: u64,
    heaviest: u64,
}

impl Audit {
    /// Loads a page and looks at it; none of axe's rules may be broken, and it may not be too heavy.
    #[track_caller]
    fn look_at(&mut self, browser: &Browser, address: &str, sign: &str) {
        browser.goto(address);
        browser.find(sign);
        self.look(browser);
        let weight = browser.script(WEIGH).as_u64().expect("bytes");
        assert!(weight <= PAGE_BYTES_MAX, "{weight} bytes at {address}");
        self.heaviest = self.heaviest.max(weight);
    }

    /// Looks at the page that is shown.
    #[track_caller]
    fn look(&mut self, browser: &Browser) {
        browser.script(AXE);
        let found = browser.script(RUN);
        assert_eq!(found["violations"], json!([]), "at {}", browser.address());
        self.pages += 1;
        self.rules += found["passes"].as_u64().expect("a number");
    }
}

/// A link whose buyer says how many.
fn link(tenant: &Tenant) -> String {
    let product =
        tenant.test.post("/v1/products", &json!({ "name": fresh("Café"), "priceUsd": "2.50" })).expect(201);
    let path = format!("/v1/products/{}/links", text(&product, "id"));
    let link = tenant.test.post(&path, &json!({ "allowQuantity": true, "maxQuantity": 10 })).expect(201);
    text(&link, "hostedCheckoutPath").to_owned()
}

fn audit(setup: Setup, lang: &str) -> Audit {
    let server = Server::start();
    let logo = format!("data:image/png;base64,{}", "iVBORw0KGgoA".repeat(1_000));
    let tenant = server.tenant_with(json!({ "shop": {
        "name": "Café Ávila", "rif": "J-12345678-9", "logo": logo, "email": "ventas@avila.example", "phone": "+58 212 555-0101",
    } }));
    let browser = Browser::open(setup);
    let mut audit = Audit::default();
    let made = session(&tenant);
    let url = text(&made, "url");
    audit.look_at(&browser, &format!("{url}?lang={lang}"), "[data-action=choose-card]");
    for (way, sign) in [
        ("c2p", "[name=debtorBankCode]"),
        ("pago_movil", "[name=reference]"),
        ("card", "[name=cardNumber]"),
        ("cop", "[data-action=channel-qr]"),
        ("usdt", "[data-action=show-address]"),
    ] {
        audit.look_at(&browser, &format!("{url}?method={way}&lang={lang}"), sign);
    }
    // Pages with their mistakes marked.
    for way in ["c2p", "pago_movil", "card", "cop&channel=sms"] {
        browser.goto(&format!("{url}?method={way}&lang={lang}"));
        browser.click(".panel button.go");
        browser.wait_until("return document.querySelectorAll('[aria-invalid=true]').length > 0");
        audit.look(&browser);
    }
    browser.goto(&format!("{url}?method=c2p&lang={lang}"));
    ask_for_key(&browser);
    audit.look(&browser);
    pay_with(&browser, "99999999");
    browser.wait_for("failed");
    audit.look(&browser);
    ask_for_key(&browser);
    pay_with(&browser, "77777777");
    browser.wait_for("processing");
    browser.find(".state h1");
    audit.look(&browser);
    tenant.test.advance(60);
    audit.look_at(&browser, &format!("{url}?lang={lang}"), "main[data-status=paid]");
    audit.look_at(&browser, &format!("{url}/receipt?lang={lang}"), "[data-page=receipt]");
    waiting(&mut audit, &browser, &tenant, lang);
    audit.look_at(&browser, &format!("{}{}?lang={lang}", server.url(), link(&tenant)), "[name=quantity]");
    audit.look_at(&browser, &format!("{}/pay/no-such-link?lang={lang}", server.url()), "h1");
    let made = session(&tenant);
    let frame = format!("{}/embed?lang={lang}", text(&made, "url"));
    audit.look_at(&browser, &frame, "[data-action=choose-card]");
    audit.look_at(&browser, &format!("{frame}&fields=card"), "[data-action=tokenize]");
    tenant.test.advance(24 * 3600);
    audit.look_at(&browser, &format!("{}?lang={lang}", text(&made, "url")), "main[data-status=expired]");
    audit
}

/// The pages that wait for pesos and USDT.
fn waiting(audit: &mut Audit, browser: &Browser, tenant: &Tenant, lang: &str) {
    let made: Value = session(tenant);
    let url = text(&made, "url");
    browser.goto(&format!("{url}?method=cop&lang={lang}"));
    browser.click("[data-action=channel-qr]");
    browser.find("[data-field=transferKey]");
    audit.look(browser);
    browser.goto(&format!("{url}?method=cop&channel=sms&lang={lang}"));
    browser.fill("email", "ana@example.com");
    browser.fill("phone", "3001234567");
    browser.fill("documentNumber", "1020304050");
    browser.click("[data-action=pay]");
    browser.find("[name=otp]");
    audit.look(browser);
    browser.goto(&format!("{url}?lang={lang}"));
    browser.click("[data-action=choose-usdt]");
    browser.find("[data-field=address]");
    audit.look(browser);
}

/// What the gate shows.
fn tell(name: &str, audit: &Audit) {
    let Audit { pages, rules, heaviest } = audit;
    println!(
        "axe-core, {name}: {pages} pages, {rules} rules passed, 0 broken; the heaviest page has {heaviest} bytes"
    );
    assert!(*pages >= 22, "{pages} pages");
}

#[test]
fn axe_finds_nothing_wide_and_light_in_spanish() {
    tell("wide, light, es", &audit(DESKTOP, "es"));
}

#[test]
fn axe_finds_nothing_narrow_and_dark_in_english() {
    tell("360 px, dark, en", &audit(Setup { phone: Some(360), dark: true, scripts: true }, "en"));
}
