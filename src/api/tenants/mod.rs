//! The operators' view of tenants and API keys (`docs/contract.md, 3.2, 3.3`). Their calls are in
//! `admin/tenants.rs` and `admin/keys.rs`.
//!
//! A key in plain text comes from outside, and only for the answer that makes it: what is kept of that
//! answer leaves it out.

pub mod approvals;
pub mod keys;
pub mod mandates;
pub mod own;
pub mod settings;

use crate::answer::{Facts, Rendered};
use crate::endpoint::shown;
use crate::fields::{Fields, Invalid, Kind as _, read};
use crate::openapi::schema::Schema;
use crate::openapi::{kinds, schema, values};
use crate::writer::{Object, text};
use domain::platform::settings::LiveStatus;
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
    Ok(read!(fields { optional overlap = "overlapSeconds", overlap; } => overlap.unwrap_or(0)))
}

/// A tenant as JSON, without its keys.
pub fn show(tenant: &Tenant) -> Vec<u8> {
    show_asking(tenant, None)
}

shown! {
    /// A tenant like [`show`], with the instant at which it asked for live mode, if the operator has not
    /// answered yet.
    pub fn show_asking(tenant: &Tenant, live_asked_at: Option<Timestamp>), tenant_schema, 1536 [
        let live = &tenant.tenant_settings;
    ] {
        plain "tenantId" = tenant.id, uuid();
        text "name" = &tenant.name, text();
        number "partition" = u64::from(tenant.partition), partition();
        plain "liveStatus" = live.live_status.name(), live_status();
        maybe plain "liveAskedAt" = live_asked_at,
            instant().about("When it asked for live mode, if that was not answered yet.");
        maybe text "liveStatusReason" = live.reason.as_deref(), text();
        maybe plain "movedTo" = live.moved_to.as_deref(),
            text().about("The deployment that the account moves to; then nothing is decided for it here.");
        json "settings" = &settings::show(&live.settings), named("Settings");
        plain "createdAt" = tenant.created_at, instant();
    }
}

/// A tenant whose live mode was just allowed, with what it cannot do there yet.
pub fn show_activated(tenant: &Tenant, warnings: impl IntoIterator<Item = String>) -> Vec<u8> {
    let shown = Object::reopened(show(tenant));
    shown.list("warnings", warnings.into_iter().map(|warning| text(&warning))).end()
}

pub fn partition() -> Schema {
    values::count().about("The log of a cluster that it is in, of which there is one.")
}

pub fn live_status() -> Schema {
    schema::one_of([LiveStatus::Inactive, LiveStatus::Active, LiveStatus::Suspended].map(LiveStatus::name))
}

fn first_key() -> Schema {
    let once = "Shown here, and again only to a repeat with the same Idempotency-Key.";
    schema::object().member("keyId", values::uuid()).member("key", schema::text().about(once))
}

/// A key as JSON, without its secret.
pub fn show_key(key: &ApiKey, last_used_at: Option<Timestamp>) -> Vec<u8> {
    describe(Object::new().plain("keyId", key.id), key)
        .maybe_plain("lastUsedAt", last_used_at)
        .maybe_plain("revokedAt", key.revoked_at)
        .maybe_plain("replaces", key.details.replaces)
        .end()
}

fn describe(object: Object, key: &ApiKey) -> Object {
    object
        .plain("mode", key.mode.name())
        .text("prefix", &key.prefix)
        .list("scopes", key.scopes.iter().map(|scope| text(scope.name())))
        .plain("createdAt", key.created_at)
        .maybe_plain("expiresAt", key.ends_at())
        .maybe_text("name", key.details.name.as_deref())
        .json("mandate", key.details.mandate.as_deref().map_or_else(|| b"null".to_vec(), mandates::show))
}

/// The tenant that a record opened, with its first keys; `None` if it opened none.
pub fn opened(record: &Record, reveal: Reveal<'_>) -> Option<Vec<u8>> {
    let Some(PlatformChange::Opened { tenant, keys }) = record.platform.as_deref() else { return None };
    Some(show_with_keys(tenant, &|mode| match keys.iter().find(|key| key.mode == mode) {
        Some(key) => name(key, reveal).end(),
        None => b"null".to_vec(),
    }))
}

shown! {
    fn show_with_keys(tenant: &Tenant, key: &dyn Fn(Mode) -> Vec<u8>), opened_schema, 1536 {
        plain "tenantId" = tenant.id, uuid();
        text "name" = &tenant.name, text();
        number "partition" = u64::from(tenant.partition), partition();
        plain "liveStatus" = tenant.tenant_settings.live_status.name(), live_status();
        json "testKey" = &key(Mode::Test), first_key();
        json "liveKey" = &key(Mode::Live), first_key();
        json "settings" = &settings::show(&tenant.tenant_settings.settings), named("Settings");
        plain "createdAt" = tenant.created_at, instant();
    }
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
