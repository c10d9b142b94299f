//! The refusals of the rules about USDT, in the words of the contract.

use crate::codec::stored;
use crate::values::money::Usdt;

stored! {
    /// A refusal of a rule about USDT.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CryptoRefusal {
        0 NotEnabled,
        /// The balance in USDT does not suffice.
        1 InsufficientBalance { 0 available: Usdt },
        /// The USDT payout is not under review.
        2 NotPendingReview,
        3 NetworkNotConfigured,
    }
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
