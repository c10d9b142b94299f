//! The directory of callers: tenants and API keys in memory, in the shape that every request needs.
//! The platform's book owns them; the directory repeats what that book says, once it is durable.

use api::endpoint::Caller;
use dashmap::{DashMap, Entry};
use domain::platform::{ApiKey, PlatformChange, Tenant};
use domain::values::ids::Id;
use domain::values::mode::tenant_key;
use domain::values::time::Timestamp;
use sha2::{Digest, Sha256};
use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// The time, in ms, to which the last use of a key is noted; more precision would cost every
/// request a write to shared memory.
const USE_GRAIN_MS: i64 = 60_000;

/// A key as it is found: by its hash, which is in it and need not be beside it once more.
struct Hashed(Arc<ApiKey>);

impl Borrow<[u8; 32]> for Hashed {
    fn borrow(&self) -> &[u8; 32] {
        &self.0.hash
    }
}

impl Hash for Hashed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl PartialEq for Hashed {
    fn eq(&self, other: &Self) -> bool {
        self.0.hash == other.0.hash
    }
}

impl Eq for Hashed {}

#[derive(Default)]
pub struct Directory {
    /// The keys, each with the time of its last use, in ms.
    keys: DashMap<Hashed, AtomicI64>,
    tenants: DashMap<u32, Arc<Tenant>>,
    number_of: DashMap<Id, u32>,
    /// When tenants asked for live mode that the operator has not answered.
    live_asked: DashMap<u32, Timestamp>,
}

