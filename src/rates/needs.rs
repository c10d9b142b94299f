//! The prices that live mode cannot do without, and which of them nothing gives.

use super::market::{BUY, FLOOR, P2P};
use domain::resources::rates::samples::{BCV, OFFICIAL, Pair, Series};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub pair: Pair,
    pub source: &'static str,
    pub side: &'static str,
    pub what_for: &'static str,
}

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
