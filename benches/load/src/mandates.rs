//! Mandates that are spent as fast as can be, while the server is killed again and again: the proof that never a cent
//! above a limit leaves, and that what a bank refused can be spent again. The bank keeps its own books, which no kill
//! touches; they, the gateway's payouts and what it says is left are compared in the end.
//!
//! A client that got no answer makes the same call again, as any caller does, until it has one.

use crate::cleanup::{self, Scratch};
use crate::connection::Connection;
use crate::live::bank::{Bank, Books, Manner};
use crate::prepare::{self, Client, Extent};
use crate::report::Report;
use crate::server::{Server, Setting};
use crate::table::{Table, decimal, grouped};
use crate::{Outcome, Place, progress};
use clap::Args;
use domain::values::money::Ves;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::LocalSet;

/// Keys with a mandate in one account, which has 20 keys that work at most, its own among them.
const MANDATES_EACH: usize = 19;
/// The time until a server is ready again, of a build without optimisation too.
const READY: Duration = Duration::from_secs(60);
/// The time between a start and the next kill, in ms: the shortest, and what chance adds.
const LIVES_MS: (u64, u64) = (300, 1_200);
const CREDIT: &str = "/v1/payments/credit";
/// Of a client whose call got no answer, or whose mandate is spent for now.
const PAUSE: Duration = Duration::from_millis(20);
/// The most of one payout, in tenths of a bolívar; budgets are a multiple of a tenth, so each is spent to the last.
const TENTHS_MAX: u64 = 99;
/// Rounds of spending after the last kill, for what a bank refuses then.
const ROUNDS_MAX: usize = 50;
/// Looks until nothing changes any more, and the time before each.
const LOOKS_MAX: usize = 60;
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Looks of a client at a payout that waits for the bank, before its next.
const WAITS_MAX: usize = 100;
const SPENDS_MAX: Duration = Duration::from_secs(600);

/// Agents that spend their mandates while the server is killed: never a cent above
#[derive(Args, Clone, Debug)]
pub struct Mandates {
    #[command(flatten)]
    place: Place,
    /// Clients with a mandate of their own
    #[arg(long, default_value_t = 200)]
    agents: usize,
    /// Clients with one mandate together
    #[arg(long, default_value_t = 50)]
    shared: usize,
    /// Kills of the server
    #[arg(long, default_value_t = 20)]
    kill: usize,
    /// Bolívares a day and a month of each client
    #[arg(long, default_value_t = 300)]
    budget: u64,
}

/// A mandate, and who spends it.
struct Mandate {
    name: String,
    owner: String,
    key: String,
    id: String,
    /// Whom its clients pay, and nobody else's do.
    phone: String,
    limit: i64,
    clients: usize,
}

/// What the clients know while servers come and go.
struct Stage {
    server: Mutex<SocketAddr>,
    /// No more kills: who has nothing left is done.
    is_last: AtomicBool,
    answered: AtomicU64,
    /// Calls whose answer was lost, and that were made again.
    repeated: AtomicU64,
    refused: AtomicU64,
}

impl Mandates {
    pub fn run(self) -> Outcome<()> {
        if self.agents == 0 || self.shared == 0 || self.budget == 0 {
            return Err("there must be at least one of each".to_owned());
        }
        cleanup::watch(SPENDS_MAX * 2);
        let (report, faults) = self.measure()?;
        report.print();
        match faults.as_slice() {
            [] => Ok(()),
            faults => Err(faults.join("\n")),
        }
    }

