//! Questions about the past that the log answers: a tenant as it was, digests of states, two programs compared, and
//! the first record after which something holds.

use crate::harness::check::{stamp, text};
use crate::harness::client::Api;
use crate::harness::flows::UNKNOWN;
use crate::harness::server::Server;
use crate::{errors, objects, shown, succeeds};
use serde_json::{Value, json};

/// Runs a command that cannot be run: 2, one line on stderr that has these words, nothing on stdout.
#[track_caller]
fn cannot(server: &Server, arguments: &[&str], words: &str) {
    let output = server.command(arguments);
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(said.lines().count() == 1 && said.contains(words), "{arguments:?}: {said}");
}

fn last(server: &Server) -> u64 {
    server.admin().get("/admin/status").expect(200)["walSeq"].as_u64().expect("a sequence")
}

fn at(server: &Server, when: &str, tenant: &str, mode: &str) -> Value {
    let lines = objects(&succeeds(server, &["wal", "at", when, "--tenant", tenant, "--json"]));
    assert_eq!(lines.len(), 2, "{lines:?}");
    lines.into_iter().find(|line| line["mode"] == mode).expect("the mode")
}

/// What the running server answers at a moment.
struct Answered {
    seq: u64,
    balances: [Value; 3],
    open: Vec<Value>,
}

fn answered(server: &Server, api: &Api, open: &[String]) -> Answered {
    let read = |path: &str| api.get(path).expect(200);
    Answered {
        seq: last(server),
        balances: ["/v1/balance", "/v1/cop/balance", "/v1/crypto/balance"].map(read),
        open: open.iter().map(|path| read(path)).collect(),
    }
}

#[test]
fn a_tenant_at_a_sequence_is_what_the_server_answered_then() {
    let server = Server::start();
    let tenant = server.tenant();
    let (api, id) = (&tenant.test, tenant.id.as_str());
    let mut seen = vec![answered(&server, api, &[])];
    let merchant = api.merchant();
    api.fund("500.00");
    api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "70.00", "held": true })).expect(201);
    api.cop_fund("9000", true);
    seen.push(answered(&server, api, &[]));
    let sale = api.pay(5);
    seen.push(answered(&server, api, &[]));
    let intent = api.intent(3);
    let waits = format!("/v1/payments/{}", text(&intent, "intentId"));
    seen.push(answered(&server, api, &[waits.clone()]));
    let payout = api.payout(&merchant, "20.06", json!({})).expect(202);
    let paid = format!("/v1/payouts/{}", text(&payout, "payoutId"));
    let both = [waits.clone(), paid.clone()];
    seen.push(answered(&server, api, &both));
    api.reverse(&sale).expect(200);
    seen.push(answered(&server, api, &both));
    api.execute(&intent, "12345678", json!({})).expect(200);
    seen.push(answered(&server, api, &[paid]));
    let session = api.post("/v1/checkout/sessions", &json!({ "amountUsd": 25.5 })).expect(201);
    let now = last(&server);
    // Another tenant's record, and what time alone releases on the test clock.
    server.tenant().test.fund("1.00");
    api.advance(25 * 3_600);
    seen.push(answered(&server, api, &[]));

    for Answered { seq, balances, open } in &seen {
        let then = at(&server, &seq.to_string(), id, "test");
        assert_eq!((&then["seq"], &then["tenantId"]), (&json!(seq), &json!(id)));
        for (name, expected) in ["balance", "copBalance", "cryptoBalance"].iter().zip(balances) {
            assert_eq!(&then[name], expected, "{name} at {seq}");
        }
        let held = |currency: &str| {
            let own = |hold: &&Value| hold["currency"] == currency && hold["merchantId"].is_null();
            then["holds"].as_array().expect("holds").iter().filter(own).cloned().collect::<Vec<_>>()
        };
        let soonest = |holds: Vec<Value>| {
            holds.iter().filter_map(|hold| hold["availableAt"].as_str().map(str::to_owned)).min()
        };
        assert_eq!(json!(soonest(held("VES"))), balances[0]["nextReleaseAt"], "{seq}: {then}");
        assert_eq!(json!(soonest(held("COP"))), balances[1]["nextReleaseAt"], "{seq}: {then}");
        // After a day and a time a payout has its answer, and nothing is open any more.
        let found = then["open"].as_array().expect("a list");
        assert!(open.iter().all(|one| found.contains(one)) && found.len() == open.len(), "{seq}: {then}");
        let live = at(&server, &seq.to_string(), id, "live");
        assert_eq!((&live["balance"]["ledgerNetVes"], &live["open"]), (&json!("0.00"), &json!([])));
    }
    let then = at(&server, &now.to_string(), id, "test");
    let open = then["open"].as_array().expect("a list");
    let shown = open.iter().find(|one| one["id"] == session["id"]).expect("the session");
    assert_eq!((&shown["status"], shown.get("clientSecret")), (&json!("open"), None));
}

#[test]
fn a_tenant_at_a_time_and_what_cannot_be_asked() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let (api, id) = (&tenant.test, tenant.id.as_str());
    api.fund("5.00");
    let lines = objects(&succeeds(&server, &["wal", "inspect", "--json"]));
    let moment = text(lines.last().expect("records"), "time").to_owned();
    std::thread::sleep(std::time::Duration::from_millis(5));
    api.fund("7.00");
    assert_eq!(at(&server, &moment, id, "test")["balance"]["ledgerNetVes"], "5.00");
    assert_eq!(at(&server, &stamp(chrono::Utc::now()), id, "test")["balance"]["ledgerNetVes"], "12.00");
    let words = succeeds(&server, &["wal", "at", &moment, "--tenant", id]);
    assert!(
        words.contains("test mode after record") && words.contains("ledgerNetVes            5.00"),
        "{words}"
    );

    let end = last(&server);
    let beyond = (end + 1).to_string();
    let ends = format!("the log ends at sequence {end}");
    cannot(&server, &["wal", "at", &beyond, "--tenant", id], &ends);
    cannot(&server, &["wal", "at", "2999-01-01T00:00:00Z", "--tenant", id], &ends);
    cannot(&server, &["wal", "at", "2001-01-01T00:00:00Z", "--tenant", id], "no record as early");
    for moment in ["0", "yesterday", "1.5"] {
        cannot(&server, &["wal", "at", moment, "--tenant", id], "must be a sequence from 1");
    }
    cannot(&server, &["wal", "at", "1"], "--tenant");
    for unknown in ["nonsense", UNKNOWN] {
        cannot(&server, &["wal", "at", "1", "--tenant", unknown], unknown);
    }
    // The same of a backup, and of a directory at rest; where there is no log, none is made.
    let parent = tempfile::tempdir().expect("a directory");
    let backup = parent.path().join("backup");
    succeeds(&server, &["backup", shown(&backup)]);
    let asked = ["wal", "at", &moment, "--tenant", id, "--json"];
    let running = succeeds(&server, &asked);
    let made = std::fs::read_dir(&backup).expect("a directory").flatten().map(|entry| entry.path());
    let copy = if backup.join("log").exists() { backup.clone() } else { made.max().expect("a copy") };
    assert_eq!(succeeds(&server, &[&asked[..], &["--data-dir", shown(&copy)]].concat()), running);
    server.kill();
    assert_eq!(succeeds(&server, &asked), running);
    let nowhere = parent.path().join("nowhere");
    cannot(&server, &["wal", "at", "1", "--tenant", id, "--data-dir", shown(&nowhere)], "there is no log");
    assert!(!nowhere.exists());
}
