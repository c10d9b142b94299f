//! `pasarela trigger` and `pasarela listen`, and signatures as another language's library sees them
//! (`docs/contract.md, 13.4`; https://www.standardwebhooks.com).

use crate::harness::check::{decimal, text};
use crate::harness::client::Api;
use crate::harness::flows::merged;
use crate::harness::receiver::{Arrived, Receiver};
use crate::harness::server::Server;
use crate::webhooks::{NAMES, PATIENCE, assert_signed, listen};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn run(server: &Server, key: &str, arguments: &[&str]) -> Output {
    let url = server.url();
    server.command(&[arguments, &["--server", &url, "--key", key]].concat())
}

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn trigger_makes_events_happen_and_listen_brings_them() {
    let server = Server::shared();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key");
    // The event of the live status is made by operators alone, and a reset takes away those before it.
    let is_made = |name: &&str| !["tenant.live_status_changed", "test.reset"].contains(name);
    let others: BTreeSet<&str> = NAMES.into_iter().filter(is_made).collect();
    let names: BTreeSet<&str> = others.iter().copied().chain(["test.reset"]).collect();
    for name in ["test.reset"].iter().chain(&others) {
        let said = out(&run(&server, key, &["trigger", name]));
        assert!(said.lines().any(|line| line.split(' ').nth(1) == Some(*name)), "{name}: {said}");
    }
    let events: Vec<Value> = tenant.test.walk("/v1/events", &[], 100);
    assert_eq!(events.iter().filter_map(|event| event["event"].as_str()).collect::<BTreeSet<_>>(), names);

    let receiver = Receiver::good();
    let count = events.len().to_string();
    let output =
        run(&server, key, &["listen", "--forward-to", &receiver.url(), "--after", "0", "--count", &count]);
    let said = out(&output);
    let errors = String::from_utf8_lossy(&output.stderr);
    let secret = errors.lines().find_map(|line| line.strip_prefix("signing secret: ")).expect("a secret");
    let arrived = receiver.wait_for(events.len());
    assert_eq!((said.lines().count(), arrived.len()), (events.len(), events.len()));
    for ((arrived, event), line) in arrived.iter().zip(&events).zip(said.lines()) {
        assert_eq!(
            (arrived.sequence(), &arrived.json()["data"]),
            (event["sequence"].as_u64().expect("a number"), &event["data"])
        );
        assert_eq!(arrived.header("svc-event-id"), text(event, "id"));
        assert!(line.contains("→ 200 ("), "{line}");
        assert_signed(arrived, secret);
    }
    // The command listens to some events only, and from now on.
    let (forward_to, url) = (receiver.url(), server.url());
    let mut listening = server.begin(&[
        "listen",
        "--forward-to",
        &forward_to,
        "--events",
        "payment.failed",
        "--count",
        "1",
        "--server",
        &url,
        "--key",
        key,
    ]);
    let deadline = Instant::now() + PATIENCE;
    while listening.try_wait().expect("its state").is_none() {
        if Instant::now() > deadline {
            let _ = listening.kill();
            panic!("nothing came within {PATIENCE:?}: {:?}", listening.wait_with_output());
        }
        tenant.test.pay(1);
        tenant.test.pay_with(1, "99999999");
        sleep(Duration::from_millis(200));
    }
    let some = out(&listening.wait_with_output().expect("it ended"));
    assert_eq!(some.split(' ').nth(1), Some("payment.failed"));
    let sequence: usize = some.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    assert!(sequence > events.len(), "{some}");
}

#[test]
fn an_event_comes_in_each_way_that_is_listed() {
    let server = Server::shared();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key");
    let listed = out(&server.command(&["trigger", "--list"]));
    let mut tried = 0;
    for line in listed.lines().filter(|line| line.contains("--by ")) {
        let (event, ways) = line.split_once(" --by ").expect("an event and its ways");
        for way in ways.split(" | ") {
            let said = out(&run(&server, key, &["trigger", event.trim(), "--by", way]));
            assert!(
                said.lines().any(|line| line.split(' ').nth(1) == Some(event.trim())),
                "{event} {way}: {said}"
            );
            tried += 1;
        }
    }
    assert!(tried > 12, "{listed}");
    let methods: BTreeSet<String> = tenant
        .test
        .walk("/v1/payments", &[("status", "COMPLETED")], 100)
        .iter()
        .map(|payment| text(payment, "method").to_owned())
        .collect();
    assert_eq!(methods, ["C2P", "COP", "DEBIT", "PAGO_MOVIL", "VPOS"].map(str::to_owned).into());
}

