//! Three etcd and three nodes on loopback, as processes: founding, joining, passing on, switching,
//! and killing. They need etcd, which `.ci/prerequisites tests` installs; without it they say so and
//! pass.

// Banks, a processor and a chain of other tests, which use more of them.
#[allow(dead_code)]
#[path = "../evm/chain.rs"]
mod chain;
#[allow(dead_code)]
#[path = "../rails/fake_wompi.rs"]
mod fake_wompi;
#[allow(dead_code)]
#[path = "../rails/outgoing/bank.rs"]
mod r4_bank;

mod any_node;
mod bank;
mod beside;
mod console;
mod copies;
mod deploying;
mod founding;
mod gaps;
mod joining;
mod live;
mod load;
mod machines;
mod moves;
mod moving;
mod operators;
mod own;
mod partitions;
mod proxy;
mod rounds;
mod skew;
mod streams;
mod stuck;
mod switching;
mod taking_over;
mod upgrading;
mod weather;

use machines::{Machines, ok};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The longest that a request may wait while etcd is silent: `failover_ms` and a second, and one more for
/// a busy machine.
const SILENT_MAX: Duration = Duration::from_millis(1_500 + 2_000);

fn seller(reference: &str) -> Value {
    json!({
        "externalRef": reference, "name": "Bodega", "identification": "V87654321",
        "contactEmail": "bodega@example.com", "contactPhone": "04147654321",
        "bankCode": "0134", "phone": "04147654321",
    })
}

/// Repeats a request at any node until one has done it; the id that it answers.
pub fn insist(machines: &Machines, reference: &str) -> String {
    insist_at(machines, &[0, 1, 2], reference)
}

