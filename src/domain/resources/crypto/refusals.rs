//! The refusals of the rules about USDT, in the words of the contract.

use crate::values::money::Usdt;

/// A refusal of a rule about USDT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CryptoRefusal {
    /// USDT is switched off.
    NotEnabled,
    /// The USDT is not there.
    InsufficientBalance {
        /// The amount that could be spent.
        available: Usdt,
    },
    /// The USDT payout is not under review.
    NotPendingReview,
    /// There is no connector to a network that USDT travels on.
    NetworkNotConfigured,
}

impl CryptoRefusal {
    /// Whether an Idempotency-Key keeps it ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            CryptoRefusal::InsufficientBalance { .. } | CryptoRefusal::NotPendingReview => true,
            CryptoRefusal::NotEnabled | CryptoRefusal::NetworkNotConfigured => false,
        }
    }
}
