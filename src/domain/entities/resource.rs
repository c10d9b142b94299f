//! An entity as the index and the agenda see it: the names by which it is found, its lists and its deadline.

use crate::cause::Cause;
use crate::codec::stored;
use crate::index::Entries;
use crate::values::time::Timestamp;

stored! {
    /// The state of an entity that the index and the agenda know: its facet and its deadline.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct IndexedState {
        0 pub facet: u8,
        1 pub deadline: Option<Timestamp>,
    }
}

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
    pub is_new: bool,
    /// Whether it is new, or its facet is another one than before.
    pub is_moved: bool,
}

impl Change {
    /// Whether a bank may have given a name in it: with an answer that waits, decides, or contradicts.
    pub const fn is_of_bank(&self) -> bool {
        self.is_moved || matches!(self.cause, Cause::BankAsked | Cause::OperationContradicted)
    }
}

pub trait Resource {
    fn facet(&self) -> u8 {
        0
    }

    fn deadline(&self) -> Option<Timestamp> {
        None
    }

    /// Its place in the lists of its kind. What may be removed is listed by its id.
    fn listing(&self, _facet: u8) -> Listing {
        Listing::ById
    }

    /// Adds the entity's names and whatever else it is found by besides its id and its lists.
    fn entries(&self, change: Change, entries: &mut Entries<'_>);
}
