//! The circuit and the queue: what is refused while the bank is not there, what waits, and in which
//! order it goes.

use super::bank::{Act, Bank, done};
use super::{credit, debit, live, operations, payout_now, server, unavailable, until, with};
use crate::harness::flows::{fresh, method_path, payout_body};
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn amounts(bank: &Bank) -> Vec<String> {
    bank.of("MBvuelto").iter().map(|call| call["Monto"].as_str().expect("text").to_owned()).collect()
}

/// Waits until a probe has told that the bank does not answer at all.
pub fn until_silent(server: &Server) {
    until("the rail is silent", || {
        let rail = server.admin().get("/admin/status").expect(200)["rails"]["live"][0].clone();
        (rail["circuit"] == "open" && rail["isSilent"] == true).then_some(())
    });
}

#[test]
fn a_bank_that_hangs_is_called_no_more_and_the_others_are() {
    let bank = Bank::start();
    let server = server(&bank, &[("PASARELA__RAILS__PROBE_SECONDS", "8")]);
    let tenant = live(&server, "1000.00");
    let api = &tenant.live;
    let charge = |of: u32| {
        let at = json!({ "debtorBankCode": of });
        api.execute(&api.request_c2p(10, at.clone()).expect(201), "12345678", at)
    };
    let pay = |of: &str, amount: &str| {
        api.post("/v1/payments/credit", &with(credit(amount), json!({ "banco": of })))
    };
    for call in ["MBc2p", "MBvuelto"] {
        bank.always(call, done("00", "1"));
        bank.always(&format!("{call} 0105"), Act::Say(503, String::new()));
    }
    bank.always("DebitoInmediato", done("ACCP", "2"));
    for _ in 0..5 {
        charge(105).expect(202);
    }
    unavailable(&charge(105));
    assert_eq!(charge(134).expect(200)["status"], "COMPLETED", "another bank");
    let body = with(debit(5.0), json!({ "banco": "0105" }));
    assert_eq!(api.post("/v1/payments/debit", &body).expect(201)["status"], "COMPLETED", "another call");
    for n in 1..=5 {
        pay("0105", &format!("{n}.00")).expect(202);
    }
    let waits = pay("0105", "6.00").expect(202);
    let passes = pay("0134", "7.00").json();
    until("it lets the others pass", || (payout_now(api, &passes)["status"] == "completed").then_some(()));
    assert_eq!(payout_now(api, &waits)["status"], "pending");
    let rail = server.admin().get("/admin/status").expect(200)["rails"]["live"][0].clone();
    assert_eq!((&rail["circuit"], &rail["isSilent"]), (&json!("open"), &json!(false)), "{rail}");
    assert!(rail["openCalls"].as_array().expect("a list").contains(&json!("credit 0105")), "{rail}");
    assert_eq!(bank.of("MBc2p").len(), 6);
    bank.always("MBc2p 0105", done("00", "3"));
    bank.always("MBvuelto 0105", done("00", "3"));
    until("what waited is paid", || (payout_now(api, &waits)["status"] == "completed").then_some(()));
    until("it is called again", || (charge(105).status == 200).then_some(()));
}

#[test]
fn five_failures_open_the_circuit_and_a_probe_closes_it() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "1000.00");
    let api = &tenant.live;
    let intent = api.intent(10);
    bank.always("DebitoInmediato", Act::Say(503, String::new()));
    bank.always("MBbcv", Act::Say(500, String::new()));
    for _ in 0..5 {
        api.post("/v1/payments/debit", &debit(5.0)).expect(202);
    }
    let calls = bank.calls().len();
    until_silent(&server);
    let (keyed, body) = (api.keyed(&fresh("key")), debit(6.0));
    let asked = Instant::now();
    unavailable(&keyed.post("/v1/payments/debit", &body));
    unavailable(&api.execute(&intent, "12345678", json!({})));
    assert!(asked.elapsed() < Duration::from_millis(900), "at once");
    let waiting: Vec<Value> =
        (1..=3).map(|n| api.post("/v1/payments/credit", &credit(&format!("{n}.00"))).expect(202)).collect();
    assert!(asked.elapsed() < Duration::from_secs(3), "at once");
    // An intent needs no bank.
    api.intent(10);
    assert_eq!(bank.calls().len(), calls, "probes alone");
    let probes = bank.of("MBbcv").len();
    until("it is probed", || (bank.of("MBbcv").len() > probes).then_some(()));
    bank.always("MBvuelto", done("00", "1"));
    bank.always("MBc2p", done("00", "2"));
    bank.always("DebitoInmediato", done("ACCP", "3"));
    bank.always("MBbcv", Act::Say(400, "{}".to_owned()));
    until("they are paid", || {
        waiting.iter().all(|payout| payout_now(api, payout)["status"] == "completed").then_some(())
    });
    assert_eq!(amounts(&bank), ["1.00", "2.00", "3.00"]);
    assert_eq!(api.execute(&intent, "12345678", json!({})).expect(200)["status"], "COMPLETED");
    assert_eq!(keyed.post("/v1/payments/debit", &body).expect(201)["status"], "COMPLETED");
}

