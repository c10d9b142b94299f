//! The faults, one by one, as a caller meets them, and what the books say of each.

use crate::program::{Sandbox, reply};
use crate::r4_client::*;
use serde_json::{Value, json};
use std::io::Read;
use std::time::{Duration, Instant};

struct Faulty {
    _data: tempfile::TempDir,
    sandbox: Sandbox,
}

fn with(fault: Value) -> Faulty {
    let data = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::start("r4", data.path(), &[]);
    sandbox.faults(json!([fault]));
    Faulty { _data: data, sandbox }
}

impl Faulty {
    /// Sends a charge of ten, and returns everything that comes back.
    fn charge(&self) -> Vec<u8> {
        self.sandbox.exchange(&signed_request("MBc2p", &c2p("10.00", "12345678")))
    }

    fn charged(&self) -> String {
        self.sandbox.books()["totals"]["charged"].as_str().expect("a total").to_owned()
    }

    /// Hangs up on a bank that stays silent, once it has noted the call.
    fn silence(&self) {
        let mut stream = self.sandbox.send(&signed_request("MBc2p", &c2p("10.00", "12345678")));
        self.sandbox.until(|sandbox| (sandbox.get("/sandbox/calls")["count"] != json!(0)).then_some(()));
        stream.set_read_timeout(Some(Duration::from_millis(150))).expect("a time limit");
        stream.read(&mut [0; 1]).expect_err("silence");
    }
}

#[test]
fn late_is_done_at_once_and_answered_later() {
    let faulty = with(json!({"fault": "late", "ms": 400}));
    let began = Instant::now();
    let stream = faulty.sandbox.send(&signed_request("MBc2p", &c2p("10.00", "12345678")));
    faulty.sandbox.until(|_| (faulty.charged() == "10.00").then_some(()));
    let mut answer = Vec::new();
    (&stream).read_to_end(&mut answer).expect("an answer");
    assert!(began.elapsed() >= Duration::from_millis(400));
    assert_eq!(reply(answer).body["code"], "00");
}

#[test]
fn acts_late_is_done_though_the_caller_hung_up() {
    let faulty = with(json!({"fault": "acts_late", "ms": 300}));
    let stream = faulty.sandbox.send(&signed_request("MBc2p", &c2p("10.00", "12345678")));
    // The rule has counted the call, so it is under way.
    faulty
        .sandbox
        .until(|sandbox| (sandbox.get("/sandbox/faults")["faults"][0]["fired"] == json!(1)).then_some(()));
    assert_eq!(faulty.charged(), "0.00");
    drop(stream);
    faulty.sandbox.until(|_| (faulty.charged() == "10.00").then_some(()));
}

#[test]
fn silent_before_and_after() {
    let before = with(json!({"fault": "silent_before"}));
    before.silence();
    assert_eq!(before.charged(), "0.00");
    let after = with(json!({"fault": "silent_after"}));
    after.silence();
    assert_eq!(after.charged(), "10.00");
}

#[test]
fn dropped_before_and_after() {
    let before = with(json!({"fault": "drop_before"}));
    assert_eq!(before.charge(), b"");
    assert_eq!(before.charged(), "0.00");
    let after = with(json!({"fault": "drop_after"}));
    assert_eq!(after.charge(), b"");
    assert_eq!(after.charged(), "10.00");
}

#[test]
fn twice_is_one_charge_and_two_answers() {
    let faulty = with(json!({"fault": "twice"}));
    let text = String::from_utf8(faulty.charge()).expect("text");
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");
    assert_eq!(text.matches("\"00000001\"").count(), 2, "{text}");
    assert_eq!(faulty.charged(), "10.00");
}

#[test]
fn garbage_noise_cut_and_drip() {
    let garbage = with(json!({"fault": "garbage"}));
    let answer = reply(garbage.charge());
    assert_eq!((answer.status, answer.body), (200, Value::Null));
    assert_eq!(garbage.charged(), "10.00");
    let noise = with(json!({"fault": "noise"}));
    assert!(!noise.charge().starts_with(b"HTTP/"));
    assert_eq!(noise.charged(), "10.00");
    let cut = with(json!({"fault": "cut"}));
    let bytes = cut.charge();
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let length: usize = head.rsplit_once("content-length: ").expect("a length").1.parse().expect("a number");
    assert!(body.len() < length && !body.is_empty(), "{text}");
    assert_eq!(cut.charged(), "10.00");
    let drip = with(json!({"fault": "drip", "ms": 2}));
    let began = Instant::now();
    let bytes = drip.charge();
    assert!(began.elapsed() >= Duration::from_millis(2 * bytes.len() as u64));
    assert_eq!(reply(bytes).body["code"], "00");
}

