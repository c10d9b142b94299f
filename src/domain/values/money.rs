//! Money as integers of minor units: VES, USD and USDT in cents, COP in whole pesos. No float goes
//! in or comes out.
//!
//! Arithmetic is checked: a sum that does not fit is `None`, and the caller refuses before anything
//! is written.

use crate::codec::{stored, stored_as};
use bincode::error::DecodeError;
use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, RoundingStrategy};
use std::fmt;

/// The largest amount of a currency with two decimals, in minor units; see
/// [`Currency::amount_minor_max`].
pub const AMOUNT_MINOR_MAX: i64 = 99_999_999_999_999;

stored! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Currency {
        0 Ves,
        1 Cop,
        2 Usdt,
    }
}

impl Currency {
    /// The code in the API, in the style of ISO 4217.
    pub const fn code(self) -> &'static str {
        match self {
            Currency::Ves => "VES",
            Currency::Cop => "COP",
            Currency::Usdt => "USDT",
        }
    }

    /// The largest amount of a request, in minor units (`docs/contract.md, 1.3`: up to
    /// 999999999999.99).
    pub const fn amount_minor_max(self) -> i64 {
        match self {
            Currency::Ves | Currency::Usdt => AMOUNT_MINOR_MAX,
            Currency::Cop => 999_999_999_999,
        }
    }

    pub const fn decimals(self) -> u32 {
        match self {
            Currency::Ves | Currency::Usdt => 2,
            Currency::Cop => 0,
        }
    }

    pub fn from_code(code: &str) -> Option<Currency> {
        match code {
            "VES" => Some(Currency::Ves),
            "COP" => Some(Currency::Cop),
            "USDT" => Some(Currency::Usdt),
            _ => None,
        }
    }
}

macro_rules! money {
    ($(#[$doc:meta])* $name:ident, $decimals:literal) => {
        stored! {
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub(crate) i64);
        }

        impl $name {
            pub const ZERO: $name = $name(0);
            /// The number of digits after the point.
            pub const DECIMALS: u32 = $decimals;

            pub const fn from_minor(minor: i64) -> Self {
                $name(minor)
            }

            pub const fn minor(self) -> i64 {
                self.0
            }

            /// The sum; `None` if it overflows.
            pub fn plus(self, other: Self) -> Option<Self> {
                self.0.checked_add(other.0).map($name)
            }

            /// The difference; `None` if it overflows.
            pub fn minus(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).map($name)
            }

            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            pub fn decimal(self) -> Decimal {
                Decimal::new(self.0, $decimals)
            }

            /// The amount that `value` says exactly; `None` when it has more decimals than the
            /// currency, or more than [`AMOUNT_MINOR_MAX`] minor units.
            pub fn exact(value: Decimal) -> Option<Self> {
                let rounded = value.round_dp($decimals);
                if rounded != value {
                    return None;
                }
                Self::rounded(value)
            }

            /// `value` rounded half up (away from zero) to the minor unit
            /// (`docs/contract.md, 1.3`).
            pub fn rounded(value: Decimal) -> Option<Self> {
                Self::with(value, RoundingStrategy::MidpointAwayFromZero)
            }

            /// `value` rounded up to the minor unit.
            pub fn ceiled(value: Decimal) -> Option<Self> {
                Self::with(value, RoundingStrategy::ToPositiveInfinity)
            }

            fn with(value: Decimal, strategy: RoundingStrategy) -> Option<Self> {
                let scaled = value.round_dp_with_strategy($decimals, strategy).checked_mul(Decimal::from(10_i64.pow($decimals)))?;
                let minor = scaled.to_i64()?;
                (minor.abs() <= AMOUNT_MINOR_MAX).then_some($name(minor))
            }
        }

        /// The amount with exactly the currency's decimals, as the API writes it in strings.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_minor(f, self.0, $decimals)
            }
        }
    };
}

money!(Ves, 2);
money!(
    /// Dollars of the United States, in cents: the price of a payment.
    Usd,
    2
);
money!(Usdt, 2);
money!(Cop, 0);

