//! The refusals of the rules about payments in pesos, in the words of the contract.

use crate::values::money::Cop;

/// A refusal of a rule about payments in pesos.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopPaymentRefusal {
    /// The operator has not switched pesos on.
    NotEnabled,
    /// The payment in pesos is over.
    NotPending,
    /// The payment is not paid with an SMS code.
    ChannelMismatch,
    /// This is not the SMS code.
    InvalidOtp,
    /// Too many SMS codes were wrong.
    OtpAttemptsExhausted,
    /// 96 hours have passed.
    RefundWindowExpired,
    /// The processor is deciding about it.
    RefundInProgress,
    /// The pesos for a refund are not there.
    RefundNotCovered {
        /// The amount that could be paid out.
        available: Cop,
        /// The same with what is held.
        spendable: Cop,
    },
    /// The processor did not do it, and nothing was debited.
    ProcessorUnavailable,
}

impl CopPaymentRefusal {
    /// Whether an Idempotency-Key keeps it ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            CopPaymentRefusal::NotPending
            | CopPaymentRefusal::ChannelMismatch
            | CopPaymentRefusal::OtpAttemptsExhausted
            | CopPaymentRefusal::RefundWindowExpired
            | CopPaymentRefusal::RefundInProgress
            | CopPaymentRefusal::RefundNotCovered { .. } => true,
            CopPaymentRefusal::NotEnabled
            | CopPaymentRefusal::InvalidOtp
            | CopPaymentRefusal::ProcessorUnavailable => false,
        }
    }

    /// Whether an Idempotency-Key forgets it ([`Refusal::is_void`](crate::refusal::Refusal::is_void)).
    pub const fn is_void(&self) -> bool {
        match self {
            CopPaymentRefusal::InvalidOtp | CopPaymentRefusal::ProcessorUnavailable => true,
            CopPaymentRefusal::NotEnabled
            | CopPaymentRefusal::NotPending
            | CopPaymentRefusal::ChannelMismatch
            | CopPaymentRefusal::OtpAttemptsExhausted
            | CopPaymentRefusal::RefundWindowExpired
            | CopPaymentRefusal::RefundInProgress
            | CopPaymentRefusal::RefundNotCovered { .. } => false,
        }
    }
}
