//! The figures that Prometheus reads (`docs/contract.md, 2.6`).

use crate::harness::client::Api;
use crate::harness::flows::fresh;
use crate::harness::server::Server;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest time to wait for a count that is made now and then.
const PATIENCE: Duration = Duration::from_secs(90);

/// A page of figures: each sample by its name and labels as they are written.
struct Figures {
    samples: BTreeMap<String, String>,
    types: BTreeMap<String, String>,
    helps: BTreeSet<String>,
}

impl Figures {
    #[track_caller]
    fn of(api: &Api) -> Figures {
        let answer = api.get("/metrics");
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("text/plain; version=0.0.4; charset=utf-8")),
            "{}",
            answer.text()
        );
        let mut figures =
            Figures { samples: BTreeMap::new(), types: BTreeMap::new(), helps: BTreeSet::new() };
        for line in answer.text().lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').expect("a name and a text");
                assert!(!help.trim().is_empty() && figures.helps.insert(name.to_owned()), "{line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a name and a type");
                assert!(figures.types.insert(name.to_owned(), kind.to_owned()).is_none(), "{line}");
            } else {
                let (sample, value) = line.rsplit_once(' ').expect("a sample and a value");
                assert!(value.parse::<f64>().is_ok(), "{line}");
                assert!(
                    figures.samples.insert(sample.to_owned(), value.to_owned()).is_none(),
                    "twice: {line}"
                );
            }
        }
        figures
    }

    #[track_caller]
    fn number(&self, sample: &str) -> u64 {
        let value = self.samples.get(sample).unwrap_or_else(|| panic!("no {sample}"));
        value.parse().unwrap_or_else(|_| panic!("{sample} is {value}"))
    }

    fn requests(&self, method: &str, route: &str, status: u16) -> u64 {
        let sample = format!(
            "pasarela_http_requests_total{{method=\"{method}\",route=\"{route}\",status=\"{status}\"}}"
        );
        self.samples.get(&sample).map_or(0, |value| value.parse().expect("a number"))
    }
}

#[test]
fn every_figure_has_help_a_type_and_a_name_of_ours() {
    let server = Server::shared();
    let _ = server.tenant().test.get("/v1/balance").expect(200);
    let figures = Figures::of(&server.admin());
    for sample in figures.samples.keys() {
        let name = sample.split('{').next().unwrap_or_default();
        let parts = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
        let family = parts
            .filter(|family| figures.types.get(*family).is_some_and(|kind| kind == "histogram"))
            .unwrap_or(name);
        assert!(family.starts_with("pasarela_"), "{family}");
        assert!(
            figures.helps.contains(family) && figures.types.contains_key(family),
            "{family} has no help or no type"
        );
        let counts = figures.types[family] == "counter";
        assert_eq!(family.ends_with("_total"), counts, "{family} is a {}", figures.types[family]);
    }
    for family in [
        "pasarela_wal_seq",
        "pasarela_actors{kind=\"book\"}",
        "pasarela_mailbox_depth",
        "pasarela_permits_in_use",
        "pasarela_wal_durable_lag_seconds",
        "pasarela_snapshot_age_seconds",
        "pasarela_rate_age_seconds{pair=\"USD/VES\",source=\"bcv\",side=\"OFFICIAL\",method=\"\"}",
        "pasarela_rail_calls_total{rail=\"simulator\",call=\"send\",outcome=\"done\"}",
        "pasarela_webhook_backlog",
        "pasarela_invariants_breached_total",
        "pasarela_process_open_fds",
        "pasarela_process_resident_memory_bytes",
    ] {
        assert!(figures.samples.contains_key(family), "{family} is missing");
    }
}

