//! The share that one tenant can take from the others: a part of what is under way, of the work
//! slots and of the threads for long reads. Beyond it, the tenant is answered 429, and the others
//! are served.

use crate::harness::check::{list, stamp, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{fresh, vpos_body};
use crate::harness::server::{Server, Tenant};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// The longest time to wait for something that is certain to happen.
const PATIENCE: Duration = Duration::from_secs(60);

#[track_caller]
fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "{what} within {PATIENCE:?}");
        sleep(Duration::from_millis(20));
    }
}

fn figure(server: &Server, sample: &str) -> u64 {
    let page = server.admin().get("/metrics");
    let value = page.text().lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {sample}")).parse().expect("a number")
}

/// The number of requests that were refused because their tenant had its share.
fn refused(server: &Server, of: &str, mode: &str) -> u64 {
    figure(server, &format!("pasarela_share_refused_total{{of=\"{of}\",mode=\"{mode}\"}}"))
}

#[track_caller]
fn at_its_share(answer: &Answer) {
    assert_eq!(
        answer.refused(429, "rate_limited")["message"],
        json!(
            "this account has as many requests under way in this mode as others leave it, so nothing was done; ask again in 1 s"
        )
    );
    assert!(answer.header("retry-after").is_some_and(|seconds| seconds.parse().is_ok_and(|n: u32| n > 0)));
}

/// A write that no bank is asked about.
fn product() -> Value {
    json!({ "name": fresh("Camisa"), "priceUsd": "10.00" })
}

fn activate(server: &Server, tenant: &Tenant) {
    let path = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&path, &json!({ "status": "active" })).expect(200);
}

#[test]
fn who_fills_the_engine_is_refused_and_the_others_are_not() {
    // Banks take longer than the test: a request that waits for one keeps its place.
    let mut server = Server::start_with(&[
        ("PASARELA__ENGINE__PERMITS_MAX", "40"),
        ("PASARELA__RAILS__ANSWER_SECONDS", "30"),
        ("PASARELA__RAILS__SIMULATOR_DELAY_MS", "60000"),
    ]);
    let (greedy, other) = (server.tenant(), server.tenant());
    activate(&server, &greedy);
    let is_full = AtomicBool::new(false);
    scope(|scope| {
        for _ in 0..40 {
            let (api, is_full) = (&greedy.test, &is_full);
            scope.spawn(move || {
                // The requests that got a place are cut off with the server.
                if let Ok(answer) = api.try_post("/v1/payments/vpos", &vpos_body(10, json!({}))) {
                    at_its_share(&answer);
                    is_full.store(true, Ordering::SeqCst);
                }
            });
        }
        until("it has its share", || is_full.load(Ordering::SeqCst));
        // Test mode leaves 10 of 40 places, and a tenant has three quarters of the others.
        until("its requests wait for the bank", || figure(&server, "pasarela_permits_in_use") >= 23);
        at_its_share(&greedy.test.post("/v1/products", &product()));
        at_its_share(&greedy.test.get("/v1/balance"));
        assert!(refused(&server, "engine", "test") >= 3);
        other.test.post("/v1/products", &product()).expect(201);
        other.test.get("/v1/balance").expect(200);
        greedy.live.get("/v1/balance").expect(200);
        greedy.live.post("/v1/products", &product()).expect(201);
        assert_eq!(refused(&server, "engine", "live"), 0);
        assert_eq!(figure(&server, "pasarela_overloaded_total"), 0);
        server.kill();
    });
}

