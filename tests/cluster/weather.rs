//! The front of a node in bad weather: while the processes of one partition are stopped, die or cannot be reached, its
//! own accounts are told so in time, and nobody else notices.

use crate::gaps::{self, FAILOVER_MS, most};
use crate::machines::{Machines, exchange_as, page_as};
use crate::moves::{self, Load, prepared};
use crate::partitions::{
    Ends, call, kill, leader_of, led, longest_gap, machines, opened, process, rows, said, until_led,
};
use crate::proxy::Ways;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest that a request hangs.
const HANGS: Duration = Duration::from_millis(FAILOVER_MS + 1_000);
/// Of others, while something happens that is not theirs.
const UNNOTICED: Duration = Duration::from_millis(600);
const NOBODY: &str = "01975a2e-7c00-7000-8000-000000000000";
const MISSING: &str = "pasarela-partitions-missing";
const NDJSON: &str = "application/x-ndjson";

/// The processes of a partition on all nodes.
fn processes(machines: &Machines, partition: usize) -> Vec<String> {
    (0..3).filter_map(|node| process(machines, node, partition)).map(|pid| pid.to_string()).collect()
}

fn signal(name: &str, pids: &[String]) {
    assert!(Command::new("kill").arg(name).args(pids).status().expect("it runs").success());
}

/// What has to be answered.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// A status of this hundred, soon.
    Served(u16),
    /// The same, as soon as those who do not answer are given up.
    Partly(u16),
    /// Certainly not carried out.
    NoLeader,
    /// Perhaps that, perhaps nobody knows.
    Unavailable,
}

