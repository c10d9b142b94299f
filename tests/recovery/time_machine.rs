//! Questions about the past that the log answers: a tenant as it was, digests of states, two programs compared, and
//! the first record after which something holds.

use crate::harness::check::{stamp, text};
use crate::harness::client::Api;
use crate::harness::flows::{UNKNOWN, fresh};
use crate::harness::server::Server;
use crate::planted::Told;
use crate::{errors, large, objects, shown, succeeds};
use domain::codec;
use domain::values::ids::PLATFORM;
use domain::values::time::Timestamp;
use pasarela::recovery::earlier_state::{self, NotShown};
use pasarela::recovery::moment::When;
use pasarela::recovery::now_ms;
use pasarela::store::read_budget::ReadBudget;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use wal::{Append, Config, IndexOps, Log, Reader, RocksStore};

/// SHA-256 of no bytes.
const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Runs a command that cannot be run: 2, one line on stderr that has these words, nothing on stdout.
#[track_caller]
pub fn cannot(server: &Server, arguments: &[&str], words: &str) {
    let output = server.command(arguments);
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert!(output.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    assert!(said.lines().count() == 1 && said.contains(words), "{arguments:?}: {said}");
}

pub fn last(server: &Server) -> u64 {
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
    seen.push(answered(&server, api, std::slice::from_ref(&waits)));
    let payout = api.payout(&merchant, "20.06", json!({})).expect(202);
    let paid = format!("/v1/payouts/{}", text(&payout, "payoutId"));
    let both = [waits.clone(), paid.clone()];
    seen.push(answered(&server, api, &both));
    api.reverse(&sale).expect(200);
    seen.push(answered(&server, api, &both));
    api.execute(&intent, "12345678", json!({})).expect(200);
    seen.push(answered(&server, api, &[paid]));
    let account = json!({ "bankCode": "0134", "phone": "04141234567", "identification": "J123456789" });
    api.put("/v1/payouts/account", &account).expect(201);
    api.act("/v1/payouts/account/verify/start").expect(202);
    let session = api.post("/v1/checkout/sessions", &json!({ "amountUsd": 25.5 })).expect(201);
    let now = last(&server);
    // Another tenant's record, and what time alone releases on the test clock. The amounts of the deposits can still be
    // named.
    server.tenant().test.fund("1.00");
    api.advance(25 * 3_600);
    seen.push(answered(&server, api, &["/v1/payouts/account".to_owned()]));

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
        // After a day and a time a payout has its answer.
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
    std::thread::sleep(Duration::from_millis(5));
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
    // What cannot be looked into is not taken for nothing; nor is a log whose list of files is gone.
    let is_file = parent.path().join("is-file");
    std::fs::create_dir(&is_file).expect("a directory");
    std::fs::write(is_file.join("log"), "").expect("written");
    let current = copy.join("log/CURRENT");
    std::fs::remove_file(&current).expect("removed");
    cannot(&server, &["wal", "at", "1", "--tenant", id, "--data-dir", shown(&is_file)], "Not a directory");
    let asked = ["wal", "at", "1", "--tenant", id, "--data-dir", shown(&copy)];
    let output = server.command(&asked);
    assert_eq!(output.status.code(), Some(74), "{}", errors(&output));
    assert!(errors(&output).contains("CURRENT is gone"), "{}", errors(&output));
}

/// A history with snapshots in it.
fn history(server: &Server) -> (String, Api, Value) {
    let tenant = server.tenant();
    let api = tenant.test;
    let merchant = api.merchant();
    api.fund("500.00");
    server.admin().act("/admin/snapshot").expect(200);
    let sale = api.pay(5);
    api.payout(&merchant, "20.06", json!({})).expect(202);
    api.advance(100);
    server.admin().act("/admin/snapshot").expect(200);
    api.advance(25 * 3_600);
    api.pay(2);
    (tenant.id, api, sale)
}

fn states(server: &Server, from: u64, every: u64) -> Vec<Value> {
    let (from, every) = (from.to_string(), every.to_string());
    objects(&succeeds(server, &["wal", "states", "--from", &from, "--every", &every]))
}

/// All of a line but its sequence and its digest.
fn thing(line: &Value) -> String {
    ["tenantId", "mode", "kind", "id"].map(|name| line[name].to_string()).join(" ")
}

#[test]
fn digests_are_of_the_state_alone_wherever_they_begin() {
    let mut server = Server::start();
    let (tenant, api, sale) = history(&server);
    let reset = api.act("/v1/test/reset").wal_seq();
    api.fund("5.00");
    let end = last(&server);
    let all = states(&server, 1, 1);
    let seq = |line: &Value| line["seq"].as_u64().expect("a sequence");
    assert!(all.is_sorted_by_key(seq) && (1..=end).all(|wanted| all.iter().any(|line| seq(line) == wanted)));
    for line in &all {
        let names: Vec<&String> = line.as_object().expect("an object").keys().collect();
        assert_eq!(names, ["seq", "tenantId", "mode", "kind", "id", "digest"]);
        let digest = text(line, "digest");
        assert!(
            digest.len() == 64
                && digest.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        );
        assert_eq!(line["tenantId"].is_null(), line["mode"].is_null(), "{line}");
    }
    let payments: Vec<&Value> = all.iter().filter(|line| line["id"] == sale["paymentId"]).collect();
    assert!(
        payments.len() > 1 && payments.iter().all(|line| line["kind"] == "payment" && line["mode"] == "test")
    );
    // What was removed at once has the digest of nothing, though its record does not name it.
    let gone = payments.last().expect("a line");
    assert_eq!((seq(gone), text(gone, "digest")), (reset, OF_NOTHING), "{gone}");
    let book =
        |line: &&Value| line["kind"] == "book" && line["tenantId"] == *tenant && line["mode"] == "test";
    assert!(all.iter().filter(book).all(|line| line["id"] == *tenant));
    for from in [2, end / 3, end / 2, reset - 1, reset, end - 1, end] {
        let since: Vec<Value> = all.iter().filter(|line| seq(line) >= from).cloned().collect();
        assert_eq!(states(&server, from, 1), since, "from {from}");
    }
    for (from, every) in [(1, 7), (end / 2, 5), (3, 1_000_000)] {
        let mut newest = HashMap::new();
        let mut expected: Vec<(u64, String, String)> = Vec::new();
        for at in from..=end {
            newest.extend(
                all.iter()
                    .filter(|line| seq(line) == at)
                    .map(|line| (thing(line), text(line, "digest").to_owned())),
            );
            if (at - from + 1) % every == 0 || at == end {
                expected.extend(newest.drain().map(|(thing, digest)| (at, thing, digest)));
            }
        }
        let mut said: Vec<(u64, String, String)> = states(&server, from, every)
            .iter()
            .map(|line| (seq(line), thing(line), text(line, "digest").to_owned()))
            .collect();
        expected.sort();
        said.sort();
        assert_eq!(said, expected, "from {from}, every {every}");
    }
    let beyond = (end + 1).to_string();
    cannot(&server, &["wal", "states", "--from", &beyond], &format!("the log ends at sequence {end}"));
    cannot(&server, &["wal", "states", "--from", "0"], "--from");
    cannot(&server, &["wal", "states", "--every", "0"], "--every");
    server.kill();
    assert_eq!(states(&server, 1, 1), all);
}

/// A program that does this with what `pasarela wal states` prints.
pub fn program(directory: &Path, name: &str, does: &str) -> PathBuf {
    let path = directory.join(name);
    let script = format!("#!/bin/sh\n{does}\n").replace("PASARELA", env!("CARGO_BIN_EXE_pasarela"));
    std::fs::write(&path, script).expect("written");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("set");
    path
}

/// It changes the digests of what has these letters in its line, from a sequence on.
fn planted(directory: &Path, from: u64, of: &str) -> PathBuf {
    let change = r#"sub(/"digest":"./, "\"digest\":\"x")"#;
    let seq = r#"match($0, /"seq":[0-9]+/); seq = substr($0, RSTART + 6, RLENGTH - 6) + 0;"#;
    let does = format!("PASARELA \"$@\" | awk '{{ {seq} if (seq >= {from} && /{of}/) {change}; print }}'");
    program(directory, &format!("from-{from}"), &does)
}

fn shadow(server: &Server, with: &Path, more: &[&str]) -> Output {
    server.command(&[&["wal", "shadow", "--json", "--with", shown(with)], more].concat())
}

#[test]
fn a_planted_difference_is_named_and_the_same_program_has_none() {
    let server = Server::start();
    let (tenant, _, sale) = history(&server);
    let parent = tempfile::tempdir().expect("a directory");
    let same = shadow(&server, Path::new(env!("CARGO_BIN_EXE_pasarela")), &[]);
    let said = objects(&String::from_utf8_lossy(&same.stdout));
    assert_eq!((same.status.code(), said.len()), (Some(0), 1), "{}", errors(&same));
    assert_eq!((&said[0]["type"], &said[0]["kinds"]["payment"]["different"]), (&json!("summary"), &json!(0)));
    assert_eq!(said[0]["saysDerived"], true);

    let id = text(&sale, "paymentId");
    let lines = states(&server, 1, 1);
    let at: Vec<u64> = lines
        .iter()
        .filter(|line| line["id"] == id)
        .map(|line| line["seq"].as_u64().expect("a number"))
        .collect();
    for from in [1, at[0] + 1] {
        let expected = at.iter().find(|seq| **seq >= from).expect("it changed again");
        let found = shadow(&server, &planted(parent.path(), from, id), &[]);
        assert_eq!(found.status.code(), Some(1), "{}", errors(&found));
        let said = objects(&String::from_utf8_lossy(&found.stdout));
        let named = ["seq", "tenantId", "mode", "kind", "id"].map(|name| said[0][name].clone());
        assert_eq!(named, [json!(expected), json!(tenant), json!("test"), json!("payment"), json!(id)]);
        assert_eq!(said.last().expect("a summary")["kinds"]["book"]["different"], 0);
    }
    let late = (at.last().expect("it changed") + 1).to_string();
    let after = shadow(&server, &planted(parent.path(), 2, id), &["--from", &late]);
    assert_eq!(after.status.code(), Some(0), "{}", errors(&after));

    // What follows from states is compared with programs that say it, and of others states alone are.
    for kind in ["index", "answers"] {
        let of = format!("\"kind\":\"{kind}\"");
        let found = shadow(&server, &planted(parent.path(), at[0], &of), &[]);
        assert_eq!(found.status.code(), Some(1), "{}", errors(&found));
        let said = objects(&String::from_utf8_lossy(&found.stdout));
        let named = ["seq", "tenantId", "kind", "id"].map(|name| said[0][name].clone());
        assert_eq!(named, [json!(at[0]), json!(tenant), json!(kind), json!(tenant)], "{said:?}");
        assert_eq!(said.last().expect("a summary")["kinds"]["book"]["different"], 0);
    }
    // One answer of which a member differs is named.
    let part = format!("payment {id} status");
    let does = format!(
        r#"PASARELA "$@" | awk '/"kind":"answers"/ && sub(/"{part}":"./, "\"{part}\":\"x") {{ sub(/"digest":"./, "\"digest\":\"x") }} {{ print }}'"#
    );
    let found = shadow(&server, &program(parent.path(), "member", &does), &[]);
    let said = objects(&String::from_utf8_lossy(&found.stdout));
    assert_eq!((&said[0]["kind"], &said[0]["parts"]), (&json!("answers"), &json!([part])), "{said:?}");
    // However many lines nobody expects, they leave room for the states.
    let does = r#"yes '{"seq":1,"tenantId":null,"mode":null,"kind":"index","id":"x","digest":"x"}' | head -3000
        PASARELA "$@" | awk '/"seq":1,/ && /"kind":"book"/ { sub(/"digest":"./, "\"digest\":\"x") } { print }'"#;
    let found = shadow(&server, &program(parent.path(), "many", does), &[]);
    let said = objects(&String::from_utf8_lossy(&found.stdout));
    assert_eq!((&said[0]["seq"], &said[0]["kind"]), (&json!(1), &json!("book")), "{:?}", said[0]);

    // It is asked once whether it says them.
    let asked = parent.path().join("asked");
    let noted = format!("echo \"$*\" >>{}; ", shown(&asked));
    let does = "case \"$*\" in *--derived*) exit 2;; esac; PASARELA \"$@\"";
    let before = shadow(&server, &program(parent.path(), "before", &format!("{noted}{does}")), &[]);
    let said = objects(&String::from_utf8_lossy(&before.stdout));
    let calls = std::fs::read_to_string(&asked).expect("what it was asked");
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!((calls.len(), calls[0]), (2, "wal states --derived --help"), "{calls:?}");
    assert!(!calls[1].contains("--derived"), "{calls:?}");
    assert_eq!(said[0]["saysDerived"], false);
    assert_eq!((before.status.code(), said.len()), (Some(0), 1), "{}", errors(&before));
    assert!(said[0]["kinds"]["index"].is_null() && !said[0]["kinds"]["book"].is_null(), "{said:?}");

    let short = program(parent.path(), "short", "PASARELA \"$@\" | head -3");
    assert_eq!(shadow(&server, &short, &[]).status.code(), Some(1));
    for (name, does, words) in [
        ("missing", "", "cannot be run"),
        ("silent", "exit 0", "printed nothing"),
        ("failing", "PASARELA \"$@\"; echo private >&2; exit 3", "failed"),
        ("wordy", "echo hello", "does not print what wal states prints"),
        ("other", "echo '{\"seq\":1}'", "does not print what wal states prints"),
    ] {
        let other =
            if name == "missing" { parent.path().join(name) } else { program(parent.path(), name, does) };
        cannot(&server, &["wal", "shadow", "--with", shown(&other)], words);
    }
}

/// The parts that lines of this kind say.
fn parts<'l>(lines: &'l [Value], kind: &str) -> Vec<(&'l str, &'l str)> {
    let of_kind = lines.iter().filter(|line| line["kind"] == kind);
    let parts = of_kind.filter_map(|line| line["parts"].as_object()).flatten();
    parts.map(|(name, digest)| (name.as_str(), digest.as_str().expect("a digest"))).collect()
}

