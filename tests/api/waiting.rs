//! Calls above a mandate's `approvalAbove`: they wait, somebody of the account decides, and what is approved is done once
//! (`docs/contract.md, 3.12`).

use crate::credits::{account_body, credit_body};
use crate::harness::check::{list, race, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{UNKNOWN, fresh, merged, method_path, payout_body};
use crate::harness::pesos::cop_path;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::sync::Arc;

const CREDIT: &str = "/v1/payments/credit";
const DAY: i64 = 24 * 60 * 60;

/// An account's first key, and one of its own that may pay 5 bolívares without an approval.
struct Bound {
    /// It runs on as long as somebody has it.
    _server: Option<Arc<Server>>,
    owner: Api,
    agent: Api,
    key: String,
}

impl Bound {
    fn on(server: &Server, over: Value) -> Bound {
        let owner = server.tenant().test;
        owner.fund("1000.00");
        let mandate = json!({
            "agent": "Claude", "perDay": { "VES": "5000.00", "USDT": "50.00", "COP": 100_000 },
            "approvalAbove": { "VES": "5.00", "USDT": "1.00", "COP": 1000 },
        });
        let made = owner.post("/v1/keys", &json!({ "mandate": merged(mandate, over) })).expect(201);
        let (agent, key) = (server.api(text(&made, "key")), format!("/v1/keys/{}", text(&made, "keyId")));
        Bound { _server: None, owner, agent, key }
    }

    fn new() -> Bound {
        Bound::within(json!({}))
    }

    fn within(over: Value) -> Bound {
        let server = Server::shared();
        Bound { _server: Some(Arc::clone(&server)), ..Bound::on(&server, over) }
    }

    fn left(&self) -> Value {
        self.owner.get(&self.key).expect(200)["remaining"]["perDay"]["VES"].clone()
    }

    fn ledger(&self) -> String {
        text(&self.owner.balance(), "ledgerNetVes").to_owned()
    }

    fn status(&self, path: &str) -> String {
        text(&self.agent.get(path).expect(200), "status").to_owned()
    }
}

/// The path of the approval that a call waits for.
#[track_caller]
fn waits(answer: &Answer) -> String {
    let body = answer.expect(202);
    assert_eq!(body["status"], "awaiting_approval", "{body}");
    assert_eq!(body.as_object().expect("an object").len(), 2, "{body}");
    format!("/v1/approvals/{}", text(&body, "approvalId"))
}

fn approve(path: &str) -> String {
    format!("{path}/approve")
}

fn reject(path: &str) -> String {
    format!("{path}/reject")
}

#[test]
fn a_call_above_waits_and_is_done_once_when_it_is_approved() {
    let bound = Bound::new();
    bound.agent.post(CREDIT, &credit_body("5.00")).expect(201);
    let (ledger, left) = (bound.ledger(), bound.left());
    let body = credit_body("12.00");
    let path = waits(&bound.agent.post(CREDIT, &body));
    assert_eq!((bound.ledger(), bound.left()), (ledger, left), "nothing is debited or spent");
    let again = merged(body.clone(), json!({ "telefono": "584147654321" }));
    assert_eq!(waits(&bound.agent.post(CREDIT, &again)), path, "a repeat is the same, however it is written");
    let other = merged(body.clone(), json!({ "monto": "13.00", "concepto": "otro" }));
    let refused = bound.agent.post(CREDIT, &other).refused(409, "external_ref_conflict");
    assert_eq!(refused["differs"], json!(["monto", "concepto"]));

    let shown = bound.owner.get(&path).expect(200);
    assert_eq!(bound.agent.get(&path).expect(200), shown, "the key that asked reads it too");
    assert_eq!(
        [&shown["status"], &shown["agent"], &shown["amount"], &shown["operation"], &shown["body"]],
        [
            &json!("awaiting_approval"),
            &json!("Claude"),
            &json!({ "VES": "12.00" }),
            &json!("creditPhone"),
            &body
        ]
    );
    assert_eq!(format!("/v1/keys/{}", text(&shown, "keyId")), bound.key);

    let approver = bound.owner.keyed(&fresh("approve"));
    let done = approver.act(&approve(&path)).expect(200);
    assert_eq!([&done["status"], &done["approvalId"]], [&json!("approved"), &shown["approvalId"]]);
    assert_eq!(done["result"]["status"], "completed", "{done}");
    assert_eq!(approver.act(&approve(&path)).expect(200), done, "a repeat of the approval");
    bound.owner.act(&approve(&path)).refused(409, "approval_decided");
    bound.owner.act(&reject(&path)).refused(409, "approval_decided");
    assert_eq!((bound.ledger().as_str(), bound.left()), ("983.00", json!("4983.00")));
    let known = bound.agent.post(CREDIT, &body).expect(200);
    assert_eq!(known["payoutId"], done["result"]["payoutId"]);
    let now = bound.owner.get(&path).expect(200);
    assert_eq!(now["status"], "approved");
    assert!(now["decidedBy"].is_string() && now["decidedAt"].is_string(), "{now}");
}

#[test]
fn a_key_of_idempotency_answers_the_same_approval() {
    let bound = Bound::new();
    let (keyed, body) = (bound.agent.keyed(&fresh("key")), credit_body("6.00"));
    let path = waits(&keyed.post(CREDIT, &body));
    let replayed = keyed.post(CREDIT, &body);
    assert_eq!(waits(&replayed), path);
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    keyed.post(CREDIT, &credit_body("6.00")).refused(422, "idempotency_key_reused");
    bound.owner.act(&approve(&path)).expect(200);
    assert_eq!(waits(&keyed.post(CREDIT, &body)), path, "it was answered so");
}

#[test]
fn every_way_out_waits_and_is_done() {
    let bound = Bound::new();
    let (owner, agent) = (&bound.owner, &bound.agent);
    let merchant = owner.merchant();
    owner.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "100.00" })).expect(201);
    let payment = owner.pay(1);
    let pesos = owner.cop_paid(50_000);
    let quote = agent.quote_ves("400.00");
    let quote = quote["quoteId"].as_str().or(quote["id"].as_str()).expect("a quote").to_owned();
    let usdt = json!({
        "amountUsdt": "5.00", "address": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "network": "POLYGON",
        "externalRef": fresh("usdt"),
    });
    let batch = json!({ "externalRef": fresh("batch"), "items": [
        payout_body(&merchant, "3.00"), payout_body(&merchant, "4.00"),
    ] });
    let phones = json!({ "externalRef": fresh("b"), "items": [credit_body("3.00"), credit_body("2.01")] });
    let accounts = json!({ "externalRef": fresh("b"), "items": [account_body("9.00")] });
    for (path, body, member, status) in [
        ("/v1/payouts", payout_body(&merchant, "6.00"), "status", "completed"),
        (CREDIT, credit_body("7.00"), "status", "completed"),
        (CREDIT, credit_body("7.04"), "status", "failed"),
        ("/v1/payments/change", credit_body("8.00"), "status", "completed"),
        ("/v1/payments/credit/account", account_body("9.00"), "status", "completed"),
        ("/v1/payouts/batch", batch, "batchId", ""),
        ("/v1/payments/credit/disburse", phones, "batchId", ""),
        ("/v1/payments/payouts", accounts, "batchId", ""),
        ("/v1/crypto/payouts", usdt, "status", "completed"),
        ("/v1/conversions", json!({ "quoteId": quote }), "status", "COMPLETED"),
        (&format!("/v1/payments/{}/reverse", text(&payment, "paymentId")), json!({}), "status", "REVERSED"),
        (&format!("{}/refund", cop_path(&pesos)), json!({}), "status", "refunded"),
    ] {
        let first = agent.post(path, &body);
        let approval = waits(&first);
        assert_eq!(waits(&agent.post(path, &body)), approval, "{path}: once");
        let approver = owner.keyed(&fresh("approve"));
        let done = approver.act(&approve(&approval)).expect(200);
        let result = &done["result"];
        assert!(result[member].is_string(), "{path}: {done}");
        if !status.is_empty() {
            assert_eq!(result[member], status, "{path}: {done}");
        }
        assert_eq!(approver.act(&approve(&approval)).expect(200), done, "{path}");
        owner.act(&approve(&approval)).refused(409, "approval_decided");
    }
    let spent = &owner.get(&bound.key).expect(200)["remaining"]["perDay"];
    assert_eq!(spent["COP"], 50_000, "{spent}");
}

