//! Three partitions on three nodes: a front and a process for each partition, of which any may die.

use crate::gaps::{self, most};
use crate::insist;
use crate::load::{Load, verified_seller};
use crate::machines::Machines;
use crate::rounds::{CALLERS, judge, prepare};
use crate::upgrading::Words;
use serde_json::{Value, json};
use std::process::Output;
use std::time::{Duration, Instant};

const PREVIEW: &str = "partitions = 3\npartitions_preview = true";

fn machines() -> Option<Machines> {
    let machines = Machines::new()?;
    (0..3).for_each(|node| machines.configure(node, PREVIEW));
    Some(machines)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows that a node shows.
fn rows(machines: &Machines, node: usize) -> Vec<Value> {
    let shown = machines.operator(node, "GET", "/admin/cluster", None);
    let shown = shown.filter(|(status, _)| *status == 200).map(|(_, shown)| shown).unwrap_or_default();
    shown["partitions"].as_array().cloned().unwrap_or_default()
}

fn until_led(machines: &Machines) {
    until_all_led(machines, 3);
}

/// Waits until every node shows a leader of each partition, and three nodes of it.
fn until_all_led(machines: &Machines, partitions: usize) {
    let is_led = |row: &Value| row["leader"].is_string() && row["nodes"].as_array().map(Vec::len) == Some(3);
    machines.until(|machines| {
        (0..3).all(|node| {
            let rows = rows(machines, node);
            rows.len() == partitions && rows.iter().all(is_led)
        })
    });
}

fn leader_of(machines: &Machines, partition: usize) -> usize {
    let rows = rows(machines, 0);
    let name = rows[partition]["leader"].as_str().expect("somebody leads");
    name.trim_start_matches('n').parse().expect("a number")
}

fn epochs(machines: &Machines) -> Vec<u64> {
    rows(machines, 0).iter().map(|row| row["epoch"].as_u64().expect("a number")).collect()
}

/// The process of a partition of a node.
fn process(machines: &Machines, node: usize, partition: usize) -> Option<u32> {
    let front = machines.pid(node);
    let of_front = |pid: &u32| {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let parent = read("stat").rsplit(')').next().and_then(|rest| rest.split(' ').nth(2)?.parse().ok());
        parent == Some(front) && read("cmdline").ends_with(&format!("--partition\0{partition}\0"))
    };
    let processes = std::fs::read_dir("/proc").expect("a directory");
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.into_iter().find(of_front)
}

fn is_there(pid: u32) -> bool {
    std::path::Path::new(&format!("/proc/{pid}/exe")).exists()
}

#[test]
fn partitions_are_served_whatever_process_dies() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    let (merchant, before) = prepare(&machines);
    let (load, callers) = Load::begin(machines.ports(), &merchant, CALLERS.0, CALLERS.1);
    let quiet = || std::thread::sleep(Duration::from_secs(1));
    let served = |since: Instant, what: &str| {
        let began = Instant::now();
        while load.first_success(since).is_none() {
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "nobody is served: {what}: {}",
                machines_log(&load)
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        quiet();
        let gap = load.longest_gap(since);
        eprintln!("{what}: nobody was served for {} ms", gap.as_millis());
        gap
    };
    quiet();
    for node in 0..3 {
        let (status, headers, _) = machines.exchange(node, "GET", "/v1/balance", None).expect("an answer");
        let leader = leader_of(&machines, 0);
        assert_eq!(status, 200);
        assert_eq!(
            headers.get("pasarela-leader"),
            Some(&format!("http://127.0.0.1:{}", machines.ports()[leader]))
        );
        let by = (node != leader).then(|| format!("n{leader}"));
        assert_eq!(headers.get("pasarela-served-by"), by.as_ref());
        let unknown = exchange_with(&machines, node, "pk_test_nobody");
        assert_eq!(unknown, Some(401));
    }

    // One that leads another partition: this one's accounts do not notice.
    let (epochs_before, node) = (epochs(&machines), leader_of(&machines, 1));
    let since = Instant::now();
    kill(process(&machines, node, 1).expect("it runs"));
    machines.until(|machines| {
        rows(machines, 0).get(1).is_some_and(|row| row["epoch"].as_u64() > Some(epochs_before[1]))
    });
    let gap = served(since, "another partition's leader killed");
    assert!(gap < most(Duration::from_millis(300)), "{gap:?}");
    assert_eq!(epochs(&machines)[0], epochs_before[0], "partition 0 changed hands");
    until_led(&machines);

    let (front, node) = (machines.pid(leader_of(&machines, 0)), leader_of(&machines, 0));
    let since = Instant::now();
    kill(process(&machines, node, 0).expect("it runs"));
    let gap = served(since, "partition 0's leader killed");
    assert!(gap < most(gaps::KILLED), "{gap:?}");
    until_led(&machines);
    assert_eq!(machines.pid(node), front, "the front went on");

    let node = leader_of(&machines, 0);
    let behind: Vec<u32> = (0..3).filter_map(|partition| process(&machines, node, partition)).collect();
    assert_eq!(behind.len(), 3);
    let since = Instant::now();
    machines.kill(node);
    let gap = served(since, "a front killed");
    assert!(gap < most(gaps::KILLED), "{gap:?}");
    let began = Instant::now();
    while behind.iter().any(|pid| is_there(*pid)) {
        assert!(began.elapsed() < Duration::from_secs(20), "processes outlive their front");
        std::thread::sleep(Duration::from_millis(50));
    }
    machines.start(node);
    machines.until_ready();
    until_led(&machines);

    let node = leader_of(&machines, 0);
    let since = Instant::now();
    machines.stop(node);
    let gap = served(since, "a front told to stop");
    assert!(gap < most(gaps::KILLED), "{gap:?}");
    machines.start(node);
    machines.until_ready();
    until_led(&machines);

    load.end();
    callers.into_iter().for_each(|caller| caller.join().expect("a caller"));
    load.with(|history| judge(&machines, history, before));
    machines.stop_all();
    // A node takes seconds to stop its processes, and samples of rates come meanwhile.
    machines.logs_agree();
    for node in 0..3 {
        let verified = machines.command(node, &["wal", "verify"]);
        assert!(verified.status.success(), "{}", said(&verified));
        assert_eq!(String::from_utf8_lossy(&verified.stdout).matches("ok: ").count(), 3, "each partition");
        let json = |arguments: &[&str]| -> Value {
            serde_json::from_slice(&machines.command(node, arguments).stdout).expect("JSON")
        };
        let all = json(&["wal", "info", "--json"]);
        for partition in [1, 2] {
            let number = partition.to_string();
            let one = json(&["wal", "info", "--json", "--partition", &number]);
            assert_eq!(one["partitions"], json!([all["partitions"][partition]]), "{all}");
            let verified = json(&["wal", "verify", "--json", "--partition", &number]);
            assert_eq!(verified["headHash"], all["partitions"][partition]["headHash"], "{verified}");
        }
    }
    let unknown = machines.command(0, &["wal", "verify", "--partition", "3"]);
    assert!(
        unknown.status.code() == Some(2) && said(&unknown).contains("no partition 3"),
        "{}",
        said(&unknown)
    );
    let copy = machines.path("copy");
    let copied = machines.command(0, &["backup", copy.to_str().expect("text")]);
    assert!(copied.status.success() && said(&copied).contains("of partition 0 alone"), "{}", said(&copied));
    std::fs::remove_dir_all(machines.data(0).join("partitions/2")).expect("it is there");
    let missing = machines.command(0, &["wal", "verify"]);
    assert!(said(&missing).contains("partition 2 is missing"), "{}", said(&missing));
}

/// The partition and a test key of a new account.
fn opened(machines: &Machines, name: &str) -> (u64, String, String) {
    let (status, shown) =
        machines.operator(1, "POST", "/admin/tenants", Some(&json!({ "name": name }))).expect("an answer");
    assert_eq!(status, 201, "{shown}");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    (shown["partition"].as_u64().expect("a number"), text(&shown["tenantId"]), text(&shown["testKey"]["key"]))
}

fn call(
    machines: &Machines,
    node: usize,
    key: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> (u16, Value) {
    let head = format!("host: localhost\r\nx-api-key: {key}\r\n");
    let answer = crate::machines::exchange_as(machines.ports()[node], method, path, body, &head);
    let (status, _, shown) = answer.expect("an answer");
    (status, shown)
}

#[test]
fn accounts_are_spread_and_each_is_served_by_its_own_partition() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "200.00" });
    assert_eq!(
        machines.operator(1, "POST", "/admin/rates", Some(&rate)).map(|(status, _)| status),
        Some(201)
    );
    // The demonstration's account is in the first.
    let accounts = ["one", "two", "three"].map(|name| opened(&machines, name));
    assert_eq!(accounts.each_ref().map(|(partition, ..)| *partition), [1, 2, 0]);
    let fund = json!({ "currency": "VES", "amount": "100.00" });
    let balance =
        |machines: &Machines, node, key: &str| call(machines, node, key, "GET", "/v1/balance", None);
    for (partition, id, key) in &accounts {
        // A change holds in its partition when it is answered; a front hears of it in a moment.
        for node in 0..3 {
            let status = balance(&machines, node, key).0;
            assert!([200, 503].contains(&status), "{partition} at n{node}: {status}");
            machines.until(|machines| balance(machines, node, key).0 == 200);
        }
        let (status, funded) = call(&machines, 2, key, "POST", "/v1/test/fund", Some(&fund));
        assert_eq!(status, 201, "{partition}: {funded}");
        let shown = balance(&machines, 0, key).1;
        assert_eq!(shown["availableVes"], "100.00", "{partition}: {shown}");
        assert_eq!(balance(&machines, 1, key).1, shown, "{partition}");
        let path = format!("/admin/tenants/{id}");
        let made = machines.operator(0, "POST", &format!("{path}/keys"), Some(&json!({ "mode": "test" })));
        let (status, made) = made.expect("an answer");
        assert_eq!(status, 201, "{made}");
        let more = made["key"].as_str().expect("a key");
        machines.until(|machines| balance(machines, 2, more) == (200, shown.clone()));
        let revoked = format!("/admin/keys/{}", made["keyId"].as_str().expect("an id"));
        let (status, revoked) = machines.operator(2, "DELETE", &revoked, None).expect("an answer");
        assert!(status < 300, "{revoked}");
        assert_eq!(balance(&machines, 1, more).0, 401, "{partition}");
        let live = json!({ "status": "active", "reason": "x" });
        let live =
            machines.operator(0, "POST", &format!("{path}/live-status"), Some(&live)).expect("an answer");
        assert_eq!(live.0, if *partition == 0 { 200 } else { 400 }, "{}", live.1);
        let settings = json!({ "reserveVes": "40.00" });
        let set =
            machines.operator(1, "PATCH", &format!("{path}/settings"), Some(&settings)).expect("an answer");
        assert_eq!(set.0, 200, "{}", set.1);
        let shown = balance(&machines, 0, key).1;
        assert_eq!(shown["availableVes"], "60.00", "settings are in force: {shown}");
        let charge = json!({ "usdAmount": 10, "debtorId": "V12345678", "debtorCellPhone": "04141234567",
            "debtorBankCode": 134, "externalRef": "order" });
        let (_, intent) = call(&machines, 1, key, "POST", "/v1/payments/c2p/request", Some(&charge));
        assert_eq!(intent["bcvRate"], 200, "{partition}: {intent}");
    }
    // Without the first partition the others go on, and a leader of theirs that dies is replaced.
    let firsts: Vec<u32> = (0..3).filter_map(|node| process(&machines, node, 0)).collect();
    let signal = |name: &str, pids: &[u32]| {
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        assert!(std::process::Command::new("kill").arg(name).args(pids).status().expect("it runs").success());
    };
    let node = leader_of(&machines, 1);
    signal("-STOP", &firsts);
    let (_, _, key) = &accounts[1];
    let (status, funded) = call(&machines, 0, key, "POST", "/v1/test/fund", Some(&fund));
    signal("-CONT", &firsts);
    assert_eq!(status, 201, "{funded}");
    kill(process(&machines, node, 1).expect("it runs"));
    let (_, _, key) = &accounts[0];
    machines.until(|machines| call(machines, 1, key, "POST", "/v1/test/fund", Some(&fund)).0 == 201);
    until_led(&machines);
    let before = accounts.each_ref().map(|(_, _, key)| balance(&machines, 2, key).1);
    machines.stop_all();
    (0..3).for_each(|node| machines.start(node));
    machines.until_ready();
    until_led(&machines);
    for ((partition, _, key), before) in accounts.iter().zip(before) {
        assert_eq!(balance(&machines, 1, key), (200, before), "{partition}");
    }
    machines.stop_all();

    // The log of the first alone would begin their books anew, empty.
    machines.configure_alone(0);
    let refused = machines.command(0, &["serve", "--take-over"]);
    assert!(
        refused.status.code() == Some(2) && said(&refused).contains("several partitions"),
        "{}",
        said(&refused)
    );
    machines.configure(0, PREVIEW);
    machines.start(0);
    machines.until(|machines| machines.is_ready(0));
    machines.stop(0);
    machines.lose_etcd();
    machines.configure(0, "");
    let began = Instant::now();
    let refused = loop {
        let refused = machines.command(0, &["cluster", "reseed"]);
        if refused.status.code() == Some(2) || began.elapsed() > Duration::from_secs(30) {
            break refused;
        }
    };
    assert!(said(&refused).contains("cluster.partitions"), "{}", said(&refused));
}