#[test]
fn what_follows_from_states_has_what_the_api_shows_and_is_the_same_in_another_directory() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    api.fund("500.00");
    let merchant = api.merchant();
    let item = |monto: &str| {
        json!({
            "merchantId": merchant["merchantId"], "monto": monto, "concepto": "pago",
            "externalRef": fresh("item"),
        })
    };
    let batch = json!({ "externalRef": fresh("batch"), "items": [item("1.00"), item("2.00")] });
    let batch = api.post("/v1/payouts/batch", &batch).expect(201);
    let session = api.post("/v1/checkout/sessions", &json!({ "amountUsd": 25.5 })).expect(201);
    let hook = json!({ "url": "https://shop.example/one", "events": ["payout.completed"] });
    let hook = api.post("/v1/webhooks", &hook).expect(201);
    let path = format!("/v1/webhooks/{}", text(&hook, "id"));
    api.patch(&path, &json!({ "url": "https://shop.example/two" })).expect(200);
    let seller = text(&merchant, "merchantId");
    let sale = json!({ "merchantId": seller, "applicationFeePercent": 10 });
    api.vpos(10, sale).expect(201);
    server.kill();
    let derived = |more: &[&str]| succeeds(&server, &[&["wal", "states", "--derived"], more].concat());
    let said = derived(&[]);
    let lines = objects(&said);
    let answers = parts(&lines, "answers");
    let of = |name: &str| -> Vec<&str> {
        answers.iter().filter(|(of, _)| of == &name).map(|(_, digest)| *digest).collect()
    };
    for name in [
        format!("batch {} externalRef", text(&batch, "batchId")),
        format!("batch {} items", text(&batch, "batchId")),
        format!("checkout session {} amountUsd", text(&session, "id")),
        format!("seller's balance {seller} availableVes"),
        "balance ledgerNetVes".to_owned(),
    ] {
        assert!(!of(&name).is_empty(), "{name}: {:?}", answers.iter().map(|(of, _)| of).collect::<Vec<_>>());
    }
    // Each record has digests of its own, so that nobody can guess a member by one who has not the log.
    let member = |name: &str| of(&format!("webhook {} {name}", text(&hook, "id")));
    for digests in [member("url"), member("createdAt")] {
        assert!(digests.len() == 2 && digests[0] != digests[1], "{digests:?}");
    }
    let digests: std::collections::BTreeSet<&str> =
        lines.iter().filter(|line| line["kind"] == "answers").map(|line| text(line, "digest")).collect();
    assert!(digests.len() > 10, "{digests:?}");
    // Index entries have their keys, but for those of persons.
    for named in ["batch", "person "] {
        assert!(parts(&lines, "index").iter().any(|(key, _)| key.contains(named)), "{named}: {said}");
    }
    let other = tempfile::tempdir().expect("a directory");
    let copied = Command::new("cp").arg("-r").arg(server.data().join("log")).arg(other.path()).status();
    assert!(copied.expect("cp runs").success());
    assert_eq!(derived(&["--data-dir", shown(other.path())]), said);
    // Longer stretches name no parts.
    assert!(parts(&objects(&derived(&["--every", "3"])), "answers").is_empty());
}

