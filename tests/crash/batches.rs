//! SIGKILL while batches are paid: every acknowledged item is there exactly once, and the retry of
//! a batch whose answer was lost pays nothing twice.

use crate::harness::check::{decimal, list, sum, text};
use crate::harness::client::Api;
use crate::harness::flows::{merged, payout_body};
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const WRITERS: usize = 4;
const ROUNDS: usize = 12;
const ITEMS: usize = 40;
const CRASHES: usize = 4;
const PATIENCE: Duration = Duration::from_secs(60);

fn insist(api: &Api, body: &Value) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match api.try_post("/v1/payouts/batch", body) {
            Ok(answer) if matches!(answer.status, 200 | 201) => return answer.json(),
            Ok(answer) => assert!(matches!(answer.status, 409 | 503), "{}", answer.text()),
            Err(_) => {}
        }
        assert!(Instant::now() < deadline, "a batch was not answered within {PATIENCE:?}");
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn every_acknowledged_item_is_paid_exactly_once() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100000.00");
    let (told, done) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (api, merchant, told, done) = (&api, &merchant, &told, &done);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let item = |n: usize| merged(payout_body(merchant, "0.10"), json!({ "externalRef": format!("{writer}-{round}-{n}") }));
                    let body = json!({ "externalRef": format!("{writer}-{round}"), "items": (0..ITEMS).map(item).collect::<Vec<_>>() });
                    let api = if round % 2 == 0 { api.clone() } else { api.keyed(&format!("{writer}-{round}")) };
                    told.lock().expect("no writer panicked").push(insist(&api, &body));
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for crash in 0..CRASHES {
            let deadline = Instant::now() + PATIENCE;
            while done.load(Ordering::Relaxed) < (crash + 1) * WRITERS * ROUNDS / (CRASHES + 2) {
                assert!(Instant::now() < deadline, "the writers are stuck");
                sleep(Duration::from_millis(2));
            }
            sleep(Duration::from_millis(3 * crash as u64));
            server.kill();
            server.restart();
        }
    });
    // The poller finds out about what was at the bank when the server died.
    api.advance(600);
    let mut by_ref: BTreeMap<String, Value> = BTreeMap::new();
    for payout in api.walk("/v1/payouts", &[], 100) {
        assert_eq!(text(&payout, "status"), "completed", "{payout}");
        assert!(
            by_ref.insert(text(&payout, "externalRef").to_owned(), payout).is_none(),
            "one reference, two payouts"
        );
    }
    assert_eq!(by_ref.len(), WRITERS * ROUNDS * ITEMS);
    for batch in told.into_inner().expect("no writer panicked") {
        for item in list(&batch, "items") {
            let found = &by_ref[text(item, "externalRef")];
            assert_eq!(
                (&found["payoutId"], &found["batchId"]),
                (&item["payoutId"], &batch["batchId"]),
                "{item}"
            );
        }
        let now = api.get(&format!("/v1/payouts/batch/{}", text(&batch, "batchId"))).expect(200);
        assert!(list(&now, "items").iter().all(|item| item["status"] == "completed"));
    }
    let paid = Decimal::from(WRITERS * ROUNDS * ITEMS) / Decimal::from(10);
    assert_eq!(decimal(&api.books()["ledgerNetVes"]), Decimal::from(100_000) - paid);
    assert_eq!(sum(&api.walk("/v1/balance/transactions", &[("type", "payout")], 100), "amountVes"), -paid);
    assert_eq!(server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}
