//! What a tenant does to its own account on the portal's pages: the platform's book decides, and the
//! record says in the audit who it was.

use crate::gateway::ask;
use crate::gateway::keys::{Secret, stem};
use crate::gateway::tenant_request::{TenantRequest, in_a_task};
use crate::http::respond::Reply;
use api::problem::Problem;
use api::tenants;
use domain::platform::audit::{AuditEntry, Who};
use domain::resources::tenants::PlatformAsk;
use domain::values::ids::PLATFORM;
use domain::values::time::{SECOND_MS, Timestamp};
use std::sync::Arc;

const ASKED: &[u8] = br#"{"status":"asked"}"#;

/// A new key in the place of the caller's own, which works on for `overlap` seconds.
pub async fn rotate_key(request: &mut TenantRequest<'_>, overlap: i64) -> Result<Reply, Problem> {
    let services = Arc::clone(request.services);
    let old = Arc::clone(&request.caller.key);
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
        let record = changed.record.as_deref();
        let made = record.and_then(|record| tenants::made(record, &|_| Some(secret.reveal().to_owned())));
        let made = made.ok_or_else(|| ask::defect("a key was rotated and its record does not say so"))?;
        Ok(Reply::json(201, made).trace(changed.trace))
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
fn signed(action: &str, target: String, at: Timestamp, request: &TenantRequest<'_>) -> Box<AuditEntry> {
    let tenant = &request.caller.tenant;
    Box::new(AuditEntry {
        peer: request.arrival.map(|arrival| arrival.peer.ip().to_string()),
        tenant: Some(tenant.id),
        target: Some(target),
        request_id: Some(request.request_id.as_str().to_owned()),
        ..AuditEntry::by(Who { id: Some(tenant.id), name: tenant.name.clone() }, at, action)
    })
}
