//! Changes of API keys. Of a tenant that moved away none changes: its keys went with it.

use crate::decision::{Ruled, Ruling, write_platform};
use crate::platform::mandate::Mandate;
use crate::platform::{ApiKey, KeyDetails, PlatformBook, PlatformChange, Scope, Scopes, Tenant};
use crate::refusal::{PlatformRefusal, Refusal};
use crate::values::ids::{Id, Mode};
use crate::values::time::{Timestamp, wait_for_fewer};
use std::sync::Arc;

/// The most keys of an account in a mode that work at the same time.
pub const KEYS_MAX: usize = 20;

/// Keys of an account in a mode that it may make, or put in the place of others, within a day: each is kept for ever.
const MADE_MAX: usize = 50;

/// What a key is to be; whose spending a mandate counts is filled in where the key has an id.
#[derive(Default)]
pub struct NewKey {
    pub name: Option<Box<str>>,
    pub scopes: Option<Scopes>,
    pub expires_at: Option<Timestamp>,
    pub mandate: Option<Mandate>,
}

/// What of a key is to be another; what is `None` stays.
#[derive(Default)]
pub struct KeyChange {
    pub name: Option<Option<Box<str>>>,
    pub scopes: Option<Scopes>,
    pub expires_at: Option<Option<Timestamp>>,
    /// Takes the place of the whole mandate; what was spent stays.
    pub mandate: Option<Mandate>,
}

/// Who is bound gives nobody anything.
const NO_MANDATE: Refusal =
    Refusal::Invalid { field: "mandate", message: "must not be on a key with the scope keys" };

const OUTLIVES: Refusal =
    Refusal::Invalid { field: "expiresAt", message: "must not be later than the end of the key that asks" };

pub(super) fn add(book: &PlatformBook, key: ApiKey, by: Option<Id>, now: Timestamp) -> Ruled {
    living(book, key.tenant)?;
    if key.details.mandate.is_some() && key.scopes.allow(Scope::Keys) {
        return Err(NO_MANDATE);
    }
    let mut key = key;
    if let Some(by) = by {
        let maker = permit(book, by, key.scopes, now)?;
        // Of which nobody says when it ends, ends with its maker.
        key.expires_at = key.expires_at.or(maker.expires_at);
        within(maker, &key)?;
        few_made(book, &key, |_| true, now)?;
    }
    if working(book, key.tenant, key.mode, now) >= KEYS_MAX {
        return Err(PlatformRefusal::TooManyKeys.into());
    }
    Ok(write_platform(PlatformChange::Key(Arc::new(ApiKey { created_at: now, ..key }))))
}

/// The tenant with this number, unless it moved away.
fn living(book: &PlatformBook, number: u32) -> Result<&Arc<Tenant>, Refusal> {
    let tenant = book.tenants.get(&number).ok_or(Refusal::NotFound)?;
    if tenant.tenant_settings.moved_to.is_some() { Err(Refusal::TenantMoved) } else { Ok(tenant) }
}

/// Refuses what a key does to keys if it does not work any more or lacks a scope: a request may wait behind the one
/// that takes its key's rights.
fn permit(book: &PlatformBook, by: Id, given: Scopes, now: Timestamp) -> Result<&ApiKey, Refusal> {
    let needed = Scopes(given.0 | Scope::Keys as u8);
    let asking = book.keys.get(&by).filter(|key| key.works_at(now));
    let lacks = |scope: Scope| PlatformRefusal::KeyLacks { scope: scope.name() };
    let asking = asking.ok_or(lacks(Scope::Keys))?;
    match asking.scopes.lacking(needed) {
        Some(scope) => Err(lacks(scope).into()),
        None => Ok(asking),
    }
}

/// Refuses that a key may do something longer than the one that lets it.
fn within(maker: &ApiKey, key: &ApiKey) -> Result<(), Refusal> {
    match maker.expires_at {
        Some(end) if key.expires_at.is_none_or(|at| at > end) => Err(OUTLIVES),
        _ => Ok(()),
    }
}

