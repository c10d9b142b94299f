//! The market's price of a USDT, by which conversions are charged (`docs/contract.md, 9.1`). A
//! price that an operator pinned does not age.

use super::board::RateBoard;
use domain::resources::rates::samples::{BCV, Filter, OFFICIAL, Pair, Sample, Series};
use domain::values::ids::Mode;
use domain::values::money::{Currency, Rate};
use domain::values::time::Timestamp;
use std::fmt;
use std::sync::Arc;

const P2P: &str = "p2p";
const FLOOR: &str = "FLOOR";
const BUY: &str = "BUY";

#[derive(Clone)]
pub struct Market {
    board: Arc<RateBoard>,
    max_age_ms: i64,
}

impl Market {
    pub fn new(board: Arc<RateBoard>, max_age_ms: i64) -> Market {
        Market { board, max_age_ms }
    }

    pub fn over(&self, board: &Arc<RateBoard>) -> Market {
        Market { board: Arc::clone(board), ..*self }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub pair: Pair,
    pub source: &'static str,
    pub side: &'static str,
    pub what_for: &'static str,
}

/// The prices that live mode cannot do without.
pub const NEEDS: [Need; 3] = [
    Need { pair: Pair::USD_VES, source: BCV, side: OFFICIAL, what_for: "payments in bolívares and quotes" },
    Need { pair: Pair::USDT_VES, source: P2P, side: FLOOR, what_for: "conversions of bolívares" },
    Need {
        pair: Pair::USDT_COP,
        source: P2P,
        side: BUY,
        what_for: "conversions of pesos and checkouts in pesos",
    },
];

impl Need {
    pub fn is_met_by(&self, series: &Series) -> bool {
        series.pair == self.pair
            && *series.source == *self.source
            && (series.is_bcv() || series.side.as_deref() == Some(self.side))
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Need { pair, source, side, what_for } = self;
        write!(
            f,
            "{pair} {side}: live mode has no price of it (source {source}); {what_for} are refused with \
             rate_unavailable"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::Steps;
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
