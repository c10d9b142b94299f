//! The simulated bank of a node in a cluster: it has its books before anybody asks it, and gets each
//! order once.

use crate::load::verified_seller;
use crate::machines::{Machines, exchange, ok};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The time for which payouts are made while the test clock is moved over their first looks.
const STORM: Duration = Duration::from_secs(2);
/// The time in which a lost order is sent once more, after a start.
const SENT_AGAIN: Duration = Duration::from_secs(20);
/// The seconds of the test clock between a payout and the first look at it.
const FIRST_LOOK_SECONDS: u64 = 60;

fn pay(port: u16, merchant: &str, monto: &str, reference: &str) -> Option<(u16, Value)> {
    let body =
        json!({ "merchantId": merchant, "monto": monto, "concepto": "pago", "externalRef": reference });
    exchange(port, "POST", "/v1/payouts", Some(&body), reference).map(|(status, _, shown)| (status, shown))
}

fn advance(machines: &Machines, seconds: u64) {
    ok(machines.post(0, "/v1/test/clock", &json!({ "advanceSeconds": seconds })));
}

/// Payouts from some threads while looks at them fall due; their number.
fn storm(machines: &Machines, merchant: &str) -> usize {
    let (is_over, paid) = (AtomicBool::new(false), AtomicUsize::new(0));
    let port = machines.ports()[0];
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (is_over, paid) = (&is_over, &paid);
            scope.spawn(move || {
                for number in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                    if let Some((200..=202, _)) = pay(port, merchant, "1.00", &format!("{thread}-{number}")) {
                        paid.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let began = Instant::now();
        while began.elapsed() < STORM {
            let body = json!({ "advanceSeconds": FIRST_LOOK_SECONDS + 1 });
            let _ = machines.post(0, "/v1/test/clock", &body);
        }
        is_over.store(true, Ordering::Relaxed);
    });
    paid.into_inner()
}

fn is_completed(machines: &Machines, payout: &Value) -> bool {
    let path = format!("/v1/payouts/{}", payout["payoutId"].as_str().expect("an id"));
    ok(machines.get(0, &path))["status"] == "completed"
}

#[test]
fn each_order_reaches_the_bank_once_and_a_lost_one_completes_after_a_restart() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found_alone();
    let fund = json!({ "currency": "VES", "amount": "1000000.00" });
    assert_eq!(machines.post(0, "/v1/test/fund", &fund).map(|(status, _)| status), Some(201));
    let merchant = verified_seller(&machines, 0);
    assert!(storm(&machines, &merchant) > 10, "too few payouts for a look to overtake one");
    let status = ok(machines.operator(0, "GET", "/admin/status", None));
    let twice = status["rails"]["duplicateCalls"].as_u64();

    // The look that learns that the bank never received them is due when the node comes back.
    let port = machines.ports()[0];
    let lost: Vec<Value> = (0..20)
        .map(|n| match pay(port, &merchant, "1.07", &format!("lost-{n}")) {
            Some((202, payout)) => payout,
            other => panic!("{other:?}"),
        })
        .collect();
    let made = Instant::now();
    advance(&machines, FIRST_LOOK_SECONDS - 4);
    assert!(!lost.iter().any(|payout| is_completed(&machines, payout)), "the looks came before the kill");
    machines.kill(0);
    std::thread::sleep(Duration::from_secs(5).saturating_sub(made.elapsed()));
    machines.start(0);
    assert_eq!(machines.leader(), 0);
    let (began, mut pending) = (Instant::now(), lost.len());
    while pending > 0 && began.elapsed() < SENT_AGAIN {
        advance(&machines, 3_600);
        pending = lost.iter().filter(|payout| !is_completed(&machines, payout)).count();
    }
    assert_eq!(
        (twice, pending),
        (Some(0), 0),
        "orders that the bank got twice, and that are pending for good"
    );
}
