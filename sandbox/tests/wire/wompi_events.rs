//! Events: their checksum, when they are sent, that they are sent again, faults of them.

use crate::gateway::{Gateway, Received};
use crate::program::Sandbox;
use crate::wompi_client::*;
use serde_json::{Value, json};
use std::path::Path;

fn start(data: &Path, gateway: &Gateway, options: &[&str]) -> Sandbox {
    let common = ["--gateway", &gateway.url, "--settle-ms", "0", "--event-retry-seconds", "0,0"];
    Sandbox::start("wompi", data, &[&common, options].concat())
}

fn received(sandbox: &Sandbox, gateway: &Gateway, count: usize) -> Vec<Received> {
    sandbox.until(|_| Some(gateway.received()).filter(|received| received.len() >= count))
}

/// The checksum that an event should have, by its own properties.
fn checksum(event: &Value) -> String {
    let properties = event["signature"]["properties"].as_array().expect("properties");
    let value = |path: &Value| {
        let value =
            path.as_str().expect("a path").split('.').fold(&event["data"], |value, name| &value[name]);
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    };
    let values: String = properties.iter().map(value).collect();
    sha256(&format!("{values}{}{EVENTS}", event["timestamp"]))
}

#[test]
fn an_event_is_signed_over_its_properties() {
    let (data, gateway) = (tempfile::tempdir().expect("a folder"), Gateway::start(&[(200, json!({}))]));
    let options = ["--event-properties", "transaction.amount_in_cents,transaction.status,transaction.id"];
    let sandbox = start(data.path(), &gateway, &options);
    let id = created(&sandbox, "ref-1", nequi("3991111111"));
    let event = received(&sandbox, &gateway, 1).remove(0);
    assert_eq!(event.path, "/rails/wompi/events");
    let body = event.json();
    assert_eq!(
        (&body["event"], &body["data"]["transaction"]["id"]),
        (&json!("transaction.updated"), &json!(id))
    );
    assert_eq!(body["data"]["transaction"]["status"], "APPROVED");
    assert_eq!(body["signature"]["properties"][0], "transaction.amount_in_cents");
    let signed = body["signature"]["checksum"].as_str().expect("a checksum");
    assert_eq!(signed, checksum(&body).to_uppercase());
    assert_eq!(event.header("x-event-checksum"), signed);
    sandbox.until(|sandbox| {
        (sandbox.books()["transactions"][0]["events_taken"] == json!(["APPROVED"])).then_some(())
    });
}

/// The checksum of the example in Wompi's documents, which prints another one.
#[test]
fn the_checksum_is_that_of_the_documented_inputs() {
    let secret = "prod_events_OcHnIzeBl5socpwByQ4hA52Em3USQ93Z";
    let inputs = format!("1234-1610641025-49201APPROVED44900001530291411{secret}");
    assert_eq!(sha256(&inputs), "5a18ec5e8fdb7df463e9f94774cba8f583ba21bd04a09ceff2ea68a4bc0aefbe");
}

#[test]
fn events_are_sent_until_one_is_taken_and_after_a_restart() {
    let (data, gateway) =
        (tempfile::tempdir().expect("a folder"), Gateway::start(&[(500, json!({})), (200, json!({}))]));
    let sandbox = start(data.path(), &gateway, &[]);
    created(&sandbox, "ref-1", nequi("3991111111"));
    received(&sandbox, &gateway, 2);
    gateway.answers(503, json!({}));
    created(&sandbox, "ref-2", nequi("3992222222"));
    received(&sandbox, &gateway, 5);
    sandbox.kill();
    gateway.answers(200, json!({}));
    let sandbox = start(data.path(), &gateway, &[]);
    let last = received(&sandbox, &gateway, 6).remove(5).json();
    assert_eq!(last["data"]["transaction"]["reference"], "ref-2", "the first one was taken");
    assert_eq!(last["data"]["transaction"]["status"], "DECLINED");
    let is_taken =
        |sandbox: &Sandbox| sandbox.books()["transactions"][1]["events_taken"] == json!(["DECLINED"]);
    sandbox.until(|sandbox| is_taken(sandbox).then_some(()));
    assert_eq!(gateway.received().len(), 6);
}

#[test]
fn events_meet_faults_and_are_sent_by_hand() {
    let (data, gateway) = (tempfile::tempdir().expect("a folder"), Gateway::start(&[(200, json!({}))]));
    let sandbox = start(data.path(), &gateway, &[]);
    let id = created(&sandbox, "ref-1", nequi("3991111111"));
    received(&sandbox, &gateway, 1);
    let sent = |fault: Value, event: Value| {
        sandbox.faults(fault);
        let before = gateway.received().len();
        assert_eq!(sandbox.post("/sandbox/events", &event).status, 200);
        gateway.received().split_off(before)
    };
    let event = json!({"id": id});
    assert_eq!(sent(json!([{"fault": "twice", "operation": "event"}]), event.clone()).len(), 2);
    assert_eq!(sent(json!([{"fault": "silent_before", "operation": "event"}]), event.clone()).len(), 0);
    let forged = sent(json!([{"fault": "unauthorized", "operation": "event"}]), event.clone())[0].json();
    assert_ne!(forged["signature"]["checksum"], json!(checksum(&forged).to_uppercase()));
    assert_eq!(
        sent(json!([{"fault": "garbage", "operation": "event"}]), event.clone())[0].json(),
        Value::Null
    );
    let set = json!({"transaction.amount_in_cents": 1});
    let altered = sent(json!([{"fault": "alter", "operation": "event", "set": set}]), event)[0].json();
    assert_eq!(altered["data"]["transaction"]["amount_in_cents"], 1);
    assert_eq!(
        altered["signature"]["checksum"],
        json!(checksum(&altered).to_uppercase()),
        "altered before it is signed"
    );
    let early = sent(json!([]), json!({"id": id, "status": "DECLINED"}))[0].json();
    assert_eq!(early["data"]["transaction"]["status"], "DECLINED");
    assert_eq!(read(&sandbox, &id)["status"], "APPROVED");
}
