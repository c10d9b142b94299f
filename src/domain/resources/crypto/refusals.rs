//! The refusals of the rules about USDT, in the words of the contract.

use crate::values::money::Usdt;

/// A refusal of a rule about USDT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CryptoRefusal {
    NotEnabled,
    /// The balance in USDT does not suffice.
    InsufficientBalance {
        available: Usdt,
    },
    /// The USDT payout is not under review.
    NotPendingReview,
    NetworkNotConfigured,
}

impl CryptoRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            CryptoRefusal::InsufficientBalance { .. } | CryptoRefusal::NotPendingReview => true,
            CryptoRefusal::NotEnabled | CryptoRefusal::NetworkNotConfigured => false,
        }
    }
}