/// The keys of an account in a mode that work.
fn working(book: &PlatformBook, tenant: u32, mode: Mode, now: Timestamp) -> usize {
    book.keys.of(tenant).filter(|key| key.mode == mode && key.works_at(now)).count()
}

/// Refuses another key where as many of these, of its account and mode, were made within a day as may be.
fn few_made(
    book: &PlatformBook,
    key: &ApiKey,
    counts: impl Fn(&ApiKey) -> bool,
    now: Timestamp,
) -> Result<(), PlatformRefusal> {
    let own = book.keys.of(key.tenant).filter(|other| other.mode == key.mode && counts(other));
    let made = own.map(|key| key.created_at);
    match wait_for_fewer(made, MADE_MAX, now) {
        Some(retry_after_seconds) => Err(PlatformRefusal::TooManyRotations { retry_after_seconds }),
        None => Ok(()),
    }
}

/// The keys that came in the place of a key, one after the other, and theirs; oldest first.
pub fn successors<'k>(id: Id, all: impl IntoIterator<Item = &'k Arc<ApiKey>>) -> Vec<Arc<ApiKey>> {
    let mut found = Vec::new();
    let mut before = vec![id];
    let mut left: Vec<&Arc<ApiKey>> = all.into_iter().filter(|key| key.details.replaces.is_some()).collect();
    while let Some(id) = before.pop() {
        left.retain(|key| {
            let follows = key.details.replaces == Some(id);
            if follows {
                before.push(key.id);
                found.push(Arc::clone(key));
            }
            !follows
        });
    }
    found.sort_by_key(|key| (key.created_at, key.id));
    found
}

/// Those that work of the keys whose place a key took, and of those that came in its place: all are bound by one mandate.
fn kin<'b>(book: &'b PlatformBook, key: &ApiKey, now: Timestamp) -> Vec<&'b Arc<ApiKey>> {
    let mut first = key.id;
    while let Some(before) = book.keys.get(&first).and_then(|key| key.details.replaces) {
        first = before;
    }
    let followed = successors(first, book.keys.of(key.tenant));
    let line = [first].into_iter().chain(followed.iter().map(|key| key.id)).filter(|id| *id != key.id);
    line.filter_map(|id| book.keys.get(&id)).filter(|key| key.works_at(now)).collect()
}

/// The ruling on another name, other scopes, another end or another mandate of a key that works. A mandate is that of all
/// keys with which it shares one.
pub(super) fn change(
    book: &PlatformBook,
    id: Id,
    change: KeyChange,
    by: Option<Id>,
    now: Timestamp,
) -> Ruled {
    let key = book.keys.get(&id).filter(|key| key.works_at(now)).ok_or(Refusal::NotFound)?;
    let tenant = living(book, key.tenant)?;
    let KeyChange { name, scopes, expires_at, mandate } = change;
    // A wider mandate and a later end give what a key may do.
    let gives = scopes.is_some() || mandate.is_some() || expires_at.is_some();
    let kin = if mandate.is_some() { kin(book, key, now) } else { Vec::new() };
    let own = [key].into_iter().chain(kin.iter().copied());
    let counted_by = own.filter_map(|key| key.details.mandate.as_ref()).map(|mandate| mandate.id).next();
    let mandate = mandate.map(|mandate| Arc::new(Mandate { id: counted_by.unwrap_or(id), ..mandate }));
    let bound = |key: &ApiKey| {
        let mandate = mandate.clone().or_else(|| key.details.mandate.clone());
        ApiKey { details: KeyDetails { mandate, ..(*key.details).clone() }.into(), ..key.clone() }
    };
    let mut changed = bound(key);
    changed.scopes = scopes.unwrap_or(key.scopes);
    changed.expires_at = expires_at.unwrap_or(key.expires_at);
    if let Some(name) = name {
        changed.details = KeyDetails { name, ..(*changed.details).clone() }.into();
    }
    let all = [(key, changed)].into_iter().chain(kin.iter().map(|key| (*key, bound(key))));
    let mut keys = Vec::new();
    for (before, after) in all {
        if let Some(by) = by {
            let given = if gives { after.scopes } else { Scopes(0) };
            let maker = permit(book, by, given, now)?;
            if gives {
                within(maker, &after)?;
            }
        }
        if after.details.mandate.is_some() && after.scopes.allow(Scope::Keys) {
            return Err(NO_MANDATE);
        }
        if after != **before {
            keys.push(Arc::new(after));
        }
    }
    Ok(written(tenant, keys))
}

