//! Copies: made while everybody writes, restored, proved, served; and the drill.

use crate::harness::check::{assert_texts, text};
use crate::harness::flows::{merged, payout_body};
use crate::harness::server::Server;
use crate::{errors, fails, objects, shown, succeeds, verified};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const WRITERS: usize = 4;

#[test]
fn a_copy_under_full_load_holds_everything_acknowledged_before_it() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let merchant = &api.merchant();
    api.fund("100000.00");
    // Payouts are at the bank while the copy is made: their outcome is asked for afterwards.
    let waiting: Vec<Value> =
        ["10.05", "10.06", "10.07"].map(|monto| api.payout(merchant, monto, json!({})).expect(202)).into();
    let parent = tempfile::tempdir().expect("a directory");
    let (copy, into) = (parent.path().join("copy"), parent.path().join("restored"));
    let (stop, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged = std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (stop, written) = (&stop, &written);
            scope.spawn(move || {
                for n in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let body = merged(
                        payout_body(merchant, "0.10"),
                        json!({ "externalRef": format!("{writer}-{n}") }),
                    );
                    api.post("/v1/payouts", &body).expect(201);
                    written.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let done = std::panic::catch_unwind(|| {
            let wait_for = |more: usize| {
                let (goal, deadline) =
                    (written.load(Ordering::Relaxed) + more, Instant::now() + Duration::from_secs(60));
                while written.load(Ordering::Relaxed) < goal {
                    assert!(Instant::now() < deadline, "the writers are stuck");
                    std::thread::sleep(Duration::from_millis(5));
                }
            };
            wait_for(200);
            let last = api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).wal_seq();
            let told = succeeds(&server, &["backup", shown(&copy)]);
            assert!(told.starts_with("ok:"), "{told}");
            wait_for(50);
            last
        });
        stop.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let report: Value = serde_json::from_str(&succeeds(
        &server,
        &["restore", shown(&copy), "--into", shown(&into), "--json"],
    ))
    .expect("JSON");
    assert!(
        report["seq"].as_u64().is_some_and(|seq| seq >= acknowledged),
        "{report}, acknowledged {acknowledged}"
    );
    assert!(report["verifyMs"].is_number(), "{report}");
    let restored = Server::on(&into);
    let there = restored.api(text(&tenant.created["testKey"], "key"));
    there.advance(600);
    let statuses: Vec<String> =
        waiting.iter().map(|payout| text(&there.payout_now(payout), "status").to_owned()).collect();
    assert_eq!(statuses, ["completed", "failed", "completed"]);
    there.books();
    // The bank's copy knew every order that the log's copy had sent.
    let status = restored.admin().get("/admin/status").expect(200);
    assert_eq!((status["rails"]["duplicateCalls"].as_u64(), text(&status, "outbound")), (Some(0), "past"));
    drill(&server, &copy);
}

fn drill(server: &Server, copy: &Path) {
    // The log tells where the newest copy is, and who made it.
    let acts = objects(&succeeds(server, &["wal", "inspect", "--json"]));
    let act = acts.iter().find(|line| line["type"] == "operator.acted").expect("a record of the backup");
    assert!(
        text(act, "operator").starts_with("root from 127.0.0.1: ")
            && text(act, "entity").contains(shown(copy)),
        "{act}"
    );
    let scratch = tempfile::tempdir().expect("a directory");
    for from in [None, Some(shown(copy)), copy.parent().map(shown)] {
        let mut arguments = vec!["restore", "--drill", "--json", "--scratch", shown(scratch.path())];
        arguments.extend(from);
        let report: Value = serde_json::from_str(&succeeds(server, &arguments)).expect("JSON");
        assert_eq!(
            (text(&report, "from"), report["copyMs"].is_number() && report["verifyMs"].is_number()),
            (shown(copy), true),
            "{report}"
        );
        assert_eq!(
            fs::read_dir(scratch.path()).expect("readable").count(),
            0,
            "the scratch directory is empty again"
        );
    }
    // A copy with a damaged byte does not pass.
    let log = fs::read_dir(copy.join("log")).expect("the log").flatten().map(|entry| entry.path());
    let largest = log
        .filter(|path| path.extension().is_some_and(|kind| kind == "sst" || kind == "log"))
        .max_by_key(|path| fs::metadata(path).map_or(0, |file| file.len()));
    let largest = largest.expect("a file of the log");
    let mut bytes = fs::read(&largest).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    // Files are shared with the server's log: a new one takes the place of this name.
    fs::remove_file(&largest).expect("removed");
    fs::write(&largest, bytes).expect("written");
    fails(server, &["restore", "--drill", shown(copy), "--scratch", shown(scratch.path())]);
    assert_eq!(fs::read_dir(scratch.path()).expect("readable").count(), 0, "also when it fails");
}

#[test]
fn a_stopped_server_is_copied_too_and_the_secret_stays_one() {
    let mut server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("12.34");
    let balance = tenant.test.balance();
    assert!(server.terminate().success());
    let parent = tempfile::tempdir().expect("a directory");
    let (copy, into) = (parent.path().join("copy"), parent.path().join("restored"));
    succeeds(&server, &["backup", shown(&copy)]);
    assert!(fails(&server, &["backup", shown(&copy)]).contains("not empty"));
    assert!(fails(&server, &["restore", shown(&copy), "--into", shown(&copy)]).contains("not empty"));
    succeeds(&server, &["restore", shown(&copy), "--into", shown(&into), "--skip-verify"]);
    for directory in [&copy, &into] {
        let key = directory.join("mark.key");
        assert_eq!(
            fs::read(&key).expect("the secret"),
            fs::read(server.data().join("mark.key")).expect("the secret")
        );
        assert_eq!(fs::metadata(&key).expect("its mode").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(verified(&server, &into)["headHash"], verified(&server, &server.data())["headHash"]);
    let restored = Server::on(&into);
    assert_eq!(restored.api(text(&tenant.created["testKey"], "key")).balance(), balance);
}

#[test]
fn a_log_without_its_secret_is_not_served_until_a_backup_gives_it_back() {
    let mut server = Server::start();
    let api = server.tenant().test;
    api.fund("1.00");
    let body = json!({ "url": "https://shop.example.com/hook", "events": ["payment.completed"] });
    let webhook = api.keyed("hook").post("/v1/webhooks", &body).expect(201);
    let parent = tempfile::tempdir().expect("a directory");
    let copy = parent.path().join("copy");
    succeeds(&server, &["backup", shown(&copy)]);
    server.kill();
    let key = server.data().join("mark.key");
    fs::remove_file(&key).expect("removed");
    let refused = server.command(&["serve"]);
    assert_eq!(refused.status.code(), Some(74));
    let refused = errors(&refused);
    assert!(
        refused.contains("mark.key: is missing beside a log") && refused.contains("from a backup"),
        "{refused}"
    );
    assert!(!key.exists(), "no other one was made");
    fs::copy(copy.join("mark.key"), &key).expect("copied");
    server.restart();
    let again = api.keyed("hook").post("/v1/webhooks", &body);
    assert_eq!((again.header("idempotent-replayed"), again.expect(201)), (Some("true"), webhook));
}

#[test]
fn a_file_carries_everything_to_another_place() {
    let server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    let merchant = api.merchant();
    api.fund("100.00");
    let payout = api.payout(&merchant, "10.05", json!({})).expect(202);
    api.vpos_pay(10);
    let parent = tempfile::tempdir().expect("a directory");
    let (file, into, again) =
        (parent.path().join("all.export"), parent.path().join("world"), parent.path().join("again"));
    assert!(succeeds(&server, &["wal", "export", shown(&file)]).starts_with("ok:"));
    assert!(fails(&server, &["wal", "export", shown(&file)]).contains("exists already"));
    assert_eq!(fs::metadata(&file).expect("its mode").permissions().mode() & 0o777, 0o600);
    succeeds(&server, &["wal", "import", shown(&file), "--into", shown(&into)]);
    succeeds(&server, &["import", shown(&file), "--into", shown(&again)]);
    // Elsewhere it is proved by a copy of the key that made it, which came by another way.
    let key = parent.path().join("their-card.key");
    let elsewhere = |key: &Path, into: &str| {
        let (data, into) = (parent.path().join("elsewhere"), parent.path().join(into));
        let import = ["wal", "import", shown(&file), "--into", shown(&into), "--data-dir", shown(&data)];
        match key.exists() {
            true => server.command(&[&import[..], &["--card-key", shown(key)]].concat()),
            false => server.command(&import),
        }
    };
    let refused = elsewhere(&key, "none");
    assert!(errors(&refused).contains("card.key: is not here"), "{}", errors(&refused));
    fs::write(&key, [7; 32]).expect("written");
    let refused = elsewhere(&key, "other");
    assert!(
        errors(&refused).contains("is not what was written under the card.key here"),
        "{}",
        errors(&refused)
    );
    fs::copy(server.data().join("card.key"), &key).expect("copied");
    let taken = elsewhere(&key, "own");
    assert!(taken.status.success(), "{}", errors(&taken));
    assert_eq!(verified(&server, &into)["headHash"], verified(&server, &server.data())["headHash"]);
    assert_eq!(
        fs::read(into.join("mark.key")).expect("the secret"),
        fs::read(server.data().join("mark.key")).expect("the secret")
    );
    let (rows, sum) = (api.movements(), api.balance());
    let imported = Server::on(&into);
    let there = imported.api(text(&tenant.created["testKey"], "key"));
    assert_eq!((there.movements(), there.balance()), (rows, sum));
    // The bank's books came along: what it was told before, it knows.
    there.advance(120);
    assert_texts(&there.payout_now(&payout), &[("status", "completed")]);
    assert_eq!(imported.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"], 0);
}
