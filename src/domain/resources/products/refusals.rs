//! The refusals of the rules about products and their links, in the words of the contract.

use crate::codec::stored;

stored! {
    /// A refusal of a rule about products and their links.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ProductRefusal {
        /// The slug belongs to another link.
        0 SlugTaken,
        1 TooManyLinks,
        /// Something of the product or through the link was sold.
        2 HasSales,
    }
}

impl ProductRefusal {
    /// Whether an Idempotency-Key keeps this refusal
    /// ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            ProductRefusal::SlugTaken | ProductRefusal::TooManyLinks | ProductRefusal::HasSales => true,
        }
    }
}
