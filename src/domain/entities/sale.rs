//! What a payment stores of the sale that it is for.

use crate::codec::stored;
use crate::values::ids::Id;
use crate::values::money::{Rate, Ves};
use crate::values::time::Timestamp;

stored! {
    /// The part of a session that a payment for it stores.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Sale {
        0 pub session: Id,
        1 pub reference: Option<String>,
        2 pub metadata: Option<String>,
        /// The payment link that the session came from; with one, the operator has a share.
        3 pub link: Option<Id>,
        /// The operator's share; set on completion.
        4 pub platform_fee: Option<Ves>,
    }

    /// The seller's side of a marketplace sale, with amounts in its currency.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Marketplace<A> {
        0 pub merchant: Id,
        /// The part that the tenant keeps, in percent.
        1 pub commission_percent: Rate,
        /// The part that the tenant kept; set on completion.
        2 pub commission: Option<A>,
        /// The seller's part; set on completion.
        3 pub seller_net: Option<A>,
        /// The instant at which the seller may have it; set on completion.
        4 pub seller_available_at: Option<Timestamp>,
    }
}
