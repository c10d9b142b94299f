//! What operators decide about tenants, their keys and settings, and about operators: the rules of the
//! platform's book, and of the copy of the settings in a tenant's.

pub mod keys;
pub mod moves;
pub mod partition_moves;
pub mod test_accounts;

use crate::cause::Cause;
use crate::decision::{Draft, Ruled, Ruling, write_platform};
use crate::events::{EventKind, Extra};
use crate::ledger::book::Book;
use crate::platform::beside::Beside;
use crate::platform::operators::{By, OperatorAccount, OperatorStatus, Role};
use crate::platform::settings::{Deployment, LiveStatus, Settings, TenantSettings};
use crate::platform::test_accounts::Opener;
use crate::platform::{Act, ApiKey, Followed, PlatformBook, PlatformChange, SearchedBlocks, Tenant};
use crate::refusal::{PlatformRefusal, Refusal};
use crate::resources::banks::{Bank, Edit};
use crate::resources::tenants::keys::KeyChange;
use crate::resources::tenants::partition_moves::MoveStep;
use crate::values::ids::Id;
use crate::values::time::Timestamp;
use crate::values::venezuela::BankCode;
use std::sync::Arc;

/// A command of an operator to the platform's book.
pub enum PlatformAsk {
    /// A new tenant; the number in the keys is filled in.
    Open {
        id: Id,
        name: String,
        settings: Arc<Settings>,
        /// The first keys of the tenant.
        keys: Vec<ApiKey>,
        /// Who opens it without an operator.
        opener: Option<Opener>,
        /// Those that it may be put in: it is where the fewest tenants are.
        partitions: Vec<u8>,
    },
    /// What the first partition decided since its record `after`.
    Follow {
        after: u64,
        followed: Followed,
    },
    /// Instants at which accounts that were opened without an operator were used.
    UseTestAccounts(Vec<(u32, Timestamp)>),
    /// Such an account ends with its keys; its test data is gone.
    DeleteTestAccount(u32),
    /// A new version of the settings; refused as stale if another was written since `base`.
    SetTenantSettings {
        number: u32,
        /// The version that the new one was made from.
        base: u64,
        settings: Arc<Settings>,
        live_status: LiveStatus,
        /// The operator's reason for a change of the live status.
        reason: Option<String>,
    },
    /// A tenant moves to another deployment, or stays after all; refused as stale if its settings were
    /// changed since `base`.
    Move {
        number: u32,
        /// The version of the settings that is in force.
        base: u64,
        /// The deployment; `None` lets the tenant go on here.
        to: Option<Deployment>,
    },
    /// A step of a move to another partition.
    MoveWithin {
        number: u32,
        step: MoveStep,
    },
    /// A tenant comes from another deployment, with its keys; it gets a number here.
    Receive {
        tenant: Arc<Tenant>,
        keys: Vec<Arc<ApiKey>>,
    },
    /// Both books of a tenant have a version of the settings.
    Pushed {
        number: u32,
        version: u64,
    },
    /// A new key; `created_at` is filled in. Here and below, `by` is the account's own key that asks, if
    /// it is not an operator.
    AddKey {
        key: ApiKey,
        by: Option<Id>,
    },
    ChangeKey {
        id: Id,
        change: KeyChange,
        by: Option<Id>,
    },
    /// A key stops working now, with all keys that came in its place if that is asked.
    RevokeKey {
        id: Id,
        with_successors: bool,
        by: Option<Id>,
    },
    /// A tenant asks the operator for live mode; the answer is kept.
    AskLive {
        number: u32,
        body: Vec<u8>,
    },
    /// A key gets a successor, and stops working at `ends_at` if not before.
    RotateKey {
        id: Id,
        ends_at: Timestamp,
        /// The new one; tenant, mode, scopes and expiry are the old one's.
        successor: ApiKey,
    },
    /// A change of a bank, on top of those before.
    EditBank(BankCode, Edit),
    RefreshBanks(Vec<Bank>),
    Searched(SearchedBlocks),
    /// A payment of another partition claims no notice any more.
    EndSearch {
        /// The tenant in its mode.
        tenant: u64,
        payment: Id,
    },
    Beside(Vec<Beside>),
    /// A new operator; `created_at` and `makers` are filled in.
    AddOperator(OperatorAccount, By),
    /// An operator's role and status change; what is `None` stays.
    ChangeOperator {
        id: Id,
        role: Option<Role>,
        /// The right to use the token, if it changes.
        status: Option<OperatorStatus>,
        by: By,
    },
    /// An operator gets a new token; the old one ends.
    RotateOperator {
        id: Id,
        /// SHA-256 of the new token.
        token_hash: [u8; 32],
        by: By,
    },
    Note(Act),
    /// Something that is in no other record, to write down with its entry of the audit.
    Acted,
    /// The answer to an operator's call that no rule of a book decided, to be kept for its
    /// Idempotency-Key.
    Answered {
        /// The act, unless the call was refused.
        act: Option<Act>,
        status: u16,
        body: Vec<u8>,
    },
}