/// A long log of one tenant, with a snapshot at its end.
async fn long(data: &Path, records: u64) {
    let engine = large::engine(&data.join("log")).await;
    let mut lanes = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let engine = engine.clone();
        lanes.spawn(async move {
            for _ in 0..records / 100 {
                large::adjust(&engine, 1, false).await;
            }
        });
    }
    lanes.join_all().await;
    engine.snapshot().await.expect("a snapshot");
    engine.stop(Duration::from_secs(10)).await;
}

#[test]
fn a_long_log_is_compared_in_stretches_and_the_record_is_found_all_the_same() {
    const RECORDS: u64 = 18_000;
    let parent = tempfile::tempdir().expect("a directory");
    let data = parent.path().join("data");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(long(&data, RECORDS));
    drop(runtime);
    let server = Server::start();
    let on = ["--data-dir", shown(&data)];
    let pasarela = Path::new(env!("CARGO_BIN_EXE_pasarela"));
    let same = shadow(&server, pasarela, &on);
    assert_eq!(same.status.code(), Some(0), "{}", errors(&same));
    // Within a stretch, at the ends of one, and in what is left over.
    for from in [5_000, 8_192, 8_193, RECORDS - 1] {
        let found = shadow(&server, &planted(parent.path(), from, "book"), &on);
        assert_eq!(found.status.code(), Some(1), "{}", errors(&found));
        let said = objects(&String::from_utf8_lossy(&found.stdout));
        assert_eq!((&said[0]["seq"], &said[0]["kind"]), (&json!(from), &json!("book")));
    }
}

