//! A year of an account's books, made by its own calls: a slice of them, then a day of the test clock.

use super::DAYS;
use crate::prepare::{Client, Tenant};
use crate::server::Server;
use crate::{Outcome, progress};
use chrono::{DateTime, FixedOffset, Utc};
use serde_json::{Value, json};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::task::LocalSet;

/// Connections that fill at once.
const WIDTH: usize = 64;
/// Seconds of a day.
const DAY: u64 = 86_400;

/// The books.
pub struct Filled {
    /// Payments, and as many payouts.
    pub pairs: u64,
    /// The time that filling took.
    pub took: Duration,
    /// The first day and the last one, in Caracas.
    pub days: (String, String),
    /// The merchant that all payouts went to.
    pub merchant: String,
    /// Ids of some payments, for reading by id.
    pub ids: Vec<String>,
}

impl Filled {
    /// Payments and payouts.
    pub fn objects(&self) -> u64 {
        2 * self.pairs
    }
}

/// The reference of the `nth` payment at its bank.
pub fn bank_reference(nth: u64) -> String {
    // None begins with a zero, which the bank leaves out, nor ends with 0000, by which the simulated bank
    // knows no transfer.
    format!("1{nth:08}7")
}

/// The document of the payer of the `nth` payment.
pub fn document(nth: u64) -> String {
    format!("V{:08}", 10_000_000 + nth % 20_000_000)
}

/// Fills so many pairs on each day.
pub fn fill(server: &Server, tenant: &Tenant, pairs_a_day: u64) -> Outcome<Filled> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let filled = LocalSet::new().block_on(&runtime, year(server, tenant, pairs_a_day.max(1)));
    filled.map_err(|why| format!("filling: {why}: {}", server.last_words()))
}

async fn year(server: &Server, tenant: &Tenant, pairs_a_day: u64) -> Outcome<Filled> {
    let began = Instant::now();
    let mut client = Client::open(server.api).await?;
    let key = format!("x-api-key: {}", tenant.key);
    let next = Rc::new(Cell::new(0));
    let first = today(&mut client, &key).await?;
    let mut last = first.clone();
    for day in 1..=DAYS {
        last = today(&mut client, &key).await?;
        let end = day * pairs_a_day;
        let mut lanes = Vec::new();
        for _ in 0..WIDTH {
            let (next, key, merchant, date) =
                (Rc::clone(&next), key.clone(), tenant.merchant.clone(), last.clone());
            let api = server.api;
            lanes.push(tokio::task::spawn_local(async move {
                let mut client = Client::open(api).await?;
                loop {
                    let nth = next.get();
                    if nth >= end {
                        return Ok::<_, String>(());
                    }
                    next.set(nth + 1);
                    let (payment, payout) = (payment(nth, &date), payout(nth, &merchant));
                    client.post(&key, "/v1/payments/pago-movil/verify", &payment, 201).await?;
                    client.post(&key, "/v1/payouts", &payout, 201).await?;
                }
            }));
        }
        for lane in lanes {
            lane.await.map_err(|error| error.to_string())??;
        }
        let clock = client.post(&key, "/v1/test/clock", &json!({ "advanceSeconds": DAY }), 200).await?;
        if day % 30 == 0 {
            progress(&format!("day {day} of {DAYS}, {}", clock["now"].as_str().unwrap_or_default()));
        }
    }
    let newest = client.get(&key, "/v1/payments?limit=100", 200).await?;
    let ids = newest["items"].as_array().into_iter().flatten().filter_map(|item| item["id"].as_str());
    Ok(Filled {
        pairs: DAYS * pairs_a_day,
        took: began.elapsed(),
        days: (first, last),
        merchant: tenant.merchant.clone(),
        ids: ids.map(str::to_owned).collect(),
    })
}

/// The day of the account's clock, in Caracas.
async fn today(client: &mut Client, key: &str) -> Outcome<String> {
    let clock = client.get(key, "/v1/test/clock", 200).await?;
    let now = clock["now"].as_str().unwrap_or_default();
    let now: DateTime<Utc> = now.parse().map_err(|error| format!("{now}: {error}"))?;
    let caracas = FixedOffset::west_opt(4 * 3_600).ok_or("no such zone")?;
    Ok(now.with_timezone(&caracas).date_naive().to_string())
}

fn payment(nth: u64, date: &str) -> Value {
    json!({
        "usdAmount": 10, "reference": bank_reference(nth), "phone": phone(nth), "bankCode": "0134", "date": date,
        "debtorId": document(nth), "externalRef": format!("sale-{nth}"),
    })
}

fn payout(nth: u64, merchant: &str) -> Value {
    json!({ "merchantId": merchant, "monto": "1.00", "concepto": "liquidacion", "externalRef": format!("payout-{nth}") })
}

/// The phone of the payer of the `nth` payment.
fn phone(nth: u64) -> String {
    format!("0414{:07}", nth % 10_000_000)
}
