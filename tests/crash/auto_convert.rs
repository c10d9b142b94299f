//! Conversions that wait for a rate: they outlive crashes, are made as soon as there is one, and
//! end with their payment or after a day.

use crate::harness::check::{assert_texts, list, stamp, text};
use crate::harness::client::Api;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A server whose rates grow old after two seconds; the feed looks once a minute.
fn forgetful() -> Server {
    Server::start_with(&[("PASARELA__RATES__MAX_AGE_SECONDS", "2")])
}

/// Waits until no rate of pesos is known.
fn until_there_is_no_rate(api: &Api) {
    let deadline = Instant::now() + PATIENCE;
    while api
        .post("/v1/conversions/quotes", &json!({ "sourceCurrency": "COP", "sourceAmount": "100000" }))
        .status
        != 503
    {
        assert!(Instant::now() < deadline, "the rate does not grow old");
        sleep(Duration::from_millis(100));
    }
}

fn rate(server: &Server) {
    let sample = json!({ "pair": "USDT/COP", "source": "p2p", "side": "BUY", "price": "4000", "asOf": stamp(chrono::Utc::now()) });
    server.admin().post("/admin/rates", &sample).expect(201);
}

fn paid(api: &Api, reference: &str) -> Value {
    let pending = api
        .post("/v1/cop/payments", &json!({ "amountCop": 100_000, "channel": "qr", "reference": reference }))
        .expect(201);
    api.act(&format!("/v1/test/cop/payments/{}/pay", text(&pending, "id"))).expect(200)
}

fn conversions(api: &Api) -> Vec<Value> {
    list(&api.get("/v1/conversions").expect(200), "items").to_vec()
}

fn tenant(server: &Server) -> Api {
    let api = server.tenant().test;
    api.patch("/v1/conversions/settings", &json!({ "autoConvert": { "COP": { "percent": 50 } } }))
        .expect(200);
    api
}

#[test]
fn it_is_made_as_soon_as_there_is_a_rate() {
    let mut server = forgetful();
    let api = tenant(&server);
    until_there_is_no_rate(&api);
    let (kept, refunded) = (paid(&api, "test_pending-1"), paid(&api, "refunded"));
    api.act(&format!("/v1/cop/payments/{}/refund", text(&refunded, "id"))).expect(200);
    for _ in 0..2 {
        server.kill();
        server.restart();
        until_there_is_no_rate(&api);
        api.advance(90);
        assert!(conversions(&api).is_empty());
    }
    rate(&server);
    api.advance(60);
    let made = conversions(&api);
    assert_eq!(made.len(), 1, "the refund ended the other one");
    assert_texts(
        &made[0],
        &[
            ("status", "PENDING"),
            ("origin", "auto"),
            ("paymentId", text(&kept, "id")),
            ("sourceAmount", "47000"),
        ],
    );
    server.kill();
    server.restart();
    assert_eq!(conversions(&api), made);
    let done = api.act(&format!("/v1/test/conversions/{}/fulfil", text(&made[0], "id"))).expect(200);
    assert_texts(&done, &[("status", "COMPLETED"), ("targetAmountUsdt", "11.51")]);
    let events = api.get("/v1/events?after=0&limit=100").expect(200);
    let names: Vec<&str> = list(&events, "items").iter().map(|event| text(event, "event")).collect();
    assert_eq!(
        names,
        [
            "payment.completed",
            "payment.completed",
            "payment.reversed",
            "conversion.created",
            "conversion.completed"
        ]
    );
    assert_texts(&api.get("/v1/cop/balance").expect(200), &[("heldCop", "47000"), ("availableCop", "0")]);
}

#[test]
fn after_a_day_the_pesos_stay_pesos() {
    let mut server = forgetful();
    let api = tenant(&server);
    until_there_is_no_rate(&api);
    paid(&api, "left");
    api.advance(3_600);
    server.kill();
    server.restart();
    until_there_is_no_rate(&api);
    api.advance(24 * 3_600);
    rate(&server);
    api.advance(3_600);
    assert!(conversions(&api).is_empty());
    assert_texts(&api.get("/v1/cop/balance").expect(200), &[("availableCop", "94000"), ("heldCop", "0")]);
}