#[test]
fn a_batch_waits_whole_and_small_ones_do_not() {
    let bound = Bound::new();
    let body = |amounts: &[&str]| {
        let items: Vec<Value> = amounts.iter().map(|monto| credit_body(monto)).collect();
        json!({ "externalRef": fresh("batch"), "items": items })
    };
    let path = "/v1/payments/credit/disburse";
    bound.agent.post(path, &body(&["2.00", "3.00"])).expect(201);
    let waiting = body(&["2.00", "3.00", "0.01"]);
    let approval = waits(&bound.agent.post(path, &waiting));
    assert_eq!(bound.owner.get(&approval).expect(200)["amount"], json!({ "VES": "5.01" }));
    assert_eq!(bound.ledger(), "995.00");
    let refused = merged(waiting.clone(), json!({ "items": [credit_body("9.00")] }));
    bound.agent.post(path, &refused).refused(409, "external_ref_conflict");
    let done = bound.owner.act(&approve(&approval)).expect(200);
    assert_eq!(list(&done["result"], "items").len(), 3);
    assert_eq!(bound.ledger(), "989.99");
    let known = bound.agent.post(path, &waiting).expect(200);
    assert_eq!(known["batchId"], done["result"]["batchId"]);
}

#[test]
fn what_was_done_meanwhile_is_told_in_one_record() {
    let server = Server::start();
    let bound = Bound::on(&server, json!({}));
    let batch = json!({ "externalRef": fresh("batch"), "items": [credit_body("6.00"), credit_body("9.00")] });
    let path = "/v1/payments/credit/disburse";
    let approval = waits(&bound.agent.post(path, &batch));
    let known = bound.owner.post(path, &batch).expect(201);
    let approver = bound.owner.keyed("approve-known");
    let done = approver.act(&approve(&approval)).expect(200);
    assert_eq!(done["result"]["batchId"], known["batchId"], "{done}");
    assert_eq!(approver.act(&approve(&approval)).expect(200), done);
    // Without a key nothing is kept.
    let batch = json!({ "externalRef": fresh("batch"), "items": [credit_body("7.00")] });
    let approval = waits(&bound.agent.post(path, &batch));
    bound.owner.post(path, &batch).expect(201);
    bound.owner.act(&approve(&approval)).expect(200);
    let output = server.command(&["wal", "inspect", "--json"]);
    let records = String::from_utf8_lossy(&output.stdout);
    let of = |cause: &str| records.matches(&format!("\"type\":\"{cause}\"")).count();
    assert_eq!((of("approval.decided"), of("answer.kept")), (2, 0), "{records}");
}

