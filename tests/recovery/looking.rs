//! Looking into the log: everything about one thing, and what changed between two moments.

use crate::harness::check::{list, text};
use crate::harness::flows::UNKNOWN;
use crate::harness::server::Server;
use crate::{fails, objects, succeeds};
use serde_json::{Value, json};

fn types(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| text(line, "type")).collect()
}

fn postings(line: &Value) -> Vec<&str> {
    list(line, "postings").iter().filter_map(Value::as_str).collect()
}

#[test]
fn everything_about_one_thing_in_order_with_its_money() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let merchant = api.merchant();
    api.fund("100.00");
    let sale = api.pay(5);
    api.reverse(&sale).expect(200);
    let failed = api.payout(&merchant, "10.04", json!({})).expect(201);
    let lines = objects(&succeeds(&server, &["wal", "explain", "--json", text(&sale, "paymentId")]));
    assert_eq!(
        types(&lines),
        [
            "payment.requested",
            "payment.charging",
            "payment.completed",
            "payment.reversal_begun",
            "payment.reversed",
            "total"
        ]
    );
    assert!(
        lines
            .iter()
            .all(|line| line["seq"].is_number() && line["time"].is_string() && line["entity"].is_string())
    );
    assert!(lines.is_sorted_by_key(|line| line["seq"].as_u64()));
    assert!(postings(&lines[2]).contains(&"tenant 1000.00 VES payment"), "{}", lines[2]);
    assert!(postings(&lines[5]).contains(&"tenant 0.00 VES"), "all of it went back: {}", lines[5]);
    let movement =
        api.movements().iter().find(|row| row["type"] == "reversal").expect("a movement")["id"].clone();
    let lines = objects(&succeeds(&server, &["wal", "explain", "--json", movement.as_str().expect("an id")]));
    assert_eq!(types(&lines), ["payment.reversed", "total"]);
    assert!(postings(&lines[0]).contains(&"tenant -1000.00 VES reversal"), "{}", lines[0]);
    // The ids of operations at the bank and of events find the same.
    let waiting = api.payout(&merchant, "10.05", json!({})).expect(202);
    let lines = objects(&succeeds(&server, &["wal", "explain", "--json", text(&waiting, "operationId")]));
    assert_eq!(types(&lines)[0], "payout.created");
    assert!(postings(&lines[0]).contains(&"tenant -10.05 VES payout"), "{}", lines[0]);
    let event = api
        .walk("/v1/events", &[], 100)
        .into_iter()
        .find(|event| event["event"] == "payment.completed")
        .expect("an event");
    let lines = objects(&succeeds(&server, &["wal", "explain", "--json", text(&event, "id")]));
    assert_eq!(types(&lines), ["payment.completed", "total"]);
    assert!(postings(&lines[0]).contains(&"tenant 1000.00 VES payment"), "{}", lines[0]);
    let lines = objects(&succeeds(&server, &["wal", "explain", "--json", text(&failed, "payoutId")]));
    assert_eq!(types(&lines), ["payout.created", "payout.failed", "total"]);
    // The seller's own history has its payouts in it.
    let lines = objects(&succeeds(&server, &["wal", "explain", "--json", text(&merchant, "merchantId")]));
    assert!(
        types(&lines).starts_with(&["merchant.created"]) && types(&lines).contains(&"payout.failed"),
        "{:?}",
        types(&lines)
    );
    let lines = objects(&succeeds(&server, &["wal", "explain", "--json", &tenant.id]));
    assert!(types(&lines).contains(&"platform.changed"));
    let words = succeeds(&server, &["wal", "explain", text(&sale, "paymentId")]);
    assert!(words.lines().last().is_some_and(|last| last.starts_with("5 records; in all")), "{words}");
    assert!(fails(&server, &["wal", "explain", UNKNOWN]).contains("nothing in this log"));
    assert!(fails(&server, &["wal", "explain", "nonsense"]).contains("no id"));
}

