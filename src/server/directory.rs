//! Who may call: tenants and keys in memory, in the shape that every request needs. The platform's book owns them; this is what it says, after it was durable.

use crate::api::plan::Caller;
use crate::domain::ids::Id;
use crate::domain::platform::{ApiKey, PlatformChange, Tenant, tenant_key};
use crate::domain::time::Timestamp;
use dashmap::DashMap;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A key that was used is noted to the minute; more would cost every request a write to shared memory.
const USE_GRAIN_MS: i64 = 60_000;

struct Entry {
    key: Arc<ApiKey>,
    last_used_ms: AtomicI64,
}

/// All tenants and keys.
#[derive(Default)]
pub struct Directory {
    by_hash: DashMap<[u8; 32], Entry>,
    hash_of: DashMap<Id, [u8; 32]>,
    tenants: DashMap<u32, Arc<Tenant>>,
    number_of: DashMap<Id, u32>,
}

/// SHA-256 of a key, which is all that is kept of it.
pub fn hash_key(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

impl Directory {
    /// Learns a tenant, or its newest state.
    pub fn learn_tenant(&self, tenant: &Arc<Tenant>) {
        self.number_of.insert(tenant.id, tenant.number);
        self.tenants.insert(tenant.number, Arc::clone(tenant));
    }

    /// Learns a key, or its newest state.
    pub fn learn_key(&self, key: &Arc<ApiKey>) {
        let last_used_ms = self.by_hash.get(&key.hash).map_or(0, |entry| entry.last_used_ms.load(Ordering::Relaxed));
        self.hash_of.insert(key.id, key.hash);
        self.by_hash.insert(key.hash, Entry { key: Arc::clone(key), last_used_ms: AtomicI64::new(last_used_ms) });
    }

    /// Learns what a durable record of the platform's book changed.
    pub fn learn(&self, change: &PlatformChange) {
        match change {
            PlatformChange::Tenant(tenant) => self.learn_tenant(tenant),
            PlatformChange::Key(key) => self.learn_key(key),
            PlatformChange::Acted(_) => {}
            PlatformChange::Opened { tenant, keys } => {
                self.learn_tenant(tenant);
                keys.iter().for_each(|key| self.learn_key(key));
            }
            // They call nobody.
            PlatformChange::Bank(..) | PlatformChange::Banks(_) => {}
        }
    }

    /// The proof that this is a working key.
    pub fn authenticate(&self, key: &str, now: Timestamp) -> Option<Caller> {
        let entry = self.by_hash.get(&hash_key(key))?;
        if !entry.key.works_at(now) {
            return None;
        }
        if now.unix_ms() - entry.last_used_ms.load(Ordering::Relaxed) >= USE_GRAIN_MS {
            entry.last_used_ms.store(now.unix_ms(), Ordering::Relaxed);
        }
        let tenant = Arc::clone(self.tenants.get(&entry.key.tenant)?.value());
        Some(Caller { tenant_key: tenant_key(tenant.number, entry.key.mode), tenant, key: Arc::clone(&entry.key) })
    }

    /// A tenant by the id that the API speaks.
    pub fn tenant(&self, id: Id) -> Option<Arc<Tenant>> {
        let number = *self.number_of.get(&id)?;
        self.tenants.get(&number).map(|tenant| Arc::clone(&tenant))
    }

    /// A tenant by its number.
    pub fn tenant_numbered(&self, number: u32) -> Option<Arc<Tenant>> {
        self.tenants.get(&number).map(|tenant| Arc::clone(&tenant))
    }

    /// Every tenant, newest first.
    pub fn tenants(&self) -> Vec<Arc<Tenant>> {
        let mut tenants: Vec<_> = self.tenants.iter().map(|tenant| Arc::clone(&tenant)).collect();
        tenants.sort_by_key(|tenant| std::cmp::Reverse(tenant.number));
        tenants
    }

    /// The keys of a tenant, newest first, with the minute of their last use (on the server's clock).
    pub fn keys_of(&self, number: u32) -> Vec<(Arc<ApiKey>, Option<Timestamp>)> {
        let used = |entry: &Entry| Some(entry.last_used_ms.load(Ordering::Relaxed)).filter(|ms| *ms > 0).map(Timestamp::from_unix_ms);
        let mut keys: Vec<_> = self.by_hash.iter().filter(|entry| entry.key.tenant == number).map(|entry| (Arc::clone(&entry.key), used(&entry))).collect();
        keys.sort_by_key(|(key, _)| std::cmp::Reverse(key.id));
        keys
    }

    /// A key by its id.
    pub fn key(&self, id: Id) -> Option<Arc<ApiKey>> {
        let hash = *self.hash_of.get(&id)?;
        self.by_hash.get(&hash).map(|entry| Arc::clone(&entry.key))
    }
}
