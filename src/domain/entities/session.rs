//! Checkout sessions.

use crate::codec::stored;
use crate::entities::resource::{Change, Listing, Resource};
use crate::entities::sale::Sale;
use crate::index::{Entries, Space, Trait, time_bytes};
use crate::values::ids::Id;
use crate::values::money::{Rate, Usd};
use crate::values::text::ExternalRef;
use crate::values::time::Timestamp;

/// The facet of all sessions: what becomes of one is not in it.
pub const FACET: u8 = 0;

stored! {
    /// A way to pay that a session can offer, in the order in which they are shown.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Way {
        /// A C2P charge at the buyer's Venezuelan bank.
        0 C2p "c2p",
        /// A Pago Móvil transfer that the buyer made to the shop, and names by its reference.
        1 PagoMovil "pago_movil",
        2 Card "card",
        3 Cop "cop",
        4 Usdt "usdt",
    }
}

stored! {
    /// The item that was bought through a payment link.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Bought {
        0 pub link: Id,
        1 pub quantity: u16,
        2 pub chosen: bool,
        3 pub marketplace: Option<(Id, Rate)>,
    }

    /// A checkout session: an amount to be paid, and how.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Session {
        0 pub id: Id,
        1 pub amount: Usd,
        2 pub description: Option<String>,
        /// The tenant's reference, which need not be unique.
        3 pub reference: Option<String>,
        /// The address to which the buyer goes when it is paid.
        4 pub success_url: Option<String>,
        /// The address to which the buyer goes instead of paying.
        5 pub cancel_url: Option<String>,
        /// The ways to pay that it names, in its own order; an empty list means every way.
        6 pub offered: Vec<Way>,
        /// A JSON object of the tenant's, as it was sent.
        7 pub metadata: Option<String>,
        /// The address of the session's page, as it was given out.
        8 pub url: String,
        /// The item that it sells, if it came from a payment link.
        9 pub bought: Option<Bought>,
        /// Whether real money is paid; a test session costs none.
        10 pub livemode: bool,
        11 pub created_at: Timestamp,
        12 pub expires_at: Timestamp,
    }
}

impl Session {
    pub fn offers(&self, way: Way) -> bool {
        self.offered.is_empty() || self.offered.contains(&way)
    }

    /// The part of the session that its payments store.
    pub fn sale(&self) -> Sale {
        Sale {
            session: self.id,
            reference: self.reference.clone(),
            metadata: self.metadata.clone(),
            link: self.bought.as_ref().map(|bought| bought.link),
            platform_fee: None,
        }
    }

    /// The name under which its payments are found, which is also their `externalRef`.
    pub fn name(&self) -> ExternalRef {
        match ExternalRef::parse(&self.id.to_string()) {
            Ok(name) => name,
            Err(_) => unreachable!("an id has 36 plain characters"),
        }
    }
}

impl Resource for Session {
    fn facet(&self) -> u8 {
        FACET
    }

    fn listing(&self, _facet: u8) -> Listing {
        // The id says nothing of the time.
        Listing::After(time_bytes(self.created_at).to_vec())
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        if change.is_new {
            entries.id_among_all(Space::Session);
            entries.found_by(Trait::Reference, self.reference.as_deref());
        }
    }
}