#[test]
fn wrong_codes_are_told_without_the_codes() {
    let server = Server::start();
    let api = server.tenant().test;
    let payment = api.cop(50_000, "sms");
    for _ in 0..5 {
        api.cop_otp(&payment, "654321").refused(400, "invalid_otp");
    }
    let id = text(&payment, "id");
    let lines = objects(&succeeds(&server, &["wal", "explain", "--json", id]));
    let told: Vec<&str> = lines.iter().filter_map(|line| line["wrongCode"].as_str()).collect();
    let expected = ["1 of 5", "2 of 5", "3 of 5", "4 of 5", "5 of 5; attempt void"];
    assert_eq!(told, expected.map(|count| format!("wrong code, {count}")));
    let words = succeeds(&server, &["wal", "explain", id]);
    assert!(
        words.contains("  wrong code, 2 of 5\n") && words.contains("  wrong code, 5 of 5; attempt void"),
        "{words}"
    );
    assert!(!words.contains("654321"));
}

#[test]
fn of_a_batch_only_its_own_part_is_shown() {
    let server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let method = &list(&merchant, "payoutMethods")[0]["payoutMethodId"];
    let item = |n: u32| json!({ "externalRef": format!("b-{n}"), "merchantId": merchant["merchantId"], "payoutMethodId": method, "monto": format!("{n}.00"), "concepto": "pago" });
    let batch = api
        .post("/v1/payouts/batch", &json!({ "externalRef": "batch", "items": [item(1), item(2)] }))
        .expect(201);
    let second = &list(&batch, "items")[1];
    let movement =
        api.movements().into_iter().find(|row| row["payoutId"] == second["payoutId"]).expect("its movement");
    // An operation at a bank has the number of the operation in the place of the last zeros.
    let operation = format!("{}0001", text(second, "payoutId").strip_suffix("0000").expect("an entity's id"));
    for id in [text(second, "payoutId"), &operation, text(&movement, "id")] {
        let lines = objects(&succeeds(&server, &["wal", "explain", "--json", id]));
        assert_eq!(postings(&lines[0]), ["tenant -2.00 VES payout"], "{id}");
    }
}

#[test]
fn what_changed_between_two_moments() {
    let server = Server::start();
    let api = server.tenant().test;
    let before = api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "100.00" })).wal_seq();
    api.pay(5);
    let after = api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).wal_seq();
    api.fund("7.00");
    let lines =
        objects(&succeeds(&server, &["wal", "diff", "--json", &before.to_string(), &after.to_string()]));
    let balance = |entity: &str| {
        lines
            .iter()
            .find(|line| line["type"] == "balance" && line["entity"] == entity)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(
        balance("tenant")["net"],
        json!({ "before": "100.00", "after": "1086.00", "change": "986.00" })
    );
    assert_eq!(balance("tenant")["held"], json!({ "before": "0.00", "after": "985.00", "change": "985.00" }));
    assert_eq!(balance("fees")["net"]["change"], "15.00");
    assert_eq!(
        types(&lines).iter().filter(|kind| **kind != "balance").copied().collect::<Vec<_>>(),
        ["payment.completed", "balance.funded"]
    );
    assert!(succeeds(&server, &["wal", "diff", &after.to_string(), &after.to_string()]).is_empty());
    assert!(fails(&server, &["wal", "diff", &after.to_string(), &before.to_string()]).contains("earlier"));
    assert!(fails(&server, &["wal", "diff", "0", "99999"]).contains("the log ends"));
}

#[test]
fn a_book_has_older_snapshots_too() {
    let server = Server::start();
    let api = server.tenant().test;
    for _ in 0..2 {
        api.fund("1.00");
        server.admin().act("/admin/snapshot").expect(200);
    }
    let info: Value = serde_json::from_str(&succeeds(&server, &["wal", "info", "--json"])).expect("JSON");
    let number = |name: &str| info[name].as_u64().expect("a number");
    let (snapshots, books) = (number("snapshots"), number("snapshotTenants"));
    assert!(snapshots > books, "{info}");
    let words = succeeds(&server, &["wal", "info"]);
    assert!(
        words.contains(&format!("snapshots       {snapshots}, the older ones included, for {books} books")),
        "{words}"
    );
}
