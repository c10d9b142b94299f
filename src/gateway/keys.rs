//! Keys: those of tenants, whose directory is in memory in the shape that every request needs (the platform's book
//! owns them; the directory repeats what that book says, once it is durable); how new ones are made; and the
//! server's own, under which something is hashed to be recognised and not known, and from which secrets derive that
//! need not be stored.

use crate::webhooks::secret::Secret as WebhookSecret;
use api::endpoint::{Caller, KnownKey};
use api::problem::Problem;
use dashmap::{DashMap, Entry};
use domain::index::PersonMarks;
use domain::platform::{ApiKey, Details, PlatformChange, Scopes, Tenant, hash_key, test_accounts};
use domain::values::ids::{Id, Mode, PLATFORM, tenant_key};
use domain::values::time::{HOUR_MS, Timestamp};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use zeroize::Zeroizing;

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

/// How long before an account ends its use in another partition is asked for.
const ASKED_BEFORE_MS: i64 = HOUR_MS;

/// The last use of an account, in ms on the server's clock: the one that is known, and the one that is written down.
struct Use {
    last_ms: AtomicI64,
    noted_ms: AtomicI64,
    /// Until when it may have been used before the start and nobody wrote it down.
    unnoted_ms: i64,
    /// Of its keys, which end with it.
    hashes: Vec<[u8; 32]>,
}

impl Use {
    fn is_over(&self, now: Timestamp) -> bool {
        let last_ms = self.last_ms.load(Ordering::Relaxed).max(self.unnoted_ms);
        now.unix_ms() - last_ms >= test_accounts::IDLE_MS
    }
}

#[derive(Default)]
pub struct Directory {
    keys: DashMap<Hashed, AtomicI64>,
    tenants: DashMap<u32, Arc<Tenant>>,
    number_of: DashMap<Id, u32>,
    /// When tenants asked for live mode that the operator has not answered.
    pub live_asked: DashMap<u32, Timestamp>,
    /// The accounts that were opened without an operator and may be deleted, by their numbers.
    test_accounts: DashMap<u32, Use>,
    /// Counts the changes of accounts and keys.
    version: AtomicU64,
    /// Asked for what a rehearsal did not change.
    real: Option<Arc<Directory>>,
}

/// SHA-256 of a key or a token, which is all that is kept of it.
impl Directory {
    pub fn over(real: &Arc<Directory>) -> Arc<Directory> {
        Arc::new(Directory { real: Some(Arc::clone(real)), ..Directory::default() })
    }