#[test]
fn payouts_wait_for_a_bank_that_is_not_there_and_go_in_their_order() {
    let bank = Bank::start();
    let port = bank.port();
    let mut server = server(&bank, &[]);
    let tenants = [live(&server, "1000.00"), live(&server, "1000.00")];
    drop(bank);
    let mut waiting = Vec::new();
    for n in 1..=6_usize {
        let api = &tenants[n % 2].live;
        let payout = api.post("/v1/payments/credit", &credit(&format!("{n}.00"))).expect(202);
        assert_eq!(payout["status"], "pending");
        waiting.push((n % 2, payout));
        if n == 3 {
            server.kill();
            server.restart();
        }
    }
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(operations(&server, "unresolved").len(), 0, "what was not sent is no riddle");
    assert_eq!(operations(&server, "pending").len(), 6);
    server.kill();
    server.restart();
    let bank = Bank::on(port);
    bank.always("MBvuelto", done("00", "1"));
    for (whose, payout) in &waiting {
        until("it is paid", || {
            (payout_now(&tenants[*whose].live, payout)["status"] == "completed").then_some(())
        });
    }
    assert_eq!(amounts(&bank), ["1.00", "2.00", "3.00", "4.00", "5.00", "6.00"]);
    // The probe came before the orders.
    let first = bank.of("MBbcv").len();
    assert!(first >= 1);
}

#[test]
fn two_tenants_payouts_of_one_millisecond_go_in_the_order_of_the_log() {
    let bank = Bank::start();
    let port = bank.port();
    let mut server = server(&bank, &[]);
    let tenants = [live(&server, "1000.00"), live(&server, "1000.00")];
    drop(bank);
    // Once it has found no connection, nothing is sent for a second.
    tenants[0].live.post("/v1/payments/credit", &credit("100.00")).expect(202);
    let mut accepted: Vec<(u64, String)> = std::thread::scope(|scope| {
        let sent: Vec<_> = (1..=32_usize)
            .map(|n| {
                let api = &tenants[n % 2].live;
                scope.spawn(move || {
                    let amount = format!("{n}.00");
                    let answer = api.post("/v1/payments/credit", &credit(&amount));
                    assert_eq!(answer.expect(202)["status"], "pending");
                    (answer.header("wal-seq").expect("a record").parse().expect("a number"), amount)
                })
            })
            .collect();
        sent.into_iter().map(|sent| sent.join().expect("it is accepted")).collect()
    });
    accepted.sort();
    server.kill();
    server.restart();
    let bank = Bank::on(port);
    bank.always("MBvuelto", done("00", "1"));
    until("all are sent", || (amounts(&bank).len() == 33).then_some(()));
    let in_order = std::iter::once("100.00").chain(accepted.iter().map(|(_, amount)| amount.as_str()));
    assert_eq!(amounts(&bank), in_order.collect::<Vec<_>>());
}

#[test]
fn items_of_a_batch_have_their_place_in_the_queue() {
    let bank = Bank::start();
    let port = bank.port();
    let mut server = server(&bank, &[]);
    let (shop, other) = (live(&server, "1000.00"), live(&server, "100.00"));
    let api = &shop.live;
    bank.always("MBvuelto", done("00", "1"));
    let merchant = api.create_merchant(json!({})).expect(201);
    let method = method_path(&merchant, 0);
    api.act(&format!("{method}/verify/start")).expect(202);
    let sent = amounts(&bank);
    api.verify(&method, &sent[0], &sent[1]).expect(200);
    drop(bank);
    other.live.post("/v1/payments/credit", &credit("1.00")).expect(202);
    let items: Vec<Value> = (2..=4).map(|n| payout_body(&merchant, &format!("{n}.00"))).collect();
    api.post("/v1/payouts/batch", &json!({ "externalRef": fresh("batch"), "items": items })).expect(201);
    api.payout(&merchant, "5.00", json!({})).expect(202);
    other.live.post("/v1/payments/credit", &credit("6.00")).expect(202);
    for _ in 0..2 {
        server.kill();
        server.restart();
    }
    let bank = Bank::on(port);
    bank.always("MBvuelto", done("00", "1"));
    until("all are sent", || (amounts(&bank).len() == 6).then_some(()));
    assert_eq!(amounts(&bank), ["1.00", "2.00", "3.00", "4.00", "5.00", "6.00"]);
}

#[test]
fn a_queued_payout_that_an_operator_refused_is_never_sent() {
    let bank = Bank::start();
    let port = bank.port();
    let server = server(&bank, &[]);
    let tenant = live(&server, "100.00");
    drop(bank);
    let payout = tenant.live.post("/v1/payments/credit", &credit("7.00")).expect(202);
    let item = operations(&server, "pending").pop().expect("it waits");
    assert!(item["sentAt"].is_null(), "nothing of it has left the machine: {item}");
    let path = format!("/admin/operations/{}/resolve", item["operationId"].as_str().expect("an id"));
    let body = json!({ "outcome": "refused", "failureCode": "X1", "note": "mejor no" });
    assert_eq!(server.admin().post(&path, &body).expect(200)["status"], "failed");
    let bank = Bank::on(port);
    bank.always("MBvuelto", done("00", "1"));
    let later = tenant.live.post("/v1/payments/credit", &credit("8.00"));
    until("the later one is paid", || {
        (payout_now(&tenant.live, &later.json())["status"] == "completed").then_some(())
    });
    assert_eq!(amounts(&bank), ["8.00"]);
    assert_eq!(payout_now(&tenant.live, &payout)["status"], "failed");
}