fn written(tenant: &Arc<Tenant>, keys: Vec<Arc<ApiKey>>) -> Ruling {
    match keys.as_slice() {
        [] => Ruling::unchanged(),
        [key] => write_platform(PlatformChange::Key(Arc::clone(key))),
        _ => write_platform(PlatformChange::Opened { tenant: Arc::clone(tenant), keys }),
    }
}

/// The ruling on the end of a key, and of all that came in its place if that is asked.
pub(super) fn revoke(
    book: &PlatformBook,
    id: Id,
    with_successors: bool,
    by: Option<Id>,
    now: Timestamp,
) -> Ruled {
    let key = book.keys.get(&id).ok_or(Refusal::NotFound)?;
    let tenant = living(book, key.tenant)?;
    if let Some(by) = by {
        permit(book, by, Scopes(0), now)?;
    }
    let others = if with_successors { successors(id, book.keys.of(key.tenant)) } else { Vec::new() };
    let ended = |key: &Arc<ApiKey>| Arc::new(ApiKey { revoked_at: Some(now), ..(**key).clone() });
    let meant = [key].into_iter().chain(&others).filter(|key| key.revoked_at.is_none());
    Ok(written(tenant, meant.map(ended).collect()))
}

/// Gives a key a successor with the same rights, and an end. One that has a successor gets no other.
pub(super) fn rotate(
    book: &PlatformBook,
    id: Id,
    ends_at: Timestamp,
    successor: ApiKey,
    now: Timestamp,
) -> Ruled {
    let key = book.keys.get(&id).filter(|key| key.works_at(now)).ok_or(Refusal::NotFound)?;
    let tenant = living(book, key.tenant)?;
    if key.retires_at.is_some() {
        return Err(PlatformRefusal::KeyRetiring.into());
    }
    few_made(book, key, |other| other.details.replaces.is_some(), now)?;
    let old = Arc::new(ApiKey { retires_at: Some(ends_at), ..(**key).clone() });
    let others = working(book, key.tenant, key.mode, now) - 1;
    if others + 1 + usize::from(old.works_at(now)) > KEYS_MAX {
        return Err(PlatformRefusal::TooManyKeys.into());
    }
    let successor = Arc::new(ApiKey {
        tenant: key.tenant,
        mode: key.mode,
        scopes: key.scopes,
        expires_at: key.expires_at,
        created_at: now,
        details: KeyDetails { replaces: Some(id), ..(*key.details).clone() }.into(),
        ..successor
    });
    Ok(write_platform(PlatformChange::Opened { tenant: Arc::clone(tenant), keys: vec![successor, old] }))
}

