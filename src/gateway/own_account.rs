//! What a tenant does to its own account and its keys: the platform's book decides, and the record says in the
//! audit who it was.

use crate::gateway::ask::{self, Changed};
use crate::gateway::keys::{Secret, stem};
use crate::gateway::tenant_request::{TenantRequest, in_a_task};
use crate::http::respond::{Reply, Trace};
use api::endpoint::{Caller, KnownKey};
use api::problem::Problem;
use api::tenants;
use api::tenants::keys::show_revoked;
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::mandate::Mandate;
use domain::platform::{ApiKey, KeyDetails, Scope, Scopes};
use domain::resources::tenants::PlatformAsk;
use domain::resources::tenants::keys::{KeyChange, NewKey};
use domain::values::ids::{Id, PLATFORM};
use domain::values::time::{SECOND_MS, Timestamp};
use std::sync::Arc;

/// A new key of the account, in the mode of the caller's.
pub async fn make_key(request: &mut TenantRequest<'_>, new: NewKey) -> Result<Reply, Problem> {
    let services = Arc::clone(request.services);
    let by = Arc::clone(&request.caller.key);
    let id = services.fresh_id(PLATFORM);
    let sent = request.used.as_ref().map(|used| used.sent.clone());
    let secret = Secret::new(&services.keys, id, stem(by.mode), sent.as_deref())?;
    let key = ApiKey { tenant: by.tenant, ..keyed(secret.key(id, by.mode), new) };
    let audit = signed("key.create", id.to_string(), services.now(), request);
    let (keep, slot, held) = request.keep();
    in_a_task(async move {
        let (_slot, _held) = (slot, held);
        let _turn = services.callers.turns.of(by.tenant).await;
        let ask = PlatformAsk::AddKey { key, by: Some(by.id) };
        let changed = ask::platform(&services, ask, keep, Some(audit)).await?;
        made(&changed, &secret)
    })
    .await
}

/// A key with the rights and words that were asked for.
pub fn keyed(key: ApiKey, new: NewKey) -> ApiKey {
    let NewKey { name, scopes, expires_at, mandate } = new;
    let mandate = mandate.map(|mandate| Arc::new(Mandate { id: key.id, ..mandate }));
    let details = KeyDetails { name, mandate, replaces: None };
    ApiKey { scopes: scopes.unwrap_or(Scopes::USUAL), expires_at, details: details.into(), ..key }
}

fn made(changed: &Changed, secret: &Secret) -> Result<Reply, Problem> {
    let record = changed.record.as_deref();
    let made = record.and_then(|record| tenants::made(record, &|_| Some(secret.reveal().to_owned())));
    let made = made.ok_or_else(|| ask::defect("a key was made and its record does not say so"))?;
    Ok(Reply::json(201, made).trace(changed.trace))
}

pub async fn change_key(
    request: &mut TenantRequest<'_>,
    id: Id,
    change: KeyChange,
) -> Result<Reply, Problem> {
    let by = Some(request.caller.key.id);
    let (trace, keys) =
        about_own(request, id, "key.update", PlatformAsk::ChangeKey { id, change, by }).await?;
    let known = keys.iter().find(|(known, _)| known.id == id);
    let (key, last_used_at) = known.ok_or_else(Problem::not_found)?;
    Ok(Reply::json(200, tenants::show_key(key, *last_used_at)).trace(trace))
}

pub async fn revoke_key(
    request: &mut TenantRequest<'_>,
    id: Id,
    with_successors: bool,
) -> Result<Reply, Problem> {
    let by = Some(request.caller.key.id);
    let ask = PlatformAsk::RevokeKey { id, with_successors, by };
    let (trace, keys) = about_own(request, id, "key.revoke", ask).await?;
    let shown = show_revoked(id, &keys).ok_or_else(Problem::not_found)?;
    Ok(Reply::json(200, shown).trace(trace))
}

