//! Interface A: the latest rate and its history (`docs/contract.md, 15.2, 15.3`), and what
//! browsers and caches see of it.

use crate::harness::check::{assert_nulls, assert_number, assert_texts, decimal, instant, list};
use crate::harness::client::{Answer, Api};
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Records a price as an operator does.
#[track_caller]
fn record(server: &Server, pair: &str, source: &str, side: &str, price: &str, as_of: &str) -> Value {
    let body = json!({ "pair": pair, "source": source, "side": side, "price": price, "asOf": as_of });
    server.admin().post("/admin/rates", &body).expect(201)
}

/// Asserts an error in the public shape.
#[track_caller]
fn refused(answer: &Answer, status: u16, reason: &str) -> Value {
    let body = answer.expect(status);
    assert_eq!(
        (body["statusCode"].as_u64(), body["error"].as_str()),
        (Some(u64::from(status)), Some(reason)),
        "{body}"
    );
    assert!(
        body["message"].is_string() || body["message"].as_array().is_some_and(|texts| !texts.is_empty()),
        "{body}"
    );
    assert_eq!(body.as_object().map(|members| members.len()), Some(3), "{body}");
    body["message"].clone()
}

#[track_caller]
fn history(api: &Api, query: &str) -> Value {
    api.get(&format!("/api/v1/fx/history?{query}")).expect(200)
}

/// Time and price of each point.
#[track_caller]
fn points(history: &Value) -> Vec<(String, String)> {
    let shown = |point: &Value| {
        (point["asOf"].as_str().expect("an instant").to_owned(), decimal(&point["price"]).to_string())
    };
    assert_eq!(history["count"].as_u64(), Some(list(history, "data").len() as u64));
    list(history, "data").iter().map(shown).collect()
}

#[test]
fn the_latest_rate_of_a_pair() {
    let server = Server::start();
    let api = server.nobody();
    let rate = api.get("/api/v1/fx/latest").expect(200);
    assert_texts(
        &rate,
        &[("pair", "USDT/VES"), ("source", "p2p"), ("method", "p2p_floor"), ("side", "FLOOR")],
    );
    assert_number(&rate, "price", "245");
    assert_nulls(&rate, &["paymentMethod"]);
    assert!(instant(&rate["asOf"]) <= instant(&rate["fetchedAt"]));
    for (query, price) in [
        ("pair=USD/VES", "200"),
        ("pair=usd%2Fves&source=bcv&side=OFFICIAL", "200"),
        ("source=p2p&side=FLOOR&method=p2p_floor", "245"),
        ("pair=USDT/COP", "4000"),
    ] {
        assert_number(&api.get(&format!("/api/v1/fx/latest?{query}")).expect(200), "price", price);
    }
    for query in [
        "pair=EUR/VES",
        "source=bcv",
        "method=p2p_ceiling",
        "side=MIDDLE",
        "pair=USD/VES&source=p2p",
        "source=",
    ] {
        refused(&api.get(&format!("/api/v1/fx/latest?{query}")), 404, "Not Found");
    }
    for query in [
        "pair=USDTVES",
        "pair=US/VES",
        "pair=USDT/VESVES",
        "pair=",
        "pair=USDT/VES&pair=USD/VES",
        "sid=BUY",
        "days=1",
    ] {
        refused(&api.get(&format!("/api/v1/fx/latest?{query}")), 400, "Bad Request");
    }
}

