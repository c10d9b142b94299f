//! Directories in states that no rule leads to: a clock at the end of the calendar, and a book that breaks an
//! invariant. They start, or one book of them is set aside. The record of such a state is planted.

use crate::harness::check::{assert_texts, instant};
use crate::harness::client::Api;
use crate::harness::server::{Server, Tenant};
use crate::verified;
use actors::Machine;
use domain::cause::Cause;
use domain::indexing;
use domain::ledger::{HoldChange, Ledger, MovementKind, Posting, Release, Row};
use domain::machine::AnyBook;
use domain::record::Record;
use domain::values::ids::Id;
use domain::values::money::Currency;
use domain::values::time::{DAY_MS, Timestamp};
use pasarela::recovery::books::{Books, machine};
use serde_json::json;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use wal::{
    Append, Completion, Config, Durable, IndexOps, Log, Poisoned, Reader, RocksStore, Snapshot,
    StoredSnapshot,
};

pub struct Told(pub Sender<bool>);

impl Completion for Told {
    fn complete(self, outcome: Result<Durable, Poisoned>) {
        let _ = self.0.send(outcome.is_ok());
    }
}

/// A record of a tenant that does nothing yet.
fn nothing(book: &AnyBook, cause: Cause) -> Record {
    let AnyBook::Tenant(book) = book else { unreachable!("a tenant's book") };
    Record { seed: 7, first_event: book.events + 1, ..Record::new(cause) }
}

/// The key of the tenant that has money.
fn with_money(reader: &Reader) -> u64 {
    let has_money = |stored: &StoredSnapshot| match machine().restore(stored.tenant, &stored.state) {
        Ok(AnyBook::Tenant(book)) => book.account(Currency::Ves).net > 0,
        _ => false,
    };
    reader
        .latest_snapshots()
        .map(|stored| stored.expect("a snapshot"))
        .find(has_money)
        .expect("a tenant with money")
        .tenant
}

/// Appends a record of the tenant that has money, so long after its newest one, and a snapshot of
/// the book as it stood after that record, which nobody settled again.
fn plant(data: &Path, after_ms: i64, make: impl FnOnce(&mut Record, Timestamp)) {
    let store = RocksStore::open(data.join("log")).expect("the log's store");
    let log: Log<Told> = Log::open(Box::new(store), Config::default()).expect("the log");
    let (machine, reader) = (machine(), log.reader());
    let tenant = with_money(&reader);
    let books = Books::after(&reader, &[tenant], reader.last_seq()).expect("the books");
    let last = books.machine.now_ms(books.get(tenant).expect("a book"), i64::MIN / 4);
    let time = Timestamp::from_unix_ms(last).plus_ms(after_ms);
    let mut book = books.at(tenant, time.unix_ms());
    let mut record = nothing(&book, Cause::ClockMoved);
    make(&mut record, time);
    let mut ops = IndexOps::new();
    indexing::entries(tenant, time, &record, &machine.person_marks, &mut ops);
    machine.evolve(&mut book, &record, time.unix_ms());
    machine.check(&book, &record).expect("a sound record");
    let (to, told) = channel();
    log.append(
        Append { tenant, time_ms: time.unix_ms(), payload: machine.encode(&record), index: ops },
        Told(to.clone()),
    );
    let snapshot =
        Snapshot { tenant, time_ms: time.unix_ms(), state: machine.save(&book), index: IndexOps::new() };
    log.snapshot(snapshot, Told(to));
    assert!(told.recv().expect("told") && told.recv().expect("told"), "it is durable");
    log.close();
}

/// Appends a record that no rule writes: more is taken from what is held than is held.
fn plant_breach(data: &Path) {
    let store = RocksStore::open(data.join("log")).expect("the log's store");
    let log: Log<Told> = Log::open(Box::new(store), Config::default()).expect("the log");
    let (machine, reader) = (machine(), log.reader());
    let tenant = with_money(&reader);
    let books = Books::after(&reader, &[tenant], reader.last_seq()).expect("the books");
    let book = books.get(tenant).expect("a book");
    let mut record = nothing(book, Cause::Adjusted);
    let row = Row {
        kind: MovementKind::Adjustment,
        subject: None,
        chargeback: None,
        external_ref: None,
        description: String::new(),
        available_at: None,
    };
    let posting = |ledger, minor, row| Posting { ledger, currency: Currency::Ves, minor, row };
    record.postings =
        vec![posting(Ledger::Tenant, 1, Some(Box::new(row))), posting(Ledger::Operator, -1, None)];
    record.holds = vec![HoldChange {
        ledger: Ledger::Tenant,
        currency: Currency::Ves,
        release_at: Release::WhenDecided,
        hold: Id::derived(1, 1, 0),
        minor: -5,
    }];
    let (to, told) = channel();
    let time_ms = books.machine.now_ms(book, i64::MIN / 4) + 1;
    log.append(
        Append { tenant, time_ms, payload: machine.encode(&record), index: IndexOps::new() },
        Told(to),
    );
    assert!(told.recv().expect("told"), "it is durable");
    log.close();
}

/// Checks that the tenant goes on, that the self-check finds its book right, and that the proof of
/// the directory does.
#[track_caller]
fn goes_on(server: &mut Server, api: &Api, net: &str) {
    api.fund("1.00");
    server.admin().post("/admin/snapshot", &json!({})).expect(200);
    assert_texts(&api.balance(), &[("ledgerNetVes", net), ("heldVes", "0.00")]);
    assert!(server.terminate().success(), "{}", server.log_tail());
    verified(server, &server.data());
}

