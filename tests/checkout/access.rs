//! Accessibility: the keyboard alone, a small telephone, a screen reader, dark and light. The audit
//! is our own: names and labels, headings, references, live regions, contrast of every text against
//! what is behind it, and room for a thumb.

use crate::browser::{Browser, DESKTOP, Setup};
use crate::c2p::{ask_for_key, pay_with, session};
use crate::harness::check::text;
use crate::harness::server::Server;
use serde_json::{Value, json};
use thirtyfour::Key;

/// Every fault of the page that is shown, in words.
const AUDIT: &str = r#"
const faults = [];
const shown = (element) => { const box = element.getBoundingClientRect(); const style = getComputedStyle(element); return box.width > 0 && box.height > 0 && style.visibility !== 'hidden'; };
const said = (element) => element.outerHTML.slice(0, 90);
if (!['es', 'en'].includes(document.documentElement.lang)) faults.push('no language');
if (!document.title.trim()) faults.push('no title');
if (document.querySelectorAll('main').length !== 1) faults.push('not one main');
if (document.querySelectorAll('h1').length !== 1) faults.push(document.querySelectorAll('h1').length + ' h1');
let level = 1;
for (const heading of document.querySelectorAll('h1, h2, h3, h4')) { const next = +heading.tagName[1]; if (next > level + 1) faults.push('a level is left out before ' + said(heading)); level = next; }
const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
for (const id of ids) if (ids.filter((other) => other === id).length > 1) faults.push('twice: #' + id);
for (const attribute of ['aria-describedby', 'aria-labelledby', 'for']) for (const element of document.querySelectorAll('[' + attribute + ']')) for (const id of element.getAttribute(attribute).split(' ')) if (!document.getElementById(id)) faults.push('no #' + id + ' for ' + said(element));
if (!document.querySelector('[aria-live]')) faults.push('no live region');
for (const input of document.querySelectorAll('input:not([type=hidden]), select, textarea')) if (shown(input) && !(input.labels && input.labels.length)) faults.push('no label: ' + said(input));
for (const element of document.querySelectorAll('a, button, summary')) if (!(element.textContent.trim() || element.getAttribute('aria-label'))) faults.push('no name: ' + said(element));
for (const image of document.querySelectorAll('img')) if (!image.hasAttribute('alt')) faults.push('no alt: ' + said(image));
for (const drawing of document.querySelectorAll('svg')) if (!drawing.closest('[aria-hidden=true], [role=img]')) faults.push('a drawing for nobody: ' + said(drawing));
const rgb = (text) => { const [r, g, b, a] = text.match(/[\d.]+/g).map(Number); return [r, g, b, a === undefined ? 1 : a]; };
const luminance = ([r, g, b]) => { const [R, G, B] = [r, g, b].map((part) => { const c = part / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * R + 0.7152 * G + 0.0722 * B; };
const behind = (element) => { for (let at = element; at; at = at.parentElement) { const color = rgb(getComputedStyle(at).backgroundColor); if (color[3] === 1) return color; } return matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18, 1] : [255, 255, 255, 1]; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const seen = new Set();
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || seen.has(element) || !shown(element) || element.closest('.unseen, .skip, script, noscript, option, :disabled')) continue;
  seen.add(element);
  const style = getComputedStyle(element);
  const [light, dark] = [luminance(rgb(style.color)), luminance(behind(element))].sort((a, b) => b - a);
  const ratio = (light + 0.05) / (dark + 0.05);
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && +style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5)) faults.push('contrast ' + ratio.toFixed(2) + ': ' + said(element));
}
for (const element of document.querySelectorAll('main button, main input:not([type=hidden]), main select, main a.go')) if (shown(element) && element.getBoundingClientRect().height < 44) faults.push('too small for a thumb: ' + said(element));
if (document.documentElement.scrollWidth > innerWidth) faults.push('wider than the screen: ' + document.documentElement.scrollWidth + ' > ' + innerWidth);
return faults;
"#;

/// Asserts that the page that is shown has no fault.
#[track_caller]
pub fn assert_open_to_all(browser: &Browser) {
    assert_eq!(browser.script(AUDIT), json!([]), "at {}", browser.address());
}

