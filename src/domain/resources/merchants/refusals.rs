//! The refusals of the rules about merchants, in the words of the contract.

use crate::codec::stored;

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum MerchantRefusal {
        /// The merchant is not active.
        0 Inactive,
        1 HasPayouts { 0 count: u64 },
        2 HasBalance,
        3 TooManyPayoutMethods,
    }
}

impl MerchantRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            MerchantRefusal::Inactive
            | MerchantRefusal::HasPayouts { .. }
            | MerchantRefusal::HasBalance
            | MerchantRefusal::TooManyPayoutMethods => true,
        }
    }
}
