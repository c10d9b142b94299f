//! Who leads after what looks like the leader's death, and when.

use crate::gaps;
use crate::insist;
use crate::machines::{Machines, ok};
use crate::proxy::Ways;
use hyper::Method;
use pasarela::cluster::peers::{Passed, PeerKey, Surface};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// What is said of a leader to which no connection comes about.
const NO_CONNECTION: &str = "no connection to the leader";

/// Who leads, and since which epoch.
fn lead(machines: &Machines) -> (Value, Value) {
    let leader = machines.leader();
    let shown = ok(machines.operator(leader, "GET", "/admin/cluster", None));
    (shown["leader"].clone(), shown["epoch"].clone())
}

#[test]
fn a_leader_that_dies_is_replaced_at_once_and_one_that_is_cut_off_keeps_the_log() {
    let Some(mut machines) = Machines::new() else { return };
    (0..3).for_each(|node| machines.configure(node, "failover_ms = 10000"));
    machines.found();
    let before = lead(&machines);
    let leader = machines.leader();
    for round in 0..5 {
        // They cannot reach it any more either, as behind a firewall that resets.
        machines.break_peer(leader, true);
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(1) {
            let reference = format!("s-{round}-{}", began.elapsed().as_millis());
            crate::insist_at(&machines, &[leader], &reference);
            std::thread::sleep(Duration::from_millis(50));
        }
        machines.break_peer(leader, false);
        machines.until_ready();
        assert_eq!(lead(&machines), before, "{}", machines.logs());
        // A connection that is whole again is there to end.
        machines.until(|machines| passes(machines, leader));
        std::thread::sleep(Duration::from_millis(500));
    }
    // Whoever finds no way to it for long says so, once.
    let others: Vec<usize> = (0..3).filter(|node| *node != leader).collect();
    let said = |machines: &Machines, node| machines.log(node).matches(NO_CONNECTION).count();
    machines.break_peer(leader, true);
    machines.until(|machines| others.iter().all(|node| said(machines, *node) > 0));
    std::thread::sleep(Duration::from_secs(1));
    assert!(others.iter().all(|node| said(&machines, *node) == 1), "{}", machines.logs());
    machines.break_peer(leader, false);
    machines.until(|machines| passes(machines, leader));
    std::thread::sleep(Duration::from_millis(500));
    // A standby that dies is no sign of anything.
    machines.kill((leader + 1) % 3);
    std::thread::sleep(Duration::from_secs(1));
    machines.start((leader + 1) % 3);
    machines.until_ready();
    assert_eq!(lead(&machines), before, "{}", machines.logs());
    std::thread::sleep(Duration::from_secs(1));
    machines.kill(leader);
    let began = Instant::now();
    insist(&machines, "after");
    assert!(began.elapsed() < gaps::most(gaps::KILLED), "{:?}: {}", began.elapsed(), machines.logs());
    machines.start(leader);
    machines.until_ready();
    machines.stop_all();
    machines.tips_are_equal();
}

/// Whether the others reach the leader.
fn passes(machines: &Machines, leader: usize) -> bool {
    (0..3)
        .filter(|node| *node != leader)
        .all(|node| matches!(machines.get(node, "/v1/balance"), Some((200, _))))
}

#[test]
fn a_leader_that_hears_nothing_from_etcd_says_nothing_and_is_replaced() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "before");
    let leader = machines.leader();
    machines.cut_etcd(leader, Ways::Back, true);
    let began = Instant::now();
    insist(&machines, "after");
    let took = began.elapsed();
    machines.cut_etcd(leader, Ways::Back, false);
    assert!(took < gaps::most(gaps::SILENT), "{took:?}: {}", machines.logs());
    machines.until_ready();
    assert_ne!(machines.leader(), leader);
    machines.stop_all();
    machines.tips_are_equal();
}

#[test]
fn a_leader_that_stops_hands_over_to_no_node_that_has_just_died() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    for round in 0..3 {
        machines.until_caught_up();
        let leader = machines.leader();
        // Of two that have said the same, the one that was handed the log.
        let dead = if leader == 2 { 1 } else { 2 };
        std::thread::sleep(Duration::from_millis(500));
        let earlier = machines.log(leader).len();
        machines.kill(dead);
        machines.signal(leader, "TERM");
        let began = Instant::now();
        let mut longest = Duration::ZERO;
        let mut last = began;
        let mut number = 0;
        while began.elapsed() < Duration::from_secs(3) {
            insist(&machines, &format!("s-{round}-{number}"));
            number += 1;
            longest = longest.max(last.elapsed());
            last = Instant::now();
        }
        assert!(longest < gaps::most(gaps::KILLED), "{longest:?}: {}", machines.logs());
        machines.until_stopped(leader);
        let said = machines.log(leader)[earlier..].to_owned();
        assert!(!said.contains(&format!("\"to\":\"n{dead}\"")), "it was handed to a dead node: {said}");
        machines.start(leader);
        machines.start(dead);
        machines.until_ready();
    }
}

/// What the leader says to a node that wants to hold on to it.
fn lifeline(machines: &Machines, leader: usize) -> Option<u16> {
    let mark = std::fs::read(machines.data(leader).join("mark.key")).expect("a key");
    let key = PeerKey::derived(&mark.try_into().expect("32 bytes"));
    let nobody = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let asked =
        Passed { method: &Method::GET, target: "peer lifeline", surface: Surface::Admin, peer: nobody };
    let proof = key.prove(&asked, pasarela::recovery::now_ms());
    let mut stream = TcpStream::connect(("127.0.0.1", machines.peer_port(leader))).ok()?;
    let head = format!("GET /peer/lifeline HTTP/1.1\r\nhost: localhost\r\npasarela-peer: {proof}\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut status = [0; 12];
    stream.read_exact(&mut status).ok()?;
    String::from_utf8_lossy(&status).split(' ').nth(1)?.parse().ok()
}

#[test]
fn a_leader_that_stops_while_nobody_follows_leaves_the_log_to_who_comes() {
    let Some(mut machines) = Machines::new() else { return };
    (0..3).for_each(|node| machines.configure(node, "failover_ms = 10000"));
    machines.found();
    insist(&machines, "before");
    machines.until_caught_up();
    let leader = machines.leader();
    let (next, last) = ((leader + 1) % 3, (leader + 2) % 3);
    machines.kill(next);
    machines.kill(last);
    // Somebody's request keeps it from ending at once.
    let mut half = TcpStream::connect(("127.0.0.1", machines.ports()[leader])).expect("it listens");
    half.write_all(b"POST /v1/merchants HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{")
        .expect("taken");
    assert_eq!(lifeline(&machines, leader), Some(200));
    machines.signal(leader, "TERM");
    // While it still waits for somebody to hand the log to.
    machines.until(|machines| lifeline(machines, leader) == Some(503));
    machines.until(|machines| machines.log(leader).contains("\"stopping\""));
    machines.start(next);
    machines.until(|machines| machines.is_ready(next));
    machines.until_stopped(leader);
    let began = Instant::now();
    crate::insist_at(&machines, &[next], "after");
    assert!(began.elapsed() < gaps::most(gaps::KILLED), "{:?}: {}", began.elapsed(), machines.logs());
    machines.start(last);
    machines.start(leader);
    machines.until_ready();
    machines.stop_all();
    machines.tips_are_equal();
}
