//! What a leader has beside its log, and what the next one finds of it: the simulated bank's books,
//! prices. And who may ask a standby.

use crate::machines::{Machines, exchange_as, ok};
use serde_json::{Value, json};

fn post(machines: &Machines, path: &str, body: &Value) -> Value {
    let mut shown = Value::Null;
    machines.until(|machines| match machines.post(0, path, body) {
        Some((200..=201, body)) => {
            shown = body;
            true
        }
        Some((503, _)) | None => false,
        other => panic!("{path}: {other:?}"),
    });
    shown
}

#[test]
fn the_simulated_bank_and_prices_outlive_their_leader() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    let rate = json!({ "pair": "USD/VES", "source": "bcv", "side": "OFFICIAL", "price": "200.00" });
    assert_eq!(
        machines.operator(1, "POST", "/admin/rates", Some(&rate)).map(|(status, _)| status),
        Some(201)
    );
    let pin = json!({ "pair": "USDT/VES", "source": "p2p", "side": "FLOOR", "price": "245.00",
        "pinnedUntil": in_an_hour(), "reason": "the market is shut" });
    assert_eq!(machines.operator(1, "POST", "/admin/rates", Some(&pin)).map(|(status, _)| status), Some(201));
    let mut charge = json!({ "usdAmount": 10, "debtorId": "V12345678", "debtorCellPhone": "04141234567",
        "debtorBankCode": 134, "externalRef": "order" });
    charge["intentId"] = post(&machines, "/v1/payments/c2p/request", &charge)["intentId"].clone();
    charge["token"] = json!("12345678");
    let (_, headers, payment) =
        machines.exchange(0, "POST", "/v1/payments/c2p", Some(&charge)).expect("an answer");
    assert_eq!(payment["status"], "COMPLETED");
    assert!(headers["server-timing"].contains("agree;dur="), "{headers:?}");

    machines.kill(0);
    machines.until(
        |machines| matches!(machines.get(1, "/readyz"), Some((200, shown)) if shown["leader"] != "n0"),
    );
    let pins = ok(machines.operator(1, "GET", "/admin/status", None))["rates"]["pins"].clone();
    assert_eq!((pins[0]["price"].clone(), pins.as_array().map(Vec::len)), (json!(245), Some(1)));
    // It prices by the rate, and gives back what the lost leader charged: its bank knows of it.
    machines.start(0);
    machines.until_ready();
    let mut second = json!({ "usdAmount": 10, "debtorId": "V12345678", "debtorCellPhone": "04141234567",
        "debtorBankCode": 134, "externalRef": "order-2" });
    let intent = post(&machines, "/v1/payments/c2p/request", &second);
    assert_eq!(intent["bcvRate"], json!(200));
    second["intentId"] = intent["intentId"].clone();
    let path = format!("/v1/payments/{}/reverse", payment["paymentId"].as_str().expect("an id"));
    assert_eq!(post(&machines, &path, &json!({}))["status"], "REVERSED");
}

fn in_an_hour() -> String {
    let at = std::time::SystemTime::now() + std::time::Duration::from_secs(3_600);
    let ms = at.duration_since(std::time::UNIX_EPOCH).expect("a time").as_millis();
    domain::values::time::Timestamp::from_unix_ms(ms as i64).to_string()
}

#[test]
fn a_standby_answers_operators_under_its_own_names_alone() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found();
    let standby = machines.admin_port(2);
    let under = |host: &str, more: &str, path: &str| {
        let status = exchange_as(standby, "GET", path, None, &format!("host: {host}\r\n{more}"));
        status.map(|(status, _, _)| status)
    };
    let token = format!("authorization: Bearer {}\r\n", Machines::TOKEN);
    for path in ["/admin/cluster", "/admin/status", "/metrics", "/healthz"] {
        assert_eq!(under("localhost", &token, path), Some(200), "{path}");
        assert_eq!(under("evil.example", &token, path), Some(421), "{path}");
        let crossed = format!("{token}origin: http://evil.example\r\n");
        assert_eq!(under("localhost", &crossed, path), Some(403), "{path}");
    }
    assert_eq!(under("localhost", "", "/metrics"), Some(200), "loopback");
    let name = regex::Regex::new("pasarela_cluster_[a-z_]+").expect("a pattern");
    for page in [0, 2].map(|node| machines.page(node, "/metrics")) {
        let alerts = include_str!("../../deploy/alerts.yml");
        for figure in name.find_iter(alerts) {
            assert!(page.contains(figure.as_str()), "{} is not there", figure.as_str());
        }
        let figures: Vec<&str> = page.lines().filter(|line| line.starts_with("pasarela_cluster_")).collect();
        let by_partition = |line: &&str| line.contains("{partition=\"0\"");
        assert!(figures.len() >= 6 && figures.iter().all(by_partition), "{figures:?}");
    }
    assert_eq!(under("localhost", "", "/admin/cluster"), Some(401));
    // A named operator, also where only a copy of the book is.
    let ana = json!({ "name": "Ana", "email": "ana@example.com", "role": "viewer" });
    let (_, made) = machines.operator(0, "POST", "/admin/operators", Some(&ana)).expect("an answer");
    let of_ana = format!("authorization: Bearer {}\r\n", made["token"].as_str().expect("a token"));
    machines.until(|_| under("localhost", &of_ana, "/admin/cluster") == Some(200));
    let to = json!({ "to": "n1" });
    let asked = exchange_as(
        standby,
        "POST",
        "/admin/cluster/hand-over",
        Some(&to),
        &format!("host: localhost\r\n{of_ana}"),
    );
    assert_eq!(
        asked.map(|(status, _, shown)| (status, shown["error"].clone())),
        Some((403, json!("role_missing")))
    );
    let id = made["operatorId"].as_str().expect("an id");
    let disabled = json!({ "status": "disabled" });
    ok(machines.operator(0, "PATCH", &format!("/admin/operators/{id}"), Some(&disabled)));
    machines.until(|_| under("localhost", &of_ana, "/admin/cluster") == Some(401));
    // The switch is in the audit, which the new leader has.
    let switched = ok(machines.operator(2, "POST", "/admin/cluster/hand-over", Some(&to)));
    assert_eq!(switched["leader"], "n1");
    machines.until(|machines| {
        let audit = machines.operator(2, "GET", "/admin/audit?action=cluster.hand-over", None);
        matches!(audit, Some((200, shown)) if shown["items"][0]["target"] == "n1")
    });
}

