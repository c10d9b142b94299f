//! The simulated bank's books, when the server is killed: what the bank answered it still knows, and
//! nothing was sent to it twice; what a crash leaves of them is taken up, and books of an earlier
//! version are taken over.

use crate::harness::check::text;
use crate::harness::client::Api;
use crate::harness::faults::{KILLED, STEPS, steps, strace};
use crate::harness::flows::{execution, fresh, merged, payer, payout_body};
use crate::harness::server::Server;
use crate::load::{PATIENCE, StopOnDrop, crashes};
use pasarela::rails::simulator::books;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const WRITERS: usize = 4;
/// Answers to wait for before each kill.
const ANSWERS: usize = 30;

/// The answer that a caller got, and what the bank decided.
enum Answered {
    /// A charge that completed at once, or one whose bank was silent and which completes later.
    Charge(Value),
    /// A payout and how it ends.
    Payout(Value, &'static str),
}

fn post(api: &Api, path: &str, body: &Value) -> Option<(u16, Value)> {
    let answer = api.try_post(path, body).ok()?;
    Some((answer.status, answer.json()))
}

/// Asks once for something new; `None` if the answer was lost with the server, or is not the
/// bank's.
fn ask(api: &Api, merchant: &Value, round: usize) -> Option<Answered> {
    let (monto, ends) = match round % 6 {
        0 => ("0.10", "completed"),
        1 => ("0.05", "completed"),
        2 => ("0.06", "failed"),
        3 => ("0.07", "completed"),
        charge => {
            let request = merged(payer(), json!({ "usdAmount": 1, "externalRef": fresh("pay") }));
            let (_, intent) =
                post(api, "/v1/payments/c2p/request", &request).filter(|(status, _)| *status == 201)?;
            let token = if charge == 4 { "12345678" } else { "77777777" };
            let expected = if charge == 4 { 200 } else { 202 };
            let (_, payment) = post(api, "/v1/payments/c2p", &execution(&intent, token))
                .filter(|(status, _)| *status == expected)?;
            return Some(Answered::Charge(payment));
        }
    };
    let (status, payout) = post(api, "/v1/payouts", &payout_body(merchant, monto))?;
    matches!(status, 201 | 202).then_some(Answered::Payout(payout, ends))
}

fn duplicate_calls(server: &Server) -> Value {
    server.admin().get("/admin/status").expect(200)["rails"]["duplicateCalls"].clone()
}

#[test]
fn what_the_bank_answered_it_knows_after_a_kill_and_nothing_is_done_twice() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100000.00");
    let (stop, count, answered) = (AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (api, merchant, stop, count, answered) = (&api, &merchant, &stop, &count, &answered);
            scope.spawn(move || {
                for round in writer.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    match ask(api, merchant, round) {
                        Some(answer) => {
                            answered.lock().expect("no writer panicked").push(answer);
                            count.fetch_add(1, Ordering::Relaxed);
                        }
                        // The server is gone for a moment.
                        None => sleep(Duration::from_millis(2)),
                    }
                }
            });
        }
        let stopping = StopOnDrop(&stop);
        for crash in 0..crashes() {
            let (before, deadline) = (count.load(Ordering::Relaxed), Instant::now() + PATIENCE);
            while count.load(Ordering::Relaxed) < before + ANSWERS {
                assert!(Instant::now() < deadline, "the writers are stuck");
                sleep(Duration::from_millis(2));
            }
            // The kill comes at different points of a round.
            sleep(Duration::from_millis(3 * (crash as u64 % 5)));
            server.kill();
            server.restart();
        }
        drop(stopping);
    });
    let answered = answered.into_inner().expect("no writer panicked");
    server.kill();
    server.restart();
    // Every look that is due is taken: a payout that was sent twice because the bank had forgotten
    // it would show.
    api.advance(600);
    let (mut charges, mut payouts) = (0, 0);
    for answer in &answered {
        match answer {
            Answered::Payout(payout, ends) => {
                let now = api.payout_now(payout);
                assert_eq!(text(&now, "status"), *ends, "{now}");
                payouts += 1;
            }
            Answered::Charge(payment) => {
                assert_eq!(text(&api.payment(payment), "status"), "COMPLETED", "of {payment}");
                // The reversal needs a bank that knows the charge; one that does not would refuse.
                let reversed = api.reverse(payment).expect(200);
                assert_eq!(text(&reversed, "status"), "REVERSED", "{reversed}");
                charges += 1;
            }
        }
    }
    println!("{} kills, {charges} charges and {payouts} payouts were answered", crashes());
    assert!(charges >= 5 && payouts >= 20, "{charges} charges, {payouts} payouts");
    assert_eq!(duplicate_calls(&server), 0);
    api.books();
}

/// The journal that is written to.
fn journal(server: &Server) -> PathBuf {
    let files = fs::read_dir(server.data().join("simulator")).expect("the bank's books").flatten();
    let journals = files
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal-")));
    journals.max().expect("a journal")
}