struct Row {
    what: &'static str,
    is_admin: bool,
    /// With its method.
    path: String,
    body: (&'static str, String),
    head: String,
    told: Told,
}

/// At every node at the same time.
fn ask_all(machines: &Machines, rows: &[Row]) -> Vec<(u16, HashMap<String, String>, String)> {
    let ask = |row: &Row, node: usize| {
        let port = if row.is_admin { machines.admin_port(node) } else { machines.ports()[node] };
        let (method, path) = row.path.split_once(' ').expect("a method and a path");
        let (kind, body) = &row.body;
        let (head, began) = (format!("host: localhost\r\n{}", row.head), Instant::now());
        let answer = page_as(port, method, path, (kind, body), &head);
        let took = began.elapsed();
        let (status, headers, body) =
            answer.unwrap_or_else(|| panic!("{} at n{node}: no answer after {took:?}", row.what));
        let said = format!("{} at n{node}, {:?} after {took:?}: {status} {body}", row.what, row.told);
        let error = serde_json::from_str::<Value>(&body).unwrap_or_default()["error"].clone();
        match row.told {
            Told::Served(hundred) => assert!(status / 100 == hundred && took < most(UNNOTICED), "{said}"),
            Told::Partly(hundred) => assert_eq!(status / 100, hundred, "{said}"),
            Told::NoLeader => assert_eq!((status, &error), (503, &json!("no_leader")), "{said}"),
            Told::Unavailable => assert_eq!(status, 503, "{said}"),
        }
        if status == 503 && error.is_string() {
            assert!(
                ["no_leader", "storage_unavailable"].contains(&error.as_str().unwrap_or_default()),
                "{said}"
            );
            assert!(headers.contains_key("retry-after"), "{said}: {headers:?}");
        }
        assert!(took < most(HANGS), "{said}");
        (status, headers, body)
    };
    std::thread::scope(|scope| {
        let ask = &ask;
        let asked: Vec<_> =
            rows.iter().flat_map(|row| (0..3).map(move |node| scope.spawn(move || ask(row, node)))).collect();
        asked.into_iter().map(|asked| asked.join().expect("it is answered as it must be")).collect()
    })
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn a_partition_that_is_stopped_tells_its_own_accounts_in_time_and_nobody_else() {
    let Some(mut machines) = machines() else { return };
    machines.found();
    until_led(&machines);
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "200.00" });
    assert_eq!(machines.operator(1, "POST", "/admin/rates", Some(&rate)).expect("an answer").0, 201);
    let keys = ["zero", "one", "two"];
    let accounts: Vec<_> = (0..6).map(|n| opened(&machines, keys[n % 3])).collect();
    let of = |partition: u64| accounts.iter().find(|(of, ..)| *of == partition).expect("they are spread");
    let accounts = [0, 1, 2].map(of);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let made = accounts.map(|(_, _, key)| {
        let post = |path: &str, body: &Value| {
            let mut made = Value::Null;
            machines.until(|machines| {
                let (status, shown) = call(machines, 0, key, "POST", path, Some(body));
                made = shown;
                status == 201
            });
            made
        };
        let session = post("/v1/checkout/sessions", &json!({ "amountUsd": 10 }));
        let product = post("/v1/products", &json!({ "name": "Camisa", "priceUsd": "25.50" }));
        (text(&session["id"]), format!("POST /v1/products/{}/links", text(&product["id"])))
    });
    let token = format!("authorization: Bearer {}\r\n", Machines::TOKEN);
    for stopped in [2, 0] {
        let other = 1;
        let pids = processes(&machines, stopped);
        signal("-STOP", &pids);
        // Until the fronts hear of it: a process speaks four times a second.
        std::thread::sleep(UNNOTICED);
        let fund = json!({ "currency": "VES", "amount": "1.00" }).to_string();
        let key = |of: usize| format!("x-api-key: {}\r\n", accounts[of].2);
        let json = |body: &str| ("application/json", body.to_owned());
        let row = |what, path: &str, body, head: String, told| Row {
            what,
            is_admin: path.contains("/admin/") || path.ends_with("/metrics"),
            path: path.to_owned(),
            body,
            head,
            told,
        };
        let line = json!({ "key": format!("{stopped}"), "path": "/v1/test/fund",
            "body": { "currency": "VES", "amount": "1.00" } });
        let line = || (NDJSON, format!("{line}\n"));
        let page = || "accept: text/html\r\n".to_owned();
        let checkout = |of: &str| format!("GET /checkout/{of}");
        let mut rows = vec![
            row("its balance", "GET /v1/balance", json(""), key(stopped), Told::NoLeader),
            row("its money", "POST /v1/test/fund", json(&fund), key(stopped), Told::Unavailable),
            row("its lines", "POST /v1/stream", line(), key(stopped), Told::Unavailable),
            row("its buyers", &checkout(&made[stopped].0), json(""), page(), Told::Unavailable),
            row("nobody's buyers", &checkout(NOBODY), json(""), page(), Told::Unavailable),
            row("its link", &made[stopped].1, json("{}"), key(stopped), Told::Unavailable),
            row("another's balance", "GET /v1/balance", json(""), key(other), Told::Served(2)),
            row("another's money", "POST /v1/test/fund", json(&fund), key(other), Told::Served(2)),
            row("another's lines", "POST /v1/stream", line(), key(other), Told::Served(2)),
            row("another's buyers", &checkout(&made[other].0), json(""), page(), Told::Served(2)),
            row("another's link", &made[other].1, json("{}"), key(other), Told::NoLeader),
            row("the nodes", "GET /admin/cluster", json(""), token.clone(), Told::Served(2)),
            row("payments", "GET /admin/payments", json(""), token.clone(), Told::Partly(2)),
            row("figures", "GET /metrics", json(""), token.clone(), Told::Partly(2)),
        ];
        match stopped {
            0 => rows.extend([
                row("the platform's list", "GET /admin/tenants", json(""), token.clone(), Told::NoLeader),
                row(
                    "its change",
                    "POST /admin/tenants",
                    json(r#"{"name":"x"}"#),
                    token.clone(),
                    Told::Unavailable,
                ),
                row("another's own keys", "POST /v1/keys", json("{}"), key(other), Told::Unavailable),
                row("a third's balance", "GET /v1/balance", json(""), key(2), Told::Served(2)),
            ]),
            _ => rows.extend([
                row("the platform's list", "GET /admin/tenants", json(""), token.clone(), Told::Served(2)),
                row(
                    "its change",
                    "POST /admin/tenants",
                    json(r#"{"name":"x"}"#),
                    token.clone(),
                    Told::Partly(2),
                ),
                row("another's own keys", "POST /v1/keys", json("{}"), key(other), Told::Partly(2)),
                row("a third's balance", "GET /v1/balance", json(""), key(0), Told::Served(2)),
                row("readiness", "GET /readyz", json(""), String::new(), Told::Served(2)),
            ]),
        }
        for round in ["at once", "again"] {
            let answers = ask_all(&machines, &rows);
            for (row, (_, headers, body)) in rows.iter().flat_map(|row| [row; 3]).zip(&answers) {
                match row.what {
                    "payments" | "figures" => {
                        assert_eq!(headers.get(MISSING), Some(&stopped.to_string()), "{round}: {}", row.what);
                    }
                    "its change" if stopped != 0 => {
                        let made: Value = serde_json::from_str(body).expect("JSON");
                        assert_ne!(made["partition"], stopped, "{round}: born where it could not be served");
                    }
                    _ => {}
                }
            }
        }
        for node in 0..3 {
            let rates = "/api/v1/fx/latest?pair=USD/VES";
            let answer = exchange_as(machines.ports()[node], "GET", rates, None, "host: localhost\r\n");
            assert_eq!(
                answer.as_ref().map(|(status, ..)| *status),
                Some(200),
                "anybody's, at n{node}: {answer:?}"
            );
        }
        signal("-CONT", &pids);
        until_led(&machines);
        for (_, _, key) in &accounts {
            machines.until(|machines| {
                (0..3).all(|node| call(machines, node, key, "GET", "/v1/balance", None).0 == 200)
            });
        }
    }
    machines.stop_all();
}

/// A cluster, and the key of an account in each of its partitions.
fn spread() -> Option<(Machines, [String; 3])> {
    let mut machines = machines()?;
    machines.found();
    until_led(&machines);
    let accounts: Vec<_> = (0..6).map(|_| opened(&machines, "shop")).collect();
    let of = |partition: u64| accounts.iter().find(|(of, ..)| *of == partition).expect("they are spread");
    let keys = [0, 1, 2].map(|partition| of(partition).2.clone());
    Some((machines, keys))
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn nobody_notices_when_all_processes_of_another_partition_die_or_cannot_be_reached() {
    let Some((mut machines, keys)) = spread() else { return };
    let is_served =
        |key: &String| (0..3).all(|node| call(&machines, node, key, "GET", "/v1/balance", None).0 == 200);
    machines.until(|_| keys.iter().all(is_served));
    let (ports, is_over) = (machines.ports(), AtomicBool::new(false));
    let others_gaps = |hit: usize, act: &dyn Fn()| {
        is_over.store(false, Ordering::SeqCst);
        let others = keys.iter().enumerate().filter(|(partition, _)| *partition != hit);
        std::thread::scope(|scope| {
            let callers: Vec<_> =
                others.map(|(_, key)| scope.spawn(|| longest_gap(&ports, key, &is_over))).collect();
            let ends = Ends(&is_over);
            act();
            drop(ends);
            callers.into_iter().map(|caller| caller.join().expect("a caller")).collect::<Vec<_>>()
        })
    };
    for (hit, key) in keys.iter().enumerate() {
        let gaps = others_gaps(hit, &|| {
            let began = Instant::now();
            signal("-KILL", &processes(&machines, hit));
            machines.until(|_| is_served(key));
            eprintln!("all processes of {hit} killed: served again after {:?}", began.elapsed());
        });
        eprintln!("all processes of {hit} killed: the others were not served for {gaps:?}");
        assert!(gaps.iter().all(|gap| *gap < most(UNNOTICED)), "{hit}: {gaps:?}");
        until_led(&machines);
    }

    // What the leader says to other nodes is lost: etcd hears it, so that it goes on.
    let leader = leader_of(&machines, 0);
    let gaps = others_gaps(0, &|| {
        machines.cut_peer(leader, Ways::Back, true);
        for node in (0..3).filter(|node| *node != leader) {
            for _ in 0..2 {
                let began = Instant::now();
                let (status, shown) = call(&machines, node, &keys[0], "GET", "/v1/balance", None);
                let took = began.elapsed();
                let said = format!("n{node}, after {took:?}: {shown}; {:?}", rows(&machines, node));
                assert_eq!((status, &shown["error"]), (503, &json!("no_leader")), "{said}");
                assert!(took < most(HANGS), "{said}");
            }
        }
        assert_eq!(call(&machines, leader, &keys[0], "GET", "/v1/balance", None).0, 200, "who reaches it");
        machines.cut_peer(leader, Ways::Both, false);
        machines.until(|_| is_served(&keys[0]));
    });
    eprintln!("partition 0's leader is not heard: the others were not served for {gaps:?}");
    assert!(gaps.iter().all(|gap| *gap < most(UNNOTICED)), "{gaps:?}");
    machines.stop_all();
    machines.logs_agree();
}

/// A disk of its own, in the place of a directory, on which RocksDB finds no room to set aside.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(place: &Path) -> Option<SmallDisk> {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=64m", "tmpfs"]).arg(place).status();
        mounted.is_ok_and(|status| status.success()).then(|| SmallDisk(place.to_owned()))
    }

    fn fill(&self) {
        let mut file = std::fs::File::create(self.0.join("filled")).expect("a file");
        while file.write_all(&[7; 1 << 16]).is_ok() {}
        while file.write_all(&[7]).is_ok() {}
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn a_disk_that_is_full_under_one_partition_is_no_other_ones_trouble() {
    let Some((mut machines, keys)) = spread() else { return };
    machines.stop(0);
    let place = machines.data(0).join("partitions/1");
    let Some(disk) = SmallDisk::mount(&place) else {
        eprintln!("no disk can be mounted here: nothing was tried");
        return;
    };
    machines.start(0);
    machines.until_ready();
    until_led(&machines);
    let to = json!({ "to": "n0", "partition": 1 });
    machines.until(|machines| {
        matches!(machines.operator(1, "POST", "/admin/cluster/hand-over", Some(&to)), Some((200, _)))
    });
    until_led(&machines);
    let fund = json!({ "currency": "VES", "amount": "1.00" });
    let is_funded = |machines: &Machines, key: &String, node: usize| {
        call(machines, node, key, "POST", "/v1/test/fund", Some(&fund)).0 == 201
    };
    machines.until(|machines| keys.iter().all(|key| (0..3).all(|node| is_funded(machines, key, node))));
    let (ports, is_over) = (machines.ports(), AtomicBool::new(false));
    let gaps: Vec<Duration> = std::thread::scope(|scope| {
        let others = [&keys[0], &keys[2]];
        let callers = others.map(|key| scope.spawn(|| longest_gap(&ports, key, &is_over)));
        let ends = Ends(&is_over);
        let began = Instant::now();
        disk.fill();
        // Each node by itself: a front whose own process of it does not run knows from etcd who leads.
        let (mut served, mut sent) = ([false; 3], 0);
        machines.until(|machines| {
            // The zeros ahead of the log's end have room for some more.
            let line = |n: u32| json!({ "key": format!("full-{n}"), "path": "/v1/test/fund", "body": fund });
            let lines: String = (sent..sent + 500).map(|n| format!("{}\n", line(n))).collect();
            sent += 500;
            let head = format!("host: localhost\r\nx-api-key: {}\r\n", keys[1]);
            let _ = page_as(machines.ports()[0], "POST", "/v1/stream", (NDJSON, &lines), &head);
            for (node, served) in served.iter_mut().enumerate() {
                let row = rows(machines, 1).into_iter().nth(1).unwrap_or_default();
                let is_elsewhere = row["leader"].as_str().is_some_and(|leader| leader != "n0");
                *served |= is_funded(machines, &keys[1], node) && is_elsewhere;
            }
            served == [true; 3]
        });
        eprintln!("a full disk: partition 1 is served at every node again after {:?}", began.elapsed());
        drop(ends);
        callers.into_iter().map(|caller| caller.join().expect("a caller")).collect()
    });
    eprintln!("a full disk: the others were not served for {gaps:?}");
    assert!(gaps.iter().all(|gap| *gap < most(UNNOTICED)), "{gaps:?}");
    for node in [1, 2] {
        assert!(machines.is_ready(node));
    }
}

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn a_node_that_stops_hands_each_log_to_who_leads_least_and_nobody_waits() {
    let Some((mut machines, keys)) = spread() else { return };
    for round in 0..ROUNDS.min(3) {
        let node = round % 3;
        for partition in 0..3 {
            let to = json!({ "to": format!("n{node}"), "partition": partition });
            machines.until(|machines| {
                matches!(machines.operator(1, "POST", "/admin/cluster/hand-over", Some(&to)), Some((200, _)))
            });
        }
        until_led(&machines);
        let by = (node + 1) % 3;
        machines.until(|machines| led(machines, by).is_some_and(|led| led[node] == 3));
        // Its front tells its processes who is to lead instead.
        std::thread::sleep(Duration::from_millis(1_500));
        let (ports, is_over) = (machines.ports(), AtomicBool::new(false));
        let gaps: Vec<Duration> = std::thread::scope(|scope| {
            let callers = keys.each_ref().map(|key| scope.spawn(|| longest_gap(&ports, key, &is_over)));
            let ends = Ends(&is_over);
            std::thread::sleep(Duration::from_millis(500));
            let began = Instant::now();
            machines.stop(node);
            machines.until(|machines| {
                let led = led(machines, by);
                led.is_some_and(|led| led[node] == 0 && led.iter().max() <= Some(&2))
            });
            assert!(began.elapsed() < Duration::from_secs(9), "before anybody spreads them");
            std::thread::sleep(Duration::from_millis(500));
            drop(ends);
            callers.into_iter().map(|caller| caller.join().expect("a caller")).collect()
        });
        eprintln!("n{node} stopped, which led all: nobody was served for {gaps:?}");
        assert!(gaps.iter().all(|gap| *gap < most(Duration::from_millis(100))), "{gaps:?}");
        machines.start(node);
        machines.until_ready();
        until_led(&machines);
    }
    machines.stop_all();
}

/// As many as nobody asks for more: `ROUNDS=50`.
const ROUNDS: usize = 4;
const CALM: Duration = Duration::from_millis(1_500);
/// Until all is as it was before the next.
const LASTS: Duration = Duration::from_secs(4);

#[test]
#[ignore = "takes minutes: make cluster-test"]
fn random_processes_die_under_load_on_all_partitions_and_nothing_is_lost() {
    let Some(mut machines) = moves::machines() else { return };
    machines.found();
    until_led(&machines);
    let hook = TcpListener::bind("127.0.0.1:0").expect("a port");
    let hook = hook.local_addr().expect("an address").port();
    let shops = [(); 3].map(|()| prepared(&machines, hook));
    let before = shops
        .each_ref()
        .map(|(_, shop, _)| crate::load::hundredths(&shop.get("/v1/balance")["ledgerNetVes"]));
    let partitions = shops.each_ref().map(|(tenant, ..)| {
        let shown =
            machines.operator(0, "GET", &format!("/admin/tenants/{tenant}"), None).expect("an answer").1;
        shown["partition"].as_u64().and_then(|partition| usize::try_from(partition).ok()).expect("a number")
    });
    let mut sorted = partitions;
    sorted.sort_unstable();
    assert_eq!(sorted, [0, 1, 2], "one in each");
    let loads = shops.each_ref().map(|(_, shop, merchant)| Load::begin(shop, merchant));
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let mut chance = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_u64);
    let mut below = |end: usize| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) as usize % end
    };
    let p99 =
        |took: &[Duration]| took.get(took.len().saturating_sub(1) * 99 / 100).copied().unwrap_or_default();
    let mut ratios = Vec::new();
    for round in 1..=rounds {
        let calm_from = Instant::now();
        std::thread::sleep(CALM);
        // Mostly a third of the leaders; now and then any process, or a front with all of its own.
        let hit = below(3);
        let (node, what) = match below(4) {
            0 => (below(3), "a front"),
            1 => (below(3), "any process"),
            _ => (leader_of(&machines, hit), "a leader"),
        };
        let began = Instant::now();
        match what {
            "a front" => machines.kill(node),
            _ => process(&machines, node, hit).into_iter().for_each(kill),
        }
        std::thread::sleep(LASTS);
        let ended = Instant::now();
        let figures: Vec<String> = partitions
            .iter()
            .zip(&loads)
            .map(|(partition, (load, _))| {
                let calm = load.latencies(calm_from, began);
                let took = load.latencies(began, ended);
                let ratio = p99(&took).as_secs_f64() / p99(&calm).as_secs_f64().max(0.000_1);
                if what == "a leader" && *partition != hit {
                    ratios.push(ratio);
                }
                let gap = load.longest_gap(began).as_millis();
                format!("{partition}: not served for {gap} ms, p99 × {ratio:.2} of {:?}", p99(&calm))
            })
            .collect();
        eprintln!("round {round}: {what} of partition {hit} on n{node} killed; {}", figures.join("; "));
        if what == "a front" {
            machines.start(node);
        }
        machines.until_ready();
        until_led(&machines);
    }
    ratios.sort_by(f64::total_cmp);
    eprintln!("others' p99 while a leader died, times that of calm: {ratios:.2?}");
    loads.iter().for_each(|(load, _)| load.end());
    for ((load, callers), before) in loads.into_iter().zip(before) {
        callers.into_iter().for_each(|caller| caller.join().expect("a caller"));
        load.judge(before);
    }
    if gaps::is_strict() {
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
        assert!(median <= 1.5, "others notice: {ratios:?}");
    }
    machines.stop_all();
    machines.logs_agree();
    for node in 0..3 {
        let verified = machines.command(node, &["wal", "verify"]);
        assert!(verified.status.success(), "{}", said(&verified));
    }
}
