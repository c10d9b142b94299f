//! The market's price of a USDT, by which conversions are charged (`docs/contract.md, 9.1`). A
//! price that an operator pinned does not age.

use super::board::RateBoard;
use domain::platform::Mode;
use domain::resources::rates::samples::{Filter, Pair, Sample};
use domain::values::money::{Currency, Rate};
use domain::values::time::Timestamp;
use std::sync::Arc;

pub(super) const P2P: &str = "p2p";
pub(super) const FLOOR: &str = "FLOOR";
pub(super) const BUY: &str = "BUY";

#[derive(Clone)]
pub struct Market {
    board: Arc<RateBoard>,
    max_age_ms: i64,
}

impl Market {
    pub fn new(board: Arc<RateBoard>, max_age_ms: i64) -> Market {
        Market { board, max_age_ms }
    }

    pub fn max_age_seconds(&self) -> u64 {
        u64::try_from(self.max_age_ms).unwrap_or(0) / 1_000
    }

    /// By the server's clock; `None` when there is no fresh one.
    pub fn rate(&self, currency: Currency, mode: Mode, now: Timestamp) -> Option<Rate> {
        self.sample(currency, mode, now).map(|sample| sample.price)
    }

    pub fn sample(&self, currency: Currency, mode: Mode, now: Timestamp) -> Option<Arc<Sample>> {
        let (pair, side) = match currency {
            Currency::Ves => (Pair::USDT_VES, FLOOR),
            Currency::Cop => (Pair::USDT_COP, BUY),
            Currency::Usdt => return None,
        };
        let filter = Filter { source: Some(P2P), side: Some(side), method: None };
        let found = self.board.latest(pair, filter, mode, now)?;
        found.is_fresh(found.sample.age_ms(now), self.max_age_ms).then_some(found.sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::Steps;
    use domain::resources::rates::samples::Series;
    use rust_decimal::Decimal;

    #[test]
    fn the_freshest_of_its_side_and_not_too_old() {
        let at = |ms| Timestamp::from_unix_ms(ms);
        let board = Arc::new(RateBoard::new(Steps::default(), Box::new(|_| {})));
        let market = Market::new(Arc::clone(&board), 900);
        let record = |pair, side, price: i64, ms| {
            board.record(Sample::new(
                Series::of(pair, "p2p").side(side),
                Rate(Decimal::from(price)),
                at(ms),
                at(ms),
            ))
        };
        assert_eq!(market.rate(Currency::Ves, Mode::Live, at(0)), None);
        record(Pair::USDT_VES, "BUY", 250, 1_000);
        record(Pair::USDT_COP, "BUY", 4_000, 1_000);
        assert_eq!(market.rate(Currency::Ves, Mode::Live, at(1_000)), None, "another side is another price");
        record(Pair::USDT_VES, "FLOOR", 245, 1_000);
        record(Pair::USDT_VES, "FLOOR", 244, 500);
        assert_eq!(market.rate(Currency::Ves, Mode::Live, at(1_900)), Some(Rate(Decimal::from(245))));
        assert_eq!(market.rate(Currency::Cop, Mode::Live, at(1_900)), Some(Rate(Decimal::from(4_000))));
        assert_eq!(market.rate(Currency::Ves, Mode::Live, at(1_901)), None, "older than it may be");
    }
}
