//! Feeds over HTTP: sources that are good, and sources that are slow, wrong, endless or gone
//! (`docs/contract.md, 14.1`).

use crate::harness::check::{assert_number, decimal, list, stamp};
use crate::harness::flows::number;
use crate::harness::server::Server;
use crate::harness::source::{Behaviour, Source};
use chrono::{TimeDelta, Utc};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The time within which feeds that look every second must have come to something.
const PATIENCE: Duration = Duration::from_secs(90);

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
        ("AAH/VES", says("{\"price\":\"0\"}"), "below 0.00005"),
        ("AAM/VES", says("{\"price\":\"0.00000001\"}"), "below 0.00005"),
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
    let day = (Utc::now() - TimeDelta::hours(4)).format("%Y-%m-%d").to_string();
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
    let caracas = Utc::now() - TimeDelta::hours(4);
    let says = |price: &str, days: i64| {
        let date = (caracas + TimeDelta::days(days)).format("%Y-%m-%d");
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

/// A floor whose feed looks every second, and says 245.
fn jumping(more: &str) -> (Source, Server) {
    let source = Source::start();
    let feed = format!(
        r#"{{ pair = "USDT/VES", source = "p2p", side = "FLOOR", kind = "http", url = "{}", pointer = "/price", every_seconds = 1, timeout_seconds = 1{more} }}"#,
        source.url("/floor")
    );
    source.set("/floor", says("245"));
    let server = start(&[feed]);
    until("a first price", || floor(&server) == Some(Decimal::from(245)));
    (source, server)
}

fn says(price: &str) -> Behaviour {
    Behaviour::Says(200, format!("{{\"price\":{price}}}"))
}

fn floor(server: &Server) -> Option<Decimal> {
    let latest = server.nobody().get("/api/v1/fx/latest?source=p2p&side=FLOOR");
    (latest.status == 200).then(|| decimal(&latest.json()["price"]))
}

/// The prices of the floor that decide nothing, as operators list them.
#[track_caller]
fn suspect(server: &Server) -> Vec<Decimal> {
    let rates = server.admin().get("/admin/rates").expect(200);
    let prices = list(&rates, "items").iter().filter(|rate| rate["suspect"] == true);
    prices.map(|rate| decimal(&rate["price"])).collect()
}

#[track_caller]
fn metric(server: &Server) -> bool {
    let page = server.admin().get("/metrics").text().to_owned();
    page.contains(r#"pasarela_rate_suspect{pair="USDT/VES",source="p2p",side="FLOOR",method=""} 1"#)
}

#[test]
fn a_price_that_jumps_is_kept_and_decides_nothing() {
    let (source, mut server) = jumping("");
    let api = server.tenant().test;
    api.fund("1000000.00");
    for jump in ["0.001", "183.7", "306.3", "1000000"] {
        source.set("/floor", says(jump));
        let jump: Decimal = jump.parse().expect("a number");
        until("it is suspect", || suspect(&server) == [jump]);
        assert_eq!((floor(&server), metric(&server)), (Some(Decimal::from(245)), true), "{jump}");
        let quote = api.post("/v1/conversions/quotes", &json!({ "sourceAmountVes": "1000.00" })).expect(201);
        assert_eq!(quote["marketRate"], "245.0000", "{jump}");
    }
    let history = server.nobody().get("/api/v1/fx/history?side=FLOOR&limit=1000").expect(200);
    let kept: Vec<(Decimal, bool)> = list(&history, "data")
        .iter()
        .map(|point| (decimal(&point["price"]), point["suspect"] == true))
        .collect();
    assert!(
        kept.contains(&(Decimal::new(1, 3), true)) && kept.contains(&(Decimal::from(245), false)),
        "{kept:?}"
    );
    // A restart does not make it believed.
    source.set("/floor", Behaviour::Silent);
    server.kill();
    server.restart();
    assert_eq!(floor(&server), Some(Decimal::from(245)));
    // What is near the last accepted one counts, and step by step prices go where they like.
    for step in ["306.2", "240", "183"] {
        source.set("/floor", says(step));
        until("it counts", || floor(&server) == step.parse().ok());
    }
    assert_eq!((suspect(&server).len(), metric(&server)), (0, false));
}

#[test]
fn a_pin_makes_a_jump_believed_at_once() {
    let (source, server) = jumping("");
    source.set("/floor", says("400"));
    until("it is suspect", || !suspect(&server).is_empty());
    let pin = |seconds: i64| {
        json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "price": "399", "reason": "the market jumped",
            "pinnedUntil": stamp(Utc::now() + TimeDelta::seconds(seconds)) })
    };
    server.admin().post("/admin/rates", &pin(3_600)).expect(201);
    assert_eq!((floor(&server), suspect(&server).len()), (Some(Decimal::from(399)), 0));
    server.admin().delete("/admin/rates/pin?pair=USDT/VES&source=p2p&side=FLOOR").expect(200);
    until("the feed goes on from there", || floor(&server) == Some(Decimal::from(400)));
    assert!(suspect(&server).is_empty());
}

