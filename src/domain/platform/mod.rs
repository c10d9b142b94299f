//! Tenants and their API keys: the book of tenant key 0, which belongs to the operator
//! (`docs/contract.md, 3.2, 3.3`).

pub mod acts;
pub mod settings;

use crate::decision::{Draft, Ruling};
use crate::platform::acts::{Act, BackedUp, Deed};
use crate::platform::settings::{LiveStatus, Settings, TenantSettings};
use crate::record::Cause;
use crate::refusal::Refusal;
use crate::resources::banks::{BankBook, BankCode, Catalogue, Edit, Listed};
use crate::values::ids::Id;
use crate::values::time::Timestamp;
use persistent::SortedMap;
use std::sync::Arc;

/// The tenant key of the platform itself.
pub const PLATFORM: u64 = 0;

/// Live or test: two separate worlds per tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Real money.
    Live,
    /// Simulated rails.
    Test,
}

impl Mode {
    /// Both.
    pub const ALL: [Mode; 2] = [Mode::Live, Mode::Test];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Mode::Live => "live",
            Mode::Test => "test",
        }
    }

    /// From what the API reads.
    pub fn from_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// The tenant key of a tenant in a mode: its number twice, plus one for test.
pub fn tenant_key(number: u32, mode: Mode) -> u64 {
    u64::from(number) * 2 + u64::from(mode == Mode::Test)
}

/// Whether real money moves under a tenant key.
pub fn is_live(tenant: u64) -> bool {
    tenant.is_multiple_of(2)
}

/// What a key may do, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scopes(pub u8);

/// One thing that a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Scope {
    /// Every GET.
    Read = 1,
    /// Collections.
    Collect = 2,
    /// Money out.
    Payout = 4,
    /// Conversions.
    Convert = 8,
    /// Merchants, settings, everything of test mode.
    Manage = 16,
}

impl Scope {
    /// All of them.
    pub const ALL: [Scope; 5] = [Scope::Read, Scope::Collect, Scope::Payout, Scope::Convert, Scope::Manage];

    /// As the API writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Collect => "collect",
            Scope::Payout => "payout",
            Scope::Convert => "convert",
            Scope::Manage => "manage",
        }
    }

    /// From what the API reads.
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

impl Scopes {
    /// Everything.
    pub const ALL: Scopes = Scopes(31);

    /// Whether `scope` is among them.
    pub const fn allow(self, scope: Scope) -> bool {
        self.0 & scope as u8 != 0
    }

    /// Those that are among them.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.allow(*scope))
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        Scopes(scopes.into_iter().fold(0, |bits, scope| bits | scope as u8))
    }
}

/// An API key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// The id.
    pub id: Id,
    /// Whose.
    pub tenant: u32,
    /// The mode.
    pub mode: Mode,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    /// Its first characters, to recognise it by.
    pub prefix: Box<str>,
    /// What it may do.
    pub scopes: Scopes,
    /// When it was made, on the server's clock.
    pub created_at: Timestamp,
    /// When it stops working by itself, on the server's clock.
    pub expires_at: Option<Timestamp>,
    /// The instant at which it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// When its successor takes its place, on the server's clock. Apart from when it expires: a
    /// successor inherits that, and not this.
    pub retires_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether it works at `now`.
    pub fn works_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.ends_at().is_none_or(|at| now < at)
    }

    /// When it stops working by itself: it expires or its successor takes its place, whichever
    /// comes first.
    pub fn ends_at(&self) -> Option<Timestamp> {
        [self.expires_at, self.retires_at].into_iter().flatten().min()
    }
}

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// The name in the API.
    pub id: Id,
    /// Its number here: small, so that keys in the index are short.
    pub number: u32,
    /// The name for people.
    pub name: Box<str>,
    /// Its settings and live status.
    pub tenant_settings: TenantSettings,
    /// The version of the settings that both books have.
    pub pushed: u64,
    /// The instant at which it was made.
    pub created_at: Timestamp,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformChange {
    /// A new tenant or a new version of its settings.
    Tenant(Arc<Tenant>),
    /// A new key or a new state of one.
    Key(Arc<ApiKey>),
    /// A new tenant with its first keys.
    Opened {
        /// The tenant.
        tenant: Arc<Tenant>,
        /// Its keys.
        keys: Vec<Arc<ApiKey>>,
    },
    /// What the operator changed about a bank, all of it.
    Bank(BankCode, Edit),
    /// The catalogue of banks after a refresh, without the operator's changes.
    Banks(Catalogue),
    /// An operator did something outside of this book.
    Acted(Act),
}

