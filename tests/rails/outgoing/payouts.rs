//! Payouts and micro-deposits: what each answer comes to, and where the money is.

use super::bank::{Act, Bank, code, done, say};
use super::{account, credit, live, operations, payout_now, server, unavailable, until};
use crate::harness::flows::method_path;
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
