//! Entities as the index and the agenda see them: the keys by which each resource finds its own,
//! and their deadlines.

use crate::index::Entries;
use crate::record::{Cause, Entity, IndexedState};
use crate::values::ids::EntityId;
use crate::values::time::Timestamp;

/// A state's place in the lists of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The state is in no list: it is found by its names or its id only.
    Nowhere,
    /// The state is in the tenant's list, sorted by its id.
    ById,
    /// The state is in the tenant's list, sorted by these bytes and then its id.
    After(Vec<u8>),
    /// The state is in the tenant's list, and in the operators' list of all tenants.
    ForOperatorsToo,
}

/// The record that gives an entity its state.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub cause: Cause,
    /// The indexed state before the record; `None` for a new entity.
    pub indexed: Option<IndexedState>,
}

impl Change {
    pub const fn is_new(&self) -> bool {
        self.indexed.is_none()
    }

    /// Whether the record brings the entity to this facet.
    pub fn is_to(&self, facet: u8) -> bool {
        self.indexed.is_none_or(|indexed| indexed.facet != facet)
    }
}

impl Change {
    /// Whether a bank may have given a name in it: with an answer that waits, decides, or contradicts.
    pub fn is_of_bank(&self, facet: u8) -> bool {
        matches!(self.cause, Cause::BankAsked | Cause::OperationContradicted) || self.is_to(facet)
    }
}

/// The state of an entity of one resource.
pub trait Resource {
    fn entity_id(&self) -> EntityId;

    /// The byte by which lists are filtered.
    fn facet(&self) -> u8;

    /// The next deadline of the entity, if it has one.
    fn deadline(&self) -> Option<Timestamp>;

    /// The tenant's reference, for kinds that have one.
    fn external_ref(&self) -> Option<&str>;

    /// The entity's place in lists, with this facet.
    fn listing(&self, facet: u8) -> Listing;

    /// Adds the entity's names and whatever else it is found by besides its id and its lists.
    fn entries(&self, change: Change, entries: &mut Entries<'_>);
}

impl<T: Resource> From<&T> for IndexedState {
    fn from(state: &T) -> IndexedState {
        IndexedState { facet: state.facet(), deadline: state.deadline() }
    }
}

/// What is done with an entity's state, of whatever kind it is.
macro_rules! with_state {
    ($entity:expr, $state:ident => $do:expr) => {
        match $entity {
            $crate::record::Entity::Payment($state) => $do,
            $crate::record::Entity::Payout($state) => $do,
            $crate::record::Entity::Merchant($state) => $do,
            $crate::record::Entity::Batch($state) => $do,
            $crate::record::Entity::Chargeback($state) => $do,
            $crate::record::Entity::Otp($state) => $do,
            $crate::record::Entity::OwnAccount($state) => $do,
            $crate::record::Entity::Product($state) => $do,
            $crate::record::Entity::Session($state) => $do,
            $crate::record::Entity::Conversion($state) => $do,
            $crate::record::Entity::CryptoPayout($state) => $do,
            $crate::record::Entity::DepositAddress($state) => $do,
            $crate::record::Entity::CopPayment($state) => $do,
            $crate::record::Entity::CopPayout($state) => $do,
            $crate::record::Entity::Webhook($state) => $do,
            $crate::record::Entity::Notice($state) => $do,
            $crate::record::Entity::Approval($state) => $do,
        }
    };
}

pub(crate) use with_state;

impl Entity {
    pub fn resource(&self) -> &dyn Resource {
        with_state!(self, state => state)
    }

    pub fn id(&self) -> EntityId {
        self.resource().entity_id()
    }

    /// The byte by which lists are filtered.
    pub fn facet(&self) -> u8 {
        self.resource().facet()
    }

    /// The next deadline of the entity, if it has one.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.resource().deadline()
    }

    /// The tenant's reference, for kinds that have one.
    pub fn external_ref(&self) -> Option<&str> {
        self.resource().external_ref()
    }
}