impl PlatformAsk {
    /// Whether the first partition alone decides it, which the others follow.
    pub fn is_first_partitions(&self) -> bool {
        match self {
            PlatformAsk::Follow { .. }
            | PlatformAsk::Pushed { .. }
            | PlatformAsk::Searched(_)
            | PlatformAsk::Note(_)
            | PlatformAsk::Acted
            | PlatformAsk::Answered { .. } => false,
            PlatformAsk::Beside(entries) => entries.iter().any(|entry| !matches!(entry, Beside::Fate { .. })),
            PlatformAsk::Open { .. }
            | PlatformAsk::UseTestAccounts(_)
            | PlatformAsk::DeleteTestAccount(_)
            | PlatformAsk::SetTenantSettings { .. }
            | PlatformAsk::Move { .. }
            | PlatformAsk::MoveWithin { .. }
            | PlatformAsk::Receive { .. }
            | PlatformAsk::AddKey { .. }
            | PlatformAsk::ChangeKey { .. }
            | PlatformAsk::RevokeKey { .. }
            | PlatformAsk::AskLive { .. }
            | PlatformAsk::RotateKey { .. }
            | PlatformAsk::EditBank(..)
            | PlatformAsk::RefreshBanks(_)
            | PlatformAsk::EndSearch { .. }
            | PlatformAsk::AddOperator(..)
            | PlatformAsk::ChangeOperator { .. }
            | PlatformAsk::RotateOperator { .. } => true,
        }
    }
}