/// What of a balance is there: ledger, held and available bolívares, pesos and USDT.
fn balances(api: &Api) -> Vec<Decimal> {
    let of = |path: &str, members: &[&str]| {
        let balance = api.get(path).expect(200);
        members.iter().map(|member| decimal(&balance[member])).collect::<Vec<_>>()
    };
    let mut all = of("/v1/balance", &["ledgerNetVes", "heldVes", "availableVes"]);
    all.extend(of("/v1/cop/balance", &["ledgerNetCop", "heldCop", "availableCop"]));
    all.extend(of("/v1/crypto/balance", &["heldUsdt", "availableUsdt"]));
    all
}

/// An event, a way, and what it makes of the balances: ledger, held and available bolívares, pesos, and
/// held and available USDT.
const MADE: &[(&str, &str, [&str; 8])] = &[
    ("conversion.canceled", "", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("conversion.completed", "", ["-5000", "0", "-5000", "0", "0", "0", "0", "20.1"]),
    ("conversion.created", "", ["-5000", "0", "-5000", "0", "0", "0", "0", "20.1"]),
    ("crypto_deposit.completed", "", ["0", "0", "0", "0", "0", "0", "10", "0"]),
    ("crypto_payout.completed", "", ["0", "0", "0", "0", "0", "0", "0", "-15"]),
    ("crypto_payout.failed", "", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("merchant.balance.updated", "", ["20", "20", "0", "0", "0", "0", "0", "0"]),
    ("merchant.deactivated", "", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("merchant.reactivated", "", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("merchant.rejected", "", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("merchant.verified", "", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("payment.canceled", "c2p", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("payment.canceled", "cop", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("payment.chargeback", "", ["-3", "197", "-200", "0", "0", "0", "0", "0"]),
    ("payment.chargeback_closed", "lost", ["-3", "197", "-200", "0", "0", "0", "0", "0"]),
    ("payment.chargeback_closed", "won", ["197", "197", "0", "0", "0", "0", "0", "0"]),
    ("payment.completed", "c2p", ["197", "197", "0", "0", "0", "0", "0", "0"]),
    ("payment.completed", "card", ["197", "197", "0", "0", "0", "0", "0", "0"]),
    ("payment.completed", "cop", ["0", "0", "0", "46250", "46250", "0", "0", "0"]),
    ("payment.completed", "debit", ["98.5", "98.5", "0", "0", "0", "0", "0", "0"]),
    ("payment.completed", "link", ["196", "196", "0", "0", "0", "0", "0", "0"]),
    ("payment.completed", "pago-movil", ["197", "197", "0", "0", "0", "0", "0", "0"]),
    ("payment.failed", "c2p", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("payment.failed", "card", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("payment.failed", "cop", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("payment.reversed", "c2p", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("payment.reversed", "chargeback", ["-3", "197", "-200", "0", "0", "0", "0", "0"]),
    ("payment.reversed", "cop", ["0", "0", "0", "0", "0", "0", "0", "0"]),
    ("payout.completed", "", ["-1", "0", "-1", "0", "0", "0", "0", "0"]),
    ("payout.failed", "", ["0", "0", "0", "0", "0", "0", "0", "0"]),
];

#[test]
fn balances_are_afterwards_what_the_event_made_of_them() {
    let server = Server::shared();
    let (empty, rich) = (server.tenant(), server.tenant());
    for (currency, amount) in [("VES", "20000.00"), ("COP", "70000"), ("USDT", "300.00")] {
        let funds = json!({ "currency": currency, "amount": amount });
        rich.test.post("/v1/test/fund", &funds).expect(201);
    }
    rich.test.pay(10);
    let listed = out(&server.command(&["trigger", "--list"]));
    let mut tried = BTreeSet::new();
    let is_by_itself = |line: &str| line.contains("by operators") || line.contains("by itself");
    for line in listed.lines().filter(|line| !is_by_itself(line)) {
        let (event, ways) = line.split_once(" --by ").unwrap_or((line, ""));
        for way in ways.split(" | ") {
            tried.insert((event.trim(), way));
        }
    }
    assert_eq!(tried, MADE.iter().map(|(event, way, _)| (*event, *way)).collect());
    for tenant in [&empty, &rich] {
        let (api, key) = (&tenant.test, text(&tenant.created["testKey"], "key"));
        for (event, way, made) in MADE {
            let by: &[&str] = if way.is_empty() { &[] } else { &["--by", way] };
            let before = balances(api);
            out(&run(&server, key, &[&["trigger", event], by].concat()));
            let after = balances(api);
            let change: Vec<String> = after
                .iter()
                .zip(&before)
                .map(|(after, before)| (after - before).normalize().to_string())
                .collect();
            assert_eq!(change, made, "{event} {way}");
        }
        api.books();
    }
}

#[test]
fn money_of_a_test_is_taken_back() {
    let server = Server::shared();
    let api = server.tenant().test;
    for (currency, amount) in [("VES", "10.50"), ("COP", "1000"), ("USDT", "2.25")] {
        let body = json!({ "currency": currency, "amount": amount, "takeBack": true });
        let movement = api.post("/v1/test/fund", &body).expect(201);
        assert_eq!((text(&movement, "type"), text(&movement, "currency")), ("adjustment", currency));
    }
    let after = ["-10.5", "0", "-10.5", "-1000", "0", "-1000", "0", "-2.25"];
    assert_eq!(balances(&api).iter().map(|amount| amount.normalize().to_string()).collect::<Vec<_>>(), after);
    api.books();
    let seller = text(&api.merchant(), "merchantId").to_owned();
    for over in [json!({ "held": true }), json!({ "merchantId": seller })] {
        let body = json!({ "currency": "VES", "amount": "1.00", "takeBack": true });
        api.post("/v1/test/fund", &merged(body, over)).names(&["takeBack"]);
    }
    for over in [json!({ "held": true }), json!({ "merchantId": seller })] {
        let body = json!({ "currency": "VES", "amount": "1.00", "takeBack": false });
        api.post("/v1/test/fund", &merged(body, over)).expect(201);
    }
}

#[test]
fn events_are_printed_and_sent_again() {
    let server = Server::shared();
    let tenant = server.tenant();
    let key = text(&tenant.created["testKey"], "key");
    let receiver = Receiver::good();
    let endpoint = serde_json::json!({ "url": receiver.url(), "events": ["payment.completed"] });
    tenant.test.post("/v1/webhooks", &endpoint).expect(201);
    let said = out(&run(&server, key, &["trigger", "payment.completed"]));
    let id = said.split(' ').nth(2).expect("an id").trim().to_owned();
    receiver.wait_for(1);

    let printed = out(&run(&server, key, &["listen", "--print", "--after", "0", "--count", "1"]));
    let event: Value = serde_json::from_str(printed.trim()).expect("a line of JSON");
    assert_eq!((&event["event"], &event["data"]["livemode"]), (&"payment.completed".into(), &false.into()));
    let listed = out(&run(&server, key, &["events", "list"]));
    assert!(listed.starts_with(&format!("1 payment.completed {id} ")), "{listed}");
    let got: Value = serde_json::from_str(&out(&run(&server, key, &["events", "get", &id]))).expect("JSON");
    assert_eq!((&got["id"], &got["data"]), (&id.clone().into(), &event["data"]));
    let sent: Value =
        serde_json::from_str(&out(&run(&server, key, &["events", "resend", &id]))).expect("JSON");
    assert_eq!(
        (&sent["eventId"], sent["deliveries"].as_array().map(Vec::len)),
        (&id.clone().into(), Some(1))
    );
    let arrived = receiver.wait_for(2);
    assert_eq!(arrived[1].header("svc-event-id"), id);
}

#[test]
fn codes_are_explained_in_both_languages() {
    let server = Server::shared();
    let of = |arguments: &[&str]| out(&server.command(arguments));
    assert!(
        of(&["errors"]).starts_with("# Error codes\n")
            && of(&["errors", "--lang", "es"]).starts_with("# Códigos")
    );
    let one = of(&["errors", "quote_expired"]);
    assert_eq!(
        one,
        "quote_expired (410)\n  more than 60 seconds have passed since the quote\n  → ask for a new quote\n"
    );
    let table: Value = serde_json::from_str(&of(&["errors", "--json"])).expect("JSON");
    let rows = table.as_array().expect("a list");
    assert!(
        rows.len() > 90
            && rows.iter().all(|row| row["es"]["next"].is_string() && row["statuses"][0].is_u64())
    );
    assert_eq!(
        of(&["errors", "AM04"]),
        "AM04 (failureCode)\n  insufficient funds\n  → use another account\n"
    );
    let unknown = server.command(&["errors", "no_such_code"]);
    assert!(!unknown.status.success());
}

#[test]
fn what_cannot_be_is_said() {
    let server = Server::shared();
    let tenant = server.tenant();
    let (test, live) = (text(&tenant.created["testKey"], "key"), text(&tenant.created["liveKey"], "key"));
    for (key, arguments, why) in [
        (live, &["trigger", "payment.completed"][..], "no test key"),
        ("pk_test_wrong", &["trigger", "payment.completed"], "401 unauthorized: "),
        (test, &["trigger", "tenant.live_status_changed"], "operator"),
        (test, &["trigger", "payment.unknown"], "payment.completed"),
        (live, &["listen", "--forward-to", "http://127.0.0.1:1/"], "no test key"),
    ] {
        let output = run(&server, key, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(why), "{arguments:?}: {said}");
        assert!(!said.contains(key), "the key is told: {said}");
    }
}

#[test]
fn a_server_that_is_not_there_and_a_wrong_option_are_said_at_once() {
    let server = Server::shared();
    for (arguments, why) in [
        (
            &["trigger", "payment.completed", "--server", "http://127.0.0.1:9"][..],
            "nothing answers at http://127.0.0.1:9 (",
        ),
        (&["trigger", "payment.completed", "--server", "127.0.0.1:8080"], "begins with http:// or https://"),
        (&["listen", "--forward-to", "localhost:3000/hook"], "begins with http:// or https://"),
        (&["listen", "--print", "--events", "payment.done"], "payment.completed"),
        (&["listen"], "--print"),
        (&["triger"], "--help lists the commands"),
    ] {
        let with_key = [arguments, &["--key", "pk_test_x"]].concat();
        let output = server.command(if arguments == ["triger"] { arguments } else { &with_key });
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && said.contains(why) && said.lines().count() == 1,
            "{arguments:?}: {said}"
        );
    }
}

/// A Python that has the published library: the one that `STANDARDWEBHOOKS_PYTHON` names, the one
/// of the acceptance tests, or any.
fn python() -> Option<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let named = std::env::var("STANDARDWEBHOOKS_PYTHON").ok();
    let candidates = named
        .into_iter()
        .chain([format!("{home}/.cache/pasarela-acceptance/venv/bin/python"), "python3".to_owned()]);
    let has = |python: &String| {
        Command::new(python)
            .args(["-c", "import standardwebhooks"])
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    candidates.into_iter().find(has)
}

#[test]
fn the_published_library_of_another_language_verifies_a_delivery() {
    let Some(python) = python() else {
        assert!(
            std::env::var_os("STANDARDWEBHOOKS_PYTHON").is_none(),
            "STANDARDWEBHOOKS_PYTHON has no standardwebhooks"
        );
        eprintln!("not tried: no Python with the package standardwebhooks");
        return;
    };
    let server = Server::shared();
    let api = server.tenant().test;
    let receiver = Receiver::good();
    let webhook = listen(&api, &receiver.url(), &["payment.completed"]);
    api.pay(1);
    let arrived = receiver.wait_for(1).remove(0);
    let verify = |arrived: &Arrived, body: &[u8]| {
        let script = "import sys, json\nfrom standardwebhooks import Webhook\nhead = json.loads(sys.argv[2])\nWebhook(sys.argv[1]).verify(sys.stdin.buffer.read().decode(), head)";
        let headers = serde_json::to_string(&arrived.headers).expect("JSON");
        let mut child = Command::new(&python)
            .args(["-c", script, text(&webhook, "secret"), &headers])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("Python runs");
        child.stdin.take().expect("a pipe").write_all(body).expect("it reads");
        child.wait_with_output().expect("it ends")
    };
    let verified = verify(&arrived, &arrived.body);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    let mut forged = arrived.body.clone();
    forged.push(b' ');
    let refused = verify(&arrived, &forged);
    assert!(
        !refused.status.success()
            && String::from_utf8_lossy(&refused.stderr).contains("WebhookVerificationError")
    );
}
