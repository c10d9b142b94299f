//! Costs of a withdrawal from the operator's app, in US cents (`docs/contract.md, 15.4, 15.6,
//! 15.7`): fee policies in tiers, network fees, and the estimate of a Pago Móvil withdrawal.
//! Referential only.

use crate::codec::named;
use crate::resources::rates::samples::PRICE_DECIMALS;
use crate::values::money::{Rate, Ves};
use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};
use std::fmt;

/// The largest amount that is calculated with, in US cents.
pub const CENTS_MAX: i64 = 99_999_999_999_999;
/// The network of a crypto withdrawal that names none.
pub const NETWORK_DEFAULT: &str = "TRC20";

named! {
    /// The means by which a withdrawal is paid out.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PaidBy {
        PagoMovil "PAGO_MOVIL",
        /// A token to a wallet, over a network that has a fee.
        CryptoWallet "CRYPTO_WALLET",
        Ach "ACH",
        Paypal "PAYPAL",
    }
}

/// A tier of a policy: the fee of amounts below a bound that no earlier tier covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tier {
    /// The bound in cents, which is not part of the tier; `None` in the last.
    pub below: Option<i64>,
    /// The percentage of the amount.
    pub percent: Rate,
    /// The fixed part of the fee, in cents.
    pub fixed: i64,
}

/// A policy of fees; the bounds of its tiers rise and the last tier has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub name: String,
    /// The tiers, in the order of their bounds.
    pub tiers: Vec<Tier>,
}

/// A tier with the range of amounts that it covers.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    pub tier: &'a Tier,
    pub min: i64,
    /// The largest amount, in cents; `None` when there is none.
    pub max: Option<i64>,
}

impl Policy {
    /// The tiers with the ranges of amounts that they cover.
    pub fn ranges(&self) -> impl Iterator<Item = Range<'_>> {
        let mut min = 0;
        self.tiers.iter().map(move |tier| {
            let range = Range { tier, min, max: tier.below.map(|below| below - 1) };
            min = tier.below.unwrap_or(min);
            range
        })
    }

    /// The tier that covers an amount.
    pub fn range_of(&self, cents: i64) -> Option<Range<'_>> {
        self.ranges().find(|range| range.max.is_none_or(|max| cents <= max))
    }
}

impl Tier {
    /// The fee of an amount in cents: the percentage rounded half up to a cent, plus the fixed
    /// part; `None` if a figure overflows.
    pub fn fee(&self, cents: i64) -> Option<i64> {
        rounded(self.percent.percent_of(Decimal::from(cents))?)?.checked_add(self.fixed)
    }
}

/// The fee in words, such as `2.5 % + 0.30 USD`.
impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.percent.0.is_zero(), self.fixed) {
            (false, 0) => write!(f, "{} %", self.percent.0.normalize()),
            (true, fixed) => write!(f, "{} USD", dollars(fixed)),
            (false, fixed) => write!(f, "{} % + {} USD", self.percent.0.normalize(), dollars(fixed)),
        }
    }
}

/// The range in words, such as `100.00 to 499.99 USD`.
impl fmt::Display for Range<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (0, None) => f.write_str("any amount"),
            (0, Some(max)) => write!(f, "up to {} USD", dollars(max)),
            (min, Some(max)) => write!(f, "{} to {} USD", dollars(min), dollars(max)),
            (min, None) => write!(f, "from {} USD", dollars(min)),
        }
    }
}

/// An amount of cents as dollars with two decimals.
pub fn dollars(cents: i64) -> Decimal {
    Decimal::new(cents, 2)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawals {
    pub minimum: i64,
    pub policies: Vec<Policy>,
    /// Every network and the fee of it, in cents.
    pub network_fees: Vec<(String, i64)>,
    /// The margin by which a Pago Móvil withdrawal pays less than the market, in percent.
    pub pago_movil_margin_percent: Rate,
    /// The part of the fee that a Pago Móvil withdrawal is spared, in percent.
    pub pago_movil_fee_waiver_percent: Rate,
}

/// The estimated costs of a withdrawal, in cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub service_fee: i64,
    pub blockchain_fee: i64,
    pub total_fee: i64,
    /// The rest of the amount, never below zero.
    pub to_receive: i64,
}

/// The estimate of a Pago Móvil withdrawal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagoMovil {
    /// The offered rate: bolívares per dollar, 8 decimals.
    pub offered: Rate,
    /// The bolívares that would be paid; `None` beyond all amounts that are counted.
    pub estimate: Option<Ves>,
}

impl Withdrawals {
    pub fn policy(&self, name: &str) -> Option<&Policy> {
        self.policies.iter().find(|policy| policy.name == name)
    }

