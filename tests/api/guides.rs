//! The guides at `/docs/es` and `/docs/en`: what is served, where its links lead, and what its search finds.

use crate::harness::check::race;
use crate::harness::client::Api;
use crate::harness::server::Server;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// The most bytes of a page.
const PAGE_BYTES_MAX: usize = 60 << 10;

/// All pages of a language by their addresses, beginning with the first and following links.
fn pages(api: &Api, language: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut left = vec![format!("/docs/{language}")];
    while let Some(path) = left.pop() {
        if found.contains_key(&path) {
            continue;
        }
        let page = api.get(&path);
        assert_eq!(
            (page.status, page.header("content-type")),
            (200, Some("text/html; charset=utf-8")),
            "{path}"
        );
        let policy = page.header("content-security-policy").expect("a policy");
        assert!(policy.contains("default-src 'none'; script-src 'self'; style-src 'self';"), "{policy}");
        assert!(page.body.len() <= PAGE_BYTES_MAX, "{path} has {} bytes", page.body.len());
        let text = page.text().to_owned();
        // Nothing in the page itself: one script of a file, which a reader can do without.
        assert_eq!(text.matches("<script").count(), 1, "{path}");
        assert!(
            text.contains("<script src=\"/docs/guides.js\" defer></script>") && !text.contains("style="),
            "{path}"
        );
        let own = format!("/docs/{language}/");
        let own =
            links(&text).into_iter().filter(|link| link.starts_with(&own) && !link.ends_with("/search"));
        left.extend(own.map(|link| link.split('#').next().unwrap_or_default().to_owned()));
        found.insert(path, text);
    }
    found
}

