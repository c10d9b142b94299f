//! A running server proves its own books, and halts one that is not what its records lead to.

use crate::harness::check::{list, text};
use crate::harness::client::Api;
use crate::harness::server::Server;
use crate::{shown, succeeds};
use actors::Machine;
use domain::machine::AnyBook;
use domain::values::ids::{Mode, tenant_key};
use domain::values::money::Currency;
use pasarela::recovery::books::machine;
use pasarela::recovery::recheck::recheck;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use wal::{Completion, Config, Durable, IndexOps, Log, Poisoned, Reader, RocksStore, Snapshot};

/// The time that the self-check may take to look.
const PATIENCE: Duration = Duration::from_secs(90);

struct Told(Sender<bool>);

impl Completion for Told {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        let _ = self.0.send(outcome.is_ok());
    }
}

/// Changes the newest snapshot of the first book that `change` takes to: what a fault of memory, or
/// of a program, would have left there.
fn replace_snapshot(data: &Path, mut change: impl FnMut(&mut AnyBook) -> bool, named: &str) {
    let store = RocksStore::open(data.join("log")).expect("the log's store");
    let log: Log<Told> = Log::open(Box::new(store), Config::default()).expect("the log");
    let machine = machine();
    let reader = log.reader();
    let found = reader.latest_snapshots().map(|stored| stored.expect("a snapshot")).find_map(|stored| {
        let mut book = machine.restore(stored.tenant, &stored.state).expect("a book");
        change(&mut book).then_some((book, stored))
    });
    let (book, stored) = found.expect("a book to change");
    assert!(
        recheck(&reader, &[stored.tenant], 1_000, &mut || true).is_ok_and(|done| done.breaches.is_empty()),
        "it was right before"
    );
    let (to, told) = channel();
    let snapshot = Snapshot {
        tenant: stored.tenant,
        time_ms: stored.time_ms,
        state: machine.save(&book),
        index: IndexOps::new(),
    };
    log.snapshot_at(stored.seq, snapshot, Told(to));
    assert!(told.recv().expect("told"), "it is durable");
    let found = recheck(&reader, &[stored.tenant], 1_000, &mut || true)
        .expect("the log can be read")
        .breaches
        .remove(0)
        .1
        .detail;
    assert!(found.contains(named), "{found}");
    log.close();
}

/// Puts other figures into the book of the tenant that has money. With `moved` money is on the
/// wrong side of the ledger, which its totals do not show; without, there is more than there should
/// be.
fn plant(data: &Path, moved: bool) {
    let change = |book: &mut AnyBook| {
        let AnyBook::Tenant(book) = book else { return false };
        let Some(account) = book.accounts.get_mut(&Currency::Ves).filter(|account| account.net > 0) else {
            return false;
        };
        account.net += 100;
        if moved {
            *book.counter.values_mut().next().expect("the other side") -= 100;
        }
        true
    };
    replace_snapshot(
        data,
        change,
        if moved { "not what the records lead to" } else { "does not sum to zero" },
    );
}

/// Waits until the state of the server names so many halted books, and returns them.
#[track_caller]
fn halted(server: &Server, count: usize) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let status = server.admin().get("/admin/status").expect(200);
        let books = list(&status, "haltedBooks");
        if books.len() == count {
            return books.to_vec();
        }
        assert!(Instant::now() < deadline, "{status}: {}", server.log_tail());
        sleep(Duration::from_millis(50));
    }
}

