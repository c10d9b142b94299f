//! The tools that an operator uses after a crash: `pasarela wal info`, `inspect` and `verify`,
//! beside a running server, on the directory that a killed one left, and on a log with a damaged
//! byte.

use crate::harness::check::text;
use crate::harness::server::Server;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn wal(data: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pasarela"))
        .arg("wal")
        .args(arguments)
        .arg("--data-dir")
        .arg(data)
        .output()
        .expect("the command runs")
}

#[track_caller]
fn succeeds(data: &Path, arguments: &[&str]) -> String {
    let output = wal(data, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A server with money in, held, out and back, in snapshots and after them.
fn busy() -> Server {
    let server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "300.00", "held": true })).expect(201);
    api.fund("100.00");
    api.pay(10);
    server.admin().act("/admin/snapshot").expect(200);
    api.advance(3600);
    let sale = api.pay(5);
    api.reverse(&sale).expect(200);
    for monto in ["10.00", "10.04"] {
        api.payout(&merchant, monto, json!({})).expect(201);
    }
    server
}

#[test]
fn they_find_a_good_log_good_beside_the_server_and_after_it_was_killed() {
    let mut server = busy();
    let last =
        server.tenant().test.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).wal_seq();
    for killed in [false, true] {
        if killed {
            server.kill();
        }
        let info: Value = serde_json::from_str(&succeeds(&server.data(), &["info", "--json"])).expect("JSON");
        assert_eq!(
            (info["firstSeq"].as_u64(), info["lastSeq"].as_u64(), info["records"].as_u64()),
            (Some(1), Some(last), Some(last)),
            "{info}"
        );
        assert!(info["snapshots"].as_u64().is_some_and(|snapshots| snapshots > 0), "{info}");
        let lines: Vec<Value> = succeeds(&server.data(), &["inspect", "--json"])
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert!(
            lines.iter().enumerate().all(|(n, line)| line["seq"].as_u64() == Some(n as u64 + 1)),
            "every record, in order"
        );
        assert!(
            ["payout.failed", "payment.reversed"]
                .iter()
                .all(|kind| lines.iter().any(|line| text(line, "type") == *kind))
        );
        assert!(succeeds(&server.data(), &["verify"]).starts_with(&format!("ok: {last} records")));
    }
    let some = succeeds(&server.data(), &["inspect", "--from", "2", "--to", "3"]);
    assert_eq!(some.lines().count(), 2);
}

#[test]
fn they_refuse_a_log_with_a_damaged_byte() {
    let mut server = busy();
    server.kill();
    let files = fs::read_dir(server.data().join("log")).expect("the log").flatten().map(|entry| entry.path());
    // Without the zeros ahead of its end.
    let written = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let newest = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .max_by_key(|path| written(&fs::read(path).expect("readable")));
    let newest = newest.expect("a file of the log");
    let mut bytes = fs::read(&newest).expect("readable");
    let middle = written(&bytes) / 2;
    bytes[middle] ^= 0x01;
    fs::write(&newest, bytes).expect("writable");
    for command in ["info", "verify"] {
        let output = wal(&server.data(), &[command]);
        assert_eq!(output.status.code(), Some(1), "{command}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(!output.stderr.is_empty(), "{command} says why");
    }
}
