//! Entities as the index and the agenda see them: each resource says what its own are found by, and
//! when something of theirs is due.

use crate::index::Entries;
use crate::record::{Cause, Entity, IndexedState};
use crate::values::ids::EntityId;
use crate::values::time::Timestamp;

/// A state's place in the lists of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// None: it is looked up by its names or its id, and by nothing else.
    Nowhere,
    /// The tenant's list, by its id.
    ById,
    /// The tenant's list, by these bytes and then its id.
    After(Vec<u8>),
    /// The tenant's list, and one of the operators', who look through all tenants'.
    ForOperatorsToo,
}

/// The record that gives an entity its state.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Its cause.
    pub cause: Cause,
    /// The state before it; `None` for a new entity.
    pub indexed: Option<IndexedState>,
}

impl Change {
    /// Whether the entity is new.
    pub const fn is_new(&self) -> bool {
        self.indexed.is_none()
    }
}

/// The state of an entity of one resource.
pub trait Resource {
    /// The id.
    fn entity_id(&self) -> EntityId;

    /// The byte by which lists are filtered.
    fn facet(&self) -> u8;

    /// The instant at which something is due by itself.
    fn deadline(&self) -> Option<Timestamp>;

    /// The tenant's reference, of those that have one of their own.
    fn external_ref(&self) -> Option<&str>;

    /// Its place in lists, with this facet.
    fn listing(&self, facet: u8) -> Listing;

    /// Its names, and all that it is found by beside its id and its lists.
    fn entries(&self, change: Change, entries: &mut Entries<'_>);
}

impl<T: Resource> From<&T> for IndexedState {
    fn from(state: &T) -> IndexedState {
        IndexedState { facet: state.facet(), deadline: state.deadline() }
    }
}

impl Entity {
    /// The state, as its resource.
    pub fn resource(&self) -> &dyn Resource {
        match self {
            Entity::Payment(payment) => payment,
            Entity::Payout(payout) => payout,
            Entity::Merchant(merchant) => merchant,
            Entity::Batch(batch) => batch,
            Entity::Chargeback(chargeback) => chargeback,
            Entity::Otp(otp) => otp,
            Entity::OwnAccount(account) => account,
            Entity::Product(product) => product,
            Entity::Session(session) => session,
            Entity::Conversion(conversion) => conversion,
            Entity::CryptoPayout(payout) => payout,
            Entity::DepositAddress(address) => address,
            Entity::CopPayment(payment) => payment,
            Entity::CopPayout(payout) => payout,
            Entity::Webhook(webhook) => webhook,
            Entity::Notice(notice) => notice,
        }
    }

    /// The id.
    pub fn id(&self) -> EntityId {
        self.resource().entity_id()
    }

    /// The byte by which lists are filtered.
    pub fn facet(&self) -> u8 {
        self.resource().facet()
    }

    /// The instant at which something is due by itself.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.resource().deadline()
    }

    /// The tenant's reference, of those that have one of their own.
    pub fn external_ref(&self) -> Option<&str> {
        self.resource().external_ref()
    }
}
