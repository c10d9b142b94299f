//! Connections that the bank closes while they are idle: no order is lost in one.

use super::bank::{Bank, Closing, done};
use super::{credit, live, operations, server_of};
use serde_json::{Value, json};
use std::time::Duration;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Charges and payouts, so long after each other, at a bank that closes its connections so; all are done, over so
/// many connections at least.
fn all_are_done(
    closing: Closing,
    pause: Duration,
    idle: Option<&str>,
    connections: std::ops::RangeInclusive<usize>,
) {
    let bank = Bank::start();
    bank.closes(closing);
    bank.always("MBc2p", done("00", "1"));
    bank.always("MBvuelto", done("00", "1"));
    let more: Vec<(&str, &str)> =
        idle.map(|idle| ("PASARELA__RAILS__R4__IDLE_MS", idle)).into_iter().collect();
    let server = server_of(&bank.base(), &more);
    let tenant = live(&server, "1000.00");
    let api = &tenant.live;
    // The first says whether the bank keeps its connections, which takes a second.
    api.execute(&api.intent(10), "12345678", json!({})).expect(200);
    std::thread::sleep(ms(1_500));
    let before = bank.connections();
    for n in 0..4 {
        let intent = api.intent(10);
        std::thread::sleep(pause);
        let answer = api.execute(&intent, "12345678", json!({}));
        assert_eq!(answer.status, 200, "the charge {n} was lost: {}", answer.text());
        std::thread::sleep(pause);
        let paid: Value = api.post("/v1/payments/credit", &credit("1.00")).json();
        assert_eq!(paid["status"], "completed", "the payout {n} was lost: {paid}");
    }
    assert!(operations(&server, "pending").is_empty());
    assert_eq!((bank.of("MBc2p").len(), bank.of("MBvuelto").len()), (5, 4), "each was sent once");
    let made = bank.connections() - before;
    assert!(connections.contains(&made), "{made} connections");
}

#[test]
fn an_order_goes_on_no_connection_that_was_idle_for_a_second() {
    let closing = Closing { after: ms(1_050), heard: ms(400), says: None };
    all_are_done(closing, ms(1_150), None, 8..=8);
}

#[test]
fn less_if_the_bank_says_so() {
    let closing = Closing { after: ms(850), heard: ms(400), says: Some(1) };
    all_are_done(closing, ms(900), None, 8..=8);
}

#[test]
fn none_is_used_again_where_the_bank_closes_without_a_word() {
    let closing = Closing { after: ms(1), heard: ms(60), says: None };
    all_are_done(closing, ms(30), None, 8..=8);
}

#[test]
fn a_bank_that_keeps_its_connections_is_called_over_them() {
    let closing = Closing { after: ms(30_000), heard: ms(0), says: None };
    all_are_done(closing, ms(100), None, 1..=1);
    all_are_done(closing, ms(100), Some("0"), 8..=8);
}