/// Has the platform's book decide about a key of the caller's account and mode; the account's keys after that.
async fn about_own(
    request: &mut TenantRequest<'_>,
    id: Id,
    action: &str,
    ask: PlatformAsk,
) -> Result<(Trace, Vec<KnownKey>), Problem> {
    let services = Arc::clone(request.services);
    let (number, mode) = (request.caller.key.tenant, request.caller.key.mode);
    let is_own = |key: &ApiKey| key.tenant == number && key.mode == mode;
    if !services.platform_book().await?.keys.get(&id).is_some_and(|key| is_own(key)) {
        return Err(Problem::not_found());
    }
    let audit = signed(action, id.to_string(), services.now(), request);
    let (keep, slot, held) = request.keep();
    // A caller who goes away must not leave a key whose end the directory of callers never learned.
    in_a_task(async move {
        let (_slot, _held) = (slot, held);
        let _turn = services.callers.turns.of(number).await;
        let changed = ask::platform(&services, ask, keep, Some(audit)).await?;
        Ok((changed.trace, services.keys_of(number).await?))
    })
    .await
}

const ASKED: &[u8] = br#"{"status":"asked"}"#;

/// A new key in the place of the caller's own, which works on for `overlap` seconds.
pub async fn rotate_key(request: &mut TenantRequest<'_>, overlap: i64) -> Result<Reply, Problem> {
    let services = Arc::clone(request.services);
    let old = Arc::clone(&request.caller.key);
    // Who is bound makes no key.
    if old.details.mandate.is_some() {
        return Err(Problem::scope_missing(Scope::Keys.name()));
    }
    let id = services.fresh_id(PLATFORM);
    let sent = request.used.as_ref().map(|used| used.sent.clone());
    let secret = Secret::new(&services.keys, id, stem(old.mode), sent.as_deref())?;
    let audit = signed("key.rotate", old.id.to_string(), services.now(), request);
    let (keep, slot, held) = request.keep();
    // A caller who goes away must not leave a key that the directory of callers never learned.
    in_a_task(async move {
        let (_slot, _held) = (slot, held);
        let _turn = services.callers.turns.of(old.tenant).await;
        let ends_at = services.now().plus_ms(overlap * SECOND_MS);
        let successor = secret.key(id, old.mode);
        let ask = PlatformAsk::RotateKey { id: old.id, ends_at, successor };
        let changed = ask::platform(&services, ask, keep, Some(audit)).await?;
        made(&changed, &secret)
    })
    .await
}

/// The caller's wish for live mode, for the operator; a second one while it waits changes nothing.
pub async fn ask_live(request: &mut TenantRequest<'_>) -> Result<Reply, Problem> {
    let services = Arc::clone(request.services);
    let tenant = Arc::clone(&request.caller.tenant);
    let audit = signed("tenant.live-request", tenant.id.to_string(), services.now(), request);
    let (keep, slot, held) = request.keep();
    in_a_task(async move {
        let (_slot, _held) = (slot, held);
        let _turn = services.callers.turns.of(tenant.number).await;
        let ask = PlatformAsk::AskLive { number: tenant.number, body: ASKED.to_vec() };
        let changed = ask::platform(&services, ask, keep, Some(audit)).await?;
        Ok(Reply::json(200, ASKED.to_vec()).trace(changed.trace))
    })
    .await
}

/// The entry of the audit, where operators look: it is the tenant who acted, and no operator.
pub fn signed(action: &str, target: String, at: Timestamp, request: &TenantRequest<'_>) -> Box<AuditEntry> {
    let Caller { tenant, key, .. } = request.caller;
    Box::new(AuditEntry {
        peer: request.arrival.map(|arrival| arrival.peer.ip().to_string()),
        tenant: Some(tenant.id),
        target: Some(target),
        request_id: Some(request.request_id.as_str().to_owned()),
        key: Some(key.id),
        agent: key.details.mandate.as_ref().and_then(|mandate| mandate.agent.clone()),
        ..AuditEntry::by(Who { id: Some(tenant.id), name: tenant.name.clone() }, at, action)
    })
}
