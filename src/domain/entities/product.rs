//! Products and their payment links.

use crate::cause::Cause;
use crate::codec::stored;
use crate::entities::resource::{Change, Resource};
use crate::index::Entries;
use crate::values::ids::{EntityId, Id};
use crate::values::money::{Rate, Usd};
use crate::values::time::Timestamp;

stored! {
    /// An item that is sold through payment links.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Product {
        0 pub id: Id,
        1 pub name: String,
        2 pub price: Usd,
        3 pub description: Option<String>,
        4 pub image_url: Option<String>,
        5 pub active: bool,
        6 pub links: Vec<Link>,
        /// The number of the newest link, even if it was deleted: a number is never used twice.
        7 pub last_link: u16,
        /// Whether it is sold for real money; a test product is not.
        8 pub livemode: bool,
        9 pub created_at: Timestamp,
        10 pub updated_at: Timestamp,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LinkStatus {
        0 Active "active",
        1 Disabled "disabled",
    }

    /// A payment link: an address at which a product is sold.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Link {
        0 pub id: Id,
        /// The slug at the end of the address, unique among all tenants.
        1 pub slug: String,
        2 pub status: LinkStatus,
        3 pub allow_quantity: bool,
        4 pub max_quantity: u16,
        5 pub redirect_url: Option<String>,
        6 pub marketplace: Option<(Id, Rate)>,
        7 pub created_at: Timestamp,
    }
}

pub fn product_of(link: Id) -> EntityId {
    EntityId::product(link.entity_and_operation().0)
}

impl Product {
    pub fn link(&self, id: Id) -> Option<&Link> {
        self.links.iter().find(|link| link.id == id)
    }

    /// The link, if the product can be bought through it now.
    pub fn offer(&self, link: Id) -> Option<&Link> {
        self.link(link).filter(|link| self.active && link.status == LinkStatus::Active)
    }
}

impl Resource for Product {
    fn facet(&self) -> u8 {
        facet(self.active)
    }

    fn entries(&self, change: Change, entries: &mut Entries<'_>) {
        // The new link is the last.
        if let (Cause::LinkCreated, Some(link)) = (change.cause, self.links.last()) {
            entries.slug(&link.slug, link.id);
        }
    }
}

/// The byte by which lists of products are filtered: whether they can be bought.
pub const fn facet(active: bool) -> u8 {
    active as u8
}
