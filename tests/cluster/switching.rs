//! Switches of the leader that somebody asks for: by a call, by a command, by a stop. What is answered
//! is what was done, and what cannot be done keeps nobody from working.

use crate::beside::{product, window};
use crate::machines::{Machines, exchange, ok};
use crate::{insist, seller, sellers};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The longest time for which a refused switch may keep calls waiting.
const INTERRUPTED: Duration = Duration::from_secs(2);
/// The longest that a stop takes: the time for requests under way, and some for the rest.
const STOPPED: Duration = Duration::from_secs(25);

/// The longest that a stop of all machines at once takes, while nobody has a request under way.
const ALL_STOPPED: Duration = Duration::from_secs(4);

/// The longest that a start takes until it is refused.
const REFUSED: Duration = Duration::from_secs(20);

/// More than the last batch in etcd has, and less than five have.
const WINDOW_BYTES: u64 = 5_000;

/// The longest for two commands whose own node is frozen.
const ASKED: Duration = Duration::from_secs(20);

fn hand_over(machines: &Machines, at: usize, to: &str, key: &str) -> (u16, Value) {
    let body = json!({ "to": to });
    let port = machines.admin_port(at);
    let answer = exchange(port, "POST", "/admin/cluster/hand-over", Some(&body), key);
    answer.map(|(status, _, shown)| (status, shown)).expect("an answer")
}

/// A switch to a node that has just died: refused, and the leader goes on at once.
fn refuse(machines: &mut Machines, leader: usize, dead: usize) {
    let name = format!("n{dead}");
    machines.kill(dead);
    let began = Instant::now();
    let (status, refused) = hand_over(machines, leader, &name, "");
    assert_eq!((status, &refused["error"]), (409, &json!("not_a_candidate")), "{refused}");
    let reference = format!("after-{name}-{}", machines.pid(leader));
    while machines.post(leader, "/v1/merchants", &seller(&reference)).map(|(status, _)| status) != Some(201) {
        assert!(began.elapsed() < INTERRUPTED, "nothing is done {:?} after the refusal", began.elapsed());
    }
    assert!(began.elapsed() < INTERRUPTED, "{:?}", began.elapsed());
    assert_eq!(machines.leader(), leader);
}

/// The answers that are the same on every operators' listener, whoever leads.
fn answer_alike(machines: &Machines) {
    for node in 0..3 {
        let status = |method: &str, path: &str| {
            machines.operator(node, method, path, None).map(|(status, _)| status).expect("an answer")
        };
        for path in ["/healthz", "/readyz"] {
            assert_eq!((status("GET", path), status("POST", path)), (200, 405), "n{node} {path}");
        }
        assert_eq!(
            machines.post(node, "/readyz", &json!({})).map(|(status, _)| status),
            Some(405),
            "n{node}"
        );
        assert_eq!(
            (status("GET", "/admin/cluster"), status("GET", "/admin/cluster?x=1")),
            (200, 400),
            "n{node}"
        );
    }
}

/// Only a node that there is, and that neither leads nor follows any more, is forgotten.
fn forget(machines: &Machines) {
    for name in ["nobody", "", "n0", "n2"] {
        let refused = machines.command(1, &["cluster", "forget", name]);
        let says = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{name}: {says}");
        assert!(says.contains("n0, n1, n2") && says.trim().lines().count() == 1, "{says}");
    }
}

/// Writes what etcd keeps for the nodes that are away.
fn fill_window(machines: &Machines) {
    let mut random = 1;
    for _ in 0..5 {
        let made = machines.post(0, "/v1/products", &product(&mut random));
        assert!(matches!(made, Some((200..=201, _))), "{made:?}");
    }
    machines.until(|machines| window(machines) > WINDOW_BYTES);
}

