//! Who leads after what looks like the leader's death, and when.

use crate::insist;
use crate::machines::{Machines, ok};
use crate::proxy::Ways;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The time in which a killed leader is replaced, whatever `failover_ms` is: a second on a quiet machine.
const KILLED: Duration = Duration::from_secs(3);
/// The time in which somebody serves who was told of the stop of one that led.
const TERMINATED: Duration = Duration::from_millis(1_200);
/// The time in which a leader that hears nothing is replaced.
const DEAF: Duration = Duration::from_secs(4);

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
    assert!(began.elapsed() < KILLED, "{:?}: {}", began.elapsed(), machines.logs());
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
    assert!(took < DEAF, "{took:?}: {}", machines.logs());
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
        // Of two that have the same, the one that was handed the log.
        let dead = if leader == 2 { 1 } else { 2 };
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
        assert!(longest < TERMINATED, "{longest:?}: {}", machines.logs());
        machines.until_stopped(leader);
        machines.start(leader);
        machines.start(dead);
        machines.until_ready();
    }
}
