//! SIGKILL under load, many times: a set of writers keeps asking until each operation is answered,
//! whatever happens to the server.
//!
//! What is checked: after each start, that what was acknowledged since the one before is there as it
//! was answered; at the end, that every acknowledged operation is there once; the retry of one whose
//! answer was lost answers the same or does it now; the movements add up to the balance; the bank
//! was asked to do nothing twice.

use crate::harness::check::{assert_money, decimal, sum, text};
use crate::harness::client::{Answer, Api};
use crate::harness::flows::{execution, merged, payer, payout_body};
use crate::harness::server::Server;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The number of kills: more in a long run (`make soak`, `CRASHES=50`), few in an ordinary one.
const CRASHES: usize = 5;
const WRITERS: usize = 8;
/// The longest time that a writer keeps asking for one operation: several times as long as the
/// client waits for one answer, as a request may be lost with the server that it was for.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// The answer that a writer got.
struct Told {
    reference: String,
    answer: Value,
    wal_seq: u64,
}

/// The number of kills in this run.
pub fn crashes() -> usize {
    std::env::var("CRASHES").ok().and_then(|text| text.parse().ok()).unwrap_or(CRASHES)
}

/// Asks until there is an answer that decides; an answer of the server that it can't now, or none
/// at all, is no such answer.
#[track_caller]
pub fn until_decided(what: &str, ask: impl Fn() -> Result<Answer, String>) -> Answer {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match ask() {
            Ok(answer)
                if answer.status == 503
                    || (answer.status == 409 && answer.json()["error"] == "idempotency_in_progress") => {}
            Ok(answer) => return answer,
            Err(_) => {}
        }
        assert!(Instant::now() < deadline, "{what} was not answered within {PATIENCE:?}");
        sleep(Duration::from_millis(5));
    }
}

/// Posts until there is an answer that decides: status, body, and the sequence of what it wrote.
#[track_caller]
pub fn insist(api: &Api, path: &str, body: &Value) -> (u16, Value, Option<u64>) {
    let answer = until_decided(path, || api.try_post(path, body));
    (answer.status, answer.json(), answer.header("wal-seq").and_then(|text| text.parse().ok()))
}

/// Makes payouts by reference and by key, and payments, until told to stop.
fn write(
    api: &Api,
    merchant: &Value,
    writer: usize,
    stop: &AtomicBool,
    acknowledged: &AtomicUsize,
    told: &Mutex<Vec<Told>>,
) {
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let reference = format!("{writer}-{round}");
        let (path, body, api) = match round % 3 {
            0 => (
                "/v1/payouts",
                merged(payout_body(merchant, "0.10"), json!({ "externalRef": reference })),
                api.clone(),
            ),
            1 => (
                "/v1/payouts",
                merged(payout_body(merchant, "0.20"), json!({ "externalRef": reference })),
                api.keyed(&reference),
            ),
            _ => {
                let request = merged(payer(), json!({ "usdAmount": 1, "externalRef": reference }));
                // A request whose answer was lost left an intent; this one takes its place.
                let (status, intent, _) = insist(api, "/v1/payments/c2p/request", &request);
                assert_eq!(status, 201, "{intent}");
                ("/v1/payments/c2p", execution(&intent, "12345678"), api.clone())
            }
        };
        let (status, answer, wal_seq) = insist(&api, path, &body);
        match (round % 3, status) {
            (0 | 1, 200..=202) | (2, 200) => {}
            // The repeat is open while the first charge was at the bank when the server died: the
            // poller finds out.
            (2, 202) => continue,
            (2, 409) if answer["error"] == "charge_in_progress" => continue,
            _ => panic!("{path} {status}: {answer}"),
        }
        acknowledged.fetch_add(1, Ordering::Relaxed);
        told.lock().expect("no writer panicked").push(Told {
            reference,
            answer,
            wal_seq: wal_seq.unwrap_or(0),
        });
    }
}