/// What an operator asks.
pub enum PlatformAsk {
    /// A new tenant; the number in the keys is filled in.
    Open {
        /// The name in the API.
        id: Id,
        /// The name for people.
        name: String,
        /// Its settings.
        settings: Settings,
        /// Its first keys.
        keys: Vec<ApiKey>,
    },
    /// A new version of the settings, unless another came in between.
    SetTenantSettings {
        /// Whose.
        number: u32,
        /// The version that it was made from.
        base: u64,
        /// The settings.
        settings: Arc<Settings>,
        /// The live status.
        live_status: LiveStatus,
        /// Why that changed.
        reason: Option<String>,
    },
    /// Both books have this version.
    Pushed {
        /// Whose.
        number: u32,
        /// Which.
        version: u64,
    },
    /// A new key.
    AddKey(ApiKey),
    /// A key stops working now.
    RevokeKey(Id),
    /// A key gets a successor, and stops working at `ends_at` if not before.
    RotateKey {
        /// The old one.
        id: Id,
        /// The instant at which it ends.
        ends_at: Timestamp,
        /// The new one; tenant, mode, scopes and expiry are the old one's.
        successor: ApiKey,
    },
    /// A change of a bank, on top of those before.
    EditBank(BankCode, Edit),
    /// What a feed lists.
    RefreshBanks(Vec<Listed>),
    /// Something was done that is to be remembered.
    Note(Act),
    /// What a call was answered that no rule of this book or another's decided, for the key under
    /// which it came.
    Answered {
        /// What was done, unless it was refused.
        act: Option<Act>,
        /// The status.
        status: u16,
        /// The body, byte by byte.
        body: Vec<u8>,
    },
}

/// So many tenants and keys, of some 150 bytes each, make the book large.
const LARGE_FROM: usize = 2_048;

/// The operator's book.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformBook {
    /// The time of the newest record.
    pub last: Timestamp,
    /// Tenants by number.
    pub tenants: SortedMap<u32, Arc<Tenant>>,
    /// Keys by name.
    pub keys: SortedMap<Id, Arc<ApiKey>>,
    /// The catalogue of banks.
    pub banks: BankBook,
    /// The newest copy that was made.
    pub last_backup: Option<BackedUp>,
}

impl PlatformBook {
    /// Whether there is so much in it that its turn is not the place to encode it.
    pub fn is_large(&self) -> bool {
        self.tenants.len() + self.keys.len() >= LARGE_FROM
    }

    /// Applies a record's change; one that only keeps an answer has none.
    pub fn evolve(&mut self, change: Option<&PlatformChange>, time: Timestamp) {
        self.last = self.last.max(time);
        let Some(change) = change else { return };
        match change {
            PlatformChange::Tenant(tenant) => {
                self.tenants.insert(tenant.number, Arc::clone(tenant));
            }
            PlatformChange::Key(key) => {
                self.keys.insert(key.id, Arc::clone(key));
            }
            PlatformChange::Opened { tenant, keys } => {
                self.tenants.insert(tenant.number, Arc::clone(tenant));
                self.keys.extend(keys.iter().map(|key| (key.id, Arc::clone(key))));
            }
            PlatformChange::Bank(code, edit) => {
                self.banks.edits.insert(*code, edit.clone());
            }
            PlatformChange::Banks(listed) => {
                self.banks.listed = Some(listed.clone());
                self.banks.refreshed_at = Some(time);
            }
            PlatformChange::Acted(act) => {
                if let Deed::BackedUp { directory, seq } = &act.deed {
                    self.last_backup = Some(BackedUp { at: time, directory: directory.clone(), seq: *seq });
                }
            }
        }
    }
}

/// A refusal of a rule about what the platform's book is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformRefusal {
    /// Somebody else changed the settings in between.
    StaleSettings,
}

impl PlatformRefusal {
    /// Whether an Idempotency-Key keeps it ([`Refusal::is_kept`](crate::refusal::Refusal::is_kept)).
    pub const fn is_kept(&self) -> bool {
        match self {
            PlatformRefusal::StaleSettings => true,
        }
    }
}

