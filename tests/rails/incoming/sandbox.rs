//! The sandbox of R4 in the bank's place: customers transfer there, and it tells the gateway.

use super::{again, day, live, notices, server, verification, verify};
use crate::harness::server::Server;
use crate::sandbox_process::SandboxProcess;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

/// The sandbox of R4 as this gateway's bank.
struct Sandbox(SandboxProcess);

impl Sandbox {
    fn start(gateway: &Server, data: &Path) -> Sandbox {
        let arguments = ["--gateway", &gateway.url(), "--callback-uuid", super::UUID];
        let known = ["--commerce-phone", super::OURS, "--commerce-token", "token"];
        Sandbox(SandboxProcess::start("r4", &[arguments, known].concat(), data))
    }

    /// A customer transfers; whether the gateway took the notices of it.
    fn transfer(&self, transfer: &Value) -> Vec<bool> {
        let sent = self.0.developers().post("/sandbox/transfer", transfer);
        let sent = sent.expect(200);
        let replies = sent["sent"].as_array().expect("replies");
        replies
            .iter()
            .map(|reply| reply["answer"]["abono"] == true || reply["answer"]["status"] == true)
            .collect()
    }
}

#[test]
fn the_sandbox_tells_of_transfers_and_says_the_rate() {
    let mut server = server(&[]);
    let data = tempfile::tempdir().expect("a folder");
    let bank = Sandbox::start(&server, data.path());
    let tenant = live(&server);
    let transfer = |over: Value| {
        let transfer =
            json!({ "phone": "04141234567", "bank": "0134", "amount": "2000.00", "concept": "pago" });
        crate::harness::flows::merged(transfer, over)
    };
    assert_eq!(bank.transfer(&transfer(json!({ "reference": "00777111" }))), [true]);
    assert_eq!(bank.transfer(&transfer(json!({ "reference": "00777222", "call": "MBconsulta" }))), [true]);
    // The bank asks first whether this payer is known; our phone is asked for too.
    assert_eq!(
        bank.transfer(&transfer(json!({ "reference": "00777333", "document": "V12345678" }))),
        [true, true]
    );
    assert_eq!(bank.transfer(&transfer(json!({ "reference": "00777111" }))), [true], "again");
    assert_eq!(bank.transfer(&transfer(json!({ "reference": "00777444", "code": "51" }))), [false]);
    assert_eq!(notices(&server, "?unmatched=true").len(), 3);
    for reference in ["777111", "777222", "777333"] {
        let paid = verify(&tenant.live, &again(&verification(reference), json!({}))).expect(201);
        assert_eq!(paid["status"], "COMPLETED", "{paid}");
    }
    assert_eq!(
        verify(&tenant.live, &verification("777444")).expect(201)["failureCode"],
        "reference_not_found"
    );
    assert_eq!(notices(&server, "?unmatched=true"), Vec::<Value>::new());
    // The same bank says the rate.
    server.kill();
    server.set("PASARELA__RAILS__R4__BASE_URL", &bank.0.url);
    server.restart();
    let deadline = Instant::now() + Duration::from_secs(20);
    let rate = loop {
        let quote = tenant.test.query("/v1/quote", &[("usdAmount", "10")]).expect(200);
        let rate = quote["sources"]["bank"].clone();
        if rate["error"].is_null() {
            break rate;
        }
        assert!(Instant::now() < deadline, "{rate}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(rate["bcvRate"].to_string(), "200.1234");
    let days: Vec<Value> = (0..4).map(|ago| json!(day(ago).to_string())).collect();
    assert!(days.contains(&rate["fechavalor"]), "{rate}");
}
