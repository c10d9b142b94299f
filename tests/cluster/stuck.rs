//! A standby that is stuck while the others go on: what etcd keeps for it is bounded, nobody waits
//! for it, and it comes back by itself.

use crate::beside::{product, window};
use crate::machines::{Machines, ok};
use std::time::{Duration, Instant};

/// The bound of the window in etcd, the smallest that may be.
const BOUND: u64 = 2 << 20;
/// The bytes that may come over it between two rounds in which the leader looks.
const LATE: u64 = 1 << 20;
/// The longest time that a write may take while it is pruned.
const WRITTEN: Duration = Duration::from_secs(5);
/// The writes after the window was pruned for the first time.
const AFTERWARDS: usize = 100;

#[test]
fn a_standby_that_is_stuck_past_the_bound_keeps_nobody_waiting_and_comes_back_by_a_copy() {
    let Some(mut machines) = Machines::new() else { return };
    (0..3).for_each(|node| machines.configure(node, &format!("window_bytes_max = {BOUND}")));
    machines.found();
    machines.until_caught_up();
    // It holds the window open only once the leader knows of it.
    machines.until(|machines| {
        let shown = ok(machines.operator(0, "GET", "/admin/cluster", None));
        shown["nodes"].as_array().map(Vec::len) == Some(3)
    });
    let (leader, pid) = (machines.leader(), machines.pid(2));
    assert_eq!(leader, 0, "the founder leads");
    machines.signal(2, "STOP");
    let (mut random, mut widest, mut left) = (1, 0, AFTERWARDS);
    machines.until(|machines| {
        for turn in 0..20 {
            // At the leader, and at the standby that passes it on.
            let began = Instant::now();
            let answer = machines.post(turn % 2, "/v1/products", &product(&mut random));
            assert!(matches!(answer, Some((201, _))), "{answer:?}");
            assert!(began.elapsed() < WRITTEN, "{:?}", began.elapsed());
        }
        let bytes = window(machines);
        let is_pruned = widest >= BOUND && bytes < BOUND / 4;
        widest = bytes.max(widest);
        left = if is_pruned || left < AFTERWARDS { left.saturating_sub(20) } else { left };
        left == 0
    });
    assert!(widest < BOUND + LATE, "{widest} bytes in etcd");
    assert_eq!(machines.leader(), leader, "nobody took over");
    machines.signal(2, "CONT");
    machines.until_ready();
    machines.until_caught_up();
    assert_eq!(machines.pid(2), pid, "no supervisor was needed");
    assert!(machines.log(2).contains("taking a copy"), "{}", machines.log(2));
    machines.stop_all();
    machines.tips_are_equal();
    let verified = machines.command(2, &["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
