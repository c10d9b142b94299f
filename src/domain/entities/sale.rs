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

    /// Money that was taken out of a hold, in minor units.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Part {
        /// The instant at which the hold ends, or would have.
        0 pub release_at: Timestamp,
        1 pub hold: Id,
        2 pub minor: i64,
    }

    /// The sources of money that was taken, so that it can go back to the same places.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Taken {
        /// The parts from holds, the sale's own one first.
        0 pub from_holds: Vec<Part>,
        1 pub from_available: i64,
    }

    /// The money that is set aside until a bank has decided about giving a sale back.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Aside {
        0 pub own: Taken,
        1 pub sellers: Taken,
    }
}

impl Taken {
    pub(crate) fn total(&self) -> i64 {
        self.from_available + self.from_holds.iter().map(|part| part.minor).sum::<i64>()
    }
}

impl<A> Marketplace<A> {
    pub fn begun((merchant, commission_percent): (Id, Rate)) -> Box<Marketplace<A>> {
        let (commission, seller_net, seller_available_at) = (None, None, None);
        Box::new(Marketplace { merchant, commission_percent, commission, seller_net, seller_available_at })
    }
}