fn machines_log(load: &Load) -> String {
    load.with(|history| format!("{:?}", history.refused))
}

fn exchange_with(machines: &Machines, node: usize, key: &str) -> Option<u16> {
    let head = format!("host: localhost\r\nx-api-key: {key}\r\n");
    let answer = crate::machines::exchange_as(machines.ports()[node], "GET", "/v1/balance", None, &head);
    answer.map(|(status, _, _)| status)
}

fn kill(pid: u32) {
    let sent = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn partitions_are_founded_after_a_death_at_any_step() {
    let Some(mut machines) = machines() else { return };
    machines.found_without_serving();
    let cluster = || std::fs::read_to_string(machines.data(0).join("CLUSTER")).expect("it is there");
    let own: Value = serde_json::from_str(&cluster()).expect("JSON");
    for partition in ["1", "2"] {
        let of = machines.data(0).join("partitions").join(partition).join("CLUSTER");
        let of: Value = serde_json::from_slice(&std::fs::read(of).expect("it is there")).expect("JSON");
        assert_eq!(
            (&of["cluster"], &of["partition"]),
            (&own["cluster"], &json!(format!("main~{partition}")))
        );
    }
    // Before etcd has any of it, and after it has the others, of which it is told again.
    let forget_first = |machines: &Machines| {
        let words = Words::of(machines);
        for key in ["founded", "partitions", "epoch", "tip"] {
            words.remove(&format!("/pasarela/main/{key}"));
        }
    };
    machines.lose_etcd();
    let began = Instant::now();
    while !machines.command(0, &["cluster", "reseed"]).status.success() {
        assert!(began.elapsed() < Duration::from_secs(30), "etcd does not start");
    }
    forget_first(&machines);
    let again = machines.command(0, &["cluster", "init"]);
    assert!(said(&again).contains("cluster reseed"), "{}", said(&again));
    let refused = machines.command(0, &["serve"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("cluster reseed"), "{}", said(&refused));
    let again = machines.command(0, &["cluster", "reseed"]);
    assert!(again.status.success(), "{}", said(&again));

    // Before the first directory is the cluster's.
    machines.lose_etcd();
    std::fs::remove_file(machines.data(0).join("CLUSTER")).expect("it is there");
    machines.found();
    until_led(&machines);
    insist(&machines, "afterwards");
    assert!(!verified_seller(&machines, 2).is_empty());
    let forgotten = machines.command(0, &["cluster", "forget", "nobody"]);
    assert_eq!(forgotten.status.code(), Some(1), "{}", said(&forgotten));
    machines.stop_all();
}

#[test]
fn a_partition_has_an_etcd_of_its_own_whose_loss_is_its_own() {
    let Some(mut machines) = machines() else { return };
    let of = |partition: u8| {
        format!("{PREVIEW}\n[cluster.etcd_of]\n{partition} = [\"{}\"]", machines.own_etcd_endpoint())
    };
    for (partition, word) in [(0, "etcd_of.0"), (3, "etcd_of")] {
        machines.configure(0, &of(partition));
        let refused = machines.command(0, &["cluster", "init"]);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(said(&refused).contains(word) && said(&refused).lines().count() == 1, "{}", said(&refused));
    }
    let own = of(1);
    (0..3).for_each(|node| machines.configure(node, &own));
    machines.start_own_etcd();
    machines.found();
    until_led(&machines);
    let accounts = ["one", "two", "three"].map(|name| opened(&machines, name));
    assert_eq!(accounts.each_ref().map(|(partition, ..)| *partition), [1, 2, 0]);
    let fund = json!({ "currency": "VES", "amount": "100.00" });
    let funded = |machines: &Machines, node, key: &str| {
        call(machines, node, key, "POST", "/v1/test/fund", Some(&fund))
    };
    for (partition, _, key) in &accounts {
        machines.until(|machines| funded(machines, 1, key).0 == 201);
        assert_eq!(call(&machines, 2, key, "GET", "/v1/balance", None).0, 200, "{partition}");
    }
    let mut acknowledged = 1;

    machines.kill_own_etcd();
    machines.until(|machines| funded(machines, 0, &accounts[0].2).0 == 503);
    for node in 0..3 {
        for (_, _, key) in &accounts[1..] {
            assert_eq!(funded(&machines, node, key).0, 201);
        }
        assert!(machines.is_ready(node));
        assert_ne!(funded(&machines, node, &accounts[0].2).0, 201);
    }
    // A node that starts meanwhile serves the others.
    machines.kill(2);
    machines.start(2);
    machines.until(|machines| machines.is_ready(2) && funded(machines, 2, &accounts[1].2).0 == 201);
    machines.start_own_etcd();
    machines.until(|machines| {
        let is_done = funded(machines, 2, &accounts[0].2).0 == 201;
        acknowledged += u32::from(is_done);
        is_done
    });
    until_led(&machines);
    // What was unknown may have been done; what was acknowledged was.
    let balance = call(&machines, 1, &accounts[0].2, "GET", "/v1/balance", None).1;
    let has: f64 = balance["availableVes"].as_str().expect("text").parse().expect("a number");
    assert!(has >= f64::from(acknowledged) * 100.0, "{balance}");

    // It lost all of its data: only that partition is founded again, from the log of a stopped node.
    // The last one to stop has all of it.
    let last = machines.leader();
    machines.stop_all();
    machines.kill_own_etcd();
    std::fs::remove_dir_all(machines.path("etcd-own")).expect("it is there");
    machines.start_own_etcd();
    let reseed = |more: &[&str]| machines.command(last, &[&["cluster", "reseed"], more].concat());
    assert!(said(&reseed(&[])).contains("already"), "{}", said(&reseed(&[])));
    let done = reseed(&["--partition", "1"]);
    assert!(done.status.success(), "{}", said(&done));
    let again = reseed(&["--partition", "1"]);
    assert!(again.status.code() == Some(1) && said(&again).contains("already"), "{}", said(&again));
    (0..3).for_each(|node| machines.start(node));
    machines.until_ready();
    until_led(&machines);
    assert_eq!(call(&machines, 1, &accounts[0].2, "GET", "/v1/balance", None), (200, balance));

    // In the etcd of the others it would have a second leader.
    machines.stop_all();
    machines.configure(0, PREVIEW);
    Words::of(&machines).remove("/pasarela/main/founded");
    let elsewhere = said(&machines.command(0, &["cluster", "reseed"]));
    assert!(elsewhere.contains("partition 1 is in another etcd"), "{elsewhere}");
}

#[test]
fn partitions_are_added_under_load_by_one_command_which_goes_on_after_a_death() {
    let Some(mut machines) = Machines::new() else { return };
    const ANY: &str = "partitions_preview = true";
    machines.configure(0, ANY);
    machines.configure(2, ANY);
    machines.found();
    let grow = |to: &'static str| ["cluster", "grow", "--partitions", to];
    let refused = |machines: &Machines, words: &str| {
        let output = machines.command(0, &grow("3"));
        let said = said(&output);
        assert!(
            output.status.code() == Some(2) && said.contains(words) && said.lines().count() == 1,
            "{said}"
        );
    };
    refused(&machines, "n1 takes no other number");
    machines.stop(1);
    machines.configure(1, &format!("{ANY}\npartitions = 1"));
    machines.start(1);
    machines.until_ready();
    refused(&machines, "n1 takes no other number");
    assert_eq!(Words::of(&machines).read("/pasarela/main/partitions"), "1");
    machines.stop(1);
    machines.configure(1, ANY);
    machines.start(1);
    machines.until_ready();

    let early = opened(&machines, "early");
    assert_eq!(early.0, 0);
    let (merchant, before) = prepare(&machines);
    let (load, callers) = Load::begin(machines.ports(), &merchant, CALLERS.0, CALLERS.1);
    let began = Instant::now();
    let grown = machines.command(0, &grow("3"));
    assert!(grown.status.success(), "{}", said(&grown));
    until_led(&machines);
    eprintln!(
        "from one to three in {} s, nobody was served for {} ms",
        began.elapsed().as_secs(),
        load.longest_gap(began).as_millis()
    );
    let accounts = ["one", "two", "three"].map(|name| opened(&machines, name));
    assert_eq!(accounts.each_ref().map(|(partition, ..)| *partition), [1, 2, 1]);
    let fund = json!({ "currency": "VES", "amount": "100.00" });
    for (_, _, key) in accounts.iter().chain([&early]) {
        machines.until(|machines| call(machines, 1, key, "POST", "/v1/test/fund", Some(&fund)).0 == 201);
    }
    let since = Instant::now();
    machines.until(|_| load.first_success(since).is_some());

    // Ended at any step, and made again.
    for ms in [20, 60, 120, 300, 700] {
        let mut command = machines.pasarela(1, &grow("4")).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(ms));
        let _ = command.kill();
        command.wait().expect("it has ended");
    }
    let grown = machines.command(2, &grow("4"));
    assert!(grown.status.success(), "{}", said(&grown));
    until_all_led(&machines, 4);
    let again = machines.command(0, &grow("4"));
    assert!(String::from_utf8_lossy(&again.stdout).contains("nothing was done"), "{}", said(&again));
    let fewer = machines.command(0, &grow("3"));
    assert!(fewer.status.code() == Some(2) && said(&fewer).contains("never fewer"), "{}", said(&fewer));
    let last = opened(&machines, "last");
    assert_eq!(last.0, 3);
    machines.until(|machines| call(machines, 0, &last.2, "POST", "/v1/test/fund", Some(&fund)).0 == 201);

    load.end();
    callers.into_iter().for_each(|caller| caller.join().expect("a caller"));
    load.with(|history| judge(&machines, history, before));
    machines.stop_all();
    (0..3).for_each(|node| machines.start(node));
    machines.until_ready();
    until_all_led(&machines, 4);
    for (_, _, key) in accounts.iter().chain([&early, &last]) {
        let balance = call(&machines, 2, key, "GET", "/v1/balance", None);
        assert!(balance.0 == 200 && balance.1["availableVes"] == "100.00", "{balance:?}");
    }
    // The last one to stop has all of it.
    let full = machines.leader();
    machines.stop_all();
    machines.logs_agree();
    // The number is known without etcd and without a claim.
    machines.lose_etcd();
    machines.configure(full, "");
    let began = Instant::now();
    let refused = loop {
        let refused = machines.command(full, &["cluster", "reseed"]);
        if refused.status.code() == Some(2) || began.elapsed() > Duration::from_secs(30) {
            break refused;
        }
    };
    assert!(said(&refused).contains("serves one partition, not 4"), "{}", said(&refused));
    machines.configure(full, ANY);
    let began = Instant::now();
    while !machines.command(full, &["cluster", "reseed"]).status.success() {
        assert!(began.elapsed() < Duration::from_secs(30), "etcd does not start");
    }
    (0..3).for_each(|node| machines.start(node));
    machines.until_ready();
    until_all_led(&machines, 4);
    assert_eq!(call(&machines, 1, &last.2, "GET", "/v1/balance", None).1["availableVes"], "100.00");
    machines.stop_all();
}