    /// Another one after each change.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    pub fn learn_tenant(&self, tenant: &Arc<Tenant>) {
        self.number_of.insert(tenant.id, tenant.number);
        let known = self.tenants.insert(tenant.number, Arc::clone(tenant));
        if known.is_none_or(|known| known.tenant_settings.says_otherwise(&tenant.tenant_settings)) {
            self.live_asked.remove(&tenant.number);
        }
        if tenant.is_kept() {
            self.test_accounts.remove(&tenant.number);
        }
    }

    /// An account that may be deleted, used at `noted_at` as is written down, and perhaps until `unnoted_at`.
    pub fn learn_test_account<'k>(
        &self,
        number: u32,
        keys: impl IntoIterator<Item = &'k Arc<ApiKey>>,
        noted_at: Timestamp,
        unnoted_at: Timestamp,
    ) {
        let [last_ms, noted_ms] = [noted_at, noted_at].map(|at| AtomicI64::new(at.unix_ms()));
        let hashes = keys.into_iter().map(|key| key.hash).collect();
        self.test_accounts
            .insert(number, Use { last_ms, noted_ms, unnoted_ms: unnoted_at.unix_ms(), hashes });
    }

    /// The numbers of accounts that were used `noted_ms` after what is written down, with the instant; and of those
    /// that nobody used for so long that they end. Of one outside of the partition `own`, whose use this one does not
    /// see, it is known in time.
    pub fn test_accounts(&self, noted_ms: i64, now: Timestamp, own: u8) -> (Vec<(u32, Timestamp)>, Vec<u32>) {
        let (mut used, mut over) = (Vec::new(), Vec::new());
        for known in &self.test_accounts {
            let last_ms = known.last_ms.load(Ordering::Relaxed);
            let is_elsewhere = self.is_elsewhere(tenant_key(*known.key(), Mode::Test), own);
            if known.is_over(if is_elsewhere { now.plus_ms(ASKED_BEFORE_MS) } else { now }) {
                over.push(*known.key());
            } else if last_ms - known.noted_ms.load(Ordering::Relaxed) >= noted_ms {
                used.push((*known.key(), Timestamp::from_unix_ms(last_ms)));
            }
        }
        (used, over)
    }

    fn forget(&self, number: u32) {
        let known = self.test_accounts.remove(&number);
        for hash in known.iter().flat_map(|(_, known)| &known.hashes) {
            self.keys.remove(hash);
        }
        if let Some((_, tenant)) = self.tenants.remove(&number) {
            self.number_of.remove(&tenant.id);
        }
        self.live_asked.remove(&number);
    }

    pub fn learn_key(&self, key: &Arc<ApiKey>) {
        if key.keeps_account() {
            self.test_accounts.remove(&key.tenant);
        }
        if let Some(mut known) = self.test_accounts.get_mut(&key.tenant)
            && !known.hashes.contains(&key.hash)
        {
            known.hashes.push(key.hash);
        }
        match self.keys.entry(Hashed(Arc::clone(key))) {
            Entry::Vacant(vacant) => drop(vacant.insert(AtomicI64::new(0))),
            Entry::Occupied(known) => {
                let last_used_ms = known.get().load(Ordering::Relaxed);
                known.replace_entry(AtomicI64::new(last_used_ms));
            }
        }
    }

    pub fn live_asked_at(&self, number: u32) -> Option<Timestamp> {
        self.live_asked.get(&number).map(|at| *at)
    }

    pub fn learn(&self, change: &PlatformChange, at: Timestamp) {
        // There is one of each payment in test mode, and nothing about callers: whoever was recognised stays so.
        if matches!(change, PlatformChange::Beside(_)) {
            return;
        }
        self.take(change, at);
        // Afterwards: whoever sees it sees the change too.
        self.version.fetch_add(1, Ordering::Release);
    }

    fn take(&self, change: &PlatformChange, at: Timestamp) {
        match change {
            PlatformChange::Tenant(tenant) | PlatformChange::Moved { tenant, .. } => {
                self.learn_tenant(tenant)
            }
            PlatformChange::Key(key) => self.learn_key(key),
            PlatformChange::LiveAsked(number) => drop(self.live_asked.insert(*number, at)),
            // Operators have a directory of their own.
            PlatformChange::Acted(_)
            | PlatformChange::Searched(_)
            | PlatformChange::SearchEnded { .. }
            | PlatformChange::Beside(_)
            | PlatformChange::Operator(_) => {}
            PlatformChange::Opened { tenant, keys } => {
                self.learn_tenant(tenant);
                keys.iter().for_each(|key| self.learn_key(key));
            }
            PlatformChange::TestAccountOpened { tenant, keys, .. } => {
                self.learn_tenant(tenant);
                keys.iter().for_each(|key| self.learn_key(key));
                self.learn_test_account(tenant.number, keys, at, at);
            }
            PlatformChange::TestAccountsUsed(used) => {
                for (number, at) in used {
                    if let Some(known) = self.test_accounts.get(number) {
                        known.noted_ms.fetch_max(at.unix_ms(), Ordering::Relaxed);
                        known.last_ms.fetch_max(at.unix_ms(), Ordering::Relaxed);
                    }
                }
            }
            PlatformChange::TestAccountDeleted(number) => self.forget(*number),
            PlatformChange::Followed(followed) => {
                followed.tenants.iter().for_each(|tenant| self.learn_tenant(tenant));
                followed.keys.iter().for_each(|key| self.learn_key(key));
                for (number, at) in &followed.live_asked {
                    self.live_asked.insert(*number, *at);
                }
            }
            // Banks are not callers: the directory does not change.
            PlatformChange::Bank(..) | PlatformChange::Banks(_) => {}
        }
    }

    /// Authenticates whoever brings the key with this hash, or brought it before, and returns the proof.
    pub fn recognise(&self, hash: &[u8; 32], now: Timestamp) -> Option<Caller> {
        if let Some(real) = &self.real {
            return real.recognise(hash, now);
        }
        // Before the key is read: a change meanwhile is one since.
        let version = self.version.load(Ordering::Acquire);
        let known = self.keys.get(hash)?;
        let (Hashed(key), last_used_ms) = known.pair();
        if !key.works_at(now) {
            return None;
        }
        if key.mode == Mode::Test
            && let Some(known) = self.test_accounts.get(&key.tenant)
        {
            if known.is_over(now) {
                return None;
            }
            known.last_ms.fetch_max(now.unix_ms(), Ordering::Relaxed);
        }
        if now.unix_ms() - last_used_ms.load(Ordering::Relaxed) >= USE_GRAIN_MS {
            last_used_ms.store(now.unix_ms(), Ordering::Relaxed);
        }
        let tenant = Arc::clone(self.tenants.get(&key.tenant)?.value());
        Some(Caller {
            tenant_key: tenant_key(tenant.number, key.mode),
            tenant,
            key: Arc::clone(key),
            version,
        })
    }

    /// Whether nothing has changed since somebody was recognised, and their key has not ended.
    pub fn is_current(&self, caller: &Caller, now: impl FnOnce() -> Timestamp) -> bool {
        if let Some(real) = &self.real {
            return real.is_current(caller, now);
        }
        self.version.load(Ordering::Acquire) == caller.version
            && caller.key.ends_at().is_none_or(|at| now() < at)
    }

    pub fn tenant(&self, id: Id) -> Option<Arc<Tenant>> {
        match self.number_of.get(&id).map(|number| *number) {
            Some(number) => self.tenants.get(&number).map(|tenant| Arc::clone(&tenant)),
            None => self.real.as_ref()?.tenant(id),
        }
    }

    pub fn tenant_numbered(&self, number: u32) -> Option<Arc<Tenant>> {
        match self.tenants.get(&number) {
            Some(tenant) => Some(Arc::clone(&tenant)),
            None => self.real.as_ref()?.tenant_numbered(number),
        }
    }

    /// Whether the books of a tenant are not those of the partition `own`: it may have a beginning of them, of a tenant
    /// that comes or has left.
    pub fn is_elsewhere(&self, tenant: u64, own: u8) -> bool {
        let of = || self.tenant_numbered(u32::try_from(tenant / 2).ok()?);
        tenant != PLATFORM && of().is_none_or(|of| of.partition != own)
    }

    /// Under which the secrets of a tenant derive: the first that it had.
    pub fn first_key(&self, tenant_key: u64) -> u64 {
        let tenant = u32::try_from(tenant_key / 2).ok().and_then(|number| self.tenant_numbered(number));
        tenant.map_or(tenant_key, |tenant| u64::from(tenant.first_number) * 2 + tenant_key % 2)
    }

    pub fn tenants(&self) -> Vec<Arc<Tenant>> {
        let mut tenants: Vec<_> = self.tenants.iter().map(|tenant| Arc::clone(&tenant)).collect();
        if let Some(real) = &self.real {
            tenants.extend(real.tenants().into_iter().filter(|one| !self.tenants.contains_key(&one.number)));
        }
        tenants.sort_by_key(|tenant| std::cmp::Reverse(tenant.number));
        tenants
    }

    /// A key with the minute of its last use, on the server's clock.
    pub fn known(&self, key: Arc<ApiKey>) -> KnownKey {
        let directory = self.real.as_deref().unwrap_or(self);
        let last_used_ms = directory.keys.get(&key.hash).map_or(0, |ms| ms.load(Ordering::Relaxed));
        (key, Some(last_used_ms).filter(|ms| *ms > 0).map(Timestamp::from_unix_ms))
    }
}