#[test]
fn unauthorized_errors_and_answers_with_or_without_acting() {
    let cases = [
        (json!({"fault": "unauthorized"}), 401, json!("08"), "0.00"),
        (json!({"fault": "error"}), 503, Value::Null, "0.00"),
        (json!({"fault": "error", "status": 500, "acted": true}), 500, Value::Null, "10.00"),
        (json!({"fault": "answer", "body": {"code": "68"}}), 200, json!("68"), "0.00"),
        (json!({"fault": "answer", "status": 302, "body": {}, "acted": true}), 302, Value::Null, "10.00"),
    ];
    for (fault, status, code, charged) in cases {
        let faulty = with(fault.clone());
        let answer = reply(faulty.charge());
        assert_eq!((answer.status, &answer.body["code"]), (status, &code), "{fault}");
        assert_eq!(faulty.charged(), charged, "{fault}");
    }
}

#[test]
fn answers_are_altered() {
    let faulty = with(json!({"fault": "alter", "set": {"reference": null, "message": "otro"}}));
    let answer = reply(faulty.charge());
    assert_eq!(answer.body, json!({"code": "00", "message": "otro"}));
    assert_eq!(faulty.charged(), "10.00");
}

#[test]
fn a_bank_contradicts_its_books_and_itself() {
    let faulty = with(json!({"fault": "contradict", "operation": "MBc2p"}));
    let answer = reply(faulty.charge());
    assert_eq!(answer.body["code"], "51");
    assert!(answer.body["reference"].is_null());
    assert_eq!(faulty.charged(), "10.00");
    let sandbox = &faulty.sandbox;
    let refused = call(sandbox, "MBc2p", &c2p("7.00", "99999999"));
    assert_eq!((&refused.body["code"], &refused.body["reference"]), (&json!("00"), &json!("99999999")));
    assert_eq!(faulty.charged(), "10.00");

    sandbox.faults(json!([{"fault": "contradict", "operation": "ConsultarOperaciones", "skip": 1}]));
    let id = json!({"Id": call(sandbox, "DebitoInmediato", &debit("5.00", "77777777")).body["id"]});
    let codes = || call(sandbox, "ConsultarOperaciones", &id).body["code"].clone();
    assert_eq!([codes(), codes()], [json!("ACCP"), json!("AM04")]);
    assert_eq!(faulty.charged(), "15.00");
}

#[test]
fn rules_choose_their_calls_and_say_how_often() {
    let faulty = with(json!({"fault": "error"}));
    let sandbox = &faulty.sandbox;
    sandbox.faults(json!([
        {"fault": "error", "status": 500, "operation": "MBc2p", "first": 1},
        {"fault": "error", "status": 501, "path": "/R4c2p"},
        {"fault": "error", "status": 502, "match": {"Monto": "10.00"}, "every": 2},
    ]));
    let fields = c2p("10.00", "12345678");
    let status = |name: &str, fields: &Value| call(sandbox, name, fields).status;
    assert_eq!(status("R4c2p", &fields), 500, "the operation has one name in both families");
    assert_eq!(status("R4c2p", &fields), 501);
    assert_eq!([status("MBc2p", &fields), status("MBc2p", &fields)], [200, 502]);
    assert_eq!(status("MBc2p", &c2p("11.00", "12345678")), 200);
    assert_eq!(status("MBvuelto", &change("10.00")), 200);
    let rules = sandbox.get("/sandbox/faults")["faults"].clone();
    assert_eq!([&rules[0]["fired"], &rules[1]["fired"], &rules[2]["fired"]], [&json!(1); 3]);
    assert_eq!(rules[2]["seen"], 3);
    let calls = sandbox.get("/sandbox/calls");
    let faults: Vec<&Value> =
        calls["calls"].as_array().expect("calls").iter().map(|call| &call["fault"]).collect();
    assert_eq!(json!(faults), json!(["error", "error", null, "error", null, null]));

    let refused = sandbox.post("/sandbox/faults", &json!({"faults": [{"fault": "tired"}]}));
    assert_eq!(refused.status, 400);
    assert!(refused.body["problem"].as_str().expect("a text").contains("faults[0]"), "{refused:?}");
    sandbox.faults(json!([]));
    assert_eq!(status("R4c2p", &fields), 200);
}

#[test]
fn faults_come_from_a_file() {
    let data = tempfile::tempdir().expect("a folder");
    let file = data.path().join("faults.json");
    std::fs::write(&file, json!({"faults": [{"fault": "error"}]}).to_string()).expect("written");
    let option = file.to_str().expect("a path");
    let sandbox = Sandbox::start("r4", data.path(), &["--faults", option]);
    assert_eq!(call(&sandbox, "MBc2p", &c2p("10.00", "12345678")).status, 503);
    std::fs::write(&file, "[]").expect("written");
    drop(sandbox);
    let refused = crate::program::command("r4", data.path(), &["--faults", option]).output().expect("it ran");
    assert!(!refused.status.success());
}