/// Addresses on this server to which a page links, and those of its pictures.
fn links(page: &str) -> Vec<String> {
    let link = Regex::new(r#"(?:href|src|action)="([^"]+)""#).expect("a pattern");
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let targets = link.captures_iter(page).map(|found| decoded(&found[1].replace("&amp;", "&")));
    targets.filter(|target| target.starts_with('/') || target.starts_with('#')).collect()
}

fn ids(page: &str) -> BTreeSet<String> {
    let id = Regex::new(r#" id="([^"]+)""#).expect("a pattern");
    id.captures_iter(page).map(|found| found[1].to_owned()).collect()
}

/// Headings by their levels: how a page is divided.
fn outline(page: &str) -> Vec<String> {
    let heading = Regex::new("<(h[1-6]) id=").expect("a pattern");
    heading.captures_iter(page).map(|found| found[1].to_owned()).collect()
}

#[test]
fn every_link_of_the_guides_leads_somewhere() {
    let server = Server::start();
    let api = server.nobody();
    let mut all = pages(&api, "es");
    all.extend(pages(&api, "en"));
    let description = api.get("/openapi.json").text().to_owned();
    let mut followed = 0;
    for (path, page) in &all {
        for link in links(page) {
            followed += 1;
            let (target, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if target.is_empty() { path } else { target };
            match (all.get(target), anchor) {
                (_, "") => assert_eq!(api.get(target).status, 200, "{path} links to {link}"),
                (Some(page), anchor) => {
                    assert!(ids(page).contains(anchor), "{path} links to {link}: no such heading");
                }
                // Anchors of the reference are the names of operations.
                (None, operation) => assert!(
                    target == format!("/docs?lang={}", &path[6..8])
                        && description.contains(&format!("\"operationId\":\"{operation}\"")),
                    "{path} links to {link}"
                ),
            }
        }
    }
    assert!(followed > 1_000, "only {followed} links: are these the guides?");
}

#[test]
fn both_languages_have_the_same_pages() {
    let server = Server::start();
    let api = server.nobody();
    let (spanish, english) = (pages(&api, "es"), pages(&api, "en"));
    assert!(spanish.len() > 20, "{:?}", spanish.keys());
    assert_eq!(spanish.len(), english.len());
    for (path, page) in &spanish {
        let other = path.replacen("/docs/es", "/docs/en", 1);
        let name = path.rsplit('/').next().filter(|name| *name != "es").unwrap_or("index");
        assert!(
            page.contains(&format!("data-page=\"{name}\"")) && page.contains("<html lang=\"es\">"),
            "{path}"
        );
        assert!(page.contains(&format!("href=\"{other}\"")), "{path} does not lead to {other}");
        assert_eq!(outline(page), outline(&english[&other]), "{path}");
    }
}

#[test]
fn every_event_is_in_the_table_of_events() {
    let server = Server::start();
    let api = server.nobody();
    let description = api.get("/openapi.json").expect(200);
    let events = description["webhooks"].as_object().expect("events");
    for language in ["es", "en"] {
        let page = api.get(&format!("/docs/{language}/webhooks"));
        let table = page.text().rsplit("<table>").next().expect("a table").to_owned();
        for event in events.keys() {
            assert!(table.contains(&format!("<code>{event}</code>")), "{language}: {event}");
        }
    }
}

#[test]
fn the_search_finds_words_of_the_domain_and_says_when_it_finds_nothing() {
    let server = Server::start();
    let api = server.nobody();
    for (language, sought) in [
        ("es", "cédula"),
        ("es", "CEDULA"),
        ("es", "reintegro"),
        ("es", "webhook"),
        ("es", "débito inmediato"),
        ("en", "refund"),
        ("en", "webhooks"),
        ("en", "4000000000000069"),
    ] {
        let page = api.query(&format!("/docs/{language}/search"), &[("q", sought)]);
        let text = page.text();
        assert_eq!(page.status, 200);
        assert!(text.contains("<mark>") && !text.contains("data-found=\"0\""), "{sought}: {text}");
    }
    for (code, language) in [("external_ref_conflict", "en"), ("am04", "es")] {
        let page = api.query(&format!("/docs/{language}/search"), &[("q", code)]);
        let path = format!("/docs/{language}/errors/{}", if code == "am04" { "AM04" } else { code });
        let first = page.text().split("<ol class=\"found\">").nth(1).expect("results").trim();
        assert!(first.starts_with(&format!("<li><a href=\"{path}\">")), "{first}");
        assert_eq!(api.get(&path).status, 200);
    }
    for (language, says) in [("es", "No encontramos nada con"), ("en", "We found nothing for")] {
        let page = api.query(&format!("/docs/{language}/search"), &[("q", "xyzzy <b>")]);
        assert!(page.text().contains("data-found=\"0\"") && page.text().contains(says), "{}", page.text());
        assert!(page.text().contains("xyzzy &#60;b&#62;") || page.text().contains("xyzzy &lt;b&gt;"));
        assert!(!page.text().contains("<b>"));
        // The other language searches for the same.
        assert!(page.text().contains("/search?q=xyzzy"), "{}", page.text());
        assert!(!api.get(&format!("/docs/{language}/search")).text().contains("data-found"));
    }
    let found = api.query("/docs/es/search", &[("q", "webhook")]);
    let first = links(found.text().split("class=\"found\"").nth(1).expect("a list")).remove(0);
    assert_eq!(first, "/docs/es/webhooks");
}

#[test]
fn readers_come_to_their_language() {
    let server = Server::start();
    let api = server.nobody();
    for (sent, language, says) in
        [("es-VE,es;q=0.9", "es", "Guías"), ("en-US,en;q=0.9", "en", "Guides"), ("fr", "es", "Guías")]
    {
        let reader = api.with("accept-language", sent);
        let way = reader.get("/docs/");
        assert_eq!((way.status, way.header("location")), (303, Some(&*format!("/docs/{language}"))));
        let reference = reader.get("/docs");
        assert_eq!((reference.status, reference.header("vary")), (200, Some("Accept-Language")));
        assert!(
            reference.text().contains(says) && reference.text().contains(&format!("/docs/{language}/errors"))
        );
    }
    // The address comes before the browser's settings.
    for (sent, language, says) in [("en", "es", "Guías"), ("es", "en", "Guides")] {
        let reader = api.with("accept-language", sent);
        let way = reader.get(&format!("/docs/?lang={language}"));
        assert_eq!((way.status, way.header("location")), (303, Some(&*format!("/docs/{language}"))));
        assert!(reader.get(&format!("/docs?lang={language}")).text().contains(says));
    }
    // What is not there is a page too, with the way to what is.
    let missing = api.get("/docs/en/nowhere");
    assert_eq!((missing.status, missing.header("content-type")), (404, Some("text/html; charset=utf-8")));
    assert!(missing.text().contains("There is no such page"));
    assert_eq!(api.get("/docs/fr").status, 404);
    assert_eq!(api.request("POST", "/docs/es").header("allow"), Some("GET, HEAD"));
    let etag = api.get("/docs/es").header("etag").expect("an ETag").to_owned();
    assert_eq!(api.with("if-none-match", &etag).get("/docs/es").status, 304);
    // Guides are for integrators: operators have their reference alone.
    assert_eq!(server.admin().get("/docs/es").status, 404);
    assert!(!server.admin().get("/docs").text().contains("/docs/es"));
}

/// A ligature that is eighteen words when it is spelt.
#[test]
fn a_search_costs_little_whatever_is_searched_for() {
    let server = Server::start();
    let api = server.nobody();
    api.query("/docs/es/search", &[("q", "webhook")]);
    let long = "\u{FDFA}".repeat(128);
    let ask = |q: &str| {
        let answer = api.query("/docs/es/search", &[("q", q)]);
        assert!(matches!(answer.status, 200 | 429), "{}", answer.status);
    };
    let before = server.cpu();
    for _ in 0..20 {
        ask(&long);
    }
    // Without a bound of words each took a quarter of a second in a release build.
    let took = server.cpu() - before;
    assert!(took < std::time::Duration::from_secs(20), "{took:?} of the processor");
    // Many at once are answered one after the other, or told to come again; nobody else waits for them.
    let answers = race(16, |n| {
        if n == 0 {
            api.get("/healthz").status
        } else {
            api.query("/docs/es/search", &[("q", &*long)]).status
        }
    });
    assert!(answers.iter().all(|status| matches!(status, 200 | 429)), "{answers:?}");
}