/// Decides what an operator asks.
pub fn decide(book: &PlatformBook, ask: PlatformAsk, now: Timestamp) -> Ruling {
    match ask {
        PlatformAsk::Open { id, name, settings, keys } => {
            let number = book.tenants.last_key_value().map_or(1, |(number, _)| number + 1);
            let tenant_settings = TenantSettings {
                version: 1,
                settings: settings.shared(),
                live_status: LiveStatus::Inactive,
                reason: None,
            };
            let tenant = Arc::new(Tenant {
                id,
                number,
                name: name.into(),
                tenant_settings,
                pushed: 0,
                created_at: now,
            });
            let keys = keys
                .into_iter()
                .map(|key| Arc::new(ApiKey { tenant: number, created_at: now, ..key }))
                .collect();
            write(PlatformChange::Opened { tenant, keys })
        }
        PlatformAsk::SetTenantSettings { number, base, settings, live_status, reason } => {
            let Some(tenant) = book.tenants.get(&number) else { return Ruling::refuse(Refusal::NotFound) };
            if tenant.tenant_settings.version != base {
                return Ruling::refuse(PlatformRefusal::StaleSettings);
            }
            if tenant.tenant_settings.settings == settings
                && tenant.tenant_settings.live_status == live_status
            {
                return Ruling::unchanged();
            }
            let tenant_settings = TenantSettings { version: base + 1, settings, live_status, reason };
            write(PlatformChange::Tenant(Arc::new(Tenant { tenant_settings, ..(**tenant).clone() })))
        }
        PlatformAsk::Pushed { number, version } => match book.tenants.get(&number) {
            Some(tenant) if tenant.pushed < version => {
                write(PlatformChange::Tenant(Arc::new(Tenant { pushed: version, ..(**tenant).clone() })))
            }
            _ => Ruling::unchanged(),
        },
        PlatformAsk::AddKey(key) => write(PlatformChange::Key(Arc::new(ApiKey { created_at: now, ..key }))),
        PlatformAsk::RevokeKey(id) => match book.keys.get(&id) {
            None => Ruling::refuse(Refusal::NotFound),
            Some(key) if key.revoked_at.is_some() => Ruling::unchanged(),
            Some(key) => {
                write(PlatformChange::Key(Arc::new(ApiKey { revoked_at: Some(now), ..(**key).clone() })))
            }
        },
        PlatformAsk::RotateKey { id, ends_at, successor } => {
            let Some(key) = book.keys.get(&id).filter(|key| key.works_at(now)) else {
                return Ruling::refuse(Refusal::NotFound);
            };
            let Some(tenant) = book.tenants.get(&key.tenant) else {
                return Ruling::refuse(Refusal::NotFound);
            };
            // Rotated again while it is being retired, it retires when the newest word says.
            let old = Arc::new(ApiKey { retires_at: Some(ends_at), ..(**key).clone() });
            let successor = Arc::new(ApiKey {
                tenant: key.tenant,
                mode: key.mode,
                scopes: key.scopes,
                expires_at: key.expires_at,
                created_at: now,
                ..successor
            });
            write(PlatformChange::Opened { tenant: Arc::clone(tenant), keys: vec![successor, old] })
        }
        PlatformAsk::EditBank(code, change) => {
            if !book.banks.listed().knows(code) {
                return Ruling::refuse(Refusal::NotFound);
            }
            let before = book.banks.edits.get(&code).cloned().unwrap_or_default();
            write(PlatformChange::Bank(code, before.then(change)))
        }
        // Written also when it lists nothing new: that it was asked is what the next week counts
        // from.
        PlatformAsk::RefreshBanks(feed) => write(PlatformChange::Banks(book.banks.listed().refreshed(&feed))),
        PlatformAsk::Note(act) => Ruling::write(noted(act)),
        PlatformAsk::Answered { act, status, body } => {
            let mut draft = act.map_or_else(|| Draft::new(Cause::RefusalKept), noted);
            draft.answer = Some((status, body));
            Ruling::write(draft)
        }
    }
}

fn noted(act: Act) -> Draft {
    let mut draft = Draft::new(Cause::OperatorActed);
    draft.platform = Some(PlatformChange::Acted(act));
    draft
}

fn write(change: PlatformChange) -> Ruling {
    let mut draft = Draft::new(Cause::PlatformChanged);
    draft.platform = Some(change);
    Ruling::write(draft)
}