const BASE: u16 = 62;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits of a key: 62^27 is more than 2^160.
const DIGITS: usize = 27;
const PREFIX_CHARACTERS: usize = 12;
/// Characters of a shorter key, which the configuration may fix, that are kept in plain text:
/// `pk_test_`.
const SHORT_PREFIX_CHARACTERS: usize = 8;

pub struct Secret(Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

pub const fn stem(mode: Mode) -> &'static str {
    match mode {
        Mode::Live => "pk_live_",
        Mode::Test => "pk_test_",
    }
}

impl Secret {
    /// The secret of a new key with this id. It can be made again for whoever sends the same
    /// Idempotency-Key, which is nowhere on the disk; without one it comes from the randomness of
    /// the operating system, and never again.
    pub fn new(
        keys: &ServerKeys,
        id: Id,
        stem: &'static str,
        idempotency_key: Option<&str>,
    ) -> Result<Secret, Problem> {
        if let Some(sent) = idempotency_key {
            return Ok(Secret::written(stem, keys.api_key(id, sent.as_bytes())));
        }
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| {
            Problem::internal_error(format!("the system gave no randomness for a key: {error}"))
        })?;
        Ok(Secret::written(stem, random))
    }

    /// The secret of a key that was made under this Idempotency-Key; `None` if it was not.
    pub fn again(keys: &ServerKeys, key: &ApiKey, idempotency_key: &str) -> Option<Secret> {
        Secret::with_hash(keys, key.id, stem(key.mode), idempotency_key, key.hash)
    }

    pub fn with_hash(
        keys: &ServerKeys,
        id: Id,
        stem: &'static str,
        idempotency_key: &str,
        hash: [u8; 32],
    ) -> Option<Secret> {
        let secret = Secret::written(stem, keys.api_key(id, idempotency_key.as_bytes()));
        (secret.hash() == hash).then_some(secret)
    }

    /// The lowest digits of a number of 256 bits: each is as likely as any other, to one part in
    /// 2^95.
    fn written(stem: &'static str, mut number: [u8; 32]) -> Secret {
        let mut key = String::with_capacity(stem.len() + DIGITS);
        key.push_str(stem);
        for _ in 0..DIGITS {
            let mut rest = 0_u16;
            for byte in &mut number {
                let value = (rest << 8) | u16::from(*byte);
                // Less than 256, as the rest before was less than 62.
                *byte = (value / BASE) as u8;
                rest = value % BASE;
            }
            key.push(char::from(ALPHABET[usize::from(rest)]));
        }
        Secret(Zeroizing::new(key))
    }

    pub fn fixed(key: &str) -> Secret {
        Secret(Zeroizing::new(key.to_owned()))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> [u8; 32] {
        hash_key(&self.0)
    }

    pub fn key(&self, id: Id, mode: Mode) -> ApiKey {
        ApiKey {
            id,
            tenant: 0,
            mode,
            hash: self.hash(),
            prefix: self.prefix(),
            scopes: Scopes::ALL,
            created_at: Timestamp::EPOCH,
            expires_at: None,
            revoked_at: None,
            retires_at: None,
            details: Details::default(),
        }
    }

    fn prefix(&self) -> Box<str> {
        // A short key shows fewer characters: the prefix must not be the key.
        let characters = if self.0.len() >= DIGITS { PREFIX_CHARACTERS } else { SHORT_PREFIX_CHARACTERS };
        self.0.chars().take(characters).collect()
    }
}