#[test]
fn a_feed_has_its_own_step_and_none_is_one_too() {
    for (own, jump) in [("0", "100000"), ("60", "390")] {
        let (source, server) = jumping(&format!(", max_step_percent = {own}"));
        source.set("/floor", says(jump));
        until("it counts", || floor(&server) == jump.parse().ok());
        assert!(suspect(&server).is_empty(), "{own}");
    }
    let feeds = r#"[{ pair = "USDT/VES", source = "p2p", side = "FLOOR", kind = "manual" }]"#;
    let off = [("PASARELA__RATES__FEEDS", feeds), ("PASARELA__RATES__MAX_STEP_PERCENT", "0")];
    let server = Server::start_with(&off);
    for price in ["245", "1"] {
        let body = json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "price": price });
        assert_eq!(server.admin().post("/admin/rates", &body).expect(201)["suspect"], false, "{price}");
    }
}

/// What is said after 245, each with the minutes since then: whether it is suspect.
#[test]
fn three_in_a_row_for_a_quarter_of_an_hour_are_believed() {
    for said in [
        &[(400, 1, true), (401, 9, true), (405, 16, false), (410, 17, false)][..],
        // Too short, too few, too far from each other.
        &[(400, 1, true), (401, 7, true), (402, 15, true), (402, 16, false)],
        &[(400, 1, true), (400, 17, true), (400, 18, false)],
        &[(400, 1, true), (410, 9, true), (402, 17, true), (406, 23, true), (405, 25, false)],
        // Not in a row.
        &[(400, 1, true), (401, 9, true), (246, 10, false), (402, 17, true)],
        &[(400, 1, true), (401, 9, true), (100, 10, true), (402, 17, true)],
    ] {
        let feeds = r#"[{ pair = "USDT/VES", source = "p2p", side = "FLOOR", kind = "manual" }]"#;
        let server = Server::start_with(&[("PASARELA__RATES__FEEDS", feeds)]);
        let begun = Utc::now() - TimeDelta::minutes(26);
        let record = |price: i64, minutes: i64| {
            let as_of = stamp(begun + TimeDelta::minutes(minutes));
            let body = json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "price": number(&price.to_string()), "asOf": as_of });
            server.admin().post("/admin/rates", &body).expect(201)["suspect"] == true
        };
        let mut in_force = 245;
        assert!(!record(in_force, 0));
        for (price, minutes, is_suspect) in said {
            assert_eq!(record(*price, *minutes), *is_suspect, "{price} after {minutes} in {said:?}");
            in_force = if *is_suspect { in_force } else { *price };
            assert_eq!(floor(&server), Some(Decimal::from(in_force)), "{price} after {minutes} in {said:?}");
        }
    }
}

#[test]
fn what_is_made_up_prices_test_mode_alone() {
    let feeds = r#"[{ pair = "USD/VES", source = "bcv", side = "OFFICIAL", kind = "fixed", price = "200" },
        { pair = "USDT/VES", source = "p2p", side = "FLOOR", kind = "simulated", price = "245" },
        { pair = "USDT/COP", source = "p2p", side = "BUY", kind = "fixed", price = "4000" }]"#;
    let mut server = Server::start_with(&[("PASARELA__RATES__FEEDS", &feeds.replace('\n', " "))]);
    let tenant = server.tenant();
    let missing = ["USD/VES OFFICIAL", "USDT/VES FLOOR", "USDT/COP BUY"];
    let warned = |text: &str| missing.map(|price| text.contains(price));
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    let activated = server.admin().post(&path, &json!({ "status": "active" })).expect(200);
    assert_eq!(warned(&activated["warnings"].to_string()), [true; 3], "{activated}");
    assert_eq!(warned(&server.log_tail()), [true; 3], "{}", server.log_tail());
    let checked = server.command(&["check"]);
    assert_eq!(warned(&String::from_utf8_lossy(&checked.stdout)), [true; 3], "{checked:?}");
    let conversion = |api: &crate::harness::client::Api, source: &str| {
        let body = match source {
            "VES" => json!({ "sourceAmountVes": "1000.00" }),
            _ => json!({ "sourceCurrency": "COP", "sourceAmount": "100000" }),
        };
        api.post("/v1/conversions/quotes", &body)
    };
    tenant.test.get("/v1/quote?usdAmount=1").expect(200);
    conversion(&tenant.test, "VES").expect(201);
    conversion(&tenant.test, "COP").expect(201);
    let refused_in_live = || {
        tenant.live.get("/v1/quote?usdAmount=1").refused(503, "rate_unavailable");
        conversion(&tenant.live, "VES").refused(503, "rate_unavailable");
        conversion(&tenant.live, "COP").refused(503, "rate_unavailable");
    };
    refused_in_live();
    // Also after a restart, which has the samples of before.
    server.kill();
    server.restart();
    refused_in_live();
    // A price by hand is a real one.
    server.price_live();
    assert_number(&tenant.live.get("/v1/quote?usdAmount=1").expect(200), "bcvRate", "200");
    conversion(&tenant.live, "VES").expect(201);
    conversion(&tenant.live, "COP").expect(201);
    let activated = server.admin().post(&path, &json!({ "status": "active" })).expect(200);
    assert_eq!(warned(&activated["warnings"].to_string()), [false; 3], "{activated}");
    server.kill();
    server.restart();
    assert_number(&tenant.live.get("/v1/quote?usdAmount=1").expect(200), "bcvRate", "200");
}