fn walk_through(setup: Setup, language: &str, name: &str) {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(setup);
    browser.goto(&format!("{}?lang={language}", text(&made, "url")));
    assert_eq!(browser.script("return matchMedia('(prefers-color-scheme: dark)').matches"), setup.dark);
    assert_open_to_all(&browser);
    browser.picture(&format!("{name}-1-choose"));
    browser.goto(&format!("{}?method=c2p&lang={language}", text(&made, "url")));
    browser.click("[data-action=request-token]");
    browser.wait_until("return document.querySelectorAll('[aria-invalid=true]').length === 3");
    assert_open_to_all(&browser);
    browser.picture(&format!("{name}-2-wrong"));
    ask_for_key(&browser);
    assert_open_to_all(&browser);
    browser.picture(&format!("{name}-3-key"));
    pay_with(&browser, "99999999");
    browser.wait_for("failed");
    assert_open_to_all(&browser);
    browser.picture(&format!("{name}-4-failed"));
    ask_for_key(&browser);
    pay_with(&browser, "77777777");
    browser.wait_for("processing");
    browser.find(".state h1");
    assert_open_to_all(&browser);
    browser.picture(&format!("{name}-5-processing"));
    tenant.test.advance(60);
    browser.wait_for("paid");
    assert_open_to_all(&browser);
    browser.picture(&format!("{name}-6-paid"));
    browser.goto(&format!("{}/pay/no-such-link?lang={language}", server.url()));
    assert_open_to_all(&browser);
    browser.assert_at_home(&server.url());
}

#[test]
fn every_page_passes_on_a_desktop() {
    walk_through(DESKTOP, "es", "desktop");
}

#[test]
fn every_page_passes_on_a_small_dark_telephone() {
    walk_through(Setup { phone: Some(320), dark: true, scripts: true }, "en", "phone");
}

/// Presses Tab until the element has the focus.
#[track_caller]
fn tab_to(browser: &Browser, selector: &str) {
    for _ in 0..25 {
        browser.press(Key::Tab);
        if browser.script(&format!("return document.activeElement.matches('{selector}')")) == true {
            let outlined =
                browser.script("return getComputedStyle(document.activeElement).outlineStyle !== 'none'");
            assert_eq!(outlined, true, "the focus on {selector} can't be seen");
            return;
        }
    }
    panic!("Tab never comes to {selector}");
}

#[test]
fn the_keyboard_is_enough() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(text(&made, "url"));
    tab_to(&browser, "[data-action=choose-c2p]");
    browser.press(Key::Enter);
    browser.find("[name=debtorBankCode]");
    tab_to(&browser, "[name=debtorBankCode]");
    browser.press("Banesco");
    tab_to(&browser, "[name=debtorId]");
    browser.press("V12345678");
    tab_to(&browser, "[name=debtorCellPhone]");
    browser.press("04141234567");
    browser.press(Key::Enter);
    browser.find("[name=token]");
    browser.wait_until("return document.activeElement.name === 'token'");
    browser.press("12345678");
    browser.press(Key::Enter);
    browser.wait_for("paid");
    browser.wait_until("return document.activeElement.tagName === 'H1'");
    assert_ne!(browser.script("return document.getElementById('live').textContent"), Value::Null);
}

#[test]
fn the_keyboard_is_enough_for_pesos_and_for_another_way() {
    let server = Server::start();
    let tenant = server.tenant();
    let made = session(&tenant);
    let browser = Browser::open(DESKTOP);
    browser.goto(text(&made, "url"));
    tab_to(&browser, "[data-action=choose-usdt]");
    browser.press(Key::Enter);
    browser.find("[data-field=address]");
    browser.wait_until("return document.activeElement.tagName === 'H2'");
    tab_to(&browser, "[data-action=choose-again]");
    browser.press(Key::Enter);
    browser.find("[data-action=choose-cop]");
    tab_to(&browser, "[data-action=choose-cop]");
    browser.press(Key::Enter);
    browser.find("[data-action=channel-sms]");
    tab_to(&browser, "[data-action=channel-sms]");
    browser.press(Key::Enter);
    browser.wait_until("return document.activeElement.name === 'email'");
    for (name, typed) in [
        ("email", "ana@example.com"),
        ("phone", "3001234567"),
        ("documentType", "C"),
        ("documentNumber", "1020304050"),
    ] {
        if browser.script(&format!("return document.activeElement.name === '{name}'")) != true {
            tab_to(&browser, &format!("[name={name}]"));
        }
        browser.press(typed);
    }
    browser.press(Key::Enter);
    browser.find("[name=otp]");
    browser.wait_until("return document.activeElement.name === 'otp'");
    browser.press("123456");
    browser.press(Key::Enter);
    browser.wait_for("paid");
    browser.wait_until("return document.activeElement.tagName === 'H1'");
}
