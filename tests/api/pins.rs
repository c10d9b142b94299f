//! Rates under a hand: pins hold a price in force whatever the feeds say (`docs/contract.md, 20.8`).

use crate::harness::check::{assert_number, list, stamp, text};
use crate::harness::flows::number;
use crate::harness::server::Server;
use chrono::{TimeDelta, Utc};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A floor that its feed says anew every second, and that is too old for money after one.
const FEEDS: [(&str, &str); 2] = [
    (
        "PASARELA__RATES__FEEDS",
        r#"[{ pair = "USDT/VES", source = "p2p", side = "FLOOR", method = "p2p_floor", kind = "fixed", price = "245", every_seconds = 1 },
            { pair = "USD/VES", source = "bcv", side = "OFFICIAL", kind = "fixed", price = "200", every_seconds = 1 }]"#,
    ),
    ("PASARELA__RATES__MAX_AGE_SECONDS", "60"),
];

fn pin(price: &str, seconds: i64) -> Value {
    json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "price": price, "reason": "the market is shut",
        "pinnedUntil": stamp(Utc::now() + TimeDelta::seconds(seconds)) })
}

fn floor(server: &Server) -> Value {
    server.nobody().get("/api/v1/fx/latest?pair=USDT/VES&source=p2p&side=FLOOR").expect(200)
}

