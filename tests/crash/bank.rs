//! The simulated bank's books, when the server is killed: what the bank answered it still knows, and
//! nothing was sent to it twice.

use crate::harness::check::text;
use crate::harness::client::Api;
use crate::harness::flows::{execution, fresh, merged, payer, payout_body};
use crate::harness::server::Server;
use crate::load::{PATIENCE, StopOnDrop, crashes};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
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

fn newest_log(server: &Server) -> PathBuf {
    let files = fs::read_dir(server.data().join("simulator")).expect("the bank's books").flatten();
    let logs = files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|is| is == "log"));
    logs.max().expect("a log")
}

#[test]
fn damage_in_the_banks_log_is_said_and_the_server_starts() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let sales: Vec<_> = (0..5).map(|_| api.pay(5)).collect();
    server.kill();
    let newest = newest_log(&server);
    let mut bytes = fs::read(&newest).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xFF;
    fs::write(&newest, bytes).expect("written");
    server.restart();
    let said = server.log_tail();
    assert!(said.contains("the log of the simulated bank's books is damaged"), "{said}");
    for sale in &sales {
        assert_eq!(text(&api.payment(sale), "status"), "COMPLETED");
    }
    assert_eq!(text(&api.reverse(&sales[0]).expect(200), "status"), "REVERSED");
}

#[test]
fn an_end_of_the_banks_log_that_is_not_whole_is_left_out() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let sale = api.pay(5);
    server.kill();
    let newest = newest_log(&server);
    let mut file = fs::File::options().append(true).open(newest).expect("writable");
    file.write_all(&[19, 0, 0, 0, 1, 2, 3, 4, 1, 9]).expect("written");
    server.restart();
    assert_eq!(text(&api.reverse(&sale).expect(200), "status"), "REVERSED");
    assert_eq!(duplicate_calls(&server), 0);
}
