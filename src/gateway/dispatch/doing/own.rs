//! What a tenant does to its own account on the portal's pages: the platform's book decides, and the
//! record says in the audit who it was.

use super::Doing;
use crate::gateway::ask;
use crate::gateway::dispatch::Performer;
use crate::gateway::key_secrets::{Secret, stem};
use crate::http::respond::Reply;
use api::problem::Problem;
use api::tenants;
use domain::platform::audit::{AuditEntry, Who};
use domain::platform::{PLATFORM, PlatformAsk};
use domain::values::time::{SECOND_MS, Timestamp};
use std::net::IpAddr;
use std::sync::Arc;

/// The answer to who asked for live mode.
const ASKED: &[u8] = br#"{"status":"asked"}"#;

impl Performer {
    /// A new key in the place of the caller's own, which works on for `overlap` seconds.
    pub(super) async fn rotate_own_key(
        &self,
        overlap: i64,
        peer: Option<IpAddr>,
        doing: Doing<'_>,
    ) -> Result<Reply, Problem> {
        let services = Arc::clone(&self.services);
        let old = Arc::clone(&doing.caller.key);
        let id = services.fresh_id(PLATFORM);
        let sent = doing.used.as_ref().map(|used| used.sent().to_owned());
        let secret = Secret::new(&services.keys, id, stem(old.mode), sent.as_deref())?;
        let audit = signed("key.rotate", old.id.to_string(), services.now(), peer, &doing);
        let (keep, slot, held) = doing.keep();
        // A caller who goes away must not leave a key that the directory of callers never learned.
        let rotating = tokio::spawn(async move {
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
        });
        rotating.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
    }

    /// The caller's wish for live mode, for the operator; a second one while it waits changes nothing.
    pub(super) async fn ask_live(&self, peer: Option<IpAddr>, doing: Doing<'_>) -> Result<Reply, Problem> {
        let services = Arc::clone(&self.services);
        let tenant = Arc::clone(&doing.caller.tenant);
        let audit = signed("tenant.live-request", tenant.id.to_string(), services.now(), peer, &doing);
        let (keep, slot, held) = doing.keep();
        let asking = tokio::spawn(async move {
            let (_slot, _held) = (slot, held);
            let _turn = services.callers.turns.of(tenant.number).await;
            let ask = PlatformAsk::AskLive { number: tenant.number, body: ASKED.to_vec() };
            let changed = ask::platform(&services, ask, keep, Some(audit)).await?;
            Ok(Reply::json(200, ASKED.to_vec()).trace(changed.trace))
        });
        asking.await.unwrap_or_else(|ended| Err(Problem::internal_error(ended)))
    }
}

/// The entry of the audit, where operators look: it is the tenant who acted, and no operator.
fn signed(
    action: &str,
    target: String,
    at: Timestamp,
    peer: Option<IpAddr>,
    doing: &Doing<'_>,
) -> Box<AuditEntry> {
    let tenant = &doing.caller.tenant;
    Box::new(AuditEntry {
        at,
        operator: Who { id: Some(tenant.id), name: tenant.name.clone() },
        peer: peer.map(|peer| peer.to_string()),
        action: action.to_owned(),
        tenant: Some(tenant.id),
        target: Some(target),
        before: None,
        after: None,
        approval: None,
        consent: None,
        request_id: Some(doing.request_id.as_str().to_owned()),
    })
}
