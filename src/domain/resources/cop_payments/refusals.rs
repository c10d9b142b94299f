//! The refusals of the rules about payments in pesos, in the words of the contract.

use crate::codec::stored;
use crate::values::money::Cop;

stored! {
    /// A refusal of a rule about payments in pesos.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CopPaymentRefusal {
        0 NotEnabled,
        1 NotPending,
        /// The payment is not paid with an SMS code.
        2 ChannelMismatch,
        3 InvalidOtp,
        4 OtpAttemptsExhausted,
        /// The 96 hours for a refund have passed.
        5 RefundWindowExpired,
        6 RefundInProgress,
        /// The balance does not suffice for a refund.
        7 RefundNotCovered {
            0 available: Cop,
            /// The amount that could be paid out, together with the holds.
            1 spendable: Cop,
        },
        /// The processor did not carry it out, and nothing was debited.
        8 ProcessorUnavailable,
    }
}

impl CopPaymentRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
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

    /// Whether an Idempotency-Key forgets this refusal
    /// ([`Refusal::is_void`](crate::refusal::Refusal::is_void)).
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