    fn measure(&self) -> Outcome<(Report, Vec<String>)> {
        let books = Arc::<Books>::default();
        let bank = Bank::open(Manner::Books(Arc::clone(&books)))?;
        let scratch = Scratch::new(&self.place.made()?, "mandates")?;
        let setting = Setting { r4: Some(bank.address), ..Setting::default() };
        let mut server = Server::gateway_in(scratch.path(), READY, &setting)?;
        progress("preparing the mandates");
        let mandates = Arc::new(self.prepare(&server)?);
        let stage = Arc::new(Stage {
            server: Mutex::new(server.api),
            is_last: AtomicBool::new(self.kill == 0),
            answered: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        });
        let began = Instant::now();
        let spending = spend(&mandates, &stage, 0);
        let mut chance = 0x9E37_79B9_7F4A_7C15 ^ u64::from(std::process::id());
        for kill in 1..=self.kill {
            let (least, more) = LIVES_MS;
            std::thread::sleep(Duration::from_millis(least + next(&mut chance) % more));
            // Its end is SIGKILL.
            drop(server);
            server = Server::gateway_in(scratch.path(), READY, &setting)?;
            *locked(&stage.server) = server.api;
            progress(&format!(
                "kill {kill}/{}, {} answers",
                self.kill,
                stage.answered.load(Ordering::Relaxed)
            ));
        }
        stage.is_last.store(true, Ordering::Relaxed);
        let joined = |spending: std::thread::JoinHandle<Outcome<()>>| {
            spending.join().map_err(|_| "the clients panicked".to_owned())?
        };
        joined(spending)?;
        let mut seen = self.look(&server, &mandates)?;
        for round in 1..=ROUNDS_MAX {
            // What waits for the bank may still be given back.
            for _ in 0..LOOKS_MAX {
                std::thread::sleep(LOOK_EVERY);
                let again = self.look(&server, &mandates)?;
                if std::mem::replace(&mut seen, again) == seen {
                    break;
                }
            }
            if seen.iter().all(|one| one.remaining == 0) {
                break;
            }
            joined(spend(&mandates, &stage, round))?;
            seen = self.look(&server, &mandates)?;
        }
        let took = began.elapsed();
        server.stop()?;
        Ok(self.verdict(&mandates, &seen, &books, &stage, took))
    }

    fn prepare(&self, server: &Server) -> Outcome<Vec<Mandate>> {
        let count = self.agents + 1;
        let tenants = prepare::tenants(server, count.div_ceil(MANDATES_EACH), Extent::Live)?;
        let address = server.api;
        on_a_runtime(async move {
            let mut client = Client::open(address).await?;
            let mut mandates = Vec::with_capacity(count);
            for nth in 0..count {
                let owner = tenants[nth / MANDATES_EACH].key.clone();
                let clients = if nth < self.agents { 1 } else { self.shared };
                let limit = (self.budget * clients as u64)
                    .checked_mul(100)
                    .and_then(|cents| i64::try_from(cents).ok());
                let limit = limit.ok_or("the budget is too large")?;
                let phone = format!("0414{:07}", 1_000_000 + nth);
                let each = json!({ "VES": Ves::from_minor(limit).to_string() });
                let mandate = json!({ "agent": format!("agent {nth}"), "perDay": each, "perMonth": each, "payees": [phone] });
                let body = json!({ "scopes": ["payout", "read"], "mandate": mandate });
                let made = client.post(&format!("x-api-key: {owner}"), "/v1/keys", &body, 201).await?;
                let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
                let (id, key) = (text("keyId"), text("key"));
                mandates.push(Mandate {
                    name: format!("agent-{nth}"),
                    owner,
                    key,
                    id,
                    phone,
                    limit,
                    clients,
                });
            }
            Ok(mandates)
        })
    }

    /// What the gateway says of each mandate.
    fn look(&self, server: &Server, mandates: &[Mandate]) -> Outcome<Vec<Seen>> {
        let address = server.api;
        on_a_runtime(async move {
            let mut client = Client::open(address).await?;
            let mut paid: HashMap<String, [i64; 3]> = HashMap::new();
            let mut owners: Vec<&str> = mandates.iter().map(|mandate| mandate.owner.as_str()).collect();
            owners.dedup();
            for owner in owners {
                let caller = format!("x-api-key: {owner}");
                let mut path = "/v1/payouts?limit=100".to_owned();
                loop {
                    let page = client.get(&caller, &path, 200).await?;
                    for payout in page["items"].as_array().into_iter().flatten() {
                        let reference = payout["externalRef"].as_str().unwrap_or_default();
                        let name = reference.rsplitn(4, '-').last().unwrap_or_default();
                        let at = match payout["status"].as_str() {
                            Some("completed") => 0,
                            Some("pending") => 1,
                            Some("failed") => 2,
                            _ => return Err(format!("a payout without a status: {payout}")),
                        };
                        paid.entry(name.to_owned()).or_default()[at] += cents(&payout["monto"])?;
                    }
                    match page["nextCursor"].as_str() {
                        Some(cursor) => path = format!("/v1/payouts?limit=100&cursor={cursor}"),
                        None => break,
                    }
                }
            }
            let mut seen = Vec::with_capacity(mandates.len());
            for mandate in mandates {
                let own = format!("x-api-key: {}", mandate.key);
                let key = client.get(&own, &format!("/v1/keys/{}", mandate.id), 200).await?;
                let [completed, pending, failed] = paid.remove(&mandate.name).unwrap_or_default();
                let remaining = cents(&key["remaining"]["perDay"]["VES"])?;
                seen.push(Seen { completed, pending, failed, remaining });
            }
            Ok(seen)
        })
    }

