//! The shops of a day, and their books: what each answer said is added up, and at the end the server's
//! balances have to say the same.

use crate::Outcome;
use crate::prepare::{self, Client, Extent, FUNDS_CENTS, Tenant};
use crate::server::Server;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::RwLock;

/// The event that a shop with an endpoint is told of.
const PAYOUT_COMPLETED: &str = "payout.completed";

/// A shop, and what the answers to its requests said.
pub struct Shop {
    /// The tenant.
    pub tenant: Tenant,
    /// Bolívares that were paid out, with their fees, in cents.
    pub paid: AtomicI64,
    /// Bolívares that were collected, without their fees, in cents.
    pub collected: AtomicI64,
    /// Pesos that were collected, without their fees.
    pub pesos: AtomicI64,
    /// The test clock: it stands still from the first to the last call of a payment, which would be over
    /// otherwise when its buyer answers.
    pub clock: RwLock<()>,
}

/// The fate of the holds on what was collected, which last for a day of a shop's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// All of them last.
    Last,
    /// Some may have ended: what is no longer held is available.
    End,
}

/// All shops of a day.
pub struct Shops {
    /// The shops that buyers come to.
    pub plain: Vec<Shop>,
    /// The shops that have a webhook endpoint each.
    pub with_endpoint: Vec<Shop>,
}

impl Shops {
    /// Opens so many of both, whose endpoints are at `url`.
    pub fn open(server: &Server, plain: usize, with_endpoint: usize, url: &str) -> Outcome<Shops> {
        let mut tenants = prepare::tenants(server, plain + with_endpoint, Extent::Payable)?;
        let with = tenants.split_off(plain);
        super::block_on(async {
            let mut api = Client::open(server.api).await?;
            let body = json!({ "url": url, "events": [PAYOUT_COMPLETED] });
            for tenant in &with {
                api.post(&header(tenant), "/v1/webhooks", &body, 201).await?;
            }
            Ok(())
        })?;
        let shops = |tenants: Vec<Tenant>| tenants.into_iter().map(Shop::new).collect();
        Ok(Shops { plain: shops(tenants), with_endpoint: shops(with) })
    }

    /// Compares every balance with what the answers said.
    pub fn check(&self, server: &Server, holds: Holds) -> Outcome<()> {
        super::block_on(async {
            let mut api = Client::open(server.api).await?;
            for shop in self.plain.iter().chain(&self.with_endpoint) {
                shop.check(&mut api, holds).await?;
            }
            Ok(())
        })
    }

    /// Moves the test clock of a shop that buyers come to forward.
    pub async fn advance(&self, api: &mut Client, nth: usize, seconds: u64) -> Outcome<()> {
        let shop = &self.plain[nth % self.plain.len()];
        let body = json!({ "advanceSeconds": seconds });
        let _alone = shop.clock.write().await;
        api.post(&header(&shop.tenant), "/v1/test/clock", &body, 200).await.map(drop)
    }
}

impl Shop {
    fn new(tenant: Tenant) -> Shop {
        let none = || AtomicI64::new(0);
        Shop { tenant, paid: none(), collected: none(), pesos: none(), clock: RwLock::new(()) }
    }

    async fn check(&self, api: &mut Client, holds: Holds) -> Outcome<()> {
        let of = |sum: &AtomicI64| sum.load(Ordering::Relaxed);
        let ves = api.get(&header(&self.tenant), "/v1/balance", 200).await?;
        same(&ves, ["availableVes", "heldVes"], [FUNDS_CENTS - of(&self.paid), of(&self.collected)], holds)?;
        let pesos = api.get(&header(&self.tenant), "/v1/cop/balance", 200).await?;
        same(&pesos, ["availableCop", "heldCop"], [0, of(&self.pesos) * 100], holds)
    }
}

fn header(tenant: &Tenant) -> String {
    format!("x-api-key: {}", tenant.key)
}

/// Compares what is available and what is held, in hundredths, with what they are if no hold has ended.
fn same(balance: &Value, names: [&str; 2], expected: [i64; 2], holds: Holds) -> Outcome<()> {
    let said = names.map(|name| balance[name].as_str().and_then(cents));
    let is_right = match (said, holds) {
        ([Some(available), Some(held)], Holds::Last) => [available, held] == expected,
        ([Some(available), Some(held)], Holds::End) => {
            available + held == expected[0] + expected[1] && (0..=expected[1]).contains(&held)
        }
        _ => false,
    };
    if is_right {
        return Ok(());
    }
    let ([available, held], [free, kept]) = (names, expected);
    Err(format!(
        "the answers make an {available} of {free} hundredths and a {held} of {kept} ({holds:?}), and the balance is {balance}"
    ))
}

/// An amount with at most two decimals, in hundredths.
pub fn cents(text: &str) -> Option<i64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 2 || whole.is_empty() {
        return None;
    }
    format!("{whole}{part:0<2}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Holds, cents, same};
    use serde_json::json;

    #[test]
    fn amounts_are_counted_in_hundredths() {
        let known = ["1.5", "2000", "0.07", "-3.20"].map(cents);
        assert_eq!(known, [Some(150), Some(200_000), Some(7), Some(-320)]);
        assert_eq!(["1.005", "x", ""].map(cents), [None; 3]);
    }
    #[test]
    fn what_is_no_longer_held_is_available() {
        let judged = |available: &str, held: &str, holds| {
            let balance = json!({ "available": available, "held": held });
            same(&balance, ["available", "held"], [500, 300], holds).is_ok()
        };
        assert!(judged("5.00", "3.00", Holds::Last) && judged("5.00", "3.00", Holds::End));
        assert!(!judged("6.00", "2.00", Holds::Last) && judged("6.00", "2.00", Holds::End));
        assert!(!judged("6.00", "2.01", Holds::End) && !judged("4.00", "4.00", Holds::End));
    }
}
