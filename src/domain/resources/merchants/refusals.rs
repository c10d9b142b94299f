//! The refusals of the rules about merchants, in the words of the contract.

/// A refusal of a rule about merchants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MerchantRefusal {
    /// The merchant is not active.
    Inactive,
    /// The merchant received payouts.
    HasPayouts {
        /// The number of payouts.
        count: u64,
    },
    /// The merchant is owed money.
    HasBalance,
    /// The merchant has as many payout methods as it may have.
    TooManyPayoutMethods,
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
