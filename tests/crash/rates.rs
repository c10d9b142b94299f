//! Rates across crashes: what an operator was told is kept is there, counts once in its hour and
//! its day, and is in force again.

use crate::harness::check::{assert_number, list};
use crate::harness::server::Server;
use serde_json::{Value, json};

fn record(server: &Server, price: u64) {
    let body = json!({ "pair": "USDT/VES", "source": "p2p", "side": "SELL", "price": price.to_string(), "asOf": format!("2026-03-01T12:{:02}:00Z", price % 60) });
    server.admin().post("/admin/rates", &body).expect(201);
}

fn history(server: &Server, interval: &str) -> Value {
    server
        .nobody()
        .get(&format!("/api/v1/fx/history?side=SELL&startDate=2026-03-01T00:00:00Z&limit=1000{interval}"))
        .expect(200)
}

#[test]
fn what_was_kept_is_there_once() {
    let mut server = Server::start();
    let mut recorded = 0;
    for run in 0..3 {
        for price in 1..=20 {
            // No step that would be suspect (A2); the minute of a price is what is left of it by 60.
            record(&server, 240 + run * 20 + price);
            recorded += 1;
        }
        server.kill();
        server.restart();
        assert_eq!(list(&history(&server, ""), "data").len(), recorded);
        for interval in ["&interval=hour", "&interval=day"] {
            let buckets = history(&server, interval);
            let counts: Vec<u64> = list(&buckets, "data")
                .iter()
                .map(|bucket| bucket["count"].as_u64().expect("a count"))
                .collect();
            assert_eq!(counts, [recorded as u64], "{interval}");
        }
        assert_number(
            &server.nobody().get("/api/v1/fx/latest?side=SELL").expect(200),
            "price",
            if run < 2 { ["260", "280"][run as usize] } else { "299" },
        );
    }
}

#[test]
fn a_crash_in_the_middle_loses_nothing_that_was_answered_and_counts_nothing_twice() {
    let mut server = Server::start();
    let answered = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let admin = server.admin();
                scope.spawn(move || {
                    let mut answered = 0_u64;
                    for n in 0..100_000 {
                        let as_of = format!("2026-03-0{}T12:{:02}:{:02}Z", writer + 1, n / 60 % 60, n % 60);
                        let body = json!({ "pair": "USDT/VES", "source": "p2p", "side": "SELL", "price": "250", "asOf": as_of });
                        match admin.try_post("/admin/rates", &body) {
                            Ok(answer) if answer.status == 201 => answered += 1,
                            _ => break,
                        }
                    }
                    answered
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(400));
        server.kill();
        writers.into_iter().map(|writer| writer.join().expect("it ends well")).sum::<u64>()
    });
    assert!(answered > 0);
    server.restart();
    let sum = |interval: &str| {
        list(&history(&server, interval), "data")
            .iter()
            .map(|bucket| bucket["count"].as_u64().expect("a count"))
            .sum::<u64>()
    };
    let (hours, days) = (sum("&interval=hour"), sum("&interval=day"));
    // Only the four samples that were under way may be there without an answer.
    assert!(
        hours == days && (answered..=answered + 4).contains(&hours),
        "{answered} answered, {hours} in hours, {days} in days"
    );
}

#[test]
fn the_rate_in_force_and_those_ahead_survive() {
    let mut server = Server::start_with(&[(
        "PASARELA__RATES__FEEDS",
        r#"[{ pair = "USD/VES", source = "bcv", side = "OFFICIAL", kind = "manual" }]"#,
    )]);
    let api = server.tenant().test;
    let caracas = chrono::Utc::now() - chrono::TimeDelta::hours(4);
    for (price, days) in [("190", -3), ("195", 0), ("210", 2)] {
        let as_of = (caracas + chrono::TimeDelta::days(days)).format("%Y-%m-%dT00:00:00-04:00").to_string();
        let body =
            json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": price, "asOf": as_of });
        server.admin().post("/admin/rates", &body).expect(201);
    }
    for _ in 0..2 {
        assert_number(&api.get("/v1/quote?usdAmount=1").expect(200), "bcvRate", "195");
        assert_number(&api.intent(1), "bcvRate", "195");
        server.kill();
        server.restart();
    }
    assert!(server.terminate().success());
    server.restart();
    assert_number(&api.get("/v1/quote?usdAmount=1").expect(200), "bcvRate", "195");
}

#[test]
fn a_pin_and_its_end_survive() {
    let mut server = Server::start();
    let floor = |server: &Server| {
        server.nobody().get("/api/v1/fx/latest?pair=USDT/VES&side=FLOOR").expect(200)["price"].to_string()
    };
    let mut body =
        json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "price": "300", "reason": "a test" });
    body["pinnedUntil"] = json!((chrono::Utc::now() + chrono::TimeDelta::days(1)).to_rfc3339());
    server.admin().post("/admin/rates", &body).expect(201);
    for _ in 0..2 {
        server.kill();
        server.restart();
        // The feed has spoken again at the start.
        assert_eq!(floor(&server), "300");
        assert_eq!(list(&server.admin().get("/admin/status").expect(200)["rates"], "pins").len(), 1);
    }
    server.admin().delete("/admin/rates/pin?pair=USDT/VES&source=p2p&side=FLOOR").expect(200);
    server.kill();
    server.restart();
    assert_eq!(floor(&server), "245");
}
