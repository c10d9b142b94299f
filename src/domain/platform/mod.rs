//! Tenants and their API keys: the book of tenant key 0, which belongs to the operator
//! (`docs/contract.md, 3.2, 3.3`).
//!
//! Tenants, keys, their settings and what operators did belong here. Money does not: this book has
//! no ledger.

pub mod audit;
pub mod beside;
pub mod copies;
pub mod following;
mod key_index;
pub mod live_asks;
pub mod mandate;
pub mod operators;
mod searched;
pub mod settings;
pub mod test_accounts;

use crate::codec::{named, stored, stored_as};
use crate::platform::beside::Beside;
use crate::platform::mandate::Mandate;
use crate::platform::operators::OperatorAccount;
use crate::platform::settings::{LiveStatus, TenantSettings};
use crate::platform::test_accounts::{Opener, TestAccount};
use crate::resources::banks::{BankBook, Catalogue, Edit};
use crate::values::ids::{Id, Mode};
use crate::values::time::Timestamp;
use crate::values::venezuela::BankCode;
pub use key_index::Keys;
use persistent::SortedMap;
pub use searched::{Mark, SearchedBlocks};
use sha2::{Digest, Sha256};
use std::ops::Deref;
use std::sync::Arc;

stored! {
    /// The scopes of an API key, one bit each ([`Scope`]).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Scopes(pub u8);
}

named! {
    /// A scope: a set of endpoints that an API key may call.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u8)]
    pub enum Scope {
        /// All GET requests (`docs/contract.md, 3.4`).
        Read = 1 "read",
        Collect = 2 "collect",
        Payout = 4 "payout",
        Convert = 8 "convert",
        /// Changes of merchants, products, webhooks and settings, and everything under `/v1/test`.
        Manage = 16 "manage",
        /// The account's own keys.
        Keys = 32 "keys",
    }
}

impl Scopes {
    /// Those of an account's first two keys.
    pub const ALL: Scopes = Scopes(63);
    /// Those of a key of which nobody says what it may do.
    pub const USUAL: Scopes = Scopes::ALL.without(Scope::Keys);

    pub const fn allow(self, scope: Scope) -> bool {
        self.0 & scope as u8 != 0
    }

    pub const fn without(self, scope: Scope) -> Scopes {
        Scopes(self.0 & !(scope as u8))
    }

    /// The first of those that this set lacks.
    pub fn lacking(self, wanted: Scopes) -> Option<Scope> {
        wanted.iter().find(|scope| !self.allow(*scope))
    }

    /// The scopes in this set, in the order of [`Scope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.allow(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        Scopes(scopes.into_iter().fold(0, |bits, scope| bits | scope as u8))
    }
}

stored! {
    /// An API key, without its secret.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ApiKey {
        0 pub id: Id,
        /// The number of the tenant that the key belongs to.
        1 pub tenant: u32,
        2 pub mode: Mode,
        /// SHA-256 of the key.
        3 pub hash: [u8; 32],
        /// The first characters of the key, by which people recognise it.
        4 pub prefix: Box<str>,
        5 pub scopes: Scopes,
        /// The instant at which the key was made, on the server's clock.
        6 pub created_at: Timestamp,
        /// The instant at which the key expires, on the server's clock; `None` for a key that does not.
        7 pub expires_at: Option<Timestamp>,
        8 pub revoked_at: Option<Timestamp>,
        /// The instant at which its successor takes its place, on the server's clock. Kept apart from
        /// `expires_at`, which a successor inherits.
        9 pub retires_at: Option<Timestamp>,
        10 pub details: Details,
    }

    /// What few keys have.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct KeyDetails {
        /// The key whose place it took.
        0 pub replaces: Option<Id>,
        /// What people call it.
        1 pub name: Option<Box<str>> = since 8 else None,
        2 pub mandate: Option<Arc<Mandate>> = since 8 else None,
    }
}

/// The [`KeyDetails`] of a key: behind one pointer, as every key has room for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details(Option<Box<KeyDetails>>);

stored_as! { Details as KeyDetails: |it| (**it).clone(), |details| Ok(Details::from(details)) }

impl Deref for Details {
    type Target = KeyDetails;

