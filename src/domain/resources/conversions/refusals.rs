//! The refusals of the rules about conversions, in the words of the contract.

use crate::values::money::Currency;
use crate::values::money::Usdt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversionRefusal {
    NotEnabled,
    MarketRateUnavailable,
    InvalidAmount,
    BelowMinimum {
        minimum: Usdt,
    },
    DailyLimitExceeded {
        currency: Currency,
        /// The limit per local day, in minor units.
        limit: i64,
    },
    /// The balance does not suffice for the conversion.
    InsufficientBalance {
        currency: Currency,
        /// The amount that could be paid out, in minor units.
        available: i64,
        /// The amount that could be converted, in minor units.
        spendable: i64,
    },
    QuoteUsed,
    /// The quote expired: 60 seconds have passed.
    QuoteExpired,
    /// The conversion is not pending, so it cannot be canceled.
    NotCancelable,
    /// The conversion is not pending, so it can be neither fulfilled nor refused.
    NotPending,
}

impl ConversionRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
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
