//! A wall clock that is set under a running server: money does not believe it.

use crate::harness::check::instant;
use crate::harness::client::Api;
use crate::harness::receiver::{Manner, Receiver};
use crate::harness::server::Server;
use crate::{shown, succeeds};
use chrono::{DateTime, Utc};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

pub const DAY_MS: i64 = 86_400_000;
pub const HOUR_MS: i64 = 3_600_000;

/// Sets the wall clock that the server sees, to so much beside the machine's.
pub fn step(file: &Path, by_ms: i64) {
    // The file is replaced whole, so that a reader sees all of it.
    let new = file.with_extension("new");
    std::fs::write(&new, by_ms.to_string()).expect("written");
    std::fs::rename(&new, file).expect("moved");
}

fn clock(api: &Api) -> DateTime<Utc> {
    let now = api.get("/v1/test/clock").expect(200)["now"].as_str().expect("an instant").to_owned();
    now.parse().expect("an instant")
}

fn held(api: &Api) -> String {
    api.get("/v1/balance").expect(200)["heldVes"].as_str().expect("an amount").to_owned()
}

#[track_caller]
fn is_about_now(api: &Api, ahead_ms: i64) {
    let off_ms = (clock(api) - Utc::now()).num_milliseconds() - ahead_ms;
    assert!(off_ms.abs() < HOUR_MS / 2, "{off_ms} ms off");
}

#[test]
fn a_spike_ends_no_hold_and_live_money_waits_until_it_is_undone_or_confirmed() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("step");
    step(&file, 0);
    let server = Server::start_with(&[("PASARELA_TEST_CLOCK_STEP", shown(&file))]);
    let tenant = server.tenant();
    server
        .admin()
        .post(&format!("/admin/tenants/{}/live-status", tenant.id), &json!({ "status": "active" }))
        .expect(200);
    let (test, live) = (&tenant.test, &tenant.live);
    test.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00", "held": true })).expect(201);
    let create = |api: &Api| api.create_merchant(json!({}));
    create(live).expect(201);

    step(&file, DAY_MS);
    let refused = create(live);
    assert_eq!(
        (refused.status, refused.json()["error"].as_str()),
        (503, Some("clock_stepped")),
        "{}",
        refused.text()
    );
    assert!(
        refused
            .header("retry-after")
            .is_some_and(|seconds| seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0))
    );
    live.get("/v1/balance").expect(200);
    // Test mode goes on, by the clock that is believed.
    create(test).expect(201);
    assert_eq!(held(test), "10.00", "the hold did not end");
    is_about_now(test, 0);
    let status = server.admin().get("/admin/status").expect(200);
    let seen = status["clock"]["stepMs"].as_i64().expect("a number");
    assert!((seen - DAY_MS).abs() < 60_000, "{status}");
    let figure = || {
        server
            .admin()
            .get("/metrics")
            .text()
            .lines()
            .find_map(|line| line.strip_prefix("pasarela_clock_step_seconds ").map(str::to_owned))
    };
    assert!(figure().is_some_and(|seconds| seconds.starts_with("86")), "{:?}", figure());

    // The step is undone: no book stands still.
    step(&file, 0);
    create(live).expect(201);
    is_about_now(test, 0);
    assert_eq!(figure().as_deref(), Some("0"));

    // The clock is set backwards, and an operator says that it is right.
    step(&file, -HOUR_MS);
    assert_eq!(create(live).status, 503);
    assert!(succeeds(&server, &["admin", "clock", "confirm", "--json"]).contains("\"stepMs\":-3"));
    create(live).expect(201);
    step(&file, DAY_MS);
    assert_eq!(create(live).status, 503);
    server.admin().post("/admin/clock/confirm", &json!({})).expect(200);
    create(live).expect(201);
    assert_eq!(held(test), "0.00", "a day has passed, as an operator says");
    is_about_now(test, DAY_MS);
}

#[test]
fn a_clock_that_was_set_while_nothing_ran_loses_nothing_and_is_told_when_it_went_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("step");
    step(&file, 0);
    let mut server = Server::start_with(&[("PASARELA_TEST_CLOCK_STEP", shown(&file))]);
    let tenant = server.tenant();
    let active = json!({ "status": "active" });
    server.admin().post(&format!("/admin/tenants/{}/live-status", tenant.id), &active).expect(200);
    let (test, live) = (&tenant.test, &tenant.live);
    let held_at = |api: &Api| -> DateTime<Utc> {
        let fund = json!({ "currency": "VES", "amount": "10.00", "held": true });
        instant(&api.post("/v1/test/fund", &fund).expect(201)["createdAt"])
    };
    let before = held_at(test);
    live.create_merchant(json!({})).expect(201);
    let behind = "the log is ahead of the clock";
    assert!(!server.log_tail().contains(behind));

    // The clock is set back: no book's clock goes back with it, and the hold stays.
    server.kill();
    step(&file, -DAY_MS);
    server.restart();
    assert!(server.log_tail().contains(behind), "{}", server.log_tail());
    assert!(clock(test) >= before, "a book's clock ran backwards");
    assert_eq!(held(test), "10.00");
    assert!(held_at(test) >= before, "a record is older than the one before it");
    assert_eq!(held(test), "20.00");
    live.create_merchant(json!({})).expect(201);
    test.books();

    // The clock is set ahead, which nobody can know: a day has passed, as far as anything says.
    server.kill();
    step(&file, 2 * DAY_MS);
    server.restart();
    assert_eq!(held(test), "0.00");
    live.create_merchant(json!({})).expect(201);

    // The clock is set right again: it goes back, which the server can tell.
    server.kill();
    step(&file, 0);
    server.restart();
    assert!(server.log_tail().contains(behind), "{}", server.log_tail());
    test.books();
    // No time of this book was decided by the wrong clock, so nothing of its holds is over.
    test.assert_books("20.00", "20.00", "0.00");
    succeeds(&server, &["wal", "verify"]);
}