    /// The fee of a network in cents, if it is known.
    pub fn network_fee(&self, network: &str) -> Option<i64> {
        self.network_fees.iter().find(|(name, _)| name == network).map(|(_, fee)| *fee)
    }

    /// The costs of a withdrawal of `cents`; a network's fee is added for crypto wallets only.
    /// `None` if a figure overflows.
    pub fn estimate(
        &self,
        tier: &Tier,
        cents: i64,
        method: Option<PaidBy>,
        network: Option<&str>,
    ) -> Option<Estimate> {
        let service_fee = tier.fee(cents)?;
        let blockchain_fee = match method {
            Some(PaidBy::CryptoWallet) => self.network_fee(network.unwrap_or(NETWORK_DEFAULT)).unwrap_or(0),
            Some(PaidBy::PagoMovil | PaidBy::Ach | PaidBy::Paypal) | None => 0,
        };
        let total_fee = service_fee.checked_add(blockchain_fee)?;
        Some(Estimate {
            service_fee,
            blockchain_fee,
            total_fee,
            to_receive: cents.checked_sub(total_fee)?.max(0),
        })
    }

    /// The bolívares that a Pago Móvil withdrawal of `cents` brings at a market rate of `base`,
    /// with the whole fee or with the part that the waiver leaves. The offer is the same for every
    /// amount. `None` if it overflows.
    pub fn pago_movil(&self, tier: &Tier, cents: i64, base: Rate, whole_fee: bool) -> Option<PagoMovil> {
        let offered = less(base.0, self.pago_movil_margin_percent)?
            .round_dp_with_strategy(PRICE_DECIMALS, RoundingStrategy::MidpointAwayFromZero)
            .normalize();
        let waived = if whole_fee { Rate(Decimal::ZERO) } else { self.pago_movil_fee_waiver_percent };
        let fee = tier.fee(cents).and_then(|fee| rounded(less(Decimal::from(fee), waived)?));
        let left = fee.and_then(|fee| cents.checked_sub(fee)).map(|left| dollars(left.max(0)));
        let estimate = left.and_then(|left| Ves::rounded(left.checked_mul(offered)?));
        Some(PagoMovil { offered: Rate(offered), estimate })
    }
}

/// A value less so many percent of it.
fn less(value: Decimal, percent: Rate) -> Option<Decimal> {
    value.checked_sub(percent.percent_of(value)?)
}

