//! A running server proves its own books, and ends when one of them is not what its records lead to.

use crate::harness::client::Api;
use crate::harness::server::Server;
use crate::{shown, succeeds};
use actors::Machine;
use pasarela::domain::machine::AnyBook;
use pasarela::domain::money::Currency;
use pasarela::domain::platform::{Mode, tenant_key};
use pasarela::recovery::books::machine;
use pasarela::recovery::recheck::recheck;
use serde_json::json;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wal::{Completion, Config, Durable, IndexOps, Log, Poisoned, Reader, RocksStore, Snapshot};

/// How long the self-check may take to look.
const PATIENCE: Duration = Duration::from_secs(30);

struct Told(Sender<bool>);

impl Completion for Told {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        let _ = self.0.send(outcome.is_ok());
    }
}

/// Puts other figures into the newest snapshot of the tenant that has money: what a fault of memory, or of a program, would have left there. With `moved` money is on the wrong side of the ledger, which its
/// totals do not show; without, there is more than there should be.
fn plant(data: &Path, moved: bool) {
    let store = RocksStore::open(data.join("log")).expect("the log's store");
    let log: Log<Told> = Log::open(Box::new(store), Config::default()).expect("the log");
    let machine = machine();
    let reader = log.reader();
    let held = |book: &AnyBook| matches!(book, AnyBook::Tenant(book) if book.account(Currency::Ves).net > 0);
    let found = reader.latest_snapshots().map(|stored| stored.expect("a snapshot"));
    let found = found.map(|stored| (machine.restore(stored.tenant, &stored.state).expect("a book"), stored)).find(|(book, _)| held(book));
    let (mut book, stored) = found.expect("a tenant with money");
    let AnyBook::Tenant(tenant) = &mut book else { unreachable!("looked for one") };
    tenant.accounts.get_mut(&Currency::Ves).expect("an account").net += 100;
    if moved {
        *tenant.counter.values_mut().next().expect("the other side") -= 100;
    }
    assert_eq!(stored.seq, reader.last_seq(), "the snapshot is the last thing written");
    assert!(recheck(&reader, &[stored.tenant], 1_000, &mut || true).is_ok(), "it was right before");
    let (to, told) = channel();
    let snapshot = Snapshot { tenant: stored.tenant, time_ms: stored.time_ms, state: machine.save(&book), index: IndexOps::new() };
    log.snapshot(snapshot, Told(to));
    assert!(told.recv().expect("told"), "it is durable");
    let found = recheck(&reader, &[stored.tenant], 1_000, &mut || true).expect_err("a breach").to_string();
    assert!(found.contains(if moved { "not what the records lead to" } else { "does not sum to zero" }), "{found}");
    log.close();
}

#[test]
fn a_planted_breach_ends_the_server() {
    for moved in [false, true] {
        let mut server = Server::start();
        let api = server.tenant().test;
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00" })).expect(201);
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "5.00" })).expect(201);
        // A stop in good order writes snapshots, and the log ends with them.
        assert!(server.terminate().success());
        plant(&server.data(), moved);
        server.restart();
        // The book comes into memory, and a round of snapshots makes the self-check look.
        api.get("/v1/balance").expect(200);
        let other = server.tenant().test;
        other.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).expect(201);
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
        assert_eq!(server.wait().code(), Some(70), "{}", server.log_tail());
        assert!(server.log_tail().contains("the self-check found a breach at record"), "{}", server.log_tail());
        the_next_run_tells_of_it(&mut server);
    }
}

/// When a run last ended itself, as the figures have it.
fn ended_badly(server: &Server) -> u64 {
    let figures = server.admin().get("/metrics");
    let said = figures.text().lines().find_map(|line| line.strip_prefix("pasarela_ended_badly_timestamp_seconds ").map(str::to_owned));
    said.and_then(|value| value.parse().ok()).expect("the figure")
}

fn the_next_run_tells_of_it(server: &mut Server) {
    let file = |directory: &Path| directory.join("ENDED_BADLY");
    let reason = std::fs::read_to_string(file(&server.data())).expect("the reason");
    assert!(reason.contains("the self-check found a breach at record"), "{reason}");
    server.restart();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let ended = ended_badly(server);
    assert!(ended <= now && now - ended < 60, "{ended}, and it is {now}");
    // It is this directory's own: neither a copy nor what is made of it ended so.
    let parent = tempfile::tempdir().expect("a directory");
    let (copy, restored) = (parent.path().join("copy"), parent.path().join("restored"));
    succeeds(server, &["backup", shown(&copy)]);
    server.kill();
    succeeds(server, &["restore", shown(&server.data()), "--into", shown(&restored), "--skip-verify"]);
    assert!(!file(&copy).exists() && !file(&restored).exists());
}

#[test]
fn what_lies_between_a_quiet_book_and_a_busy_one_is_not_read() {
    const BETWEEN: usize = 1_000;
    let mut server = Server::start();
    let (quiet, busy) = (server.tenant().test, server.tenant().test);
    let fund = |api: &Api| api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).expect(201);
    let snapshot = |server: &Server| server.admin().post("/admin/snapshot", &json!({})).expect(200);
    for (api, more) in [(&quiet, 1), (&busy, BETWEEN)] {
        for count in [more, 1] {
            (0..count).for_each(|_| drop(fund(api)));
            snapshot(&server);
        }
    }
    assert!(server.terminate().success());
    let reader = Reader::open_read_only(server.data().join("log")).expect("the log");
    let keys = [tenant_key(1, Mode::Test), tenant_key(2, Mode::Test)];
    let mut asked = 0;
    let done = recheck(&reader, &keys, 100, &mut || {
        asked += 1;
        true
    });
    let done = done.expect("both are right");
    assert_eq!((done.books, done.derived, done.records), (2, 2, 2));
    // Once for each book before and after, and each range may meet one of the instants at which it asks; the records between would be three more at least.
    assert!(asked <= 6, "asked {asked} times");
}

#[test]
fn sound_books_are_checked_again_and_again() {
    let server = Server::start();
    assert_eq!(ended_badly(&server), 0, "never");
    let checked = || {
        let figures = server.admin().get("/metrics");
        let number = |name: &str| figures.text().lines().find_map(|line| line.strip_prefix(&format!("{name} "))).and_then(|value| value.parse::<u64>().ok());
        let read = |name: &str| number(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(read("pasarela_selfcheck_breaches_total"), 0);
        (read("pasarela_selfcheck_books_derived_total"), read("pasarela_selfcheck_records_total"))
    };
    let tenants = [server.tenant().test, server.tenant().test];
    let mut before = checked();
    for _ in 0..3 {
        for api in &tenants {
            api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00", "held": true })).expect(201);
            api.post("/v1/test/clock", &json!({ "advanceSeconds": 90_000 })).expect(200);
        }
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
        let deadline = Instant::now() + PATIENCE;
        let mut after = checked();
        while after.0 < before.0 + 2 {
            assert!(Instant::now() < deadline, "{before:?} then {after:?}: {}", server.log_tail());
            sleep(Duration::from_millis(50));
            after = checked();
        }
        assert!(after.1 >= before.1 + 4, "{before:?} then {after:?}");
        before = after;
    }
}
