//! Wompi's events: their checksum, and the transactions that nobody knows.

use super::{EVENTS_SECRET, notices, server};
use crate::harness::client::Api;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn event(id: &str, status: &str, properties: &[&str]) -> Value {
    let data = json!({ "transaction": {
        "id": id, "status": status, "amount_in_cents": 2_000_000, "reference": format!("ref-{id}"), "currency": "COP",
    }});
    let signed: String = properties
        .iter()
        .map(|path| match data.pointer(&format!("/{}", path.replace('.', "/"))) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        })
        .collect();
    let checksum = hex::encode(Sha256::digest(format!("{signed}1795435200{EVENTS_SECRET}")));
    json!({
        "event": "transaction.updated", "data": data, "environment": "test", "timestamp": 1_795_435_200,
        "signature": { "properties": properties, "checksum": checksum }, "sent_at": "2026-11-23T12:00:00.000Z",
    })
}

const THREE: [&str; 3] = ["transaction.id", "transaction.status", "transaction.amount_in_cents"];

fn send(api: &Api, event: &Value) -> u16 {
    api.post("/rails/wompi/events", event).status
}

#[test]
fn unknown_transactions_are_listed_once() {
    let server = server(&[]);
    let wompi = server.nobody();
    let first = event("11-1", "APPROVED", &THREE);
    for _ in 0..3 {
        assert_eq!(send(&wompi, &first), 200);
    }
    assert_eq!(send(&wompi, &event("11-1", "PENDING", &THREE)), 200, "also out of order");
    let mut upper = event("11-2", "DECLINED", &["transaction.status", "transaction.id"]);
    upper["signature"]["checksum"] =
        json!(upper["signature"]["checksum"].as_str().expect("a text").to_uppercase());
    assert_eq!(send(&wompi, &upper), 200);
    let listed = notices(&server, "?unmatched=true");
    let seen: Vec<_> = listed.iter().map(|item| (&item["rail"], &item["transactionId"])).collect();
    assert_eq!(seen, [(&json!("wompi"), &json!("11-2")), (&json!("wompi"), &json!("11-1"))]);
    assert_eq!(listed[1]["reference"], "ref-11-1");
    assert_eq!(notices(&server, ""), listed);
}

#[test]
fn forged_events_are_refused() {
    let server = server(&[]);
    let wompi = server.nobody();
    let mut forged = event("12-1", "APPROVED", &THREE);
    forged["data"]["transaction"]["amount_in_cents"] = json!(1);
    assert_eq!(send(&wompi, &forged), 401);
    let mut unsigned = event("12-1", "APPROVED", &THREE);
    unsigned.as_object_mut().expect("an object").remove("signature");
    assert_eq!(send(&wompi, &unsigned), 401);
    assert_eq!(send(&wompi, &event("12-1", "APPROVED", &[])), 401, "signs nothing");
    assert_eq!(send(&wompi, &json!([])), 400);
    let mut long = event("12-1", "APPROVED", &THREE);
    long["filler"] = json!("x".repeat(64 << 10));
    assert_eq!(send(&wompi, &long), 413);
    assert_eq!(notices(&server, ""), Vec::<Value>::new());
    // However many were forged, each is refused as the first was, and a right one is taken.
    assert!((0..80).all(|_| send(&wompi, &forged) == 401));
    assert_eq!(send(&wompi, &event("12-1", "APPROVED", &THREE)), 200);
    assert_eq!(notices(&server, "").len(), 1);
}