#[test]
fn no_more_goes_out_than_was_approved() {
    let bound = Bound::within(json!({ "perDay": { "VES": "10.00" } }));
    let items = json!([credit_body("6.00"), credit_body("9.00")]);
    let batch = json!({ "externalRef": fresh("batch"), "items": items });
    let path = waits(&bound.agent.post("/v1/payments/credit/disburse", &batch));
    assert_eq!(
        bound.owner.get(&path).expect(200)["amount"],
        json!({ "VES": "6.00" }),
        "9.00 is above the limit"
    );
    let mandate = json!({ "perDay": { "VES": "100.00" }, "approvalAbove": { "VES": "5.00" } });
    bound.owner.patch(&bound.key, &json!({ "mandate": mandate })).expect(200);
    bound.owner.act(&approve(&path)).refused(403, "mandate_exceeded");
    assert_eq!((bound.ledger().as_str(), bound.status(&path).as_str()), ("1000.00", "awaiting_approval"));
}

#[test]
fn nobody_else_is_paid_than_when_it_was_asked_for() {
    let bound = Bound::new();
    let owner = &bound.owner;
    let merchant = owner.merchant();
    let path = waits(&bound.agent.post("/v1/payouts", &payout_body(&merchant, "9.00")));
    let shown = owner.get(&path).expect(200);
    assert_eq!(shown["destinations"], json!(["0134 …4321"]), "{shown}");
    let methods = format!("/v1/merchants/{}/payout-methods", text(&merchant, "merchantId"));
    owner.post(&methods, &json!({ "bankCode": "0102", "phone": "04241234567" })).expect(201);
    let merchant = owner.merchant_now(&merchant);
    let other = method_path(&merchant, 1);
    owner.act(&format!("{other}/verify/start")).expect(202);
    owner.verify(&other, "0.32", "0.45").expect(200);
    owner.act(&format!("{other}/default")).expect(200);
    owner.act(&approve(&path)).refused(403, "mandate_payee");
    owner.act(&format!("{}/default", method_path(&merchant, 0))).expect(200);
    let done = owner.act(&approve(&path)).expect(200);
    assert_eq!(done["result"]["destination"], "…4321", "{done}");
}

