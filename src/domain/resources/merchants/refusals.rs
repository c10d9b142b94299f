//! The refusals of the rules about merchants, in the words of the contract.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MerchantRefusal {
    /// The merchant is not active.
    Inactive,
    HasPayouts {
        count: u64,
    },
    HasBalance,
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
