//! The refusals of the rules about webhook endpoints, in the words of the contract.

use crate::codec::stored;

stored! {
    /// A refusal of a rule about webhook endpoints.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum WebhookRefusal {
        /// The tenant has as many webhook endpoints as it may have.
        0 TooMany,
        /// An endpoint was changed too often while its deliveries wait.
        1 Busy,
        /// Too many deliveries that were asked for again wait.
        2 ResendsWaiting,
    }
}

impl WebhookRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            WebhookRefusal::TooMany | WebhookRefusal::Busy => true,
            WebhookRefusal::ResendsWaiting => false,
        }
    }
}
