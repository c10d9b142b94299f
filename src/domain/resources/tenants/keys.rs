//! Changes of API keys. Of a tenant that moved away none changes: its keys went with it.

use crate::decision::{Ruling, write_platform};
use crate::platform::{ApiKey, PlatformBook, PlatformChange};
use crate::refusal::{PlatformRefusal, Refusal};
use crate::values::ids::{Id, Mode};
use crate::values::time::{DAY_MS, SECOND_MS, Timestamp};
use std::sync::Arc;

/// The most keys of an account in a mode that work at the same time.
pub const KEYS_MAX: usize = 20;

/// Keys of an account in a mode that may take the place of others within a day: each is kept for ever.
const ROTATIONS_MAX: usize = 50;

pub(super) fn add(book: &PlatformBook, key: ApiKey, now: Timestamp) -> Ruling {
    if book.is_moved(key.tenant) {
        return Ruling::refuse(Refusal::TenantMoved);
    }
    if working(book, key.tenant, key.mode, now) >= KEYS_MAX {
        return Ruling::refuse(PlatformRefusal::TooManyKeys);
    }
    write_platform(PlatformChange::Key(Arc::new(ApiKey { created_at: now, ..key })))
}

/// The keys of an account in a mode that work.
fn working(book: &PlatformBook, tenant: u32, mode: Mode, now: Timestamp) -> usize {
    book.keys.values().filter(|key| key.tenant == tenant && key.mode == mode && key.works_at(now)).count()
}