/// A page waits for the records since a snapshot, for so long and no longer.
#[test]
fn an_earlier_state_is_read_from_the_snapshot_before_it_and_given_up_in_time() {
    const RECORDS: u64 = 2_000;
    let parent = tempfile::tempdir().expect("a directory");
    let data = parent.path().join("data");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(long(&data, RECORDS));
    let reader = Reader::open_read_only(data.join("log")).expect("the log");
    let read = |when, ends| earlier_state::mode(&reader, large::TENANT, when, &ReadBudget::unbounded(), ends);
    let (now, later) = (Instant::now(), Instant::now() + Duration::from_secs(60));
    for seq in [1, 700, RECORDS] {
        let Ok(then) = read(When::Seq(seq), later) else { panic!("not shown at {seq}") };
        let net = domain::ledger::balance::balance(&then.book).ledger_net.minor();
        assert_eq!((then.seq, net), (seq, i64::try_from(seq).expect("few")));
    }
    assert!(matches!(read(When::Seq(700), now), Err(NotShown::TooFar)));
    // What is behind the newest snapshot is nothing, so nothing has to be read.
    assert!(reader.floor() >= RECORDS);
    let Ok(then) = read(When::Time(Timestamp::from_unix_ms(now_ms())), now) else { panic!("not shown now") };
    assert_eq!(domain::ledger::balance::balance(&then.book).ledger_net.minor(), 2_000);
    assert!(matches!(read(When::Seq(RECORDS + 10), later), Err(NotShown::Ends(_))));
    let canceled = ReadBudget::until(Arc::new(AtomicBool::new(true)));
    let stopped = earlier_state::mode(&reader, large::TENANT, When::Seq(700), &canceled, later);
    assert!(matches!(stopped, Err(NotShown::Stopped(_))));
}

