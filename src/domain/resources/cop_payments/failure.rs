//! Reasons why pesos did not come, and the codes of processors that stand for them.

use super::collect::EXPIRED;
use super::live::{PROCESSOR_ERROR, UNFIT};
use crate::codec::stored;

stored! {
    /// The reason why a payment failed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Failure {
        /// The buyer did not pay in time.
        0 Expired,
        1 Rejected,
        /// The buyer, or somebody in the buyer's place, tried too many SMS codes.
        2 OtpAttemptsExhausted,
        /// The processor says that it refused to refund, after it had said that it did.
        3 RefundRefused,
        /// The processor failed, or could not carry the order.
        4 ProcessorError,
    }
}

impl Failure {
    pub const fn name(self) -> &'static str {
        match self {
            Failure::Expired => "expired",
            Failure::Rejected => "rejected",
            Failure::OtpAttemptsExhausted => "otp_attempts_exhausted",
            Failure::RefundRefused => "refund_refused",
            Failure::ProcessorError => "processor_error",
        }
    }
}

impl Failure {
    /// The reason that a processor's code stands for.
    pub fn of_code(code: &str) -> Failure {
        match code {
            EXPIRED => Failure::Expired,
            PROCESSOR_ERROR | UNFIT => Failure::ProcessorError,
            _ => Failure::Rejected,
        }
    }

    /// The code itself where it has no name here: only operators give such.
    pub fn own_code(code: &str) -> Option<Box<str>> {
        let is_own = Failure::of_code(code) == Failure::Rejected && code != Failure::Rejected.name();
        is_own.then(|| Box::from(code))
    }

    /// Whether it is of the refund, and not of the collection.
    pub const fn is_of_refund(self) -> bool {
        matches!(self, Failure::RefundRefused)
    }
}