    fn deref(&self) -> &KeyDetails {
        static NONE: KeyDetails = KeyDetails { replaces: None, name: None, mandate: None };
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl From<KeyDetails> for Details {
    fn from(details: KeyDetails) -> Details {
        Details((details != KeyDetails::default()).then(|| Box::new(details)))
    }
}

#[cfg(test)]
impl crate::codec::tests::Sampled for Details {
    fn sample(full: bool, number: &mut u64) -> Details {
        Details::from(KeyDetails::sample(full, number))
    }
}

/// What is kept of a key or a token.
pub fn hash_key(key: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(key).into()
}

impl ApiKey {
    /// Whether requests with this key are accepted at `now`: it is not revoked and has not ended.
    pub fn works_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none()
            && self.expires_at.is_none_or(|at| now < at)
            && self.retires_at.is_none_or(|at| now < at)
    }

    /// Whether who has it is more than an account that anybody opened.
    pub fn keeps_account(&self) -> bool {
        self.mode == Mode::Live
    }

    /// The earlier of expiry and retirement: the instant at which the key stops working without
    /// being revoked. `None` if neither is set.
    pub fn ends_at(&self) -> Option<Timestamp> {
        [self.expires_at, self.retires_at].into_iter().flatten().min()
    }
}

stored! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Tenant {
        0 pub id: Id,
        /// The number from which tenant keys are made; small, so that index keys are short.
        1 pub number: u32,
        /// The number that it was opened with, perhaps in another deployment: secrets derive from it, so
        /// they stay what they were when it moves.
        2 pub first_number: u32,
        3 pub name: Box<str>,
        4 pub tenant_settings: TenantSettings,
        /// The version of the settings that both books of the tenant are known to have.
        5 pub pushed: u64,
        6 pub created_at: Timestamp,
        /// The log of the deployment that its books are in.
        7 pub partition: u8 = since 8 else 0,
        /// The partition that it moves to, while its books are copied there.
        8 pub moving: Option<u8> = since 8 else None,
        /// How often it has moved: then a log that it left has a beginning of its books, too.
        9 pub moves: u32 = since 8 else 0,
    }

    /// An act of an operator that leaves nothing else in a record but its entry of the audit.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Act {
        0 BackedUp {
            0 directory: String,
            /// The sequence of the last record in the copy.
            1 seq: u64,
        },
        1 TookOver {
            0 made_by: String,
            /// The sequence of the last record that the copy was made with.
            1 seq: u64,
        },
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BackedUp {
        0 pub at: Timestamp,
        1 pub directory: String,
        /// The sequence of the last record in it.
        2 pub seq: u64,
    }

    /// What another partition follows: states as they are after a record of the first partition, of what changed since the one that was followed before.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Followed {
        /// The sequence of that record there.
        0 pub seq: u64,
        1 pub tenants: Vec<Arc<Tenant>>,
        2 pub keys: Vec<Arc<ApiKey>>,
        3 pub operators: Vec<Arc<OperatorAccount>>,
        4 pub banks: Option<BankBook>,
        /// The tenants that asked for live mode, and when.
        5 pub live_asked: Vec<(u32, Timestamp)>,
        /// Samples of rates, and pins.
        6 pub besides: Vec<Beside>,
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum PlatformChange {
        /// A new tenant, or a new version of its settings.
        0 Tenant(Arc<Tenant>),
        /// A new key or a new state of one.
        1 Key(Arc<ApiKey>),
        /// A new tenant with its first keys.
        2 Opened {
            0 tenant: Arc<Tenant>,
            /// The first keys of the tenant.
            1 keys: Vec<Arc<ApiKey>>,
        },
        /// The operator's changes of one bank, all of them together.
        3 Bank(BankCode, Edit),
        /// The catalogue of banks after a refresh, without the operator's changes.
        4 Banks(Catalogue),
        5 Acted(Act),
        6 Searched(SearchedBlocks),
        /// A new operator or a new state of one.
        7 Operator(Arc<OperatorAccount>),
        /// Entries of stores beside the log, for the other nodes of a cluster.
        8 Beside(Vec<Beside>),
        /// The tenant with this number asks the operator for live mode.
        9 LiveAsked(u32),
        /// A tenant that somebody opened without an operator, with its key of test mode.
        10 TestAccountOpened {
            0 tenant: Arc<Tenant>,
            1 keys: Vec<Arc<ApiKey>>,
            2 opener: Opener,
        } since 8,
        /// Instants at which such accounts were used, by their numbers.
        11 TestAccountsUsed(Vec<(u32, Timestamp)>) since 8,
        /// The account with this number, which nobody used for long.
        12 TestAccountDeleted(u32) since 8,
        /// In another partition than the first: what changed there.
        13 Followed(Box<Followed>) since 8,
        /// The tenant is served in another partition from now on.
        14 Moved {
            0 tenant: Arc<Tenant>,
            /// The partition that it was in.
            1 from: u8,
        } since 8,
        /// A payment of another partition has not found its transfer, and claims no notice any more.
        15 SearchEnded {
            /// The tenant in its mode.
            0 tenant: u64,
            1 payment: Id,
        } since 8,
    }
}

impl Tenant {
    /// Whether it is more than an account that anybody opened.
    pub fn is_kept(&self) -> bool {
        let settings = &self.tenant_settings;
        settings.live_status == LiveStatus::Active || settings.moved_to.is_some()
    }
}

/// The number of tenants and keys, of some 150 bytes each, from which the book counts as large.
const LARGE_FROM: usize = 2_048;

