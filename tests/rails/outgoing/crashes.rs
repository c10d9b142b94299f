//! Kills while a call is on its way: what may have been done is never sent again.

use super::bank::{Act, Bank, done};
use super::{credit, debit, live, operations, server, until};
use crate::harness::flows::execution;
use serde_json::json;
use std::time::Duration;

#[test]
fn what_was_on_its_way_is_never_sent_again() {
    let bank = Bank::start();
    let mut server = server(
        &bank,
        &[("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "20"), ("PASARELA__RAILS__POLL_SECONDS", "21")],
    );
    let tenant = live(&server, "1000.00");
    let intent = tenant.live.intent(10);
    for operation in ["MBc2p", "DebitoInmediato", "MBvuelto"] {
        bank.always(operation, Act::Silence);
    }
    let (body, payout) = (debit(5.0), credit("9.00"));
    let asking: Vec<_> = [
        ("/v1/payments/c2p", execution(&intent, "12345678")),
        ("/v1/payments/debit", body.clone()),
        ("/v1/payments/credit", payout.clone()),
    ]
    .into_iter()
    .map(|(path, body)| {
        let api = tenant.live.clone();
        std::thread::spawn(move || drop(api.try_post(path, &body)))
    })
    .collect();
    until("all are on their way", || (bank.calls().len() == 3).then_some(()));
    server.kill();
    asking.into_iter().for_each(|asking| asking.join().expect("no panic"));
    for operation in ["MBc2p", "DebitoInmediato", "MBvuelto"] {
        bank.always(operation, done("00", "1"));
    }
    server.set("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "1");
    server.set("PASARELA__RAILS__POLL_SECONDS", "2");
    server.restart();
    let unresolved = until("all are unresolved", || {
        let found = operations(&server, "unresolved");
        (found.len() == 3).then_some(found)
    });
    assert!(unresolved.iter().all(|item| item["asks"] == 0 && item["askedAt"].is_null()), "{unresolved:?}");
    // The same again: answered, not sent.
    tenant.live.post("/v1/payments/c2p", &execution(&intent, "12345678")).refused(409, "charge_in_progress");
    assert_eq!(tenant.live.post("/v1/payments/debit", &body).json()["status"], "PENDING");
    assert_eq!(tenant.live.post("/v1/payments/credit", &payout).json()["status"], "pending");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(bank.calls().len(), 3, "{:?}", json!(bank.calls()));
}