#[cfg(test)]
mod tests {
    use crate::platform::Details;
    use crate::platform::settings::TenantSettings;
    use crate::resources::tenants::keys::*;
    use crate::values::time::DAY_MS;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_unix_ms(ms)
    }

    fn key(n: u16) -> ApiKey {
        ApiKey {
            id: Id::derived(1, 1, n),
            tenant: 7,
            mode: Mode::Test,
            hash: [0; 32],
            prefix: "pk_test_".into(),
            scopes: Scopes::ALL,
            created_at: at(0),
            expires_at: None,
            revoked_at: None,
            retires_at: None,
            details: Details::default(),
        }
    }

    fn book(keys: u16) -> PlatformBook {
        let mut book = PlatformBook::default();
        let tenant = Tenant {
            id: Id::derived(1, 1, 0),
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
        book.tenants.insert(7, Arc::new(tenant));
        for n in 1..=keys {
            book.keys.insert(&Arc::new(key(n)));
        }
        book
    }

    /// The refusal of a ruling; a change goes into the book.
    fn put(book: &mut PlatformBook, ruled: Ruled, now: Timestamp) -> Option<Refusal> {
        match ruled {
            Ok(ruling) => {
                if let Some(draft) = ruling.record {
                    book.evolve(draft.record.platform.as_deref(), now);
                }
                ruling.refusal
            }
            Err(refusal) => Some(refusal),
        }
    }

    #[test]
    fn an_account_has_so_many_keys_that_work_and_a_rotation_at_once_is_none_more() {
        let mut book = book(KEYS_MAX as u16);
        let too_many = Some(Refusal::from(PlatformRefusal::TooManyKeys));
        let ruling = add(&book, key(100), None, at(1));
        assert_eq!(put(&mut book, ruling, at(1)), too_many);
        let ruling = rotate(&book, key(1).id, at(1_000), key(100), at(1));
        assert_eq!(put(&mut book, ruling, at(1)), too_many, "both would work for a while");
        let ruling = rotate(&book, key(1).id, at(1), key(100), at(1));
        assert_eq!(put(&mut book, ruling, at(1)), None);
        let ruling = revoke(&book, key(2).id, false, None, at(2));
        assert_eq!(put(&mut book, ruling, at(2)), None);
        let live = ApiKey { mode: Mode::Live, ..key(101) };
        for one in [key(102), live] {
            let ruling = add(&book, one, None, at(3));
            assert_eq!(put(&mut book, ruling, at(3)), None);
        }
        let ruling = add(&book, key(103), None, at(3));
        assert_eq!(put(&mut book, ruling, at(3)), too_many);
    }

    #[test]
    fn a_key_is_replaced_so_often_a_day() {
        let mut book = book(1);
        let day = |n: u16| at(i64::from(n) * 60_000);
        let mut rotated = |n: u16, now: Timestamp| {
            let ruling = rotate(&book, key(n).id, now, key(n + 1), now);
            put(&mut book, ruling, now)
        };
        let most = MADE_MAX as u16;
        for n in 1..=most {
            assert_eq!(rotated(n, day(n)), None, "{n}");
        }
        let wait = PlatformRefusal::TooManyRotations { retry_after_seconds: 23 * 3_600 + 600 + 1 };
        assert_eq!(rotated(most + 1, day(most + 1)), Some(wait.into()));
        assert_eq!(rotated(most + 1, day(1).plus_ms(DAY_MS)), None, "the first is a day ago");
    }

    #[test]
    fn a_key_has_one_successor_and_a_revocation_can_end_all_that_followed() {
        let mut book = book(1);
        let ruling = rotate(&book, key(1).id, at(1_000), key(2), at(1));
        assert_eq!(put(&mut book, ruling, at(1)), None);
        let again = rotate(&book, key(1).id, at(2_000), key(9), at(2));
        assert_eq!(put(&mut book, again, at(2)), Some(PlatformRefusal::KeyRetiring.into()));
        let ruling = rotate(&book, key(2).id, at(1_000), key(3), at(2));
        assert_eq!(put(&mut book, ruling, at(2)), None);
        let names = |book: &PlatformBook| -> Vec<Id> {
            successors(key(1).id, book.keys.values()).iter().map(|key| key.id).collect()
        };
        assert_eq!(names(&book), [key(2).id, key(3).id]);
        let works = |book: &PlatformBook| book.keys.values().filter(|key| key.works_at(at(3))).count();
        let ruling = revoke(&book, key(1).id, false, None, at(3));
        assert_eq!(put(&mut book, ruling, at(3)), None);
        assert_eq!(works(&book), 2, "who took its place works on");
        let ruling = revoke(&book, key(1).id, true, None, at(4));
        assert_eq!(put(&mut book, ruling, at(4)), None);
        assert_eq!((works(&book), names(&book).len()), (0, 2));
    }

    #[test]
    fn a_key_rules_over_keys_with_what_it_has_and_while_it_works() {
        let mut book = book(1);
        let lacks = |scope: Scope| Some(Refusal::from(PlatformRefusal::KeyLacks { scope: scope.name() }));
        let with = |n: u16, scopes: &[Scope]| ApiKey { scopes: scopes.iter().copied().collect(), ..key(n) };
        let maker = Some(key(2).id);
        let ruled = add(&book, with(2, &[Scope::Keys, Scope::Payout]), Some(key(1).id), at(1));
        assert_eq!(put(&mut book, ruled, at(1)), None);
        let ruled = add(&book, with(3, &[Scope::Payout, Scope::Read]), maker, at(2));
        assert_eq!(put(&mut book, ruled, at(2)), lacks(Scope::Read), "what it has not it does not give");
        let ruled = add(&book, with(3, &[Scope::Payout]), maker, at(2));
        assert_eq!(put(&mut book, ruled, at(2)), None);
        let named = || KeyChange { name: Some(Some("till".into())), ..KeyChange::default() };
        let ruled = change(&book, key(3).id, named(), Some(key(3).id), at(3));
        assert_eq!(put(&mut book, ruled, at(3)), lacks(Scope::Keys));
        let more = KeyChange { scopes: Some(Scopes::ALL), ..KeyChange::default() };
        let ruled = change(&book, key(3).id, more, maker, at(3));
        assert_eq!(put(&mut book, ruled, at(3)), lacks(Scope::Read));
        let ruled = change(&book, key(3).id, named(), maker, at(3));
        assert_eq!(put(&mut book, ruled, at(3)), None);
        let later = KeyChange { expires_at: Some(Some(at(9))), ..KeyChange::default() };
        let ruled = change(&book, key(1).id, later, maker, at(3));
        assert_eq!(put(&mut book, ruled, at(3)), lacks(Scope::Read), "it makes none last that can do more");
        let ruled = rotate(&book, key(3).id, at(3), key(4), at(3));
        assert_eq!(put(&mut book, ruled, at(3)), None);
        let successor = book.keys.get(&key(4).id).expect("the successor");
        assert_eq!(successor.details.name.as_deref(), Some("till"));
        let ruled = revoke(&book, key(2).id, false, maker, at(4));
        assert_eq!(put(&mut book, ruled, at(4)), None, "a key may end itself");
        for ruled in [add(&book, with(5, &[]), maker, at(5)), revoke(&book, key(1).id, false, maker, at(5))] {
            assert_eq!(put(&mut book, ruled, at(5)), lacks(Scope::Keys), "it does not work any more");
        }
    }

    #[test]
    fn an_account_makes_so_many_keys_a_day() {
        let mut book = book(1);
        for n in 2..=MADE_MAX as u16 {
            let ruled = add(&book, key(n), Some(key(1).id), at(i64::from(n)));
            assert_eq!(put(&mut book, ruled, at(i64::from(n))), None, "{n}");
            let ruled = revoke(&book, key(n).id, false, None, at(i64::from(n)));
            assert_eq!(put(&mut book, ruled, at(i64::from(n))), None, "{n}");
        }
        let ruled = add(&book, key(100), Some(key(1).id), at(100));
        let refusal = put(&mut book, ruled, at(100));
        assert!(matches!(refusal, Some(Refusal::Platform(PlatformRefusal::TooManyRotations { .. }))));
        let ruled = add(&book, key(100), None, at(100));
        assert_eq!(put(&mut book, ruled, at(100)), None, "an operator may");
    }
}
