//! A bank that is slow, and a tenant that asks for all that it may have: its other requests, and the
//! orders of others, go on.

use super::bank::{Act, Bank, code, done, say};
use super::{credit, debit, live, payout_now, server, until};
use crate::harness::flows::fresh;
use crate::wompi_world::{body, environment};
use serde_json::json;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;
use std::time::Duration;

#[test]
fn repeats_that_wait_for_a_bank_leave_the_work_slots_to_others() {
    let bank = Bank::start();
    bank.next("GenerarOtp", Act::Late(Duration::from_secs(4), r#"{"code":"202"}"#.to_owned()));
    bank.always("GenerarOtp", code("202"));
    let settings = [
        ("PASARELA__RAILS__R4__TIMEOUT_SECONDS", "10"),
        ("PASARELA__RAILS__POLL_SECONDS", "60"),
        ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "600"),
        ("PASARELA__LIMITS__LIVE_SLOTS", "1"),
    ];
    let server = server(&bank, &settings);
    let (tenant, other) = (live(&server, "0.00").live, live(&server, "0.00").live);
    let venezuela = json!({ "debtorBankCode": 102, "externalRef": fresh("a") });
    let ask = || tenant.request_c2p(10, venezuela.clone());
    scope(|scope| {
        let first = scope.spawn(ask);
        until("the bank is asked", || (bank.of("GenerarOtp").len() == 1).then_some(()));
        // Who is alone needs no slot.
        other.get("/v1/balance").expect(200);
        let repeats = [scope.spawn(ask), scope.spawn(ask), scope.spawn(ask)];
        while !first.is_finished() {
            other.get("/v1/balance").expect(200);
            tenant.get("/v1/balance").expect(200);
        }
        for asked in repeats.into_iter().chain([first]) {
            let answer = asked.join().expect("no panic");
            assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
        }
    });
}

#[test]
fn a_tenant_at_its_share_holds_nobodys_payouts_up() {
    let bank = Bank::start();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}", silent.local_addr().expect("its address"));
    let wompi = environment(&base);
    let mut settings: Vec<(&str, &str)> =
        wompi.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    settings.extend([
        ("PASARELA__RAILS__WOMPI__TIMEOUT_SECONDS", "50"),
        ("PASARELA__RAILS__POLL_SECONDS", "60"),
        ("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "600"),
        ("PASARELA__RAILS__ANSWER_SECONDS", "30"),
        ("PASARELA__ENGINE__PERMITS_MAX", "8"),
    ]);
    let mut server = server(&bank, &settings);
    let (greedy, other) = (live(&server, "100.00").live, live(&server, "100.00").live);
    // The circuit of its rail opens, so that payouts wait.
    bank.always("DebitoInmediato", Act::Say(503, String::new()));
    bank.always("MBbcv", Act::Say(500, String::new()));
    for _ in 0..5 {
        greedy.post("/v1/payments/debit", &debit(5.0)).expect(202);
    }
    super::queue::until_silent(&server);
    let first = greedy.post("/v1/payments/credit", &credit("1.00")).expect(202);
    let second = other.post("/v1/payments/credit", &credit("2.00")).expect(202);
    let is_over = AtomicBool::new(false);
    scope(|scope| {
        // Requests that wait for another rail, which says nothing, are all that it may have. One that
        // was refused, because another question had its place just then, comes again.
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..500 {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    drop(greedy.try_post("/v1/cop/payments", &body("qr")));
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
        }
        until("it has its share", || (greedy.get("/v1/balance").status == 429).then_some(()));
        bank.always("MBvuelto", done("00", "1"));
        bank.always("MBbcv", say(json!({ "code": "00", "fechavalor": "2026-11-20", "tipocambio": 200.0 })));
        until("the other's payout is paid", || {
            (payout_now(&other, &second)["status"] == "completed").then_some(())
        });
        greedy.get("/v1/balance").refused(429, "rate_limited");
        assert_eq!(bank.of("MBvuelto").len(), 2, "in their order: {first}");
        is_over.store(true, Ordering::Relaxed);
        server.kill();
    });
}
