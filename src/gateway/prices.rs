//! Prices: the rates that are in force, their history and their feeds, and what follows from them for
//! an amount of money.

use crate::rates::{FeedHealth, Market, RateBoard, RateStore};
use api::plan::{BankRate, Official};
use domain::resources::rates::samples::{Filter, Pair, Series};
use domain::values::money::Usdt;
use domain::values::time::{DAY_MS, Timestamp};
use std::sync::Arc;

/// The age, in ms, beyond which a bank's official rate is not repeated: a day, as long as the rate
/// holds.
const OFFICIAL_AGE_MS_MAX: i64 = DAY_MS;

/// The rates and fees that the server knows.
pub struct Prices {
    /// The newest rate of each series.
    pub board: Arc<RateBoard>,
    /// The history of rates.
    pub history: Arc<RateStore>,
    /// The health of each feed of rates.
    pub feeds: Arc<[FeedHealth]>,
    /// The source of `[rates.bank]` whose BCV rate stands beside the central bank's in quotes; it
    /// is not a public source.
    pub bank_source: Option<String>,
    /// The rates that conversions are charged by, and how fresh they must be.
    pub market: Market,
    /// The network fee of a USDT payout on each network, in the order of
    /// [`domain::resources::crypto::address::Network`].
    pub network_fees: [Usdt; 4],
    /// The blocks after which a transfer on each network is final, in the same order; `None` where no
    /// node is configured.
    pub confirmations: [Option<u64>; 4],
    /// The lock under which operators pin rates, on the disk and then on the board.
    pub pinning: tokio::sync::Mutex<()>,
}

impl Prices {
    /// The official dollar rate: the central bank's and, if one is configured, a bank's.
    pub fn official(&self, now: Timestamp) -> Official {
        let bank = match &self.bank_source {
            None => BankRate::NotConfigured,
            Some(source) => {
                let latest = self.board.latest(
                    Pair::USD_VES,
                    Filter { source: Some(source), ..Filter::default() },
                    now,
                );
                latest
                    .filter(|found| {
                        found.is_fresh(now.since_ms(found.sample.fetched_at), OFFICIAL_AGE_MS_MAX)
                    })
                    .map_or(BankRate::Unavailable, |found| BankRate::Says(found.sample))
            }
        };
        Official { bcv: self.board.bcv_in_force(now), bank }
    }

    /// Whether everybody may see a series: what a bank tells us is between it and us.
    pub fn is_public(&self, series: &Series) -> bool {
        self.bank_source.as_deref().is_none_or(|bank| series.pair != Pair::USD_VES || *series.source != *bank)
    }
}
