//! SIGKILL while cards, debits and transfers are collected and card payments are charged back: what
//! was acknowledged is there once, the retry of what was not is the same payment or the same
//! chargeback, and the bank was told everything once.

use crate::harness::check::{decimal, list, text};
use crate::harness::client::Api;
use crate::harness::flows::{fresh, vpos_body};
use crate::harness::server::Server;
use crate::load::{PATIENCE, StopOnDrop, by_ref, crashes, insist};
use chrono::TimeDelta;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const WRITERS: usize = 6;
/// Acknowledged payments between two crashes.
const BETWEEN: usize = 30;

/// The answers that the writers got.
#[derive(Default)]
struct Told {
    payments: Vec<Value>,
    chargebacks: Vec<Value>,
}

/// The body that collects under `reference`, and where it is sent.
fn collection(kind: usize, reference: &str, number: usize, day: &str) -> (&'static str, Value) {
    match kind {
        0 => {
            let body = json!({
                "banco": "0134", "monto": 100, "telefono": "04141234567", "cedula": "V12345678", "nombre": "Ana Pérez", "otp": "12345678", "concepto": "cobro",
                "externalRef": reference,
            });
            ("/v1/payments/debit", body)
        }
        1 => {
            let body = json!({
                "usdAmount": 1, "reference": format!("1{number:07}"), "phone": "04141234567", "bankCode": "0134", "date": day, "debtorId": "V12345678",
                "externalRef": reference,
            });
            ("/v1/payments/pago-movil/verify", body)
        }
        _ => ("/v1/payments/vpos", vpos_body(1, json!({ "externalRef": reference }))),
    }
}

/// Collects until told to stop; every other card payment is charged back in part, and the dispute
/// decided.
fn write(
    api: &Api,
    writer: usize,
    day: &str,
    stop: &AtomicBool,
    acknowledged: &AtomicUsize,
    told: &Mutex<Told>,
) {
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let reference = format!("{writer}-{round}");
        if round % 4 == 2 {
            // Attempts that fail come before; between them the server may die.
            for _ in 0..2 {
                let declined = json!({ "externalRef": reference, "card": { "number": "4000000000000002" } });
                let (status, failed, _) =
                    insist(&api.keyed(&fresh("key")), "/v1/payments/vpos", &vpos_body(1, declined));
                assert!(matches!(status, 200..=202), "{status}: {failed}");
                told.lock().expect("no writer panicked").payments.push(failed);
            }
        }
        let (path, body) = collection(round % 4, &reference, writer * 100_000 + round, day);
        let (status, payment, _) = insist(api, path, &body);
        // An attempt that was at the bank when the server died is in the way until the bank is asked.
        if status == 409 && round % 4 == 2 {
            assert_eq!(text(&payment, "error"), "payment_in_progress", "{payment}");
            acknowledged.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        assert!(matches!(status, 200..=202), "{path} {status}: {payment}");
        assert_eq!(text(&payment, "externalRef"), reference);
        told.lock().expect("no writer panicked").payments.push(payment.clone());
        acknowledged.fetch_add(1, Ordering::Relaxed);
        if round % 4 == 3 && payment["status"] == "COMPLETED" {
            let body = json!({ "paymentId": payment["paymentId"], "amountVes": "50.00", "reason": "fraud" });
            let (status, opened, _) = insist(&api.keyed(&reference), "/v1/test/chargebacks", &body);
            assert_eq!(status, 201, "{opened}");
            let outcome = if round % 8 == 3 { "won" } else { "lost" };
            let close = format!("/v1/test/chargebacks/{}/close", text(&opened, "chargebackId"));
            let (status, closed, _) = insist(&api.keyed(&reference), &close, &json!({ "outcome": outcome }));
            assert_eq!((status, text(&closed, "status")), (200, outcome), "{closed}");
            told.lock().expect("no writer panicked").chargebacks.push(closed);
        }
    }
}