fn bisect(server: &Server, tenant: &str, condition: &str, more: &[&str]) -> Vec<Value> {
    objects(&succeeds(server, &[&["wal", "bisect", "--json", "--tenant", tenant, condition], more].concat()))
}

#[test]
fn the_first_record_after_which_something_holds() {
    let server = Server::start();
    let tenant = server.tenant();
    let (api, id) = (&tenant.test, tenant.id.as_str());
    let merchant = api.merchant();
    let mut seqs =
        vec![api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "500.00" })).wal_seq()];
    let sale = api.pay(5);
    seqs.push(last(&server));
    let before_payout = last(&server);
    let payout = api.payout(&merchant, "20.06", json!({})).expect(202);
    api.reverse(&sale).expect(200);
    let reversed = last(&server);
    server.admin().act("/admin/snapshot").expect(200);
    api.advance(25 * 3_600);
    let seq = |line: &Value| line["seq"].as_u64().expect("a sequence");
    let one = |condition: &str| {
        let found = bisect(&server, id, condition, &[]);
        assert_eq!(found.len(), 1, "{condition}: {found:?}");
        seq(&found[0])
    };
    cannot(&server, &["wal", "bisect", "--tenant", id, "availableVes < 'abc'"], "availableVes is an amount");
    let records = objects(&succeeds(&server, &["wal", "inspect", "--json", "--tenant", id]));
    assert_eq!(one("ledgerNetVes >= 500"), seqs[0]);
    assert_eq!(one("heldVes > 0 and availableVes >= 500.00"), seqs[1]);
    assert_eq!(one("payment.status = 'COMPLETED'"), seqs[1]);
    let held = one("payment.status = 'REVERSED'");
    assert!(held > before_payout && held <= reversed);
    assert_eq!(one("payout.status = \"pending\""), before_payout + 1);
    assert!(one("payout.status != 'pending'") > reversed);
    assert_eq!(one("payout.monto = 20.06 and not payout.status = 'completed'"), before_payout + 1);
    let name = format!("seller.merchantId = '{}' and seller.isActive = true", text(&merchant, "merchantId"));
    assert!(one(&name) < seqs[0]);
    // As wal inspect prints it.
    let found = bisect(&server, id, "ledgerNetVes >= 500", &[]);
    assert!(records.contains(&found[0]), "{found:?}");
    let explained = succeeds(&server, &["wal", "explain", text(&payout, "payoutId")]);
    let words = succeeds(&server, &["wal", "bisect", "--tenant", id, "payout.status = 'pending'"]);
    assert!(explained.starts_with(&words), "{explained}{words}");
    // What is held becomes more and nothing; the truth turns each time.
    let every = bisect(&server, id, "heldVes > 0", &["--every"]);
    assert_eq!(seq(&every[0]), seqs[1]);
    assert!(every.len().is_multiple_of(2) && every.is_sorted_by_key(seq), "{every:?}");
    // It is true of nothing, so the first turn is to false.
    let every = bisect(&server, id, "ledgerNetVes = 0", &["--every"]);
    assert_eq!(seq(&every[0]), seqs[0]);
    // The first record of each mode: a balance of zero is there from the beginning.
    let zero = bisect(&server, id, "ledgerNetVes = 0", &[]);
    assert_eq!(seq(&zero[0]), seq(&records[0]), "{zero:?}");

    let none = server.command(&["wal", "bisect", "--tenant", id, "availableVes < 0"]);
    assert_eq!((none.status.code(), none.stdout.len()), (Some(1), 0), "{}", errors(&none));
    assert!(errors(&none).contains("found nothing") && errors(&none).lines().count() == 1);
    let unchanged = server.command(&["wal", "bisect", "--tenant", id, "--every", "heldCop = 0"]);
    assert_eq!(unchanged.status.code(), Some(1), "{}", errors(&unchanged));
    assert!(errors(&unchanged).contains("no record up to"), "{}", errors(&unchanged));
    assert!(errors(&unchanged).contains("changes whether"), "{}", errors(&unchanged));
    for (condition, words) in [
        ("availabelVes < 0", "the nearest is availableVes"),
        ("payment.state = 'x'", "the nearest is payment.status"),
        ("availableVes <", "position 15"),
        ("", "position 1"),
    ] {
        cannot(&server, &["wal", "bisect", "--tenant", id, condition], words);
    }
    cannot(&server, &["wal", "bisect", "--tenant", UNKNOWN, "availableVes < 0"], UNKNOWN);
}

