//! Names in use: while a request works under an Idempotency-Key or an externalRef, nobody else
//! does. What was used before is in the index, which is read under the reservation; so no history
//! of names lives in memory.

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use domain::index::Space;
use domain::values::time::Timestamp;
use std::sync::Arc;
use tokio::sync::Notify;

/// The uses of one Idempotency-Key on one path, in one tenant and mode.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct KeyName {
    tenant: u64,
    key: String,
    path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RefName {
    tenant: u64,
    space: Space,
    name: String,
}

/// The Idempotency-Keys and names that requests work under now.
#[derive(Default)]
pub struct Reservations {
    keys: DashMap<KeyName, Timestamp>,
    names: DashMap<RefName, Arc<Notify>>,
}

/// The right to work under an Idempotency-Key, until it is dropped.
pub struct KeyHeld {
    reservations: Arc<Reservations>,
    name: KeyName,
}

/// The right to work under an externalRef, until it is dropped.
pub struct NameHeld {
    reservations: Arc<Reservations>,
    name: RefName,
}

impl Reservations {
    /// Reserves a key; `None` while another request works under it. `now` is the server's clock.
    pub fn hold_key(self: &Arc<Self>, tenant: u64, key: &str, path: &str, now: Timestamp) -> Option<KeyHeld> {
        let name = KeyName { tenant, key: key.to_owned(), path: path.to_owned() };
        match self.keys.entry(name.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(vacant) => {
                vacant.insert(now);
                Some(KeyHeld { reservations: Arc::clone(self), name })
            }
        }
    }

    /// The path on which a key is in use now, and since when.
    pub fn key_in_use(&self, tenant: u64, key: &str, path: Option<&str>) -> Option<(String, Timestamp)> {
        let matches = |name: &KeyName| {
            name.tenant == tenant && name.key == key && path.is_none_or(|path| name.path == path)
        };
        self.keys
            .iter()
            .find(|entry| matches(entry.key()))
            .map(|entry| (entry.key().path.clone(), *entry.value()))
    }

    /// Reserves a reference; `None` while another request works under it.
    pub fn try_hold_name(self: &Arc<Self>, tenant: u64, space: Space, name: &str) -> Option<NameHeld> {
        let name = RefName { tenant, space, name: name.to_owned() };
        match self.names.entry(name.clone()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(vacant) => {
                vacant.insert(Arc::new(Notify::new()));
                Some(NameHeld { reservations: Arc::clone(self), name })
            }
        }
    }

    /// Waits until nobody has a name.
    pub async fn wait_for(&self, tenant: u64, space: Space, name: &str) {
        let name = RefName { tenant, space, name: name.to_owned() };
        while let Some(taken) = self.names.get(&name).map(|taken| Arc::clone(taken.value()).notified_owned())
        {
            taken.await;
        }
    }

    /// Reserves a reference, after waiting for the request that has it.
    pub async fn hold_name(self: &Arc<Self>, tenant: u64, space: Space, name: &str) -> NameHeld {
        let name = RefName { tenant, space, name: name.to_owned() };
        loop {
            let taken = match self.names.entry(name.clone()) {
                Entry::Vacant(vacant) => {
                    vacant.insert(Arc::new(Notify::new()));
                    return NameHeld { reservations: Arc::clone(self), name };
                }
                // The waiter is registered before the map's lock is let go, so that no notice is
                // missed.
                Entry::Occupied(taken) => Arc::clone(taken.get()).notified_owned(),
            };
            taken.await;
        }
    }
}

impl Drop for KeyHeld {
    fn drop(&mut self) {
        self.reservations.keys.remove(&self.name);
    }
}

impl Drop for NameHeld {
    fn drop(&mut self) {
        if let Some((_, waiting)) = self.reservations.names.remove(&self.name) {
            waiting.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_key_is_held_once_per_path() {
        let reservations = Arc::new(Reservations::default());
        let now = Timestamp::from_unix_ms(7);
        let held = reservations.hold_key(2, "k", "/a", now).expect("free");
        assert!(reservations.hold_key(2, "k", "/a", now).is_none());
        assert!(reservations.hold_key(2, "k", "/b", now).is_some());
        assert!(reservations.hold_key(3, "k", "/a", now).is_some());
        assert_eq!(reservations.key_in_use(2, "k", None), Some(("/a".to_owned(), now)));
        drop(held);
        assert!(reservations.hold_key(2, "k", "/a", now).is_some());
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
        assert!(reservations.names.is_empty());
    }
}
