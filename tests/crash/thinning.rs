//! A server that is killed while it thins its snapshots: what is left is whole, the past answers as
//! before, and the next run goes on with it.

use crate::harness::client::Api;
use crate::harness::server::Server;
use domain::values::ids::{Mode, tenant_key};
use serde_json::{Value, json};
use std::thread::yield_now;
use std::time::{Duration, Instant};
use wal::Reader;

const PATIENCE: Duration = Duration::from_secs(60);
const ROUNDS: usize = 40;
/// The number of kills on the way.
const KILLS: usize = 4;

fn snapshots(server: &Server) -> usize {
    let reader = Reader::open_read_only(server.data().join("log")).expect("the log");
    reader.snapshots_of(tenant_key(1, Mode::Test)).inspect(|stored| assert!(stored.is_ok())).count()
}

#[track_caller]
fn is_as_it_was(api: &Api, past: &[(String, Value)]) {
    for (at, was) in past {
        assert_eq!(api.get(&format!("/v1/balance?at={at}")).expect(200)["ledgerNetVes"], *was, "at {at}");
    }
}

#[test]
fn what_was_thinned_when_the_server_died_is_whole() {
    let mut server = Server::start_with(&[
        ("PASARELA__STORAGE__SNAPSHOT_ALL_HOURS", "80000"),
        ("PASARELA__STORAGE__SNAPSHOT_HOURLY_DAYS", "3650"),
        ("PASARELA__STORAGE__SNAPSHOT_DAILY_DAYS", "36500"),
    ]);
    let api = server.tenant().test;
    let mut past = Vec::new();
    for _ in 0..ROUNDS {
        api.fund("10.00");
        let now = api.get("/v1/test/clock").expect(200)["now"].as_str().expect("an instant").to_owned();
        past.push((now, api.balance()["ledgerNetVes"].clone()));
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
        api.advance(1_200);
    }
    let all = snapshots(&server);
    assert!(all >= ROUNDS, "{all}");
    server.set("PASARELA__STORAGE__SNAPSHOT_ALL_HOURS", "1");
    server.set("PASARELA__STORAGE__SNAPSHOT_HOURLY_DAYS", "1");
    server.set("PASARELA__STORAGE__SNAPSHOT_DAILY_DAYS", "1");
    let mut left = all;
    for _ in 0..KILLS {
        server.kill();
        server.restart();
        let deadline = Instant::now() + PATIENCE;
        let mut now = snapshots(&server);
        // The kill comes as soon as one more is gone, whatever comes next.
        while now >= left && now > ROUNDS / 2 {
            assert!(Instant::now() < deadline, "nothing is thinned: {}", server.log_tail());
            yield_now();
            now = snapshots(&server);
        }
        server.kill();
        left = now;
        let verified = server.command(&["wal", "verify"]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
    assert!(left < all, "{left} of {all}");
    server.restart();
    is_as_it_was(&api, &past);
    api.books();
}
