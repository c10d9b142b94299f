//! The refusals of the rules about conversions, in the words of the contract.

use crate::values::money::Currency;
use crate::values::money::Usdt;

/// A refusal of a rule about conversions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversionRefusal {
    /// Conversions of this currency are switched off.
    NotEnabled,
    /// There is no market rate of the needed age.
    MarketRateUnavailable,
    /// What is to be converted is no amount that can be converted.
    InvalidAmount,
    /// The conversion yields too little.
    BelowMinimum {
        /// The least.
        minimum: Usdt,
    },
    /// More than may be converted on one day.
    DailyLimitExceeded {
        /// Of what.
        currency: Currency,
        /// What may be converted, in minor units.
        limit: i64,
    },
    /// The money for a conversion is not there.
    InsufficientBalance {
        /// Of what.
        currency: Currency,
        /// What could be paid out, in minor units.
        available: i64,
        /// What could be converted, in minor units.
        spendable: i64,
    },
    /// The quote was accepted before.
    QuoteUsed,
    /// 60 seconds have passed.
    QuoteExpired,
    /// The conversion does not wait for anything.
    NotCancelable,
    /// The same, when it was to be fulfilled or refused.
    NotPending,
}

impl ConversionRefusal {
    /// Whether an Idempotency-Key keeps it ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            ConversionRefusal::BelowMinimum { .. }
            | ConversionRefusal::DailyLimitExceeded { .. }
            | ConversionRefusal::InsufficientBalance { .. }
            | ConversionRefusal::QuoteUsed
            | ConversionRefusal::QuoteExpired
            | ConversionRefusal::NotCancelable
            | ConversionRefusal::NotPending => true,
            ConversionRefusal::NotEnabled
            | ConversionRefusal::MarketRateUnavailable
            | ConversionRefusal::InvalidAmount => false,
        }
    }
}
