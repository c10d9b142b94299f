//! Snapshots are thinned and expired answers taken out, and everything that is asked of the past
//! comes out as before.

use crate::harness::client::Api;
use crate::harness::server::Server;
use crate::{shown, succeeds, verified};
use domain::values::ids::{Mode, tenant_key};
use serde_json::{Value, json};
use std::thread::sleep;
use std::time::{Duration, Instant};
use wal::Reader;

/// The time that thinning may take to come round.
const PATIENCE: Duration = Duration::from_secs(60);
const HALF_HOUR_S: u64 = 1_800;
const ROUNDS: u64 = 60;

/// Counts the snapshots of the one tenant's test mode: the platform's own book has one for every
/// call of an operator.
fn snapshots(server: &Server) -> usize {
    let reader = Reader::open_read_only(server.data().join("log")).expect("the log");
    reader
        .snapshots_of(tenant_key(1, Mode::Test))
        .inspect(|stored| assert!(stored.is_ok(), "a snapshot"))
        .count()
}

#[track_caller]
fn until(server: &Server, what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: {}", server.log_tail());
        sleep(Duration::from_millis(200));
    }
}

/// Lives through thirty hours of one tenant, with a snapshot every half hour; returns what the
/// balance was, by instant.
fn thirty_hours(server: &Server, api: &Api) -> Vec<(String, Value)> {
    let mut past = Vec::new();
    for _ in 0..ROUNDS {
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00", "held": true })).expect(201);
        let now = api.get("/v1/test/clock").expect(200)["now"].as_str().expect("an instant").to_owned();
        past.push((now, api.get("/v1/balance").expect(200)));
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
        api.post("/v1/test/clock", &json!({ "advanceSeconds": HALF_HOUR_S })).expect(200);
    }
    past
}

#[track_caller]
fn is_as_it_was(api: &Api, past: &[(String, Value)]) {
    for (at, was) in past {
        let then = api.get(&format!("/v1/balance?at={at}")).expect(200);
        for figure in ["availableVes", "heldVes", "totalVes"] {
            assert_eq!(then.get(figure), was.get(figure), "{figure} at {at}");
        }
    }
}

#[test]
fn old_snapshots_go_and_the_past_stays() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let past = thirty_hours(&server, &api);
    // The snapshots that stay of sixty half hours: the last of them, one of each hour of a day, and
    // the first of the days before.
    until(&server, "snapshots are thinned", || snapshots(&server) <= 31);
    is_as_it_was(&api, &past);
    let left = snapshots(&server);
    assert!(left >= 25, "a day of hours and the last hour are kept: {left}");
    // The log is sound beside the running server, after a kill, and after the next start has looked
    // through them again.
    verified(&server, &server.data());
    server.kill();
    verified(&server, &server.data());
    server.restart();
    is_as_it_was(&api, &past);
    let parent = tempfile::tempdir().expect("a directory");
    let replayed = parent.path().join("replayed");
    assert!(server.terminate().success());
    succeeds(&server, &["wal", "replay", "--into", shown(&replayed)]);
    verified(&server, &replayed);
}

#[test]
fn expired_answers_leave_the_index_and_standing_ones_stay() {
    let server = Server::start();
    let api = server.tenant().test;
    let fund =
        |key: &str| api.keyed(key).post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" }));
    let entries = || verified(&server, &server.data())["indexEntries"].as_u64().expect("a number");
    let snapshot = || drop(server.admin().post("/admin/snapshot", &json!({})).expect(200));
    let advance =
        |seconds: u64| drop(api.post("/v1/test/clock", &json!({ "advanceSeconds": seconds })).expect(200));
    for n in 0..20 {
        fund(&format!("old {n}")).expect(201);
    }
    snapshot();
    advance(3 * 86_400);
    let standing = fund("standing");
    let before = entries();
    snapshot();
    // What the snapshot itself adds is its entry in the audit's lists.
    // The directory is proved right at every look, with entries gone and with all of them there.
    until(&server, "expired answers are pruned", || entries() <= before - 20 + 6);
    let again = fund("standing");
    assert_eq!((again.status, again.text()), (standing.status, standing.text()), "it still stands");
    // A request under an expired key is done anew, as before.
    fund("old 3").expect(201);
}

/// The sequences of the snapshots of the one tenant's test mode, oldest first.
fn sequences(server: &Server) -> Vec<u64> {
    let reader = Reader::open_read_only(server.data().join("log")).expect("the log");
    let mut found: Vec<u64> = reader
        .snapshots_of(tenant_key(1, Mode::Test))
        .map(|stored| stored.expect("a snapshot").seq)
        .collect();
    found.sort_unstable();
    found
}

#[test]
fn a_halted_book_is_thinned_and_keeps_what_it_needs_to_go_on() {
    const ALL_HOURS: &str = "PASARELA__STORAGE__SNAPSHOT_ALL_HOURS";
    let days = ("PASARELA__STORAGE__SNAPSHOT_HOURLY_DAYS", "2");
    let mut server = Server::start_with(&[(ALL_HOURS, "48"), days]);
    let tenant = server.tenant();
    let other = server.tenant().test;
    let api = &tenant.test;
    let past = thirty_hours(&server, api);
    api.fund("1.00");
    let before = sequences(&server);
    assert!(before.len() as u64 >= ROUNDS, "nothing is thinned yet: {before:?}");
    server.kill();
    // The snapshots are thinned as they should be, while a book is halted and others save theirs.
    server.set(ALL_HOURS, "1");
    server.arguments = vec!["--set-aside", "3"];
    server.restart();
    api.get("/v1/balance").refused(503, "account_halted");
    until(&server, "snapshots are thinned", || snapshots(&server) <= 35);
    for _ in 0..3 {
        other.fund("1.00");
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
    }
    assert_eq!(sequences(&server).last(), before.last(), "the newest stays: a start goes on from it");
    assert_eq!(sequences(&server).first(), before.first(), "the oldest stays: the past begins there");
    // A start without it set aside replays what is in no snapshot: nothing of that is gone.
    server.kill();
    server.arguments.clear();
    server.restart();
    is_as_it_was(api, &past);
    server.kill();
    server.arguments = vec!["--set-aside", "3"];
    server.restart();
    server.admin().post(&format!("/admin/tenants/{}/resume", tenant.id), &json!({})).expect(200);
    is_as_it_was(api, &past);
    assert!(server.terminate().success());
    verified(&server, &server.data());
}