#[test]
fn a_clock_at_the_end_of_the_calendar_starts_and_the_test_clock_stays_away_from_it() {
    let mut server = Server::start();
    let api = server.tenant().test;
    api.fund("1.00");
    assert!(server.terminate().success());
    // By some 7,000 calls, as one advances it by a year at most.
    let near = Timestamp::parse("8999-06-01T00:00:00Z").expect("an instant");
    plant(&server.data(), 1_000, |record, time| record.clock_advance_ms = near.since_ms(time));
    server.restart();
    api.post("/v1/test/clock", &json!({ "advanceSeconds": 300 * 86_400 })).names(&["advanceSeconds"]);
    api.advance(200 * 86_400);
    api.post("/v1/test/clock", &json!({ "advanceSeconds": 20 * 86_400 })).names(&["advanceSeconds"]);
    api.advance(60);
    goes_on(&mut server, &api, "2.00");
    plant(&server.data(), 1_000, |record, _| record.clock_advance_ms = 1_100 * 365 * DAY_MS);
    server.restart();
    assert!(api.clock() >= instant(&json!("9999-12-31T23:59:59.999Z")));
    api.post("/v1/test/clock", &json!({ "advanceSeconds": 1 })).names(&["advanceSeconds"]);
    goes_on(&mut server, &api, "3.00");
}

#[test]
fn a_start_can_leave_one_book_alone() {
    let mut server = Server::start();
    let (tenant, other) = (server.tenant(), server.tenant().test);
    tenant.test.fund("1.00");
    assert!(server.terminate().success());
    plant_breach(&server.data());
    let refused = server.command(&["serve"]);
    let why = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{why}");
    assert!(
        why.contains("the book of tenant key 3: record") && why.contains("pasarela serve --set-aside 3"),
        "{why}"
    );
    // The server starts twice: what the others write and save in the first run must not keep the
    // second from starting.
    server.arguments = vec!["--set-aside", "3"];
    for net in ["1.00", "2.00"] {
        server.restart();
        let halted = server.admin().get("/admin/status").expect(200)["haltedBooks"].clone();
        assert_eq!((&halted[0]["tenantKey"], &halted[0]["tenantId"]), (&json!(3), &json!(tenant.id)));
        tenant.test.get("/v1/balance").refused(503, "account_halted");
        tenant.live.get("/v1/balance").refused(403, "live_mode_not_activated");
        other.fund("1.00");
        server.admin().post("/admin/snapshot", &json!({})).expect(200);
        other.assert_books(net, "0.00", net);
        let refused = server
            .admin()
            .post(&format!("/admin/tenants/{}/resume", tenant.id), &json!({}))
            .refused(409, "book_not_proved");
        assert!(
            refused["message"].as_str().is_some_and(|message| message.contains("less than nothing is held")),
            "{refused}"
        );
        assert!(server.terminate().success());
    }
}

/// Waits for the answer that a change of settings is kept, and not in force everywhere.
#[track_caller]
fn reserve(server: &Server, tenant: &Tenant, amount: &str) {
    let settings = format!("/admin/tenants/{}/settings", tenant.id);
    server.admin().patch(&settings, &json!({ "reserveVes": amount })).refused(503, "account_halted");
}

#[test]
fn a_book_that_is_resumed_beside_one_that_cannot_be_has_the_newest_settings() {
    let mut server = Server::start();
    let tenant = server.tenant();
    let live = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&live, &json!({ "status": "active" })).expect(200);
    tenant.test.fund("1.00");
    tenant.live.create_merchant(json!({})).expect(201);
    assert!(server.terminate().success());
    plant_breach(&server.data());
    server.arguments = vec!["--set-aside", "2", "--set-aside", "3"];
    server.restart();
    reserve(&server, &tenant, "7.00");
    let resume = || server.admin().post(&format!("/admin/tenants/{}/resume", tenant.id), &json!({}));
    let keys = || {
        let status = server.admin().get("/admin/status").expect(200);
        status["haltedBooks"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|book| book["tenantKey"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys().len(), 2);
    // The one goes on, the other does not prove right; asked again, the first is left alone.
    for _ in 0..2 {
        resume().refused(409, "book_not_proved");
        assert_eq!(keys(), [json!(3)]);
        assert_texts(&tenant.live.get("/v1/balance").expect(200), &[("reserveVes", "7.00")]);
        tenant.live.create_merchant(json!({})).expect(201);
        tenant.test.get("/v1/balance").refused(503, "account_halted");
    }
    // The same holds after a crash, with the one that is in doubt set aside.
    server.kill();
    server.arguments = vec!["--set-aside", "3"];
    server.restart();
    assert_texts(&tenant.live.get("/v1/balance").expect(200), &[("reserveVes", "7.00")]);
    tenant.test.get("/v1/balance").refused(503, "account_halted");
}

#[test]
fn a_start_brings_settings_to_the_book_that_goes_on_when_the_other_is_halted() {
    let mut server = Server::start();
    let tenant = server.tenant();
    tenant.test.fund("1.00");
    assert!(server.terminate().success());
    server.arguments = vec!["--set-aside", "2", "--set-aside", "3"];
    server.restart();
    reserve(&server, &tenant, "7.00");
    server.kill();
    server.arguments = vec!["--set-aside", "2"];
    server.restart();
    assert_texts(&tenant.test.balance(), &[("reserveVes", "7.00")]);
    server.admin().post(&format!("/admin/tenants/{}/resume", tenant.id), &json!({})).expect(200);
    let live = format!("/admin/tenants/{}/live-status", tenant.id);
    server.admin().post(&live, &json!({ "status": "active" })).expect(200);
    assert_texts(&tenant.live.get("/v1/balance").expect(200), &[("reserveVes", "7.00")]);
}
