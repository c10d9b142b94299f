//! Secrets on the way out: those of webhook endpoints and of checkout sessions. Each derives from
//! the server's secret, so none is in a record nor in what is kept for an Idempotency-Key; it joins
//! an answer here, the repeated one too, and nowhere else.

use crate::gateway::answer::reply;
use crate::gateway::idempotency::KeptAnswer;
use crate::gateway::key_secrets::Secret;
use crate::gateway::services::Services;
use crate::http::respond::{Reply, RequestId};
use crate::store::history::Unreadable;
use actors::CommandReply;
use api::checkout::sessions;
use api::problem::Problem;
use api::render::shows_secret;
use api::tenants;
use api::webhooks;
use domain::kept::Shape;
use domain::machine::Domain;
use domain::platform::ApiKey;
use domain::record::Entity;

/// The answer that shows an endpoint or a session with its secret.
pub fn reply_with_secret(
    services: &Services,
    tenant: u64,
    shape: Shape,
    outcome: CommandReply<Domain>,
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

/// The body of a kept answer, with the secret that was in it: the record says which one that was. An API
/// key is made again from the Idempotency-Key, `sent` with the repeat.
pub fn replayed(
    services: &Services,
    tenant: u64,
    sent: &str,
    answer: KeptAnswer,
) -> Result<Vec<u8>, Unreadable> {
    let KeptAnswer { seq, kept, record, .. } = answer;
    if let Shape::KeyMade(id) = kept.of.shape {
        let reveal =
            |key: &ApiKey| Secret::again(&services.keys, key, sent).map(|secret| secret.reveal().to_owned());
        return Ok(tenants::made(&record, id, &reveal).unwrap_or(kept.body));
    }
    if !shows_secret(kept.of.shape) || kept.status >= 300 {
        return Ok(kept.body);
    }
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
    let Services { keys, callers, .. } = services;
    match whose {
        Entity::Webhook(webhook) => webhooks::with_secret(
            shown,
            keys.webhook_secret(callers.directory.first_key(tenant), webhook.id, webhook.secret_version)
                .expose(),
        ),
        Entity::Session(session) => {
            sessions::with_secret(shown, session.id, sessions::secret(&|parts| keys.mark(parts), session.id))
        }
        _ => shown,
    }
}