/// The copy of a node's directory, which does not run beside it.
fn start_copied(machines: &Machines, copy: &Path) {
    let mut beside = machines.pasarela(1, &["serve"]);
    beside.env("PASARELA__STORAGE__PATH", copy).env("PASARELA__CLUSTER__PEER_LISTEN", "127.0.0.1:0");
    for listener in ["SERVER", "ADMIN"] {
        beside.env(format!("PASARELA__{listener}__LISTEN"), "127.0.0.1:0");
    }
    let mut child = beside.stderr(Stdio::piped()).spawn().expect("it runs");
    let began = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if began.elapsed() > REFUSED {
            child.kill().expect("it is killed");
            panic!("a copy runs beside its node");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let refused = child.wait_with_output().expect("it has ended");
    let says = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{says}");
    assert!(says.contains("copy of this directory"), "{says}");
    assert!(!says.contains("no longer in etcd"), "it took a part before it was refused: {says}");
}

/// A node that starts, or starts anew, until it is ready: nothing was done by it meanwhile, and it
/// says why in words for anybody.
fn until_ready(machines: &Machines, node: usize) {
    let mut is_ready = false;
    machines.until(|machines| {
        if let Some((503, refused)) = machines.post(node, "/v1/merchants", &json!({})) {
            assert_ne!(refused["error"], "overloaded", "{refused}");
        }
        if let Some((status, shown)) = machines.get(node, "/readyz") {
            is_ready = status == 200;
            let why = shown["reason"].as_str().unwrap_or_default();
            assert!(is_ready || !(why.is_empty() || why.contains("127.0.0.1")), "{shown}");
            let starts = why.starts_with("starting");
            assert!(starts || (shown["node"].is_string() && shown["behind"].is_number()), "{shown}");
        }
        is_ready
    });
}

#[test]
fn a_switch_says_what_was_done_and_a_stop_ends() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    let show = |machines: &Machines| ok(machines.operator(0, "GET", "/admin/cluster", None));
    machines.until(|machines| show(machines)["nodes"].as_array().map(Vec::len) == Some(3));
    answer_alike(&machines);
    refuse(&mut machines, 0, 2);
    refuse(&mut machines, 0, 1);
    let copy = machines.path("copy");
    let copied = Command::new("cp").arg("-a").arg(machines.data(1)).arg(&copy).status();
    assert!(copied.expect("cp runs").success());
    fill_window(&machines);
    for node in [1, 2] {
        machines.start(node);
        until_ready(&machines, node);
    }
    forget(&machines);
    start_copied(&machines, &copy);
    // The records after the copy's are no longer in etcd.
    machines.until(|machines| window(machines) < WINDOW_BYTES);
    start_copied(&machines, &copy);
    // Its own node is frozen: others are asked.
    machines.signal(2, "STOP");
    let began = Instant::now();
    let shown = machines.command(2, &["cluster", "status"]);
    assert!(
        shown.status.success() && String::from_utf8_lossy(&shown.stdout).contains("leader n0"),
        "{shown:?}"
    );
    let switched = machines.command(2, &["cluster", "hand-over", "n0"]);
    assert!(switched.status.success(), "{}", String::from_utf8_lossy(&switched.stderr));
    assert!(began.elapsed() < ASKED, "{:?}", began.elapsed());
    machines.signal(2, "CONT");
    until_ready(&machines, 2);

    let errors = |machines: &Machines| machines.logs().matches(r#""level":"ERROR""#).count();
    let before = errors(&machines);
    // Under a key too, which the deposed leader cannot write down any more.
    let (status, done) = hand_over(&machines, 0, "n1", "switch-1");
    assert_eq!((status, &done["leader"]), (200, &json!("n1")), "{done}");
    let (status, again) = hand_over(&machines, 1, "n1", "switch-1");
    assert_eq!((status, &again), (200, &done), "the same, and nothing happens");
    until_ready(&machines, 0);
    let command = machines.command(1, &["admin", "cluster", "hand-over", "n2"]);
    assert!(command.status.success(), "{}", String::from_utf8_lossy(&command.stderr));
    assert!(String::from_utf8_lossy(&command.stdout).contains("n2"), "{command:?}");
    // A leader that was deposed a moment ago is told to stop.
    std::thread::sleep(Duration::from_millis(100));
    machines.stop_within(1, STOPPED);
    insist(&machines, "after-the-command");

    // Somebody's request never comes to its end.
    machines.start(1);
    machines.until_ready();
    let mut half = TcpStream::connect(("127.0.0.1", machines.ports()[2])).expect("it listens");
    half.write_all(b"POST /v1/merchants HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{")
        .expect("taken");
    machines.stop_within(2, STOPPED);
    insist(&machines, "after-the-stop");
    // Whatever a leader that was replaced still wanted to write is no error.
    assert_eq!(errors(&machines), before, "{}", machines.logs());
}

#[test]
fn machines_that_are_told_to_stop_at_once_do_not_wait_for_each_other() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    // The second is told before it has heard of the hand-over, while it opens, and once it serves.
    let after = [0, 20, 100];
    for after_ms in after {
        insist(&machines, &format!("after-{after_ms}"));
        let took = machines.stop_together(Duration::from_millis(after_ms));
        assert!(took < ALL_STOPPED, "{took:?} where each was told {after_ms} ms later: {}", machines.logs());
        (0..3).for_each(|node| machines.start(node));
        machines.until_ready();
    }
    assert_eq!(sellers(&machines, 0).len(), after.len());
}