/// The same, at these nodes.
pub fn insist_at(machines: &Machines, nodes: &[usize], reference: &str) -> String {
    let began = Instant::now();
    loop {
        for node in nodes {
            if let Some((200 | 201, body)) = machines.post(*node, "/v1/merchants", &seller(reference)) {
                return body["merchantId"].as_str().expect("an id").to_owned();
            }
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{reference} is not done");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The sellers that a node shows, by reference.
pub fn sellers(machines: &Machines, node: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut path = "/v1/merchants?limit=100".to_owned();
    loop {
        let page = ok(machines.get(node, &path));
        for item in page["items"].as_array().expect("a list") {
            let text = |name: &str| item[name].as_str().expect("a text").to_owned();
            found.push((text("externalRef"), text("merchantId")));
        }
        match page["nextCursor"].as_str() {
            Some(cursor) => path = format!("/v1/merchants?limit=100&cursor={cursor}"),
            None => return found,
        }
    }
}

#[test]
fn a_cluster_is_founded_joined_and_answers_on_every_node() {
    let Some(mut machines) = Machines::new() else { return };
    let refused = machines.command(0, &["serve"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cluster join"));
    assert!(!machines.data(0).exists(), "a refused start makes nothing");
    machines.found();
    assert_eq!(machines.command(0, &["cluster", "init"]).status.code(), Some(1), "a second init");
    let beside = machines.command(0, &["serve"]);
    assert!(String::from_utf8_lossy(&beside.stderr).contains("in use"));
    assert_eq!(beside.status.code(), Some(1), "another start may mend it");

    let (status, headers, _) = machines.exchange(1, "GET", "/v1/balance", None).expect("it answers");
    assert_eq!((status, headers.get("pasarela-served-by").map(String::as_str)), (200, Some("n0")));
    let (_, headers, _) = machines.exchange(0, "GET", "/v1/balance", None).expect("it answers");
    assert!(!headers.contains_key("pasarela-served-by"), "the leader answers in its own name");
    let ready = ok(machines.get(2, "/readyz"));
    assert_eq!(
        (&ready["role"], &ready["node"], &ready["leader"]),
        (&json!("standby"), &json!("n2"), &json!("n0"))
    );

    let show = |machines: &Machines| ok(machines.operator(2, "GET", "/admin/cluster", None));
    // Each says for itself, a few times a second, that it is there.
    machines.until(|machines| show(machines)["nodes"].as_array().map(Vec::len) == Some(3));
    let shown = show(&machines);
    assert_eq!((&shown["node"], &shown["leader"]), (&json!("n2"), &json!("n0")));
    for node in 0..3 {
        let shown = ok(machines.operator(node, "GET", "/admin/cluster", None));
        let [one] = shown["partitions"].as_array().map(Vec::as_slice).expect("partitions") else {
            panic!("{shown}")
        };
        for name in ["leader", "epoch", "agreedSeq", "windowBytes"] {
            assert_eq!(one[name], shown[name], "{name}");
        }
        let places = shown["nodes"].as_array().expect("nodes").iter().map(|node| &node["node"]);
        let of_one = one["nodes"].as_array().expect("nodes").iter().map(|node| &node["node"]);
        assert!(one["partition"] == 0 && places.eq(of_one), "{shown}");
    }
    let named = "host: localhost\r\nx-api-key: pk_test_demo\r\nx-request-id: before-the-switch\r\n";
    let read = machines::exchange_as(machines.ports()[1], "GET", "/v1/balance", None, named);
    assert_eq!(read.map(|(status, _, _)| status), Some(200));
    assert_eq!(ok(machines.get(1, "/v1/requests/before-the-switch"))["route"], "/v1/balance");
    let call = |body: Value| machines.operator(1, "POST", "/admin/cluster/hand-over", Some(&body));
    assert_eq!(call(json!({ "to": "nobody" })).map(|(status, _)| status), Some(400));
    assert_eq!(call(json!({ "too": "n1" })).map(|(status, _)| status), Some(400));
    assert_eq!(call(json!({ "to": "n2", "partition": 1 })).map(|(status, _)| status), Some(400));
    let done = ok(call(json!({ "to": "n2", "partition": 0 })));
    assert_eq!(done["leader"], "n2");
    let began = Instant::now();
    insist(&machines, "after-the-switch");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let (status, unknown) = machines.get(1, "/v1/requests/before-the-switch").expect("it answers");
    let why = unknown["message"].as_str().unwrap_or_default();
    assert!(status == 404 && why.contains("another one led before"), "{unknown}");

    let joined = machines.command(1, &["cluster", "join", "--from", &machines.peer(2)]);
    assert_eq!(joined.status.code(), Some(1), "a directory with something in it");
    machines.stop_all();
    machines.tips_are_equal();
    let info = machines.command(1, &["wal", "info", "--json"]).stdout;
    let info: Value = serde_json::from_slice(&info).expect("JSON");
    let one = json!([{ "partition": 0, "lastSeq": info["lastSeq"], "headHash": info["headHash"] }]);
    assert_eq!(info["partitions"], one);
    assert!(machines.command(1, &["wal", "verify", "--partition", "0"]).status.success());
    assert_eq!(machines.command(1, &["wal", "verify", "--partition", "1"]).status.code(), Some(2));
    machines.configure(1, "partitions = 2");
    let refused = machines.command(1, &["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("cluster.partitions"), "{said}");
}

#[test]
fn what_was_acknowledged_survives_killed_leaders_once() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    let mut acknowledged = Vec::new();
    for round in 0..3 {
        for n in 0..5 {
            let reference = format!("s-{round}-{n}");
            acknowledged.push((reference.clone(), insist(&machines, &reference)));
        }
        let leader = machines.leader();
        machines.kill(leader);
        let began = Instant::now();
        let reference = format!("s-{round}-first");
        acknowledged.push((reference.clone(), insist(&machines, &reference)));
        assert!(began.elapsed() < gaps::most(gaps::KILLED), "{:?}", began.elapsed());
        machines.start(leader);
    }
    machines.until_ready();
    for node in 0..3 {
        let mut found = sellers(&machines, node);
        found.sort();
        acknowledged.sort();
        assert_eq!(found, acknowledged);
    }
    machines.stop_all();
    machines.tips_are_equal();
    for node in 0..3 {
        let verified = machines.command(node, &["wal", "verify"]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
}

#[test]
fn a_leader_that_was_suspended_answers_nothing_old_and_stands_by() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "before");
    let old = machines.leader();
    let pid = machines.pid(old);
    machines.signal(old, "STOP");
    let other = (old + 1) % 3;
    let began = Instant::now();
    while !matches!(machines.post(other, "/v1/merchants", &seller("meanwhile")), Some((200 | 201, _))) {
        assert!(began.elapsed() < Duration::from_secs(15));
    }
    machines.signal(old, "CONT");
    // Whatever it answers from now on is with what happened meanwhile.
    let began = Instant::now();
    loop {
        if let Some((200, page)) = machines.get(old, "/v1/merchants?limit=100") {
            assert_eq!(page["items"].as_array().map(Vec::len), Some(2), "an old answer");
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "it does not come back");
    }
    machines.until_ready();
    assert_eq!(machines.pid(old), pid, "no supervisor was needed");
    assert_ne!(machines.leader(), old);
}

#[test]
fn without_a_majority_of_etcd_nobody_answers_from_memory() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "before");
    machines.kill_etcd(1);
    machines.kill_etcd(2);
    let began = Instant::now();
    loop {
        let answers: Vec<_> = (0..3).filter_map(|node| machines.get(node, "/v1/balance")).collect();
        let all = answers.len() == 3 && answers.iter().all(|(_, body)| body["error"] == "no_leader");
        if all {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{answers:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(machines.get(0, "/healthz").map(|(status, _)| status), Some(200));
    assert_eq!(machines.get(1, "/readyz").map(|(status, _)| status), Some(503));
}

#[test]
fn while_etcd_is_silent_nobody_waits_for_longer_than_a_takeover_and_a_second() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "before");
    let leader = machines.leader();
    (0..3).for_each(|etcd| machines.signal_etcd(etcd, "STOP"));
    let asked = |method: &str, path: &str, body: Option<Value>| {
        let began = Instant::now();
        let answer = machines.exchange(leader, method, path, body.as_ref());
        (answer.map(|(status, _, body)| (status, body["error"].clone())), began.elapsed())
    };
    let (read, refused, taken) = std::thread::scope(|scope| {
        let read = scope.spawn(|| asked("GET", "/v1/balance", None));
        let refused = scope.spawn(|| asked("POST", "/v1/merchants", Some(json!({ "name": 1 }))));
        let taken = scope.spawn(|| asked("POST", "/v1/merchants", Some(seller("meanwhile"))));
        let told = |asked: std::thread::ScopedJoinHandle<'_, _>| asked.join().expect("it asks");
        (told(read), told(refused), told(taken))
    });
    (0..3).for_each(|etcd| machines.signal_etcd(etcd, "CONT"));
    for (answer, took) in [&read, &refused, &taken] {
        assert!(*took < SILENT_MAX, "{answer:?} after {took:?}");
    }
    assert_eq!(read.0, Some((503, json!("no_leader"))));
    assert_eq!(refused.0, Some((503, json!("storage_unavailable"))));
    assert_eq!(taken.0, Some((503, json!("storage_unavailable"))));
    insist(&machines, "after");
}