/// Decides on a request of an operator.
pub fn decide(book: &PlatformBook, ask: PlatformAsk, now: Timestamp) -> Ruling {
    match ask {
        PlatformAsk::Open { id, name, settings, keys, opener, partitions } => {
            let number = book.next_number();
            let tenant_settings = TenantSettings { version: 1, settings, ..TenantSettings::default() };
            let (name, first_number) = (name.into(), number);
            // What may be deleted again, by its use, stays in the first.
            let partition = if opener.is_some() { 0 } else { book.lightest_of(&partitions) };
            let tenant = Tenant {
                id,
                number,
                first_number,
                name,
                tenant_settings,
                pushed: 0,
                created_at: now,
                partition,
                moving: None,
                moves: 0,
            };
            let own = |key| Arc::new(ApiKey { tenant: number, created_at: now, ..key });
            let (tenant, keys) = (Arc::new(tenant), keys.into_iter().map(own).collect());
            write_platform(match opener {
                Some(opener) => PlatformChange::TestAccountOpened { tenant, keys, opener },
                None => PlatformChange::Opened { tenant, keys },
            })
        }
        PlatformAsk::Follow { after, followed } => match book.following(after, followed) {
            Some(followed) => write_platform(PlatformChange::Followed(Box::new(followed))),
            None => Ruling::unchanged(),
        },
        PlatformAsk::UseTestAccounts(mut used) => {
            used.retain(|(number, _)| book.test_accounts.contains_key(number));
            match used.is_empty() {
                true => Ruling::unchanged(),
                false => write_platform(PlatformChange::TestAccountsUsed(used)),
            }
        }
        PlatformAsk::DeleteTestAccount(number) => {
            // One that is in another partition, or goes there, has its data there.
            let is_here =
                book.tenants.get(&number).is_some_and(|known| (known.partition, known.moving) == (0, None));
            match is_here && book.test_accounts.contains_key(&number) {
                true => write_platform(PlatformChange::TestAccountDeleted(number)),
                false => Ruling::unchanged(),
            }
        }
        PlatformAsk::SetTenantSettings { number, base, settings, live_status, reason } => {
            let reason = reason.map(Into::into);
            let next = TenantSettings {
                version: base + 1,
                settings,
                live_status,
                reason,
                moved_to: None,
                moving_to: None,
            };
            set_tenant_settings(book, number, next)
        }
        PlatformAsk::Move { number, base, to } => moves::decide(book, number, base, to),
        PlatformAsk::MoveWithin { number, step } => partition_moves::decide(book, number, step),
        PlatformAsk::Receive { tenant, keys } => moves::receive(book, &tenant, &keys),
        PlatformAsk::Pushed { number, version } => match book.tenants.get(&number) {
            Some(tenant) if tenant.pushed < version => {
                write_platform(PlatformChange::Tenant(Arc::new(Tenant {
                    pushed: version,
                    ..(**tenant).clone()
                })))
            }
            _ => Ruling::unchanged(),
        },
        PlatformAsk::AddKey { key, by } => ruled(keys::add(book, key, by, now)),
        PlatformAsk::ChangeKey { id, change, by } => ruled(keys::change(book, id, change, by, now)),
        PlatformAsk::RevokeKey { id, with_successors, by } => {
            ruled(keys::revoke(book, id, with_successors, by, now))
        }
        PlatformAsk::AskLive { number, body } => ask_live(book, number, body),
        PlatformAsk::RotateKey { id, ends_at, successor } => {
            ruled(keys::rotate(book, id, ends_at, successor, now))
        }
        PlatformAsk::EditBank(code, change) => {
            if !book.banks.listed().knows(code) {
                return Ruling::refuse(Refusal::NotFound);
            }
            let before = book.banks.edits.get(&code).cloned().unwrap_or_default();
            write_platform(PlatformChange::Bank(code, before.then(change)))
        }
        // Written also when the feed lists nothing new: the next weekly refresh is counted from the
        // last one.
        PlatformAsk::RefreshBanks(feed) => {
            write_platform(PlatformChange::Banks(book.banks.listed().refreshed(&feed)))
        }
        PlatformAsk::Searched(searched) => write_platform(PlatformChange::Searched(searched)),
        PlatformAsk::EndSearch { tenant, payment } => {
            write_platform(PlatformChange::SearchEnded { tenant, payment })
        }
        PlatformAsk::Beside(entries) => write_platform(PlatformChange::Beside(entries)),
        PlatformAsk::AddOperator(operator, by) => add_operator(book, operator, by, now),
        PlatformAsk::ChangeOperator { id, role, status, by } => {
            change_operator(book, id, (role, status), by, now)
        }
        PlatformAsk::RotateOperator { id, token_hash, by } => rotate_operator(book, id, token_hash, by, now),
        PlatformAsk::Note(act) => Ruling::write(noted(act)),
        PlatformAsk::Acted => Ruling::write(Draft::new(Cause::OperatorActed)),
        PlatformAsk::Answered { act, status, body } => {
            let cause = if status < 400 { Cause::OperatorActed } else { Cause::RefusalKept };
            let mut draft = act.map_or_else(|| Draft::new(cause), noted);
            draft.answer = Some((status, body));
            Ruling::write(draft)
        }
    }
}

fn ruled(ruled: Ruled) -> Ruling {
    ruled.unwrap_or_else(Ruling::refuse)
}

