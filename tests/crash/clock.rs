//! SIGKILL while a test clock advances: the clock goes on from where the advance was, and stands at
//! no instant.

use crate::harness::check::text;
use crate::harness::server::Server;
use chrono::TimeDelta;
use serde_json::json;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The number of deadlines; a crash hits the clock advance before it has met all of them.
const INTENTS: usize = 1_000;
/// The time to wait: a clock that stands would stand for a quarter of an hour.
const PATIENCE: Duration = Duration::from_secs(90);

/// Waits for a condition that must come true.
#[track_caller]
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_clock_that_was_advancing_ticks_on_after_a_crash() {
    let mut server = Server::start();
    let api = server.tenant().test;
    // The intents expire one after the other, which takes the clock advance a while.
    let intents: Vec<_> = (0..INTENTS).map(|_| api.intent(1)).collect();
    let before = api.clock();
    std::thread::scope(|scope| {
        let advancing =
            scope.spawn(|| api.try_post("/v1/test/clock", &json!({ "advanceSeconds": 30 * 86_400 })));
        until("the first expires on the way", || text(&api.payment(&intents[0]), "status") == "CANCELED");
        server.kill();
        drop(advancing.join());
    });
    server.restart();
    let after = api.clock();
    assert!(after - before > TimeDelta::minutes(10), "it went back: {before} and then {after}");
    assert!(after - before < TimeDelta::days(1), "the advance ended before the crash");
    until("the clock ticks", || api.clock() > after);
    // The intents that were due are still due.
    until("the last expires by itself or in the next advance", || {
        api.advance(60);
        text(&api.payment(&intents[INTENTS - 1]), "status") == "CANCELED"
    });
}
