//! Ids of new things, and names in use: while a request works under an Idempotency-Key or an externalRef, nobody
//! else does. What was used before is in the index, which is read under the reservation; so no history of names
//! lives in memory.

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use domain::index::Space;
use domain::values::ids::Id;
use domain::values::time::Timestamp;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NameOf {
    /// An Idempotency-Key, by itself on each path.
    Key(String),
    Reference(Space),
}

type Name = (u64, NameOf, String);

/// Since when each name of a tenant is in use, on the server's clock, and who waits for it, if anybody does.
#[derive(Default)]
pub struct Reservations {
    held: DashMap<Name, (Timestamp, Option<Arc<Notify>>)>,
    /// Those of calls that are no rehearsal: a rehearsal meets them, and they do not meet it.
    real: Option<Arc<Reservations>>,
}

/// The right to work under a key or a name, until it is dropped.
pub struct Held {
    reservations: Arc<Reservations>,
    name: Name,
}

impl Reservations {
    pub fn over(real: &Arc<Reservations>) -> Arc<Reservations> {
        Arc::new(Reservations { held: DashMap::default(), real: Some(Arc::clone(real)) })
    }

    /// When whoever has a name in a call that is no rehearsal lets it go.
    fn really_held(&self, name: &Name) -> Option<OwnedNotified> {
        let mut taken = self.real.as_ref()?.held.get_mut(name)?;
        Some(until_free(&mut taken.1))
    }

    pub fn key_in_use(&self, tenant: u64, key: &str, path: Option<&str>) -> Option<(String, Timestamp)> {
        self.held.iter().find_map(|entry| match entry.key() {
            (of, NameOf::Key(on), name)
                if *of == tenant && name == key && path.is_none_or(|path| on == path) =>
            {
                Some((on.clone(), entry.value().0))
            }
            _ => None,
        })
    }

    pub fn is_held(&self, tenant: u64, space: Space, name: &str) -> bool {
        self.held.contains_key(&(tenant, NameOf::Reference(space), name.to_owned()))
    }

    pub async fn wait_for(&self, tenant: u64, space: Space, name: &str) {
        let name = (tenant, NameOf::Reference(space), name.to_owned());
        let taken = || {
            let own = self.held.get_mut(&name).map(|mut taken| until_free(&mut taken.1));
            own.or_else(|| self.really_held(&name))
        };
        while let Some(taken) = taken() {
            taken.await;
        }
    }

    pub async fn hold_name(self: &Arc<Self>, tenant: u64, space: Space, name: &str) -> Held {
        loop {
            match self.hold(tenant, NameOf::Reference(space), name, Timestamp::EPOCH) {
                Ok(held) => return held,
                Err(taken) => taken.await,
            }
        }
    }

    /// Reserves a name, or says when whoever has it lets it go.
    pub fn hold(
        self: &Arc<Self>,
        tenant: u64,
        of: NameOf,
        name: &str,
        since: Timestamp,
    ) -> Result<Held, OwnedNotified> {
        let name = (tenant, of, name.to_owned());
        if let Some(taken) = self.really_held(&name) {
            return Err(taken);
        }
        match self.held.entry(name) {
            Entry::Occupied(mut taken) => Err(until_free(&mut taken.get_mut().1)),
            Entry::Vacant(vacant) => {
                let name = vacant.key().clone();
                vacant.insert((since, None));
                Ok(Held { reservations: Arc::clone(self), name })
            }
        }
    }
}

/// The waiter is registered before the map's lock is let go, so that no notice is missed.
fn until_free(waiting: &mut Option<Arc<Notify>>) -> OwnedNotified {
    Arc::clone(waiting.get_or_insert_default()).notified_owned()
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some((_, (_, Some(waiting)))) = self.reservations.held.remove(&self.name) {
            waiting.notify_waiters();
        }
    }
}

/// An id that tells nothing, not even its time: for things that are shown to anybody who knows
/// their id.
pub fn random_id() -> Id {
    Id::from(Uuid::new_v4())
}

/// The ids of new things (UUIDv7), which lists are in the order of.
///
/// Each is later than the ones before it of the same tenant, also within a millisecond. Ids begin
/// anew at random in every millisecond and go on in random steps, each tenant's apart from the
/// others': so an id tells nothing of its neighbours, nor of how many there are.
#[derive(Default)]
pub struct Ids(DashMap<u64, NewestId>);

