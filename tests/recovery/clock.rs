//! A wall clock that is set under a running server: money does not believe it.

use crate::harness::check::instant;
use crate::harness::client::Api;
use crate::harness::server::Server;
use crate::{shown, succeeds};
use chrono::{DateTime, Utc};
use serde_json::json;
use std::path::Path;

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// Sets the wall clock that the server sees, to so much beside the machine's.
fn step(file: &Path, by_ms: i64) {
    // Whoever reads the file sees all of it.
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
    // The test world goes on, by the clock that is believed.
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

    // Undone: no book stands still.
    step(&file, 0);
    create(live).expect(201);
    is_about_now(test, 0);
    assert_eq!(figure().as_deref(), Some("0"));

    // Backwards, and with an operator who says that it is right.
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

    // Back: no book's clock goes back with it, and the hold stays.
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

    // Ahead, which nobody can know: a day has passed, as far as anything says.
    server.kill();
    step(&file, 2 * DAY_MS);
    server.restart();
    assert_eq!(held(test), "0.00");
    live.create_merchant(json!({})).expect(201);

    // And right again: now it is known.
    server.kill();
    step(&file, 0);
    server.restart();
    assert!(server.log_tail().contains(behind), "{}", server.log_tail());
    test.books();
    // Nothing of this book was decided by the wrong clock, so nothing of its holds is over.
    test.assert_books("20.00", "20.00", "0.00");
    succeeds(&server, &["wal", "verify"]);
}
