//! API keys: made, listed, revoked, rotated. A key is shown once, in the answer that makes it.

use super::ask;
use super::call::{Call, Done, Outcome};
use super::secret::Secret;
use crate::api::fields::{Bad, Fields};
use crate::api::page::list_json;
use crate::api::problem::Problem;
use crate::api::value::Value;
use crate::api::writer::{Object, text};
use crate::domain::platform::{ApiKey, Mode, PlatformAsk, PlatformChange, Scope, Scopes};
use crate::domain::time::{SECOND_MS, Timestamp};
use std::sync::Arc;

/// The longest time for which a rotated key works on: 30 days.
const OVERLAP_SECONDS_MAX: i64 = 30 * 24 * 60 * 60;

/// A key as JSON, without its secret.
fn show(key: &ApiKey, last_used_at: Option<Timestamp>) -> Vec<u8> {
    describe(Object::new().plain("keyId", key.id), key).maybe_plain("lastUsedAt", last_used_at).maybe_plain("revokedAt", key.revoked_at).end()
}

/// A new key with its secret: the only time.
fn show_new(key: &ApiKey, secret: &Secret) -> Vec<u8> {
    describe(Object::new().plain("keyId", key.id).plain("key", secret.reveal()), key).end()
}

fn describe(object: Object, key: &ApiKey) -> Object {
    object
        .plain("mode", key.mode.name())
        .text("prefix", &key.prefix)
        .list("scopes", key.scopes.iter().map(|scope| text(scope.name())))
        .plain("createdAt", key.created_at)
        .maybe_plain("expiresAt", key.ends_at())
}

/// POST /admin/tenants/:id/keys
pub async fn create(call: Call) -> Outcome {
    let services = &*call.services;
    let now = services.now();
    let mut fields = Fields::parse(&call.body)?;
    let mode = fields.required("mode", |value| value.text_known("live or test", Mode::from_name));
    let scopes = fields.optional("scopes", read_scopes);
    let expires_at = fields.optional("expiresAt", |value| read_expiry(value, now));
    let sound = fields.finish()?;
    let tenant = call.tenant().ok_or_else(Problem::not_found)?;
    let mode = mode.get(&sound);
    let secret = Secret::generate(mode)?;
    let key = ApiKey { tenant: tenant.number, scopes: scopes.get(&sound).unwrap_or(Scopes::ALL), expires_at: expires_at.get(&sound), ..secret.key(mode) };
    let changed = ask::platform(services, PlatformAsk::AddKey(key)).await?;
    match changed.change() {
        Some(PlatformChange::Key(key)) => Ok(Done::created(show_new(key, &secret)).wrote(changed.seq)),
        _ => Err(ask::defect("a key was made and its record does not say so")),
    }
}

fn read_scopes(value: Value<'_>) -> Result<Scopes, Bad> {
    let scopes = value.list(1..=Scope::ALL.len(), |value| value.text_known("one of read, collect, payout, convert, manage", Scope::from_name))?;
    let repeated = scopes.iter().enumerate().any(|(n, scope)| scopes[..n].contains(scope));
    if repeated { Err(Bad::from("must name each one once")) } else { Ok(scopes.into_iter().collect()) }
}

fn read_expiry(value: Value<'_>, now: Timestamp) -> Result<Timestamp, Bad> {
    let at = Timestamp::from_unix_ms(value.timestamp()?.timestamp_millis());
    if at > now { Ok(at) } else { Err(Bad::from("must be in the future")) }
}

/// GET /admin/tenants/:id/keys
pub async fn list(call: Call) -> Outcome {
    let tenant = call.tenant().ok_or_else(Problem::not_found)?;
    let keys = call.services.directory.keys_of(tenant.number);
    Ok(Done::ok(list_json(keys.iter().map(|(key, last_used_at)| show(key, *last_used_at)))))
}

/// The key that the path names.
fn named(call: &Call) -> Result<Arc<ApiKey>, Problem> {
    call.id("keyId").and_then(|id| call.services.directory.key(id)).ok_or_else(Problem::not_found)
}

/// DELETE /admin/keys/:keyId
pub async fn revoke(call: Call) -> Outcome {
    let key = named(&call)?;
    let _turn = call.turns.of(key.tenant).await;
    let changed = ask::platform(&call.services, PlatformAsk::RevokeKey(key.id)).await?;
    let keys = call.services.directory.keys_of(key.tenant);
    let (key, last_used_at) = keys.iter().find(|(known, _)| known.id == key.id).ok_or_else(Problem::not_found)?;
    Ok(Done::ok(show(key, *last_used_at)).wrote(changed.seq))
}

/// POST /admin/keys/:keyId/rotate
pub async fn rotate(call: Call) -> Outcome {
    let services = &*call.services;
    let mut fields = Fields::parse_optional(&call.body)?;
    let overlap = fields.optional("overlapSeconds", |value| value.integer(0..=OVERLAP_SECONDS_MAX));
    let sound = fields.finish()?;
    let old = named(&call)?;
    let _turn = call.turns.of(old.tenant).await;
    let secret = Secret::generate(old.mode)?;
    let successor = secret.key(old.mode);
    let ends_at = services.now().plus_ms(overlap.get(&sound).unwrap_or(0) * SECOND_MS);
    let new_id = successor.id;
    let changed = ask::platform(services, PlatformAsk::RotateKey { id: old.id, ends_at, successor }).await?;
    let new = match changed.change() {
        Some(PlatformChange::Opened { keys, .. }) => keys.iter().find(|key| key.id == new_id),
        _ => None,
    };
    let new = new.ok_or_else(|| ask::defect("a key was rotated and its record does not say so"))?;
    Ok(Done::created(show_new(new, &secret)).wrote(changed.seq))
}