#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct NewestId {
    ms: i64,
    bits: u64,
}

/// The random bits of an id between its time and the 16 bits that number its operations.
const RANDOM_BITS: u32 = 58;
/// The bits of the first id of a millisecond, which leave half of the room to those after it.
const START_BITS: u32 = RANDOM_BITS - 1;
/// The longest step between two ids, in bits: thousands fit in a millisecond, and none is guessed.
const STEP_BITS: u32 = 44;

impl Ids {
    /// The next id, by the bits of a random UUID: those in which its version and variant stand are among the others.
    pub fn next(&self, tenant: u64, now_ms: i64, random: Uuid) -> Id {
        let (high, low) = random.as_u64_pair();
        let random = high.rotate_left(32) ^ low;
        let mut newest = self.0.entry(tenant).or_default();
        let first = random >> (64 - START_BITS);
        *newest = match newest.bits + 1 + (random >> (64 - STEP_BITS)) {
            _ if now_ms > newest.ms => NewestId { ms: now_ms, bits: first },
            bits if bits >> RANDOM_BITS == 0 => NewestId { bits, ..*newest },
            // The millisecond is full, or the clock stands still.
            _ => NewestId { ms: newest.ms + 1, bits: first },
        };
        Id::random(newest.ms, newest.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::services::system_now;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn bits(random: u64) -> Uuid {
        Uuid::from_u64_pair(0, random)
    }

    #[test]
    fn a_key_is_held_once_per_path() {
        let reservations = Arc::new(Reservations::default());
        let now = Timestamp::from_unix_ms(7);
        let hold =
            |tenant, path: &str| reservations.hold(tenant, NameOf::Key(path.to_owned()), "k", now).ok();
        let held = hold(2, "/a").expect("free");
        assert!(hold(2, "/a").is_none() && hold(2, "/b").is_some() && hold(3, "/a").is_some());
        assert_eq!(reservations.key_in_use(2, "k", None), Some(("/a".to_owned(), now)));
        drop(held);
        assert!(hold(2, "/a").is_some());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_name_is_held_by_one_at_a_time_and_everybody_gets_it() {
        let reservations = Arc::new(Reservations::default());
        let inside = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();
        for _ in 0..200 {
            let (reservations, inside) = (Arc::clone(&reservations), Arc::clone(&inside));
            tasks.push(tokio::spawn(async move {
                let _held = reservations.hold_name(2, Space::Payout, "r").await;
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                tokio::task::yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
            }));
        }
        for task in tasks {
            task.await.expect("no panic");
        }
        assert!(reservations.held.is_empty());
    }

    #[test]
    fn fresh_ids_are_in_order_and_name_an_entity() {
        let ids = Ids::default();
        let made: Vec<Id> =
            (0..10_000).map(|_| ids.next(2, system_now().unix_ms(), Uuid::new_v4())).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
        assert!(
            made.iter()
                .all(|id| id.entity_and_operation() == (*id, 0) && Uuid::from(*id).get_version_num() == 7)
        );
    }

    #[test]
    fn a_full_millisecond_and_a_clock_that_goes_back_keep_the_order() {
        let ids = Ids::default();
        let largest: Vec<Id> = (0..100_000).map(|_| ids.next(2, 7, bits(u64::MAX))).collect();
        assert!(largest.is_sorted_by(|a, b| a < b));
        assert!(ids.next(2, 1, bits(0)) > largest[99_999]);
    }

    #[test]
    fn the_ids_of_a_tenant_say_nothing_of_the_others() {
        let ids = Ids::default();
        let (one, start) = (ids.next(2, 7, bits(1 << 60)), 1 << 60 >> (64 - START_BITS));
        for _ in 0..1_000 {
            ids.next(3, 7, bits(u64::MAX));
        }
        assert_eq!(ids.next(2, 7, bits(1 << 60)), Id::random(7, start + 1 + (1 << 60 >> (64 - STEP_BITS))));
        assert_eq!(one, Id::random(7, start));
    }

    #[test]
    fn a_random_id_says_nothing() {
        let (one, other) = (Uuid::from(random_id()), Uuid::from(random_id()));
        assert!(one != other && one.get_version_num() == 4 && other.get_version_num() == 4);
    }
}