/// A product with a description that does not compress, of some 2 kB.
pub fn product(random: &mut u32) -> Value {
    let letters = std::iter::repeat_with(|| {
        *random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from_u32(0x4E00 + (*random >> 8) % 20_000).expect("a letter")
    });
    let description: String = letters.take(1_000).collect();
    json!({ "name": "a product", "description": description, "priceUsd": "10.00" })
}

pub fn window(machines: &Machines) -> u64 {
    let shown = ok(machines.operator(0, "GET", "/admin/cluster", None));
    shown["windowBytes"].as_u64().expect("a number")
}

#[test]
fn one_node_left_refuses_writes_at_the_bound_and_reads_on() {
    let Some(mut machines) = Machines::new() else { return };
    (0..3).for_each(|node| machines.configure(node, "window_bytes_max = 2097152"));
    machines.found();
    (1..3).for_each(|node| machines.kill(node));
    let mut random = 1;
    machines.until(|machines| {
        (0..50).any(|_| match machines.post(0, "/v1/products", &product(&mut random)) {
            Some((200..=201, _)) => false,
            Some((503, body)) => body["error"] == "storage_unavailable",
            other => panic!("{other:?}"),
        })
    });
    assert!(window(&machines) >= 2 << 20);
    ok(machines.get(0, "/v1/balance"));
    assert_eq!(machines.get(0, "/readyz").map(|(status, _)| status), Some(200), "it leads");
    // With a second node there is a second copy of what etcd drops.
    machines.start(1);
    machines.until(|machines| {
        matches!(machines.post(0, "/v1/products", &product(&mut random)), Some((200..=201, _)))
    });
    machines.start(2);
    machines.until_ready();
}

#[test]
fn a_node_that_was_away_for_too_long_takes_a_copy_by_itself() {
    let Some(mut machines) = Machines::new() else { return };
    (0..3).for_each(|node| machines.configure(node, "window_bytes_max = 2097152"));
    machines.found();
    machines.kill(2);
    let (mut random, mut made) = (1, 0);
    machines.until(|machines| {
        for _ in 0..20 {
            let answer = machines.post(0, "/v1/products", &product(&mut random));
            assert!(matches!(answer, Some((200..=201, _))), "{answer:?}");
            made += 1;
        }
        // It was at its bound, and what two nodes have was deleted.
        made > 500 && window(machines) < 500_000
    });
    machines.start(2);
    machines.until_ready();
    machines.until_caught_up();
    machines.stop_all();
    machines.tips_are_equal();
    let verified = machines.command(2, &["wal", "verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}

#[test]
fn nobody_takes_a_nodes_keys_and_log_without_the_token_or_under_a_strange_name() {
    let Some(mut machines) = Machines::new() else { return };
    machines.found_without_serving();
    let token = format!("authorization: Bearer {}\r\n", Machines::TOKEN);
    let anything = "authorization: Bearer whatever\r\n";
    machines.start(0);
    machines.until(|machines| machines.is_ready(0));
    let asked = |host: &str, path: &str, more: &str| {
        let head = format!("host: {host}\r\n{more}");
        exchange_as(machines.peer_port(0), "GET", path, None, &head).map(|(status, _, _)| status)
    };
    for (head, status) in [("", 401), (anything, 401), (token.as_str(), 200)] {
        for path in ["/peer/cluster", "/peer/checkpoint", "/peer/lifeline"] {
            let status = match path {
                // A checkpoint is no JSON, which this client reads.
                "/peer/checkpoint" if status == 200 => None,
                // The token opens nothing that is for nodes alone.
                "/peer/lifeline" => Some(401),
                _ => Some(status),
            };
            if status.is_some() {
                assert_eq!(asked("localhost", path, head), status, "{path} with {head:?}");
            }
            assert_eq!(asked("evil.example", path, head), Some(421), "{path} with {head:?}");
            let crossed = format!("{head}origin: http://evil.example\r\n");
            assert_eq!(asked("localhost", path, &crossed), Some(403), "{path} with {head:?}");
        }
        assert_eq!(asked("evil.example", "/peer/anything", head), Some(421));
        // Without a proof: whatever a page of another site sends.
        for crossed in ["", "origin: http://evil.example\r\n"] {
            assert_eq!(asked("evil.example", "/peer/pass", &format!("{head}{crossed}")), Some(401));
        }
    }
    machines.without_token(1);
    let joined = machines.command(1, &["cluster", "join", "--from", &machines.peer(0)]);
    let said = String::from_utf8_lossy(&joined.stderr).into_owned();
    assert!(!joined.status.success(), "{said}");
    // A node never goes without the token: whatever asked its listener would be an operator.
    machines.kill(0);
    machines.without_token(0);
    let refused = machines.command(0, &["serve"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("admin.token: is required because cluster.etcd is set"), "{said}");
}
