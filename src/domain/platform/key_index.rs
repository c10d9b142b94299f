//! The keys of all accounts, found by their ids and by their accounts: there may be very many, and an account asks for its
//! own.

use crate::codec::stored_as;
use crate::platform::ApiKey;
use crate::values::ids::Id;
use persistent::SortedMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    all: SortedMap<Id, Arc<ApiKey>>,
    /// The same keys, by the numbers of their accounts first; derived, and not stored.
    of_tenants: SortedMap<(u32, Id), Arc<ApiKey>>,
}

// The index is not in the bytes.
stored_as! { Keys as SortedMap<Id, Arc<ApiKey>>: |keys| keys.all, |all| Ok(Keys::from(all)) }

impl From<SortedMap<Id, Arc<ApiKey>>> for Keys {
    fn from(all: SortedMap<Id, Arc<ApiKey>>) -> Keys {
        let mut of_tenants = SortedMap::default();
        for (id, key) in all.iter() {
            of_tenants.insert((key.tenant, *id), Arc::clone(key));
        }
        Keys { all, of_tenants }
    }
}

impl Keys {
    pub fn get(&self, id: &Id) -> Option<&Arc<ApiKey>> {
        self.all.get(id)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn values(&self) -> impl Iterator<Item = &Arc<ApiKey>> {
        self.all.values()
    }

    /// Those of the account with this number, in the order of their ids.
    pub fn of(&self, tenant: u32) -> impl Iterator<Item = &Arc<ApiKey>> {
        let own =
            self.of_tenants.iter_from(&(tenant, Id::FIRST)).take_while(move |((of, _), _)| *of == tenant);
        own.map(|(_, key)| key)
    }

    pub fn insert(&mut self, key: &Arc<ApiKey>) {
        self.all.insert(key.id, Arc::clone(key));
        self.of_tenants.insert((key.tenant, key.id), Arc::clone(key));
    }

    pub fn remove_of(&mut self, tenant: u32) {
        let own: Vec<Id> = self.of(tenant).map(|key| key.id).collect();
        for id in own {
            self.all.remove(&id);
            self.of_tenants.remove(&(tenant, id));
        }
    }
}

#[cfg(test)]
impl crate::codec::tests::Sampled for Keys {
    fn sample(full: bool, number: &mut u64) -> Keys {
        Keys::from(SortedMap::sample(full, number))
    }
}
