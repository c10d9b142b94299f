//! The effect of abuse in figures: how long somebody else waits beside it and without it. Not a
//! part of the gate: on a busy machine times say nothing.

use crate::connections::others_are_served;
use crate::harness::flows::fresh;
use crate::harness::server::{Server, Tenant};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Requests of the one who is measured, each way.
const ASKED: usize = 2_000;
/// Attackers at once.
const ATTACKERS: usize = 8;
/// Things of a kind that a test key makes, unless `ABUSE_MANY` says otherwise.
const MANY: usize = 100_000;

/// The times of a tenant that reads and writes by turns, in order.
fn times(tenant: &Tenant) -> Vec<Duration> {
    let fund = json!({ "currency": "VES", "amount": "0.01" });
    let mut times: Vec<Duration> = (0..ASKED)
        .map(|n| {
            let began = Instant::now();
            match n % 2 {
                0 => tenant.test.get("/v1/balance").expect(200),
                _ => tenant.test.post("/v1/test/fund", &fund).expect(201),
            };
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn microseconds(times: &[Duration], percent: usize) -> u128 {
    times[(times.len() * percent / 100).min(times.len() - 1)].as_micros()
}

/// The times while these attackers act, until they are told to stop.
fn beside(tenant: &Tenant, attack: &(dyn Fn(usize) + Sync)) -> Vec<Duration> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for attacker in 0..ATTACKERS {
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    attack(attacker);
                }
            });
        }
        std::thread::sleep(Duration::from_millis(500));
        let times = times(tenant);
        stop.store(true, Ordering::Relaxed);
        times
    })
}

#[test]
#[ignore = "figures, on a machine that does nothing else"]
fn how_long_others_wait_beside_abuse() {
    let server = Server::start();
    let (tenant, bad) = (server.tenant(), server.tenant());
    others_are_served(&tenant);
    times(&tenant);
    let merchant = bad.test.merchant();
    bad.test.fund("100000.00");
    let attacks: [(&str, &(dyn Fn(usize) + Sync)); 5] = [
        ("strangers who guess at pages", &|_| drop(server.nobody().get(&format!("/pay/{}", fresh("x"))))),
        ("wrong keys", &|n| drop(server.api(&format!("pk_test_{n:032}")).get("/v1/balance"))),
        ("a test key that writes", &|_| {
            drop(bad.test.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "0.01" })))
        }),
        ("a test key that reads deep", &|_| drop(bad.test.get("/v1/balance/transactions?limit=100"))),
        ("a test key that sends batches", &|_| {
            let item = || crate::harness::flows::payout_body(&merchant, "0.01");
            let items: Vec<_> = (0..200).map(|_| item()).collect();
            let batch = json!({ "externalRef": fresh("b"), "items": items });
            drop(bad.test.post("/v1/payouts/batch", &batch))
        }),
    ];
    println!("| beside | p50 µs | p99 µs | p99 in percent of alone |\n|---|---|---|---|");
    for (what, attack) in attacks {
        // The runs come in pairs: the machine's other load changes from minute to minute.
        let alone = times(&tenant);
        let with = beside(&tenant, attack);
        let (before, after) = (microseconds(&alone, 99), microseconds(&with, 99));
        println!("| nothing | {} | {before} | |", microseconds(&alone, 50));
        println!("| {what} | {} | {after} | {} |", microseconds(&with, 50), after * 100 / before.max(1));
    }
}

#[test]
#[ignore = "takes many minutes"]
fn what_a_hundred_thousand_of_a_kind_take() {
    let many = std::env::var("ABUSE_MANY").ok().and_then(|many| many.parse().ok()).unwrap_or(MANY);
    let server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant());
    let api = &tenant.test;
    println!("| {many} | memory before KiB | after KiB | bytes each |\n|---|---|---|---|");
    let kinds: [(&str, &(dyn Fn() + Sync)); 4] = [
        ("merchants", &|| {
            drop(api.post("/v1/merchants", &crate::harness::flows::merchant_body()).expect(201))
        }),
        ("products", &|| {
            drop(api.post("/v1/products", &json!({ "name": fresh("p"), "priceUsd": "1.00" })).expect(201))
        }),
        ("sessions", &|| drop(api.post("/v1/checkout/sessions", &json!({ "amountUsd": 1 })).expect(201))),
        ("accounts", &|| {
            drop(server.admin().post("/admin/tenants", &json!({ "name": fresh("a") })).expect(201))
        }),
    ];
    for (kind, makes) in kinds {
        let before = server.memory_kib();
        std::thread::scope(|scope| {
            for _ in 0..ATTACKERS {
                scope.spawn(|| (0..many / ATTACKERS).for_each(|_| makes()));
            }
        });
        let after = server.memory_kib();
        println!("| {kind} | {before} | {after} | {} |", after.saturating_sub(before) * 1024 / many as u64);
        others_are_served(&other);
    }
}