pub struct ServerKeys {
    pub(super) mark: [u8; 32],
    /// The key for cards: no backup, checkpoint or export has it.
    pub(super) card: [u8; 32],
    /// The first key, for what the index knows of people.
    pub person_marks: PersonMarks,
}

impl ServerKeys {
    pub fn new(mark: [u8; 32], card: [u8; 32]) -> ServerKeys {
        ServerKeys { mark, card, person_marks: PersonMarks::under(&mark) }
    }

    /// The signing secret of a webhook endpoint: it derives from the server's key, so that it need
    /// not be stored.
    pub fn webhook_secret(&self, tenant: u64, webhook: Id, version: u32) -> WebhookSecret {
        WebhookSecret::new(keyed_hash(
            &self.mark,
            &[b"webhook", &tenant.to_be_bytes(), webhook.as_bytes(), &version.to_be_bytes()],
        ))
    }

    /// The secret bytes of a new API key, derived from the server's key, its id and `salt`: they
    /// need not be stored to be shown again to a caller who sends the same.
    pub fn api_key(&self, id: Id, salt: &[u8]) -> [u8; 32] {
        keyed_hash(&self.mark, &[b"api key", id.as_bytes(), salt])
    }

    pub fn mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        keyed_hash(&self.mark, parts)
    }

    /// The first half of a keyed hash over `parts`, for data with a card in it, which whoever has
    /// the key could try out.
    pub fn card_mark(&self, parts: &[&[u8]]) -> [u8; 16] {
        keyed_hash(&self.card, parts)
    }
}

