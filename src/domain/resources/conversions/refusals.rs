//! The refusals of the rules about conversions, in the words of the contract.

use crate::codec::stored;
use crate::values::money::Currency;
use crate::values::money::Usdt;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ConversionRefusal {
        0 NotEnabled,
        1 MarketRateUnavailable,
        2 InvalidAmount,
        3 BelowMinimum { 0 minimum: Usdt },
        4 DailyLimitExceeded {
            0 currency: Currency,
            /// The limit per local day, in minor units.
            1 limit: i64,
        },
        /// The balance does not suffice for the conversion.
        5 InsufficientBalance {
            0 currency: Currency,
            /// The amount that could be paid out, in minor units.
            1 available: i64,
            /// The amount that could be converted, in minor units.
            2 spendable: i64,
        },
        6 QuoteUsed,
        /// The quote expired: 60 seconds have passed.
        7 QuoteExpired,
        /// The conversion is not pending, so it cannot be canceled.
        8 NotCancelable,
        /// The conversion is not pending, so it can be neither fulfilled nor refused.
        9 NotPending,
    }
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
