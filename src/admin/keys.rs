//! API keys: made, listed, revoked, rotated. A key is shown in the answer that makes it, and to who
//! repeats that very call.

use super::call::{Call, CallResult, Done, Handler, run};
use crate::gateway::keys::{Secret, stem};
use crate::gateway::{ask, own_account};
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, body, read};
use api::openapi::kinds;
use api::page::list_json;
use api::problem::Problem;
use api::tenants::keys::{self, asked_revocation, read_change, show_revoked};
use api::tenants::{self, mandates, show_key};
use domain::platform::ApiKey;
use domain::resources::tenants::PlatformAsk;
use domain::resources::tenants::keys::NewKey;
use domain::values::ids::{Id, Mode, PLATFORM};
use domain::values::time::{SECOND_MS, Timestamp};
use std::sync::Arc;

chapter! { "Keys", "API keys. A key is shown once, in the answer that makes it; what is kept is its SHA-256.", {
        "NewKey" = body(|fields| read_new(fields, Timestamp::EPOCH));
        "KeyRotation" = body(tenants::read_rotation);
        "KeyChange" = body(|fields| read_change(fields, Timestamp::EPOCH));
        "MadeKey" = keys::made_schema();
        "Key" = keys::key_schema();
        "Mandate" = mandates::schema();
        "RevokedKey" = keys::revoked_schema();
        "KeyList" = items("Key");
    }
    CREATE = run!(create), "Make a key" => {
        command "key create", "Create an API key; it is shown only now",
            "--mode test --scopes read,collect --name till";
        body "NewKey";
        example "one that only reads", r#"{"mode":"test","scopes":["read"]}"#;
        answers 201, "MadeKey", "The key: the only time it is shown";
        refuses 409, &["too_many_keys"];
    } shows tenants::show_made;
    LIST = run!(list), "List an account's keys" => {
        command "key list", "List a tenant's keys", "";
        answers 200, "KeyList", "Without their secrets";
    };
    UPDATE = run!(update), "Change a key" => {
        command "key update", "Change what a key is called, what it may do and when it ends", "--name till";
        about "Only what is sent changes: null takes a name away, and an end. A mandate replaces the one before whole \
            and keeps what was spent. One that works no more is not found.";
        body "KeyChange";
        example "to read alone", r#"{"scopes":["read"]}"#;
        answers 200, "Key", "The key";
    };
    REVOKE = run!(revoke), "Revoke a key at once" => {
        command "key revoke", "Revoke a key at once", "";
        about "Keys that came in its place work on, unless they are revoked too.";
        query asked_revocation;
        answers 200, "RevokedKey", "The key, revoked, with those that came in its place";
    };
    ROTATE = run!(rotate), "Replace a key" => {
        command "key rotate", "Replace a key; the old one works on for a while", "--overlap-seconds 3600";
        body_optional "KeyRotation";
        example "with an hour to change over", r#"{"overlapSeconds":3600}"#;
        answers 201, "MadeKey", "The new key; the old one works until the overlap is over";
        refuses 409, &["key_retiring", "too_many_keys"];
        refuses 429, &["too_many_attempts"];
    } shows tenants::show_made;
}

async fn create(call: Call) -> CallResult {
    let services = &*call.services;
    let now = services.now();
    let (mode, new) = read_new(call.body.fields()?, now)?;
    let tenant = call.tenant()?;
    let id = services.fresh_id(PLATFORM);
    let secret = Secret::new(&services.keys, id, stem(mode), call.idempotency_key.as_deref())?;
    let key = ApiKey { tenant: tenant.number, ..own_account::keyed(secret.key(id, mode), new) };
    make(&call, (tenant.id, id), &secret, PlatformAsk::AddKey { key, by: None }).await
}

fn read_new(mut fields: Fields<'_>, now: Timestamp) -> Result<(Mode, NewKey), Invalid> {
    Ok(read!(fields {
        required mode = "mode", kinds::mode();
        optional name = "name", keys::name();
        optional scopes = "scopes", keys::scopes();
        optional expires_at = "expiresAt", keys::expiry(now);
        optional mandate = "mandate", mandates::mandate();
    } => (mode, NewKey { name, scopes, expires_at, mandate })))
}

