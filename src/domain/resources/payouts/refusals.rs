//! The refusals of the rules about payouts in bolívares, in the words of the contract.

use crate::codec::stored;

stored! {
    /// A refusal of a rule about payouts in bolívares.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum PayoutRefusal {
        /// The merchant has no verified payout method.
        0 MethodNotVerified,
        /// The tenant has no account of its own, or it is not verified.
        1 AccountNotVerified,
    }
}

impl PayoutRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            PayoutRefusal::AccountNotVerified => true,
            PayoutRefusal::MethodNotVerified => false,
        }
    }
}
