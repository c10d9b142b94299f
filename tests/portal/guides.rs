//! The guides in a browser: whom they keep out, and what their script does.

use crate::browser::{Browser, DESKTOP};
use crate::harness::server::Server;

/// A telephone, a tablet, and a screen that has room for the page's table of contents; by day and by night.
const SCREENS: [(u32, bool); 6] =
    [(320, false), (768, true), (1440, false), (320, true), (768, false), (1440, true)];

/// Each page on one screen in each language, light in the one and dark in the other; all pages on all screens would
/// take six times as long.
#[test]
fn every_guide_is_open_to_all() {
    let server = Server::start();
    let browser = Browser::open(DESKTOP);
    for (language, shift) in [("es", 0), ("en", 3)] {
        browser.goto(&format!("{}/docs/{language}", server.url()));
        let pages =
            browser.script("return [...document.querySelectorAll('#guides a')].map((link) => link.href)");
        let pages = pages.as_array().expect("a list").clone();
        assert!(pages.len() > 30, "{pages:?}");
        let more = ["search?q=webhook", "search?q=xyzzy", "errors/insufficient_balance"];
        let more = more.map(|page| format!("{}/docs/{language}/{page}", server.url()));
        let pages = pages.iter().map(|page| page.as_str().expect("an address").to_owned()).chain(more);
        for (at, page) in pages.enumerate() {
            let (width, dark) = SCREENS[(at + shift) % SCREENS.len()];
            browser.screen(width, dark);
            browser.goto(&page);
            let wide = browser.script("return document.documentElement.scrollWidth > innerWidth");
            assert_eq!(wide, false, "{page} is wider than {width}");
            browser.assert_open_to_all();
        }
    }
    browser.assert_at_home(&server.url());
}

#[test]
fn the_script_remembers_a_language_and_copies_its_program() {
    let server = Server::start();
    let browser = Browser::open(DESKTOP);
    browser.goto(&format!("{}/docs/en/c2p", server.url()));
    browser.click("[role=tab][data-language=python]");
    browser.goto(&format!("{}/docs/en/quick-start", server.url()));
    // Every example that has the language shows it.
    let others = browser.script("return [...document.querySelectorAll('.example')].filter((one) => one.querySelector('[data-language=python]') && one.querySelector('[aria-selected=true]').dataset.language !== 'python').length");
    assert_eq!(others, 0);
    browser.script(
        "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }",
    );
    let copied = |button: &str| {
        browser.script(&format!("window.copied = undefined; {button}.click()"));
        browser.wait_until("return window.copied !== undefined");
        browser.script("return window.copied").as_str().expect("a text").to_owned()
    };
    let whole = "document.querySelector('.program .copy + .copy')";
    assert_eq!(browser.text(".program .copy + .copy"), "Copy the whole program");
    let program = copied(whole);
    assert!(program.starts_with("import") || program.starts_with("from"), "{program}");
    assert!(!program.contains("pip install") && program.contains("except"), "{program}");
    let one = copied("document.querySelector('.example.program .copy')");
    assert!(program.starts_with(&one) && program.len() > 3 * one.len(), "{one}");
    browser.click(".program [role=tab][data-language=sh]");
    let program = copied(whole);
    assert!(program.starts_with("curl") && !program.contains("import"), "{program}");
    browser.assert_at_home(&server.url());
}

#[test]
fn a_telephone_has_the_contents_of_a_page_at_its_top_and_closed() {
    let server = Server::start();
    let browser = Browser::open(DESKTOP);
    browser.screen(390, false);
    browser.goto(&format!("{}/docs/es/webhooks", server.url()));
    let above = browser.script(
        "const top = (one) => document.querySelector(one).getBoundingClientRect().top;
         return top('h1') < top('aside summary') && top('aside summary') < top('main h2');",
    );
    assert_eq!(above, true);
    assert_eq!(browser.script("return document.querySelector('aside details').open"), false);
    browser.click("aside summary");
    browser.click("aside li:nth-child(3) a");
    assert!(browser.address().contains("/docs/es/webhooks#"), "{}", browser.address());
    // The menu shows where the page is in it.
    browser.click(".menu");
    browser.find("#guides [aria-current]");
    let seen = browser.script(
        "const box = document.querySelector('#guides [aria-current]').getBoundingClientRect();
         return box.top > 0 && box.bottom < innerHeight;",
    );
    assert_eq!(seen, true);
    browser.screen(1440, false);
    browser.goto(&format!("{}/docs/es/c2p", server.url()));
    browser.find("aside a");
}
