//! Backups of a node with several partitions: one copy with all of them, whole or not usable, which founds another
//! cluster.

use crate::machines::Machines;
use crate::partitions::{call, machines, opened, said, until_led};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

/// After which a node is killed while it makes a copy.
const KILLED_AFTER_MS: [u64; 5] = [10, 40, 90, 160, 300];

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

fn shown(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), said(output))
}

/// What a copy has beside it.
fn lies_beside(copy: &Path) -> usize {
    let name = copy.file_name().expect("a name").to_string_lossy().into_owned() + ".partition-";
    let around = std::fs::read_dir(copy.parent().expect("a directory")).expect("it is there").flatten();
    around.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name)).count()
}

fn all_verify(machines: &Machines, data: &Path) {
    let verified = machines.command(0, &["wal", "verify", "--data-dir", text(data)]);
    assert!(verified.status.success(), "{}", shown(&verified));
    assert_eq!(shown(&verified).matches("ok: ").count(), 3, "{}", shown(&verified));
    let info = machines.command(0, &["wal", "info", "--json", "--data-dir", text(data)]);
    let info: Value = serde_json::from_slice(&info.stdout).expect("JSON");
    let numbers = [0, 1, 2].map(|partition| info["partitions"][partition]["partition"].clone());
    assert_eq!(numbers, [json!(0), json!(1), json!(2)], "{info}");
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn a_backup_has_all_partitions_and_founds_another_cluster() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    let accounts: Vec<_> = (0..6).map(|_| opened(&machines, "shop")).collect();
    let fund = json!({ "currency": "VES", "amount": "100.00" });
    let funded = |machines: &Machines, key: &str, node: usize| {
        call(machines, node, key, "POST", "/v1/test/fund", Some(&fund)).0 == 201
    };
    for (_, _, key) in &accounts {
        machines.until(|machines| funded(machines, key, 0));
    }
    machines.until_caught_up();

    let copy = machines.path("copy");
    let made = machines.command(1, &["backup", text(&copy)]);
    assert!(made.status.success() && shown(&made).contains("3 in all"), "{}", shown(&made));
    assert_eq!(lies_beside(&copy), 0);
    all_verify(&machines, &copy);
    let again = machines.command(1, &["backup", text(&copy)]);
    assert!(!again.status.success() && shown(&again).contains("new directory"), "{}", shown(&again));
    assert_eq!(lies_beside(&copy), 0);
    all_verify(&machines, &copy);
    let snapshot = machines.operator(2, "POST", "/admin/snapshot", None).expect("an answer");
    assert!(snapshot.0 == 200 && snapshot.1["walSeq"].is_number(), "{snapshot:?}");

    // It goes on meanwhile.
    for (_, _, key) in &accounts {
        machines.until(|machines| funded(machines, key, 1));
    }
    // Nobody who may not has anything copied.
    let refused = machines.path("refused");
    let body = json!({ "path": text(&refused) });
    let head = "host: localhost\r\nauthorization: Bearer nobody\r\n";
    let answer =
        crate::machines::exchange_as(machines.admin_port(1), "POST", "/admin/backup", Some(&body), head);
    assert_eq!(answer.map(|(status, ..)| status), Some(401));
    assert!(!refused.exists() && lies_beside(&refused) == 0);

    let restored = machines.path("restored");
    let done = machines.command(0, &["restore", text(&copy), "--into", text(&restored)]);
    assert!(done.status.success() && shown(&done).contains("3 in all"), "{}", shown(&done));
    all_verify(&machines, &restored);
    let drill = machines.command(0, &["restore", "--drill", text(&machines.path(""))]);
    assert!(drill.status.success() && shown(&drill).contains("3 in all"), "{}", shown(&drill));
    std::fs::remove_dir_all(restored.join("partitions/2")).expect("it is there");
    for refused in [
        machines.command(0, &["restore", text(&restored), "--into", text(&machines.path("more"))]),
        machines.command(0, &["wal", "verify", "--data-dir", text(&restored)]),
    ] {
        assert!(
            !refused.status.success() && shown(&refused).contains("partition 2 is missing"),
            "{}",
            shown(&refused)
        );
    }

    // Killed on the way: whole, or not to be used.
    for (round, after) in KILLED_AFTER_MS.into_iter().enumerate() {
        let killed = machines.path(&format!("killed-{round}"));
        let mut command = machines.pasarela(2, &["backup", text(&killed)]).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(after));
        let pids: Vec<String> = (0..3)
            .filter_map(|partition| crate::partitions::process(&machines, 2, partition))
            .map(|pid| pid.to_string())
            .collect();
        let _ = Command::new("kill").arg("-KILL").args(pids).status();
        machines.kill(2);
        let _ = command.wait();
        let into = machines.path(&format!("from-{round}"));
        let done = machines.command(0, &["restore", text(&killed), "--into", text(&into)]);
        match done.status.success() {
            true => all_verify(&machines, &into),
            false if killed.join("PAST").exists() => {
                let why = shown(&done);
                assert!(why.contains("broke off") || why.contains("is missing"), "{why}");
            }
            false => assert!(!into.join("log").exists(), "{}", shown(&done)),
        }
        eprintln!(
            "killed after {after} ms: whole {}, beside it {}",
            done.status.success(),
            lies_beside(&killed)
        );
        machines.start(2);
        machines.until_ready();
        until_led(&machines);
    }

    // Of a stopped node; the last one to stop has all of it.
    let last = machines.leader();
    machines.stop_all();
    let stopped = machines.path("stopped");
    let made = machines.command(last, &["backup", text(&stopped)]);
    assert!(made.status.success() && shown(&made).contains("3 in all"), "{}", shown(&made));
    assert_eq!(lies_beside(&stopped), 0);
    all_verify(&machines, &stopped);

    machines.lose_etcd();
    std::fs::remove_dir_all(machines.data(0)).expect("it is there");
    let done = machines.command(0, &["restore", text(&copy), "--into", text(&machines.data(0))]);
    assert!(done.status.success(), "{}", shown(&done));
    for refused in [machines.command(0, &["cluster", "init"]), machines.command(0, &["serve"])] {
        assert!(!refused.status.success() && shown(&refused).contains("--take-over"), "{}", shown(&refused));
    }
    machines.until(|machines| machines.command(0, &["cluster", "init", "--take-over"]).status.success());
    machines.start(0);
    machines.until(|machines| machines.is_ready(0));
    for (partition, _, key) in &accounts {
        machines.until(|machines| call(machines, 0, key, "GET", "/v1/balance", None).0 == 200);
        let balance = call(&machines, 0, key, "GET", "/v1/balance", None).1;
        assert_eq!(balance["availableVes"], "100.00", "{partition}: as it was when the copy was made");
        machines.until(|machines| funded(machines, key, 0));
    }
}
