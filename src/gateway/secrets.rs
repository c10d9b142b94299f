//! Secrets on the way out: those of webhook endpoints and of checkout sessions. Each derives from
//! the server's secret, so none is in a record nor in what is kept for an Idempotency-Key; it joins
//! an answer here, the repeated one too, and nowhere else.

use crate::gateway::dispatch::reply;
use crate::gateway::services::Services;
use crate::http::respond::{Reply, RequestId};
use crate::store::history::{self, Unreadable};
use actors::Outcome;
use api::checkout::sessions;
use api::problem::Problem;
use api::render::shows_secret;
use api::webhooks;
use domain::kept::{Kept, Shape};
use domain::machine::Domain;
use domain::record::Entity;
use wal::Seq;

/// The answer that shows an endpoint or a session with its secret.
pub fn reply_with_secret(
    services: &Services,
    tenant: u64,
    shape: Shape,
    outcome: Outcome<Domain>,
    request_id: &RequestId,
) -> Result<Reply, Problem> {
    let shown = match &outcome {
        Ok(settled) if settled.refusal.is_none() => settled.entity.clone(),
        _ => None,
    };
    let reply = reply(tenant, shape, outcome, request_id)?;
    Ok(match shown {
        Some(entity) => {
            let (status, body) =
                (reply.status(), with_secret(services, tenant, &entity, reply.body().to_vec()));
            reply.with_body(status, body)
        }
        None => reply,
    })
}

/// The body of a kept answer, with the secret that was in it: the record says which one that was.
pub fn replayed(services: &Services, tenant: u64, kept: Kept, seq: Seq) -> Result<Vec<u8>, Unreadable> {
    if !shows_secret(kept.of.shape) || kept.status >= 300 {
        return Ok(kept.body);
    }
    let record = history::record(services.engine.reader(), seq)?.record;
    let whose = record
        .entities
        .iter()
        .map(|written| &*written.state)
        .find(|state| matches!(state, Entity::Webhook(_) | Entity::Session(_)));
    let whose = whose.ok_or_else(|| {
        Unreadable(format!("record {seq} keeps an answer with a secret of something that is not in it"))
    })?;
    Ok(with_secret(services, tenant, whose, kept.body))
}

fn with_secret(services: &Services, tenant: u64, whose: &Entity, shown: Vec<u8>) -> Vec<u8> {
    match whose {
        Entity::Webhook(webhook) => webhooks::with_secret(
            shown,
            services.webhook_secret(tenant, webhook.id, webhook.secret_version).expose(),
        ),
        Entity::Session(session) => sessions::with_secret(
            shown,
            session.id,
            sessions::secret(&|parts| services.mark(parts), session.id),
        ),
        _ => shown,
    }
}
