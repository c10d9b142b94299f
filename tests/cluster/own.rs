//! What is a standby's own: snapshots, backups and readiness on its operators' listener.

use crate::insist;
use crate::machines::{Machines, exchange, exchange_as};
use serde_json::{Value, json};

/// The name of the header that says that another node answered.
const SERVED_BY: &str = "pasarela-served-by";

#[test]
fn a_standby_copies_its_own_data_and_answers_for_itself() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    insist(&machines, "one");
    machines.until_caught_up();
    let standby = machines.admin_port(2);
    let own = |method: &str, path: &str, body: Option<&Value>| {
        let (status, headers, shown) = exchange(standby, method, path, body, "").expect("it answers");
        assert!(!headers.contains_key(SERVED_BY), "{path} was answered by another node");
        (status, shown)
    };
    let (status, ready) = own("GET", "/readyz", None);
    assert_eq!((status, &ready["role"], &ready["node"]), (200, &json!("standby"), &json!("n2")));
    assert_eq!(own("GET", "/admin/backup", None).0, 405);
    assert_eq!(own("POST", "/admin/backup", Some(&json!({ "too": 1 }))).0, 400);
    assert_eq!(own("POST", "/admin/snapshot?x=1", Some(&json!({}))).0, 400);
    assert_eq!(
        exchange_as(standby, "POST", "/admin/snapshot", None, "host: localhost\r\n").expect("it answers").0,
        401
    );

    let copy = machines.path("copy-of-n2");
    let asked = json!({ "path": copy });
    let (status, made) = own("POST", "/admin/backup", Some(&asked));
    assert_eq!((status, &made["path"]), (200, &json!(copy)));
    assert!(copy.join("PAST").is_file(), "the copy is on the standby's machine");
    assert_eq!(own("POST", "/admin/backup", Some(&asked)).0, 409);
    let into = machines.path("restored");
    let into = into.to_str().expect("text");
    let restored = machines.command(2, &["restore", copy.to_str().expect("text"), "--into", into]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));

    // Everything so far is in the snapshots: a start has nothing to replay.
    let (status, snapshot) = own("POST", "/admin/snapshot", None);
    assert_eq!(status, 200, "{snapshot}");
    assert!(snapshot["walSeq"].as_u64() >= made["walSeq"].as_u64());

    // A role below admin copies nothing.
    let ana = json!({ "name": "Ana", "email": "ana@example.com", "role": "treasury" });
    let (_, ana) = machines.operator(0, "POST", "/admin/operators", Some(&ana)).expect("an answer");
    let of_ana =
        format!("host: localhost\r\nauthorization: Bearer {}\r\n", ana["token"].as_str().expect("a token"));
    machines.until(|_| {
        let asked = exchange_as(standby, "POST", "/admin/backup", Some(&asked), &of_ana);
        let (status, headers, shown) = asked.expect("it answers");
        status == 403 && shown["error"] == "role_missing" && !headers.contains_key(SERVED_BY)
    });
}

#[test]
fn a_head_that_the_leader_takes_comes_through_a_standby() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    let leader = machines.leader();
    let (mut taken, mut refused) = (0, 0);
    for bytes in (64_000..66_000).step_by(50) {
        let head =
            format!("host: localhost\r\nx-api-key: pk_test_demo\r\nx-filler: {}\r\n", "a".repeat(bytes));
        let ports = machines.ports();
        let [own, passed] = [leader, (leader + 1) % 3].map(|node| {
            let answer = exchange_as(ports[node], "GET", "/v1/balance", None, &head);
            answer.map(|(status, _, _)| status)
        });
        assert_eq!(own, passed, "{bytes} bytes");
        match own {
            Some(200) => taken += 1,
            _ => refused += 1,
        }
    }
    assert!(taken > 0 && refused > 0, "{taken} taken, {refused} refused");
}

#[test]
fn a_standby_without_room_takes_snapshots_and_copies_nothing() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    machines.stop(2);
    machines.keep_free(2, 1 << 50);
    machines.start(2);
    machines.until_ready();
    machines.until_caught_up();
    let standby = machines.admin_port(2);
    let own =
        |path: &str, body: Option<&Value>| exchange(standby, "POST", path, body, "").expect("it answers");
    let body = json!({ "path": machines.path("copy") });
    let (status, headers, refused) = own("/admin/backup", Some(&body));
    assert_eq!((status, &refused["error"]), (503, &json!("storage_unavailable")), "{refused}");
    assert!(headers.contains_key("retry-after") && !headers.contains_key(SERVED_BY), "{headers:?}");
    assert!(!machines.path("copy").exists());
    assert_eq!(own("/admin/backup", Some(&json!({ "too": 1 }))).0, 503, "the body is not looked at");
    let stranger = exchange_as(standby, "POST", "/admin/backup", Some(&body), "host: localhost\r\n");
    assert_eq!(stranger.expect("it answers").0, 401);
    assert_eq!(own("/admin/snapshot", None).0, 200, "a snapshot is taken in the reserve");
}

#[test]
fn a_node_that_starts_does_not_take_a_dead_leader_for_one_that_serves() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    (0..3).for_each(|node| machines.kill(node));
    machines.start(1);
    machines.until(|machines| match machines.get(1, "/readyz") {
        Some((200, shown)) => {
            assert_eq!(shown["role"], "leader", "nobody else runs: {shown}");
            true
        }
        _ => false,
    });
}