/// Has a key made, and shows it. Only a repeat of the call shows it again.
async fn make(call: &Call, (tenant, id): (Id, Id), secret: &Secret, ask: PlatformAsk) -> CallResult {
    let (keep, _held) = call.pending_key.take();
    let about = named_id(call).unwrap_or(id);
    let audit = call.sign_about(Some(tenant), Some(about.to_string()));
    let changed = ask::platform(&call.services, ask, keep, audit).await?;
    let shown = changed
        .record
        .as_deref()
        .and_then(|record| tenants::made(record, &|_| Some(secret.reveal().to_owned())));
    let shown = shown.ok_or_else(|| ask::defect("a key was made and its record does not say so"))?;
    Ok(Done::created(shown).traced(changed.trace))
}

async fn list(call: Call) -> CallResult {
    let tenant = call.tenant()?;
    let keys = call.services.keys_of(tenant.number).await?;
    Ok(Done::ok(list_json(keys.iter().map(|(key, last_used_at)| show_key(key, *last_used_at)))))
}

async fn named(call: &Call) -> Result<Arc<ApiKey>, Problem> {
    let id = named_id(call).ok_or_else(Problem::not_found)?;
    call.services.platform_book().await?.keys.get(&id).cloned().ok_or_else(Problem::not_found)
}

fn named_id(call: &Call) -> Option<Id> {
    call.parameter("keyId").and_then(Id::parse)
}

fn tenant_id(call: &Call, key: &ApiKey) -> Option<Id> {
    call.services.callers.directory.tenant_numbered(key.tenant).map(|tenant| tenant.id)
}

async fn update(call: Call) -> CallResult {
    let change = read_change(call.body.fields()?, call.services.now())?;
    let key = named(&call).await?;
    let _turn = call.turns.of(key.tenant).await;
    let audit = call.sign_about(tenant_id(&call, &key), Some(key.id.to_string()));
    let ask = PlatformAsk::ChangeKey { id: key.id, change, by: None };
    let changed = ask::platform(&call.services, ask, None, audit).await?;
    let keys = call.services.keys_of(key.tenant).await?;
    let known = keys.iter().find(|(known, _)| known.id == key.id);
    let (key, last_used_at) = known.ok_or_else(Problem::not_found)?;
    Ok(Done::ok(show_key(key, *last_used_at)).traced(changed.trace))
}

async fn revoke(call: Call) -> CallResult {
    let with_successors = call.asked(asked_revocation)?;
    let key = named(&call).await?;
    let _turn = call.turns.of(key.tenant).await;
    let audit = call.sign_about(tenant_id(&call, &key), Some(key.id.to_string()));
    let ask = PlatformAsk::RevokeKey { id: key.id, with_successors, by: None };
    let changed = ask::platform(&call.services, ask, None, audit).await?;
    let keys = call.services.keys_of(key.tenant).await?;
    let revoked = show_revoked(key.id, &keys).ok_or_else(Problem::not_found)?;
    Ok(Done::ok(revoked).traced(changed.trace))
}

async fn rotate(call: Call) -> CallResult {
    let services = &*call.services;
    let overlap = tenants::read_rotation(call.body.optional_fields()?)?;
    let old = named(&call).await?;
    let _turn = call.turns.of(old.tenant).await;
    let id = services.fresh_id(PLATFORM);
    let secret = Secret::new(&services.keys, id, stem(old.mode), call.idempotency_key.as_deref())?;
    let ends_at = services.now().plus_ms(overlap * SECOND_MS);
    let tenant = tenant_id(&call, &old).ok_or_else(Problem::not_found)?;
    make(
        &call,
        (tenant, id),
        &secret,
        PlatformAsk::RotateKey { id: old.id, ends_at, successor: secret.key(id, old.mode) },
    )
    .await
}
