//! The sandbox as the bank, with its faults: whatever it does wrong, what the gateway's books say was
//! done was done once, what they say was not was not, and the rest is before an operator.

use super::{credit, debit, live, operations, payout_now, server_of, until};
use crate::sandbox_process::SandboxProcess;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The orders that the bank has in its books.
fn orders(sandbox: &SandboxProcess) -> Vec<Value> {
    let books = sandbox.developers().get("/sandbox/books").expect(200);
    books["orders"].as_array().expect("orders").clone()
}

#[test]
fn the_money_is_the_banks_or_the_difference_is_before_an_operator() {
    let data = tempfile::tempdir().expect("a directory");
    let sandbox = SandboxProcess::start("r4", &["--commerce-token", "token"], data.path());
    let mut server = server_of(&sandbox.url, &[("PASARELA__RAILS__ANSWER_SECONDS", "3")]);
    let tenant = live(&server, "100000.00");
    let api = &tenant.live;
    // Each operation meets each fault now and then.
    let kinds = ["silent_before", "silent_after", "drop_before", "drop_after", "garbage", "cut", "twice"];
    let odd = ["latin1", "bom", "raw_controls", "two_codes", "repeat"];
    let mut faults: Vec<Value> = Vec::new();
    for operation in ["MBc2p", "DebitoInmediato", "MBvuelto", "ConsultarOperaciones"] {
        for (at, fault) in kinds.iter().enumerate() {
            faults.push(
                json!({ "fault": fault, "operation": operation, "skip": 2 * at, "every": 14, "first": 14 }),
            );
        }
        for (at, fault) in odd.iter().enumerate() {
            faults.push(json!({ "fault": fault, "operation": operation, "skip": 1 + 2 * at, "every": 11, "first": 11 }));
        }
        faults.push(json!({ "fault": "unauthorized", "operation": operation, "skip": 15, "first": 1 }));
        faults
            .push(json!({ "fault": "error", "operation": operation, "acted": true, "skip": 17, "first": 1 }));
    }
    sandbox.faults(&json!(faults));
    // By amount: no two orders have the same.
    let mut asked: BTreeMap<String, (&str, Value)> = BTreeMap::new();
    for n in 0..20_i32 {
        let amount = f64::from(n) + 100.10;
        // The magic codes wait for a question, or refuse.
        let mut body = debit(amount);
        body["otp"] =
            json!(["12345678", "77777777", "66666666", "99999999"][usize::try_from(n % 4).expect("small")]);
        let answer = api.post("/v1/payments/debit", &body);
        if answer.status != 503 {
            asked.insert(format!("{amount:.2}"), ("payment", answer.json()));
        }
        let amount = f64::from(n) + 300.10;
        let answer = api.post("/v1/payments/credit", &credit(&format!("{amount:.2}")));
        asked.insert(format!("{amount:.2}"), ("payout", answer.json()));
        if n == 10 {
            server.kill();
            server.restart();
        }
    }
    sandbox.faults(&json!([]));
    let open = || operations(&server, "pending").len();
    until("what can be decided is decided", || (open() == 0).then_some(()));
    let unresolved = operations(&server, "unresolved");
    let riddles: Vec<&str> = unresolved.iter().map(|item| item["amount"].as_str().expect("text")).collect();
    let orders = orders(&sandbox);
    let mut settled = 0;
    for (amount, (kind, of)) in &asked {
        let at_bank: Vec<&Value> = orders.iter().filter(|order| order["amount"] == amount.as_str()).collect();
        assert!(at_bank.len() <= 1, "sent twice: {at_bank:?}");
        let is_done = at_bank.iter().any(|order| order["outcome"] == "done");
        let now = if *kind == "payment" { api.payment(of) } else { payout_now(api, of) };
        let status = now["status"].as_str().expect("text").to_lowercase();
        match status.as_str() {
            "completed" => assert!(is_done, "{now} {at_bank:?}"),
            "failed" => assert!(!is_done, "{now} {at_bank:?}"),
            _ => {
                assert!(riddles.contains(&amount.as_str()), "{now} is nobody's riddle");
                continue;
            }
        }
        settled += 1;
    }
    assert!(settled > 10 && !riddles.is_empty(), "{settled} settled, {} open", riddles.len());
}