/// Waits until the feed has spoken after `since`.
fn await_feed(server: &Server, since: usize) {
    let begun = Instant::now();
    while server.admin().get("/admin/status").expect(200)["rates"]["written"].as_u64() < Some(since as u64) {
        assert!(begun.elapsed() < Duration::from_secs(30), "the feed says nothing");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits for the next sample of the feed, which counts after a pin.
fn await_price(server: &Server, price: &str) {
    let begun = Instant::now();
    while floor(server)["price"] != number(price) {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} stays", floor(server));
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn pins(server: &Server) -> Vec<Value> {
    list(&server.admin().get("/admin/status").expect(200)["rates"], "pins").to_vec()
}

const UNPIN: &str = "/admin/rates/pin?pair=usdt/ves&source=p2p&side=FLOOR";

#[test]
fn no_feed_replaces_a_pinned_price_and_it_does_not_age() {
    let server = Server::start_with(&FEEDS);
    let admin = server.admin();
    // As of an hour ago: much too old for money, were it not pinned.
    let mut body = pin("300.50", 3_600);
    body["asOf"] = json!(stamp(Utc::now() - TimeDelta::hours(1)));
    let made = admin.post("/admin/rates", &body).expect(201);
    assert_number(&made, "price", "300.5");
    assert_eq!((&made["reason"], &made["pinnedUntil"]), (&body["reason"], &body["pinnedUntil"]));
    let written =
        server.admin().get("/admin/status").expect(200)["rates"]["written"].as_u64().expect("a count");
    await_feed(&server, written as usize + 3);
    assert_number(&floor(&server), "price", "300.5");
    let by_method = "/api/v1/fx/latest?pair=USDT/VES&method=p2p_floor";
    assert_number(&server.nobody().get(by_method).expect(200), "price", "300.5");
    let api = server.tenant().test;
    api.fund("100000.00");
    let quote = api.post("/v1/conversions/quotes", &json!({ "sourceAmountVes": "1000.00" }));
    assert_eq!(quote.expect(201)["marketRate"], "300.5000", "for money too");
    let shown = pins(&server);
    assert_eq!(shown.len(), 1);
    assert_eq!(shown[0]["operator"], json!({ "operatorId": "root", "name": "root" }));
    assert_eq!(
        (text(&shown[0], "pair"), text(&shown[0], "source"), text(&shown[0], "side")),
        ("USDT/VES", "p2p", "FLOOR")
    );
    assert!(shown[0]["method"].is_null());
    assert_number(&shown[0], "price", "300.5");
    assert_eq!((&shown[0]["reason"], &shown[0]["pinnedUntil"]), (&body["reason"], &body["pinnedUntil"]));
    let metric = r#"pasarela_rate_pinned{pair="USDT/VES",source="p2p",side="FLOOR"} 1"#;
    assert!(admin.get("/metrics").text().contains(metric));

    let mut plain = body.clone();
    plain.as_object_mut().expect("an object").retain(|name, _| name != "pinnedUntil" && name != "reason");
    admin.post("/admin/rates", &plain).refused(409, "rate_pinned");
    plain["method"] = json!("p2p_floor");
    admin.post("/admin/rates", &plain).refused(409, "rate_pinned");
    plain["side"] = json!("BUY");
    admin.post("/admin/rates", &plain).expect(201);

    admin.post("/admin/rates", &pin("310", 3_600)).expect(201);
    assert_eq!(pins(&server).len(), 1, "a new pin replaces the old");
    assert_number(&floor(&server), "price", "310");

    let ended = admin.delete(UNPIN).expect(200);
    assert_number(&ended, "price", "310");
    await_price(&server, "245");
    assert!(pins(&server).is_empty() && !admin.get("/metrics").text().contains("pasarela_rate_pinned{"));
    admin.delete(UNPIN).refused(404, "not_found");
}

#[test]
fn a_pin_ends_at_its_instant() {
    let server = Server::start_with(&FEEDS);
    server.admin().post("/admin/rates", &pin("300", 2)).expect(201);
    assert_number(&floor(&server), "price", "300");
    let begun = Instant::now();
    while !pins(&server).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
    await_price(&server, "245");
    server.admin().delete(UNPIN).refused(404, "not_found");
}

#[test]
fn what_a_pin_needs_is_named() {
    let server = Server::shared();
    let admin = server.admin();
    let bad = |change: &dyn Fn(&mut Value), fields: &[&str]| {
        let mut body = pin("300", 60);
        body["pair"] = json!("ABC/XYZ");
        change(&mut body);
        admin.post("/admin/rates", &body).names(fields);
    };
    bad(&|body| body["pinnedUntil"] = json!(stamp(Utc::now())), &["pinnedUntil"]);
    bad(&|body| body["pinnedUntil"] = json!(stamp(Utc::now() + TimeDelta::days(31))), &["pinnedUntil"]);
    bad(&|body| body["pinnedUntil"] = json!("tomorrow"), &["pinnedUntil"]);
    bad(&|body| body["pinnedUntil"] = Value::Null, &["reason"]);
    bad(&|body| body["reason"] = Value::Null, &["reason"]);
    bad(&|body| body["reason"] = json!("x".repeat(501)), &["reason"]);
    bad(&|body| body["reason"] = json!("  "), &["reason"]);
    for (query, fields) in [
        ("", &["pair", "source", "side"][..]),
        ("?pair=ABC/XYZ&side=BUY", &["source"]),
        ("?pair=ABCXYZ&source=p2p&side=BUY", &["pair"]),
        ("?pair=ABC/XYZ&source=p2p&side=BUY&method=x", &["method"]),
    ] {
        admin.delete(&format!("/admin/rates/pin{query}")).names(fields);
    }
    admin.delete("/admin/rates/pin?pair=ABC/XYZ&source=p2p&side=BUY").refused(404, "not_found");
}

#[test]
fn a_pinned_official_rate_prices_payments_and_one_without_a_side_can_be_ended() {
    let server = Server::start_with(&FEEDS);
    let admin = server.admin();
    let api = server.tenant().test;
    assert_number(&api.intent(1), "bcvRate", "200");
    let mut body = pin("222.22", 3_600);
    body["pair"] = json!("USD/VES");
    body["source"] = json!("bcv");
    body.as_object_mut().expect("an object").remove("side");
    admin.post("/admin/rates", &body).expect(201);
    let written = admin.get("/admin/status").expect(200)["rates"]["written"].as_u64().expect("a count");
    await_feed(&server, written as usize + 3);
    assert_number(&api.intent(1), "bcvRate", "222.22");
    admin.delete("/admin/rates/pin?pair=USD/VES&source=bcv&side=OFFICIAL").refused(404, "not_found");
    admin.delete("/admin/rates/pin?pair=USD/VES&source=bcv&side=").expect(200);
}

#[test]
fn the_audit_of_a_pin_has_the_one_that_it_replaced() {
    let server = Server::start();
    let admin = server.admin();
    for price in ["300", "310"] {
        admin.post("/admin/rates", &pin(price, 3_600)).expect(201);
    }
    let audit = admin.get("/admin/audit?action=rate.add").expect(200);
    let rows = list(&audit, "items");
    // The first took the place of what the feed said.
    assert_eq!(rows[1]["before"]["price"], 245, "{audit}");
    assert_eq!(rows[0]["before"]["price"], rows[1]["after"]["price"], "{audit}");
    assert_ne!(rows[0]["before"]["price"], rows[0]["after"]["price"], "{audit}");
}

#[test]
fn operators_list_the_newest_of_every_rate_with_its_pin() {
    let server = Server::start_with(&FEEDS);
    await_feed(&server, 1);
    let rates = || list(&server.admin().get("/admin/rates").expect(200), "items").to_vec();
    let floors = || rates().into_iter().filter(|rate| rate["side"] == "FLOOR").collect::<Vec<_>>();
    assert_eq!(rates().iter().filter(|rate| rate["side"] == "OFFICIAL").count(), 1, "one of a series");
    assert!(floors().iter().all(|rate| rate["pinnedUntil"].is_null() && rate["reason"].is_null()));
    server.admin().post("/admin/rates", &pin("300", 3_600)).expect(201);
    let held = floors();
    assert!(held.iter().all(|rate| rate["reason"] == "the market is shut"), "{held:?}");
    assert!(held.iter().any(|rate| rate["price"] == 300), "{held:?}");
}
