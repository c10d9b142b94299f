//! Prices of conversions, computed in integers so that "rounded down" and "rounded up" are exact to
//! the last digit (`docs/contract.md, 9.1`).

use crate::entities::conversion::Price;
use crate::entities::conversion::Source;
use crate::values::money::{Currency, Rate, Usdt};
use rust_decimal::Decimal;

/// The number of decimals of a charged rate.
const RATE_DECIMALS: u32 = 4;
/// The number of units in a rate of 1: ten thousand, one for each of its last decimal.
const RATE_UNIT: i128 = 10_000;
/// A hundred percent, in units of the last decimal of a percentage.
const HUNDRED_PERCENT: i128 = 1_000_000;
/// The largest number of decimals of a market rate.
const MARKET_DECIMALS: u32 = 8;

/// The amount to be converted, given on one of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// The amount that is paid, in minor units of the source.
    Source(i64),
    Target(Usdt),
}

impl Price {
    /// The price of `amount`. USDT are rounded down to the cent; the payment for given USDT is
    /// rounded up, bolívares to the cent and pesos to the whole peso. `None` if a figure overflows
    /// or exceeds the largest amount of its currency, or if nothing would be paid.
    pub fn of(source: Source, amount: Amount, market: Rate, spread_percent: Rate) -> Option<Price> {
        let rate = charged(market, spread_percent)?;
        // A cent of USDT costs `rate / (minor_per_unit × RATE_UNIT)` minor units of the source: the
        // minor unit of pesos is a whole peso, a hundred times a cent.
        let minor_per_unit: i128 = match source {
            Source::Ves => 1,
            Source::Cop => 100,
        };
        let (source_minor, target_minor) = match amount {
            Amount::Source(minor) => {
                (i128::from(minor), (i128::from(minor) * minor_per_unit * RATE_UNIT).checked_div(rate)?)
            }
            Amount::Target(target) => (
                ceil_div(i128::from(target.minor()).checked_mul(rate)?, minor_per_unit * RATE_UNIT)?,
                i128::from(target.minor()),
            ),
        };
        let fits = |minor: i128, currency: Currency| {
            i64::try_from(minor).ok().filter(|minor| (0..=currency.amount_minor_max()).contains(minor))
        };
        let shown = |rate: Rate| Rate(with_four_decimals(rate.0));
        Some(Price {
            source_minor: fits(source_minor, source.currency()).filter(|minor| *minor > 0)?,
            target: Usdt::from_minor(fits(target_minor, Currency::Usdt)?),
            market: shown(market),
            spread_percent: shown(spread_percent),
            rate: Rate(Decimal::try_from_i128_with_scale(rate, RATE_DECIMALS).ok()?),
        })
    }
}

/// The charged rate in ten-thousandths: `market × (1 + spread_percent / 100)`, rounded up.
fn charged(market: Rate, spread_percent: Rate) -> Option<i128> {
    let market = units(market.0, MARKET_DECIMALS)?;
    let percent = units(spread_percent.0, RATE_DECIMALS)?;
    let scale = 10_i128.pow(MARKET_DECIMALS - RATE_DECIMALS) * HUNDRED_PERCENT;
    ceil_div(market.checked_mul(HUNDRED_PERCENT.checked_add(percent)?)?, scale).filter(|rate| *rate > 0)
}

/// A number in units of its `decimals`-th decimal; `None` if it is finer or overflows.
fn units(number: Decimal, decimals: u32) -> Option<i128> {
    let number = number.normalize();
    let missing = decimals.checked_sub(number.scale())?;
    number.mantissa().checked_mul(10_i128.checked_pow(missing)?)
}

/// The quotient, rounded up; both numbers are at least 0.
fn ceil_div(dividend: i128, divisor: i128) -> Option<i128> {
    dividend.checked_add(divisor - 1)?.checked_div(divisor)
}