/// The amount rounded half up to a whole cent.
fn rounded(cents: Decimal) -> Option<i64> {
    cents.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero).to_i64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    fn rate(text: &str) -> Rate {
        Rate(Decimal::from_str(text).expect("a decimal"))
    }

    fn tiers(percents: [&str; 3], fixed: i64) -> Vec<Tier> {
        let tier = |below, percent, fixed| Tier { below, percent: rate(percent), fixed };
        vec![
            tier(Some(10_000), percents[0], fixed),
            tier(Some(50_000), percents[1], fixed),
            tier(None, percents[2], 0),
        ]
    }

    /// The terms in the configuration as shipped.
    fn withdrawals() -> Withdrawals {
        let policy = |name: &str, tiers| Policy { name: name.to_owned(), tiers };
        Withdrawals {
            minimum: 1_000,
            policies: vec![
                policy("legacy_flat", vec![Tier { below: None, percent: rate("0"), fixed: 100 }]),
                policy("tiered_v1", tiers(["3", "2.5", "2"], 50)),
                policy("tiered_v2", tiers(["2.5", "2", "1.5"], 30)),
            ],
            network_fees: [("TRC20", 100), ("ERC20", 500), ("BEP20", 50), ("POLYGON", 20)]
                .map(|(name, fee)| (name.to_owned(), fee))
                .to_vec(),
            pago_movil_margin_percent: rate("1.5"),
            pago_movil_fee_waiver_percent: rate("0"),
        }
    }

    fn fee(policy: &str, cents: i64) -> i64 {
        let withdrawals = withdrawals();
        let range = withdrawals.policy(policy).and_then(|policy| policy.range_of(cents)).expect("a step");
        range.tier.fee(cents).expect("it fits")
    }

    /// Worked out by hand: percent of the amount, half a cent up, plus the fixed part.
    #[test]
    fn the_fee_of_every_policy_at_every_bound() {
        for (policy, table) in [
            ("legacy_flat", &[(1, 100), (99, 100), (9_999, 100), (10_000, 100), (1_000_000, 100)][..]),
            // 3 % of 9,999 is 299.97; 2.5 % of 10,000 is 250; of 49,999 is 1,249.975; 2 % of 50,000
            // is 1,000.
            (
                "tiered_v1",
                &[
                    (1, 50),
                    (16, 50),
                    (17, 51),
                    (1_000, 80),
                    (9_999, 350),
                    (10_000, 300),
                    (49_999, 1_300),
                    (50_000, 1_000),
                    (50_025, 1_001),
                ],
            ),
            // 2.5 % of 20 is 0.5; of 9,999 is 249.975; 2 % of 10,000 is 200; of 49,999 is 999.98;
            // 1.5 % of 50,000 is 750.
            (
                "tiered_v2",
                &[
                    (1, 30),
                    (19, 30),
                    (20, 31),
                    (1_000, 55),
                    (9_999, 280),
                    (10_000, 230),
                    (49_999, 1_030),
                    (50_000, 750),
                    (50_033, 750),
                    (50_034, 751),
                ],
            ),
        ] {
            for (cents, expected) in table {
                assert_eq!(fee(policy, *cents), *expected, "{policy} {cents}");
            }
        }
    }

    #[test]
    fn a_network_counts_for_wallets_alone() {
        let withdrawals = withdrawals();
        let tier = &withdrawals.policies[2].tiers[0];
        for (method, network, fee) in [
            (Some(PaidBy::CryptoWallet), None, 100),
            (Some(PaidBy::CryptoWallet), Some("TRC20"), 100),
            (Some(PaidBy::CryptoWallet), Some("ERC20"), 500),
            (Some(PaidBy::CryptoWallet), Some("BEP20"), 50),
            (Some(PaidBy::CryptoWallet), Some("POLYGON"), 20),
            (Some(PaidBy::PagoMovil), Some("ERC20"), 0),
            (Some(PaidBy::Ach), Some("ERC20"), 0),
            (Some(PaidBy::Paypal), None, 0),
            (None, Some("ERC20"), 0),
        ] {
            let estimate = withdrawals.estimate(tier, 2_000, method, network).expect("it fits");
            let expected = Estimate {
                service_fee: 80,
                blockchain_fee: fee,
                total_fee: 80 + fee,
                to_receive: 1_920 - fee,
            };
            assert_eq!(estimate, expected, "{method:?} {network:?}");
        }
        let nothing_left =
            withdrawals.estimate(tier, 30, Some(PaidBy::CryptoWallet), Some("ERC20")).expect("it fits");
        assert_eq!((nothing_left.total_fee, nothing_left.to_receive), (531, 0));
        assert!(withdrawals.estimate(tier, CENTS_MAX, None, None).is_some());
    }

    /// 245 less 1.5 % is 241.325.
    #[test]
    fn what_pago_movil_brings() {
        let mut withdrawals = withdrawals();
        let tier = withdrawals.policies[2].tiers[0].clone();
        let quote = |withdrawals: &Withdrawals, cents, whole_fee| {
            let quote = withdrawals.pago_movil(&tier, cents, rate("245"), whole_fee).expect("it fits");
            (
                quote.offered.0.to_string(),
                quote.estimate.map(|estimate| estimate.to_string()).unwrap_or_default(),
            )
        };
        // (10.00 − 0.55) × 241.325 = 2280.52125.
        assert_eq!(quote(&withdrawals, 1_000, true), ("241.325".to_owned(), "2280.52".to_owned()));
        assert_eq!(quote(&withdrawals, 1_000, false), ("241.325".to_owned(), "2280.52".to_owned()));
        // Half of 55 cents is 27.5, which is 28: (10.00 − 0.28) × 241.325 = 2345.679.
        withdrawals.pago_movil_fee_waiver_percent = rate("50");
        assert_eq!(quote(&withdrawals, 1_000, false).1, "2345.68");
        assert_eq!(quote(&withdrawals, 1_000, true).1, "2280.52");
        assert_eq!(quote(&withdrawals, 20, true).1, "0.00", "never below nothing");
        assert_eq!(quote(&withdrawals, CENTS_MAX, true), ("241.325".to_owned(), String::new()));
    }

    #[test]
    fn tiers_in_words() {
        let withdrawals = withdrawals();
        let said = |n: usize| {
            withdrawals.policies[n]
                .ranges()
                .map(|range| format!("{range}: {}", range.tier))
                .collect::<Vec<_>>()
        };
        assert_eq!(said(0), ["any amount: 1.00 USD"]);
        assert_eq!(
            said(2),
            [
                "up to 99.99 USD: 2.5 % + 0.30 USD",
                "100.00 to 499.99 USD: 2 % + 0.30 USD",
                "from 500.00 USD: 1.5 %"
            ]
        );
    }
}
