//! The refusals of the rules about payments in bolívares, in the words of the contract.

use crate::values::ids::Id;

/// A refusal of a rule about payments in bolívares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentRefusal {
    /// The charge of this reference is on its way to the bank.
    ChargeInProgress,
    /// The newest payment on the reference is at its bank, and this is another.
    PaymentInProgress {
        existing: Id,
    },
    /// The details are not those of the request.
    IntentMismatch,
    IntentCanceled,
    IntentFailed,
    /// The intent was paid with another code.
    IntentCompleted,
    NotReversible,
    /// The payment is not completed.
    NotCompleted,
    /// The 24 hours for a reversal have passed.
    ReversalWindowExpired,
    ReversalInProgress,
    ReversalRefused,
    ReferenceAlreadyUsed,
    /// The bank refused to send the code of a debit.
    OtpRefused {
        failure_code: String,
    },
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
