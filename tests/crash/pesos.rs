//! SIGKILL in every state of a payment in pesos, while the processor is at work, and under load:
//! what was answered stays, what was promised goes on, nothing happens twice.

use crate::harness::check::{assert_texts, race, text};
use crate::harness::client::Api;
use crate::harness::pesos::cop_body;
use crate::harness::server::Server;
use crate::load::{PATIENCE, until_decided};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn crash(server: &mut Server) {
    server.kill();
    server.restart();
}

/// Makes the processor take so long from the next start on.
fn slow_down(server: &mut Server, milliseconds: u32) {
    server.kill();
    server.configure(|config| match config.split_once("\n[rails]") {
        Some((rest, _)) => rest.to_owned(),
        None => format!("{config}\n[rails]\nanswer_seconds = 1\nsimulator_delay_ms = {milliseconds}\n"),
    });
    server.restart();
}

fn duplicates(server: &Server) -> Value {
    server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"].clone()
}

#[test]
fn every_state_outlives_a_crash() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = tenant.test.clone();
    api.cop_fund("100000", false);
    let body = cop_body(50_000, "qr");
    let created = api.keyed("create").post("/v1/cop/payments", &body);
    let (qr, sms, push) = (created.expect(201), api.cop(50_000, "sms"), api.cop(50_000, "push"));
    let paid = api.cop_paid(50_000);
    let failed = api.cop_buyer(&api.cop(20_000, "push"), "decline").expect(200);
    let canceled = api.cop_cancel(&api.cop(20_000, "qr")).expect(200);
    let refunded = api.cop_refund(&api.cop_paid(30_000)).expect(200);
    let payout = server.cop_payout(&tenant, 60_000, json!({})).expect(201);
    let seen = |api: &Api| {
        let of = |path: &str| api.get(path).expect(200);
        [
            of("/v1/cop/balance"),
            of("/v1/cop/balance/transactions"),
            of("/v1/payments"),
            of("/v1/cop/payouts"),
            of("/v1/events"),
        ]
    };
    let before = seen(&api);
    for _ in 0..2 {
        crash(&mut server);
        assert_eq!(seen(&api), before);
        for payment in [&paid, &failed, &canceled, &refunded, &sms, &push] {
            assert_eq!(&api.cop_now(payment), payment);
        }
        let again = api.keyed("create").post("/v1/cop/payments", &body);
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &created.body));
    }
    // The payments go on where they were.
    assert_eq!(api.cop_otp(&sms, "123456").expect(200)["status"], "completed");
    assert_eq!(api.cop_buyer(&qr, "pay").expect(200)["status"], "completed");
    assert_eq!(api.cop_cancel(&push).expect(200)["status"], "canceled");
    assert_eq!(api.cop_refund(&paid).expect(200)["status"], "refunded");
    server
        .admin()
        .post(&format!("/admin/cop-payouts/{}/fail", text(&payout, "id")), &json!({ "failureCode": "x" }))
        .expect(200);
    api.assert_pesos("192500", "92500", "100000");
    assert_eq!(duplicates(&server), 0);
}

#[test]
fn a_pending_payment_expires_at_its_instant_whatever_happened_before() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let (push, qr) = (api.cop(20_000, "push"), api.cop(20_000, "qr"));
    api.advance(70);
    crash(&mut server);
    api.advance(3_600);
    let page = api.get("/v1/events").expect(200);
    for (event, payment) in page["items"].as_array().expect("events").iter().zip([&push, &qr]) {
        assert_texts(event, &[("event", "payment.failed"), ("timestamp", text(payment, "expiresAt"))]);
        assert_texts(&api.cop_now(payment), &[("status", "failed"), ("failureCode", "expired")]);
    }
}

#[test]
fn what_was_at_the_processor_is_found_out() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let (coded, called_off, sold) = (api.cop(50_000, "sms"), api.cop(50_000, "qr"), api.cop_paid(40_000));
    slow_down(&mut server, 20_000);
    // The processor takes its time: the answer is a 202, and then the power goes.
    assert_eq!(api.keyed("code").cop_otp(&coded, "123456").expect(202)["status"], "pending");
    assert_eq!(api.keyed("cancel").cop_cancel(&called_off).expect(202)["status"], "pending");
    assert_eq!(api.keyed("refund").cop_refund(&sold).expect(202)["status"], "completed");
    let asked = api.post("/v1/cop/payments", &cop_body(60_000, "push")).expect(201);
    api.assert_pesos("36700", "36700", "0");
    slow_down(&mut server, 0);
    api.cop_refund(&sold).refused(409, "refund_in_progress");
    api.advance(60);
    assert_eq!(text(&api.cop_now(&coded), "status"), "completed");
    assert_eq!(text(&api.cop_now(&called_off), "status"), "canceled");
    assert_eq!(text(&api.cop_now(&sold), "status"), "refunded");
    assert_eq!(text(&api.cop_buyer(&asked, "pay").expect(200), "status"), "completed");
    // A repeat under the same key gets the outcome.
    for (key, answer, status) in [
        ("code", api.keyed("code").cop_otp(&coded, "123456"), "completed"),
        ("cancel", api.keyed("cancel").cop_cancel(&called_off), "canceled"),
        ("refund", api.keyed("refund").cop_refund(&sold), "refunded"),
    ] {
        assert_eq!(answer.header("idempotent-replayed"), Some("true"), "{key}");
        assert_eq!(answer.expect(200)["status"], status, "{key}");
    }
    api.assert_pesos("102050", "102050", "0");
    assert_eq!(api.told().len(), 5);
    assert_eq!(duplicates(&server), 0);
}