#[test]
fn a_recorded_price_is_the_latest_when_it_is_the_freshest() {
    let server = Server::start();
    let api = server.nobody();
    let now = api.get("/api/v1/fx/latest").expect(200)["asOf"].as_str().expect("an instant").to_owned();
    let body = json!({ "pair": "usdt/ves", "source": "p2p", "side": "BUY", "method": "p2p_banesco", "paymentMethod": "Banesco", "price": 251.5 });
    let recorded = server.admin().post("/admin/rates", &body).expect(201);
    assert_texts(
        &recorded,
        &[
            ("pair", "USDT/VES"),
            ("source", "p2p"),
            ("side", "BUY"),
            ("method", "p2p_banesco"),
            ("paymentMethod", "Banesco"),
        ],
    );
    let latest = api.get("/api/v1/fx/latest?side=BUY").expect(200);
    assert_texts(
        &latest,
        &[
            ("method", "p2p_banesco"),
            ("paymentMethod", "Banesco"),
            ("asOf", recorded["asOf"].as_str().expect("text")),
        ],
    );
    assert_number(&latest, "price", "251.5");
    assert_number(&api.get("/api/v1/fx/latest").expect(200), "price", "251.5");
    record(&server, "USDT/VES", "p2p", "BUY", "1.00", "2026-01-01T00:00:00Z");
    assert_number(&api.get("/api/v1/fx/latest?side=BUY").expect(200), "price", "251.5");
    assert!(instant(&latest["asOf"]) >= instant(&Value::from(now)));
    for (member, value) in [
        ("price", json!("0")),
        ("price", json!("1.000000001")),
        ("pair", json!("USDT")),
        ("source", json!("")),
        ("asOf", json!("today")),
    ] {
        let mut bad = json!({ "pair": "USDT/VES", "source": "p2p", "price": "1" });
        bad[member] = value;
        server.admin().post("/admin/rates", &bad).names(&[member]);
    }
}

/// Prices of 1 hour and 20 minutes on both sides of midnight: worked out by hand.
#[test]
fn hours_and_days_at_their_edges() {
    let server = Server::start();
    let api = server.nobody();
    for (price, as_of) in [
        ("10.00", "2026-03-01T22:40:00.000Z"),
        ("11.00", "2026-03-01T22:59:59.999Z"),
        ("20.00", "2026-03-01T23:00:00.000Z"),
        ("23.00", "2026-03-01T23:59:59.999Z"),
        ("30.00", "2026-03-02T00:00:00.000Z"),
        // A late sample belongs between those above.
        ("15.00", "2026-03-01T22:50:00.000Z"),
    ] {
        record(&server, "USDT/VES", "p2p", "SELL", price, as_of);
    }
    let march = "side=SELL&startDate=2026-03-01T00:00:00Z&endDate=2026-03-03T00:00:00Z";
    for (query, expected) in [
        (
            "interval=hour",
            &[
                ("2026-03-01T22:00:00.000Z", "12"),
                ("2026-03-01T23:00:00.000Z", "21.5"),
                ("2026-03-02T00:00:00.000Z", "30"),
            ][..],
        ),
        (
            "interval=hour&aggregation=min",
            &[
                ("2026-03-01T22:00:00.000Z", "10"),
                ("2026-03-01T23:00:00.000Z", "20"),
                ("2026-03-02T00:00:00.000Z", "30"),
            ],
        ),
        (
            "interval=hour&aggregation=max",
            &[
                ("2026-03-01T22:00:00.000Z", "15"),
                ("2026-03-01T23:00:00.000Z", "23"),
                ("2026-03-02T00:00:00.000Z", "30"),
            ],
        ),
        (
            "interval=hour&aggregation=first",
            &[
                ("2026-03-01T22:00:00.000Z", "10"),
                ("2026-03-01T23:00:00.000Z", "20"),
                ("2026-03-02T00:00:00.000Z", "30"),
            ],
        ),
        (
            "interval=hour&aggregation=last",
            &[
                ("2026-03-01T22:00:00.000Z", "11"),
                ("2026-03-01T23:00:00.000Z", "23"),
                ("2026-03-02T00:00:00.000Z", "30"),
            ],
        ),
        // 79 / 5.
        ("interval=day", &[("2026-03-01T00:00:00.000Z", "15.8"), ("2026-03-02T00:00:00.000Z", "30")]),
        ("interval=day&sort=desc&limit=1", &[("2026-03-02T00:00:00.000Z", "30")]),
        (
            "interval=hour&sort=asc&limit=2",
            &[("2026-03-01T22:00:00.000Z", "12"), ("2026-03-01T23:00:00.000Z", "21.5")],
        ),
    ] {
        let shown = history(&api, &format!("{march}&{query}"));
        let expected: Vec<(String, String)> =
            expected.iter().map(|(at, price)| ((*at).to_owned(), (*price).to_owned())).collect();
        assert_eq!(points(&shown), expected, "{query}");
    }
    let hours = history(&api, &format!("{march}&interval=hour"));
    assert_texts(
        &hours,
        &[("pair", "USDT/VES"), ("side", "SELL"), ("interval", "hour"), ("aggregation", "avg")],
    );
    assert_nulls(&hours, &["source"]);
    assert_eq!(
        hours["data"][0],
        json!({ "pair": "USDT/VES", "source": "p2p", "method": null, "side": "SELL", "price": 12, "asOf": "2026-03-01T22:00:00.000Z", "count": 3 })
    );
    let raw = history(&api, march);
    assert_nulls(&raw, &["interval", "aggregation"]);
    assert_eq!(
        points(&raw).iter().map(|(_, price)| price.as_str()).collect::<Vec<_>>(),
        ["10.00", "15.00", "11.00", "20.00", "23.00", "30.00"]
            .map(|price| price.strip_suffix(".00").expect("whole"))
    );
    assert!(raw["data"][0].get("count").is_none());
    // A window that cuts a bucket holds what lies in it alone, and its end lies outside.
    let cut = history(
        &api,
        "side=SELL&interval=day&startDate=2026-03-01T22:50:00Z&endDate=2026-03-01T23:59:59.999Z",
    );
    assert_eq!(points(&cut), [("2026-03-01T00:00:00.000Z".to_owned(), "15.33333333".to_owned())]);
    assert_eq!(
        list(
            &history(
                &api,
                "side=SELL&interval=day&startDate=2026-04-01T00:00:00Z&endDate=2026-05-01T00:00:00Z"
            ),
            "data"
        )
        .len(),
        0
    );
}