#[test]
fn who_asks_all_the_time_waits_for_itself() {
    let server =
        Server::start_with(&[("PASARELA__LIMITS__TEST_SLOTS", "1"), ("PASARELA__LIMITS__WAITING_MAX", "1")]);
    let (greedy, other) = (server.tenant(), server.tenant());
    let is_over = AtomicBool::new(false);
    scope(|scope| {
        for n in 0..16 {
            let (api, is_over) = (&greedy.test, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    let answer = match n % 2 {
                        0 => api.get("/v1/products"),
                        _ => api.post("/v1/products", &product()),
                    };
                    if answer.status == 429 {
                        at_its_share(&answer);
                    } else {
                        answer.expect(if n % 2 == 0 { 200 } else { 201 });
                    }
                }
            });
        }
        // A tenant that sends one request after the other is never refused, whatever the other
        // does.
        until("the other is refused", || {
            other.test.post("/v1/products", &product()).expect(201);
            other.test.get("/v1/balance").expect(200);
            refused(&server, "slots", "test") > 10
        });
        is_over.store(true, Ordering::SeqCst);
    });
    until("nobody waits any more", || figure(&server, "pasarela_slots_waiting") == 0);
    // A tenant that is alone needs no slot.
    until("the other is forgotten", || figure(&server, "pasarela_share_owners") == 0);
    let before = refused(&server, "slots", "test");
    let answers: Vec<Answer> = scope(|scope| {
        let asked: Vec<_> = (0..16).map(|_| scope.spawn(|| greedy.test.get("/v1/products"))).collect();
        asked.into_iter().map(|asked| asked.join().expect("no panic")).collect()
    });
    assert!(answers.iter().all(|answer| answer.status == 200));
    assert_eq!(refused(&server, "slots", "test"), before);
}

#[test]
fn past_balances_are_read_for_one_after_the_other() {
    let server = Server::start_with(&[("PASARELA__LIMITS__LONG_READS_PER_TENANT_MAX", "1")]);
    let (greedy, other) = (server.tenant(), server.tenant());
    for tenant in [&greedy, &other] {
        tenant.test.fund("100.00");
    }
    let past = |api: &Api| api.query("/v1/balance", &[("at", &stamp(api.clock()))]);
    let is_over = AtomicBool::new(false);
    scope(|scope| {
        for _ in 0..16 {
            let (api, is_over) = (&greedy.test, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::SeqCst) {
                    let answer = past(api);
                    if answer.status == 429 {
                        at_its_share(&answer);
                    } else {
                        assert_eq!(answer.expect(200)["availableVes"], "100.00");
                    }
                }
            });
        }
        until("the other is refused", || {
            assert_eq!(past(&other.test).expect(200)["availableVes"], "100.00");
            refused(&server, "reads", "test") > 10
        });
        is_over.store(true, Ordering::SeqCst);
    });
    past(&greedy.test).expect(200);
    until("nothing waits", || figure(&server, "pasarela_long_reads_waiting") == 0);
}

/// The number of attempts that is more than a request looks at where it is answered.
const ATTEMPTS: usize = 300;

#[test]
fn a_page_of_attempts_begins_where_the_last_one_ended() {
    let server = Server::start();
    let api = server.tenant().test;
    let reference = fresh("ref");
    let mut newest = String::new();
    for _ in 0..ATTEMPTS {
        let over = json!({ "externalRef": reference });
        let intent = api.request_c2p(10, over).expect(201);
        newest = text(&api.execute(&intent, "99999999", json!({})).json(), "paymentId").to_owned();
    }
    let long_reads = || figure(&server, "pasarela_long_reads_total{outcome=\"ended\"}");
    let all = api.walk("/v1/payments", &[("externalRef", &reference)], 100);
    assert_eq!((all.len(), text(&all[0], "id")), (ATTEMPTS, newest.as_str()));
    let times: Vec<&str> = all.iter().map(|payment| text(payment, "createdAt")).collect();
    assert!(times.is_sorted_by(|newer, older| newer >= older));
    assert_eq!(long_reads(), 0, "each page looked at its own attempts");
    // Attempts that the filter leaves out still cost reads, so the list is a long read.
    let parameters = [("externalRef", reference.as_str()), ("status", "COMPLETED")];
    let none = api.query("/v1/payments", &parameters).expect(200);
    assert!(list(&none, "items").is_empty() && none["nextCursor"].is_null());
    assert_eq!(long_reads(), 1);
    let failed = api.walk("/v1/payments", &[("externalRef", &reference), ("status", "FAILED")], 100);
    assert_eq!(failed.len(), ATTEMPTS);
}
