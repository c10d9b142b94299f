//! Payouts and micro-deposits: what each answer comes to, and where the money is.

use super::bank::{Act, Bank, code, done, say};
use super::{account, credit, live, operations, payout_now, server, unavailable, until};
use crate::harness::check::race;
use crate::harness::flows::method_path;
use crate::harness::server::Server;
use chrono::{TimeDelta, Utc};
use serde_json::json;

#[test]
fn a_payout_is_done_refused_or_left_to_an_operator() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "1000.00");
    let api = &tenant.live;
    bank.next("MBvuelto", done("00", "51"));
    let paid = api.post("/v1/payments/credit", &credit("10.00")).expect(201);
    assert_eq!((paid["status"].as_str(), paid["reference"].as_str()), (Some("completed"), Some("51")));
    bank.next("MBvuelto", code("56"));
    let failed = api.post("/v1/payments/credit", &credit("20.00")).expect(201);
    assert_eq!((failed["status"].as_str(), failed["failureCode"].as_str()), (Some("failed"), Some("BE01")));
    for act in [code("68"), Act::Silence, Act::Cut] {
        bank.next("MBvuelto", act);
        let waiting = api.post("/v1/payments/credit", &credit("30.00")).expect(202);
        assert_eq!(waiting["status"], "pending");
    }
    bank.next("CICuentas", done("ACCP", "61"));
    let paid = api.post("/v1/payments/credit/account", &account("40.00")).expect(201);
    assert_eq!(paid["status"], "completed");
    let id = "0b1c2d3e-0000-4000-8000-000000000001";
    bank.next("CICuentas", say(json!({ "code": "AC00", "id": id })));
    bank.always("ConsultarOperaciones", code("AC01"));
    let waiting = api.post("/v1/payments/credit/account", &account("50.00")).expect(202);
    let failed = until("the bank decides", || {
        let now = payout_now(api, &waiting);
        (now["status"] != "pending").then_some(now)
    });
    assert_eq!(failed["failureCode"], "AC01");
    let unresolved = until("three are unresolved", || {
        let found = operations(&server, "unresolved");
        (found.len() == 3).then_some(found)
    });
    assert!(unresolved.iter().all(|item| item["kind"] == "payout" && item["askedAt"].is_null()));
    assert_eq!((bank.of("MBvuelto").len(), bank.of("CICuentas").len()), (5, 2));
    // 10 and 40 went, three times 30 may have gone.
    let books = api.balance();
    assert_eq!(books["available"].as_str().or(books["availableVes"].as_str()), Some("860.00"), "{books}");
}

#[test]
fn micro_deposits_are_two_calls_and_never_repeated() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    let start = |merchant: &serde_json::Value| api.act(&format!("{}/verify/start", method_path(merchant, 0)));
    bank.always("MBvuelto", done("00", "1"));
    let merchant = unverified(api);
    start(&merchant).expect(202);
    let sent = bank.of("MBvuelto");
    assert_eq!(sent.len(), 2);
    let amounts: Vec<&str> = sent.iter().map(|call| call["Monto"].as_str().expect("text")).collect();
    assert_ne!(amounts[0], amounts[1]);
    assert!(amounts.iter().all(|amount| amount.len() == 4 && amount.starts_with("0.") && *amount != "0.00"));
    api.verify(&method_path(&merchant, 0), amounts[1], amounts[0]).expect(200);
    assert_eq!(api.merchant_now(&merchant)["payoutMethods"][0]["status"], "verified");
    // Either is of another client: the method is gone.
    let merchant = unverified(api);
    bank.next("MBvuelto", done("00", "1"));
    bank.next("MBvuelto", code("56"));
    start(&merchant);
    assert_eq!(api.merchant_now(&merchant)["payoutMethods"], json!([]));
    // Nobody can tell: it stays, and nothing is sent again.
    let merchant = unverified(api);
    bank.next("MBvuelto", code("68"));
    bank.next("MBvuelto", done("00", "1"));
    start(&merchant).expect(202);
    let item = until("it is unresolved", || operations(&server, "unresolved").pop());
    let said = (&item["kind"], &item["asks"], &item["bankCode"]);
    assert_eq!(said, (&json!("micro_deposit"), &json!(0), &json!("68")));
    assert_eq!(api.merchant_now(&merchant)["payoutMethods"][0]["status"], "verifying");
    assert_eq!(bank.of("MBvuelto").len(), 6);
    // No connection: nothing was begun.
    let merchant = unverified(api);
    drop(bank);
    unavailable(&start(&merchant));
    assert_eq!(api.merchant_now(&merchant)["payoutMethods"][0]["status"], "unverified");
}

fn unverified(api: &crate::harness::client::Api) -> serde_json::Value {
    api.create_merchant(json!({})).expect(201)
}

#[test]
fn a_phone_gets_five_verifications_a_day_of_all_accounts_together() {
    let bank = Bank::start();
    let mut server = server(&bank, &[]);
    let tenants = [live(&server, "0.00"), live(&server, "0.00")];
    bank.always("MBvuelto", done("00", "1"));
    let starts: Vec<(usize, String)> = (0..12)
        .map(|n| (n % 2, format!("{}/verify/start", method_path(&unverified(&tenants[n % 2].live), 0))))
        .collect();
    let answers = race(starts.len(), |n| tenants[starts[n].0].live.act(&starts[n].1));
    assert_eq!(answers.iter().filter(|answer| answer.status == 202).count(), 5);
    assert_eq!(bank.of("MBvuelto").len(), 10, "two calls each");
    let sent: i64 = bank.of("MBvuelto").iter().map(|call| cents(call["Monto"].as_str().expect("text"))).sum();
    let paid = |server: &Server| {
        let day = |days| (Utc::now() - TimeDelta::days(days)).date_naive();
        let path = format!("/admin/statements?currency=VES&from={}&to={}", day(1), day(-1));
        let shown = server.admin().get(&path).expect(200);
        let days = shown["days"].as_array().expect("days").clone();
        days.iter().map(|day| cents(day["payouts"].as_str().expect("text"))).sum::<i64>()
    };
    assert_eq!(paid(&server), -sent, "what was sent is on the platform's ledger");
    server.kill();
    server.restart();
    let (of, start) = &starts[answers.iter().position(|answer| answer.status == 429).expect("a refused one")];
    tenants[*of].live.act(start).refused(429, "too_many_attempts");
    assert_eq!(paid(&server), -sent);
    assert_eq!(bank.of("MBvuelto").len(), 10);
}

#[test]
fn a_method_is_started_three_times_a_day_and_what_was_not_sent_does_not_count() {
    let bank = Bank::start();
    let server = server(&bank, &[]);
    let tenant = live(&server, "0.00");
    let api = &tenant.live;
    let start = format!("{}/verify/start", method_path(&unverified(api), 0));
    bank.always("MBvuelto", code("12"));
    for _ in 0..3 {
        assert_eq!(api.act(&start).expect(202)["status"], "unverified");
    }
    api.act(&start).refused(429, "too_many_attempts");
    assert_eq!(bank.of("MBvuelto").len(), 3);
    let fresh = format!("{}/verify/start", method_path(&unverified(api), 0));
    drop(bank);
    for _ in 0..4 {
        unavailable(&api.act(&fresh));
    }
}

/// An amount in cents.
fn cents(text: &str) -> i64 {
    text.replace('.', "").parse().expect("an amount")
}