/// Gives a tenant the settings that follow the ones with the version before.
fn set_tenant_settings(book: &PlatformBook, number: u32, next: TenantSettings) -> Ruling {
    let Some(tenant) = book.tenants.get(&number) else { return Ruling::refuse(Refusal::NotFound) };
    let known = &tenant.tenant_settings;
    if known.moved_to.is_some() {
        return Ruling::refuse(Refusal::TenantMoved);
    }
    if tenant.moving.is_some() {
        return Ruling::refuse(Refusal::TenantMoving);
    }
    if known.version + 1 != next.version {
        return Ruling::refuse(PlatformRefusal::StaleSettings);
    }
    // An operator's word that leaves the status as it is still answers who asked for live mode.
    let is_answer = book.live_asked.contains_key(&number) && known.says_otherwise(&next);
    if known.settings == next.settings && known.live_status == next.live_status && !is_answer {
        return Ruling::unchanged();
    }
    write_platform(PlatformChange::Tenant(Arc::new(Tenant { tenant_settings: next, ..(**tenant).clone() })))
}

/// The ruling on a tenant's wish for live mode: one is pending at a time.
fn ask_live(book: &PlatformBook, number: u32, body: Vec<u8>) -> Ruling {
    let Some(tenant) = book.tenants.get(&number) else { return Ruling::refuse(Refusal::NotFound) };
    if tenant.tenant_settings.moved_to.is_some() {
        return Ruling::refuse(Refusal::TenantMoved);
    }
    if tenant.moving.is_some() {
        return Ruling::refuse(Refusal::TenantMoving);
    }
    if book.live_asked.contains_key(&number) || tenant.tenant_settings.live_status == LiveStatus::Active {
        return Ruling::unchanged();
    }
    let mut draft = Draft::new(Cause::PlatformChanged);
    draft.record.platform = Some(Box::new(PlatformChange::LiveAsked(number)));
    draft.answer = Some((200, body));
    Ruling::write(draft)
}

fn noted(act: Act) -> Draft {
    let mut draft = Draft::new(Cause::OperatorActed);
    draft.record.platform = Some(Box::new(PlatformChange::Acted(act)));
    draft
}

fn add_operator(book: &PlatformBook, operator: OperatorAccount, by: By, now: Timestamp) -> Ruling {
    if book.operators.values().any(|known| known.has_email(&operator.email)) {
        return Ruling::refuse(PlatformRefusal::OperatorExists);
    }
    written(OperatorAccount { created_at: now, ..operator }.made(by, now))
}

/// The ruling on another role or status; what is `None` stays.
fn change_operator(
    book: &PlatformBook,
    id: Id,
    (role, status): (Option<Role>, Option<OperatorStatus>),
    by: By,
    now: Timestamp,
) -> Ruling {
    let Some(known) = book.operators.get(&id) else { return Ruling::refuse(Refusal::NotFound) };
    let (role, status) = (role.unwrap_or(known.role), status.unwrap_or(known.status));
    if (role, status) == (known.role, known.status) {
        return Ruling::unchanged();
    }
    let changed = OperatorAccount { role, status, ..(**known).clone() };
    written(if known.gains(Some(role), Some(status)) { changed.made(by, now) } else { changed })
}

fn rotate_operator(book: &PlatformBook, id: Id, token_hash: [u8; 32], by: By, now: Timestamp) -> Ruling {
    let Some(known) = book.operators.get(&id) else { return Ruling::refuse(Refusal::NotFound) };
    written(OperatorAccount { token_hash, ..(**known).clone() }.made(by, now))
}

fn written(operator: OperatorAccount) -> Ruling {
    write_platform(PlatformChange::Operator(Arc::new(operator)))
}

/// Brings a new version of the settings into the tenant's book; one that is not newer changes
/// nothing.
pub fn renew(book: &Book, new: TenantSettings) -> Ruling {
    let known = &book.tenant_settings;
    if new.version <= known.version {
        return Ruling::unchanged();
    }
    let mut draft = Draft::new(Cause::TenantSettingsChanged);
    if new.live_status != known.live_status {
        let extra = Extra::LiveStatus {
            status: new.live_status.name().to_owned(),
            previous: known.live_status.name().to_owned(),
            reason: new.reason.as_deref().map(str::to_owned),
        };
        draft.event_with(EventKind::TenantLiveStatusChanged, None, extra);
    }
    draft.record.tenant_settings = Some(new);
    Ruling::write(draft)
}
