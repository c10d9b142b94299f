//! Feeds by their names, against answers as their sources give them (`docs/contract.md, 14.1`).

use crate::harness::check::{decimal, list};
use crate::harness::server::Server;
use crate::harness::source::{Behaviour, Source};
use chrono::{FixedOffset, Utc};
use std::time::{Duration, Instant};

/// What a source answers, with the time of now where it says one.
fn recorded(name: &str) -> String {
    let path = format!("tests/golden/rates/{name}.json");
    let caracas = Utc::now().with_timezone(&FixedOffset::west_opt(4 * 3600).expect("an offset"));
    std::fs::read_to_string(path)
        .expect("an answer")
        .replace("TIME", &Utc::now().timestamp().to_string())
        .replace("DAY", &caracas.date_naive().to_string())
}

#[test]
fn each_preset_reads_its_source() {
    let source = Source::start();
    // Name, pair, side, and the price that the answer comes to.
    let rows = [
        ("binance_p2p_buy", "USDT/VES", "BUY", "413.1"),
        ("binance_p2p_sell", "USDT/VES", "SELL", "404.9"),
        ("criptoya_buy", "USDT/VES", "BUY", "412.83"),
        ("criptoya_sell", "USDT/VES", "SELL", "404.19"),
        ("dolarapi_oficial", "USD/VES", "OFFICIAL", "301.3745"),
    ];
    for feeds in [[&rows[0], &rows[1], &rows[4]].as_slice(), &[&rows[2], &rows[3]]] {
        let lines = feeds.iter().map(|(name, ..)| {
            source.set(&format!("/{name}"), Behaviour::Says(200, recorded(name)));
            format!(
                r#"{{ preset = "{name}", url = "{}", every_seconds = 1 }}"#,
                source.url(&format!("/{name}"))
            )
        });
        let lines = format!("[{}]", lines.collect::<Vec<_>>().join(", "));
        let server = Server::start_with(&[("PASARELA__RATES__FEEDS", &lines)]);
        for (name, pair, side, price) in feeds {
            let path = format!("/api/v1/fx/latest?pair={pair}&side={side}");
            let deadline = Instant::now() + Duration::from_secs(20);
            let answer = loop {
                let answer = server.nobody().get(&path);
                if answer.status == 200 || Instant::now() > deadline {
                    break answer.expect(200);
                }
                std::thread::sleep(Duration::from_millis(50));
            };
            assert_eq!(decimal(&answer["price"]), price.parse().expect("a number"), "{name}: {answer}");
        }
        let status = server.admin().get("/admin/status").expect(200);
        let failed = list(&status["rates"], "feeds").iter().filter(|feed| feed["failures"] != 0).count();
        assert_eq!(failed, 0, "{status}");
    }
    let of = |name: &str| source.seen(&format!("/{name}")).first().expect("it was asked").clone();
    assert!(of("binance_p2p_buy").body.contains(r#""tradeType":"BUY""#));
    assert!(of("binance_p2p_sell").body.contains(r#""tradeType":"SELL""#));
    assert_eq!(of("binance_p2p_buy").headers["content-type"], "application/json");
    assert!(of("criptoya_buy").line.starts_with("GET ") && of("criptoya_buy").body.is_empty());
}

#[test]
fn without_an_answer_there_is_no_rate() {
    let source = Source::start();
    source.set("/x", Behaviour::Says(200, r#"{"code":"000000","data":[],"success":true}"#.to_owned()));
    let line =
        format!(r#"[{{ preset = "binance_p2p_buy", url = "{}", every_seconds = 1 }}]"#, source.url("/x"));
    let server = Server::start_with(&[("PASARELA__RATES__FEEDS", &line)]);
    let deadline = Instant::now() + Duration::from_secs(20);
    let failures = || {
        let status = server.admin().get("/admin/status").expect(200);
        list(&status["rates"], "feeds")[0]["failures"].as_u64().expect("a count")
    };
    while failures() == 0 {
        assert!(Instant::now() < deadline, "nobody asked");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(server.nobody().get("/api/v1/fx/latest?pair=USDT/VES").status, 404);
}
