//! Changes of API keys by operators. Of a tenant that moved away none changes: its keys went with it.

use super::{ApiKey, PlatformBook, PlatformChange, moves, write};
use crate::decision::Ruling;
use crate::refusal::Refusal;
use crate::values::ids::Id;
use crate::values::time::Timestamp;
use std::sync::Arc;

/// The ruling on a new key.
pub(super) fn add(book: &PlatformBook, key: ApiKey, now: Timestamp) -> Ruling {
    if moves::is_moved(book, key.tenant) {
        return Ruling::refuse(Refusal::TenantMoved);
    }
    write(PlatformChange::Key(Arc::new(ApiKey { created_at: now, ..key })))
}

/// The ruling on the end of a key.
pub(super) fn revoke(book: &PlatformBook, id: Id, now: Timestamp) -> Ruling {
    match book.keys.get(&id) {
        None => Ruling::refuse(Refusal::NotFound),
        Some(key) if moves::is_moved(book, key.tenant) => Ruling::refuse(Refusal::TenantMoved),
        Some(key) if key.revoked_at.is_some() => Ruling::unchanged(),
        Some(key) => {
            write(PlatformChange::Key(Arc::new(ApiKey { revoked_at: Some(now), ..(**key).clone() })))
        }
    }
}

/// Gives a key a successor with the same rights, and an end.
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
    // A key that is rotated again while it is being retired retires when the newest request says.
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