    fn verdict(
        &self,
        mandates: &[Mandate],
        seen: &[Seen],
        books: &Books,
        stage: &Stage,
        took: Duration,
    ) -> (Report, Vec<String>) {
        let (paid, refused) = (books.paid(), books.refused());
        let mut faults = Vec::new();
        let mut sums = [0_i64; 6];
        for (mandate, seen) in mandates.iter().zip(seen) {
            let at_bank = paid.get(&mandate.phone).copied().unwrap_or(0);
            let all = [mandate.limit, at_bank, seen.completed, seen.pending, seen.failed, seen.remaining];
            sums.iter_mut().zip(all).for_each(|(sum, one)| *sum += one);
            for what in seen.faults(mandate.limit, at_bank) {
                faults.push(format!(
                    "{}: {what}: limit {}, bank {at_bank}, {seen:?}",
                    mandate.name, mandate.limit
                ));
            }
        }
        if refused == 0 || sums[4] == 0 {
            faults
                .push("the bank refused nothing, so nothing was given back: this proves nothing".to_owned());
        }
        if self.kill > 0 && stage.repeated.load(Ordering::Relaxed) == 0 {
            faults.push("no kill cut a call: this proves nothing".to_owned());
        }
        let amount = |cents: i64| decimal(cents.unsigned_abs(), 2);
        let title = format!(
            "Mandates: {} clients with one each, {} with one together, {} kills",
            self.agents, self.shared, self.kill
        );
        let mut table = Table::new(&title, &["what", "figure"]);
        for (what, figure) in [
            ("limits, VES", amount(sums[0])),
            ("paid by the bank's books, VES", amount(sums[1])),
            ("completed by the ledger, VES", amount(sums[2])),
            ("whose outcome a kill took away, and which stays spent, VES", amount(sums[3])),
            ("refused by the bank, given back and spent again, VES", amount(sums[4])),
            ("left, VES", amount(sums[5])),
            ("answers", grouped(stage.answered.load(Ordering::Relaxed))),
            ("calls made again after a cut", grouped(stage.repeated.load(Ordering::Relaxed))),
            ("refusals by a mandate", grouped(stage.refused.load(Ordering::Relaxed))),
            ("seconds", took.as_secs().to_string()),
        ] {
            table.row([what.to_owned(), figure]);
        }
        table.remark(match faults.len() {
            0 => "**Verdict**: never a cent above any limit, and every limit was spent to its last cent."
                .to_owned(),
            count => format!("**Verdict**: {count} faults."),
        });
        (Report { tables: vec![table], ..Report::default() }, faults)
    }
}

/// What the gateway says of a mandate, in cents.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    completed: i64,
    pending: i64,
    failed: i64,
    remaining: i64,
}

impl Seen {
    /// What is wrong with it, beside what a bank paid.
    fn faults(&self, limit: i64, at_bank: i64) -> Vec<&'static str> {
        let spent = self.completed + self.pending;
        let rules = [
            ("the bank paid more than its limit", at_bank <= limit),
            ("the gateway spent more than its limit", spent <= limit),
            ("what is left and what was spent are not its limit", spent + self.remaining == limit),
            ("what was given back could not be spent again", self.remaining == 0),
            ("the bank's books are not those of the gateway", (self.completed..=spent).contains(&at_bank)),
        ];
        rules.into_iter().filter(|(_, holds)| !holds).map(|(what, _)| what).collect()
    }
}

/// All clients, in a thread of their own.
fn spend(
    mandates: &Arc<Vec<Mandate>>,
    stage: &Arc<Stage>,
    round: usize,
) -> std::thread::JoinHandle<Outcome<()>> {
    let (mandates, stage) = (Arc::clone(mandates), Arc::clone(stage));
    std::thread::spawn(move || {
        on_a_runtime(async move {
            let mut clients = Vec::new();
            for at in 0..mandates.len() {
                for nth in 0..mandates[at].clients {
                    let (mandates, stage) = (Arc::clone(&mandates), Arc::clone(&stage));
                    clients.push(tokio::task::spawn_local(async move {
                        spend_one(&mandates[at], &stage, &format!("{round}-{nth}")).await
                    }));
                }
            }
            for client in clients {
                client.await.map_err(|error| error.to_string())??;
            }
            Ok(())
        })
    })
}

