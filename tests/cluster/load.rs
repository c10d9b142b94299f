//! Load on a cluster, with a record of what was asked, answered and read, and when.

use crate::machines::{Answer, Machines, attempt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What one payout takes from the balance, in hundredths.
pub const PAYOUT: u64 = 1_000;
/// The longest that an attempt takes, and the time between two of them.
const ATTEMPT: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(20);

/// A payout that was acknowledged.
#[derive(Clone, Debug)]
pub struct Paid {
    pub reference: String,
    pub id: String,
    /// When the attempt began that was answered, and when that was.
    pub attempted: Instant,
    pub acknowledged: Instant,
}

/// A balance that was read.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub asked: Instant,
    pub answered: Instant,
    pub hundredths: u64,
}

/// What happened, as the callers know it.
#[derive(Default)]
pub struct History {
    pub paid: Vec<Paid>,
    pub seen: Vec<Seen>,
    /// When payouts were asked for first, also those that are not acknowledged yet.
    pub asked: Vec<Instant>,
    /// Answers that nobody may get.
    pub odd: Vec<String>,
    /// Refusals by code.
    pub refused: BTreeMap<String, u64>,
}

/// Callers, until they are told to stop.
pub struct Load {
    ports: Vec<u16>,
    history: Mutex<History>,
    is_over: AtomicBool,
    turn: AtomicU64,
}

impl Load {
    /// Begins `writers` that pay the seller, and `readers` of the balance, at all nodes in turn.
    pub fn begin(
        ports: Vec<u16>,
        merchant: &str,
        writers: usize,
        readers: usize,
    ) -> (Arc<Load>, Vec<JoinHandle<()>>) {
        let (is_over, turn) = (AtomicBool::new(false), AtomicU64::new(0));
        let load = Arc::new(Load { ports, history: Mutex::default(), is_over, turn });
        let mut callers = Vec::new();
        for writer in 0..writers {
            let (load, merchant) = (Arc::clone(&load), merchant.to_owned());
            callers.push(std::thread::spawn(move || load.pay(writer, &merchant)));
        }
        for _ in 0..readers {
            let load = Arc::clone(&load);
            callers.push(std::thread::spawn(move || load.read()));
        }
        (load, callers)
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
    }

    pub fn with<T>(&self, look: impl FnOnce(&mut History) -> T) -> T {
        look(&mut self.history.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The time from `since` to the first success of an attempt that began after it.
    pub fn first_success(&self, since: Instant) -> Option<Duration> {
        self.with(|history| {
            let after = history.paid.iter().filter(|paid| paid.attempted >= since);
            after.map(|paid| paid.acknowledged - since).min()
        })
    }

    /// The longest time between two successes, of which the second came after `since`.
    pub fn longest_gap(&self, since: Instant) -> Duration {
        self.with(|history| {
            let mut times: Vec<Instant> = history.paid.iter().map(|paid| paid.acknowledged).collect();
            times.sort_unstable();
            let gaps = times.windows(2).filter(|pair| pair[1] > since).map(|pair| pair[1] - pair[0]);
            gaps.max().unwrap_or_default()
        })
    }

    fn next_port(&self) -> u16 {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        self.ports[usize::try_from(turn).unwrap_or(0) % self.ports.len()]
    }

    fn pay(&self, writer: usize, merchant: &str) {
        for number in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let reference = format!("pay-{writer}-{number}");
            let body = json!({ "merchantId": merchant, "monto": "10.00", "concepto": "rounds", "externalRef": reference });
            let asked = Instant::now();
            self.with(|history| history.asked.push(asked));
            loop {
                let attempted = Instant::now();
                let answer =
                    attempt(ATTEMPT, self.next_port(), "POST", "/v1/payouts", Some(&body), &reference);
                if let Some((200..=202, _, shown)) = &answer
                    && let Some(id) = shown["payoutId"].as_str()
                {
                    let (id, acknowledged) = (id.to_owned(), Instant::now());
                    let paid = Paid { reference, id, attempted, acknowledged };
                    self.with(|history| history.paid.push(paid));
                    std::thread::sleep(PAUSE);
                    break;
                }
                self.note_refusal(&answer);
                std::thread::sleep(PAUSE);
            }
        }
    }

    fn read(&self) {
        while !self.is_over.load(Ordering::SeqCst) {
            let asked = Instant::now();
            let answer = attempt(ATTEMPT, self.next_port(), "GET", "/v1/balance", None, "");
            match &answer {
                Some((200, _, shown)) => {
                    let (answered, hundredths) = (Instant::now(), hundredths(&shown["ledgerNetVes"]));
                    self.with(|history| history.seen.push(Seen { asked, answered, hundredths }));
                }
                _ => self.note_refusal(&answer),
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn note_refusal(&self, answer: &Answer) {
        let code = match answer {
            None => "no answer".to_owned(),
            Some((status, _, shown)) => format!("{status} {}", shown["error"].as_str().unwrap_or_default()),
        };
        let may_be = code == "no answer" || code.starts_with("503 ") || code.contains("in_progress");
        self.with(|history| {
            if !may_be {
                history.odd.push(format!("{answer:?}"));
            }
            *history.refused.entry(code).or_default() += 1;
        });
    }
}

/// The id of a seller whom money can be paid to, made at a node.
pub fn verified_seller(machines: &Machines, node: usize) -> String {
    let post = |path: &str, body: &Value| machines.post(node, path, body).expect("an answer").1;
    let seller = post(
        "/v1/merchants",
        &json!({ "externalRef": "seller", "name": "Bodega", "identification": "V87654321",
            "contactEmail": "b@example.com", "contactPhone": "04147654321", "bankCode": "0134", "phone": "04147654321" }),
    );
    let (merchant, method) = (&seller["merchantId"], &seller["payoutMethods"][0]["payoutMethodId"]);
    let (merchant, method) = (merchant.as_str().expect("an id"), method.as_str().expect("an id"));
    let verify = format!("/v1/merchants/{merchant}/payout-methods/{method}/verify");
    post(&format!("{verify}/start"), &json!({}));
    assert_eq!(post(&verify, &json!({ "amount1": "0.32", "amount2": "0.45" }))["status"], "verified");
    merchant.to_owned()
}

/// An amount of an answer.
pub fn hundredths(amount: &Value) -> u64 {
    let text = amount.as_str().expect("an amount");
    text.replace('.', "").parse().expect("digits")
}
