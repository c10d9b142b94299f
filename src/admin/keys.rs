//! API keys: made, listed, revoked, rotated. A key is shown in the answer that makes it, and to who
//! repeats that very call.

use super::call::{Call, CallResult, Done, Handler, run};
use crate::gateway::ask;
use crate::gateway::keys::{Secret, stem};
use api::endpoint::chapter;
use api::fields::{Fields, Invalid, Kind, body, kind, read};
use api::openapi::{kinds, schema, values};
use api::page::list_json;
use api::problem::Problem;
use api::query;
use api::tenants::{self, key_schema, show_key};
use api::value::{Bad, Value};
use api::writer::Object;
use domain::platform::{ApiKey, Scope, Scopes};
use domain::resources::tenants::PlatformAsk;
use domain::resources::tenants::keys::successors;
use domain::values::ids::{Id, Mode, PLATFORM};
use domain::values::time::{SECOND_MS, Timestamp};
use std::sync::Arc;

chapter! { "Keys", "API keys. A key is shown once, in the answer that makes it; what is kept is its SHA-256.", {
        "NewKey" = body(|fields| read_new(fields, Timestamp::EPOCH));
        "KeyRotation" = body(tenants::read_rotation);
        "MadeKey" = tenants::made_schema();
        "Key" = key_schema();
        "RevokedKey" = key_schema()
            .member("successors", list(named("Key")).about("The keys that came in its place, and in theirs; \
                oldest first."));
        "KeyList" = items("Key");
    }
    CREATE = run!(create), "Make a key" => {
        command "key create", "Create an API key; it is shown only now", "--mode test --scopes read,collect";
        body "NewKey";
        example "one that only reads", r#"{"mode":"test","scopes":["read"]}"#;
        answers 201, "MadeKey", "The key: the only time it is shown";
        refuses 409, &["too_many_keys"];
    } shows tenants::show_made;
    LIST = run!(list), "List an account's keys" => {
        command "key list", "List a tenant's keys", "";
        answers 200, "KeyList", "Without their secrets";
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
    let Asked { mode, scopes, expires_at } = read_new(call.body.fields()?, now)?;
    let tenant = call.tenant()?;
    let id = services.fresh_id(PLATFORM);
    let secret = Secret::new(&services.keys, id, stem(mode), call.idempotency_key.as_deref())?;
    let key = ApiKey { tenant: tenant.number, scopes, expires_at, ..secret.key(id, mode) };
    make(&call, (tenant.id, id), &secret, PlatformAsk::AddKey(key)).await
}

struct Asked {
    mode: Mode,
    scopes: Scopes,
    expires_at: Option<Timestamp>,
}

fn read_new(mut fields: Fields<'_>, now: Timestamp) -> Result<Asked, Invalid> {
    Ok(read!(fields {
        required mode = "mode", kinds::mode();
        optional scopes = "scopes", scopes() => scopes.unwrap_or(Scopes::ALL);
        optional expires_at = "expiresAt", expiry(now);
    } => Asked { mode, scopes, expires_at }))
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

fn scopes<'a>() -> impl Kind<'a, Scopes> {
    let read = |value: Value<'a>| {
        let scopes = value.list(1..=Scope::ALL.len(), |value| {
            value.text_known("one of read, collect, payout, convert, manage", Scope::from_name)
        })?;
        let repeated = scopes.iter().enumerate().any(|(n, scope)| scopes[..n].contains(scope));
        if repeated { Err(Bad::from("must name each one once")) } else { Ok(scopes.into_iter().collect()) }
    };
    kind(read, || {
        let scopes = schema::list(schema::one_of(Scope::ALL.map(Scope::name)));
        scopes.about("What it may do.").count(1..=Scope::ALL.len()).distinct()
    })
}

fn expiry<'a>(now: Timestamp) -> impl Kind<'a, Timestamp> {
    let read = move |value: Value<'a>| {
        let at = Timestamp::from_unix_ms(value.timestamp()?.timestamp_millis());
        if at > now { Ok(at) } else { Err(Bad::from("must be in the future")) }
    };
    kind(read, || values::instant().about("In the future; never if missing."))
}

async fn list(call: Call) -> CallResult {
    let tenant = call.tenant()?;
    let keys = call.services.callers.directory.keys_of(tenant.number);
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

fn asked_revocation(mut query: query::Query<'_>) -> Result<bool, Invalid> {
    let successors = kinds::boolean().about("Whether all keys that came in its place are revoked too.");
    Ok(read!(query { optional successors = "successors", successors; } => successors.unwrap_or(false)))
}

async fn revoke(call: Call) -> CallResult {
    let with_successors = call.asked(asked_revocation)?;
    let key = named(&call).await?;
    let _turn = call.turns.of(key.tenant).await;
    let audit = call.sign_about(tenant_id(&call, &key), Some(key.id.to_string()));
    let ask = PlatformAsk::RevokeKey { id: key.id, with_successors };
    let changed = ask::platform(&call.services, ask, None, audit).await?;
    let keys = call.services.callers.directory.keys_of(key.tenant);
    let shown = |id: Id| {
        let known = keys.iter().find(|(known, _)| known.id == id);
        known.map(|(key, last_used_at)| show_key(key, *last_used_at))
    };
    let followed = successors(key.id, keys.iter().map(|(key, _)| key));
    let followed = followed.iter().filter_map(|key| shown(key.id));
    let revoked = shown(key.id).ok_or_else(Problem::not_found)?;
    Ok(Done::ok(Object::reopened(revoked).list("successors", followed).end()).traced(changed.trace))
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