/// Writes a record as a release to come would: after a version of the stored format that nobody knows.
fn plant_of_another_format(data: &Path) {
    let store = RocksStore::open(data.join("log")).expect("the log's store");
    let log: Log<Told> = Log::open(Box::new(store), Config::default()).expect("the log");
    let (to, told) = channel();
    let payload = vec![codec::NEWEST + 1, 1, 2, 3];
    log.append(Append { tenant: PLATFORM, time_ms: i64::MAX / 4, payload, index: IndexOps::new() }, Told(to));
    assert!(told.recv().expect("told"), "it is durable");
    log.close();
}

/// Every question of this kind, with what it needs.
fn questions(tenant: &str) -> [Vec<&str>; 5] {
    [
        vec!["at", "1", "--tenant", tenant],
        vec!["bisect", "--tenant", tenant, "availableVes < 0"],
        vec!["sql", "SELECT count(*) FROM records"],
        vec!["states"],
        vec!["shadow", "--with", env!("CARGO_BIN_EXE_pasarela")],
    ]
}

#[test]
fn a_log_of_a_newer_release_is_not_taken_for_a_damaged_one() {
    let mut server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("5.00");
    server.kill();
    // A program of a newer release, over a log that this one reads.
    let parent = tempfile::tempdir().expect("a directory");
    let newer = program(parent.path(), "newer", "echo '{\"seq\":1,\"form\":2}'");
    cannot(&server, &["wal", "shadow", "--with", shown(&newer)], "does not print what wal states prints");
    plant_of_another_format(&server.data());
    let version = format!("version {} of the stored format is not known", codec::NEWEST + 1);
    for question in questions(&tenant.id) {
        cannot(&server, &[&["wal"], &question[..]].concat(), &version);
    }
    let out = parent.path().join("out.sqlite");
    cannot(&server, &["wal", "sql", "SELECT 1", "--out", shown(&out)], &version);
    assert!(!out.exists());
    let output = server.command(&["wal", "verify"]);
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    assert!(errors(&output).contains(&version), "{}", errors(&output));
}

#[test]
fn a_directory_that_a_server_uses_is_asked_all_the_same_and_nothing_else_is_made_of_it() {
    let mut server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("5.00");
    let ask = |server: &Server| {
        questions(&tenant.id).map(|question| {
            let output = server.command(&[&["wal"], &question[..]].concat());
            (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
        })
    };
    let running = ask(&server);
    assert_eq!(running.each_ref().map(|(code, _)| *code), [Some(0), Some(1), Some(0), Some(0), Some(0)]);
    // Whoever would write there is refused in a line.
    let data = server.data();
    let second = Server::try_on(&data).err().expect("a second server is refused");
    assert!(second.contains("in use by another"), "{second}");
    let into = server.command(&["wal", "replay", "--into", shown(&data)]);
    assert_eq!(into.status.code(), Some(1), "{}", errors(&into));
    assert!(errors(&into).contains("is not empty"), "{}", errors(&into));
    assert_eq!(ask(&server), running);
    server.kill();
    assert_eq!(ask(&server), running);
}