/// A server whose wall clock is read from a file, and that file.
fn with_a_clock(environment: &[(&str, &str)]) -> (Server, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("a directory");
    step(&directory.path().join("step"), 0);
    let file = directory.path().join("step");
    let all = [&[("PASARELA_TEST_CLOCK_STEP", shown(&file))][..], environment].concat();
    (Server::start_with(&all), directory)
}

#[test]
fn operators_move_no_live_money_either_while_the_clock_is_in_doubt() {
    let (server, directory) = with_a_clock(&[]);
    let tenant = server.tenant();
    let admin = server.admin();
    let of = |rest: &str| format!("/admin/tenants/{}/{rest}", tenant.id);
    let adjustment = |mode: &str, reference: &str| json!({ "mode": mode, "currency": "COP", "amount": "50000", "description": "x", "externalRef": reference });
    let payout = |mode: &str, reference: &str| {
        json!({
            "mode": mode, "amountCop": 1_000, "bank": "Bancolombia", "accountNumber": "12345678901", "accountType": "savings",
            "holderName": "Ana", "documentType": "CC", "documentNumber": "1020304050", "externalRef": reference,
        })
    };
    for mode in ["live", "test"] {
        admin.post(&of("adjustments"), &adjustment(mode, "before")).expect(201);
    }
    let under_way = admin.post(&of("cop-payouts"), &payout("live", "before")).expect(201);
    let complete = format!("/admin/cop-payouts/{}/complete", under_way["id"].as_str().expect("an id"));
    step(&directory.path().join("step"), DAY_MS);
    let keyed = admin.keyed("while the clock is in doubt");
    for _ in 0..2 {
        keyed.post(&of("adjustments"), &adjustment("live", "after")).refused(503, "clock_stepped");
    }
    admin.post(&of("cop-payouts"), &payout("live", "after")).refused(503, "clock_stepped");
    admin.post(&complete, &json!({ "reference": "81" })).refused(503, "clock_stepped");
    // A repeat of an earlier call is answered again, and test mode goes on.
    admin.post(&of("adjustments"), &adjustment("live", "before")).expect(200);
    admin.post(&of("adjustments"), &adjustment("test", "after")).expect(201);
    admin.post(&of("cop-payouts"), &payout("test", "after")).expect(201);
    step(&directory.path().join("step"), 0);
    keyed.post(&of("adjustments"), &adjustment("live", "after")).expect(201);
    admin.post(&complete, &json!({ "reference": "81" })).expect(200);
}

#[test]
fn webhooks_and_prices_bear_the_time_that_is_believed() {
    let (mut server, directory) = with_a_clock(&[]);
    // A price comes each second, so that one comes after the spike.
    assert!(server.terminate().success());
    server.configure(|config| config.replace("every_seconds = 60", "every_seconds = 1"));
    server.restart();
    let api = server.tenant().test;
    let receiver = Receiver::start(|_| Manner::Status(200));
    let hook = json!({ "url": receiver.url(), "events": ["payment.completed", "conversion.completed"] });
    api.post("/v1/webhooks", &hook).expect(201);
    let half = json!({ "autoConvert": { "COP": { "percent": 50 } } });
    api.patch("/v1/conversions/settings", &half).expect(200);
    let fetched = || {
        let latest = server.nobody().get("/api/v1/fx/latest?pair=USDT/COP").expect(200);
        latest["fetchedAt"].as_str().expect("an instant").parse::<DateTime<Utc>>().expect("an instant")
    };
    let is_near = |instant: DateTime<Utc>, ahead_ms: i64| {
        ((instant - Utc::now()).num_milliseconds() - ahead_ms).abs() < HOUR_MS / 2
    };
    step(&directory.path().join("step"), DAY_MS);
    // First nobody believes the wall clock, then an operator says that it is right: what reads
    // another clock than the believed one is a day off in one of both.
    for (ahead_ms, count) in [(0, 2), (DAY_MS, 4)] {
        if ahead_ms > 0 {
            server.admin().post("/admin/clock/confirm", &json!({})).expect(200);
        }
        let before = fetched();
        let deadline = Instant::now() + PATIENCE;
        while fetched() == before || !is_near(fetched(), ahead_ms) {
            assert!(Instant::now() < deadline, "no price of now: {}: {}", fetched(), server.log_tail());
            std::thread::sleep(Duration::from_millis(100));
        }
        // Pesos that are sold now are converted at that price, and events tell it.
        api.cop_paid(50_000);
        let arrived = receiver.wait_for(count).split_off(count - 2);
        let mut events: Vec<_> = arrived.iter().map(|arrived| arrived.json()["event"].to_string()).collect();
        events.sort();
        assert_eq!(events, ["\"conversion.completed\"", "\"payment.completed\""]);
        for message in &arrived {
            let seconds: i64 = message.header("webhook-timestamp").parse().expect("a number");
            let sent = DateTime::from_timestamp(seconds, 0).expect("an instant");
            assert!(is_near(sent, ahead_ms), "a receiver refuses what was signed at {sent}");
        }
    }
}