#[test]
fn lines_are_never_mixed() {
    let server = Server::start();
    let api = server.nobody();
    for (side, price) in [("BUY", "10"), ("SELL", "20"), ("BUY", "12")] {
        record(&server, "USDT/VES", "p2p", side, price, "2026-03-01T12:00:00Z");
    }
    let both = history(&api, "startDate=2026-03-01T00:00:00Z&endDate=2026-03-02T00:00:00Z&interval=day");
    let mut shown: Vec<(String, Decimal, u64)> = list(&both, "data")
        .iter()
        .map(|point| {
            (
                point["side"].as_str().expect("a side").to_owned(),
                decimal(&point["price"]),
                point["count"].as_u64().expect("a count"),
            )
        })
        .collect();
    shown.sort();
    assert_eq!(shown, [("BUY".to_owned(), Decimal::from(11), 2), ("SELL".to_owned(), Decimal::from(20), 1)]);
}

#[test]
fn auto_chooses_by_the_length_of_the_window() {
    let server = Server::start();
    let api = server.nobody();
    for (query, interval) in [
        ("days=1", Value::Null),
        ("days=2", json!("hour")),
        ("days=14", json!("hour")),
        ("days=15", json!("day")),
        ("days=3650", json!("day")),
    ] {
        assert_eq!(history(&api, &format!("interval=auto&{query}"))["interval"], interval, "{query}");
    }
    assert_eq!(history(&api, "days=1")["interval"], Value::Null);
    // The feeds' samples of the start are shown as soon as they are on the disk.
    let deadline = Instant::now() + Duration::from_secs(20);
    while list(&history(&api, "days=1&sort=desc"), "data").is_empty() {
        assert!(Instant::now() < deadline, "what the feeds took since the start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_bad_history_is_refused_in_the_public_shape() {
    let server = Server::start();
    let api = server.nobody();
    for query in [
        "days=0",
        "days=3651",
        "days=x",
        "limit=0",
        "limit=1001",
        "interval=minute",
        "aggregation=median",
        "sort=newest",
        "pair=USDT",
        "startDate=2026",
        "startDate=2026-03-02T00:00:00Z&endDate=2026-03-01T00:00:00Z",
        "days=1&startDate=2026-03-01T00:00:00Z",
        "from=2026-03-01T00:00:00Z",
    ] {
        let message = refused(&api.get(&format!("/api/v1/fx/history?{query}")), 400, "Bad Request");
        assert!(message.is_array(), "{query}: {message}");
    }
    for query in ["pair=EUR/VES", "source=nobody", "side=MIDDLE"] {
        refused(&api.get(&format!("/api/v1/fx/history?{query}")), 404, "Not Found");
    }
}

#[test]
fn unknown_paths_and_methods_have_the_public_shape() {
    let server = Server::start();
    let api = server.nobody();
    for path in ["/api/v1", "/api/v1/", "/api/v1/fx", "/api/v1/fx/latest/", "/api/v1/banks"] {
        refused(&api.get(path), 404, "Not Found");
        refused(&api.request("OPTIONS", path), 404, "Not Found");
    }
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let answer = api.request(method, "/api/v1/fx/latest");
        refused(&answer, 405, "Method Not Allowed");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
    }
    assert_eq!(api.request("HEAD", "/api/v1/fx/latest").status, 200);
    api.get("/api/v2/fx/latest").refused(404, "not_found");
}

#[test]
fn only_the_operators_sites_may_read_it_in_a_browser() {
    let server = Server::start_with(&[(
        "PASARELA__PUBLIC__ALLOWED_ORIGINS",
        "https://app.example.com,http://localhost:3000",
    )]);
    for (origin, allowed) in [
        ("https://app.example.com", true),
        ("http://localhost:3000", true),
        ("https://evil.example.com", false),
        ("https://app.example.com.evil.com", false),
        ("null", false),
    ] {
        let api = server.nobody().with("origin", origin);
        let told = |answer: &Answer| answer.header("access-control-allow-origin").map(str::to_owned);
        let expected = allowed.then(|| origin.to_owned());
        for path in [
            "/api/v1/fx/latest",
            "/api/v1/fx/history",
            "/api/v1/public/withdraw/fee-schedule",
            "/api/v1/fx/latest?pair=X",
        ] {
            let answer = api.get(path);
            assert_eq!(told(&answer), expected, "{origin} {path}");
            assert!(answer.header("vary").is_some_and(|vary| vary.contains("Origin")));
        }
        let preflight =
            api.with("access-control-request-method", "GET").request("OPTIONS", "/api/v1/fx/latest");
        assert_eq!((preflight.status, told(&preflight)), (204, expected));
        assert_eq!(preflight.header("access-control-allow-methods"), allowed.then_some("GET, OPTIONS"));
        assert!(preflight.body.is_empty());
    }
    assert_eq!(server.nobody().get("/api/v1/fx/latest").header("access-control-allow-origin"), None);
    // Interface B is for servers.
    let bank = server.tenant().test.with("origin", "https://app.example.com").get("/v1/banks");
    assert_eq!((bank.status, bank.header("access-control-allow-origin")), (200, None));
}

#[test]
fn a_cache_asks_by_tag() {
    let server = Server::start();
    let api = server.nobody();
    for (path, held) in [
        ("/api/v1/fx/latest", "public, max-age=5"),
        ("/api/v1/fx/history?endDate=2026-01-01T00:00:00Z", "public, max-age=30"),
        ("/api/v1/public/withdraw/fee-schedule", "public, max-age=60"),
        ("/api/v1/public/withdraw/estimate-fee?amount_cents=1000", "public, max-age=60"),
        ("/api/v1/public/withdraw/pago-movil-quote?amountCents=1000", "public, max-age=5"),
    ] {
        let first = api.get(path);
        assert_eq!((first.status, first.header("cache-control")), (200, Some(held)), "{path}");
        let tag = first.header("etag").expect("a tag").to_owned();
        for sent in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let again = api.with("if-none-match", &sent).get(path);
            assert_eq!(
                (again.status, again.body.len(), again.header("etag")),
                (304, 0, Some(tag.as_str())),
                "{path} {sent}"
            );
            assert_eq!(again.header("cache-control"), Some(held));
        }
        assert_eq!(api.with("if-none-match", "\"x\"").get(path).status, 200);
    }
    let before = api.get("/api/v1/fx/latest?pair=USD/VES").header("etag").expect("a tag").to_owned();
    let body = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "201.00000000" });
    server.admin().post("/admin/rates", &body).expect(201);
    let after = api.with("if-none-match", &before).get("/api/v1/fx/latest?pair=USD/VES");
    assert_number(&after.expect(200), "price", "201");
    let refused = api.get("/api/v1/fx/latest?pair=X");
    assert_eq!((refused.header("cache-control"), refused.header("etag")), (Some("no-store"), None));
}
