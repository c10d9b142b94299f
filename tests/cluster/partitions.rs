//! Three partitions on three nodes: a front and a process for each partition, of which any may die.

use crate::gaps::{self, most};
use crate::insist;
use crate::load::{Load, verified_seller};
use crate::machines::Machines;
use crate::rounds::{CALLERS, judge, prepare};
use crate::upgrading::Words;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Leaders stay where a test has put them.
pub const PREVIEW: &str = "partitions = 3\npartitions_preview = true\nspread_seconds = 3600";

pub fn machines() -> Option<Machines> {
    let machines = Machines::new()?;
    (0..3).for_each(|node| machines.configure(node, PREVIEW));
    Some(machines)
}

pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The rows that a node shows.
pub fn rows(machines: &Machines, node: usize) -> Vec<Value> {
    let shown = machines.operator(node, "GET", "/admin/cluster", None);
    let shown = shown.filter(|(status, _)| *status == 200).map(|(_, shown)| shown).unwrap_or_default();
    shown["partitions"].as_array().cloned().unwrap_or_default()
}

pub fn until_led(machines: &Machines) {
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

pub fn leader_of(machines: &Machines, partition: usize) -> usize {
    let rows = rows(machines, 0);
    let name = rows[partition]["leader"].as_str().expect("somebody leads");
    name.trim_start_matches('n').parse().expect("a number")
}

pub fn epochs(machines: &Machines) -> Vec<u64> {
    rows(machines, 0).iter().map(|row| row["epoch"].as_u64().expect("a number")).collect()
}

/// The process of a partition of a node.
pub fn process(machines: &Machines, node: usize, partition: usize) -> Option<u32> {
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
    std::fs::remove_dir_all(machines.data(0).join("partitions/2")).expect("it is there");
    let missing = machines.command(0, &["wal", "verify"]);
    assert!(said(&missing).contains("partition 2 is missing"), "{}", said(&missing));
}

/// The partition and a test key of a new account.
pub fn opened(machines: &Machines, name: &str) -> (u64, String, String) {
    let (status, shown) =
        machines.operator(1, "POST", "/admin/tenants", Some(&json!({ "name": name }))).expect("an answer");
    assert_eq!(status, 201, "{shown}");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    (shown["partition"].as_u64().expect("a number"), text(&shown["tenantId"]), text(&shown["testKey"]["key"]))
}

pub fn call(
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

/// At once where nothing else is done: partition 0 answers after `failover_ms` too, which a crowded machine may need.
pub fn until_followed(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(!gaps::is_strict() && began.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub fn until_revoked(machines: &Machines, node: usize, key: &str) {
    until_followed(&format!("a revoked key opens nothing at n{node}"), || {
        call(machines, node, key, "GET", "/v1/balance", None).0 == 401
    });
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
        for node in 0..3 {
            let (status, shown) = balance(&machines, node, key);
            assert_eq!(status, 200, "{partition} at n{node}: {shown}");
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
        assert_eq!(balance(&machines, 2, more), (200, shown.clone()));
        let revoked = format!("/admin/keys/{}", made["keyId"].as_str().expect("an id"));
        let (status, revoked) = machines.operator(2, "DELETE", &revoked, None).expect("an answer");
        assert!(status < 300, "{revoked}");
        until_revoked(&machines, 1, more);
        let live = json!({ "status": "active", "reason": "x" });
        let live =
            machines.operator(0, "POST", &format!("{path}/live-status"), Some(&live)).expect("an answer");
        assert_eq!(live.0, 200, "{}", live.1);
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

pub fn kill(pid: u32) {
    let sent = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

/// Until it is over, adds to the account of a key, at all nodes in turn; the longest time without a success.
pub fn longest_gap(ports: &[u16], key: &str, is_over: &AtomicBool) -> Duration {
    let head = format!("host: localhost\r\nx-api-key: {key}\r\n");
    let fund = json!({ "currency": "VES", "amount": "1.00" });
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    for port in ports.iter().cycle() {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let patience = Duration::from_millis(300);
        let answer =
            crate::machines::exchange_within(patience, *port, "POST", "/v1/test/fund", Some(&fund), &head);
        if answer.is_some_and(|(status, ..)| status == 201) {
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    longest.max(last.elapsed())
}

/// Until a node that is there gets something, and for which an operator's word holds.
const SPREAD: Duration = Duration::from_secs(4);

pub struct Ends<'a>(pub &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The number of partitions that each node leads, as one shows it; none while it knows of a partition without a leader.
pub fn led(machines: &Machines, by: usize) -> Option<[usize; 3]> {
    let rows = rows(machines, by);
    let leaders: Vec<&str> = rows.iter().filter_map(|row| row["leader"].as_str()).collect();
    let leads = |node: usize| leaders.iter().filter(|leader| **leader == format!("n{node}")).count();
    (leaders.len() == 3).then(|| [0, 1, 2].map(leads))
}

#[test]
fn leaders_are_spread_over_the_nodes_that_are_there() {
    let Some(mut machines) = Machines::new() else { return };
    let spread = PREVIEW.replace("3600", &SPREAD.as_secs().to_string());
    (0..3).for_each(|node| machines.configure(node, &spread));
    machines.found();
    until_led(&machines);
    let keys = ["one", "two"].map(|name| opened(&machines, name).2);
    let is_known = |key| (0..3).all(|node| call(&machines, node, key, "GET", "/v1/balance", None).0 == 200);
    machines.until(|_| keys.iter().all(|key| is_known(key)));
    let (ports, is_over) = (machines.ports(), AtomicBool::new(false));
    // Whoever asks all nodes in turn is served meanwhile.
    let served = |what: &str, most: Duration, act: &mut dyn FnMut()| {
        is_over.store(false, Ordering::SeqCst);
        let gaps: Vec<Duration> = std::thread::scope(|scope| {
            let callers = keys.each_ref().map(|key| scope.spawn(|| longest_gap(&ports, key, &is_over)));
            let ends = Ends(&is_over);
            act();
            drop(ends);
            callers.into_iter().map(|caller| caller.join().expect("a caller")).collect()
        });
        eprintln!("{what}: nobody was served for {gaps:?}");
        assert!(gaps.iter().all(|gap| *gap < gaps::most(most)), "{what}: {gaps:?}");
    };
    served("spread after the founding", gaps::KILLED, &mut || {
        machines.until(|machines| led(machines, 1) == Some([1, 1, 1]));
    });

    // An operator has the last word for a while, at any node, about any partition.
    served("handed over by an operator", gaps::KILLED, &mut || {
        let mut ordered_at = Instant::now();
        for partition in 0..3 {
            let to = json!({ "to": "n0", "partition": partition });
            machines.until(|machines| {
                ordered_at = Instant::now();
                match machines.operator(1, "POST", "/admin/cluster/hand-over", Some(&to)) {
                    Some((200, done)) => done["leader"] == "n0",
                    None | Some((503, _)) => false,
                    other => panic!("{partition}: {other:?}"),
                }
            });
        }
        machines.until(|machines| led(machines, 2) == Some([3, 0, 0]));
        ordered_at = Instant::now();
        let again = machines.command(2, &["cluster", "hand-over", "n0", "--partition", "2"]);
        let done: Value = serde_json::from_slice(&again.stdout).unwrap_or_default();
        assert!(again.status.success() && done["leader"] == "n0", "{}", said(&again));
        let status = machines.command(2, &["cluster", "status"]).stdout;
        let status = String::from_utf8_lossy(&status).into_owned();
        assert!(status.matches("n0").count() >= 4, "a row for each partition, with its leader: {status}");
        std::thread::sleep(Duration::from_secs(2));
        let now = led(&machines, 2);
        let is_held = now == Some([3, 0, 0]) || ordered_at.elapsed() >= SPREAD;
        assert!(is_held, "an operator's word holds: {now:?} after {:?}", ordered_at.elapsed());
    });
    let refused = json!({ "to": "n0", "partition": 3 });
    let refused = machines.operator(1, "POST", "/admin/cluster/hand-over", Some(&refused));
    assert_eq!(refused.map(|(status, _)| status), Some(400));

    let processes = (0..3).filter_map(|partition| process(&machines, 0, partition));
    let lost: Vec<String> = processes.chain([machines.pid(0)]).map(|pid| pid.to_string()).collect();
    assert_eq!(lost.len(), 4);
    served("a node lost", gaps::KILLED, &mut || {
        assert!(
            std::process::Command::new("kill").arg("-KILL").args(&lost).status().expect("it runs").success()
        );
        machines.kill(0);
        let others = |machines: &Machines| led(machines, 1).filter(|[lost, ..]| *lost == 0);
        machines.until(|machines| others(machines).is_some_and(|[_, one, two]| one.abs_diff(two) == 1));
    });
    machines.start(0);
    served("spread after its return", gaps::KILLED, &mut || {
        machines.until(|machines| led(machines, 1) == Some([1, 1, 1]));
    });
    machines.until_ready();
    machines.stop_all();
    machines.logs_agree();
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

/// What an operator reads at a node.
fn read(machines: &Machines, node: usize, path: &str) -> (u16, HashMap<String, String>, Value) {
    let head = format!("host: localhost\r\nauthorization: Bearer {}\r\n", Machines::TOKEN);
    let port = machines.admin_port(node);
    crate::machines::exchange_as(port, "GET", path, None, &head).expect("an answer")
}

const MISSING: &str = "pasarela-partitions-missing";

fn ids(page: &Value, id: &str) -> Vec<String> {
    let items = page["items"].as_array().expect("a list");
    items.iter().map(|item| item[id].as_str().expect("an id").to_owned()).collect()
}

/// A list by pages of two, each at another node, from a cursor on.
fn walked(machines: &Machines, list: &str, id: &str, mut cursor: Option<String>) -> Vec<String> {
    let (mut seen, mut node) = (Vec::new(), 0);
    loop {
        let from = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let (status, headers, page) = read(machines, node % 3, &format!("{list}limit=2{from}"));
        assert_eq!((status, headers.get(MISSING)), (200, None), "{list}: {page}");
        let shown = ids(&page, id);
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        assert!(shown.len() == 2 || cursor.is_none(), "{list}: {page}");
        seen.extend(shown);
        node += 1;
        if cursor.is_none() {
            return seen;
        }
    }
}

/// The day on which the newest payment was made, in Caracas.
fn made_on(machines: &Machines) -> String {
    let page = read(machines, 0, "/admin/payments?limit=1").2;
    let made = page["items"][0]["createdAt"].as_str().expect("an instant");
    let made = chrono::DateTime::parse_from_rfc3339(made).expect("an instant");
    (made - chrono::TimeDelta::hours(4)).format("%Y-%m-%d").to_string()
}

#[test]
fn operators_lists_are_of_all_partitions_and_name_those_that_are_missing() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "200.00" });
    let rated = machines.operator(1, "POST", "/admin/rates", Some(&rate));
    assert_eq!(rated.map(|(status, _)| status), Some(201));
    let accounts = ["one", "two", "three"].map(|name| opened(&machines, name));
    assert_eq!(accounts.each_ref().map(|(partition, ..)| *partition), [1, 2, 0]);
    let mut made = Vec::new();
    for nth in 0..4 {
        for (partition, _, key) in &accounts {
            let charge = json!({ "usdAmount": 10, "debtorId": "V12345678", "debtorCellPhone": "04141234567",
                "debtorBankCode": 134, "externalRef": format!("order-{nth}") });
            let mut shown = Value::Null;
            // A front hears of a new key in a moment.
            machines.until(|machines| {
                let path = "/v1/payments/c2p/request";
                let (status, answer) = call(machines, nth % 3, key, "POST", path, Some(&charge));
                shown = answer;
                status < 300
            });
            let mut paid = charge.clone();
            (paid["intentId"], paid["token"]) = (shown["intentId"].clone(), json!("12345678"));
            let (status, paid) = call(&machines, 0, key, "POST", "/v1/payments/c2p", Some(&paid));
            assert!(status < 300, "{paid}");
            made.push((*partition, shown["intentId"].as_str().expect("an id").to_owned()));
        }
    }
    let newest_first = |meant: &dyn Fn(u64) -> bool| {
        let meant = made.iter().filter(|(partition, _)| meant(*partition));
        let mut ids: Vec<String> = meant.map(|(_, id)| id.clone()).collect();
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids
    };
    let all = newest_first(&|_| true);
    assert_eq!(walked(&machines, "/admin/payments?", "id", None), all);
    let (partition, tenant, _) = &accounts[1];
    let of_one = format!("/admin/payments?tenantId={tenant}&");
    assert_eq!(walked(&machines, &of_one, "id", None), newest_first(&|of| of == *partition));

    // A correction is in the log of the account's partition, its settings are in the first's.
    let correction = json!({ "mode": "test", "currency": "VES", "amount": "5.00", "description": "x", "externalRef": "a" });
    let corrected =
        machines.operator(0, "POST", &format!("/admin/tenants/{tenant}/adjustments"), Some(&correction));
    let (status, shown) = corrected.expect("an answer");
    assert!(status < 300, "{shown}");
    let settings = json!({ "reserveVes": "40.00" });
    let set = machines.operator(1, "PATCH", &format!("/admin/tenants/{tenant}/settings"), Some(&settings));
    assert_eq!(set.map(|(status, _)| status), Some(200));
    let audit = read(&machines, 2, &format!("/admin/audit?tenantId={tenant}")).2;
    let actions: Vec<_> = audit["items"].as_array().expect("a list").iter().map(|of| &of["action"]).collect();
    assert_eq!(actions, ["tenant.settings", "adjustment.create", "tenant.create"], "{audit}");
    let whole = read(&machines, 0, "/admin/audit").2;
    assert_eq!(walked(&machines, "/admin/audit?", "id", None), ids(&whole, "id"));

    let found = read(&machines, 1, "/admin/search?q=order-1").2;
    let hits: Vec<_> = all.iter().filter(|id| made[3..6].iter().any(|(_, of)| of == *id)).cloned().collect();
    assert_eq!(ids(&found, "id"), hits, "{found}");
    let named = read(&machines, 1, "/admin/search?q=one").2;
    assert_eq!(ids(&named, "id"), [accounts[0].1.clone()], "once, of two that know it: {named}");
    let rows = |answer: &str| {
        let begins = |id: &String| answer.find(&format!("{id},"));
        all.iter().map(begins).collect::<Vec<_>>()
    };
    let csv = machines.text(2, "/admin/payments", "text/csv");
    let places = rows(&csv);
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{csv}");
    assert!(csv.matches("externalRef").count() == 1 && !csv.contains(MISSING), "{csv}");
    // What the platform earned is what its accounts paid.
    let days = "currency=VES&from=2020-01-01&to=2021-01-01&mode=test";
    assert_eq!(read(&machines, 0, &format!("/admin/statements?{days}")).0, 200);
    let today = made_on(&machines);
    let days = format!("currency=VES&from={today}&to={today}&mode=test");
    let fees = |path: &str| -> f64 {
        let (status, _, statement) = read(&machines, 2, &format!("{path}?{days}"));
        assert_eq!(status, 200, "{statement}");
        statement["days"][0]["fees"].as_str().expect("an amount").parse().expect("a number")
    };
    let paid = accounts.iter().map(|(_, id, _)| fees(&format!("/admin/tenants/{id}/statements")));
    let (paid, earned) = (paid.collect::<Vec<_>>(), fees("/admin/statements"));
    assert!(paid.iter().all(|paid| *paid < 0.0), "{paid:?}");
    assert!((paid.iter().sum::<f64>() + earned).abs() < 0.001, "{paid:?} {earned}");
    let metrics = machines.text(1, "/metrics", "*/*");
    for partition in 0..3 {
        let sample = format!("pasarela_cluster_epoch{{partition=\"{partition}\"}} ");
        assert_eq!(metrics.matches(&sample).count(), 1, "{metrics}");
    }
    assert_eq!(metrics.matches("# TYPE pasarela_cluster_epoch ").count(), 1);

    // Refusals, and cursors of other lists.
    let (_, _, page) = read(&machines, 0, "/admin/payments?limit=2");
    let cursor = page["nextCursor"].as_str().expect("a cursor").to_owned();
    let (_, _, page) = read(&machines, 0, &format!("{of_one}limit=2"));
    let of_partition = page["nextCursor"].as_str().expect("a cursor");
    for bad in [
        format!("/admin/payouts?cursor={cursor}"),
        format!("/admin/payments?status=PENDING&cursor={cursor}"),
        format!("/admin/payments?cursor={of_partition}"),
        format!("{of_one}cursor={cursor}"),
        "/admin/payments?limit=0".to_owned(),
        "/admin/payments?colour=blue".to_owned(),
    ] {
        let (status, _, problem) = read(&machines, 1, &bad);
        assert_eq!((status, &problem["error"]), (400, &json!("invalid_data")), "{bad}: {problem}");
    }
    let nobody = crate::machines::exchange_as(
        machines.admin_port(1),
        "GET",
        "/admin/payments",
        None,
        "host: localhost\r\n",
    );
    assert_eq!(nobody.map(|(status, ..)| status), Some(401));

    // Without a partition, and with it again: its cursor goes on where it was.
    let gone: Vec<String> =
        (0..3).map(|node| process(&machines, node, 2).expect("it runs").to_string()).collect();
    let signal = |name: &str| {
        assert!(
            std::process::Command::new("kill").arg(name).args(&gone).status().expect("it runs").success()
        );
    };
    signal("-STOP");
    let mut shown = all[..2].to_vec();
    let mut cursor = cursor;
    for node in 0..3 {
        let (status, headers, page) =
            read(&machines, node, &format!("/admin/payments?limit=2&cursor={cursor}"));
        assert_eq!((status, headers.get(MISSING).map(String::as_str)), (200, Some("2")), "{page}");
        let items = ids(&page, "id");
        assert!(items.iter().all(|id| !newest_first(&|of| of == 2).contains(id)), "{page}");
        shown.extend(items);
        cursor = page["nextCursor"].as_str().expect("a cursor").to_owned();
        for refused in [&of_one, &format!("/admin/statements?{days}")] {
            let (status, _, problem) = read(&machines, node, refused);
            assert_eq!((status, &problem["error"]), (503, &json!("no_leader")), "{refused}: {problem}");
        }
    }
    let csv = machines.text(0, "/admin/payments", "text/csv");
    assert!(csv.to_lowercase().contains(&format!("{MISSING}: 2\r\n")), "{csv}");
    for (partition, id) in &made {
        assert_eq!(csv.contains(id), *partition != 2, "{csv}");
    }
    let metrics = machines.text(2, "/metrics", "*/*");
    assert!(metrics.to_lowercase().contains(&format!("{MISSING}: 2\r\n")), "{metrics}");
    assert!(!metrics.contains("partition=\"2\""), "{metrics}");
    signal("-CONT");
    until_led(&machines);
    machines.until(|machines| {
        (0..3).all(|node| !read(machines, node, "/admin/payments").1.contains_key(MISSING))
    });
    shown.extend(walked(&machines, "/admin/payments?", "id", Some(cursor)));
    shown.sort_unstable_by(|one, other| other.cmp(one));
    assert_eq!(shown, all, "each once");
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
