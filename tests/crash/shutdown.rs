//! An orderly end: what was read completely is answered, nothing unanswered has happened
//! (`docs/contract.md, 2.7`).

use crate::harness::check::{sum, text};
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[test]
fn it_ends_well_and_comes_back() {
    let mut server = Server::start();
    let api = server.tenant().test;
    api.fund("12.34");
    let rows = api.movements();
    for _ in 0..2 {
        let status = server.terminate();
        assert_eq!(status.code(), Some(0), "{}", server.log_tail());
        server.restart();
        assert_eq!(api.movements(), rows);
    }
}

#[test]
fn what_was_answered_happened_and_nothing_else() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let body = json!({ "currency": "VES", "amount": "1.00" });
    let (done, unknown) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    match api.keyed(&fresh("key")).try_post("/v1/test/fund", &body) {
                        Ok(answer) if answer.status == 201 => drop(done.fetch_add(1, Ordering::Relaxed)),
                        Ok(answer) => {
                            answer.refused(503, "shutting_down");
                            return;
                        }
                        // The request was not accepted, or the connection was idle when it was
                        // closed.
                        Err(_) => {
                            unknown.fetch_add(1, Ordering::Relaxed);
                            return;
                        }
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(200));
        server.ask_to_end();
    });
    assert_eq!(server.wait().code(), Some(0), "{}", server.log_tail());
    server.restart();
    let happened = sum(&api.movements(), "amountVes");
    let done = Decimal::from(done.into_inner());
    assert!(done > Decimal::ZERO);
    assert_eq!(happened, done, "{} requests were not answered", unknown.into_inner());
    api.books();
}

#[test]
fn a_second_process_on_the_same_data_stops_at_once() {
    let server = Server::start();
    let api = server.tenant().test;
    api.fund("1.00");
    let config = server.data().parent().expect("a folder").join("config.toml");
    let output = server.command(&["serve", "--config", config.to_str().expect("a path")]);
    assert!(!output.status.success());
    assert!(!output.stderr.is_empty(), "it says why");
    assert_eq!(text(&api.books(), "ledgerNetVes"), "1.00");
}