/// SHA-256 of a key, which is all that is kept of it.
pub fn hash_key(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

impl Directory {
    pub fn learn_tenant(&self, tenant: &Arc<Tenant>) {
        self.number_of.insert(tenant.id, tenant.number);
        let known = self.tenants.insert(tenant.number, Arc::clone(tenant));
        if known.is_none_or(|known| known.tenant_settings.says_otherwise(&tenant.tenant_settings)) {
            self.live_asked.remove(&tenant.number);
        }
    }

    pub fn learn_key(&self, key: &Arc<ApiKey>) {
        match self.keys.entry(Hashed(Arc::clone(key))) {
            Entry::Vacant(vacant) => drop(vacant.insert(AtomicI64::new(0))),
            Entry::Occupied(known) => {
                let last_used_ms = known.get().load(Ordering::Relaxed);
                known.replace_entry(AtomicI64::new(last_used_ms));
            }
        }
    }

    pub fn learn_live_asked(&self, number: u32, at: Timestamp) {
        self.live_asked.insert(number, at);
    }

    /// The instant at which a tenant asked for live mode, if the operator has not answered.
    pub fn live_asked_at(&self, number: u32) -> Option<Timestamp> {
        self.live_asked.get(&number).map(|at| *at)
    }

    /// The number of tenants that asked for live mode and were not answered.
    pub fn live_asked_count(&self) -> usize {
        self.live_asked.len()
    }

    /// Learns what a durable record of the platform's book changed, at `at`.
    pub fn learn(&self, change: &PlatformChange, at: Timestamp) {
        match change {
            PlatformChange::Tenant(tenant) => self.learn_tenant(tenant),
            PlatformChange::Key(key) => self.learn_key(key),
            PlatformChange::LiveAsked(number) => self.learn_live_asked(*number, at),
            // Operators have a directory of their own.
            PlatformChange::Acted(_)
            | PlatformChange::Searched(_)
            | PlatformChange::Beside(_)
            | PlatformChange::Operator(_) => {}
            PlatformChange::Opened { tenant, keys } => {
                self.learn_tenant(tenant);
                keys.iter().for_each(|key| self.learn_key(key));
            }
            // Banks are not callers: the directory does not change.
            PlatformChange::Bank(..) | PlatformChange::Banks(_) => {}
        }
    }

    pub fn authenticate(&self, key: &str, now: Timestamp) -> Option<Caller> {
        self.recognise(&hash_key(key), now)
    }

    /// Authenticates whoever brought the key with this hash before, and returns the proof.
    pub fn recognise(&self, hash: &[u8; 32], now: Timestamp) -> Option<Caller> {
        let known = self.keys.get(hash)?;
        let (Hashed(key), last_used_ms) = known.pair();
        if !key.works_at(now) {
            return None;
        }
        if now.unix_ms() - last_used_ms.load(Ordering::Relaxed) >= USE_GRAIN_MS {
            last_used_ms.store(now.unix_ms(), Ordering::Relaxed);
        }
        let tenant = Arc::clone(self.tenants.get(&key.tenant)?.value());
        Some(Caller { tenant_key: tenant_key(tenant.number, key.mode), tenant, key: Arc::clone(key) })
    }

    pub fn tenant(&self, id: Id) -> Option<Arc<Tenant>> {
        let number = *self.number_of.get(&id)?;
        self.tenants.get(&number).map(|tenant| Arc::clone(&tenant))
    }

    pub fn tenant_numbered(&self, number: u32) -> Option<Arc<Tenant>> {
        self.tenants.get(&number).map(|tenant| Arc::clone(&tenant))
    }

    /// The tenant key under which the secrets of a tenant key derive: the first that it had.
    pub fn first_key(&self, tenant_key: u64) -> u64 {
        let tenant = u32::try_from(tenant_key / 2).ok().and_then(|number| self.tenant_numbered(number));
        tenant.map_or(tenant_key, |tenant| u64::from(tenant.first_number) * 2 + tenant_key % 2)
    }

    /// Every tenant, newest first.
    pub fn tenants(&self) -> Vec<Arc<Tenant>> {
        let mut tenants: Vec<_> = self.tenants.iter().map(|tenant| Arc::clone(&tenant)).collect();
        tenants.sort_by_key(|tenant| std::cmp::Reverse(tenant.number));
        tenants
    }

    /// The keys of a tenant, newest first, with the minute of their last use (on the server's
    /// clock).
    pub fn keys_of(&self, number: u32) -> Vec<(Arc<ApiKey>, Option<Timestamp>)> {
        let used = |last_used_ms: &AtomicI64| {
            Some(last_used_ms.load(Ordering::Relaxed)).filter(|ms| *ms > 0).map(Timestamp::from_unix_ms)
        };
        let of_tenant = self.keys.iter().filter(|known| known.key().0.tenant == number);
        let mut keys: Vec<_> =
            of_tenant.map(|known| (Arc::clone(&known.key().0), used(known.value()))).collect();
        keys.sort_by_key(|(key, _)| std::cmp::Reverse(key.id));
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::platform::Scopes;
    use domain::platform::settings::TenantSettings;
    use domain::values::mode::Mode;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    #[test]
    fn a_newer_state_of_a_key_takes_the_place_of_the_one_before_and_its_use_is_not_forgotten() {
        let id = |n| Id::derived(1, 1, n);
        let directory = Directory::default();
        let tenant = Tenant {
            id: id(1),
            number: 7,
            first_number: 7,
            name: "shop".into(),
            tenant_settings: TenantSettings::default(),
            pushed: 0,
            created_at: at(0),
        };
        directory.learn_tenant(&Arc::new(tenant));
        let key = ApiKey {
            id: id(2),
            tenant: 7,
            mode: Mode::Test,
            hash: hash_key("pk_test_a"),
            prefix: "pk_test_".into(),
            scopes: Scopes::ALL,
            created_at: at(0),
            expires_at: None,
            revoked_at: None,
            retires_at: None,
            replaces: None,
        };
        directory.learn_key(&Arc::new(key.clone()));
        directory.learn_key(&Arc::new(ApiKey { id: id(3), hash: hash_key("pk_test_b"), ..key.clone() }));
        let caller = directory.authenticate("pk_test_a", at(100_000)).expect("a caller");
        assert_eq!(
            (caller.tenant.number, caller.tenant_key, caller.key.id),
            (7, tenant_key(7, Mode::Test), id(2))
        );
        assert!(directory.authenticate("pk_test_c", at(100_000)).is_none());

        directory.learn_key(&Arc::new(ApiKey { revoked_at: Some(at(200_000)), ..key }));
        assert!(directory.authenticate("pk_test_a", at(200_000)).is_none());
        assert!(directory.authenticate("pk_test_b", at(300_000)).is_some());
        let keys: Vec<_> =
            directory.keys_of(7).into_iter().map(|(key, used)| (key.id, key.revoked_at, used)).collect();
        assert_eq!(keys, [(id(3), None, Some(at(300_000))), (id(2), Some(at(200_000)), Some(at(100_000)))]);
    }

    #[test]
    fn an_idle_tenant_takes_little() {
        // Two counts of an `Arc` are added: together at most 128 bytes, which is one of the
        // allocator's sizes; the next is 160.
        assert!(size_of::<ApiKey>() <= 112, "{}", size_of::<ApiKey>());
        assert!(size_of::<Tenant>() <= 112, "{}", size_of::<Tenant>());
        assert_eq!(size_of::<Hashed>(), 8);
    }
}