#[test]
fn a_long_body_is_shown_by_itself_alone() {
    let bound = Bound::new();
    let items: Vec<Value> = (0..100).map(|_| credit_body("1.00")).collect();
    let batch = json!({ "externalRef": fresh("batch"), "items": items });
    let path = waits(&bound.agent.post("/v1/payments/credit/disburse", &batch));
    assert_eq!(bound.owner.get(&path).expect(200)["body"], batch);
    let listed = bound.owner.get("/v1/approvals").expect(200);
    assert_eq!(list(&listed, "items")[0]["body"], Value::Null, "{listed}");
}

#[test]
fn a_bank_that_refuses_what_was_approved_is_what_the_approver_is_told_again() {
    let bound = Bound::new();
    let payment = bound.owner.pay_with(1, "55555555");
    let reverse = format!("/v1/payments/{}/reverse", text(&payment, "paymentId"));
    let path = waits(&bound.agent.act(&reverse));
    let approver = bound.owner.keyed(&fresh("approve"));
    approver.act(&approve(&path)).refused(409, "reversal_refused");
    let again = approver.act(&approve(&path)).expect(409);
    assert_eq!(again["error"], "reversal_refused", "a repeat of the approval");
    bound.owner.act(&approve(&path)).refused(409, "approval_decided");
}

#[test]
fn limits_payees_and_the_balance_are_decided_again_and_it_still_waits() {
    let bound = Bound::within(json!({ "payees": ["04147654321"] }));
    let stranger = json!({ "telefono": "04241234567" });
    bound.agent.post(CREDIT, &merged(credit_body("9.00"), stranger)).refused(403, "mandate_payee");
    bound.agent.post(CREDIT, &credit_body("5000.01")).refused(403, "mandate_exceeded");
    let path = waits(&bound.agent.post(CREDIT, &credit_body("2000.00")));
    bound.owner.act(&approve(&path)).refused(422, "insufficient_balance");
    let change = |mandate: Value| {
        bound.owner.patch(&bound.key, &json!({ "mandate": mandate })).expect(200);
    };
    change(json!({ "perDay": { "VES": "1999.00" }, "approvalAbove": { "VES": "5.00" } }));
    let refused = bound.owner.act(&approve(&path)).refused(403, "mandate_exceeded");
    assert_eq!(refused["limit"], "perDay");
    change(json!({ "perDay": { "VES": "3000.00" }, "payees": ["04241234567"] }));
    bound.owner.act(&approve(&path)).refused(403, "mandate_payee");
    change(json!({ "perDay": { "VES": "3000.00" } }));
    assert_eq!(bound.status(&path), "awaiting_approval");
    bound.owner.fund("1000.00");
    bound.owner.act(&approve(&path)).expect(200);
    assert_eq!((bound.ledger().as_str(), bound.left()), ("0.00", json!("1000.00")));
}

