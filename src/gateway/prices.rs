//! Prices: the rates that are in force, their history and their feeds, and what follows from them for
//! an amount of money.

use crate::rates::market::{NEEDS, Need};
use crate::rates::{FeedHealth, Market, RateBoard, RateStore};
use api::endpoint::{BankRate, Official};
use domain::resources::rates::samples::{Filter, Pair, Sample, Series};
use domain::values::ids::Mode;
use domain::values::money::{Currency, Usdt};
use domain::values::time::{DAY_MS, Timestamp};
use std::sync::Arc;

/// The age, in ms, beyond which a bank's official rate is not repeated: a day, as long as the rate
/// holds.
const OFFICIAL_AGE_MS_MAX: i64 = DAY_MS;

pub struct Prices {
    pub board: Arc<RateBoard>,
    pub history: Arc<RateStore>,
    pub feeds: Arc<[FeedHealth]>,
    /// The source of `[rates.bank]` whose BCV rate stands beside the central bank's in quotes; it
    /// is not a public source.
    pub bank_source: Option<String>,
    pub bank_is_bcv: bool,
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
    pub fn bcv(&self, mode: Mode, now: Timestamp) -> Option<Arc<Sample>> {
        let bank = self.bank_source.as_deref().filter(|_| self.bank_is_bcv && mode == Mode::Live);
        let admits = |series: &Series| {
            series.is_bcv()
                || series.pair == Pair::USD_VES && bank.is_some_and(|bank| *series.source == *bank)
        };
        self.board.official(admits, mode, now)
    }

    pub fn official(&self, mode: Mode, now: Timestamp) -> Official {
        let bank = match &self.bank_source {
            None => BankRate::NotConfigured,
            Some(source) => {
                let filter = Filter { source: Some(source), ..Filter::default() };
                let latest = self.board.latest(Pair::USD_VES, filter, mode, now);
                latest
                    .filter(|found| {
                        found.is_fresh(now.since_ms(found.sample.fetched_at), OFFICIAL_AGE_MS_MAX)
                    })
                    .map_or(BankRate::Unavailable, |found| BankRate::Says(found.sample))
            }
        };
        Official { bcv: self.bcv(mode, now), bank }
    }

    /// The prices that live mode needs and does not have now. One that its feed has not been asked for
    /// yet is on its way.
    pub fn missing_in_live(&self, now: Timestamp) -> impl Iterator<Item = Need> {
        let is_there = move |need: &Need| match need.pair {
            Pair::USD_VES => self.bcv(Mode::Live, now).is_some(),
            Pair::USDT_VES => self.market.rate(Currency::Ves, Mode::Live, now).is_some(),
            _ => self.market.rate(Currency::Cop, Mode::Live, now).is_some(),
        };
        let gives = |feed: &FeedHealth, need: &Need| {
            let is_bank = self.bank_is_bcv && need.pair == Pair::USD_VES && !self.is_public(&feed.series);
            !feed.is_made_up && (need.is_met_by(&feed.series) || is_bank)
        };
        let is_coming =
            move |need: &Need| self.feeds.iter().any(|feed| gives(feed, need) && feed.state().is_new());
        NEEDS.into_iter().filter(move |need| !is_there(need) && !is_coming(need))
    }

    /// Whether everybody may see a series: what a bank tells us is between it and us.
    pub fn is_public(&self, series: &Series) -> bool {
        self.bank_source.as_deref().is_none_or(|bank| series.pair != Pair::USD_VES || *series.source != *bank)
    }
}