fn figure(server: &Server, name: &str) -> u64 {
    let figures = server.admin().get("/metrics");
    let said =
        figures.text().lines().find_map(|line| line.strip_prefix(&format!("{name} ")).map(str::to_owned));
    said.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_planted_breach_halts_its_book_and_no_other() {
    for moved in [false, true] {
        let mut server = Server::start();
        let tenant = server.tenant();
        let api = tenant.test.clone();
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
        other.fund("1.00");
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
        let book = halted(&server, 1).remove(0);
        assert_eq!(
            (&book["tenantId"], &book["mode"], &book["tenantKey"]),
            (&json!(tenant.id), &json!("test"), &json!(3))
        );
        assert!(text(&book, "why").contains("the self-check found a breach at record"), "{book}");
        assert_eq!(
            (figure(&server, "pasarela_books_halted"), figure(&server, "pasarela_selfcheck_breaches_total")),
            (1, 1)
        );
        // The halted account alone is answered 503 in this mode, whatever it asks.
        assert_eq!(api.get("/v1/balance").refused(503, "account_halted")["error"], "account_halted");
        api.get("/v1/payments").refused(503, "account_halted");
        api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" }))
            .refused(503, "account_halted");
        api.post("/v1/test/clock", &json!({ "advanceSeconds": 60 })).refused(503, "account_halted");
        other.fund("1.00");
        let why = succeeds(&server, &["wal", "explain", &tenant.id]);
        assert!(
            why.contains("the book of tenant key 3 is halted since") && why.contains("self-check"),
            "{why}"
        );
        // The book stays as it was found over a restart, if the operator says so.
        server.kill();
        server.arguments = vec!["--set-aside", "3"];
        server.restart();
        let book = halted(&server, 1).remove(0);
        assert!(
            text(&book, "why").contains("set aside at the start")
                && text(&book, "why").contains("self-check"),
            "{book}"
        );
        api.get("/v1/balance").refused(503, "account_halted");
        other.fund("1.00");
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
        // The resumed book is the one that its records lead to, and the snapshot that said
        // something else is gone.
        let resumed: Value =
            serde_json::from_str(&succeeds(&server, &["admin", "tenant", "resume", &tenant.id, "--json"]))
                .expect("JSON");
        assert_eq!(list(&resumed, "resumed")[0]["mode"], "test", "{resumed}");
        server
            .admin()
            .post(&format!("/admin/tenants/{}/resume", tenant.id), &json!({}))
            .refused(409, "tenant_not_halted");
        api.assert_books("15.00", "0.00", "15.00");
        api.fund("1.00");
        other.assert_books("3.00", "0.00", "3.00");
        assert_eq!((halted(&server, 0).len(), figure(&server, "pasarela_books_halted")), (0, 0));
        assert!(server.terminate().success());
        assert!(!server.data().join("HALTED_BOOKS").exists());
        crate::verified(&server, &server.data());
        server.arguments.clear();
        server.restart();
        api.assert_books("16.00", "0.00", "16.00");
    }
}

#[test]
fn a_breach_of_the_platforms_own_book_ends_the_server_and_the_next_run_tells() {
    let mut server = Server::start();
    let api = server.tenant().test;
    assert!(server.terminate().success());
    let change = |book: &mut AnyBook| match book {
        AnyBook::Platform(book) => {
            book.last = book.last.plus_ms(1);
            true
        }
        AnyBook::Tenant(_) => false,
    };
    replace_snapshot(&server.data(), change, "not what the records lead to");
    server.restart();
    api.fund("1.00");
    // The call may be answered or not, depending on how soon the check comes.
    let _ = server.admin().try_post("/admin/snapshot", &json!({}));
    assert_eq!(server.wait().code(), Some(70), "{}", server.log_tail());
    let file = |directory: &Path| directory.join("ENDED_BADLY");
    let reason = std::fs::read_to_string(file(&server.data())).expect("the reason");
    assert!(reason.contains("the self-check found a breach at record"), "{reason}");
    server.restart();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let ended = figure(&server, "pasarela_ended_badly_timestamp_seconds");
    assert!(ended <= now && now - ended < 60, "{ended}, and it is {now}");
    // The file is this directory's own: neither a copy nor what is made of it ended so.
    let parent = tempfile::tempdir().expect("a directory");
    let (copy, restored) = (parent.path().join("copy"), parent.path().join("restored"));
    succeeds(&server, &["backup", shown(&copy)]);
    server.kill();
    succeeds(&server, &["restore", shown(&server.data()), "--into", shown(&restored), "--skip-verify"]);
    assert!(!file(&copy).exists() && !file(&restored).exists());
}

#[test]
fn what_lies_between_a_quiet_book_and_a_busy_one_is_not_read() {
    const BETWEEN: usize = 1_000;
    let mut server = Server::start();
    let (quiet, busy) = (server.tenant().test, server.tenant().test);
    let fund =
        |api: &Api| api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "1.00" })).expect(201);
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
    // The callback runs four times for each book, and after each record that is read.
    assert!(asked <= 2 * 4 + 4, "asked {asked} times");
}

#[test]
fn sound_books_are_checked_again_and_again() {
    let server = Server::start();
    assert_eq!(figure(&server, "pasarela_ended_badly_timestamp_seconds"), 0, "never");
    let checked = || {
        let figures = server.admin().get("/metrics");
        let number = |name: &str| {
            figures
                .text()
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{name} ")))
                .and_then(|value| value.parse::<u64>().ok())
        };
        let read = |name: &str| number(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(read("pasarela_selfcheck_breaches_total"), 0);
        (read("pasarela_selfcheck_books_derived_total"), read("pasarela_selfcheck_records_total"))
    };
    let tenants = [server.tenant().test, server.tenant().test];
    let mut before = checked();
    for _ in 0..3 {
        for api in &tenants {
            api.post("/v1/test/fund", &json!({ "currency": "VES", "amount": "10.00", "held": true }))
                .expect(201);
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