stored! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PlatformBook {
        /// The time of the newest record.
        0 pub last: Timestamp,
        1 pub tenants: SortedMap<u32, Arc<Tenant>>,
        2 pub keys: Keys,
        3 pub banks: BankBook,
        /// The newest backup that was made.
        4 pub last_backup: Option<Box<BackedUp>>,
        5 pub operators: SortedMap<Id, Arc<OperatorAccount>>,
        /// The tenants that asked for live mode, and when. Whatever an operator says of it ends the request.
        6 pub live_asked: SortedMap<u32, Timestamp>,
        /// The tenants that were opened without an operator and may be deleted.
        7 pub test_accounts: SortedMap<u32, TestAccount> = since 8 else SortedMap::default(),
        /// The largest number of a tenant that was deleted: no other gets it.
        8 pub deleted_max: u32 = since 8 else 0,
        /// In another partition than the first: the record there up to which this book has followed.
        9 pub followed: u64 = since 8 else 0,
    }
}

impl PlatformBook {
    /// Whether the book is large enough that its snapshot is encoded beside its turns, not in one.
    pub fn is_large(&self) -> bool {
        self.tenants.len() + self.keys.len() >= LARGE_FROM
    }

    pub fn next_number(&self) -> u32 {
        self.tenants.last_key_value().map_or(0, |(number, _)| *number).max(self.deleted_max) + 1
    }

    /// Of these partitions the one with the fewest tenants, the first of those.
    pub fn lightest_of(&self, partitions: &[u8]) -> u8 {
        if let [only] = partitions {
            return *only;
        }
        let mut counts = [0_usize; 1 << u8::BITS];
        self.tenants.values().for_each(|tenant| counts[usize::from(tenant.partition)] += 1);
        let lightest = partitions.iter().min_by_key(|partition| counts[usize::from(**partition)]);
        lightest.copied().unwrap_or(0)
    }

    pub fn is_moved(&self, number: u32) -> bool {
        self.tenants.get(&number).is_some_and(|tenant| tenant.tenant_settings.moved_to.is_some())
    }

    fn learn_tenant(&mut self, tenant: &Arc<Tenant>) {
        let known = self.tenants.get(&tenant.number);
        if known.is_none_or(|known| known.tenant_settings.says_otherwise(&tenant.tenant_settings)) {
            self.live_asked.remove(&tenant.number);
        }
        if tenant.is_kept() {
            self.test_accounts.remove(&tenant.number);
        }
        self.tenants.insert(tenant.number, Arc::clone(tenant));
    }

    fn learn_key(&mut self, key: &Arc<ApiKey>) {
        if key.keeps_account() {
            self.test_accounts.remove(&key.tenant);
        }
        self.keys.insert(key);
    }

    /// Applies a record's change; one that only keeps an answer has none.
    pub fn evolve(&mut self, change: Option<&PlatformChange>, time: Timestamp) {
        self.last = self.last.max(time);
        let Some(change) = change else { return };
        match change {
            PlatformChange::Tenant(tenant) => self.learn_tenant(tenant),
            PlatformChange::Followed(followed) => self.follow(followed),
            PlatformChange::Key(key) => self.learn_key(key),
            PlatformChange::Opened { tenant, keys } => {
                self.tenants.insert(tenant.number, Arc::clone(tenant));
                keys.iter().for_each(|key| self.learn_key(key));
            }
            PlatformChange::Moved { tenant, .. } => self.learn_tenant(tenant),
            PlatformChange::TestAccountOpened { tenant, keys, opener } => {
                self.tenants.insert(tenant.number, Arc::clone(tenant));
                keys.iter().for_each(|key| self.learn_key(key));
                let account = TestAccount { opener: *opener, opened_at: time, used_at: time };
                self.test_accounts.insert(tenant.number, account);
            }
            PlatformChange::TestAccountsUsed(used) => {
                for (number, at) in used {
                    if let Some(account) = self.test_accounts.get_mut(number) {
                        account.used_at = account.used_at.max(*at);
                    }
                }
            }
            PlatformChange::TestAccountDeleted(number) => {
                self.tenants.remove(number);
                self.keys.remove_of(*number);
                self.test_accounts.remove(number);
                self.live_asked.remove(number);
                self.deleted_max = self.deleted_max.max(*number);
            }
            PlatformChange::Bank(code, edit) => {
                self.banks.edits.insert(*code, edit.clone());
            }
            PlatformChange::Banks(listed) => {
                self.banks.listed = Some(listed.clone());
                self.banks.refreshed_at = Some(time);
            }
            PlatformChange::Searched(_) | PlatformChange::Beside(_) | PlatformChange::SearchEnded { .. } => {}
            PlatformChange::Operator(operator) => {
                self.operators.insert(operator.id, Arc::clone(operator));
            }
            PlatformChange::LiveAsked(number) => {
                self.live_asked.insert(*number, time);
            }
            PlatformChange::Acted(act) => {
                if let Act::BackedUp { directory, seq } = act {
                    self.last_backup =
                        Some(Box::new(BackedUp { at: time, directory: directory.clone(), seq: *seq }));
                }
            }
        }
    }
}