/// The rank of a payment's status: it never goes down.
fn rank(status: &str) -> usize {
    let ranks = ["pending", "completed", "refunded"];
    ranks.iter().position(|known| *known == status).unwrap_or_else(|| panic!("nobody asked for {status}"))
}

/// The answer that a writer got about a payment.
struct Told {
    id: String,
    status: String,
    /// Whether its refund was asked for.
    refund: bool,
}

#[test]
fn collections_and_refunds_under_load_happen_once() {
    const WRITERS: usize = 6;
    const ROUNDS: usize = 12;
    const CRASHES: usize = 3;
    let mut server = Server::start();
    let api = server.tenant().test;
    let finished = AtomicUsize::new(0);
    let work = |writer: usize| -> Vec<Told> {
        let mut done = Vec::new();
        for round in 0..ROUNDS {
            let body = cop_body(50_000, "qr");
            let created = until_decided("create", || {
                api.keyed(&key(writer, round, "create")).try_post("/v1/cop/payments", &body)
            })
            .expect(201);
            let id = text(&created, "id").to_owned();
            // A crash between the record and the processor leaves a payment that is sent when the
            // processor is asked; the buyer comes again.
            let paid = until_decided("pay", || {
                match api
                    .keyed(&key(writer, round, "pay"))
                    .try_post(&format!("/v1/test/cop/payments/{id}/pay"), &json!({}))
                {
                    Ok(answer) if answer.status == 202 => api.try_get(&format!("/v1/cop/payments/{id}")),
                    other => other,
                }
            });
            let mut status = text(&paid.expect(200), "status").to_owned();
            let refund = (writer + round).is_multiple_of(2) && status == "completed";
            if refund {
                let refunded = until_decided("refund", || {
                    api.keyed(&key(writer, round, "refund"))
                        .try_post(&format!("/v1/cop/payments/{id}/refund"), &json!({}))
                });
                assert!(matches!(refunded.status, 200 | 202), "{}", refunded.text());
                status = text(&refunded.json(), "status").to_owned();
                assert_eq!(status, if refunded.status == 200 { "refunded" } else { "completed" });
            }
            done.push(Told { id, status, refund });
            finished.fetch_add(1, Ordering::Relaxed);
        }
        done
    };
    let told: Vec<Told> = std::thread::scope(|scope| {
        let working = scope.spawn(|| race(WRITERS, work));
        for crash in 0..CRASHES {
            let deadline = Instant::now() + PATIENCE;
            while finished.load(Ordering::Relaxed) < (crash + 1) * WRITERS * ROUNDS / (CRASHES + 2) {
                assert!(Instant::now() < deadline, "the writers are stuck");
                sleep(Duration::from_millis(2));
            }
            // The kill comes at different points of a round.
            sleep(Duration::from_millis(3 * crash as u64));
            server.kill();
            server.restart();
        }
        working.join().expect("the writers end well").into_iter().flatten().collect()
    });
    // Payments that were left open are asked about.
    api.advance(120);
    let (mut net, mut events) = (0, 0);
    for Told { id, status, refund } in &told {
        let now = api.get(&format!("/v1/cop/payments/{id}")).expect(200);
        assert!(rank(text(&now, "status")) >= rank(status), "{id} was told to be {status} and is {now}");
        match text(&now, "status") {
            "refunded" if *refund => events += 2,
            "completed" => (net, events) = (net + 46_250, events + 1),
            "pending" => {}
            other => panic!("{other}: {now}"),
        }
    }
    assert_eq!(told.len(), WRITERS * ROUNDS);
    assert!(net > 0 && events > 0, "nothing was collected");
    api.assert_pesos(&net.to_string(), &net.to_string(), "0");
    assert_eq!(api.walk("/v1/events", &[], 100).len(), events);
    assert_eq!(duplicates(&server), 0);
}

fn key(writer: usize, round: usize, what: &str) -> String {
    format!("{what}-{writer}-{round}")
}
