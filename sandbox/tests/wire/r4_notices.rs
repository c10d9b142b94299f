//! Notices of transfers: the nine fields, the question before, faults of what is sent.

use crate::gateway::Gateway;
use crate::program::Sandbox;
use serde_json::{Value, json};

const UUID: &str = "5a4d2b0e-0c1f-4a57-9d0a-7f6a1c3b9e21";

fn start(answers: &[(u16, Value)]) -> (tempfile::TempDir, Sandbox, Gateway) {
    let data = tempfile::tempdir().expect("a folder");
    let gateway = Gateway::start(answers);
    let sandbox = Sandbox::start("r4", data.path(), &["--gateway", &gateway.url]);
    (data, sandbox, gateway)
}

fn transfer() -> Value {
    json!({
        "phone": "04147654321", "bank": "0134", "amount": "120.50", "reference": "00012345",
        "at": "2026-01-31T12:00:00Z", "concept": "Pedido 17",
    })
}

#[test]
fn a_transfer_is_noticed_with_nine_fields_under_the_uuid() {
    let (data, sandbox, gateway) = start(&[(200, json!({"abono": true}))]);
    let made = sandbox.post("/sandbox/transfer", &transfer());
    assert_eq!((made.status, &made.body["reference"]), (200, &json!("00012345")), "{made:?}");
    assert_eq!(made.body["sent"][0]["answer"], json!({"abono": true}));
    let received = gateway.received();
    assert_eq!((received.len(), received[0].path.as_str()), (1, "/rails/r4/R4notifica"));
    assert_eq!(
        (received[0].header("authorization"), received[0].header("content-type")),
        (UUID, "application/json")
    );
    let expected = json!({
        "IdComercio": "00000001", "TelefonoComercio": "04129990000", "TelefonoEmisor": "04147654321",
        "Concepto": "Pedido 17", "BancoEmisor": "134", "Monto": "120.50", "FechaHora": "2026-01-31T12:00:00Z",
        "Referencia": "00012345", "CodigoRed": "00",
    });
    assert_eq!(received[0].json(), expected);
    drop(sandbox);
    let sandbox = Sandbox::start("r4", data.path(), &["--gateway", &gateway.url]);
    let books = sandbox.books();
    assert_eq!(
        (&books["totals"]["received"], &books["transfers"][0]["notices"][0]["accepted"]),
        (&json!("120.50"), &json!(true))
    );
}

#[test]
fn the_merchant_is_asked_first_where_the_payer_is_known() {
    let (_data, sandbox, gateway) = start(&[
        (200, json!({"status": true})),
        (200, json!({"abono": true})),
        (200, json!({"status": false})),
    ]);
    let mut known = transfer();
    known["document"] = json!("V12345678");
    known["call"] = json!("MBconsulta");
    assert_eq!(sandbox.post("/sandbox/transfer", &known).body["accepted"], true);
    known["reference"] = json!("2");
    let refused = sandbox.post("/sandbox/transfer", &known);
    assert_eq!((&refused.body["accepted"], &refused.body["reference"]), (&json!(false), &Value::Null));
    let paths: Vec<String> = gateway.received().into_iter().map(|received| received.path).collect();
    assert_eq!(paths, ["/rails/r4/R4consulta", "/rails/r4/MBconsulta", "/rails/r4/R4consulta"]);
    let question = json!({"IdCliente": "12345678", "Monto": "120.50", "TelefonoComercio": "04129990000"});
    assert_eq!(gateway.received()[0].json(), question);
    assert_eq!(sandbox.books()["totals"]["received"], "120.50", "the refused transfer did not take place");
}

#[test]
fn the_same_transfer_is_noticed_again_and_counted_once() {
    let (_data, sandbox, gateway) = start(&[(200, json!({"abono": true}))]);
    for _ in 0..2 {
        assert_eq!(sandbox.post("/sandbox/transfer", &transfer()).status, 200);
    }
    assert_eq!(gateway.received().len(), 2);
    assert_eq!(sandbox.books()["totals"]["received"], "120.50");
    let mut other = transfer();
    other["amount"] = json!("120.51");
    assert_eq!(sandbox.post("/sandbox/transfer", &other).status, 409);
}

#[test]
fn references_that_end_in_zeros_are_never_noticed() {
    let (_data, sandbox, gateway) = start(&[(200, json!({"abono": true}))]);
    let mut unnoticed = transfer();
    unnoticed["reference"] = json!("12340000");
    assert_eq!(sandbox.post("/sandbox/transfer", &unnoticed).status, 200);
    assert!(gateway.received().is_empty());
    assert_eq!(sandbox.books()["totals"]["received"], "120.50");
    let free = json!({"phone": "04147654321", "bank": "0134", "amount": "1.00"});
    let made = sandbox.post("/sandbox/transfer", &free);
    assert!(
        made.body["reference"].as_str().is_some_and(|reference| !reference.ends_with("0000")),
        "{made:?}"
    );
}

#[test]
fn notices_meet_faults_of_their_own() {
    let (_data, sandbox, gateway) = start(&[(200, json!({"abono": true}))]);
    let times = |fault: Value| {
        sandbox.faults(json!([fault]));
        let before = gateway.received().len();
        assert_eq!(sandbox.post("/sandbox/transfer", &transfer()).status, 200);
        gateway.received().split_off(before)
    };
    assert_eq!(times(json!({"fault": "twice", "operation": "R4notifica"})).len(), 2);
    assert_eq!(times(json!({"fault": "silent_before", "operation": "R4notifica"})).len(), 0);
    let stranger = times(json!({"fault": "unauthorized", "operation": "R4notifica"}));
    assert_ne!(stranger[0].header("authorization"), UUID);
    assert_eq!(times(json!({"fault": "garbage", "operation": "R4notifica"}))[0].json(), Value::Null);
    let altered = times(json!({"fault": "alter", "operation": "R4notifica", "set": {"CodigoRed": "05"}}));
    assert_eq!(altered[0].json()["CodigoRed"], "05");
    assert_eq!(times(json!({"fault": "error"})).len(), 1, "a rule without an operation is about calls");
}

#[test]
fn a_gateway_that_is_away_is_said_and_malformed_transfers_are_refused() {
    let (_data, sandbox, gateway) = start(&[(401, json!({"abono": false}))]);
    assert_eq!(sandbox.post("/sandbox/transfer", &transfer()).body["sent"][0]["status"], 401);
    gateway.answers(200, json!({"abono": true}));
    for (name, value) in [
        ("phone", "1"),
        ("bank", "134"),
        ("amount", "1"),
        ("reference", "a"),
        ("at", "now"),
        ("call", "x"),
        ("y", ""),
    ] {
        let mut bad = transfer();
        bad[name] = json!(value);
        assert_eq!(sandbox.post("/sandbox/transfer", &bad).status, 400, "{name}");
    }
    let data = tempfile::tempdir().expect("a folder");
    let alone = Sandbox::start("r4", data.path(), &[]);
    assert_eq!(alone.post("/sandbox/transfer", &transfer()).status, 409);
    let away = tempfile::tempdir().expect("a folder");
    let unanswered = Sandbox::start("r4", away.path(), &["--gateway", "http://127.0.0.1:1"]);
    let made = unanswered.post("/sandbox/transfer", &transfer());
    assert_eq!(made.body["sent"][0]["status"], Value::Null, "{made:?}");
    assert_eq!(
        unanswered.books()["totals"]["received"],
        "120.50",
        "the customer's money has moved all the same"
    );
}
