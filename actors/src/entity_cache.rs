//! The newest states of open entities that are not active, so that the next request for one does
//! not read the log. First in, first out is the order of use, as a lookup takes a state out and it
//! comes back after the entity's turn. A cache by frequency would keep an entity for ever that
//! stays open and is never asked for again.

use foldhash::fast::RandomState;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, UnitWeighter};
use std::hash::Hash;
use std::sync::Arc;

pub(crate) struct EntityCache<I, E> {
    /// Each with the generation of its tenant's book.
    states: Cache<(u64, I), (u64, Arc<E>), UnitWeighter, RandomState>,
}

impl<I: Hash + Eq, E> EntityCache<I, E> {
    pub fn new(room: usize) -> EntityCache<I, E> {
        let options = OptionsBuilder::new()
            .estimated_items_capacity(room)
            .weight_capacity(room as u64)
            // Without these allocations the cache is first in, first out.
            .hot_allocation(0.0)
            .ghost_allocation(0.0)
            .build()
            .expect("both capacities are set");
        EntityCache {
            states: Cache::with_options(
                options,
                UnitWeighter,
                RandomState::default(),
                DefaultLifecycle::default(),
            ),
        }
    }

    /// In the place of the oldest if there is no room.
    pub fn put(&self, tenant: u64, id: I, generation: u64, state: Arc<E>) {
        self.states.insert((tenant, id), (generation, state));
    }

    /// Takes a state out, with its generation.
    pub fn take(&self, tenant: u64, id: I) -> Option<(u64, Arc<E>)> {
        self.states.remove(&(tenant, id)).map(|(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 1 << 14;

    #[test]
    fn what_is_never_asked_for_again_makes_room() {
        let entity_cache = EntityCache::new(ROOM);
        for id in 0..ROOM {
            entity_cache.put(1, id, 0, Arc::new(id));
            // The entity is asked for a second time, and then no more.
            let (generation, again) = entity_cache.take(1, id).expect("it was put there just now");
            entity_cache.put(1, id, generation, again);
        }
        // Half as many come after them: the places are shared out by hash, so that one that is full
        // may have others beside it with room.
        for id in 0..ROOM / 2 {
            entity_cache.put(2, id, 0, Arc::new(id));
        }
        for id in 0..ROOM / 2 {
            assert_eq!(entity_cache.take(2, id), Some((0, Arc::new(id))));
        }
        let old = (0..ROOM).filter(|id| entity_cache.take(1, *id).is_some()).count();
        // How evenly the hash shares them out is another thing in each run.
        assert!((ROOM / 3..=ROOM * 5 / 9).contains(&old), "{old} of the old ones are left");
        assert!(entity_cache.take(2, 0).is_none(), "it was taken out");
    }
}