#[test]
fn it_is_rejected_expires_and_ends_with_its_key() {
    let bound = Bound::new();
    let ask = || waits(&bound.agent.post(CREDIT, &credit_body("9.00")));
    let rejected = ask();
    assert_eq!(bound.owner.act(&reject(&rejected)).expect(200)["status"], "rejected");
    bound.owner.act(&approve(&rejected)).refused(409, "approval_decided");
    let body = credit_body("9.00");
    let expired = waits(&bound.agent.post(CREDIT, &body));
    bound.owner.advance(DAY - 1);
    assert_eq!(bound.status(&expired), "awaiting_approval");
    bound.owner.advance(1);
    assert_eq!(bound.status(&expired), "expired");
    bound.owner.act(&approve(&expired)).refused(409, "approval_expired");
    bound.owner.act(&reject(&expired)).refused(409, "approval_expired");
    let asked_again = waits(&bound.agent.post(CREDIT, &body));
    assert_ne!(asked_again, expired, "what is over is asked for anew");
    let statuses = |status: &str| {
        let page = bound.owner.query("/v1/approvals", &[("status", status)]).expect(200);
        list(&page, "items").iter().map(|item| text(item, "approvalId").to_owned()).collect::<Vec<_>>()
    };
    let id = |path: &str| path.rsplit('/').next().expect("an id").to_owned();
    assert_eq!(statuses("awaiting_approval"), [id(&asked_again)]);
    assert_eq!(statuses("expired"), [id(&expired)]);
    assert_eq!(statuses("rejected"), [id(&rejected)]);
    assert_eq!(list(&bound.owner.get("/v1/approvals").expect(200), "items").len(), 3);
    bound.owner.query("/v1/approvals", &[("status", "open")]).names(&["status"]);

    bound.owner.delete(&bound.key).expect(200);
    bound.owner.act(&approve(&asked_again)).refused(409, "approval_expired");
    bound.owner.act(&reject(&asked_again)).refused(409, "approval_expired");
    assert_eq!(statuses("expired"), [id(&asked_again), id(&expired)]);
    assert_eq!(bound.ledger(), "1000.00");
}

#[test]
fn who_may_decide_and_read() {
    let server = Server::shared();
    let bound = Bound::on(&server, json!({}));
    let path = waits(&bound.agent.post(CREDIT, &credit_body("9.00")));
    let made = bound.owner.post("/v1/keys", &json!({ "scopes": ["read", "payout"] })).expect(201);
    let other = server.api(text(&made, "key"));
    let made =
        bound.owner.post("/v1/keys", &json!({ "mandate": { "perDay": { "VES": "1.00" } } })).expect(201);
    for key in [&bound.agent, &other, &server.api(text(&made, "key"))] {
        key.act(&approve(&path)).refused(403, "scope_missing");
        key.act(&reject(&path)).refused(403, "scope_missing");
        key.get("/v1/approvals").refused(403, "scope_missing");
    }
    other.get(&path).refused(403, "scope_missing");
    server.api(text(&made, "key")).get(&path).refused(403, "scope_missing");
    let strange = server.tenant().test;
    strange.get(&path).refused(404, "not_found");
    strange.act(&approve(&path)).refused(404, "not_found");
    bound.owner.act(&approve(&format!("/v1/approvals/{UNKNOWN}"))).refused(404, "not_found");
    bound.owner.post(&approve(&path), &json!({ "note": "yes" })).names(&["note"]);
    assert_eq!(bound.status(&path), "awaiting_approval");
}

#[test]
fn two_who_decide_at_once_are_told_one_outcome() {
    let bound = Bound::new();
    for round in 0..5 {
        let path = waits(&bound.agent.post(CREDIT, &credit_body("10.00")));
        let statuses = race(8, |n| {
            let path = if n % 2 == round % 2 { approve(&path) } else { reject(&path) };
            bound.owner.act(&path).status
        });
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| matches!(status, 200 | 409)), "{statuses:?}");
    }
    let approved = bound.owner.query("/v1/approvals", &[("status", "approved")]).expect(200);
    let approved = list(&approved, "items").len();
    assert_eq!(bound.ledger(), format!("{}.00", 1000 - 10 * approved), "each once");
}

#[test]
fn another_key_of_the_same_mandate_answers_for_one_that_was_replaced() {
    let server = Server::shared();
    let bound = Bound::on(&server, json!({}));
    let body = credit_body("9.00");
    let path = waits(&bound.agent.post(CREDIT, &body));
    let id = bound.key.rsplit('/').next().expect("an id");
    let rotated = server.admin().post(&format!("/admin/keys/{id}/rotate"), &json!({})).expect(201);
    let next = server.api(text(&rotated, "key"));
    assert_eq!(waits(&next.post(CREDIT, &body)), path);
    bound.owner.act(&approve(&path)).expect(200);
    next.post(CREDIT, &body).expect(200);
}