#[test]
fn nothing_acknowledged_is_lost_or_done_twice() {
    let mut server = Server::start();
    let api = server.tenant().test;
    let merchant = api.merchant();
    api.fund("100000.00");
    let (stop, acknowledged, told) = (AtomicBool::new(false), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let (began, mut checked) = (Instant::now(), 0);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (api, merchant, stop, acknowledged, told) = (&api, &merchant, &stop, &acknowledged, &told);
            scope.spawn(move || write(api, merchant, writer, stop, acknowledged, told));
        }
        let stopping = StopOnDrop(&stop);
        for crash in 0..crashes() {
            let (before, deadline) = (acknowledged.load(Ordering::Relaxed), Instant::now() + PATIENCE);
            while acknowledged.load(Ordering::Relaxed) < before + 40 {
                assert!(Instant::now() < deadline, "the writers are stuck");
                sleep(Duration::from_millis(5));
            }
            // The kill comes at different points of a round.
            sleep(Duration::from_millis(7 * (crash as u64 % 5)));
            server.kill();
            server.restart();
            checked = check_newest(&api, &told, checked);
        }
        drop(stopping);
    });
    let told = told.into_inner().expect("no writer panicked");
    println!(
        "{} kills under load, {} operations acknowledged, {checked} of them checked after a start, {} s",
        crashes(),
        told.len(),
        began.elapsed().as_secs()
    );
    assert!(told.len() >= 40 * crashes());
    // The poller finds out about what was at the bank when the server died.
    api.advance(600);
    check(&server, &api, &told);
    server.kill();
    server.restart();
    check(&server, &api, &told);
}

/// The path on which an operation is read by its reference, and the member that names it.
fn place(told: &Told) -> (String, &'static str) {
    match told.answer["payoutId"].is_string() {
        true => (format!("/v1/payouts/by-ref/{}", told.reference), "payoutId"),
        false => (format!("/v1/payments/by-ref/{}", told.reference), "paymentId"),
    }
}

/// Looks for what was acknowledged after the first so many; returns how many there are now.
fn check_newest(api: &Api, told: &Mutex<Vec<Told>>, checked: usize) -> usize {
    let newest: Vec<(String, Value)> = told.lock().expect("no writer panicked")[checked..]
        .iter()
        .map(|told| {
            let (path, id) = place(told);
            (path, told.answer[id].clone())
        })
        .collect();
    for (path, id) in &newest {
        let found = api.get(path).expect(200);
        assert!(found["payoutId"] == *id || found["paymentId"] == *id, "{path} was {id}, and is {found}");
    }
    checked + newest.len()
}

/// Ends the writers also when the test fails in between: a scope waits for them.
pub struct StopOnDrop<'a>(pub &'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn check(server: &Server, api: &Api, told: &[Told]) {
    let last = told.iter().map(|told| told.wal_seq).max().unwrap_or(0);
    let now = server.admin().get("/admin/status").expect(200);
    assert!(
        decimal(&now["walSeq"]) >= Decimal::from(last),
        "the log is shorter than what was acknowledged: {now}"
    );
    assert_eq!(now["rails"]["duplicateCalls"], 0, "{now}");

    let payouts = by_ref(&api.walk("/v1/payouts", &[], 100));
    let payments = by_ref(&api.walk("/v1/payments", &[("status", "COMPLETED")], 100));
    for told in told {
        let (path, id) = place(told);
        let kept = if id == "payoutId" { &payouts } else { &payments };
        let found = kept
            .get(&told.reference)
            .unwrap_or_else(|| panic!("{} was acknowledged and is lost", told.reference));
        assert_eq!(found.len(), 1, "{} happened {} times", told.reference, found.len());
        assert_eq!(found[0][id], told.answer[id], "{} is another one now", told.reference);
        assert_eq!(api.get(&path).expect(200)[id], told.answer[id]);
    }
    for found in payouts.values().chain(payments.values()) {
        assert_eq!(found.len(), 1, "one reference, two operations: {found:?}");
    }

    // Every movement belongs to an operation that is there, and every such operation has its
    // movements.
    let rows = api.movements();
    let mut expected = Decimal::from(100_000);
    for payout in payouts.values().flatten() {
        assert_money(&payout["monto"]);
        assert_eq!(text(payout, "status"), "completed", "{payout}");
        expected -= decimal(&payout["monto"]);
    }
    for payment in payments.values().flatten() {
        expected += decimal(&payment["netVes"]);
    }
    assert_eq!(sum(&rows, "amountVes"), expected, "the movements are not those of the operations");
    api.books();
    for kind in ["payout", "payment"] {
        let mut owners: Vec<&str> = rows
            .iter()
            .filter(|row| row["type"] == kind)
            .map(|row| text(row, &format!("{kind}Id")))
            .collect();
        let all = owners.len();
        owners.sort_unstable();
        owners.dedup();
        assert_eq!(owners.len(), all, "a {kind} was booked twice");
    }
}

pub fn by_ref(items: &[Value]) -> BTreeMap<String, Vec<Value>> {
    let mut out: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for item in items {
        out.entry(text(item, "externalRef").to_owned()).or_default().push(item.clone());
    }
    out
}