/// The number rounded half up to four decimals, which are shown even when they are zeros.
pub fn with_four_decimals(number: Decimal) -> Decimal {
    let mut rounded =
        number.round_dp_with_strategy(RATE_DECIMALS, rust_decimal::RoundingStrategy::MidpointAwayFromZero);
    rounded.rescale(RATE_DECIMALS);
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::str::FromStr;

    fn rate(text: &str) -> Rate {
        Rate(Decimal::from_str(text).expect("a decimal"))
    }

    /// Computed by hand, in exact decimals.
    #[test]
    fn the_rounding_table() {
        let ves = |amount| (Source::Ves, amount);
        let cop = |amount| (Source::Cop, amount);
        let usdt = |cents| Amount::Target(Usdt::from_minor(cents));
        for ((source, amount), market, spread, rate_is, source_is, target_is) in [
            // 245 × 1.015 = 248.675; 1000.00 / 248.675 = 4.0213…; 10.00 × 248.675 = 2486.75.
            (ves(Amount::Source(100_000)), "245", "1.5", "248.6750", 100_000, 402),
            (ves(usdt(1_000)), "245", "1.5", "248.6750", 248_675, 1_000),
            // 0.01 × 248.675 = 2.48675, up to 2.49; and 2.49 buys 0.0100… : exactly one cent; 2.48
            // buys none.
            (ves(usdt(1)), "245", "1.5", "248.6750", 249, 1),
            (ves(Amount::Source(249)), "245", "1.5", "248.6750", 249, 1),
            (ves(Amount::Source(248)), "245", "1.5", "248.6750", 248, 0),
            // 1.11 × 248.675 = 276.02925, up to 276.03.
            (ves(usdt(111)), "245", "1.5", "248.6750", 27_603, 111),
            // 4000 × 1.02 = 4080; 100000 / 4080 = 24.5098…; 24.50 × 4080 = 99960; 24.51 × 4080 =
            // 100000.8, up to 100001.
            (cop(Amount::Source(100_000)), "4000", "2", "4080.0000", 100_000, 2_450),
            (cop(usdt(2_450)), "4000", "2", "4080.0000", 99_960, 2_450),
            (cop(usdt(2_451)), "4000", "2", "4080.0000", 100_001, 2_451),
            (cop(Amount::Source(40)), "4000", "2", "4080.0000", 40, 0),
            (cop(Amount::Source(41)), "4000", "2", "4080.0000", 41, 1),
            // 245.12345678 × 1.015 = 248.8003086317, up to 248.8004; the market rate is shown with
            // four decimals.
            (ves(Amount::Source(24_880_040)), "245.12345678", "1.5", "248.8004", 24_880_040, 100_000),
            (ves(Amount::Source(24_880_039)), "245.12345678", "1.5", "248.8004", 24_880_039, 99_999),
            // No spread: the rate is the market's, and an exact quotient is not rounded.
            (ves(Amount::Source(24_500)), "245", "0", "245.0000", 24_500, 100),
            (ves(usdt(100)), "245", "0", "245.0000", 24_500, 100),
            // The finest market rate that is not a whole number of ten-thousandths goes up.
            (ves(usdt(10_000)), "1.00000001", "0", "1.0001", 10_001, 10_000),
            // A third of a cent of a rate: 3 × 1.000001 = 3.000003, up to 3.0001.
            (ves(usdt(100)), "3", "0.0001", "3.0001", 301, 100),
        ] {
            let price = Price::of(source, amount, rate(market), rate(spread)).expect("it fits");
            assert_eq!(
                (price.rate.0.to_string().as_str(), price.source_minor, price.target.minor()),
                (rate_is, source_is, target_is),
                "{amount:?} at {market}"
            );
        }
        let price =
            Price::of(Source::Ves, Amount::Source(100), rate("245.12345678"), rate("1.5")).expect("it fits");
        assert_eq!(
            (price.market.0.to_string(), price.spread_percent.0.to_string()),
            ("245.1235".to_owned(), "1.5000".to_owned())
        );
    }

    #[test]
    fn what_does_not_fit_has_no_price() {
        let largest = Amount::Target(Usdt::from_minor(Currency::Usdt.amount_minor_max()));
        assert_eq!(Price::of(Source::Ves, largest, rate("245"), rate("0")), None);
        assert_eq!(
            Price::of(
                Source::Ves,
                Amount::Source(Currency::Ves.amount_minor_max()),
                rate("0.00000001"),
                rate("0")
            ),
            None
        );
        assert_eq!(
            Price::of(Source::Cop, Amount::Source(Currency::Cop.amount_minor_max()), rate("0.01"), rate("0")),
            None
        );
        assert!(
            Price::of(
                Source::Ves,
                Amount::Source(Currency::Ves.amount_minor_max()),
                rate("999999999999.99999999"),
                rate("100")
            )
            .is_some()
        );
    }

    proptest! {
        #[test]
        fn nobody_gains_by_rounding(
            cop in any::<bool>(), minor in 1..=1_000_000_000_000_i64, cents in 1..=100_000_000_i64, market in 1..=1_000_000_000_000_i64, spread in 0..=1_000_000_i64
        ) {
            let source = if cop { Source::Cop } else { Source::Ves };
            let (market, spread) = (Rate(Decimal::new(market, 8)), Rate(Decimal::new(spread, 4)));
            let exact = |price: &Price| Decimal::new(price.source_minor, source.currency().decimals()) - price.target.decimal() * price.rate.0;
            let step = |price: &Price| price.rate.0 * Decimal::new(1, 2);
            if let Some(price) = Price::of(source, Amount::Source(minor), market, spread) {
                // The payment covers the USDT, and would not cover a cent more.
                prop_assert!(exact(&price) >= Decimal::ZERO && exact(&price) < step(&price));
                prop_assert!(price.rate.0 * Decimal::ONE_HUNDRED >= market.0 * (Decimal::ONE_HUNDRED + spread.0));
            }
            if let Some(price) = Price::of(source, Amount::Target(Usdt::from_minor(cents)), market, spread) {
                // The payment covers the USDT, and a unit less would not.
                prop_assert!(exact(&price) >= Decimal::ZERO && exact(&price) < Decimal::new(1, source.currency().decimals()));
            }
        }
    }
}
