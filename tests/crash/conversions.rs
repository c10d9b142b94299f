//! SIGKILL while quotes are accepted, and in every state in which a conversion or a USDT payout can
//! wait: each happens once, and what was promised goes on.

use crate::harness::check::{assert_texts, decimal, list, race, text};
use crate::harness::client::Api;
use crate::harness::server::Server;
use crate::load::{PATIENCE, insist};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const CRASHES: usize = 4;
const WRITERS: usize = 6;
const ROUNDS: usize = 30;

fn fund(api: &Api, currency: &str, amount: &str, held: bool) {
    api.post("/v1/test/fund", &json!({ "currency": currency, "amount": amount, "held": held })).expect(201);
}

fn quote(api: &Api, amount: &str) -> Value {
    api.post("/v1/conversions/quotes", &json!({ "sourceAmountVes": amount })).expect(201)
}

fn accept(api: &Api, quote: &Value, reference: Option<&str>) -> Value {
    api.post("/v1/conversions", &json!({ "quoteId": quote["id"], "reference": reference })).expect(201)
}

#[test]
fn every_state_outlives_a_crash() {
    let mut server = Server::start();
    let api = server.tenant_with(json!({ "conversions": { "dailyLimit": { "VES": "1500.00" } } })).test;
    fund(&api, "VES", "5000.00", true);
    fund(&api, "USDT", "1000.00", false);
    api.patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": 25 } } }))
        .expect(200);
    let (open, done, waiting) = (
        quote(&api, "500.00"),
        accept(&api, &quote(&api, "500.00"), None),
        accept(&api, &quote(&api, "500.00"), Some("test_pending")),
    );
    let address = json!({ "customerRef": "c-1", "network": "TRC20", "asset": "USDT" });
    let deposit_address = api.post("/v1/crypto/deposit-addresses", &address).expect(201);
    let payout = json!({ "amountUsdt": "600.00", "address": deposit_address["address"], "network": "TRC20", "externalRef": "big" });
    let review = api.post("/v1/crypto/payouts", &payout).expect(201);
    let seen = |api: &Api| {
        let of = |path: &str| api.get(path).expect(200);
        [
            of("/v1/balance"),
            of("/v1/crypto/balance"),
            of("/v1/conversions"),
            of("/v1/crypto/payouts"),
            of("/v1/crypto/balance/transactions"),
            of("/v1/events"),
        ]
    };
    let before = seen(&api);
    for _ in 0..2 {
        server.kill();
        server.restart();
        assert_eq!(seen(&api), before);
    }
    server.admin().act("/admin/snapshot").expect(200);
    server.kill();
    server.restart();
    assert_eq!(seen(&api), before, "from a snapshot");
    assert_eq!(api.get("/v1/conversions/settings").expect(200)["autoConvert"]["COP"]["percent"], 25);
    assert_eq!(api.post("/v1/crypto/deposit-addresses", &address).expect(200), deposit_address);
    assert_eq!(api.post("/v1/crypto/payouts", &payout).expect(200), review);
    // The day's sum is still known: there is room for 500.00 more and not for a cent beyond.
    let over = quote(&api, "500.01");
    api.post("/v1/conversions", &json!({ "quoteId": over["id"] })).refused(422, "daily_limit_exceeded");
    assert_texts(&accept(&api, &open, None), &[("status", "COMPLETED"), ("rate", text(&open, "rate"))]);
    api.post("/v1/conversions", &json!({ "quoteId": done["id"] })).refused(409, "quote_used");
    let canceled = api.act(&format!("/v1/conversions/{}/cancel", text(&waiting, "id"))).expect(200);
    assert_texts(&canceled, &[("status", "CANCELED")]);
    let sent = api.act(&format!("/v1/test/crypto/payouts/{}/approve", text(&review, "id"))).expect(200);
    assert_texts(&sent, &[("status", "completed"), ("totalUsdt", "601.00")]);
    server.kill();
    server.restart();
    assert_texts(
        &api.books(),
        &[("ledgerNetVes", "4000.00"), ("heldVes", "4000.00"), ("convertedVes", "1000.00")],
    );
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}

