//! Feeds over HTTP: sources that are good, and sources that are slow, wrong, endless or gone
//! (`docs/contract.md, 14.1`).

use crate::harness::check::{assert_number, decimal, list};
use crate::harness::server::Server;
use crate::harness::source::{Behaviour, Source};
use rust_decimal::Decimal;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The time within which feeds that look every second must have come to something.
const PATIENCE: Duration = Duration::from_secs(30);

fn feed(pair: &str, url: &str, more: &str) -> String {
    format!(
        r#"{{ pair = "{pair}", source = "p2p", side = "BUY", kind = "http", url = "{url}", pointer = "/price", every_seconds = 1, timeout_seconds = 1{more} }}"#
    )
}

fn start(feeds: &[String]) -> Server {
    let bcv = r#"{ pair = "USD/VES", source = "bcv", side = "OFFICIAL", kind = "fixed", price = "200" }"#
        .to_owned();
    let list = [feeds, &[bcv]].concat().join(", ");
    Server::start_with(&[("PASARELA__RATES__FEEDS", &format!("[{list}]"))])
}

/// The feed of a pair, as the operators' status shows it.
#[track_caller]
fn state(server: &Server, pair: &str) -> Value {
    let status = server.admin().get("/admin/status").expect(200);
    list(&status["rates"], "feeds")
        .iter()
        .find(|feed| feed["pair"] == pair)
        .unwrap_or_else(|| panic!("no feed of {pair}: {status}"))
        .clone()
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_source_that_misbehaves_gives_no_price_and_harms_nobody() {
    let source = Source::start();
    let says = |text: &str| Behaviour::Says(200, text.to_owned());
    let cases = [
        ("AAA/VES", Behaviour::Silent, "no whole answer within 1 s"),
        ("AAB/VES", Behaviour::Dribbles, "no whole answer within 1 s"),
        ("AAC/VES", Behaviour::Endless, "more than 1048576 bytes"),
        ("AAD/VES", Behaviour::Says(500, "{\"price\":\"1\"}".to_owned()), "answered 500"),
        ("AAE/VES", Behaviour::SendsTo("/AAE".to_owned()), "redirects are not followed"),
        ("AAF/VES", says("<html>maintenance</html>"), "no JSON"),
        ("AAG/VES", says("{\"price\":true}"), "no number"),
        ("AAH/VES", says("{\"price\":\"0\"}"), "not above 0"),
        ("AAI/VES", says("{\"cost\":\"1\"}"), "nothing there"),
        ("AAJ/VES", says(""), "no JSON"),
        ("AAK/VES", Behaviour::CutsOff, ""),
        ("AAL/VES", says("{\"price\":\"1000000000000\"}"), "too large"),
    ];
    let mut feeds: Vec<String> =
        cases.iter().map(|(pair, ..)| feed(pair, &source.url(&format!("/{}", &pair[..3])), "")).collect();
    feeds.push(feed("USDT/VES", &source.url("/good"), ""));
    for (pair, behaviour, _) in &cases {
        source.set(&format!("/{}", &pair[..3]), behaviour.clone());
    }
    source.set("/good", says(" {\"price\": 245.10} "));
    let server = start(&feeds);
    let api = server.nobody();
    for (pair, behaviour, why) in &cases {
        until(&format!("{pair} fails: {behaviour:?}"), || {
            state(&server, pair)["failures"].as_u64().is_some_and(|failures| failures > 0)
        });
        let state = state(&server, pair);
        assert!(
            state["lastError"]
                .as_str()
                .is_some_and(|error| error.contains(why) && !error.contains("127.0.0.1")),
            "{pair}: {state}"
        );
        assert!(state["ageSeconds"].is_null(), "{state}");
        assert_eq!(api.get(&format!("/api/v1/fx/latest?pair={pair}")).status, 404, "{pair}");
    }
    until("the good one has a price", || api.get("/api/v1/fx/latest").status == 200);
    assert_number(&api.get("/api/v1/fx/latest").expect(200), "price", "245.1");
    let failures = state(&server, "AAE/VES")["failures"].as_u64().expect("a number");
    let asked = source.seen("/AAE").len() as u64;
    assert!(asked <= failures + 1, "asked {asked} times for {failures} failures: a redirect was followed");
}

#[test]
fn the_last_price_stays_while_a_source_is_gone() {
    let source = Source::start();
    source.set("/price", Behaviour::Says(200, "{\"price\":\"245.00\"}".to_owned()));
    let server = start(&[feed("USDT/VES", &source.url("/price"), "")]);
    let api = server.nobody();
    until("a first price", || api.get("/api/v1/fx/latest").status == 200);
    source.set("/price", Behaviour::Says(503, String::new()));
    until("it fails", || {
        state(&server, "USDT/VES")["failuresInARow"].as_u64().is_some_and(|failures| failures >= 2)
    });
    assert_number(&api.get("/api/v1/fx/latest").expect(200), "price", "245");
    source.set("/price", Behaviour::Says(200, "{\"price\":\"246.00\"}".to_owned()));
    until("it is back", || decimal(&api.get("/api/v1/fx/latest").expect(200)["price"]) == Decimal::from(246));
    let state = state(&server, "USDT/VES");
    assert_eq!(state["failuresInARow"], 0);
    assert!(
        state["failures"].as_u64().is_some_and(|failures| failures >= 2)
            && state["ageSeconds"].as_u64().is_some_and(|age| age <= 2),
        "{state}"
    );
}

#[test]
fn several_offers_become_their_median_and_the_call_is_as_configured() {
    let source = Source::start();
    let offers: Vec<String> = ["251.10", "250.00", "252.40", "249.90"]
        .iter()
        .map(|price| format!(r#"{{"adv":{{"price":"{price}","x":1.5}}}}"#))
        .collect();
    source.set(
        "/search",
        Behaviour::Says(200, format!(r#"{{"code":"000000","data":[{}]}}"#, offers.join(","))),
    );
    let feed = format!(
        r#"{{ pair = "USDT/VES", source = "p2p", side = "BUY", kind = "http", url = "{}", http_method = "POST", pointer = "/data/*/adv/price",
            headers = {{ Content-Type = "application/json", Authorization = "{{hmac}}" }}, body = '{{"day":"{{caracas_date}}"}}', hmac_key = "k", hmac_message = "m" }}"#,
        source.url("/search")
    );
    let server = start(&[feed.replace('\n', " ")]);
    until("a price", || server.nobody().get("/api/v1/fx/latest").status == 200);
    // (250.00 + 251.10) / 2
    assert_number(&server.nobody().get("/api/v1/fx/latest").expect(200), "price", "250.55");
    let seen = source.seen("/search").remove(0);
    assert!(seen.line.starts_with("POST /search"), "{seen:?}");
    let day = (chrono::Utc::now() - chrono::TimeDelta::hours(4)).format("%Y-%m-%d").to_string();
    assert_eq!(seen.body, format!(r#"{{"day":"{day}"}}"#));
    assert_eq!(
        (seen.headers["content-type"].as_str(), seen.headers["authorization"].len()),
        ("application/json", 64)
    );
    assert!(seen.headers["user-agent"].starts_with("pasarela/"));
}

#[test]
fn an_official_rate_is_in_force_from_its_value_date_on() {
    let source = Source::start();
    let caracas = chrono::Utc::now() - chrono::TimeDelta::hours(4);
    let says = |price: &str, days: i64| {
        let date = (caracas + chrono::TimeDelta::days(days)).format("%Y-%m-%d");
        Behaviour::Says(200, format!(r#"{{"price":{price},"date":"{date}"}}"#))
    };
    source.set("/bcv", says("236.50", 0));
    let feed = format!(
        r#"{{ pair = "USD/VES", source = "bcv", side = "OFFICIAL", kind = "http", url = "{}", pointer = "/price", as_of_pointer = "/date", every_seconds = 1 }}"#,
        source.url("/bcv")
    );
    let server = Server::start_with(&[("PASARELA__RATES__FEEDS", &format!("[{feed}]"))]);
    let api = server.tenant().test;
    until("a rate", || api.get("/v1/quote?usdAmount=1").status == 200);
    source.set("/bcv", says("240.00", 1));
    until("the next one was read", || source.seen("/bcv").len() >= 4);
    assert_number(&api.get("/v1/quote?usdAmount=10").expect(200), "vesAmount", "2365");
    assert_number(&server.nobody().get("/api/v1/fx/latest?pair=USD/VES").expect(200), "price", "236.5");
}