/// The decimals of an amount in a currency by its code; dollars are no currency of ours.
pub fn decimals(currency: &str) -> u32 {
    Currency::from_code(currency).map_or(2, Currency::decimals)
}

/// Writes `minor` units with `decimals` digits after the point, e.g. −1234 with 2 as `-12.34`.
pub fn write_minor(f: &mut impl fmt::Write, minor: i64, decimals: u32) -> fmt::Result {
    let sign = if minor < 0 { "-" } else { "" };
    let magnitude = minor.unsigned_abs();
    if decimals == 0 {
        return write!(f, "{sign}{magnitude}");
    }
    let unit = 10_u64.pow(decimals);
    write!(f, "{sign}{}.{:0width$}", magnitude / unit, magnitude % unit, width = decimals as usize)
}

/// Writes a sum of minor units like [`write_minor`]: it may be more than one amount can be.
pub fn write_sum(f: &mut impl fmt::Write, minor: i128, decimals: u32) -> fmt::Result {
    if let Ok(minor) = i64::try_from(minor) {
        return write_minor(f, minor, decimals);
    }
    let sign = if minor < 0 { "-" } else { "" };
    let (magnitude, unit) = (minor.unsigned_abs(), 10_u128.pow(decimals));
    write!(f, "{sign}{}", magnitude / unit)?;
    if decimals == 0 { Ok(()) } else { write!(f, ".{:0width$}", magnitude % unit, width = decimals as usize) }
}

/// A price or a percentage: an exact decimal, stored as mantissa and scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rate(pub Decimal);

stored_as! {
    Rate as (i128, u32): |rate| (rate.0.mantissa(), rate.0.scale()),
    |parts| Decimal::try_from_i128_with_scale(parts.0, parts.1)
        .map(Rate)
        .map_err(|_| DecodeError::Other("a rate out of range"))
}

#[cfg(test)]
impl crate::codec::tests::Sampled for Rate {
    fn sample(full: bool, number: &mut u64) -> Rate {
        let scale = if full { 8 } else { 0 };
        Rate(Decimal::from_i128_with_scale(i64::sample(full, number).into(), scale))
    }
}

impl Rate {
    /// The share of `amount` that this rate comes to as a percentage, `amount × rate / 100`, exact;
    /// `None` if it overflows.
    pub fn percent_of(self, amount: Decimal) -> Option<Decimal> {
        amount.checked_mul(self.0)?.checked_div(Decimal::ONE_HUNDRED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::str::FromStr;

    fn decimal(text: &str) -> Decimal {
        Decimal::from_str(text).expect("a decimal")
    }

    #[test]
    fn half_a_cent_goes_up() {
        for (given, cents) in [("0.025", 3), ("0.015", 2), ("0.0149", 1), ("-0.025", -3), ("13.005", 1301)] {
            assert_eq!(Ves::rounded(decimal(given)), Some(Ves::from_minor(cents)), "{given}");
        }
    }

    #[test]
    fn exact_refuses_a_fraction_of_a_cent_and_what_is_too_large() {
        assert_eq!(Usd::exact(decimal("4.35")), Some(Usd::from_minor(435)));
        assert_eq!(Usd::exact(decimal("10.000")), Some(Usd::from_minor(1000)));
        assert_eq!(Usd::exact(decimal("10.001")), None);
        assert_eq!(Ves::exact(decimal("999999999999.99")), Some(Ves::from_minor(AMOUNT_MINOR_MAX)));
        assert_eq!(Ves::exact(decimal("1000000000000.00")), None);
        assert_eq!(Cop::exact(decimal("20000.5")), None);
    }

    #[test]
    fn shown_with_its_decimals() {
        assert_eq!(Ves::from_minor(-5).to_string(), "-0.05");
        assert_eq!(Ves::from_minor(123_456).to_string(), "1234.56");
        assert_eq!(Cop::from_minor(-20_000).to_string(), "-20000");
    }

    #[test]
    fn sums_that_do_not_fit_are_none() {
        assert_eq!(Ves::from_minor(i64::MAX).plus(Ves::from_minor(1)), None);
        assert_eq!(Ves::from_minor(i64::MIN).minus(Ves::from_minor(1)), None);
    }
}