/// The keys that came in the place of a key, one after the other, and theirs; oldest first.
pub fn successors<'k>(id: Id, all: impl IntoIterator<Item = &'k Arc<ApiKey>>) -> Vec<Arc<ApiKey>> {
    let mut found = Vec::new();
    let mut before = vec![id];
    let mut left: Vec<&Arc<ApiKey>> = all.into_iter().filter(|key| key.replaces.is_some()).collect();
    while let Some(id) = before.pop() {
        left.retain(|key| {
            let follows = key.replaces.as_deref() == Some(&id);
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

/// The ruling on the end of a key, and of all that came in its place if that is asked.
pub(super) fn revoke(book: &PlatformBook, id: Id, with_successors: bool, now: Timestamp) -> Ruling {
    let Some(key) = book.keys.get(&id) else { return Ruling::refuse(Refusal::NotFound) };
    let Some(tenant) = book.tenants.get(&key.tenant) else { return Ruling::refuse(Refusal::NotFound) };
    if tenant.tenant_settings.moved_to.is_some() {
        return Ruling::refuse(Refusal::TenantMoved);
    }
    let of_tenant = book.keys.values().filter(|other| other.tenant == key.tenant);
    let others = if with_successors { successors(id, of_tenant) } else { Vec::new() };
    let ended = |key: &Arc<ApiKey>| Arc::new(ApiKey { revoked_at: Some(now), ..(**key).clone() });
    let meant = [key].into_iter().chain(&others).filter(|key| key.revoked_at.is_none());
    let keys: Vec<Arc<ApiKey>> = meant.map(ended).collect();
    match keys.as_slice() {
        [] => Ruling::unchanged(),
        [key] => write_platform(PlatformChange::Key(Arc::clone(key))),
        _ => write_platform(PlatformChange::Opened { tenant: Arc::clone(tenant), keys }),
    }
}

/// Gives a key a successor with the same rights, and an end. One that has a successor gets no other.
pub(super) fn rotate(
    book: &PlatformBook,
    id: Id,
    ends_at: Timestamp,
    successor: ApiKey,
    now: Timestamp,
) -> Ruling {
    let Some(key) = book.keys.get(&id).filter(|key| key.works_at(now)) else {
        return Ruling::refuse(Refusal::NotFound);
    };
    let Some(tenant) = book.tenants.get(&key.tenant) else {
        return Ruling::refuse(Refusal::NotFound);
    };
    if tenant.tenant_settings.moved_to.is_some() {
        return Ruling::refuse(Refusal::TenantMoved);
    }
    if key.retires_at.is_some() {
        return Ruling::refuse(PlatformRefusal::KeyRetiring);
    }
    let since = now.plus_ms(-DAY_MS);
    let is_recent = |other: &&Arc<ApiKey>| {
        let is_own = other.tenant == key.tenant && other.mode == key.mode;
        is_own && other.replaces.is_some() && other.created_at > since
    };
    let mut recent: Vec<Timestamp> =
        book.keys.values().filter(is_recent).map(|other| other.created_at).collect();
    recent.sort_unstable();
    if let Some(first) = recent.iter().rev().nth(ROTATIONS_MAX - 1) {
        let wait_seconds = first.since_ms(since).div_euclid(SECOND_MS) + 1;
        let retry_after_seconds = u32::try_from(wait_seconds).unwrap_or(1);
        return Ruling::refuse(PlatformRefusal::TooManyRotations { retry_after_seconds });
    }
    let old = Arc::new(ApiKey { retires_at: Some(ends_at), ..(**key).clone() });
    let others = working(book, key.tenant, key.mode, now) - 1;
    if others + 1 + usize::from(old.works_at(now)) > KEYS_MAX {
        return Ruling::refuse(PlatformRefusal::TooManyKeys);
    }
    let successor = Arc::new(ApiKey {
        tenant: key.tenant,
        mode: key.mode,
        scopes: key.scopes,
        expires_at: key.expires_at,
        created_at: now,
        replaces: Some(Box::new(id)),
        ..successor
    });
    write_platform(PlatformChange::Opened { tenant: Arc::clone(tenant), keys: vec![successor, old] })
}

#[cfg(test)]
mod tests {
    use crate::platform::settings::TenantSettings;
    use crate::platform::{Scopes, Tenant};
    use crate::resources::tenants::keys::*;

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
            replaces: None,
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
        };
        book.tenants.insert(7, Arc::new(tenant));
        for n in 1..=keys {
            book.keys.insert(key(n).id, Arc::new(key(n)));
        }
        book
    }

    /// The refusal of a ruling; a change goes into the book.
    fn put(book: &mut PlatformBook, ruling: Ruling, now: Timestamp) -> Option<Refusal> {
        if let Some(draft) = ruling.record {
            book.evolve(draft.record.platform.as_deref(), now);
        }
        ruling.refusal
    }

    #[test]
    fn an_account_has_so_many_keys_that_work_and_a_rotation_at_once_is_none_more() {
        let mut book = book(KEYS_MAX as u16);
        let too_many = Some(Refusal::from(PlatformRefusal::TooManyKeys));
        let ruling = add(&book, key(100), at(1));
        assert_eq!(put(&mut book, ruling, at(1)), too_many);
        let ruling = rotate(&book, key(1).id, at(1_000), key(100), at(1));
        assert_eq!(put(&mut book, ruling, at(1)), too_many, "both would work for a while");
        let ruling = rotate(&book, key(1).id, at(1), key(100), at(1));
        assert_eq!(put(&mut book, ruling, at(1)), None);
        let ruling = revoke(&book, key(2).id, false, at(2));
        assert_eq!(put(&mut book, ruling, at(2)), None);
        let live = ApiKey { mode: Mode::Live, ..key(101) };
        for one in [key(102), live] {
            let ruling = add(&book, one, at(3));
            assert_eq!(put(&mut book, ruling, at(3)), None);
        }
        let ruling = add(&book, key(103), at(3));
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
        let most = ROTATIONS_MAX as u16;
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
        let ruling = revoke(&book, key(1).id, false, at(3));
        assert_eq!(put(&mut book, ruling, at(3)), None);
        assert_eq!(works(&book), 2, "who took its place works on");
        let ruling = revoke(&book, key(1).id, true, at(4));
        assert_eq!(put(&mut book, ruling, at(4)), None);
        assert_eq!((works(&book), names(&book).len()), (0, 2));
    }
}