/// The first bytes of a keyed hash over `parts`, each with its length before it.
pub(super) fn keyed_hash<const BYTES: usize>(key: &[u8; 32], parts: &[&[u8]]) -> [u8; BYTES] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes keys of any length")
    };
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    let hash: [u8; 32] = mac.finalize().into_bytes().into();
    let mut first = [0; BYTES];
    first.copy_from_slice(&hash[..BYTES]);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::platform::settings::TenantSettings;
    use std::collections::HashSet;

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
            partition: 0,
            moving: None,
            moves: 0,
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
            details: Details::default(),
        };
        directory.learn_key(&Arc::new(key.clone()));
        directory.learn_key(&Arc::new(ApiKey { id: id(3), hash: hash_key("pk_test_b"), ..key.clone() }));
        let caller = directory.recognise(&hash_key("pk_test_a"), at(100_000)).expect("a caller");
        assert_eq!(
            (caller.tenant.number, caller.tenant_key, caller.key.id),
            (7, tenant_key(7, Mode::Test), id(2))
        );
        assert!(directory.recognise(&hash_key("pk_test_c"), at(100_000)).is_none());

        let revoked = Arc::new(ApiKey { revoked_at: Some(at(200_000)), ..key });
        directory.learn_key(&revoked);
        assert!(directory.recognise(&hash_key("pk_test_a"), at(200_000)).is_none());
        assert!(directory.recognise(&hash_key("pk_test_b"), at(300_000)).is_some());
        assert_eq!(directory.known(Arc::clone(&revoked)), (revoked, Some(at(100_000))));
    }

    #[test]
    fn a_test_account_ends_a_day_after_its_last_use_and_what_is_only_assumed_is_not_written_down() {
        let directory = Directory::default();
        let tenant = Tenant {
            id: Id::derived(1, 1, 1),
            number: 7,
            first_number: 7,
            name: "open".into(),
            tenant_settings: TenantSettings::default(),
            pushed: 0,
            created_at: at(0),
            partition: 0,
            moving: None,
            moves: 0,
        };
        directory.learn_tenant(&Arc::new(tenant));
        let key = Secret::fixed("pk_test_a").key(Id::derived(1, 1, 2), Mode::Test);
        let (day, minute) = (test_accounts::IDLE_MS, 60_000);
        let key = Arc::new(ApiKey { tenant: 7, ..key });
        directory.learn_key(&key);
        directory.learn_test_account(7, [&key], at(0), at(10 * minute));
        let used = |ms| directory.recognise(&hash_key("pk_test_a"), at(ms)).is_some();
        assert_eq!(
            directory.test_accounts(minute, at(day), 0),
            (vec![], vec![]),
            "it may have been used later"
        );
        assert!(used(day + 10 * minute - 1));
        let last = at(day + 10 * minute - 1);
        assert_eq!(directory.test_accounts(minute, last, 0), (vec![(7, last)], vec![]));
        directory.learn(&PlatformChange::TestAccountsUsed(vec![(7, last)]), last);
        assert_eq!(directory.test_accounts(minute, last, 0), (vec![], vec![]));
        let end = last.plus_ms(day);
        assert!(!used(end.unix_ms()));
        assert_eq!(directory.test_accounts(minute, end, 0), (vec![], vec![7]));
        directory.learn(&PlatformChange::TestAccountDeleted(7), end);
        assert_eq!((directory.tenants().len(), directory.keys.len()), (0, 0));
        assert_eq!(directory.test_accounts(minute, end, 0), (vec![], vec![]));
    }

    #[test]
    fn an_idle_tenant_takes_little() {
        // Two counts of an `Arc` are added: together at most 128 bytes, which is one of the
        // allocator's sizes; the next is 160.
        assert!(size_of::<ApiKey>() <= 112, "{}", size_of::<ApiKey>());
        assert!(size_of::<Tenant>() <= 112, "{}", size_of::<Tenant>());
        assert_eq!(size_of::<Hashed>(), 8);
    }

    #[test]
    fn keys_are_long_distinct_and_of_their_mode() {
        let mut seen = HashSet::new();
        let mut letters = HashSet::new();
        for mode in Mode::ALL {
            for _ in 0..500 {
                let mut random = [0; 32];
                getrandom::fill(&mut random).expect("randomness");
                let secret = Secret::written(stem(mode), random);
                let digits = secret.reveal().strip_prefix(stem(mode)).expect("its stem").to_owned();
                assert!(
                    digits.len() == DIGITS && digits.bytes().all(|byte| ALPHABET.contains(&byte)),
                    "{digits}"
                );
                assert_eq!(*secret.prefix(), secret.reveal()[..12]);
                letters.extend(digits.bytes());
                assert!(seen.insert(digits));
            }
        }
        assert_eq!(letters.len(), ALPHABET.len(), "every digit occurs");
    }

    #[test]
    fn the_digits_are_those_of_the_number() {
        let digits = |number: u128| {
            let bytes = [[0; 16], number.to_be_bytes()].concat().try_into().expect("32 bytes");
            Secret::written(stem(Mode::Test), bytes).0.clone()
        };
        assert_eq!(*digits(0), format!("pk_test_{}", "0".repeat(27)));
        assert_eq!(*digits(62 * 62 * 62 + 61 * 62 + 10), format!("pk_test_Az01{}", "0".repeat(23)));
    }

    #[test]
    fn a_key_shows_itself_to_nobody() {
        let secret = Secret::fixed("pk_test_demo");
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(&*secret.prefix(), "pk_test_", "the prefix is not the key");
    }
}