#[test]
fn an_end_of_the_banks_journal_that_is_not_whole_is_cut_off_with_a_log_line() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let sale = api.pay(5);
    server.kill();
    let path = journal(&server);
    let whole = fs::metadata(&path).expect("there").len();
    let mut file = fs::File::options().append(true).open(&path).expect("writable");
    file.write_all(&[19, 0, 0, 0, 1, 2, 3, 4, 1, 9]).expect("written");
    server.restart();
    let log = server.log_tail();
    assert!(log.contains("is cut off") && log.contains("journal-00000001"), "{log}");
    assert_eq!(text(&api.reverse(&sale).expect(200), "status"), "REVERSED");
    assert!(fs::metadata(&path).expect("there").len() >= whole);
    assert_eq!(duplicate_calls(&server), 0);
}

#[test]
fn a_byte_of_the_banks_journal_that_changed_after_it_was_synced_stops_the_start() {
    let mut server = Server::start();
    let api = server.tenant().test;
    api.pay(5);
    // A start has what it finds synced, and so has a stop.
    assert!(server.terminate().success());
    let path = journal(&server);
    let mut bytes = fs::read(&path).expect("readable");
    bytes[30] ^= 1;
    fs::write(&path, &bytes).expect("written");
    let why = server.try_restart().expect_err("it is not served");
    assert!(why.contains("journal-00000001: byte 24: damaged"), "{why}");
    bytes[30] ^= 1;
    fs::write(&path, &bytes).expect("written");
    server.restart();
}

/// Makes the books what they were in earlier versions, a RocksDB.
fn moved_back(directory: &Path) -> usize {
    let old = directory.with_extension("old");
    let mut entries = 0;
    {
        let db = rocksdb::DB::open_default(&old).expect("a RocksDB");
        books::each_entry::<books::BooksError>(directory, |key, value| {
            db.put(key, value).expect("written");
            entries += 1;
            Ok(())
        })
        .expect("readable");
    }
    fs::remove_dir_all(directory).expect("removed");
    fs::rename(&old, directory).expect("renamed");
    entries
}

#[test]
fn the_banks_books_of_an_earlier_version_are_taken_over() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100.00");
    let (sale, silent) = (api.pay(5), api.pay_with(5, "77777777"));
    let pending = api.payout(&merchant, "10.05", json!({})).expect(202);
    server.kill();
    let simulator = server.data().join("simulator");
    assert!(moved_back(&simulator) >= 3);
    // A copy of such a directory has books as they are now.
    let copy = server.data().with_file_name("copy-of-old");
    let made = server.command(&["backup", copy.to_str().expect("a path")]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(books::is_books(&copy.join("simulator")).expect("readable"));
    server.restart();
    let log = server.log_tail();
    assert!(log.contains("moved from their RocksDB"), "{log}");
    assert!(books::is_books(&simulator).expect("readable") && !simulator.join("CURRENT").exists());
    api.advance(120);
    assert_eq!(text(&api.payment(&silent), "status"), "COMPLETED");
    assert_eq!(text(&api.payout_now(&pending), "status"), "completed");
    assert_eq!(text(&api.reverse(&sale).expect(200), "status"), "REVERSED");
    assert_eq!(duplicate_calls(&server), 0);
}

#[test]
fn a_compaction_of_the_banks_books_that_is_killed_at_each_step_forgets_nothing() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let sales: Vec<Value> = (0..3).map(|_| api.pay(5)).collect();
    server.kill();
    let simulator = server.data().join("simulator");
    let numbered = |number: u64| simulator.join(format!("journal-{number:08}"));
    for (killed, step) in steps().enumerate() {
        let Some(wrapper) = strace(STEPS, KILLED, step) else { return };
        // A second journal, as a compaction begins: the next start goes on with it.
        let newest = number_of(&journal(&server));
        fs::write(numbered(newest + 1), books::journal::header(newest + 1)).expect("written");
        server.wrap(&wrapper.iter().map(String::as_str).collect::<Vec<_>>());
        let ended = server.try_restart();
        server.kill();
        server.wrap(&[]);
        server
            .try_restart()
            .unwrap_or_else(|why| panic!("after a compaction that was killed at step {step}: {why}"));
        server.kill();
        let mut known = 0;
        books::each_entry::<books::BooksError>(&simulator, |_, _| {
            known += 1;
            Ok(())
        })
        .expect("readable");
        assert!(known >= sales.len(), "after step {step} the bank knows {known} operations");
        if ended.is_ok() {
            assert!(killed > 3, "only {killed} starts were killed");
            break;
        }
    }
    server.restart();
    for sale in &sales {
        assert_eq!(text(&api.reverse(sale).expect(200), "status"), "REVERSED");
    }
    assert_eq!(duplicate_calls(&server), 0);
}

/// The number at the end of a journal's name.
fn number_of(journal: &Path) -> u64 {
    let name = journal.file_name().expect("a name").to_string_lossy().into_owned();
    name.trim_start_matches("journal-").parse().expect("a number")
}
