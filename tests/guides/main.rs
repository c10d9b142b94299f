//! The guides and the reference in a browser: read on a telephone, on a tablet and on a desktop, in both languages.

#[path = "../api/harness/mod.rs"]
mod harness;

// The buyers' pages use more of it.
#[allow(dead_code)]
#[path = "../checkout/browser.rs"]
mod browser;

#[path = "../axe/mod.rs"]
mod axe;

use browser::{Browser, Setup};
use harness::server::Server;
use serde_json::{Value, json};

/// The widths, in CSS pixels, and the language that each is read in.
const READERS: [(u32, bool, &str); 4] =
    [(390, false, "es"), (390, true, "en"), (768, true, "es"), (1280, false, "en")];

/// What is wider than its place: the page, a table. Code may scroll.
const TOO_WIDE: &str = "
    return [document.documentElement, ...document.querySelectorAll('.wide, table')]
        .filter((part) => part.scrollWidth > part.clientWidth + 1)
        .map((part) => `${part.tagName}: ${part.scrollWidth} > ${part.clientWidth}: ${part.innerText.slice(0, 60)}`);";

/// The tabs and what copies, which the scripts of the pages make.
const EXAMPLES: &str = "
    return [...document.querySelectorAll('.example')].map((example) => ({
        tabs: [...example.querySelectorAll('[role=tab]')].map((tab) => tab.textContent),
        shown: [...example.querySelectorAll('[role=tab][aria-selected=true]')].map((tab) => tab.textContent),
        code: [...example.querySelectorAll('[role=tabpanel]:not([hidden]) code')].map((code) => code.textContent),
        calls: example.textContent.includes('curl -'),
    }));";

impl Browser {
    #[track_caller]
    fn assert_fits(&self) {
        assert_eq!(self.script(TOO_WIDE), json!([]), "at {}", self.address());
    }
}

fn reader(width: u32, dark: bool) -> Browser {
    Browser::open(Setup { phone: Some(width), dark, scripts: true })
}

/// The addresses of the guides, as the menu has them.
fn guides(browser: &Browser) -> Vec<String> {
    let found = browser.script("return [...document.querySelectorAll('#guides a')].map((link) => link.href)");
    let found: Vec<String> = serde_json::from_value(found).expect("addresses");
    assert!(found.len() > 25, "{found:?}");
    found
}

#[test]
fn every_guide_is_open_to_all_and_fits_its_reader() {
    let server = Server::start();
    for (width, dark, language) in READERS {
        let browser = reader(width, dark);
        browser.goto(&format!("{}/docs/{language}", server.url()));
        let more = ["search?q=webhok", "search?q=xyzzy", "nowhere"];
        let more = more.map(|page| format!("{}/docs/{language}/{page}", server.url()));
        for page in guides(&browser).into_iter().chain(more) {
            browser.goto(&page);
            browser.find("h1");
            browser.assert_fits();
            browser.assert_open_to_all();
            let name = page.rsplit('/').next().unwrap_or_default().replace(['?', '='], "-");
            browser.picture(&format!("guides-{width}-{language}-{name}"));
        }
        browser.assert_at_home(&server.url());
    }
}

#[test]
fn the_reference_and_the_first_page_are_open_to_all_and_fit_their_reader() {
    let server = Server::start();
    for (width, dark, language) in READERS {
        let browser = reader(width, dark);
        browser.goto(&server.url());
        browser.find("h1");
        browser.assert_fits();
        browser.assert_open_to_all();
        browser.goto(&format!("{}/docs?lang={language}", server.url()));
        browser.find("details.operation");
        browser.assert_fits();
        // One that is open has forms.
        browser.script("document.querySelector('#executeC2p').open = true");
        browser.find("#executeC2p textarea");
        browser.assert_fits();
        browser.assert_open_to_all();
        browser.picture(&format!("reference-{width}-{language}"));
        browser.assert_at_home(&server.url());
    }
}

#[test]
fn on_a_telephone_the_menu_stands_above_the_heading_and_opens() {
    let server = Server::start();
    let browser = reader(390, false);
    browser.goto(&format!("{}/docs/es/quick-start", server.url()));
    browser.find("h1");
    let above = browser.script(
        "const box = (selector) => document.querySelector(selector).getBoundingClientRect();
         return box('.menu').bottom <= box('h1').top && box('.menu').top >= 0;",
    );
    assert_eq!(above, true);
    let shown = "return document.querySelector('#guides').checkVisibility()";
    assert_eq!(browser.script(shown), false);
    browser.click(".menu");
    browser.find("#guides [aria-current]");
    browser.assert_fits();
    browser.assert_open_to_all();
    browser.click("#guides a[href$='/webhooks']");
    browser.find("main[data-page=webhooks]");
    assert_eq!(browser.script(shown), false, "the menu is closed again");
}

#[test]
fn a_language_is_chosen_once_and_its_code_is_copied() {
    let server = Server::start();
    for (language, copy, copied) in [("es", "Copiar", "Copiado"), ("en", "Copy", "Copied")] {
        let browser = reader(390, false);
        browser.goto(&format!("{}/docs/{language}/quick-start", server.url()));
        browser.find("[role=tab]");
        let examples = browser.script(EXAMPLES);
        let calls = examples.as_array().expect("examples").iter().filter(|example| example["calls"] == true);
        let calls: Vec<&Value> = calls.collect();
        assert!(calls.len() >= 6, "{examples:#}");
        for example in calls {
            assert_eq!(example["tabs"], json!(["curl", "PHP", "JavaScript", "Python"]), "{example:#}");
        }
        for tab in ["Python", "PHP", "JavaScript"] {
            browser.script(&format!(
                "[...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent === '{tab}').click()"
            ));
            let examples = browser.script(EXAMPLES);
            for example in examples.as_array().expect("examples") {
                assert_eq!(example["shown"], json!([tab]), "{example:#}");
            }
        }
        // Another page shows the same.
        browser.goto(&format!("{}/docs/{language}/c2p", server.url()));
        browser.find("[role=tab]");
        let examples = browser.script(EXAMPLES);
        assert_eq!(examples[0]["shown"], json!(["JavaScript"]));
        browser.script("navigator.clipboard.writeText = async (text) => { window.taken = text; }");
        assert_eq!(browser.text(".example .copy"), copy);
        browser.click(".example .copy");
        browser.wait_until("return window.taken !== undefined");
        assert_eq!(browser.script("return window.taken"), examples[0]["code"][0]);
        browser.wait_until(&format!(
            "return document.querySelector('.example .copy').textContent === '{copied}'"
        ));
        let without = browser.script("return document.querySelectorAll('pre').length - document.querySelectorAll('.copy').length - document.querySelectorAll('[role=tabpanel][hidden]').length");
        assert_eq!(without, 0, "every block can be copied");
        browser.assert_at_home(&server.url());
    }
}

#[test]
fn without_a_script_every_language_is_there_to_open() {
    let server = Server::start();
    let browser = Browser::open(Setup { phone: Some(390), dark: false, scripts: false });
    browser.goto(&format!("{}/docs/en/quick-start", server.url()));
    browser.find("details[open] pre");
    browser.click("details[data-language=python] summary");
    assert!(browser.text("details[data-language=python]").contains("pip install"));
}