#[test]
fn what_was_paid_meanwhile_is_not_paid_again() {
    let bound = Bound::new();
    let body = credit_body("9.00");
    let path = waits(&bound.agent.post(CREDIT, &body));
    let paid = bound.owner.post(CREDIT, &body).expect(201);
    let done = bound.owner.act(&approve(&path)).expect(200);
    assert_eq!(done["result"]["payoutId"], paid["payoutId"]);
    assert_eq!(bound.ledger(), "991.00");
    let body = credit_body("9.00");
    let path = waits(&bound.agent.post(CREDIT, &body));
    bound.owner.post(CREDIT, &merged(body, json!({ "monto": "8.00" }))).expect(201);
    bound.owner.act(&approve(&path)).refused(409, "external_ref_conflict");
    assert_eq!(bound.status(&path), "awaiting_approval");
}

#[test]
fn a_hundred_wait_and_no_more() {
    let bound = Bound::new();
    for _ in 0..100 {
        waits(&bound.agent.post(CREDIT, &credit_body("6.00")));
    }
    let refused = bound.agent.post(CREDIT, &credit_body("6.00"));
    refused.refused(429, "too_many_attempts");
    assert!(refused.header("retry-after").is_some());
    bound.owner.advance(DAY);
    waits(&bound.agent.post(CREDIT, &credit_body("6.00")));
}

#[test]
fn a_dry_run_says_that_it_would_wait() {
    let bound = Bound::new();
    let dry = bound.agent.with("dry-run", "true").post(CREDIT, &credit_body("9.00")).expect(200);
    assert_eq!((&dry["status"], &dry["body"]["status"]), (&json!(202), &json!("awaiting_approval")), "{dry}");
    assert_eq!(list(&bound.owner.get("/v1/approvals").expect(200), "items").len(), 0);
    let path = waits(&bound.agent.post(CREDIT, &credit_body("9.00")));
    let dry = bound.owner.with("dry-run", "true").act(&approve(&path)).expect(200);
    assert_eq!((&dry["status"], &dry["body"]["status"]), (&json!(200), &json!("approved")), "{dry}");
    assert_eq!((bound.status(&path).as_str(), bound.ledger().as_str()), ("awaiting_approval", "1000.00"));
}

#[test]
fn what_waits_and_what_was_approved_survive_a_crash() {
    let mut server = Server::start();
    let bound = Bound::on(&server, json!({}));
    let (body, other) = (credit_body("9.00"), credit_body("10.00"));
    let path = waits(&bound.agent.post(CREDIT, &body));
    let second = waits(&bound.agent.post(CREDIT, &other));
    for snapshot in [false, true] {
        if snapshot {
            server.admin().post("/admin/snapshot", &json!({})).expect(200);
        }
        server.kill();
        server.restart();
        assert_eq!(waits(&bound.agent.post(CREDIT, &body)), path, "snapshot: {snapshot}");
    }
    let approver = bound.owner.keyed("approve-1");
    let done = approver.act(&approve(&path)).expect(200);
    server.kill();
    server.restart();
    assert_eq!(approver.act(&approve(&path)).expect(200), done);
    bound.owner.act(&approve(&path)).refused(409, "approval_decided");
    assert_eq!((bound.ledger().as_str(), bound.left()), ("991.00", json!("4991.00")));
    assert_eq!(bound.agent.post(CREDIT, &body).expect(200)["payoutId"], done["result"]["payoutId"]);
    assert_eq!(bound.status(&second), "awaiting_approval");
    // The approval and its call are one record: whichever moment a kill meets, it was done once or not at all.
    let call = bound.owner.clone();
    let at = approve(&second);
    let caller = std::thread::spawn(move || drop(call.try_post(&at, &json!({}))));
    std::thread::sleep(std::time::Duration::from_millis(2));
    server.kill();
    server.restart();
    caller.join().expect("the caller");
    let (status, ledger) = (bound.status(&second), bound.ledger());
    let both = (status.as_str(), ledger.as_str());
    assert!(matches!(both, ("approved", "981.00") | ("awaiting_approval", "991.00")), "{both:?}");
    if status == "awaiting_approval" {
        bound.owner.act(&approve(&second)).expect(200);
        assert_eq!(bound.ledger(), "981.00");
    }
}