/// The alerts, the dashboard and the guide name only metrics that exist.
#[test]
fn alerts_and_dashboard_use_figures_that_are_there_and_every_alert_has_its_steps() {
    let figures = Figures::of(&Server::shared().admin());
    let read = |path: &str| std::fs::read_to_string(path).expect("a file");
    let (alerts, guide) = (read("deploy/alerts.yml"), read("docs/operating.md"));
    let dashboards = ["deploy/grafana-dashboard.json", "deploy/grafana-business.json"].map(read);
    let name = regex::Regex::new("pasarela_[a-z_]+").expect("a pattern");
    // One machine has none of a cluster's; `tests/cluster` looks for those.
    let of_cluster = |found: &&str| found.starts_with("pasarela_cluster_");
    let users = dashboards.iter().chain([&alerts]);
    let found = users.flat_map(|user| name.find_iter(user)).map(|found| found.as_str());
    for found in found.filter(|found| !of_cluster(found)) {
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|suffix| found.strip_suffix(suffix))
            .filter(|family| figures.helps.contains(*family));
        assert!(family.is_some() || figures.helps.contains(found), "{found} is not there");
    }
    for dashboard in &dashboards {
        let _: serde_json::Value = serde_json::from_str(dashboard).expect("JSON");
    }
    // The table of the guide has nothing that is gone; a cluster's figures are there where one is.
    let row = regex::Regex::new("(?m)^\\| `(pasarela_[a-z_]+)` \\|").expect("a pattern");
    let told: BTreeSet<String> = row.captures_iter(&guide).map(|found| found[1].to_owned()).collect();
    let gone: Vec<&String> =
        told.difference(&figures.helps).filter(|name| !name.starts_with("pasarela_cluster_")).collect();
    assert_eq!(gone, Vec::<&String>::new(), "in docs/operating.md alone");
    assert!(told.contains("pasarela_payments_total") && told.len() > 80);
    let named: Vec<&str> = alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(named.len() >= 15);
    for alert in named {
        assert!(guide.contains(&format!("\n### {alert}\n")), "{alert} has no steps");
        assert!(
            alerts.contains(&format!("docs/operating.md#{}\"", alert.to_lowercase())),
            "{alert} does not lead to its steps"
        );
    }
}

#[test]
fn requests_are_counted_by_route_and_status() {
    let server = Server::start();
    let api = server.tenant().test;
    api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "100.00" })).expect(201);
    let before = Figures::of(&server.admin());
    for _ in 0..3 {
        api.get(&format!("/v1/payments/{}", uuid::Uuid::now_v7())).refused(404, "not_found");
    }
    api.get("/v1/balance").expect(200);
    api.request("DELETE", "/v1/balance").refused(405, "method_not_allowed");
    let path = fresh("no-such-path");
    api.get(&format!("/{path}")).refused(404, "not_found");
    server.nobody().get("/v1/balance").refused(401, "unauthorized");
    server.nobody().get("/api/v1/rates/latest/USD/VES");
    server.nobody().get(&format!("/checkout/{}", uuid::Uuid::now_v7()));
    let after = Figures::of(&server.admin());
    assert_eq!(after.requests("GET", "/checkout/:id", 404), 1);
    assert_eq!(
        after.requests("GET", "/v1/payments/:id", 404) - before.requests("GET", "/v1/payments/:id", 404),
        3
    );
    assert_eq!(
        (after.requests("GET", "/v1/balance", 200), after.requests("GET", "/v1/balance", 401)),
        (1, 1)
    );
    assert_eq!(after.requests("any", "none", 405), 1);
    assert!(
        after.requests("any", "none", 404) >= 1
            && after.requests("GET", "/metrics", 200) >= 1
            && after.requests("POST", "/admin/tenants", 201) == 1
    );
    assert!(!after.samples.keys().any(|sample| sample.contains(&path)), "a path became a label");
    let timed = "pasarela_http_request_duration_seconds_count{method=\"GET\",route=\"/v1/balance\"}";
    assert_eq!(after.number(timed), 2);
}

#[test]
fn the_log_is_counted() {
    let server = Server::start();
    let api = server.tenant().test;
    let mut last = 0;
    for _ in 0..5 {
        last = api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).wal_seq();
    }
    let figures = Figures::of(&server.admin());
    assert!(figures.number("pasarela_wal_seq") >= last);
    assert!(
        figures.number("pasarela_wal_records_total") >= 5
            && figures.number("pasarela_invariants_checked_total") >= 5
    );
    assert!(
        figures.number("pasarela_wal_sync_seconds_count") >= 5
            && figures.number("pasarela_wal_batch_records_count") >= 5
    );
    assert_eq!(
        figures.number("pasarela_wal_batch_records_sum"),
        figures.number("pasarela_wal_records_total")
    );
    assert_eq!(
        (figures.number("pasarela_invariants_breached_total"), figures.number("pasarela_ready")),
        (0, 1)
    );
    let tail = figures.number("pasarela_snapshot_tail_records");
    assert_eq!(figures.number("pasarela_wal_seq") - figures.number("pasarela_snapshot_seq"), tail);
}

#[test]
fn on_a_loopback_address_nobody_needs_a_token_and_nothing_but_reading_is_taken() {
    let server = Server::shared();
    Figures::of(&server.admin_with("some-other-token"));
    server.admin_with("some-other-token").get("/admin/status").refused(401, "unauthorized");
    let refused = server.admin().request("POST", "/metrics");
    refused.refused(405, "method_not_allowed");
    assert_eq!(refused.header("allow"), Some("GET, HEAD"));
    server.nobody().get("/metrics").refused(404, "not_found");
}

