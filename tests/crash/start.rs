//! A start that is killed at each of its steps, the very first one and one after a crash: the next
//! start serves, and nothing that was acknowledged is gone.

use crate::harness::faults::{KILLED, STEPS, steps, strace};
use crate::harness::server::Server;
use std::fs;

/// Kills starts of a server at ever later steps, until one is not killed; `prepare` comes before
/// each, `check` after the start that follows it.
#[track_caller]
fn at_every_step(
    server: &mut Server,
    calls: &str,
    mut prepare: impl FnMut(&mut Server),
    check: impl Fn(&Server),
) {
    for (killed, step) in steps().enumerate() {
        let Some(wrapper) = strace(calls, KILLED, step) else { return };
        prepare(server);
        server.wrap(&wrapper.iter().map(String::as_str).collect::<Vec<_>>());
        let ended = server.try_restart();
        server.kill();
        server.wrap(&[]);
        server
            .try_restart()
            .unwrap_or_else(|why| panic!("after a start that was killed at step {step}: {why}"));
        check(server);
        server.kill();
        if ended.is_ok() {
            assert!(killed > 3, "only {killed} starts were killed");
            return;
        }
    }
}

#[test]
fn a_first_start_that_is_killed_leaves_nothing_in_the_way() {
    let mut server = Server::start();
    server.set("PASARELA__ADMIN__TOKEN", "");
    server.set("PASARELA__ADMIN__GENERATE_TOKEN", "true");
    server.kill();
    let afresh = |server: &mut Server| fs::remove_dir_all(server.data()).expect("removed");
    let check = |server: &Server| {
        let token = fs::read_to_string(server.data().join("admin.token")).expect("a token");
        assert!(token.trim().len() >= 32, "{} characters", token.trim().len());
        server.admin_with(token.trim()).get("/admin/status").expect(200);
    };
    // Writes too: a file that is there and has nothing in it yet.
    for calls in [STEPS, "write"] {
        at_every_step(&mut server, calls, afresh, check);
    }
}

#[test]
fn a_start_after_a_crash_that_is_killed_too_loses_nothing() {
    let mut server = Server::start();
    let api = server.tenant().test;
    api.fund("1.00");
    server.kill();
    let mut put = 1;
    // A record is in RocksDB's log before each start, which has to recover it.
    let write = |server: &mut Server| {
        server.restart();
        api.fund("1.00");
        server.kill();
    };
    let check = |server: &Server| {
        api.books();
        assert!(server.command(&["wal", "verify"]).status.success());
    };
    at_every_step(
        &mut server,
        STEPS,
        |server| {
            write(server);
            put += 1;
        },
        check,
    );
    server.restart();
    let all = format!("{put}.00");
    api.assert_books(&all, "0.00", &all);
}