#[test]
fn every_quote_is_converted_exactly_once() {
    let mut server = Server::start();
    let api = server.tenant().test;
    fund(&api, "VES", "1000000.00", false);
    let (done, told) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (api, done, told) = (&api, &done, &told);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let (status, quote, _) =
                        insist(api, "/v1/conversions/quotes", &json!({ "targetAmountUsdt": "1.00" }));
                    assert_eq!(status, 201, "{quote}");
                    let body = json!({ "quoteId": quote["id"], "reference": format!("{writer}-{round}") });
                    let keyed = round % 2 == 0;
                    let caller = if keyed { api.keyed(&format!("{writer}-{round}")) } else { api.clone() };
                    let (status, answer, _) = insist(&caller, "/v1/conversions", &body);
                    match status {
                        201 => assert_eq!(answer["id"], quote["id"]),
                        // A repeat without a key is told that the first one won.
                        409 if !keyed => assert_eq!(answer["error"], "quote_used"),
                        _ => panic!("{status}: {answer}"),
                    }
                    told.lock().expect("no writer panicked").push(text(&quote, "id").to_owned());
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for crash in 0..CRASHES {
            let deadline = Instant::now() + PATIENCE;
            while done.load(Ordering::Relaxed) < (crash + 1) * WRITERS * ROUNDS / (CRASHES + 2) {
                assert!(Instant::now() < deadline, "the writers are stuck");
                sleep(Duration::from_millis(2));
            }
            sleep(Duration::from_millis(3 * crash as u64));
            server.kill();
            server.restart();
        }
    });
    let mut told = told.into_inner().expect("no writer panicked");
    told.sort_unstable();
    let conversions = api.walk("/v1/conversions", &[], 100);
    let mut ids: Vec<String> =
        conversions.iter().map(|conversion| text(conversion, "id").to_owned()).collect();
    ids.sort_unstable();
    assert_eq!(ids, told, "each acknowledged conversion is there once, and no other");
    let count = Decimal::from(WRITERS * ROUNDS);
    assert_eq!(decimal(&api.books()["convertedVes"]), count * Decimal::new(24_868, 2));
    assert_eq!(decimal(&api.get("/v1/crypto/balance").expect(200)["availableUsdt"]), count);
    let references: std::collections::BTreeSet<&str> =
        conversions.iter().map(|conversion| text(conversion, "reference")).collect();
    assert_eq!(references.len(), WRITERS * ROUNDS);
}

#[test]
fn usdt_for_ten_pays_ten_across_a_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    fund(&api, "USDT", "15.00", false);
    let body = |n: usize| json!({ "amountUsdt": "1.00", "address": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "network": "BEP20", "externalRef": format!("p-{n}") });
    let first = std::thread::scope(|scope| {
        let running = scope
            .spawn(|| race(30, |n| api.try_post("/v1/crypto/payouts", &body(n)).map(|answer| answer.status)));
        sleep(Duration::from_millis(4));
        server.kill();
        running.join().expect("the writers end well")
    });
    server.restart();
    let again: Vec<u16> = (0..30).map(|n| insist(&api, "/v1/crypto/payouts", &body(n)).0).collect();
    for (n, before) in first.iter().enumerate() {
        if *before == Ok(201) {
            assert_eq!(again[n], 200, "acknowledged and lost");
        }
    }
    api.advance(600);
    let payouts = api.walk("/v1/crypto/payouts", &[("status", "completed")], 100);
    assert_eq!(payouts.len(), 10, "1.50 each");
    assert_texts(
        &api.get("/v1/crypto/balance").expect(200),
        &[("availableUsdt", "0.00"), ("pendingPayoutsUsdt", "0.00")],
    );
    let rows = api.get("/v1/crypto/balance/transactions?limit=100").expect(200);
    assert_eq!(list(&rows, "items").len(), 21);
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}
