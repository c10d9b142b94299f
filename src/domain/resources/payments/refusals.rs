//! The refusals of the rules about payments in bolívares, in the words of the contract.

use crate::codec::stored;
use crate::values::ids::Id;

stored! {
    /// A refusal of a rule about payments in bolívares.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum PaymentRefusal {
        /// The charge of this reference is on its way to the bank.
        0 ChargeInProgress,
        /// The newest payment on the reference is at its bank, and this is another.
        1 PaymentInProgress { 0 existing: Id },
        /// The details are not those of the request.
        2 IntentMismatch,
        3 IntentCanceled,
        4 IntentFailed,
        /// The intent was paid with another code.
        5 IntentCompleted,
        6 NotReversible,
        /// The payment is not completed.
        7 NotCompleted,
        /// The 24 hours for a reversal have passed.
        8 ReversalWindowExpired,
        9 ReversalInProgress,
        10 ReversalRefused,
        11 ReferenceAlreadyUsed,
        /// The bank refused to send the code of a debit.
        12 OtpRefused { 0 failure_code: String },
    }
}

impl PaymentRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            // The caller is told to ask again, under the same key too.
            PaymentRefusal::PaymentInProgress { .. } => false,
            PaymentRefusal::ChargeInProgress
            | PaymentRefusal::IntentMismatch
            | PaymentRefusal::IntentCanceled
            | PaymentRefusal::IntentFailed
            | PaymentRefusal::IntentCompleted
            | PaymentRefusal::NotReversible
            | PaymentRefusal::NotCompleted
            | PaymentRefusal::ReversalWindowExpired
            | PaymentRefusal::ReversalInProgress
            | PaymentRefusal::ReversalRefused
            | PaymentRefusal::ReferenceAlreadyUsed
            | PaymentRefusal::OtpRefused { .. } => true,
        }
    }
}