#[test]
fn nothing_collected_or_charged_back_is_lost_or_done_twice() {
    let mut server = Server::start();
    let api = server.tenant_with(json!({ "fees": { "chargebackVes": "1.00" } })).test;
    let day = (api.clock() - TimeDelta::hours(4)).date_naive().to_string();
    let (stop, acknowledged, told) =
        (AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(Told::default()));
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (api, day, stop, acknowledged, told) = (&api, &day, &stop, &acknowledged, &told);
            scope.spawn(move || write(api, writer, day, stop, acknowledged, told));
        }
        let stopping = StopOnDrop(&stop);
        for crash in 0..crashes() {
            let (before, deadline) = (acknowledged.load(Ordering::Relaxed), Instant::now() + PATIENCE);
            while acknowledged.load(Ordering::Relaxed) < before + BETWEEN {
                assert!(Instant::now() < deadline, "the writers are stuck");
                sleep(Duration::from_millis(5));
            }
            // The kill comes at different points of a round.
            sleep(Duration::from_millis(6 * (crash as u64 % 5)));
            server.kill();
            server.restart();
        }
        drop(stopping);
    });
    let told = told.into_inner().expect("no writer panicked");
    assert!(told.payments.len() >= BETWEEN * crashes() && !told.chargebacks.is_empty());
    // The poller finds out about what was at the bank when the server died.
    api.advance(600);
    check(&server, &api, &told);
    server.kill();
    server.restart();
    check(&server, &api, &told);
}

fn check(server: &Server, api: &Api, told: &Told) {
    let now = server.admin().get("/admin/status").expect(200);
    assert_eq!(now["rails"]["duplicateCalls"], 0, "{now}");
    let payments: BTreeMap<String, Vec<Value>> = by_ref(&api.walk("/v1/payments", &[], 100));
    let mut expected = Decimal::ZERO;
    for (reference, found) in &payments {
        let tries =
            reference.rsplit('-').next().and_then(|round| round.parse::<usize>().ok()).expect("a round");
        let most = if tries % 4 == 2 { 3 } else { 1 };
        assert!(found.len() <= most, "{reference} has too many payments: {found:?}");
        let numbers: Vec<u64> =
            found.iter().map(|payment| payment["attempt"].as_u64().expect("a number")).collect();
        assert_eq!(numbers, (1..=found.len() as u64).rev().collect::<Vec<_>>(), "{reference}, newest first");
        for (at, payment) in found.iter().enumerate() {
            match text(payment, "status") {
                "COMPLETED" => {
                    assert_eq!(at, 0, "{reference}: a later attempt than the one that paid");
                    expected += decimal(&payment["netVes"]);
                }
                // The crash came before the bank heard of it, and the code or card was written nowhere.
                "FAILED" if most == 1 => {
                    assert!(matches!(text(payment, "failureCode"), "AB01" | "processing_error"), "{payment}")
                }
                "FAILED" => {}
                other => panic!("{other}: nobody is looking after it"),
            }
        }
    }
    for told in &told.payments {
        let found = payments
            .get(text(told, "externalRef"))
            .unwrap_or_else(|| panic!("{told} was acknowledged and is lost"));
        let now = found
            .iter()
            .find(|payment| payment["paymentId"] == told["paymentId"])
            .unwrap_or_else(|| panic!("{told} was acknowledged and is lost: {found:?}"));
        assert!(told["status"] == "PENDING" || told["status"] == now["status"], "{told} became {now}");
    }
    let chargebacks = api.walk("/v1/chargebacks", &[], 100);
    let of: BTreeSet<&str> = chargebacks.iter().map(|chargeback| text(chargeback, "paymentId")).collect();
    assert_eq!(of.len(), chargebacks.len(), "a payment was charged back twice");
    for told in &told.chargebacks {
        assert!(chargebacks.contains(told), "{told} was acknowledged and is lost");
        let payment = api.get(&format!("/v1/payments/{}", text(told, "paymentId"))).expect(200);
        assert_eq!(list(&payment, "chargebacks").len(), 1, "{payment}");
    }
    for chargeback in chargebacks.iter().filter(|chargeback| chargeback["status"] != "won") {
        expected -= decimal(&chargeback["amountVes"]) + decimal(&chargeback["feeVes"]);
    }
    assert_eq!(
        decimal(&api.books()["ledgerNetVes"]),
        expected,
        "the movements are not those of the operations"
    );
    let numbers: Vec<u64> =
        api.walk("/v1/events", &[], 100).iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<u64>>(), "events are numbered without gaps");
    assert!(numbers.len() >= told.payments.len());
}