#[test]
fn what_became_of_money_is_counted_by_method_bank_and_code() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let api = &tenant.test;
    for _ in 0..2 {
        api.pay(10);
    }
    api.pay_with(10, "99999999");
    let superseded = api.intent(3);
    let again = json!({ "externalRef": superseded["externalRef"] });
    api.request_c2p(3, again).expect(201);
    api.vpos_pay(20);
    let order = api.post("/v1/cop/payments", &json!({ "amountCop": 50_000, "channel": "qr" })).expect(201);
    api.post(&format!("/v1/test/cop/payments/{}/pay", order["id"].as_str().expect("an id")), &json!({}))
        .expect(200);
    let merchant = api.merchant();
    api.fund("1000.00");
    api.payout(&merchant, "10.50", json!({})).expect(201);
    api.payout(&merchant, "1.04", json!({})).expect(201);

    let figures = Figures::of(&server.admin());
    for (sample, count) in [
        ("pasarela_payments_total{mode=\"test\",method=\"C2P\",bank=\"0134\",outcome=\"completed\"}", 2),
        ("pasarela_payments_total{mode=\"test\",method=\"C2P\",bank=\"0134\",outcome=\"failed\"}", 1),
        ("pasarela_payments_total{mode=\"test\",method=\"C2P\",bank=\"0134\",outcome=\"canceled\"}", 1),
        ("pasarela_payments_total{mode=\"test\",method=\"VPOS\",bank=\"none\",outcome=\"completed\"}", 1),
        ("pasarela_payment_failures_total{mode=\"test\",method=\"C2P\",code=\"AM04\"}", 1),
        ("pasarela_payment_volume_total{mode=\"test\",method=\"COP\",currency=\"COP\"}", 50_000),
        ("pasarela_payment_volume_total{mode=\"live\",method=\"COP\",currency=\"COP\"}", 0),
        ("pasarela_payouts_total{mode=\"test\",currency=\"VES\",outcome=\"completed\"}", 1),
        ("pasarela_payouts_total{mode=\"test\",currency=\"VES\",outcome=\"failed\"}", 1),
        ("pasarela_payout_failures_total{mode=\"test\",currency=\"VES\",code=\"AM04\"}", 1),
    ] {
        assert_eq!(figures.number(sample), count, "{sample}");
    }
    let volume = "pasarela_payout_volume_total{mode=\"test\",currency=\"VES\"}";
    assert_eq!(figures.samples[volume], "10.50");
    // A label never names a tenant or a payer.
    let money: Vec<&String> = figures.samples.keys().filter(|sample| sample.contains("pay")).collect();
    assert!(!money.iter().any(|sample| sample.contains(&tenant.id)));

    // Counters begin anew with the process; what is in the log is not counted again.
    server.kill();
    server.restart();
    let after = Figures::of(&server.admin());
    assert!(!after.samples.keys().any(|sample| sample.starts_with("pasarela_payments_total")));
    assert_eq!(after.samples[volume], "0");
}

#[test]
fn what_waits_is_counted_also_after_a_restart() {
    let mut server = Server::start_with(&[("PASARELA__RAILS__UNRESOLVED_AFTER_SECONDS", "4")]);
    let api = server.tenant().test;
    api.intent(3);
    api.post("/v1/test/fund", &json!({ "currency": "USDT", "amount": "1000.00" })).expect(201);
    let large = json!({ "amountUsdt": "600.00", "address": "0x1111111111111111111111111111111111111111", "network": "ERC20", "externalRef": fresh("large") });
    assert_eq!(api.post("/v1/crypto/payouts", &large).expect(201)["status"], "pending_review");
    let wanted = [
        ("pasarela_pending{mode=\"test\",kind=\"payment\",age=\"5m\"}", 1),
        ("pasarela_pending{mode=\"live\",kind=\"payment\",age=\"5m\"}", 0),
        ("pasarela_payouts_awaiting_review{mode=\"test\"}", 1),
        ("pasarela_payouts_awaiting_review{mode=\"live\"}", 0),
        ("pasarela_notices_unmatched", 0),
        ("pasarela_webhook_lag_seconds", 0),
    ];
    for restarts in [false, true] {
        if restarts {
            server.kill();
            server.restart();
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let figures = Figures::of(&server.admin());
            let seen: Vec<(&str, u64)> =
                wanted.iter().map(|(sample, _)| (*sample, figures.number(sample))).collect();
            if seen == wanted {
                break;
            }
            assert!(Instant::now() < deadline, "{seen:?}");
            sleep(Duration::from_millis(100));
        }
    }
}
