//! The part of Idempotency-Keys that is the operators' alone (`docs/contract.md, 1.13`; the rest is
//! in `gateway/idempotency.rs`): a handler takes the key for the command that decides, and a kept
//! answer leaves API keys out. Those are made again, from the server's secret and the
//! Idempotency-Key that is sent with the repeat.

use super::call::{CallResult, Done};
use super::operators::token_salt;
use super::tenant_settings::push_tenant_settings;
use crate::gateway::idempotency::{KeptAnswer, KeyUse};
use crate::gateway::key_secrets::{OPERATOR, Secret};
use crate::gateway::services::Services;
use crate::http::respond::Trace;
use api::{operators, tenants};
use domain::kept::{KeepRef, Shape};
use domain::platform::{ApiKey, PlatformChange};
use std::sync::{Mutex, PoisonError};

/// The key of a call, until it goes into a command.
#[derive(Default)]
pub struct PendingKey(Mutex<Option<KeyUse>>);

impl PendingKey {
    /// A key that waits.
    pub fn holding(used: KeyUse) -> PendingKey {
        PendingKey(Mutex::new(Some(used)))
    }

    /// Takes the key: the reference under which the answer is kept, and the guard that holds the
    /// key until then.
    pub fn take(&self, shape: Shape) -> (Option<KeepRef>, Option<actors::Guard>) {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        used.map(|used| used.keep(shape)).unzip()
    }
}

/// The kept answer, with the API keys that are not in what is kept, once what it speaks of is in
/// force.
pub async fn replayed(services: &Services, idempotency_key: &str, answer: KeptAnswer) -> CallResult {
    let KeptAnswer { seq, kept, record, .. } = answer;
    // The first answer may have been that the settings are not in force yet.
    if let Some(PlatformChange::Tenant(tenant) | PlatformChange::Opened { tenant, .. }) =
        record.platform.as_deref()
    {
        let _turn = services.callers.turns.of(tenant.number).await;
        push_tenant_settings(services, tenant.number).await?;
    }
    let reveal = |key: &ApiKey| {
        Secret::again(&services.keys, key, idempotency_key).map(|secret| secret.reveal().to_owned())
    };
    let body = match kept.of.shape {
        Shape::TenantOpened => tenants::opened(&record, &reveal),
        Shape::KeyMade(id) => tenants::made(&record, id, &reveal),
        Shape::OperatorMade => operators::of(&record).and_then(|operator| {
            let salt = token_salt(&kept.of.path, idempotency_key);
            let token = Secret::with_hash(&services.keys, operator.id, OPERATOR, &salt, operator.token_hash)?;
            operators::made(&record, Some(token.reveal()))
        }),
        _ => None,
    };
    Ok(Done {
        status: kept.status,
        body: body.unwrap_or(kept.body),
        trace: Trace { seq: Some(seq), timing: None },
        replayed: true,
        waits: false,
        without_secret: None,
    })
}
