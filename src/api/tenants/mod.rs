//! The operators' view of tenants and API keys (`docs/contract.md, 3.2, 3.3`). Their calls are in
//! `admin/tenants.rs` and `admin/keys.rs`.
//!
//! A key in plain text comes from outside, and only for the answer that makes it: what is kept of that
//! answer leaves it out.

pub mod own;
pub mod settings;

use crate::answer::{Facts, Rendered};
use crate::fields::{Fields, Invalid, Kind as _};
use crate::openapi::kinds;
use crate::writer::{Object, text};
use domain::platform::{ApiKey, PlatformChange, Tenant};
use domain::record::Record;
use domain::values::ids::Mode;
use domain::values::time::Timestamp;

/// The key in plain text, if it may be shown.
pub type Reveal<'a> = &'a dyn Fn(&ApiKey) -> Option<String>;

/// The longest time for which a rotated key works on: 30 days.
const OVERLAP_SECONDS_MAX: i64 = 30 * 24 * 60 * 60;

/// Reads for how many seconds a key that is rotated works on.
pub fn read_rotation(mut fields: Fields<'_>) -> Result<i64, Invalid> {
    let overlap = kinds::integer(0..=OVERLAP_SECONDS_MAX).default("0");
    let overlap = fields.optional("overlapSeconds", overlap);
    let sound = fields.finish()?;
    Ok(overlap.get(&sound).unwrap_or(0))
}

/// A tenant as JSON, without its keys.
pub fn show(tenant: &Tenant) -> Vec<u8> {
    show_asking(tenant, None)
}

/// A tenant like [`show`], with the instant at which it asked for live mode, if the operator has not
/// answered yet.
pub fn show_asking(tenant: &Tenant, live_asked_at: Option<Timestamp>) -> Vec<u8> {
    members(tenant, live_asked_at).end()
}

/// A tenant whose live mode was just allowed, with what it cannot do there yet.
pub fn show_activated(tenant: &Tenant, warnings: impl IntoIterator<Item = String>) -> Vec<u8> {
    members(tenant, None).list("warnings", warnings.into_iter().map(|warning| text(&warning))).end()
}

fn members(tenant: &Tenant, live_asked_at: Option<Timestamp>) -> Object {
    begin(tenant)
        .maybe_plain("liveAskedAt", live_asked_at)
        .maybe_text("liveStatusReason", tenant.tenant_settings.reason.as_deref())
        .maybe_plain("movedTo", tenant.tenant_settings.moved_to.as_deref())
        .json("settings", &settings::show(&tenant.tenant_settings.settings))
        .plain("createdAt", tenant.created_at)
}

fn begin(tenant: &Tenant) -> Object {
    Object::with_capacity(1536)
        .plain("tenantId", tenant.id)
        .text("name", &tenant.name)
        .plain("liveStatus", tenant.tenant_settings.live_status.name())
}

/// A key as JSON, without its secret.
pub fn show_key(key: &ApiKey, last_used_at: Option<Timestamp>) -> Vec<u8> {
    describe(Object::new().plain("keyId", key.id), key)
        .maybe_plain("lastUsedAt", last_used_at)
        .maybe_plain("revokedAt", key.revoked_at)
        .maybe_plain("replaces", key.replaces.as_deref())
        .end()
}

fn describe(object: Object, key: &ApiKey) -> Object {
    object
        .plain("mode", key.mode.name())
        .text("prefix", &key.prefix)
        .list("scopes", key.scopes.iter().map(|scope| text(scope.name())))
        .plain("createdAt", key.created_at)
        .maybe_plain("expiresAt", key.ends_at())
}

/// The tenant that a record opened, with its first keys; `None` if it opened none.
pub fn opened(record: &Record, reveal: Reveal<'_>) -> Option<Vec<u8>> {
    let Some(PlatformChange::Opened { tenant, keys }) = record.platform.as_deref() else { return None };
    let key = |mode| keys.iter().find(|key| key.mode == mode).map(|key| name(key, reveal).end());
    let shown = begin(tenant)
        .json_or_null("testKey", key(Mode::Test))
        .json_or_null("liveKey", key(Mode::Live))
        .json("settings", &settings::show(&tenant.tenant_settings.settings))
        .plain("createdAt", tenant.created_at);
    Some(shown.end())
}

/// The key that a record made, which is the first of those that it changes; `None` if it made none.
pub fn made(record: &Record, reveal: Reveal<'_>) -> Option<Vec<u8>> {
    let key = match record.platform.as_deref()? {
        PlatformChange::Key(key) => key,
        PlatformChange::Opened { keys, .. } => keys.first()?,
        _ => return None,
    };
    Some(describe(name(key, reveal), key).end())
}

pub fn show_opened(facts: &Facts<'_>) -> Option<Rendered> {
    Some((201, opened(facts.record?, &|key| facts.secrets.key(key))?))
}

pub fn show_made(facts: &Facts<'_>) -> Option<Rendered> {
    Some((201, made(facts.record?, &|key| facts.secrets.key(key))?))
}

pub fn show_changed(facts: &Facts<'_>) -> Option<Rendered> {
    match facts.record?.platform.as_deref()? {
        PlatformChange::Tenant(tenant) => Some((200, show(tenant))),
        _ => None,
    }
}

fn name(key: &ApiKey, reveal: Reveal<'_>) -> Object {
    let object = Object::new().plain("keyId", key.id);
    match reveal(key) {
        Some(secret) => object.text("key", secret),
        None => object,
    }
}
