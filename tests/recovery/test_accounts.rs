//! Accounts that anybody opens: what becomes of one that nobody uses, by the server's clock and over restarts.

use crate::clock::{DAY_MS, HOUR_MS, step};
use crate::harness::client::Api;
use crate::harness::receiver::Receiver;
use crate::harness::server::Server;
use crate::{shown, succeeds};
use serde_json::json;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const MINUTE_MS: i64 = 60_000;

struct Opening {
    server: Server,
    file: PathBuf,
    _directory: tempfile::TempDir,
}

impl Opening {
    fn start() -> Opening {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("step");
        step(&file, 0);
        let server = Server::start_with(&[
            ("PASARELA_TEST_CLOCK_STEP", shown(&file)),
            ("PASARELA__TEST__OPEN_ACCOUNTS", "true"),
            ("PASARELA__WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true"),
        ]);
        Opening { server, file, _directory: directory }
    }

    fn open(&self) -> String {
        let opened = self.server.nobody().act("/v1/test/accounts").expect(201);
        opened["testKey"]["key"].as_str().expect("a key").to_owned()
    }

    /// The server is killed and starts so much later than it first did.
    fn killed_until(&mut self, ms: i64) {
        self.server.kill();
        step(&self.file, ms);
        self.server.restart();
    }

    fn api(&self, key: &str) -> Api {
        self.server.api(key)
    }

    fn accounts(&self) -> usize {
        let tenants = self.server.admin().get("/admin/tenants?limit=100").expect(200);
        let items = tenants["items"].as_array().expect("a page");
        items.iter().filter(|tenant| tenant["name"] == "open test account").count()
    }

    #[track_caller]
    fn until_there_are(&self, accounts: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.accounts() != accounts {
            assert!(Instant::now() < deadline, "{} accounts: {}", self.accounts(), self.server.log_tail());
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

#[test]
fn an_account_ends_after_a_day_without_a_call_and_a_call_before_is_a_day_more() {
    let mut opening = Opening::start();
    let [idle, used] = [opening.open(), opening.open()];
    let receiver = Receiver::good();
    let hook = json!({ "url": receiver.url(), "events": ["payment.completed"] });
    opening.api(&idle).post("/v1/webhooks", &hook).expect(201);
    opening.api(&idle).post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00" })).expect(201);

    // What is used is written down within moments, and survives a kill.
    opening.killed_until(23 * HOUR_MS);
    opening.api(&used).get("/v1/balance").expect(200);
    let noted =
        || succeeds(&opening.server, &["wal", "inspect", "--json"]).contains("use of 1 test accounts");
    let deadline = Instant::now() + PATIENCE;
    while !noted() {
        assert!(Instant::now() < deadline, "{}", opening.server.log_tail());
        std::thread::sleep(Duration::from_millis(200));
    }

    // A day after the call of one, and an hour before that of the other.
    opening.killed_until(DAY_MS + 30 * MINUTE_MS);
    opening.api(&idle).get("/v1/balance").refused(401, "unauthorized");
    opening.api(&used).get("/v1/balance").expect(200);
    opening.until_there_are(1);
    opening.api(&idle).get("/v1/balance").refused(401, "unauthorized");
    opening.api(&used).post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).expect(201);

    // Also while it runs, when an operator believes the clock that was set.
    step(&opening.file, 2 * DAY_MS + HOUR_MS);
    succeeds(&opening.server, &["admin", "clock", "confirm", "--json"]);
    opening.api(&used).get("/v1/balance").refused(401, "unauthorized");
    opening.until_there_are(0);

    // The log proves as before, and goes on with numbers of its own; what was opened long ago counts no more.
    opening.server.kill();
    opening.server.restart();
    let tenant = opening.server.tenant();
    tenant.test.books();
    assert_eq!(tenant.test.get("/v1/balance").expect(200)["ledgerNetVes"], "0.00", "nothing of another's");
    let again = opening.open();
    assert_eq!(opening.api(&again).get("/v1/balance").expect(200)["ledgerNetVes"], "0.00");
    opening.api(&again).get("/v1/webhooks").expect(200);
    opening.server.terminate();
    succeeds(&opening.server, &["wal", "verify"]);
}

#[test]
fn an_account_that_an_operator_makes_more_of_is_kept() {
    let mut opening = Opening::start();
    let [keyed, live] = [opening.open(), opening.open()];
    let admin = opening.server.admin();
    let tenants = admin.get("/admin/tenants?limit=100").expect(200);
    let ids: Vec<String> = tenants["items"]
        .as_array()
        .expect("a page")
        .iter()
        .filter(|tenant| tenant["name"] == "open test account")
        .map(|tenant| tenant["tenantId"].as_str().expect("an id").to_owned())
        .collect();
    // Newest first.
    let [second, first] = &ids[..] else { panic!("{ids:?}") };
    admin.post(&format!("/admin/tenants/{first}/keys"), &json!({ "mode": "live" })).expect(201);
    admin.post(&format!("/admin/tenants/{second}/live-status"), &json!({ "status": "active" })).expect(200);
    opening.killed_until(3 * DAY_MS);
    for key in [&keyed, &live] {
        opening.api(key).get("/v1/balance").expect(200);
    }
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(opening.accounts(), 2);
}

#[test]
fn an_address_opens_ten_also_over_a_restart_and_ten_more_a_day_later() {
    let mut opening = Opening::start();
    for _ in 0..5 {
        opening.open();
    }
    opening.killed_until(HOUR_MS);
    for _ in 0..5 {
        opening.open();
    }
    let refused = opening.server.nobody().act("/v1/test/accounts");
    refused.refused(429, "rate_limited");
    let after: i64 = refused.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((22 * 3_600..=23 * 3_600).contains(&after), "{after}");
    opening.killed_until(DAY_MS + MINUTE_MS);
    for _ in 0..5 {
        opening.open();
    }
    opening.server.nobody().act("/v1/test/accounts").refused(429, "rate_limited");
}