/// Pays until nothing is left and the server is killed no more.
async fn spend_one(mandate: &Mandate, stage: &Stage, who: &str) -> Outcome<()> {
    let seed = mandate.name.bytes().chain(who.bytes());
    let mut chance = seed.fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte))) | 1;
    let (mut connection, mut most, mut number) = (None, TENTHS_MAX, 0_u64);
    let deadline = Instant::now() + SPENDS_MAX;
    loop {
        number += 1;
        let tenths = 1 + next(&mut chance) % most;
        let monto = decimal(tenths * 10, 2);
        let reference = format!("{}-{who}-{number}", mandate.name);
        let body = json!({
            "banco": "0134", "telefono": mandate.phone, "cedula": "V87654321", "monto": monto,
            "concepto": "agente", "externalRef": reference,
        });
        let (status, answer) =
            answered(mandate, stage, &mut connection, "POST", CREDIT, &body.to_string()).await?;
        if Instant::now() > deadline {
            return Err(format!("{reference}: it spends for more than {SPENDS_MAX:?}"));
        }
        match status {
            200..=202 => {
                most = TENTHS_MAX;
                let path = format!("/v1/payouts/{}", answer["payoutId"].as_str().unwrap_or_default());
                let (mut looks, mut waits) = (0, answer["status"] == "pending");
                // One whose outcome a kill took away waits for an operator.
                while waits && looks < WAITS_MAX {
                    tokio::time::sleep(PAUSE).await;
                    looks += 1;
                    waits = answered(mandate, stage, &mut connection, "GET", &path, "").await?.1["status"]
                        == "pending";
                }
            }
            403 if answer["error"] == "mandate_exceeded" => {
                stage.refused.fetch_add(1, Ordering::Relaxed);
                let left = u64::try_from(cents(&answer["remaining"]["VES"])?).unwrap_or(0) / 10;
                if left == 0 && stage.is_last.load(Ordering::Relaxed) {
                    return Ok(());
                }
                most = left.clamp(1, TENTHS_MAX);
                if left == 0 {
                    tokio::time::sleep(PAUSE).await;
                }
            }
            _ => return Err(format!("{reference}: {status}: {answer}")),
        }
    }
}

/// The answer to a call, which is made until it is there.
async fn answered(
    mandate: &Mandate,
    stage: &Stage,
    connection: &mut Option<Connection>,
    method: &str,
    path: &str,
    body: &str,
) -> Outcome<(u16, Value)> {
    let deadline = Instant::now() + READY * 2;
    let mut is_again = false;
    while Instant::now() < deadline {
        if std::mem::replace(&mut is_again, true) {
            tokio::time::sleep(PAUSE).await;
        }
        let address = *locked(&stage.server);
        if connection.is_none() {
            *connection = Connection::open(address).await.ok();
        }
        let Some(open) = connection.as_mut() else { continue };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nx-api-key: {}\r\ncontent-type: application/json\r\n\
            content-length: {}\r\n\r\n{body}",
            mandate.key,
            body.len()
        );
        match open.exchange(request.as_bytes()).await {
            Ok(answer) if answer.status < 500 && answer.status != 429 => {
                stage.answered.fetch_add(1, Ordering::Relaxed);
                let shown = serde_json::from_slice(answer.body).map_err(|error| error.to_string())?;
                return Ok((answer.status, shown));
            }
            Ok(_) => {}
            Err(_) => {
                stage.repeated.fetch_add(1, Ordering::Relaxed);
                *connection = None;
            }
        }
    }
    Err(format!("no answer within {:?}: {body}", READY * 2))
}

fn cents(amount: &Value) -> Outcome<i64> {
    let digits: String = amount.as_str().unwrap_or_default().chars().filter(|one| *one != '.').collect();
    digits.parse().map_err(|_| format!("{amount} is no amount"))
}

/// xorshift: the same run for the same seed.
fn next(chance: &mut u64) -> u64 {
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    *chance
}

fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn on_a_runtime<T>(work: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    LocalSet::new().block_on(&runtime, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cent_too_many_is_a_fault() {
        let seen = |completed, pending, remaining| Seen { completed, pending, failed: 5, remaining };
        for (what, seen, at_bank, count) in [
            ("all of it", seen(90, 10, 0), 95, 0),
            ("a cent above at the bank alone", seen(90, 10, 0), 101, 2),
            ("a cent above", seen(101, 0, 0), 101, 3),
            ("a cent left", seen(99, 0, 1), 99, 1),
            ("a cent lost", seen(99, 0, 0), 99, 1),
            ("a payout that the bank does not know", seen(100, 0, 0), 99, 1),
        ] {
            assert_eq!(seen.faults(100, at_bank).len(), count, "{what}");
        }
    }
}
